//! What people mistype or mean otherwise, at the command line: they are told what does it, and what
//! they are told works.

use std::fs;
use std::path::Path;

use crate::program::{Run, place, run};

const PATCH: &str = "*** Begin Patch\n*** Update File: a b\n@@\n-1\n+2\n*** End Patch\n";

fn called(dir: &Path, args: &[&str], input: &str) -> Run {
    run("apply-patch", &dir.join("w"), dir, args, input.as_bytes())
}

/// Runs a line that a message has between backticks, in the shell.
fn obeyed(dir: &Path, said: &str, beginning: &str) -> String {
    let line = said.split('`').find(|line| line.starts_with(beginning));
    let line = line.unwrap_or_else(|| panic!("no `{beginning}` in {said}"));
    let script = line.replace("apply-patch", crate::program::word());
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(dir.join("w")).env("HOME", dir);
    let output = command.env("XDG_STATE_HOME", dir.join("state")).output().expect("sh");
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_name_of_a_file_is_no_transaction() {
    let dir = place(&[("w/a b", "1\n"), ("w/c", "1\n")]);
    assert_eq!(called(dir.path(), &[], PATCH).code, 0);
    let other = PATCH.replace("a b", "c");
    assert_eq!(called(dir.path(), &[], &other).code, 0);
    for command in ["show", "undo"] {
        let said = called(dir.path(), &[command, "a b"], "");
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains("\"a b\" is a file, and no transaction"), "{said:?}");
        let log = obeyed(dir.path(), &said.stderr, "apply-patch log");
        assert!(log.contains("a b"), "{log}");
    }
    let from_above = run("apply-patch", dir.path(), dir.path(), &["-C", "w", "undo", "a b"], b"");
    assert!(from_above.stderr.contains("`apply-patch -C w undo -- 'a b'`"), "{from_above:?}");
    let said = called(dir.path(), &["undo", "a b"], "");
    obeyed(dir.path(), &said.stderr, "apply-patch undo");
    let now = |name: &str| fs::read_to_string(dir.path().join("w").join(name)).expect("a file");
    assert_eq!((&*now("a b"), &*now("c")), ("1\n", "2\n"), "only that file");
    let unknown = called(dir.path(), &["undo", "abcd"], "");
    assert!(unknown.stderr.contains("there is no transaction"), "{unknown:?}");
}

#[test]
fn a_patch_that_is_only_in_the_root_is_named() {
    for args in [&["-C", "d", "p.diff"][..], &["check", "-C", "d", "p.diff"]] {
        let dir = place(&[("w/d/a b", "1\n"), ("w/d/p.diff", PATCH)]);
        let said = called(dir.path(), args, "");
        assert_eq!(said.code, 5, "{said:?}");
        assert!(said.stderr.contains("name d/p.diff"), "{said:?}");
        let args: Vec<_> =
            args.iter().map(|&arg| if arg == "p.diff" { "d/p.diff" } else { arg }).collect();
        assert_eq!(called(dir.path(), &args, "").code, 0, "{args:?}");
    }
    let dir = place(&[("w/d/a b", "1\n")]);
    let said = called(dir.path(), &["-C", "d", "p.diff"], "");
    assert!(said.stderr.contains("cannot open p.diff: No such file"), "{said:?}");
}

#[test]
fn a_url_is_not_opened() {
    let dir = place(&[]);
    let url = "https://example.org/fix.diff?a=1&b='2'";
    let said = called(dir.path(), &[url], "");
    assert_eq!(said.code, 5, "{said:?}");
    let line = r"`curl -L 'https://example.org/fix.diff?a=1&b='\''2'\''' | apply-patch`";
    assert!(said.stderr.contains(line), "{said:?}");
}

