//! The lines that the program around an agent reads.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use file_tools::Tools as _;
use file_tools::events::{EventForm, Events, MAX_TEXT};
use patch_engine::commit::approval::{ApprovalPolicy, Approvals, Decision, Request};
use patch_engine::{ApplyOptions, Atomicity, Cancellation, Event, Host, Options, Profile, parse};
use serde_json::{Value, json};

use crate::support::Bench;

/// Says one thing, and hands on what it hears.
struct Person<'p, 'e> {
    approves: bool,
    events: &'p mut Events<'e>,
    other: &'p mut dyn Host,
}

impl Host for Person<'_, '_> {
    fn approve(&mut self, _: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        Ok(if self.approves { Decision::Approve } else { Decision::Decline })
    }

    fn cancellation(&self) -> Cancellation {
        self.other.cancellation()
    }

    fn event(&mut self, event: &Event<'_>) {
        self.events.event(event);
        self.other.event(event);
    }
}

/// Applies `body` and gives the events.
fn events(
    bench: &Bench,
    form: EventForm,
    body: &str,
    atomic: bool,
    approved: bool,
    other: &mut dyn Host,
) -> Vec<Value> {
    let workspace = bench.workspace();
    let text = format!("*** Begin Patch\n{body}*** End Patch\n");
    let mut settings = ApplyOptions::new(Options::new(Profile::Codex));
    if !atomic {
        settings.atomicity = Atomicity::EachSection;
    }
    let patch = parse(&text, &settings.options.parse).unwrap();
    let mut lines = Vec::new();
    let mut events = Events::new(form, "s", bench.dir.path(), |line| {
        lines.push(serde_json::from_str(line).unwrap())
    });
    events.begin_call("c", "apply_patch", &json!({ "patch": "…" }));
    // Who says no was asked.
    let mut approvals =
        Approvals::new(if approved { ApprovalPolicy::Never } else { ApprovalPolicy::Always });
    let mut person = Person { approves: approved, events: &mut events, other };
    let applied = workspace.apply(&patch, &settings, &mut approvals.ask(&mut person));
    let reports = applied.as_ref().map_or_else(|failed| failed.reports.len(), Vec::len);
    let failure = applied.err().map(|failed| failed.to_string());
    events.end_call(&json!({ "reports": reports }), failure.as_deref());
    drop(events);
    lines
}

/// Each line in a few words: its type, and the changes that it names.
fn show(lines: &[Value]) -> Vec<String> {
    let change = |change: &Value| {
        let to = change["toPath"].as_str().map(|to| format!(" to {to}")).unwrap_or_default();
        let counts = format!("+{} -{}", change["inserted"], change["deleted"]);
        format!(
            "{} {}{to} {counts}",
            change["operation"].as_str().unwrap(),
            change["path"].as_str().unwrap()
        )
    };
    let line = |line: &Value| {
        let mut out = line["type"].as_str().unwrap().to_owned();
        assert_eq!(line["callId"], "c");
        match &*out {
            "progress" => {
                out += &format!(
                    " {} {}/{}",
                    line["path"].as_str().unwrap(),
                    line["done"],
                    line["total"]
                )
            }
            "turn_diff" => {}
            _ => {
                let changes: Vec<_> =
                    line["changes"].as_array().unwrap().iter().map(change).collect();
                let ok = line.get("ok").map(|ok| format!(" ok {ok}")).unwrap_or_default();
                out += &format!("{ok}: {}", changes.join(", "));
            }
        }
        out
    };
    lines.iter().map(line).collect()
}

const FILES: &[(&str, &[u8])] = &[("a", b"1\n2\n"), ("b", b"b\n")];

