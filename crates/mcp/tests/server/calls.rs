//! Calls of tools.

use serde_json::{Value, json};

use patch_session::Tool;
use testutils::tools::{FILES, prepared};

use crate::support::*;
use apply_patch_mcp::{Origin, ServerSettings};

/// Calls that succeed, in an order in which each finds what it needs.
fn script(client: &mut Client) -> Vec<(&'static str, Value)> {
    let mut results = Vec::new();
    let mut call = |client: &mut Client, tool: &'static str, args: Value| {
        let result = client.call(tool, args);
        results.push((tool, result.clone()));
        result["structuredContent"]["data"].clone()
    };
    let read = call(client, "read_file", json!({ "path": "f" }));
    call(client, "search_files", json!({ "query": "two", "mode": "text", "contextLines": 1 }));
    let new = call(
        client,
        "create_file",
        json!({ "path": "d/n", "content": "n\n", "createParentDirectories": true }),
    );
    let edits = json!([{ "oldText": "two", "newText": "2" }]);
    let edit = call(
        client,
        "edit_file",
        json!({ "path": "f", "expectedSha256": read["sha256"], "edits": edits }),
    );
    let args =
        json!({ "path": "f", "content": "all\nnew\n", "expectedSha256": edit["afterSha256"] });
    let written = call(client, "write_file", args);
    call(
        client,
        "move_file",
        json!({ "fromPath": "d/n", "toPath": "d/m", "expectedSha256": new["sha256"] }),
    );
    let gone = call(client, "delete_file", json!({ "path": "d/m" }));
    call(client, "restore_file", json!({ "trashedPath": gone["trashedTo"] }));
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n-all\n+most\n*** End Patch\n";
    let patched = call(client, "apply_patch", json!({ "patch": patch }));
    call(client, "undo", json!({ "transactionId": patched["transactionId"] }));
    call(client, "undo", json!({ "transactionId": written["transactionId"] }));
    results
}

/// The text has what the data has: a model may be shown either.
#[test]
fn a_file_that_does_not_parse_any_more_is_told_by_every_tool_that_writes() {
    let told = "c.json: it does not parse any more as JSON: line 1, column 2: ";
    let edits = json!([{ "oldText": "{}", "newText": "{,}" }]);
    let patch = "*** Begin Patch\n*** Update File: c.json\n@@\n-{}\n+{,}\n*** End Patch\n";
    for (tool, args, place_of_note) in [
        ("edit_file", json!({ "path": "c.json", "edits": edits }), "/warnings/0"),
        ("write_file", json!({ "path": "c.json", "content": "{,}\n" }), "/warnings/0"),
        ("apply_patch", json!({ "patch": patch }), "/data/notes/0"),
        ("apply_patch", json!({ "patch": patch, "dryRun": true }), "/data/notes/0"),
        ("edit_patch", json!({ "patch": patch }), "/notes/0"),
    ] {
        let place = Place::new(&[("c.json", b"{}\n")]);
        let mut client = place.client(Era::Sessions);
        client.call("read_file", json!({ "path": "c.json" }));
        let result = client.call(tool, args);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&format!("\nnote: {told}")), "{tool}: {text}");
        let note = result["structuredContent"].pointer(place_of_note);
        let note = note.and_then(Value::as_str).unwrap_or_default();
        assert!(note.starts_with(told), "{tool}: {result}");
    }
}

