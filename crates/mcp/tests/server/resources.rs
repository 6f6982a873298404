//! Resources, links to them, subscriptions and prompts.

use apply_patch_mcp::Approval;
use serde_json::{Value, json};

use crate::support::*;

const LOG: &str = "apply-patch://log";
const TURN: &str = "apply-patch://turn";
const NOTES: &str = "apply-patch://notes";

/// Reads a resource that is there; gives its text.
fn read(client: &mut Client, uri: &str) -> String {
    let answer = client.request("resources/read", json!({ "uri": uri }));
    let contents = &answer["result"]["contents"];
    assert_eq!(contents[0]["uri"], uri, "{answer}");
    assert_eq!(contents.as_array().unwrap().len(), 1, "{answer}");
    contents[0]["text"].as_str().unwrap().to_owned()
}

fn read_json(client: &mut Client, uri: &str) -> Value {
    serde_json::from_str(&read(client, uri)).unwrap()
}

/// What of a list has this under a key.
fn names(list: &Value, key: &str) -> Vec<String> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

fn transaction(id: &Value) -> String {
    format!("apply-patch://transaction/{}", id.as_str().unwrap())
}

#[test]
fn the_log_and_each_transaction_can_be_read() {
    for era in ERAS {
        let place = Place::new(&[("f", b"one\n")]);
        let mut client = place.client(era);
        let listed = client.request("resources/list", json!({}))["result"]["resources"].clone();
        assert_eq!(names(&listed, "uri"), [LOG, TURN, NOTES]);
        assert_eq!(names(&listed, "title"), ["Changes", "This turn", "Comments"]);
        let templates = client.request("resources/templates/list", json!({}));
        let templates = &templates["result"]["resourceTemplates"];
        assert_eq!(
            names(templates, "uriTemplate"),
            [
                "apply-patch://transaction/{id}",
                "apply-patch://session/{name}",
                "apply-patch://turn/{name}",
                "apply-patch://since/{start}",
                "apply-patch://proposal/{id}",
            ]
        );
        assert_eq!(read_json(&mut client, LOG)["transactions"], json!([]));

        let args = json!({ "path": "g", "content": "new\n" });
        let made = client.done("create_file", args)["transactionId"].clone();
        client.done(
            "move_file",
            json!({ "fromPath": "f", "toPath": "h", "expectedSha256":
            "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806" }),
        );
        let log = read_json(&mut client, LOG);
        assert_eq!(names(&log["transactions"], "tool"), ["move_file", "create_file"], "{log}");
        assert_eq!(log["transactions"][1]["id"], made, "{log}");
        assert_eq!(log["truncated"], false, "{log}");
        let one = read_json(&mut client, &transaction(&made));
        assert_eq!(one["files"][0]["path"], "g", "{one}");
        assert!(one["diff"].as_str().unwrap().contains("\n+new\n"), "{one}");
        let last = read_json(&mut client, "apply-patch://transaction/last");
        assert_eq!(last["files"][0]["toPath"], "h", "{last}");

        let session = &one["session"];
        let session = format!("apply-patch://session/{}", session.as_str().unwrap());
        for uri in [&*session, "apply-patch://since/1h", "apply-patch://since/@2"] {
            let net = read_json(&mut client, uri);
            let changed = names(&net["changedFiles"], "operation");
            assert_eq!(changed, ["create", "move"], "{uri}: {net}");
            assert!(net["diff"].as_str().unwrap().contains("rename to h\n"), "{uri}: {net}");
        }

        for uri in [
            "apply-patch://session/none",
            "apply-patch://turn/none",
            "apply-patch://since/none",
            "apply-patch://transaction/none",
            "apply-patch://transaction/",
            "apply-patch://proposal/0123456789abcdef",
            "apply-patch://logs",
            "file:///etc/passwd",
            "",
        ] {
            let answer = client.request("resources/read", json!({ "uri": uri }));
            let code = if era == Era::Single { -32_602 } else { -32_002 };
            assert_eq!(answer["error"]["code"], code, "{uri}: {answer}");
        }
        client.leave().unwrap();
    }
}

