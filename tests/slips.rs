//! What people mistype or mean otherwise, at the command line: they are told what does it, and what
//! they are told works.

use std::fs;
use std::path::Path;

use crate::program::{Run, place, run};

fn called(dir: &Path, args: &[&str], input: &str) -> Run {
    run("apply-patch", &dir.join("w"), dir, args, input.as_bytes())
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
