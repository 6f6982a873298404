//! What a commit does when all is well, and when it is refused.

use std::fs;
use std::time::Duration;
use testutils::posix::{MetadataExt as _, PermissionsExt as _, symlink};

use patch_engine::commit::{CommitError, CommitOptions, Durability, TransactionId};
use patch_engine::{CommitLog, ErrorKind, Event, Host, PlanBuilder};

use super::support::*;

#[test]
fn adds_updates_deletes_and_moves() {
    let tree = Tree::new(&[("a", "old a"), ("d/b", "old b"), ("gone", "x"), ("from", "moved")]);
    fs::set_permissions(tree.path("from"), fs::Permissions::from_mode(0o750)).unwrap();
    let done = tree
        .commit(&[
            Add("new/deep/file", "n"),
            Update("a", "new a"),
            Append("d/b", " and more"),
            Delete("gone"),
            Move("from", "new/to"),
        ])
        .unwrap();
    let now = tree.snapshot();
    assert_eq!(now["new/deep/file"], "file 644 1 \"n\"");
    assert_eq!(now["a"], "file 644 1 \"new a\"");
    assert_eq!(now["d/b"], "file 644 1 \"old b and more\"");
    assert_eq!(
        now["new/to"],
        if cfg!(unix) { "file 750 1 \"moved\"" } else { "file 644 1 \"moved\"" }
    );
    assert!(!now.contains_key("gone"));
    assert!(!now.contains_key("from"));
    let kept: Vec<_> =
        done.trashed.iter().map(|path| path.as_ref().map(|path| tree.read(path))).collect();
    assert_eq!(
        kept,
        [
            None,
            Some("old a".into()),
            Some("old b".into()),
            None,
            Some("x".into()),
            Some("moved".into())
        ]
    );
    assert!(tree.pending().is_empty());
    assert_eq!(tree.read(".apply-patch/.gitignore"), "*\n");
    #[cfg(unix)]
    assert_eq!(fs::metadata(tree.path(".apply-patch")).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn every_durability_gives_the_same_files() {
    for durability in [Durability::Full, Durability::Process, Durability::None] {
        for many in [1, 40] {
            let names: Vec<String> = (0..many).map(|n| format!("d{}/f{n}", n % 9)).collect();
            let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "old")).collect();
            let tree = Tree::new(&files);
            tree.lawless();
            let steps: Vec<Step<'_>> = names.iter().map(|name| Update(name, "new")).collect();
            let workspace = tree.open();
            let locked = lock(&workspace);
            let plan = plan(&workspace, &steps);
            let options = CommitOptions { durability, ..CommitOptions::default() };
            locked.commit(&plan, &options, &mut (), &mut ()).unwrap();
            assert!(names.iter().all(|name| tree.read(name) == "new"));
        }
    }
}

#[test]
fn chains_of_renames_and_swaps_need_no_order() {
    let tree = Tree::new(&[("a", "A"), ("b", "B")]);
    let workspace = tree.open();
    let locked = lock(&workspace);
    // b -> c, then a -> b.
    let plan = plan(&workspace, &[Move("b", "c"), Move("a", "b")]);
    commit(&locked, &plan).unwrap();
    assert_eq!(tree.read("b"), "A");
    assert_eq!(tree.read("c"), "B");
    assert!(!tree.path("a").exists());
}

#[test]
fn a_file_gives_way_to_a_directory_and_comes_back() {
    let tree = Tree::new(&[("a", "file")]);
    let workspace = tree.open();
    let locked = lock(&workspace);
    let before = tree.snapshot();
    let plan = plan(&workspace, &[Delete("a"), Add("a/b", "inside")]);
    let done = commit(&locked, &plan).unwrap();
    assert_eq!(tree.read("a/b"), "inside");
    drop(locked);
    let _ = (done, before);
}

