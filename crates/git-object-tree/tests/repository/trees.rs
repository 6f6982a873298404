//! Trees and commits have the ids that git gives them.

use git_object_tree::{
    EntryKind, Error, ErrorKind, Id, NewCommit, Signature, Time, TreeChange, TreeEntry,
};
use proptest::prelude::*;

use crate::support::*;
use testutils::holds::holds;
use testutils::share::share;

/// Names that sort in one way as files and in another as directories, and some that only look bad.
fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a",
        "a.b",
        "a-b",
        "a0",
        "ab",
        "A",
        "b",
        "é",
        "git",
        ".gitx",
        ".gitignore",
        " ",
        "a b",
        "\"q\"",
    ])
}

fn some_files() -> impl Strategy<Value = Files> {
    let path = prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"));
    let kind = prop::sample::select(vec![
        EntryKind::File,
        EntryKind::File,
        EntryKind::Executable,
        EntryKind::Symlink,
    ]);
    let bytes = prop::collection::vec(1..=255_u8, 1..40);
    prop::collection::vec((path, (kind, bytes)), 0..14).prop_map(|all| {
        let mut files = Files::new();
        for (path, (kind, bytes)) in all {
            let beneath = |one: &str, other: &str| one.starts_with(&format!("{other}/"));
            let kind = if path.ends_with(".gitignore") { EntryKind::File } else { kind };
            if !files.keys().any(|other| beneath(other, &path) || beneath(&path, other)) {
                files.insert(path, (kind, bytes));
            }
        }
        files
    })
}

fn changes<'a>(before: &'a Files, after: &'a Files) -> Vec<(&'a String, TreeChange<'a>)> {
    let gone = before
        .keys()
        .filter(|path| !after.contains_key(*path))
        .map(|path| (path, TreeChange::Remove));
    let new = after.iter().filter(|(path, file)| before.get(*path) != Some(file));
    gone.chain(new.map(|(path, (kind, bytes))| (path, TreeChange::Write(*kind, bytes)))).collect()
}

#[test]
fn a_changed_tree_is_the_one_that_git_makes() {
    if !git_is_there() {
        return;
    }
    holds(share(200), &(some_files(), some_files(), any::<bool>()), |(before, after, packed)| {
        let (ours, theirs) = (Fixture::with(&before), Fixture::with(&after));
        if packed {
            ours.git(&["repack", "-adq"]);
            ours.git(&["pack-refs", "--all"]);
        }
        let repository = ours.open();
        let tip = repository.resolve("main").unwrap();
        assert_eq!(read(&repository, tip.tree), before);
        let tree = repository.write_tree(tip.tree, changes(&before, &after)).unwrap();
        assert_eq!(tree.to_string(), theirs.git(&["rev-parse", "main^{tree}"]));
        assert_eq!(read(&repository, tree), after, "before it is written");
        let new = commit(&repository, tree, &[tip.commit], "new");
        go(&repository, "main", Some(tip.commit), new).unwrap();
        let reopened = ours.open();
        assert_eq!(reopened.resolve("main").unwrap().commit, new);
        assert_eq!(read(&reopened, tree), after);
        ours.fsck();
    });
}

