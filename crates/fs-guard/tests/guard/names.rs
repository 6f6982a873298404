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
    let tree = Tree::new(&[("aux/x", ""), ("deep/aux/x", ""), ("ab:c", "")]);
    let root = tree.open();
    assert_eq!(
        verdict(root.check("ab:c", Access::Create)),
        "invalid not_portable",
        "a file is not a directory for another"
    );
    assert_eq!(verdict(root.check("deep/aux/y", Access::Create)), "fine", "the directory exists");
    assert_eq!(verdict(root.check("deep/con/y", Access::Create)), "invalid not_portable");
    assert_eq!(verdict(root.target("con", Access::Create)), "invalid not_portable");
    assert_eq!(verdict(root.target("con", Access::Delete)), "fine");
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
    assert_eq!(
        verdict(root.target(".vscode/x.sh", Access::Read)),
        "permission_denied guarded",
        "it may be changed"
    );
    assert_eq!(verdict(root.check(".env", Access::Read)), "permission_denied forbidden");
    let error = root.check(".envrc", Access::Update).unwrap_err();
    assert_eq!(error.reason(), "forbidden", "the forbidden list has the last word");
}

#[test]
fn names_that_differ_by_case_or_normalisation_collide() {
    let tree = Tree::new(&[("README.md", ""), ("Dir/é", ""), ("Dir/Sub/Deep/File", "")]);
    for root in tree.both() {
        let _ = fs::remove_file(tree.root.join("late"));
        let collision = |name: &str| root.collision(&path(&root, name), None).unwrap();
        assert_eq!(collision("readme.md"), Some("README.md".into()));
        assert_eq!(collision("README.md"), None);
        assert_eq!(collision("dir/x"), Some("Dir".into()));
        assert_eq!(collision("Dir/e\u{301}"), Some("Dir/é".into()));
        assert_eq!(collision("Dir/e"), None);
        assert_eq!(collision("new/x"), None);
        assert_eq!(collision("Dir/Sub/Deep/file"), Some("Dir/Sub/Deep/File".into()));
        assert_eq!(collision("Dir/Sub/deep/x"), Some("Dir/Sub/Deep".into()));
        assert_eq!(collision("Dir/Sub/Deep/File"), None);
        // A file that gets the other name is not in its way; another one is.
        let of_moved = |name: &str, moved: &str| {
            root.collision(&path(&root, name), Some(&path(&root, moved))).unwrap()
        };
        let in_the_way = cfg!(windows).then(|| "README.md".to_owned());
        assert_eq!(of_moved("readme.md", "README.md"), in_the_way);
        assert_eq!(of_moved("Dir/e\u{301}", "Dir/é"), None);
        assert_eq!(of_moved("dir/x", "Dir/é"), Some("Dir".into()));
        if cfg!(unix) {
            fs::write(tree.root.join("Readme.md"), "").unwrap();
            root.forget();
            assert_eq!(of_moved("readme.md", "README.md"), Some("Readme.md".into()));
            fs::remove_file(tree.root.join("Readme.md")).unwrap();
            root.forget();
        }
        // What was learnt is forgotten when that is wanted.
        assert_eq!(collision("LATE"), None);
        fs::write(tree.root.join("late"), "").unwrap();
        root.forget();
        assert_eq!(collision("LATE"), Some("late".into()));
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
        assert_eq!(look("bare"), "permission_denied bare_repository");
        assert_eq!(look("half"), "fine");
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

#[cfg(feature = "fault-injection")]
#[test]
fn git_directories_are_not_overlooked_when_a_look_fails() {
    use fs_guard::fault::{Fault, arm, calls, disarm};
    let tree = Tree::new(&[
        ("bare/HEAD", "ref: x"),
        ("bare/objects/x", ""),
        ("bare/refs/x", ""),
        ("worktree/HEAD", ""),
        ("worktree/commondir", ".."),
        (".git", "gitdir: elsewhere"),
    ]);
    fs::hard_link(tree.root.join(".git"), tree.root.join("alias")).unwrap();
    // An error of the device: 5 is "access denied" on Windows.
    let broken = if cfg!(windows) { 1117 } else { 5 };
    for name in ["bare/config", "bare/HEAD", "bare", "worktree/config", "alias"] {
        for which in 0..2 {
            let mut failed = 0;
            loop {
                let root = &tree.both()[which];
                let path = path(root, name);
                arm(Fault::Once(broken), failed + 1, true);
                let result = root.metadata(&path).map(drop);
                let made = calls();
                disarm();
                let is_forbidden = matches!(result, Err(fs_guard::Error::Forbidden { .. }));
                if made <= failed {
                    assert!(is_forbidden, "{name}: {result:?}");
                    break;
                }
                failed += 1;
                let is_told = result.as_ref().is_err_and(|error| error.io().is_some());
                assert!(is_forbidden || is_told, "{name}, call {failed}: {result:?}");
            }
            assert!(failed > 1, "{name}: nothing failed");
        }
    }
}

#[test]
fn a_patch_cannot_make_a_bare_repository() {
    let tree = Tree::new(&[
        ("half/HEAD", ""),
        ("half/objects/x", ""),
        ("in/a/half/HEAD", ""),
        ("in/a/half/objects/x", ""),
    ]);
    let root = tree.open();
    let check = |names: &[&str]| {
        let paths: Vec<_> = names.iter().map(|name| path(&root, name)).collect();
        verdict(root.check_no_new_repository(&paths))
    };
    assert_eq!(check(&["n/HEAD", "n/objects/a", "n/refs/b"]), "permission_denied bare_repository");
    assert_eq!(check(&["n/head", "n/Objects/a", "n/refs/b"]), "permission_denied bare_repository");
    assert_eq!(check(&["n/HEAD", "n/commondir"]), "permission_denied bare_repository");
    assert_eq!(check(&["half/refs/x"]), "permission_denied bare_repository");
    assert_eq!(check(&["in/a/half/refs/x"]), "permission_denied bare_repository");
    assert_eq!(
        check(&["in/b/HEAD", "in/b/objects/x", "in/b/refs/x"]),
        "permission_denied bare_repository"
    );
    assert_eq!(check(&["in/b/HEAD", "in/c/objects/x", "in/d/refs/x"]), "fine");
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
            assert_eq!(error.kind(), ErrorKind::OutsideRoot);
            assert_eq!(error.reason(), "not_within");
        }
        if access != Access::Read {
            assert_eq!(root.check_recorded(path, true).is_ok(), allowed, "{path} in a journal");
        }
    }
}

