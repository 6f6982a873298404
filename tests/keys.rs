//! Changes that were made with another key, or without one: they are listed, and undone when a
//! person says so.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{Run, on_terminal, place, run_other};

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** End Patch\n";

/// The program with these variables; `-NAME` takes one away.
fn run(dir: &Path, variables: &[&str], args: &[&str], input: &str) -> Run {
    let gone = variables.iter().filter_map(|variable| variable.strip_prefix('-'));
    let mut all: Vec<String> = gone.map(|name| format!("--unset={name}")).collect();
    all.extend(
        variables
            .iter()
            .filter(|variable| !variable.starts_with('-'))
            .map(|variable| (*variable).to_owned()),
    );
    all.push(env!("CARGO_BIN_EXE_apply-patch").to_owned());
    all.extend(args.iter().map(|arg| (*arg).to_owned()));
    run_other("/usr/bin/env", &dir.join("w"), dir, &all, input.as_bytes())
}

/// Applies the patch, and gives the name of the transaction.
fn apply(dir: &Path, variables: &[&str]) -> String {
    let answer = run(dir, variables, &["--json"], PATCH).json().expect("JSON");
    answer["data"]["transactionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn text(dir: &Path) -> String {
    fs::read_to_string(dir.join("w/a")).expect("the file")
}

/// A home and a state directory that cannot be, as in a sandbox.
const NO_PLACE: &[&str] = &["HOME=/dev/null/home", "-XDG_STATE_HOME"];

#[test]
fn a_change_without_a_key_is_listed_elsewhere_and_undone_with_trust() {
    let dir = place(&[("w/a", "one\n")]);
    // A key that is here, so that the change comes from elsewhere.
    run(dir.path(), &[], &["doctor"], "");
    let made = run(dir.path(), NO_PLACE, &[], PATCH);
    assert!(made.code == 0, "{made:?}");
    assert!(made.stderr.contains("warning: there is no place for a key"), "{made:?}");
    let id = fs::read_dir(dir.path().join("w/.apply-patch/trash"))
        .expect("a folder")
        .next()
        .expect("one")
        .expect("one");
    let id = id.file_name().into_string().expect("a name");
    // Inside it is one like any other.
    assert!(run(dir.path(), NO_PLACE, &["log"], "").stdout.starts_with(&id[23..]));

    let trust = format!("apply-patch undo {id} --trust");
    let log = run(dir.path(), &[], &["log"], "");
    assert!(log.stderr.contains(&id), "{log:?}");
    assert!(log.stderr.contains(&trust), "{log:?}");
    assert!(log.stderr.contains("not signed"), "{log:?}");
    let log = run(dir.path(), &[], &["log", "--json"], "").json().expect("JSON");
    let one = &log["data"]["notVerified"][0];
    assert_eq!(&one["id"], &Value::from(&*id), "{log}");
    assert_eq!(&one["undo"], &Value::from(&*trust), "{log}");
    assert_eq!(one["details"]["problem"], "not_signed");

    for args in [&["undo"][..], &["undo", &id]] {
        let refused = run(dir.path(), &[], args, "");
        assert!(refused.code == 3, "{args:?}: {refused:?}");
        assert!(refused.stderr.contains(&trust), "{args:?}: {refused:?}");
        let refused = run(dir.path(), &[], &[args, &["--json"]].concat(), "").json().expect("JSON");
        let hint = &refused["error"]["hints"][0];
        assert_eq!(&hint["hint"], &"ask_person", "{refused}");
        assert_eq!(
            &refused["error"]["details"]["transactions"][0],
            &Value::from(&*id),
            "{refused}"
        );
        assert!(hint["what"].as_str().is_some_and(|what| what.contains(&trust)), "{refused}");
    }
    assert_eq!(text(dir.path()), "two\n");
    // A preview needs the trust too, and shows all of it.
    let shown = run(dir.path(), &[], &["undo", &id, "--trust", "-n"], "");
    assert!(shown.code == 0, "{shown:?}");
    assert!(shown.stdout.contains("-two\n+one\n"), "{shown:?}");
    let undone =
        run(dir.path(), &[], &["undo", &id, "--trust", "--json"], "").json().expect("JSON");
    assert_eq!(text(dir.path()), "one\n", "{undone}");
    assert_eq!(&undone["data"]["undoOf"], &Value::from(&*id), "{undone}");
    // From now on it is undone: nothing is doubtful about it, and it comes back.
    let log = run(dir.path(), &[], &["log", "--json"], "").json().expect("JSON");
    assert_eq!(log["data"]["notVerified"][0]["undoneBy"], undone["data"]["transactionId"]);
    assert!(log["data"]["notVerified"][0].get("undo").is_none(), "{log}");
    let nothing = run(dir.path(), &[], &["undo", "--json"], "").json().expect("JSON");
    assert_eq!(nothing["error"]["details"]["reason"], "no_transaction", "{nothing}");
    let redone = run(dir.path(), &[], &["redo"], "");
    assert_eq!(redone.code, 0, "{redone:?}");
    assert_eq!(text(dir.path()), "two\n", "{redone:?}");
}

#[test]
fn one_key_does_whatever_xdg_state_home_says() {
    let dir = place(&[("w/a", "one\n")]);
    // A client that does not pass XDG_STATE_HOME on.
    let id = apply(dir.path(), &["-XDG_STATE_HOME"]);
    assert!(dir.path().join(".local/state/apply-patch/key").is_file());
    let log = run(dir.path(), &[], &["log"], "");
    assert!(log.stdout.starts_with(&id[23..]), "{log:?}");
    assert!(log.stderr.is_empty(), "{log:?}");
    let verified = run(dir.path(), &[], &["log", "--verify"], "");
    assert_eq!(verified.code, 0, "{verified:?}");
    assert_eq!(run(dir.path(), &[], &["undo"], "").code, 0);
    assert_eq!(text(dir.path()), "one\n");
    // The undo was signed with the key of XDG_STATE_HOME; the log goes on, and both keys are known.
    assert!(dir.path().join("state/apply-patch/key").is_file());
    let verified = run(dir.path(), &[], &["log", "--verify"], "");
    assert_eq!(verified.code, 0, "{verified:?}");
    // Where only the first key is known, the second is named.
    let log = run(dir.path(), &["-XDG_STATE_HOME"], &["log", "--json"], "").json().expect("JSON");
    let other = &log["data"]["notVerified"][0]["details"];
    assert!(other["problem"] == "other_key", "{log}");
    assert!(other["key"].as_str().is_some_and(|key| key.len() == 16), "{log}");
    // The key itself is nowhere in the workspace.
    let key = fs::read(dir.path().join("state/apply-patch/key")).expect("a key");
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let newest = format!(
        "w/.apply-patch/trash/{}/journal",
        log["data"]["notVerified"][0]["id"].as_str().expect("an id")
    );
    let journal = fs::read_to_string(dir.path().join(newest)).expect("a journal");
    assert!(journal.contains(other["key"].as_str().expect("a key")), "{journal}");
    assert!(!journal.contains(&hex[..16]), "{journal}");
}

#[test]
fn doctor_says_it_on_both_sides_and_makes_no_key() {
    let dir = place(&[("w/a", "one\n")]);
    let before = run(dir.path(), &[], &["doctor"], "");
    assert!(before.code == 0, "{before:?}");
    assert!(before.stdout.contains("made at the first change"), "{before:?}");
    let inside = run(dir.path(), NO_PLACE, &["doctor"], "");
    assert!(inside.code == 5, "{inside:?}");
    assert!(inside.stdout.contains("there is no place for one: /dev/null/home"), "{inside:?}");
    assert!(inside.stdout.contains("XDG_STATE_HOME"), "{inside:?}");
    apply(dir.path(), NO_PLACE);
    fs::write(dir.path().join("w/a"), "one\n").expect("a file");
    let other = format!("XDG_STATE_HOME={}", dir.path().join("other").display());
    apply(dir.path(), &[&other]);
    let outside = run(dir.path(), &[], &["doctor"], "");
    assert!(outside.code == 5);
    assert!(outside.stdout.contains("or not signed: 2 of the transactions"));
    assert!(outside.stdout.contains("signed with a key that is not here (key "));
    assert!(outside.stdout.contains("apply-patch undo ID --trust"), "{outside:?}");
    let told = run(dir.path(), &[], &["doctor", "--json"], "").json().expect("JSON");
    let others = &told["error"]["details"]["otherKeys"];
    assert!(others["transactions"] == 2, "{told}");
    assert!(others["keys"].as_array().is_some_and(|keys| keys.len() == 1), "{told}");
    assert!(!dir.path().join("state").exists(), "no key was made");
    assert!(!dir.path().join(".local").exists(), "no key was made");
}

#[test]
fn a_person_at_the_terminal_is_asked() {
    for (answer, wanted, code) in [("y", "one\n", "exit 0\r\n"), ("n", "two\n", "exit 3\r\n")] {
        let dir = place(&[("w/a", "one\n")]);
        let id =
            apply(dir.path(), &[&format!("XDG_STATE_HOME={}", dir.path().join("other").display())]);
        let mut terminal = on_terminal(dir.path(), &format!("$it undo {id}"), &[]);
        let shown = terminal.exp_string("?] ").expect("a question");
        assert!(shown.contains("which is not here"), "{shown}");
        assert!(shown.contains("+one"), "{shown}");
        terminal.send_line(answer).expect("sent");
        terminal.exp_string(code).expect("it ends");
        assert_eq!(text(dir.path()), wanted);
    }
}

#[test]
fn a_server_warns_at_its_start() {
    let dir = place(&[]);
    let run = run(dir.path(), NO_PLACE, &["serve", "--mcp"], "");
    assert!(run.code == 0, "{run:?}");
    assert!(run.stderr.contains("there is no place for a key"), "{run:?}");
    assert!(run.stdout.is_empty(), "{run:?}");
}

/// Two processes that do not know each other's key write one log. Neither reports that it was
/// changed.
#[test]
fn a_log_of_two_keys_begins_anew_where_the_other_key_begins() {
    let dir = place(&[("w/a", "one\n")]);
    let other = format!("HOME={}", dir.path().join("other").display());
    fs::create_dir(dir.path().join("other")).expect("a folder");
    let own = dir.path().display().to_string();
    apply(dir.path(), &[&format!("HOME={own}"), "-XDG_STATE_HOME"]);
    let second = [&*other, "-XDG_STATE_HOME"];
    assert_eq!(
        run(dir.path(), &second, &["apply"], &PATCH.replace("-one\n+two", "-two\n+three")).code,
        0
    );
    let verified =
        run(dir.path(), &[&format!("HOME={own}"), "-XDG_STATE_HOME"], &["log", "--verify"], "");
    assert!(verified.code != 0, "{verified:?}");
    assert!(verified.stdout.contains("line 3: the log begins anew here"), "{verified:?}");
    let verified = run(dir.path(), &second, &["log", "--verify"], "");
    assert!(verified.code != 0, "{verified:?}");
    assert!(
        verified.stdout.contains("line 1: it is not signed with a key that is here"),
        "{verified:?}"
    );
}
