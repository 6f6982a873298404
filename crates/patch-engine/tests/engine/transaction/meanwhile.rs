//! What others do while a commit, its roll-back or its recovery goes on, at the very moment when it
//! matters: between a look and the rename after it, and between a crash and the next start.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use testutils::posix::{PermissionsExt as _, symlink};

use fs_guard::Sha256;
use fs_guard::fault::{Fault, arm, disarm, meanwhile};
use patch_engine::commit::{CommitError, Outcome, Workspace};
use patch_engine::{ErrorKind, Plan};
use workspace_trash::{Journal, Signer};

use super::support::*;

/// Saves as a careful editor does: in another file, which takes the place of this one.
fn save(path: &Path, text: &str) {
    let draft = path.with_extension("draft");
    fs::write(&draft, text).unwrap();
    fs::rename(draft, path).unwrap();
}

/// Changes bytes in place, and puts the time of the last change back.
fn edit_unseen(path: &Path, text: &str) {
    let before = fs::metadata(path).unwrap();
    assert_eq!(before.len(), text.len() as u64);
    fs::write(path, text).unwrap();
    fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(before.modified().unwrap())
        .unwrap();
    assert_eq!(fs::metadata(path).unwrap().modified().unwrap(), before.modified().unwrap());
}

/// Lets files grow so old that their times are believed.
fn grow_old() {
    std::thread::sleep(Duration::from_millis(90));
}

/// What a user does to a file; what is there then.
const EDITS: [&str; 7] = ["edit", "save", "unseen", "chmod", "gone", "link", "directory"];

fn user(how: &str, path: &Path) {
    let remove = || fs::remove_file(path).unwrap();
    match how {
        "edit" => fs::write(path, "of a user").unwrap(),
        "save" => save(path, "of a user"),
        "unseen" => edit_unseen(path, &"u".repeat(fs::read(path).unwrap().len())),
        "chmod" => fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap(),
        "gone" => remove(),
        "link" => {
            let _ = fs::remove_file(path);
            symlink("elsewhere", path).unwrap();
        }
        "directory" => {
            let _ = fs::remove_file(path);
            fs::create_dir(path).unwrap();
        }
        _ => unreachable!(),
    }
}

const OLD: &[(&str, &str)] = &[("a", "old a"), ("b", "old b")];

/// A new content for `a`, then one for `b`, or none.
fn planned(workspace: &Workspace, delete: bool) -> Plan {
    let last = if delete { Delete("b") } else { Update("b", "new b") };
    plan(workspace, &[Update("a", "new a"), last])
}

/// A commit of two steps that was cut off between them.
fn cut_between(first: Step<'_>, second: Step<'_>) -> Tree {
    let tree = Tree::with_key(&[]);
    for (name, text) in OLD {
        if !matches!((first, second), (Add(path, _), _) | (_, Add(path, _)) if path == *name) {
            tree.write(name, text);
        }
    }
    cut_off(&tree, &[first, second], 2);
    tree
}

