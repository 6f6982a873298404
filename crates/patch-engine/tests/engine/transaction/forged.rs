//! State directories that a repository ships.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::Duration;

use patch_engine::commit::{
    Error, JournalProblem, KeyPlace, TransactionId, UndoOptions, Workspace,
};
use patch_engine::{ErrorKind, Plan};

use super::support::*;

/// A transaction that was cut off right after its commit point, as another user's program left it.
fn cut_off(key: KeyPlace) -> (Tree, String) {
    let tree = Tree::new(&[("a", "old"), ("b", "old")]);
    let workspace = open(tree.dir.path(), key);
    let locked = lock(&workspace);
    // One that works first: it makes the key.
    commit(&locked, &plan(&workspace, &[Add("c", "c")])).unwrap();
    let plan = plan(&workspace, &[Update("a", "forged"), Update("b", "forged")]);
    let calls = {
        fs_guard::fault::arm(fs_guard::fault::Fault::CrashAt("renameat2"), 1, false);
        let _ = commit(&locked, &plan);
        fs_guard::fault::disarm()
    };
    assert!(calls.contains(&"renameat2"));
    drop(locked);
    let pending = tree.pending();
    assert_eq!(pending.len(), 1);
    let name = pending[0].clone();
    (tree, name)
}

#[test]
fn a_journal_of_ones_own_is_finished() {
    let key = tempfile::tempdir().unwrap();
    let place = KeyPlace::Directory(key.path().into());
    let (tree, id) = cut_off(place.clone());
    let workspace = open(tree.dir.path(), place);
    let locked = lock(&workspace);
    assert_eq!(locked.recovered().len(), 1);
    assert_eq!(locked.recovered()[0].id, id.parse::<TransactionId>().unwrap());
    assert_eq!(tree.read("a"), "forged");
}