#[test]
fn a_patch_begins_goes_on_and_ends() {
    let body = "*** Update File: a\n*** Move to: c\n@@\n-1\n+one\n+more\n*** Delete File: b\n";
    let lines = events(&Bench::new(FILES), EventForm::Jsonl, body, true, true, &mut ());
    assert_eq!(
        show(&lines),
        [
            "begin: move a to c +2 -1, delete b +0 -1",
            "progress c 1/3",
            "progress a 2/3",
            "progress b 3/3",
            "end ok true: move a to c +2 -1, delete b +0 -1",
            "turn_diff"
        ]
    );
    assert_eq!(&lines[0]["autoApproved"], &json!(true));
    assert_eq!(&lines[4]["transactionIds"].as_array().unwrap().len(), &1);
    let diff = lines[5]["unifiedDiff"].as_str().unwrap();
    assert!(diff.contains("rename from a\nrename to c\n"), "{diff}");
    assert!(diff.contains("deleted file mode"), "{diff}");
}

#[test]
fn a_failed_call_says_what_is_really_changed() {
    let body = "*** Update File: a\n@@\n-1\n+one\n*** Update File: b\n@@\n-nothing\n+x\n";
    for (name, atomic, approved, wanted) in [
        ("refused as a whole", true, true, &["begin: ", "end ok false: "][..]),
        ("declined", true, false, &["begin: ", "end ok false: "]),
        (
            "stopped half way",
            false,
            true,
            &[
                "begin: update a +1 -1",
                "progress a 1/1",
                "end ok false: update a +1 -1",
                "turn_diff",
            ],
        ),
    ] {
        let bench = Bench::new(FILES);
        let lines = events(&bench, EventForm::Jsonl, body, atomic, approved, &mut ());
        assert_eq!(show(&lines), wanted, "{name}");
        assert_eq!(bench.read("a") == b"one\n2\n", !atomic, "{name}");
    }
}

#[test]
fn each_transaction_of_a_call_that_is_not_atomic_adds_to_the_changes() {
    let body = "*** Update File: a\n@@\n-1\n+one\n*** Delete File: b\n";
    let lines = events(&Bench::new(FILES), EventForm::Jsonl, body, false, true, &mut ());
    assert_eq!(
        show(&lines),
        [
            "begin: update a +1 -1",
            "progress a 1/1",
            "update: update a +1 -1, delete b +0 -1",
            "progress b 1/1",
            "end ok true: update a +1 -1, delete b +0 -1",
            "turn_diff"
        ]
    );
}

#[test]
fn what_a_failed_roll_back_leaves_is_told() {
    /// Lets the commit fail at its second file, and its roll-back at the first.
    struct Saver<'b>(&'b Bench);
    impl Host for Saver<'_> {
        fn event(&mut self, event: &Event<'_>) {
            if matches!(event, Event::Published(0)) {
                self.0.write("b", b"saved by someone\n");
                self.0.write("a", b"saved over it\n");
            }
        }
    }
    let body = "*** Update File: a\n@@\n-1\n+one\n*** Update File: b\n@@\n-b\n+B\n";
    let bench = Bench::new(FILES);
    let lines = events(&bench, EventForm::Jsonl, body, true, true, &mut Saver(&bench));
    let shown = show(&lines);
    assert_eq!(shown[2..], ["end ok false: ", "turn_diff"], "{shown:?}");
    assert_eq!(
        lines[3]["unifiedDiff"],
        "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n-1\n-2\n+saved over it\n\
         diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-b\n+saved by someone\n"
    );
}