#[test]
fn every_tool_works_and_answers_as_its_schema_says() {
    for era in ERAS {
        let place = Place::new(&[("f", b"one\r\ntwo\r\n")]);
        let mut client = place.client(era);
        let list = client.request("tools/list", json!({}))["result"]["tools"].clone();
        let schema = |name: &str| {
            list.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap()["outputSchema"].clone()
        };
        let check = |tool: &str, result: &Value| {
            let data = &result["structuredContent"];
            assert_eq!(misfit(data, &schema(tool), tool), None, "{result}");
            let content = result["content"].as_array().unwrap();
            let has_file = tool == "read_file" && result["isError"] == false;
            assert_eq!(content.len(), if has_file { 3 } else { 2 }, "{result}");
            assert!(!has_file || data["data"].get("content").is_none(), "{result}");
            let [text, copy] = &content[..2] else { panic!("two texts: {result}") };
            assert_eq!(copy["text"].as_str().unwrap(), data.to_string(), "{result}");
            let text = text["text"].as_str().unwrap();
            let short = !text.is_empty() && !text.contains('\n') && text.len() < 200;
            assert!(short || result["isError"] == true, "the text is a sentence: {text}");
        };
        let results = script(&mut client);
        for (tool, result) in &results {
            assert_eq!(result["isError"], false, "{tool}: {result}");
            check(tool, result);
        }
        assert_eq!(
            place.read("f"),
            b"one\r\n2\r\n",
            "lines end as they did, and two changes were undone"
        );
        client.leave().unwrap();
        let place = Place::new(FILES);
        let mut client = place.client(era);
        let calls = prepared(|tool, args| client.done(tool, args));
        for tool in Tool::usual() {
            let (name, works) = (tool.legal_name(), &calls[tool.as_str()]);
            let result = client.call(name, works.clone());
            assert_eq!(result["isError"], false, "{name} {works}: {result}");
            check(name, &result);
            // Without arguments, and with ones that lead out: in band, so that the model can see
            // it.
            for args in [
                json!({}),
                json!({ "unheard": 1 }),
                json!({
                    "path": "../x", "pattern": "*", "root": "../x", "query": "q", "mode": "text",
                }),
            ] {
                let result = client.call(name, args.clone());
                if args != *works {
                    assert_eq!(result["isError"], true, "{name} {args}: {result}");
                }
                check(name, &result);
            }
        }
        client.leave().unwrap();
    }
}

/// Models see the data, whether their client reads it or not.
#[test]
fn data_is_text_too_unless_the_client_reads_it() {
    let place = Place::new(&[("f", b"one\n")]);
    for (name, version, texts) in [
        ("tester", "2025-11-25", 2),
        ("gemini-cli-mcp-client", "2025-11-25", 2),
        ("opencode", "2025-11-25", 2),
        ("mcp", "2025-06-18", 2),
        ("codex-mcp-client", "2025-11-25", 1),
        ("claude-code", "2025-11-25", 1),
        ("goose-cli", "2025-06-18", 1),
        ("@cline/core", "2025-11-25", 1),
        ("codex-mcp-client", "2025-03-26", 2),
        ("claude-code", "2024-11-05", 2),
    ] {
        let mut client = Client::silent(place.settings(), Era::Sessions, json!({}));
        let answer = client.introduce(name, version);
        assert_eq!(answer["result"]["protocolVersion"], version);
        let result = client.call("glob", json!({ "pattern": "*" }));
        let content = result["content"].as_array().unwrap();
        assert_eq!(content.len(), texts, "{name} {version}: {result}");
        let found = &result["structuredContent"]["data"]["matches"][0]["path"];
        assert_eq!(found, "f", "{name} {version}");
        if texts == 2 {
            let data: Value = serde_json::from_str(content[1]["text"].as_str().unwrap()).unwrap();
            assert_eq!(data, result["structuredContent"], "{name} {version}");
        }
    }
}

