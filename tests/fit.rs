//! `apply-patch grammar --fit`: grammars for the files of a workspace.

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Run, run};

/// A workspace with two files, and a home beside it.
fn workspace() -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let root = dir.path().join("w");
    std::fs::create_dir(&root).expect("a folder");
    std::fs::write(root.join("a.txt"), "one\ntwo\nthree\n").expect("a file");
    std::fs::write(root.join("b.bin"), b"\0").expect("a file");
    std::fs::write(root.join(".env"), "KEY=1\n").expect("a file");
    dir
}

fn call(dir: &TempDir, args: &[&str], input: &str) -> Run {
    run("apply-patch", &dir.path().join("w"), dir.path(), args, input.as_bytes())
}

#[test]
fn the_grammar_goes_to_standard_output_and_notes_beside_it() {
    let dir = workspace();
    let run = call(&dir, &["grammar", "--fit", "a.txt", "b.bin"], "");
    assert!(run.stdout.contains("*** Update File: a.txt"), "{run:?}");
    assert!(run.stderr.contains("b.bin: left out of updates: it is binary"), "{run:?}");
}

#[test]
fn a_patch_is_applied_with_the_arguments_of_the_stub() {
    let dir = workspace();
    let run = call(&dir, &["--json", "grammar", "--fit", "a.txt", "--format", "ebnf"], "");
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert!(answer["data"]["grammar"].as_str().is_some_and(|text| text.starts_with('#')));
    let mut arguments = answer["data"]["stub"].clone();
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** End Patch\n";
    arguments["patch"] = patch.into();
    let applied = call(&dir, &["tool", "apply_patch", "--args", &arguments.to_string()], "");
    assert_eq!(applied.code, 0, "{applied:?}");
}

#[test]
fn a_file_that_changed_since_the_grammar_is_stale() {
    let dir = workspace();
    let run = call(&dir, &["--json", "grammar", "--fit", "a.txt"], "");
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let mut arguments = answer["data"]["stub"].clone();
    arguments["patch"] =
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n*** End Patch\n".into();
    std::fs::write(dir.path().join("w/a.txt"), "one\ntwo\n").expect("a file");
    let run = call(&dir, &["tool", "apply_patch", "--args", &arguments.to_string()], "");
    assert!(run.stdout.contains("stale_file"), "{run:?}");
}

#[test]
fn lines_that_were_not_shown_are_not_in_the_grammar() {
    let dir = workspace();
    let run = call(&dir, &["grammar", "--fit", "a.txt", "--lines", "a.txt:1-2"], "");
    assert!(run.stdout.contains("two"), "{run:?}");
    assert!(!run.stdout.contains("three"), "{run:?}");
}

#[test]
fn listed_paths_can_be_deleted() {
    let dir = workspace();
    let args = ["grammar", "--fit", "a.txt", "--operations", "delete", "--paths-from", "-"];
    let run = call(&dir, &args, "a.txt\nb.bin\n");
    assert!(run.stdout.contains("*** Delete File: b.bin"), "{run:?}");
    assert!(!run.stdout.contains("*** Update File"), "{run:?}");
}

#[test]
fn of_paths_that_differ_in_case_alone_one_is_in_it() {
    let dir = workspace();
    let args = ["grammar", "--fit", "a.txt", "--operations", "delete", "--paths-from", "-"];
    let run = call(&dir, &args, "A.txt\n");
    assert!(run.stdout.contains("*** Delete File: a.txt"), "{run:?}");
    assert!(!run.stdout.contains("*** Delete File: A.txt"), "{run:?}");
    assert!(run.stderr.contains("A.txt: left out: its path differs"), "{run:?}");
}

#[test]
fn a_file_that_the_guard_refuses_is_not_read() {
    let dir = workspace();
    for (file, code) in [(".env", 3), ("../a.txt", 3), ("none.txt", 1)] {
        assert_eq!(call(&dir, &["grammar", "--fit", file], "").code, code, "{file}");
    }
}

#[test]
fn a_grammar_for_files_is_tight() {
    let dir = workspace();
    let plain = call(&dir, &["grammar", "--fit", "a.txt"], "");
    let tight = call(&dir, &["grammar", "--tight", "--fit", "a.txt"], "");
    assert_eq!(tight.code, 0, "{tight:?}");
    assert_eq!(tight.stdout, plain.stdout);
    assert_eq!(call(&dir, &["grammar", "--fit", "a.txt", "--dialect", "codex"], "").code, 2);
}

#[test]
fn the_grammar_may_begin_after_free_text() {
    let dir = workspace();
    let args = ["tool-spec", "--provider", "xgrammar", "--fit", "a.txt", "--free-text"];
    let run = call(&dir, &args, "");
    let spec: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let tag = &spec["format"]["tags"][0];
    let grammar = tag["content"]["grammar"].as_str().expect("a grammar");
    assert!(grammar.contains("*** Update File: a.txt"), "{grammar}");
    assert!(!grammar.contains("Begin Patch"), "{grammar}");
}

#[test]
fn a_tool_has_the_grammar_of_the_files() {
    let dir = workspace();
    let run = call(&dir, &["tool-spec", "--provider", "vllm", "--fit", "a.txt"], "");
    assert!(run.stdout.contains("*** Update File: a.txt"), "{run:?}");
    let run = call(&dir, &["tool-spec", "--provider", "mcp", "--fit", "a.txt"], "");
    assert!(run.stderr.contains("mcp takes no grammar"), "{run:?}");
}

#[test]
fn what_makes_no_sense_is_said() {
    let dir = workspace();
    for (args, message) in [
        (&["--fit", "a.txt", "--format", "regex"][..], "has no form as regex"),
        (&["--fit", "b.bin"], "b.bin: left out of updates: it is binary"),
        (&["--fit", "a.txt", "--operations", "copy"], "\"copy\" is not one of update, add"),
        (&["--fit", "a.txt", "--lines", "a.txt"], "src/a.rs:10-80"),
        (&["--lines", "a.txt:1-2"], "--fit"),
    ] {
        let run = call(&dir, &[&["grammar"], args].concat(), "");
        assert!(run.stderr.contains(message), "{args:?}: {run:?}");
        assert_ne!(run.code, 0, "{args:?}");
    }
}