#[test]
fn what_the_policy_hides_is_not_shown() {
    let place = Place::new(&[("src/a", b"a\n")]);
    let mut client = place.client(Era::Single);
    client.done("create_file", json!({ "path": "b", "content": "secret\n" }));
    let both = "*** Begin Patch\n*** Add File: src/c\n+c\n*** Add File: d\n+secret\n*** End Patch";
    client.done("apply_patch", json!({ "patch": both }));
    let mut narrow = place.settings();
    let root = fs_guard::Root::open(place.dir.path(), patch_engine::policy()).unwrap();
    narrow.rules.policy.within = vec![root.check("src", fs_guard::Access::Read).unwrap()];
    let mut client = Client::new(narrow, Era::Single, json!({}));
    let log = read_json(&mut client, LOG);
    assert_eq!(names(&log["transactions"], "tool"), ["apply_patch"], "{log}");
    assert_eq!(names(&log["transactions"][0]["files"], "path"), ["src/c"], "{log}");
    let one = read(&mut client, &transaction(&log["transactions"][0]["id"]));
    assert!(one.contains("+c"), "{one}");
    assert!(!one.contains("secret"), "{one}");
}

#[test]
fn resources_are_cut_to_the_size_of_an_answer() {
    let place = Place::new(&[]);
    let mut settings = place.settings();
    settings.rules.tool_settings.max_output = Some(8_000);
    let mut client = Client::new(settings, Era::Sessions, json!({}));
    let many: String = (0..300).map(|n| format!("*** Add File: n{n}\n+x\n")).collect();
    let long: String = (0..500).map(|n| format!("+a \"long\" line {n}\n")).collect();
    for patch in [many, format!("*** Add File: long\n{long}")] {
        let patch = format!("*** Begin Patch\n{patch}*** End Patch\n");
        let done = client.done("apply_patch", json!({ "patch": patch }));
        let text = read(&mut client, &transaction(&done["transactionId"]));
        assert!((4_000..8_100).contains(&text.len()), "{}: {text}", text.len());
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["truncated"], true, "{text}");
        assert!(value["diff"].as_str().unwrap().ends_with('\n'), "{text}");
    }
    for n in 0..40 {
        client.done("create_file", json!({ "path": format!("f{n}"), "content": "" }));
    }
    let text = read(&mut client, LOG);
    assert!((4_000..8_100).contains(&text.len()), "{}: {text}", text.len());
    let log: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(log["truncated"], true, "{log}");
    assert_eq!(log["transactions"][0]["files"][0]["path"], "f39", "{log}");
}

/// Which resources the client is told of: so many, and no more for the time of a request.
fn told(client: &mut Client, count: usize) -> Vec<String> {
    let is_update = |one: &Value| one["method"] == "notifications/resources/updated";
    while client.heard.iter().filter(|one| is_update(one)).count() < count {
        let message = client.hear();
        client.heard.push(message);
    }
    client.request("resources/list", json!({}));
    let updates = client.heard.drain(..).filter(is_update);
    let mut uris: Vec<String> =
        updates.map(|one| one["params"]["uri"].as_str().unwrap().to_owned()).collect();
    uris.sort();
    uris
}

#[test]
fn subscriptions_hear_of_each_change() {
    for era in ERAS {
        let place = Place::new(&[]);
        let mut client = place.client(era);
        let create = |client: &mut Client, path: &str| {
            client.done("create_file", json!({ "path": path, "content": "" }))["transactionId"]
                .clone()
        };
        let first = create(&mut client, "a");
        assert!(told(&mut client, 0).is_empty());
        let first_uri = transaction(&first);
        let other = "apply-patch://transaction/last";
        let listening = match era {
            Era::Sessions => {
                for uri in [LOG, TURN, &first_uri] {
                    let answer = client.request("resources/subscribe", json!({ "uri": uri }));
                    assert_eq!(answer["result"], json!({}), "{answer}");
                }
                let answer = client.request("resources/subscribe", json!({ "uri": other }));
                assert_eq!(answer["error"]["code"], -32_602, "{answer}");
                None
            }
            Era::Single => {
                let uris = [LOG, TURN, &first_uri, other];
                let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
                let id = client.send("subscriptions/listen", filter);
                let heard = client.hear();
                assert_eq!(heard["method"], "notifications/subscriptions/acknowledged", "{heard}");
                let accepted = &heard["params"]["notifications"]["resourceSubscriptions"];
                assert_eq!(accepted, &json!([LOG, TURN, first_uri]), "{heard}");
                Some(id)
            }
        };
        create(&mut client, "b");
        assert_eq!(told(&mut client, 2), [LOG, TURN], "{era:?}");
        client.done("read_file", json!({ "path": "b" }));
        client.fails("create_file", json!({ "path": "b", "content": "" }), "already_exists");
        assert!(told(&mut client, 0).is_empty(), "{era:?}");
        client.done("undo", json!({ "transactionId": first }));
        assert_eq!(told(&mut client, 3), [LOG, &first_uri, TURN], "{era:?}");
        match listening {
            None => {
                for uri in [LOG, TURN] {
                    client.request("resources/unsubscribe", json!({ "uri": uri }));
                }
            }
            Some(id) => {
                let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                    "params": { "requestId": id } });
                client.line(&cancel.to_string());
                client.request("resources/list", json!({}));
            }
        }
        create(&mut client, "c");
        assert!(told(&mut client, 0).is_empty(), "{era:?}");
        client.leave().unwrap();
    }
}

