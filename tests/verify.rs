//! `--verify`: a command looks at the changed files before they count.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::program::{self, Run, clean, place};

const PATCH: &str =
    "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** Add File: b\n+new\n*** End Patch\n";

fn files() -> tempfile::TempDir {
    place(&[("w/a", "one\n"), ("p", PATCH)])
}

fn verify(dir: &Path, args: &[&str]) -> Run {
    let path = format!("PATH={}", std::env::var("PATH").expect("a path"));
    let all = [&["env", &path, "APPLY_PATCH_PROFILE=strict", "sh", "-c", "exec \"$0\" \"$@\""][..]]
        .concat();
    let all = [&all[1..], &[env!("CARGO_BIN_EXE_apply-patch"), "../p"], args].concat();
    program::run_other("env", &dir.join("w"), dir, &all, b"")
}

fn is_old(dir: &Path) -> bool {
    let text = fs::read_to_string(dir.join("w/a")).expect("the file");
    let new = dir.join("w/b").exists();
    assert_eq!(text == "two\n", new, "all or nothing");
    !new
}

fn pending(dir: &Path) -> usize {
    fs::read_dir(dir.join("w/.apply-patch/pending")).map_or(0, Iterator::count)
}

#[test]
fn a_command_that_succeeds_keeps_the_change_and_another_takes_it_back() {
    let dir = files();
    let run = verify(dir.path(), &["--verify", "grep -q one a"]);
    assert_eq!(run.code, 8, "{run:?}");
    assert!(is_old(dir.path()), "{run:?}");
    assert_eq!(pending(dir.path()), 0, "{run:?}");
    assert!(!dir.path().join("w/.apply-patch").join("trash").exists() || pending(dir.path()) == 0);
    let run = verify(dir.path(), &["--verify", "grep -q two a && test -f b"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!is_old(dir.path()), "{run:?}");
    assert_eq!(pending(dir.path()), 0, "{run:?}");
}

/// What cannot be moved to the trash is said, and undo finds it all the same.
#[test]
fn a_trash_that_is_gone_is_told_and_what_was_done_can_be_undone() {
    let dir = files();
    let run = verify(dir.path(), &["--verify", "rm -rf .apply-patch/trash"]);
    assert_eq!(run.code, 0, "{run:?}");
    for wanted in ["not in the trash yet: .apply-patch/trash", "`apply-patch recover`"] {
        assert!(run.stderr.contains(wanted), "{run:?}");
    }
    assert_eq!(pending(dir.path()), 1, "{run:?}");
    let run = program::run("apply-patch", &dir.path().join("w"), dir.path(), &["undo"], b"");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(is_old(dir.path()), "{run:?}");
    assert_eq!(pending(dir.path()), 0, "{run:?}");
    // A tool says so beside what it did.
    let arguments = serde_json::json!({ "patch": PATCH }).to_string();
    let call = ["tool", "apply_patch", "--args", &arguments];
    let run = configured(dir.path(), "verify = 'rm -rf .apply-patch/trash'", &call, "");
    assert_eq!(run.code, 0, "{run:?}");
    let answer = run.json().expect("JSON");
    let note = answer["data"]["notes"][0].as_str().unwrap_or_default();
    assert!(note.contains("is not in the trash yet"), "{answer}");
}

#[test]
fn the_output_of_a_command_that_fails_is_shown() {
    let dir = files();
    let script = "echo out; echo err >&2; printf '\\033[31mred\\n'; exit 3";
    let run = verify(dir.path(), &["--verify", script]);
    assert_eq!(run.code, 8, "{run:?}");
    assert_eq!(&*run.stdout, "", "{run:?}");
    for wanted in ["\nout\n", "err\n", "the check `", "` exited with 3", "nothing was changed"] {
        assert!(run.stderr.contains(wanted), "{wanted}: {}", run.stderr);
    }
    assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);

    let run = verify(dir.path(), &["--json", "--verify", script]);
    let error = &run.json().expect("JSON")["error"];
    assert_eq!(run.code, 8);
    assert_eq!(&error["kind"], &"command_failed");
    assert_eq!(&error["details"]["reason"], &"unverified");
    assert_eq!(error["details"]["exitCode"], 3);
    assert!(error["details"]["leftOutBytes"].is_null());
    assert_eq!(error["details"]["output"], "out\nerr\n\u{1b}[31mred\n");
    assert!(is_old(dir.path()));

    // Of much output the end is kept.
    let run = verify(
        dir.path(),
        &["--json", "--verify", "yes 0123456789 | head -c 1000000; echo the end; false"],
    );
    let details = &run.json().expect("JSON")["error"]["details"];
    assert_eq!(details["leftOutBytes"].as_u64(), Some(1_000_008 - 4096));
    assert_eq!(run.code, 8);
    assert!(
        details["output"]
            .as_str()
            .is_some_and(|text| text.len() == 4096 && text.ends_with("the end\n"))
    );
    let run =
        verify(dir.path(), &["--verify", "yes 0123456789 | head -c 1000000; echo the end; false"]);
    // A person has seen all of it as it came, and once.
    assert!(run.stderr.len() > 1_000_000, "{}", run.stderr.len());
    assert_eq!(run.stderr.matches("the end\n").count(), 1, "{}", run.stderr.len());
    let quiet = &["-q", "--verify", "yes 0123456789 | head -c 1000000; echo the end; false"];
    let run = verify(dir.path(), quiet);
    assert!(run.stderr.contains("printed 934472 bytes more"), "{}", run.stderr.len());
    assert!(run.stderr.len() < 70_000, "{}", run.stderr.len());

    // The audit log and the events have it too.
    let log =
        fs::read_to_string(dir.path().join("w/.apply-patch/audit/cli.jsonl")).expect("the log");
    let failed =
        log.lines().filter(|line| line.contains("\"phase\":\"outcome\"")).collect::<Vec<_>>();
    assert!(failed.len() == 5, "{log}");
    assert!(failed.iter().all(|line| line.contains("\"ok\":false")), "{log}");
    let run = verify(dir.path(), &["--events", "jsonl", "--verify", "false"]);
    let end = run.stdout.lines().find(|line| line.contains("\"type\":\"end\"")).expect("an end");
    assert!(end.contains("\"ok\":false"), "{end}");
    assert!(end.contains("\"reason\":\"unverified\""), "{end}");
}

