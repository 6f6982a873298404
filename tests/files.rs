//! Several files as one patch, and the clipboard.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::program::{Run, place, run, run_other};

const FIRST: &str = "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
const SECOND: &str = "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-two\n+zwei\n 3\n";

fn files(more: &[(&str, &str)]) -> tempfile::TempDir {
    place(&[&[("w/a", "1\n2\n3\n")], more].concat())
}

fn at(dir: &Path, args: &[&str], input: &str) -> Run {
    run("apply-patch", &dir.join("w"), dir, args, input.as_bytes())
}

fn envelope(sections: &str) -> String {
    format!("*** Begin Patch\n{sections}*** End Patch\n")
}

/// The files are applied in their order, as one transaction: all of them or none.
#[test]
fn several_files_are_one_patch() {
    let mail = |nth: usize, diff: &str| {
        format!(
            "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
             From: A <a@example.com>\nSubject: [PATCH {nth}/2] x\n\n---\n a | 2 +-\n\n\
             diff --git a/a b/a\n{diff}-- \n2.39.5\n\n"
        )
    };
    let git = |diff: &str| format!("diff --git a/a b/a\n{diff}");
    let update =
        |from: &str, to: &str| envelope(&format!("*** Update File: a\n@@\n 1\n-{from}\n+{to}\n"));
    let renamed =
        "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n".to_owned();
    let then =
        "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1,3 +1,3 @@\n 1\n-2\n+zwei\n 3\n".to_owned();
    let copied = "diff --git a/a b/b\ncopy from a\ncopy to b\n--- a/a\n+++ b/b\n\
                  @@ -1,3 +1,3 @@\n 1\n-two\n+zwei\n 3\n"
        .to_owned();
    let cases = [
        ("diffs", FIRST.to_owned(), SECOND.to_owned(), "a"),
        ("git diffs", git(FIRST), git(SECOND), "a"),
        ("a rename first", renamed, then, "b"),
        ("a copy of what the first one changed", git(FIRST), copied, "b"),
        ("mails", mail(1, FIRST), mail(2, SECOND), "a"),
        ("envelopes", update("2", "two"), update("two", "zwei"), "a"),
        (
            "in prose",
            format!("Take this:\n\n```\n{}```\n", update("2", "two")),
            update("two", "zwei"),
            "a",
        ),
        (
            "without a last line feed",
            FIRST.trim_end().to_owned(),
            SECOND.trim_end().to_owned(),
            "a",
        ),
    ];
    for (what, first, second, file) in cases {
        let dir = files(&[("w/1", &first), ("w/2", &second)]);
        let here = dir.path();
        let wrong = at(here, &["2", "1"], "");
        assert_eq!(wrong.code, 1, "{what}: {wrong:?}");
        assert_eq!(fs::read_to_string(here.join("w/a")).unwrap(), "1\n2\n3\n", "{what}: {wrong:?}");
        assert_eq!(at(here, &["--check", "1", "2"], "").code, 0, "{what}");
        let done = at(here, &["1", "2"], "");
        assert_eq!(done.code, 0, "{what}: {done:?}");
        assert_eq!(
            fs::read_to_string(here.join("w").join(file)).unwrap(),
            "1\nzwei\n3\n",
            "{what}"
        );
        assert_eq!(at(here, &["undo"], "").code, 0, "{what}");
        assert_eq!(fs::read_to_string(here.join("w/a")).unwrap(), "1\n2\n3\n", "{what}: one undo");
        // One of them from standard input.
        assert_eq!(at(here, &["-", "2"], &first).code, 0, "{what}");
    }
}

