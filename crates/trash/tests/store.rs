//! The store from outside: what is in it, what is kept, what is refused.
#![cfg(any(unix, windows))]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at files from outside"
)]

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

#[cfg(target_os = "linux")]
use fs_guard::fault::{Fault, arm, disarm, meanwhile};
use fs_guard::{ErrorKind, Policy, Root, Sha256};
use tempfile::TempDir;
#[cfg(unix)]
use workspace_trash::Keys;
use workspace_trash::{
    FileState, Header, Journal, KeyPlace, LockedStore, OwnKey, Prefix, Record, Removal, Retention,
    Signer, Store, TransactionId, parse_stored_path, stored_path,
};

#[path = "store/index.rs"]
mod index;

struct Fixture {
    dir: TempDir,
    key: TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap(), key: TempDir::new().unwrap() }
    }

    fn root(&self) -> Root {
        Root::open(self.dir.path(), Policy::new(".kept")).unwrap()
    }

    fn key(&self) -> KeyPlace {
        KeyPlace::Directory(self.key.path().into())
    }

    fn lock<'r>(&self, root: &'r Root) -> LockedStore<'r> {
        LockedStore::lock(root, self.key(), Duration::from_secs(5)).unwrap()
    }
}

/// Deletes a file that had this text, as the engine does.
fn displace(store: &LockedStore<'_>, path: &str, text: &str) -> TransactionId {
    displace_keeping(store, path, text, None).0
}

fn displace_keeping(
    store: &LockedStore<'_>,
    path: &str,
    text: &str,
    retention: Option<&Retention>,
) -> (TransactionId, bool) {
    let pending = store.begin().unwrap();
    let mut file = pending.slot(0).create(0o600).unwrap();
    file.write(text.as_bytes()).unwrap();
    let file = file.finish(None, None, false).unwrap();
    let state = FileState::of(file.metadata().unwrap(), Sha256::of(text.as_bytes()));
    let id = pending.id();
    let header = Header { tool: Some("test".into()), ..Header::new(id) };
    let record =
        Record { slot: 0, path: path.into(), before: Some(state), after: None, sibling: None };
    let journal = Journal::new(header, vec![record]);
    pending.write_journal(&journal).unwrap();
    let is_due = match retention {
        Some(retention) => pending.finish_and_purge(retention, SystemTime::now()).unwrap(),
        None => {
            pending.finish().unwrap();
            false
        }
    };
    (id, is_due)
}

#[test]
fn displaced_files_are_listed_the_newest_first() {
    let fixture = Fixture::new();
    let root = fixture.root();
    assert!(Store::open(&root, fixture.key()).unwrap().is_none());
    let store = fixture.lock(&root);
    let ids = [displace(&store, "a", "one"), displace(&store, "d/b", "three")];
    drop(store);
    let store = Store::open(&root, fixture.key()).unwrap().unwrap();
    assert_eq!(store.transactions().unwrap(), [ids[1], ids[0]]);
    let (entries, refused) = store.entries().unwrap();
    assert!(refused.is_empty());
    let seen: Vec<_> =
        entries.iter().map(|entry| (&*entry.path, entry.size, entry.deleted)).collect();
    assert_eq!(seen, [("d/b", 5, true), ("a", 3, true)]);
    assert_eq!(
        fs::read_to_string(fixture.dir.path().join(entries[1].stored_path())).unwrap(),
        "one"
    );
    assert_eq!(
        parse_stored_path(&stored_path(&root, &Prefix::default(), ids[0], 7)),
        Some((ids[0], 7))
    );
    for wrong in ["", "a/b", ".kept/trash/x/0", ".kept/trash/../../x", ".kept/lock"] {
        assert_eq!(parse_stored_path(wrong), None, "{wrong}");
    }
}