/// A model reads a file as it is, once, and its facts beside it.
#[test]
fn a_file_is_text_as_it_is() {
    let text = "let quoted = \"\\n\";\n\tindented\n";
    let bytes = text.replace('\n', "\r\n");
    let place = Place::new(&[("f", bytes.as_bytes()), ("empty", b""), ("b", b"\0")]);
    for (name, version, reads_data) in [
        ("tester", "2025-11-25", false),
        ("codex-mcp-client", "2025-11-25", true),
        ("claude-code", "2025-11-25", true),
        ("claude-code", "2024-11-05", false),
    ] {
        let mut client = Client::silent(place.settings(), Era::Sessions, json!({}));
        client.introduce(name, version);
        let list = client.request("tools/list", json!({}))["result"]["tools"].clone();
        let promised = |tool: &str| {
            let mut tools = list.as_array().unwrap().iter();
            tools.find(|listed| listed["name"] == tool).unwrap().get("outputSchema").is_some()
        };
        assert!(promised("glob"), "{name}");
        // Such a client would show the model the data instead of the file, and refuse an answer
        // without the data that is promised.
        assert_eq!(promised("read_file"), !reads_data, "{name}");
        let result = client.call("read_file", json!({ "path": "f" }));
        let content = result["content"].as_array().unwrap();
        let [_, facts, file] = &content[..] else { panic!("{name}: {result}") };
        assert_eq!(file["text"], text, "{name}");
        let facts: Value = serde_json::from_str(facts["text"].as_str().unwrap()).unwrap();
        assert_eq!(facts["data"]["sha256"].as_str().unwrap().len(), 64, "{name}");
        assert_eq!(facts["data"]["newlineStyle"], "crlf", "{name}");
        assert!(facts["data"].get("content").is_none(), "{name}: {facts}");
        let data = result.get("structuredContent");
        assert_eq!(data, (!reads_data).then_some(&facts), "{name}");
        for (tool, args, is_error) in [
            ("read_file", json!({ "path": "empty" }), false),
            ("read_file", json!({ "path": "b", "allowBinary": true }), false),
            ("read_file", json!({ "path": "nope" }), true),
        ] {
            let result = client.call(tool, args.clone());
            assert_eq!(result["isError"], is_error, "{name} {args}: {result}");
            assert!(result["structuredContent"].is_object(), "{name} {args}: {result}");
            let texts = result["content"].as_array().unwrap();
            assert!(texts.iter().all(|part| part["text"] != ""), "{name} {args}: {result}");
        }
    }
}

#[test]
fn the_brief_list_is_short() {
    let place = Place::new(&[]);
    let mut settings = place.settings();
    settings.brief = true;
    let mut client = Client::new(settings, Era::Sessions, json!({}));
    let list = client.request("tools/list", json!({}))["result"].clone();
    let count = list["tools"].as_array().unwrap().len();
    assert_eq!(count, Tool::usual().count());
    // 9450 bytes for 13 tools.
    assert!(13 * list.to_string().len() < 9450 * count, "{list}");
    assert!(list["tools"][0].get("outputSchema").is_none(), "{list}");
    assert!(list["tools"][0]["annotations"].is_object(), "{list}");
}

