//! `create_file`, `write_file`, `edit_file`, `move_file`.

use serde_json::{Value, json};

use crate::support::{Bench, sha};

#[test]
fn creates_and_never_overwrites() {
    let bench = Bench::new(&[("there", b"x")]);
    let data =
        bench.done("create_file", &json!({ "path": "new", "content": "a\r\nb", "diff": "full" }));
    assert_eq!(bench.read("new"), b"a\r\nb");
    assert_eq!(&data["created"], &json!(true));
    assert_eq!(&data["sha256"], &json!(sha(b"a\r\nb")));
    assert!(data["diff"].as_str().unwrap().contains("+b\n\\ No newline at end of file"));
    for (args, kind) in [
        (json!({ "path": "there", "content": "" }), "already_exists"),
        (json!({ "path": "THERE", "content": "" }), "already_exists"),
        (json!({ "path": "d/new", "content": "" }), "not_found"),
        (json!({ "path": "there/new", "content": "" }), "command_failed"),
        (json!({ "path": "a:b", "content": "" }), "command_failed"),
        (json!({ "path": "x" }), "command_failed"),
    ] {
        bench.fails("create_file", &args, kind);
    }
    bench.done(
        "create_file",
        &json!({ "path": "d/e/new", "content": "", "createParentDirectories": true }),
    );
    assert_eq!(bench.read("d/e/new"), b"");
}