#[test]
fn a_word_or_flag_that_is_not_known_names_what_is_meant() {
    let dir = place(&[("w/a b", "1\n")]);
    for (args, said) in [
        (&["install"][..], "`apply-patch mcp-config --client generic`"),
        (&["--undo"], "unknown option `--undo`; it is a command: `apply-patch undo …`"),
        (&["--3way", "p"], "unknown option `--3way`; `--base-rev REV`"),
        (&["-3", "p"], "unknown option `-3`; `--base-rev REV`"),
        (&["mcp-config"], "`--client <NAME>` is missing, one of codex, claude, cursor"),
    ] {
        for json in [false, true] {
            let args = [args, if json { &["--json"] } else { &[] }].concat();
            let run = called(dir.path(), &args, "");
            assert_eq!(run.code, 2, "{args:?}: {run:?}");
            let answer = if json { &run.stdout } else { &run.stderr };
            assert!(answer.contains(said), "{args:?}: {run:?}");
            for harmful in ["uninstall", "--sandbox"] {
                assert!(!answer.contains(harmful), "{args:?}: {run:?}");
            }
        }
    }
}

#[test]
fn a_text_that_is_not_read_changes_nothing_and_says_so() {
    let dir = place(&[("w/a b", "1\n")]);
    let without_blank = PATCH.replace("@@\n", "@@\n 0\ndef f():\n");
    let diff = "--- a/a b\n+++ b/a b\n@@ -1,2 +1,2 @@\ndef f():\n-1\n+2\n";
    let dots = PATCH.replace("@@\n", "@@\n 0\n...\n");
    for (text, said) in [
        ("Please make it 2.\n", "there is no patch in the text"),
        ("Please make it 2.\n", "a unified or git diff, SEARCH/REPLACE blocks or operations"),
        ("", "the patch is empty"),
        ("*** Begin Patch\n*** Update File: a b\n@@\n-1\n+2\n", "the patch was cut off"),
        // The line, as it is written into the patch.
        (
            &without_blank,
            "if line 5 of the patch is context, begin it with a blank, and send the whole patch \
             again:\n           def f():\n",
        ),
        (
            diff,
            "if line 4 of the patch is context, begin it with a blank, and send the whole patch \
             again:\n           def f():\n",
        ),
        // Dots stand for lines between two hunks.
        (&dots, "put `@@` in place of line 5 of the patch, as lines are left out there"),
    ] {
        for args in [&[][..], &["-n"], &["check"], &["explain"]] {
            let run = called(dir.path(), args, text);
            assert_eq!(run.code, 1, "{args:?}: {run:?}");
            assert!(run.stderr.contains(said), "{args:?} {text}: {}", run.stderr);
            assert!(run.stderr.contains("nothing was changed\n"), "{args:?}: {run:?}");
        }
        assert_eq!(fs::read_to_string(dir.path().join("w/a b")).expect("a file"), "1\n");
    }
}

/// Lines to copy stand on lines of their own, whatever is in them.
#[test]
fn lines_to_copy_stand_by_themselves() {
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n-x\n+y\n*** End Patch\n";
    let dir = place(&[("w/f", "a `b`\nx\n\na `b`\n\nx\n")]);
    let run = called(dir.path(), &[], patch);
    let help = "  = help: to mean line 2, put above the hunk's first line:\n           a `b`\n          \
                or to mean line 6, put above the hunk's first line:\n           \n";
    assert!(run.stderr.contains(help), "{}", run.stderr);
    for label in ["line 2: with 1 more line above", "line 6: with 1 more line above"] {
        assert!(run.stderr.contains(label), "{}", run.stderr);
    }
    // A line that is too long for a label beside it leaves the place its label.
    let long = format!("{}\nx\n\nb\nx\n", "a".repeat(200));
    fs::write(dir.path().join("w/f"), long).expect("a file");
    let run = called(dir.path(), &[], patch);
    assert_eq!(run.stderr.matches("with 1 more line above").count(), 2, "{}", run.stderr);
    // Backticks around a path that has some do not show where it ends.
    let dir = place(&[("w/`x`", "1\n")]);
    let add = "*** Begin Patch\n*** Add File: `x`y\n+1\n*** End Patch\n";
    fs::write(dir.path().join("w/`x`y"), "2\n").expect("a file");
    let run = called(dir.path(), &["--profile", "strict"], add);
    assert!(run.stderr.contains("\"*** Update File: `x`y\""), "{}", run.stderr);
}
