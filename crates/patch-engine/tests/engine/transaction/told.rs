//! What a commit or a recovery reports as its outcome is true and stays true, whatever fails after
//! that.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use fs_guard::fault::{Fault, arm, cross_device, disarm, meanwhile};
use patch_engine::commit::{CommitError, Outcome, Workspace};
use patch_engine::{Plan, PlanBuilder};

use super::support::*;

const EIO: i32 = if cfg!(windows) { 1117 } else { 5 };

/// Lets the `at`-th call (from 1) of this name fail, and so many after it.
fn fail(call: &'static str, at: usize, more: usize) {
    meanwhile(call, at, move || {
        arm(Fault::Once(EIO), 1, false);
        if more > 0 {
            fail(call, 1, more - 1);
        }
    });
}

/// No call fails any more.
fn work_again() {
    disarm();
    meanwhile("", 1, || ());
}

/// Directories with a file, and with nothing.
fn tree() -> Tree {
    let tree = Tree::with_key(&[("d/x", "old x"), ("z", "old z")]);
    fs::create_dir(tree.path("d/e")).unwrap();
    tree
}

/// Adds `n`, changes `z` and removes `d`.
fn planned(workspace: &Workspace) -> Plan {
    let rules = lenient();
    let mut builder = PlanBuilder::new(workspace.root(), &rules);
    builder.create("n", "new n".into()).unwrap();
    builder.create("z", "new z".into()).unwrap();
    builder.remove_all("d").unwrap();
    builder.finish().unwrap()
}

/// Stops at every call; what is there after recovery is one of both trees, the one that it tells
/// of, and as soon as it can be the new one it is that.
#[test]
fn directories_that_go_or_give_way_are_recovered_wherever_it_stops() {
    for gives_way in [false, true] {
        let attempt = |fault, at| {
            let tree = tree();
            if gives_way {
                tree.commit(&[Delete("z"), Add("z/in", "in"), Add("z/sub/in", "in")]).unwrap();
            }
            let old = tree.snapshot();
            let workspace = tree.open();
            let locked = lock(&workspace);
            let plan =
                if gives_way { workspace.plan_undo_last().unwrap() } else { planned(&workspace) };
            arm(fault, at, false);
            let done = commit(&locked, &plan).is_ok();
            let calls = disarm();
            drop(locked);
            (tree, old, done, calls)
        };
        let (tree, old, done, calls) = attempt(Fault::Nothing, 0);
        assert!(done);
        let new = tree.snapshot();
        let mut finished = false;
        for at in (1..=calls.len()).step_by(testutils::share::stride()) {
            let (tree, _, done, _) = attempt(Fault::Crash, at);
            let what = format!("stopped at call {at} ({})", calls[at - 1]);
            let workspace = tree.open();
            let found = lock(&workspace).recovered().first().map(|found| found.outcome.clone());
            finished |= done || found == Some(Outcome::Completed);
            assert_eq!(
                tree.snapshot(),
                if finished { &new } else { &old }.clone(),
                "{what}: {found:?}"
            );
            let reverted = matches!(found, None | Some(Outcome::Discarded | Outcome::RolledBack));
            assert!(finished || reverted, "{what}: {found:?}");
            assert!(tree.pending().is_empty(), "{what}");
        }
        assert!(finished);
    }
}

/// Lets a commit be turned back by an edit of `z`, with something else done in that moment, and
/// something before the mark of the roll-back; returns the error.
fn turned_back(tree: &Tree, at: usize, then: impl FnOnce() + 'static) -> CommitError {
    let workspace = tree.open();
    let locked = lock(&workspace);
    let plan = planned(&workspace);
    let z = tree.path("z");
    meanwhile("renameat2", at, move || {
        fs::write(z, "of a user").unwrap();
        then();
    });
    let error = commit(&locked, &plan).unwrap_err();
    work_again();
    error
}