#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn what_a_user_does_between_a_crash_and_recovery_stays() {
    let steps = [
        (Update("a", "new a"), Update("b", "new b")),
        (Update("a", "new a"), Delete("b")),
        (Add("a", "new a"), Update("b", "new b")),
        (Add("a", "new a"), Delete("b")),
        (Update("b", "new b"), Add("a", "new a")),
        (Add("a", "new a"), Add("b", "new b")),
        (Delete("a"), Delete("b")),
    ];
    for (first, second) in steps {
        let name = |step: Step<'_>| match step {
            Add(path, _) | Update(path, _) | Delete(path) => path.to_owned(),
            _ => unreachable!(),
        };
        let (one, two) = (name(first), name(second));
        let untouched = {
            let tree = Tree::with_key(&[]);
            for (name, text) in OLD {
                if !matches!((first, second), (Add(path, _), _) | (_, Add(path, _)) if path == *name)
                {
                    tree.write(name, text);
                }
            }
            let old = tree.snapshot();
            tree.commit(&[first, second]).unwrap();
            [old, tree.snapshot()]
        };
        // No edit: the commit point was passed.
        let tree = cut_between(first, second);
        assert_eq!(recover(&tree), Outcome::Completed, "{first:?}, {second:?}");
        assert_eq!(tree.snapshot(), untouched[1], "{first:?}, {second:?}");

        for how in EDITS {
            let there = |path: &str, tree: &Tree| fs::symlink_metadata(tree.path(path)).is_ok();
            let can = |path: &str, tree: &Tree| {
                there(path, tree) || matches!(how, "edit" | "link" | "directory")
            };
            // The second step was still to come: it must not happen, so nothing does.
            let tree = cut_between(first, second);
            let what = format!("{first:?}, {second:?}, {how}");
            if can(&two, &tree) {
                user(how, &tree.path(&two));
                let users = tree.snapshot().get(&two).cloned();
                assert_eq!(recover(&tree), Outcome::RolledBack, "{what} to the second");
                let now = tree.snapshot();
                assert_eq!(now.get(&two), users.as_ref(), "{what} to the second");
                assert_eq!(now.get(&one), untouched[0].get(&one), "{what} to the second");
            }
            // The first one has happened, and is the user's now: the second does not happen any
            // more. New permissions are kept, and are no reason to stop.
            let tree = cut_between(first, second);
            if can(&one, &tree) {
                user(how, &tree.path(&one));
                let users = tree.snapshot().get(&one).cloned();
                let found = recovered(&tree);
                let now = tree.snapshot();
                let (ended, two_is, touched) = match (how, first) {
                    ("chmod", _) => (Outcome::Completed, &untouched[1], vec![]),
                    ("gone", Add(..)) => (Outcome::RolledBack, &untouched[0], vec![one.clone()]),
                    _ => (
                        Outcome::RolledBackExcept(vec![one.clone()]),
                        &untouched[0],
                        vec![one.clone()],
                    ),
                };
                assert_eq!(found.outcome, ended, "{what} to the first");
                assert_eq!(found.touched, touched, "{what} to the first");
                assert_eq!(now.get(&one), users.as_ref(), "{what} to the first");
                assert_eq!(now.get(&two), two_is.get(&two), "{what} to the first");
            }
            // Both: what cannot be put back is left, and told.
            let tree = cut_between(first, second);
            let content = matches!(how, "edit" | "save" | "unseen" | "link" | "directory");
            if content && can(&one, &tree) && can(&two, &tree) {
                user(how, &tree.path(&one));
                user(how, &tree.path(&two));
                let users = tree.snapshot();
                assert_eq!(
                    recover(&tree),
                    Outcome::RolledBackExcept(vec![one.clone()]),
                    "{what} to both"
                );
                assert_eq!(tree.snapshot(), users, "{what} to both");
            }
        }
    }
}

/// Puts the files back as they were before a patch: as `git checkout -- .` does.
fn check_out(tree: &Tree, paths: &[&str]) {
    for path in paths {
        match OLD.iter().find(|(name, _)| name == path) {
            Some((_, text)) => save(&tree.path(path), text),
            None => fs::remove_file(tree.path(path)).unwrap_or_default(),
        }
    }
}

