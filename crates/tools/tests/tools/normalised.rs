//! Arguments in another form than the schema has them, of which nothing is lost: they are taken,
//! and the answer says so.

use file_tools::ToolInfo;
use file_tools::Tools as _;
use patch_session::Tool;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::each_tool::every_call;
use crate::support::{Bench, call, patch};

/// What has the notes in the answer of a tool: `edit.patch` has a shape of its own.
fn note_field(tool: Tool) -> &'static str {
    if tool == Tool::EditPatch { "notes" } else { "normalised" }
}

/// Makes the same call in two workspaces, and compares what is the same in both: the answer but for
/// what changes from one to the next, and the files. Returns the second answer.
fn same(tool: Tool, args: &Value, other: impl Fn(Value) -> Value) -> Value {
    let as_it_is = |args| args;
    let forms: [&dyn Fn(Value) -> Value; 2] = [&as_it_is, &other];
    let [mut one, mut two] = forms.map(|form| {
        let (bench, calls) = every_call();
        // The names of transactions are those of the workspace.
        let (_, mut own) = calls.into_iter().find(|(named, _)| *named == tool).expect("a call");
        let mut args = args.clone();
        for name in ["trashedPath", "transactionId", "id"] {
            if let (Some(own), Some(given)) = (own.get_mut(name), args.get_mut(name)) {
                *given = own.take();
            }
        }
        let answer = bench.call(tool.as_str(), &form(args));
        (
            answer,
            ["f", "g", "old", "left", "new"]
                .map(|path| bench.exists(path).then(|| bench.read(path))),
        )
    });
    let told = two.0[note_field(tool)].take();
    let words = |answer: &Value| match &answer["error"] {
        Value::Null => answer["data"].as_object().map(|data| data.keys().cloned().collect()),
        error => Some(vec![error["kind"].to_string()]),
    };
    assert_eq!(words(&one.0), words(&two.0), "{} {args}: {}", tool.as_str(), two.0);
    assert_eq!(one.1, two.1, "{} {args}", tool.as_str());
    assert_eq!(one.0[note_field(tool)].take(), Value::Null, "{args}");
    told
}

/// Values of the type that a schema wants; none for text.
fn values(schema: &Value) -> Vec<Value> {
    match schema["type"].as_str().expect("a type") {
        "boolean" => vec![json!(true), json!(false)],
        "integer" => vec![json!(1)],
        "array" if schema["items"]["type"] == "string" => vec![json!(["f"]), json!([])],
        "array" if schema["items"]["properties"].get("sha256").is_some() => {
            vec![json!([{ "path": "f", "sha256": "" }])]
        }
        "array" => vec![json!([{ "oldText": "two", "newText": "2", "replaceAll": true }])],
        _ => Vec::new(),
    }
}

#[test]
fn a_json_text_of_the_wanted_type_is_that_value() {
    let mut tried = 0;
    for (tool, args) in every_call().1 {
        let schema = ToolInfo::of(tool).input_schema;
        for (name, wanted) in schema["properties"].as_object().expect("arguments") {
            for value in values(wanted) {
                let mut plain = args.clone();
                plain[name] = value.clone();
                let text = |mut args: Value| {
                    args[name] = value.to_string().into();
                    args
                };
                let note = format!("`{name}` was a JSON text, and was read as what is in it");
                assert_eq!(same(tool, &plain, text), json!([note]));
                tried += 1;
            }
        }
        let whole = same(tool, &args, |args| args.to_string().into());
        assert!(whole[0].as_str().is_some_and(|note| note.starts_with("the arguments")), "{whole}");
    }
    assert!(tried > 40, "{tried}");
}

#[test]
fn an_integer_may_be_written_with_a_fraction_of_nothing() {
    let mut tried = 0;
    for (tool, args) in every_call().1 {
        let schema = ToolInfo::of(tool).input_schema;
        for (name, wanted) in schema["properties"].as_object().expect("arguments") {
            if wanted["type"] != "integer" {
                continue;
            }
            let with = |mut args: Value, value: Value| {
                args[name] = value;
                args
            };
            let args = with(args.clone(), 900.into());
            for (value, note) in [
                (json!(900.0), "was 900.0, and was read as 900"),
                (json!("900.0"), "was a JSON text, and was read as what is in it"),
            ] {
                let told = same(tool, &args, |args| with(args, value.clone()));
                assert_eq!(told, json!([format!("`{name}` {note}")]));
            }
            tried += 1;
        }
    }
    assert!(tried > 9, "{tried}");
}