#[test]
fn a_commit_is_the_one_that_git_makes() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    let repository = fixture.open();
    let tip = repository.resolve("main").unwrap();
    let author =
        Signature::parse("A U Thor <a@example.com>", Time::parse("1700000000 +0130").unwrap())
            .unwrap();
    let committer = me();
    for message in ["one line\n", "grüße\n\nbody\n", "\n"] {
        let parents = [tip.commit];
        let new = NewCommit {
            tree: tip.tree,
            parents: &parents,
            author: &author,
            committer: &committer,
            message,
        };
        let ours = repository.write_commit(&new).unwrap();
        let (tree, parent) = (tip.tree.to_string(), tip.commit.to_string());
        let theirs =
            git_in(&fixture.at, &["commit-tree", &tree, "-p", &parent], message.as_bytes());
        assert_eq!(ours.to_string(), theirs, "{message:?}");
    }
    let odd =
        Signature { name: " .A <b>\n\0\"".into(), email: "<x@y>\n".into(), ..committer.clone() };
    let new =
        NewCommit { tree: tip.tree, parents: &[], author: &odd, committer: &odd, message: "a\0b" };
    let id = repository.write_commit(&new).unwrap();
    go(&repository, "odd", None, id).unwrap();
    assert_eq!(fixture.git(&["log", "-1", "--format=%an|%ae|%s", "odd"]), "A b|x@y|ab");
    fixture.fsck();
    let nameless = Signature { name: "<>".into(), ..committer.clone() };
    let new = NewCommit { author: &nameless, ..new };
    assert!(matches!(repository.write_commit(&new), Err(Error::InvalidIdentity { .. })));
    let early = Signature { time: Time { seconds: -1, offset_minutes: 0 }, ..committer };
    let new = NewCommit { author: &early, ..new };
    assert!(matches!(repository.write_commit(&new), Err(Error::InvalidIdentity { .. })));
    let missing = Id::new([7; 20]);
    assert!(
        matches!(repository.write_commit(&NewCommit { tree: missing, ..new }), Err(Error::MissingObject { id }) if id == missing)
    );
    let blob = repository.snapshot(tip.tree).entry("a").unwrap().unwrap().id;
    assert!(matches!(
        repository.write_commit(&NewCommit { tree: blob, ..new }),
        Err(Error::WrongKind { .. })
    ));
    let parents = [tip.tree];
    assert!(matches!(
        repository.write_commit(&NewCommit { parents: &parents, ..new }),
        Err(Error::WrongKind { .. })
    ));
}

#[test]
fn times_are_those_of_git_and_of_the_machine() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::bare();
    for text in [
        "1700000000 +0130",
        "@1700000000 -0800",
        "2023-11-14T22:13:20Z",
        "2023-11-14 22:13:20 -0330",
        "Tue, 14 Nov 2023 22:13:20 +0000",
    ] {
        let time = Time::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let output = command(&fixture.at)
            .args(["var", "GIT_AUTHOR_IDENT"])
            .env("GIT_AUTHOR_DATE", text)
            .output()
            .unwrap();
        let wanted = String::from_utf8(output.stdout).unwrap();
        let (hours, minutes) = (time.offset_minutes.abs() / 60, time.offset_minutes.abs() % 60);
        let sign = if time.offset_minutes < 0 { '-' } else { '+' };
        let found =
            format!("A U Thor <a@example.com> {} {sign}{hours:02}{minutes:02}\n", time.seconds);
        assert_eq!(found, wanted, "{text}");
    }
    assert!(Time::parse("some day").is_err());
    let zone = std::process::Command::new("date").arg("+%z").output().unwrap();
    let zone: i32 = String::from_utf8(zone.stdout).unwrap().trim().parse().unwrap();
    assert_eq!(Time::now().offset_minutes, zone / 100 * 60 + zone % 100);
}

