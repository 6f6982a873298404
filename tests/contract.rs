//! The contract of profile `strict`, and of the tool `edit.patch`: each clause by name, at the
//! command line and as a tool.

use std::fs;

use serde_json::{Value, json};

use crate::program::{place, run};

/// The files before each patch.
const FILES: [(&str, &str); 4] = [
    ("w/a", "one\ntwo\nthree\n"),
    ("w/twice", "x\nsame\ny\nsame\n"),
    ("w/blank", "one \n"),
    ("w/b", "b\n"),
];

fn envelope(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

/// What the program and the tool `apply_patch` answer to a text in `strict`, each in a workspace of
/// its own; `{root}` in the text is its path. `check` sees the answer and the workspace.
fn answers(text: &str, flags: &[&str], check: impl Fn(&Value, &dyn Fn(&str) -> Option<String>)) {
    for tool in [false, true] {
        let dir = place(&FILES);
        let w = dir.path().join("w");
        let root = w.to_str().expect("a path in UTF-8").to_owned();
        let text = text.replace("{root}", &root);
        let run = if tool {
            if !flags.is_empty() {
                continue;
            }
            let args = json!({ "patch": text, "profile": "strict" }).to_string();
            run("apply-patch", &w, dir.path(), &["tool", "apply_patch", "--args", &args], b"")
        } else {
            let args = [&["--json", "--profile", "strict"], flags].concat();
            run("apply-patch", &w, dir.path(), &args, text.as_bytes())
        };
        let answer = run.json().unwrap_or_else(|error| panic!("{text}: {error}: {run:?}"));
        check(&answer, &|path| fs::read_to_string(w.join(path)).ok());
    }
}

#[test]
fn strict_refuses_what_its_contract_refuses() {
    let update = "*** Update File: a\n@@\n-two\n+2\n";
    let patch = envelope(update);
    let diff = "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    let block = "a\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n";
    let operation = json!({ "type": "update_file", "path": "a", "diff": "@@\n-two\n+2\n" });
    for (clause, text, kind, reason) in [
        (
            "text before the first Begin",
            format!("So:\n{patch}"),
            "patch_parse_error",
            "text_before",
        ),
        ("text after the last End", format!("{patch}Done.\n"), "patch_parse_error", "text_after"),
        ("no fence", format!("```diff\n{patch}```\n"), "patch_parse_error", "wrapped"),
        ("no heredoc", format!("<<'EOF'\n{patch}EOF\n"), "patch_parse_error", "wrapped"),
        ("no shell call", format!("apply_patch <<'EOF'\n{patch}EOF\n"), "patch_parse_error", ""),
        ("no tag", format!("<patch>\n{patch}</patch>\n"), "patch_parse_error", "text_before"),
        (
            "no quotation",
            format!("> {}", patch.trim().replace('\n', "\n> ")),
            "patch_parse_error",
            "",
        ),
        ("no JSON", json!(patch).to_string(), "patch_parse_error", ""),
        ("no diff", diff.to_owned(), "patch_parse_error", "unreadable"),
        ("no blocks", block.to_owned(), "patch_parse_error", ""),
        ("no operations", operation.to_string(), "patch_parse_error", "unreadable"),
        ("two patches", patch.repeat(2), "patch_parse_error", "second_envelope"),
        (
            "stars after a marker",
            patch.replacen("Patch\n", "Patch ***\n", 1),
            "patch_parse_error",
            "",
        ),
        ("stars after a path", patch.replace("File: a", "File: a ***"), "not_found", "not_found"),
        ("quotes around a path", patch.replace("File: a", "File: `a`"), "not_found", "not_found"),
        ("no blank after a marker", patch.replace("*** Up", "***Up"), "patch_parse_error", ""),
        (
            "line numbers",
            patch.replace("-two\n+2", "-2| two\n+2| 2"),
            "patch_apply_error",
            "context_not_found",
        ),
        ("no @@", patch.replace("@@\n", ""), "patch_parse_error", "no_at"),
        (
            "an absolute path",
            patch.replace("File: a", "File: /etc/a"),
            "command_failed",
            "absolute_path",
        ),
        (
            "an absolute path beneath the root",
            patch.replace("File: a", "File: {root}/a"),
            "command_failed",
            "absolute_path",
        ),
        ("backslashes", envelope("*** Add File: c\\d\n+x\n"), "command_failed", "backslash"),
        ("a missing parent", envelope("*** Add File: c/d\n+x\n"), "not_found", "missing_parent"),
        ("Add on an existing path", envelope("*** Add File: b\n+x\n"), "already_exists", "exists"),
        (
            "zero fuzz",
            envelope("*** Update File: blank\n@@\n-one\n+1\n"),
            "patch_apply_error",
            "context_not_found",
        ),
        (
            "several matches",
            envelope("*** Update File: twice\n@@\n-same\n+x\n"),
            "multiple_matches",
            "multiple_matches",
        ),
        (
            "a header decides nothing",
            envelope("*** Update File: twice\n@@ y\n-same\n+x\n"),
            "multiple_matches",
            "multiple_matches",
        ),
        (
            "a match in what a hunk before left",
            patch.replace("*** End", "@@\n-2\n+3\n*** End"),
            "overlapping_edits",
            "overlapping_edits",
        ),
        ("a move to itself", envelope("*** Move File: a -> a\n"), "command_failed", "same_path"),
        ("a move onto something", envelope("*** Move File: a -> b\n"), "already_exists", "exists"),
        (
            "all or nothing",
            patch.replace("*** End", "*** Update File: none\n@@\n-x\n+y\n*** End"),
            "not_found",
            "not_found",
        ),
    ] {
        answers(&text, &[], |answer, read| {
            let error = &answer["error"];
            assert_eq!(answer["ok"], false, "{clause}: {answer}");
            assert_eq!(error["kind"], kind, "{clause}: {answer}");
            assert!(
                reason.is_empty() || error["details"]["reason"] == reason,
                "{clause}: {answer}"
            );
            for (path, before) in FILES {
                let path = path.trim_start_matches("w/");
                assert_eq!(read(path).as_deref(), Some(before), "{clause}: {path}");
            }
            assert_eq!(read("c/d"), None, "{clause}");
        });
    }
}

#[test]
fn a_refusal_of_strict_says_what_to_do() {
    let absolute = envelope("*** Delete File: {root}/a\n");
    answers(&absolute, &[], |answer, _| {
        assert_eq!(answer["error"]["details"]["didYouMean"], "a", "{answer}");
    });
    let elsewhere = envelope("*** Update File: a\n@@\n-two\n+2\n@@\n-none\n+x\n");
    answers(&elsewhere, &[], |answer, _| {
        let details = &answer["error"]["details"];
        assert_eq!(answer["error"]["path"], "a", "{answer}");
        assert_eq!(
            (&details["hunkIndex"], &details["reason"]),
            (&json!(1), &json!("context_not_found"))
        );
    });
    let diff = "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    answers(diff, &["--from", "unified"], |answer, read| {
        assert_eq!(answer["ok"], true, "{answer}");
        assert_eq!(read("a").as_deref(), Some("one\n2\nthree\n"));
    });
}