#[test]
fn empty_text_leaves_out_what_may_be_left_out() {
    for (tool, args) in every_call().1 {
        let schema = ToolInfo::of(tool).input_schema;
        for (name, wanted) in schema["properties"].as_object().expect("arguments") {
            let required = schema["required"].as_array();
            let required = required.is_some_and(|names| names.contains(&json!(name)));
            // Two of them are told apart from what is left out: see `strict`.
            if required || name.starts_with("expectedSha256") || args.get(name).is_some() {
                continue;
            }
            let empty = |mut args: Value| {
                args[name] = "".into();
                args
            };
            let told = match wanted["type"].as_str() {
                // Strict schemas require it: there is nothing to tell.
                Some("string") if wanted.get("enum").is_none() => Value::Null,
                _ => json!([format!("`{name}` was empty, and was left out")]),
            };
            assert_eq!(same(tool, &args, empty), told, "{} {name}", tool.as_str());
        }
    }
}

#[test]
fn what_is_nested_is_taken_too() {
    let edit = r#"{"oldText":"two","newText":"2","replaceAll":"true","expectedOccurrences":""}"#;
    for edits in [json!([edit]), json!(json!([edit]).to_string())] {
        let (bench, _) = every_call();
        let answer = bench.call("edit_file", &json!({ "path": "f", "edits": edits }));
        assert_eq!(bench.read("f"), b"one\n2\n", "{answer}");
        let told = answer["normalised"].to_string();
        for name in ["`edits[0]`", "`edits[0].replaceAll`", "`edits[0].expectedOccurrences`"] {
            assert!(told.contains(name), "{answer}");
        }
    }
}