#[test]
fn only_the_user_may_enter_and_git_ignores_it() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    displace(&store, "a", "x");
    let state = fixture.dir.path().join(".kept");
    #[cfg(unix)]
    {
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().mode() & 0o777;
        for dir in ["", "trash", "pending"] {
            assert_eq!(mode(&state.join(dir)), 0o700, "{dir}");
        }
        assert_eq!(mode(&fixture.key.path().join("key")), 0o600);
    }
    assert_eq!(fs::read_to_string(state.join(".gitignore")).unwrap(), "*\n");
    let pid = fs::read_to_string(state.join("lock")).unwrap();
    assert_eq!(pid.trim(), std::process::id().to_string());
}

#[test]
fn an_unused_state_directory_goes_and_a_used_one_stays() {
    let fixture = Fixture::new();
    let before = fs::metadata(fixture.dir.path()).unwrap().modified().unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let root = fixture.root();
    let store = fixture.lock(&root);
    let pending = store.begin().unwrap();
    pending.slot(0).create(0o600).unwrap();
    pending.discard().unwrap();
    drop(store);
    assert_eq!(fs::read_dir(fixture.dir.path()).unwrap().count(), 0);
    // In Wine the directory goes when its last handle is closed, and nothing puts the time back
    // after that.
    if cfg!(unix) {
        assert_eq!(fs::metadata(fixture.dir.path()).unwrap().modified().unwrap(), before);
    }
    let store = fixture.lock(&root);
    store.dir().spot("audit").append().unwrap();
    drop(store);
    assert!(fixture.dir.path().join(".kept/audit").exists(), "what others put there stays");
}

#[test]
fn retention_goes_by_number_age_and_size() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    let ids: Vec<_> =
        (0..10).map(|n| displace(&store, &format!("f{n}"), &"x".repeat(100))).collect();
    let now = SystemTime::now();
    let keep_all = Retention::default();
    let gone =
        |retention: Retention, now| store.purge(&retention, now, true).unwrap().transactions.len();
    assert_eq!(gone(keep_all, now), 0);
    assert_eq!(gone(Retention { keep_last: 2, max_count: 4, ..keep_all }, now), 6);
    assert_eq!(gone(Retention { keep_last: 6, max_count: 4, ..keep_all }, now), 4);
    // What is just as much, or as old, stays.
    for (max_bytes, wanted) in [(350, 7), (300, 7), (299, 8)] {
        assert_eq!(
            gone(Retention { keep_last: 2, max_bytes, ..keep_all }, now),
            wanted,
            "{max_bytes}"
        );
    }
    let old = ids[3].time() + keep_all.max_age;
    for (now, wanted) in [(old, 3), (old + Duration::from_micros(1), 4)] {
        assert_eq!(gone(Retention { keep_last: 2, ..keep_all }, now), wanted);
    }
    let later = now + Duration::from_secs(40 * 24 * 3600);
    assert_eq!(gone(Retention { keep_last: 2, ..keep_all }, later), 8);
    assert_eq!(gone(keep_all, later), 0, "the last twenty stay however old");
    let purged =
        store.purge(&Retention { keep_last: 2, max_count: 4, ..keep_all }, now, false).unwrap();
    assert_eq!(purged.transactions.len(), 6);
    assert_eq!(purged.bytes, 600);
    assert_eq!(store.transactions().unwrap().len(), 4);
    let error = store.journal(ids[0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.path(), None);
    assert!(store.unfinished().unwrap().is_empty());
}

#[test]
fn a_folder_without_a_whole_journal_is_unfinished_and_nothing_more() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    store.begin().unwrap();
    let pending = store.begin().unwrap();
    let journal = Journal::new(Header::new(pending.id()), Vec::new());
    pending.write_journal(&journal).unwrap();
    let path = fixture.dir.path().join(pending.journal_path());
    let text = fs::read(&path).unwrap();
    let journals = || {
        store
            .unfinished()
            .unwrap()
            .into_iter()
            .map(|found| found.journal.is_some())
            .collect::<Vec<_>>()
    };
    assert_eq!(journals(), [false, true]);
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    assert_eq!(journals(), [false, false]);
    // Another transaction's journal, however well signed, is none.
    let other = store.begin().unwrap();
    fs::write(fixture.dir.path().join(other.journal_path()), &text).unwrap();
    let error = store.unfinished().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(error.path().unwrap().contains(&format!(".kept/pending/{}", other.id())), "{error}");
}

