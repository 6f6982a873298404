//! A branch moves from where it is expected, or not at all.

use std::fs;
use std::process::Command;

use git_object_tree::{BranchMove, EntryKind, Error, ErrorKind, Id, Repository, TreeChange};

use crate::support::*;
use testutils::share::share;

fn next(repository: &Repository, from: Option<Id>, path: &str, text: &str) -> Id {
    let tree = match from {
        Some(id) => repository.commit(id).unwrap().tree,
        None => "4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap(),
    };
    let tree = repository
        .write_tree(tree, [(path, TreeChange::Write(EntryKind::File, text.as_bytes()))])
        .unwrap();
    commit(repository, tree, from.as_slice(), text)
}

#[test]
fn a_branch_that_is_elsewhere_stays_there_and_the_error_says_where() {
    if !git_is_there() {
        return;
    }
    for packed in [false, true] {
        let fixture = Fixture::with(&files(&[("a", "1")]));
        if packed {
            fixture.git(&["pack-refs", "--all"]);
        }
        let repository = fixture.open();
        let tip = repository.branch("main").unwrap();
        let (one, two) = (next(&repository, tip, "a", "2"), next(&repository, tip, "a", "3"));
        let moved = |result, wanted_expected: Option<Id>, wanted_actual: Option<Id>| match result {
            Err(Error::RefMoved { name, expected, actual }) => {
                assert_eq!(&*name, "refs/heads/main");
                assert_eq!(expected, wanted_expected);
                assert_eq!(actual, wanted_actual);
            }
            other => panic!("{other:?}"),
        };
        moved(go(&repository, "main", None, one), None, tip);
        moved(go(&repository, "main", Some(one), two), Some(one), tip);
        assert_eq!(
            fixture.git(&["count-objects"]).split(' ').next(),
            Some("3"),
            "nothing was written for it"
        );
        go(&repository, "main", tip, one).unwrap();
        moved(go(&repository, "main", tip, two), tip, Some(one));
        go(&repository, "main", Some(one), one).unwrap();
        match go(&repository, "absent", Some(one), two) {
            Err(Error::RefMoved { actual: None, .. }) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(fixture.git(&["rev-parse", "main"]), one.to_string());
        assert!(!fixture.at.join("refs/heads/main.lock").exists());
        fixture.fsck();
    }
}

#[test]
fn only_a_commit_of_the_repository_can_be_the_tip() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    let repository = fixture.open();
    let tip = repository.resolve("main").unwrap();
    let kind = |branch: &str, to| go(&repository, branch, None, to).unwrap_err().kind();
    assert_eq!(kind("x", Id::new([1; 20])), ErrorKind::NotFound);
    assert_eq!(kind("x", tip.tree), ErrorKind::InvalidInput);
    for name in [
        "",
        "-x",
        "HEAD",
        "a..b",
        "a b",
        "x.lock",
        "a/",
        "/a",
        "a//b",
        ".a",
        "refs/tags/x",
        "refs/heads/",
        "x\n",
        "@{",
        "a\\b",
        "../x",
    ] {
        assert_eq!(kind(name, tip.commit), ErrorKind::InvalidInput, "{name:?}");
    }
}

#[test]
fn names_of_refs_that_are_directories_of_others_are_refused() {
    if !git_is_there() {
        return;
    }
    for packed in [false, true] {
        let fixture = Fixture::with(&files(&[("a", "1")]));
        fixture.git(&["branch", "d/e", "main"]);
        if packed {
            fixture.git(&["pack-refs", "--all"]);
        }
        let repository = fixture.open();
        let tip = repository.branch("main").unwrap().unwrap();
        for (name, other) in
            [("d", "refs/heads/d/e"), ("d/e/f", "refs/heads/d/e"), ("main/x/y", "refs/heads/main")]
        {
            match go(&repository, name, None, tip) {
                Err(Error::RefConflict { other: found, .. }) => assert_eq!(found, other),
                result => panic!("{name}: {result:?}"),
            }
        }
        fixture.git(&["branch", "-D", "d/e"]);
        fs::create_dir_all(fixture.at.join("refs/heads/d/left/behind")).unwrap();
        go(&repository, "d", None, tip).unwrap();
        fixture.fsck();
    }
}

