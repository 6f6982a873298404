//! The store from outside: what is in it, what is kept, what is refused.
#![cfg(any(unix, windows))]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests look at files from outside")]

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

use fs_guard::{ErrorKind, Policy, Root, Sha256};
use tempfile::TempDir;
use workspace_trash::{
    FileState, Header, Journal, KeyPlace, LockedStore, Prefix, Record, Retention, Signer, Store, TransactionId,
    parse_stored_path, stored_path,
};

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
    let pending = store.begin().unwrap();
    let mut file = pending.slot(0).create(0o600).unwrap();
    file.write(text.as_bytes()).unwrap();
    let file = file.finish(None, None, false).unwrap();
    let state = FileState::of(file.metadata(), Sha256::of(text.as_bytes()));
    let id = pending.id();
    let header = Header { tool: Some("test".into()), ..Header::new(id) };
    let record = Record { slot: 0, path: path.into(), before: Some(state), after: None, sibling: None };
    let journal = Journal::new(header, vec![record]);
    pending.write_journal(&journal).unwrap();
    pending.finish().unwrap();
    id
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
    let seen: Vec<_> = entries.iter().map(|entry| (&*entry.path, entry.size, entry.deleted)).collect();
    assert_eq!(seen, [("d/b", 5, true), ("a", 3, true)]);
    assert_eq!(fs::read_to_string(fixture.dir.path().join(entries[1].stored_path())).unwrap(), "one");
    assert_eq!(parse_stored_path(&stored_path(&root, &Prefix::default(), ids[0], 7)), Some((ids[0], 7)));
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
    // In Wine the directory goes when its last handle is closed, and nothing puts the time back after that.
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
    let ids: Vec<_> = (0..10).map(|n| displace(&store, &format!("f{n}"), &"x".repeat(100))).collect();
    let now = SystemTime::now();
    let keep_all = Retention::default();
    let gone = |retention: Retention, now| store.purge(&retention, now, true).unwrap().transactions.len();
    assert_eq!(gone(keep_all, now), 0);
    assert_eq!(gone(Retention { keep_last: 2, max_count: 4, ..keep_all }, now), 6);
    assert_eq!(gone(Retention { keep_last: 6, max_count: 4, ..keep_all }, now), 4);
    assert_eq!(gone(Retention { keep_last: 2, max_bytes: 350, ..keep_all }, now), 7);
    let later = now + Duration::from_secs(40 * 24 * 3600);
    assert_eq!(gone(Retention { keep_last: 2, ..keep_all }, later), 8);
    assert_eq!(gone(keep_all, later), 0, "the last twenty stay however old");
    let purged = store.purge(&Retention { keep_last: 2, max_count: 4, ..keep_all }, now, false).unwrap();
    assert_eq!((purged.transactions.len(), purged.bytes), (6, 600));
    assert_eq!(store.transactions().unwrap().len(), 4);
    assert_eq!(store.journal(ids[0]).unwrap_err().kind(), ErrorKind::NotFound);
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
    let journals = || store.unfinished().unwrap().into_iter().map(|found| found.journal.is_some()).collect::<Vec<_>>();
    assert_eq!(journals(), [false, true]);
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    assert_eq!(journals(), [false, false]);
    // Another transaction's journal, however well signed, is none.
    let other = store.begin().unwrap();
    fs::write(fixture.dir.path().join(other.journal_path()), &text).unwrap();
    assert_eq!(store.unfinished().unwrap_err().kind(), ErrorKind::PermissionDenied);
}

#[test]
fn ids_go_up_even_when_the_clock_goes_down() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    let first = displace(&store, "a", "x");
    // Its own, signed journal, an hour ahead.
    let future = TransactionId::new(SystemTime::now() + Duration::from_secs(3600), None).unwrap();
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
    let soon = TransactionId::new(SystemTime::now() + Duration::from_secs(3600), None).unwrap();
    for name in ["99991231-235959-999999-ffffffff", &soon.to_string()] {
        let folder = fixture.dir.path().join(format!(".kept/trash/{name}"));
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(&folder).unwrap();
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
    assert_eq!((error.kind(), error.reason()), (ErrorKind::PermissionDenied, "untrusted_state"));
    assert!(error.to_string().contains("pending/100000101-000000-000000-00000000"), "{error}");
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
            let begun = locked.and_then(|store| store.unfinished().map(drop).and_then(|()| store.begin().map(drop)));
            let error = begun.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{dir} {mode:o}: {error}");
            assert!(error.to_string().contains("0700"), "{dir} {mode:o}: {error}");
        }
    }
}