#[test]
fn ids_go_up_even_when_the_clock_goes_down() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    let first = displace(&store, "a", "x");
    // Its own, signed journal, an hour ahead.
    let future = TransactionId::new(SystemTime::now() + Duration::from_secs(3600), None);
    let header = Header::new(future);
    let journal = Journal { header, ..store.journal(first).unwrap() };
    let folder = fixture.dir.path().join(format!(".kept/trash/{future}"));
    fs::rename(fixture.dir.path().join(format!(".kept/trash/{first}")), &folder).unwrap();
    let key: [u8; 32] = fs::read(fixture.key.path().join("key")).unwrap().try_into().unwrap();
    fs::write(folder.join("journal"), journal.to_text(Some(&Signer::with_key(&key)))).unwrap();
    assert!(displace(&store, "b", "x") > future);
}

#[test]
fn ids_do_not_follow_folders_that_anyone_can_make() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    displace(&store, "a", "x");
    let soon = TransactionId::new(SystemTime::now() + Duration::from_secs(3600), None);
    for name in ["99991230-220000-999999-ffffffff", &soon.to_string()] {
        let folder = fixture.dir.path().join(format!(".kept/trash/{name}"));
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700)
            .create(&folder)
            .unwrap();
        #[cfg(windows)]
        fs::create_dir(&folder).unwrap();
        let id = displace(&store, "b", "x");
        assert!(id < soon, "{id} after {name}");
        assert_eq!(id.to_string().parse(), Ok(id));
    }
}

#[test]
fn what_is_pending_under_no_transactions_name_is_an_error() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    displace(&store, "a", "x");
    let stray = fixture.dir.path().join(".kept/pending/100000101-000000-000000-00000000");
    fs::create_dir(&stray).unwrap();
    let error = store.unfinished().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert_eq!(error.reason(), "untrusted_state");
    assert!(error.to_string().contains("pending/100000101-000000-000000-00000000"), "{error}");
    assert_eq!(error.path(), Some(".kept/pending/100000101-000000-000000-00000000"));
}

#[test]
fn a_transaction_is_unfinished_until_it_ends() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    assert!(store.is_new());
    assert!(store.is_signed().unwrap());
    let never = "20261121-014233-123456-9f3ac1d2".parse().unwrap();
    assert!(!store.is_unfinished(never).unwrap());
    let (one, two) = (store.begin().unwrap(), store.begin().unwrap());
    let ids = [one.id(), two.id(), never];
    let unfinished = || ids.map(|id| store.is_unfinished(id).unwrap());
    assert_eq!(unfinished(), [true, true, false]);
    one.discard().unwrap();
    two.write_journal(&Journal::new(Header::new(ids[1]), Vec::new())).unwrap();
    assert_eq!(unfinished(), [false, true, false]);
    two.finish().unwrap();
    assert_eq!(unfinished(), [false; 3]);
    drop(store);
    let store = LockedStore::lock(&root, KeyPlace::Nowhere, Duration::ZERO).unwrap();
    assert!(!store.is_new());
    assert!(!store.is_signed().unwrap());
}

/// Finishes a transaction that a text asked for.
fn asked(store: &LockedStore<'_>, text: &Sha256, aborted: bool) -> TransactionId {
    let pending = store.begin().unwrap();
    let id = pending.id();
    let header = Header { text: Some(*text), ..Header::new(id) };
    pending.write_journal(&Journal::new(header, Vec::new())).unwrap();
    if aborted {
        pending.mark_aborted(false).unwrap();
    }
    pending.finish().unwrap();
    id
}