#[test]
fn writes_and_keeps_line_ends_and_bom() {
    for (old, content, new) in [
        (&b"a\r\nb\r\n"[..], "a\nc\n", &b"a\r\nc\r\n"[..]),
        (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
        (b"a\n", "", b""),
        (b"caf\xe9\nx\n", "caf\u{fffd}\ny\n", b"caf\xe9\ny\n"),
    ] {
        let bench = Bench::new(&[("f", old)]);
        let args = json!({ "path": "f", "content": content, "expectedSha256": sha(old) });
        let data = bench.done("write_file", &args);
        assert_eq!(bench.read("f"), new);
        assert_eq!(&data["beforeSha256"], &json!(sha(old)));
        assert_eq!(&data["afterSha256"], &json!(sha(new)));
    }
    let bench = Bench::new(&[("f", b"x"), ("bin", b"\0"), ("latin", b"\xe9")]);
    let error = bench.fails("write_file", &json!({ "path": "made", "content": "y" }), "not_found");
    let next = error["suggestedNextAction"].as_str().unwrap();
    assert!(next.ends_with("let `expectedSha256` be empty text, to make a new file"), "{next}");
    let gone = json!({ "path": "made", "content": "y", "expectedSha256": sha(b"x") });
    let error = bench.fails("write_file", &gone, "stale_file");
    let next = error["suggestedNextAction"].as_str().unwrap();
    assert!(next.ends_with("let `expectedSha256` be empty text, to make a new file"), "{next}");
    for (args, kind) in [
        (json!({ "path": "f", "content": "y", "expectedSha256": sha(b"other") }), "stale_file"),
        (json!({ "path": "f", "content": "y", "expectedSha256": "" }), "stale_file"),
        (json!({ "path": "none", "content": "y", "expectedSha256": sha(b"x") }), "stale_file"),
        (json!({ "path": "f", "content": "y", "expectedSha256": "abc" }), "command_failed"),
        (json!({ "path": "f", "content": "y" }), "command_failed"),
        (json!({ "path": "bin", "content": "y", "expectedSha256": sha(b"\0") }), "binary_file"),
        (
            json!({ "path": "latin", "content": "é", "expectedSha256": sha(b"\xe9") }),
            "patch_apply_error",
        ),
        (json!({ "path": "no/f", "content": "y", "expectedSha256": "" }), "not_found"),
    ] {
        bench.fails("write_file", &args, kind);
    }
    assert_eq!(bench.read("f"), b"x");
    let data =
        bench.done("write_file", &json!({ "path": "new", "content": "y", "expectedSha256": "" }));
    assert_eq!(data.get("beforeSha256"), None);
    assert_eq!(bench.read("new"), b"y".to_vec());
    let data = bench.done(
        "write_file",
        &json!({ "path": "f", "content": "x", "expectedSha256": sha(b"x"), "diff": "full" }),
    );
    assert_eq!(&data["diff"], &json!(null), "nothing changes");
    assert_eq!(data.get("transactionId"), None, "nothing changes");
}

fn edit(bench: &Bench, edits: &Value) -> Value {
    let hash = sha(&bench.read("f"));
    bench.call("edit_file", &json!({ "path": "f", "expectedSha256": hash, "edits": edits }))
}

#[test]
fn edits_what_is_there_once() {
    for (old, edits, new) in [
        (&b"a b c"[..], json!([{ "oldText": "b", "newText": "B" }]), &b"a B c"[..]),
        // Each is matched against the file as it was.
        (
            b"a b",
            json!([{ "oldText": "a", "newText": "b" }, { "oldText": "b", "newText": "a" }]),
            b"b a",
        ),
        (
            b"a b",
            json!([{ "oldText": "b", "newText": "" }, { "oldText": "a", "newText": "" }]),
            b" ",
        ),
        (b"xx x", json!([{ "oldText": "x", "newText": "yy", "replaceAll": true }]), b"yyyy yy"),
        (b"x x", json!([{ "oldText": "x", "newText": "y", "expectedOccurrences": 2 }]), b"y y"),
        // Neighbours do not overlap.
        (
            b"ab",
            json!([{ "oldText": "a", "newText": "1" }, { "oldText": "b", "newText": "2" }]),
            b"12",
        ),
        // Line ends of the file, whatever the caller's are.
        (b"a\r\nb\r\n", json!([{ "oldText": "a\nb", "newText": "a\nX\nb" }]), b"a\r\nX\r\nb\r\n"),
        (b"a\nb\n", json!([{ "oldText": "a\r\nb", "newText": "c\r\nd" }]), b"c\nd\n"),
        (b"a\r\nb\nc\r\n", json!([{ "oldText": "b\nc", "newText": "B\nC" }]), b"a\r\nB\nC\r\n"),
        (b"\xef\xbb\xbfa\n", json!([{ "oldText": "a\n", "newText": "b\n" }]), b"\xef\xbb\xbfb\n"),
        (b"caf\xe9 a\n", json!([{ "oldText": "a\n", "newText": "b\n" }]), b"caf\xe9 b\n"),
        (b"a\r\n", json!([{ "oldText": "a", "newText": "a\nb" }]), b"a\r\nb\r\n"),
    ] {
        let bench = Bench::new(&[("f", old)]);
        let reply = edit(&bench, &edits);
        assert_eq!(reply["ok"], true, "{edits}: {reply}");
        assert_eq!(bench.read("f"), new, "{edits}: {reply}");
        assert_eq!(reply["data"]["appliedEdits"], edits.as_array().unwrap().len());
        assert_eq!(reply["data"]["afterSha256"], sha(new));
    }
}

#[test]
fn refuses_edits_that_do_not_fit_and_changes_nothing() {
    let old = b"one\ntwo\none\nfour\n";
    for (edits, kind) in [
        (json!([{ "oldText": "none", "newText": "x" }]), "old_text_not_found"),
        (json!([{ "oldText": "one", "newText": "x" }]), "multiple_matches"),
        (
            json!([{ "oldText": "one", "newText": "x", "expectedOccurrences": 3 }]),
            "multiple_matches",
        ),
        (
            json!([{ "oldText": "one", "newText": "x", "expectedOccurrences": 1 }]),
            "multiple_matches",
        ),
        (
            json!([
                { "oldText": "four", "newText": "x" }, { "oldText": "two", "newText": "x" },
                { "oldText": "two\no", "newText": "y" },
            ]),
            "overlapping_edits",
        ),
        (json!([{ "oldText": "", "newText": "x" }]), "command_failed"),
        (json!([{ "oldText": "two", "newText": "two" }]), "command_failed"),
        (json!([]), "command_failed"),
        (
            json!([{ "oldText": "two", "newText": "x" }, { "oldText": "none", "newText": "x" }]),
            "old_text_not_found",
        ),
    ] {
        let bench = Bench::new(&[("f", old)]);
        let reply = edit(&bench, &edits);
        assert_eq!(&reply["ok"], &json!(false), "{edits}: {reply}");
        assert_eq!(&reply["error"]["kind"], &json!(kind), "{edits}: {reply}");
        assert_eq!(bench.read("f"), old);
        if kind == "overlapping_edits" {
            assert_eq!(reply["error"]["details"]["conflictingEditIndices"], json!([1, 2]));
        }
        if kind == "multiple_matches" {
            assert_eq!(
                reply["error"]["details"]["candidates"][1],
                json!({ "startLine": 3, "endLine": 3 })
            );
        }
    }
    // A text that overlaps itself fits twice.
    let bench = Bench::new(&[("f", b"aaa")]);
    assert_eq!(
        edit(&bench, &json!([{ "oldText": "aa", "newText": "b" }]))["error"]["kind"],
        "multiple_matches"
    );
    for (old, edits, kind) in [
        (&b"\0"[..], json!([{ "oldText": "a", "newText": "b" }]), "binary_file"),
        (b"\xe9 a", json!([{ "oldText": "a", "newText": "é" }]), "patch_apply_error"),
    ] {
        let bench = Bench::new(&[("f", old)]);
        assert_eq!(edit(&bench, &edits)["error"]["kind"], kind);
    }
    let bench = Bench::new(&[("f", b"a")]);
    let stale = json!({
        "path": "f", "expectedSha256": sha(b"b"), "edits": [{ "oldText": "a", "newText": "c" }],
    });
    let error = bench.fails("edit_file", &stale, "stale_file");
    assert_eq!(error["details"]["path"], "f");
    assert_eq!(&error["details"]["expectedSha256"], &json!(sha(b"b")));
    assert_eq!(&error["details"]["actualSha256"], &json!(sha(b"a")));
}

#[test]
fn says_where_a_text_nearly_is() {
    let bench = Bench::new(&[("f", b"fn a() {\n    one();\n    two();\n}\n")]);
    let reply = edit(&bench, &json!([{ "oldText": "  one();\n  two();\n", "newText": "x" }]));
    let nearest = &reply["error"]["details"]["nearest"];
    assert_eq!(&nearest["startLine"], &json!(2), "{reply}");
    assert_eq!(&nearest["endLine"], &json!(3), "{reply}");
    assert!(
        reply["error"]["message"].as_str().unwrap().contains("differ only in blanks"),
        "{reply}"
    );
    let reply = edit(
        &bench,
        &json!([{ "oldText": "    old();\n\
                              \x20   older();\n", "newText": "    one();\n    two();\n" }]),
    );
    assert!(reply["error"]["message"].as_str().unwrap().contains("is there already"), "{reply}");
    let bench = Bench::new(&[("f", b"one\ntwo")]);
    let reply = edit(&bench, &json!([{ "oldText": "one\ntwo\n", "newText": "x" }]));
    assert_eq!(
        reply["error"]["suggestedNextAction"],
        "let `edits[0].oldText` be the same text without its last line feed"
    );
    assert_eq!(edit(&bench, &json!([{ "oldText": "one\ntwo", "newText": "x" }]))["ok"], true);
}

#[test]
fn moves_a_file() {
    let bench = Bench::new(&[("a", b"A"), ("b", b"B"), ("d/x", b""), ("bin", b"\0")]);
    let hash = sha(b"A");
    for (args, kind) in [
        (json!({ "fromPath": "a", "toPath": "b", "expectedSha256": hash }), "already_exists"),
        (json!({ "fromPath": "a", "toPath": "c", "expectedSha256": sha(b"x") }), "stale_file"),
        (json!({ "fromPath": "a", "toPath": "no/c", "expectedSha256": hash }), "not_found"),
        (json!({ "fromPath": "none", "toPath": "c", "expectedSha256": "" }), "not_found"),
        (json!({ "fromPath": "a", "toPath": "a", "expectedSha256": hash }), "command_failed"),
        (json!({ "fromPath": "d", "toPath": "e", "expectedSha256": hash }), "command_failed"),
        (json!({ "fromPath": "a", "toPath": "../c", "expectedSha256": hash }), "outside_workspace"),
        (
            json!({ "fromPath": "a", "toPath": "d/.env", "expectedSha256": hash }),
            "permission_denied",
        ),
        (json!({ "fromPath": "a", "toPath": "c" }), "command_failed"),
    ] {
        bench.fails("move_file", &args, kind);
    }
    let data = bench
        .done("move_file", &json!({ "fromPath": "a", "toPath": "d/c", "expectedSha256": hash }));
    assert_eq!(&data["moved"], &json!(true));
    assert_eq!(&data["sha256"], &json!(hash));
    assert_eq!(data.get("overwroteTrashedTo"), None);
    assert!(!bench.exists("a"));
    assert!(bench.read("d/c") == b"A");
    let args =
        json!({ "fromPath": "d/c", "toPath": "b", "expectedSha256": hash, "overwrite": true });
    let data = bench.done("move_file", &args);
    let kept = data["overwroteTrashedTo"].as_str().unwrap();
    assert_eq!(bench.read("b"), b"A".to_vec());
    assert_eq!(bench.read(kept), b"B".to_vec());
    bench.done(
        "move_file",
        &json!({ "fromPath": "bin", "toPath": "bin2", "expectedSha256": sha(b"\0") }),
    );
}

#[test]
fn a_file_gets_another_spelling_of_its_name_and_the_old_one_again() {
    let bench = Bench::new(&[("Readme.md", b"x\n"), ("cafe\u{301}", b"x\n")]);
    for (from, to) in [("Readme.md", "README.md"), ("cafe\u{301}", "caf\u{e9}")] {
        bench.done("read_file", &json!({ "path": from }));
        let moved = bench.done("move_file", &json!({ "fromPath": from, "toPath": to }));
        assert!(bench.exists(to), "{to}");
        // One file on a file system that takes both names for the same.
        let other = bench.call("create_file", &json!({ "path": from, "content": "" }));
        assert_eq!(other["error"]["kind"], "already_exists", "{other}");
        bench.done("undo", &json!({ "transactionId": moved["transactionId"] }));
        assert_eq!(bench.read(from), b"x\n");
    }
}
