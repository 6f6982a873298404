//! Spellings, names and lists.

use std::fs;

#[cfg(unix)]
use fs_guard::NamePolicy;
use fs_guard::{Access, ErrorKind, Globs, Policy, Root};

use crate::support::*;

#[test]
fn spellings_and_names_are_refused_with_their_kind() {
    let tree = Tree::new(&[]);
    let root = tree.open();
    for (path, expected) in [
        ("a/b c/ä.txt", "fine"),
        ("..foo/a..b", "fine"),
        (".gitignore", "fine"),
        ("foo.git/x", "fine"),
        ("../x", "outside_root traversal"),
        ("a/../../x", "outside_root traversal"),
        ("/etc/passwd", "invalid absolute_path"),
        ("C:\\x", "invalid absolute_path"),
        ("a\\b", "invalid backslash"),
        ("", "invalid empty_path"),
        (".", "invalid root"),
        ("a/", "invalid trailing_slash"),
        ("a\u{202e}b", "invalid invisible_character"),
        ("nul.txt", "invalid not_portable"),
        ("ab:c", "invalid not_portable"),
        ("a.", "invalid not_portable"),
        ("x/PROGRA~1", "invalid not_portable"),
        (".git/config", "permission_denied git_directory"),
        ("sub/.GIT/hooks/x", "permission_denied git_directory"),
        (".git./x", "permission_denied git_directory"),
        ("git~1/x", "permission_denied git_directory"),
        (".g\u{200c}it/x", "permission_denied git_directory"),
        (".ｇｉｔ/x", "permission_denied git_directory"),
        (".Kept/lock", "permission_denied state_directory"),
        (".local/state/keeper/key", "permission_denied state_directory"),
        (".env", "permission_denied forbidden"),
        ("a/.ENV.local", "permission_denied forbidden"),
        ("a/Server.PEM", "permission_denied forbidden"),
        ("x/Secrets/y", "permission_denied forbidden"),
        (".github/workflows/ci.yml", "permission_denied guarded"),
        (".vscode/tasks.json", "permission_denied guarded"),
        (".cargo/config.toml", "permission_denied guarded"),
        (".gitattributes", "permission_denied guarded"),
    ] {
        assert_eq!(verdict(root.check(path, Access::Create)), expected, "{path:?}");
    }
    let bytes = root.check_bytes(b"a\xff", Access::Create);
    assert_eq!(verdict(bytes), "invalid not_utf8");
}

#[cfg(unix)]
#[test]
fn names_of_other_platforms_are_refused_only_where_they_are_new() {
    let tree = Tree::new(&[("aux/x", ""), ("ab:c", "")]);
    let root = tree.open();
    assert_eq!(verdict(root.check("ab:c", Access::Update)), "fine");
    assert_eq!(verdict(root.check("ab:c", Access::Delete)), "fine");
    assert_eq!(verdict(root.check("aux/y", Access::Create)), "fine", "the directory exists");
    assert_eq!(verdict(root.check("con/y", Access::Create)), "invalid not_portable");
    let native = Policy { names: NamePolicy::Native, ..policy() };
    let root = Root::open(&tree.root, native).unwrap();
    assert_eq!(verdict(root.check("con/y:z.", Access::Create)), "fine");
    assert_eq!(verdict(root.check("a\\b", Access::Create)), "invalid backslash");
}

#[test]
fn guarded_paths_are_read_freely_and_written_when_approved() {
    let tree = Tree::new(&[]);
    let allow = Globs::new([".vscode/*.json"]).unwrap();
    let root = Root::open(&tree.root, Policy { allow, ..policy() }).unwrap();
    assert_eq!(verdict(root.check(".vscode/tasks.json", Access::Update)), "fine");
    assert_eq!(verdict(root.check(".vscode/x.sh", Access::Update)), "permission_denied guarded");
    assert_eq!(verdict(root.check(".vscode/x.sh", Access::Read)), "fine");
    assert_eq!(verdict(root.check(".env", Access::Read)), "permission_denied forbidden");
    let error = root.check(".envrc", Access::Update).unwrap_err();
    assert_eq!(error.reason(), "forbidden", "the forbidden list has the last word");
}

#[test]
fn names_that_differ_by_case_or_normalisation_collide() {
    let tree = Tree::new(&[("README.md", ""), ("Dir/é", "")]);
    for root in tree.both() {
        let collision = |name: &str| root.collision(&path(&root, name)).unwrap();
        assert_eq!(collision("readme.md"), Some("README.md".into()));
        assert_eq!(collision("README.md"), None);
        assert_eq!(collision("dir/x"), Some("Dir".into()));
        assert_eq!(collision("Dir/e\u{301}"), Some("Dir/é".into()));
        assert_eq!(collision("Dir/e"), None);
        assert_eq!(collision("new/x"), None);
    }
}

