//! `undo`, and who is asked before something changes.

use file_tools::Session;
use file_tools::audit::Audit;
use patch_engine::commit::approval::{Decision, Request};
use patch_engine::{ChangeKind, Host};
use serde_json::{Value, json};

use crate::support::{Bench, session, settings, sha};

#[test]
fn what_is_named_is_taken_back_and_brought_again() {
    let bench = Bench::new(&[("f", b"a\n"), ("g", b"g\n")]);
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** Delete File: g\n\
                 *** Add File: h\n+h\n*** End Patch\n";
    let id = bench.done("apply_patch", &json!({ "patch": patch }))["transactionId"].clone();
    for args in [json!({}), json!({ "transactionId": "" }), json!({ "transactionId": "latest" })] {
        let error = bench.fails("undo", &args, "command_failed");
        assert_eq!(error["details"]["transactions"][0]["transactionId"], id, "{error}");
        assert!(
            error["suggestedNextAction"].as_str().unwrap().contains(id.as_str().unwrap()),
            "{error}"
        );
    }
    for (args, kind) in [
        (json!({ "transactionId": "20261121-014233-123456-9f3ac1d2" }), "not_found"),
        (json!({ "transactionId": id, "paths": ["other"] }), "not_found"),
        (json!({ "transactionId": id, "paths": ["../f"] }), "outside_workspace"),
    ] {
        bench.fails("undo", &args, kind);
    }
    let part = bench.done("undo", &json!({ "transactionId": id, "paths": ["h"] }));
    assert_eq!(part["changedFiles"][0]["operation"].as_str(), Some("delete"));
    assert!(!bench.exists("h"));
    bench.done("undo", &json!({ "transactionId": part["transactionId"] }));
    let undone = bench.done("undo", &json!({ "transactionId": id, "diff": "full" }));
    assert_eq!(&undone["undoOf"], &id);
    assert_eq!(bench.read("f"), b"a\n".to_vec());
    assert_eq!(bench.read("g"), b"g\n".to_vec());
    assert!(undone["changedFiles"][0]["diff"].as_str().unwrap().ends_with("-b\n+a\n"), "{undone}");
    let newest =
        bench.fails("undo", &json!({}), "command_failed")["details"]["transactions"].clone();
    let offered: Vec<_> =
        newest.as_array().unwrap().iter().map(|entry| &entry["transactionId"]).collect();
    assert!(offered[0] == &undone["transactionId"], "{newest}");
    assert!(!offered.contains(&&id), "{newest}");
    bench.done("undo", &json!({ "transactionId": undone["transactionId"] }));
    assert_eq!(bench.read("f"), b"b\n".to_vec());
    assert!(!bench.exists("g"));
    bench.write("f", b"mine\n");
    let error = bench.fails("undo", &json!({ "transactionId": id }), "stale_file");
    assert_eq!(error["details"]["drifted"][0]["actualSha256"].as_str(), Some(&*sha(b"mine\n")));
    assert_eq!(bench.read("f"), b"mine\n".to_vec());
}

#[test]
fn only_what_this_session_changed_is_offered() {
    let bench = Bench::new(&[("f", b"a")]);
    bench.done("delete_file", &json!({ "path": "f" }));
    let other = Session::new(bench.workspace(), Audit::new(session("other"), None), settings());
    let reply = serde_json::to_value(other.call("undo", &json!({}), &mut ())).unwrap();
    assert_eq!(reply["error"]["details"]["transactions"], json!([]), "{reply}");
}

/// Somebody who says no, and writes down what there was to see.
struct No {
    seen: Vec<String>,
    postponed: bool,
}

impl Host for No {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        let change = |change: &patch_engine::Change| {
            format!("{} {}", change.operation.as_str(), change.path)
        };
        let changes = request.plan.changes();
        assert!(changes.iter().all(|change| change.operation != ChangeKind::Move));
        self.seen.extend(changes.iter().map(change));
        Ok(if self.postponed { Decision::Postpone } else { Decision::Decline })
    }
}

#[test]
fn everything_that_changes_files_is_asked_for() {
    let bench = Bench::new(&[("f", b"a\n"), ("gone", b"g\n")]);
    let gone = bench.done("delete_file", &json!({ "path": "gone" }));
    let calls = |bench: &Bench, postponed: bool| {
        let mut seen = Vec::new();
        for (tool, args) in [
            ("undo", json!({ "transactionId": gone["transactionId"] })),
            ("restore_file", json!({ "trashedPath": gone["trashedTo"], "targetPath": "d/gone" })),
            ("delete_file", json!({ "path": "f", "permanent": true })),
            ("write_file", json!({ "path": "f", "content": "b\n", "expectedSha256": sha(b"a\n") })),
            (
                "edit.patch",
                json!({ "patch": "*** Begin Patch\n*** Add File: n\n+n\n*** End Patch" }),
            ),
        ] {
            let mut no = No { seen: Vec::new(), postponed };
            let reply = serde_json::to_value(bench.tools().call(tool, &args, &mut no)).unwrap();
            let text = reply.to_string();
            let words = if postponed { "not approved yet" } else { "declined" };
            assert!(reply["ok"] == false, "{reply}");
            assert!(text.contains("permission_denied"), "{reply}");
            assert!(text.contains(words), "{reply}");
            seen.push(no.seen.join(", "));
        }
        seen
    };
    let wanted = ["create gone", "create d/gone", "delete f", "update f", "create n"];
    let log = |bench: &Bench| -> Vec<Value> {
        let text = String::from_utf8(bench.read(".apply-patch/audit/test.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let before = log(&bench).len();
    assert_eq!(calls(&bench, true), wanted);
    assert_eq!(log(&bench).len(), before, "what is only put off leaves no trace");
    assert_eq!(calls(&bench, false), wanted);
    assert_eq!(log(&bench).len(), before + wanted.len());
    assert_eq!(bench.read("f"), b"a\n".to_vec());
    assert!(!bench.exists("n"));
    assert!(!bench.exists("d"));
}
