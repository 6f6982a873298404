//! System calls that fail: what cannot be seen is never told as something else, and nothing is
//! lost.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use fs_guard::fault::{self, Fault};
use fs_guard::{Access, Dirs, DisplacedFile, Error, Root, Spot};
use testutils::tree::beneath;

use crate::support::*;

const EPERM: i32 = 1;
const EINTR: i32 = 4;
const EIO: i32 = 5;
const EBADF: i32 = 9;
const EAGAIN: i32 = 11;
const EACCES: i32 = 13;
const ENOSYS: i32 = 38;

/// What is done, and what came of it in words. Before `begin` is called nothing fails.
type Act = fn(tree: &Tree, begin: &dyn Fn()) -> Result<String, Error>;

/// The name, what is done, and the calls whose first one has to succeed for it.
type Case = (&'static str, Act, &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "open a root",
        |tree, begin| {
            begin();
            Root::open(&tree.root, policy()).map(|_| String::new())
        },
        &["open", "fstat"],
    ),
    ("look", |tree, begin| look(tree, begin, "d/f"), FIRST_LOOK),
    ("look where nothing is", |tree, begin| look(tree, begin, "d/none"), FIRST_LOOK),
    ("look beneath a link", |tree, begin| look(tree, begin, "way/f"), FIRST_LOOK),
    ("look beneath a file", |tree, begin| look(tree, begin, "d/f/x"), FIRST_LOOK),
    (
        "follow",
        |tree, begin| {
            let root = tree.open();
            let path = path(&root, "way/f");
            begin();
            root.follow(&path).map(|real| real.to_string())
        },
        &["fstatat", "readlinkat"],
    ),
    (
        "list",
        |tree, begin| {
            let root = tree.open();
            begin();
            root.read_dir(None).map(|entries| entries.len().to_string())
        },
        &["openat", "fstatat"],
    ),
    (
        "read",
        |tree, begin| {
            let root = tree.open();
            let path = path(&root, "d/f");
            begin();
            root.read(&path, 9).map(|(bytes, _)| format!("{bytes:?}"))
        },
        &["openat2", "fstat", "read"],
    ),
    (
        "read a configuration",
        |tree, begin| {
            begin();
            fs_guard::read_config(&tree.root.join("d/f"), 9).map(|bytes| format!("{bytes:?}"))
        },
        &["open", "fstat", "read"],
    ),
    (
        "look at a place",
        |tree, begin| {
            let spot = own(tree);
            begin();
            spot.metadata().map(|seen| format!("{}", seen.is_some()))
        },
        &["fstatat"],
    ),
    (
        "remove",
        |tree, begin| {
            let spot = own(tree);
            begin();
            spot.remove().map(|()| String::new())
        },
        &["unlinkat"],
    ),
    (
        "create",
        |tree, begin| {
            let spot = own(tree).dir().spot("new");
            begin();
            spot.create(0o600).map(|_| String::new())
        },
        &["openat"],
    ),
    (
        "create a directory",
        |tree, begin| {
            let dir = own(tree).dir().clone();
            begin();
            dir.create_dir("new").map(|_| String::new())
        },
        &["mkdirat", "openat", "fstat"],
    ),
    (
        "create a directory of the project",
        |tree, begin| {
            let root = tree.open();
            let dirs = Dirs::new(&root);
            let target = target(&root, "new");
            begin();
            dirs.create_dir(&target, None).map(|made| made.to_string())
        },
        &["mkdirat"],
    ),
    ("take a name away", |tree, begin| take(tree, begin, false), &["renameat2"]),
    (
        "take a name away in two steps",
        |tree, begin| take(tree, begin, true),
        &["fstatat", "renameat"],
    ),
    ("give a name", |tree, begin| give(tree, begin, false), &["renameat2"]),
    ("give a name in two steps", |tree, begin| give(tree, begin, true), &["linkat", "unlinkat"]),
    ("exchange", |tree, begin| exchange(tree, begin, false), &["renameat2"]),
    ("exchange in three steps", |tree, begin| exchange(tree, begin, true), &["linkat", "renameat"]),
    (
        "see that directories are there",
        |tree, begin| {
            let root = tree.open();
            let dirs = Dirs::new(&root);
            dirs.place(&target(&root, "d/f")).unwrap();
            begin();
            dirs.check_still_there().map(|()| String::new())
        },
        &["fstatat"],
    ),
    (
        "see whether a directory may be written",
        |tree, begin| {
            let root = tree.open();
            let dirs = Dirs::new(&root);
            let path = path(&root, "d/f");
            begin();
            dirs.check_writable(&path).map(|()| String::new())
        },
        &["openat2", "fstat", "faccessat"],
    ),
    (
        "open a private directory elsewhere",
        |tree, begin| {
            let root = tree.open().with_private_dir(tree.outside.join("kept"));
            root.create_state_dir().unwrap();
            begin();
            root.state_dir().map(|dir| dir.is_some().to_string())
        },
        &["open", "fstat"],
    ),
    (
        "read a secret",
        |tree, begin| {
            let dir = keys(tree);
            begin();
            fs_guard::secret(&dir, "key").map(|secret| secret.is_some().to_string())
        },
        &["open", "fstat", "read"],
    ),
    (
        "find a secret",
        |tree, begin| {
            let dir = keys(tree);
            begin();
            fs_guard::find_secret(&dir, "key").map(|found| format!("{found:?}"))
        },
        &["open", "fstat", "read"],
    ),
];

