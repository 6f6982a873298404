//! Every kind of repository can be read and written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use git_object_tree::{
    EntryKind, Error, ErrorKind, Id, OpenOptions, Repository, Resolved, Role, TreeChange,
};

use crate::support::*;

/// Reads `main` of a repository, and adds a commit to a new branch of it.
fn check(at: &Path, wanted: &Files) {
    let repository = open(at);
    let tip = repository.resolve("main").unwrap();
    assert_eq!(read(&repository, tip.tree), *wanted, "{}", at.display());
    assert_eq!(repository.resolve("HEAD").unwrap().commit, tip.commit);
    let change = [("new/file", TreeChange::Write(EntryKind::File, b"new\n"))];
    let tree = repository.write_tree(tip.tree, change).unwrap();
    let new = commit(&repository, tree, &[tip.commit], "new");
    go(&repository, "topic/new", None, new).unwrap();
    assert_eq!(git_in(at, &["rev-parse", "topic/new"], b""), new.to_string());
    assert_eq!(git_in(at, &["cat-file", "blob", "topic/new:new/file"], b""), "new");
    fsck(at);
    assert_eq!(repository.branch("refs/heads/topic/new").unwrap(), Some(new));
    assert_eq!(open(at).resolve("topic/new~1").unwrap(), tip);
}

fn some_files() -> Files {
    (0..40)
        .map(|at| {
            (
                format!("d{}/f{at}", at % 7),
                (EntryKind::File, format!("text {at}\n").repeat(50).into_bytes()),
            )
        })
        .collect()
}

fn with_worktree(fixture: &Fixture) -> PathBuf {
    let at = fixture.dir.path().join("linked");
    fixture.git(&["worktree", "add", "-q", "--detach", at.to_str().unwrap(), "main"]);
    at
}

#[test]
fn bare_repositories_with_loose_and_packed_objects_and_refs() {
    if !git_is_there() {
        return;
    }
    let files = some_files();
    check(&Fixture::with(&files).at, &files);
    let fixture = Fixture::with(&files);
    fixture.git(&["gc", "-q"]);
    assert!(!fixture.at.join("refs/heads/main").exists(), "the refs are packed");
    check(&fixture.at, &files);
    fixture.git(&["repack", "-dq"]);
    fixture.git(&["multi-pack-index", "write"]);
    let repository = fixture.open();
    let tip = repository.resolve("topic/new").unwrap();
    assert_eq!(read(&repository, tip.tree).len(), files.len() + 1);
}

#[test]
fn work_trees_linked_work_trees_and_separate_git_directories() {
    if !git_is_there() {
        return;
    }
    let files = some_files();
    for place in ["", ".git"] {
        let fixture = Fixture::new(&[]);
        fixture.import("main", &files);
        fs::write(fixture.at.join("HEAD"), "a file of the work tree").unwrap();
        fixture.git(&["config", "--unset", "core.bare"]);
        check(&fixture.at.join(place), &files);
        assert!(!fixture.open().is_bare());
    }
    let fixture = Fixture::with(&files);
    let linked = with_worktree(&fixture);
    let repository = open(&linked);
    assert!(repository.is_bare(), "the main one is");
    assert_eq!(repository.git_dir(), open(&linked.join(".git")).git_dir());
    git_in(&linked, &["checkout", "-q", "-b", "other"], b"");
    assert_eq!(repository.head_branch().unwrap().as_deref(), Some("refs/heads/other"));
    assert_eq!(fixture.open().head_branch().unwrap().as_deref(), Some("refs/heads/main"));
    check(&linked, &files);

    let fixture = Fixture::new(&[]);
    fixture.import("main", &files);
    let linked = with_worktree(&fixture);
    fixture.git(&["config", "--unset", "core.bare"]);
    assert!(!open(&linked).is_bare());

    let dir = tempfile::tempdir().unwrap();
    git_in(dir.path(), &["init", "-q", "-b", "main", "--separate-git-dir", "kept", "tree"], b"");
    let source = fixture.at.to_str().unwrap();
    let tree = dir.path().join("tree");
    git_in(&tree, &["fetch", "-q", source, "main:main", "-u"], b"");
    check(&tree, &files);
}

