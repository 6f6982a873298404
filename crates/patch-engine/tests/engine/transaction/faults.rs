//! Every system call fails once, or is the last one.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fs_guard::fault::{Fault, arm, disarm, lack, meanwhile};
use fs_guard::{Abilities, Policy, Root};
use patch_engine::PlanBuilder;
use patch_engine::commit::{CommitOptions, Durability, Workspace};

use super::support::*;
use testutils::share::{stride, whole};

const ENOSPC: i32 = if cfg!(windows) { 112 } else { 28 };
const EIO: i32 = if cfg!(windows) { 1117 } else { 5 };
const EACCES: i32 = if cfg!(windows) { 5 } else { 13 };
const EMFILE: i32 = if cfg!(windows) { 4 } else { 24 };
/// Windows has no such code.
const EINTR: Option<i32> = if cfg!(windows) { None } else { Some(4) };

/// Adds, updates, deletes, a move, a rename chain, new directories.
const STEPS: &[Step<'static>] = &[
    Add("new", "1"),
    Add("x/y/new", "2"),
    Update("a", "new a"),
    Append("d/b", " more"),
    Delete("gone"),
    Move("from", "x/to"),
    Move("d/chain", "d/chained"),
    Delete("d/gone too"),
    Add("d/added", "3"),
];

fn tree() -> Tree {
    Tree::new(&[
        ("a", "old a"),
        ("d/b", "old b"),
        ("gone", "g"),
        ("from", "f"),
        ("d/chain", "c"),
        ("d/gone too", "h"),
        ("bystander", "z"),
    ])
}

type Snapshot = BTreeMap<String, String>;

struct Ends {
    old: Snapshot,
    new: Snapshot,
    calls: Vec<&'static str>,
}

fn ends(with_state: bool) -> Ends {
    let tree = prepared(with_state);
    let old = tree.snapshot();
    let workspace = tree.open();
    arm(Fault::Nothing, 0, false);
    let result = attempt(&workspace);
    let calls = disarm();
    assert!(result, "it works without faults");
    Ends { old, new: tree.snapshot(), calls }
}

fn prepared(with_state: bool) -> Tree {
    let tree = tree();
    if with_state {
        tree.commit(&[Update("bystander", "zz")]).unwrap();
    }
    tree
}

fn attempt(workspace: &Workspace) -> bool {
    attempt_with(workspace, &options())
}

fn attempt_with(workspace: &Workspace, options: &CommitOptions) -> bool {
    let Ok(locked) = workspace.lock(std::time::Duration::from_secs(1)) else { return false };
    let plan = plan(workspace, STEPS);
    commit_with(&locked, &plan, options).is_ok()
}

#[test]
fn a_failing_call_leaves_everything_as_it_was() {
    for with_state in [false, true] {
        let ends = ends(with_state);
        for code in [ENOSPC, EIO, EACCES].into_iter().chain(EINTR) {
            for at in (1..=ends.calls.len()).step_by(stride()) {
                let tree = prepared(with_state);
                let workspace = tree.open();
                arm(Fault::Once(code), at, false);
                let done = attempt(&workspace);
                disarm();
                let what = format!("error {code} at call {at} ({})", ends.calls[at - 1]);
                let now = tree.snapshot();
                assert_eq!(now, if done { &ends.new } else { &ends.old }.clone(), "{what}");
                if Some(code) == EINTR {
                    assert!(done, "{what}: an interrupted call is made again");
                }
                if !done && !with_state {
                    assert!(!tree.path(".apply-patch").exists(), "{what}: {:?}", listing(&tree));
                }
                if !done {
                    assert!(tree.pending().is_empty(), "{what}: {:?}", listing(&tree));
                }
                // And the next one is none the worse.
                if !done {
                    assert!(attempt(&tree.open()), "{what}: the next attempt");
                    assert_eq!(tree.snapshot(), ends.new, "{what}: the next attempt");
                }
            }
        }
    }
}