const FIRST_LOOK: &[&str] = &["openat2"];

fn look(tree: &Tree, begin: &dyn Fn(), name: &str) -> Result<String, Error> {
    let root = tree.open();
    let path = path(&root, name);
    begin();
    match root.metadata(&path) {
        Err(error) if error.io().is_none() && error.reason() != "changed" => {
            Ok(verdict::<()>(Err(error)))
        }
        seen => seen.map(|seen| seen.is_some().to_string()),
    }
}

/// With `lacking`, where names can neither be swapped nor be given only where there is none.
fn take(tree: &Tree, begin: &dyn Fn(), lacking: bool) -> Result<String, Error> {
    let root = tree.open();
    let (place, slot) = (at(&root, "d/f"), own(tree).dir().spot("slot"));
    fault::lack(lacking, lacking);
    begin();
    DisplacedFile::take(&place, &slot).map(|_| String::new())
}

fn give(tree: &Tree, begin: &dyn Fn(), lacking: bool) -> Result<String, Error> {
    let root = tree.open();
    let (staged, place) = (own(tree).staged().unwrap(), at(&root, "fresh"));
    fault::lack(lacking, lacking);
    begin();
    staged.publish_new(&place).map(|()| String::new()).map_err(|failed| failed.error)
}

fn exchange(tree: &Tree, begin: &dyn Fn(), lacking: bool) -> Result<String, Error> {
    let root = tree.open();
    let (staged, place) = (own(tree).staged().unwrap(), at(&root, "d/f"));
    fault::lack(lacking, lacking);
    begin();
    staged.exchange(&place).map(|_| String::new()).map_err(|failed| failed.error)
}

/// A file of the program's own.
fn own(tree: &Tree) -> Spot {
    let (state, _) = tree.open().create_state_dir().unwrap();
    let spot = state.spot("own");
    spot.write(b"own", false).unwrap();
    spot
}

fn at(root: &Root, name: &str) -> Spot {
    Dirs::new(root).place(&target(root, name)).unwrap()
}

fn project() -> Tree {
    let tree = Tree::new(&[("d/f", "old")]);
    tree.link("d", "way");
    tree
}

/// Does it with a fault at the `at`-th call; the calls that were made come with what came of it.
fn with_fault(
    act: Act,
    fault: Fault,
    at: usize,
) -> (Tree, Vec<&'static str>, Result<String, Error>) {
    let tree = project();
    let result = act(&tree, &|| fault::arm(fault, at, true));
    let calls = fault::disarm();
    fault::lack(false, false);
    (tree, calls, result)
}

/// All texts in the files beneath a directory.
fn texts(dir: &Path) -> Vec<String> {
    beneath(dir)
        .filter(|(_, entry)| entry.file_type().is_file())
        .map(|(_, entry)| String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned())
        .collect()
}

#[test]
fn a_call_that_fails_is_told_and_never_taken_for_an_answer() {
    for (name, act, needed) in CASES {
        let (_, calls, usual) = with_fault(*act, Fault::Nothing, 0);
        let usual = usual.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(needed.iter().all(|needed| calls.contains(needed)), "{name}: {calls:?}");
        for (k, call) in calls.iter().enumerate() {
            let (tree, _, result) = with_fault(*act, Fault::Once(EIO), k + 1);
            let is_first = calls.iter().position(|other| other == call) == Some(k);
            match result {
                Ok(told) => {
                    assert!(
                        !(is_first && needed.contains(call)),
                        "{name}: {call} failed, and that was not told"
                    );
                    assert_eq!(told, usual, "{name}: {call} {k}");
                }
                Err(error) => {
                    let code = error.io().and_then(std::io::Error::raw_os_error);
                    assert!(
                        code == Some(EIO) || error.reason() == "changed" && !needed.contains(call),
                        "{name}: {call} {error:?}"
                    );
                }
            }
            let kept = texts(&tree.root);
            assert!(kept.iter().any(|text| text == "old"), "{name}: {call} {k}: the file is lost");
            let lost = *name != "remove" && fs::exists(tree.root.join(".kept")).unwrap();
            assert!(
                !lost || kept.iter().any(|text| text == "own"),
                "{name}: {call} {k}: the staged file is lost"
            );
        }
    }
}