#[cfg_attr(windows, ignore = "a file has no mode but read-only there")]
#[test]
fn keeps_mode_xattrs_and_acls_and_drops_set_id() {
    let tree = Tree::new(&[("f", "old"), ("g", "old")]);
    let set = |args: &[&str]| {
        let ran = std::process::Command::new(args[0]).args(&args[1..]).arg(tree.path("f")).output();
        ran.is_ok_and(|output| output.status.success())
    };
    fs::set_permissions(tree.path("f"), fs::Permissions::from_mode(0o4751)).unwrap();
    let xattr = set(&["setfattr", "-n", "user.note", "-v", "kept"]);
    let acl = set(&["setfacl", "-m", "u:1234:r"]);
    tree.commit(&[Update("f", "new"), Move("g", "h")]).unwrap();
    let mode = fs::metadata(tree.path("f")).unwrap().mode() & 0o7777;
    assert_eq!(mode & 0o7000, 0, "{mode:o}");
    assert_eq!(mode & 0o707, 0o701, "{mode:o}");
    let get = |program: &str, args: &[&str]| {
        let output =
            std::process::Command::new(program).args(args).arg(tree.path("f")).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    if xattr {
        assert!(get("getfattr", &["-d"]).contains("user.note=\"kept\""));
    }
    if acl {
        assert!(get("getfacl", &["-n", "-p"]).contains("user:1234:r--"));
    }
    if !(xattr && acl) {
        testutils::skip!("in part: setfattr or setfacl is missing");
    }
}

#[test]
fn a_changed_file_is_stale_and_nothing_happens() {
    let unix: &[&str] = if cfg!(unix) { &["chmod", "link"] } else { &[] };
    for &when in ["content", "touch", "gone", "directory"].iter().chain(unix) {
        let tree = Tree::new(&[("a", "old"), ("z", "old")]);
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan = plan(&workspace, &[Add("n", "x"), Update("z", "new"), Update("a", "new")]);
        match when {
            "content" => tree.write("a", "new"),
            "touch" => tree.write("a", "old"),
            "chmod" => {
                fs::set_permissions(tree.path("a"), fs::Permissions::from_mode(0o600)).unwrap()
            }
            _ => fs::remove_file(tree.path("a")).unwrap(),
        }
        match when {
            "link" => symlink("z", tree.path("a")).unwrap(),
            "directory" => fs::create_dir(tree.path("a")).unwrap(),
            _ => {}
        }
        let before = tree.snapshot();
        let result = commit(&locked, &plan);
        if when == "touch" {
            // The same bytes: nothing is lost by replacing them.
            result.unwrap();
            continue;
        }
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StaleFile, "{when}: {error}");
        assert_eq!(error.path(), Some("a"), "{when}: {error}");
        assert_eq!(tree.snapshot(), before, "{when}");
    }
}

/// An editor that saves files as soon as the first one is published.
struct Saver<'t> {
    tree: &'t Tree,
    files: &'t [(&'t str, &'t str)],
}

impl Host for Saver<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if matches!(event, Event::Published(0)) {
            self.files.iter().for_each(|(path, text)| self.tree.write(path, text));
        }
    }
}

#[test]
fn a_save_in_the_middle_of_the_commit_is_found_and_kept() {
    let tree = Tree::new(&[("a", "old a"), ("b", "old b")]);
    let workspace = tree.open();
    let locked = lock(&workspace);
    let plan = plan(&workspace, &[Update("a", "new a"), Update("b", "new b")]);
    let mut saver = Saver { tree: &tree, files: &[("b", "saved by someone")] };
    let error = locked.commit(&plan, &options(), &mut (), &mut saver).unwrap_err();
    assert!(matches!(&error, CommitError::Stale(drift) if drift.path == "b"), "{error}");
    assert_eq!(tree.read("a"), "old a");
    assert_eq!(tree.read("b"), "saved by someone");
    assert!(tree.pending().is_empty());
}

#[test]
fn a_save_over_what_was_just_published_survives_the_roll_back() {
    let tree = Tree::new(&[("a", "old a"), ("b", "old b")]);
    let workspace = tree.open();
    let locked = lock(&workspace);
    let plan = plan(&workspace, &[Update("a", "new a"), Update("b", "new b")]);
    let files = &[("a", "saved over the new a"), ("b", "saved by someone")];
    let mut saver = Saver { tree: &tree, files };
    let error = locked.commit(&plan, &options(), &mut (), &mut saver).unwrap_err();
    assert!(
        matches!(&error, CommitError::RollbackIncomplete { paths, .. } if paths == &["a"]),
        "{error}"
    );
    assert_eq!(tree.read("a"), "saved over the new a");
    assert_eq!(tree.read("b"), "saved by someone");
    let trash = workspace.trash().unwrap();
    assert_eq!(trash.len(), 1);
    assert_eq!(tree.read(trash[0].stored_path()), "old a");
    drop(locked);
    assert!(lock(&workspace).recovered().is_empty());
}

