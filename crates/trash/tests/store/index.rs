//! The index says what the folder does, whatever happened to either, and costs the same however
//! many transactions there are.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

#[cfg(target_os = "linux")]
use fs_guard::fault::{Fault, arm, disarm};
use workspace_trash::{KeyPlace, LockedStore, Retention, Store, TransactionId};

use super::{Fixture, displace, displace_keeping};

const LINE: usize = 162;

impl Fixture {
    fn state(&self) -> std::path::PathBuf {
        self.dir.path().join(".kept")
    }

    fn index(&self) -> std::path::PathBuf {
        self.state().join("index")
    }

    /// What the folder has, newest first.
    fn listed(&self) -> Vec<TransactionId> {
        let names = fs::read_dir(self.state().join("trash")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut ids: Vec<_> = names.filter_map(|name| name.parse().ok()).collect();
        ids.sort_unstable();
        ids.reverse();
        ids
    }

    /// Whether a reader finds what is there, and believes the index.
    fn check(&self, what: &str) -> bool {
        let root = self.root();
        let store = Store::open(&root, self.key()).unwrap().unwrap();
        let listed = self.listed();
        assert_eq!(store.transactions().unwrap(), listed, "{what}");
        let totals = store.totals().unwrap();
        if let Some(totals) = totals {
            assert_eq!(totals.transactions, listed.len(), "{what}");
            let kept = listed.iter().map(|&id| store.journal(id).unwrap().kept_bytes());
            assert_eq!(totals.bytes, kept.sum::<u64>(), "{what}");
        }
        totals.is_some()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn whatever_became_of_the_index_the_history_is_that_of_the_folder() {
    type Damage = fn(&Fixture, &[TransactionId]);
    // What is done, and whether the index is believed after that.
    let damages: [(&str, bool, Damage); 13] = [
        ("nothing", true, |_, _| {}),
        ("the index is removed", false, |it, _| fs::remove_file(it.index()).unwrap()),
        ("its last line is torn", false, |it, _| {
            let bytes = fs::read(it.index()).unwrap();
            fs::write(it.index(), &bytes[..bytes.len() - 40]).unwrap();
        }),
        ("its last line is missing", false, |it, _| {
            let bytes = fs::read(it.index()).unwrap();
            fs::write(it.index(), &bytes[..bytes.len() - LINE]).unwrap();
        }),
        ("a line is begun after it", false, |it, _| {
            let bytes = fs::read(it.index()).unwrap();
            fs::write(it.index(), [&bytes[..], b"2026"].concat()).unwrap();
        }),
        ("a line in it is damaged", true, |it, _| {
            let mut bytes = fs::read(it.index()).unwrap();
            bytes[2 * LINE..2 * LINE + 20].fill(b'x');
            fs::write(it.index(), bytes).unwrap();
        }),
        ("it is empty", false, |it, _| fs::write(it.index(), "").unwrap()),
        ("it has no text", false, |it, _| fs::write(it.index(), vec![0; 7 * LINE]).unwrap()),
        ("a folder is removed", false, |it, ids| {
            fs::remove_dir_all(it.state().join(format!("trash/{}", ids[1]))).unwrap();
        }),
        ("all folders are removed", false, |it, ids| {
            for id in ids {
                fs::remove_dir_all(it.state().join(format!("trash/{id}"))).unwrap();
            }
        }),
        ("the last folder is named anew", false, |it, ids| {
            let place = it.state().join("trash");
            let later = TransactionId::new(SystemTime::now(), ids.last().copied());
            fs::rename(place.join(ids[4].to_string()), place.join(later.to_string())).unwrap();
        }),
        ("a removal was interrupted", false, |it, ids| {
            let place = it.state().join("trash");
            let removed = format!("{}.removed", ids[0]);
            fs::rename(place.join(ids[0].to_string()), place.join(removed)).unwrap();
        }),
        ("all is a copy", false, |it, _| {
            let elsewhere = it.dir.path().join("copy");
            copy(&it.state(), &elsewhere);
            fs::remove_dir_all(it.state()).unwrap();
            fs::rename(elsewhere, it.state()).unwrap();
        }),
    ];
    for (what, believed, damage) in damages {
        // There a copy of a private directory is not private.
        if cfg!(windows) && what == "all is a copy" {
            continue;
        }
        let fixture = Fixture::new();
        let root = fixture.root();
        let store = fixture.lock(&root);
        let ids: Vec<_> = (0..5).map(|n| displace(&store, &format!("f{n}"), "text")).collect();
        drop(store);
        assert_eq!(fixture.check(what), cfg!(unix), "{what}");
        damage(&fixture, &ids);
        assert_eq!(fixture.check(what), believed && cfg!(unix), "{what}");
        // A renamed folder has the journal of another transaction, so it is not in the index.
        let others = what == "the last folder is named anew";
        for n in 0..2 {
            displace(&fixture.lock(&fixture.root()), "g", "more");
            assert_eq!(fixture.check(what), cfg!(unix) && !others, "{what} {n}");
        }
        let left: Vec<_> = fs::read_dir(fixture.state().join("trash")).unwrap().collect();
        assert_eq!(left.len(), fixture.listed().len(), "{what}");
    }
}

/// What else has the name is no reason not to commit.
#[cfg(unix)]
#[test]
fn an_index_that_is_no_file_is_not_used() {
    for link in [true, false] {
        let fixture = Fixture::new();
        let root = fixture.root();
        displace(&fixture.lock(&root), "a", "x");
        fs::remove_file(fixture.index()).unwrap();
        let outside = fixture.key.path().join("outside");
        fs::write(&outside, "kept").unwrap();
        if link {
            std::os::unix::fs::symlink(&outside, fixture.index()).unwrap();
        } else {
            fs::create_dir(fixture.index()).unwrap();
        }
        for n in 0..3 {
            displace(&fixture.lock(&root), "b", "x");
            assert_eq!(fixture.check("no file"), link, "{n}");
        }
        assert_eq!(fs::read_to_string(&outside).unwrap(), "kept");
    }
}

/// What a foreign state says of itself does not count where its folder is another.
#[cfg(unix)]
#[test]
fn lines_are_used_again_for_the_folder_that_they_are_of() {
    // The last line is torn, so it is not used.
    for (same, bytes) in [(true, 0x7778), (false, 2)] {
        let fixture = Fixture::new();
        let root = fixture.root();
        let store = fixture.lock(&root);
        displace(&store, "a", "x");
        displace(&store, "b", "y");
        let text = fs::read_to_string(fixture.index()).unwrap();
        // Both lines state other sizes than the journals.
        let text = text.replace(" 000000000001 ", " 000000007777 ");
        let mut text = text.replace(" 000000000002 ", " 000000007777 ");
        if !same {
            let digit = text.find("inode ").unwrap() + 6;
            text.replace_range(digit..=digit, "f");
        }
        text.pop();
        fs::write(fixture.index(), text).unwrap();
        displace(&store, "c", "");
        assert_eq!(store.totals().unwrap().unwrap().bytes, bytes, "{same}");
    }
}

#[test]
fn a_folder_whose_journal_is_not_trusted_does_not_count_and_shows() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let retention = Retention { keep_last: 1, max_count: 3, ..Retention::default() };
    // Written where there was no place for a key; it is in the index like every other.
    let unsigned = {
        let store = LockedStore::lock(&root, KeyPlace::Nowhere, Duration::ZERO).unwrap();
        let id = displace(&store, "u", "four");
        assert_eq!(store.totals().unwrap().is_some(), cfg!(unix));
        id
    };
    for n in 0..80 {
        displace_keeping(&fixture.lock(&root), &format!("f{n}"), "x", Some(&retention));
        assert!(fixture.listed().contains(&unsigned), "{n}");
        let listed = fixture.listed().len();
        assert!(listed < 3 + 16 * 3, "{n}: {listed}");
    }
    let store = fixture.lock(&root);
    assert_eq!(store.transactions().unwrap().last(), Some(&unsigned));
    store.purge(&retention, SystemTime::now(), false).unwrap();
    assert_eq!(store.transactions().unwrap().len(), 4);
    assert_eq!(store.totals().unwrap(), None, "not all that is there was verified");
}

#[test]
fn a_backlog_is_purged_in_steps_and_by_hand_at_once() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    let ids: Vec<_> = (0..300).map(|_| displace(&store, "f", "x")).collect();
    let retention = Retention { keep_last: 2, max_count: 10, ..Retention::default() };
    let mut counts = Vec::new();
    while counts.last().is_none_or(|&count| count > 26) {
        displace_keeping(&store, "g", "x", Some(&retention));
        let left = store.transactions().unwrap();
        counts.push(left.len());
        // The oldest went: there are no gaps.
        let kept = ids.iter().filter(|id| left.contains(id)).count();
        assert!(ids[300 - kept..].iter().all(|id| left.contains(id)), "{counts:?}");
        assert_eq!(fixture.check("purged"), cfg!(unix));
    }
    let steps = [301].iter().chain(&counts).zip(&counts).map(|(before, after)| before - after);
    assert!(steps.into_iter().all(|step| step <= 64), "{counts:?}");
    assert!(counts.len() < 12, "{counts:?}");
    let others: Vec<_> = (0..200).map(|_| displace(&store, "h", "x")).collect();
    let purged = store.purge(&retention, SystemTime::now(), false).unwrap();
    assert_eq!(purged.transactions.len(), counts.last().unwrap() + 190);
    assert_eq!(
        store.transactions().unwrap(),
        others[190..].iter().rev().copied().collect::<Vec<_>>()
    );
    assert_eq!(fixture.check("purged"), cfg!(unix));
}

#[test]
fn commits_purge_by_size_and_age_too() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    let retention = Retention { keep_last: 2, max_bytes: 100, ..Retention::default() };
    for n in 0..30 {
        displace_keeping(&store, "f", &"x".repeat(10 + n), Some(&retention));
        let left = store.transactions().unwrap();
        let bytes = |ids: &[TransactionId]| -> u64 {
            ids.iter().map(|&id| store.journal(id).unwrap().kept_bytes()).sum()
        };
        assert!(bytes(&left) <= 100 || left.len() == 2, "{n}");
        assert!(n < 10 || left.len() < 8, "{n}");
        assert!(left.len() > n.min(1), "{n}");
    }
    let old = Retention { keep_last: 2, max_age: Duration::ZERO, ..Retention::default() };
    for _ in 0..16 {
        displace_keeping(&store, "f", "x", Some(&old));
    }
    assert!(store.transactions().unwrap().len() < 2 + 16);
}

