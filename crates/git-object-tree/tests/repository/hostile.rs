//! Repositories that are damaged, or made to do harm: errors, and no panics.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use git_object_tree::{EntryKind, Error, ErrorKind, Id, OpenOptions, Repository, TreeChange};
use proptest::prelude::*;

use crate::support::*;
use testutils::holds::holds;
use testutils::share::share;

const X: TreeChange<'static> = TreeChange::Write(EntryKind::File, b"x");

/// Puts an object there that git would refuse to make, and a commit that has it as its tree.
fn commit_of(fixture: &Fixture, tree: &[u8]) -> Id {
    let tree =
        git_in(&fixture.at, &["hash-object", "-w", "-t", "tree", "--stdin", "--literally"], tree);
    let text = format!("tree {tree}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nx\n");
    git_in(
        &fixture.at,
        &["hash-object", "-w", "-t", "commit", "--stdin", "--literally"],
        text.as_bytes(),
    )
    .parse()
    .unwrap()
}

fn entry(mode: &str, name: &[u8], id: Id) -> Vec<u8> {
    [mode.as_bytes(), b" ", name, b"\0", id.as_bytes()].concat()
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut stream =
        gix_zlib::stream::deflate::Write::new(Vec::new(), gix_zlib::Compression::BEST_SPEED);
    stream.write_all(bytes).unwrap();
    stream.flush().unwrap();
    stream.into_inner()
}

fn loose(at: &Path, id: Id) -> PathBuf {
    let hex = id.to_string();
    at.join("objects").join(&hex[..2]).join(&hex[2..])
}

