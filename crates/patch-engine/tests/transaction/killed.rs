//! A real process, killed by the kernel at the k-th system call of each name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use patch_engine::transaction::KeyPlace;

use crate::support::*;

const STEPS: &[Step<'static>] = &[
    Add("new", "1"),
    Add("x/y/new", "2"),
    Update("a", "new a"),
    Append("d/b", " more"),
    Delete("gone"),
    Move("from", "x/to"),
];

const CALLS: &str =
    "openat,write,writev,pwrite64,ftruncate,fsync,syncfs,renameat2,mkdirat,unlinkat,linkat,fchmod,fchown";

fn tree() -> Tree {
    Tree::new(&[("a", "old a"), ("d/b", "old b"), ("gone", "g"), ("from", "f")])
}

/// What the traced process does.
#[test]
#[ignore = "run by killed_at_any_call_all_or_nothing_is_there"]
fn child() {
    let (Some(root), Some(key)) = (std::env::var_os("TREE"), std::env::var_os("KEY")) else { return };
    let workspace = open(Path::new(&root), KeyPlace::Directory(key.into()));
    let locked = lock(&workspace);
    let plan = plan(&workspace, STEPS);
    let full = patch_engine::transaction::CommitOptions::default();
    locked.commit(&plan.transitions, &plan.dirs, &full, &mut ()).unwrap();
}

fn strace(tree: &Tree, key: &Path, args: &[&str]) -> Option<bool> {
    let exe = std::env::current_exe().unwrap();
    let output = Command::new("strace")
        .args(["-f", "-q", "-e", "signal=none"])
        .args(args)
        .arg(exe)
        .args(["--exact", "killed::child", "--ignored", "--test-threads=1"])
        .env("TREE", tree.dir.path())
        .env("KEY", key)
        .output()
        .ok()?;
    Some(output.status.success())
}

#[test]
fn killed_at_any_call_all_or_nothing_is_there() {
    let keys = tempfile::tempdir().unwrap();
    let key = keys.path().join("k");
    let log = keys.path().join("log");
    // The key is made before, so that all runs make the same calls.
    let place = KeyPlace::Directory(key.clone());
    let first = tree();
    let workspace = open(first.dir.path(), place.clone());
    commit(&lock(&workspace), &plan(&workspace, &[Delete("a")])).unwrap();
    let traced = tree();
    let old = traced.snapshot();
    let trace = format!("trace={CALLS}");
    let ran = strace(&traced, &key, &["-e", &trace, "-o", log.to_str().unwrap()]);
    if ran != Some(true) {
        eprintln!("skipped: strace is missing or not allowed");
        return;
    }
    let new = traced.snapshot();
    // Only what is done after the lock is taken: the first call with its name.
    let text = fs::read_to_string(&log).unwrap();
    let mut count: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut points = Vec::new();
    let mut begun = false;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(thread), Some(rest)) = (words.next(), words.next()) else { continue };
        let call = rest.split('(').next().unwrap_or(rest);
        if !CALLS.split(',').any(|name| name == call) {
            continue;
        }
        // The tracer counts for each thread.
        *count.entry((thread, call)).or_default() += 1;
        begun |= line.contains(".apply-patch");
        let reads = call == "openat" && !line.contains("O_CREAT");
        if begun && !reads {
            points.push((call, count[&(thread, call)]));
        }
    }
    assert!(points.len() > 20, "{text}");
    let (mut reverted, mut finished) = (0, 0);
    for (call, at) in points {
        let tree = tree();
        let inject = format!("inject={call}:signal=KILL:when={at}");
        strace(&tree, &key, &["-e", &format!("trace={call}"), "-e", &inject, "-o", "/dev/null"]);
        let locked = open(tree.dir.path(), place.clone());
        drop(lock(&locked));
        let now = tree.snapshot();
        assert!(now == old || now == new, "killed at {call} {at}: {now:#?}");
        assert!(tree.pending().is_empty(), "killed at {call} {at}");
        if now == old {
            reverted += 1;
        } else {
            finished += 1;
        }
    }
    assert!(reverted > 5 && finished > 5, "{reverted} reverted, {finished} finished: the kills missed");
}
