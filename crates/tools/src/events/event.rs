//! The events of a call, before they are written in one of the forms.

use serde::Serialize;
use serde_json::value::RawValue;

use super::item::Item;

/// The current call.
#[derive(Debug)]
pub(super) struct CurrentCall {
    pub(super) session_id: String,
    pub(super) call_id: String,
    pub(super) tool: String,
    pub(super) input: Box<RawValue>,
    /// The root's absolute path, with a `/` at its end.
    pub(super) root: String,
}

impl CurrentCall {
    pub(super) fn absolute(&self, path: &str) -> String {
        format!("{}{path}", self.root)
    }
}

/// An event of a call.
pub(super) enum CallEvent<'e> {
    /// A tool was called; its changes are not known yet.
    Called,
    /// These changes will be made. Repeated with more when a call commits several times.
    Planned { items: &'e [&'e Item], again: bool, auto_approved: bool },
    /// A path is published.
    Progress { path: &'e str, done: usize, total: usize },
    /// The call is over.
    Ended {
        items: &'e [Item],
        transactions: &'e [String],
        notes: &'e [String],
        result: &'e RawValue,
        failure: Option<&'e str>,
        declined: bool,
    },
    /// The changes of the turn so far, as one diff.
    TurnDiff { diff: &'e str },
}

/// Writes a value as a line of JSON.
pub(super) fn json(value: &impl Serialize) -> Option<String> {
    Some(serde_json::to_string(value).expect("text keys"))
}