fn replace(path: &Path, bytes: &[u8]) {
    if path.exists() {
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn trees_that_break_the_rules_are_errors() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    let repository = fixture.open();
    let tip = repository.resolve("main").unwrap();
    let blob = repository.snapshot(tip.tree).entry("a").unwrap().unwrap().id;
    let file = |name: &str| entry("100644", name.as_bytes(), blob);
    let directory = |name: &str| entry("40000", name.as_bytes(), tip.tree);
    for (what, tree) in [
        ("not sorted", [file("b"), file("a")].concat()),
        ("a name twice", [file("a"), file("a")].concat()),
        ("a file and a directory of one name", [file("a"), file("a.b"), directory("a")].concat()),
        ("sorted as a file", [directory("a"), file("a.b")].concat()),
        ("an empty name", file("")),
        ("a slash", file("a/b")),
        ("no such mode", entry("777", b"a", blob)),
        ("a mode that is too long", entry("00000000000100644", b"a", blob)),
        ("no mode", entry("", b"a", blob)),
        ("a mode with letters", entry("10064x", b"a", blob)),
        ("cut off", file("a")[..20].to_vec()),
        ("cut off in a name", b"100644 abc".to_vec()),
        ("cut off in a mode", b"1006".to_vec()),
    ] {
        let found = repository.resolve(&commit_of(&fixture, &tree).to_string()).unwrap();
        let error = repository.snapshot(found.tree).entry("a").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
        assert_eq!(
            repository.write_tree(found.tree, [("n", X)]).unwrap_err().kind(),
            ErrorKind::Corrupt,
            "{what}"
        );
    }
    // Modes of old versions of git.
    let old =
        [entry("100664", b"a", blob), entry("100775", b"b", blob), entry("040000", b"c", tip.tree)]
            .concat();
    let found = repository.resolve(&commit_of(&fixture, &old).to_string()).unwrap();
    let tree = repository.write_tree(found.tree, [("n", X)]).unwrap();
    let kinds = |tree| {
        repository
            .snapshot(tree)
            .list("")
            .unwrap()
            .unwrap()
            .into_iter()
            .map(|(_, entry)| entry.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds(found.tree), [EntryKind::File, EntryKind::Executable, EntryKind::Directory]);
    go(&repository, "clean", None, commit(&repository, tree, &[], "clean")).unwrap();
    assert_eq!(fixture.git(&["ls-tree", "clean"]).lines().count(), 4);
    let other = Fixture::bare();
    git_in(&other.at, &["fetch", "-q", fixture.at.to_str().unwrap(), "clean:clean"], b"");
    other.fsck();
}

#[test]
fn names_that_git_refuses_are_read_and_not_written_again() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    let repository = fixture.open();
    let tip = repository.resolve("main").unwrap();
    let blob = repository.snapshot(tip.tree).entry("a").unwrap().unwrap().id;
    for (mode, name) in [
        ("100644", ".git"),
        ("100644", ".GIT"),
        ("100644", "git~1"),
        ("100644", ".."),
        ("120000", ".gitmodules"),
    ] {
        let bad = git_in(
            &fixture.at,
            &["hash-object", "-w", "-t", "tree", "--stdin", "--literally"],
            &entry(mode, name.as_bytes(), blob),
        );
        let outer =
            [entry("100644", b"a", blob), entry("40000", b"bad", bad.parse().unwrap())].concat();
        let found = repository.resolve(&commit_of(&fixture, &outer).to_string()).unwrap();
        assert!(repository.snapshot(found.tree).entry(format!("bad/{name}")).unwrap().is_some());
        let error = repository.write_tree(found.tree, [("bad/n", X)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name}: {error}");
        assert!(error.to_string().contains(&format!("bad/{name}")), "{error}");
        // What is elsewhere does not concern it.
        repository.write_tree(found.tree, [("b", X)]).unwrap();
    }
}

#[test]
fn directories_within_directories_do_not_exhaust_the_stack() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    let repository = fixture.open();
    let tip = repository.resolve("main").unwrap();
    let mut id = tip.tree;
    let mut stream = Vec::new();
    for _ in 0..5000 {
        let tree = entry("40000", b"d", id);
        let object = [format!("tree {}\0", tree.len()).as_bytes(), &tree].concat();
        id = Id::new(
            gix_object::compute_hash(gix_hash::Kind::Sha1, gix_object::Kind::Tree, &tree)
                .unwrap()
                .as_bytes()
                .try_into()
                .unwrap(),
        );
        fs::create_dir_all(loose(&fixture.at, id).parent().unwrap()).unwrap();
        replace(&loose(&fixture.at, id), &deflated(&object));
        stream.push(id);
    }
    let snapshot = repository.snapshot(id);
    assert_eq!(snapshot.walk(&mut |_, _| ()).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(snapshot.entry("d/".repeat(5000) + "a").unwrap().is_some());
    assert!(snapshot.entry("d/".repeat(5001) + "a").unwrap().is_none());
    assert_eq!(
        repository.write_tree(id, [("d/".repeat(5000) + "a", X)]).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn objects_that_are_not_what_they_say_are_errors() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1"), ("b", "2")]));
    let tip = fixture.open().resolve("main").unwrap();
    let blob = fixture.open().snapshot(tip.tree).entry("a").unwrap().unwrap().id;
    let path = loose(&fixture.at, blob);
    let huge = format!("blob {}\0", u64::MAX);
    let large = format!("blob {}\0", 1_u64 << 40);
    for (what, bytes, kind) in [
        ("empty", Vec::new(), ErrorKind::Corrupt),
        ("no zlib", b"garbage".to_vec(), ErrorKind::Corrupt),
        ("another text", deflated(b"blob 1\x002"), ErrorKind::Corrupt),
        ("another kind", deflated(b"tree 1\x001"), ErrorKind::Corrupt),
        ("no kind", deflated(b"bl0b 1\x001"), ErrorKind::Corrupt),
        ("no header", deflated(b"blob"), ErrorKind::Corrupt),
        (
            "longer than it says",
            deflated(&[&b"blob 1\0"[..], &[b'1'; 100_000]].concat()),
            ErrorKind::Corrupt,
        ),
        ("shorter than it says", deflated(b"blob 100\x001"), ErrorKind::Corrupt),
        ("cut off", deflated(b"blob 1\x001")[..5].to_vec(), ErrorKind::Corrupt),
        ("larger than memory", deflated(huge.as_bytes()), ErrorKind::TooLarge),
        ("larger than allowed", deflated(large.as_bytes()), ErrorKind::TooLarge),
    ] {
        replace(&path, &bytes);
        let error = fixture.open().blob(blob, u64::MAX).unwrap_err();
        assert_eq!(error.kind(), kind, "{what}: {error}");
        // A text that has this name is not written over it, and no branch comes to rest on it.
        let repository = fixture.open();
        let tree = repository
            .write_tree(tip.tree, [("c", TreeChange::Write(EntryKind::File, b"1"))])
            .unwrap();
        let new = commit(&repository, tree, &[tip.commit], "new");
        let error = go(&repository, "main", Some(tip.commit), new).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        assert_eq!(repository.branch("main").unwrap(), Some(tip.commit));
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(fixture.open().blob(blob, u64::MAX).is_err());
    fs::remove_dir(&path).unwrap();
    let error = fixture.open().blob(blob, u64::MAX).unwrap_err();
    assert!(matches!(error, Error::MissingObject { id } if id == blob), "{error}");
    // Written by someone who has it, it is whole again.
    let repository = fixture.open();
    let tree =
        repository.write_tree(tip.tree, [("c", TreeChange::Write(EntryKind::File, b"1"))]).unwrap();
    go(&repository, "main", Some(tip.commit), commit(&repository, tree, &[tip.commit], "new"))
        .unwrap();
    fixture.fsck();
}

#[test]
fn no_more_is_read_than_is_allowed() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", &"x".repeat(5000)), ("b", "2")]));
    for packed in [false, true] {
        if packed {
            fixture.git(&["gc", "-q"]);
        }
        let repository = fixture.open();
        let tree = repository.snapshot(repository.resolve("main").unwrap().tree);
        let id = tree.entry("a").unwrap().unwrap().id;
        assert_eq!(tree.size(id).unwrap(), 5000);
        assert_eq!(tree.bytes(id, 5000).unwrap().len(), 5000);
        match tree.bytes(id, 4999) {
            Err(Error::TooLarge { size: 5000, limit: 4999, .. }) => {}
            other => panic!("{other:?}"),
        }
        let options = OpenOptions {
            user_configuration: false,
            max_object_size: 1000,
            ..OpenOptions::default()
        };
        let small = Repository::open(&fixture.at, &options).unwrap();
        assert_eq!(small.blob(id, u64::MAX).unwrap_err().kind(), ErrorKind::TooLarge);
        assert!(small.resolve("main").is_ok());
    }
}

#[test]
fn refs_that_lead_elsewhere_or_nowhere_are_errors() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    let repository = fixture.open();
    let tip = repository.branch("main").unwrap().unwrap();
    fs::write(fixture.dir.path().join("outside"), format!("{tip}\n")).unwrap();
    for text in [
        "ref: ../../outside\n",
        "ref: /etc/passwd\n",
        "ref: refs/heads/../../../outside",
        "ref:",
        "nothing",
        "",
        &format!("{tip}0\n"),
        "\0",
    ] {
        fs::write(fixture.at.join("refs/heads/bad"), text).unwrap();
        let error = repository.resolve("bad").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{text:?}: {error}");
        assert_eq!(
            go(&repository, "bad", None, tip).unwrap_err().kind(),
            ErrorKind::Corrupt,
            "{text:?}"
        );
    }
    fs::remove_file(fixture.at.join("refs/heads/bad")).unwrap();
    for text in
        ["garbage\n", "1234 refs/heads/x\n", &format!("{}z refs/heads/bad\n", "0".repeat(39))]
    {
        fs::write(fixture.at.join("packed-refs"), text).unwrap();
        assert_eq!(repository.branch("bad").unwrap_err().kind(), ErrorKind::Corrupt, "{text:?}");
    }
    fs::remove_file(fixture.at.join("packed-refs")).unwrap();
    // A branch that is a link to a file outside is replaced by a file, and nothing outside changes.
    let outside = fixture.dir.path().join("outside");
    symlink(&outside, fixture.at.join("refs/heads/link")).unwrap();
    let new = commit(&repository, repository.commit(tip).unwrap().tree, &[tip], "new");
    go(&repository, "link", Some(tip), new).unwrap();
    assert_eq!(fs::read_to_string(outside).unwrap(), format!("{tip}\n"));
    assert_eq!(repository.branch("link").unwrap(), Some(new));
    for text in ["tree x\n", "", "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent x\n"] {
        let bad = git_in(
            &fixture.at,
            &["hash-object", "-w", "-t", "commit", "--stdin", "--literally"],
            text.as_bytes(),
        );
        assert_eq!(repository.resolve(&bad).unwrap_err().kind(), ErrorKind::Corrupt, "{text:?}");
        let bad = git_in(
            &fixture.at,
            &["hash-object", "-w", "-t", "tag", "--stdin", "--literally"],
            text.as_bytes(),
        );
        assert_eq!(repository.resolve(&bad).unwrap_err().kind(), ErrorKind::Corrupt, "{text:?}");
    }
    let (success, _) = try_git(&fixture.at, &["cat-file", "-e", &tip.to_string()], b"");
    assert!(success);
}

#[test]
fn links_and_loops_between_repositories() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    let dir = fixture.dir.path();
    git_in(dir, &["clone", "-q", "--bare", "--shared", "repo", "second"], b"");
    fs::create_dir_all(fixture.at.join("objects/info")).unwrap();
    fs::write(
        fixture.at.join("objects/info/alternates"),
        dir.join("second/objects").to_str().unwrap(),
    )
    .unwrap();
    for at in ["repo", "second"] {
        // An error or the right answer: never a loop.
        match open(&dir.join(at)).resolve("main") {
            Ok(tip) => assert_eq!(read(&open(&dir.join(at)), tip.tree).len(), 1),
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Io), "{error}")
            }
        }
    }
    fs::write(fixture.at.join("objects/info/alternates"), "/nowhere/at/all\n\0\n").unwrap();
    let _ = open(&fixture.at).resolve("main");
    fs::remove_file(fixture.at.join("objects/info/alternates")).unwrap();
    // Objects behind a link are git's way to share them.
    fs::rename(fixture.at.join("objects"), dir.join("elsewhere")).unwrap();
    symlink(dir.join("elsewhere"), fixture.at.join("objects")).unwrap();
    let repository = fixture.open();
    let tip = repository.resolve("main").unwrap();
    let tree = repository.write_tree(tip.tree, [("n", X)]).unwrap();
    go(&repository, "main", Some(tip.commit), commit(&repository, tree, &[tip.commit], "new"))
        .unwrap();
    fixture.fsck();
    for text in ["gitdir: ../none\n", "gitdir: \n", "nothing", "", "gitdir: pointer"] {
        fs::write(dir.join("pointer"), text).unwrap();
        assert_eq!(
            try_open(&dir.join("pointer")).unwrap_err().kind(),
            ErrorKind::NotFound,
            "{text:?}"
        );
    }
    fs::write(fixture.at.join("commondir"), "none\n").unwrap();
    assert_eq!(try_open(&fixture.at).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn configurations_that_cannot_be_read_are_errors() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::bare();
    let config = fixture.at.join("config");
    for text in [
        "[core",
        "[core]\nbare = perhaps\n",
        "[core]\nrepositoryformatversion = x\n",
        "[core]\nsharedRepository = 0100\n",
    ] {
        fs::write(&config, text).unwrap();
        let error = try_open(&fixture.at).unwrap_err();
        assert!(matches!(error, Error::Configuration { .. }), "{text:?}: {error}");
    }
    fs::remove_file(&config).unwrap();
    assert!(fixture.open().is_bare());
}

