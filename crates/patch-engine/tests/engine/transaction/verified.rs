//! Commits that count only when what they published is accepted.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use testutils::posix::PermissionsExt as _;

use fs_guard::Root;
use fs_guard::fault::{Fault, arm, disarm};
use patch_engine::commit::{CommitError, CommitOptions, Committed, Outcome, Verify, Workspace};
use patch_engine::{Cancellation, CommandEnd, CommandFailure, ErrorKind, Event, Host, Plan};

use super::support::*;

const STEPS: &[Step<'static>] = &[
    Add("new", "1"),
    Add("x/y/new", "2"),
    Update("a", "new a"),
    Delete("gone"),
    Move("from", "x/to"),
];

fn tree() -> Tree {
    Tree::with_key(&[("a", "old a"), ("gone", "g"), ("from", "f")])
}

fn refused(end: CommandEnd) -> Result<(), CommandFailure> {
    Err(CommandFailure { command: None, end, output: b"no".to_vec(), left_out: 0 })
}

type Check = fn(&Root) -> Result<(), CommandFailure>;

/// Does something, and counts how often.
#[derive(Debug)]
struct Checks(Check, AtomicUsize);

impl Verify for Checks {
    fn verify(
        &self,
        root: &Root,
        _: &Plan,
        _: &str,
        cancellation: &Cancellation,
    ) -> Result<(), CommandFailure> {
        self.1.fetch_add(1, Ordering::Relaxed);
        if cancellation.is_cancelled() {
            return refused(CommandEnd::Cancelled);
        }
        (self.0)(root)
    }
}

fn checked(check: Check) -> (CommitOptions, Arc<Checks>) {
    let verify = Arc::new(Checks(check, AtomicUsize::new(0)));
    (CommitOptions { verify: Some(Arc::clone(&verify) as _), ..options() }, verify)
}

fn attempt(workspace: &Workspace, check: Check) -> Result<Committed, CommitError> {
    let locked = lock(workspace);
    commit_with(&locked, &plan(workspace, STEPS), &checked(check).0)
}

fn read(root: &Root, path: &str) -> Option<String> {
    fs::read_to_string(root.path().join(path)).ok()
}

fn accept(_: &Root) -> Result<(), CommandFailure> {
    Ok(())
}

fn refuse(_: &Root) -> Result<(), CommandFailure> {
    refused(CommandEnd::Exited(1))
}

#[test]
fn what_is_accepted_stays_and_what_is_not_was_never_there() {
    let tree = tree();
    let (old, workspace) = (tree.snapshot(), tree.open());
    let (options, checks) = checked(|root| {
        assert_eq!(
            [read(root, "a"), read(root, "gone"), read(root, "x/to")],
            [Some("new a".into()), None, Some("f".into())]
        );
        // Others wait.
        let other = Workspace::open(root.path(), patch_engine::policy()).unwrap();
        assert_eq!(other.lock(Duration::ZERO).unwrap_err().kind(), ErrorKind::Timeout);
        refused(CommandEnd::Exited(3))
    });
    let error = commit_with(&lock(&workspace), &plan(&workspace, STEPS), &options).unwrap_err();
    assert!(error.is_rolled_back());
    let CommitError::Unverified(why) = error else { panic!("{error}") };
    assert_eq!(&why.end, &CommandEnd::Exited(3));
    assert_eq!(&why.output[..], &b"no"[..]);
    assert_eq!(tree.snapshot(), old.clone());
    assert!(tree.pending().is_empty());
    assert_eq!(checks.1.load(Ordering::Relaxed), 1);
    assert!(!tree.path(".apply-patch").exists(), "nothing was ever committed");

    let done = attempt(&tree.open(), accept).unwrap();
    assert_eq!(tree.read("a"), "new a");
    assert!(tree.pending().is_empty());
    let workspace = tree.open();
    assert!(workspace.show(done.id).unwrap().journal.header.unverified);
    execute(&workspace, |workspace| workspace.plan_undo(done.id, &[])).unwrap();
    assert_eq!(tree.snapshot(), old);
}