/// Whatever is restored, edited, removed or renamed at any of the paths after whatever part of a
/// patch, the next command leaves all of the patch, or whatever nobody touched as it was before;
/// and it names each file that somebody touched and that is not so.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn a_half_patch_is_never_finished_over_what_a_user_did() {
    let steps = [Update("a", "new a"), Add("n", "new n"), Update("c", "new c"), Delete("b")];
    let paths = ["a", "n", "c", "b"];
    let start = || {
        let tree = Tree::with_key(OLD);
        tree.write("c", "old c");
        tree
    };
    let new = {
        let tree = start();
        tree.commit(&steps).unwrap();
        tree.snapshot()
    };
    // At the fifth rename all is published, and only the move to the trash is left.
    for (at, subset) in (1..=5).flat_map(|at| (0..16_u32).map(move |subset| (at, subset))) {
        for how in ["check out", "edit", "save", "gone", "rename"] {
            let tree = start();
            let old = tree.snapshot();
            cut_off(&tree, &steps, at);
            let mut touched: Vec<&str> =
                (0..4).filter(|bit| subset & (1 << bit) != 0).map(|bit| paths[bit]).collect();
            if matches!(how, "gone" | "rename") {
                touched.retain(|path| tree.path(path).exists());
            }
            let before = tree.snapshot();
            for path in &touched {
                match how {
                    "check out" if *path == "c" => save(&tree.path("c"), "old c"),
                    "check out" => check_out(&tree, &[path]),
                    "rename" => {
                        fs::rename(tree.path(path), tree.path(&format!("{path}.mine"))).unwrap()
                    }
                    how => user(how, &tree.path(path)),
                }
            }
            let users = tree.snapshot();
            touched.retain(|path| users.get(*path) != before.get(*path));
            let found = recovered(&tree);
            let now = tree.snapshot();
            let what = format!("cut off at {at}, {how} {touched:?}: {found:?}, {now:#?}");
            if touched.is_empty() {
                assert_eq!(now, new, "{what}");
                assert_eq!(found.outcome, Outcome::Completed, "{what}");
                continue;
            }
            assert!(!found.outcome.has_happened(), "{what}");
            for path in paths {
                let expected =
                    if touched.contains(&path) { users.get(path) } else { old.get(path) };
                assert_eq!(now.get(path), expected, "{path}, {what}");
                let named = found.touched.iter().any(|named| named == path);
                assert_eq!(named, touched.contains(&path), "{path}, {what}");
            }
            // What was renamed is where the user has it.
            let mine = |all: &BTreeMap<String, String>| {
                all.iter().filter(|(path, _)| path.ends_with(".mine")).count()
            };
            assert_eq!(mine(&now), mine(&users), "{what}");
        }
    }
}

/// After a restart of the machine nobody knows whether success was reported: a power cut may have
/// undone the move to the trash, which is not synced. What is done is then left as it is, and later
/// edits are just that.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn edits_of_what_may_have_been_reported_do_not_revert_it() {
    let steps = [Update("a", "new a"), Update("b", "new b")];
    for (at, since, happened) in [
        (3, "nothing", false),
        (3, "the machine restarted", true),
        // It cannot begin before this one ends: the power of the disk alone was cut, and brought
        // this one back.
        (3, "another commit began", true),
        (2, "the machine restarted", false),
    ] {
        let tree = Tree::with_key(OLD);
        cut_off(&tree, &steps, at);
        let folder = fs::read_dir(tree.path(".apply-patch/pending"))
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        match since {
            "the machine restarted" => {
                let journal = fs::File::options().write(true).open(folder.join("journal")).unwrap();
                journal.set_modified(std::time::UNIX_EPOCH).unwrap();
            }
            "another commit began" => {
                let id = folder.file_name().unwrap().to_str().unwrap();
                // The discarded folder may come back and be discarded again.
                tree.lawless();
                let later = folder.with_file_name(id.replacen('2', "3", 1));
                fs::create_dir(&later).unwrap();
                fs::set_permissions(later, fs::Permissions::from_mode(0o700)).unwrap();
            }
            _ => {}
        }
        save(&tree.path("a"), "of a user");
        let found = lock(&tree.open()).recovered().to_vec();
        let found =
            found.iter().find(|found| found.outcome != Outcome::Discarded).expect("a commit");
        assert_eq!(found.outcome.has_happened(), happened, "{at}, {since}: {found:?}");
        assert_eq!(found.touched, ["a"], "{at}, {since}");
        let b = if happened { "new b" } else { "old b" };
        assert_eq!([tree.read("a"), tree.read("b")], ["of a user", b], "{at}, {since}");
    }
}

/// The move to the trash failed, and success was reported.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn edits_of_what_was_reported_do_not_revert_it() {
    let tree = Tree::with_key(OLD);
    let workspace = tree.open();
    let locked = lock(&workspace);
    let plan = planned(&workspace, false);
    meanwhile("renameat2", 3, || arm(Fault::Once(5), 1, false));
    commit(&locked, &plan).unwrap();
    disarm();
    drop(locked);
    assert_eq!(tree.pending().len(), 1);
    save(&tree.path("a"), "of a user");
    assert_eq!(recover(&tree), Outcome::Completed);
    assert_eq!([tree.read("a"), tree.read("b")], ["of a user", "new b"]);
}