#[cfg_attr(windows, ignore = "a directory with open files in it cannot be removed there")]
#[test]
fn a_displaced_file_that_someone_takes_away_is_not_reported_as_put_back() {
    struct Thief<'t>(&'t Tree);
    impl Host for Thief<'_> {
        fn event(&mut self, event: &Event<'_>) {
            if matches!(event, Event::Published(0)) {
                fs::remove_dir_all(self.0.path(".apply-patch/pending")).unwrap();
            }
        }
    }
    let tree = Tree::new(&[("a", "old a"), ("b", "old b")]);
    let workspace = tree.open();
    let locked = lock(&workspace);
    let plan = plan(&workspace, &[Update("a", "new a"), Update("b", "new b")]);
    let error = locked.commit(&plan, &options(), &mut (), &mut Thief(&tree)).unwrap_err();
    assert!(!error.is_rolled_back(), "{error}");
    assert!(
        matches!(&error, CommitError::RollbackIncomplete { paths, .. } if paths[..] == ["a"]),
        "{error}"
    );
    assert!(error.to_string().contains("; changed by someone else and left so: a"), "{error}");
    assert_eq!(tree.read("a"), "new a");
    assert_eq!(tree.read("b"), "old b");
}

/// A log that refuses its next entry, or the one after some more.
struct Refuses {
    after: u32,
}

impl CommitLog for Refuses {
    fn intend(&mut self, _: TransactionId) -> Result<(), String> {
        self.after = self.after.checked_sub(1).ok_or("the log is full")?;
        Ok(())
    }
}

#[test]
fn a_refusing_observer_leaves_nothing_behind() {
    let tree = Tree::new(&[("a", "old")]);
    let mtime = fs::metadata(tree.dir.path()).unwrap().modified().unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let workspace = tree.open();
    let locked = lock(&workspace);
    let plan = plan(&workspace, &[Update("a", "new"), Add("n/m", "x")]);
    let error = locked.commit(&plan, &options(), &mut Refuses { after: 0 }, &mut ()).unwrap_err();
    assert!(matches!(error, CommitError::Refused(_)));
    drop(locked);
    assert!(!tree.path(".apply-patch").exists());
    // In Wine the directory goes when its last handle is closed, and nothing puts the time back
    // after that.
    if cfg!(unix) {
        assert_eq!(fs::metadata(tree.dir.path()).unwrap().modified().unwrap(), mtime);
    }
    assert_eq!(tree.snapshot().len(), 1);
}

