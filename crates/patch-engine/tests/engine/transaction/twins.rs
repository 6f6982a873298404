//! Files that look alike: one file with two names, and a link whose text is what the file has in
//! it.

use std::fs;
use std::path::Path;
use testutils::posix::{PermissionsExt as _, symlink};

use fs_guard::fault::{Fault, arm, disarm, meanwhile};
use patch_engine::commit::Outcome;

use super::support::*;

/// The file with these bytes in the folder of the transaction that was cut off.
fn waiting(tree: &Tree, bytes: &str) -> std::path::PathBuf {
    let folder = tree.path(&format!(".apply-patch/pending/{}", tree.pending()[0]));
    let mut entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.find(|path| fs::read(path).is_ok_and(|found| found == bytes.as_bytes())).unwrap()
}

/// Where a name is made by a link, a crash leaves both; and so does btrfs, for a file that moved,
/// when the power fails after the directory that it moved to was synced and before the other one
/// was.
#[cfg_attr(windows, ignore = "it counts the renames of a system that can swap names")]
#[test]
fn a_file_that_has_both_names_ends_with_one() {
    const NEW: &[(&str, &str)] = &[("a", "new a"), ("n", "new n")];
    const OLD: &[(&str, &str)] = &[("a", "old a"), ("b", "old b")];
    /// How many steps were done; which file has both names, by its bytes, and its name; whether a
    /// user edits `a` before recovery, so that nothing can be done; and the files in the end.
    type Case =
        (usize, (&'static str, &'static str), bool, &'static [(&'static str, &'static str)]);
    const CASES: &[Case] = &[
        (0, ("new n", "n"), false, NEW),
        (2, ("new n", "n"), false, NEW),
        (3, ("old b", "b"), false, NEW),
        (0, ("new n", "n"), true, OLD),
        (0, ("old b", "b"), true, OLD),
    ];
    for (done, (bytes, name), edited, files) in CASES {
        let what = format!("{name} after {done}, edited: {edited}");
        let tree = Tree::with_key(OLD);
        // What is linked here nobody syncs.
        tree.lawless();
        cut_off(&tree, &[Update("a", "new a"), Add("n", "new n"), Delete("b")], done + 1);
        let waits = tree.path(&format!(".apply-patch/pending/{}", tree.pending()[0]));
        let place = tree.path(name);
        match (place.exists(), *name) {
            // It waits, and gets its name, or has it and waits still.
            (false, _) => fs::hard_link(waiting(&tree, bytes), &place).unwrap(),
            (true, "n") => fs::hard_link(&place, waits.join("1")).unwrap(),
            (true, _) => fs::hard_link(&place, waits.join("2")).unwrap(),
        }
        if *edited {
            tree.write("a", "of a user");
        }
        let outcome = recover(&tree);
        assert_eq!(
            outcome,
            if *edited { Outcome::RolledBack } else { Outcome::Completed },
            "{what}"
        );
        let bytes = |path: &str, text: &str| {
            if *edited && path == "a" { "of a user".into() } else { text.to_owned() }
        };
        let expected = files.iter().map(|(path, text)| {
            let text = bytes(path, text);
            ((*path).to_owned(), format!("file 644 1 {text:?}"))
        });
        assert_eq!(tree.snapshot(), expected.collect(), "{what}");
    }
}

const TEXT: &str = "elsewhere";

/// A file, or a link, with the same text and mode.
fn make(path: &Path, link: bool) {
    let _ = fs::remove_file(path);
    if link {
        return symlink(TEXT, path).unwrap();
    }
    fs::write(path, TEXT).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
}

/// What recovery finds is told from what was planned for by more than its bytes.
#[cfg_attr(windows, ignore = "Wine has no links that a program can make")]
#[test]
fn a_link_is_not_taken_for_a_file_with_the_same_text_nor_a_file_for_a_link() {
    for link in [false, true] {
        for late in [false, true] {
            let what = format!("planned for a link: {link}, at the last moment: {late}");
            let tree = Tree::with_key(&[("a", "old a")]);
            make(&tree.path("b"), link);
            let (steps, b) = ([Update("a", "new a"), Delete("b")], tree.path("b"));
            if late {
                let workspace = tree.open();
                let locked = lock(&workspace);
                let plan = plan(&workspace, &steps);
                meanwhile("renameat2", 2, move || make(&b, !link));
                // The third rename would be the mark of the roll-back.
                arm(Fault::CrashAt("renameat2"), 3, false);
                assert!(commit(&locked, &plan).is_err());
                disarm();
            } else {
                cut_off(&tree, &steps, 2);
                make(&b, !link);
            }
            assert_eq!(recover(&tree), Outcome::RolledBack, "{what}");
            let expected = Tree::new(&[("a", "old a")]);
            make(&expected.path("b"), !link);
            assert_eq!(tree.snapshot(), expected.snapshot(), "{what}");
        }
    }
}
