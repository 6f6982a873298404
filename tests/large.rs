//! What is counted and shown does not depend on what had room in memory, and there is a bound to
//! what takes room.

use std::fs;

use crate::program::{place, run, run_other};
use testutils::share::whole;

const LINES: usize = 300_000;

fn long_file() -> String {
    (0..LINES).map(|line| format!("line {line}\n")).collect()
}

/// The rows of `--stat` for a patch to `long`: alone, and after one line of a file that leaves no
/// room for another.
fn stats(section: &str) -> [String; 2] {
    let dir = place(&[("long", &long_file())]);
    let home = tempfile::tempdir().unwrap();
    let large = format!("first\n{}", "a line of a large file\n".repeat((62 << 20) / 23));
    fs::write(dir.path().join("large"), large).unwrap();
    ["", "*** Update File: large\n@@\n-first\n+First\n"].map(|beside| {
        let patch = format!("*** Begin Patch\n{beside}{section}*** End Patch\n");
        let args = ["apply", "--profile", "codex", "-n", "--stat"];
        let done = run("apply-patch", dir.path(), home.path(), &args, patch.as_bytes());
        assert_eq!(done.code, 0, "{done:?}");
        let row = done.stdout.lines().find(|line| line.contains("long")).unwrap_or_default();
        row.to_owned()
    })
}

#[test]
fn a_replaced_file_is_counted_the_same_beside_a_large_one() {
    for row in stats("*** Add File: long\n+short\n") {
        assert!(row.ends_with("| +1 -300000"), "{row}");
    }
}

#[test]
fn two_sections_of_a_file_are_counted_the_same_beside_a_large_one() {
    let one = "*** Update File: long\n@@\n line 9\n-line 10\n+ten\n+and a half\n";
    let two = "*** Update File: long\n@@\n-line 299000\n-line 299001\n-line 299002\n line 299003\n";
    for row in stats(&format!("{one}{two}")) {
        assert!(row.ends_with("| +2 -4"), "{row}");
    }
}

/// What is left of 400 MiB of address space (700 in the long run) is not enough for 50 kB a hunk, and
/// plenty for 2 kB.
#[test]
fn a_patch_of_many_hunks_that_fit_everywhere_takes_little_memory() {
    let (count, space, calls) = if whole() { (20_000, 700, 7) } else { (10_000, 400, 5) };
    let dir = place(&[("equal", &"x\n".repeat(100_000))]);
    let home = tempfile::tempdir().unwrap();
    let hunks = "@@\n-x\n+y\n".repeat(count);
    let patch = format!("*** Begin Patch\n*** Update File: equal\n{hunks}*** End Patch\n");
    let call = serde_json::json!({ "patch": patch }).to_string();
    let script = format!("ulimit -v {}; exec {} \"$@\"", space << 10, crate::program::word());
    for (args, input) in [
        (&["apply"][..], &patch),
        (&["apply", "-n"], &patch),
        (&["apply", "--json", "--verbose"], &patch),
        (&["check", "--profile", "codex"], &patch),
        (&["tool", "apply_patch", "--args", "-"], &call),
        (&["apply", "--json"], &patch),
        (&["explain", "--json", "--profile", "codex"], &patch),
    ]
    .into_iter()
    .take(calls)
    {
        let args = [&["-c", &script, "sh"][..], args].concat();
        let done = run_other("sh", dir.path(), home.path(), &args, input.as_bytes());
        assert_eq!(done.code, 1, "{args:?}: {}", done.stderr);
        let said = if done.stdout.is_empty() { &done.stderr } else { &done.stdout };
        let all = format!("{} more", count - 1);
        assert!(
            said.contains(&all) || said.contains("hunk 1: it fits in more than one place"),
            "{args:?}: {said}"
        );
        let Ok(answer) = serde_json::from_str::<serde_json::Value>(&done.stdout) else { continue };
        let details = &answer["error"]["details"];
        let listed = details["rejects"].as_array().map_or(0, Vec::len);
        assert_eq!(details["moreRejects"], count - 1 - listed, "{args:?}");
    }
}
