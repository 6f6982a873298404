//! `--format-with`: a command formats new files before the plan is shown.

use std::fs;
use std::path::Path;

use crate::program::{self, Run, place};

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** Add File: b.txt\n\
                     +new\n\
                     *** Delete File: gone\n*** Update File: old\n*** Move to: moved\n\
                     *** End Patch\n";

/// Makes letters large and says so nowhere.
const SHOUT: &str = "tr a-z A-Z";

fn files() -> tempfile::TempDir {
    place(&[
        ("w/a", "one\nlast\n"),
        ("w/gone", "gone\n"),
        ("w/old", "old\n"),
        ("p", PATCH),
        ("config/apply-patch/config.toml", ""),
    ])
}

fn run(dir: &Path, args: &[&str]) -> Run {
    let path = format!("PATH={}", std::env::var("PATH").expect("a path"));
    let all = [&[&path, env!("CARGO_BIN_EXE_apply-patch")][..], args].concat();
    program::run_other("env", &dir.join("w"), dir, &all, b"")
}

fn text(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join("w").join(name)).unwrap_or_default()
}

fn is_old(dir: &Path) -> bool {
    text(dir, "a") == "one\nlast\n"
        && text(dir, "b.txt").is_empty()
        && text(dir, "gone") == "gone\n"
}

