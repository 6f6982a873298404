//! States from before a directory became a part of a project.

use std::fs;

use fs_guard::fault::{Fault, arm, disarm};
use patch_engine::commit::{CommitOptions, Outcome, Workspace};
use patch_engine::{ApplyOptions, ErrorKind, parse};
use testutils::share::stride;

use super::support::*;

const STATE: &str = ".apply-patch";
const EIO: i32 = 5;

/// A person's, who sees all of the project.
fn at(tree: &Tree, dir: &str) -> Workspace {
    open(&tree.path(dir), tree.key_place()).for_a_person()
}

fn attempt(
    workspace: &Workspace,
    body: &str,
    host: &mut dyn patch_engine::Host,
) -> Result<Vec<patch_engine::Report>, patch_engine::Failed> {
    let settings = ApplyOptions::new(lenient());
    let text = format!("*** Begin Patch\n{body}*** End Patch\n");
    let patch = parse(&text, &settings.options.parse).unwrap();
    workspace.apply(&patch, &settings, host)
}

fn apply(workspace: &Workspace, body: &str) {
    attempt(workspace, body, &mut ()).unwrap();
}

/// Stops, as a process that is killed does, once the first file has its name.
struct Killed;

impl patch_engine::Host for Killed {
    fn event(&mut self, event: &patch_engine::Event<'_>) {
        assert!(!matches!(event, patch_engine::Event::Published(_)), "killed");
    }
}

fn kill(workspace: Workspace, body: &str) {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        drop(attempt(&workspace, body, &mut Killed))
    }))
    .unwrap_err();
}

/// The paths of all transactions, newest first.
fn log(workspace: &Workspace) -> Vec<String> {
    workspace
        .log()
        .unwrap()
        .into_iter()
        .map(|entry| entry.journal.records[0].path.clone())
        .collect()
}

#[test]
fn the_history_of_a_directory_moves_to_the_top_when_that_is_used() {
    for vcs in [".git", ".hg", ".jj"] {
        let tree = Tree::new(&[("a/b/x", "1\n"), ("a/y", "1\n"), ("other/z", "1\n"), ("t", "1\n")]);
        apply(&at(&tree, "a/b"), "*** Update File: x\n@@\n-1\n+2\n");
        apply(&at(&tree, "other"), "*** Update File: z\n@@\n-1\n+2\n");
        // The first project around `a/b` is `a`.
        fs::create_dir(tree.path("a").join(vcs)).unwrap();
        assert_eq!(log(&at(&tree, "a/b")), ["x"], "until the top is used, nothing moves");
        apply(&at(&tree, "a"), "*** Update File: y\n@@\n-1\n+2\n");
        assert!(!tree.path("a/b").join(STATE).exists());
        assert_eq!(log(&at(&tree, "a")), ["y", "b/x"]);
        assert_eq!(log(&at(&tree, "a/b")), ["../y", "x"]);
        // Later it is a part of another one. What is a work tree of its own stays so.
        fs::rename(tree.path("a").join(vcs), tree.path(".").join(vcs)).unwrap();
        fs::create_dir(tree.path("other").join(vcs)).unwrap();
        apply(&at(&tree, "."), "*** Update File: t\n@@\n-1\n+2\n");
        assert!(!tree.path("a").join(STATE).exists());
        assert!(tree.path("other").join(STATE).exists());
        let top = at(&tree, ".");
        assert_eq!(log(&top), ["t", "a/y", "a/b/x"]);
        assert_eq!(top.trash().unwrap().len(), 3);
        for entry in top.log().unwrap() {
            top.undo(entry.journal.header.id, &[], &CommitOptions::default(), &mut ()).unwrap();
        }
        assert_eq!(tree.read("a/b/x"), "1\n");
        assert_eq!(tree.read("a/y"), "1\n");
        assert_eq!(tree.read("t"), "1\n");
        assert_eq!(log(&at(&tree, "other")), ["z"]);
    }
}

#[test]
fn what_was_interrupted_in_a_directory_is_recovered_from_the_top() {
    let tree = Tree::new(&[("sub/x", "1\n"), ("sub/y", "1\n")]);
    kill(at(&tree, "sub"), "*** Update File: x\n@@\n-1\n+2\n*** Update File: y\n@@\n-1\n+2\n");
    assert_ne!(tree.read("sub/x"), tree.read("sub/y"));
    fs::create_dir(tree.path(".git")).unwrap();
    let top = at(&tree, ".");
    let locked = lock(&top);
    assert_eq!(
        locked.recovered().iter().map(|one| one.outcome.clone()).collect::<Vec<_>>(),
        [Outcome::Completed]
    );
    drop(locked);
    assert_eq!(tree.read("sub/x"), "2\n");
    assert_eq!(tree.read("sub/y"), "2\n");
    assert_eq!(log(&at(&tree, ".")), ["sub/x"]);
    assert!(!tree.path("sub").join(STATE).exists());
}