#[test]
fn the_shape_that_codex_clients_know() {
    let bench = Bench::new(&[("a", b"1\n2\n"), ("b", b"b\n"), ("old", b"x\n")]);
    let at = |path: &str| bench.dir.path().join(path).to_str().unwrap().to_owned();
    let body = "*** Update File: a\n@@\n-1\n+one\n*** Add File: n\n+n\n*** Delete File: b\n\
                *** Move File: old -> new\n";
    let lines = events(&bench, EventForm::Codex, body, true, true, &mut ());
    let changes = json!({
        at("a"): { "type": "update", "unified_diff": "@@ -1,2 +1,2 @@\n-1\n+one\n\
                                                      \x202\n", "move_path": null },
        at("n"): { "type": "add", "content": "n\n" },
        at("b"): { "type": "delete", "content": "b\n" },
        at("old"): { "type": "update", "unified_diff": "", "move_path": at("new") },
    });
    let begin = json!({
        "type": "patch_apply_begin", "call_id": "c", "turn_id": "s", "auto_approved": true, "changes": changes
    });
    let end = json!({
        "type": "patch_apply_end", "call_id": "c", "turn_id": "s", "success": true, "stderr": "",
        "changes": changes,
        "stdout": "Success. Updated the following files:\nA n\nM a\nM new\n\
                   D b\n", "status": "completed"
    });
    assert_eq!(lines[..2], [json!({ "id": "c", "msg": begin }), json!({ "id": "c", "msg": end })]);
    assert_eq!(lines.len(), 3);
    assert_eq!(&lines[2]["msg"]["type"], &json!("turn_diff"));
    assert!(lines[2]["msg"]["unified_diff"].as_str().unwrap().starts_with("diff --git a/b b/b\n"));

    // What was overlooked is told where the tool of that name prints it.
    let body = "*** Update File: a\n@@\n-one\n+uno\n\n\n";
    let noted = events(&bench, EventForm::Codex, body, true, true, &mut ());
    assert_eq!(
        &noted[1]["msg"]["stderr"],
        &json!("note: a: hunk 1 was matched without the empty lines after it\n")
    );

    let declined = events(&bench, EventForm::Codex, "*** Delete File: a\n", true, false, &mut ());
    let end = &declined[1]["msg"];
    assert_eq!(declined.len(), 2);
    assert_eq!(&end["status"], &json!("declined"));
    assert_eq!(&end["success"], &json!(false));
    assert_eq!(&end["changes"], &json!({}));
    assert_eq!(&end["stdout"], &json!(""));
    assert!(!end["stderr"].as_str().unwrap().is_empty());
}

/// The updates of the Agent Client Protocol that a call gives. (`ci/acp/run` checks them against
/// the schema.)
fn updates(
    workspace: &Path,
    bench: &Bench,
    form: EventForm,
    tool: &str,
    args: &Value,
) -> Vec<Value> {
    let mut lines: Vec<Value> = Vec::new();
    let mut events = Events::new(form, "sess_1", workspace, |line| {
        lines.push(serde_json::from_str(line).unwrap())
    });
    events.begin_call("c", tool, args);
    let reply = bench.tools().call(tool, args, &mut events);
    events.end_call(&reply, reply.failure());
    drop(events);
    for line in &lines {
        assert_eq!(&line["method"], &json!("session/update"));
        assert_eq!(&line["params"]["sessionId"], &json!("sess_1"));
        assert_eq!(line["params"]["update"]["toolCallId"], "c");
    }
    lines.into_iter().map(|mut line| line["params"]["update"].take()).collect()
}

