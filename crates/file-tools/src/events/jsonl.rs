//! Events in this project's own words.

use serde::Serialize;
use serde_json::value::RawValue;

use super::event::{CallEvent, CurrentCall, json};
use super::item::Item;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Line<'l> {
    Begin {
        call_id: &'l str,
        tool: &'l str,
        auto_approved: bool,
        changes: Vec<Change<'l>>,
    },
    Update {
        call_id: &'l str,
        auto_approved: bool,
        changes: Vec<Change<'l>>,
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
        changes: Vec<Change<'l>>,
        result: &'l RawValue,
    },
    TurnDiff {
        call_id: &'l str,
        unified_diff: &'l str,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Change<'l> {
    operation: &'static str,
    path: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_path: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before_sha256: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_sha256: Option<&'l str>,
    inserted: usize,
    deleted: usize,
}

impl<'l> From<&'l Item> for Change<'l> {
    fn from(item: &'l Item) -> Self {
        let (inserted, deleted) = item.line_counts();
        Self {
            operation: item.operation.as_str(),
            path: &item.path,
            to_path: item.to_path.as_deref(),
            before_sha256: item.before_sha256.as_deref(),
            after_sha256: item.after_sha256.as_deref(),
            inserted,
            deleted,
        }
    }
}

pub(super) fn line(call: &CurrentCall, event: &CallEvent<'_>) -> Option<String> {
    let (call_id, tool) = (&*call.call_id, &*call.tool);
    json(&match *event {
        CallEvent::Called => return None,
        CallEvent::Planned { items, again, auto_approved } => {
            let changes = items.iter().map(|item| Change::from(*item)).collect();
            match again {
                false => Line::Begin { call_id, tool, auto_approved, changes },
                true => Line::Update { call_id, auto_approved, changes },
            }
        }
        CallEvent::Progress { path, done, total } => Line::Progress { call_id, path, done, total },
        CallEvent::Ended { items, transactions, result, failure, declined } => Line::End {
            call_id,
            ok: failure.is_none(),
            declined,
            error: failure,
            transaction_ids: transactions,
            changes: items.iter().map(Change::from).collect(),
            result,
        },
        CallEvent::TurnDiff { diff } => Line::TurnDiff { call_id, unified_diff: diff },
    })
}
