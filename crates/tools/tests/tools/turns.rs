//! Turns: what a session changes between a beginning and an end is one.

use std::fs;

use file_tools::catalogue;
use patch_session::audit::{Operation, verify};
use patch_session::history::{self, Wanted};

use patch_engine::{Files, Report, commit};
use patch_session::{Named, Session, SessionSettings, Span, TurnSummary, open_turns};
use serde_json::{Value, json};

use crate::support::{Bench, call, done, fails, patch, settings};

fn update(tools: &Session, path: &str, from: &str, to: &str) -> Value {
    let section = format!("*** Update File: {path}\n@@\n-{from}\n+{to}\n");
    done(tools, "apply_patch", &json!({ "patch": patch(&section) }))["transactionId"].clone()
}

/// Plain undo.
fn undo(tools: &Session) -> Result<Report, commit::Error> {
    tools.execute("undo", Operation::Write, &mut (), &mut |files: &Files| {
        tools.plan_undo(None, &[], false, false, files.cancellation())
    })
}

/// The lines of all logs in the order of a session's.
fn lines(bench: &Bench, session: &str) -> Vec<Value> {
    let path = bench.path(&format!(".apply-patch/audit/{session}.jsonl"));
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn open(bench: &Bench) -> Vec<(String, usize)> {
    let workspace = bench.workspace();
    let open = open_turns(&workspace).unwrap();
    open.into_iter().map(|turn| (turn.id, turn.transactions)).collect()
}

#[test]
fn a_turn_is_one_diff_one_entry_and_one_undo() {
    let bench = Bench::new(&[("a", b"1\n"), ("b", b"1\n"), ("c", b"1\n")]);
    let tools = bench.tools();
    let before = update(tools, "c", "1", "2");
    let turn = tools.begin_turn(None).expect("it begins").to_string();
    assert_eq!(open(&bench), [], "it has changed nothing yet");
    let first = update(tools, "a", "1", "2");
    assert_eq!(open(&bench), [(turn.clone(), 1)]);
    let second = update(tools, "a", "2", "3");
    done(tools, "read_file", &json!({ "path": "b" }));
    let third = done(tools, "move_file", &json!({ "fromPath": "b", "toPath": "e" }));
    let so_far = tools.turn_so_far().expect("the history").expect("a turn");
    let TurnSummary { id, transactions, changed_files, diff } = tools.end_turn().expect("its end");
    assert_eq!(id, turn);
    assert_eq!(json!(transactions), json!([third["transactionId"], second, first]));
    assert_eq!(so_far.transactions, transactions);
    assert_eq!(
        diff,
        "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+3\ndiff --git a/b b/e\n\
         similarity index 100%\nrename from b\nrename to e\n"
    );
    let changed: Vec<_> = changed_files
        .iter()
        .map(|file| (file.operation, &*file.path, file.to_path.as_deref()))
        .collect();
    assert_eq!(changed, [("update", "a", None), ("move", "b", Some("e"))]);
    assert_eq!(open(&bench), []);

    // Every line of it names it, and so does its end.
    let lines = lines(&bench, "test");
    let phases: Vec<_> = lines
        .iter()
        .filter(|line| line["turnId"] == turn.as_str())
        .map(|line| line["phase"].as_str().unwrap_or_default())
        .collect();
    let both = ["intent", "outcome"];
    assert_eq!(phases, [&both[..], &both, &both, &["ended"]].concat());
    assert!(lines[0].get("turnId").is_none());
    assert!(verify(&bench.workspace(), None).expect("logs").iter().all(|log| log.ok));

    // The log has it as one.
    let workspace = bench.workspace();
    let log = history::log(&workspace, &Wanted::default(), true).expect("the log");
    assert_eq!(log["turns"][0]["id"], *turn);
    assert_eq!(log["turns"][0]["diff"], *diff);
    assert_eq!(log["turns"][0]["changedFiles"], json!(changed_files));
    assert_eq!(log["turns"][0]["transactions"], json!(transactions));
    assert_eq!(log["transactions"].as_array().map(Vec::len), Some(4));
    let one = Wanted { max_count: Some(1), ..Wanted::default() };
    let newest = history::log(&workspace, &one, false).expect("the log");
    assert_eq!(newest["transactions"].as_array().map(Vec::len), Some(3));

    // So has undo, and redo.
    let undone = undo(tools).expect("undone");
    assert_eq!(undone.plan.also_undone().len(), 2);
    assert_eq!([bench.read("a"), bench.read("b")], [b"1\n", b"1\n"]);
    assert_eq!(bench.read("c"), b"2\n");
    assert_eq!(history::log(&workspace, &one, false).expect("the log")["turns"], json!([]));
    let log = history::log(&workspace, &Wanted::default(), false).expect("the log");
    assert_eq!(log["turns"][0]["undone"], true);
    tools
        .execute("redo", Operation::Write, &mut (), &mut |files: &Files| {
            tools.plan_redo(None, files.cancellation())
        })
        .expect("redone");
    assert_eq!(bench.read("a"), b"3\n");
    // One of its transactions can still be undone alone.
    done(tools, "undo", &json!({ "transactionId": third["transactionId"] }));
    assert!(bench.exists("b"));
    done(tools, "undo", &json!({ "transactionId": before }));
    assert_eq!(bench.read("c"), b"1\n");
}

#[test]
fn a_turn_begins_once_and_ends_once() {
    let bench = Bench::new(&[("a", b"1\n")]);
    let tools = bench.tools();
    let error = tools.end_turn().expect_err("none is open");
    assert_eq!(error.message, "no turn is open: begin one first");
    let name = tools.begin_turn(None).expect("it begins");
    let again = tools.begin_turn(None).expect_err("it is open").message;
    assert_eq!(again, format!("turn {name} is open: end it before you begin another"));
    // A turn that changes nothing leaves no trace.
    let summary = tools.end_turn().expect("its end");
    assert!(summary.transactions.is_empty());
    assert_eq!(summary.diff, "");
    assert!(!bench.exists(".apply-patch"));
    tools.begin_turn(None).expect("it begins");
    assert_eq!(call(tools, "read_file", &json!({ "path": "none" }))["ok"], false);
    tools.end_turn().expect("its end");
    assert_eq!(lines(&bench, "test"), [Value::Null; 0]);
}

#[test]
fn turns_of_several_sessions_are_independent() {
    let bench = Bench::new(&[("a", b"1\n"), ("b", b"1\n")]);
    let sessions = [bench.resume("one"), bench.resume("two")];
    for tools in &sessions {
        tools.begin_turn(Some("t".parse().expect("a name"))).expect("it begins");
    }
    for (from, to) in [("1", "2"), ("2", "3")] {
        update(&sessions[0], "a", from, to);
        update(&sessions[1], "b", from, to);
    }
    assert_eq!(open(&bench), [("t".into(), 2), ("t".into(), 2)]);
    assert_eq!(sessions[0].end_turn().expect("its end").changed_files.len(), 1);
    // What one session did is told apart by its name, where it has to be.
    let workspace = bench.workspace();
    let error = Named::find(&workspace, "t").expect_err("there are two");
    assert!(error.message.ends_with("name one as SESSION/t: one, two"), "{error}");
    let Named::Turn(span, entries) = Named::find(&workspace, "one/t").expect("a turn") else {
        panic!("it is a turn");
    };
    assert_eq!(span, Span::Turn("t".into(), Some("one".into())));
    assert_eq!(entries.len(), 2);
    assert!(Named::find(&workspace, "three/t").is_err());
    undo(&sessions[0]).expect("undone");
    assert_eq!([bench.read("a"), bench.read("b")], [b"3\n", b"1\n"]);
}

#[test]
fn a_turn_goes_on_in_another_process_by_its_name() {
    let bench = Bench::new(&[("a", b"1\n")]);
    for (from, to) in [("1", "2"), ("2", "3")] {
        let tools = bench.resume("host");
        tools.begin_turn(Some("t7".parse().expect("a name"))).expect("it begins");
        update(&tools, "a", from, to);
    }
    assert_eq!(open(&bench), [("t7".into(), 2)]);
    // Whatever the session changes without it ends it.
    let tools = bench.resume("host");
    update(&tools, "a", "3", "4");
    assert_eq!(open(&bench), []);
    undo(&tools).expect("undone");
    undo(&tools).expect("undone");
    assert_eq!(bench.read("a"), b"1\n");
    assert_eq!(open(&bench), []);
}

/// All or nothing: what others changed between is neither lost nor a reason to undo a part.
#[test]
fn a_turn_under_a_later_change_is_refused_as_a_whole() {
    let bench = Bench::new(&[("a", b"1\n"), ("b", b"1\n")]);
    let (mine, other) = (bench.tools(), bench.resume("other"));
    update(&other, "b", "1", "2");
    mine.begin_turn(None).expect("it begins");
    update(mine, "a", "1", "2");
    done(mine, "create_file", &json!({ "path": "n", "content": "" }));
    mine.end_turn().expect("its end");
    bench.write("a", b"edited\n");
    assert!(undo(&other).is_err(), "no other change is undone in its place");
    assert!(bench.exists("n"));
    assert_eq!(bench.read("b"), b"2\n");
    assert_eq!(bench.read("a"), b"edited\n");
}

/// The tool is there only where the host allows it, and undoes the newest turn of its own session
/// that has ended, and no other.
#[test]
fn a_tool_undoes_the_last_turn_where_the_host_allows_it() {
    let bench = Bench::new(&[("a", b"1\n"), ("b", b"1\n")]);
    let tools = bench.tools();
    let not_allowed = bench.with(SessionSettings { undo_turn: false, ..settings() });
    let error = fails(&not_allowed, "undo_turn", &json!({}), "command_failed");
    assert_eq!(error["details"]["reason"], "unknown_tool");
    assert!(catalogue().iter().all(|tool| tool.name != "undo_turn"));
    let in_turn = |tools: &Session, path: &str, from: &str, to: &str| {
        let turn = tools.begin_turn(None).expect("it begins").to_string();
        update(tools, path, from, to);
        turn
    };
    let error = fails(tools, "undo_turn", &json!({}), "command_failed");
    assert_eq!(error["details"]["reason"], "no_transaction");
    in_turn(tools, "a", "1", "2");
    fails(tools, "undo_turn", &json!({}), "command_failed");
    tools.end_turn().expect("its end");
    let last = in_turn(tools, "a", "2", "3");
    tools.end_turn().expect("its end");
    let other = bench.resume("other");
    in_turn(&other, "b", "1", "2");
    other.end_turn().expect("its end");
    in_turn(tools, "b", "2", "3");
    let undone = done(tools, "undo_turn", &json!({ "diff": "full" }));
    assert_eq!(undone["undoOf"], *last);
    assert_eq!(
        undone["changedFiles"][0]["diff"].as_str().map(|diff| diff.contains("-3\n+2")),
        Some(true)
    );
    assert_eq!([bench.read("a"), bench.read("b")], [b"2\n", b"3\n"]);
    fails(tools, "undo_turn", &json!({}), "not_found");
    done(tools, "undo", &json!({ "transactionId": undone["transactionId"] }));
    bench.write("a", b"edited\n");
    fails(tools, "undo_turn", &json!({}), "stale_file");
}

/// What is listed is what it would be if all of the history were read, wherever the parts of a turn
/// are.
#[test]
fn a_part_of_the_log_is_as_in_the_whole() {
    use workspace_trash::{FileState, Header, Journal, LockedStore, Record};
    let bench = Bench::new(&[("a", b"1\n")]);
    let workspace = bench.workspace();
    let mut state = 7_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 33) % below
    };
    let mut times = Vec::new();
    {
        let wait = std::time::Duration::ZERO;
        let store = LockedStore::lock(workspace.home(), workspace.key_place(), wait).unwrap();
        for _ in 0..150 {
            let pending = store.begin().unwrap();
            let mut file = pending.slot(0).create(0o600).unwrap();
            file.write(b"x").unwrap();
            let file = file.finish(None, None, false).unwrap();
            let mut header = Header::new(pending.id());
            header.session = Some(format!("s{}", random(2)));
            // Most are of turns that come close together, some of one from long ago.
            header.turn = match random(8) {
                0..3 => None,
                3 => Some("long".to_owned()),
                _ => Some(format!("t{}", times.len() / 8)),
            };
            let before = FileState::of(file.metadata().unwrap(), fs_guard::Sha256::of(b"x"));
            let (path, before) = (format!("f{}", random(4)), Some(before));
            let record = Record { slot: 0, path, before, after: None, sibling: None };
            pending.write_journal(&Journal::new(header, vec![record])).unwrap();
            pending.finish().unwrap();
            times.push(pending.id().time());
        }
    }
    for indexed in [true, false] {
        if !indexed {
            fs::remove_file(bench.path(".apply-patch/index")).unwrap();
        }
        let all = workspace.log().unwrap();
        assert_eq!(all.len(), 150);
        for max_count in [Some(0), Some(1), Some(2), Some(5), Some(20), Some(1000), None] {
            for since in [None, Some(times[140]), Some(times[70])] {
                for paths in [vec![], vec!["f1".to_owned()]] {
                    let wanted = Wanted { max_count, since, session: None, paths };
                    let (found, unverified) = wanted.read(&workspace).unwrap();
                    assert_eq!(found, wanted.of(all.clone()), "{wanted:?}");
                    assert!(unverified.is_empty());
                }
            }
        }
        for nth in [1, 2, 150] {
            let id = history::find(&workspace, &format!("@{nth}")).unwrap();
            assert_eq!(id, all[nth - 1].journal.header.id);
            assert_eq!(workspace.show(id).unwrap(), all[nth - 1]);
        }
        let none = history::find(&workspace, "@151").unwrap_err();
        assert!(none.message.contains("there are 150"), "{}", none.message);
        let spans = [
            Span::Turn("long".into(), Some("s1".into())),
            Span::Turn("never".into(), None),
            Span::Session("s0".into()),
            Span::From(all[30].journal.header.id),
            Span::Since(times[100]),
        ];
        for span in spans {
            let mut wanted = all.clone();
            wanted.retain(|entry| span.has(entry));
            assert_eq!(span.entries(&workspace).unwrap(), wanted, "{span:?}");
        }
    }
}
