//! Agent Client Protocol: `session/update` notifications of version 1 and of the draft of version
//! 2.
//!
//! Source: the JSON Schemas in the npm package `@agentclientprotocol/sdk` 2.4.0; `ci/acp/run`
//! validates what is printed against them.

use std::borrow::Cow;

use patch_engine::ChangeKind;
use serde::Serialize;
use serde_json::value::RawValue;

use super::event::{CallEvent, CurrentCall, json};
use super::item::{Item, SideText};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Notification<'l> {
    jsonrpc: &'static str,
    method: &'static str,
    params: Params<'l>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'l> {
    session_id: &'l str,
    update: Update<'l>,
}

/// `tool_call` and `tool_call_update` have the same fields; version 2 has the second only.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'l> {
    session_update: &'static str,
    tool_call_id: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locations: Option<Vec<Location>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Vec<ToolCallContent<'l>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_input: Option<&'l RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_output: Option<&'l RawValue>,
}

#[derive(Serialize)]
struct Location {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
enum ToolCallContent<'l> {
    #[serde(rename = "content")]
    Text { content: TextBlock<'l> },
    #[serde(rename = "diff")]
    V1Diff {
        path: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        old_text: Option<&'l str>,
        new_text: &'l str,
    },
    #[serde(rename = "diff")]
    V2Diff {
        changes: Vec<V2Change>,
        #[serde(skip_serializing_if = "Option::is_none")]
        patch: Option<V2Patch>,
    },
}

#[derive(Serialize)]
struct TextBlock<'l> {
    r#type: &'static str,
    text: Cow<'l, str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct V2Change {
    operation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_path: Option<String>,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_type: Option<&'static str>,
}

#[derive(Serialize)]
struct V2Patch {
    format: &'static str,
    text: String,
}

pub(super) fn line(call: &CurrentCall, event: &CallEvent<'_>, version: u8) -> Option<String> {
    let update = Update {
        session_update: "tool_call_update",
        tool_call_id: &call.call_id,
        ..Update::default()
    };
    let update = match *event {
        // The protocol has calls only: no progress of a commit, and no diff of a turn.
        CallEvent::Progress { .. } | CallEvent::TurnDiff { .. } => return None,
        CallEvent::Called => Update {
            session_update: if version == 1 { "tool_call" } else { "tool_call_update" },
            title: Some(title(call, &[])),
            name: Some(&call.tool),
            kind: Some(kind(call, &[])),
            status: Some("pending"),
            raw_input: Some(&call.input),
            ..update
        },
        CallEvent::Planned { items: [], .. } => return None,
        CallEvent::Planned { items, .. } => Update {
            title: Some(title(call, items)),
            kind: Some(kind(call, items)),
            status: Some("in_progress"),
            locations: Some(items.iter().map(|item| location(call, item)).collect()),
            content: Some(diffs(call, items, version)),
            ..update
        },
        CallEvent::Ended { items, result, failure, .. } => {
            let items: Vec<&Item> = items.iter().collect();
            let mut content = diffs(call, &items, version);
            if let Some(failure) = failure {
                content.insert(0, text(failure.into()));
            }
            Update {
                status: Some(if failure.is_none() { "completed" } else { "failed" }),
                content: Some(content),
                raw_output: Some(result),
                ..update
            }
        }
    };
    let params = Params { session_id: &call.session_id, update };
    json(&Notification { jsonrpc: "2.0", method: "session/update", params })
}

/// Names up to three changes, or the tool before they are known.
fn title(call: &CurrentCall, items: &[&Item]) -> String {
    const NAMED: usize = 3;
    if items.is_empty() {
        return call.tool.clone();
    }
    let mut words: Vec<String> = items
        .iter()
        .take(NAMED)
        .map(|item| match (item.operation, &item.to_path) {
            (ChangeKind::Create, _) => format!("create {}", item.path),
            (ChangeKind::Update, _) => format!("update {}", item.path),
            (ChangeKind::Delete, _) => format!("delete {}", item.path),
            (ChangeKind::Move, to) => {
                format!("move {} to {}", item.path, to.as_deref().unwrap_or_default())
            }
        })
        .collect();
    if items.len() > NAMED {
        words.push(format!("{} more", items.len() - NAMED));
    }
    let text = words.join(", ");
    text[..1].to_uppercase() + &text[1..]
}

/// Returns `delete` or `move` if the call does nothing else, else `edit`.
fn kind(call: &CurrentCall, items: &[&Item]) -> &'static str {
    match (items, &*call.tool) {
        ([], "delete_file") => "delete",
        ([], "move_file") => "move",
        ([], _) => "edit",
        _ if items.iter().all(|item| item.operation == ChangeKind::Delete) => "delete",
        _ if items.iter().all(|item| item.operation == ChangeKind::Move) => "move",
        _ => "edit",
    }
}

fn location(call: &CurrentCall, item: &Item) -> Location {
    let line = if item.operation == ChangeKind::Delete { None } else { item.first_line() };
    Location { path: call.absolute(item.last_path()), line }
}

fn text(text: Cow<'_, str>) -> ToolCallContent<'_> {
    ToolCallContent::Text { content: TextBlock { r#type: "text", text } }
}

fn diffs<'l>(call: &CurrentCall, items: &[&'l Item], version: u8) -> Vec<ToolCallContent<'l>> {
    match version {
        _ if items.is_empty() => Vec::new(),
        1 => items.iter().map(|item| v1_diff(call, item)).collect(),
        _ => vec![v2_diff(call, items)],
    }
}

/// In version 1 a deleted file has no new text; a moved file is a new one, and the title of the
/// call names the move.
fn v1_diff<'l>(call: &CurrentCall, item: &'l Item) -> ToolCallContent<'l> {
    let path = call.absolute(item.last_path());
    if [&item.old, &item.new].contains(&&SideText::LeftOut) {
        let operation = item.operation.as_str();
        return text(
            format!("{operation} {path}: the text is not shown, it is binary or longer than 1 MiB")
                .into(),
        );
    }
    ToolCallContent::V1Diff {
        path,
        old_text: item.old.text(),
        new_text: item.new.text().unwrap_or_default(),
    }
}

fn v2_diff(call: &CurrentCall, items: &[&Item]) -> ToolCallContent<'static> {
    let text: String = items.iter().map(|item| item.absolute_diff.as_str()).collect();
    // A patch is sent whole or not at all.
    let patch =
        (text.len() <= super::item::MAX_TEXT).then_some(V2Patch { format: "git_patch", text });
    ToolCallContent::V2Diff {
        changes: items.iter().map(|item| v2_change(call, item)).collect(),
        patch,
    }
}

fn v2_change(call: &CurrentCall, item: &Item) -> V2Change {
    let (operation, old_path) = match item.operation {
        ChangeKind::Create => ("add", None),
        ChangeKind::Update => ("modify", None),
        ChangeKind::Delete => ("delete", None),
        ChangeKind::Move => ("move", Some(call.absolute(&item.path))),
    };
    let known = ![&item.old, &item.new].contains(&&SideText::LeftOut);
    V2Change {
        operation,
        old_path,
        path: call.absolute(item.last_path()),
        file_type: known.then_some("text"),
    }
}