/// A file that goes with its directory cannot be put back to where it was; one that was not
/// displaced yet need not be. What was to be deleted, and was not yet, is not known to be gone.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn a_directory_that_goes_between_a_crash_and_recovery_is_not_made_again() {
    let left = || Outcome::RolledBackExcept(vec!["d/a".into()]);
    let (a, b, c) = (Update("d/a", "new a"), Update("d/b", "new b"), Update("c", "new c"));
    // The steps, how many of them were done, what becomes of them, and what is kept in the trash.
    let cases: [(&[Step<'_>], usize, Outcome, &str); 7] = [
        (&[a, b, c], 0, Outcome::RolledBack, ""),
        (&[a, b, c], 1, left(), "old a"),
        (&[a, c], 1, left(), "old a"),
        (&[c, a], 1, Outcome::RolledBack, ""),
        (&[c, Delete("d/a")], 1, Outcome::RolledBack, ""),
        (&[c, Delete("d/a")], 2, Outcome::Completed, "old aold c"),
        (&[Delete("d/a"), Delete("c")], 1, Outcome::Completed, "old aold c"),
    ];
    for (steps, done, outcome, trash) in cases {
        let what = format!("{steps:?} after {done}");
        let tree = Tree::with_key(&[("d/a", "old a"), ("d/b", "old b"), ("c", "old c")]);
        cut_off(&tree, steps, done + 1);
        fs::remove_dir_all(tree.path("d")).unwrap();
        // What someone else took away nobody can sync.
        tree.lawless();
        assert_eq!(recover(&tree), outcome, "{what}");
        let c = match (outcome.has_happened(), steps.contains(&Delete("c"))) {
            (false, _) => Some("file 644 1 \"old c\""),
            (true, false) => Some("file 644 1 \"new c\""),
            (true, true) => None,
        };
        let expected: Vec<_> = c.map(|c| ("c".to_owned(), c.to_owned())).into_iter().collect();
        assert_eq!(tree.snapshot().into_iter().collect::<Vec<_>>(), expected, "{what}");
        let mut kept: Vec<_> =
            tree.open().trash().unwrap().iter().map(|kept| tree.read(kept.stored_path())).collect();
        kept.sort();
        assert_eq!(kept.concat(), trash, "{what}");
    }
}

/// What was displaced is some other file, and the crash comes before that is looked at: it goes
/// back to its place.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn a_save_right_before_the_rename_after_which_all_stops_is_given_back() {
    for how in EDITS.into_iter().filter(|how| *how != "gone") {
        for delete in [false, true] {
            let tree = Tree::with_key(OLD);
            let workspace = tree.open();
            let locked = lock(&workspace);
            let plan = planned(&workspace, delete);
            let b = tree.path("b");
            // The third rename would be the mark of the roll-back.
            meanwhile("renameat2", 2, move || user(how, &b));
            arm(Fault::CrashAt("renameat2"), 3, false);
            assert!(commit(&locked, &plan).is_err());
            disarm();
            drop(locked);
            if how == "chmod" {
                // Its bytes are those of the plan, and the new ones are in its place already.
                assert_eq!(recover(&tree), Outcome::Completed);
                continue;
            }
            assert_eq!(recover(&tree), Outcome::RolledBack, "{how} {delete}");
            let expected = Tree::with_key(OLD);
            user(how, &expected.path("b"));
            assert_eq!(tree.snapshot(), expected.snapshot(), "{how} {delete}");
        }
    }
}

/// Which of two files with the same bytes has which name is told by their inodes.
#[cfg_attr(windows, ignore = "a file has no mode but read-only there")]
#[test]
fn a_file_that_gives_way_to_one_with_the_same_bytes_is_recovered() {
    for at in 1..=3 {
        let tree = Tree::with_key(&[("a", "same"), ("b", "same"), ("c", "old c")]);
        fs::set_permissions(tree.path("b"), fs::Permissions::from_mode(0o755)).unwrap();
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan = plan(&workspace, &[Move("b", "a"), Update("c", "new c")]);
        arm(Fault::CrashAt("renameat2"), at, false);
        assert!(commit(&locked, &plan).is_err());
        disarm();
        drop(locked);
        assert_eq!(recover(&tree), Outcome::Completed, "{at}");
        let all: Vec<_> = tree.snapshot().into_iter().collect();
        let expected = [("a", "file 755 1 \"same\""), ("c", "file 644 1 \"new c\"")];
        assert_eq!(all, expected.map(|(path, seen)| (path.to_owned(), seen.to_owned())), "{at}");
        let kept = &tree.open().trash().unwrap()[..];
        assert!(kept.iter().any(|entry| entry.path == "a" && entry.mode == 0o644), "{kept:?}");
        execute(&tree.open(), |workspace| workspace.plan_undo_last()).unwrap();
        assert_eq!(tree.snapshot()["a"], "file 644 1 \"same\"", "{at}");
    }
}

