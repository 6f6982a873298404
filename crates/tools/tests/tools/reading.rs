//! `read_file` and `list_directory`.

use serde_json::{Value, json};

use crate::support::{Bench, sha};

#[test]
fn gives_slices_of_a_file_with_the_hash_of_all_of_it() {
    let text = b"one\ntwo\nthree";
    let bench = Bench::new(&[("f", text)]);
    let slice = |start: Value, end: Value, max: Value| {
        let mut args = json!({ "path": "f" });
        for (key, value) in [("startLine", start), ("endLine", end), ("maxBytes", max)] {
            if !value.is_null() {
                args[key] = value;
            }
        }
        let data = bench.done("read_file", &args);
        assert_eq!(&data["sha256"], &json!(sha(text)));
        assert_eq!(&data["lineCount"], &json!(3));
        assert_eq!(&data["sizeBytes"], &json!(13));
        let content = data["content"].as_str().unwrap().to_owned();
        (
            content,
            data["startLine"].as_u64().unwrap(),
            data["endLine"].as_u64().unwrap(),
            data["truncated"] == true,
        )
    };
    let none = Value::Null;
    for (start, end, max, expected) in [
        (none.clone(), none.clone(), none.clone(), ("one\ntwo\nthree", 1, 3, false)),
        (json!(2), none.clone(), none.clone(), ("two\nthree", 2, 3, false)),
        (json!(2), json!(2), none.clone(), ("two\n", 2, 2, false)),
        (json!(3), json!(99), none.clone(), ("three", 3, 3, false)),
        (json!(4), none.clone(), none.clone(), ("", 4, 3, false)),
        (json!(3), json!(2), none.clone(), ("", 3, 2, false)),
        (none.clone(), none.clone(), json!(5), ("one\nt", 1, 2, true)),
        (none.clone(), none.clone(), json!(13), ("one\ntwo\nthree", 1, 3, false)),
        (json!(0), json!(0), json!(0), ("one\ntwo\nthree", 1, 3, false)),
        (json!(2), json!(2), json!(4), ("two\n", 2, 2, false)),
    ] {
        let found = slice(start, end, max);
        assert_eq!((found.0.as_str(), found.1, found.2, found.3), expected);
    }
}

#[test]
fn tells_how_a_file_is_written() {
    for (bytes, content, style, bom, encoding, lines) in [
        (&b""[..], "", "none", false, "utf-8", 0),
        (b"a\r\nb\r\n", "a\nb\n", "crlf", false, "utf-8", 2),
        (b"a\r\nb\n", "a\nb\n", "mixed", false, "utf-8", 2),
        (b"a\rb", "a\rb", "none", false, "utf-8", 1),
        (b"\xef\xbb\xbfa\n", "a\n", "lf", true, "utf-8", 1),
        (b"caf\xe9\n", "caf\u{fffd}\n", "lf", false, "unknown", 1),
    ] {
        let bench = Bench::new(&[("f", bytes)]);
        let data = bench.done("read_file", &json!({ "path": "./f" }));
        assert_eq!(data["path"], "f");
        assert_eq!(data["content"], content);
        assert_eq!(data["newlineStyle"], style);
        assert_eq!(&data["hasBom"], &json!(bom));
        assert_eq!(&data["encoding"], &json!(encoding));
        assert_eq!(&data["lineCount"], &json!(lines));
        assert_eq!(&data["sha256"], &json!(sha(bytes)));
    }
}

#[test]
fn cuts_between_characters() {
    let bench = Bench::new(&[("f", "éé".as_bytes())]);
    let data = bench.done("read_file", &json!({ "path": "f", "maxBytes": 3 }));
    assert_eq!(&data["content"], &json!("é"));
    assert_eq!(&data["truncated"], &json!(true));
}

/// A part that had not even one character would be asked for again and again.
#[test]
fn every_part_has_a_character() {
    let bench = Bench::new(&[("f", "é\u{1f600}\n\u{fffd}x".as_bytes()), ("g", b"\xe9\n")]);
    for (path, whole) in [("f", "é\u{1f600}\n\u{fffd}x"), ("g", "\u{fffd}\n")] {
        let mut args = json!({ "path": path, "maxBytes": 1 });
        let mut read = String::new();
        loop {
            let data = bench.done("read_file", &args);
            let part = data["content"].as_str().expect("text");
            assert!(!part.is_empty(), "{path} after {read:?}");
            read += part;
            let Some(cursor) = data.get("nextCursor") else { break };
            args["cursor"] = cursor.clone();
        }
        assert_eq!(read, whole);
    }
}