/// Its first lines go when more than half of it is of transactions that are gone.
#[test]
fn the_index_does_not_grow_for_ever() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    let retention = Retention { keep_last: 2, max_count: 30, ..Retention::default() };
    let (mut before, mut shorter) = (0, 0);
    for _ in 0..600 {
        displace_keeping(&store, "f", "x", Some(&retention));
        let length = fs::read(fixture.index()).unwrap().len();
        shorter += usize::from(length < before);
        before = length;
        assert!(length <= 160 * LINE, "{length}");
    }
    // Where the names are compared it is written anew.
    assert!(cfg!(windows) || (1..20).contains(&shorter), "{shorter}");
    assert_eq!(fixture.check("it was made shorter"), cfg!(unix));
}

#[test]
fn the_transactions_of_a_turn_and_undos_are_found() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let store = fixture.lock(&root);
    let mut ids = Vec::new();
    for n in 0..150 {
        let pending = store.begin().unwrap();
        let turn = (n % 50 == 7).then(|| "t-1".to_owned());
        let undo_of = (n % 40 == 9).then(|| ids[n - 1]);
        let new = workspace_trash::Header::new(pending.id());
        let header = workspace_trash::Header { turn, undo_of, ..new };
        pending.write_journal(&workspace_trash::Journal::new(header, Vec::new())).unwrap();
        pending.finish().unwrap();
        ids.push(pending.id());
    }
    if cfg!(unix) {
        assert_eq!(store.of_turn("t-1").unwrap().unwrap(), [ids[107], ids[57], ids[7]]);
        assert_eq!(store.of_turn("t-2").unwrap().unwrap(), []);
        assert_eq!(store.has_turns(42).unwrap(), Some(false));
        assert_eq!(store.has_turns(43).unwrap(), Some(true));
        assert_eq!(store.undos_after(ids[8]).unwrap().unwrap(), [129, 89, 49, 9].map(|n| ids[n]));
        assert_eq!(store.undos_after(ids[49]).unwrap().unwrap(), [129, 89].map(|n| ids[n]));
        assert_eq!(store.undos_after(ids[149]).unwrap().unwrap(), []);
        for (of, more, first) in [(0, 0, 1), (0, 9, 0), (77, 0, 78), (77, 3, 75), (149, 0, 150)] {
            let after: Vec<_> = store.after(ids[of], more).unwrap().unwrap().collect();
            assert_eq!(after, ids[first..], "{of} {more}");
        }
    }
    fs::remove_file(fixture.index()).unwrap();
    assert_eq!(store.of_turn("t-1").unwrap(), None);
    assert_eq!(store.has_turns(1).unwrap(), None);
    assert_eq!(store.undos_after(ids[0]).unwrap(), None);
    assert!(store.after(ids[0], 0).unwrap().is_none());
}

