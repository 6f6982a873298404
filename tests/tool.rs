//! The file tools as a person or a script calls them: one call a run.

use std::fs;
use std::path::Path;

use patch_session::Tool;
use serde_json::{Value, json};

use crate::program::run;
use testutils::temp::temp;

struct Place {
    dir: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: temp(), home: temp() }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Runs the program; gives its exit code and its one JSON object.
    fn run(&self, args: &[&str], input: &[u8]) -> (i32, Value) {
        let run = run("apply-patch", self.path(), self.home.path(), args, input);
        let json = run.json().unwrap_or_else(|error| panic!("{args:?}: {error}"));
        (run.code, json)
    }

    fn tool(&self, name: &str, args: &Value) -> (i32, Value) {
        self.run(&["tool", name, "--session", "s", "--args", &args.to_string()], b"")
    }
}

#[test]
fn lists_every_tool_with_its_schemas() {
    let (code, list) = Place::new().run(&["tool", "--list"], b"");
    let tools = list["tools"].as_array().expect("a list");
    assert_eq!(code, 0);
    assert_eq!(tools.len(), Tool::usual().count());
    assert!(
        tools
            .iter()
            .all(|tool| tool["inputSchema"]["type"] == "object" && tool["description"].is_string())
    );
}

#[test]
fn a_session_goes_on_from_run_to_run() {
    let place = Place::new();
    fs::write(place.path().join("f"), "a\n").expect("written");
    let (code, read) = place.tool("read_file", &json!({ "path": "f" }));
    assert_eq!(code, 0);
    assert_eq!(&read["data"]["content"], &json!("a\n"));
    fs::write(place.path().join("f"), "b\n").expect("written");
    let (code, refused) = place.tool("delete_file", &json!({ "path": "f" }));
    assert_eq!(code, 4);
    assert_eq!(&refused["error"]["kind"], &json!("stale_file"));
    let other = json!({ "path": "f" }).to_string();
    let (code, _) = place.run(&["tool", "delete_file", "--args", "-"], other.as_bytes());
    assert_eq!(code, 0, "without a session nothing was read");
    let (code, _) = place.run(&["--json", "undo"], b"");
    assert_eq!(code, 0);
    assert_eq!(fs::read(place.path().join("f")).expect("it is back"), b"b\n".to_vec());
}

