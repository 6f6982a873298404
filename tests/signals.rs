//! Signals in the middle of a commit.

use std::fs;
use std::process::Command;

use crate::program::place;

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** Add File: b\n+new\n*** End Patch\n";

/// Applies the patch under strace, which sends `signal` at a system call. The exit code, if it ended by itself, and the file;
/// `None` when there is no strace.
fn interrupted(signal: &str, call: &str, before: &str) -> Option<(Option<i32>, String)> {
    let dir = place(&[("w/a", "one\n"), ("p", PATCH)]);
    let name = call.split(':').next()?;
    let script = format!("{before} exec \"$0\" ../p");
    let output = Command::new("strace")
        .args(["-f", "-q", "-o", "/dev/null", "-e", &format!("trace={name},fsync")])
        .args(["-e", &format!("inject={call}:signal={signal}")])
        // Another thread takes the signal: on a busy machine it needs time before the commit goes on.
        .args(if name == "fsync" { &[][..] } else { &["-e", "inject=fsync:delay_enter=100000"] })
        .args(["sh", "-c", &script, env!("CARGO_BIN_EXE_apply-patch")])
        .current_dir(dir.path().join("w"))
        .env("HOME", dir.path())
        .env("XDG_STATE_HOME", dir.path().join("state"))
        .output()
        .ok()?;
    if String::from_utf8_lossy(&output.stderr).starts_with("strace:") {
        return None;
    }
    let pending = dir.path().join("w/.apply-patch/pending");
    let left = fs::read_dir(pending).map_or(0, Iterator::count);
    assert_eq!(left, 0, "{signal} at {call}: something is left for the next command: {output:?}");
    let new = dir.path().join("w/b").exists();
    let text = fs::read_to_string(dir.path().join("w/a")).expect("the file");
    assert_eq!(text == "two\n", new, "{signal} at {call}: all or nothing");
    Some((output.status.code(), text))
}

#[test]
fn a_signal_in_the_middle_of_a_commit_rolls_it_back_or_comes_too_late() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let mut rolled_back = 0;
        for call in ["mkdirat:when=4", "write:when=2", "pwrite64:when=2", "fsync:when=1", "fsync:when=2"] {
            let Some(end) = interrupted(signal, call, "") else {
                eprintln!("skipped: strace is missing or not allowed");
                return;
            };
            match end {
                (Some(0), text) => assert_eq!(text, "two\n", "{signal} at {call}"),
                (found, text) => {
                    assert_eq!((found, &*text), (Some(code), "one\n"), "{signal} at {call}");
                    rolled_back += 1;
                }
            }
        }
        assert!(rolled_back > 0, "no {signal} came in time");
    }
}

#[test]
fn what_was_ignored_stays_ignored() {
    for signal in ["INT", "TERM", "HUP"] {
        let Some(end) = interrupted(signal, "mkdirat:when=4", &format!("trap '' {signal};")) else { return };
        assert_eq!(end, (Some(0), "two\n".into()), "{signal}");
    }
}

#[test]
fn a_doctor_that_is_killed_leaves_nothing_among_the_files() {
    let dir = place(&[("w/a", "one\n")]);
    // Trying a file system out takes renames, and nothing else that it does takes any.
    for when in 1..=3 {
        let ended = Command::new("strace")
            .args(["-f", "-q", "-o", "/dev/null", "-e", "trace=renameat2"])
            .args(["-e", &format!("inject=renameat2:signal=KILL:when={when}")])
            .args([env!("CARGO_BIN_EXE_apply-patch"), "doctor"])
            .current_dir(dir.path().join("w"))
            .env("HOME", dir.path())
            .env("XDG_STATE_HOME", dir.path().join("state"))
            .output();
        let Some(ended) = ended.ok().filter(|ended| !ended.stderr.starts_with(b"strace:")) else {
            eprintln!("skipped: strace is missing or not allowed");
            return;
        };
        assert!(!ended.status.success(), "it was killed: {ended:?}");
        let mut names = crate::tree::look(&dir.path().join("w"), false).into_keys().collect::<Vec<_>>();
        names.retain(|name| name.split('/').next() != Some(crate::scenarios::STATE));
        assert_eq!(names, ["a"], "killed at call {when}");
    }
}