#[test]
fn an_interrupted_call_is_made_again_and_not_for_ever() {
    for (name, act, _) in CASES {
        let (_, calls, usual) = with_fault(*act, Fault::Nothing, 0);
        let usual = usual.unwrap();
        for k in 1..=calls.len() {
            let (_, again, result) = with_fault(*act, Fault::Once(EINTR), k);
            assert_eq!(
                result.unwrap_or_else(|error| panic!("{name}: {k} {error}")),
                usual,
                "{name}: {k}"
            );
            assert_eq!(again.len(), calls.len() + 1, "{name}: {k}");
        }
    }
    let (.., result) = with_fault(CASES[0].1, Fault::FromThenOn(EINTR), 1);
    assert_eq!(result.unwrap_err().io().unwrap().kind(), std::io::ErrorKind::Interrupted);
}

#[test]
fn a_kernel_that_cannot_resolve_paths_is_not_needed() {
    let (_, usual, told) = with_fault(|tree, begin| look(tree, begin, "d/f"), Fault::Nothing, 0);
    assert!(usual.contains(&"openat2"), "{usual:?}");
    assert!(!usual.contains(&"openat"), "{usual:?}");
    let told = told.unwrap();
    // There is no such call; or a filter of calls refuses it.
    for code in [ENOSYS, EPERM] {
        let (_, calls, result) =
            with_fault(|tree, begin| look(tree, begin, "d/f"), Fault::Once(code), 1);
        assert_eq!(result.unwrap(), told);
        assert!(calls[1..].contains(&"openat"), "{calls:?}");
    }
    // Somebody renamed something just then: it is asked again, and not for ever.
    let (_, calls, result) =
        with_fault(|tree, begin| look(tree, begin, "d/f"), Fault::Once(EAGAIN), 1);
    assert_eq!(result.unwrap(), told);
    assert_eq!(calls.len(), usual.len() + 1, "{calls:?}");
    assert!(!calls.contains(&"openat"), "{calls:?}");
    let (.., result) =
        with_fault(|tree, begin| look(tree, begin, "d/f"), Fault::FromThenOn(EAGAIN), 1);
    assert_eq!(result.unwrap_err().io().unwrap().raw_os_error(), Some(EAGAIN));
    // A caller may also go step by step.
    let tree = project();
    let root = tree.open().walking(true);
    let path = path(&root, "d/f");
    fault::arm(Fault::Nothing, 0, true);
    root.metadata(&path).unwrap();
    assert!(!fault::disarm().contains(&"openat2"));
}

#[test]
fn what_is_not_there_is_looked_for_once() {
    for (name, most) in [("d/none", 4), ("none/x", 6)] {
        let tree = project();
        let root = tree.open();
        let path = path(&root, name);
        root.metadata(&path).unwrap();
        fault::arm(Fault::Nothing, 0, true);
        assert_eq!(root.metadata(&path).unwrap(), None);
        let calls = fault::disarm();
        assert!(calls.len() <= most, "{name}: {calls:?}");
    }
}

#[test]
fn what_may_not_be_listed_can_be_used_all_the_same() {
    let tree = project();
    // The root, by a handle that only leads on; a file is not a root that way either.
    fault::arm(Fault::Once(EACCES), 1, true);
    let root = Root::open(&tree.root, policy());
    fault::disarm();
    let root = root.unwrap();
    assert_eq!(verdict(root.read(&path(&root, "d/f"), 9)), "fine");
    fault::arm(Fault::Once(EACCES), 1, true);
    let file = Root::open(&tree.root.join("d/f"), policy());
    fault::disarm();
    assert_eq!(file.unwrap_err().reason(), "not_a_directory");
    // A directory beneath it.
    let root = tree.open();
    let dirs = Dirs::new(&root);
    let target = target(&root, "d/f");
    fault::arm(Fault::Once(EACCES), 1, true);
    let place = dirs.place(&target);
    fault::disarm();
    assert_eq!(place.unwrap().read(9).unwrap().0, b"old");
    // It is not synced: that cannot be done.
    for (code, expected) in [(EBADF, "fine"), (EIO, "failed io")] {
        let mut group = fs_guard::SyncGroup::new();
        group.dirs_of(&dirs);
        fault::arm(Fault::Once(code), 1, false);
        let synced = group.sync(None);
        fault::disarm();
        assert_eq!(verdict(synced), expected);
    }
}