/// Of the two, one would be lost.
#[test]
fn a_name_that_stands_twice_is_refused() {
    let patch = r#""patch":"*** Begin Patch\n*** Delete File: f\n*** End Patch""#;
    let hash = "0".repeat(64);
    for (tool, args, told) in [
        ("read_file", r#"{"path":"f","path":"g"}"#.to_owned(), "`path` stands there twice"),
        ("delete_file", r#"{"path":"f","path":"g"}"#.to_owned(), "`path` stands there twice"),
        (
            "apply_patch",
            format!(r#"{{{patch},"expectedSha256ByPath":{{"f":"{hash}","f":"{hash}"}}}}"#),
            "`f` stands there twice",
        ),
        ("read_file", r#"{"path":"\ud800"}"#.to_owned(), "hex escape"),
    ] {
        let (bench, _) = every_call();
        let args: &RawValue = serde_json::from_str(&args).expect("JSON");
        let reply = bench.tools().call(tool, args, &mut ());
        let message = reply.failure().expect("an error");
        assert!(message.contains(told), "{message}");
        assert!(!message.contains("must be"), "{message}");
        assert!(bench.exists("f") && bench.exists("g"));
    }
}

#[test]
fn another_text_is_refused_for_what_it_is() {
    let bench = Bench::new(&[("f", b"one\n")]);
    for (tool, args, message) in [
        ("read_file", json!({ "path": "f", "startLine": "one" }), "`startLine` must be an integer"),
        ("read_file", json!({ "path": "f", "startLine": "-1" }), "`startLine` must be an integer"),
        ("read_file", json!({ "path": "f", "startLine": 1.5 }), "`startLine` must be an integer"),
        ("read_file", json!({ "path": "f", "startLine": -1.0 }), "`startLine` must be an integer"),
        ("read_file", json!({ "path": "f", "startLine": 1e99 }), "`startLine` must be an integer"),
        ("read_file", json!({ "path": "f", "lineNumbers": "1" }), "`lineNumbers` must be true or"),
        (
            "read_file",
            json!({ "path": "f", "lineNumbers": "\"true\"" }),
            "`lineNumbers` must be true",
        ),
        ("edit_file", json!({ "path": "f", "edits": "[{}" }), "`edits` must be a list"),
        ("edit_file", json!({ "path": "f", "edits": "{}" }), "`edits` must be a list"),
        ("edit_file", json!({ "path": "f", "edits": "" }), "`edits` must be a list"),
        (
            "edit_file",
            json!({ "path": "f", "edits": "[{\"oldText\":1}]" }),
            "`edits[0].oldText` must",
        ),
        // The last of two would be taken without a word.
        (
            "edit_file",
            json!({ "path": "f", "edits": r#"[{"oldText":"a","oldText":"one","newText":"b"}]"# }),
            "`edits` must be a list",
        ),
        ("read_file", json!("[]"), "the arguments must be an object"),
        ("read_file", json!("f"), "the arguments must be an object"),
    ] {
        let answer = bench.call(tool, &args);
        let error = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(error.contains(message), "{args}: {error}");
    }
    let twice = r#"{"path":"f","lineNumbers":"true","path":"g"}"#.to_owned();
    let twice = RawValue::from_string(twice).expect("JSON");
    let answer = bench.tools().call("read_file", &*twice, &mut ());
    assert!(!answer.is_ok(), "{}", answer.to_json());
    assert_eq!(bench.read("f"), b"one\n");
}

#[test]
fn a_refusal_says_what_was_taken_too() {
    let bench = Bench::new(&[("f", b"one\n")]);
    let args = json!({ "path": "g", "startLine": "1" });
    let answer = bench.call("read_file", &args);
    assert_eq!(answer["error"]["kind"], "not_found", "{answer}");
    assert!(answer["normalised"][0].as_str().is_some(), "{answer}");
}

#[test]
fn the_editor_takes_the_same() {
    let bench = Bench::new(&[("f", b"one\ntwo\n")]);
    let edit = |input: Value| bench.tools().editor(&input, None, &mut ());
    let shown = edit(json!({ "command": "view", "path": "f", "view_range": "[2, \"-1\"]" }));
    assert!(!shown.is_error, "{shown:?}");
    assert!(shown.content.starts_with("     2\ttwo\nnote: `view_range` was"), "{shown:?}");
    let text = json!({ "command": "insert", "path": "f", "insert_line": "1", "insert_text": "x" });
    assert!(!edit(text).is_error);
    assert_eq!(bench.read("f"), b"one\nx\ntwo\n");
}

#[test]
fn an_absolute_path_beneath_the_root_is_the_relative_one() {
    for (tool, args) in every_call().1 {
        let schema = ToolInfo::of(tool).input_schema;
        let paths = ["path", "fromPath", "toPath", "root"];
        let with = |root: &str| {
            let mut args = args.clone();
            for name in paths.into_iter().filter(|name| schema["properties"].get(name).is_some()) {
                args[name] = match args[name].as_str() {
                    Some(path) => format!("{root}/{path}").into(),
                    None => root.into(),
                };
            }
            if let Some(text) = args["patch"].as_str() {
                args["patch"] = text.replace("File: ", &format!("File: {root}/")).into();
            }
            args
        };
        let (bench, calls) = every_call();
        let (_, own) = calls.into_iter().find(|(named, _)| *named == tool).expect("a call");
        let mut absolute = with(bench.dir.path().to_str().expect("text"));
        let has_one = absolute != args;
        for name in ["trashedPath", "transactionId", "id"] {
            if let Some(own) = own.get(name) {
                absolute[name] = own.clone();
            }
        }
        let answer = bench.call(tool.as_str(), &absolute);
        if tool == Tool::EditPatch {
            // Its contract has relative paths only.
            assert!(answer["error"].to_string().contains("did you mean "), "{answer}");
            continue;
        }
        assert_eq!(answer["ok"], true, "{} {absolute}: {answer}", tool.as_str());
        let told = [&answer["normalised"], &answer["data"]["notes"], &answer["notes"]];
        let told = told.iter().any(|notes| notes.to_string().contains("the absolute path"));
        assert_eq!(told, has_one, "{}: {answer}", tool.as_str());
    }
}

#[test]
fn other_absolute_paths_are_refused_as_before() {
    let bench = Bench::new(&[("f", b"one\n"), ("d/g", b"one\n")]);
    let root = bench.dir.path().to_str().expect("text").to_owned();
    for (path, reason) in [
        ("/etc/hostname".to_owned(), "absolute_path"),
        (format!("{root}x/f"), "absolute_path"),
        (format!("{root}/../f"), "traversal"),
        (format!("{root}/d/../f"), "traversal"),
        (format!("{root}/.git/config"), "git"),
        (format!("{root}//d//g"), "empty_component"),
        (root.clone(), "empty_path"),
    ] {
        let args = [
            ("create_file", json!({ "path": path, "content": "" })),
            ("apply_patch", json!({ "patch": patch(&format!("*** Add File: {path}\n+x\n")) })),
        ];
        for (tool, args) in args {
            let answer = bench.call(tool, &args);
            let found = answer["error"]["details"]["reason"].as_str().unwrap_or_default();
            assert!(found.contains(reason), "{tool} {path}: {answer}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_path_through_a_link_to_the_root_is_the_relative_one() {
    let bench = Bench::new(&[("f", b"one\n"), ("d/g", b"one\n")]);
    let outside = testutils::temp::temp();
    let link = outside.path().join("link");
    std::os::unix::fs::symlink(bench.dir.path(), &link).unwrap();
    std::os::unix::fs::symlink(bench.dir.path(), bench.path("again")).unwrap();
    let read =
        |path: std::path::PathBuf| call(bench.tools(), "read_file", &json!({ "path": path }));
    let through = read(link.join("d/g"));
    assert_eq!(through["data"]["path"], "d/g", "{through}");
    // A link beneath the root is none that leads to it.
    let write = json!({ "path": bench.path("again/new"), "content": "x" });
    let inside = bench.call("create_file", &write);
    assert_eq!(inside["error"]["details"]["reason"], "symlink", "{inside}");
    // Nor is what lies beside it.
    assert_eq!(read(outside.path().join("f"))["ok"], false);
}