#[test]
fn only_what_counts_is_said_to_be_applied() {
    let fixture = Fixture::new();
    let root = fixture.root();
    // Whether it was rolled back, whether its journal is signed.
    for (n, (aborted, signed)) in
        [(false, true), (true, true), (false, false), (true, false)].into_iter().enumerate()
    {
        let text = Sha256::of(format!("patch {n}").as_bytes());
        let key = if signed { fixture.key() } else { KeyPlace::Nowhere };
        let store = LockedStore::lock(&root, key, Duration::ZERO).unwrap();
        assert!(store.applied(&text).unwrap().is_none());
        let id = asked(&store, &text, aborted);
        let expected = (signed && !aborted).then_some(id);
        let id_of = |found: Option<Journal>| found.map(|journal| journal.header.id);
        assert_eq!(id_of(store.applied(&text).unwrap()), expected, "{aborted} {signed}");
        let reader = Store::open(&root, fixture.key()).unwrap().unwrap();
        assert_eq!(id_of(reader.applied(&text).ok().flatten()), expected, "{aborted} {signed}");
        assert!(store.applied(&Sha256::of(b"never")).unwrap().is_none());
    }
}

#[test]
fn looking_for_a_text_leaves_nothing_behind() {
    let fixture = Fixture::new();
    let root = fixture.root();
    assert!(fixture.lock(&root).applied(&Sha256::of(b"a patch")).unwrap().is_none());
    assert!(!fixture.dir.path().join(".kept").exists());
}

#[test]
fn a_text_that_was_rolled_back_later_was_applied_before() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    let text = Sha256::of(b"a patch");
    let id = asked(&store, &text, false);
    asked(&store, &text, true);
    asked(&store, &Sha256::of(b"another"), false);
    assert_eq!(store.applied(&text).unwrap().unwrap().header.id, id);
}

#[test]
fn a_text_is_known_whatever_becomes_of_the_index() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let text = Sha256::of(b"a patch");
    let id = asked(&fixture.lock(&root), &text, false);
    let index = fixture.dir.path().join(".kept/index");
    let whole = fs::read(&index).unwrap();
    let torn = &whole[..whole.len() - 1];
    let is_known = |store: &Store<'_>, case: &str| {
        assert_eq!(store.applied(&text).unwrap().unwrap().header.id, id, "{case}");
        assert!(store.applied(&Sha256::of(b"never")).unwrap().is_none(), "{case}");
    };
    let cases: [(&str, &[u8]); 4] =
        [("gone", b""), ("torn", torn), ("empty", b""), ("another", &[b'x'; 324])];
    for (case, bytes) in cases {
        fs::write(&index, bytes).unwrap();
        if case == "gone" {
            fs::remove_file(&index).unwrap();
        }
        is_known(&Store::open(&root, fixture.key()).unwrap().unwrap(), case);
        let store = fixture.lock(&root);
        assert_eq!(store.applied(&text).unwrap().unwrap().header.id, id, "{case}");
        // The next transaction writes the index anew, from the journals.
        asked(&store, &Sha256::of(case.as_bytes()), false);
        is_known(&store, case);
    }
}

#[test]
fn a_text_is_looked_for_among_the_last_transactions() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    let text = Sha256::of(b"a patch");
    asked(&store, &text, false);
    for n in 1..=256_u32 {
        assert!(store.applied(&text).unwrap().is_some(), "{n}");
        asked(&store, &Sha256::of(&n.to_le_bytes()), false);
    }
    assert!(store.applied(&text).unwrap().is_none());
}

#[test]
fn commits_purge_now_and_then() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    let retention = Retention { keep_last: 2, max_count: 2, ..Retention::default() };
    let mut counts = Vec::new();
    for n in 0..70 {
        displace_keeping(&store, &format!("f{n}"), "x", Some(&retention));
        counts.push(store.transactions().unwrap().len());
    }
    let often = counts.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert!(often > 1, "{counts:?}");
    assert!(often < 10, "{counts:?}");
    assert!(counts.iter().all(|&count| count < 35), "{counts:?}");
    assert!(counts[1..].iter().all(|&count| count >= 2), "{counts:?}");
}