#[test]
fn whether_a_file_of_another_user_may_be_written_is_asked() {
    let tree = project();
    let root = tree.open();
    let at = path(&root, "d/f");
    let seen = root.metadata(&at).unwrap().unwrap();
    for (mode, other_user, code, expected) in [
        (0o644, false, None, "fine"),
        (0o644, true, None, "fine"),
        (0o444, true, None, "permission_denied read_only"),
        (0o464, false, None, "permission_denied read_only"),
        (0o644, true, Some(EACCES), "permission_denied read_only"),
        (0o644, true, Some(EIO), "failed io"),
    ] {
        let mut seen = seen.clone();
        seen.mode = mode;
        seen.uid += u32::from(other_user);
        // The last call is the question.
        fault::arm(Fault::Nothing, 0, true);
        let _ = root.check_pre_image(&at, &seen, Access::Update);
        let last = fault::disarm().len();
        if let Some(code) = code {
            fault::arm(Fault::Once(code), last, true);
        }
        let checked = root.check_pre_image(&at, &seen, Access::Update);
        fault::disarm();
        assert_eq!(verdict(checked), expected, "{mode:o} {other_user} {code:?}");
    }
}

/// File systems that have no hard links either, or no more for this file.
#[test]
fn where_files_cannot_be_linked_they_are_moved() {
    const EMLINK: i32 = 31;
    for code in [EPERM, EMLINK] {
        for (act, new_at) in
            [(case("give a name in two steps"), "fresh"), (case("exchange in three steps"), "d/f")]
        {
            let (_, calls, _) = with_fault(act, Fault::Nothing, 0);
            let k = calls.iter().position(|&call| call == "linkat").unwrap();
            let (tree, _, result) = with_fault(act, Fault::Once(code), k + 1);
            result.unwrap();
            assert_eq!(fs::read_to_string(tree.root.join(new_at)).unwrap(), "own");
            assert!(texts(&tree.root).contains(&"old".to_owned()));
        }
    }
}

fn case(name: &str) -> Act {
    CASES.iter().find(|case| case.0 == name).unwrap().1
}

#[test]
fn an_exchange_that_was_cut_off_is_brought_to_one_of_its_ends() {
    let exchange = case("exchange in three steps");
    let (_, calls, _) = with_fault(exchange, Fault::Nothing, 0);
    for k in 1..=calls.len() + 1 {
        let tree = project();
        let root = tree.open();
        let (slot, place) = (own(&tree), at(&root, "d/f"));
        let staged = slot.staged().unwrap();
        fault::lack(true, true);
        fault::arm(Fault::Crash, k, true);
        let _ = staged.exchange(&place);
        fault::disarm();
        slot.settle_exchange(&place).unwrap();
        fault::lack(false, false);
        let (there, here) =
            (texts(&tree.root.join("d")), fs::read_to_string(tree.root.join(".kept/own")).unwrap());
        assert!(
            [("old", "own"), ("own", "old")].contains(&(&*there[0], &*here)),
            "{k}: {there:?} {here}"
        );
        assert_eq!(texts(&tree.root).len(), 2, "{k}: nothing is left over");
    }
}

#[test]
fn what_was_cut_off_is_settled_by_what_is_there() {
    // (staged, kept aside, there) before and after.
    type State<'t> = [Option<&'t str>; 3];
    for (before, after) in [
        ([Some("new"), None, Some("old")], [Some("new"), None, Some("old")]),
        ([Some("new"), Some("old"), Some("old")], [Some("new"), None, Some("old")]),
        ([Some("new"), Some("old"), None], [Some("new"), None, Some("old")]),
        ([None, Some("old"), Some("new")], [Some("old"), None, Some("new")]),
        ([Some("new"), Some("old"), Some("another's")], [Some("new"), None, Some("another's")]),
    ] as [(State<'_>, State<'_>); 5]
    {
        for lacking in [false, true] {
            let tree = Tree::new(&[]);
            let root = tree.open();
            let (state, _) = root.create_state_dir().unwrap();
            let files = [".kept/s", ".kept/s.x", "f"].map(|name| tree.root.join(name));
            for (file, text) in files.iter().zip(before) {
                if let Some(text) = text {
                    fs::write(file, text).unwrap();
                }
            }
            fault::lack(lacking, lacking);
            state.spot("s").settle_exchange(&at(&root, "f")).unwrap();
            fault::lack(false, false);
            let now = files.each_ref().map(|file| fs::read_to_string(file).ok());
            assert_eq!(now.each_ref().map(Option::as_deref), after, "{before:?}");
        }
    }
}