/// The file is as it was when the plan was made, by all that its times tell, and its bytes are
/// others.
#[test]
fn an_edit_whose_time_was_put_back_is_found() {
    for old in [true, false] {
        for delete in [true, false] {
            let tree = Tree::with_key(OLD);
            if old {
                grow_old();
            }
            let workspace = tree.open();
            let locked = lock(&workspace);
            let step = if delete { Delete("b") } else { Update("b", "new b") };
            let plan = plan(&workspace, &[Update("a", "new a"), step]);
            edit_unseen(&tree.path("b"), "saved");
            is_stale(&tree, commit(&locked, &plan).map(drop), "b");
            assert_eq!(tree.read("a"), "old a", "{old} {delete}");
            assert_eq!(tree.read("b"), "saved", "{old} {delete}");
        }
    }
}

/// The error names the file, and tells what was planned for and what is there instead.
fn is_stale(tree: &Tree, result: Result<(), CommitError>, path: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleFile, "{error}");
    assert_eq!(error.path(), Some(path), "{error}");
    assert!(error.is_rolled_back(), "{error}");
    assert!(tree.pending().is_empty(), "{error}");
    let CommitError::Stale(drift) = &error else { panic!("{error:?}") };
    let (_, old) = OLD.iter().find(|(name, _)| *name == path).unwrap();
    let now = fs::read(tree.path(path)).ok();
    assert_eq!(drift.expected, Some(Sha256::of(old.as_bytes())), "{error}");
    assert_eq!(drift.actual, now.map(|now| Sha256::of(&now)), "{error}");
}

/// It is told as what it is: the file was taken away, or what was to take its place was.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn a_file_that_goes_right_before_the_rename_is_found() {
    for delete in [false, true] {
        let tree = Tree::with_key(OLD);
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan = planned(&workspace, delete);
        let b = tree.path("b");
        meanwhile("renameat2", 2, move || fs::remove_file(b).unwrap());
        is_stale(&tree, commit(&locked, &plan).map(drop), "b");
        assert_eq!(tree.read("a"), "old a");
        assert!(!tree.path("b").exists());
    }
    let tree = Tree::with_key(OLD);
    tree.lawless();
    let workspace = tree.open();
    let locked = lock(&workspace);
    let plan = plan(&workspace, &[Update("a", "new a")]);
    let pending = tree.path(".apply-patch/pending");
    meanwhile("renameat2", 1, move || {
        let folder = fs::read_dir(pending).unwrap().next().unwrap().unwrap().path();
        fs::remove_file(folder.join("0")).unwrap();
    });
    let error = commit(&locked, &plan).unwrap_err();
    assert!(matches!(error, CommitError::Files(fs_guard::Error::Changed { .. })), "{error:?}");
    assert_eq!(tree.read("a"), "old a");
}

