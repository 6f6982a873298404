//! The loop.

use std::cell::RefCell;
use std::error::Error;
use std::path::Path;

use apply_patch_api::{
    Callbacks, Decision, OpenWorkspace, Proposal, ReadOptions as _, SpecRequest, UndoRequest,
    WorkspaceOptions, tool_specs,
};
use serde_json::{Value, json};

const FILES: [(&str, &str); 2] = [("add.sh", "echo $(($1 - $2))\n"), ("notes.txt", "to be kept\n")];
const CHECK: &str = r#"test "$(sh add.sh 1 2)" = 3 || { echo "1 and 2 are not 3"; exit 1; }"#;

/// What the model does: why, a tool, and its arguments.
fn script() -> [(&'static str, &'static str, Value); 5] {
    let edit = |old: &str, new: &str| {
        json!({
            "path": "add.sh", "edits": [{ "oldText": old, "newText": new }],
        })
    };
    [
        ("looks at the file", "read_file", json!({ "path": "add.sh" })),
        ("multiplies", "edit_file", edit("-", "*")),
        ("adds", "edit_file", edit("-", "+")),
        ("tidies up", "delete_file", json!({ "path": "notes.txt" })),
        ("writes a comment", "edit_file", edit("echo", "# Adds.\necho")),
    ]
}

/// Works in `dir`, which is empty; gives the transcript.
#[allow(clippy::disallowed_methods, reason = "a person wrote these files")]
pub(crate) fn run(dir: &Path) -> Result<String, Box<dyn Error>> {
    let transcript = RefCell::new(String::new());
    let say = |who: &str, what: &str| {
        let what = what.trim().replace('\n', "\n        ");
        *transcript.borrow_mut() += &format!("{who:>6}  {what}\n");
    };
    for (name, text) in FILES {
        std::fs::write(dir.join(name), text)?;
    }
    let options = json!({ "agent": "example", "approve": "ask", "verify": CHECK });
    let workspace = OpenWorkspace::open(dir, &WorkspaceOptions::read(options)?)?;
    let request = SpecRequest { brief: true, ..SpecRequest::default() };
    let tools = tool_specs("anthropic", &request)?.value;
    workspace.begin_turn(None)?;
    for (why, tool, arguments) in script() {
        assert!(tools.as_array().is_some_and(|all| all.iter().any(|one| one["name"] == tool)));
        say("model", why);
        let mut asked = None;
        // Minds deletions; other changes are fine, and again in this turn.
        let person = |proposal: &Proposal<'_>| {
            let changes = proposal.changes();
            let deletes = changes[0]["operation"] == "delete";
            asked = Some((changes, deletes));
            if deletes { Decision::Decline } else { Decision::ApproveForTurn }
        };
        let host = Callbacks { approve: Some(Box::new(person)), ..Callbacks::default() };
        let answer = workspace.call(tool, &arguments, host);
        if let Some((changes, deletes)) = asked {
            let text = |field: &str| changes[0][field].as_str().unwrap_or_default().to_owned();
            let decision = if deletes { "no" } else { "yes, for this turn" };
            say("person", &format!("{} {}: {decision}", text("operation"), text("path")));
        }
        let (output, error) = (answer["output"].as_str(), &answer["error"]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let failed = || {
            let (kind, message) = (text(&error["kind"]), text(&error["message"]));
            format!("{kind}: {message}\n{}", text(&error["details"]["output"]))
        };
        say("answer", &output.map_or_else(failed, ToOwned::to_owned));
    }
    let turn = workspace.end_turn()?;
    let changes = turn["transactions"].as_array().map_or(0, Vec::len);
    say("turn", &format!("{changes} changes\n{}", turn["diff"].as_str().unwrap_or_default()));
    say("person", "undo all of it");
    let request = UndoRequest { turn: turn["id"].as_str().map(Into::into), ..Default::default() };
    let yes = Callbacks { approve: Some(Box::new(|_| Decision::Approve)), ..Default::default() };
    workspace.undo(&request, yes)?;
    let is_as_before = |(name, text): (&str, &str)| {
        std::fs::read_to_string(dir.join(name)).is_ok_and(|now| now == text)
    };
    say("files", if FILES.into_iter().all(is_as_before) { "as before" } else { "not as before" });
    Ok(transcript.into_inner())
}
