//! Events in this project's own form.

use serde::Serialize;
use serde_json::value::RawValue;

use super::event::{CallEvent, CurrentCall, json};
use super::item::Item;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum EventLine<'l> {
    Begin {
        call_id: &'l str,
        tool: &'l str,
        auto_approved: bool,
        changes: Vec<&'l Item>,
    },
    Update {
        call_id: &'l str,
        auto_approved: bool,
        changes: Vec<&'l Item>,
    },
    Progress {
        call_id: &'l str,
        path: &'l str,
        done: usize,
        total: usize,
    },
    End {
        call_id: &'l str,
        ok: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        declined: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'l str>,
        transaction_ids: &'l [String],
        changes: Vec<&'l Item>,
        result: &'l RawValue,
    },
    TurnDiff {
        call_id: &'l str,
        unified_diff: &'l str,
    },
}

pub(super) fn line(call: &CurrentCall, event: &CallEvent<'_>) -> Option<String> {
    let call_id = &*call.call_id;
    let tool = &*call.tool;
    json(&match *event {
        CallEvent::Called => return None,
        CallEvent::Planned { items, again, auto_approved } => {
            let changes = items.to_vec();
            if again {
                EventLine::Update { call_id, auto_approved, changes }
            } else {
                EventLine::Begin { call_id, tool, auto_approved, changes }
            }
        }
        CallEvent::Progress { path, done, total } => {
            EventLine::Progress { call_id, path, done, total }
        }
        CallEvent::Ended { items, transactions, result, failure, declined, .. } => EventLine::End {
            call_id,
            ok: failure.is_none(),
            declined,
            error: failure,
            transaction_ids: transactions,
            changes: items.iter().collect(),
            result,
        },
        CallEvent::TurnDiff { diff } => EventLine::TurnDiff { call_id, unified_diff: diff },
    })
}
