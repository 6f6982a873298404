//! What only Windows has: names that mean something else, files that are not shared, access lists,
//! marks.

use std::fs::{self, OpenOptions};
use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::time::{Duration, Instant};

use fs_guard::{Access, Dirs, DisplacedFile, NamePolicy, Policy, Root, StagedFile};

use crate::support::*;

const HIDDEN: u32 = 2;

fn staged(root: &Root, name: &str, text: &str) -> StagedFile {
    let (state, _) = root.create_state_dir().unwrap();
    let mut file = state.spot(name).create(0o644).unwrap();
    file.write(text.as_bytes()).unwrap();
    file.finish(None, None, false).unwrap()
}

#[test]
fn names_that_windows_reads_as_something_else_are_no_paths() {
    let tree = Tree::new(&[("f", "x"), ("dir/x", "")]);
    let native = Policy { names: NamePolicy::Native, ..policy() };
    for root in [tree.open(), Root::open(&tree.root, native).unwrap()] {
        for name in [
            "notes:stream",
            "notes::$DATA",
            "dir:$I30:$INDEX_ALLOCATION/x",
            "NUL",
            "con",
            "dir/aux.txt",
            "COM1",
            "lpt9.log",
            "CONIN$",
            "f.",
            "f ",
            "f. .",
            "dir./x",
            "a*",
            "a?b",
            "a<b",
            "a|b",
        ] {
            for access in [Access::Read, Access::Create, Access::Update, Access::Delete] {
                assert_eq!(
                    verdict(root.check(name, access)),
                    "invalid not_portable",
                    "{name:?} {access:?}"
                );
            }
            assert_eq!(
                verdict(root.check_recorded(name, true)),
                "invalid not_portable",
                "{name:?} in a journal"
            );
        }
        for (name, expected) in [
            ("dir\\x", "invalid backslash"),
            ("C:/x", "invalid absolute_path"),
            ("C:x", "invalid absolute_path"),
            ("\\\\?\\C:\\x", "invalid absolute_path"),
            ("//server/share/x", "invalid absolute_path"),
            ("dir/../../x", "outside_root traversal"),
            ("GIT~1/config", "permission_denied git_directory"),
            (".git::$INDEX_ALLOCATION/config", "permission_denied git_directory"),
        ] {
            assert_eq!(verdict(root.check(name, Access::Update)), expected, "{name:?}");
        }
    }
}

/// The guard's own names pass no check of a path: the calls themselves refuse them.
#[test]
fn the_calls_take_no_streams_devices_or_paths_for_names() {
    let tree = Tree::new(&[("f", "x")]);
    let root = tree.open();
    let (state, _) = root.create_state_dir().unwrap();
    state.spot("f").create(0o600).unwrap();
    for name in ["f:stream", "NUL", "f.", "f ", "..\\f", "a\\b", "\\f", "C:\\f"] {
        let spot = state.spot(name);
        assert!(spot.metadata().unwrap().is_none(), "{name:?}");
        assert_eq!(verdict(spot.read(9)), "not_found not_found", "{name:?}");
        assert!(spot.create(0o600).is_err(), "{name:?}");
        assert!(state.create_dir(name).is_err(), "{name:?}");
        assert!(spot.lock(Duration::ZERO).is_err(), "{name:?}");
        assert!(state.spot("f").rename_new(&spot).is_err(), "{name:?}");
    }
    assert_eq!(state.names().unwrap(), ["f"]);
}

