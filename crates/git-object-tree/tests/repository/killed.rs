//! A real process, killed by the kernel at the k-th system call of each name, and the order in
//! which things become durable.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use git_object_tree::{EntryKind, Error, OpenOptions, Repository, TreeChange};

use crate::support::*;
use testutils::share::whole;

const CALLS: &str = "openat,write,fsync,fdatasync,rename,renameat,renameat2,link,linkat,mkdir,mkdirat,unlink,unlinkat,chmod,fchmod,utimensat";

/// What the traced process does: commits so many files.
#[test]
#[ignore = "run by the tests that kill it"]
fn child() {
    let (Some(at), Ok(count)) = (std::env::var_os("AT"), std::env::var("COUNT")) else { return };
    let durable = std::env::var_os("NOT_DURABLE").is_none();
    let options = OpenOptions { user_configuration: false, durable, ..OpenOptions::default() };
    let repository = Repository::open(&at, &options).unwrap();
    let tip = repository.resolve("main").unwrap();
    let texts: Vec<String> = (0..count.parse().unwrap()).map(|at| format!("new/{at}")).collect();
    let changes =
        texts.iter().map(|text| (text, TreeChange::Write(EntryKind::File, text.as_bytes())));
    let tree = repository.write_tree(tip.tree, changes).unwrap();
    let new = commit(&repository, tree, &[tip.commit], "new");
    go(&repository, "main", Some(tip.commit), new).unwrap();
}

fn traced(at: &Path, count: u32, args: &[&str], durable: bool) -> Option<bool> {
    let mut command = Command::new("strace");
    if !durable {
        command.env("NOT_DURABLE", "1");
    }
    let output = command
        .args([
            "-f",
            "-y",
            "-q",
            "-s",
            "4096",
            "-e",
            "signal=none",
            "-e",
            &format!("trace={CALLS}"),
        ])
        .args(args)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "killed::child", "--ignored", "--test-threads=1"])
        .env("AT", at)
        .env("COUNT", count.to_string())
        .output();
    Some(output.ok()?.status.success())
}

fn repository() -> Fixture {
    let fixture = Fixture::with(&files(&[("a", "1"), ("d/b", "2")]));
    // The log of the branch is written too.
    fixture.git(&["config", "core.logAllRefUpdates", "true"]);
    fixture.git(&["config", "core.filesRefLockTimeout", "1"]);
    fixture
}

/// The system calls of a run that commits so many files, a line each; none if they cannot be
/// traced.
fn trace(count: u32, durable: bool) -> Option<Vec<String>> {
    let fixture = repository();
    let log = fixture.dir.path().join("log");
    if traced(&fixture.at, count, &["-o", log.to_str().unwrap()], durable) != Some(true) {
        testutils::skip!("strace is missing or not allowed");
        return None;
    }
    Some(fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect())
}

/// The thread and the name of a call.
fn call(line: &str) -> Option<(&str, &str)> {
    let (thread, rest) = line.split_once(' ')?;
    let (name, _) = rest.trim_start().split_once('(')?;
    CALLS.split(',').any(|call| call == name).then_some((thread, name))
}

