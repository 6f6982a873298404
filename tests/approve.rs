//! `--approve`, with a person at a terminal and without one.

use std::fs;
use std::path::Path;

use crate::program::{on_terminal, place, run};

const PATCH: &str =
    "*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** Delete File: b\n*** End Patch\n";
const HARMLESS: &str = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** End Patch\n";
const QUESTION: &str = "Apply this patch? [y,n,e,v,?] ";

const NO_EDITOR: &[(&str, &str)] = &[("EDITOR", "false")];

fn with(patch: &str) -> tempfile::TempDir {
    place(&[("w/a", "a\n"), ("w/b", "b\n"), ("p", patch)])
}

fn read(dir: &Path, path: &str) -> Option<String> {
    fs::read_to_string(dir.join("w").join(path)).ok()
}

/// Whether the patch was applied.
fn is_applied(dir: &Path) -> bool {
    read(dir, "a").as_deref() == Some("A\n")
}

#[test]
fn a_person_sees_the_diff_in_colour_and_decides() {
    for (line, answer, exit, applied) in [
        ("$it --approve ask ../p", "y", 0, true),
        ("$it --approve ask ../p", "n", 3, false),
        // On a terminal what is dangerous is asked about unless told otherwise.
        ("$it ../p", "y", 0, true),
        ("$it ../p", "n", 3, false),
        // The patch on standard input leaves the terminal for the answer.
        ("$it --approve auto < ../p", "y", 0, true),
        ("$it --approve auto < ../p | cat; false", "n", 1, false),
        // By default it is the same where the patch comes from.
        ("$it < ../p", "n", 3, false),
        ("cat ../p | $it", "n", 3, false),
        ("cat ../p | $it", "y", 0, true),
        ("$it - < ../p", "n", 3, false),
    ] {
        let dir = with(PATCH);
        let mut terminal = on_terminal(dir.path(), line, NO_EDITOR);
        terminal.exp_string("M a\r\n").expect("the files");
        terminal.exp_string("\u{1b}[31m-a").expect("what goes, in red");
        terminal.exp_string("\u{1b}[32m+A").expect("what comes, in green");
        terminal.exp_string("! b is deleted").expect("the reason");
        terminal.exp_string("\u{1b}[34m").expect("the colour of the question");
        terminal.exp_string(QUESTION).expect("the question");
        assert!(!is_applied(dir.path()), "{line}: nothing is changed before the answer");
        terminal.send_line(answer).expect("sent");
        terminal
            .exp_string(&format!("exit {exit}\r\n"))
            .unwrap_or_else(|error| panic!("{line}, {answer}: {error}"));
        assert_eq!(is_applied(dir.path()), applied, "{line}, {answer}");
        assert_eq!(read(dir.path(), "b").is_none(), applied, "{line}, {answer}");
    }
}

#[test]
fn of_several_patches_a_person_chooses_one() {
    let second = HARMLESS.replace("+A", "+B");
    let several = format!("{HARMLESS}or\n{second}");
    for (line, answer, exit, wanted) in [
        ("$it ../p", "1", 0, "A\n"),
        ("$it < ../p", "2", 0, "B\n"),
        ("$it ../p", "q", 3, "a\n"),
        ("$it ../p", "7", 1, "a\n"),
        ("$it --check ../p", "2", 0, "a\n"),
    ] {
        let dir = with(&several);
        let mut terminal = on_terminal(dir.path(), line, NO_EDITOR);
        terminal
            .exp_string("1: a patch in lines 1-6 (a); 2: a patch in lines 8-13 (a)")
            .expect("both");
        terminal.exp_string("Which one? [its number, a(ll), q] ").expect("the question");
        terminal.send_line(answer).expect("sent");
        terminal
            .exp_string(&format!("exit {exit}\r\n"))
            .unwrap_or_else(|error| panic!("{line}, {answer}: {error}"));
        assert_eq!(read(dir.path(), "a").as_deref(), Some(wanted), "{line}, {answer}");
    }
}

