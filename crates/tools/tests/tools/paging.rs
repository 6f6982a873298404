//! Answers that come in parts: what the parts say together is what is there.

use patch_session::audit::Audit;
use patch_session::{Session, SessionSettings};
use serde_json::{Value, json};

use crate::support::{Bench, call, done, fails, session, settings};

/// The tools of the bench with answers of about `max` bytes.
fn short(bench: &Bench, max: usize) -> Session {
    let settings = SessionSettings { max_output: Some(max), ..settings() };
    Session::new(bench.workspace(), Audit::new(session("short"), None), settings)
}

/// All parts of an answer, each with at most `max` bytes of data beside what every answer has.
fn parts(tools: &Session, tool: &str, args: &Value, max: usize) -> Vec<Value> {
    let (mut args, mut parts) = (args.clone(), Vec::new());
    loop {
        let data = done(tools, tool, &args);
        assert!(data.to_string().len() <= max + 400, "{data}");
        let next = data.get("nextCursor").cloned();
        assert_eq!(data["truncated"], next.is_some(), "{data}");
        parts.push(data);
        assert!(parts.len() < 1000, "{tool} comes to an end");
        match next {
            Some(next) => args["cursor"] = next,
            None => return parts,
        }
    }
}

#[test]
fn the_parts_of_a_file_are_the_file() {
    let long = "0123456789é".repeat(30);
    let bench = Bench::new(&[
        ("lines", "one line\nand another\n".repeat(20).as_bytes()),
        ("crlf", "one line\r\nand another\r\n".repeat(20).as_bytes()),
        ("bom", b"\xef\xbb\xbfa\nb"),
        ("long", long.as_bytes()),
        ("latin", &b"caf\xe9 \xe9\xe9\n".repeat(30)),
        ("empty", b""),
    ]);
    for max in [7, 50, 4000] {
        let tools = short(&bench, max);
        for path in ["lines", "crlf", "bom", "long", "latin", "empty"] {
            let whole = bench.done("read_file", &json!({ "path": path }))["content"].clone();
            let parts = parts(&tools, "read_file", &json!({ "path": path }), max);
            let together: String =
                parts.iter().map(|part| part["content"].as_str().unwrap()).collect();
            assert_eq!(together, whole.as_str().unwrap(), "{path} in parts of {max}");
            assert!(parts.iter().all(|part| part["content"].as_str().unwrap().len() <= max));
        }
    }
    let tools = short(&bench, 50);
    let slice =
        parts(&tools, "read_file", &json!({ "path": "lines", "startLine": 3, "endLine": 12 }), 50);
    let lines: Vec<_> =
        slice.iter().map(|part| (part["startLine"].as_u64(), part["endLine"].as_u64())).collect();
    assert_eq!(
        lines[..2],
        [(Some(3), Some(6)), (Some(7), Some(10))],
        "whole lines, as long as they fit"
    );
    fails(&tools, "read_file", &json!({ "path": "lines", "cursor": "x" }), "command_failed");
    let bytes: Vec<u8> = (0..=255).collect();
    bench.write("bin", &bytes);
    let binary = parts(&tools, "read_file", &json!({ "path": "bin", "allowBinary": true }), 50);
    let together: String =
        binary.iter().map(|part| part["contentBase64"].as_str().unwrap()).collect();
    let whole = bench.done("read_file", &json!({ "path": "bin", "allowBinary": true }));
    assert_eq!(together, whole["contentBase64"].as_str().unwrap());
}

#[test]
fn the_parts_of_a_list_are_the_list() {
    let names: Vec<_> = (0..40).map(|number| format!("d{}/f{number}", number % 4)).collect();
    let files: Vec<_> =
        names.iter().map(|name| (name.as_str(), &b"needle\nx\nneedle\n"[..])).collect();
    let bench = Bench::new(&files);
    let tools = short(&bench, 150);
    for (tool, args, key) in [
        ("list_directory", json!({ "recursive": true }), "entries"),
        ("glob", json!({ "pattern": "**/f*" }), "matches"),
        ("glob", json!({ "pattern": "**/f*", "maxResults": 3 }), "matches"),
        (
            "search_files",
            json!({ "query": "needle", "mode": "text", "maxResults": 5000 }),
            "matches",
        ),
        ("search_files", json!({ "query": "f1", "mode": "path" }), "matches"),
    ] {
        let mut all = args.clone();
        if tool != "list_directory" {
            all["maxResults"] = json!(5000);
        }
        let mut whole = bench.done(tool, &all)[key].as_array().unwrap().clone();
        let parts = parts(&tools, tool, &args, 150);
        let mut together: Vec<_> =
            parts.iter().flat_map(|part| part[key].as_array().unwrap().clone()).collect();
        assert!(parts.len() > 2);
        assert!(!whole.is_empty());
        let key = |value: &Value| value.to_string();
        whole.sort_by_key(key);
        together.sort_by_key(key);
        assert_eq!(together, whole, "{tool} {args}");
        fails(
            &tools,
            tool,
            &{
                let mut bad = args.clone();
                bad["cursor"] = json!("none");
                bad
            },
            "command_failed",
        );
    }
}