#[test]
fn a_file_has_one_name_whatever_the_file_system_takes_for_it() {
    let tree = Tree::new(&[("README.md", "x"), ("Long Directory Name/f", "y")]);
    let root = tree.open();
    for name in
        ["readme.md", "README.MD", "long directory name/f", "LONGDI~1/f", "Long Directory Name/F"]
    {
        let at = path(&root, name);
        assert_eq!(root.metadata(&at).unwrap(), None, "{name}");
        assert_eq!(verdict(root.read(&at, 9)), "not_found not_found", "{name}");
        assert_eq!(root.inspect(&at, Access::Delete).unwrap(), None, "{name}");
    }
    assert_eq!(verdict(root.read(&path(&root, "README.md"), 9)), "fine");
    assert_eq!(root.collision(&path(&root, "readme.md"), None).unwrap(), Some("README.md".into()));
    // It cannot be given to another file either, nor taken from the one that has it.
    let dirs = Dirs::new(&root);
    let place = |name: &str| dirs.place(&target(&root, name)).unwrap();
    let failed = staged(&root, "0", "new").publish_new(&place("Readme.md")).unwrap_err();
    assert_eq!(failed.error.kind().as_str(), "already_exists");
    assert!(failed.file.exchange(&place("Readme.md")).is_err());
    let slot = root.state_dir().unwrap().unwrap().spot("1");
    assert_eq!(verdict(DisplacedFile::take(&place("readme.MD"), &slot)), "changed changed");
    assert!(place("readme.md").remove().is_ok(), "nothing is there");
    assert_eq!(fs::read_to_string(tree.root.join("README.md")).unwrap(), "x");
    let names: Vec<_> =
        fs::read_dir(&tree.root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.contains(&"README.md".into()), "{names:?}");
    assert!(names.len() == 3, "{names:?}");
}

#[test]
fn a_repository_is_one_in_any_case() {
    let tree = Tree::new(&[
        ("bare/head", "ref: x"),
        ("bare/Objects/x", ""),
        ("bare/REFS/x", ""),
        ("bare/hooks/x", ""),
    ]);
    let root = tree.open();
    assert_eq!(
        verdict(root.metadata(&path(&root, "bare/hooks/x"))),
        "permission_denied bare_repository"
    );
}

#[test]
fn directories_that_are_links_lead_nowhere() {
    let tree = Tree::new(&[("real/f", "x")]);
    tree.link("real", "dir");
    tree.link(&tree.outside, "out");
    let root = tree.open();
    for name in ["dir/f", "out/secret", "out/new"] {
        for result in [
            root.read(&path(&root, name), 99).map(drop),
            root.inspect(&path(&root, name), Access::Update).map(drop),
            root.inspect(&path(&root, name), Access::Create).map(drop),
            root.parents_missing(&path(&root, name)).map(drop),
            Dirs::new(&root).place(&target(&root, name)).map(drop),
        ] {
            let error = result.unwrap_err();
            assert_eq!(error.reason(), "symlink", "{name}: {error}");
        }
    }
    for name in ["dir", "out"] {
        assert_eq!(
            root.inspect(&path(&root, name), Access::Update).unwrap_err().reason(),
            "symlink"
        );
        assert!(root.read_dir(Some(&path(&root, name))).is_err());
    }
    let kinds = root.read_dir(None).unwrap().into_iter();
    let links = kinds.filter(|entry| entry.metadata.kind == fs_guard::FileKind::Symlink).count();
    assert_eq!(links, 2);
    assert_eq!(fs::read_dir(&tree.outside).unwrap().count(), 1);
}

#[test]
fn paths_may_be_longer_than_260_characters() {
    let tree = Tree::new(&[]);
    let deep = ["a-directory-with-a-name-of-forty-letters"; 12].join("/");
    let verbatim = fs::canonicalize(&tree.root).unwrap();
    assert!(verbatim.to_str().unwrap().starts_with("\\\\?\\"), "{}", verbatim.display());
    for root in [tree.open(), Root::open(&verbatim, policy()).unwrap()] {
        let dirs = Dirs::new(&root);
        let file = path(&root, &format!("{deep}/file"));
        for dir in root.parents_missing(&file).unwrap() {
            dirs.create_dir(&target(&root, dir.as_str()), None).unwrap();
        }
        let place = dirs.place(&target(&root, file.as_str())).unwrap();
        staged(&root, "0", "far down").publish_new(&place).unwrap();
        assert_eq!(root.read(&file, 99).unwrap().0, b"far down");
        place.remove().unwrap();
    }
    // And the root itself.
    let far = verbatim.join(deep.replace('/', "\\"));
    fs::write(far.join("x"), "y").unwrap();
    let root = Root::open(&far, policy()).unwrap();
    assert_eq!(root.read(&path(&root, "x"), 9).unwrap().0, b"y");
}