#[test]
fn control_c_at_a_question_ends_it_and_says_so() {
    let several = format!("{HARMLESS}or\n{PATCH}");
    for (line, patch, question) in [
        ("$it --approve ask ../p", PATCH, QUESTION),
        ("$it < ../p", PATCH, QUESTION),
        ("$it -i ../p", PATCH, "Apply this hunk? [y,n,"),
        ("$it ../p", &*several, "Which one? [its number, a(ll), q] "),
    ] {
        let dir = with(patch);
        let mut terminal = on_terminal(dir.path(), &format!("trap : INT; {line}"), NO_EDITOR);
        terminal.exp_string(question).expect("the question");
        terminal.send_control('c').expect("sent");
        terminal
            .exp_string("\r\napply-patch: cancelled; nothing was changed\r\nexit 130\r\n")
            .unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(!is_applied(dir.path()), "{line}");
    }
}

#[test]
fn control_c_at_a_later_question_keeps_what_was_applied() {
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** Update File: a\n@@\n-A\n\
                 +AA\n*** Delete File: b\n*** End Patch\n";
    let dir = with(patch);
    let line = "trap : INT; $it --no-atomic --approve auto ../p";
    let mut terminal = on_terminal(dir.path(), line, NO_EDITOR);
    terminal.exp_string("! b is deleted").expect("the reason");
    terminal.exp_string("Apply this patch? [y,n,v,?] ").expect("the question");
    terminal.send_control('c').expect("sent");
    terminal
        .exp_string("\r\napply-patch: cancelled; what was applied before stays\r\nexit 130\r\n")
        .expect("it is told");
    assert_eq!(read(dir.path(), "a").as_deref(), Some("AA\n"));
}