/// Reads all that there is; whatever the damage, what is read is right.
fn read_all(at: &Path, wanted: &Files) {
    let Ok(repository) = try_open(at) else { return };
    let Ok(tip) = repository.resolve("main") else { return };
    let snapshot = repository.snapshot(tip.tree);
    for (path, (kind, bytes)) in wanted {
        let Ok(entry) = snapshot.entry(path) else { continue };
        let entry = entry.expect("the tree was checked, and has it");
        assert_eq!(entry.kind, *kind);
        let _ = snapshot.size(entry.id);
        if let Ok(found) = snapshot.bytes(entry.id, 1 << 20) {
            assert_eq!(&*found, bytes, "{path}");
        }
    }
    let _ = repository.resolve("12345");
}

#[test]
fn packs_with_wrong_bytes_are_errors() {
    if !git_is_there() {
        return;
    }
    let line = |at: usize| format!("line {at} of a text that is long enough for a delta\n");
    let text = |changed: usize| {
        (0..60)
            .map(|at| if at == changed { "changed\n".into() } else { line(at) })
            .collect::<String>()
    };
    let wanted: Files =
        (0..20).map(|at| (format!("d/f{at}"), (EntryKind::File, text(at).into_bytes()))).collect();
    let fixture = Fixture::with(&wanted);
    fixture.git(&["repack", "-adfq", "--depth=20"]);
    fixture.git(&["multi-pack-index", "write"]);
    let packs = fixture.at.join("objects/pack");
    let mut originals: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(&packs)
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .filter(|(path, _)| {
            path.extension().is_none_or(|extension| extension == "pack" || extension == "idx")
        })
        .collect();
    originals.sort();
    assert_eq!(originals.len(), 3, "a pack, its index, an index of packs");
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4);
    let cut = prop::option::weighted(0.2, any::<prop::sample::Index>());
    let which = (0..3_usize, any::<bool>());
    holds(share(2000), &(which, damage, cut), |((which, with_multi), damage, cut)| {
        for (path, bytes) in &originals {
            let mut bytes = bytes.clone();
            if *path == originals[which].0 {
                for (at, byte) in &damage {
                    let at = at.index(bytes.len());
                    bytes[at] = *byte;
                }
                bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
            }
            // Another file each time: this one may be mapped still.
            let _ = fs::remove_file(path);
            if with_multi || !path.ends_with("multi-pack-index") {
                fs::write(path, bytes).unwrap();
            }
        }
        read_all(&fixture.at, &wanted);
    });
    for (path, bytes) in &originals {
        let _ = fs::remove_file(path);
        fs::write(path, bytes).unwrap();
    }
    assert_eq!(read(&fixture.open(), fixture.open().resolve("main").unwrap().tree), wanted);
}