#[test]
fn strict_does_what_its_contract_says() {
    for (clause, text, path, after) in [
        (
            "blank lines around it",
            format!("\n\n{}\n", envelope("*** Update File: a\n@@\n-two\n+2\n")),
            "a",
            Some("one\n2\nthree\n"),
        ),
        (
            "headers are informational",
            envelope("*** Update File: a\n@@ nowhere\n-two\n+2\n"),
            "a",
            Some("one\n2\nthree\n"),
        ),
        (
            "any order",
            envelope("*** Update File: a\n@@\n-three\n+3\n@@\n-one\n+1\n"),
            "a",
            Some("1\ntwo\n3\n"),
        ),
        ("Add ends with a line feed", envelope("*** Add File: n\n+x\n"), "n", Some("x\n")),
        ("unless its last line is empty", envelope("*** Add File: n\n+x\n+\n"), "n", Some("x\n")),
        (
            "or the marker stands",
            envelope("*** Add File: n\n+x\n\\ No newline at end of file\n"),
            "n",
            Some("x"),
        ),
        ("Delete moves to the trash", envelope("*** Delete File: b\n"), "b", None),
    ] {
        answers(&text, &[], |answer, read| {
            assert_eq!(answer["ok"], true, "{clause}: {answer}");
            assert_eq!(answer["data"]["atomic"], true, "{clause}: {answer}");
            assert_eq!(answer["data"]["notes"], Value::Null, "{clause}: {answer}");
            assert_eq!(read(path).as_deref(), after, "{clause}: {answer}");
            if after.is_none() {
                let trashed = answer["data"]["changedFiles"][0]["trashedTo"].as_str();
                let trashed = trashed.and_then(read);
                assert_eq!(trashed.as_deref(), Some("b\n"), "{clause}: {answer}");
            }
        });
    }
}

