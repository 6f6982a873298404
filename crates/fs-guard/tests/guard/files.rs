//! What is read, what is refused, and what is reported.

use std::fs;
#[cfg(unix)]
use std::process::Command;

use fs_guard::{Access, HardLinks, Policy, Root};

use crate::support::*;

#[test]
fn regular_files_are_read_and_nothing_else() {
    let tree = Tree::new(&[("f", "hello"), ("empty", ""), ("dir/x", "")]);
    #[cfg(unix)]
    Command::new("mkfifo").arg(tree.root.join("fifo")).status().unwrap();
    #[cfg(unix)]
    let _socket = std::os::unix::net::UnixListener::bind(tree.root.join("socket")).unwrap();
    let special: &[&str] = if cfg!(unix) { &["fifo", "socket"] } else { &[] };
    for root in tree.both() {
        let read = |name: &str, limit| root.read(&path(&root, name), limit);
        let (bytes, seen) = read("f", 5).unwrap();
        assert_eq!(&*bytes, &b"hello"[..]);
        assert_eq!(seen.size, 5);
        assert_eq!(read("empty", 0).unwrap().0, b"");
        assert_eq!(verdict(read("f", 4)), "too_large too_large");
        assert_eq!(verdict(read("none", 9)), "not_found not_found");
        assert_eq!(verdict(read("f/below", 9)), "not_found not_found");
        assert_eq!(verdict(read("dir", 9)), "invalid directory");
        // Neither waits for a writer nor connects.
        for name in special {
            assert_eq!(verdict(read(name, 9)), "invalid special_file");
        }
        for name in ["dir"].iter().chain(special) {
            for access in [Access::Update, Access::Delete, Access::Create] {
                assert!(
                    verdict(root.inspect(&path(&root, name), access)).starts_with("invalid "),
                    "{name}"
                );
            }
        }
        assert_eq!(root.metadata(&path(&root, "none/x")).unwrap(), None);
        assert_eq!(root.metadata(&path(&root, "f/x")).unwrap(), None);
        let missing = |name: &str| root.parents_missing(&path(&root, name));
        assert_eq!(
            missing("a/b/c").unwrap().iter().map(|p| p.as_str()).collect::<Vec<_>>(),
            ["a", "a/b"]
        );
        assert!(missing("dir/c").unwrap().is_empty());
        assert_eq!(verdict(missing("f/c")), "invalid not_a_directory");
        assert_eq!(verdict(missing("f/b/c")), "invalid not_a_directory");
    }
}

#[test]
fn what_is_read_at_once_is_what_two_looks_would_give() {
    let tree =
        Tree::new(&[("f", "hello"), ("locked", "x"), ("one", "x"), ("dir/x", ""), (".env", "s")]);
    fs::hard_link(tree.root.join("one"), tree.root.join("two")).unwrap();
    let locked = tree.root.join("locked");
    let mut permissions = fs::metadata(&locked).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&locked, permissions).unwrap();
    #[cfg(unix)]
    Command::new("mkfifo").arg(tree.root.join("fifo")).status().unwrap();
    tree.link("f", "link");
    tree.link("dir", "linked");
    #[cfg(unix)]
    tree.link("../outside", "out");
    let names = [
        "f",
        "locked",
        "one",
        "dir",
        "dir/x",
        "fifo",
        "link",
        "linked/x",
        "out/secret",
        "none",
        "f/below",
        "none/x",
    ];
    for root in tree.both() {
        for (name, access, limit) in names
            .iter()
            .flat_map(|name| {
                [Access::Read, Access::Update, Access::Delete].map(|access| (name, access))
            })
            .flat_map(|(name, access)| [0, 9].map(|limit| (name, access, limit)))
        {
            let path = path(&root, name);
            let read = || root.read(&path, limit).map(|(bytes, _)| bytes);
            let two = root.inspect(&path, access).and_then(|seen| match seen {
                Some(seen) if seen.kind == fs_guard::FileKind::File => {
                    Ok(Some((seen, Some(read()?))))
                }
                seen => Ok(seen.map(|seen| (seen, None))),
            });
            let two = two.map_err(|error| format!("{error:?}"));
            let one = root
                .inspect_and_read(&path, access, |_| true, limit)
                .map_err(|error| format!("{error:?}"));
            assert_eq!(one, two, "{name} {access:?} {limit}");
            let looked = root.inspect(&path, access).map(|seen| seen.map(|seen| (seen, None)));
            let unwanted = root.inspect_and_read(&path, access, |_| false, limit);
            let told =
                |seen: Result<_, fs_guard::Error>| seen.map_err(|error| format!("{error:?}"));
            assert_eq!(told(unwanted), told(looked), "{name} {access:?}");
        }
    }
}

