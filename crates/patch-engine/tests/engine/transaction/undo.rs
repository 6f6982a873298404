//! And back: undo, redo, restore, retention.

use std::fs;
use testutils::posix::{PermissionsExt as _, symlink};

use fs_guard::Access;
use patch_engine::commit::{Error, KeyPlace, TransactionId, UndoOptions};
use patch_engine::{ApplyOptions, ChangeKind, ErrorKind, Plan, PlanBuilder, PlanNote};
use patch_grammar::diff::{self, DiffOptions};
use workspace_trash::Retention;

use super::support::*;

fn run(
    tree: &Tree,
    plan: impl FnOnce(&patch_engine::commit::Workspace) -> Result<Plan, Error>,
) -> Result<(), Error> {
    execute(&tree.open(), plan).map(drop)
}

#[cfg_attr(windows, ignore = "Wine has no links that a program can make")]
#[test]
fn undo_and_redo_give_both_trees() {
    let tree = Tree::new(&[("a", "old a"), ("d/b", "old b"), ("gone", "g"), ("from", "f")]);
    fs::set_permissions(tree.path("gone"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("a", tree.path("link")).unwrap();
    let old = tree.snapshot();
    let steps = [
        Add("x/y/n", "n"),
        Update("a", "new a"),
        Append("d/b", "!"),
        Delete("gone"),
        Move("from", "x/to"),
        Delete("link"),
    ];
    let done = tree.commit(&steps).unwrap();
    let new = tree.snapshot();
    for _ in 0..2 {
        run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
        assert_eq!(tree.snapshot(), old);
        run(&tree, |workspace| workspace.plan_redo(None)).unwrap();
        assert_eq!(tree.snapshot(), new);
    }
    run(&tree, |workspace| workspace.plan_undo(done.id, &[])).unwrap();
    assert_eq!(tree.snapshot(), old);
    assert!(matches!(
        run(&tree, |workspace| workspace.plan_undo_last()),
        Err(Error::NothingTo { what: "undo", .. })
    ));
    run(&tree, |workspace| workspace.plan_redo(Some(done.id))).unwrap();
    assert_eq!(tree.snapshot(), new);
}

#[test]
fn several_undos_are_redone_in_turn() {
    let tree = Tree::new(&[("a", "0")]);
    for text in ["1", "2", "3"] {
        tree.commit(&[Update("a", text)]).unwrap();
    }
    for text in ["2", "1", "0"] {
        run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
        assert_eq!(tree.read("a"), text);
    }
    for text in ["1", "2", "3"] {
        run(&tree, |workspace| workspace.plan_redo(None)).unwrap();
        assert_eq!(tree.read("a"), text);
    }
    assert!(matches!(
        run(&tree, |workspace| workspace.plan_redo(None)),
        Err(Error::NothingTo { what: "redo", .. })
    ));
}

#[test]
fn undo_names_every_file_that_drifted() {
    let tree = Tree::new(&[("a", "old"), ("b", "old"), ("c", "old"), ("d", "old")]);
    let done = tree
        .commit(&[Update("a", "new"), Update("b", "new"), Delete("c"), Update("d", "new")])
        .unwrap();
    tree.write("a", "edited");
    tree.write("c", "made again");
    fs::remove_file(tree.path("d")).unwrap();
    let error = tree.open().plan_undo(done.id, &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleFile);
    let Error::Drifted { drifts, .. } = &error else { panic!("{error}") };
    let paths: Vec<&str> = drifts.iter().map(|drift| &*drift.path).collect();
    assert_eq!(paths, ["a", "d", "c"]);
    assert_eq!(error.path(), Some("a"));
    // One path of it still goes.
    let workspace = tree.open();
    let b = workspace.root().check("b", Access::Update).unwrap();
    run(&tree, |workspace| workspace.plan_undo(done.id, std::slice::from_ref(&b))).unwrap();
    assert_eq!(tree.read("a"), "edited");
    assert_eq!(tree.read("b"), "old");
    let none = workspace.root().check("none", Access::Update).unwrap();
    assert!(matches!(workspace.plan_undo(done.id, &[none]), Err(Error::NotInTransaction { .. })));
}

#[test]
fn a_deleted_file_is_restored_to_its_place_or_another() {
    let tree = Tree::new(&[("d/a", "old")]);
    let done = tree.commit(&[Delete("d/a")]).unwrap();
    fs::remove_dir(tree.path("d")).unwrap();
    run(&tree, |workspace| workspace.plan_restore(done.id, &[(0, None)])).unwrap();
    assert_eq!(tree.read("d/a"), "old");
    let again = tree.open().plan_restore(done.id, &[(0, None)]).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    // What is in the way is named.
    let restored = tree.open().log().unwrap()[0].journal.header.id;
    assert_eq!(
        again.to_string(),
        format!("d/a: a file is there already (by transaction {restored})")
    );
    fs::write(tree.path("d/a"), "by hand").unwrap();
    let again = tree.open().plan_restore(done.id, &[(0, None)]).unwrap_err();
    assert_eq!(again.to_string(), "d/a: a file is there already");
    let target = tree.open().root().check("e/b", Access::Create).unwrap();
    run(&tree, |workspace| workspace.plan_restore(done.id, &[(0, Some(target.clone()))])).unwrap();
    assert_eq!(tree.read("e/b"), "old");
    assert_eq!(
        tree.open().plan_restore(done.id, &[(9, None)]).unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

/// Who reads takes no lock: what a purge removes meanwhile is not there, and nothing else is wrong.
#[test]
fn the_history_can_be_read_while_it_is_purged() {
    let all = Retention { keep_last: 0, max_count: 0, ..Retention::default() };
    for _ in 0..5 {
        let tree = Tree::new(&[("a", "0")]);
        for n in 1..=40 {
            tree.commit(&[Update("a", &n.to_string())]).unwrap();
        }
        let workspace = tree.open();
        std::thread::scope(|scope| {
            let purge = scope.spawn(|| lock(&tree.open()).purge(&all, false).unwrap());
            while !purge.is_finished() {
                let (entries, unverified) = workspace.history().unwrap();
                assert!(unverified.is_empty());
                assert!(entries.len() <= 40);
                workspace.trash().unwrap();
            }
        });
        assert_eq!(workspace.log().unwrap().len(), 0);
        assert_eq!(workspace.trash().unwrap().len(), 0);
    }
}

#[test]
fn retention_keeps_the_last_and_purges_the_rest() {
    let tree = Tree::new(&[("a", "0")]);
    for n in 1..=30 {
        tree.commit(&[Update("a", &n.to_string())]).unwrap();
    }
    assert_eq!(tree.open().log().unwrap().len(), 30);
    let workspace = tree.open();
    let locked = lock(&workspace);
    let retention = Retention { keep_last: 5, max_count: 10, ..Retention::default() };
    assert_eq!(locked.purge(&retention, true).unwrap().transactions.len(), 20);
    assert_eq!(workspace.log().unwrap().len(), 30);
    assert_eq!(locked.purge(&retention, false).unwrap().transactions.len(), 20);
    assert_eq!(workspace.log().unwrap().len(), 10);
    drop(locked);
    assert!(tree.pending().is_empty());
    run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
    assert_eq!(tree.read("a"), "29");
}

#[test]
fn a_move_is_a_move_when_it_is_undone() {
    const LINES: &str = "1\n2\n3\n";
    let edited = |from: &str, to: &str, old: &str, new: &str| {
        format!(
            "diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n--- a/{from}\n\
             +++ b/{to}\n\
             @@ -1,3 +1,3 @@\n 1\n-{old}\n+{new}\n 3\n"
        )
    };
    let gone =
        "diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n";
    let back =
        "diff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+b\n";
    let same = |from: &str, to: &str| {
        format!(
            "diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\n\
             rename to {to}\n"
        )
    };
    for (steps, done, undone) in [
        (
            &[Move("a", "c"), Update("c", "1\ntwo\n3\n")][..],
            vec![edited("a", "c", "2", "two")],
            vec![edited("c", "a", "two", "2")],
        ),
        // Over another file, which comes back.
        (
            &[Delete("b"), Move("a", "b"), Update("b", "1\ntwo\n3\n")],
            vec![gone.to_owned(), edited("a", "b", "2", "two")],
            vec![edited("b", "a", "two", "2"), back.to_owned()],
        ),
        // To where another file was, which moves too.
        (
            &[Move("b", "c"), Move("a", "b")],
            vec![same("a", "b"), same("b", "c")],
            vec![same("b", "a"), same("c", "b")],
        ),
    ] {
        let tree = Tree::new(&[("a", LINES), ("b", "b\n")]);
        tree.commit(steps).unwrap();
        let workspace = tree.open();
        let parts = |diff: Vec<u8>| {
            let diff = String::from_utf8(diff).unwrap();
            let parts = diff.split("diff --git ").skip(1);
            let mut parts: Vec<_> = parts.map(|part| format!("diff --git {part}")).collect();
            parts.sort();
            parts
        };
        let sorted = |mut parts: Vec<String>| {
            parts.sort();
            parts
        };
        let last = || {
            let entries = workspace.history().unwrap().0;
            parts(workspace.transaction_diff(entries.first().unwrap()).unwrap())
        };
        assert_eq!(last(), sorted(done), "{steps:?}");
        let undone = sorted(undone);
        let plan = workspace.plan_undo_last().unwrap();
        assert_eq!(parts(plan.images().diffs().unwrap()), undone, "{steps:?}");
        run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
        assert_eq!(last(), undone, "{steps:?}");
    }
}

#[test]
fn the_mode_of_removed_directories_comes_back() {
    let tree = Tree::new(&[("d/e/f", "x")]);
    fs::set_permissions(tree.path("d/e"), fs::Permissions::from_mode(0o750)).unwrap();
    let old = tree.snapshot();
    let workspace = tree.open();
    let locked = lock(&workspace);
    let rules = lenient();
    let mut builder = PlanBuilder::new(workspace.root(), &rules);
    builder.remove_all("d").unwrap();
    let done = commit(&locked, &builder.finish().unwrap()).unwrap();
    assert!(tree.snapshot().is_empty());
    drop(locked);
    run(&tree, |workspace| workspace.plan_undo(done.id, &[])).unwrap();
    assert_eq!(tree.snapshot(), old);
}

#[test]
fn the_plan_to_undo_is_told_as_a_patch_is() {
    let tree = Tree::new(&[("a", "one\ntwo\n"), ("gone", "g\n"), ("from", "f\n"), ("same", "s\n")]);
    tree.commit(&[
        Update("a", "one\n2\n"),
        Add("n", "n\n"),
        Delete("gone"),
        Move("from", "x/to"),
        Delete("same"),
    ])
    .unwrap();
    let workspace = tree.open();
    let told = |plan: &Plan| {
        let mut told: Vec<_> = plan
            .changes()
            .iter()
            .map(|change| {
                let to = change.to_path.as_ref().map(|to| format!(" -> {to}")).unwrap_or_default();
                format!("{} {}{to}", change.operation.as_str(), change.path)
            })
            .collect();
        told.sort();
        told
    };
    let undo = workspace.plan_undo_last().unwrap();
    assert_eq!(
        told(&undo),
        ["create gone", "create same", "delete n", "move x/to -> from", "update a"]
    );
    let diff = |path: &str| {
        let change = undo.changes().iter().find(|change| change.path.as_str() == path).unwrap();
        String::from_utf8(undo.images().diff(change).unwrap()).unwrap()
    };
    assert!(diff("a").ends_with("@@ -1,2 +1,2 @@\n one\n-2\n+two\n"), "{}", diff("a"));
    assert!(
        diff("gone").ends_with("--- /dev/null\n+++ b/gone\n@@ -0,0 +1 @@\n+g\n"),
        "{}",
        diff("gone")
    );
    assert!(diff("n").ends_with("--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-n\n"), "{}", diff("n"));
    assert!(
        diff("x/to").ends_with("similarity index 100%\nrename from x/to\nrename to from\n"),
        "{}",
        diff("x/to")
    );

    let undo_diffs = undo.images().diffs().unwrap();
    let report = execute(&workspace, |workspace| workspace.plan_undo_last()).unwrap();
    let shown = undo_diffs;
    assert_eq!(report.images().diffs().unwrap(), shown);
    assert_eq!(report.plan.undo_of(), undo.undo_of());
    let redo = workspace.plan_redo(None).unwrap();
    assert_eq!(
        told(&redo),
        ["create n", "delete gone", "delete same", "move from -> x/to", "update a"]
    );
    assert!(
        redo.changes().iter().all(|change| redo.transitions().get(change.transition).is_some())
    );
}

#[test]
fn an_empty_directory_comes_back() {
    let tree = Tree::new(&[("kept", "")]);
    fs::create_dir(tree.path("d")).unwrap();
    let workspace = tree.open();
    let rules = lenient();
    let plan = |_: &_| {
        let mut builder = PlanBuilder::new(workspace.root(), &rules);
        builder.remove_all("d").unwrap();
        Ok(builder.finish().unwrap())
    };
    execute(&workspace, plan).unwrap();
    assert!(!tree.path("d").exists());
    run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
    assert!(tree.path("d").is_dir());
    run(&tree, |workspace| workspace.plan_redo(None)).unwrap();
    assert!(!tree.path("d").exists());
}

#[cfg_attr(windows, ignore = "Wine has no links that a program can make")]
#[test]
fn large_and_linked_files_have_their_lines_in_the_diff() {
    let tree = Tree::new(&[("big", &"x\n".repeat(600_000)), ("bin", "\0")]);
    symlink("bin", tree.path("link")).unwrap();
    tree.commit(&[Delete("big"), Delete("bin"), Delete("link")]).unwrap();
    let plan = tree.open().plan_undo_last().unwrap();
    assert_eq!(
        plan.changes().iter().filter(|change| change.operation == ChangeKind::Create).count(),
        3
    );
    let diff = |path: &str| {
        let change = plan.changes().iter().find(|change| change.path.as_str() == path).unwrap();
        String::from_utf8(plan.images().diff(change).unwrap()).unwrap()
    };
    assert!(diff("big").ends_with(&format!(
        "--- /dev/null\n+++ b/big\n@@ -0,0 +1,600000 @@\n{}",
        "+x\n".repeat(600_000)
    )));
    assert!(diff("bin").ends_with("Binary files /dev/null and b/bin differ\n"), "{}", diff("bin"));
    let link = "new file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+bin\n\
                \\ No newline at end of file\n";
    assert!(diff("link").ends_with(link), "{}", diff("link"));
}

#[cfg_attr(windows, ignore = "a file has no mode but read-only there")]
#[test]
fn two_plans_have_one_digest_only_if_they_do_the_same() {
    let tree = Tree::new(&[("a", "1"), ("b", "1")]);
    let first = tree.commit(&[Update("a", "2"), Add("x/n", "n")]).unwrap();
    let workspace = tree.open();
    let whole = || workspace.plan_undo(first.id, &[]).unwrap().digest();
    let only = |path: &str| {
        let path = workspace.root().check(path, Access::Read).unwrap();
        workspace.plan_undo(first.id, &[path]).unwrap().digest()
    };
    assert_eq!(whole(), whole());
    let delete = |path: &str| plan(&workspace, &[Delete(path)]).digest();
    let create = |text: &str| plan(&workspace, &[Add("c", text)]).digest();
    let nothing = plan(&workspace, &[]).digest();
    let all = [
        whole(),
        only("a"),
        only("x/n"),
        delete("a"),
        delete("b"),
        create("1"),
        create("2"),
        nothing,
    ];
    let different: std::collections::BTreeSet<_> = all.iter().map(ToString::to_string).collect();
    assert_eq!(different.len(), all.len());
    let before = delete("a");
    fs::set_permissions(tree.path("a"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_ne!(delete("a"), before, "the mode is part of what was seen");
}

#[test]
fn undo_of_the_last_one_passes_over_none_that_is_not_verified() {
    let tree = Tree::new(&[("a", "0"), ("b", "0")]);
    let ours = tree.commit(&[Update("a", "1")]).unwrap().id;
    // The same user with another home.
    let other = tempfile::tempdir().unwrap();
    let elsewhere = open(tree.dir.path(), KeyPlace::Directory(other.path().into()));
    let theirs = commit(&lock(&elsewhere), &plan(&elsewhere, &[Update("b", "1")])).unwrap().id;
    let error = run(&tree, |workspace| workspace.plan_undo_last()).unwrap_err();
    assert!(
        matches!(&error, Error::Doubtful { transactions, .. } if transactions[0].0 == theirs),
        "{error}"
    );
    assert!(error.to_string().contains(&theirs.to_string()), "{error}");
    assert_eq!(tree.read("a"), "1");
    assert_eq!(tree.read("b"), "1");
    let (entries, unverified) = tree.open().history().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(unverified.len(), 1);
    assert_eq!(unverified[0].id, theirs);
    // By its name it can be undone, and what is older than the one that was found does not
    // matter.
    run(&tree, |workspace| workspace.plan_undo(ours, &[])).unwrap();
    assert_eq!(tree.read("a"), "0");
    assert_eq!(tree.read("b"), "1");
    run(&tree, |workspace| workspace.plan_redo(None)).unwrap();
    tree.commit(&[Update("a", "2")]).unwrap();
    run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
    assert_eq!(tree.read("a"), "1");
}

#[cfg_attr(windows, ignore = "a file has no mode but read-only there")]
#[test]
fn a_key_that_cannot_be_read_is_an_error_before_anything_is_written() {
    let tree = Tree::new(&[("a", "0")]);
    tree.commit(&[Update("a", "1")]).unwrap();
    fs::set_permissions(tree.key_dir().join("key"), fs::Permissions::from_mode(0o644)).unwrap();
    let before = fs::read_dir(tree.path(".apply-patch/trash")).unwrap().count();
    let error = tree.commit(&[Update("a", "2")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
    assert_eq!(tree.read("a"), "1");
    assert_eq!(tree.pending().len(), 0);
    assert_eq!(fs::read_dir(tree.path(".apply-patch/trash")).unwrap().count(), before);
    assert!(tree.open().log().is_err());
}

/// With bits that the umask takes away from new files, and without any that it leaves.
#[cfg_attr(windows, ignore = "a file has no mode but read-only there")]
#[test]
fn files_of_every_mode_and_size_come_back() {
    const LARGE: usize = (1 << 20) + 1;
    for mode in [0o600, 0o644, 0o664, 0o666, 0o755, 0o775, 0o777] {
        for size in if mode == 0o664 { &[3, LARGE][..] } else { &[3] } {
            let text = |letter: &str| letter.repeat(*size);
            let names = ["updated", "appended", "deleted", "moved"];
            let old = text("o");
            let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, &*old)).collect();
            let tree = Tree::new(&files);
            for name in names {
                fs::set_permissions(tree.path(name), fs::Permissions::from_mode(mode)).unwrap();
            }
            let before = tree.snapshot();
            let (new, added) = (text("n"), text("a"));
            let steps = [
                Update("updated", &new),
                Append("appended", "!"),
                Delete("deleted"),
                Move("moved", "d/to"),
                Add("added", &added),
            ];
            tree.commit(&steps).unwrap();
            let after = tree.snapshot();
            assert!(after["updated"].starts_with(&format!("file {mode:o} ")), "{mode:o} {size}");
            for _ in 0..2 {
                run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
                assert!(tree.snapshot() == before, "{mode:o} {size}");
                run(&tree, |workspace| workspace.plan_redo(None)).unwrap();
                assert!(tree.snapshot() == after, "{mode:o} {size}");
            }
            // And one that is not what the transaction left is seen, however large.
            fs::write(tree.path("updated"), text("x")).unwrap();
            let drifted = tree.open().plan_undo_last().unwrap_err();
            assert!(
                matches!(&drifted, Error::Drifted { drifts, .. } if drifts.len() == 1),
                "{mode:o} {size}: {drifted}"
            );
        }
    }
}

/// The trash is the user's to look into; what was changed there is not given back for what it was.
#[test]
fn what_was_changed_in_the_trash_is_not_brought_back() {
    for large in [false, true] {
        let old = "o".repeat(if large { (1 << 20) + 1 } else { 5 });
        let tree = Tree::new(&[("a", &old), ("b", "old b")]);
        let done = tree.commit(&[Update("a", "new a"), Update("b", "new b")]).unwrap();
        let kept = tree.path(done.trashed[0].as_ref().unwrap());
        fs::write(&kept, "x".repeat(old.len())).unwrap();
        let tried = execute(&tree.open(), |workspace| workspace.plan_undo_last());
        assert!(tried.is_err(), "{large}");
        assert_eq!(tree.read("a"), "new a");
        assert_eq!(tree.read("b"), "new b");
        assert!(tree.pending().is_empty());
    }
}

/// What a later transaction changed elsewhere in a file stays.
#[test]
fn a_transaction_beneath_others_is_carried_back() {
    let carry = UndoOptions { carry: true, ..UndoOptions::default() };
    let tree = Tree::new(&[("a", "1\n2\n3\n4\n5\n6\n"), ("b", "old\n"), ("gone", "g\n")]);
    let first = tree
        .commit(&[Update("a", "1\nTWO\n3\n4\n5\n6\n"), Update("b", "new\n"), Delete("gone")])
        .unwrap();
    let later = tree.commit(&[Update("a", "1\nTWO\n3\n4\n5\nsix\nseven\n")]).unwrap();
    let error = tree.open().plan_undo(first.id, &[]).unwrap_err();
    let Error::Drifted { drifts, carry: true, .. } = &error else { panic!("{error}") };
    assert_eq!(
        drifts.iter().map(|drift| (&*drift.path, drift.by)).collect::<Vec<_>>(),
        [("a", Some(later.id))]
    );
    run(&tree, |workspace| workspace.plan_undo_with(Some(first.id), &[], &carry)).unwrap();
    assert_eq!(
        [tree.read("a"), tree.read("b"), tree.read("gone")],
        ["1\n2\n3\n4\n5\nsix\nseven\n", "old\n", "g\n"]
    );
    // It is undone, and what undid it is no less a transaction than any other.
    let log = tree.open().log().unwrap();
    assert_eq!(log[2].undone_by, Some(log[0].journal.header.id));
    assert_eq!(log[0].journal.carried.len(), 1);
    run(&tree, |workspace| workspace.plan_redo(None)).unwrap();
    assert_eq!([tree.read("a"), tree.read("b")], ["1\nTWO\n3\n4\n5\nsix\nseven\n", "new\n"]);
}

#[cfg_attr(windows, ignore = "a file has no mode but read-only there")]
#[test]
fn modes_are_carried_back_like_texts() {
    let carry = UndoOptions { carry: true, ..UndoOptions::default() };
    let tree = Tree::new(&[("a", "1\n2\n3\n4\n5\n6\n")]);
    let first = tree.commit(&[Update("a", "one\n2\n3\n4\n5\n6\n")]).unwrap();
    tree.commit(&[Update("a", "one\n2\n3\n4\n5\nsix\n")]).unwrap();
    fs::set_permissions(tree.path("a"), fs::Permissions::from_mode(0o755)).unwrap();
    run(&tree, |workspace| workspace.plan_undo_with(Some(first.id), &[], &carry)).unwrap();
    assert_eq!(tree.snapshot()["a"], "file 755 1 \"1\\n2\\n3\\n4\\n5\\nsix\\n\"");
}

/// Of three modes, as of three texts, the one that was changed counts; three different ones are a
/// conflict.
#[cfg_attr(windows, ignore = "a file has no mode but read-only there")]
#[test]
fn a_change_of_a_mode_is_carried_back_where_nobody_changed_it_again() {
    let carry = UndoOptions { carry: true, ..UndoOptions::default() };
    for (now, wanted) in [(0o755, Some("file 644")), (0o644, Some("file 644")), (0o700, None)] {
        let tree = Tree::new(&[("a", "1\n2\n3\n4\n5\n6\n")]);
        let diff = "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n--- a/a\n+++ b/a\n\
                    @@ -1,2 +1,2 @@\n-1\n+one\n 2\n";
        let diff = diff::parse(diff.as_bytes(), &DiffOptions::default()).unwrap();
        let settings = ApplyOptions::new(lenient());
        let first =
            tree.open().apply(&diff, &settings, &mut ()).unwrap().remove(0).transaction.unwrap();
        tree.commit(&[Update("a", "one\n2\n3\n4\n5\nsix\n")]).unwrap();
        fs::set_permissions(tree.path("a"), fs::Permissions::from_mode(now)).unwrap();
        let undone = run(&tree, |workspace| workspace.plan_undo_with(Some(first), &[], &carry));
        match wanted {
            Some(mode) => {
                assert_eq!(
                    tree.snapshot()["a"],
                    format!("{mode} 1 \"1\\n2\\n3\\n4\\n5\\nsix\\n\""),
                    "{undone:?}"
                )
            }
            None => {
                assert!(matches!(undone, Err(Error::Drifted { carry: false, .. })), "{undone:?}")
            }
        }
    }
}

/// What is not text any more, or no file, is not carried back into; and the file stays.
#[test]
fn only_text_files_are_carried_back_into() {
    let carry = UndoOptions { carry: true, ..UndoOptions::default() };
    type Change = fn(&Tree);
    let changes: [(&str, Change); 3] = [
        ("binary", |tree| tree.write("a", "one\n2\n3\n4\n5\nsix\0\n")),
        ("link", |tree| {
            fs::rename(tree.path("a"), tree.path("b")).unwrap();
            symlink("b", tree.path("a")).unwrap();
        }),
        ("gone", |tree| fs::remove_file(tree.path("a")).unwrap()),
    ];
    for (name, change) in changes {
        if name == "link" && cfg!(windows) {
            continue;
        }
        let tree = Tree::new(&[("a", "1\n2\n3\n4\n5\n6\n")]);
        let first = tree.commit(&[Update("a", "one\n2\n3\n4\n5\n6\n")]).unwrap();
        tree.commit(&[Update("a", "one\n2\n3\n4\n5\nsix\n")]).unwrap();
        change(&tree);
        let before = tree.snapshot();
        let undone = run(&tree, |workspace| workspace.plan_undo_with(Some(first.id), &[], &carry));
        assert!(matches!(undone, Err(Error::Drifted { carry: false, .. })), "{name}: {undone:?}");
        assert_eq!(tree.snapshot(), before, "{name}");
    }
}

/// Of two equal lines that a transaction added one beside the other nobody knows which one was new.
#[test]
fn what_may_have_been_either_of_two_lines_is_not_carried_back_between_them() {
    let carry = UndoOptions { carry: true, ..UndoOptions::default() };
    let tree = Tree::new(&[("f", "a\na\na\nb\n")]);
    let first = tree.commit(&[Update("f", "a\na\na\na\nb\n")]).unwrap();
    tree.commit(&[Update("f", "a\na\nx\na\na\nb\n")]).unwrap();
    let error = tree.open().plan_undo_with(Some(first.id), &[], &carry).unwrap_err();
    let Error::NotRestored { rejects, .. } = &error else { panic!("{error}") };
    assert_eq!(rejects[0].reason(), "conflict");
    assert_eq!(error.kind(), ErrorKind::StaleFile);
}

/// What a transaction left is told by what it kept, as far as that has the hash in its journal.
#[test]
fn a_change_is_carried_back_by_what_its_transaction_kept() {
    let lines = |first: &str, last: &str| {
        let middle: String = (2..=9).map(|line| format!("{line}\n")).collect();
        format!("{first}{middle}{last}")
    };
    // Few bytes are kept in the journal, more in a file of their own.
    let long: String = (0..4000_u32).map(|n| format!("{}\n", n.wrapping_mul(2654435769))).collect();
    for (new, in_file) in [("one\n", false), (long.as_str(), true)] {
        for spoilt in [false, true] {
            let tree = Tree::new(&[("a", &lines("1\n", "6\n"))]);
            let first = tree.commit(&[Update("a", &lines(new, "6\n"))]).unwrap();
            tree.write("a", &lines(new, "six\n"));
            let kept = tree.path(&format!(".apply-patch/trash/{}/left", first.id));
            assert_eq!(kept.exists(), in_file);
            if spoilt {
                let Ok(mut bytes) = fs::read(&kept) else { continue };
                let last = bytes.len() - 9;
                bytes[last] ^= 1;
                fs::write(&kept, bytes).unwrap();
            }
            let carry = UndoOptions { carry: true, ..UndoOptions::default() };
            let undone =
                run(&tree, |workspace| workspace.plan_undo_with(Some(first.id), &[], &carry));
            if spoilt {
                assert!(matches!(undone, Err(Error::Drifted { carry: false, .. })), "{undone:?}");
            } else {
                undone.unwrap();
                assert_eq!(tree.read("a"), lines("1\n", "six\n"));
            }
        }
    }
}

/// A file that gave way to a directory could not be brought back: the directory was taken for
/// somebody's change.
#[test]
fn a_file_that_gave_way_to_a_directory_comes_back() {
    use fs_guard::fault::{Fault, arm, disarm, lack};
    let steps =
        [Move("tool", "old"), Add("tool/main", "m"), Add("tool/sub/x", "x"), Update("a", "new")];
    for (lacking, fault) in [
        (false, Fault::Nothing),
        (false, Fault::Once(5)),
        (false, Fault::Crash),
        (true, Fault::Once(5)),
        (true, Fault::Crash),
    ] {
        lack(lacking, lacking);
        for redo in [false, true] {
            let mut finished = false;
            for at in (1..).step_by(3 * testutils::share::stride()) {
                let tree = Tree::new(&[("tool", "t"), ("a", "old"), ("b", "b")]);
                fs::set_permissions(tree.path("tool"), fs::Permissions::from_mode(0o751)).unwrap();
                let file = tree.snapshot();
                tree.commit(&steps).unwrap();
                fs::set_permissions(tree.path("tool"), fs::Permissions::from_mode(0o750)).unwrap();
                let dir = tree.snapshot();
                if redo {
                    run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
                    assert_eq!(tree.snapshot(), file);
                }
                let (old, new) = if redo { (&file, &dir) } else { (&dir, &file) };
                let workspace = tree.open();
                let locked = lock(&workspace);
                let plan = if redo {
                    workspace.plan_redo(None).unwrap()
                } else {
                    workspace.plan_undo_last().unwrap()
                };
                arm(fault, at, true);
                let result = commit(&locked, &plan);
                let calls = disarm();
                drop(locked);
                let what = format!("{fault:?} at call {at} ({:?}): {result:?}", calls.get(at - 1));
                if matches!(&result, Err(error) if error.is_rolled_back())
                    && !matches!(fault, Fault::Crash)
                {
                    assert_eq!(&tree.snapshot(), old, "{what}");
                }
                drop(lock(&tree.open()));
                let now = tree.snapshot();
                assert!(now == *new || (now == *old && result.is_err()), "{what}: {now:#?}");
                // What is stopped after the commit point is finished, however late.
                assert!(now == *new || !finished, "{what}");
                finished |= fault == Fault::Crash && now == *new;
                assert!(tree.pending().is_empty(), "{what}");
                if calls.len() < at {
                    assert!(result.is_ok(), "{what}");
                    break;
                }
            }
        }
    }
    lack(false, false);
    // A file that somebody put there keeps its directory, and nothing is undone.
    let tree = Tree::new(&[("tool", "t")]);
    tree.commit(&[Delete("tool"), Add("tool/main", "m")]).unwrap();
    tree.write("tool/theirs", "theirs");
    let old = tree.snapshot();
    let workspace = tree.open();
    execute(&workspace, |workspace| workspace.plan_undo_last()).unwrap_err();
    assert_eq!(tree.snapshot(), old);
}

/// What is gone already is passed over, but nothing else; undo never runs in a circle.
#[test]
fn undo_takes_the_newest_of_which_something_is_left() {
    let passed = |plan: &Plan| -> Vec<(TransactionId, String)> {
        let passed = |note: &PlanNote| match note {
            PlanNote::PassedOver { id, why } => Some((*id, why.clone())),
            _ => None,
        };
        plan.notes().iter().filter_map(passed).collect()
    };
    let tree = Tree::new(&[("b", "old b")]);
    let b = tree.commit(&[Update("b", "new b")]).unwrap().id;
    let first = tree.commit(&[Add("a", "a")]).unwrap().id;
    fs::remove_file(tree.path("a")).unwrap();
    let second = tree.commit(&[Add("a", "a")]).unwrap().id;
    let plan = tree.open().plan_undo_last().unwrap();
    assert_eq!(plan.undo_of(), Some(second));
    assert!(passed(&plan).is_empty());
    run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
    let plan = tree.open().plan_undo_last().unwrap();
    let gone = "its changes are gone already".to_owned();
    assert_eq!(plan.undo_of(), Some(b));
    assert_eq!(passed(&plan), [(first, gone.clone())]);
    // The file is of somebody else. No other change is undone in its place, but one is named.
    let refused = |older: Option<TransactionId>| {
        let error = tree.open().plan_undo_last().unwrap_err();
        let Error::Drifted { id, instead, .. } = &error else { panic!("{error}") };
        assert_eq!(*id, first);
        assert_eq!(*instead, older.map(TransactionId::short));
        error.to_string()
    };
    tree.write("a", "theirs");
    let why = refused(Some(b));
    assert!(why.contains("a (edited since)"), "{why}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        tree.write("a", "a");
        fs::set_permissions(tree.path("a"), fs::Permissions::from_mode(0o600)).unwrap();
        let why = refused(Some(b));
        assert!(why.contains("a (only its mode changed)"), "{why}");
        tree.write("a", "theirs");
    }
    // One that could not be undone either is not named.
    tree.write("b", "theirs");
    refused(None);
    tree.write("b", "new b");
    run(&tree, |workspace| workspace.plan_undo(b, &[])).unwrap();
    assert_eq!(tree.read("a"), "theirs");
    assert_eq!(tree.read("b"), "old b");
    refused(None);
    // A checkout takes back what was applied.
    fs::remove_file(tree.path("a")).unwrap();
    for carry in [false, true] {
        let options = UndoOptions { carry, ..UndoOptions::default() };
        let error = tree.open().plan_undo_with(None, &[], &options).unwrap_err();
        assert!(matches!(&error, Error::NothingTo { gone, .. } if *gone == [first]), "{error}");
        let error = tree.open().plan_undo_with(Some(first), &[], &options).unwrap_err();
        assert!(matches!(&error, Error::NothingTo { gone, .. } if *gone == [first]), "{error}");
    }
}

/// A part of a file that has changed since holds nothing of a change any more.
#[test]
fn what_is_gone_from_a_file_that_changed_is_gone() {
    let tree = Tree::new(&[("a", "1\n2\n3\n4\n5\n"), ("b", "b")]);
    let other = tree.commit(&[Update("b", "B")]).unwrap().id;
    let first = tree.commit(&[Update("a", "1\nTWO\n3\n4\n5\n")]).unwrap().id;
    // So that the bytes are known.
    tree.commit(&[Update("a", "1\n2\n3\n4\nFIVE\n")]).unwrap();
    run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
    tree.write("a", "1\n2\n3\n4\nfive\n");
    let plan = tree.open().plan_undo_last().unwrap();
    assert_eq!(plan.undo_of(), Some(other));
    let carry = UndoOptions { carry: true, ..UndoOptions::default() };
    let error = tree.open().plan_undo_with(Some(first), &[], &carry).unwrap_err();
    assert!(matches!(&error, Error::NothingTo { gone, .. } if *gone == [first]), "{error}");
}

#[test]
fn redo_is_for_what_was_undone_last() {
    let tree = Tree::new(&[("a", "0"), ("b", "0")]);
    let first = tree.commit(&[Update("a", "1")]).unwrap().id;
    run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
    tree.commit(&[Update("b", "1")]).unwrap();
    let nothing = |tree: &Tree| {
        let error = tree.open().plan_redo(None).unwrap_err();
        assert!(matches!(error, Error::NothingTo { what: "redo", .. }), "{error}");
    };
    // Something new was applied.
    nothing(&tree);
    run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
    run(&tree, |workspace| workspace.plan_redo(None)).unwrap();
    assert_eq!(tree.read("a"), "0");
    assert_eq!(tree.read("b"), "1");
    nothing(&tree);
    // What is older is named.
    run(&tree, |workspace| workspace.plan_redo(Some(first))).unwrap();
    assert_eq!(tree.read("a"), "1");
    nothing(&tree);
}

#[test]
fn an_undo_of_some_files_is_redone_in_its_turn() {
    let tree = Tree::new(&[("a", "0"), ("b", "0")]);
    let first = tree.commit(&[Update("a", "1"), Update("b", "1")]).unwrap().id;
    let second = tree.commit(&[Update("a", "2")]).unwrap().id;
    let read = |tree: &Tree| [tree.read("a"), tree.read("b")].concat();
    let states = ["21", "11", "10", "00"];
    let paths = |path: &str| vec![tree.open().root().check(path, Access::Read).unwrap()];
    for (id, paths, state) in
        [(second, vec![], states[1]), (first, paths("b"), states[2]), (first, vec![], states[3])]
    {
        run(&tree, |workspace| workspace.plan_undo(id, &paths)).unwrap();
        assert_eq!(read(&tree), state);
    }
    for state in [states[2], states[1], states[0]] {
        run(&tree, |workspace| workspace.plan_redo(None)).unwrap();
        assert_eq!(read(&tree), state);
    }
    let error = tree.open().plan_redo(None).unwrap_err();
    assert!(matches!(error, Error::NothingTo { what: "redo", .. }), "{error}");
    // All of it is undone as if nothing had been.
    for state in [states[1], states[3]] {
        run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
        assert_eq!(read(&tree), state);
    }
}

/// Advice never names an undo: to undo that brings back the change.
#[test]
fn what_an_undo_left_is_not_said_to_be_undone_first() {
    let tree = Tree::new(&[("a", "1")]);
    let first = tree.commit(&[Update("a", "2")]).unwrap().id;
    tree.write("a", "3");
    let later = tree.commit(&[Update("a", "4")]).unwrap().id;
    let by = |tree: &Tree| match tree.open().plan_undo(first, &[]).unwrap_err() {
        Error::Drifted { drifts, .. } => drifts[0].by,
        error => panic!("{error}"),
    };
    assert_eq!(by(&tree), Some(later));
    run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
    assert_eq!(by(&tree), None);
    assert_eq!(tree.read("a"), "3");
    run(&tree, |workspace| workspace.plan_redo(None)).unwrap();
    let redo = tree.open().log().unwrap()[0].journal.header.id;
    assert_eq!(by(&tree), Some(redo));
    run(&tree, |workspace| workspace.plan_undo(redo, &[])).unwrap();
    assert_eq!(by(&tree), None);
    assert_eq!(tree.read("a"), "3");
}

/// A file whose line ends were normalised since is said to be that, and is carried back with the
/// line ends that it has.
#[test]
fn line_ends_that_were_normalised_are_kept() {
    // What the transaction left, what is there now, and what undo gives.
    let cases = [
        ("1\r\nTWO\r\n", "1\nTWO\n", "1\n2\n"),
        ("1\nTWO\n", "1\r\nTWO\r\n", "1\r\n2\r\n"),
        ("1\nTWO\r\n", "1\nTWO\n", "1\n2\n"),
    ];
    for (after, now, expected) in cases {
        let tree = Tree::new(&[("a", &after.replace("TWO", "2"))]);
        let first = tree.commit(&[Update("a", after)]).unwrap().id;
        // So that the bytes are known.
        tree.commit(&[Delete("a")]).unwrap();
        run(&tree, |workspace| workspace.plan_undo_last()).unwrap();
        tree.write("a", now);
        let error = tree.open().plan_undo(first, &[]).unwrap_err();
        assert!(matches!(error, Error::Drifted { carry: true, .. }), "{error}");
        assert!(error.to_string().ends_with("a (its line ends changed)"), "{error}");
        let carry = UndoOptions { carry: true, ..UndoOptions::default() };
        run(&tree, |workspace| workspace.plan_undo_with(Some(first), &[], &carry)).unwrap();
        assert_eq!(tree.read("a"), expected);
    }
}