/// A file that just changed, or that something was done to since it was planned, is read again
/// after it was displaced: its times could not show an edit in the last moment.
#[test]
fn an_edit_between_the_last_look_and_the_rename_is_found() {
    for (old, touched) in [(false, false), (true, true)] {
        let tree = Tree::with_key(OLD);
        if old {
            grow_old();
        }
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan = plan(&workspace, &[Update("a", "new a"), Update("b", "new b")]);
        if touched {
            for mode in [0o600, 0o644] {
                fs::set_permissions(tree.path("b"), fs::Permissions::from_mode(mode)).unwrap();
            }
        }
        let b = tree.path("b");
        meanwhile("renameat2", 2, move || edit_unseen(&b, "saved"));
        is_stale(&tree, commit(&locked, &plan).map(drop), "b");
        assert_eq!(tree.read("a"), "old a", "{old} {touched}");
        assert_eq!(tree.read("b"), "saved", "{old} {touched}");
    }
    // By a save it is another file, however old it is.
    let tree = Tree::with_key(OLD);
    grow_old();
    let workspace = tree.open();
    let locked = lock(&workspace);
    let plan = plan(&workspace, &[Update("a", "new a"), Delete("b")]);
    let b = tree.path("b");
    meanwhile("renameat2", 2, move || save(&b, "saved"));
    is_stale(&tree, commit(&locked, &plan).map(drop), "b");
    assert_eq!(tree.read("a"), "old a");
    assert_eq!(tree.read("b"), "saved");
}

