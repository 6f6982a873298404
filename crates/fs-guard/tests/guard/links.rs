//! Symbolic links in every place.

use std::fs;

use fs_guard::{Access, Error, FileKind};

use crate::support::*;

#[test]
fn links_are_refused_and_told_apart() {
    let tree = Tree::new(&[("real/f", "x"), ("g", "y")]);
    let inside = tree.root.join("real");
    tree.link("real", "dir");
    tree.link("g", "file");
    tree.link(&inside, "absolute");
    tree.link("../outside", "out");
    tree.link("../outside/secret", "out-file");
    tree.link("/etc", "etc");
    tree.link("real/../../outside", "sneaky");
    tree.link("nowhere", "dangling");
    tree.link("../nowhere", "dangling-out");
    tree.link("loop", "loop");
    tree.link("dir", "chain");
    for root in tree.both() {
        for (name, kind, real) in [
            ("dir/f", "permission_denied", Some("real/f")),
            ("file", "permission_denied", Some("g")),
            ("absolute/f", "permission_denied", Some("real/f")),
            ("chain/f", "permission_denied", Some("real/f")),
            ("dangling", "permission_denied", Some("nowhere")),
            ("loop", "permission_denied", None),
            ("loop/x", "permission_denied", None),
            ("out/secret", "outside_root", None),
            ("out/new", "outside_root", None),
            ("out-file", "outside_root", None),
            ("etc/passwd", "outside_root", None),
            ("sneaky/secret", "outside_root", None),
            ("dangling-out", "outside_root", None),
        ] {
            let at = path(&root, name);
            for error in [
                root.read(&at, 99).unwrap_err(),
                root.inspect(&at, Access::Update).unwrap_err(),
                root.inspect(&at, Access::Create).unwrap_err(),
            ] {
                assert_eq!(error.kind().as_str(), kind, "{name}: {error}");
                assert_eq!(error.reason(), "symlink", "{name}: {error}");
                if let Error::Symlink { real_path, .. } = &error {
                    assert_eq!(real_path.as_deref(), real, "{name}");
                }
            }
        }
        // The link itself may go; beneath one nothing may.
        let link = root.inspect(&path(&root, "out-file"), Access::Delete).unwrap().unwrap();
        assert_eq!(link.kind, FileKind::Symlink);
        assert_eq!(root.read_link(&path(&root, "out-file")).unwrap(), b"../outside/secret");
        assert_eq!(
            verdict(root.inspect(&path(&root, "out/secret"), Access::Delete)),
            "outside_root symlink"
        );
        assert_eq!(verdict(root.parents_missing(&path(&root, "out/a/b"))), "outside_root symlink");
        assert_eq!(
            verdict(root.parents_missing(&path(&root, "dir/a/b"))),
            "permission_denied symlink"
        );
        assert_eq!(
            verdict(root.parents_missing(&path(&root, "dir/a"))),
            "permission_denied symlink"
        );
        assert_eq!(verdict(root.parents_missing(&path(&root, "out/a"))), "outside_root symlink");
        assert_eq!(verdict(root.read_dir(Some(&path(&root, "out")))), "outside_root symlink");
        assert_eq!(verdict(root.read_link(&path(&root, "out/secret"))), "outside_root symlink");
    }
    assert_eq!(fs::read_dir(&tree.outside).unwrap().count(), 1);
}

#[test]
fn readers_may_follow_links_that_stay_inside() {
    let tree = Tree::new(&[("real/f", "x"), (".env", "s"), (".git/config", "c")]);
    tree.link("real", "dir");
    tree.link("../outside", "out");
    tree.link(".env", "harmless");
    tree.link(".git", "g");
    tree.link(".", "here");
    tree.link("./real/.//", "dotted");
    tree.link("../f", "real/up");
    tree.link("../../outside/secret", "real/out");
    tree.link("nowhere/../dir/f", "detour");
    tree.link("real/f/../f", "over-a-file");
    for root in tree.both() {
        let follow = |name: &str| root.follow(&path(&root, name)).map(|real| real.to_string());
        assert_eq!(follow("dir/f").unwrap(), "real/f");
        assert_eq!(follow("real/f").unwrap(), "real/f");
        assert_eq!(follow("dir/none").unwrap(), "real/none");
        assert_eq!(follow("dotted/f").unwrap(), "real/f");
        assert_eq!(follow("real/up").unwrap(), "f");
        assert_eq!(follow("dir/up").unwrap(), "f");
        assert_eq!(follow("here/dir/f").unwrap(), "real/f");
        assert_eq!(follow("detour").unwrap(), "real/f");
        assert_eq!(follow("over-a-file").unwrap(), "real/f");
        assert_eq!(verdict(follow("real/out")), "outside_root symlink");
        assert_eq!(verdict(follow("here")), "invalid directory", "the root itself");
        assert_eq!(verdict(follow("out/secret")), "outside_root symlink");
        assert_eq!(
            verdict(follow("harmless")),
            "permission_denied forbidden",
            "the real path counts"
        );
        assert_eq!(verdict(follow("g/config")), "permission_denied git_directory");
    }
}

#[test]
fn the_root_itself_may_be_named_by_a_link() {
    let tree = Tree::new(&[("f", "x")]);
    let link = tree.outside.join("to-root");
    symlink(&tree.root, &link).unwrap();
    let root = fs_guard::Root::open(&link, policy()).unwrap();
    tree.link(tree.root.join("f"), "absolute");
    assert_eq!(root.follow(&path(&root, "absolute")).unwrap().as_str(), "f");
}

/// A swap between two looks is reported, or what is there now is used.
#[test]
fn what_is_swapped_between_two_looks_is_told_as_changed() {
    use fs_guard::fault::meanwhile;
    let tree = Tree::new(&[("f", "x"), ("d/f", "x")]);
    tree.link("f", "link");
    let root = tree.open();
    let link = tree.root.join("link");
    // A link, and then a file.
    meanwhile("fstatat", 1, move || {
        fs::remove_file(&link).unwrap();
        fs::write(&link, "x").unwrap();
    });
    assert_eq!(verdict(root.read(&path(&root, "link"), 9)), "changed changed");
    assert_eq!(verdict(root.read(&path(&root, "link"), 9)), "fine");
    // A file, and then nothing.
    let file = tree.root.join("f");
    meanwhile("fstatat", 1, move || fs::remove_file(&file).unwrap());
    assert_eq!(root.metadata(&path(&root, "f/x")).unwrap(), None);
    // An entry that goes while the directory is listed is left out.
    let file = tree.root.join("d/f");
    meanwhile("fstatat", 1, move || fs::remove_file(&file).unwrap());
    assert_eq!(root.read_dir(Some(&path(&root, "d"))).unwrap(), []);
}