#[test]
fn what_costs_by_all_that_is_kept_is_due_after_a_few_commits() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    let retention = Retention { keep_last: 2, max_count: 2, ..Retention::default() };
    let due = (0..128).map(|_| displace_keeping(&store, "f", "x", Some(&retention)).1);
    let due = due.filter(|is_due| *is_due).count();
    assert!((6..=10).contains(&due), "{due}");
}

/// In a process of its own, because the environment says where the user's files are.
/// What is in the state directory beside a transaction, and what of it a removal leaves.
#[test]
fn a_removal_takes_what_the_program_makes_and_leaves_the_rest() {
    let rows = [
        ("index.new", None),
        ("trash/ID/journal.new", None),
        ("trash/ID/7", None),
        ("trash/ID.removed/7", None),
        ("below/3/lock", None),
        ("below/3/trash/ID/0", None),
        ("made/by/others", None),
        ("notes", Some("notes")),
        ("index.old", Some("index.old")),
        ("trash/notes", Some("trash/notes")),
        ("trash/notes/7", Some("trash/notes")),
        ("trash/ID/notes", Some("trash/ID/notes")),
        ("below/three/lock", Some("below/three")),
        ("below/3/notes", Some("below/3/notes")),
    ];
    for (path, left) in rows {
        let fixture = Fixture::new();
        let root = fixture.root();
        let store = fixture.lock(&root);
        let made = displace(&store, "a", "x").to_string();
        let path = path.replace("ID", &made);
        let file = fixture.dir.path().join(".kept").join(&path);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            let mut private = fs::DirBuilder::new();
            private.recursive(true).mode(0o700).create(file.parent().unwrap()).unwrap();
        }
        // Elsewhere only the guard makes a directory private.
        if !file.parent().unwrap().exists() {
            continue;
        }
        fs::write(&file, "").unwrap();
        let removal = store.remove_state(&["made"], &|path| path.starts_with("made")).unwrap();
        if let Some(left) = left {
            assert_eq!(removal, Removal::Others(vec![left.replace("ID", &made)]), "{path}");
            assert_eq!(fs::read_to_string(&file).unwrap(), "", "{path}");
        } else {
            assert_eq!(removal, Removal::Done, "{path}");
            assert!(!fixture.dir.path().join(".kept").exists(), "{path}");
        }
    }
}

#[test]
fn what_is_unfinished_keeps_all_that_there_is() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    let id = displace(&store, "a", "x");
    let pending = store.begin().unwrap();
    pending.slot(0).create(0o600).unwrap();
    drop(pending);
    assert_eq!(store.remove_state(&[], &|_| true).unwrap(), Removal::Unfinished);
    let state = fixture.dir.path().join(".kept");
    assert!(state.join(format!("trash/{id}/0")).exists());
}

#[test]
fn keys_are_found_before_they_are_removed() {
    let place = TempDir::new().unwrap();
    let keys = KeyPlace::Directory(place.path().into());
    assert!(keys.remove_keys(false).unwrap().is_empty());
    OwnKey::from(keys.clone()).signer().unwrap().unwrap();
    let key = place.path().join("key");
    assert_eq!(keys.remove_keys(true).unwrap(), std::slice::from_ref(&key));
    assert!(key.exists());
    assert_eq!(keys.remove_keys(false).unwrap(), std::slice::from_ref(&key));
    assert!(!key.exists());
}