#[test]
fn a_failing_look_or_read_leaves_everything_as_it_was() {
    let ends = ends(true);
    let count = {
        let tree = prepared(true);
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan = plan(&workspace, STEPS);
        arm(Fault::Nothing, 0, true);
        commit(&locked, &plan).unwrap();
        disarm().len()
    };
    for at in (1..=count).step_by(stride()) {
        let tree = prepared(true);
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan = plan(&workspace, STEPS);
        arm(Fault::Once(EIO), at, true);
        let done = commit(&locked, &plan).is_ok();
        let calls = disarm();
        drop(locked);
        // Where a file's times tell enough, it is not read again: a call fewer than was counted.
        let what = format!("read error at call {at} ({:?})", calls.get(at - 1));
        assert_eq!(tree.snapshot(), if done { &ends.new } else { &ends.old }.clone(), "{what}");
        assert!(tree.pending().is_empty() || done, "{what}: {:?}", listing(&tree));
        drop(lock(&tree.open()));
        assert!(tree.pending().is_empty(), "{what}: {:?}", listing(&tree));
    }
}

#[test]
fn a_full_disk_stays_full_and_everything_stays_as_it_was() {
    let ends = ends(true);
    for at in (1..=ends.calls.len()).step_by(stride()) {
        let tree = prepared(true);
        let workspace = tree.open();
        // Only calls that need space fail from then on. (Syncs count among them; a roll-back that
        // cannot be made durable is left to recovery.)
        tree.lawless();
        let options = CommitOptions { durability: Durability::Process, ..options() };
        arm(Fault::FromThenOnWhereSpaceIsNeeded(ENOSPC), at, false);
        let done = attempt_with(&workspace, &options);
        disarm();
        let now = tree.snapshot();
        assert_eq!(now, if done { &ends.new } else { &ends.old }.clone(), "from call {at}");
        if !done {
            assert!(tree.pending().is_empty(), "from call {at}: {:?}", listing(&tree));
        }
    }
}

/// A commit is rolled back because of a user's edit, and meanwhile the disk fails at one call, or
/// from some call on. What was reported as rolled back is not completed by recovery, and it is
/// reported as soon as it is certain.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn what_was_rolled_back_stays_so_although_the_rest_fails() {
    for (durability, beside) in
        [(Durability::Full, false), (Durability::Process, false), (Durability::Process, true)]
    {
        for fault in [Fault::Once(EIO), Fault::FromThenOn(EIO)] {
            let mut untidy = 0;
            for at in 1.. {
                let tree = tree();
                tree.lawless();
                fs_guard::fault::cross_device(beside);
                let workspace = tree.open();
                let locked = lock(&workspace);
                let plan = plan(&workspace, &[Update("a", "new a"), Update("d/b", "new b")]);
                let file = tree.path("a");
                let late = Rc::new(Cell::new(0));
                let seen = Rc::clone(&late);
                // The last look, before the first of the renames that count.
                meanwhile("renameat2", if beside { 2 } else { 1 }, move || {
                    std::fs::write(file, "of a user").unwrap();
                    arm(fault, at, false);
                    seen.set(1);
                });
                let options = CommitOptions { durability, ..CommitOptions::default() };
                let error = commit_with(&locked, &plan, &options).unwrap_err();
                let calls = disarm();
                let what = format!(
                    "{durability:?} {beside} {fault:?} at {at} ({:?}): {error:?}",
                    calls.get(at - 1)
                );
                assert_eq!(late.get(), 1, "{what}");
                let now = tree.snapshot();
                untidy += usize::from(error.is_rolled_back() && !tree.pending().is_empty());
                drop(locked);
                drop(lock(&tree.open()));
                if error.is_rolled_back() {
                    assert_eq!(tree.snapshot(), now, "{what}");
                    assert_eq!(tree.read("a"), "of a user", "{what}");
                    assert_eq!(tree.read("d/b"), "old b", "{what}");
                }
                assert_eq!(tree.read("a"), "of a user", "{what}");
                assert!(tree.pending().is_empty(), "{what}");
                if calls.len() < at {
                    assert!(error.is_rolled_back(), "{what}");
                    break;
                }
            }
            assert!(
                beside || untidy > 0,
                "{durability:?} {fault:?}: the folder stayed at no point"
            );
        }
    }
    fs_guard::fault::cross_device(false);
}

fn listing(tree: &Tree) -> Vec<String> {
    let mut all = Vec::new();
    let mut folders = vec![tree.path(".apply-patch")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            all.push(entry.path().display().to_string());
            folders.push(entry.path());
        }
    }
    all
}

