//! A person is asked: the plan that is shown is the plan that is committed.

use std::collections::BTreeMap;
use std::path::Path;

use apply_patch_mcp::Approval;
use patch_session::Tool;
use serde_json::{Value, json};
use testutils::tools::{FILES, prepared};

use crate::support::*;

const PATCH: &str =
    "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** Add File: n\n+new\n*** End Patch\n";

fn asking(place: &Place, era: Era, approval: Approval) -> Client {
    let mut settings = place.settings();
    settings.rules.approval = approval;
    Client::new(settings, era, json!({ "elicitation": {} }))
}

fn place() -> Place {
    Place::new(&[("f", b"a\n")])
}

/// Calls, and says `action` to each question, in the way of the era; gives the result and the
/// questions.
fn call(
    client: &mut Client,
    era: Era,
    tool: &str,
    args: &Value,
    action: &str,
) -> (Value, Vec<String>) {
    call_saying(client, era, tool, args, &json!({ "action": action, "content": {} }))
}

fn call_saying(
    client: &mut Client,
    era: Era,
    tool: &str,
    args: &Value,
    said: &Value,
) -> (Value, Vec<String>) {
    let message = |params: &Value| params["message"].as_str().unwrap().to_owned();
    if era == Era::Sessions {
        client.replies.push(said.clone());
        let result = client.call(tool, args.clone());
        let asked = client.heard.drain(..).map(|heard| message(&heard["params"])).collect();
        client.replies.clear();
        return (result, asked);
    }
    let mut asked = Vec::new();
    let mut params = json!({ "name": tool, "arguments": args });
    loop {
        let result = client.request("tools/call", params.clone())["result"].clone();
        if result["resultType"] != "input_required" {
            return (result, asked);
        }
        asked.push(message(&result["inputRequests"]["approve"]["params"]));
        params["requestState"] = result["requestState"].clone();
        params["inputResponses"] = json!({ "approve": said });
    }
}

#[test]
fn what_is_shown_and_accepted_is_done() {
    for era in ERAS {
        let place = place();
        let mut client = asking(&place, era, Approval::Ask);
        let (result, asked) =
            call(&mut client, era, "apply_patch", &json!({ "patch": PATCH }), "accept");
        assert_eq!(result["isError"].as_bool(), Some(false), "{result}");
        assert_eq!(asked.len(), 1, "{result}");
        for part in [
            "1 created, 1 updated: 2 lines inserted, 1 deleted",
            "M f (+1 -1)",
            "A n (+1 -0)",
            "\n-a\n+b\n",
            "\n+new",
        ] {
            assert!(asked[0].contains(part), "{part}: {}", asked[0]);
        }
        assert_eq!(place.read("f"), b"b\n".to_vec());
        assert_eq!(place.read("n"), b"new\n".to_vec());
        let id = &result["structuredContent"]["data"]["transactionId"];
        let (result, asked) =
            call(&mut client, era, "undo", &json!({ "transactionId": id }), "accept");
        assert!(result["isError"] == false, "{result} {asked:?}");
        assert!(asked[0].contains("D n (+0 -1)"), "{result} {asked:?}");
        assert_eq!(place.read("f"), b"a\n");
        client.leave().unwrap();
    }
}

/// Other calls that change something than each tool has in `testutils`: what is called first, in a
/// turn, and the call, which is made from the data of those.
pub(crate) type Row = (&'static str, Vec<(&'static str, Value)>, fn(&[Value]) -> Value);

pub(crate) fn changing_calls() -> Vec<Row> {
    let moved = || ("move_file", json!({ "fromPath": "f", "toPath": "g", "expectedSha256": A }));
    let gone = || ("delete_file", json!({ "path": "f" }));
    let restored = || ("restore_file", json!({ "trashedPath": "last" }));
    let added = || ("create_file", json!({ "path": "new", "content": "" }));
    let edited = || ("edit_file", edit());
    fn edit() -> Value {
        let edits = json!([{ "oldText": "a", "newText": "b" }]);
        json!({ "path": "f", "edits": edits, "expectedSha256": A })
    }
    fn undo(before: &[Value]) -> Value {
        json!({ "transactionId": before.last().unwrap()["transactionId"] })
    }
    vec![
        ("write_file", vec![], |_| json!({ "path": "f", "content": "b\n", "expectedSha256": A })),
        ("edit_file", vec![], |_| edit()),
        ("delete_file", vec![], |_| json!({ "path": "f", "permanent": true })),
        ("delete_file", vec![], |_| json!({ "path": "empty", "recursive": true })),
        ("delete_file", vec![], |_| json!({ "path": "full", "recursive": true })),
        ("move_file", vec![], |_| json!({ "fromPath": "f", "toPath": "g", "expectedSha256": A })),
        ("apply_patch", vec![], |_| json!({ "patch": PATCH })),
        ("edit_patch", vec![], |_| json!({ "patch": PATCH })),
        ("undo", vec![edited()], undo),
        ("undo", vec![moved()], undo),
        ("undo", vec![gone()], undo),
        ("undo", vec![gone(), restored()], undo),
        ("undo_turn", vec![added(), moved()], |_| json!({})),
    ]
}

