//! What was undone in part, what somebody put in the place of what a transaction left, and
//! links: what a later undo does about it.

use std::fs;

use fs_guard::{Access, RelPath};
use patch_engine::PlanNote;
use patch_engine::commit::{Error, TransactionId, UndoOptions, Workspace};
use workspace_trash::{Journal, Signer};

use super::support::{self, *};

const FILES: &[(&str, &str)] = &[("a", "old a"), ("b", "old b"), ("c", "old c")];

fn path(workspace: &Workspace, path: &str) -> RelPath {
    workspace.root().check(path, Access::Read).unwrap()
}

fn undo(tree: &Tree, id: TransactionId, paths: &[&str]) -> Result<(), Error> {
    let workspace = tree.open();
    let paths: Vec<_> = paths.iter().map(|name| path(&workspace, name)).collect();
    workspace.plan_undo(id, &paths)?;
    execute(&workspace, |workspace| workspace.plan_undo(id, &paths)).unwrap();
    Ok(())
}

/// The files that an error says are not as they were left.
fn drifted(undone: Result<(), Error>) -> Vec<String> {
    match undone.unwrap_err() {
        Error::Drifted { drifts, .. } => drifts.into_iter().map(|drift| drift.path).collect(),
        error => panic!("{error}"),
    }
}

/// Checks that nothing of a transaction is left to undo.
fn gone(undone: Result<(), Error>, id: TransactionId) {
    match undone.unwrap_err() {
        Error::NothingTo { what: "undo", gone } => assert_eq!(gone, [id]),
        error => panic!("{error}"),
    }
}

/// What was undone of a transaction is left out of an undo of the rest, and only what was undone of
/// that one; where nothing is left, that is told.
#[test]
fn what_was_taken_back_is_left_out_of_an_undo_of_the_whole_only() {
    let commit = || {
        let tree = Tree::new(FILES);
        let id = tree.commit(&[Update("a", "new a"), Update("b", "new b")]).unwrap().id;
        (tree, id)
    };
    let read = |tree: &Tree| ["a", "b", "c"].map(|name| tree.read(name));

    let (tree, id) = commit();
    undo(&tree, id, &["a"]).unwrap();
    gone(undo(&tree, id, &["a"]), id);
    let workspace = tree.open();
    let both = ["a", "b"].map(|name| path(&workspace, name));
    let plan = workspace.plan_undo(id, &both).unwrap();
    assert_eq!(plan.notes(), [PlanNote::AsBefore { path: "a".into() }]);
    undo(&tree, id, &["a", "b"]).unwrap();
    assert_eq!(read(&tree), ["old a", "old b", "old c"]);
    gone(undo(&tree, id, &[]), id);

    // In two parts, neither of which was planned as the rest: nothing is left to do, and that is
    // told.
    let (tree, id) = commit();
    let workspace = tree.open();
    let parts = ["a", "b"].map(|name| workspace.plan_undo(id, &[path(&workspace, name)]).unwrap());
    parts.iter().for_each(|part| drop(support::commit(&lock(&workspace), part).unwrap()));
    gone(undo(&tree, id, &[]), id);
    // Unless somebody did it again.
    tree.write("a", "new a");
    tree.write("b", "new b");
    undo(&tree, id, &[]).unwrap();
    assert_eq!(read(&tree), ["old a", "old b", "old c"]);

    // A part of another transaction is not a part of this one.
    let (tree, id) = commit();
    let later = tree.commit(&[Update("a", "newest a"), Update("c", "new c")]).unwrap().id;
    undo(&tree, later, &["a"]).unwrap();
    let workspace = tree.open();
    assert_eq!(workspace.last_change_of(&[path(&workspace, "a")]).unwrap(), Some(id));
    undo(&tree, id, &[]).unwrap();
    assert_eq!(read(&tree), ["old a", "old b", "new c"]);
}

/// A directory is taken for the transaction's own only where it made one in the place of that file.
#[test]
fn what_somebody_made_in_the_place_of_a_deleted_file_is_not_removed() {
    // The steps, what a user makes where the file was, and what of the transaction is not as it was
    // left then.
    type Case = (&'static [Step<'static>], fn(&Tree), &'static [&'static str]);
    const CASES: &[Case] = &[
        (&[Delete("a"), Add("x/y", "y")], |tree| fs::create_dir(tree.path("a")).unwrap(), &["a"]),
        (&[Delete("a"), Add("x/y", "y")], |tree| tree.write("a", "of a user"), &["a"]),
        (&[Delete("a"), Add("a/y", "y")], |tree| tree.write("a/theirs", "of a user"), &[]),
        (
            &[Delete("a"), Add("a/y", "y")],
            |tree| {
                fs::remove_dir_all(tree.path("a")).unwrap();
                tree.write("a", "of a user");
            },
            // The file in the directory is gone already.
            &["a"],
        ),
    ];
    for (steps, make, expected) in CASES {
        let tree = Tree::new(FILES);
        let id = tree.commit(steps).unwrap().id;
        make(&tree);
        let before = tree.snapshot();
        let workspace = tree.open();
        let found = match workspace.plan_undo(id, &[]) {
            Ok(_) => Vec::new(),
            planned => drifted(planned.map(drop)),
        };
        assert_eq!(found, *expected, "{steps:?}");
        assert!(
            execute(&workspace, |workspace| workspace.plan_undo(id, &[])).is_err(),
            "{steps:?}"
        );
        assert_eq!(tree.snapshot(), before, "{steps:?}");
    }
}

/// A record of a link is not text to carry a change into, whatever is in the trash for it.
#[test]
fn nothing_is_carried_back_between_a_link_and_a_file() {
    for (before, after) in [(false, false), (true, false), (false, true)] {
        let tree = Tree::new(&[("a", "old a\n1\n2\n3\n")]);
        let id = tree.commit(&[Update("a", "new a\n1\n2\n3\n")]).unwrap().id;
        let journal_path = tree.path(&format!(".apply-patch/trash/{id}/journal"));
        let signer =
            fs_guard::secret(&tree.key_dir(), "key").unwrap().as_ref().map(Signer::with_key);
        let mut journal =
            Journal::parse(&fs::read(&journal_path).unwrap(), signer.as_ref()).unwrap();
        let record = &mut journal.records[0];
        for (state, link) in [(&mut record.before, before), (&mut record.after, after)] {
            state.as_mut().unwrap().link = link;
        }
        fs::write(&journal_path, journal.to_text(signer.as_ref())).unwrap();
        fs::write(tree.path("a"), "new a\n1\n2\n3\n4\n").unwrap();
        let carry = UndoOptions { carry: true, ..UndoOptions::default() };
        let planned = tree.open().plan_undo_with(Some(id), &[], &carry);
        if before || after {
            assert!(matches!(planned, Err(Error::Drifted { carry: false, .. })), "{planned:?}")
        } else {
            assert!(planned.is_ok(), "{planned:?}")
        }
    }
}
