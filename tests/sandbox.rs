//! `--sandbox`: everything works that works without it. (That there is no way out is shown where
//! the wall is built, in fs-guard.)
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::program::{Run, clean, place, run};

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** Delete File: b\n\
                     *** Add File: d/n\n+n\n*** Move File: c -> d/c\n*** End Patch\n";

const DIFF: &str = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+A\n";

const FILES: &[(&str, &str)] = &[("w/a", "a\n"), ("w/b", "b\n"), ("w/c", "c\n"), ("p", PATCH)];

fn call(dir: &Path, args: &[&str], input: &str) -> Run {
    run("apply-patch", &dir.join("w"), dir, args, input.as_bytes())
}

/// Whether the kernel can do it at all.
fn supported() -> bool {
    let dir = place(FILES);
    let run = call(dir.path(), &["--sandbox", "--check", "-v", "../p"], "");
    if run.stderr.contains("this kernel has no Landlock") {
        testutils::skip!("{}", run.stderr);
        assert_eq!(run.code, 5, "without a wall nothing is read: {run:?}");
        return false;
    }
    assert!(run.stderr.contains("confined by Landlock, version "), "{run:?}");
    true
}

#[test]
fn every_way_to_apply_works_inside() {
    if !supported() {
        return;
    }
    for (flags, input, code) in [
        (&["../p"][..], "", 0),
        (&["--durability", "full"], PATCH, 0),
        (&["--durability", "process"], PATCH, 0),
        (&["--durability", "none"], PATCH, 0),
        (&["--no-atomic", "-"], PATCH, 0),
        (&["--from", "unified"], DIFF, 0),
        (&["--stream"], PATCH, 0),
        (&["--events", "jsonl"], PATCH, 0),
        (&["--expect", "a="], PATCH, 4),
        (&["-n"], PATCH, 0),
        (&["../none"], "", 5),
    ] {
        let dir = place(FILES);
        let mut args = vec!["--sandbox", "--create-parents"];
        args.extend(flags);
        let run = call(dir.path(), &args, input);
        assert_eq!(run.code, code, "{flags:?}: {run:?}");
        let applied = fs::read_to_string(dir.path().join("w/a")).expect("it is there") == "A\n";
        assert_eq!(applied, code == 0 && flags != ["-n"], "{flags:?}: {run:?}");
        if applied && input != DIFF && !flags.contains(&"--no-atomic") {
            // What was deleted is in the trash, signed and logged, and comes back.
            let undone = call(dir.path(), &["undo"], "");
            assert_eq!(undone.code, 0, "{undone:?}");
            assert_eq!(fs::read_to_string(dir.path().join("w/b")).expect("it is back"), "b\n");
            let log = call(dir.path(), &["log", "--verify"], "");
            assert_eq!(log.code, 0, "{log:?}");
        }
    }
}

/// The base may lie outside the workspace, as the repository around a part of it does.
#[test]
fn the_base_can_be_read_inside() {
    if !supported() {
        return;
    }
    let dir = place(&[("base/a", "a\n"), ("top/w/a", "a\n")]);
    let git = |at: &str, line: &str| {
        let mut command = clean("git");
        command.args(["-c", "user.name=A", "-c", "user.email=a@b"]).args(line.split(' '));
        let done = command.current_dir(dir.path().join(at)).status().expect("git runs");
        assert!(done.success(), "{line}");
    };
    for line in ["init -q", "add .", "commit -qm a", "worktree add -q ../linked"] {
        git("top", line);
    }
    git("", "clone -qs top shared");
    for (root, base) in [
        ("top/w", ["--base", "base"]),
        ("top/w", ["--base-rev", "HEAD"]),
        ("linked/w", ["--base-rev", "HEAD"]),
        ("shared/w", ["--base-rev", "HEAD"]),
    ] {
        let args = [&["--sandbox", "-C", root, "--from", "unified"][..], &base].concat();
        let run = run("apply-patch", dir.path(), dir.path(), &args, DIFF.as_bytes());
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        git(root, "checkout -q .");
    }
}

#[test]
fn the_process_is_confined_before_it_reads_the_patch() {
    if !supported() {
        return;
    }
    let dir = place(FILES);
    let mut child = clean(env!("CARGO_BIN_EXE_apply-patch"))
        .args(["--sandbox", "--create-parents"])
        .current_dir(dir.path().join("w"))
        .env("XDG_STATE_HOME", dir.path().join("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The kernel takes the right to gain privileges together with the others.
    let status = format!("/proc/{}/status", child.id());
    let confined = || fs::read_to_string(&status).expect("it runs").contains("NoNewPrivs:\t1");
    let mut tries = 0;
    while !confined() {
        tries += 1;
        assert!(tries < 6000, "it waits for the patch, and is not confined");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.stdin.take().expect("piped").write_all(PATCH.as_bytes()).expect("written");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(fs::read_to_string(dir.path().join("w/a")).expect("it is there"), "A\n");
}

#[test]
fn no_editor_is_offered_inside() {
    if !supported() {
        return;
    }
    let dir = place(FILES);
    let mut command = clean(env!("CARGO_BIN_EXE_apply-patch"));
    command
        .args(["--sandbox", "--create-parents", "--approve", "ask", "../p"])
        .current_dir(dir.path().join("w"))
        .env("EDITOR", "true")
        .env("XDG_STATE_HOME", dir.path().join("state"));
    let mut terminal = crate::terminal::Terminal::run(command);
    terminal.exp_string("Apply this patch? [y,n,v,?] ").expect("the question");
    terminal.send_line("e").expect("sent");
    terminal.exp_string("Apply this patch? [y,n,v,?] ").expect("the question again");
    terminal.send_line("y").expect("sent");
    terminal.exp_eof().expect("the end");
    assert_eq!(fs::read_to_string(dir.path().join("w/a")).expect("it is there"), "A\n");
}
