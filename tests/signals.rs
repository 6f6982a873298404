//! Signals in the middle of a commit.

use std::fs;

use crate::program::{clean, place};

const PATCH: &str =
    "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** Add File: b\n+new\n*** End Patch\n";

/// A patch that does not fit.
const MISFIT: &str = "*** Begin Patch\n*** Delete File: c\n*** End Patch\n";

/// Applies the patch under strace, which sends `signal` at a system call: the process stands still
/// meanwhile, so that the call is what it comes in. The exit code, if it ended by itself, and the
/// file, and what it printed; `None` when there is no strace, or no env(1) that knows of signals.
///
/// Who runs the tests may ignore signals, as a shell does for what it runs in the background, and
/// the program would too: env(1) takes that back, and has the signals ignored that `start` names.
fn interrupted(signal: &str, call: &str, start: &str) -> Option<(Option<i32>, String, String)> {
    interrupted_as("apply-patch", &["../p"], signal, call, start)
}

/// The same for the program under a name, with these arguments.
fn interrupted_as(
    name_of_program: &str,
    arguments: &[&str],
    signal: &str,
    call: &str,
    start: &str,
) -> Option<(Option<i32>, String, String)> {
    if !clean("env").args([start, "true"]).output().is_ok_and(|output| output.status.success()) {
        return None;
    }
    let dir = place(&[("w/a", "one\n"), ("p", PATCH), ("misfit", MISFIT)]);
    let program = dir.path().join(name_of_program);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_apply-patch"), &program).expect("a link");
    let name = call.split(':').next()?;
    let output = clean("strace")
        .args(["-f", "-q", "-o", "/dev/null", "-e", &format!("trace={name}")])
        .args(["-e", &format!("inject={call}:signal={signal}")])
        .args(["env", start])
        .arg(program)
        .args(arguments)
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
    Some((output.status.code(), text, String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn a_signal_in_the_middle_of_a_commit_rolls_it_back_or_comes_too_late() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        // While the files are staged a signal is in time. When the journal says what is to happen,
        // it is too late: the first rename is the key's, two put the files in their places, and the
        // fourth is the commit point.
        for (call, in_time) in [
            ("fsync:when=2", true),
            ("mkdirat:when=4", true),
            ("write:when=3", true),
            ("write:when=4", true),
            ("pwrite64:when=1", true),
            ("renameat2:when=2", false),
            ("renameat2:when=3", false),
            ("renameat2:when=4", false),
        ] {
            let Some(end) = interrupted(signal, call, &format!("--default-signal={signal}")) else {
                testutils::skip!(
                    "strace or an env with --default-signal is missing, or not allowed"
                );
                return;
            };
            let wanted = if in_time { (Some(code), "one\n") } else { (Some(0), "two\n") };
            assert_eq!((end.0, &*end.1), wanted, "{signal} at {call}");
            let told = if in_time {
                "cancelled; nothing was changed"
            } else {
                "too late: the change was complete"
            };
            assert!(end.2.contains(told), "{signal} at {call}: {}", end.2);
        }
    }
}

#[test]
fn a_signal_ends_the_link_as_it_ends_the_program() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let start = format!("--default-signal={signal}");
        let call = "fsync:when=2";
        let Some(end) = interrupted_as("apply_patch", &[PATCH], signal, call, &start) else {
            testutils::skip!("strace or an env with --default-signal is missing, or not allowed");
            return;
        };
        let wanted = (Some(code), "one\n", "apply-patch: cancelled; nothing was changed\n");
        assert_eq!((end.0, &*end.1, &*end.2), wanted, "{signal}");
    }
}

/// While what does not fit is kept, and before anything is said. The rest is changed.
#[test]
fn after_a_change_a_signal_does_not_keep_the_program_from_saying_what_was_done() {
    let arguments = ["--partial", "../p", "../misfit"];
    let (call, start) = ("renameat:when=4", "--default-signal=TERM");
    let Some(end) = interrupted_as("apply-patch", &arguments, "TERM", call, start) else {
        testutils::skip!("strace or an env with --default-signal is missing, or not allowed");
        return;
    };
    assert_eq!((end.0, &*end.1), (Some(6), "two\n"), "{}", end.2);
    assert!(end.2.contains("with `--amend p-"), "{}", end.2);
}

/// It is not first staged to the end.
#[test]
fn a_signal_is_seen_before_the_next_file() {
    let adds: String =
        (0..300).map(|file| format!("*** Add File: new/{file}\n+{file}\n")).collect();
    let patch = format!("*** Begin Patch\n{adds}*** End Patch\n");
    let dir = place(&[("w/new/old", "old\n"), ("p", &patch)]);
    let output = clean("strace")
        .args(["-f", "-q", "-o", "trace", "-e", "trace=write,openat2,openat"])
        .args(["-e", "inject=write:signal=TERM:when=40"])
        .args([
            "env",
            "--default-signal=TERM",
            env!("CARGO_BIN_EXE_apply-patch"),
            "--json",
            "w/../p",
            "-C",
            "w",
        ])
        .current_dir(dir.path())
        .env("HOME", dir.path())
        .env("XDG_STATE_HOME", dir.path().join("state"))
        .output();
    let Some(output) = output.ok().filter(|output| !output.stderr.starts_with(b"strace:")) else {
        testutils::skip!("strace is missing or not allowed");
        return;
    };
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(answer["error"]["kind"], "cancelled");
    let names: Vec<_> = testutils::tree::look(&dir.path().join("w"), false).into_keys().collect();
    assert_eq!(names, ["new", "new/old"]);
    let trace = fs::read_to_string(dir.path().join("trace")).expect("a trace");
    let (_, after) = trace.split_once("--- SIGTERM").expect("the signal");
    let made = after.matches("O_EXCL").count();
    // A thread is a few dozen files ahead of the one that writes them.
    assert!(made <= 64, "{made} files were made after the signal");
}

#[test]
fn what_was_ignored_stays_ignored() {
    for signal in ["INT", "TERM", "HUP"] {
        let Some(end) = interrupted(signal, "mkdirat:when=4", &format!("--ignore-signal={signal}"))
        else {
            return;
        };
        assert_eq!(end.0, Some(0), "{signal}");
        assert_eq!(&*end.1, "two\n", "{signal}");
    }
}

#[test]
fn a_doctor_that_is_killed_leaves_nothing_among_the_files() {
    let dir = place(&[("w/a", "one\n")]);
    // Trying a file system out takes renames, and nothing else that it does takes any.
    for when in 1..=3 {
        let ended = clean("strace")
            .args(["-f", "-q", "-o", "/dev/null", "-e", "trace=renameat2"])
            .args(["-e", &format!("inject=renameat2:signal=KILL:when={when}")])
            .args([env!("CARGO_BIN_EXE_apply-patch"), "doctor"])
            .current_dir(dir.path().join("w"))
            .env("HOME", dir.path())
            .env("XDG_STATE_HOME", dir.path().join("state"))
            .output();
        let Some(ended) = ended.ok().filter(|ended| !ended.stderr.starts_with(b"strace:")) else {
            testutils::skip!("strace is missing or not allowed");
            return;
        };
        assert!(!ended.status.success(), "it was killed: {ended:?}");
        let mut names =
            testutils::tree::look(&dir.path().join("w"), false).into_keys().collect::<Vec<_>>();
        names.retain(|name| name.split('/').next() != Some(crate::scenarios::STATE));
        assert_eq!(names, ["a"], "killed at call {when}");
    }
}