/// A client may show its model the text alone.
#[test]
fn lines_have_their_tags_in_the_text() {
    let place = Place::new(&[("f", b"one\ntwo\nthree\n")]);
    let mut client = place.client(Era::Sessions);
    let text = |result: &Value| {
        let content = result["content"].as_array().unwrap().iter();
        content.map(|part| part["text"].as_str().unwrap().to_owned()).collect::<String>()
    };
    let read = text(&client.call("read_file", json!({ "path": "f", "tags": true })));
    let line = |text: &str, end: &str| {
        text.lines().find(|line| line.ends_with(end)).unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let two = line(&read, "|two");
    std::fs::write(place.path("f"), "one\nzwei\nthree\n").unwrap();
    let edit = |line: &str| json!({ "path": "f", "edits": [{ "from": line, "newText": "2" }] });
    let refused = client.call("edit_file", edit(&two));
    assert_eq!(refused["structuredContent"]["error"]["kind"], "stale_file", "{refused}");
    let now = line(&text(&refused), "|zwei");
    let edited = client.call("edit_file", edit(&now));
    assert_eq!(edited["isError"], false, "{edited}");
    assert_eq!(place.read("f"), b"one\n2\nthree\n");
}

#[test]
fn an_error_shows_the_closest_place_in_words() {
    let place = Place::new(&[
        ("f", b"fn a() {\n    one();\n}\nfn b() {\n    two();\n}\n"),
        ("g", b"x\ny\nx\n"),
    ]);
    let mut client = place.client(Era::Sessions);
    let text = |result: &Value| result["content"][0]["text"].as_str().unwrap().to_owned();
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n fn b() {\n-    to();\n+    three();\n\
                 *** End Patch\n";
    let told = text(&client.call("apply_patch", json!({ "patch": patch })));
    for part in [
        "patch_apply_error: ",
        "closest: lines 4-5",
        "you wrote:              to();",
        "line 5     really is:     two();",
        "next: ",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let twice = "*** Begin Patch\n*** Update File: g\n@@\n-x\n+z\n*** End Patch\n";
    let told = text(&client.call("apply_patch", json!({ "patch": twice })));
    assert!(told.starts_with("multiple_matches: "), "{told}");
    assert!(told.contains("to mean line 1, put after it:\ny\n"), "{told}");
}

#[test]
fn a_session_knows_what_it_has_read() {
    for era in ERAS {
        let place = Place::new(&[("f", b"mine\n")]);
        let mut client = place.client(era);
        let seen = client.done("read_file", json!({ "path": "f" }))["sha256"].clone();
        std::fs::write(place.path("f"), "theirs\n").unwrap();
        for (tool, args) in [
            ("write_file", json!({ "path": "f", "content": "new\n", "expectedSha256": seen })),
            ("delete_file", json!({ "path": "f" })),
            (
                "edit_patch",
                json!({ "patch": "*** Begin Patch\n*** Delete File: f\n\
                                  *** End Patch", "allow_delete": true }),
            ),
        ] {
            let result = client.call(tool, args);
            assert!(result["isError"] == true, "{tool}: {result}");
            assert!(result.to_string().contains("stale_file"), "{tool}: {result}");
        }
        assert_eq!(place.read("f"), b"theirs\n");
    }
}

#[test]
fn changes_that_are_sent_at_once_take_effect_in_their_order() {
    for era in ERAS {
        let place = Place::new(&[("f", b"0\n")]);
        let mut client = place.client(era);
        client.done("read_file", json!({ "path": "f" }));
        let mut ids = Vec::new();
        for n in 0..200 {
            let sha256 = fs_guard::Sha256::of(format!("{n}\n").as_bytes()).to_string();
            let edits = json!([{ "oldText": n.to_string(), "newText": (n + 1).to_string() }]);
            let patch = format!(
                "*** Begin Patch\n*** Update File: f\n@@\n-{n}\n+{}\n*** End Patch\n",
                n + 1
            );
            let (tool, args) = match n % 3 {
                0 => {
                    ("edit_file", json!({ "path": "f", "expectedSha256": sha256, "edits": edits }))
                }
                1 => ("apply_patch", json!({ "patch": patch })),
                _ => ("edit_patch", json!({ "patch": patch })),
            };
            ids.push(client.send("tools/call", json!({ "name": tool, "arguments": args })));
            if n % 10 == 0 {
                ids.push(client.send(
                    "tools/call",
                    json!({ "name": "read_file", "arguments": { "path": "f" } }),
                ));
            }
        }
        for _ in &ids {
            let answer = client.hear();
            assert_eq!(answer["result"]["isError"], false, "{answer}");
        }
        assert_eq!(place.read("f"), b"200\n");
        // What is not true any more is said as it is.
        let stale = json!({
            "path": "f", "content": "", "expectedSha256": fs_guard::Sha256::of(b"0\n").to_string(),
        });
        client.fails("write_file", stale, "stale_file");
    }
}

#[test]
fn long_answers_come_in_parts() {
    let place = Place::new(&[]);
    let text: String = (0..4_000).map(|n| format!("line {n}\n")).collect();
    std::fs::write(place.path("f"), &text).unwrap();
    for n in 0..500 {
        std::fs::write(place.path(&format!("file-{n:03}")), "").unwrap();
    }
    let mut client = place.client(Era::Single);
    let (mut args, mut together, mut parts) = (json!({ "path": "f" }), String::new(), 0);
    loop {
        let result = client.call("read_file", args.clone());
        let data = &result["structuredContent"]["data"];
        let texts: Vec<_> =
            (0..3).map(|nth| result["content"][nth]["text"].as_str().unwrap()).collect();
        assert!(texts.concat().len() < 20_500);
        together += texts[2];
        parts += 1;
        match data.get("nextCursor") {
            Some(next) => args["cursor"] = next.clone(),
            None => break,
        }
    }
    assert!(together == text);
    assert_eq!(parts, 3);
    let list = client.done("list_directory", json!({}));
    assert!(list["truncated"] == true, "{}", list.to_string().len());
    assert!(list.to_string().len() < 21_000, "{}", list.to_string().len());
    let rest = client.done("list_directory", json!({ "cursor": list["nextCursor"] }));
    assert!(rest["entries"][0] != list["entries"][0]);
    assert!(!rest["entries"].as_array().unwrap().is_empty());
}

#[test]
fn progress_is_told_to_who_wants_it() {
    for era in ERAS {
        let place = Place::new(&[("f", b"a\n")]);
        let mut client = place.client(era);
        let patch = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\n";
        let mut params = json!({ "name": "apply_patch", "arguments": { "patch": patch } });
        params["_meta"]["progressToken"] = json!("p1");
        let answer = client.request("tools/call", params);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        let told = client.heard.last().expect("progress");
        assert_eq!(&told["method"], &json!("notifications/progress"));
        assert_eq!(&told["params"]["progressToken"], &json!("p1"));
        assert_eq!(told["params"]["message"], "planned: 1 updated");
        client.heard.clear();
        client.done("read_file", json!({ "path": "f" }));
        assert!(client.heard.is_empty(), "nobody asked");
    }
}

#[test]
fn a_cancelled_call_ends_and_changes_nothing() {
    let place = Place::new(&[]);
    for n in 0..3_000 {
        let dir = place.path(&format!("d{}/e{}", n % 50, n % 300));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(format!("f{n}")), "some text to look through\n".repeat(20))
            .unwrap();
    }
    let mut client = place.client(Era::Sessions);
    let search =
        json!({ "name": "search_files", "arguments": { "query": "absent", "mode": "text" } });
    let id = client.send("tools/call", search);
    let cancel = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id },
    });
    client.line(&cancel.to_string());
    // The next call is answered, and the cancelled one never is.
    let next =
        client.send("tools/call", json!({ "name": "glob", "arguments": { "pattern": "none" } }));
    let answer = client.hear();
    assert_eq!(answer["id"], next, "{answer}");
    client.leave().unwrap();
}