/// The command waits for a file that is made when its first line was read.
#[test]
fn the_output_is_shown_while_the_command_runs() {
    use std::io::{BufRead as _, BufReader};
    let dir = files();
    let script = "printf 'begun\\n\\303'; printf '\\244 \\033[1m'; until test -f ../go; do sleep \
                  0.01; done; echo done; printf x";
    let begin = |args: &[&str]| {
        let mut command = clean(env!("CARGO_BIN_EXE_apply-patch"));
        command.args(args).args(["--verify", script, "../p"]).current_dir(dir.path().join("w"));
        command.env("HOME", dir.path()).env("XDG_STATE_HOME", dir.path().join("state"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let mut child = begin(&[]);
    let mut lines =
        BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "begun"));
    fs::write(dir.path().join("go"), "").expect("a file");
    let rest: Vec<String> = lines.collect();
    assert!(rest[0].starts_with('ä'), "{rest:?}");
    assert!(rest[0].ends_with("done"), "{rest:?}");
    assert!(!rest[0].contains('\u{1b}'), "{rest:?}");
    assert_eq!(rest[1], "x", "{rest:?}");
    assert!(child.wait().expect("it ends").success());
    assert!(!is_old(dir.path()));
    // A program reads one object, and nothing else.
    fs::write(dir.path().join("w/a"), "one\n").expect("a file");
    fs::remove_file(dir.path().join("w/b")).expect("it is there");
    let done = begin(&["--json"]).wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
}

#[test]
fn a_command_has_the_root_and_nothing_of_ours() {
    let dir = files();
    let run = verify(dir.path(), &["--verify", "pwd; env; ls -l /proc/self/fd; cat; false"]);
    let root = fs::canonicalize(dir.path().join("w")).expect("the root");
    assert!(run.stderr.contains(&format!("\n{}\n", root.display())), "{}", run.stderr);
    let ours: Vec<_> = run.stderr.lines().filter(|line| line.starts_with("APPLY_PATCH_")).collect();
    let state = format!("APPLY_PATCH_CHECKED_STATE={}", root.join(".apply-patch").display());
    assert!(run.stderr.contains("\nPATH="), "{}", run.stderr);
    assert_eq!(ours, [state], "but for what tells a call of this program where it is");
    let open = run
        .stderr
        .lines()
        .filter(|line| line.contains(" -> ") && line.contains("/w/"))
        .collect::<Vec<_>>();
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_all_that_it_started() {
    let dir = files();
    let script = "sh -c 'trap \"\" TERM; sleep 600 & echo $! > ../child; wait; sleep 600'";
    let run = verify(dir.path(), &["--json", "--verify", script, "--verify-timeout", "0.5"]);
    let error = &run.json().expect("JSON")["error"];
    assert_eq!(run.code, 8, "{run:?}");
    assert_eq!(error["details"]["timedOut"], true, "{run:?}");
    assert!(is_old(dir.path()));
    let child: i32 = fs::read_to_string(dir.path().join("child"))
        .expect("it began")
        .trim()
        .parse()
        .expect("a number");
    let state = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}

/// Begins to verify, and waits until the command is there. Who runs the tests may ignore signals,
/// as a shell does for what it runs in the background; env(1) takes that back.
fn begun(dir: &Path) -> Option<Child> {
    const SIGNALS: &str = "--default-signal=INT,TERM";
    if !clean("env").args([SIGNALS, "true"]).output().is_ok_and(|output| output.status.success()) {
        testutils::skip!("an env with --default-signal is missing");
        return None;
    }
    let mut child = clean("env")
        .args([
            SIGNALS,
            env!("CARGO_BIN_EXE_apply-patch"),
            "../p",
            "--verify",
            "echo > ../begun; exec sleep 60",
        ])
        .current_dir(dir.join("w"))
        .env("HOME", dir)
        .env("XDG_STATE_HOME", dir.join("state"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    while !dir.join("begun").exists() {
        assert_eq!(child.try_wait().expect("a child"), None, "it waits for the command");
        sleep(Duration::from_millis(5));
    }
    Some(child)
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a number")).expect("a process")
}

#[test]
fn whoever_is_killed_while_the_command_runs_has_changed_nothing() {
    let dir = files();
    let Some(mut child) = begun(dir.path()) else { return };
    assert!(!is_old(dir.path()), "it looks at the new files");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let run = program::run("apply-patch", &dir.path().join("w"), dir.path(), &["log"], b"");
    assert!(run.stderr.contains("recovered the interrupted transaction"), "{run:?}");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(is_old(dir.path()), "{run:?}");
    assert_eq!(pending(dir.path()), 0, "{run:?}");

    // The command itself.
    let run = verify(dir.path(), &["--json", "--verify", "kill -9 $$"]);
    let error = &run.json().expect("JSON")["error"];
    assert_eq!(run.code, 8, "{run:?}");
    assert_eq!(error["details"]["signal"], 9, "{run:?}");
    assert!(is_old(dir.path()), "{run:?}");
}

#[test]
fn a_signal_ends_the_command_and_takes_the_change_back() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let dir = files();
        let Some(mut child) = begun(dir.path()) else { return };
        kill_process(pid(&child), signal).expect("it runs");
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.code(), Some(code), "{signal:?}");
        assert!(is_old(dir.path()), "{signal:?}");
        assert_eq!(pending(dir.path()), 0, "{signal:?}");
    }
}

/// A formatter that fails in the end.
#[test]
fn what_the_command_wrote_is_not_lost() {
    let dir = files();
    let run = verify(dir.path(), &["--json", "--verify", "echo formatted > a; exit 1"]);
    let error = &run.json().expect("JSON")["error"];
    assert_eq!(run.code, 6, "{run:?}");
    assert_eq!(&error["details"]["paths"], &serde_json::json!(["a"]), "{run:?}");
    assert_eq!(error["details"]["verify"]["exitCode"], 1);
    assert_eq!(fs::read_to_string(dir.path().join("w/a")).expect("the file"), "formatted\n");
    assert!(!dir.path().join("w/b").exists());
    let journal = error["details"]["journal"].as_str().expect("a path");
    assert!(dir.path().join("w").join(journal).exists(), "{run:?}");
}

/// Its files are kept in the trash: nobody wants them back there, and nothing is left unfinished.
#[test]
fn a_command_may_remove_a_directory() {
    let dir = place(&[("w/d/a", "one\n"), ("p", &PATCH.replace(": ", ": d/"))]);
    let run = verify(dir.path(), &["--json", "--verify", "rm -rf d; exit 1"]);
    let error = &run.json().expect("JSON")["error"];
    assert_eq!(run.code, 6, "{run:?}");
    assert_eq!(&error["details"]["paths"], &serde_json::json!(["d/a"]), "{run:?}");
    assert_eq!(error["details"]["verify"]["exitCode"], 1);
    assert_eq!(pending(dir.path()), 0, "{run:?}");
    let folder = error["details"]["journal"].as_str().and_then(|path| path.rsplit_once('/'));
    let kept = dir.path().join("w").join(folder.expect("a path").0).join("0");
    assert_eq!(fs::read_to_string(kept).expect("the file from before"), "one\n");
}

/// As `git clean -fdx` does: the files that were displaced go, too.
#[test]
fn a_command_may_remove_the_state_directory() {
    for (script, said) in [
        ("rm -rf .apply-patch; exit 3", "exited with 3"),
        (
            "rm -rf .apply-patch",
            "removed the state directory, without which the change cannot be undone",
        ),
    ] {
        let dir = files();
        let run = verify(dir.path(), &["--verify", script]);
        assert_eq!(run.code, 8, "{script}: {run:?}");
        assert!(is_old(dir.path()), "{script}: {run:?}");
        assert!(run.stderr.contains(said), "{script}: {run:?}");
        assert!(run.stderr.contains("nothing was changed"), "{script}: {run:?}");
        let names = fs::read_dir(dir.path().join("w")).expect("a folder");
        let names: Vec<_> = names.map(|entry| entry.expect("an entry").file_name()).collect();
        assert_eq!(names, ["a"], "{script}");
    }
}

/// It could only wait for the lock, in vain.
#[test]
fn a_call_within_the_check_is_refused_at_once() {
    let dir = files();
    let program = program::word();
    fs::write(dir.path().join("other"), "*** Begin Patch\n*** Add File: n\n+n\n*** End Patch\n")
        .expect("a file");
    // Longer than the whole check may take.
    let timeout = "--lock-timeout 600";
    for call in [
        "undo",
        &format!("apply {timeout} ../other"),
        "recover",
        "tool create_file --args '{\"path\":\"n\",\"content\":\"\"}'",
    ] {
        let script = format!(
            "timeout 60 {program} {call} 2>&1; echo code $?; {program} status >/dev/null && exit 1"
        );
        let run = verify(dir.path(), &["--verify", &script, "--json"]);
        let said = run.stdout.clone() + &run.stderr;
        assert!(said.contains("within the check of a change of this project"), "{call}: {run:?}");
        assert!(said.contains("code 5"), "{call}: {run:?}");
        assert_eq!(run.code, 8, "{call}: {run:?}");
        assert!(is_old(dir.path()), "{call}: {run:?}");
    }
    // In another project it does what it always does.
    let other = format!("mkdir ../o && {program} -C ../o ../other && test -f ../o/n");
    let run = verify(dir.path(), &["--verify", &other]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!is_old(dir.path()), "{run:?}");
}

/// The program with a configuration of the user's, and of the workspace's.
fn configured(dir: &Path, user: &str, args: &[&str], input: &str) -> Run {
    let config = dir.join("config/apply-patch");
    fs::create_dir_all(&config).expect("a folder");
    fs::write(config.join("config.toml"), user).expect("a file");
    let path = format!("PATH={}", std::env::var("PATH").expect("a path"));
    let home = format!("XDG_CONFIG_HOME={}", dir.join("config").display());
    let all = [&[&*home, &*path, env!("CARGO_BIN_EXE_apply-patch")], args].concat();
    program::run_other("env", &dir.join("w"), dir, &all, input.as_bytes())
}

#[test]
fn the_configuration_of_a_user_checks_every_change() {
    let tool = serde_json::json!({ "patch": PATCH }).to_string();
    let apply = &["../p"][..];
    let call = &["tool", "apply_patch", "--args", &tool][..];
    let none = &["../p", "--verify", ""][..];
    // The configuration, the call, whether it is applied, and the lines of the file `ran`.
    for (user, args, applied, ran) in [
        ("verify = 'echo all >> ../ran'", apply, true, "all\n"),
        ("verify = 'echo all >> ../ran; false'", apply, false, "all\n"),
        ("verify = 'echo all >> ../ran; false'", call, false, "all\n"),
        ("verify = 'echo all >> ../ran'", call, true, "all\n"),
        ("verify = 'echo all >> ../ran; false'", none, true, ""),
        ("verify = 'sleep 9'\nverify-timeout = 0.05", apply, false, ""),
        // In order, each once, and none after one that fails.
        (
            "[verify]\nb = 'echo b >> ../ran'\n'*.rs' = 'echo rs >> ../ran'\na = 'echo a >> \
             ../ran'\n'*' = 'echo b >> ../ran'",
            apply,
            true,
            "b\na\n",
        ),
        ("[verify]\na = 'echo a >> ../ran; false'\nb = 'echo b >> ../ran'", apply, false, "a\n"),
        ("[verify]\n'*.rs' = 'echo rs >> ../ran; false'", apply, true, ""),
    ] {
        let dir = files();
        let run = configured(dir.path(), user, args, "");
        let case = format!("{user} {args:?}: {run:?}");
        assert_eq!(run.code, if applied { 0 } else { 8 }, "{case}");
        assert_eq!(is_old(dir.path()), !applied, "{case}");
        let found = fs::read_to_string(dir.path().join("ran")).unwrap_or_default();
        assert_eq!(found, ran, "{case}");
        if args == apply {
            let said = run.stderr.contains("verifying");
            assert_eq!(said, !applied || !ran.is_empty(), "only what is done is said: {case}");
        }
        if !applied && args == call {
            let error = &run.json().expect("JSON")["error"];
            assert_eq!(&error["details"]["reason"], &"unverified");
            assert_eq!(&error["details"]["command"], &"echo all >> ../ran; false");
            assert_eq!(&error["hints"][0]["hint"], &"send");
        }
    }
}

/// What is undone was there before: a check that fails must not keep anyone from going back.
#[test]
fn undo_and_redo_are_not_checked() {
    let dir = files();
    let user = "verify = 'echo x >> ../ran; grep -q two a'";
    for args in [&["../p"][..], &["undo"], &["redo"], &["undo"]] {
        let run = configured(dir.path(), user, args, "");
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
    }
    assert!(is_old(dir.path()));
    assert_eq!(fs::read_to_string(dir.path().join("ran")).expect("it ran"), "x\n");
}

#[test]
fn the_file_of_a_workspace_runs_no_commands() {
    for text in ["verify = 'touch ../ran'", "[verify]\n'*' = 'touch ../ran'"] {
        let dir = files();
        fs::write(dir.path().join("w/.apply-patch.toml"), text).expect("a file");
        let run = configured(dir.path(), "", &["../p"], "");
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("runs commands"), "{run:?}");
        assert!(is_old(dir.path()), "{run:?}");
        assert!(!dir.path().join("ran").exists(), "{run:?}");
    }
    for (user, said) in [
        ("verify = 1", "must be a command, or a table"),
        ("[verify]\n'[' = 'x'", "glob 1: it is malformed"),
        ("[verify]\n'./**' = 'x'", "glob 1: it can match no path"),
        ("[verify]\n'*' = ''", "entry 1 has no command"),
        ("verify-timeout = -1", "must be a number of seconds"),
    ] {
        let run = configured(files().path(), user, &["../p"], "");
        assert_eq!(run.code, 2, "{user}: {run:?}");
        assert!(run.stderr.contains(said), "{user}: {run:?}");
    }
    for args in [&["../p", "--no-atomic"][..], &["../p", "--sandbox"]] {
        let dir = files();
        let run = configured(dir.path(), "verify = 'true'", args, "");
        assert_eq!(run.code, 2, "{args:?}: {run:?}");
        assert!(is_old(dir.path()), "{run:?}");
    }
}