#[test]
fn symbolic_branches_are_not_moved() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    fixture.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    let repository = fixture.open();
    let tip = repository.branch("alias").unwrap();
    assert_eq!(tip, repository.branch("main").unwrap());
    let new = next(&repository, tip, "a", "2");
    match go(&repository, "alias", tip, new) {
        Err(Error::SymbolicRef { target, .. }) => assert_eq!(target, "refs/heads/main"),
        other => panic!("{other:?}"),
    }
    fixture.git(&["symbolic-ref", "refs/heads/round", "refs/heads/about"]);
    fixture.git(&["symbolic-ref", "refs/heads/about", "refs/heads/round"]);
    assert_eq!(repository.branch("round").unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn a_branch_that_is_in_use_in_a_work_tree_is_not_moved() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::new(&[]);
    fs::write(fixture.at.join("a"), "1").unwrap();
    fixture.git(&["add", "a"]);
    fixture.git(&["commit", "-q", "-m", "one"]);
    for branch in ["free", "linked", "bisected", "rebased"] {
        fixture.git(&["branch", branch]);
    }
    let place = |name: &str| fixture.dir.path().join(name).to_str().unwrap().to_owned();
    fixture.git(&["worktree", "add", "-q", &place("l"), "linked"]);
    fixture.git(&["worktree", "add", "-q", &place("b"), "bisected"]);
    git_in(place("b").as_ref(), &["bisect", "start"], b"");
    git_in(place("b").as_ref(), &["checkout", "-q", "--detach"], b"");
    fixture.git(&["worktree", "add", "-q", &place("r"), "rebased"]);
    fs::write(fixture.dir.path().join("r/a"), "2").unwrap();
    git_in(place("r").as_ref(), &["commit", "-q", "-am", "two"], b"");
    fs::write(fixture.at.join("a"), "3").unwrap();
    fixture.git(&["commit", "-q", "-am", "three"]);
    assert!(
        !try_git(place("r").as_ref(), &["rebase", "-q", "main"], b"").0,
        "it conflicts and stops"
    );
    let index = fs::read(fixture.at.join(".git/index")).unwrap();
    for at in [fixture.at.clone(), place("l").into()] {
        let repository = open(&at);
        for (branch, top) in [
            ("main", fixture.at.clone()),
            ("linked", place("l").into()),
            ("bisected", place("b").into()),
            ("rebased", place("r").into()),
        ] {
            let tip = repository.branch(branch).unwrap();
            let new = next(&repository, tip, "a", "new");
            match go(&repository, branch, tip, new) {
                Err(Error::CheckedOut { worktree, .. }) => {
                    assert_eq!(worktree.canonicalize().unwrap(), top.canonicalize().unwrap());
                }
                other => panic!("{branch}: {other:?}"),
            }
        }
    }
    let repository = fixture.open();
    let tip = repository.branch("main").unwrap();
    let new = next(&repository, tip, "a", "new");
    go(&repository, "free", repository.branch("free").unwrap(), new).unwrap();
    let by = me();
    let anyway = BranchMove {
        branch: "main",
        from: tip,
        to: new,
        by: &by,
        message: "anyway",
        allow_checked_out: true,
    };
    repository.move_branch(&anyway).unwrap();
    assert_eq!(fixture.git(&["rev-parse", "HEAD"]), new.to_string());
    assert_eq!(fs::read(fixture.at.join(".git/index")).unwrap(), index);
    assert_eq!(fs::read(fixture.at.join("a")).unwrap(), b"3");
    assert!(fixture.git(&["reflog", "-1", "HEAD"]).contains("anyway"));

    // A bare repository has nothing checked out by its `HEAD`.
    let bare = Fixture::with(&files(&[("a", "1")]));
    let repository = bare.open();
    let tip = repository.branch("main").unwrap();
    go(&repository, "main", tip, next(&repository, tip, "a", "2")).unwrap();
}

#[test]
fn logs_are_written_where_git_writes_them() {
    if !git_is_there() {
        return;
    }
    for (bare, setting, existing) in [
        (true, None, false),
        (true, None, true),
        (true, Some("true"), false),
        (false, None, false),
        (false, Some("false"), false),
        (false, Some("false"), true),
        (true, Some("always"), false),
    ] {
        let logs = |git: bool, message: &str| {
            let fixture = if bare { Fixture::bare() } else { Fixture::new(&[]) };
            fixture.import("main", &files(&[("a", "1")]));
            if let Some(setting) = setting {
                fixture.git(&["config", "core.logAllRefUpdates", setting]);
            }
            let git_dir = if bare { fixture.at.clone() } else { fixture.at.join(".git") };
            if existing {
                fs::create_dir_all(git_dir.join("logs/refs/heads/d")).unwrap();
                fs::write(git_dir.join("logs/refs/heads/d/x"), "").unwrap();
            }
            let repository = fixture.open();
            let first = repository.branch("main").unwrap().unwrap();
            let second = next(&repository, Some(first), "a", "2");
            repository.flush().unwrap();
            for (branch, from, to) in
                [("d/x", None, first), ("d/x", Some(first), second), ("main", Some(first), second)]
            {
                if git {
                    let from = from.unwrap_or(Id::new([0; 20])).to_string();
                    fixture.git(&[
                        "update-ref",
                        "-m",
                        "a  test\nof it",
                        &format!("refs/heads/{branch}"),
                        &to.to_string(),
                        &from,
                    ]);
                } else {
                    let by = me();
                    repository
                        .move_branch(&BranchMove {
                            branch,
                            from,
                            to,
                            by: &by,
                            message,
                            allow_checked_out: true,
                        })
                        .unwrap();
                }
            }
            ["HEAD", "refs/heads/d/x", "refs/heads/main"]
                .map(|log| fs::read_to_string(git_dir.join("logs").join(log)).ok())
        };
        let message = "a  test
of it";
        assert_eq!(
            logs(false, message),
            logs(true, message),
            "bare {bare}, {setting:?}, existing {existing}"
        );
    }
}