/// Where the client says which project it is, its one root is the workspace, with its history; and
/// where it was started is none if that is not a project.
#[test]
fn a_client_says_which_directory_is_the_workspace() {
    let place = Place::new(&[("one/f", b"1"), ("two/f", b"2")]);
    let uri = |path: &str| json!({ "uri": format!("file://{}", place.path(path).display()) });
    let settings = |origin| ServerSettings { origin, ..place.settings() };
    for origin in [Origin::Client, Origin::Roots] {
        let mut client = Client::new(settings(origin), Era::Sessions, json!({ "roots": {} }));
        client.replies.push(json!({ "roots": [uri("one")] }));
        client.done("create_file", json!({ "path": "new", "content": "x" }));
        assert!(place.path("one/new").exists(), "{origin:?}");
        assert!(place.path("one/.apply-patch").exists(), "{origin:?}");
        assert!(!place.path(".apply-patch").exists(), "{origin:?}");
        assert_eq!(client.done("read_file", json!({ "path": "f" }))["content"], "1");
        // Another project: what was seen of the files of the first is not taken for these.
        client.line(
            &json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }).to_string(),
        );
        client.replies.push(json!({ "roots": [uri("two")] }));
        client.fails("write_file", json!({ "path": "f", "content": "x" }), "command_failed");
        assert_eq!(client.done("read_file", json!({ "path": "f" }))["content"], "2");
        client.fails("read_file", json!({ "path": "../one/f" }), "outside_workspace");
        std::fs::remove_dir_all(place.path("one/.apply-patch")).unwrap();
        std::fs::remove_file(place.path("one/new")).unwrap();
    }
    for era in [Era::Sessions, Era::Single] {
        let mut lost = Client::new(settings(Origin::Roots), era, json!({}));
        let error = lost.fails("read_file", json!({ "path": "one/f" }), "permission_denied");
        assert_eq!(error["details"]["reason"], "no_roots", "{error}");
        let mut there = Client::new(settings(Origin::Client), era, json!({}));
        assert_eq!(there.done("read_file", json!({ "path": "one/f" }))["content"], "1");
    }
}