/// Stops at every call, recovers, and does the same once more inside every recovery.
fn crash_everywhere(with_state: bool, twice: bool) {
    let ends = ends(with_state);
    let (mut kinds, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut finished = false;
    for at in (1..=ends.calls.len()).step_by(if twice { 2 * stride() - 1 } else { stride() }) {
        let crashed = || {
            let tree = prepared(with_state);
            let workspace = tree.open();
            arm(Fault::Crash, at, false);
            let done = attempt(&workspace);
            disarm();
            (tree, done)
        };
        let (tree, done) = crashed();
        let what = format!("stopped at call {at} ({})", ends.calls[at - 1]);
        arm(Fault::Nothing, 0, false);
        let locked_workspace = tree.open();
        let locked = lock(&locked_workspace);
        let recovery = disarm();
        drop(locked);
        check(&tree, &ends, done, &what);
        // What is stopped after the commit point is finished, however late.
        let new = tree.snapshot() == ends.new;
        assert!(new || !finished, "{what}");
        finished |= new;
        let fresh = kinds.insert(ends.calls[at - 1]);
        if !twice || !fresh && at % 3 != 0 && !whole() {
            continue;
        }
        for second in 1..=recovery.len() {
            // All pairs take minutes. One in thirty finds what all of them find, if every kind of
            // call is among them after every other.
            let kind = (ends.calls[at - 1], recovery[second - 1]);
            if !seen.insert(kind) && (at + second) % (30 * stride()) != 0 && !whole() {
                continue;
            }
            for fault in [Fault::Crash, Fault::Once(EIO)] {
                let (tree, done) = crashed();
                arm(fault, second, false);
                let _ = tree.open().lock(std::time::Duration::from_secs(1));
                disarm();
                drop(lock(&tree.open()));
                let call = recovery[second - 1];
                check(&tree, &ends, done, &format!("{what}, then {fault:?} at {second} ({call})"));
            }
        }
    }
}

fn check(tree: &Tree, ends: &Ends, done: bool, what: &str) {
    let now = tree.snapshot();
    if done {
        assert_eq!(now, ends.new, "{what}: it was acknowledged");
    } else {
        assert!(now == ends.old || now == ends.new, "{what}: {now:#?}");
    }
    assert!(tree.pending().is_empty(), "{what}: {:?}", listing(tree));
    // The history agrees with the files.
    let (log, unverified) = tree.open().history().unwrap();
    assert!(unverified.is_empty(), "{what}: {unverified:?}");
    let committed = log.iter().any(|entry| entry.journal.records.len() > 3);
    assert_eq!(committed, now == ends.new, "{what}");
}

#[test]
fn whoever_only_looks_recovers_first_unless_somebody_is_at_work() {
    let ends = ends(true);
    let mut recovered = 0;
    for at in (1..=ends.calls.len()).step_by(7) {
        let tree = prepared(true);
        let workspace = tree.open();
        arm(Fault::Crash, at, false);
        let done = attempt(&workspace);
        disarm();
        drop(workspace);
        recovered += tree.open().recover_if_idle().unwrap().len();
        assert!(tree.open().recover_if_idle().unwrap().is_empty(), "once is enough");
        check(&tree, &ends, done, &format!("stopped at call {at} ({})", ends.calls[at - 1]));
    }
    assert!(recovered > 0, "something was interrupted");
    // Somebody is in the middle of a commit.
    let tree = prepared(true);
    let (workspace, other) = (tree.open(), tree.open());
    let looked = Rc::new(Cell::new(false));
    let looks = Rc::clone(&looked);
    meanwhile("renameat2", 2, move || looks.set(other.recover_if_idle().unwrap().is_empty()));
    assert!(attempt(&workspace));
    assert!(looked.get(), "what is not finished is theirs");
    check(&tree, &ends, true, "with somebody who looks");
    // A lock that cannot be had for another reason is no sign of work.
    let tree = prepared(true);
    arm(Fault::Crash, ends.calls.len() / 2, false);
    let done = attempt(&tree.open());
    disarm();
    let file = tree.path(".apply-patch/lock");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert!(tree.open().recover_if_idle().is_err());
    std::fs::remove_dir(&file).unwrap();
    drop(lock(&tree.open()));
    check(&tree, &ends, done, "with a directory as the lock");
}

#[test]
fn stopped_anywhere_all_or_nothing_is_there() {
    crash_everywhere(false, false);
}

#[test]
fn stopped_again_during_recovery_all_or_nothing_is_there() {
    crash_everywhere(true, true);
}

#[cfg_attr(windows, ignore = "there is none to take away there")]
#[test]
fn the_same_without_exchange() {
    lack(true, false);
    crash_everywhere(true, true);
    lack(false, false);
}

#[test]
fn the_same_with_neither_exchange_nor_noreplace() {
    lack(true, true);
    crash_everywhere(true, true);
    lack(false, false);
}

#[test]
fn a_count_of_names_that_lags_behind_stops_nothing() {
    lack(true, true);
    fs_guard::fault::count_late(true);
    let tree = tree();
    let old = tree.snapshot();
    let workspace = tree.open();
    assert!(attempt(&workspace));
    execute(&tree.open(), |workspace| workspace.plan_undo_last()).unwrap();
    assert_eq!(tree.snapshot(), old);
    tree.commit(&[Delete("a"), Move("d/b", "b"), Update("gone", "g2")]).unwrap();
    fs_guard::fault::count_late(false);
    lack(false, false);
}

#[test]
fn the_same_with_staging_beside_the_files() {
    fs_guard::fault::cross_device(true);
    crash_everywhere(true, true);
    fs_guard::fault::cross_device(false);
}

/// A key that cannot be read, or made, for a moment made an unsigned journal, which nothing trusted
/// later.
#[test]
fn what_is_committed_is_signed_whichever_call_fails() {
    for (code, has_key) in [(EACCES, true), (EACCES, false), (EMFILE, true), (EMFILE, false)] {
        let mut failed = BTreeSet::new();
        for at in (1..).step_by(stride()) {
            let tree = Tree::new(&[("a", "old")]);
            if has_key {
                tree.commit(&[Add("b", "b")]).unwrap();
            }
            let workspace = tree.open();
            let plan = plan(&workspace, &[Update("a", "new")]);
            arm(Fault::Once(code), at, true);
            let done = workspace
                .lock(std::time::Duration::ZERO)
                .is_ok_and(|locked| commit(&locked, &plan).is_ok());
            let calls = disarm();
            drop(workspace);
            let what = format!("call {at} ({:?}) failed with {code}", calls.get(at - 1));
            drop(lock(&tree.open()));
            let (entries, unverified) = tree.open().history().unwrap();
            assert!(unverified.is_empty(), "{what}: {unverified:?}");
            let expected =
                (if done { "new" } else { "old" }.into(), usize::from(done) + usize::from(has_key));
            assert_eq!((tree.read("a"), entries.len()), expected, "{what}");
            if calls.len() < at {
                break;
            }
            failed.insert(calls[at - 1]);
        }
        assert!(failed.len() > if stride() == 1 { 5 } else { 3 }, "{failed:?}");
    }
}

/// Directories that could not be removed stayed, and success was reported.
#[test]
fn a_directory_that_cannot_be_removed_brings_everything_back() {
    for undo in [false, true] {
        for at in (1..).step_by(stride()) {
            let tree = Tree::new(&[("t/x/1", "1"), ("t/y/z/2", "2"), ("a", "a")]);
            std::fs::create_dir_all(tree.path("t/empty")).unwrap();
            let remove = |workspace: &Workspace| {
                let rules = lenient();
                let mut builder = PlanBuilder::new(workspace.root(), &rules);
                builder.remove_all("t").unwrap();
                builder.finish().unwrap()
            };
            if undo {
                tree.commit(&[Add("n/m/o", "o"), Delete("a")]).unwrap();
            }
            let old = tree.snapshot();
            let workspace = tree.open();
            let locked = lock(&workspace);
            let plan = if undo { workspace.plan_undo_last().unwrap() } else { remove(&workspace) };
            arm(Fault::Once(EIO), at, true);
            let result = commit(&locked, &plan);
            let calls = disarm();
            drop(locked);
            let what = format!("call {at} ({:?}) failed", calls.get(at - 1));
            match &result {
                Ok(_) => {
                    let now = tree.snapshot();
                    assert!(!now.contains_key("n"), "{what}: {now:#?}");
                    assert_eq!(now.contains_key("t"), undo, "{what}: {now:#?}");
                }
                Err(error) if error.is_rolled_back() => {
                    assert_eq!(tree.snapshot(), old, "{what}: {error}")
                }
                Err(_) => {
                    drop(lock(&tree.open()));
                    assert_eq!(tree.snapshot(), old, "{what}");
                }
            }
            if calls.len() < at {
                assert!(result.is_ok(), "{at}: {result:?}");
                assert!(at > 50, "{at}: {result:?}");
                break;
            }
        }
    }
}

/// The journal of a transaction that was rolled back, but for one file, came back to life in a
/// purge that was cut off: it reverted half of the same change, made later.
#[test]
fn a_purge_that_is_stopped_anywhere_changes_no_file() {
    struct Saver<'t>(&'t Tree);
    impl patch_engine::Host for Saver<'_> {
        fn event(&mut self, event: &patch_engine::Event<'_>) {
            if matches!(event, patch_engine::Event::Published(_)) {
                self.0.write("a", "saved over the new a");
                self.0.write("b", "saved by someone");
            }
        }
    }
    let all = workspace_trash::Retention { keep_last: 0, max_count: 0, ..Default::default() };
    for at in (1..).step_by(stride()) {
        let tree = Tree::new(&[("a", "old a"), ("b", "old b")]);
        let workspace = tree.open();
        let locked = lock(&workspace);
        let steps = [Update("a", "new a"), Update("b", "new b")];
        let failed =
            locked.commit(&plan(&workspace, &steps), &options(), &mut (), &mut Saver(&tree));
        assert!(failed.is_err_and(|error| !error.is_rolled_back()));
        tree.write("a", "old a");
        tree.write("b", "old b");
        commit(&locked, &plan(&workspace, &steps)).unwrap();
        commit(&locked, &plan(&workspace, &[Add("c", "c")])).unwrap();
        arm(Fault::Crash, at, false);
        let done = locked.purge(&all, false).is_ok();
        let call = disarm().pop();
        drop(locked);
        let what = format!("stopped at call {at} ({call:?})");
        let left = tree.open().log().unwrap();
        drop(lock(&tree.open()));
        assert_eq!(tree.read("a"), "new a", "{what}");
        assert_eq!(tree.read("b"), "new b", "{what}");
        assert!(tree.pending().is_empty(), "{what}");
        // The oldest goes first.
        let left: Vec<_> =
            left.iter().map(|entry| (&*entry.journal.records[0].path, entry.aborted)).collect();
        assert!([("c", false), ("a", false), ("a", true)].starts_with(&left), "{what}: {left:?}");
        lock(&tree.open()).purge(&all, false).unwrap();
        assert_eq!(
            std::fs::read_dir(tree.path(".apply-patch/trash")).unwrap().count(),
            0,
            "{what}"
        );
        if done {
            assert!(at > 6, "{at}");
            break;
        }
    }
}