#[test]
fn a_rename_that_was_cut_off_after_its_link_is_ended_and_no_other_file_is_taken_for_it() {
    for (there, expected) in
        [(None, "fine"), (Some("own"), "fine"), (Some("another's"), "already_exists exists")]
    {
        let tree = project();
        let root = tree.open();
        let slot = own(&tree);
        let (staged, place) = (slot.staged().unwrap(), tree.root.join("fresh"));
        let kept = tree.root.join(".kept/own");
        match there {
            // A link to it, as on the way to the new name.
            Some("own") => fs::hard_link(&kept, &place).unwrap(),
            Some(text) => fs::write(&place, text).unwrap(),
            None => {}
        }
        fault::lack(true, true);
        let published = staged.publish_new(&at(&root, "fresh")).map_err(|failed| failed.error);
        fault::lack(false, false);
        assert_eq!(verdict(published), expected, "{there:?}");
        assert_eq!(fs::read_to_string(&place).unwrap(), there.unwrap_or("own"));
        assert_eq!(kept.exists(), expected != "fine", "{there:?}");
    }
}

#[test]
fn names_of_one_file_are_known_also_where_each_has_a_number_of_its_own() {
    let tree = Tree::new(&[
        ("one", "text"),
        ("copy", "text"),
        ("other", "TEXT"),
        ("late", "text"),
        ("locked", "text"),
    ]);
    let time = fs::metadata(tree.root.join("one")).unwrap().modified().unwrap();
    let set = |name: &str, time| {
        let file = fs::File::options().write(true).open(tree.root.join(name)).unwrap();
        file.set_modified(time).unwrap();
    };
    set("copy", time);
    set("other", time);
    set("late", time + std::time::Duration::from_secs(9));
    set("locked", time);
    fs::set_permissions(tree.root.join("locked"), fs::Permissions::from_mode(0o400)).unwrap();
    fs::hard_link(tree.root.join("one"), tree.root.join("link")).unwrap();
    let root = tree.open();
    let spot = |name| at(&root, name);
    for (name, same) in [
        ("one", true),
        ("link", true),
        ("copy", true),
        ("other", false),
        ("late", false),
        ("locked", false),
        ("none", false),
    ] {
        assert_eq!(spot("one").is_also(&spot(name)), same, "{name}");
        assert_eq!(spot(name).is_also(&spot("one")), same, "{name}");
    }
}

/// On some file systems of FUSE the kernel goes on counting a name that a file had for a moment.
#[test]
fn a_name_that_is_gone_is_not_counted() {
    for names in [1, 2] {
        for at_once in [false, true] {
            let tree = project();
            let root = tree.open();
            if names == 2 {
                own(&tree);
                fs::hard_link(tree.root.join(".kept/own"), tree.root.join("second")).unwrap();
            }
            let slot = if names == 2 {
                tree.open().state_dir().unwrap().unwrap().spot("own")
            } else {
                own(&tree)
            };
            fault::lack(true, true);
            fault::count_late(true);
            slot.rename_new(&at(&root, "fresh")).unwrap();
            let fresh = path(&root, "fresh");
            let seen = if at_once {
                root.open_file(&fresh).map(|(_, seen)| seen)
            } else {
                root.metadata(&fresh).map(Option::unwrap)
            };
            fault::count_late(false);
            fault::lack(false, false);
            assert_eq!(seen.unwrap().nlink, names);
        }
    }
}

/// The seam itself: the private directory seems to be on another file system than the files.
#[test]
fn nothing_is_lost_between_file_systems() {
    let tree = project();
    let root = tree.open();
    let (slot, place) = (own(&tree), at(&root, "fresh"));
    fault::cross_device(true);
    let between = slot.rename_new(&place);
    let within = slot.rename_new(&slot.dir().spot("moved"));
    let files = at(&root, "d/f").rename_new(&place);
    fault::cross_device(false);
    assert_eq!(between.unwrap_err().io().unwrap().kind(), std::io::ErrorKind::CrossesDevices);
    assert_eq!(verdict(within), "fine");
    assert_eq!(verdict(files), "fine");
    assert_eq!(texts(&tree.root.join(".kept")), ["own"]);
}
