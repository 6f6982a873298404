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

/// Whatever lies between the changes of a turn: what is named as being in the way is not of the turn,
/// and advice that is obeyed leads on.
#[test]
fn what_is_in_the_way_of_a_turn_is_not_of_the_turn() {
    let mut refusals = 0;
    for seed in 1..=24_u32 {
        let mut random = seed.wrapping_mul(2_654_435_761);
        let mut next = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16) % below
        };
        let dir = files();
        let mut of_turn = Vec::new();
        for step in 2..8 {
            let path = ["a", "b"][next(2) as usize];
            let (from, to) = (read(&dir, path), format!("{step}"));
            let patch = update(path, from.trim_end(), &to);
            match next(4) {
                0 | 1 => {
                    let run = within(&dir, "t1", &["--json"], &patch);
                    let answer = run.json().expect("JSON");
                    of_turn.push(answer["data"]["transactionId"].clone());
                }
                2 => assert_eq!(at(&dir, &[], &patch).code, 0),
                _ => fs::write(dir.path().join("w").join(path), to + "\n").expect("written"),
            }
        }
        let undo = || at(&dir, &["undo", "--turn", "t1", "--json"], "");
        let mut before = None;
        // Each advice leads on, so it comes to an end.
        for _ in 0..12 {
            let run = undo();
            if run.code != 4 {
                break;
            }
            refusals += 1;
            let error = run.json().expect("JSON")["error"].take();
            for drift in error["details"]["drifted"].as_array().expect("files") {
                assert!(!of_turn.contains(&drift["by"]), "seed {seed}: {error}");
            }
            assert_ne!(before.replace(error["message"].clone()), Some(error["message"].clone()));
            let hint = &error["hints"][0];
            let done = match hint["hint"].as_str() {
                Some("use_flag") => at(&dir, &["undo", "--turn", "t1", "--carry"], ""),
                Some("run_first") => {
                    let command = hint["command"].as_str().expect("words");
                    at(&dir, &command.split(' ').skip(1).collect::<Vec<_>>(), "")
                }
                _ => break,
            };
            assert_eq!(done.code, 0, "seed {seed}: {error}: {done:?}");
        }
    }
    assert!(refusals > 5, "{refusals}");
}

#[test]
fn what_lies_between_two_changes_of_a_turn_is_named() {
    let dir = files();
    let id = |run: Run| {
        let answer = run.json().expect("JSON");
        answer["data"]["transactionId"].as_str().expect("an id")[23..].to_owned()
    };
    id(within(&dir, "t1", &["--json"], &update("a", "1", "2")));
    let other = id(at(&dir, &["--json"], &update("a", "2", "3")));
    let last = id(within(&dir, "t1", &["--json"], &update("a", "3", "4")));
    let refused = at(&dir, &["undo", "--turn", "t1"], "");
    let said = format!("a (transaction {other} changed it in between)");
    assert!(refused.code == 4 && refused.stderr.contains(&said), "{refused:?}");
    assert!(
        !refused.stderr.contains("first run"),
        "nothing is in the way that could go: {refused:?}"
    );
    // Once the last one is undone, the other one is in the way, and can go.
    assert_eq!(at(&dir, &["undo", &last], "").code, 0);
    let refused = at(&dir, &["undo", "--turn", "t1"], "");
    assert!(refused.stderr.contains(&format!("a (transaction {other} changed it)")), "{refused:?}");
    let first = format!("first run `apply-patch undo {other}`");
    assert!(refused.stderr.contains(&first), "{refused:?}");
    assert_eq!(at(&dir, &["undo", &other], "").code, 0);
    assert_eq!(at(&dir, &["undo", "--turn", "t1"], "").code, 0);
    assert_eq!(read(&dir, "a"), "1\n");
}

/// A turn changes lines of a file, and others change it between.
#[test]
fn a_turn_is_undone_around_what_others_changed_between() {
    let numbers: String = (1..=20).map(|line| format!("{line}\n")).collect();
    for (name, between, after, result) in [
        ("another patch", "8", "", Some("8")),
        ("an editor", "", "14", Some("14")),
        ("both", "8", "14", Some("8 14")),
        ("the same line", "1", "", None),
        ("the line beside", "2", "", None),
    ] {
        let dir = place(&[("w/a", &numbers)]);
        let file = dir.path().join("w/a");
        assert_eq!(within(&dir, "t1", &[], &update("a", "1", "one")).code, 0);
        if !between.is_empty() {
            let from = if between == "1" { "one" } else { between };
            assert_eq!(at(&dir, &[], &update("a", from, &format!("their {between}"))).code, 0);
        }
        if !after.is_empty() {
            let text = read(&dir, "a").replace(&format!("{after}\n"), &format!("their {after}\n"));
            fs::write(&file, text).expect("written");
        }
        assert_eq!(within(&dir, "t1", &[], &update("a", "20", "twenty")).code, 0);
        let before = read(&dir, "a");
        let refused = at(&dir, &["undo", "--turn", "t1"], "");
        assert_eq!(refused.code, 4, "{name}: {refused:?}");
        assert_eq!(
            refused.stderr.contains("use `--carry`"),
            result.is_some(),
            "{name}: {refused:?}"
        );
        let preview = at(&dir, &["undo", "--turn", "t1", "--carry", "-n"], "");
        assert_eq!(read(&dir, "a"), before, "{name}");
        let undone = at(&dir, &["undo", "--turn", "t1", "--carry"], "");
        assert_eq!(preview.code, undone.code, "{name}: {preview:?}");
        let Some(theirs) = result else {
            assert_eq!(undone.code, 4, "{name}: {undone:?}");
            assert_eq!(read(&dir, "a"), before, "{name}");
            continue;
        };
        assert_eq!(undone.code, 0, "{name}: {undone:?}");
        let mut wanted = numbers.clone();
        for line in theirs.split(' ') {
            wanted = wanted.replace(&format!("\n{line}\n"), &format!("\ntheir {line}\n"));
        }
        assert_eq!(read(&dir, "a"), wanted, "{name}");
        assert_eq!(at(&dir, &["redo"], "").code, 0, "{name}");
        assert_eq!(read(&dir, "a"), before, "{name}");
    }
}