/// Tries changes on a small tree; returns the paths of the new tree, or the kind of the error.
fn check(changes: &[(&str, TreeChange<'_>)]) -> Result<Vec<String>, ErrorKind> {
    let fixture = Fixture::with(&files(&[("a", "1"), ("d/b", "2"), ("d/e/c", "3")]));
    let repository = fixture.open();
    let tip = repository.resolve("main").unwrap();
    let tree = repository.write_tree(tip.tree, changes.iter().copied()).map_err(|error| {
        assert!(!error.to_string().is_empty());
        error.kind()
    })?;
    let new = commit(&repository, tree, &[tip.commit], "new");
    go(&repository, "main", Some(tip.commit), new).unwrap();
    fixture.fsck();
    Ok(read(&repository, tree).into_keys().collect())
}

const X: TreeChange<'static> = TreeChange::Write(EntryKind::File, b"x");

#[test]
fn files_and_directories_do_not_replace_each_other_by_accident() {
    if !git_is_there() {
        return;
    }
    let paths = |paths: &[&str]| Ok(paths.iter().map(|path| (*path).to_owned()).collect());
    assert_eq!(check(&[]), paths(&["a", "d/b", "d/e/c"]));
    assert_eq!(
        check(&[
            ("a", TreeChange::Remove),
            ("d/b", TreeChange::Remove),
            ("d/e/c", TreeChange::Remove)
        ]),
        paths(&[])
    );
    assert_eq!(
        check(&[("d/e/c", TreeChange::Remove)]),
        paths(&["a", "d/b"]),
        "an empty directory vanishes"
    );
    assert_eq!(check(&[("d/e/c", TreeChange::Remove), ("d/e", X)]), paths(&["a", "d/b", "d/e"]));
    assert_eq!(
        check(&[("a", TreeChange::Remove), ("a/b/c", X)]),
        paths(&["a/b/c", "d/b", "d/e/c"])
    );
    assert_eq!(check(&[("a/b", X)]), Err(ErrorKind::Conflict));
    assert_eq!(check(&[("a/b", TreeChange::Remove)]), Err(ErrorKind::Conflict));
    assert_eq!(check(&[("a", X), ("a/b", X)]), Err(ErrorKind::Conflict));
    assert_eq!(check(&[("d", X)]), Err(ErrorKind::Conflict));
    assert_eq!(check(&[("d", TreeChange::Remove)]), Err(ErrorKind::Conflict));
    assert_eq!(
        check(&[("d/e", X), ("d/e/new", X), ("d/e/c", TreeChange::Remove)]),
        Err(ErrorKind::Conflict)
    );
    assert_eq!(check(&[("n", X), ("n/m", X)]), Err(ErrorKind::Conflict));
    assert_eq!(check(&[("a", X), ("a", X)]), Err(ErrorKind::Conflict), "two changes for one path");
    assert_eq!(check(&[("n", TreeChange::Remove)]), Err(ErrorKind::NotFound));
    assert_eq!(check(&[("n", TreeChange::Remove), ("n/m", X)]), Err(ErrorKind::NotFound));
    assert_eq!(check(&[("d/n", TreeChange::Remove)]), Err(ErrorKind::NotFound));
    assert_eq!(
        check(&[("n", TreeChange::Write(EntryKind::Directory, b""))]),
        Err(ErrorKind::Conflict)
    );
    assert_eq!(
        check(&[("n", TreeChange::Write(EntryKind::Symlink, b""))]),
        Err(ErrorKind::Conflict)
    );
}

#[test]
fn an_object_that_is_there_can_be_set_at_another_path() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1"), ("d/b", "2")]));
    let repository = fixture.open();
    let tip = repository.resolve("main").unwrap();
    let a = repository.snapshot(tip.tree).entry("a").unwrap().unwrap();
    let set = |entry| {
        repository
            .write_tree(tip.tree, [("a", TreeChange::Remove), ("d/moved", TreeChange::Set(entry))])
    };
    let tree = set(TreeEntry { kind: EntryKind::Executable, ..a }).unwrap();
    assert_eq!(read(&repository, tree)["d/moved"], (EntryKind::Executable, b"1".to_vec()));
    let submodule = TreeEntry { kind: EntryKind::Submodule, id: Id::new([9; 20]) };
    let tree = set(submodule).unwrap();
    assert_eq!(repository.snapshot(tree).entry("d/moved").unwrap(), Some(submodule));
    let new = commit(&repository, tree, &[tip.commit], "submodule");
    go(&repository, "main", Some(tip.commit), new).unwrap();
    fixture.fsck();
    assert_eq!(
        set(TreeEntry { id: Id::new([0; 20]), ..submodule }).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert_eq!(
        set(TreeEntry { id: Id::new([9; 20]), ..a }).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(set(TreeEntry { id: tip.tree, ..a }).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(
        set(TreeEntry { id: tip.tree, kind: EntryKind::Directory }).unwrap_err().kind(),
        ErrorKind::Conflict
    );
}

#[test]
fn names_that_git_refuses_are_refused() {
    if !git_is_there() {
        return;
    }
    let long = "x".repeat(4097);
    let deep = "d/".repeat(600) + "f";
    for path in [
        "",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "a/./b",
        "a/../b",
        ".git",
        ".GIT",
        "d/.Git/config",
        ".git.",
        ".git ",
        ".git. .",
        ".git::$INDEX_ALLOCATION",
        "git~1",
        "GIT~1",
        ".g\u{200c}it",
        "\u{feff}.git",
        "a\\.git",
        "a\\.git\\b",
        "..\\a",
        "nul\0",
        &long,
        &deep,
    ] {
        assert_eq!(check(&[(path, X)]), Err(ErrorKind::InvalidInput), "{path:?}");
    }
    let link = TreeChange::Write(EntryKind::Symlink, b"a");
    for path in
        [".gitmodules", "d/.GITMODULES", "gitmod~1", ".gitattributes", ".gitignore", ".mailmap"]
    {
        assert_eq!(check(&[(path, link)]), Err(ErrorKind::InvalidInput), "{path:?}");
    }
    for path in [
        ".gitx",
        "git",
        "git~12",
        ".gitignore",
        ".gitmodules",
        "con",
        "a:b",
        "a\\b",
        "\u{200c}",
        "a\n",
    ] {
        assert!(check(&[(path, X)]).is_ok(), "{path:?}");
    }
}

#[test]
fn submodules_that_git_refuses_are_refused() {
    if !git_is_there() {
        return;
    }
    let submodule = |name: &str, rest: &str| {
        format!("[submodule \"{name}\"]\n\tpath = x\n\turl = https://example.com/x\n{rest}")
    };
    for (text, good) in [
        (submodule("x", ""), true),
        (submodule("x/y..z", "\tupdate = rebase\n"), true),
        ("not = [a config\n".into(), true),
        (submodule("..", ""), false),
        (submodule("a/../../b", ""), false),
        (submodule("a\\\\..\\\\b", ""), false),
        (submodule("", ""), false),
        (submodule("x", "\turl = -u./payload\n"), false),
        (submodule("x", "\turl = \"https://example.com/a\\nb\"\n"), false),
        (submodule("x", "\turl = https://example.com/%0ahost=x\n"), false),
        (submodule("x", "\tpath = -x\n"), false),
        (submodule("x", "\tupdate = !touch x\n"), false),
    ] {
        let theirs = Fixture::with(&files(&[(".gitmodules", &text)]));
        let fsck = try_git(&theirs.at, &["fsck", "--strict"], b"");
        assert_eq!(fsck.0, good, "{text}: {}", fsck.1);
        for name in [".gitmodules", "d/.gitmodules", ".GITMODULES", "gitmod~1"] {
            let change = TreeChange::Write(EntryKind::File, text.as_bytes());
            assert_eq!(
                check(&[(name, change)]).err(),
                (!good).then_some(ErrorKind::InvalidInput),
                "{name}: {text}"
            );
        }
        // Moved there from another name.
        let fixture = Fixture::with(&files(&[("a", &text)]));
        let repository = fixture.open();
        let tree = repository.resolve("main").unwrap().tree;
        let moved = TreeChange::Set(repository.snapshot(tree).entry("a").unwrap().unwrap());
        assert_eq!(repository.write_tree(tree, [(".gitmodules", moved)]).is_ok(), good);
    }
    for (length, good) in [(2047, true), (2048, false)] {
        let text = format!("x\n{}\n", "y".repeat(length));
        let theirs = Fixture::with(&files(&[("d/.gitattributes", &text)]));
        let fsck = try_git(&theirs.at, &["fsck", "--strict"], b"");
        assert_eq!(fsck.0, good, "{length}: {}", fsck.1);
        let change = TreeChange::Write(EntryKind::File, text.as_bytes());
        assert_eq!(check(&[("d/.gitattributes", change)]).is_ok(), good);
    }
}