#[test]
fn a_host_names_turns_and_reads_what_they_changed() {
    for era in ERAS {
        let place = Place::new(&[("f", b"0\n")]);
        let mut client = place.client(era);
        let change = |client: &mut Client, turn: Value, from: &str, to: &str| -> Value {
            let patch =
                format!("*** Begin Patch\n*** Update File: f\n@@\n-{from}\n+{to}\n*** End Patch\n");
            let mut params = json!({ "name": "apply_patch", "arguments": { "patch": patch } });
            if !turn.is_null() {
                params["_meta"] = json!({ "apply-patch/turn": turn });
            }
            client.request("tools/call", params)["result"].clone()
        };
        assert_eq!(read_json(&mut client, TURN)["diff"], "");
        assert_eq!(change(&mut client, Value::Null, "0", "1")["isError"], false);
        let session = read_json(&mut client, TURN);
        assert!(session["id"].is_null(), "{session}");
        assert!(session["diff"].as_str().unwrap().ends_with("\n-0\n+1\n"), "{session}");
        for (from, to) in [("1", "2"), ("2", "3")] {
            assert_eq!(change(&mut client, json!("t1"), from, to)["isError"], false);
        }
        let turn = read_json(&mut client, TURN);
        assert_eq!(turn["id"], "t1", "{turn}");
        assert_eq!(turn["transactions"].as_array().unwrap().len(), 2, "{turn}");
        assert!(turn["diff"].as_str().unwrap().ends_with("\n-1\n+3\n"), "{turn}");
        for wrong in [json!("a b"), json!(""), json!(7)] {
            let result = change(&mut client, wrong.clone(), "3", "4");
            assert_eq!(result["isError"], true, "{wrong}: {result}");
            assert!(result.to_string().contains("apply-patch/turn"), "{wrong}: {result}");
        }
        // Another name ends the turn, and so does the end of the session.
        assert_eq!(change(&mut client, json!("t2"), "3", "4")["isError"], false);
        assert!(read_json(&mut client, TURN)["diff"].as_str().unwrap().ends_with("\n-3\n+4\n"));
        assert_eq!(open(&place), ["t2"], "{era:?}");
        client.leave().unwrap();
        assert!(open(&place).is_empty(), "{era:?}");
    }
}

/// The names of the turns that are open.
fn open(place: &Place) -> Vec<String> {
    let settings = place.settings();
    let workspace = patch_engine::commit::Workspace::open_keyed(
        &settings.root,
        settings.rules.policy,
        settings.state,
        settings.key_place,
    );
    let workspace = workspace.unwrap();
    let turns = patch_session::open_turns(&workspace).unwrap();
    turns.into_iter().map(|turn| turn.id).collect()
}