#[test]
fn a_journal_signed_by_another_or_by_none_is_not_replayed() {
    let other = tempfile::tempdir().unwrap();
    for key in [KeyPlace::Nowhere, KeyPlace::Directory(other.path().into())] {
        let (tree, _) = cut_off(key);
        let error = tree.open().lock(Duration::from_secs(20)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
        assert_eq!(tree.read("a"), "old");
        assert_eq!(tree.read("b"), "old");
        assert_eq!(tree.pending().len(), 1, "it is left to be looked at");
    }
}

/// What it displaced is in the folder, and nothing else says so.
#[test]
fn a_whole_journal_that_was_changed_is_not_taken_for_one_that_was_cut_off() {
    let key = tempfile::tempdir().unwrap();
    let place = KeyPlace::Directory(key.path().into());
    let (tree, id) = cut_off(place.clone());
    let journal = tree.path(&format!(".apply-patch/pending/{id}/journal"));
    let mut bytes = fs::read(&journal).unwrap();
    for bit in [1, 0x80] {
        bytes[40] ^= bit;
        fs::write(&journal, &bytes).unwrap();
        let error = open(tree.dir.path(), place.clone()).lock(Duration::from_secs(20)).unwrap_err();
        assert!(error.to_string().contains("it was changed, or is damaged"), "{error}");
        assert_eq!(tree.pending().len(), 1, "it is left to be looked at");
    }
    // The end of it is missing: no file was displaced yet.
    fs::write(&journal, &bytes[..60]).unwrap();
    drop(open(tree.dir.path(), place).lock(Duration::from_secs(20)).unwrap());
    assert_eq!(tree.pending().len(), 0);
}

#[test]
fn without_a_key_no_journal_is_replayed() {
    let (tree, _) = cut_off(KeyPlace::Nowhere);
    let error = open(tree.dir.path(), KeyPlace::Nowhere).lock(Duration::from_secs(20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
    assert!(error.to_string().contains("no place for a key"), "{error}");
    assert_eq!(tree.read("a"), "old");
    assert_eq!(tree.pending().len(), 1);
}

#[test]
fn without_a_key_nothing_is_undone_that_an_enclosing_repository_tracks() {
    let outer = Tree::new(&[("middle/sub/a", "old")]);
    outer.lawless();
    let sub = outer.path("middle/sub");
    let workspace = open(&sub, KeyPlace::Nowhere);
    let done = commit(&lock(&workspace), &plan(&workspace, &[Update("a", "new")])).unwrap();
    let index = "DIRC\0\0\0\u{2}\0\0\0\u{1}......middle/sub/.apply-patch/lock\0";
    for (at, git) in
        [("", "dir"), ("middle/", "dir"), ("middle/sub/", "dir"), ("middle/", "file"), ("", "link")]
    {
        match git {
            "file" => {
                outer.write(&format!("{at}.git"), "gitdir: ../elsewhere\n");
                outer.write("elsewhere/index", index);
            }
            "link" => {
                outer.write("elsewhere/index", index);
                symlink("elsewhere", outer.path(".git")).unwrap();
            }
            _ => outer.write(&format!("{at}.git/index"), index),
        }
        let error = open(&sub, KeyPlace::Nowhere).plan_undo(done.id, &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{at:?} {git}: {error}");
        let _ = fs::remove_dir_all(outer.path(&format!("{at}.git")))
            .or_else(|_| fs::remove_file(outer.path(&format!("{at}.git"))));
        open(&sub, KeyPlace::Nowhere).plan_undo(done.id, &[]).unwrap();
    }
}

#[test]
fn without_a_key_the_guard_looks_at_every_path_again() {
    for path in [
        "../outside",
        ".git/hooks/pre-commit",
        ".env",
        "/etc/x",
        ".apply-patch/lock",
        ".vscode/tasks.json",
    ] {
        let tree = Tree::new(&[("a", "old")]);
        let workspace = open(tree.dir.path(), KeyPlace::Nowhere);
        let done = commit(&lock(&workspace), &plan(&workspace, &[Update("a", "new")])).unwrap();
        let journal = tree.path(&format!(".apply-patch/trash/{}/journal", done.id));
        let text = fs::read_to_string(&journal).unwrap();
        let body = text.split("checksum ").next().unwrap().replace(" a\n", &format!(" {path}\n"));
        let sum = fs_guard::Sha256::of(body.as_bytes());
        fs::write(&journal, format!("{body}checksum {sum}\nhmac -\n")).unwrap();
        let error = open(tree.dir.path(), KeyPlace::Nowhere).plan_undo(done.id, &[]).unwrap_err();
        let expected =
            [ErrorKind::PermissionDenied, ErrorKind::OutsideWorkspace, ErrorKind::CommandFailed];
        assert!(expected.contains(&error.kind()), "{path}: {error}");
    }
}

#[test]
fn a_state_directory_that_is_not_ours_is_refused() {
    for what in ["link", "file", "mode", "inner link", "lock link", "trash link"] {
        let tree = Tree::new(&[("a", "old")]);
        let outside = tempfile::tempdir().unwrap();
        let state = tree.path(".apply-patch");
        match what {
            "link" => symlink(outside.path(), &state).unwrap(),
            "file" => fs::write(&state, "x").unwrap(),
            _ => {
                fs::create_dir(&state).unwrap();
                let mode = if what == "mode" { 0o755 } else { 0o700 };
                fs::set_permissions(&state, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
        match what {
            "inner link" => symlink(outside.path(), state.join("pending")).unwrap(),
            "lock link" => symlink(outside.path().join("x"), state.join("lock")).unwrap(),
            "trash link" => symlink(outside.path(), state.join("trash")).unwrap(),
            _ => {}
        }
        let workspace = tree.open();
        let result = workspace
            .lock(Duration::from_secs(20))
            .map_err(|error| error.kind())
            .and_then(|locked| {
                let plan = plan(&workspace, &[Update("a", "new")]);
                commit(&locked, &plan).map(|_| ()).map_err(|error| error.kind())
            });
        assert_eq!(result, Err(ErrorKind::PermissionDenied), "{what}");
        assert_eq!(tree.read("a"), "old", "{what}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "{what}");
    }
}

#[test]
fn a_forged_manifest_in_the_trash_is_not_undone() {
    let tree = Tree::new(&[("a", "old")]);
    let done = tree.commit(&[Update("a", "new")]).unwrap();
    let journal = tree.path(&format!(".apply-patch/trash/{}/journal", done.id));
    let text = fs::read_to_string(&journal).unwrap();
    let body = text.split("checksum ").next().unwrap().replace(" a\n", " b\n");
    let sum = fs_guard::Sha256::of(body.as_bytes());
    fs::write(&journal, format!("{body}checksum {sum}\nhmac -\n")).unwrap();
    let error = tree.open().plan_undo(done.id, &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
    assert!(tree.open().log().unwrap().is_empty());
}

#[test]
fn a_changed_displaced_file_is_not_restored() {
    let tree = Tree::new(&[("a", "old")]);
    let done = tree.commit(&[Update("a", "new")]).unwrap();
    fs::write(tree.path(done.trashed[0].as_ref().unwrap()), "evil").unwrap();
    let error = execute(&tree.open(), |workspace| workspace.plan_undo(done.id, &[])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleFile, "{error}");
    assert_eq!(tree.read("a"), "new");
}

/// The name of the next transaction was made from such a folder's, and was one that recovery passed
/// over.
#[test]
fn a_folder_from_the_end_of_time_leaves_no_half_patch() {
    let mut crashes = 0;
    for at in 1.. {
        let tree = Tree::new(&[("a", "old"), ("b", "old"), ("c", "old")]);
        tree.commit(&[Add("made", "the key too")]).unwrap();
        let planted = tree.path(".apply-patch/trash/99991230-220000-999999-ffffffff");
        fs::create_dir(&planted).unwrap();
        fs::set_permissions(&planted, fs::Permissions::from_mode(0o700)).unwrap();
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan = plan(&workspace, &[Update("a", "new"), Update("b", "new"), Update("c", "new")]);
        fs_guard::fault::arm(fs_guard::fault::Fault::CrashAt("renameat2"), at, false);
        let done = commit(&locked, &plan).is_ok();
        fs_guard::fault::disarm();
        drop(locked);
        if done {
            break;
        }
        crashes += 1;
        drop(lock(&tree.open()));
        let now = ["a", "b", "c"].map(|path| tree.read(path));
        assert!(now == ["old"; 3] || now == ["new"; 3], "cut off at rename {at}: {now:?}");
        assert!(tree.pending().is_empty(), "cut off at rename {at}");
    }
    // The fourth is the move to the trash.
    assert_eq!(crashes, 4);
}

/// Made where there was no place for a key, or with another one.
fn made_elsewhere(tree: &Tree, key: KeyPlace) -> TransactionId {
    drop(tree.commit(&[Add("made", "the key too")]).unwrap());
    let workspace = open(tree.dir.path(), key);
    commit(&lock(&workspace), &plan(&workspace, &[Update("a", "new")])).unwrap().id
}

fn trusted(workspace: &Workspace, id: TransactionId) -> Result<Plan, Error> {
    workspace.plan_undo_with(Some(id), &[], &UndoOptions { trust: true, ..UndoOptions::default() })
}

#[test]
fn what_was_made_with_another_key_is_undone_when_it_is_trusted() {
    let other = tempfile::tempdir().unwrap();
    for key in [KeyPlace::Nowhere, KeyPlace::Directory(other.path().into())] {
        let tree = Tree::new(&[("a", "old")]);
        let id = made_elsewhere(&tree, key);
        let workspace = tree.open();
        let error = workspace.plan_undo(id, &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
        assert_eq!(error.to_be_trusted(), vec![id], "{error}");
        let error = workspace.plan_undo_last().unwrap_err();
        assert_eq!(error.to_be_trusted(), [id], "{error}");
        assert_eq!(workspace.history().unwrap().1[0].id, id);
        let report = execute(&workspace, |workspace| trusted(workspace, id)).unwrap();
        assert_eq!(tree.read("a"), "old");
        assert_eq!(workspace.history().unwrap().1[0].undone_by, report.transaction);
        // What is undone is in nobody's way: this is the first one, of this key.
        execute(&workspace, Workspace::plan_undo_last).unwrap();
        assert!(!tree.path("made").exists());
    }
}

#[test]
fn trust_lifts_no_guard() {
    for path in [
        "../outside",
        ".git/hooks/pre-commit",
        ".env",
        "/etc/x",
        ".apply-patch/lock",
        ".vscode/tasks.json",
    ] {
        let tree = Tree::new(&[("a", "old")]);
        let id = made_elsewhere(&tree, KeyPlace::Nowhere);
        let journal = tree.path(&format!(".apply-patch/trash/{id}/journal"));
        let text = fs::read_to_string(&journal).unwrap();
        let body = text.split("checksum ").next().unwrap();
        for (what, body) in [
            ("file", body.replace(" a\n", &format!(" {path}\n"))),
            ("directory", format!("{body}mkdir - {path}\n")),
            ("removed directory", format!("{body}rmdir 755 {path}\n")),
        ] {
            let sum = fs_guard::Sha256::of(body.as_bytes());
            fs::write(&journal, format!("{body}checksum {sum}\nhmac -\n")).unwrap();
            let error = trusted(&tree.open(), id).unwrap_err();
            let expected = [
                ErrorKind::PermissionDenied,
                ErrorKind::OutsideWorkspace,
                ErrorKind::CommandFailed,
            ];
            assert!(expected.contains(&error.kind()), "{what} {path}: {error}");
        }
    }
}

#[test]
fn trust_is_no_answer_to_what_is_damaged_forged_changed_or_tracked() {
    let tree = Tree::new(&[("a", "old")]);
    let ours = tree.commit(&[Update("a", "new")]).unwrap().id;
    let journal = tree.path(&format!(".apply-patch/trash/{ours}/journal"));
    let text = fs::read_to_string(&journal).unwrap();
    // It names our key, and says something else than what was signed.
    let body = text.split("checksum ").next().unwrap().replace(" a\n", " b\n");
    let (sum, signature) =
        (fs_guard::Sha256::of(body.as_bytes()), text.split("hmac ").nth(1).unwrap());
    let forged = format!("{body}checksum {sum}\nhmac {signature}");
    for (text, problem) in
        [(forged, JournalProblem::Forged), (text.replace(" a\n", " b\n"), JournalProblem::Altered)]
    {
        fs::write(&journal, text).unwrap();
        let error = trusted(&tree.open(), ours).unwrap_err();
        let found = matches!(&error, Error::Store(workspace_trash::Error::Journal { problem: found, .. }) if *found == problem);
        assert!(found, "{error}");
        assert!(error.to_be_trusted().is_empty(), "{error}");
    }
    // A displaced file has to be the one of the journal.
    let tree = Tree::new(&[("a", "old")]);
    let id = made_elsewhere(&tree, KeyPlace::Nowhere);
    fs::write(tree.path(&format!(".apply-patch/trash/{id}/0")), "evil").unwrap();
    let error = execute(&tree.open(), |workspace| trusted(workspace, id)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleFile, "{error}");
    assert_eq!(tree.read("a"), "new", "{error}");
    // And what git tracks came with a repository.
    tree.lawless();
    let index =
        "DIRC\0\0\0\u{2}\0\0\0\u{1}......../.apply-patch/lock\0".replace("......../", "......");
    tree.write(".git/index", &index);
    let error = trusted(&tree.open(), id).unwrap_err();
    assert!(error.to_string().contains("tracked by git"), "{error}");
}
