//! `--approve later`: every change is kept as a proposal, and a person decides in a terminal.

use apply_patch_mcp::Approval;
use patch_engine::commit::{KeyPlace, Workspace};
use patch_proposals::{Approval as Approved, Proposals};
use patch_session::audit::Audit;
use patch_session::{Session, SessionName, SessionSettings, Tool};
use serde_json::{Value, json};

use crate::approval::{changing_calls, tree};
use crate::support::*;

fn place() -> Place {
    let place = Place::new(&[("f", b"a\n"), ("full/x", b"x\n")]);
    std::fs::create_dir(place.path("empty")).unwrap();
    place
}

fn server(place: &Place, approval: Approval) -> Client {
    let mut settings = place.settings();
    settings.rules.approval = approval;
    settings.tools = Tool::ALL.to_vec();
    Client::new(settings, Era::Sessions, json!({}))
}

/// The session of a person in a terminal.
fn person(place: &Place) -> Session {
    let KeyPlace::Directory(key) = place.settings().key_place else { panic!("a directory") };
    let workspace = Workspace::open(place.dir.path(), patch_engine::policy()).unwrap();
    let workspace = workspace.with_key_place(KeyPlace::Directory(key)).for_a_person();
    Session::new(workspace, Audit::new(SessionName::cli(), None), SessionSettings::default())
}

fn files(place: &Place) -> impl PartialEq + std::fmt::Debug {
    let mut files = tree(place.dir.path());
    files.retain(|path, _| !path.starts_with(".apply-patch"));
    files
}