#[test]
fn help_and_the_whole_diff_are_a_key_away() {
    let long: String = (0..200).map(|line| format!("+line {line}\n")).collect();
    let dir = with(&format!("*** Begin Patch\n*** Add File: n\n{long}*** End Patch\n"));
    let mut terminal = on_terminal(dir.path(), "$it --approve ask --color never ../p", NO_EDITOR);
    let shown = terminal.exp_string("v shows them").expect("it is cut");
    assert!(shown.contains("+line 50\r"), "{shown}");
    assert!(!shown.contains("+line 150"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
    terminal.exp_string(QUESTION).expect("the question");
    terminal.send_line("what").expect("sent");
    terminal.exp_string("e - edit the patch").expect("help");
    terminal.exp_string(QUESTION).expect("the question again");
    terminal.send_line("v").expect("sent");
    terminal.exp_string("+line 199").expect("the whole diff");
    terminal.exp_string(QUESTION).expect("the question again");
    // The end of input is not a yes.
    terminal.send_control('d').expect("sent");
    let shown = terminal.exp_string("exit 3\r\n").expect("declined");
    assert_eq!(shown.matches("nothing was").count(), 2, "{shown}");
    assert!(shown.contains("nothing was answered (end of input); nothing was changed"), "{shown}");
    assert_eq!(read(dir.path(), "n"), None);
}

#[test]
fn an_edited_patch_is_planned_and_asked_about_again() {
    let dir = with(PATCH);
    // Changes the patch in place, and replaces the file as many editors do.
    let editor = "sed -i s/+A/+edited/";
    let mut terminal = on_terminal(dir.path(), "$it --approve ask < ../p", &[("EDITOR", editor)]);
    terminal.exp_string("+A").expect("the diff");
    terminal.exp_string(QUESTION).expect("the question");
    terminal.send_line("e").expect("sent");
    terminal.exp_string("+edited").expect("the new diff");
    terminal.exp_string(QUESTION).expect("the question again");
    terminal.send_line("y").expect("sent");
    terminal.exp_string("exit 0\r\n").expect("applied");
    assert_eq!(read(dir.path(), "a").as_deref(), Some("edited\n"));
    assert_eq!(read(dir.path(), "b"), None);

    let dir = with(PATCH);
    let mut terminal = on_terminal(dir.path(), "$it --approve ask ../p", NO_EDITOR);
    terminal.exp_string(QUESTION).expect("the question");
    terminal.send_line("e").expect("sent");
    terminal.exp_string("the editor failed, nothing was changed").expect("said");
    terminal.exp_string("exit 5\r\n").expect("failed");
    assert!(!is_applied(dir.path()));
}

/// A program that reads the answer is told that a person edited the patch, and what.
#[test]
fn the_answer_says_what_a_person_edited() {
    let dir = with(HARMLESS);
    let editor = "sed -i s/+A/+edited/";
    let line = "$it --approve ask --json ../p > ../answer";
    let mut terminal = on_terminal(dir.path(), line, &[("EDITOR", editor)]);
    for answer in ["e", "y"] {
        terminal.exp_string(QUESTION).expect("the question");
        terminal.send_line(answer).expect("sent");
    }
    terminal.exp_string("exit 0\r\n").expect("its end");
    let answer = fs::read_to_string(dir.path().join("answer")).expect("an answer");
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(
        answer["data"]["editedByPerson"]["diff"],
        "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-A\n+edited\n",
        "{answer}"
    );
    assert!(
        answer["output"].as_str().is_some_and(|text| text.contains("a person changed the prop"))
    );
    let log = fs::read_to_string(dir.path().join("w/.apply-patch/audit/cli.jsonl")).expect("a log");
    assert!(log.lines().all(|line| line.contains("\"editedByPerson\":true")), "{log}");
}

#[test]
fn a_guarded_file_may_be_approved_by_the_person() {
    let dir = with("*** Begin Patch\n*** Add File: .mcp.json\n+{}\n*** End Patch\n");
    for (line, answer, exit) in [
        ("$it --approve never ../p", None, 3),
        ("$it ../p", Some("n"), 3),
        ("$it --approve auto ../p", Some("y"), 0),
    ] {
        let mut terminal = on_terminal(dir.path(), line, NO_EDITOR);
        if let Some(answer) = answer {
            terminal.exp_string("! .mcp.json is guarded").expect("the reason");
            terminal.exp_string(QUESTION).expect("the question");
            terminal.send_line(answer).expect("sent");
        }
        terminal
            .exp_string(&format!("exit {exit}\r\n"))
            .unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(read(dir.path(), ".mcp.json").is_some(), exit == 0, "{line}");
    }
}

#[test]
fn what_is_not_seen_is_not_asked_about_by_default() {
    for line in ["$it ../p | cat", "$it < ../p > out", "$it ../p 2> err", "cat ../p | $it 2> err"] {
        let dir = with(PATCH);
        let mut terminal = on_terminal(dir.path(), line, NO_EDITOR);
        let shown =
            terminal.exp_string("exit 0\r\n").unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(is_applied(dir.path()), "{line}: {shown}");
        assert!(!shown.contains("Apply this patch?"), "{line}: {shown}");
    }
}

#[test]
fn without_a_terminal_a_question_is_a_refusal_that_says_so() {
    for (flags, patch, exit, applied) in [
        (&[][..], PATCH, 0, true),
        (&["--approve", "never"], PATCH, 0, true),
        (&["--approve", "auto"], HARMLESS, 0, true),
        (&["--approve", "auto"], PATCH, 3, false),
        (&["--approve", "ask"], HARMLESS, 3, false),
        (&["--approve", "ask", "--json"], HARMLESS, 3, false),
        (&["--approve", "ask", "--no-atomic"], HARMLESS, 3, false),
        (&["--approve", "ask", "--events", "codex"], HARMLESS, 3, false),
    ] {
        let dir = with(patch);
        // Of a new session, which has no terminal.
        let program = env!("CARGO_BIN_EXE_apply-patch");
        let mut args = vec!["-w", program];
        args.extend(flags);
        args.push("../p");
        let run =
            crate::program::run_other("setsid", &dir.path().join("w"), dir.path(), &args, b"");
        assert_eq!(run.code, exit, "{flags:?}: {run:?}");
        assert_eq!(is_applied(dir.path()), applied, "{flags:?}: {run:?}");
        let said =
            format!("{}{}", run.stdout, run.stderr).contains("there is no terminal to ask at");
        assert_eq!(said, exit == 3, "{flags:?}: {run:?}");
        if flags.contains(&"codex") {
            assert!(run.stdout.contains(r#""status":"declined""#), "{run:?}");
        }
    }
    let dir = with(PATCH);
    let both = run(
        "apply-patch",
        &dir.path().join("w"),
        dir.path(),
        &["--approve", "ask", "--check", "../p"],
        b"",
    );
    assert_eq!(both.code, 2, "{both:?}");
}
