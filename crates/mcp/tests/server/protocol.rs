//! What is not a call: listings, nonsense, and clients that go.

use serde_json::{Value, json};

use apply_patch_mcp::{ServeError, ServerSettings, tools_named};
use patch_session::Tool;

use crate::support::*;

#[test]
fn the_tools_are_listed_briefly_and_alike_in_both_eras() {
    let place = Place::new(&[]);
    let lists = ERAS
        .map(|era| place.client(era).request("tools/list", json!({}))["result"]["tools"].clone());
    assert_eq!(lists[0], lists[1]);
    let tools = lists[0].as_array().unwrap();
    assert_eq!(tools.len(), Tool::usual().count());
    let size = lists[0].to_string().len();
    // 24 600 bytes for 13 tools.
    assert!(13 * size < 24_600 * tools.len(), "{size}");
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(tool.to_string().len() < 4_000, "{name}");
        assert!(name.len() <= 20, "{name}");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        for key in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][key].is_boolean(), "{name} lacks {key}");
        }
        assert_eq!(&tool["inputSchema"]["type"], &json!("object"));
        assert_eq!(&tool["outputSchema"]["type"], &json!("object"));
    }
    let hint = |name: &str, key: &str| {
        tools.iter().find(|tool| tool["name"] == name).unwrap()["annotations"][key]
            .as_bool()
            .unwrap()
    };
    for name in
        ["edit_file", "write_file", "delete_file", "move_file", "apply_patch", "edit_patch", "undo"]
    {
        assert!(hint(name, "destructiveHint"), "{name}");
        assert!(!hint(name, "readOnlyHint"), "{name}");
    }
    assert!(!hint("create_file", "destructiveHint"));
    assert!(hint("read_file", "readOnlyHint"));
}

#[test]
fn what_is_not_offered_cannot_be_called() {
    let place = Place::new(&[("f", b"x")]);
    let only = |settings: ServerSettings, wanted: &[&str]| {
        let mut client = Client::new(settings, Era::Sessions, json!({}));
        let list = client.request("tools/list", json!({}))["result"]["tools"].clone();
        let names: Vec<_> =
            list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, wanted);
        for name in ["delete_file", "edit_patch", "nothing", ""] {
            if wanted.contains(&name) {
                continue;
            }
            let answer =
                client.request("tools/call", json!({ "name": name, "arguments": { "path": "f" } }));
            assert_eq!(answer["error"]["code"], -32_602, "{answer}");
        }
    };
    let mut few = place.settings();
    few.tools = ServerSettings::new(place.dir.path()).tools;
    let served = Tool::usual().filter(|tool| *tool != Tool::EditPatch).map(Tool::legal_name);
    only(few, &served.collect::<Vec<_>>());
    let readers = Tool::usual().filter(|tool| tool.is_read_only()).map(Tool::legal_name);
    only(place.settings().read_only(), &readers.collect::<Vec<_>>());
    let mut some = place.settings();
    some.tools = tools_named(["undo", "edit.patch", "read_file"]).unwrap();
    only(some, &["read_file", "edit_patch", "undo"]);
    assert_eq!(tools_named(["read_file", "rm"]).unwrap_err().name, "rm");
    assert_eq!(place.read("f"), b"x");
}

#[test]
fn nonsense_is_answered_and_passed_over() {
    let place = Place::new(&[("f", b"x\n")]);
    for era in ERAS {
        let mut client = place.client(era);
        for (line, id, code) in [
            ("{\"jsonrpc\":\"2.0\",\"id\":", Value::Null, -32_700),
            ("\u{feff}[1,2]", Value::Null, -32_600),
            ("{\"jsonrpc\":\"2.0\",\"id\":901,\"method\":7}", json!(901), -32_600),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":[]}",
                json!("a"),
                -32_602,
            ),
            ("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\"}", json!(5), -32_602),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/call\",\"params\":{\"name\":7}}",
                json!(6),
                -32_602,
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/read\",\"params\":{}}",
                json!(7),
                -32_602,
            ),
            // Ids that the protocol does not know.
            ("{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}", Value::Null, -32_600),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"tools/list\"}", Value::Null, -32_600),
            ("{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", Value::Null, -32_600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", json!(1.5), -32_600),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":9223372036854775808,\"method\":\"ping\"}",
                json!(1_u64 << 63),
                -32_600,
            ),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", Value::Null, -32_600),
            ("{}", Value::Null, -32_600),
            ("[]", Value::Null, -32_600),
            ("[1,", Value::Null, -32_700),
        ] {
            client.line(line);
            let answer = client.hear();
            assert_eq!(&answer["id"], &id, "{line}: {answer}");
            assert_eq!(&answer["error"]["code"], &json!(code), "{line}: {answer}");
        }
        client.line("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]");
        let answer = client.hear();
        assert_eq!(
            answer["error"]["message"],
            "a batch is not taken: send each message by itself, on a line of its own"
        );
        client.line("");
        client.line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard_of\",\"params\":{}}");
        client.line("{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}");
        client.line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":12345}}");
        let answer = client.request("no/such/method", json!({}));
        assert_eq!(answer["error"]["code"], -32_601, "{answer}");
        assert_eq!(
            client.done("read_file", json!({ "path": "f" }))["content"],
            "x\n",
            "and it goes on"
        );
        client.leave().unwrap();
    }
}

