//! What is read, what is refused, and what is told.

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
        assert_eq!((&*bytes, seen.size), (&b"hello"[..], 5));
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
                assert!(verdict(root.inspect(&path(&root, name), access)).starts_with("invalid "), "{name}");
            }
        }
        assert_eq!(root.metadata(&path(&root, "none/x")).unwrap(), None);
        assert_eq!(root.metadata(&path(&root, "f/x")).unwrap(), None);
        let missing = |name: &str| root.parents_missing(&path(&root, name));
        assert_eq!(missing("a/b/c").unwrap().iter().map(|p| p.as_str()).collect::<Vec<_>>(), ["a", "a/b"]);
        assert!(missing("dir/c").unwrap().is_empty());
        assert_eq!(verdict(missing("f/c")), "invalid not_a_directory");
        assert_eq!(verdict(missing("f/b/c")), "invalid not_a_directory");
    }
}

#[test]
fn what_is_read_at_once_is_what_two_looks_would_give() {
    let tree = Tree::new(&[("f", "hello"), ("locked", "x"), ("one", "x"), ("dir/x", ""), (".env", "s")]);
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
    let names =
        ["f", "locked", "one", "dir", "dir/x", "fifo", "link", "linked/x", "out/secret", "none", "f/below", "none/x"];
    for root in tree.both() {
        for (name, access, limit) in names
            .iter()
            .flat_map(|name| [Access::Read, Access::Update, Access::Delete].map(|access| (name, access)))
            .flat_map(|(name, access)| [0, 9].map(|limit| (name, access, limit)))
        {
            let path = path(&root, name);
            let read = || root.read(&path, limit).map(|(bytes, _)| bytes);
            let two = root.inspect(&path, access).and_then(|seen| match seen {
                Some(seen) if seen.kind == fs_guard::FileKind::File => Ok(Some((seen, Some(read()?)))),
                seen => Ok(seen.map(|seen| (seen, None))),
            });
            let two = two.map_err(|error| format!("{error:?}"));
            let one = root.inspect_and_read(&path, access, |_| true, limit).map_err(|error| format!("{error:?}"));
            assert_eq!(one, two, "{name} {access:?} {limit}");
            let looked = root.inspect(&path, access).map(|seen| seen.map(|seen| (seen, None)));
            let unwanted = root.inspect_and_read(&path, access, |_| false, limit);
            let told = |seen: Result<_, fs_guard::Error>| seen.map_err(|error| format!("{error:?}"));
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
    let tree = Tree::new(&[("sub/f", "x"), ("file", "y")]);
    let exe = std::env::current_exe().unwrap();
    let script = format!(
        "mount --bind '{0}' '{1}/sub' && mount --bind '{0}/secret' '{1}/file' && \
         exec '{2}' --exact files::inside_a_mount_namespace --ignored --nocapture",
        tree.outside.display(),
        tree.root.display(),
        exe.display()
    );
    let output =
        Command::new("unshare").args(["-Urm", "sh", "-c", &script]).env("FS_GUARD_TEST_ROOT", &tree.root).output();
    match output {
        Ok(output) if output.status.success() => {
            assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
        }
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(!text.contains("FAILED"), "{text}");
            eprintln!("skipped: no mount namespaces here");
        }
        Err(_) => eprintln!("skipped: no unshare here"),
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
            assert_eq!(verdict(root.inspect(&at, Access::Update)), "outside_root mount", "{name} {walking}");
        }
        assert_eq!(verdict(root.parents_missing(&path(&root, "sub/new/x"))), "outside_root mount");
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