#[test]
fn standard_takes_the_same_and_what_loses_nothing() {
    let dir = place(&FILES);
    let w = dir.path().join("w");
    let patch = envelope("*** Add File: c/d/e\n+x\n*** Add File: c/f\n+y\n");
    let taken = run("apply-patch", &w, dir.path(), &["--json"], format!("So:\n{patch}").as_bytes());
    let answer = taken.json().expect("one object");
    assert_eq!(answer["ok"], true, "{answer}");
    let notes = answer["data"]["notes"].to_string();
    assert!(notes.contains("left out line 1") && notes.contains("new directory: c\""), "{notes}");
    let back = run("apply-patch", &w, dir.path(), &["undo"], b"");
    assert_eq!((back.code, w.join("c").exists()), (0, false), "{back:?}");
    let args = ["--create-parents=false"];
    let refused = run("apply-patch", &w, dir.path(), &args, patch.as_bytes());
    assert_eq!(refused.code, 1, "{refused:?}");
    // One picture for a directory, and how many more files need it.
    assert_eq!(refused.stderr.matches("does not exist").count(), 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("1 more file needs the same directory"), "{}", refused.stderr);
}

#[test]
fn edit_patch_keeps_its_contract() {
    let call = |args: Value| {
        let dir = place(&FILES);
        let w = dir.path().join("w");
        let text = args.to_string().replace("{root}", w.to_str().expect("a path in UTF-8"));
        let args = ["tool", "edit.patch", "--args", &text];
        let answer = run("apply-patch", &w, dir.path(), &args, b"").json().expect("one object");
        let left = ["a", "b", "c/d"].map(|path| fs::read_to_string(w.join(path)).ok());
        (answer, left)
    };
    let [add, delete, moves] =
        ["*** Add File: c/d\n+x\n", "*** Delete File: b\n", "*** Move File: b -> c/d\n"]
            .map(envelope);
    let (one, two) = (Some("one\ntwo\nthree\n".to_owned()), Some("b\n".to_owned()));
    let (x, none) = (Some("x\n".to_owned()), None);
    let done = |summary: &str| json!({ "ok": true, "summary": summary });
    for (clause, args, wanted, left) in [
        (
            "directories are made",
            json!({ "patch": add }),
            done("A 1, M 0, D 0, R 0"),
            [&one, &two, &x],
        ),
        (
            "dry_run",
            json!({ "patch": add, "dry_run": true }),
            done("A 1, M 0, D 0, R 0"),
            [&one, &two, &none],
        ),
        (
            "allow_delete",
            json!({ "patch": delete, "allow_delete": true }),
            done("A 0, M 0, D 1, R 0"),
            [&one, &none, &none],
        ),
        (
            "moves are allowed",
            json!({ "patch": moves }),
            done("A 0, M 0, D 0, R 1"),
            [&one, &none, &two],
        ),
    ] {
        let (mut answer, found) = call(args);
        answer.as_object_mut().expect("an object").remove("notes");
        assert_eq!(answer, wanted, "{clause}");
        assert_eq!(found.each_ref(), left, "{clause}");
    }
    for (clause, args, begins) in [
        ("deletes are not", json!({ "patch": delete }), "permission_denied: "),
        ("unless they are", json!({ "patch": moves, "allow_move": false }), "permission_denied: "),
        ("absolute paths", json!({ "patch": add.replace("c/d", "/c/d") }), "command_failed: "),
        (
            "beneath the root too",
            json!({ "patch": add.replace("c/d", "{root}/c/d") }),
            "command_failed: ",
        ),
        ("the envelope alone", json!({ "patch": format!("So:\n{add}") }), "patch_parse_error: "),
    ] {
        let (answer, found) = call(args);
        assert_eq!(answer["ok"], false, "{clause}: {answer}");
        let error = answer["error"].as_str().expect("one line");
        assert!(error.starts_with(begins) && !error.contains('\n'), "{clause}: {error}");
        assert_eq!(found.each_ref(), [&one, &two, &none], "{clause}");
    }
}