/// The server's flag: a model is told what the check printed, and what to do.
#[test]
fn a_server_checks_changes_and_tells_the_model() {
    let call = serde_json::json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "apply_patch", "arguments": { "patch": PATCH } } });
    let each = serde_json::json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "apply_patch", "arguments": { "patch": PATCH, "atomic": false } } });
    let first = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } } });
    let ready = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
    let dir = files();
    for (command, applied) in [("echo why it fails; false", false), ("grep -q two a", true)] {
        let args = ["-C", ".", "serve", "--mcp", "--approve", "never", "--verify", command];
        let input = format!("{first}\n{ready}\n{each}\n{call}\n");
        let run = configured(dir.path(), "", &args, &input);
        let answer = |id: u64| -> serde_json::Value {
            let answers = run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
            let mut answers = answers.filter(|value: &serde_json::Value| value["id"] == id);
            answers.next().unwrap_or_else(|| panic!("no answer to {id}: {run:?}"))["result"].clone()
        };
        let refused = answer(3);
        assert_eq!(refused["isError"], true, "{run:?}");
        assert_eq!(refused["structuredContent"]["error"]["details"]["reason"], "bad_arguments");
        let result = answer(2);
        assert_eq!(result["isError"], !applied, "{run:?}");
        assert_eq!(is_old(dir.path()), !applied, "{run:?}");
        if !applied {
            let error = &result["structuredContent"]["error"];
            assert_eq!(error["details"]["reason"], "unverified", "{error}");
            assert_eq!(error["details"]["output"], "why it fails\n", "{error}");
            assert_eq!(error["details"]["command"], command, "{error}");
            let text = result["content"][0]["text"].as_str().expect("a text");
            assert!(text.contains("the check printed:\nwhy it fails\n"), "{text}");
            assert!(text.contains("next: send the change again, corrected by"), "{text}");
        }
    }
}

/// Who is to correct a change has to see what is wrong with it, also where an answer is one text.
#[test]
fn every_caller_is_told_what_the_check_printed() {
    let patch = serde_json::json!({ "patch": PATCH }).to_string();
    let create = serde_json::json!({ "command": "create", "path": "n", "file_text": "x" });
    let operation = serde_json::json!({ "type": "apply_patch_call", "call_id": "c", "operation": {
        "type": "update_file", "path": "a", "diff": "@@\n-one\n+two\n" } });
    let editor = ["tool", "--dialect", "anthropic-editor", "--args", &create.to_string()];
    for (args, input) in [
        (&["tool", "edit.patch", "--args", &patch][..], String::new()),
        (&editor, String::new()),
        (&["ops"], operation.to_string()),
    ] {
        let dir = files();
        let run = configured(dir.path(), "verify = 'echo WHY; false'", args, &input);
        assert_ne!(run.code, 0, "{run:?}");
        let (printed, next) =
            (run.stdout.find("the check printed:"), run.stdout.find("next: send"));
        assert!(run.stdout.contains("WHY"), "{run:?}");
        assert!(printed.is_some(), "{run:?}");
        assert!(printed < next, "{run:?}");
        assert!(is_old(dir.path()), "{run:?}");
    }
}