#[test]
fn a_file_that_others_read_is_replaced_and_they_go_on_reading_it() {
    let tree = Tree::new(&[("f", "old")]);
    let root = tree.open();
    let place = Dirs::new(&root).place(&target(&root, "f")).unwrap();
    let mut reader = fs::File::open(tree.root.join("f")).unwrap();
    let displaced = staged(&root, "0", "new").exchange(&place).unwrap();
    assert_eq!(std::io::read_to_string(&mut reader).unwrap(), "old");
    assert_eq!(fs::read_to_string(tree.root.join("f")).unwrap(), "new");
    assert_eq!(displaced.spot().read(9).unwrap().0, b"old");
    assert_eq!(root.state_dir().unwrap().unwrap().names().unwrap(), ["0"], "nothing is left aside");
}

#[test]
fn a_file_that_others_do_not_share_is_waited_for_and_then_an_error() {
    let tree = Tree::new(&[("f", "old")]);
    let root = tree.open();
    let place = Dirs::new(&root).place(&target(&root, "f")).unwrap();
    let alone = || OpenOptions::new().read(true).share_mode(1).open(tree.root.join("f")).unwrap();
    let held = alone();
    let start = Instant::now();
    let failed = staged(&root, "0", "new").exchange(&place).unwrap_err();
    assert_eq!(failed.error.io().unwrap().raw_os_error(), Some(32), "{}", failed.error);
    assert_eq!(failed.error.kind().as_str(), "failed");
    assert_eq!(failed.error.path(), Some("f"));
    assert!(start.elapsed() >= Duration::from_millis(400), "{:?}", start.elapsed());
    drop(held);
    assert_eq!(fs::read_to_string(tree.root.join("f")).unwrap(), "old");
    // One that ends in time makes no difference.
    let held = alone();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            drop(held);
        });
        failed.file.exchange(&place).unwrap();
    });
    assert_eq!(fs::read_to_string(tree.root.join("f")).unwrap(), "new");
}

/// Where a removed file has its name until nobody has it open, its directory goes after that.
#[test]
fn a_directory_that_is_removed_waits_for_who_reads_in_it() {
    let tree = Tree::new(&[]);
    let (state, _) = tree.open().create_state_dir().unwrap();
    state
        .create_dir("gone")
        .unwrap()
        .spot("a")
        .create(0o600)
        .unwrap()
        .finish(None, None, false)
        .unwrap();
    let at = tree.root.join(".kept").join("gone");
    let reader = fs::File::open(at.join("a")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            drop(reader);
        });
        state.remove_tree("gone").unwrap();
    });
    assert!(!at.exists());
}

/// An exchange takes the old file aside and gives the new one its name: what appears between these
/// steps stays.
#[test]
fn a_save_in_the_middle_of_an_exchange_is_not_lost() {
    for (call, at) in [("renameat2", 2), ("renameat", 1)] {
        let tree = Tree::new(&[("f", "old")]);
        let root = tree.open();
        let place = Dirs::new(&root).place(&target(&root, "f")).unwrap();
        let file = staged(&root, "0", "new");
        let save = tree.root.join("f");
        fs_guard::fault::meanwhile(call, at, move || fs::write(save, "saved").unwrap());
        let result = file.exchange(&place);
        assert_eq!(fs::read_to_string(tree.root.join("f")).unwrap(), "saved");
        let slot = root.state_dir().unwrap().unwrap().spot("0");
        match result {
            // Before the new file has the name: it is refused, and the new file waits as before.
            Err(failed) => {
                assert_eq!(at, 2);
                assert_eq!(failed.error.reason(), "changed");
                assert_eq!(slot.read(9).unwrap().0, b"new");
                slot.settle_exchange(&place).unwrap();
                assert_eq!(root.state_dir().unwrap().unwrap().names().unwrap(), ["0"]);
            }
            // After that it is an ordinary save of the new file.
            Ok(displaced) => {
                assert_eq!(at, 1);
                assert_eq!(&*displaced.spot().read(9).unwrap().0, &b"old"[..]);
            }
        }
    }
}