#[test]
fn diffs_and_reasons_are_cut() {
    let bench = Bench::new(&[("f", "x\n".repeat(2000).as_bytes())]);
    let tools = short(&bench, 1000);
    let hunks: String =
        (0..200).map(|number| format!("@@\n-none {number}\n+new {number}\n")).collect();
    let patch = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n");
    let reply = call(&tools, "apply_patch", &json!({ "patch": patch }));
    let details = &reply["error"]["details"];
    assert!(reply.to_string().len() < 2000, "{reply}");
    assert!(details["moreRejects"].as_u64().is_some_and(|more| more > 100), "{reply}");
    assert!(details["nearest"].is_object() || details["reason"] == "context_not_found", "{reply}");
    let add: String = (0..50)
        .map(|number| format!("*** Add File: n{number}\n{}", "+line\n".repeat(40)))
        .collect();
    let data = done(
        &tools,
        "apply_patch",
        &json!({ "patch": format!("*** Begin Patch\n{add}*** End Patch\n") }),
    );
    assert_eq!(data["truncated"].as_bool(), Some(true));
    assert!(data["transactionId"].is_string());
    assert!(data.to_string().len() < 1500, "{data}");
    assert!(bench.exists("n49"), "{data}");
    let data = done(&tools, "delete_file", &json!({ "path": "f", "diff": "full" }));
    assert!(data["diff"].as_str().unwrap().contains("…(cut: ask with a larger maxResultBytes"));
    assert!(data.to_string().len() < 2500);
}

#[test]
fn an_answer_has_as_many_bytes_as_the_call_asks_for_and_says_how_to_get_the_rest() {
    let quotes = "say \"it\"\tonce\u{1}\n".repeat(400);
    let names: Vec<_> =
        (0..300).map(|number| format!("d{}/file-{number}.txt", number % 7)).collect();
    let mut files: Vec<_> = names.iter().map(|name| (name.as_str(), &b"needle\n"[..])).collect();
    let bytes: Vec<u8> = (0..=255).collect::<Vec<u8>>().repeat(40);
    let long = format!("{}\nb\n", "long".repeat(2000));
    files.extend([("quotes", quotes.as_bytes()), ("bin", &bytes), ("long", long.as_bytes())]);
    let bench = Bench::new(&files);
    for (tool, args, key) in [
        ("read_file", json!({ "path": "quotes" }), "content"),
        ("read_file", json!({ "path": "quotes", "lineNumbers": true }), "content"),
        ("read_file", json!({ "path": "long", "lineNumbers": true }), "content"),
        ("read_file", json!({ "path": "bin", "allowBinary": true }), "contentBase64"),
        ("list_directory", json!({ "recursive": true }), "entries"),
        ("glob", json!({ "pattern": "**/*.txt" }), "matches"),
        (
            "search_files",
            json!({ "query": "needle", "mode": "text", "maxResults": 5000 }),
            "matches",
        ),
    ] {
        let whole = bench.done(tool, &args)[key].clone();
        for most in [1000, 3000] {
            let (mut args, mut all) = (args.clone(), Vec::new());
            args["maxResultBytes"] = most.into();
            loop {
                let reply = bench.call(tool, &args);
                let length = reply.to_string().len();
                assert!(length <= most, "{tool} {length}: {reply}");
                assert!(
                    (length > most / 2 || reply["data"]["truncated"] == false),
                    "{tool} {length}: {reply}"
                );
                all.push(reply["data"][key].clone());
                // What the sentence says is enough to go on.
                let said = reply["output"].as_str().unwrap();
                let Some((_, cursor)) = said.split_once("repeat the call with cursor ") else {
                    assert_eq!(reply["data"]["truncated"], false, "{reply}");
                    break;
                };
                args["cursor"] = serde_json::from_str(cursor).unwrap();
                assert!(all.len() < 500, "{tool} comes to an end");
            }
            match &whole {
                Value::String(text) => {
                    let together: String = all.iter().map(|part| part.as_str().unwrap()).collect();
                    assert_eq!(together, *text, "{tool}");
                }
                list => {
                    let sorted = |list: Vec<&Value>| {
                        let mut list: Vec<_> = list.iter().map(|item| item.to_string()).collect();
                        list.sort();
                        list
                    };
                    let together = all.iter().flat_map(|part| part.as_array().unwrap()).collect();
                    assert_eq!(
                        sorted(together),
                        sorted(list.as_array().unwrap().iter().collect()),
                        "{tool}"
                    );
                }
            }
        }
    }
    // A part goes further, however little is asked for.
    for (tool, args) in [
        ("read_file", json!({ "path": "quotes", "maxResultBytes": 1 })),
        ("glob", json!({ "pattern": "**/*.txt", "maxResultBytes": 1 })),
    ] {
        let data = bench.done(tool, &args);
        assert!(data["nextCursor"].as_str().is_some_and(|next| next != "0"), "{tool}: {data}");
    }
}