#[test]
fn whoever_cancels_while_it_is_verified_gets_the_files_as_before() {
    struct Late(Arc<AtomicBool>);
    impl Host for Late {
        fn cancellation(&self) -> Cancellation {
            let late = Arc::clone(&self.0);
            Cancellation::new(move || late.load(Ordering::Relaxed))
        }

        fn event(&mut self, event: &Event<'_>) {
            if matches!(event, Event::Verifying(_)) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
    }
    let tree = tree();
    let (old, workspace) = (tree.snapshot(), tree.open());
    let result = lock(&workspace).commit(
        &plan(&workspace, STEPS),
        &checked(accept).0,
        &mut (),
        &mut Late(Arc::default()),
    );
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(tree.snapshot(), old);
    assert!(tree.pending().is_empty());
}

/// The process ends in the middle of the check.
#[test]
fn what_was_not_verified_is_put_back_by_the_next_one() {
    let tree = tree();
    let old = tree.snapshot();
    let workspace = tree.open();
    let ended = catch_unwind(AssertUnwindSafe(|| attempt(&workspace, |_| panic!("killed"))));
    assert!(ended.is_err());
    assert_eq!(tree.read("a"), "new a");
    let workspace = tree.open();
    assert_eq!(
        lock(&workspace).recovered().iter().map(|one| &one.outcome).collect::<Vec<_>>(),
        [&Outcome::RolledBack]
    );
    assert_eq!(tree.snapshot(), old);
    assert!(tree.pending().is_empty());
}

/// A formatter, say, that is run by the check: its bytes are neither lost nor passed over in
/// silence.
#[test]
fn what_the_check_itself_changed_stays_and_is_named() {
    for killed in [false, true] {
        let tree = tree();
        let workspace = tree.open();
        let check: Check = if killed {
            |root| {
                fs::write(root.path().join("a"), "formatted").unwrap();
                panic!("killed");
            }
        } else {
            |root| {
                fs::write(root.path().join("a"), "formatted").unwrap();
                refused(CommandEnd::Exited(1))
            }
        };
        let result = catch_unwind(AssertUnwindSafe(|| attempt(&workspace, check)));
        match result {
            Ok(result) => match result.unwrap_err() {
                CommitError::RollbackIncomplete { paths, cause, .. } => {
                    assert_eq!(paths, ["a"]);
                    assert!(matches!(*cause, CommitError::Unverified(_)), "{cause}");
                }
                error => panic!("{error}"),
            },
            Err(_) => {
                let workspace = tree.open();
                let outcomes: Vec<_> =
                    lock(&workspace).recovered().iter().map(|one| one.outcome.clone()).collect();
                assert_eq!(outcomes, [Outcome::RolledBackExcept(vec!["a".into()])]);
            }
        }
        assert_eq!([tree.read("a"), tree.read("gone"), tree.read("from")], ["formatted", "g", "f"]);
        let trash = tree.open().trash().unwrap();
        let [kept] = &trash[..] else { panic!("{trash:?}") };
        assert_eq!(&*kept.path, "a");
        assert_eq!(tree.read(kept.stored_path()), "old a".to_owned());
    }
}

#[test]
fn what_the_check_deleted_comes_back() {
    let tree = tree();
    let old = tree.snapshot();
    let result = attempt(&tree.open(), |root| {
        fs::remove_file(root.path().join("a")).unwrap();
        fs::remove_file(root.path().join("new")).unwrap();
        refused(CommandEnd::Killed(9))
    });
    assert!(matches!(result, Err(CommitError::Unverified(_))), "{result:?}");
    assert_eq!(tree.snapshot(), old);
}

/// Every call fails once, or is the last one; the check accepts, or does not.
#[test]
fn whatever_fails_all_or_nothing_is_there() {
    let mut ends = [0, 0];
    for (check, accepts) in [(accept as Check, true), (refuse, false)] {
        let (old, new, calls) = {
            let tree = tree();
            let old = tree.snapshot();
            arm(Fault::Nothing, 0, false);
            let done = attempt(&tree.open(), check).is_ok();
            let calls = disarm();
            assert_eq!(done, accepts);
            (old, tree.snapshot(), calls)
        };
        for at in (1..=calls.len()).step_by(testutils::share::stride()) {
            for fault in [Fault::Once(28), Fault::Crash] {
                let tree = tree();
                let workspace = tree.open();
                arm(fault, at, false);
                let locked = workspace.lock(Duration::from_secs(1));
                let result = locked.map(|locked| {
                    commit_with(&locked, &plan(&workspace, STEPS), &checked(check).0).map(|_| ())
                });
                disarm();
                let done = matches!(result, Ok(Ok(())));
                let what = format!("{fault:?} at call {at} ({}): {result:?}", calls[at - 1]);
                // A roll-back that fails says so, and is left to recovery.
                let finished = !matches!(result, Ok(Err(CommitError::RollbackIncomplete { .. })));
                if finished && !matches!(fault, Fault::Crash) {
                    assert_eq!(
                        tree.snapshot(),
                        if done { new.clone() } else { old.clone() },
                        "{what}"
                    );
                }
                drop(lock(&tree.open()));
                let now = tree.snapshot();
                assert!(now == old && !done || now == new, "{what}: {now:#?}");
                assert!(tree.pending().is_empty(), "{what}");
                let log = tree.open().log().unwrap();
                assert_eq!(
                    log.iter().any(|entry| !entry.aborted),
                    now == new && old != new,
                    "{what}"
                );
                ends[usize::from(now == new && old != new)] += 1;
            }
        }
    }
    assert!(ends.iter().all(|&count| count > 3 / testutils::share::stride()), "{ends:?}");
}

fn remove_state(root: &Root) {
    fs::remove_dir_all(root.path().join(".apply-patch")).unwrap();
}

/// A check may remove the state directory, with all that was displaced, and restore files as well,
/// as `git clean` and `git checkout` do. What was there before is there again, and nothing else.
#[cfg_attr(windows, ignore = "an open directory cannot be removed there")]
#[test]
fn what_a_check_removes_of_the_state_is_not_needed_to_go_back() {
    let checks: [(&str, Check); 6] = [
        ("fails", |root| {
            remove_state(root);
            refused(CommandEnd::Exited(1))
        }),
        ("passes", |root| {
            remove_state(root);
            Ok(())
        }),
        ("makes an empty one", |root| {
            remove_state(root);
            fs::create_dir(root.path().join(".apply-patch")).unwrap();
            refused(CommandEnd::Exited(1))
        }),
        ("restores a file", |root| {
            remove_state(root);
            fs::write(root.path().join("a"), "old a").unwrap();
            fs::write(root.path().join("gone"), "g").unwrap();
            refused(CommandEnd::Exited(1))
        }),
        ("removes what is new", |root| {
            remove_state(root);
            fs::remove_dir_all(root.path().join("x")).unwrap();
            fs::remove_file(root.path().join("new")).unwrap();
            refused(CommandEnd::Exited(1))
        }),
        ("removes what was displaced", |root| {
            for folder in fs::read_dir(root.path().join(".apply-patch/pending")).unwrap() {
                fs::remove_dir_all(folder.unwrap().path()).unwrap();
            }
            refused(CommandEnd::Exited(1))
        }),
    ];
    for (what, check) in checks {
        let tree = tree();
        tree.lawless();
        fs::set_permissions(tree.path("a"), fs::Permissions::from_mode(0o750)).unwrap();
        let old = tree.snapshot();
        let error = attempt(&tree.open(), check).unwrap_err();
        assert!(matches!(error, CommitError::Unverified(_)), "{what}: {error:?}");
        assert!(error.is_rolled_back(), "{what}: {error:?}");
        assert_eq!(tree.snapshot(), old, "{what}");
        // And the next change is made as ever.
        attempt(&tree.open(), accept).unwrap();
        assert_eq!(tree.read("a"), "new a", "{what}");
    }
}