#[test]
fn objects_of_alternates_are_read() {
    if !git_is_there() {
        return;
    }
    let files = some_files();
    let fixture = Fixture::with(&files);
    let dir = fixture.dir.path();
    git_in(dir, &["clone", "-q", "--bare", "--shared", "repo", "second"], b"");
    git_in(dir, &["clone", "-q", "--bare", "--shared", "second", "third"], b"");
    assert!(dir.join("third/objects/info/alternates").exists());
    check(&dir.join("third"), &files);
    // Relative to the objects that borrow.
    fs::write(dir.join("second/objects/info/alternates"), "../../repo/objects\n").unwrap();
    check(&dir.join("second"), &files);
}

#[test]
fn revisions_are_those_of_git() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::new(&[]);
    let run = |args: &[&str]| fixture.git(args);
    run(&["commit", "-q", "--allow-empty", "-m", "one"]);
    run(&["commit", "-q", "--allow-empty", "-m", "two"]);
    run(&["checkout", "-q", "-b", "side/x", "HEAD~1"]);
    run(&["commit", "-q", "--allow-empty", "-m", "three"]);
    run(&["checkout", "-q", "main"]);
    run(&["merge", "-q", "--no-ff", "-m", "merge", "side/x"]);
    run(&["tag", "light"]);
    run(&["tag", "-a", "-m", "tag", "v1"]);
    run(&["tag", "-a", "-m", "tag of a tag", "v2", "v1"]);
    run(&["update-ref", "refs/remotes/origin/main", "side/x"]);
    run(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    let id = run(&["rev-parse", "HEAD"]);
    fs::write(fixture.at.join(".git/FETCH_HEAD"), format!("{id}\t\tbranch 'main' of there\n"))
        .unwrap();
    let repository = fixture.open();
    for packed in [false, true] {
        if packed {
            run(&["gc", "-q"]);
        }
        for revision in [
            "HEAD",
            "@",
            "main",
            "heads/main",
            "refs/heads/main",
            "side/x",
            "light",
            "tags/light",
            "v1",
            "v2",
            "v2^{}",
            "v1^{commit}~1",
            "HEAD~",
            "HEAD~1",
            "HEAD~0",
            "HEAD^",
            "HEAD^1",
            "HEAD^2",
            "HEAD^2~1",
            "HEAD^^",
            "@~2",
            "origin",
            "origin/main",
            "FETCH_HEAD",
            &id,
            &id[..7],
            &id.to_uppercase()[..12],
            "HEAD^0",
        ] {
            let wanted = run(&[
                "rev-parse",
                &format!("{revision}^{{commit}}"),
                &format!("{revision}^{{tree}}"),
            ]);
            let found =
                repository.resolve(revision).unwrap_or_else(|error| panic!("{revision}: {error}"));
            assert_eq!(format!("{}\n{}", found.commit, found.tree), wanted, "{revision}");
        }
    }
    for (revision, kind) in [
        ("nothing", ErrorKind::NotFound),
        ("HEAD~9", ErrorKind::NotFound),
        ("HEAD^3", ErrorKind::NotFound),
        ("config", ErrorKind::NotFound),
        ("../../etc/passwd", ErrorKind::InvalidInput),
        ("refs/heads", ErrorKind::NotFound),
        ("", ErrorKind::InvalidInput),
        ("main@{1}", ErrorKind::InvalidInput),
        ("main:a", ErrorKind::InvalidInput),
        ("main~99999999999", ErrorKind::InvalidInput),
        ("main^{tree}", ErrorKind::InvalidInput),
        ("main^{", ErrorKind::InvalidInput),
        ("main~1x", ErrorKind::InvalidInput),
        (&"f".repeat(40), ErrorKind::NotFound),
        ("ffff", ErrorKind::NotFound),
        (&run(&["rev-parse", "HEAD^{tree}"]), ErrorKind::InvalidInput),
    ] {
        let error = repository.resolve(revision).unwrap_err();
        assert_eq!(error.kind(), kind, "{revision}: {error}");
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    if !git_is_there() {
        return;
    }
    let refused = |at: &Path, what: &str| {
        let error = try_open(at).unwrap_err();
        assert!(matches!(&error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    };
    refused(&Fixture::new(&["--object-format=sha256"]).at, "sha256");
    refused(&Fixture::new(&["--ref-format=reftable"]).at, "reftable");
    let fixture = Fixture::bare();
    let config = fixture.at.join("config");
    fs::write(&config, "[core]\nrepositoryFormatVersion = 1\n[extensions]\nfancy\n").unwrap();
    refused(&fixture.at, "fancy");
    fs::write(&config, "[core]\nrepositoryFormatVersion = 2\n").unwrap();
    refused(&fixture.at, "version 2");
    for at in [fixture.dir.path().to_owned(), fixture.dir.path().join("none")] {
        assert_eq!(try_open(&at).unwrap_err().kind(), ErrorKind::NotFound);
    }
}

#[test]
fn who_commits_is_configured_or_an_error() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::bare();
    let error = fixture.open().signature(Role::Author).unwrap_err();
    assert!(matches!(error, Error::NoIdentity { role: "author", .. }), "{error}");
    fixture.git(&["config", "user.name", "Us Er"]);
    assert_eq!(fixture.open().signature(Role::Author).unwrap_err().kind(), ErrorKind::NoIdentity);
    fixture.git(&["config", "user.email", "own@example.com"]);
    // Included by a repository, it is not read: it could be anything.
    fixture.git(&["config", "committer.name", "Only Committer"]);
    let config = fixture.at.join("config");
    fs::write(&config, fs::read_to_string(&config).unwrap() + "[include]\npath = /dev/zero\n")
        .unwrap();
    let author = fixture.open().signature(Role::Author).unwrap();
    assert_eq!(&*author.name, "Us Er");
    assert_eq!(&*author.email, "own@example.com");
    assert_eq!(fixture.open().signature(Role::Committer).unwrap().name, "Only Committer");
}

#[test]
fn objects_are_written_as_files_or_as_a_pack_and_once() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    let repository = fixture.open();
    let packs = || fs::read_dir(fixture.at.join("objects/pack")).unwrap().count();
    let counts = || fixture.git(&["count-objects", "-v"]).lines().next().unwrap().to_owned();
    let tip = repository.resolve("main").unwrap();
    let before = counts();
    let few =
        repository.write_tree(tip.tree, [("b", TreeChange::Write(EntryKind::File, b"2"))]).unwrap();
    assert_eq!(counts(), before, "nothing is written before it is asked for");
    repository.flush().unwrap();
    assert_eq!(counts(), "count: 5");
    assert_eq!(packs(), 0);
    let texts: Vec<String> = (0..100).map(|at| format!("many/{at}")).collect();
    let many = texts.iter().map(|text| (text, TreeChange::Write(EntryKind::File, text.as_bytes())));
    let many = repository.write_tree(few, many).unwrap();
    for _ in 0..2 {
        repository.flush().unwrap();
        assert_eq!(counts(), "count: 5", "a pack and its index");
        assert_eq!(packs(), 2, "a pack and its index");
    }
    assert_eq!(read(&fixture.open(), many).len(), 102);
    assert_eq!(read(&repository, many).len(), 102);
    let new = commit(&repository, many, &[tip.commit], "many");
    go(&repository, "main", Some(tip.commit), new).unwrap();
    fixture.fsck();
    // What is there already: as a file, in a pack, in another repository.
    let again = fixture.open();
    let tree = again.write_tree(
        tip.tree,
        [
            ("b", TreeChange::Write(EntryKind::File, b"2")),
            ("c", TreeChange::Write(EntryKind::File, b"many/7")),
        ],
    );
    let new = commit(&again, tree.unwrap(), &[new], "again");
    go(&again, "second", None, new).unwrap();
    fixture.fsck();
    let temporary = fixture.git(&["count-objects", "-v"]);
    assert!(temporary.contains("garbage: 0"), "{temporary}");
}

#[cfg(unix)]
#[test]
fn files_have_the_modes_that_git_gives_them() {
    use std::os::unix::fs::PermissionsExt as _;
    if !git_is_there() {
        return;
    }
    for shared in ["umask", "group", "all", "0640", "0660"] {
        let modes = |git: bool| {
            let fixture = Fixture::new(&["--bare", &format!("--shared={shared}")]);
            let base: Id = "4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap();
            if git {
                let blob = git_in(&fixture.at, &["hash-object", "-w", "--stdin"], b"x");
                let tree =
                    git_in(&fixture.at, &["mktree"], format!("100644 blob {blob}\tx\n").as_bytes());
                let new = git_in(&fixture.at, &["commit-tree", &tree], b"x\n");
                fixture.git(&["update-ref", "refs/heads/d/x", &new]);
            } else {
                let repository = fixture.open();
                let tree = repository
                    .write_tree(base, [("x", TreeChange::Write(EntryKind::File, b"x"))])
                    .unwrap();
                let me = me();
                let author = git_object_tree::Signature::parse(
                    "A U Thor <a@example.com>",
                    git_object_tree::Time::parse("1700000000 +0130").unwrap(),
                );
                let new = git_object_tree::NewCommit {
                    tree,
                    parents: &[],
                    author: &author.unwrap(),
                    committer: &me,
                    message: "x\n",
                };
                let new = repository.write_commit(&new).unwrap();
                go(&repository, "d/x", None, new).unwrap();
            }
            let mut modes = Vec::new();
            let mut left = vec![fixture.at.join("objects"), fixture.at.join("refs")];
            while let Some(path) = left.pop() {
                let mode = fs::metadata(&path).unwrap().permissions().mode();
                modes.push((
                    path.strip_prefix(&fixture.at).unwrap().to_owned(),
                    format!("{mode:o}"),
                ));
                if path.is_dir() {
                    left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
                }
            }
            modes.sort();
            modes
        };
        assert_eq!(modes(false), modes(true), "{shared}");
    }
}

#[test]
fn only_the_directories_on_the_way_are_read() {
    if !git_is_there() {
        return;
    }
    let all: Files = (0..60)
        .map(|at| {
            (
                format!("d{}/e{}/f{at}", at % 5, at % 3),
                (EntryKind::File, format!("{at}").into_bytes()),
            )
        })
        .collect();
    let (fixture, theirs) = (Fixture::with(&all), Fixture::bare());
    let mut after = all.clone();
    after.insert("d1/e1/f1".into(), (EntryKind::File, b"new".to_vec()));
    theirs.import("main", &after);
    let needed: Vec<String> = ["main", "main^{tree}", "main:d1", "main:d1/e1", "main:d1/e1/f1"]
        .map(|name| fixture.git(&["rev-parse", name]))
        .to_vec();
    let objects = fixture.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
    let others = objects.lines().filter(|id| !needed.iter().any(|needed| needed == id));
    let mut removed = 0;
    for id in others {
        fs::remove_file(fixture.at.join("objects").join(&id[..2]).join(&id[2..])).unwrap();
        removed += 1;
    }
    assert!(removed > 60);
    let repository = fixture.open();
    let tip = repository.resolve("main").unwrap();
    let entry = repository.snapshot(tip.tree).entry("d1/e1/f1").unwrap().unwrap();
    assert_eq!(*repository.blob(entry.id, 9).unwrap(), *b"1");
    let tree = repository
        .write_tree(tip.tree, [("d1/e1/f1", TreeChange::Write(EntryKind::File, b"new"))])
        .unwrap();
    assert_eq!(tree.to_string(), theirs.git(&["rev-parse", "main^{tree}"]));
    assert_eq!(
        repository.snapshot(tip.tree).entry("d2/e2/f2").unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn there_may_be_more_packs_than_there_was_room_for() {
    const ROUNDS: usize = 300;
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    let repository = fixture.open();
    let mut tree = repository.resolve("main").unwrap().tree;
    let mut first = None;
    for round in 0..ROUNDS {
        let texts: Vec<String> = (0..16).map(|at| format!("{round} {at}")).collect();
        let changes = texts.iter().enumerate().map(|(at, text)| {
            (format!("f{at}"), TreeChange::Write(EntryKind::File, text.as_bytes()))
        });
        tree = repository.write_tree(tree, changes).unwrap();
        repository.flush().unwrap();
        first.get_or_insert(tree);
    }
    let packs = fs::read_dir(fixture.at.join("objects/pack")).unwrap().count();
    assert_eq!(packs, 2 * ROUNDS);
    for repository in [repository, fixture.open()] {
        for tree in [first.unwrap(), tree] {
            assert_eq!(read(&repository, tree).len(), 17);
        }
    }
}

#[test]
fn trees_of_any_size_are_packed_at_any_level() {
    if !git_is_there() {
        return;
    }
    for level in [None, Some("0"), Some("9")] {
        let fixture = Fixture::with(&files(&[("a", "1")]));
        if let Some(level) = level {
            fixture.git(&["config", "core.compression", level]);
        }
        let repository = fixture.open();
        let tip = repository.resolve("main").unwrap();
        // 1 800 entries of 36 bytes are less than a block that is stored can have, 1 900 are more.
        let texts: Vec<String> = [20, 1800, 1900]
            .iter()
            .flat_map(|count| (0..*count).map(move |at| format!("d{count}/{at:08}")))
            .collect();
        let changes =
            texts.iter().map(|text| (text, TreeChange::Write(EntryKind::File, text.as_bytes())));
        let tree = repository.write_tree(tip.tree, changes).unwrap();
        let new = commit(&repository, tree, &[tip.commit], "many");
        go(&repository, "main", Some(tip.commit), new).unwrap();
        fixture.fsck();
        assert_eq!(read(&fixture.open(), tree).len(), texts.len() + 1);
    }
}

/// What git says of each object of the only pack: its id, and how many deltas lead to it.
fn chains(at: &Path) -> BTreeMap<String, usize> {
    let packs = std::fs::read_dir(at.join("objects/pack")).unwrap();
    let packs: Vec<_> = packs.map(|entry| entry.unwrap().path()).collect();
    let [pack] =
        &*packs.iter().filter(|path| path.extension().unwrap() == "idx").collect::<Vec<_>>()
    else {
        panic!("{packs:?}")
    };
    let text = git_in(at, &["verify-pack", "-v", pack.to_str().unwrap()], b"");
    let objects = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let objects = objects.filter(|words| words.first().is_some_and(|id| id.len() == 40));
    objects.map(|words| (words[0].into(), words.get(5).map_or(0, |n| n.parse().unwrap()))).collect()
}

#[test]
fn versions_of_a_file_that_are_written_together_are_deltas() {
    if !git_is_there() {
        return;
    }
    let line = |number: usize| format!("the line with the number {number}\n");
    let lines: Vec<String> = (0..200).map(line).collect();
    let text = |version: usize| {
        let mut lines = lines.clone();
        // The first version has other lines throughout; the others one each.
        match version {
            0 => lines.iter_mut().for_each(|line| line.insert(0, '>')),
            version => lines[version % 200] = format!("version {version}\n"),
        }
        lines.concat()
    };
    for level in [None, Some("9")] {
        let fixture = Fixture::with(&files(&[("a/b/c", &text(0)), ("a/d", "d\n")]));
        if let Some(level) = level {
            fixture.git(&["config", "core.compression", level]);
        }
        let repository = fixture.open().isolated();
        let first = repository.resolve("main").unwrap();
        let (mut at, mut blobs) = (first, Vec::new());
        for version in 1..=120 {
            let text = text(version);
            let change = TreeChange::Write(EntryKind::File, text.as_bytes());
            let tree = repository.write_tree(at.tree, [("a/b/c", change)]).unwrap();
            blobs.push(repository.snapshot(tree).entry("a/b/c").unwrap().unwrap().id.to_string());
            at = Resolved { commit: commit(&repository, tree, &[at.commit], "next"), tree };
        }
        // What comes to nothing is not written.
        let (count, bytes) = repository.unwritten();
        assert_eq!(count, 120 * 5);
        let gone = repository
            .write_tree(at.tree, [("x", TreeChange::Write(EntryKind::File, b"gone"))])
            .unwrap();
        assert_eq!(repository.unwritten().0, count + 2);
        repository.forget_after(count);
        assert_eq!(repository.unwritten(), (count, bytes));
        assert!(matches!(repository.snapshot(gone).entry("x"), Err(Error::MissingObject { .. })));

        go(&repository, "main", Some(first.commit), at.commit).unwrap();
        fixture.fsck();
        assert_eq!(fixture.git(&["show", "main:a/b/c"]), text(120).trim_end());
        assert_eq!(fixture.git(&["show", "main~60:a/b/c"]), text(60).trim_end());
        let chains = chains(&fixture.at);
        let depth: Vec<usize> = blobs.iter().map(|id| chains[id]).collect();
        let wanted: Vec<usize> = (0..120).map(|at| at % 51).collect();
        assert_eq!(depth, wanted, "the first is whole, and one after each chain of fifty");
        // Our own reading of what was written.
        let fresh = fixture.open();
        let wanted = files(&[("a/b/c", &text(33)), ("a/d", "d\n")]);
        assert_eq!(read(&fresh, fresh.resolve("main~87").unwrap().tree), wanted);
    }
}

#[test]
fn a_commit_that_is_gone_is_not_built_upon() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    let repository = fixture.open();
    let tip = repository.resolve("main").unwrap();
    let tree =
        repository.write_tree(tip.tree, [("b", TreeChange::Write(EntryKind::File, b"2"))]).unwrap();
    let new = commit(&repository, tree, &[tip.commit], "new");
    repository.flush().unwrap();
    let name = new.to_string();
    assert_eq!(repository.resolve(&name).unwrap().tree, tree);
    // No branch leads to it.
    fixture.git(&["prune", "--expire=now"]);
    for name in [&name, &format!("{name}~0")] {
        assert_eq!(repository.resolve(name).unwrap_err().kind(), ErrorKind::NotFound, "{name}");
    }
}

#[test]
fn what_is_written_apart_is_forgotten_with_it() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1"), ("d/b", "2")]));
    let repository = fixture.open();
    let tip = repository.resolve("main").unwrap();
    let apart = repository.isolated();
    let tree = apart
        .write_tree(tip.tree, [("d/e/new", TreeChange::Write(EntryKind::File, b"new"))])
        .unwrap();
    assert_eq!(read(&apart, tree).len(), 3);
    assert_eq!(read(&apart.clone(), tree).len(), 3);
    let entry = apart.snapshot(tree).entry("d/e/new").unwrap().unwrap();
    assert_eq!(apart.blob(entry.id, 2).unwrap_err().kind(), ErrorKind::TooLarge);
    let new = commit(&apart, tree, &[tip.commit], "new");
    // Neither it, nor a tree that has a part of it, can become a branch of the other.
    let elsewhere = |repository: &Repository| {
        let change = [("x", TreeChange::Write(EntryKind::File, b"x"))];
        assert_eq!(repository.write_tree(tree, change).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(repository.commit(new).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(
            go(repository, "main", Some(tip.commit), new).unwrap_err().kind(),
            ErrorKind::NotFound
        );
        repository.flush().unwrap();
    };
    elsewhere(&repository);
    let forgotten = apart.isolated();
    elsewhere(&forgotten);
    go(&apart, "main", Some(tip.commit), new).unwrap();
    drop(apart);
    assert_eq!(read(&repository, tree).len(), 3);
    fixture.fsck();
}

#[test]
fn threads_may_share_a_repository_and_a_tree() {
    fn shared<T: Send + Sync>() {}
    shared::<Repository>();
    shared::<git_object_tree::Snapshot>();
}

#[test]
fn the_users_configuration_is_read_when_asked_for() {
    if !git_is_there() {
        return;
    }
    // Whatever the user's says, it can be read, and the repository's own wins.
    let fixture = Fixture::bare();
    fixture.git(&["config", "committer.name", "Own"]);
    fixture.git(&["config", "committer.email", "own@example.com"]);
    if std::env::var_os("GIT_COMMITTER_NAME").is_none() {
        let repository = Repository::open(&fixture.at, &OpenOptions::default()).unwrap();
        assert_eq!(repository.signature(Role::Committer).unwrap().name, "Own");
    }
}
