//! Calls of tools that edit files, as JSON: what they change, and what is refused.

use serde_json::{Value, json};

use crate::program::{Run, apply_in, place};

/// The files that all cases begin with.
const BEFORE: [(&str, &str); 3] = [
    ("a.txt", "one\ntwo\nthree"),
    ("m.py", "def f(x):\r\n    return x + 1\r\n\r\ndef g(x):\r\n    return x + 1\r\n"),
    ("dots.txt", "aaa\n"),
];

/// Gives a text to the program, and returns what a file is afterwards.
fn applied(args: &[&str], sent: &str, file: &str) -> (Run, Option<String>) {
    apply_in(&place(&BEFORE), args, sent, file)
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "file_path": path, "old_string": old, "new_string": new })
}

fn with(mut value: Value, field: &str, of: Value) -> Value {
    value[field] = of;
    value
}

#[test]
fn edits_are_made_in_order_and_exactly() {
    let two = edit("a.txt", "two", "2");
    for (sent, file, wanted) in [
        (edit("a.txt", "w", "W"), "a.txt", "one\ntWo\nthree"),
        (edit("a.txt", "two\n", ""), "a.txt", "one\nthree"),
        (edit("a.txt", "three", "three\n"), "a.txt", "one\ntwo\nthree\n"),
        (edit("a.txt", "ne\ntwo\nth", "-"), "a.txt", "o-ree"),
        (edit("./a.txt", "two", "é\u{1f600}"), "a.txt", "one\né\u{1f600}\nthree"),
        // The lines of the file end as they did, whatever the call has.
        (
            edit("m.py", "f(x):\n    return x", "f(y):\n\n    return y"),
            "m.py",
            "def f(y):\r\n\r\n    return y + 1\r\n\r\ndef g(x):\r\n    return x + 1\r\n",
        ),
        (
            edit("m.py", "f(x):\r\n", "f(y):\r\n"),
            "m.py",
            "def f(y):\r\n    return x + 1\r\n\r\ndef g(x):\r\n    return x + 1\r\n",
        ),
        (
            with(edit("m.py", "x + 1", "x"), "replace_all", json!(true)),
            "m.py",
            "def f(x):\r\n    return x\r\n\r\ndef g(x):\r\n    return x\r\n",
        ),
        (with(two.clone(), "replaceAll", json!(false)), "a.txt", "one\n2\nthree"),
        (with(two.clone(), "replace_all", json!(null)), "a.txt", "one\n2\nthree"),
        (with(two.clone(), "expected_replacements", json!(1)), "a.txt", "one\n2\nthree"),
        (with(two.clone(), "instruction", json!("so")), "a.txt", "one\n2\nthree"),
        (with(two.clone(), "from", json!("")), "a.txt", "one\n2\nthree"),
        // Each acts on what those before it left.
        (
            json!([edit("a.txt", "one", "two!"), edit("a.txt", "two!", "1")]),
            "a.txt",
            "1\ntwo\nthree",
        ),
        (
            json!({ "path": "a.txt", "edits": [
                { "oldText": "one", "newText": "1" }, { "old_text": "1", "new_text": "i" },
            ] }),
            "a.txt",
            "i\ntwo\nthree",
        ),
        (json!([edit("n.txt", "", "x\ny"), edit("n.txt", "y", "z\n")]), "n.txt", "x\nz\n"),
        (json!({ "file_path": "d/n.txt", "content": "x\n\n" }), "d/n.txt", "x\n\n"),
        (json!({ "file_path": "n.txt", "content": "x\r\ny" }), "n.txt", "x\r\ny"),
        (json!({ "file_path": "n.txt", "content": "" }), "n.txt", ""),
        (json!({ "file_path": "n.txt", "content": "\n" }), "n.txt", "\n"),
        (
            json!({ "file_path": "n.txt", "content": "*** End Patch\n*** Delete File: a.txt" }),
            "n.txt",
            "*** End Patch\n*** Delete File: a.txt",
        ),
        (
            json!({ "command": "str_replace", "path": "a.txt", "old_str": "two", "new_str": "2" }),
            "a.txt",
            "one\n2\nthree",
        ),
        (json!({ "command": "create", "path": "n", "file_text": "x" }), "n", "x"),
        (json!({ "name": "Edit", "input": two }), "a.txt", "one\n2\nthree"),
        (json!({ "name": "Edit", "arguments": two.to_string() }), "a.txt", "one\n2\nthree"),
        (
            json!([
                { "type": "tool_use", "id": "1", "name": "Edit", "input": two,
                  "caller": { "type": "direct" } },
                { "type": "function", "function":
                    { "name": "functions.write_file",
                      "arguments": json!({ "path": "n", "content": "x" }).to_string() } },
            ]),
            "n",
            "x",
        ),
        (
            json!({ "tool_calls": [{ "function": { "name": "edit", "arguments": two } }] }),
            "a.txt",
            "one\n2\nthree",
        ),
        (
            json!({ "replacements": [{ "filePath": "a.txt", "oldString": "t", "newString": "T",
                                       "replaceAll": true }], "path": "a.txt" }),
            "a.txt",
            "one\nTwo\nThree",
        ),
    ] {
        for args in [&[][..], &["--from", "edits"], &["--profile", "codex"]] {
            for sent in [sent.to_string(), format!("```json\n{sent:#}\n```\n")] {
                let (run, after) = applied(args, &sent, file);
                assert_eq!(run.code, 0, "{sent} {args:?}: {run:#?}");
                assert_eq!(after.as_deref(), Some(wanted), "{sent} {args:?}");
                assert!(run.stderr.contains("note: read "), "{run:?}");
            }
        }
    }
}