#[test]
fn roots_of_a_client_narrow_what_it_may_touch() {
    let place = Place::new(&[("src/a", b"a"), ("docs/b", b"b"), ("c", b"c")]);
    let uri = |path: &str| json!({ "uri": format!("file://{}", place.path(path).display()) });
    let client = |roots: Value| {
        let mut client = Client::new(place.settings(), Era::Sessions, json!({ "roots": {} }));
        client.replies.push(json!({ "roots": roots }));
        client
    };
    let mut narrow = client(json!([uri("src"), uri("../elsewhere")]));
    assert_eq!(narrow.done("read_file", json!({ "path": "src/a" }))["content"], "a");
    narrow.fails("read_file", json!({ "path": "docs/b" }), "outside_workspace");
    narrow.fails("create_file", json!({ "path": "n", "content": "" }), "outside_workspace");
    assert_eq!(
        narrow.done("glob", json!({ "pattern": "**" }))["matches"].as_array().unwrap().len(),
        2,
        "src and src/a"
    );
    // Other roots, the same session: what it has read it still knows.
    narrow.line(
        &json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }).to_string(),
    );
    narrow.replies.push(json!({ "roots": [uri("docs"), uri("src")] }));
    std::fs::write(place.path("src/a"), "newer").unwrap();
    assert_eq!(narrow.done("read_file", json!({ "path": "docs/b" }))["content"], "b");
    narrow.fails("delete_file", json!({ "path": "src/a" }), "stale_file");
    let mut wide = client(json!([uri("..")]));
    assert_eq!(wide.done("read_file", json!({ "path": "c" }))["content"], "c");
    let other = tempfile::tempdir().unwrap();
    let mut nothing = client(json!([{ "uri": format!("file://{}", other.path().display()) }]));
    nothing.fails("read_file", json!({ "path": "c" }), "outside_workspace");
    // A client that has roots and names none that can be used may touch nothing, until it does.
    for roots in [
        json!([]),
        json!([{ "uri": "src" }]),
        json!([{ "uri": "https://x/" }]),
        json!([uri("none")]),
        json!(7),
    ] {
        let mut lost = client(roots.clone());
        let error = lost.fails("read_file", json!({ "path": "c" }), "permission_denied");
        assert!(error["details"]["reason"] == "no_roots", "{roots}: {error}");
        assert!(error["suggestedNextAction"].is_string(), "{roots}: {error}");
        lost.replies.push(json!({ "roots": [] }));
        lost.fails("create_file", json!({ "path": "n", "content": "" }), "permission_denied");
        lost.replies.push(json!({ "roots": [uri("src")] }));
        assert_eq!(lost.done("read_file", json!({ "path": "src/a" }))["content"], "newer");
    }
    assert!(!place.path("n").exists());
    let mut silent = Client::new(place.settings(), Era::Single, json!({ "roots": {} }));
    assert_eq!(
        silent.done("read_file", json!({ "path": "c" }))["content"],
        "c",
        "in this era nobody is asked for roots"
    );
}