/// One answer would have to do for all of them.
#[test]
fn what_is_asked_under_one_id_at_once_is_answered_or_not_done() {
    let place = Place::new(&[]);
    let mut client = place.client(Era::Sessions);
    let call = |path: &str| {
        let args = json!({ "path": path, "content": "x" });
        let params = json!({ "name": "create_file", "arguments": args });
        json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params }).to_string()
    };
    client.line(&[call("a"), call("b"), call("c")].join("\n"));
    let answers = [client.hear(), client.hear(), client.hear()];
    let done = answers.iter().filter(|answer| answer.get("result").is_some()).count();
    let made = ["a", "b", "c"].iter().filter(|path| place.path(path).exists()).count();
    assert_eq!(done, made, "{answers:?}");
    client.line(&call("d"));
    assert!(client.hear().get("result").is_some(), "the id is free again");
    client.leave().unwrap();
}

#[test]
fn a_cursor_that_was_not_given_is_refused() {
    let place = Place::new(&[]);
    for era in ERAS {
        let mut client = place.client(era);
        for list in ["tools", "prompts", "resources", "resources/templates"] {
            let answer = client.request(&format!("{list}/list"), json!({ "cursor": "x" }));
            assert_eq!(answer["error"]["code"], -32_602, "{list}: {answer}");
        }
        client.leave().unwrap();
    }
}

#[test]
fn a_client_that_goes_before_it_asks_for_anything_has_its_answers() {
    let place = Place::new(&[]);
    for _ in 0..20 {
        let mut client = Client::silent(place.settings(), Era::Sessions, json!({}));
        client.line("nonsense");
        client.leave().unwrap();
        assert_eq!(client.hear()["error"]["code"], -32_700);
    }
}

#[test]
fn arguments_that_do_not_fit_are_told_in_band() {
    let place = Place::new(&[("f", b"x\n")]);
    for era in ERAS {
        let mut client = place.client(era);
        for args in [
            json!("f"),
            json!(["f"]),
            json!(7),
            json!(true),
            json!({ "path": 7 }),
            json!({ "path": null }),
        ] {
            for tool in ["read_file", "delete_file", "edit_patch"] {
                let result = client.call(tool, args.clone());
                assert!(result["isError"] == true, "{tool} {args}: {result}");
                assert!(result.to_string().contains("do not fit"), "{tool} {args}: {result}");
            }
        }
        assert_eq!(place.read("f"), b"x\n");
    }
}

#[test]
fn a_client_that_does_not_read_is_not_read_from() {
    let place = Place::new(&[("f", &[b'x'; 15_000])]);
    let (input, to) = std::io::pipe().unwrap();
    let (from, output) = std::io::pipe().unwrap();
    let settings = place.settings();
    let server = std::thread::spawn(move || apply_patch_mcp::serve(settings, input, output));
    let first = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {
            "name": "t", "version": "1",
        } } });
    let calls = 3_000;
    let (sent, wrote) = (
        std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0)),
        std::sync::atomic::Ordering::SeqCst,
    );
    let counted = sent.clone();
    let writer = std::thread::spawn(move || {
        let mut to = to;
        let mut say = |value: Value| {
            std::io::Write::write_all(&mut to, format!("{value}\n").as_bytes()).unwrap()
        };
        say(first);
        say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        for id in 1..=calls {
            let args = json!({ "path": "f", "maxBytes": 262_144, "allowBinary": false });
            say(json!({
                "jsonrpc": "2.0", "id": id, "method": "tools/call",
                "params": { "name": "read_file", "arguments": args },
            }));
            counted.store(id, wrote);
        }
        // Its input ends when all is answered: until then a server waits for a slow client.
        to
    });
    // The server has come to a stop when it takes nothing more.
    let mut before = u64::MAX;
    while before != sent.load(wrote) {
        before = sent.load(wrote);
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    assert!(before < 2_200, "{before} of {calls} calls were taken, and no answer was read");
    let lines = std::io::BufRead::lines(std::io::BufReader::new(from)).map_while(Result::ok);
    let mut answered: Vec<u64> = lines
        .take(calls as usize + 1)
        .map(|line| serde_json::from_str::<Value>(&line).unwrap()["id"].as_u64().unwrap())
        .collect();
    answered.sort_unstable();
    assert!(answered.into_iter().eq(0..=calls), "each is answered once");
    drop(writer.join().unwrap());
    server.join().unwrap().unwrap();
}