#[test]
fn edits_of_several_lines_of_json_are_one_patch() {
    let sent =
        format!("{}\n\n{}\n", edit("a.txt", "two", "2"), edit("n.txt", "", "x")).replace(' ', "");
    let (run, after) = applied(&[], &sent, "n.txt");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(after.as_deref(), Some("x"));
    let sent = sent.replace("two", "four");
    let (run, after) = applied(&[], &sent, "n.txt");
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(after, None);
}

#[test]
fn an_edit_that_is_not_certain_is_refused() {
    let two = edit("a.txt", "two", "2");
    for (sent, words) in [
        (edit("a.txt", "four", "4"), "not in the file"),
        (edit("m.py", "x + 1", "x"), "more than one place: lines 2, 5"),
        (edit("dots.txt", "aa", "b"), "more than one place"),
        (edit("a.txt", "", "4"), "a file is there already"),
        (edit("b.txt", "two", "4"), "no such file"),
        (json!({ "path": "a.txt", "content": "4" }), "a file is there already"),
        (json!([two, edit("a.txt", "two", "3")]), "not in the file"),
        (edit("a.txt", "two", "two"), "an edit changes nothing"),
        (edit("../a.txt", "two", "2"), ".."),
        (edit("a.txt\n*** Delete File: m.py", "two", "2"), "not the path of a file"),
        (edit(" a.txt", "two", "2"), "not the path of a file"),
        (with(two.clone(), "dry_run", json!(true)), "`dry_run` beside the edit"),
        (with(two.clone(), "expected_replacements", json!(2)), "set `replace_all` to true"),
        (with(two.clone(), "replace_all", json!("yes")), "neither true nor false"),
        (with(two.clone(), "new_string", json!({ "a": 1 })), "`new_string` is JSON and not a text"),
        (with(two.clone(), "new_string", json!("a\0b")), "`new_string` has a NUL character"),
        (with(two.clone(), "new_string", json!(null)), "no new text"),
        (with(two.clone(), "old_str", json!("one")), "`old_str` beside the edit"),
        (with(two.clone(), "content", json!("one")), "beside the edit"),
        (json!({ "file_path": "a.txt", "new_string": "2" }), "no old text"),
        (with(two.clone(), "from", json!("2#kz")), "`from` names a line by its tag"),
        (
            json!({ "path": "a.txt", "edits": [{ "after": "2#kz", "newText": "2" }] }),
            "`after` names a line by its tag",
        ),
        (json!({ "old_string": "two", "new_string": "2" }), "names no file"),
        (json!({ "path": "a.txt", "edits": [] }), "has no edit"),
        (json!({ "path": "a.txt", "edits": "x" }), "is not a list"),
        (json!({ "path": "a.txt", "edits": [edit("m.py", "f", "h")] }), "edits of a.txt"),
        (json!([two, { "name": "Bash", "input": { "command": "ls" } }]), "would be lost"),
        (json!([two, "*** Begin Patch"]), "would be lost"),
        (json!({ "name": "Bash", "input": two }), "a call of \"Bash\""),
        (json!({ "name": "Edit", "input": two, "cwd": "sub" }), "`cwd` beside the edit"),
        (
            json!({ "command": "insert", "path": "a.txt", "insert_line": 2, "new_str": "x" }),
            "the number of a line",
        ),
        (json!({ "command": "view", "path": "a.txt" }), "does not edit a file"),
        (
            json!({ "command": "create", "path": "n", "old_str": "x", "new_str": "y" }),
            "the command does not fit",
        ),
        (
            edit("m.py", "def f", "def e():\n    # ... existing code ...\n\ndef f"),
            "stands for lines that are left out",
        ),
    ] {
        let (run, after) = applied(&[], &sent.to_string(), "a.txt");
        assert!([1, 3].contains(&run.code), "{sent}: {run:#?}");
        assert!(run.stderr.contains(words), "{sent}: {run:#?}");
        assert_eq!(after.as_deref(), Some(BEFORE[0].1), "{sent}");
        // No profile makes it certain.
        let (run, _) = applied(&["--profile", "codex"], &sent.to_string(), "a.txt");
        assert!([1, 3].contains(&run.code), "{sent}: {run:#?}");
    }
}

