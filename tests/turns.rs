//! Turns at the command line: the changes of calls with one name are one entry of the log, one diff
//! and one undo.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Run, place, run, run_other};

fn files() -> TempDir {
    place(&[("w/a", "1\n"), ("w/b", "1\n")])
}

fn at(dir: &TempDir, args: &[&str], input: &str) -> Run {
    run("apply-patch", &dir.path().join("w"), dir.path(), args, input.as_bytes())
}

/// Runs the program with `$APPLY_PATCH_TURN`.
fn within(dir: &TempDir, turn: &str, args: &[&str], input: &str) -> Run {
    let variable = format!("APPLY_PATCH_TURN={turn}");
    let all = [&[&*variable, env!("CARGO_BIN_EXE_apply-patch")], args].concat();
    run_other("/usr/bin/env", &dir.path().join("w"), dir.path(), &all, input.as_bytes())
}

fn update(path: &str, from: &str, to: &str) -> String {
    format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{from}\n+{to}\n*** End Patch\n")
}

fn read(dir: &TempDir, path: &str) -> String {
    fs::read_to_string(dir.path().join("w").join(path)).expect("the file")
}

/// Changes `a` and `b` in the turn `t1`, after a change of `b` that is not in it.
fn changed() -> TempDir {
    let dir = files();
    assert_eq!(at(&dir, &[], &update("b", "1", "2")).code, 0);
    assert_eq!(within(&dir, "t1", &[], &update("a", "1", "2")).code, 0);
    let args = json!({ "patch": update("a", "2", "3") }).to_string();
    let tool = ["tool", "apply_patch", "--turn", "t1", "--args", &args];
    assert_eq!(at(&dir, &tool, "").code, 0);
    assert_eq!(within(&dir, "t1", &[], &update("b", "2", "3")).code, 0);
    dir
}

#[test]
fn a_turn_is_one_entry_of_the_log_with_one_diff() {
    let dir = changed();
    let log = at(&dir, &["log"], "").stdout;
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 5, "{log}");
    assert_eq!(lines[0], "t1    just now  3 transactions, 2 files: a, +1 more", "{log}");
    assert!(lines[1].starts_with("  "), "{log}");
    assert!(lines[1].ends_with("1 file: b  (apply)"), "{log}");
    assert!(!lines[4].starts_with(' '), "{log}");
    let brief = at(&dir, &["log", "--oneline"], "").stdout;
    assert_eq!(brief.lines().next(), Some("t1 3 transactions, 2 files: a, +1 more"), "{brief}");
    assert_eq!(brief.lines().count(), 2, "{brief}");
    let newest = at(&dir, &["log", "-n", "1", "-p"], "").stdout;
    assert_eq!(newest.matches("diff --git").count(), 2, "{newest}");
    assert!(newest.contains("\n-1\n+3\n"), "{newest}");
    let data = at(&dir, &["log", "--json"], "").json().expect("JSON")["data"].take();
    assert_eq!(data["turns"][0]["id"], "t1");
    assert_eq!(data["turns"][0]["undone"], false);
    let ids: Vec<&Value> = data["transactions"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|one| one["turnId"] == "t1")
        .map(|one| &one["id"])
        .collect();
    assert_eq!(data["turns"][0]["transactions"], json!(ids));
    let shown = at(&dir, &["show", "t1"], "").stdout;
    assert!(shown.starts_with("t1 3 transactions"), "{shown}");
    assert_eq!(shown.matches("(apply)").count(), 2, "{shown}");
    assert!(shown.contains("\n-1\n+3\n"), "{shown}");
    let shown = at(&dir, &["show", "t1", "--json"], "").json().expect("JSON");
    assert_eq!(shown["data"]["transactions"], json!(ids));
}

#[test]
fn a_turn_is_one_undo_and_one_redo() {
    for args in [&[][..], &["t1"], &["--turn", "t1"], &["--turn", "cli/t1"]] {
        let dir = changed();
        let shown = at(&dir, &[&["undo", "-n"], args].concat(), "");
        assert!(shown.stdout.contains("\n-3\n+1\n"), "{shown:?}");
        let run = at(&dir, &[&["undo"], args].concat(), "");
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stderr.contains("note: all of turn t1 is undone: 3 transactions"), "{run:?}");
        assert_eq!([read(&dir, "a"), read(&dir, "b")], ["1\n", "2\n"], "{args:?}");
        for args in [&["redo"][..], &["redo", "t1"]] {
            let run = at(&dir, args, "");
            assert_eq!(run.code, 0, "{run:?}");
            assert_eq!([read(&dir, "a"), read(&dir, "b")], ["3\n", "3\n"], "{args:?}");
            assert_eq!(at(&dir, &["undo", "t1"], "").code, 0);
        }
    }
    // A transaction that is named is undone alone.
    let dir = changed();
    assert_eq!(at(&dir, &["undo", "last"], "").code, 0);
    assert_eq!([read(&dir, "a"), read(&dir, "b")], ["3\n", "2\n"]);
    for (args, code) in [
        (&["undo", "--turn", "t2"][..], 1),
        (&["redo", "t1"], 2),
        (&["undo", "t1", "--", "a"], 2),
        (&["undo", "--turn", "t1", "--session", "cli"], 2),
        (&["tool", "apply_patch", "--turn", "no name", "--args", "{}"], 2),
    ] {
        assert_eq!(at(&dir, args, "").code, code, "{args:?}");
    }
    let run = within(&dir, "no name", &[], &update("a", "3", "4"));
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("$APPLY_PATCH_TURN: \"no name\" is not the name of a turn"));
}

#[test]
fn status_lists_a_turn_that_is_open() {
    let dir = changed();
    let status = at(&dir, &["status"], "").stdout;
    assert!(status.contains("`apply-patch undo` would undo all of turn t1: 3 trans"), "{status}");
    assert!(status.contains("open turn    t1 of session cli, begun "), "{status}");
    let status = at(&dir, &["status", "--json"], "").json().expect("JSON");
    let open = &status["data"]["openTurns"][0];
    assert_eq!(open["id"], "t1");
    assert_eq!(open["transactions"], 3);
    // A change of the same session that is not in it ends it.
    assert_eq!(at(&dir, &[], &update("a", "3", "4")).code, 0);
    let status = at(&dir, &["status", "--json"], "").json().expect("JSON");
    assert_eq!(status["data"]["openTurns"], json!([]));
}

#[test]
fn a_turn_that_was_undone_in_steps_is_not_redone_in_part() {
    let dir = changed();
    assert_eq!(at(&dir, &["undo", "last"], "").code, 0);
    assert_eq!(at(&dir, &["undo", "--turn", "t1"], "").code, 0);
    let (a, b) = (read(&dir, "a"), read(&dir, "b"));
    let refused = at(&dir, &["redo", "t1"], "");
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("turn t1 was not undone as one"), "{refused:?}");
    assert_eq!(read(&dir, "a"), a);
    assert_eq!(read(&dir, "b"), b);
}
