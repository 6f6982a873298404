//! A real process, killed by the kernel at the k-th system call of each name.

#[cfg(unix)]
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use patch_engine::commit::{CommitOptions, Durability, KeyPlace};

use super::support::*;

const STEPS: &[Step<'static>] = &[
    Add("new", "1"),
    Add("x/y/new", "2"),
    Update("a", "new a"),
    Append("d/b", " more"),
    Delete("gone"),
    Move("from", "x/to"),
];

/// So few that each file is synced on its own.
const FEW: &[Step<'static>] = &[Update("a", "new a"), Add("d/new", "1"), Delete("gone")];

/// What is done after either.
const SECOND: &[Step<'static>] = &[Update("a", "newest a"), Delete("d/b"), Add("gone", "back")];

/// What the steps are made for.
pub(crate) const FILES: &[(&str, &str)] =
    &[("a", "old a"), ("d/b", "old b"), ("gone", "g"), ("from", "f")];

#[cfg(unix)]
const CALLS: &str = "openat,write,writev,pwrite64,ftruncate,fsync,syncfs,renameat2,mkdirat,unlinkat,linkat,fchmod,fchown";

/// What the traced process does.
#[test]
#[ignore = "run by the tests that kill it"]
fn child() {
    let (Some(root), Some(key)) = (std::env::var_os("TREE"), std::env::var_os("KEY")) else {
        return;
    };
    let durability = match std::env::var("DURABILITY").as_deref() {
        Ok("none") => Durability::None,
        Ok("process") => Durability::Process,
        _ => Durability::Full,
    };
    let workspace = open(Path::new(&root), KeyPlace::Directory(key.into()));
    let locked = lock(&workspace);
    let steps = if std::env::var_os("FEW").is_some() { FEW } else { STEPS };
    let plan = plan(&workspace, steps);
    let options = CommitOptions { durability, ..CommitOptions::default() };
    locked.commit(&plan, &options, &mut (), &mut ()).unwrap();
    let Some(acknowledged) = std::env::var_os("ACKNOWLEDGED") else { return };
    let heard =
        || fs::File::options().append(true).open(&acknowledged).unwrap().write_all(b"x").unwrap();
    heard();
    drop(locked);
    let workspace = open(Path::new(&root), workspace.key_place().clone());
    let locked = lock(&workspace);
    locked.commit(&super::support::plan(&workspace, SECOND), &options, &mut (), &mut ()).unwrap();
    heard();
}

#[cfg(unix)]
/// Runs the child under strace: whether it succeeded, and what it said; `None` when that cannot be
/// run. With `acknowledged` there are two commits, and the file of that name has a byte for each
/// that succeeded.
pub(crate) fn strace_child(
    tree: &Path,
    key: &Path,
    durability: &str,
    few: bool,
    acknowledged: Option<&Path>,
    args: &[&str],
) -> Option<(bool, String)> {
    let exe = std::env::current_exe().unwrap();
    let mut command = Command::new("strace");
    if few {
        command.env("FEW", "1");
    }
    if let Some(file) = acknowledged {
        fs::write(file, "").unwrap();
        command.env("ACKNOWLEDGED", file);
    }
    let output = command
        .args(["-f", "-q", "-e", "signal=none", "-e", &format!("trace={CALLS}")])
        .args(args)
        .arg(exe)
        .args(["--exact", "transaction::killed::child", "--ignored", "--test-threads=1"])
        .env("TREE", tree)
        .env("KEY", key)
        .env("DURABILITY", durability)
        .output()
        .ok()?;
    let told = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&told).into_owned()))
}

#[cfg(unix)]
/// The calls of a log that change something, from the first one in a state directory on, each with
/// its number among the calls of its name (the tracer counts for each thread).
pub(crate) fn points(log: &str) -> Vec<(String, usize)> {
    let mut count: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut points = Vec::new();
    let mut begun = false;
    for line in log.lines() {
        let mut words = line.split_whitespace();
        let (Some(thread), Some(rest)) = (words.next(), words.next()) else { continue };
        let call = rest.split('(').next().unwrap_or(rest);
        if !CALLS.split(',').any(|name| name == call) {
            continue;
        }
        *count.entry((thread, call)).or_default() += 1;
        begun |= line.contains(".apply-patch");
        let reads = call == "openat" && !line.contains("O_CREAT");
        if begun && !reads {
            points.push((call.to_owned(), count[&(thread, call)]));
        }
    }
    points
}