#[test]
fn the_advice_for_an_edit_in_several_places_helps() {
    let sent = edit("m.py", "x + 1", "x").to_string();
    let (run, _) = applied(&["--json"], &sent, "m.py");
    let hints = run.json().expect("JSON")["error"]["hints"].clone();
    let texts: Vec<&Value> = hints
        .as_array()
        .expect("hints")
        .iter()
        .filter(|hint| hint["meansLine"] != json!(null))
        .collect();
    assert_eq!(texts.len(), 2, "{hints}");
    for hint in texts {
        let around = |text: &str| {
            let side = |side: &str| hint[side].as_str().unwrap_or_default().to_owned();
            format!("{}{text}{}", side("before"), side("after"))
        };
        let sent = edit("m.py", &around("x + 1"), &around("x"));
        let (run, after) = applied(&[], &sent.to_string(), "m.py");
        assert_eq!(run.code, 0, "{hint}: {run:?}");
        let line = hint["meansLine"].as_u64().expect("a line") as usize;
        assert_eq!(after.expect("a file").lines().nth(line - 1), Some("    return x"), "{hint}");
    }
    let (run, _) = applied(&[], &sent, "m.py");
    assert!(run.stderr.contains("put \"def f(x):\\n    return \" before both"), "{run:?}");
    assert!(run.stderr.contains("or set replace_all to true"), "{run:?}");
}

#[test]
fn blanks_at_an_end_of_a_text_are_no_whitespace_errors() {
    for (sent, args, wanted) in [
        (edit("a.txt", "tw", "t "), &["--whitespace", "fix"][..], "one\nt o\nthree"),
        (edit("a.txt", "wo", " \tx"), &["--whitespace", "error"], "one\nt \tx\nthree"),
        (edit("a.txt", "wo", "x\ny \nz"), &["--whitespace", "fix"], "one\ntx\ny\nz\nthree"),
    ] {
        let (run, after) = applied(args, &sent.to_string(), "a.txt");
        assert_eq!(run.code, 0, "{sent}: {run:?}");
        assert_eq!(after.as_deref(), Some(wanted), "{sent}");
    }
}

#[test]
fn edits_have_no_form_with_whole_lines() {
    let sent = edit("a.txt", "tw", "TW").to_string();
    for (args, words) in [
        (&["--reverse"][..], "edits cannot be reversed"),
        (&["convert", "--to", "envelope"], "may be a part of a line"),
        (&["convert", "--to", "openai"], "may be a part of a line"),
        (&["-i"], "hunks of whole lines"),
        (&["--strip", "1"], "the paths of a diff"),
        (&["--from", "blocks"], "another form was named"),
        (&["--profile", "strict"], "tools that edit files"),
    ] {
        let (run, after) = applied(args, &sent, "a.txt");
        assert_ne!(run.code, 0, "{args:?}: {run:?}");
        assert!(run.stderr.contains(words), "{args:?}: {run:?}");
        assert_eq!(after.as_deref(), Some(BEFORE[0].1), "{args:?}");
    }
    let (run, _) = applied(&["convert", "--to", "unified"], &sent, "a.txt");
    assert!(run.stdout.contains("-two\n+TWo\n"), "{run:?}");
    let (run, after) = applied(&["--profile", "strict", "--from", "edits"], &sent, "a.txt");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(after.as_deref(), Some("one\nTWo\nthree"));
}

#[test]
fn an_error_points_into_the_json() {
    let sent = format!("{:#}", json!([edit("a.txt", "two", "2"), edit("a.txt", "four", "4")]));
    let (run, _) = applied(&[], &sent, "a.txt");
    let line = sent.lines().position(|line| line.contains("four")).expect("a line") + 1;
    assert!(run.stderr.contains(&format!("standard input:{line}:")), "{sent}{run:#?}");
    assert!(run.stderr.contains("\"old_string\": \"four\""), "{run:#?}");
}

#[test]
fn an_edit_that_was_made_already_is_told() {
    let sent = edit("a.txt", "one\nto\nthree", "one\ntwo\nthree").to_string();
    let (run, _) = applied(&[], &sent, "a.txt");
    assert!(run.stderr.contains("applied already"), "{run:?}");
    let (run, after) = applied(&["--skip-applied"], &sent, "a.txt");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(after.as_deref(), Some(BEFORE[0].1));
}