#[test]
fn a_second_lock_times_out_and_names_the_holder() {
    let tree = Tree::new(&[]);
    let one = tree.open();
    let two = tree.open();
    let held = lock(&one);
    let error = two.lock(Duration::from_millis(60)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    drop(held);
    drop(lock(&two));
    assert!(!tree.path(".apply-patch").exists());
}

#[test]
fn hard_links_are_refused_or_broken() {
    let tree = Tree::new(&[("a", "old")]);
    fs::hard_link(tree.path("a"), tree.path("b")).unwrap();
    let (workspace, rules) = (tree.open(), lenient());
    let reject = PlanBuilder::new(workspace.root(), &rules).load("a").unwrap_err();
    assert_eq!(reject.kind(), ErrorKind::PermissionDenied, "{reject}");
    let policy =
        fs_guard::Policy { hard_links: fs_guard::HardLinks::Break, ..patch_engine::policy() };
    let workspace = patch_engine::commit::Workspace::open(tree.dir.path(), policy)
        .unwrap()
        .with_key_place(tree.key_place());
    let locked = lock(&workspace);
    let plan = plan(&workspace, &[Update("a", "new")]);
    commit(&locked, &plan).unwrap();
    assert_eq!(tree.read("a"), "new");
    assert_eq!(tree.read("b"), "old");
}

#[cfg_attr(windows, ignore = "Wine has no links that a program can make")]
#[test]
fn a_deleted_link_goes_itself() {
    let tree = Tree::new(&[("target", "x")]);
    symlink("target", tree.path("link")).unwrap();
    let done = tree.commit(&[Delete("link")]).unwrap();
    assert!(tree.path("target").exists());
    assert!(fs::symlink_metadata(tree.path("link")).is_err());
    let kept = tree.path(done.trashed[0].as_ref().unwrap());
    assert_eq!(fs::read_link(kept).unwrap().to_str(), Some("target"));
}

#[test]
fn a_folder_that_may_not_be_written_is_found_before_anything_happens() {
    let tree = Tree::new(&[("a", "old"), ("locked/b", "old")]);
    let mode =
        |mode| fs::set_permissions(tree.path("locked"), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o555);
    if fs::write(tree.path("locked/probe"), "").is_ok() {
        fs::remove_file(tree.path("locked/probe")).unwrap();
        mode(0o755);
        testutils::skip!("this user may write everywhere");
        return;
    }
    let before = tree.snapshot();
    for steps in [
        &[Update("a", "new"), Update("locked/b", "new")][..],
        &[Update("a", "new"), Add("locked/x/y", "new")],
    ] {
        let error = tree.commit(steps).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
        assert_eq!(tree.snapshot(), before);
        assert!(!tree.path(".apply-patch").exists());
    }
    mode(0o755);
}

/// For every directory that is written in, and for the nearest one there is where it is still to be
/// made; also as a user who may write everywhere.
#[cfg(unix)]
#[test]
fn it_is_asked_of_every_folder_whether_it_may_be_written_before_anything_is_staged() {
    use fs_guard::fault::{Fault, arm, disarm};
    /// Whether something was staged.
    struct Hears(bool);
    impl Host for Hears {
        fn event(&mut self, event: &Event<'_>) {
            self.0 |= matches!(event, Event::Staged(_));
        }
    }
    const EACCES: i32 = 13;
    let attempt = |fault, at| {
        let tree = Tree::with_key(&[("d/x", ""), ("e/x", "")]);
        let workspace = tree.open();
        let locked = lock(&workspace);
        let plan = plan(&workspace, &[Add("d/n", "n"), Add("e/f/g/n", "n"), Add("n", "n")]);
        let mut hears = Hears(false);
        arm(fault, at, true);
        let done = locked.commit(&plan, &options(), &mut (), &mut hears);
        let calls = disarm();
        tree.lawless();
        (done.map_err(|error| error.kind()).map(drop), hears.0, calls)
    };
    let (done, staged, calls) = attempt(Fault::Nothing, 0);
    assert_eq!(done, Ok(()));
    assert!(staged);
    let asked: Vec<_> =
        (1..).zip(calls).filter(|(_, call)| *call == "faccessat").map(|(at, _)| at).collect();
    assert_eq!(asked.len(), 3, "d, e and the root");
    for at in asked {
        let (done, staged, _) = attempt(Fault::Once(EACCES), at);
        assert_eq!(done, Err(ErrorKind::PermissionDenied), "call {at}");
        assert!(!staged, "call {at}");
    }
}

/// Windows has access lists; `fs-guard` has the tests of those.
#[cfg(unix)]
#[test]
fn new_files_take_the_group_and_the_default_acl_of_their_directory() {
    let tree = Tree::new(&[("d/x", "")]);
    fs::set_permissions(tree.path("d"), fs::Permissions::from_mode(0o2775)).unwrap();
    if std::os::unix::fs::chown(tree.path("d"), None, Some(4242)).is_err() {
        testutils::skip!("only root gives files to other groups");
        return;
    }
    fs::set_permissions(tree.path("d"), fs::Permissions::from_mode(0o2775)).unwrap();
    let acl = std::process::Command::new("setfacl")
        .args(["-d", "-m", "u:1234:rwx"])
        .arg(tree.path("d"))
        .output();
    tree.commit(&[Add("d/new", "n"), Add("d/sub/new", "n")]).unwrap();
    for name in ["d/new", "d/sub/new"] {
        assert_eq!(
            fs::metadata(tree.path(name))
                .map(|seen| std::os::unix::fs::MetadataExt::gid(&seen))
                .unwrap(),
            4242,
            "{name}"
        );
    }
    if acl.is_ok_and(|output| output.status.success()) {
        let output = std::process::Command::new("getfacl")
            .args(["-n", "-p"])
            .arg(tree.path("d/new"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("user:1234:rw"), "{text}");
        let plain = tree.path("d/plain");
        fs::write(&plain, "").unwrap();
        let mode = |path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(tree.path("d/new")), mode(plain));
    } else {
        testutils::skip!("in part: setfacl is missing");
    }
}

/// On a file system where files are staged beside their places the log hears of each attempt.
#[test]
fn what_was_staged_beside_its_place_goes_when_it_is_refused() {
    let tree = Tree::new(&[("a", "old"), ("d/b", "b")]);
    let old = tree.snapshot();
    fs_guard::fault::cross_device(true);
    let workspace = tree.open();
    let locked = lock(&workspace);
    let plan = plan(&workspace, &[Update("a", "new"), Add("n/m", "x"), Delete("d/b")]);
    let error = locked.commit(&plan, &options(), &mut Refuses { after: 1 }, &mut ()).unwrap_err();
    assert!(matches!(error, CommitError::Refused(_)), "{error}");
    assert_eq!(tree.snapshot(), old);
    assert!(tree.pending().is_empty());
    // And with a log that takes it all, it works.
    commit(&locked, &plan).unwrap();
    fs_guard::fault::cross_device(false);
    assert_eq!(tree.read("a"), "new");
    assert_eq!(tree.read("n/m"), "x");
}

/// There is no place beside a file in a directory that takes the place of another file.
#[test]
fn a_file_gives_way_to_a_directory_only_where_nothing_is_staged_beside_it() {
    let tree = Tree::new(&[("a", "old")]);
    fs_guard::fault::cross_device(true);
    let error = tree.commit(&[Delete("a"), Add("a/c", "new")]).unwrap_err();
    fs_guard::fault::cross_device(false);
    assert!(error.to_string().starts_with("cannot replace a: "), "{error}");
    assert_eq!(tree.read("a"), "old");
    tree.commit(&[Delete("a"), Add("a/c", "new")]).unwrap();
}

/// A name may have 255 bytes, and the one of a file that waits beside it as many, in whatever way
/// names are swapped.
#[test]
fn files_with_long_names_are_staged_beside_their_places() {
    let names = [
        "a".repeat(255),
        "\u{e9}".repeat(127),
        format!("a{}", "\u{e9}".repeat(127)),
        "\u{1f980}".repeat(63),
    ];
    /// What waits beside the file is told by its name, as far as that fits.
    struct Looks<'t>(&'t Tree, &'t str, usize);
    impl Host for Looks<'_> {
        fn event(&mut self, event: &Event<'_>) {
            if matches!(event, Event::Staged(_)) {
                let all = self.0.snapshot();
                let waits = all.keys().filter_map(|name| name.strip_suffix(".apply-patch.tmp"));
                let parts = waits.filter_map(|name| name.rsplit_once('.'));
                self.2 += parts
                    .filter(|(begin, _)| begin.len() > 200 && self.1.starts_with(begin))
                    .count();
            }
        }
    }
    fs_guard::fault::cross_device(true);
    for (name, lacks) in names.iter().flat_map(|name| [false, true].map(|lacks| (name, lacks))) {
        let tree = Tree::new(&[(name, "old")]);
        fs_guard::fault::lack(lacks, false);
        let workspace = tree.open();
        let mut looks = Looks(&tree, name, 0);
        lock(&workspace)
            .commit(&plan(&workspace, &[Update(name, "new")]), &options(), &mut (), &mut looks)
            .unwrap();
        assert_eq!(looks.2, 1, "{name}");
        fs_guard::fault::lack(false, false);
        assert_eq!(tree.read(name), "new");
        assert_eq!(tree.snapshot().len(), 1);
    }
    fs_guard::fault::cross_device(false);
}
