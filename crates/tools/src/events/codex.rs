//! Events as the clients of Codex know them: `{"id":…,"msg":{"type":…}}`.

use std::collections::BTreeMap;

use patch_engine::ChangeKind;
use serde::Serialize;

use patch_session::answer::changes::success;

use super::event::{CallEvent, CurrentCall, json};
use super::item::Item;

#[derive(Serialize)]
struct CodexEvent<'l> {
    /// Of the submission there; here, of the call.
    id: &'l str,
    msg: Message<'l>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Message<'l> {
    PatchApplyBegin {
        call_id: &'l str,
        turn_id: &'l str,
        auto_approved: bool,
        changes: Changes<'l>,
    },
    PatchApplyUpdated {
        call_id: &'l str,
        changes: Changes<'l>,
    },
    PatchApplyEnd {
        call_id: &'l str,
        turn_id: &'l str,
        stdout: String,
        stderr: String,
        success: bool,
        changes: Changes<'l>,
        status: &'static str,
    },
    TurnDiff {
        unified_diff: &'l str,
    },
}

/// By absolute path.
type Changes<'l> = BTreeMap<String, FileChange<'l>>;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum FileChange<'l> {
    Add { content: &'l str },
    Delete { content: &'l str },
    Update { unified_diff: &'l str, move_path: Option<String> },
}

fn changes<'l>(call: &CurrentCall, items: impl Iterator<Item = &'l Item>) -> Changes<'l> {
    items
        .map(|item| {
            let change = match item.operation {
                // The protocol cannot express that a text is left out.
                ChangeKind::Create => {
                    FileChange::Add { content: item.new.text().unwrap_or_default() }
                }
                ChangeKind::Delete => {
                    FileChange::Delete { content: item.old.text().unwrap_or_default() }
                }
                ChangeKind::Update | ChangeKind::Move => FileChange::Update {
                    unified_diff: item.hunks(),
                    move_path: item.to_path.as_ref().map(|to| call.absolute(to)),
                },
            };
            (call.absolute(&item.path), change)
        })
        .collect()
}

pub(super) fn line(call: &CurrentCall, event: &CallEvent<'_>) -> Option<String> {
    let call_id = &*call.call_id;
    let turn_id = &*call.session_id;
    let msg = match *event {
        CallEvent::Called | CallEvent::Progress { .. } => return None,
        CallEvent::Planned { items, again, auto_approved } => {
            let changes = changes(call, items.iter().copied());
            if again {
                Message::PatchApplyUpdated { call_id, changes }
            } else {
                Message::PatchApplyBegin { call_id, turn_id, auto_approved, changes }
            }
        }
        CallEvent::Ended { items, notes, failure, declined, .. } => Message::PatchApplyEnd {
            call_id,
            turn_id,
            stdout: match failure {
                None => success(items.iter().map(|item| (item.operation, item.last_path()))),
                Some(_) => String::new(),
            },
            // Where the tool of this name prints them.
            stderr: match failure {
                None => notes.iter().map(|note| format!("note: {note}\n")).collect(),
                Some(why) => why.to_owned(),
            },
            success: failure.is_none(),
            changes: changes(call, items.iter()),
            status: match failure {
                None => "completed",
                Some(_) if declined => "declined",
                Some(_) => "failed",
            },
        },
        CallEvent::TurnDiff { diff } => Message::TurnDiff { unified_diff: diff },
    };
    json(&CodexEvent { id: call_id, msg })
}