#[cfg(unix)]
#[test]
fn keys_are_looked_for_in_every_place_of_the_user() {
    use std::os::unix::fs::PermissionsExt as _;
    let name = "keys_are_looked_for_in_every_place_of_the_user";
    let Some(home) = std::env::var_os("KEYS_OF").map(std::path::PathBuf::from) else {
        let home = TempDir::new().unwrap();
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", name]).env("KEYS_OF", home.path()).env("HOME", home.path());
        let output = again.env("XDG_STATE_HOME", home.path().join("xdg")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        return;
    };
    let user = KeyPlace::User("kept");
    let [first, second] = [home.join("xdg/kept"), home.join(".local/state/kept")];
    let others = KeyPlace::Directory(second.clone());
    assert_eq!(user.prepare().unwrap(), std::slice::from_ref(&first));
    let other = OwnKey::from(others).signer().unwrap().unwrap().clone();
    assert_eq!(user.prepare().unwrap(), [first.clone(), second.clone()]);
    let own = OwnKey::from(user.clone());
    let own = own.signer().unwrap().unwrap();
    assert_ne!(own.fingerprint(), other.fingerprint());
    let accepts = |keys: &mut Keys, signer: &Signer| {
        keys.accept("text", b"t", Some(signer.sign("text", b"t").to_string().as_bytes()))
    };
    for signer in [own, &other] {
        assert!(accepts(&mut Keys::new(user.clone()), signer).unwrap());
    }
    let show = |dir: &std::path::Path| {
        fs::set_permissions(dir.join("key"), fs::Permissions::from_mode(0o644)).unwrap()
    };
    // Another place may be somebody else's: its key does not count, and is no obstacle.
    show(&second);
    assert!(!accepts(&mut Keys::new(user.clone()), &other).unwrap());
    assert!(accepts(&mut Keys::new(user.clone()), own).unwrap());
    // In the first place a key that others can read is an error, except for whoever has it already.
    show(&first);
    assert!(accepts(&mut Keys::new(user.clone()), &other).is_err());
    assert!(Keys::new(user.clone()).find(|_| false).is_err());
    let mut keys = Keys::new(user);
    keys.set_own(own);
    assert!(keys.tell().unwrap());
    assert!(accepts(&mut keys, own).unwrap());
}

/// The process before may have made the state directory, and takes it away again when it has done
/// nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_state_directory_that_goes_before_it_is_locked_is_made_again() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let state = fixture.dir.path().join(".kept");
    arm(Fault::Nothing, 0, true);
    drop(fixture.lock(&root));
    let calls = disarm();
    let opens = calls.iter().filter(|&&call| call == "openat").count();
    let mut again = 0;
    for at in 1..=opens {
        let root = fixture.root();
        let gone = state.clone();
        let went = std::rc::Rc::new(std::cell::Cell::new(false));
        let seen = went.clone();
        meanwhile("openat", at, move || seen.set(fs::remove_dir(&gone).is_ok()));
        let locked = LockedStore::lock(&root, fixture.key(), Duration::from_secs(60));
        again += usize::from(went.get() && locked.is_ok());
    }
    assert!(again > 0, "{calls:?}");
    // What is known of it may be old.
    drop(fixture.lock(&root));
    assert!(root.knows_state());
    assert!(!state.exists());
    assert!(LockedStore::lock(&root, fixture.key(), Duration::ZERO).is_ok());
    // What fails otherwise is not tried again.
    let locked_at = calls.iter().position(|&call| call == "pwrite").unwrap();
    for at in (1..locked_at).filter(|at| calls[at - 1] == "openat") {
        let root = fixture.root();
        arm(Fault::Once(5), at, true);
        let locked = LockedStore::lock(&root, fixture.key(), Duration::from_secs(60));
        disarm();
        assert!(locked.is_err(), "{at} {calls:?}");
    }
}

/// By modes; on Windows by lists, which `fs-guard` tests.
#[cfg(unix)]
#[test]
fn a_store_that_others_may_enter_is_not_used() {
    for dir in ["trash", "pending", ""] {
        for mode in [0o777, 0o750, 0o711] {
            let fixture = Fixture::new();
            let root = fixture.root();
            displace(&fixture.lock(&root), "a", "x");
            let at = fixture.dir.path().join(".kept").join(dir);
            fs::set_permissions(&at, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
            let locked = LockedStore::lock(&root, fixture.key(), Duration::ZERO);
            let begun = locked.and_then(|store| {
                store.unfinished().map(drop).and_then(|()| store.begin().map(drop))
            });
            let error = begun.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{dir} {mode:o}: {error}");
            assert!(error.to_string().contains("0700"), "{dir} {mode:o}: {error}");
        }
    }
}