#[test]
fn a_result_links_what_it_changed() {
    let place = Place::new(&[("f g.md", b"one\n"), ("gone", b"x\n"), ("src/m.rs", b"")]);
    let root = place.dir.path().to_str().unwrap();
    let patch = "*** Begin Patch\n*** Update File: f g.md\n@@\n-one\n+two\n*** Add File: src/n.rs\n\
                 +new\n*** Delete File: gone\n*** End Patch\n";
    for (version, linked) in [("2025-11-25", true), ("2025-06-18", true), ("2025-03-26", false)] {
        let mut settings = place.settings();
        settings.links = true;
        let mut client = Client::speaking(settings, version);
        let result = client.call("apply_patch", json!({ "patch": patch, "dryRun": true }));
        let links = |result: &Value| -> Vec<Value> {
            let content = result["content"].as_array().unwrap().iter();
            content.filter(|block| block["type"] == "resource_link").cloned().collect()
        };
        assert!(links(&result).is_empty(), "{result}");
        let result = client.call("apply_patch", json!({ "patch": patch }));
        let id = &result["structuredContent"]["data"]["transactionId"];
        let found = links(&result);
        if linked {
            let expected = [
                (transaction(id), Some("application/json")),
                (format!("file://{root}/f%20g.md"), Some("text/markdown")),
                (format!("file://{root}/src/n.rs"), Some("text/x-rust")),
            ];
            assert_eq!(found.len(), expected.len(), "{result}");
            for (link, (uri, mime)) in found.iter().zip(&expected) {
                assert_eq!(link["uri"], *uri, "{result}");
                assert_eq!(link["mimeType"].as_str(), *mime, "{result}");
                assert_eq!(link["annotations"]["audience"], json!(["user"]), "{result}");
            }
            assert_eq!(found[2]["name"], "n.rs", "{result}");
            assert_eq!(found[2]["title"], "src/n.rs", "{result}");
        } else {
            assert!(found.is_empty(), "{result}");
        }
        client.done("undo", json!({ "transactionId": id }));
    }
    let many: String = (0..100).map(|n| format!("*** Add File: n{n}\n+x\n")).collect();
    let patch = format!("*** Begin Patch\n{many}*** End Patch\n");
    for (links, blocks) in [(true, 11), (false, 2)] {
        let place = Place::new(&[]);
        let mut settings = place.settings();
        settings.links = links;
        let mut client = Client::new(settings, Era::Single, json!({}));
        let result = client.call("apply_patch", json!({ "patch": patch }));
        assert_eq!(result["content"].as_array().unwrap().len(), blocks, "{result}");
    }
}

#[test]
fn a_prompt_tells_how_to_write_patches() {
    let place = Place::new(&[]);
    for era in ERAS {
        let mut client = place.client(era);
        let listed = client.request("prompts/list", json!({}))["result"]["prompts"].clone();
        assert_eq!(names(&listed, "name"), ["write_patches"]);
        assert_eq!(names(&listed, "title"), ["How to write patches"]);
        let mut text = |args: Value| {
            let params = json!({ "name": "write_patches", "arguments": args });
            client.request("prompts/get", params)["result"]["messages"][0]["content"]["text"]
                .clone()
        };
        for (args, dialect) in [
            (json!({}), "whole"),
            (json!({ "dialect": "" }), "whole"),
            (json!({ "dialect": "codex" }), "codex"),
            (json!({ "dialect": "tight" }), "tight"),
        ] {
            let wanted = apply_patch_api::prompt(dialect, "argument").unwrap();
            assert_eq!(text(args), wanted);
        }
        for params in [
            json!({ "name": "write_patches", "arguments": { "dialect": "none" } }),
            json!({ "name": "write_patches", "arguments": { "dialect": 1 } }),
            json!({ "name": "write_patches", "arguments": { "dialekt": "codex" } }),
            json!({ "name": "other" }),
        ] {
            let answer = client.request("prompts/get", params);
            assert_eq!(answer["error"]["code"], -32_602, "{answer}");
        }
    }
    let mut reading = Client::new(place.settings().read_only(), Era::Sessions, json!({}));
    assert_eq!(reading.request("prompts/list", json!({}))["result"]["prompts"], json!([]));
    let answer = reading.request("prompts/get", json!({ "name": "write_patches" }));
    assert_eq!(answer["error"]["code"], -32_602, "{answer}");
}

