//! `--unidiff-zero`: a diff without context is refused, and the hint names the flag that takes it.

use std::fs;
use std::process::Command;

use crate::program::{place, run};

const BEFORE: &str = "a\nb\nc\nd\ne\n";

#[test]
fn a_diff_without_context_is_refused_and_the_hint_takes_it() {
    for after in ["x\na\nb\nc\nd\ne\n", "a\nb\nx\nc\nd\ne\n", "a\nB\nc\nd\ne\nx\n", "b\nc\ne\n"] {
        let dir = place(&[("w/f", BEFORE), ("new", after)]);
        let w = dir.path().join("w");
        let mut diff = Command::new("diff");
        diff.args(["-U0", "--label", "a/f", "--label", "b/f", "w/f", "new"]);
        let diff = diff.current_dir(dir.path()).output().expect("diff runs").stdout;
        for (back, profile) in
            [(false, "standard"), (false, "codex"), (true, "standard"), (true, "codex")]
        {
            let (from, to) = if back { (after, BEFORE) } else { (BEFORE, after) };
            fs::write(w.join("f"), from).expect("a file");
            let mut args = vec!["apply", "--json", "--profile", profile];
            args.extend(back.then_some("-R"));
            let refused = run("apply-patch", &w, dir.path(), &args, &diff);
            assert_eq!(refused.code, 1, "{args:?}: {refused:?}");
            // What only removes lines cannot be reversed in `codex` without it.
            if !(back && profile == "codex") {
                let error = refused.json().expect("one object")["error"].clone();
                let hints = error["hints"].as_array().cloned().unwrap_or_default();
                let flags: Vec<_> = hints.iter().map(|hint| hint["flag"].clone()).collect();
                assert!(flags.contains(&"--unidiff-zero".into()), "{args:?}: {error}");
            }
            assert_eq!(fs::read_to_string(w.join("f")).expect("text"), from);
            args.push("--unidiff-zero");
            let taken = run("apply-patch", &w, dir.path(), &args, &diff);
            assert_eq!(taken.code, 0, "{args:?}: {taken:?}");
            assert_eq!(fs::read_to_string(w.join("f")).expect("text"), to, "{args:?}");
            assert_eq!(run("apply-patch", &w, dir.path(), &["undo"], b"").code, 0);
        }
    }
}

#[test]
fn the_line_number_is_named_as_the_reason() {
    let dir = place(&[("w/f", BEFORE)]);
    let diff = b"--- a/f\n+++ b/f\n@@ -2,0 +3 @@\n+x\n";
    let args = ["explain", "--unidiff-zero"];
    let run = run("apply-patch", &dir.path().join("w"), dir.path(), &args, diff);
    assert_eq!(run.code, 0, "{run:?}");
    let said = run.stdout.replace("\n", " ");
    assert!(said.contains("before line 3"), "{said}");
    assert!(said.contains("its line number says where it goes"), "{said}");
}