/// The folder of a transaction that was rolled back may stay. What is done after that is not taken
/// back by the next recovery: not even what the patch would have done.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn what_was_rolled_back_is_not_rolled_back_again() {
    // The new file is gone before the roll-back, too, or stays until then.
    for gone in [false, true] {
        // The calls of the roll-back that remove something end with the discarding of the folder.
        let mut stayed = 0;
        for at in 1..8 {
            let tree = tree();
            let n = tree.path("n");
            let error = turned_back(&tree, 2, move || {
                if gone {
                    fs::remove_file(n).unwrap();
                }
                fail("unlinkat", at, 0);
            });
            let what = format!("the {at}th removal failed, gone: {gone}: {error:?}");
            assert!(error.is_rolled_back(), "{what}");
            assert!(tree.path("d/e").is_dir(), "{what}");
            stayed += tree.pending().len();
            tree.lawless();
            if !gone {
                tree.write("n", "new n");
            }
            fs::remove_dir_all(tree.path("d")).unwrap();
            let now = tree.snapshot();
            drop(lock(&tree.open()));
            assert_eq!(tree.snapshot(), now, "{what}");
            assert!(tree.pending().is_empty(), "{what}");
        }
        assert!(stayed > 1, "the folder stayed {stayed} times");
    }
}

/// Neither could the mark of the roll-back be made, nor the journal be removed: recovery goes on
/// with what it says.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn a_roll_back_that_recovery_does_not_know_of_is_not_told_of_as_one() {
    let tree = tree();
    let error = turned_back(&tree, 2, || {
        meanwhile("renameat2", 1, || {
            arm(Fault::Once(EIO), 1, false);
            fail("unlinkat", 1, 0);
        });
    });
    assert!(!error.is_rolled_back(), "{error:?}");
    assert_eq!(tree.pending().len(), 1);
    tree.write("z", "old z");
    assert_eq!(recover(&tree), Outcome::Completed);
    assert_eq!(tree.snapshot().into_keys().collect::<Vec<_>>(), ["n", "z"]);
}

/// Where files are staged beside their places, the directories that go do so at the very end: one
/// that somebody else removes before is theirs.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn a_directory_that_was_not_removed_yet_is_not_made_again_beside() {
    let tree = tree();
    // What a user does is not synced.
    tree.lawless();
    cross_device(true);
    let empty = tree.path("d/e");
    let error = turned_back(&tree, 3, move || fs::remove_dir(empty).unwrap());
    cross_device(false);
    assert!(error.is_rolled_back(), "{error:?}");
    assert_eq!(tree.read("z"), "of a user");
    assert_eq!(tree.pending().len(), 0);
    assert_eq!(tree.snapshot().into_keys().collect::<Vec<_>>(), ["d", "d/x", "z"]);
}

/// A directory that is not empty stays. What was taken out of it is gone for good all the same.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn a_directory_that_stays_is_as_durable_as_the_rest() {
    for beside in [false, true] {
        let tree = tree();
        cross_device(beside);
        let workspace = tree.open();
        let (locked, theirs) = (lock(&workspace), tree.path("d/theirs"));
        meanwhile("renameat2", 3, move || fs::write(theirs, "theirs").unwrap());
        let done = commit(&locked, &planned(&workspace));
        cross_device(false);
        done.unwrap();
        // The order of what was written is looked at when the tree goes.
        assert_eq!(tree.snapshot().into_keys().collect::<Vec<_>>(), ["d", "d/theirs", "n", "z"]);
    }
}

#[cfg_attr(windows, ignore = "a directory with open files in it cannot be removed there")]
#[test]
fn a_directory_that_somebody_else_removes_first_is_gone_all_the_same() {
    let tree = tree();
    let workspace = tree.open();
    let (locked, dir) = (lock(&workspace), tree.path("d"));
    // What a user removes is not synced.
    tree.lawless();
    // The one in it is removed before.
    meanwhile("unlinkat", 2, move || fs::remove_dir(dir).unwrap());
    commit(&locked, &planned(&workspace)).unwrap();
    assert_eq!(tree.pending().len(), 0);
    assert_eq!(tree.snapshot().into_keys().collect::<Vec<_>>(), vec!["n", "z"]);
}