#[test]
#[cfg(unix)]
fn a_fifo_is_not_opened_to_see_what_it_is() {
    let tree = Tree::new(&[]);
    let fifo = tree.root.join("fifo");
    Command::new("mkfifo").arg(&fifo).status().unwrap();
    let root = tree.open();
    // A writer waits for a reader: it must go on waiting.
    let mut writer = Command::new("sh").arg("-c").arg("exec 3> \"$0\"").arg(&fifo).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    let seen = root.inspect_and_read(&path(&root, "fifo"), Access::Update, |_| true, 9);
    assert_eq!(verdict(seen), "invalid special_file");
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(writer.try_wait().unwrap().is_none(), "the writer was let go");
    writer.kill().unwrap();
    writer.wait().unwrap();
}

#[test]
fn hard_links_and_read_only_files_are_not_changed() {
    let tree = Tree::new(&[("one", "x"), ("locked", "x")]);
    fs::hard_link(tree.root.join("one"), tree.root.join("two")).unwrap();
    let locked = tree.root.join("locked");
    let mut permissions = fs::metadata(&locked).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&locked, permissions).unwrap();
    for root in tree.both() {
        for access in [Access::Update, Access::Delete] {
            let inspect = |name: &str| verdict(root.inspect(&path(&root, name), access));
            assert_eq!(inspect("one"), "permission_denied hard_links");
            assert_eq!(inspect("locked"), "permission_denied read_only");
        }
        assert_eq!(verdict(root.read(&path(&root, "one"), 9)), "fine");
    }
    let policy = Policy { hard_links: HardLinks::Break, ..policy() };
    let root = Root::open(&tree.root, policy).unwrap();
    assert_eq!(verdict(root.inspect(&path(&root, "one"), Access::Update)), "fine");
}

#[cfg(unix)]
#[test]
fn mounts_are_no_way_out() {
    // In a mount namespace of its own; skipped where that is not allowed.
    let tree = Tree::new(&[("sub/f", "x"), ("file", "y"), (".kept/x", "")]);
    let exe = std::env::current_exe().unwrap();
    let script = format!(
        "mount --bind '{0}' '{1}/sub' && mount --bind '{0}' '{1}/.kept' && mount --bind \
         '{0}/secret' '{1}/file' && exec '{2}' --exact files::inside_a_mount_namespace --ignored \
         --nocapture",
        tree.outside.display(),
        tree.root.display(),
        exe.display()
    );
    let output = Command::new("unshare")
        .args(["-Urm", "sh", "-c", &script])
        .env("FS_GUARD_TEST_ROOT", &tree.root)
        .output();
    match output {
        Ok(output) if output.status.success() => {
            assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
        }
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(!text.contains("FAILED"), "{text}");
            testutils::skip!("no mount namespaces here");
        }
        Err(_) => testutils::skip!("no unshare here"),
    }
}

#[cfg(unix)]
#[test]
#[ignore = "run by mounts_are_no_way_out"]
fn inside_a_mount_namespace() {
    let Some(dir) = std::env::var_os("FS_GUARD_TEST_ROOT") else { return };
    for walking in [false, true] {
        let root = Root::open(dir.as_ref(), policy()).unwrap().walking(walking);
        for name in ["sub/secret", "sub/new/x", "file"] {
            let at = path(&root, name);
            assert_eq!(verdict(root.read(&at, 99)), "outside_root mount", "{name} {walking}");
            assert_eq!(
                verdict(root.inspect(&at, Access::Update)),
                "outside_root mount",
                "{name} {walking}"
            );
        }
        assert_eq!(verdict(root.parents_missing(&path(&root, "sub/new/x"))), "outside_root mount");
        let error = root.state_dir().unwrap_err();
        assert!(error.to_string().contains("it is not a directory of this file system"), "{error}");
    }
}