/// System calls of a transaction and of readers. The number does not depend on how many
/// transactions there are.
#[cfg(target_os = "linux")]
#[test]
fn a_transaction_costs_the_same_in_a_long_history() {
    let fixture = Fixture::new();
    let root = fixture.root();
    let retention = Retention { max_count: usize::MAX, ..Retention::default() };
    let mut counts = Vec::new();
    // The state is there from the start.
    displace(&fixture.lock(&root), "f", "x");
    for until in [10, 100, 2000] {
        let store = fixture.lock(&root);
        for _ in fixture.listed().len()..until {
            displace(&store, "f", "x");
        }
        let count = |what: &dyn Fn()| {
            arm(Fault::Nothing, 0, true);
            what();
            disarm()
        };
        let commit = count(&|| {
            displace_keeping(&store, "f", "x", Some(&retention));
        });
        let newest = count(&|| assert_eq!(store.newest_first().unwrap().take(8).count(), 8));
        let totals = count(&|| assert!(store.totals().unwrap().is_some()));
        counts.push((commit, newest, totals));
    }
    assert_eq!(counts[0], counts[1]);
    assert_eq!(counts[0], counts[2]);
    assert!(counts[0].0.len() < 30, "{counts:?}");
}

/// Random histories: after each step a reader finds what the folder has, also when a process was
/// killed in the middle of one.
#[cfg(target_os = "linux")]
#[test]
fn any_history_is_that_of_the_folder() {
    for seed in 1..12_u64 {
        let fixture = Fixture::new();
        let root = fixture.root();
        let mut state = seed;
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut older: Vec<u8> = Vec::new();
        for step in 0..60 {
            let what = random(16);
            let text = format!("seed {seed}, step {step}: {what}");
            let retention = Retention {
                keep_last: 3,
                max_count: 5 + random(30) as usize,
                max_bytes: 200 + random(2000),
                ..Retention::default()
            };
            match what {
                0..8 => {
                    let store = fixture.lock(&root);
                    for _ in 0..=random(6) {
                        let bytes = "x".repeat(random(300) as usize);
                        displace_keeping(&store, "f", &bytes, Some(&retention));
                    }
                }
                8..11 => {
                    let store = fixture.lock(&root);
                    arm(Fault::Crash, 1 + random(30) as usize, true);
                    let _ = begun(&store, &retention);
                    disarm();
                }
                11 => {
                    let store = fixture.lock(&root);
                    arm(Fault::Crash, 1 + random(60) as usize, true);
                    let _ = store.purge(&retention, SystemTime::now(), false);
                    disarm();
                }
                12 => {
                    let store = fixture.lock(&root);
                    store.purge(&retention, SystemTime::now(), false).unwrap();
                }
                13 => {
                    let ids = fixture.state().join("trash").exists().then(|| fixture.listed());
                    let ids = ids.unwrap_or_default();
                    if !ids.is_empty() {
                        let id = ids[random(ids.len() as u64) as usize];
                        fs::remove_dir_all(fixture.state().join(format!("trash/{id}"))).unwrap();
                    }
                }
                // An index from before, as from a backup.
                14 if !older.is_empty() && fixture.state().exists() => {
                    fs::write(fixture.index(), &older).unwrap();
                }
                _ => older = fs::read(fixture.index()).unwrap_or_default(),
            }
            if !fixture.state().join("trash").exists() {
                continue;
            }
            fixture.check(&text);
            let listed = fixture.listed();
            if what < 8 {
                assert!(fixture.check(&text), "{text}");
                assert!(listed.len() <= 34 + 16 + 64, "{text}");
            }
        }
    }
}

/// A transaction as [`displace`] makes it, up to its first error.
#[cfg(target_os = "linux")]
fn begun(store: &LockedStore<'_>, retention: &Retention) -> Result<(), workspace_trash::Error> {
    let pending = store.begin()?;
    let journal = workspace_trash::Journal::new(workspace_trash::Header::new(pending.id()), vec![]);
    pending.write_journal(&journal)?;
    pending.finish_and_purge(retention, SystemTime::now()).map(drop)
}