#[test]
fn a_root_that_is_a_repository_itself_is_not_changed() {
    for parts in [&["HEAD", "objects/x", "refs/x"][..], &["HEAD", "commondir"]] {
        let files: Vec<(&str, &str)> =
            parts.iter().map(|part| (*part, "x")).chain([("hooks/old", "x")]).collect();
        let tree = Tree::new(&files);
        for root in tree.both() {
            for name in ["hooks/post-update", "hooks/old", "config", "deep/er/x"] {
                let at = path(&root, name);
                assert_eq!(
                    verdict(root.metadata(&at)),
                    "permission_denied bare_repository",
                    "{name}"
                );
                assert_eq!(
                    verdict(root.parents_missing(&at)),
                    "permission_denied bare_repository",
                    "{name}"
                );
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

#[test]
fn what_the_program_keeps_elsewhere_is_reserved_by_whole_names() {
    let dir = tempfile::tempdir().unwrap();
    for (reserved, path, allowed) in [
        ("keeper/key", "keeper/key", false),
        ("keeper/key", "a/Keeper/KEY", false),
        ("keeper/key", "keeper/key/x", false),
        ("keeper/key", "xkeeper/key", true),
        ("keeper/key", "keeper/keys/key", true),
        ("keeper/key", "key", true),
        ("key", "key", false),
        ("key", "key/key", false),
        ("key", "a/key", false),
        ("key", "akey", true),
    ] {
        let root =
            Root::open(dir.path(), Policy { reserved: vec![reserved.into()], ..policy() }).unwrap();
        let expected = if allowed { "fine" } else { "permission_denied state_directory" };
        assert_eq!(verdict(root.check(path, Access::Read)), expected, "{reserved} {path}");
    }
}

#[test]
fn a_private_directory_has_a_plain_name() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["", ".", "..", "kept", "./kept", ".a/b", ".a b", ".a.b", ".ä"] {
        let opened = std::panic::catch_unwind(|| Root::open(dir.path(), Policy::new(name)).is_ok());
        assert!(opened.is_err(), "{name:?}");
    }
    for name in [".a", ".kept-1_B"] {
        assert!(Root::open(dir.path(), Policy::new(name)).is_ok(), "{name:?}");
    }
}

#[test]
fn a_list_of_patterns_tells_what_is_in_it() {
    let mut globs = Globs::new(["a", "**/b"]).unwrap();
    globs.except("a/c").unwrap();
    assert_eq!(globs.iter().collect::<Vec<_>>(), ["a", "**/b"]);
    assert!(!globs.is_empty());
    assert!(Globs::default().is_empty());
}

#[test]
fn a_checked_path_is_found_by_its_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = Root::open(dir.path(), policy()).unwrap().check("./a/b", Access::Read).unwrap();
    assert_eq!(AsRef::<str>::as_ref(&path), "a/b");
    let paths = std::collections::BTreeSet::from([path]);
    assert!(paths.contains("a/b"));
    assert!(!paths.contains("a"));
}

#[test]
#[cfg(unix)]
fn errors_of_the_system_have_the_kinds_of_ours() {
    use std::io::ErrorKind as Io;
    for (found, kind) in [
        (Io::NotFound, ErrorKind::NotFound),
        (Io::AlreadyExists, ErrorKind::AlreadyExists),
        (Io::PermissionDenied, ErrorKind::PermissionDenied),
        (Io::ReadOnlyFilesystem, ErrorKind::PermissionDenied),
        (Io::StorageFull, ErrorKind::Failed),
    ] {
        // Whatever numbers it has here.
        let codes: Vec<i32> = (1..200)
            .filter(|&code| std::io::Error::from_raw_os_error(code).kind() == found)
            .collect();
        assert!(!codes.is_empty(), "{found}");
        for code in codes {
            let source = std::io::Error::from_raw_os_error(code);
            let error = fs_guard::Error::Io { operation: "open", path: "f".into(), source };
            assert_eq!(error.kind(), kind, "{code}");
            assert_eq!(error.reason(), "io", "{code}");
            assert_eq!(error.path(), Some("f"), "{code}");
        }
    }
}

#[test]
fn errors_say_what_to_do_and_where_a_link_leads() {
    let link =
        |real_path| fs_guard::Error::Symlink { path: "a/f".into(), link: "a".into(), real_path };
    let text = "a/f goes through the symbolic link a";
    assert_eq!(link(None).to_string(), text);
    assert_eq!(link(Some("b/f".into())).to_string(), format!("{text}; it leads to b/f"));
    let error =
        fs_guard::Error::UntrustedState { path: ".kept".into(), problem: "it is not a directory" };
    assert_eq!(
        error.to_string(),
        ".kept is not trusted: it is not a directory; look at it and remove it"
    );
}

#[test]
fn a_path_in_an_error_is_shortened_in_its_middle() {
    use fs_guard::shortened;
    for length in [0, 1, 59, 60, 61, 120, 200, 400] {
        let path = "ä".repeat(length / 2);
        assert_eq!(shortened(&path), path);
    }
    for letter in ["x", "ä", "日"] {
        let path = format!("begin{}end", letter.repeat(2000));
        let short = shortened(&path).into_owned();
        let (head, tail) = short.split_once('…').unwrap();
        assert!(head.starts_with("begin"), "{short}");
        assert!(tail.ends_with("end"), "{short}");
        assert!(short.len() < 512, "{short}");
        assert_eq!(head.chars().count(), tail.chars().count());
        assert!(path.starts_with(head));
        assert!(path.ends_with(tail));
    }
}

#[test]
fn a_message_quotes_a_path_only_where_it_would_be_misread() {
    for (path, shown) in [
        ("src/a.rs", "src/a.rs"),
        ("it's+(1)~.txt", "it's+(1)~.txt"),
        ("naïve/日本", "naïve/日本"),
        ("", "\"\""),
        ("a b", "\"a b\""),
        ("a\u{a0}b", "\"a\\u{a0}b\""),
        ("a\tb", "\"a\\tb\""),
        ("say \"a\"", "\"say \\\"a\\\"\""),
        ("a\\b", "\"a\\\\b\""),
        ("a\u{200b}b", "\"a\\u{200b}b\""),
    ] {
        assert_eq!(fs_guard::quoted(path), shown, "{path:?}");
    }
}