#[test]
fn edit_patch_announces_and_concludes_a_tool_call() {
    let patch =
        "*** Begin Patch\n*** Update File: a\n@@\n-2\n+two\n*** Delete File: b\n*** End Patch\n";
    let args = json!({ "patch": patch, "allow_delete": true });
    for (form, first) in [(EventForm::AcpV1, "tool_call"), (EventForm::AcpV2, "tool_call_update")] {
        let bench = Bench::new(FILES);
        let root = bench.dir.path();
        let at = |path: &str| root.join(path).to_str().unwrap().to_owned();
        // The same by another spelling.
        let updates = updates(&root.join("."), &bench, form, "edit.patch", &args);
        let kinds: Vec<_> =
            updates.iter().map(|update| update["sessionUpdate"].as_str().unwrap()).collect();
        assert_eq!(kinds, [first, "tool_call_update", "tool_call_update"]);
        let statuses: Vec<_> =
            updates.iter().map(|update| update["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["pending", "in_progress", "completed"]);
        assert_eq!(&updates[0]["rawInput"], &args);
        assert_eq!(&updates[0]["kind"], &json!("edit"));
        assert_eq!(updates[1]["title"], "Update a, delete b");
        assert_eq!(
            updates[1]["locations"],
            json!([{ "path": at("a"), "line": 1 }, { "path": at("b") }])
        );
        assert_eq!(updates[2]["rawOutput"], json!({ "ok": true, "summary": "A 0, M 1, D 1, R 0" }));
        let content = match form {
            EventForm::AcpV1 => json!([
                { "type": "diff", "path": at("a"), "oldText": "1\n2\n", "newText": "1\ntwo\n" },
                { "type": "diff", "path": at("b"), "oldText": "b\n", "newText": "" },
            ]),
            _ => json!([{
                "type": "diff",
                "changes": [
                    { "operation": "modify", "path": at("a"), "fileType": "text" },
                    { "operation": "delete", "path": at("b"), "fileType": "text" },
                ],
                "patch": { "format": "git_patch", "text": format!(
                    "diff --git {a} {a}\n--- {a}\n+++ {a}\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n\
                     diff --git {b} {b}\ndeleted file mode 100644\n--- {b}\n+++ /dev/null\n\
                     @@ -1 +0,0 @@\n-b\n",
                    a = at("a"), b = at("b"),
                ) },
            }]),
        };
        assert_eq!(&updates[1]["content"], &content);
        assert_eq!(&updates[2]["content"], &content);
    }
}

#[test]
fn a_failed_tool_call_fails_with_words_and_without_diffs() {
    for (tool, args) in [
        ("edit.patch", json!({ "patch": "*** Begin Patch\n*** Delete File: a\n*** End Patch\n" })),
        ("edit.patch", json!({ "patch": "no patch" })),
        ("edit.patch", json!({ "unknown": 1 })),
        ("delete_file", json!({ "path": "../x" })),
    ] {
        let bench = Bench::new(FILES);
        let updates = updates(bench.dir.path(), &bench, EventForm::AcpV1, tool, &args);
        let statuses: Vec<_> =
            updates.iter().map(|update| update["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["pending", "failed"], "{tool} {args}");
        let content = updates[1]["content"].as_array().unwrap();
        assert_eq!(content.len(), 1, "{tool} {args}");
        assert_eq!(&content[0]["type"], &json!("content"), "{tool} {args}");
        assert_eq!(updates[1]["rawOutput"]["ok"], false);
    }
}

#[test]
fn long_and_binary_texts_are_left_out() {
    let line = "0123456789abcde\n";
    let long = line.repeat(MAX_TEXT / line.len() + 1);
    let fits = line.repeat(MAX_TEXT / line.len());
    let bench = Bench::new(&[("long", long.as_bytes()), ("fits", fits.as_bytes()), ("bin", b"\0")]);
    for (path, shown) in [("fits", true), ("long", false), ("bin", false)] {
        let args = json!({ "path": path });
        let updates = updates(bench.dir.path(), &bench, EventForm::AcpV1, "delete_file", &args);
        let content = &updates[1]["content"][0];
        assert_eq!(updates[1]["kind"].as_str(), Some("delete"), "{path}");
        assert_eq!(content["type"] == "diff", shown, "{path}");
        let words = content["content"]["text"].as_str().unwrap_or_default();
        assert_eq!(words.contains("is not shown"), !shown, "{path}");
    }
}

#[test]
fn a_host_that_gives_up_before_the_commit_point_changes_nothing() {
    #[derive(Default)]
    struct GivesUp(Arc<AtomicBool>);
    impl Host for GivesUp {
        fn cancellation(&self) -> Cancellation {
            let given_up = Arc::clone(&self.0);
            Cancellation::new(move || given_up.load(Ordering::Relaxed))
        }

        fn event(&mut self, event: &Event<'_>) {
            if let Event::Planned(_) = event {
                self.0.store(true, Ordering::Relaxed);
            }
        }
    }
    let bench = Bench::new(FILES);
    let lines = events(
        &bench,
        EventForm::Jsonl,
        "*** Delete File: a\n",
        true,
        true,
        &mut GivesUp::default(),
    );
    assert_eq!(show(&lines), ["begin: delete a +0 -2", "end ok false: "]);
    assert!(bench.exists("a"));
}