#[test]
fn what_is_shown_is_what_is_committed() {
    let dir = files();
    let dir = dir.path();
    let args = ["../p", "--format-with", SHOUT];
    let shown = run(dir, &[&args[..], &["-n"]].concat());
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(is_old(dir));
    for line in ["-one\n", "-last\n", "+TWO\n", "+LAST\n", "+NEW\n", "rename from old\n"] {
        assert!(shown.stdout.contains(line), "{line} {}", shown.stdout);
    }
    assert!(shown.stderr.contains("note: a: formatted by `tr a-z A-Z`"), "{}", shown.stderr);
    let applied = run(dir, &[&args[..], &["--json"]].concat());
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(text(dir, "a"), "TWO\nLAST\n");
    assert_eq!(text(dir, "b.txt"), "NEW\n");
    // Only its name changed.
    assert_eq!(text(dir, "moved"), "old\n");
    let data = &applied.json().expect("JSON")["data"];
    assert!(data.to_string().contains("a: formatted by `tr a-z A-Z`"), "{data}");
    assert_eq!(run(dir, &["log", "-p"]).stdout.matches("+TWO\n").count(), 1);
    // What it was is not formatted.
    let undone = run(dir, &["undo", "--format-with=false"]);
    assert_eq!(undone.code, 2, "{undone:?}");
    let undone = run(dir, &["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert!(is_old(dir));
    assert_eq!(run(dir, &["redo"]).code, 0);
    assert_eq!(text(dir, "a"), "TWO\nLAST\n");
}

#[test]
fn a_command_that_does_not_succeed_changes_nothing() {
    for (command, message, detail, hint) in [
        (
            "echo bad >&2; exit 1",
            "the formatter `echo bad >&2; exit 1` exited with 1",
            "exitCode",
            "send",
        ),
        ("exit 123", "exited with 123", "exitCode", "send"),
        ("no-such-formatter", "exited with 127", "exitCode", "ask_person"),
        ("kill -9 $$", "was ended by signal 9", "signal", "ask_person"),
        ("true", "printed nothing", "command", "ask_person"),
        ("cat >/dev/null", "printed nothing", "command", "ask_person"),
        ("sleep 9", "took longer than 0.2 s", "timedOut", "ask_person"),
        ("cat; sleep 9 & exit 0", "keeps its output open", "command", "ask_person"),
    ] {
        let dir = files();
        let dir = dir.path();
        let args = ["../p", "--json", "--verify-timeout", "0.2", "--format-with", command];
        // The last one is waited for.
        let args = if command.contains('&') && command.contains("cat") {
            [&args[..2], &["--verify-timeout", "60"], &args[4..]].concat()
        } else {
            args.to_vec()
        };
        let failed = run(dir, &args);
        assert_eq!(failed.code, 1, "{command}: {failed:?}");
        let error = &failed.json().expect("JSON")["error"];
        assert_eq!(error["kind"], "command_failed", "{command}");
        assert_eq!(error["details"]["reason"], "not_formatted", "{command}");
        assert!(error["message"].as_str().expect("text").contains(message), "{command}: {error}");
        assert!(!error["details"][detail].is_null(), "{command}: {error}");
        assert_eq!(error["hints"][0]["hint"], hint, "{command}: {error}");
        assert!(is_old(dir), "{command}");
    }
    // A person sees what it printed, and which file it was.
    let dir = files();
    let failed = run(dir.path(), &["../p", "--format-with", "echo not so >&2; exit 1"]);
    assert_eq!(failed.code, 1);
    for wanted in ["not so\n", "a: the formatter", "nothing was changed"] {
        assert!(failed.stderr.contains(wanted), "{wanted}: {}", failed.stderr);
    }
}

#[test]
fn a_command_for_each_pattern_gets_the_path_and_the_bytes() {
    let dir = files();
    let dir = dir.path();
    let config = "[format-with]\n\"*.txt\" = 'echo \"$APPLY_PATCH_FILE\"; cat'\n\
                  \"b*\" = \"sed s/new/newer/\"\n";
    fs::write(dir.join("config/apply-patch/config.toml"), config).expect("a file");
    let applied = run(dir, &["../p"]);
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(text(dir, "a"), "two\nlast\n");
    assert_eq!(text(dir, "b.txt"), "b.txt\nnewer\n");
    let told = "b.txt: formatted by `echo \"$APPLY_PATCH_FILE\"; cat` and `sed s/new/newer/`";
    let other = "b.txt: formatted by `sed s/new/newer/` and `echo \"$APPLY_PATCH_FILE\"; cat`";
    assert!(applied.stderr.contains(told) || applied.stderr.contains(other), "{applied:?}");
    // A tool's caller is told too, and goes on from what it wrote itself.
    let arguments = r#"{"path": "c.txt", "content": "new\nmore\nlast\n"}"#;
    let made = run(dir, &["tool", "create_file", "--session", "s", "--args", arguments]);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(made.stdout.contains("c.txt: formatted by"), "{made:?}");
    assert_eq!(text(dir, "c.txt"), "c.txt\nnew\nmore\nlast\n");
    let patch = "*** Begin Patch\n*** Update File: c.txt\n@@\n-last\n+end\n*** End Patch\n";
    let arguments = serde_json::json!({ "patch": patch }).to_string();
    let edited = run(dir, &["tool", "apply_patch", "--session", "s", "--args", &arguments]);
    assert_eq!(edited.code, 0, "{edited:?}");
    assert_eq!(text(dir, "c.txt"), "c.txt\nc.txt\nnew\nmore\nend\n");
    // A file of the workspace cannot run commands, and a file that is not text is left alone.
    let dir = files();
    let dir = dir.path();
    fs::write(dir.join("w/.apply-patch.toml"), "format-with = \"false\"\n").expect("a file");
    let refused = run(dir, &["../p"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(is_old(dir));
    fs::remove_file(dir.join("w/.apply-patch.toml")).expect("it was there");
    fs::write(dir.join("w/old"), b"\0old\n").expect("a file");
    let kept = run(dir, &["../p", "--format-with", SHOUT]);
    assert_eq!(kept.code, 0, "{kept:?}");
    assert_eq!(text(dir, "moved"), "\0old\n");
}

#[test]
fn a_section_that_is_not_formatted_is_left_out_where_that_is_asked_for() {
    let dir = files();
    let dir = dir.path();
    let command = "case $APPLY_PATCH_FILE in *.txt) echo no >&2; exit 1;; esac; cat";
    let partial = run(dir, &["../p", "--partial", "--format-with", command]);
    assert_eq!(text(dir, "a"), "two\nlast\n", "{partial:?}");
    assert_eq!(text(dir, "b.txt"), "", "{partial:?}");
    assert!(partial.stderr.contains("the formatter `case"), "{partial:?}");
}

#[test]
fn what_is_confined_formats_nothing() {
    let dir = files();
    let refused = run(dir.path(), &["../p", "--sandbox", "--format-with", SHOUT]);
    assert_eq!(refused.code, 2, "{refused:?}");
    let said = "'--sandbox' cannot be used with '--format-with";
    assert!(refused.stderr.contains(said), "no variable leaves the flag out: {refused:?}");
    assert!(is_old(dir.path()));
}