#[test]
fn answers_in_json_whatever_goes_wrong() {
    let place = Place::new();
    for (args, code, kind) in [
        (&["tool", "read_file", "--args", "{}"][..], 2, "command_failed"),
        (&["tool", "read_file", "--args", "no json"], 2, "command_failed"),
        (&["tool", "read_file", "--args", r#"{"path":"a","path":"b"}"#], 2, "command_failed"),
        (&["tool", "no_tool", "--args", "{}"], 2, "command_failed"),
        (&["tool", "read_file", "--args", r#"{"path":"none"}"#], 1, "not_found"),
        (&["tool", "read_file", "--args", r#"{"path":"../x"}"#], 3, "outside_workspace"),
        (
            &["tool", "read_file", "--session", "a/b", "--args", r#"{"path":"x"}"#],
            2,
            "command_failed",
        ),
    ] {
        let (found, answer) = place.run(args, b"");
        assert_eq!(found, code, "{args:?}: {answer}");
        assert_eq!(&answer["error"]["kind"], &json!(kind), "{args:?}: {answer}");
    }
    let (code, answer) = place.run(&["tool", "edit.patch", "--args", r#"{"patch":""}"#], b"");
    assert_eq!(code, 1);
    assert_eq!(&answer["ok"], &json!(false));
    assert!(
        answer["error"].as_str().is_some_and(|line| line.starts_with("patch_parse_error")),
        "{answer}"
    );
}

#[test]
fn speaks_the_editors_dialect() {
    let place = Place::new();
    fs::write(place.path().join("f"), "a\n").expect("written");
    let editor = ["tool", "--dialect", "anthropic-editor", "--args", "-"];
    let (code, view) = place.run(&editor, br#"{"command":"view","path":"f"}"#);
    assert_eq!(code, 0);
    assert_eq!(view, json!({ "content": "     1\ta\n", "is_error": false }));
    let (code, refused) =
        place.run(&editor, br#"{"command":"str_replace","path":"f","old_str":"z","new_str":"y"}"#);
    assert_eq!(code, 1);
    assert_eq!(&refused["is_error"], &json!(true));
}

#[test]
fn every_commit_is_in_the_audit_log_and_a_changed_log_is_noticed() {
    let place = Place::new();
    let patch = b"*** Begin Patch\n*** Add File: f\n+x\n*** End Patch\n";
    assert_eq!(place.run(&["--json", "apply"], patch).0, 0);
    let again = b"*** Begin Patch\n*** Add File: f\n+y\n*** End Patch\n";
    assert_eq!(place.run(&["--json", "apply"], again).0, 1, "it is there already");
    assert_eq!(place.run(&["--json", "apply"], b"no patch").0, 1);
    assert_eq!(place.run(&["--json", "undo"], b"").0, 0);
    assert_eq!(place.run(&["--json", "redo"], b"").0, 0);
    let path = place.path().join(".apply-patch/audit/cli.jsonl");
    let log = fs::read_to_string(&path).expect("a log");
    let phases: Vec<_> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .map(|line| {
            format!(
                "{} {}",
                line["toolName"].as_str().unwrap_or("-"),
                line["phase"].as_str().unwrap_or("-")
            )
        })
        .collect();
    let expected = [
        "apply intent",
        "apply outcome",
        "apply failed",
        "apply failed",
        "undo intent",
        "undo outcome",
        "redo intent",
        "redo outcome",
    ];
    assert_eq!(phases, expected);
    let (code, verified) = place.run(&["--json", "log", "--verify"], b"");
    assert_eq!(code, 0, "{verified}");
    assert_eq!(&verified["data"]["sessions"][0]["lines"], &json!(8), "{verified}");
    let (code, state) = place.run(&["--json", "log", "--state"], b"");
    assert_eq!(code, 0, "{state}");
    assert_eq!(&state["data"]["paths"][0]["status"], &json!("same"), "{state}");
    fs::write(&path, log.replacen("\"path\":\"f\"", "\"path\":\"g\"", 1)).expect("written");
    let (code, refused) = place.run(&["--json", "log", "--verify"], b"");
    let bad = &refused["error"]["details"]["sessions"][0]["firstBad"];
    assert_eq!(code, 1, "{refused}");
    assert_eq!(&bad["line"], &json!(1), "{refused}");
}

#[test]
fn undo_is_shown_and_logged_as_a_patch_is() {
    let place = Place::new();
    fs::write(place.path().join("f"), "a\n").expect("written");
    let patch = b"*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\n";
    assert_eq!(place.run(&["--json", "apply"], patch).0, 0);
    let diff = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-b\n+a\n";
    let (code, shown) = place.run(&["--json", "undo", "-n"], b"");
    assert_eq!(code, 0, "{shown}");
    assert_eq!(&shown["data"]["dryRun"], &json!(true), "{shown}");
    assert!(
        shown["data"]["changedFiles"][0]["diff"].as_str().expect("a diff").ends_with(diff),
        "{shown}"
    );
    assert_eq!(fs::read(place.path().join("f")).expect("a file"), b"b\n", "nothing was written");
    let (code, undone) = place.run(&["--json", "undo", "--diff", "full"], b"");
    assert_eq!(code, 0, "{undone}");
    assert_eq!(&undone["data"]["changedFiles"], &without_trash(&undone, &shown), "{undone}");
    let (code, shown) = place.run(&["--json", "redo", "-n"], b"");
    assert!(code == 0);
    assert!(
        shown["data"]["changedFiles"][0]["diff"].as_str().expect("a diff").ends_with("-a\n+b\n")
    );
    let log = fs::read_to_string(place.path().join(".apply-patch/audit/cli.jsonl")).expect("a log");
    let last: Value = serde_json::from_str(log.lines().last().expect("a line")).expect("JSON");
    assert_eq!(&last["toolName"], &json!("undo"));
    assert_eq!(&last["phase"], &json!("outcome"));
    assert_eq!(&last["ok"], &json!(true));
    assert!(last["diffSha256"].is_string(), "{last}");
}

/// The files that were shown, as they are told after the commit.
fn without_trash(done: &Value, shown: &Value) -> Value {
    let mut files = shown["data"]["changedFiles"].clone();
    files[0]["trashedTo"] = done["data"]["changedFiles"][0]["trashedTo"].clone();
    files
}

#[test]
fn a_patch_that_does_not_fit_leaves_no_trace_where_none_was_applied() {
    let place = Place::new();
    let patch = b"*** Begin Patch\n*** Delete File: f\n*** End Patch\n";
    assert_eq!(place.run(&["--json", "apply"], patch).0, 1);
    assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 0);
}

#[test]
fn the_configured_profile_is_that_of_patches_that_name_none() {
    let place = Place::new();
    let config = place.home.path().join("config/apply-patch");
    fs::create_dir_all(&config).expect("a folder");
    fs::write(config.join("config.toml"), "profile = \"codex\"\n").expect("written");
    // Only that profile makes directories.
    let patch = "*** Begin Patch\n*** Add File: d/e/f\n+x\n*** End Patch\n";
    let (code, strict) = place.tool("apply_patch", &json!({ "patch": patch, "profile": "strict" }));
    assert_eq!(code, 1, "{strict}");
    assert_eq!(&strict["error"]["kind"], &json!("not_found"), "{strict}");
    let (code, done) = place.tool("apply_patch", &json!({ "patch": patch }));
    assert_eq!(code, 0, "{done}");
    assert_eq!(&done["ok"], &json!(true), "{done}");
}

#[test]
fn a_tool_and_ops_can_be_approved_and_confined() {
    let place = Place::new();
    let ops = r#"[{"type":"apply_patch_call","call_id":"c","operation":{"type":"update_file","path":"f","diff":"@@\n-a\n+b\n"}}]"#;
    let args = r#"{"patch":"*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\n"}"#;
    let calls: [(&[&str], &str); 2] =
        [(&["tool", "apply_patch", "--args", "-"], args), (&["ops"], ops)];
    for (call, input) in calls {
        let run = |flags: &[&str]| {
            fs::write(place.path().join("f"), "a\n").expect("written");
            let run = run(
                "apply-patch",
                place.path(),
                place.home.path(),
                &[call, flags].concat(),
                input.as_bytes(),
            );
            (run, fs::read_to_string(place.path().join("f")).expect("it is there"))
        };
        // There is no terminal here.
        let (asked, text) = run(&["--approve", "ask"]);
        assert_eq!(asked.code, 3, "{asked:?}");
        assert_eq!(text.as_str(), "a\n", "{asked:?}");
        let (confined, text) = run(&["--sandbox"]);
        if (confined.stdout.clone() + &confined.stderr).contains("no Landlock") {
            testutils::skip!("in part: this kernel has no Landlock");
            assert_eq!(confined.code, 5, "{confined:?}");
            assert_eq!(text.as_str(), "a\n", "{confined:?}");
        } else {
            assert_eq!(confined.code, 0, "{confined:?}");
            assert_eq!(text.as_str(), "b\n", "{confined:?}");
        }
    }
}

#[test]
fn doctor_makes_no_key() {
    let place = Place::new();
    let (code, found) = place.run(&["doctor", "--json"], b"");
    assert_eq!(code, 0, "{found}");
    assert!(!place.home.path().join("state").exists(), "{found}");
}