/// Tools that are not read-only, and change no files.
const NO_CHANGE: [Tool; 2] = [Tool::Propose, Tool::Proposal];

/// The hash of `a` and a line feed.
const A: &str = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7";

/// All files and directories of a workspace, with their bytes.
pub(crate) fn tree(dir: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for name in names(dir) {
        let path = dir.join(&name);
        if path.is_dir() {
            let inner = tree(&path).into_iter();
            found.extend(inner.map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
            found.insert(name, None);
        } else {
            found.insert(name, Some(std::fs::read(&path).unwrap()));
        }
    }
    found
}

#[test]
fn every_tool_that_changes_files_asks() {
    for era in ERAS {
        for tool in Tool::usual().filter(|tool| !tool.is_read_only() && !NO_CHANGE.contains(tool)) {
            let place = Place::new(FILES);
            let mut client = asking(&place, era, Approval::Ask);
            let calls = prepared(|tool, args| {
                let (result, _) = call(&mut client, era, tool, &args, "accept");
                result["structuredContent"]["data"].clone()
            });
            asks(&place, &mut client, era, tool.legal_name(), &calls[tool.as_str()]);
        }
        for (tool, before, args) in changing_calls() {
            let place = Place::new(&[("f", b"a\n"), ("full/x", b"x\n")]);
            std::fs::create_dir(place.path("empty")).unwrap();
            let mut settings = place.settings();
            settings.rules.approval = Approval::Ask;
            settings.tools = Tool::ALL.to_vec();
            let mut client = Client::new(settings, era, json!({ "elicitation": {} }));
            let mut data = Vec::<Value>::new();
            for (tool, mut args) in before {
                if args["trashedPath"] == "last" {
                    args["trashedPath"] = data.last().unwrap()["trashedTo"].clone();
                }
                let said = json!({ "action": "accept", "content": {} });
                let (result, _) = call_in_turn(&mut client, era, "t1", (tool, args), &said);
                assert_eq!(result["isError"], false, "{result}");
                data.push(result["structuredContent"]["data"].clone());
            }
            asks(&place, &mut client, era, tool, &args(&data));
        }
    }
}

/// The call does something, but not before it is accepted.
fn asks(place: &Place, client: &mut Client, era: Era, tool: &str, args: &Value) {
    let log = |client: &mut Client| {
        let params = json!({ "uri": "apply-patch://log" });
        client.request("resources/read", params)["result"]["contents"].clone()
    };
    let (old, old_log) = (tree(place.dir.path()), log(client));
    for action in ["decline", "cancel"] {
        let (result, asked) = call(client, era, tool, args, action);
        assert_eq!(asked.len(), 1, "{tool} {args}: {result}");
        assert_eq!(result["isError"], true, "{tool} {args}: {result}");
        assert_eq!(tree(place.dir.path()), old, "{tool} {args}");
        assert_eq!(log(client), old_log, "{tool} {args}");
    }
    let (result, asked) = call(client, era, tool, args, "accept");
    assert_eq!(asked.len(), 1, "{tool} {args}: {result}");
    assert_eq!(result["isError"], false, "{tool} {args}: {result}");
    assert_ne!(tree(place.dir.path()), old, "{tool} {args}");
}

/// Calls in a turn; gives the result and how often it was asked.
fn call_in_turn(
    client: &mut Client,
    era: Era,
    turn: &str,
    (tool, args): (&str, Value),
    said: &Value,
) -> (Value, Vec<Value>) {
    let mut params = json!({ "name": tool, "arguments": args });
    let mut asked = Vec::new();
    let meta = || json!({ "apply-patch/turn": turn });
    if era == Era::Sessions {
        client.replies.push(said.clone());
    }
    loop {
        params["_meta"] = meta();
        let result = client.request("tools/call", params.clone())["result"].clone();
        if result["resultType"] != "input_required" {
            asked.extend(client.heard.drain(..).map(|heard| heard["params"].clone()));
            client.replies.clear();
            return (result, asked);
        }
        asked.push(result["inputRequests"]["approve"]["params"].clone());
        params["requestState"] = result["requestState"].clone();
        params["inputResponses"] = json!({ "approve": said });
    }
}

#[test]
fn one_answer_may_be_good_for_the_rest_of_a_turn() {
    let create = |path: &str| ("create_file", json!({ "path": path, "content": "" }));
    let delete = |path: &str| ("delete_file", json!({ "path": path }));
    let gone = |path: &str| ("delete_file", json!({ "path": path, "permanent": true }));
    let once = json!({ "action": "accept", "content": {} });
    let rest = json!({ "action": "accept", "content": { "restOfTurn": true } });
    let no = json!({ "action": "decline" });
    for era in ERAS {
        let place = place();
        let mut client = asking(&place, era, Approval::Ask);
        for (turn, call, said, questions) in [
            ("t1", create("a"), &once, 1),
            ("t1", create("b"), &rest, 1),
            ("t1", create("c"), &no, 0),
            // For another reason it is asked again.
            ("t1", delete("a"), &rest, 1),
            ("t1", delete("b"), &no, 0),
            ("t2", create("d"), &rest, 1),
            ("t2", create("e"), &no, 0),
            ("t1", create("g"), &once, 1),
            // What cannot be undone is asked about each time.
            ("t3", delete("c"), &rest, 1),
            ("t3", delete("d"), &no, 0),
            ("t3", gone("e"), &once, 1),
            ("t3", gone("g"), &rest, 1),
        ] {
            let permanent = call.1["permanent"] == true;
            let (result, asked) = call_in_turn(&mut client, era, turn, call.clone(), said);
            assert_eq!(result["isError"], false, "{call:?}: {result}");
            assert_eq!(asked.len(), questions, "{call:?}: {asked:?}");
            for question in asked {
                let field = &question["requestedSchema"]["properties"]["restOfTurn"]["type"];
                assert_eq!(field == "boolean", !permanent, "{question}");
            }
        }
        let (result, asked) = call_in_turn(&mut client, era, "t4", create("h"), &no);
        assert_eq!(result["isError"], true, "{result} {asked:?}");
        let (result, asked) = call(&mut client, era, "create_file", &create("i").1, "accept");
        assert_eq!(asked.len(), 1, "without a turn: {result}");
    }
}

#[test]
fn a_question_that_was_declined_stays_so_though_the_turn_was_approved() {
    let place = place();
    let mut client = asking(&place, Era::Single, Approval::Ask);
    let open = |client: &mut Client, path: &str| {
        let meta = json!({ "apply-patch/turn": "t" });
        let args = json!({ "path": path, "content": "" });
        let mut params = json!({ "name": "create_file", "arguments": args, "_meta": meta });
        let result = client.request("tools/call", params.clone())["result"].clone();
        params["requestState"] = result["requestState"].clone();
        params
    };
    let (mut first, mut second) = (open(&mut client, "a"), open(&mut client, "b"));
    first["inputResponses"] =
        json!({ "approve": { "action": "accept", "content": { "restOfTurn": true } } });
    assert_eq!(client.request("tools/call", first)["result"]["isError"], false);
    second["inputResponses"] = json!({ "approve": { "action": "decline" } });
    let result = client.request("tools/call", second)["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
    assert!(!place.path("b").exists(), "{result}");
}

/// The model hears what the person wrote, in one line, whatever the person decided.
#[test]
fn a_note_of_the_person_reaches_the_model() {
    let json_file = json!({ "path": "n", "content": "" });
    for era in ERAS {
        for (tool, args) in [
            ("apply_patch", json!({ "patch": PATCH })),
            ("edit_patch", json!({ "patch": PATCH })),
            ("create_file", json_file.clone()),
        ] {
            for action in ["decline", "accept"] {
                let place = place();
                let mut client = asking(&place, era, Approval::Ask);
                let said = json!({ "action": action, "content": { "note": "use\ntabs" } });
                let (result, _) = call_saying(&mut client, era, tool, &args, &said);
                assert_eq!(result["isError"], action == "decline", "{tool}: {result}");
                let told = "the person who was asked says: use tabs";
                let text = result["content"][0]["text"].as_str().unwrap();
                assert!(text.contains(told), "{tool} {action}: {result}");
                let data = result["structuredContent"].to_string();
                assert!(data.contains(told), "{tool} {action}: {result}");
            }
        }
    }
    let place = place();
    let mut client = asking(&place, Era::Single, Approval::Ask);
    let params = json!({ "name": "create_file", "arguments": json_file });
    let result = client.request("tools/call", params)["result"].clone();
    let question = &result["inputRequests"]["approve"]["params"];
    let summary = question["message"].as_str().unwrap().lines().next().unwrap();
    let why = "1 created: 0 lines inserted, 0 deleted (every change is asked about)";
    assert!(summary.ends_with(why), "{question}");
    let form = &question["requestedSchema"];
    assert_eq!(form["properties"]["note"]["type"], "string", "{form}");
    assert!(form["required"].is_null(), "{form}");
}

#[test]
fn a_question_says_what_is_wrong_with_the_new_files() {
    let place = Place::new(&[("c.json", b"{}\n")]);
    let mut client = asking(&place, Era::Sessions, Approval::Ask);
    let content = "<<<<<<< a\n=======\n>>>>>>> b\n";
    for (tool, args, told) in [
        ("create_file", json!({ "path": "n", "content": content }), "n: it gets conflict markers"),
        (
            "create_file",
            json!({ "path": "n.toml", "content": "a =" }),
            "n.toml: the new file does not parse as TOML: line 1, column ",
        ),
    ] {
        let (_, asked) = call(&mut client, Era::Sessions, tool, &args, "decline");
        assert!(asked[0].contains(told), "{tool}: {asked:?}");
    }
}

#[test]
fn what_is_declined_is_not_done() {
    for era in ERAS {
        let place = place();
        let mut client = asking(&place, era, Approval::Ask);
        for action in ["decline", "cancel"] {
            let (result, asked) =
                call(&mut client, era, "apply_patch", &json!({ "patch": PATCH }), action);
            let error = &result["structuredContent"]["error"];
            assert_eq!(asked.len(), 1, "{result}");
            assert_eq!(&error["kind"], &json!("permission_denied"), "{result}");
            let (reason, words) = match action {
                "decline" => ("declined", "declined"),
                _ => ("cancelled", "closed the question without an answer; nothing was changed"),
            };
            assert_eq!(error["details"]["reason"], reason, "{result}");
            assert!(error["message"].as_str().unwrap().contains(words), "{result}");
        }
        assert_eq!(place.read("f"), b"a\n".to_vec());
        assert_eq!(names(place.dir.path()), vec!["f".to_owned()]);
    }
}

#[test]
fn reading_dry_runs_and_what_fails_anyway_need_nobody() {
    for era in ERAS {
        let place = place();
        let mut client = asking(&place, era, Approval::Ask);
        for (tool, args, fails) in [
            ("read_file", json!({ "path": "f" }), false),
            ("apply_patch", json!({ "patch": PATCH, "dryRun": true }), false),
            ("apply_patch", json!({ "patch": PATCH.replace("-a", "-z") }), true),
            ("apply_patch", json!({ "patch": PATCH, "atomic": false }), true),
            ("create_file", json!({ "path": "f", "content": "" }), true),
            ("delete_file", json!({ "path": ".git/config" }), true),
        ] {
            let (result, asked) = call(&mut client, era, tool, &args, "accept");
            assert_eq!(result["isError"].as_bool(), Some(fails), "{tool} {args}: {result}");
            assert_eq!(asked.len(), 0, "{tool} {args}: {result}");
        }
    }
}

/// What cannot be read as an answer is none, and the call does not wait for another.
#[test]
fn an_answer_that_is_not_understood_is_no_approval() {
    let place = place();
    let mut client = asking(&place, Era::Sessions, Approval::Ask);
    for answer in [json!({ "error": "x" }), json!({ "result": "x".repeat(2 << 20) })] {
        let id = client
            .send("tools/call", json!({ "name": "apply_patch", "arguments": { "patch": PATCH } }));
        let mut answer = answer;
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = client.hear()["id"].clone();
        client.line(&answer.to_string());
        let error = client.answer(id)["result"]["structuredContent"]["error"].clone();
        assert_eq!(error["details"]["reason"], "approval_required", "{error}");
    }
    client.leave().unwrap();
}

#[test]
fn a_client_that_cannot_ask_is_told_so() {
    for era in ERAS {
        let place = place();
        let mut settings = place.settings();
        settings.rules.approval = Approval::Ask;
        for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
            let mut client = Client::new(settings.clone(), era, capabilities);
            let error = client.fails("apply_patch", json!({ "patch": PATCH }), "permission_denied");
            assert_eq!(error["details"]["reason"], "approval_required", "{error}");
            let brief = client.call("edit_patch", json!({ "patch": PATCH }));
            assert!(brief["isError"] == true, "{brief}");
            assert!(brief.to_string().contains("cannot ask"), "{brief}");
            client.fails("create_file", json!({ "path": "f", "content": "" }), "already_exists");
            client.fails("delete_file", json!({ "path": ".git/x" }), "permission_denied");
            let guarded = "*** Begin Patch\n*** Add File: .git/x\n+x\n*** End Patch";
            let brief = client.call("edit_patch", json!({ "patch": guarded }));
            assert!(
                !brief.to_string().contains("cannot ask"),
                "it is refused for another reason: {brief}"
            );
        }
        assert_eq!(place.read("f"), b"a\n");
    }
}

#[test]
fn a_plan_that_changed_meanwhile_is_shown_again() {
    let place = Place::new(&[("f", b"a\nx\n")]);
    let mut client = asking(&place, Era::Single, Approval::Ask);
    let mut params = json!({ "name": "apply_patch", "arguments": { "patch": PATCH } });
    let first = client.request("tools/call", params.clone())["result"].clone();
    std::fs::write(place.path("f"), "a\nMEANWHILE\n").unwrap();
    params["requestState"] = first["requestState"].clone();
    params["inputResponses"] = json!({ "approve": { "action": "accept" } });
    let second = client.request("tools/call", params.clone())["result"].clone();
    let shown =
        second["inputRequests"]["approve"]["params"]["message"].as_str().expect("asked again");
    assert!(shown.contains("MEANWHILE"), "{second}");
    assert!(place.read("f").starts_with(b"a\n"), "{second}");
    params["requestState"] = second["requestState"].clone();
    assert_eq!(client.request("tools/call", params.clone())["result"]["isError"], false);
    // The same answer a second time, after an undo, is not an answer.
    std::fs::write(place.path("f"), "a\nMEANWHILE\n").unwrap();
    std::fs::remove_file(place.path("n")).unwrap();
    client.done("read_file", json!({ "path": "f" }));
    let again = client.request("tools/call", params)["result"].clone();
    assert_eq!(&again["resultType"], &json!("input_required"), "{again}");
    assert!(!place.path("n").exists(), "{again}");
}

#[test]
fn an_answer_to_another_call_does_not_count() {
    let place = place();
    let mut client = asking(&place, Era::Single, Approval::Ask);
    let harmless =
        json!({ "name": "create_file", "arguments": { "path": "n", "content": "harmless" } });
    let state = client.request("tools/call", harmless)["result"]["requestState"].clone();
    for state in [state, json!("rs1.forged"), json!("")] {
        let params = json!({
            "name": "create_file", "arguments": { "path": "n", "content": "harmful" },
            "requestState": state, "inputResponses": { "approve": { "action": "accept" } },
        });
        let result = client.request("tools/call", params)["result"].clone();
        assert_eq!(result["resultType"], "input_required", "{result}");
    }
    assert!(!place.path("n").exists());
}

#[test]
fn only_what_cannot_be_undone_is_asked_for_where_the_client_asks() {
    for era in ERAS {
        let place = place();
        let mut client = asking(&place, era, Approval::Auto);
        let (result, asked) =
            call(&mut client, era, "apply_patch", &json!({ "patch": PATCH }), "decline");
        assert_eq!(result["isError"].as_bool(), Some(false), "{result}");
        assert_eq!(asked.len(), 0, "{result}");
        let gone = json!({ "path": "n", "permanent": true });
        let (result, asked) = call(&mut client, era, "delete_file", &gone, "decline");
        assert!(result["isError"] == true, "{result} {asked:?}");
        assert!(asked[0].starts_with("THIS CANNOT BE UNDONE. "), "{result} {asked:?}");
        assert!(place.path("n").exists());
        let (result, _) = call(&mut client, era, "delete_file", &gone, "accept");
        assert!(result["isError"] == false, "{result}");
        assert!(!place.path("n").exists(), "{result}");
        let mut never = asking(&place, era, Approval::Never);
        let gone = json!({ "path": "f", "permanent": true });
        assert_eq!(call(&mut never, era, "delete_file", &gone, "decline").1.len(), 0);
    }
}

#[test]
fn a_client_that_goes_while_a_person_thinks_changes_nothing() {
    let place = place();
    let mut client = asking(&place, Era::Sessions, Approval::Ask);
    client.send("tools/call", json!({ "name": "apply_patch", "arguments": { "patch": PATCH } }));
    assert_eq!(client.hear()["method"], "elicitation/create");
    // Another process is not kept waiting meanwhile.
    let mut other = Client::new(place.settings(), Era::Single, json!({}));
    other.done("create_file", json!({ "path": "other", "content": "" }));
    client.leave().unwrap();
    assert_eq!(place.read("f"), b"a\n".to_vec());
    assert_eq!(names(place.dir.path()), vec!["f".to_owned(), "other".to_owned()]);
}

#[test]
fn long_plans_are_shown_in_part_but_every_file_is_named() {
    let place = place();
    let mut client = asking(&place, Era::Sessions, Approval::Ask);
    let long = "x".repeat(250);
    let add: String = (0..50)
        .map(|n| format!("*** Add File: {long}n{n}\n+one\n+two\u{1b}[2K\u{202e}\n"))
        .collect();
    let patch = json!({ "patch": format!("*** Begin Patch\n{add}*** End Patch\n") });
    let (_, asked) = call(&mut client, Era::Sessions, "apply_patch", &patch, "decline");
    let lines = asked[0].lines().count();
    for n in 0..50 {
        assert!(asked[0].contains(&format!("\nA {long}n{n} (+2 -0)\n")), "{n}: {}", asked[0]);
    }
    assert!(asked[0].contains("more lines of the diff"), "{}", asked[0]);
    assert!(lines < 100, "{lines} lines: {}", asked[0]);
    assert!(asked[0].contains("\\u{1b}[2K\\u{202e}"), "{lines} lines: {}", asked[0]);
}

#[test]
fn what_cannot_all_be_named_cannot_be_approved() {
    let add: String = (0..2_000).map(|n| format!("*** Add File: a-file-{n}\n+x\n")).collect();
    let patch = json!({ "patch": format!("*** Begin Patch\n{add}*** End Patch\n") });
    for era in ERAS {
        let place = place();
        let mut client = asking(&place, era, Approval::Ask);
        for tool in ["apply_patch", "edit_patch"] {
            let (result, asked) = call(&mut client, era, tool, &patch, "accept");
            assert!(asked.is_empty(), "{result}");
            assert!(result["isError"] == true, "{result}");
            assert!(result.to_string().contains("2000 files"), "{result}");
        }
        assert_eq!(names(place.dir.path()), ["f"]);
    }
}

/// A guarded file could not be changed by any answer: the guard refused before a person was asked.
#[test]
fn a_person_may_approve_a_guarded_file() {
    let patch = "*** Begin Patch\n*** Add File: .envrc\n+export A=1\n*** End Patch\n";
    for era in ERAS {
        for (approval, action, done, questions) in [
            (Approval::Ask, "accept", true, 1),
            (Approval::Ask, "decline", false, 1),
            (Approval::Auto, "accept", false, 0),
            (Approval::Never, "accept", false, 0),
        ] {
            let place = place();
            let mut client = asking(&place, era, approval);
            for (tool, args) in [
                ("apply_patch", json!({ "patch": patch })),
                (
                    "create_file",
                    json!({
                        "path": ".vscode/tasks.json", "content": "{}",
                        "createParentDirectories": true,
                    }),
                ),
            ] {
                let (result, asked) = call(&mut client, era, tool, &args, action);
                assert_eq!(result["isError"] == false, done, "{approval:?} {action}: {result}");
                assert_eq!(asked.len(), questions, "{approval:?} {action}: {result}");
                assert!(asked.iter().all(|asked| asked.contains("is guarded by")), "{asked:?}");
                let error = &result["structuredContent"]["error"];
                assert!(done || error["kind"] == "permission_denied", "{result}");
            }
            assert_eq!(place.dir.path().join(".envrc").exists(), done);
            // What is forbidden stays so.
            let key = json!({ "path": "a.pem", "content": "" });
            let (result, asked) = call(&mut client, era, "create_file", &key, "accept");
            assert!(result["isError"] == true, "{result}");
            assert!(asked.is_empty(), "{result}");
        }
    }
}