#[test]
fn directories_are_listed_with_their_links_unfollowed() {
    let tree = Tree::new(&[("d/a", "1"), ("d/b/c", "")]);
    tree.link(if cfg!(unix) { "../../outside".into() } else { tree.outside.clone() }, "d/link");
    for root in tree.both() {
        let mut names: Vec<_> = root
            .read_dir(Some(&path(&root, "d")))
            .unwrap()
            .into_iter()
            .map(|entry| (String::from_utf8(entry.name).unwrap(), entry.metadata.kind.as_str()))
            .collect();
        names.sort();
        let expected = [("a", "file"), ("b", "directory"), ("link", "symbolic link")];
        assert_eq!(names, expected.map(|(name, kind)| (name.to_owned(), kind)));
        assert_eq!(verdict(root.read_dir(Some(&path(&root, "none")))), "not_found not_found");
        assert_eq!(verdict(root.read_dir(Some(&path(&root, "d/a")))), "invalid not_a_directory");
    }
}

#[test]
fn an_open_file_is_read_in_every_way_to_its_end() {
    use std::io::Read as _;
    let tree = Tree::new(&[("f", "hello")]);
    let root = tree.open();
    let open = || root.open_file(&path(&root, "f")).unwrap().0;
    let mut buffer = [0; 9];
    assert_eq!(open().read_at(&mut buffer, 2).unwrap(), 3);
    assert_eq!(&buffer[..3], b"llo");
    assert_eq!(open().read_at(&mut buffer, 5).unwrap(), 0);
    let mut text = String::new();
    open().take(99).read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello");
}

/// What grows or shrinks after it was looked at is read and hashed as it is, all of it.
#[test]
#[cfg(unix)]
fn a_file_that_others_write_meanwhile_is_read_to_its_end() {
    for (before, after) in [
        (5, 5),
        (5, 0),
        (5, 3),
        (5, 6),
        (5, 300_000),
        (0, 9),
        (65_536, 65_546),
        (65_536, 200_000),
        (70_000, 65_536),
    ] {
        let tree = Tree::new(&[("f", &"x".repeat(before))]);
        let root = tree.open();
        let (at, file) = (path(&root, "f"), tree.root.join("f"));
        let (mut open, seen) = root.open_file(&at).unwrap();
        assert_eq!(seen.size, before as u64);
        let text = "y".repeat(after);
        let (other, new) = (file.clone(), text.clone());
        fs_guard::fault::meanwhile("read", 1, move || fs::write(other, new).unwrap());
        assert_eq!(
            open.hash(&fs_guard::Cancellation::NEVER).unwrap(),
            fs_guard::Sha256::of(text.as_bytes()),
            "{before} {after}"
        );
        for limit in [before.max(after), before.max(after) + 1, 1 << 20, after.max(1) - 1] {
            fs::write(&file, "x".repeat(before)).unwrap();
            let (other, new) = (file.clone(), text.clone());
            fs_guard::fault::meanwhile("read", 1, move || fs::write(other, new).unwrap());
            let read = root.read(&at, limit as u64).map(|(bytes, _)| bytes);
            if before.max(after) <= limit {
                assert!(read.unwrap() == text.as_bytes(), "{before} {after} {limit}")
            } else {
                assert_eq!(verdict(read), "too_large too_large", "{before} {after} {limit}")
            }
            fs_guard::fault::meanwhile("none", 1, || {});
        }
    }
}

#[test]
#[cfg(unix)]
fn a_small_file_is_read_by_one_call() {
    let tree = Tree::new(&[("f", "hello")]);
    let root = tree.open();
    let at = path(&root, "f");
    let reads = || fs_guard::fault::disarm().iter().filter(|&&call| call == "read").count();
    let (mut open, _) = root.open_file(&at).unwrap();
    fs_guard::fault::arm(fs_guard::fault::Fault::Nothing, 0, true);
    open.hash(&fs_guard::Cancellation::NEVER).unwrap();
    assert_eq!(reads(), 1);
    fs_guard::fault::arm(fs_guard::fault::Fault::Nothing, 0, true);
    root.read(&at, 9).unwrap();
    assert_eq!(reads(), 1);
}

#[test]
#[cfg(unix)]
fn a_configuration_is_a_file_and_a_fifo_keeps_nobody_waiting() {
    let tree = Tree::new(&[("f", "text"), ("dir/x", "")]);
    Command::new("mkfifo").arg(tree.root.join("fifo")).status().unwrap();
    tree.link("f", "link");
    tree.link("loop", "loop");
    for (name, limit, expected) in [
        ("f", 4, Ok(Some(b"text".to_vec()))),
        ("link", 4, Ok(Some(b"text".to_vec()))),
        ("f", 3, Err("too_large too_large")),
        ("none", 9, Ok(None)),
        ("f/x", 9, Ok(None)),
        ("dir", 9, Err("invalid directory")),
        ("fifo", 9, Err("invalid special_file")),
        ("loop", 9, Err("failed io")),
    ] {
        let read = fs_guard::read_config(&tree.root.join(name), limit);
        let read = read.map_err(|error| verdict::<()>(Err(error)));
        assert_eq!(read, expected.map_err(str::to_owned), "{name}");
    }
}

