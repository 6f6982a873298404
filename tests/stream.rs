//! `--stream`: the patch is looked at while it arrives.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use tempfile::TempDir;

use crate::program::{clean, run};
use crate::terminal::Terminal;
use testutils::temp::temp;

const PATCH: &str = "*** Begin Patch\n*** Add File: a\n+1\n+2\n*** Update File: b\n\
                     *** Move to: c\n@@\n-b\n+B\n*** End Patch\n";

fn place() -> tempfile::TempDir {
    let dir = temp();
    std::fs::write(dir.path().join("b"), "b\n").expect("a file");
    dir
}

/// The program, with its input still open.
fn start(dir: &TempDir, home: &TempDir, args: &[&str]) -> Child {
    clean(env!("CARGO_BIN_EXE_apply-patch"))
        .args(args)
        .current_dir(dir.path())
        .env("XDG_STATE_HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

#[test]
fn a_line_for_each_section_while_the_rest_is_still_to_come() {
    let (dir, home) = (place(), place());
    let mut child = start(&dir, &home, &["--stream"]);
    let (mut stdin, mut stderr) =
        (child.stdin.take().expect("piped"), BufReader::new(child.stderr.take().expect("piped")));
    let (first, second) = PATCH.split_at(PATCH.find("*** Move to").expect("it is there"));
    stdin.write_all(first.as_bytes()).expect("written");
    let mut line = String::new();
    stderr.read_line(&mut line).expect("a line");
    assert_eq!(line, "A a | +2 -0\n", "before the second half is written");
    assert!(!dir.path().join("a").exists(), "and before anything is applied");
    stdin.write_all(second.as_bytes()).expect("written");
    drop(stdin);
    line.clear();
    stderr.read_line(&mut line).expect("a line");
    assert_eq!(line, "R b -> c | +1 -1\n");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(&*output.stdout, &b"A a\nR b -> c\n"[..]);
}

#[test]
fn what_cannot_become_a_patch_fails_before_its_end() {
    let (dir, home) = (place(), place());
    let mut child = start(&dir, &home, &["--stream", "--json"]);
    let mut stdin = child.stdin.take().expect("piped");
    stdin
        .write_all(b"*** Begin Patch\n*** Add File: a\nno plus\n*** Delete File: b\n")
        .expect("written");
    // Standard input stays open: the program does not wait for it.
    let output = child.wait_with_output().expect("the program ends");
    drop(stdin);
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{stdout}");
    assert!(stdout.contains("every line of a new file must begin with `+`"), "{stdout}");
    assert!(stdout.contains("line 3"), "{stdout}");
}

#[test]
fn the_first_wrong_line_is_the_last_that_is_read() {
    for (text, wanted) in [
        ("hello\n", " --> standard input:1:1"),
        ("*** Begin Patch\n*** Frobnicate File: x\n", " --> standard input:2:5"),
        ("*** Begin Patch\n*** Update File: b\n@@\n-b\nB\n", " --> standard input:5:1"),
    ] {
        let (dir, home) = (place(), place());
        let mut child = start(&dir, &home, &["--stream"]);
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(text.as_bytes()).expect("written");
        // Standard input stays open.
        let output = child.wait_with_output().expect("the program ends");
        drop(stdin);
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1), "{text:?}: {stderr}");
        assert!(stderr.contains(wanted), "{text:?}: {stderr}");
        assert!(stderr.contains("^"), "{text:?}: {stderr}");
    }
}

#[test]
fn every_ending_is_that_of_the_whole_text() {
    for (flags, patch, code) in [
        (&["--stream"][..], PATCH, 0),
        (&["--stream"], "*** Begin Patch\n*** Delete File: none\n*** End Patch\n", 1),
        (&["--stream"], "*** Begin Patch\n*** Delete File: b\n", 1),
        (&["--stream"], "", 1),
        // The advice for a diff is to leave the flag out.
        (&["--stream"], "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-b\n+c\n", 2),
        (&["--stream"], "--- a/b", 2),
        (&["--stream"], "```\n*** Begin Patch\n*** Delete File: b\n*** End Patch\n```\n", 1),
        (
            &["--stream", "--profile", "codex"],
            "```\n*** Begin Patch\n*** Delete File: b\n*** End Patch\n```\n",
            0,
        ),
        (&["--stream", "-n"], PATCH, 0),
        (&["--stream", "p"], PATCH, 2),
        (&["--stream", "--from", "unified"], PATCH, 2),
    ] {
        let (dir, home) = (place(), place());
        let run = run("apply-patch", dir.path(), home.path(), flags, patch.as_bytes());
        assert_eq!(run.code, code, "{flags:?} {patch:?}: {run:?}");
    }
}

#[test]
fn on_a_terminal_the_line_changes() {
    let (dir, home) = (place(), place());
    let mut command = clean("sh");
    let script = format!(
        "(printf '%s\\n' '*** Begin Patch' '*** Add File: a' '+1'; read go; printf '%s\\n' '+2' \
         '*** End Patch') | {} --stream",
        crate::program::word()
    );
    command.args(["-c", &script]).current_dir(dir.path()).env("XDG_STATE_HOME", home.path());
    let mut terminal = Terminal::run(command);
    terminal.exp_string("A a | +1 -0 ").expect("the first count");
    terminal.send_line("go").expect("sent");
    terminal.exp_string("\r\u{1b}[KA a | +2 -0\r\n").expect("the last count");
    terminal.exp_eof().expect("the end");
}