/// By the fault injection of the guard, which ends the process there.
#[cfg(windows)]
#[test]
fn killed_at_any_call_of_the_guard_all_or_nothing_is_there() {
    let keys = tempfile::tempdir().unwrap();
    let (key, list) = (keys.path().join("k"), keys.path().join("list"));
    let place = KeyPlace::Directory(key.clone());
    let child = |tree: &Tree, few: bool, fault: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        if few {
            command.env("FEW", "1");
        }
        command.args(["--exact", "transaction::killed::child", "--ignored", "--test-threads=1"]);
        command
            .env("TREE", tree.dir.path())
            .env("KEY", &key)
            .env("FS_GUARD_FAULT", fault)
            .env("FS_GUARD_CALLS", &list);
        command.output().unwrap().status.success()
    };
    let first = Tree::new(FILES);
    let workspace = open(first.dir.path(), place.clone());
    commit(&lock(&workspace), &plan(&workspace, &[Delete("a")])).unwrap();
    for few in [true, false] {
        let _ = fs::remove_file(&list);
        let whole = Tree::new(FILES);
        let old = whole.snapshot();
        assert!(child(&whole, few, "none 0 0"));
        let new = whole.snapshot();
        let calls = fs::read_to_string(&list).unwrap();
        // After a read the disk is as before it.
        let points: Vec<_> =
            calls.lines().zip(1..).filter(|(call, _)| call.ends_with(" w")).collect();
        assert!(points.len() > 20, "{calls}");
        let (mut reverted, mut finished, mut missed) = (0, 0, 0);
        for (call, at) in points {
            let tree = Tree::new(FILES);
            let _ = fs::remove_file(&list);
            let ended = child(&tree, few, &format!("kill {at} 0"));
            // Files are read again while they are young, so a slow run may make fewer calls than
            // the first one.
            let made = fs::read_to_string(&list).unwrap().lines().count();
            assert_eq!(ended, made < at, "{call} {at}: {made} calls");
            missed += usize::from(ended);
            drop(lock(&open(tree.dir.path(), place.clone())));
            let now = tree.snapshot();
            assert!(now == new || now == old && !ended, "killed at {call} {at}: {now:#?}");
            assert!(tree.pending().is_empty(), "killed at {call} {at}");
            *if now == old { &mut reverted } else { &mut finished } += 1;
        }
        assert!(reverted > 5, "{reverted} reverted, {finished} finished, {missed} of them missed");
        assert!(
            finished > 5 + missed,
            "{reverted} reverted, {finished} finished, {missed} of them missed"
        );
        assert!(missed < 10, "{reverted} reverted, {finished} finished, {missed} of them missed");
    }
}

#[cfg(unix)]
#[test]
fn killed_at_any_call_all_or_nothing_is_there() {
    let keys = tempfile::tempdir().unwrap();
    let key = keys.path().join("k");
    let log = keys.path().join("log");
    // The key is made before, so that all runs make the same calls.
    let place = KeyPlace::Directory(key.clone());
    let first = Tree::new(FILES);
    let workspace = open(first.dir.path(), place.clone());
    commit(&lock(&workspace), &plan(&workspace, &[Delete("a")])).unwrap();
    let traced = Tree::new(FILES);
    let old = traced.snapshot();
    let ran =
        strace_child(traced.dir.path(), &key, "full", false, None, &["-o", log.to_str().unwrap()]);
    if !ran.is_some_and(|(succeeded, _)| succeeded) {
        testutils::skip!("strace is missing or not allowed");
        return;
    }
    let new = traced.snapshot();
    let text = fs::read_to_string(&log).unwrap();
    let points = points(&text);
    assert!(points.len() > 20, "{text}");
    let (mut reverted, mut finished) = (0, 0);
    for (call, at) in points {
        let tree = Tree::new(FILES);
        let inject = format!("inject={call}:signal=KILL:when={at}");
        strace_child(
            tree.dir.path(),
            &key,
            "full",
            false,
            None,
            &["-e", &inject, "-o", "/dev/null"],
        );
        drop(lock(&open(tree.dir.path(), place.clone())));
        let now = tree.snapshot();
        assert!(now == old || now == new, "killed at {call} {at}: {now:#?}");
        assert!(tree.pending().is_empty(), "killed at {call} {at}");
        if now == old {
            reverted += 1;
        } else {
            finished += 1;
        }
    }
    assert!(reverted > 5, "{reverted} reverted, {finished} finished: the kills missed");
    assert!(finished > 5, "{reverted} reverted, {finished} finished: the kills missed");
}