#[test]
fn an_exchange_that_is_cut_off_is_finished_or_taken_back() {
    for (at, expected) in [(1, "old"), (2, "old"), (3, "new")] {
        let tree = Tree::new(&[("f", "old")]);
        let root = tree.open();
        let place = Dirs::new(&root).place(&target(&root, "f")).unwrap();
        let file = staged(&root, "0", "new");
        fs_guard::fault::arm(fs_guard::fault::Fault::Crash, at, false);
        assert!(file.exchange(&place).is_err());
        fs_guard::fault::disarm();
        let state = root.state_dir().unwrap().unwrap();
        let slot = state.spot("0");
        slot.settle_exchange(&place).unwrap();
        assert_eq!(fs::read_to_string(tree.root.join("f")).unwrap(), expected, "{at}");
        let other = if expected == "old" { "new" } else { "old" };
        assert_eq!(slot.read(9).unwrap().0, other.as_bytes(), "{at}");
        assert_eq!(state.names().unwrap(), ["0"], "{at}");
    }
}

#[test]
fn who_holds_the_lock_can_be_read() {
    let tree = Tree::new(&[]);
    let (state, _) = tree.open().create_state_dir().unwrap();
    let _held = state.spot("lock").lock(Duration::ZERO).unwrap();
    let error = state.spot("lock").lock(Duration::ZERO).unwrap_err().to_string();
    assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
    assert!(!error.contains("gone"), "{error}");
}

#[test]
fn marks_are_kept_and_read_only_files_stay_so() {
    let tree = Tree::new(&[("f", "old")]);
    let file = tree.root.join("f");
    // In Wine a file is hidden when its name begins with a dot, and whether it is read-only is its
    // mode.
    let mut permissions = fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions).unwrap();
    let root = tree.open();
    let (mut from, seen) = root.open_file(&path(&root, "f")).unwrap();
    assert_eq!(seen.mode & 0o222, 0);
    let (state, _) = root.create_state_dir().unwrap();
    let mut new = state.spot("0").create(0o600).unwrap();
    new.copy(&mut from, seen.size).unwrap();
    new.copy_xattrs(&from).unwrap();
    let staged = new.finish(Some(seen.kept_mode()), Some(&seen), false).unwrap();
    assert_eq!(staged.metadata().unwrap().mode, seen.mode);
    assert_eq!(staged.metadata().unwrap().uid, seen.uid);
    let mut group = fs_guard::SyncGroup::new();
    group.file(&staged);
    group.sync(None).unwrap();
    assert_eq!(fs::metadata(tree.root.join(".kept/0")).unwrap().file_attributes() & HIDDEN, 0);
    // A file of the program's own that is read-only goes all the same.
    state.spot("0").remove().unwrap();
    assert!(state.names().unwrap().is_empty());
}

/// What a new file inherits is what its directory passes on, not what the private directory does
/// where it was staged.
#[test]
fn the_state_is_private_and_what_is_published_is_not() {
    let tree = Tree::new(&[("old", "x")]);
    let root = tree.open();
    let (state, _) = root.create_state_dir().unwrap();
    assert_eq!(state.metadata().unwrap().mode, 0o700);
    let inner = state.create_dir("inner").unwrap();
    assert_eq!(inner.metadata().unwrap().mode, 0o700);
    state.spot("key").create(0o600).unwrap();
    assert_eq!(state.spot("key").metadata().unwrap().unwrap().mode & 0o077, 0);
    let (from, seen) = root.open_file(&path(&root, "old")).unwrap();
    let mut new = state.spot("0").create(0o600).unwrap();
    new.copy_xattrs(&from).unwrap();
    let staged = new.finish(Some(seen.kept_mode()), Some(&seen), false).unwrap();
    assert_eq!(staged.metadata().unwrap().mode, seen.mode);
}

/// A directory that the program did not make is open to others where its parent is, and then is not
/// trusted.
#[test]
fn a_state_directory_that_others_may_enter_is_not_trusted() {
    let tree = Tree::new(&[(".kept/x", "")]);
    let root = tree.open();
    let mode = root
        .metadata(&path(&root, "kept-not"))
        .map(|_| fs::metadata(tree.root.join(".kept")).is_ok())
        .unwrap();
    assert!(mode);
    assert_eq!(verdict(root.state_dir()), "permission_denied untrusted_state");
    assert!(fs::remove_dir_all(tree.root.join(".kept")).is_ok());
    assert_eq!(verdict(root.create_state_dir()), "fine");
    assert_eq!(verdict(tree.open().state_dir()), "fine");
}