/// Makes a commit fail at its last step, and lets someone act before the `at`-th rename (from 1,
/// the mark of the roll-back) after that; returns the tree and the paths that were left.
fn rolled_back(
    steps: &[Step<'_>],
    at: usize,
    act: impl FnOnce(&Path) + 'static,
) -> (Tree, Vec<String>) {
    let tree = Tree::with_key(&[("a", "old a"), ("g", "old g"), ("z", "old z")]);
    let left = rolled_back_in(&tree, steps, at, act);
    (tree, left)
}

fn rolled_back_in(
    tree: &Tree,
    steps: &[Step<'_>],
    at: usize,
    act: impl FnOnce(&Path) + 'static,
) -> Vec<String> {
    let workspace = tree.open();
    let locked = lock(&workspace);
    let plan: Plan = plan(&workspace, steps);
    let (dir, z): (PathBuf, PathBuf) = (tree.dir.path().into(), tree.path("z"));
    // Every step is one rename, and what the last one displaces is not what was planned.
    meanwhile("renameat2", steps.len(), move || {
        save(&z, "saved z");
        meanwhile("renameat2", at, move || act(&dir));
    });
    let left = match commit(&locked, &plan).unwrap_err() {
        CommitError::RollbackIncomplete { paths, .. } => paths,
        error => {
            assert!(error.is_rolled_back(), "{error}");
            Vec::new()
        }
    };
    assert!(tree.pending().is_empty());
    assert_eq!(tree.read("z"), "saved z");
    left
}

/// The renames of the roll-back: its mark, the last step (a swap or a move back), then the one
/// before.
const BEFORE_THE_FIRST_STEP_IS_UNDONE: usize = 3;

#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn a_save_during_the_roll_back_stays() {
    let (update, add) =
        ([Update("a", "new a"), Update("z", "new")], [Add("n", "new n"), Update("z", "new")]);
    let delete = [Delete("g"), Delete("z")];
    let now = |tree: &Tree, name: &str| fs::read_to_string(tree.path(name)).ok();
    let at = BEFORE_THE_FIRST_STEP_IS_UNDONE;

    let (tree, left) = rolled_back(&update, at, |_| ());
    assert_eq!(now(&tree, "a").as_deref(), Some("old a"));
    assert_eq!(left.len(), 0);
    for unseen in [false, true] {
        let act = move |dir: &Path| {
            if unseen {
                edit_unseen(&dir.join("a"), "saved")
            } else {
                save(&dir.join("a"), "saved by a user")
            }
        };
        let (tree, left) = rolled_back(&update, at, act);
        assert_eq!(left, ["a"], "{unseen}");
        assert_eq!(now(&tree, "a").unwrap(), if unseen { "saved" } else { "saved by a user" });
        let kept = &tree.open().trash().unwrap()[0];
        assert_eq!(tree.read(kept.stored_path()), "old a", "what was displaced is in the trash");
    }
    let (tree, left) = rolled_back(&update, at, |dir| fs::remove_file(dir.join("a")).unwrap());
    assert_eq!(now(&tree, "a").as_deref(), Some("old a"), "it comes back");
    assert_eq!(left.len(), 0, "it comes back");

    let (tree, left) = rolled_back(&add, at, |dir| save(&dir.join("n"), "saved by a user"));
    assert_eq!(now(&tree, "n").as_deref(), Some("saved by a user"));
    assert_eq!(&left[..], &["n".to_owned()][..]);
    let (tree, left) = rolled_back(&add, at, |dir| fs::remove_file(dir.join("n")).unwrap());
    assert_eq!(now(&tree, "n"), None);
    assert_eq!(left.len(), 0);

    let (tree, left) =
        rolled_back(&delete, at, |dir| fs::write(dir.join("g"), "made again").unwrap());
    assert_eq!(now(&tree, "g").as_deref(), Some("made again"));
    assert_eq!(&left[..], &["g".to_owned()][..]);
    let kept = tree.open().trash().unwrap();
    assert_eq!(
        kept.iter().map(|entry| tree.read(entry.stored_path())).collect::<Vec<_>>(),
        ["old g"]
    );
}

/// What is read for what was published although it is not: other bytes with the old time or in
/// another file with that time, of the same length or not; bytes of another time; a link whose text
/// they are.
fn pass_off(how: &str, path: &Path) {
    let before = fs::metadata(path).unwrap();
    let put_back = |path: &Path| {
        fs::File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(before.modified().unwrap())
            .unwrap();
    };
    match how {
        "unseen" => edit_unseen(path, "saved"),
        "longer" => {
            fs::write(path, "saved by a user").unwrap();
            put_back(path);
        }
        "another" => {
            let draft = path.with_extension("draft");
            fs::write(&draft, "saved").unwrap();
            put_back(&draft);
            fs::rename(draft, path).unwrap();
        }
        "later" => {
            fs::write(path, "saved").unwrap();
            let later = before.modified().unwrap() + Duration::from_secs(3600);
            fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
        }
        "link" => {
            let text = fs::read_to_string(path).unwrap();
            fs::remove_file(path).unwrap();
            symlink(text, path).unwrap();
        }
        _ => unreachable!(),
    }
}

/// Looks before every rename from now on.
fn watch(look: Rc<dyn Fn()>) {
    meanwhile("renameat2", 1, move || {
        look();
        watch(look);
    });
}

/// By its times, its length or its bytes it may be what was published, also when it is old enough
/// for times to be believed. It is not moved away for a moment either.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn what_passes_for_a_published_file_is_not_rolled_back() {
    let hows = ["unseen", "longer", "another", "later", "link"];
    let names = |letter: &str| hows.iter().map(|how| format!("{how} {letter}")).collect::<Vec<_>>();
    let (added, updated) = (names("n"), names("u"));
    let files: Vec<(&str, &str)> = updated.iter().map(|name| (&**name, "old u")).collect();
    let tree = Tree::with_key(&[&files[..], &[("z", "old z")]].concat());
    let steps = added
        .iter()
        .map(|name| Add(name, "new n"))
        .chain(updated.iter().map(|name| Update(name, "new u")));
    let steps: Vec<_> = steps.chain([Update("z", "new")]).collect();
    let all = [added.clone(), updated.clone()].concat();
    let seen = Rc::new(RefCell::new(BTreeMap::new()));
    let (dir, paths, users) = (tree.dir.path().to_owned(), all.clone(), Rc::clone(&seen));
    let mut left = rolled_back_in(&tree, &steps, 2, move |_| {
        for path in &paths {
            pass_off(path.split(' ').next().unwrap(), &dir.join(path));
        }
        grow_old();
        let look = move || {
            let mut all = snapshot(&dir);
            all.retain(|path, _| paths.contains(path));
            all
        };
        *users.borrow_mut() = look();
        watch(Rc::new(move || assert_eq!(look(), *users.borrow())));
    });
    meanwhile("", 1, || ());
    left.sort();
    let mut expected = all.clone();
    expected.sort();
    assert_eq!(left, expected);
    let now = tree.snapshot();
    for path in &all {
        assert_eq!(now[path], seen.borrow()[path], "{path}");
    }
    let kept: Vec<_> =
        tree.open().trash().unwrap().iter().map(|kept| tree.read(kept.stored_path())).collect();
    assert_eq!(kept, vec!["old u"; hows.len()]);
}