#[test]
fn git_directories_are_recognised_whatever_they_are_called() {
    let tree = Tree::new(&[
        ("bare/HEAD", "ref: x"),
        ("bare/objects/x", ""),
        ("bare/refs/x", ""),
        ("bare/hooks/x", ""),
        ("half/HEAD", ""),
        ("half/objects/x", ""),
        ("worktree/HEAD", ""),
        ("worktree/commondir", ".."),
        (".git", "gitdir: elsewhere"),
    ]);
    fs::hard_link(tree.root.join(".git"), tree.root.join("alias")).unwrap();
    for root in tree.both() {
        let look = |name: &str| verdict(root.metadata(&path(&root, name)));
        assert_eq!(look("bare/hooks/x"), "permission_denied bare_repository");
        assert_eq!(look("bare/config"), "permission_denied bare_repository");
        assert_eq!(look("worktree/config"), "permission_denied bare_repository");
        assert_eq!(look("half/HEAD"), "fine");
        assert_eq!(look("alias"), "permission_denied git_directory");
        let read = root.read(&path(&root, "bare/HEAD"), 9);
        assert_eq!(verdict(read), "permission_denied bare_repository");
        let missing = root.parents_missing(&path(&root, "bare/new/x"));
        assert_eq!(verdict(missing), "permission_denied bare_repository");
    }
}

#[test]
fn a_patch_cannot_make_a_bare_repository() {
    let tree = Tree::new(&[("half/HEAD", ""), ("half/objects/x", "")]);
    let root = tree.open();
    let check = |names: &[&str]| {
        let paths: Vec<_> = names.iter().map(|name| path(&root, name)).collect();
        verdict(root.check_no_new_repository(&paths))
    };
    assert_eq!(check(&["n/HEAD", "n/objects/a", "n/refs/b"]), "permission_denied bare_repository");
    assert_eq!(check(&["n/head", "n/Objects/a", "n/refs/b"]), "permission_denied bare_repository");
    assert_eq!(check(&["n/HEAD", "n/commondir"]), "permission_denied bare_repository");
    assert_eq!(check(&["half/refs/x"]), "permission_denied bare_repository");
    assert_eq!(check(&["HEAD", "objects/a", "refs/b"]), "permission_denied bare_repository");
    assert_eq!(check(&["n/HEAD", "n/objects/a"]), "fine");
    assert_eq!(check(&["docs/refs/x", "half/x"]), "fine");
}

#[test]
fn a_policy_can_narrow_the_root_to_directories() {
    let dir = tempfile::tempdir().unwrap();
    let wide = Root::open(dir.path(), policy()).unwrap();
    let within = ["src/a", "docs"].map(|path| wide.check(path, Access::Read).unwrap()).to_vec();
    let root = Root::open(dir.path(), Policy { within, ..policy() }).unwrap();
    for (path, access, allowed) in [
        ("src/a/x", Access::Create, true),
        ("src/a", Access::Read, true),
        ("docs/d/e", Access::Delete, true),
        ("src", Access::Read, true),
        ("src", Access::Delete, false),
        ("src/x", Access::Read, false),
        ("src/ab", Access::Update, false),
        ("SRC/a/x", Access::Read, false),
        ("x", Access::Create, false),
    ] {
        let checked = root.check(path, access);
        assert_eq!(checked.is_ok(), allowed, "{path} {access:?}");
        if let Err(error) = checked {
            assert_eq!((error.kind(), error.reason()), (ErrorKind::OutsideRoot, "not_within"));
        }
        if access != Access::Read {
            assert_eq!(root.check_recorded(path, true).is_ok(), allowed, "{path} in a journal");
        }
    }
}

#[test]
fn a_root_that_is_a_repository_itself_is_not_changed() {
    for parts in [&["HEAD", "objects/x", "refs/x"][..], &["HEAD", "commondir"]] {
        let files: Vec<(&str, &str)> = parts.iter().map(|part| (*part, "x")).chain([("hooks/old", "x")]).collect();
        let tree = Tree::new(&files);
        for root in tree.both() {
            for name in ["hooks/post-update", "hooks/old", "config", "deep/er/x"] {
                let at = path(&root, name);
                assert_eq!(verdict(root.metadata(&at)), "permission_denied bare_repository", "{name}");
                assert_eq!(verdict(root.parents_missing(&at)), "permission_denied bare_repository", "{name}");
                let placed = fs_guard::Dirs::new(&root).place(&target(&root, name)).map(drop);
                // What is in no directory that is there has no place.
                let refused = ["permission_denied bare_repository", "not_found not_found"];
                assert!(refused.contains(&&*verdict(placed)), "{name}");
            }
        }
    }
    // Parts of one are none.
    let tree = Tree::new(&[("HEAD", "x"), ("refs/x", "x"), ("f", "x")]);
    for root in tree.both() {
        assert_eq!(verdict(root.read(&path(&root, "f"), 9)), "fine");
    }
}
