//! `undo --carry`: what a transaction did is undone beneath later edits.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{self, Run, place};

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

fn files() -> tempfile::TempDir {
    place(&[("w/a", BEFORE), ("w/b", "b\n")])
}

fn run(dir: &Path, args: &[&str], input: &str) -> Run {
    program::run("apply-patch", &dir.join("w"), dir, args, input.as_bytes())
}

/// Applies hunks, and gives the name of the transaction.
fn apply(dir: &Path, body: &str) -> String {
    let patch = format!("*** Begin Patch\n*** Update File: a\n{body}*** End Patch\n");
    let answer = run(dir, &["--json"], &patch).json().expect("JSON");
    answer["data"]["transactionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn undo(dir: &Path, args: &[&str]) -> (i32, Value) {
    let run = run(dir, &[&["undo", "--json"], args].concat(), "");
    (run.code, run.json().expect("JSON"))
}

fn text(dir: &Path) -> String {
    fs::read_to_string(dir.join("w/a")).expect("the file")
}

#[test]
fn a_transaction_below_a_later_one_is_taken_back() {
    let dir = files();
    let first = apply(dir.path(), "@@\n one\n-two\n+TWO\n three\n");
    let later = apply(dir.path(), "@@\n six\n-seven\n+SEVEN\n+more\n eight\n");
    // By default it is exact, and names what is in the way.
    let (code, answer) = undo(dir.path(), &[&first]);
    let error = &answer["error"];
    assert_eq!(code, 4, "{error}");
    assert_eq!(&error["kind"], &"stale_file", "{error}");
    assert!(error["message"].as_str().is_some_and(|text| {
        text.contains(&format!("a (transaction {} changed it)", &later[23..]))
    }));
    assert_eq!(error["details"]["drifted"][0]["by"], *later);
    assert_eq!(error["hints"][0], json!({ "hint": "use_flag", "flag": "--carry" }));
    let told = run(dir.path(), &["undo", &first], "");
    assert_eq!(told.code, 4, "{told:?}");
    assert!(told.stderr.contains("use `--carry`"), "{told:?}");
    // The hint is obeyed.
    let shown = run(dir.path(), &["undo", &first, "--carry", "-n"], "");
    assert!(shown.stdout.contains("\n-TWO\n+two\n"), "{shown:?}");
    assert!(!shown.stdout.contains("-SEVEN"), "{shown:?}");
    assert!(
        shown.stderr.contains("a: hunk 1 was carried: lines 1-3 of the base are lines 1-3 now"),
        "{shown:?}"
    );
    let (code, answer) = undo(dir.path(), &[&first, "--carry"]);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(text(dir.path()), BEFORE.replace("seven", "SEVEN\nmore"), "{answer}");
    let carried = json!([
        {
            "path": "a", "hunk": 0, "from": { "startLine": 1, "endLine": 3 },
            "to": { "startLine": 1, "endLine": 3 },
        },
    ]);
    assert_eq!(&answer["data"]["carried"], &carried);
    assert_eq!(answer["data"]["undoOf"], *first);
    // The history tells it.
    let id = answer["data"]["transactionId"].as_str().expect("an id").to_owned();
    let show = run(dir.path(), &["show", "--json", &id], "").json().expect("JSON");
    assert_eq!(show["data"]["carried"], carried);
    for command in [&["show", &*id][..], &["log"]] {
        let told = run(dir.path(), command, "");
        assert!(told.stdout.contains("a: hunk 1 was carried: lines 1-3"), "{told:?}");
    }
    // That is an undo like any other: it can be undone.
    let (code, answer) = undo(dir.path(), &[&id]);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(
        text(dir.path()),
        BEFORE.replace("two", "TWO").replace("seven", "SEVEN\nmore"),
        "{answer}"
    );
}

/// What the patch left is nowhere kept; the log's diff makes it again.
#[test]
fn a_transaction_below_an_edit_from_outside_is_taken_back() {
    let dir = files();
    let first = apply(dir.path(), "@@\n one\n-two\n+TWO\n three\n");
    fs::write(dir.path().join("w/a"), text(dir.path()).replace("eight", "EIGHT\nnine"))
        .expect("a file");
    let (code, answer) = undo(dir.path(), &[]);
    assert_eq!(code, 4, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("a (edited since)"), "{message}");
    assert_eq!(answer["error"]["hints"][0]["flag"], "--carry");
    let (code, answer) = undo(dir.path(), &["--carry"]);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(text(dir.path()), BEFORE.replace("eight", "EIGHT\nnine"), "{answer}");
    assert_eq!(answer["data"]["undoOf"], *first);
}

#[test]
fn what_cannot_be_carried_is_a_conflict_and_carry_is_not_offered() {
    let dir = files();
    let first = apply(dir.path(), "@@\n one\n-two\n+TWO\n three\n");
    fs::write(dir.path().join("w/a"), text(dir.path()).replace("three", "THREE")).expect("a file");
    let (code, answer) = undo(dir.path(), &[&first]);
    assert_eq!(code, 4);
    let hints = answer["error"]["hints"].as_array().expect("hints");
    assert!(hints.iter().all(|hint| hint["flag"] != "--carry"), "{hints:?}");
    let (code, answer) = undo(dir.path(), &[&first, "--carry"]);
    let details = &answer["error"]["details"];
    assert_eq!(code, 4, "{answer}");
    assert_eq!(&details["reason"], &"conflict", "{answer}");
    assert_eq!(&details["path"], &"a", "{answer}");
    assert_eq!(
        [&details["base"]["text"], &details["current"]["text"], &details["wanted"]["text"]],
        ["TWO\nthree\n", "TWO\nTHREE\n", "two\nthree\n"]
    );
    let short = &first[first.len() - 8..];
    let advice = format!("see `apply-patch show {short}`");
    assert_eq!(answer["error"]["suggestedNextAction"], *advice, "there is no patch to correct");
    assert!(text(dir.path()).contains("TWO\nTHREE\n"));
}

/// What stands in the way of a file that comes back is named, and no other path is asked for.
#[test]
fn what_is_in_the_way_of_an_undo_is_named() {
    let patch = "*** Begin Patch\n*** Delete File: d/x\n*** End Patch\n";
    for (there, is_dir, said) in [
        ("d", false, "d is not a directory, so d/x cannot be beneath it"),
        ("d/x", true, "d/x (something that is not a file is there)"),
    ] {
        let dir = place(&[("w/d/x", "x\n")]);
        let answer = run(dir.path(), &["--json"], patch).json().expect("JSON");
        assert_eq!(answer["ok"], true, "{answer}");
        let there = dir.path().join("w").join(there);
        if is_dir {
            fs::create_dir(&there).expect("a folder");
        } else {
            fs::remove_dir(&there).expect("it is empty");
            fs::write(&there, "").expect("a file");
        }
        for args in [&["-n"][..], &[], &["--carry"]] {
            let (code, answer) = undo(dir.path(), args);
            let error = &answer["error"];
            assert!(code == 3 || code == 4, "{answer}");
            assert!(error["message"].as_str().is_some_and(|it| it.contains(said)), "{answer}");
            let advice = error["suggestedNextAction"].as_str().unwrap_or_default();
            assert!(advice.starts_with("see `apply-patch show "), "{answer}");
        }
    }
}

#[test]
fn a_file_that_is_gone_or_was_added_is_no_case_for_carry() {
    let dir = files();
    let patch = "*** Begin Patch\n*** Add File: new\n+x\n*** End Patch\n";
    let answer = run(dir.path(), &["--json"], patch).json().expect("JSON");
    let id = answer["data"]["transactionId"].as_str().expect("an id").to_owned();
    fs::write(dir.path().join("w/new"), "x\ny\n").expect("a file");
    for args in [&[&*id][..], &[&id, "--carry"]] {
        let (code, answer) = undo(dir.path(), args);
        let hints = answer["error"]["hints"].as_array().expect("hints");
        assert!(code == 4, "{answer}");
        assert!(hints.iter().all(|hint| hint["flag"] != "--carry"), "{answer}");
    }
    let gone = apply(dir.path(), "@@\n one\n-two\n+TWO\n three\n");
    fs::remove_file(dir.path().join("w/a")).expect("it is there");
    let (code, answer) = undo(dir.path(), &[&gone, "--carry"]);
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(code == 4, "{answer}");
    assert!(message.contains("(there is no file)"), "{answer}");
}

/// What keeps the commit from a file is told by the preview.
#[cfg(unix)]
#[test]
fn a_preview_is_refused_where_the_undo_is() {
    use std::os::unix::fs::PermissionsExt as _;
    for (reason, carry) in [("read_only", true), ("hard_links", true), ("hard_links", false)] {
        let dir = files();
        let (a, id) = (dir.path().join("w/a"), apply(dir.path(), "@@\n one\n-two\n+TWO\n three\n"));
        if carry {
            fs::write(&a, text(dir.path()) + "more\n").expect("a file");
        }
        if reason == "read_only" {
            fs::set_permissions(&a, fs::Permissions::from_mode(0o444)).expect("a mode");
        } else {
            fs::hard_link(&a, dir.path().join("w/c")).expect("a link");
        }
        for preview in [&["-n"][..], &[]] {
            let how: &[&str] = if carry { &["--carry"] } else { &[] };
            let (code, answer) = undo(dir.path(), &[&[&*id], how, preview].concat());
            assert_eq!(code, 3, "{answer}");
            assert_eq!(answer["error"]["details"]["reason"], *reason, "{answer}");
        }
    }
}

/// Every edit of an agent is a transaction of its own: those of a session are undone by one
/// command.
#[test]
fn a_session_is_one_undo() {
    let dir = files();
    let call = |session: &str, from: &str, to: &str| {
        let patch =
            format!("*** Begin Patch\n*** Update File: b\n@@\n-{from}\n+{to}\n*** End Patch\n");
        let args = json!({ "patch": patch }).to_string();
        let tool = ["--json", "tool", "apply_patch", "--session", session, "--args", "-"];
        let answer = run(dir.path(), &tool, &args).json().expect("JSON");
        answer["data"]["transactionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let text = || fs::read_to_string(dir.path().join("w/b")).expect("the file");
    let ids = [call("seven", "b", "c"), call("seven", "c", "d"), call("seven", "d", "e")];
    let shown = run(dir.path(), &["undo", "--session", "seven", "-n"], "");
    assert!(shown.stdout.contains("\n-e\n+b\n"), "{shown:?}");
    let (code, answer) = undo(dir.path(), &["--session", "seven"]);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(answer["data"]["undoOf"], *ids[2], "{answer}");
    assert_eq!(answer["data"]["alsoUndoOf"], json!([ids[1], ids[0]]), "{answer}");
    assert_eq!(text(), "b\n");
    let log = run(dir.path(), &["log"], "");
    assert!(log.stdout.contains(" and 2 more"), "{log:?}");
    assert_eq!(log.stdout.matches("undone by").count(), 3, "{log:?}");
    // It is done, and comes back as one.
    assert_eq!(undo(dir.path(), &["--session", "seven"]).0, 1);
    let redone = run(dir.path(), &["redo"], "");
    assert_eq!(text(), "e\n", "{redone:?}");
    let log = run(dir.path(), &["log"], "");
    assert_eq!(log.stdout.matches("undone by").count(), 1, "only the undo: {log:?}");
    assert_eq!(undo(dir.path(), &["--since", &ids[1]]).0, 0);
    assert_eq!(text(), "c\n");
    assert_eq!(undo(dir.path(), &["--since", "1h"]).0, 0);
    assert_eq!(text(), "b\n");
    for args in [&["--session", "other"][..], &["--since", "3000-01-01"]] {
        assert_eq!(undo(dir.path(), args).0, 1, "{args:?}");
    }
    assert_eq!(undo(dir.path(), &["--since", "no time"]).0, 1);
    assert_eq!(undo(dir.path(), &["--session", "seven", "--since", "1h"]).0, 2);
}

/// What is gone already is passed over: undo comes to the one before, then to an end, and `status`
/// names the same.
#[test]
fn what_is_gone_is_passed_over() {
    let dir = files();
    let at = dir.path();
    let b = |to: &str, from: &str| {
        format!("*** Begin Patch\n*** Update File: b\n@@\n-{from}\n+{to}\n*** End Patch\n")
    };
    let add = "*** Begin Patch\n*** Add File: new\n+n\n*** End Patch\n";
    assert_eq!(run(at, &[], &b("B", "b")).code, 0);
    assert_eq!(run(at, &[], add).code, 0);
    fs::remove_file(at.join("w/new")).expect("removed");
    assert_eq!(run(at, &[], add).code, 0);
    let next = || run(at, &["status"], "").stdout;
    assert_eq!(run(at, &["undo"], "").code, 0);
    let gone = "is passed over: its changes are gone already";
    assert!(next().contains(gone), "{}", next());
    let status = run(at, &["status", "--json"], "").json().expect("JSON");
    let shown = run(at, &["undo", "-n"], "");
    assert!(shown.stderr.contains(gone), "{shown:?}");
    let (code, answer) = undo(at, &[]);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(status["data"]["undoable"]["id"], answer["data"]["undoOf"], "{status}");
    assert!(
        answer["data"]["notes"][0].as_str().is_some_and(|note| note.contains(gone)),
        "{answer}"
    );
    assert_eq!(fs::read_to_string(at.join("w/b")).expect("the file"), "b\n");
    let end = run(at, &["undo"], "");
    assert_eq!(end.code, 1, "{end:?}");
    assert!(end.stderr.contains("there is nothing to undo: the changes of transaction"), "{end:?}");
    assert!(next().contains("there is nothing to undo"), "{}", next());
    // A redo is for what was undone last, until something new is applied.
    assert_eq!(run(at, &["redo", "-n"], "").code, 0);
    assert_eq!(run(at, &[], &b("BB", "b")).code, 0);
    let none = run(at, &["redo"], "");
    assert_eq!(none.code, 1, "{none:?}");
    assert!(none.stderr.contains("there is no transaction to redo"), "{none:?}");
}

/// Where the newest change cannot be undone, no other one is undone in its place: what can be done
/// now is named, and helps.
#[test]
fn no_other_change_is_undone_unasked() {
    let b = "*** Begin Patch\n*** Update File: b\n@@\n-b\n+B\n*** End Patch\n";
    for (by_hand, carries) in [("eight", true), ("TWO", false)] {
        for turn in [false, true] {
            let dir = files();
            let at = dir.path();
            let args = json!({ "patch": b }).to_string();
            let older: &[&str] =
                if turn { &["tool", "apply_patch", "--turn", "t1", "--args", &*args] } else { &[] };
            assert_eq!(run(at, older, b).code, 0);
            if turn {
                let args = json!({ "patch": b.replace("-b\n+B", "-B\n+BB") }).to_string();
                let more = ["tool", "apply_patch", "--turn", "t1", "--args", &*args];
                assert_eq!(run(at, &more, "").code, 0);
            }
            let newest = apply(at, "@@\n one\n-two\n+TWO\n three\n");
            fs::write(at.join("w/a"), text(at).replace(by_hand, "by hand")).expect("a file");
            let before = (text(at), fs::read_to_string(at.join("w/b")).expect("the file"));
            let mut hints = Vec::new();
            for args in [&["undo"][..], &["undo", "-q"], &["undo", "-n"], &["undo", "--json"]] {
                let refused = run(at, args, "");
                assert_eq!(refused.code, 4, "{refused:?}");
                let said = format!("{}{}", refused.stdout, refused.stderr);
                assert!(said.contains("a (edited since)"), "{said}");
                assert!(said.contains(&newest[newest.len() - 8..]), "{said}");
                assert_eq!(said.contains("--carry"), carries, "{said}");
                assert!(said.contains("undo another one: `apply-patch undo "), "{said}");
                let now = (text(at), fs::read_to_string(at.join("w/b")).expect("the file"));
                assert_eq!(now, before, "{args:?}");
                if let Ok(json) = refused.json() {
                    assert_eq!(json["error"]["kind"], "stale_file", "{json}");
                    hints = json["error"]["hints"].as_array().expect("hints").clone();
                }
            }
            let instead = hints.iter().find(|hint| hint["hint"] == "run_instead").expect("it");
            let command = instead["command"].as_str().expect("words");
            let args: Vec<&str> = command.split(' ').skip(1).collect();
            assert_eq!(args[1] == "cli/t1", turn, "{command}");
            // What is advised helps.
            let done = run(at, &args, "");
            assert_eq!(done.code, 0, "{command}: {done:?}");
            assert_eq!(fs::read_to_string(at.join("w/b")).expect("the file"), "b\n");
            assert_eq!(text(at), before.0);
            // There is no other one any more.
            let refused = run(at, &["undo"], "");
            assert!(refused.code == 4, "{refused:?}");
            assert!(!refused.stderr.contains("undo another one"), "{refused:?}");
            if carries {
                assert_eq!(run(at, &["undo", "--carry"], "").code, 0);
                assert!(text(at).contains("two\n"), "{}", text(at));
            }
        }
    }
}

/// At a terminal a person is shown the undo beneath later changes, and asked.
#[cfg(unix)]
#[test]
fn a_person_is_asked_about_a_file_that_changed_since() {
    for (answer, exit, left) in [("n", 3, "TWO"), ("y", 0, "two")] {
        let dir = files();
        apply(dir.path(), "@@\n one\n-two\n+TWO\n three\n");
        fs::write(dir.path().join("w/a"), text(dir.path()) + "nine\n").expect("a file");
        let mut terminal = program::on_terminal(dir.path(), "$it undo --color never", &[]);
        let shown = terminal.exp_string("[y").expect("a question");
        assert!(shown.contains("a (edited since)"), "{shown}");
        assert!(shown.contains("+two"), "{shown}");
        terminal.send_line(answer).expect("sent");
        terminal.exp_string(&format!("exit {exit}\r\n")).expect("it ends");
        let text = text(dir.path());
        assert!(text.contains(left) && text.ends_with("nine\n"), "{text}");
    }
}

/// No flag gives a rule to what undoes and restores: its advice names the variable that does.
#[test]
fn what_has_no_flags_for_rules_names_variables() {
    let dir = files();
    let delete = "*** Begin Patch\n*** Delete File: b\n*** End Patch\n";
    let gone = run(dir.path(), &["--json"], delete).json().expect("JSON");
    let entry = format!("{}/0", gone["data"]["transactionId"].as_str().expect("an id"));
    let id = apply(dir.path(), "@@\n-two\n+TWO\n");
    fs::hard_link(dir.path().join("w/a"), dir.path().join("w/other")).expect("a second name");
    let program = env!("CARGO_BIN_EXE_apply-patch");
    let restore = |to| vec!["trash", "restore", &*entry, to];
    for (args, said, flag) in [
        (vec!["undo", &*id], "a has 2 hard links", "APPLY_PATCH_HARD_LINKS=break"),
        (restore("CON"), "device on Windows", "APPLY_PATCH_NAMES=native"),
        (restore(".vscode/t"), "has to be approved", "APPLY_PATCH_ALLOW=.vscode/t"),
        (restore("a"), "choose another path than a: one where nothing is", ""),
    ] {
        let told = run(dir.path(), &args, "");
        assert_ne!(told.code, 0, "{told:?}");
        assert!(told.stderr.contains(said), "{told:?}");
        assert!(told.stderr.contains(flag), "{told:?}");
        assert!(!told.stderr.contains("--"), "{told:?}");
        let answer = run(dir.path(), &[&args[..], &["--json"]].concat(), "").json().expect("JSON");
        let hints = answer["error"]["hints"].as_array().expect("hints");
        assert!(hints.iter().all(|hint| hint["hint"] != "use_flag"), "{answer}");
        if !flag.is_empty() {
            assert!(hints.iter().any(|hint| hint["flag"] == flag), "{answer}");
            let line = [&["-c", "export \"$0\"; exec \"$@\"", flag, program], &args[..]].concat();
            let done = program::run_other("sh", &dir.path().join("w"), dir.path(), &line, b"");
            assert_eq!(done.code, 0, "{args:?}: {done:?}");
        }
    }
}

#[test]
fn a_file_that_was_moved_since_is_found_by_its_bytes() {
    for (also, moved_to, command) in [
        ("", Some("d/new name"), Some("mv 'd/new name' a")),
        // Two files have the bytes: either may be the one.
        ("d/copy", None, None),
    ] {
        let dir = files();
        apply(dir.path(), "@@\n one\n-two\n+TWO\n three\n");
        let w = dir.path().join("w");
        fs::create_dir(w.join("d")).expect("a folder");
        fs::rename(w.join("a"), w.join("d/new name")).expect("a move");
        if !also.is_empty() {
            fs::copy(w.join("d/new name"), w.join(also)).expect("a copy");
        }
        let (code, refused) = undo(dir.path(), &[]);
        assert_eq!(code, 4, "{refused}");
        let error = &refused["error"];
        assert_eq!(error["details"]["drifted"][0]["movedTo"].as_str(), moved_to, "{error:#}");
        assert_eq!(
            error["hints"][0]["command"].as_str().filter(|it| it.starts_with("mv")),
            command
        );
        let Some(command) = command else { continue };
        let moved = std::process::Command::new("sh").args(["-c", command]).current_dir(&w).status();
        assert!(moved.expect("a shell").success());
        assert_eq!(undo(dir.path(), &[]).0, 0);
        assert_eq!(text(dir.path()), BEFORE);
    }
    // Other bytes are another file.
    let dir = files();
    apply(dir.path(), "@@\n one\n-two\n+TWO\n three\n");
    let w = dir.path().join("w");
    fs::rename(w.join("a"), w.join("c")).expect("a move");
    fs::write(w.join("c"), "edited\n").expect("a file");
    let (_, refused) = undo(dir.path(), &[]);
    assert!(refused["error"]["details"]["drifted"][0]["movedTo"].is_null(), "{refused}");
}