/// With staging beside the files: what is reported as done is done and stays done, the same for
/// what is rolled back, and nothing is left beside any file.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn a_failing_call_with_staging_beside_the_files_leaves_all_or_nothing() {
    let (old, new) = {
        let tree = tree();
        let old = tree.snapshot();
        let workspace = tree.open();
        commit(&lock(&workspace), &planned(&workspace)).unwrap();
        (old, tree.snapshot())
    };
    let (mut failed, mut untidy) = (0, 0);
    for at in 1.. {
        let tree = tree();
        cross_device(true);
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan = planned(&workspace);
        arm(Fault::Once(EIO), at, false);
        let done = commit(&locked, &plan);
        let calls = disarm();
        drop(locked);
        let what = format!("call {at} ({:?}) failed: {done:?}", calls.get(at - 1));
        let expected = match &done {
            Ok(_) => Some(&new),
            Err(error) if error.is_rolled_back() => Some(&old),
            Err(CommitError::Untidy { .. }) => {
                untidy += 1;
                None
            }
            Err(_) => None,
        };
        if let Some(expected) = expected {
            assert_eq!(tree.snapshot(), *expected, "{what}");
        }
        let workspace = tree.open();
        let recovered: Vec<_> =
            lock(&workspace).recovered().iter().map(|found| found.outcome.clone()).collect();
        let has_happened = done.is_ok() || matches!(done, Err(CommitError::Untidy { .. }));
        assert!(
            !has_happened || recovered.iter().all(Outcome::has_happened),
            "{what}: {recovered:?}"
        );
        let now = tree.snapshot();
        assert!(now == new || now == old && !has_happened, "{what}: {now:#?}");
        assert_eq!(Some(&now), expected.or(Some(&now)), "{what}");
        assert!(tree.pending().is_empty(), "{what}");
        cross_device(false);
        failed += usize::from(!has_happened);
        if calls.len() < at {
            assert!(done.is_ok(), "{failed} failed, {untidy} untidy");
            assert!(failed > 10, "{failed} failed, {untidy} untidy");
            assert!(untidy > 1, "{failed} failed, {untidy} untidy");
            break;
        }
    }
}

/// It was told that all happened: that a directory cannot be removed undoes nothing, however
/// often it is tried.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn a_directory_that_cannot_be_removed_takes_nothing_back_that_happened() {
    cross_device(true);
    let untidy = |removal: usize| {
        let tree = tree();
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan = planned(&workspace);
        fail("unlinkat", removal, 0);
        let done = commit(&locked, &plan);
        work_again();
        drop(locked);
        matches!(done, Err(CommitError::Untidy { .. })).then_some(tree)
    };
    // What was displaced cannot come home.
    let removal = (1..).find(|removal| untidy(*removal).is_some()).unwrap();
    let mut stayed = BTreeSet::new();
    for again in 1..8 {
        let tree = untidy(removal).unwrap();
        let what = format!("removal {again} and the next failed");
        let workspace = tree.open();
        fail("unlinkat", again, 1);
        let outcome = workspace
            .lock(Duration::from_secs(20))
            .ok()
            .map(|locked| locked.recovered()[0].outcome.clone());
        work_again();
        let expected: &[&str] = match outcome {
            Some(Outcome::CompletedExcept(dirs)) => {
                let all: &[_] =
                    if dirs == ["d/e"] { &["d", "d/e", "n", "z"] } else { &["d", "n", "z"] };
                stayed.insert(dirs);
                all
            }
            Some(outcome) => {
                assert_eq!(outcome, Outcome::Completed, "{what}");
                &["n", "z"]
            }
            // It does so the next time.
            None => {
                assert_eq!(recover(&tree), Outcome::Completed, "{what}");
                &["n", "z"]
            }
        };
        assert_eq!(tree.snapshot().into_keys().collect::<Vec<_>>(), expected, "{what}");
        assert!(tree.pending().is_empty(), "{what}");
        assert!(tree.open().log().unwrap().len() == 1, "{what}");
    }
    cross_device(false);
    assert_eq!(stayed.into_iter().collect::<Vec<_>>(), [["d"], ["d/e"]]);
}