#[test]
fn a_binary_file_is_told_and_given_when_asked_for() {
    let bytes = b"\x89PNG\0\x01";
    let bench = Bench::new(&[("i.png", bytes)]);
    let error = bench.fails("read_file", &json!({ "path": "i.png" }), "binary_file");
    assert_eq!(&error["details"]["sizeBytes"], &json!(6));
    assert_eq!(&error["details"]["sha256"], &json!(sha(bytes)));
    let data = bench.done("read_file", &json!({ "path": "i.png", "allowBinary": true }));
    assert_eq!(&data["contentBase64"], &json!("iVBORwAB"));
    assert_eq!(&data["binary"], &json!(true));
    assert_eq!(data.get("content"), None);
}

#[test]
fn refuses_what_cannot_be_read() {
    let bench = Bench::new(&[("d/f", b"x")]);
    for (args, kind) in [
        (json!({ "path": "none" }), "not_found"),
        (json!({ "path": "d" }), "not_found"),
        (json!({ "path": "d/f/g" }), "not_found"),
        (json!({ "path": "/etc/passwd" }), "command_failed"),
        (json!({ "path": "" }), "command_failed"),
        (json!({ "path": "../x" }), "outside_workspace"),
        (json!({ "path": ".git/config" }), "permission_denied"),
        (json!({}), "command_failed"),
        (json!({ "path": "d/f", "line": 1 }), "command_failed"),
        (json!("d/f"), "command_failed"),
    ] {
        bench.fails("read_file", &args, kind);
    }
    bench.fails("no_such_tool", &json!({}), "command_failed");
    assert!(!bench.exists(".apply-patch"), "reading leaves no trace");
}

#[test]
fn lists_by_depth_then_kind_then_name() {
    let bench = Bench::new(&[
        ("b", b"12"),
        ("a", b""),
        ("z/y/x", b""),
        ("c/f", b""),
        (".hidden", b""),
        (".env", b""),
        ("c/secrets/key", b""),
        ("ignored.log", b""),
        (".gitignore", b"*.log\n"),
        ("node_modules/m", b""),
    ]);
    std::os::unix::fs::symlink("a", bench.path("l")).unwrap();
    let names = |args: Value| -> Vec<String> {
        let data = bench.done("list_directory", &args);
        assert_eq!(data["truncated"], false);
        data["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["relativePath"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(json!({})), ["c", "node_modules", "z", "a", "b", "ignored.log", "l"]);
    assert_eq!(names(json!({ "path": "c/" })), ["c/secrets", "c/f"]);
    assert_eq!(
        names(json!({ "recursive": true, "maxDepth": 2 })),
        ["c", "node_modules", "z", "a", "b", "l", "c/secrets", "z/y", "c/f"]
    );
    assert_eq!(names(json!({ "maxDepth": 2 })), names(json!({ "recursive": true, "maxDepth": 2 })));
    for one in [json!({ "maxDepth": 1 }), json!({ "recursive": false, "maxDepth": 2 })] {
        assert_eq!(names(one), names(json!({})));
    }
    let all = names(json!({ "recursive": true, "includeHidden": true }));
    for (name, there) in [
        (".hidden", true),
        ("z/y/x", true),
        ("ignored.log", true),
        ("node_modules/m", true),
        (".env", false),
        ("c/secrets/key", false),
        (".apply-patch", false),
    ] {
        assert_eq!(all.iter().any(|other| other == name), there, "{name} in {all:?}");
    }
    let data = bench.done("list_directory", &json!({}));
    let entry = &data["entries"][4];
    assert_eq!(&entry["type"], &json!("file"));
    assert_eq!(&entry["size"], &json!(2));
    assert_eq!(&entry["depth"], &json!(1));
    assert!(entry["mtime"].as_str().unwrap().ends_with('Z'));
    assert_eq!(data["entries"][6]["type"], "symlink");
    bench.fails("list_directory", &json!({ "path": "a" }), "not_found");
    bench.fails("list_directory", &json!({ "path": "none" }), "not_found");
    bench.fails("list_directory", &json!({ "path": ".." }), "outside_workspace");
}

#[test]
fn a_long_list_is_cut() {
    let bench = Bench::new(&[]);
    for number in 0..5001 {
        std::fs::write(bench.path(&format!("f{number:04}")), b"").unwrap();
    }
    let data = bench.done("list_directory", &json!({}));
    assert_eq!(data["entries"].as_array().unwrap().len(), 5000);
    assert_eq!(&data["truncated"], &json!(true));
    assert_eq!(data["entries"][4999]["name"], "f4999");
}