/// A save over what was published is never moved away, not even for a moment: wherever the
/// roll-back stops, it is in its place.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn a_save_over_what_was_published_stays_wherever_the_roll_back_stops() {
    for at in 2.. {
        let tree = Tree::with_key(&[("a", "old a"), ("b", "old b"), ("z", "old z")]);
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan =
            plan(&workspace, &[Update("a", "new a"), Update("b", "new b"), Update("z", "new z")]);
        let (b, z) = (tree.path("b"), tree.path("z"));
        meanwhile("renameat2", 3, move || {
            save(&z, "saved z");
            save(&b, "saved b");
            // The first one is the swap of the last file.
            arm(Fault::CrashAt("renameat2"), at, false);
        });
        let error = commit(&locked, &plan).unwrap_err();
        let calls = disarm();
        drop(locked);
        assert_eq!(tree.read("b"), "saved b", "stopped at rename {at}");
        assert!(!error.is_rolled_back(), "stopped at rename {at}");
        drop(lock(&tree.open()));
        let now = ["a", "b", "z"].map(|path| tree.read(path));
        assert_eq!(now, ["old a", "saved b", "saved z"], "stopped at rename {at}");
        if calls.iter().filter(|call| **call == "renameat2").count() < at {
            assert!(at > 4, "{at} renames");
            break;
        }
    }
}

#[cfg_attr(windows, ignore = "a directory with open files in it cannot be removed there")]
#[test]
fn a_directory_that_is_replaced_during_the_commit_is_found() {
    for at in 1..=3 {
        let tree = Tree::with_key(&[("d/a", "old a"), ("d/b", "old b"), ("c", "old c")]);
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan =
            plan(&workspace, &[Update("d/a", "new a"), Add("d/n", "new n"), Update("c", "new c")]);
        let dir: PathBuf = tree.dir.path().into();
        meanwhile("renameat2", at, move || {
            fs::rename(dir.join("d"), dir.join("moved")).unwrap();
            fs::create_dir(dir.join("d")).unwrap();
            fs::write(dir.join("d/a"), "of a user").unwrap();
        });
        let error = commit(&locked, &plan).unwrap_err();
        let all: Vec<_> = tree
            .snapshot()
            .into_iter()
            .map(|(path, seen)| (path, seen.replace("file 644 1 ", "")))
            .collect();
        let expected = [
            ("c", "\"old c\""),
            ("d", "dir 755"),
            ("d/a", "\"of a user\""),
            ("moved", "dir 755"),
            ("moved/a", "\"old a\""),
            ("moved/b", "\"old b\""),
        ];
        assert_eq!(
            all,
            expected.map(|(path, seen)| (path.to_owned(), seen.to_owned())),
            "{at}: {error}"
        );
        assert!(error.to_string().contains("d"), "{error}");
    }
}

/// A journal is signed, and its names are looked at all the same: what waits beside a file has a
/// name that nothing but this program gives.
#[test]
fn a_file_of_the_user_is_never_taken_for_one_that_was_staged() {
    for forged in [
        "victim",
        "victim.apply-patch.tmpx",
        "../victim",
        "d/x.apply-patch.tmp",
        ".apply-patch.tmp/x",
    ] {
        let tree = Tree::with_key(&[
            ("a", "old a"),
            ("victim", "precious"),
            ("d/x.apply-patch.tmp", "precious"),
        ]);
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan = plan(&workspace, &[Update("a", "precious")]);
        let signer =
            fs_guard::secret(&tree.key_dir(), "key").unwrap().as_ref().map(Signer::with_key);
        arm(Fault::CrashAt("renameat2"), 1, false);
        assert!(commit(&locked, &plan).is_err());
        disarm();
        drop(locked);
        let path = tree.path(&format!(".apply-patch/pending/{}/journal", tree.pending()[0]));
        let mut journal = Journal::parse(&fs::read(&path).unwrap(), signer.as_ref()).unwrap();
        journal.records[0].sibling = Some(forged.into());
        fs::write(&path, journal.to_text(signer.as_ref())).unwrap();
        let before = tree.snapshot();
        let refused = std::panic::catch_unwind(|| tree.open().lock(Duration::ZERO).map(drop));
        let error = refused.expect("no name makes it panic").unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::OutsideWorkspace),
            "{forged}: {error}"
        );
        assert_eq!(tree.snapshot(), before, "{forged}");
        tree.lawless();
    }
}