#[test]
fn a_state_that_appears_later_is_not_written_over_while_it_has_something_unfinished() {
    for git in [true, false] {
        let tree = Tree::new(&[
            ("d/sub/x", "1\n"),
            ("d/sub/y", "1\n"),
            ("d/sub/e/z", "1\n"),
            ("t", "1\n"),
        ]);
        if git {
            fs::create_dir(tree.path(".git")).unwrap();
        }
        apply(&at(&tree, "."), "*** Update File: t\n@@\n-1\n+2\n");
        // As a container makes one, which sees the directory alone.
        let alone = patch_engine::commit::StatePlace::Root;
        let sub = Workspace::open_with(&tree.path("d/sub"), patch_engine::policy(), alone).unwrap();
        kill(
            sub.with_key_place(tree.key_place()),
            "*** Update File: x\n@@\n-1\n+2\n*** Update File: y\n@@\n-1\n+2\n",
        );
        let before = tree.snapshot();
        for body in ["*** Update File: d/sub/e/z\n@@\n-1\n+3\n", "*** Add File: d/sub/n\n+n\n"] {
            let failed = attempt(&at(&tree, "."), body, &mut ()).unwrap_err();
            assert_eq!(failed.error.kind(), ErrorKind::Timeout, "{failed:?}");
            assert!(
                failed.error.to_string().contains("d/sub has an unfinished transaction"),
                "{failed:?}"
            );
        }
        assert_eq!(tree.snapshot(), before);
        apply(&at(&tree, "."), "*** Add File: d/n\n+n\n");
        assert_eq!(at(&tree, "d/sub").recover_if_idle().unwrap().len(), 1);
        apply(&at(&tree, "."), "*** Update File: d/sub/e/z\n@@\n-1\n+3\n");
        // From below it stays in use.
        assert_eq!(log(&at(&tree, "d/sub")), ["x"]);
    }
}

/// However often it is interrupted, each transaction is in one place, and in the end all are at the
/// top, as they were.
#[test]
fn an_interrupted_move_loses_nothing() {
    let mut at_call = 1;
    loop {
        let tree = Tree::new(&[("a/b/x", "1\n"), ("a/y", "1\n"), ("t", "1\n")]);
        tree.lawless();
        apply(&at(&tree, "a/b"), "*** Update File: x\n@@\n-1\n+2\n");
        fs::create_dir(tree.path("a/.git")).unwrap();
        apply(&at(&tree, "a"), "*** Update File: y\n@@\n-1\n+2\n");
        apply(&at(&tree, "a"), "*** Update File: y\n@@\n-2\n+3\n");
        fs::rename(tree.path("a/.git"), tree.path(".git")).unwrap();
        arm(Fault::FromThenOn(EIO), at_call, false);
        let first = at(&tree, ".").lock(std::time::Duration::from_secs(20)).is_ok();
        let calls = disarm();
        // Whoever comes next, from wherever: what it does is not lost either.
        let from_below = at_call / stride() % 2 == 1;
        if from_below {
            apply(&at(&tree, "a/b"), "*** Update File: x\n@@\n-2\n+3\n");
        }
        let what = format!("from call {at_call} ({:?}), {first}", calls.get(at_call - 1));
        apply(&at(&tree, "."), "*** Update File: t\n@@\n-1\n+2\n");
        let top = at(&tree, ".");
        let mut expected = vec!["t", "a/y", "a/y", "a/b/x"];
        if from_below {
            expected.insert(1, "a/b/x");
        }
        assert_eq!(log(&top), expected, "{what}");
        assert!(!tree.path("a").join(STATE).exists(), "{what}");
        assert!(!tree.path("a/b").join(STATE).exists(), "{what}");
        for entry in top.log().unwrap() {
            top.undo(entry.journal.header.id, &[], &CommitOptions::default(), &mut ()).unwrap();
        }
        assert_eq!(tree.read("a/b/x"), "1\n");
        assert_eq!(tree.read("a/y"), "1\n");
        assert_eq!(tree.read("t"), "1\n");
        if calls.len() < at_call {
            break;
        }
        at_call += stride();
    }
    assert!(at_call > 20, "only {at_call} calls");
}