#[test]
#[cfg(unix)]
fn a_root_knows_its_device_and_its_time() {
    use std::os::unix::fs::MetadataExt as _;
    let tree = Tree::new(&[]);
    let root = tree.open();
    let seen = fs::metadata(&tree.root).unwrap();
    assert_eq!(root.device(), seen.dev());
    let (seconds, nanos) = root.mtime();
    assert_eq!(seconds, seen.mtime());
    assert_eq!(i64::from(nanos), seen.mtime_nsec());
}

/// Overlays show other devices for files than for directories.
#[test]
#[cfg(unix)]
fn a_file_of_another_device_is_refused_unless_its_directory_is_on_the_roots() {
    let tree = Tree::new(&[("f", "x"), ("d/f", "x")]);
    let root = tree.open();
    let seen = root.metadata(&path(&root, "f")).unwrap().unwrap();
    let mut other = seen.clone();
    other.dev += 1;
    for (name, seen, expected) in [
        ("f", &seen, "fine"),
        ("d/f", &seen, "fine"),
        ("none/f", &seen, "fine"),
        ("f", &other, "fine"),
        ("d/f", &other, "fine"),
        ("none/f", &other, "permission_denied other_device"),
    ] {
        assert_eq!(
            verdict(root.check_pre_image(&path(&root, name), seen, Access::Update)),
            expected,
            "{name}"
        );
    }
}

#[test]
#[cfg(unix)]
fn what_is_known_of_a_file_is_compared_in_full() {
    let tree = Tree::new(&[("f", "x")]);
    let root = tree.open();
    let seen = root.metadata(&path(&root, "f")).unwrap().unwrap();
    type Change = fn(&mut fs_guard::Metadata);
    let changes: [(Change, bool, bool); 10] = [
        (|m| m.dev += 1, false, false),
        (|m| m.ino += 1, false, false),
        (|m| m.kind = fs_guard::FileKind::Other, true, false),
        (|m| m.size += 1, true, false),
        (|m| m.mtime.1 ^= 1, true, false),
        (|m| m.ctime.1 ^= 1, true, true),
        (|m| m.mode ^= 1, true, true),
        (|m| m.uid += 1, true, true),
        (|m| m.gid += 1, true, true),
        (|m| m.nlink += 1, true, true),
    ];
    let mut set_id = seen.clone();
    set_id.mode = 0o6751;
    assert_eq!(set_id.kept_mode(), 0o751);
    assert!(seen == seen.clone());
    assert!(seen.same_inode(&seen));
    assert!(seen.same_bytes_as(&seen));
    for (k, (change, same_inode, same_bytes)) in changes.into_iter().enumerate() {
        let mut other = seen.clone();
        change(&mut other);
        assert!(seen != other, "{k}");
        assert_eq!(seen.same_inode(&other), same_inode, "{k}");
        assert_eq!(seen.same_bytes_as(&other), same_bytes, "{k}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn whether_attributes_have_to_be_copied_is_known_of_an_open_file() {
    let tree = Tree::new(&[("plain", "x"), ("noted", "x"), ("dir/x", "")]);
    let root = tree.open();
    let has = |name: &str| root.open_file(&path(&root, name)).unwrap().1.may_have_xattrs();
    assert!(!has("plain"));
    let look = |name: &str| root.metadata(&path(&root, name)).unwrap().unwrap().may_have_xattrs();
    assert!(look("plain"), "it was not opened");
    assert!(!look("dir"));
    let set = rustix::fs::setxattr(
        tree.root.join("noted"),
        c"user.note",
        b"n",
        rustix::fs::XattrFlags::empty(),
    );
    match set {
        Ok(()) => assert!(has("noted")),
        Err(_) => testutils::skip!("no attributes here"),
    }
}

#[test]
#[cfg(unix)]
fn times_of_a_file_that_rests_are_telling() {
    // It is older than this test.
    let root = Root::open(env!("CARGO_MANIFEST_DIR").as_ref(), policy()).unwrap();
    assert!(root.metadata(&path(&root, "Cargo.toml")).unwrap().unwrap().times_are_telling());
}