#[test]
fn the_server_has_a_title_and_an_icon_where_the_protocol_has_them() {
    let place = Place::new(&[]);
    for (version, has_icon) in [("2025-11-25", true), ("2025-06-18", false)] {
        let mut client = Client::silent(place.settings(), Era::Sessions, json!({}));
        let answer = client.initialize(version);
        let info = &answer["result"]["serverInfo"];
        assert_eq!(info["title"], "Files and patches", "{answer}");
        assert_eq!(info["icons"].is_array(), has_icon, "{answer}");
        let capabilities = &answer["result"]["capabilities"];
        assert_eq!(capabilities["resources"], json!({ "subscribe": true }), "{answer}");
        assert_eq!(capabilities["prompts"], json!({}), "{answer}");
    }
}

#[test]
fn a_long_proposal_can_be_read_while_it_is_asked_about() {
    for era in ERAS {
        let place = Place::new(&[]);
        let mut settings = place.settings();
        settings.rules.approval = Approval::Ask;
        let mut client = Client::new(settings, era, json!({ "elicitation": {} }));
        let lines: String = (0..60).map(|n| format!("+line {n}\u{1b}\n")).collect();
        let patch = format!("*** Begin Patch\n*** Add File: n\n{lines}*** End Patch\n");
        let mut params = json!({ "name": "apply_patch", "arguments": { "patch": patch } });
        let call = client.send("tools/call", params.clone());
        let (question, asked) = match era {
            Era::Sessions => {
                let asked = client.hear();
                (asked["params"].clone(), asked["id"].clone())
            }
            Era::Single => {
                let result = client.answer(call)["result"].clone();
                params["requestState"] = result["requestState"].clone();
                (result["inputRequests"]["approve"]["params"].clone(), Value::Null)
            }
        };
        let message = question["message"].as_str().unwrap();
        let uri = message.rsplit(' ').next().unwrap();
        assert!(uri.starts_with("apply-patch://proposal/"), "{message}");
        assert!(!message.contains("line 59"), "{message}");
        let diff = read(&mut client, uri);
        assert!(diff.contains("\n+line 59\\u{1b}\n"), "{diff}");
        let listed = client.request("resources/list", json!({}))["result"]["resources"].clone();
        assert_eq!(names(&listed, "uri"), [LOG, TURN, NOTES, uri]);
        let accepted = json!({ "action": "accept", "content": {} });
        let done = match era {
            Era::Sessions => {
                let reply = json!({ "jsonrpc": "2.0", "id": asked, "result": accepted });
                client.line(&reply.to_string());
                client.answer(call)
            }
            Era::Single => {
                params["inputResponses"] = json!({ "approve": accepted });
                client.request("tools/call", params)
            }
        };
        assert_eq!(done["result"]["isError"], false, "{done}");
        let gone = client.request("resources/read", json!({ "uri": uri }));
        assert!(gone["error"].is_object(), "{gone}");
    }
}

#[test]
fn progress_counts_the_files_of_a_plan_and_never_goes_back() {
    let patch: String = (0..400).map(|n| format!("*** Add File: f{n}\n+{n}\n")).collect();
    let patch = format!("*** Begin Patch\n{patch}*** End Patch\n");
    let place = Place::new(&[]);
    let mut settings = place.settings();
    settings.rules.approval = Approval::Ask;
    let mut client = Client::new(settings, Era::Sessions, json!({ "elicitation": {} }));
    client.replies.push(json!({ "action": "accept", "content": {} }));
    let params = json!({ "name": "apply_patch", "arguments": { "patch": patch },
        "_meta": { "progressToken": "p" } });
    let answer = client.request("tools/call", params);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let heard: Vec<Value> = client.heard.drain(..).collect();
    let steps: Vec<&Value> = heard
        .iter()
        .filter(|one| one["method"] == "notifications/progress")
        .map(|one| &one["params"])
        .collect();
    let planned = steps.iter().find(|step| step["message"] == "planned: 400 created").unwrap();
    let (at, total) = (planned["progress"].as_f64().unwrap(), planned["total"].as_f64().unwrap());
    assert!((total - at - 401.0).abs() < 0.5, "{steps:?}");
    let counts: Vec<f64> = steps.iter().map(|step| step["progress"].as_f64().unwrap()).collect();
    assert!(counts.windows(2).all(|pair| pair[0] < pair[1]), "{counts:?}");
    assert!(steps.iter().all(|step| step["progressToken"] == "p"), "{steps:?}");
}
