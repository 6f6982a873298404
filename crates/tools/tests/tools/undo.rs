//! `undo`, and who is asked before something changes.

use file_tools::Tools as _;
use patch_engine::commit;
use patch_engine::commit::approval::{Decision, Request};
use patch_engine::{ChangeKind, Files, Host, Report};
use patch_session::audit::{Audit, Operation};
use patch_session::{Session, Span};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::support::{Bench, call, done, patch, session, settings, sha};
use testutils::holds::holds;

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

/// What is in it is forbidden too, but for what is allowed: that goes and comes back.
#[test]
fn a_directory_with_the_name_of_a_forbidden_file_goes_and_comes_back() {
    let bench = Bench::new(&[]);
    let file = ".env/.env.example";
    let patch = |file: &str| {
        let header = format!("diff --git a/{file} b/{file}\nnew file mode 100644\n");
        json!({ "patch": format!("{header}--- /dev/null\n+++ b/{file}\n@@ -0,0 +1 @@\n+f\n") })
    };
    let error = bench.fails("apply_patch", &patch(".env/f"), "permission_denied");
    assert_eq!(error["details"]["reason"], "forbidden", "{error}");
    assert!(!bench.exists(".env"));
    let made = bench.done("apply_patch", &patch(file));
    let undone = bench.done("undo", &json!({ "transactionId": made["transactionId"] }));
    assert!(!bench.exists(".env"));
    bench.done("undo", &json!({ "transactionId": undone["transactionId"] }));
    assert_eq!(bench.read(file), b"f\n".to_vec());
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

/// What is at each path.
fn tree(bench: &Bench) -> std::collections::BTreeMap<String, Vec<u8>> {
    let paths = ["a", "b", "c", "d/a", "d/e/b"];
    let there = paths.into_iter().filter(|path| bench.path(path).is_file());
    there.map(|path| (path.to_owned(), bench.read(path))).collect()
}

/// Undoes all that a session did; why not.
fn undo_span(tools: &Session, span: &Span, carry: bool) -> Result<Report, commit::Error> {
    let plan = &mut |files: &Files| tools.plan_undo_span(span, carry, files.cancellation());
    tools.execute("undo", Operation::Write, &mut (), plan)
}

fn of_session(name: &str) -> Span {
    Span::Session(name.into())
}

#[test]
fn a_session_is_undone_as_one_and_comes_back_as_one() {
    let step = prop_oneof![
        (select(&["a", "b", "c", "d/a", "d/e/b"]), "[xy]{0,2}").prop_map(|(path, text)| {
            ("write_file", json!({ "path": path, "content": text, "expectedSha256": "" }))
        }),
        select(&["a", "b", "c", "d/a", "d/e/b"])
            .prop_map(|path| ("delete_file", json!({ "path": path }))),
        (select(&["a", "b", "c"]), select(&["b", "c", "d/a", "d/e/b"])).prop_map(|(from, to)| {
            ("move_file", json!({ "fromPath": from, "toPath": to, "overwrite": true }))
        }),
        Just(("undo", json!({}))),
    ];
    let did = std::cell::Cell::new([0, 0]);
    holds(60, &(vec(step, 1..7), 0..3_usize), |(steps, others)| {
        let bench = Bench::new(&[("a", b"1\n"), ("b", b"2\n"), ("d/a", b"3\n")]);
        let (mine, other) = (bench.resume("mine"), bench.resume("other"));
        let mut before = tree(&bench);
        let mut done: Vec<Value> = Vec::new();
        for (nth, (tool, args)) in steps.into_iter().enumerate() {
            if nth == others {
                before = tree(&bench);
            }
            // The first ones are those of another session.
            let tools = if nth < others { &other } else { &mine };
            let mut args = args.clone();
            match tool {
                "write_file" | "delete_file" | "move_file" => {
                    let path = args.get("path").or(args.get("fromPath")).expect("a path").clone();
                    if bench.path(path.as_str().expect("text")).is_file() {
                        call(tools, "read_file", &json!({ "path": path }));
                        args.as_object_mut().expect("arguments").remove("expectedSha256");
                    }
                }
                _ => {
                    let Some(last) = done.pop() else { continue };
                    args = json!({ "transactionId": last });
                }
            }
            let id = call(tools, tool, &args)["data"]["transactionId"].clone();
            if nth < others {
                // It is none of those that are undone here.
                done.clear();
            } else if id.is_string() && tool != "undo" {
                done.push(id);
            }
        }
        let after = tree(&bench);
        let undone = undo_span(&mine, &of_session("mine"), false);
        let mut counts = did.get();
        match undone {
            Ok(report) => {
                assert_eq!(tree(&bench), before);
                counts[0] += 1;
                if let Some(id) = report.transaction {
                    let redo = &mut |_: &_| mine.workspace().plan_redo(Some(id));
                    mine.execute("redo", Operation::Write, &mut (), redo).expect("it comes back");
                    assert_eq!(tree(&bench), after);
                }
            }
            Err(commit::Error::NothingTo { .. }) => counts[1] += 1,
            Err(error) => panic!("{error}: {:?}", tree(&bench)),
        }
        did.set(counts);
    });
    assert!(did.get()[0] > 20, "{:?}", did.get());
}

#[test]
fn a_session_is_undone_whole_or_not_at_all() {
    let bench = Bench::new(&[("a", b"1\n"), ("b", b"1\n"), ("c", b"1\n")]);
    let (mine, other) = (bench.resume("mine"), bench.resume("other"));
    let update = |tools: &Session, path: &str, from: u8, to: u8| {
        let section = format!("*** Update File: {path}\n@@\n-{from}\n+{to}\n");
        done(tools, "apply_patch", &json!({ "patch": patch(&section) }))["transactionId"].clone()
    };
    update(&mine, "a", 1, 2);
    update(&mine, "b", 1, 2);
    update(&other, "b", 2, 3);
    done(&mine, "read_file", &json!({ "path": "b" }));
    update(&mine, "b", 3, 4);
    update(&mine, "c", 1, 2);
    let before = tree(&bench);
    // What another session did between is not lost.
    let error = undo_span(&mine, &of_session("mine"), false).unwrap_err().to_string();
    assert!(error.contains(": b ("), "{error}");
    assert_eq!(tree(&bench), before);
    // What is there already counts as undone, whoever did it.
    bench.write("a", b"1\n");
    bench.write("b", b"1\n");
    let report = undo_span(&mine, &of_session("mine"), false).expect("undone");
    assert_eq!(report.plan.changes().len(), 1, "only c changes");
    assert_eq!(bench.read("c"), b"1\n");
    let again = undo_span(&mine, &of_session("mine"), false).unwrap_err();
    assert!(matches!(&again, commit::Error::NothingTo { gone, .. } if !gone.is_empty()), "{again}");
    // From one transaction on, all sessions.
    let bench = Bench::new(&[("a", b"1\n"), ("b", b"1\n")]);
    let (mine, other) = (bench.resume("mine"), bench.resume("other"));
    update(&mine, "a", 1, 2);
    let from = update(&mine, "b", 1, 2);
    update(&other, "a", 2, 3);
    update(&other, "b", 2, 3);
    let from = from.as_str().expect("an id").parse().expect("an id");
    undo_span(&mine, &Span::From(from), false).expect("undone");
    assert_eq!(bench.read("a"), b"2\n");
    assert_eq!(bench.read("b"), b"1\n");
}

#[test]
fn a_session_is_carried_beneath_later_changes() {
    let bench = Bench::new(&[("a", b"1\n2\n3\n4\n5\n6\n7\n8\n")]);
    let mine = bench.resume("mine");
    for (old, new) in [("1\n", "one\n"), ("2\n", "two\n"), ("one\n", "ONE\n")] {
        done(&mine, "read_file", &json!({ "path": "a" }));
        let edits = json!([{ "oldText": old, "newText": new }]);
        done(&mine, "edit_file", &json!({ "path": "a", "edits": edits }));
    }
    bench.write("a", b"ONE\ntwo\n3\n4\n5\n6\n7\nEIGHT\n");
    let error = undo_span(&mine, &of_session("mine"), false).unwrap_err();
    assert!(matches!(error, commit::Error::Drifted { carry: true, .. }), "{error}");
    undo_span(&mine, &of_session("mine"), true).expect("carried");
    assert_eq!(bench.read("a"), b"1\n2\n3\n4\n5\n6\n7\nEIGHT\n");
}

/// What is advised is possible: a file that is gone is not to be edited, and only paths are named
/// whose undo is not refused as well.
#[test]
fn what_a_refused_undo_advises_is_possible() {
    let patch = patch("*** Update File: f\n@@\n-a\n+b\n*** Delete File: g\n*** Add File: h\n+h\n");
    for (name, f, g, wanted) in [
        ("edited", Some("other\n"), None, json!([["edit_file", "f"], ["paths", ["h", "g"]]])),
        ("gone", None, None, json!([["create_file", "f"], ["paths", ["h", "g"]]])),
        (
            "two",
            Some("b\nc\n"),
            Some("x\n"),
            json!([["edit_file", "f"], ["edit_file", "g"], ["paths", ["h"]]]),
        ),
    ] {
        let bench = Bench::new(&[("f", b"a\n"), ("g", b"g\n")]);
        let id = bench.done("apply_patch", &json!({ "patch": patch }))["transactionId"].clone();
        std::fs::remove_file(bench.path("f")).expect("it is there");
        for (path, text) in [("f", f), ("g", g)] {
            text.into_iter().for_each(|text| bench.write(path, text.as_bytes()));
        }
        let error = bench.fails("undo", &json!({ "transactionId": id }), "stale_file");
        let mut hints = Vec::new();
        for hint in error["hints"].as_array().expect("hints") {
            let is_tool = hint["tool"].is_string();
            let [key, value] = if is_tool { ["tool", "path"] } else { ["argument", "value"] };
            hints.push(json!([hint[key], hint[value]]));
        }
        assert_eq!(Value::from(hints), wanted, "{name}: {error}");
        let paths = wanted.as_array().and_then(|all| all.last()).map(|last| last[1].clone());
        bench.done("undo", &json!({ "transactionId": id, "paths": paths }));
    }
}