#[test]
fn a_message_over_the_limit_is_answered_and_not_kept() {
    let place = Place::new(&[]);
    for era in ERAS {
        let mut settings = place.settings();
        settings.max_message = 100_000;
        let mut client = Client::new(settings, era, json!({}));
        for long in [100_000, 3_000_000] {
            let content = "x".repeat(long);
            let id = client.send(
                "tools/call",
                json!({ "name": "create_file", "arguments": { "path": "f", "content": content } }),
            );
            let answer = client.answer(id);
            assert_eq!(answer["error"]["code"], -32_600, "{answer}");
            assert!(
                answer["error"]["message"].as_str().unwrap().contains("longer than 100000 bytes")
            );
        }
        assert!(names(place.dir.path()).is_empty());
        let content = "x".repeat(90_000);
        client.done("create_file", json!({ "path": format!("{era:?}"), "content": content }));
        std::fs::remove_file(place.path(&format!("{era:?}"))).unwrap();
    }
}

#[test]
fn a_client_may_go_at_any_time() {
    let place = Place::new(&[("f", b"x\n")]);
    let nothing = json!({});
    Client::silent(place.settings(), Era::Sessions, nothing.clone()).leave().unwrap();
    let mut half = Client::silent(place.settings(), Era::Sessions, nothing.clone());
    half.line(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
    );
    half.line("not even JSON");
    half.leave().unwrap();
    for era in ERAS {
        place.client(era).leave().unwrap();
        // What was asked before is answered.
        let mut client = place.client(era);
        let id =
            client.send("tools/call", json!({ "name": "read_file", "arguments": { "path": "f" } }));
        client.leave().unwrap();
        assert_eq!(client.answer(id)["result"]["structuredContent"]["ok"], true);
    }
    let mut absent = place.settings();
    absent.root = place.path("none");
    assert!(matches!(
        Client::silent(absent, Era::Sessions, nothing).leave(),
        Err(ServeError::Workspace(_))
    ));
}

#[test]
fn a_client_that_listens_no_more_is_a_client_that_went() {
    let (input, mut to) = std::io::pipe().unwrap();
    let (from, output) = std::io::pipe().unwrap();
    let place = Place::new(&[]);
    let settings = place.settings();
    drop(from);
    let server = std::thread::spawn(move || apply_patch_mcp::serve(settings, input, output));
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".repeat(2);
    // The other stream stays open.
    let _ = std::io::Write::write_all(&mut to, ping.as_bytes());
    server.join().unwrap().unwrap();
    drop(to);
}

#[test]
fn a_client_that_hangs_up_in_a_commit_leaves_all_or_nothing() {
    let files = 300;
    let patch: String = (0..files).map(|n| format!("*** Add File: d/f{n}\n+{n}\n")).collect();
    let args =
        json!({ "patch": format!("*** Begin Patch\n{patch}*** End Patch\n"), "profile": "codex" });
    for round in 0..6 {
        let place = Place::new(&[("kept", b"")]);
        let mut client = place.client(Era::Sessions);
        client.send("tools/call", json!({ "name": "apply_patch", "arguments": args }));
        // Going before, while and after files are written.
        std::thread::sleep(std::time::Duration::from_millis(round * 3));
        client.leave().unwrap();
        let all = place.path("d").is_dir().then(|| names(&place.path("d")).len());
        assert!(all.is_none() || all == Some(files), "{all:?} files are there");
    }
}