#[test]
fn killed_at_any_call_the_branch_is_whole() {
    if !git_is_there() {
        return;
    }
    for count in [2, 40] {
        let Some(log) = trace(count, true) else { return };
        let (mut seen, mut points, mut begun) = (BTreeMap::new(), Vec::new(), false);
        for line in &log {
            let Some((thread, name)) = call(line) else { continue };
            let nth = seen.entry((thread, name)).or_insert(0);
            *nth += 1;
            begun |= line.contains("tmp_");
            let reads = name == "openat" && !line.contains("O_CREAT");
            if begun && !reads {
                points.push((name.to_owned(), *nth));
            }
        }
        assert!(points.len() > 10, "{log:#?}");
        let (mut stayed, mut moved, mut locked) = (0, 0, 0);
        let all = points.len();
        for (at, (name, nth)) in points.into_iter().enumerate() {
            // Each call when the long tests run whole; else every seventh, and the last ones, about
            // the branch.
            if !whole() && at % 7 != 0 && at + 14 < all {
                continue;
            }
            let fixture = repository();
            let old = fixture.open().resolve("main").unwrap();
            let inject = format!("inject={name}:signal=KILL:when={nth}");
            traced(&fixture.at, count, &["-e", &inject, "-o", "/dev/null"], true);
            let repository = fixture.open();
            let now = repository.resolve("main").unwrap();
            let found = read(&repository, now.tree);
            if now == old {
                stayed += 1;
                assert_eq!(found.len(), 2);
            } else {
                moved += 1;
                assert_eq!(found.len(), 2 + count as usize);
            }
            fixture.fsck();
            let tree = repository
                .write_tree(now.tree, [("next", TreeChange::Write(EntryKind::File, b"next"))])
                .unwrap();
            let next = commit(&repository, tree, &[now.commit], "next");
            match go(&repository, "main", Some(now.commit), next) {
                Ok(()) => {}
                Err(Error::Locked { lock, .. }) => {
                    locked += 1;
                    fs::remove_file(lock).unwrap();
                    go(&repository, "main", Some(now.commit), next).unwrap();
                }
                Err(error) => panic!("killed at {name} {nth}: {error}"),
            }
            fixture.fsck();
            // What is left, git removes.
            fixture.git(&["prune", "--expire=now"]);
            let left = Command::new("find")
                .arg(fixture.at.join("objects"))
                .args(["-name", "tmp_*"])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&left.stdout), "", "killed at {name} {nth}");
        }
        assert!(stayed > 5, "{stayed} {moved} {locked}");
        assert!(moved > 0, "{stayed} {moved} {locked}");
        assert!(locked > 0, "{stayed} {moved} {locked}");
    }
}

#[test]
fn what_a_branch_leads_to_is_durable_before_it_moves() {
    if !git_is_there() {
        return;
    }
    for count in [2, 40] {
        let Some(log) = trace(count, true) else { return };
        let quoted = |line: &str| -> Vec<String> {
            line.split('"').skip(1).step_by(2).map(str::to_owned).collect()
        };
        let (mut synced, mut renamed, mut created) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut moved = 0;
        for line in &log {
            let Some((_, name)) = call(line) else { continue };
            let paths = quoted(line);
            match name {
                "fsync" | "fdatasync" => {
                    let path = line.split(['<', '>']).nth(1).unwrap().to_owned();
                    renamed.retain(|new: &String| Path::new(new).parent() != Some(path.as_ref()));
                    created.retain(|new: &String| Path::new(new).parent() != Some(path.as_ref()));
                    synced.insert(path);
                }
                "mkdir" | "mkdirat" if line.contains(" = 0") => {
                    created.insert(paths[0].clone());
                }
                "rename" | "renameat" | "renameat2" | "linkat" if line.contains(" = 0") => {
                    assert!(synced.contains(&paths[0]), "{line}: it was not synced");
                    if paths[1].ends_with("refs/heads/main") {
                        moved += 1;
                        assert!(renamed.is_empty(), "{renamed:?}");
                        assert!(
                            !created.iter().any(|path| path.contains("/objects/")),
                            "{created:?}"
                        );
                        let objects = synced.iter().filter(|path| path.contains("/tmp_")).count();
                        assert_eq!(objects, if count == 2 { 5 } else { 2 }, "{log:#?}");
                    }
                    renamed.insert(paths[1].clone());
                }
                _ => {}
            }
        }
        assert_eq!(moved, 1);
        assert!(renamed.is_empty(), "{renamed:?} {created:?}");
        assert!(created.is_empty(), "{renamed:?} {created:?}");
    }
}

#[test]
fn what_need_not_be_durable_is_not_synced() {
    if !git_is_there() {
        return;
    }
    let synced = |durable| {
        let log = trace(40, durable)?;
        Some(
            log.iter()
                .filter(|line| call(line).is_some_and(|(_, name)| name.ends_with("sync")))
                .count(),
        )
    };
    let (Some(some), Some(none)) = (synced(true), synced(false)) else { return };
    assert!(some > 4, "{some} {none}");
    assert!(none == 0, "{some} {none}");
}