/// Each component cost more calls than the one before.
#[cfg_attr(
    windows,
    ignore = "each component is opened in its parent there, from the root, for each call"
)]
#[test]
fn a_deep_path_costs_in_proportion_to_its_depth() {
    // Where the kernel does not resolve paths beneath a directory, each is walked from the root on.
    let scratch = tempfile::tempdir().unwrap();
    let root = Root::open(scratch.path(), Policy::new(".private")).unwrap();
    let empty = root.as_dir("").and_then(|dir| dir.create_dir("empty")).unwrap();
    if !Abilities::of(&empty).unwrap().resolve_beneath {
        testutils::skip!("the kernel has no openat2");
        return;
    }
    let calls = |depth: usize| {
        let tree = Tree::with_key(&[]);
        let path = format!("{}f", "d/".repeat(depth));
        let workspace = tree.open();
        arm(Fault::Nothing, 0, true);
        let plan = plan(&workspace, &[Add(&path, "x")]);
        commit(&lock(&workspace), &plan).unwrap();
        let there = disarm().len();
        let workspace = tree.open();
        arm(Fault::Nothing, 0, true);
        execute(&workspace, |workspace| workspace.plan_undo_last()).unwrap();
        [there, disarm().len()]
    };
    let (one, two) = (calls(100), calls(200));
    for (one, two) in one.into_iter().zip(two) {
        assert!(two < 2 * one + 50, "{one} calls for 100 components, {two} for 200");
    }
}