#[test]
fn a_lock_that_was_left_behind_is_named() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    fixture.git(&["config", "core.filesRefLockTimeout", "5"]);
    let lock = fixture.at.join("refs/heads/main.lock");
    fs::write(&lock, "").unwrap();
    let repository = fixture.open();
    let tip = repository.branch("main").unwrap();
    let new = next(&repository, tip, "a", "2");
    let error = go(&repository, "main", tip, new).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    let text = error.to_string();
    assert!(text.contains("main.lock"), "{text}");
    assert!(text.contains("remove the file"), "{text}");
    assert!(lock.exists(), "it is not ours");
    fs::remove_file(lock).unwrap();
    go(&repository, "main", tip, new).unwrap();
}

/// Adds `count` commits to `main`, each with its own file, on top of whatever is there.
fn add_commits(repository: &Repository, who: &str, count: u32) {
    for at in 0..count {
        let text = format!("{who}-{at}");
        let mut tip = repository.branch("main").unwrap();
        loop {
            let new = next(repository, tip, &format!("{who}/{at}"), &text);
            match go(repository, "main", tip, new) {
                Ok(()) => break,
                Err(Error::RefMoved { actual, .. }) => tip = actual,
                Err(Error::Locked { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Checks that `main` is one line of commits, and that nothing that landed was lost.
fn check_landed(fixture: &Fixture, who: &[String], count: u32) {
    let repository = fixture.open();
    let (mut id, mut commits) = (repository.branch("main").unwrap().unwrap(), 0);
    let found = read(&repository, repository.commit(id).unwrap().tree);
    loop {
        let commit = repository.commit(id).unwrap();
        match &commit.parents[..] {
            [] => break,
            [parent] => id = *parent,
            more => panic!("{more:?}"),
        }
        commits += 1;
    }
    assert_eq!(commits, who.len() as u32 * count);
    assert_eq!(found.len(), commits as usize + 1);
    for who in who {
        for at in 0..count {
            assert_eq!(found[&format!("{who}/{at}")].1, format!("{who}-{at}").into_bytes());
        }
    }
    assert!(!fixture.at.join("refs/heads/main.lock").exists());
    fixture.fsck();
}

#[test]
fn threads_that_race_for_a_branch_all_land() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    let (names, count) = ((0..16).map(|at| format!("t{at}")).collect::<Vec<_>>(), share(40));
    let repository = fixture.open();
    std::thread::scope(|scope| {
        for (at, name) in names.iter().enumerate() {
            // Half of them share what they have read.
            let repository = if at % 2 == 0 { repository.clone() } else { fixture.open() };
            scope.spawn(move || add_commits(&repository, name, count));
        }
    });
    check_landed(&fixture, &names, count);
}

/// What the racing processes do.
#[test]
#[ignore = "run by the test that races"]
fn racer() {
    let (Some(at), Ok(who), Ok(count)) =
        (std::env::var_os("AT"), std::env::var("WHO"), std::env::var("COUNT"))
    else {
        return;
    };
    add_commits(&open(at.as_ref()), &who, count.parse().unwrap());
}

#[test]
fn processes_that_race_for_a_branch_with_git_between_them_all_land() {
    if !git_is_there() {
        return;
    }
    let fixture = Fixture::with(&files(&[("a", "1")]));
    let (names, count) = ((0..8).map(|at| format!("p{at}")).collect::<Vec<_>>(), share(40));
    let exe = std::env::current_exe().unwrap();
    let children: Vec<_> = names
        .iter()
        .map(|name| {
            Command::new(&exe)
                .args(["--exact", "branches::racer", "--ignored", "--test-threads=1", "-q"])
                .env("AT", &fixture.at)
                .env("WHO", name)
                .env("COUNT", count.to_string())
                .output_later()
        })
        .collect();
    // Packing moves refs and objects away under their hands.
    for _ in 0..share(50) {
        fixture.git(&["pack-refs", "--all"]);
        try_git(&fixture.at, &["repack", "-dq"], b"");
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat())
        );
    }
    check_landed(&fixture, &names, count);
}

trait OutputLater {
    fn output_later(&mut self) -> std::process::Child;
}

impl OutputLater for Command {
    fn output_later(&mut self) -> std::process::Child {
        self.stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    }
}