/// The changes before a call are made by a server that asks nobody.
fn prepare(place: &Place, before: Vec<(&'static str, Value)>) -> Vec<Value> {
    let mut client = server(place, Approval::Never);
    let mut data = Vec::<Value>::new();
    for (tool, mut args) in before {
        if args["trashedPath"] == "last" {
            args["trashedPath"] = data.last().unwrap()["trashedTo"].clone();
        }
        data.push(client.done(tool, args));
    }
    data
}

#[test]
fn every_change_is_a_proposal_that_does_the_same_when_approved() {
    for (tool, before, args) in changing_calls() {
        // A turn of another server, and an empty directory, which no patch has.
        if tool == "undo_turn" {
            continue;
        }
        let direct = place();
        let data = prepare(&direct, before.clone());
        server(&direct, Approval::Never).done(tool, args(&data));

        let later = place();
        let data = prepare(&later, before);
        let args = args(&data);
        let mut client = server(&later, Approval::Later);
        let old = files(&later);
        let answer = client.call(tool, args.clone())["structuredContent"].clone();
        if args["path"] == "empty" {
            assert_eq!(answer["error"]["details"]["reason"], "not_proposable", "{tool}: {answer}");
            continue;
        }
        assert!(files(&later) == old, "{tool} {args}: nothing is changed yet");
        let id = if tool == "edit_patch" {
            let said = answer["error"].as_str().unwrap();
            said.split_once("p-").unwrap().1[..12].to_owned()
        } else {
            assert_eq!(answer["error"]["details"]["reason"], "proposed", "{tool}: {answer}");
            answer["error"]["details"]["proposalId"].as_str().unwrap().to_owned()
        };
        let id = if id.starts_with("p-") { id } else { format!("p-{id}") };
        assert_eq!(client.done("proposal", json!({ "id": id }))["state"], "proposed");
        let person = person(&later);
        let proposals = Proposals::of(&person);
        let proposal = proposals.find(&id).unwrap();
        let approved = proposals.approve(&proposal, proposal.digest(), &mut ()).unwrap();
        assert!(matches!(approved, Approved::Committed(_)), "{tool}: {approved:?}");
        assert!(files(&later) == files(&direct), "{tool} {args}");
        let told = client.done("proposal", json!({ "id": id }));
        assert_eq!(told["state"], "approved", "{tool}: {told}");
        let transaction = told["transactionIds"][0].clone();
        client.done("proposal", json!({ "id": id }));
        let undo = client.call("undo", json!({ "transactionId": transaction }));
        assert_eq!(undo["structuredContent"]["error"]["details"]["reason"], "proposed");
    }
}

#[test]
fn a_guarded_file_waits_and_a_forbidden_one_is_refused() {
    let later = place();
    let mut client = server(&later, Approval::Later);
    for (path, reason) in [(".envrc", "proposed"), (".env", "forbidden")] {
        let answer = client.call("create_file", json!({ "path": path, "content": "x" }));
        let error = &answer["structuredContent"]["error"];
        assert_eq!(error["details"]["reason"], reason, "{answer}");
    }
    let listed = Proposals::of(&person(&later)).list().unwrap();
    let [patch_proposals::Listed::Verified(one)] = &listed[..] else { panic!("{listed:?}") };
    assert!(one.reasons()[0].starts_with(".envrc is guarded by"), "{one:?}");
    let answer = client.call("apply_patch", json!({ "patch": "x", "atomic": false }));
    let error = &answer["structuredContent"]["error"];
    assert_eq!(error["details"]["reason"], "bad_arguments", "{answer}");
}

#[test]
fn a_tool_sees_the_proposals_of_its_own_session() {
    let place = place();
    let patch = "*** Begin Patch\n*** Add File: n\n+n\n*** End Patch\n";
    let mut first = server(&place, Approval::Auto);
    let args = json!({ "patch": patch, "reason": "for later" });
    let id = first.done("propose", args)["proposalId"].clone();
    assert!(!place.path("n").exists());
    let mut other = server(&place, Approval::Auto);
    for args in [json!({ "id": id }), json!({ "id": id, "withdraw": true })] {
        let answer = other.call("proposal", args)["structuredContent"].clone();
        assert_eq!(answer["error"]["details"]["reason"], "no_such_proposal", "{answer}");
    }
    let mut settings = place.settings();
    settings.rules.tool_settings.any_proposal = true;
    let mut told = Client::new(settings, Era::Sessions, json!({}));
    assert_eq!(told.done("proposal", json!({ "id": id }))["why"], "for later");
    let answer = told.call("proposal", json!({ "id": id, "withdraw": true }));
    assert_eq!(answer["isError"], true, "{answer}");
    let args = json!({ "id": id, "withdraw": true, "reason": "done otherwise" });
    let withdrawn = first.done("proposal", args);
    assert_eq!(withdrawn["state"], "withdrawn", "{withdrawn}");
    assert_eq!(withdrawn["decidedWhy"], "done otherwise");
    let again = first.call("proposal", json!({ "id": id, "withdraw": true }));
    let error = &again["structuredContent"]["error"];
    assert_eq!(error["details"]["reason"], "decided", "{again}");
}

#[test]
fn a_declined_proposal_says_why() {
    let place = place();
    let mut client = server(&place, Approval::Later);
    let answer = client.call("create_file", json!({ "path": "n", "content": "n" }));
    let id = answer["structuredContent"]["error"]["details"]["proposalId"].clone();
    let person = person(&place);
    Proposals::of(&person).decline(id.as_str().unwrap(), Some("use f")).unwrap();
    let told = client.done("proposal", json!({ "id": id }));
    assert_eq!(told["state"], "declined", "{told}");
    assert_eq!(told["decidedWhy"], "use f");
}

#[test]
fn a_proposal_and_the_comments_of_a_person_can_be_read() {
    let place = place();
    let mut client = server(&place, Approval::Later);
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\n";
    let answer = client.call("apply_patch", json!({ "patch": patch }))["structuredContent"].clone();
    let id = answer["error"]["details"]["proposalId"].as_str().unwrap().to_owned();
    let uri = format!("apply-patch://proposal/{id}");
    let read = |client: &mut Client, uri: &str| {
        let answer = client.request("resources/read", json!({ "uri": uri }));
        answer["result"]["contents"][0]["text"].as_str().map(str::to_owned)
    };
    let text = read(&mut client, &uri).unwrap();
    let waits: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(waits["state"], "proposed", "{waits}");
    assert!(waits["diff"].as_str().unwrap().contains("\n-a\n+b\n"), "{waits}");
    // Another session's is none of its business.
    let mut other = server(&place, Approval::Later);
    assert_eq!(read(&mut other, &uri), None);

    let person = person(&place);
    let proposals = Proposals::of(&person);
    proposals.decline(&id, Some("use c")).unwrap();
    let ended: Value = serde_json::from_str(&read(&mut client, &uri).unwrap()).unwrap();
    assert_eq!((&ended["state"], &ended["decidedWhy"]), (&json!("declined"), &json!("use c")));

    assert_eq!(read(&mut client, "apply-patch://notes").unwrap(), "");
    let mut kept = patch_review::Kept::read(person.workspace()).unwrap();
    kept.note("h-0000000000", "f", b"@@ -1 +1 @@\n-a\n+b\n", "Why b?");
    kept.note("h-0000000001", ".env", b"", "a secret");
    kept.write(person.workspace()).unwrap();
    let notes = read(&mut client, "apply-patch://notes").unwrap();
    assert!(notes.starts_with("## f:1 (h-0000000000)\n\nWhy b?\n"), "{notes}");
    assert!(!notes.contains("secret"), "{notes}");
}