/// An error names the file and the line where it is.
#[test]
fn errors_name_the_file_that_they_are_in() {
    let add = envelope("*** Add File: n\n+1\n+2\n+3\n");
    let wrong = envelope("*** Update File: a\n@@\n 1\n-twice\n+deux\n");
    let broken = envelope("*** Update File: a\n@@\n1\n");
    let diff = SECOND.to_owned();
    let first = FIRST.replace("/a", "/b");
    let calls = |path: &str| {
        let calls = [("c0", "n", "+1\n"), ("c1", path, "@@\n 1\n-twice\n+deux\n")];
        let call = |(id, path, diff): (&str, &str, &str)| {
            let kind = if id == "c0" { "create_file" } else { "update_file" };
            json!({
                "type": "apply_patch_call", "call_id": id,
                "operation": { "type": kind, "path": path, "diff": diff },
            })
        };
        json!(calls.map(call)).to_string()
    };
    let other_file = envelope("*** Add File: o\n+1\n");
    let cases = [
        (&other_file, &calls("a"), "--> 2, diff of c1:3:1"),
        (&calls("a"), &other_file, "--> 1, diff of c1:3:1"),
        // The line that names the file was not sent.
        (&calls("missing"), &other_file, "error: missing: there is no such file\n |\n = help"),
        (&add, &wrong, "--> 2:5:1"),
        (&wrong, &add, "--> 1:5:1"),
        (&add, &format!("Look:\n\n{wrong}"), "--> 2:7:1"),
        (&first, &diff, "--> 2:5:1"),
        (&add, &broken, "--> 2:4:1"),
    ];
    for (one, two, place) in cases {
        let dir = files(&[("w/1", one), ("w/2", two), ("w/b", "1\n2\n3\n")]);
        let refused = at(dir.path(), &["1", "2"], "");
        assert_eq!(refused.code, 1, "{place}: {refused:?}");
        assert!(refused.stderr.contains(place), "{place}: {refused:?}");
    }
}

/// The same for the last of several, each of which begins with blank lines.
#[test]
fn an_error_in_the_last_of_three_files_is_found_there() {
    let add =
        |name: &str| format!("\n\n*** Begin Patch\n*** Add File: {name}\n+1\n+2\n*** End Patch\n");
    let wrong = "\n\n".to_owned() + &envelope("*** Update File: a\n@@\n 1\n-twice\n+deux\n");
    let diff = |name: &str| format!("\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-1\n+one\n");
    let wrong_diff = "\n".to_owned() + SECOND;
    let ones = [("w/n", "1\n"), ("w/o", "1\n")];
    for ([one, two, three], there, place) in [
        ([add("n"), add("o"), wrong], &[][..], "--> 3:7:1"),
        ([diff("n"), diff("o"), wrong_diff], &ones, "--> 3:6:1"),
    ] {
        let patches = [("w/1", &*one), ("w/2", &two), ("w/3", &three)];
        let dir = files(&[&patches, there].concat());
        let refused = at(dir.path(), &["1", "2", "3"], "");
        assert_eq!(refused.code, 1, "{place}: {refused:?}");
        assert!(refused.stderr.contains(place), "{place}: {refused:?}");
    }
}

#[test]
fn what_cannot_be_one_patch_is_refused() {
    let dir = files(&[("w/1", FIRST), ("w/2", &envelope("*** Delete File: a\n"))]);
    for (args, told) in [
        (&["1", "2"][..], "1, 2: these are patches of several forms"),
        (&["-", "-"], "standard input is named twice"),
        (&["--part", "1", "1", "1"], "`--part N` is for one FILE"),
        (&["--clipboard", "1"], "cannot be used with"),
        (&["1", "missing.patch"], "missing.patch"),
    ] {
        let refused = at(dir.path(), args, "");
        assert_ne!(refused.code, 0, "{args:?}: {refused:?}");
        assert!(refused.stderr.contains(told), "{args:?}: {refused:?}");
        assert_eq!(fs::read_to_string(dir.path().join("w/a")).unwrap(), "1\n2\n3\n");
    }
}

/// The clipboard is read with the program of the display that there is.
#[test]
fn a_patch_is_taken_from_the_clipboard() {
    let script = |body: &str| format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{body}\n");
    let cases: [(&str, &str, &[&str], i32, &str); 5] = [
        ("wl-paste", "cat ../copied", &["WAYLAND_DISPLAY=w"], 0, "M a"),
        ("xclip", "cat ../copied", &["DISPLAY=:0", "WAYLAND_DISPLAY="], 0, "M a"),
        ("pbpaste", "cat ../copied", &[], 0, "M a"),
        ("xclip", "cat ../copied", &[], 5, "it takes one of these programs"),
        ("pbpaste", "exit 3", &[], 5, "pbpaste: exit status: 3"),
    ];
    for (program, body, environment, code, told) in cases {
        let dir = files(&[("copied", FIRST), (&format!("bin/{program}"), &script(body))]);
        let path = dir.path().join("bin").join(program);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let bin = format!("PATH={}", dir.path().join("bin").display());
        let program_here = env!("CARGO_BIN_EXE_apply-patch");
        let args = [&[&*bin], environment, &[program_here, "--clipboard"]].concat();
        let done = run_other("env", &dir.path().join("w"), dir.path(), &args, b"");
        assert_eq!(done.code, code, "{program}: {done:?}");
        assert!(format!("{}{}", done.stdout, done.stderr).contains(told), "{program}: {done:?}");
    }
}
