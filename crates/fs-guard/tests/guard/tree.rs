//! The rules over files that are beneath no directory handle.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use fs_guard::{Access, Entry, FileKind, GuardedTree, Tree};

use crate::support::{policy, verdict};

/// Entries with their bytes; what it says of their sizes need not be true.
#[derive(Debug)]
struct Entries(BTreeMap<&'static str, (Entry, &'static str)>);

impl Tree for Entries {
    fn entry(&self, path: &str) -> io::Result<Option<Entry>> {
        Ok(self.0.get(path).map(|(entry, _)| *entry))
    }

    fn read(&self, path: &str) -> io::Result<Arc<Vec<u8>>> {
        let (_, text) = self.0.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(text.as_bytes().to_vec()))
    }

    fn list(&self, dir: &str) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        let beneath = |path: &'static str| match dir {
            "" => Some(path),
            dir => path.strip_prefix(dir)?.strip_prefix('/'),
        };
        let entry = |(path, (entry, _)): (&&'static str, &(Entry, _))| {
            let name = beneath(path).filter(|name| !name.contains('/'))?;
            Some((name.as_bytes().to_vec(), entry.kind))
        };
        Ok(self.0.iter().filter_map(entry).collect())
    }
}

fn tree() -> GuardedTree {
    let file = |size| Entry::file(size, false);
    let other = Entry { kind: FileKind::Other, mode: 0o755, size: 0 };
    let locked = Entry { mode: 0o444, ..file(1) };
    let entries = [
        ("f", (file(5), "hello")),
        ("more", (file(3), "hello")),
        ("less", (file(9), "hello")),
        ("locked", (locked, "x")),
        ("module", (other, "")),
        ("dir", (Entry::directory(), "")),
        ("dir/f", (file(1), "x")),
        ("dir/in", (Entry::link(4), "../f")),
        ("link", (Entry::link(3), "dir")),
        ("out", (Entry::link(7), "dir/../../x")),
        ("ghost/f", (file(1), "x")),
        ("bare", (Entry::directory(), "")),
        ("bare/HEAD", (file(1), "x")),
        ("bare/objects", (Entry::directory(), "")),
        ("bare/refs", (Entry::directory(), "")),
        ("half", (Entry::directory(), "")),
        ("half/HEAD", (file(1), "x")),
        ("half/objects", (Entry::directory(), "")),
    ];
    GuardedTree::new(Arc::new(Entries(entries.into())), policy())
}

#[test]
fn files_of_a_tree_are_read_as_large_as_they_are_said_to_be() {
    let tree = tree();
    for (name, limit, expected) in [
        ("f", 5, "fine"),
        ("f", 6, "fine"),
        ("f", 4, "too_large too_large"),
        ("more", 9, "changed changed"),
        ("more", 5, "changed changed"),
        ("more", 4, "too_large too_large"),
        ("less", 9, "changed changed"),
        ("less", 8, "too_large too_large"),
        ("none", 9, "not_found not_found"),
        ("dir", 9, "invalid directory"),
        ("module", 9, "invalid special_file"),
        ("link", 9, "permission_denied symlink"),
        ("link/f", 9, "permission_denied symlink"),
        ("out", 99, "outside_root symlink"),
        ("dir/in", 9, "permission_denied symlink"),
        ("bare/HEAD", 9, "permission_denied bare_repository"),
        ("half/HEAD", 9, "fine"),
        ("ghost/f", 9, "not_found not_found"),
    ] {
        let path = tree.check(name, Access::Read).unwrap();
        assert_eq!(verdict(tree.read(&path, limit)), expected, "{name} {limit}");
    }
    let error = tree.read(&tree.check("dir/in", Access::Read).unwrap(), 9).unwrap_err();
    assert!(error.to_string().ends_with("; it leads to f"), "{error}");
}

#[test]
fn what_is_in_a_tree_is_inspected_by_the_rules() {
    let tree = tree();
    for (name, access, expected) in [
        ("f", Access::Update, "fine"),
        ("f", Access::Create, "already_exists exists"),
        ("locked", Access::Read, "fine"),
        ("locked", Access::Update, "permission_denied read_only"),
        ("locked", Access::Delete, "permission_denied read_only"),
        ("dir", Access::Delete, "invalid directory"),
        ("module", Access::Update, "invalid special_file"),
        ("link", Access::Update, "permission_denied symlink"),
        ("link", Access::Delete, "fine"),
        ("out", Access::Read, "outside_root symlink"),
        ("bare", Access::Read, "permission_denied bare_repository"),
        ("half", Access::Read, "invalid directory"),
    ] {
        let path = tree.check(name, Access::Read).unwrap();
        assert_eq!(verdict(tree.inspect(&path, access)), expected, "{name} {access:?}");
    }
    assert_eq!(tree.tree().id(), None, "nothing stands for it");
}

#[test]
fn directories_of_a_tree_are_listed() {
    let tree = tree();
    for (name, expected) in [
        ("dir", "fine"),
        ("f", "invalid not_a_directory"),
        ("module", "invalid not_a_directory"),
        ("link", "permission_denied symlink"),
        ("out", "outside_root symlink"),
        ("link/f", "permission_denied symlink"),
        ("none", "not_found not_found"),
        ("bare", "permission_denied bare_repository"),
    ] {
        let path = tree.check(name, Access::Read).unwrap();
        assert_eq!(verdict(tree.read_dir(Some(&path))), expected, "{name}");
    }
    let names = tree.read_dir(Some(&tree.check("dir", Access::Read).unwrap())).unwrap();
    assert_eq!(names, [(b"f".to_vec(), FileKind::File), (b"in".to_vec(), FileKind::Symlink)]);
    assert_eq!(tree.read_dir(None).unwrap().len(), 10);
}

#[test]
fn a_patch_cannot_make_a_bare_repository_in_a_tree() {
    let tree = tree();
    for (names, expected) in [
        (&["half/refs/x"][..], "permission_denied bare_repository"),
        (&["n/HEAD", "n/objects/a", "n/refs/b"], "permission_denied bare_repository"),
        (&["n/HEAD", "n/objects/a"], "fine"),
    ] {
        let paths: Vec<_> =
            names.iter().map(|name| tree.check(name, Access::Create).unwrap()).collect();
        assert_eq!(verdict(tree.check_no_new_repository(&paths)), expected, "{names:?}");
    }
}
