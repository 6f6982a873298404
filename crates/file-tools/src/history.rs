//! The transactions of a workspace as data.

use patch_engine::transaction::{Error, LogEntry, Unverified, Workspace};
use serde_json::{Value, json};
use workspace_trash::{Carried, Record, format_time};

use crate::changes::{CarriedHunk, LineRange};
use crate::error::journal_problem;

/// The newest transactions, at most `max_count` of them, and those whose journals are not trusted.
///
/// # Errors
///
/// When the journals, or files that a diff needs, cannot be read.
pub fn log(workspace: &Workspace, max_count: Option<usize>, with_diff: bool) -> Result<Value, Error> {
    let (mut entries, unverified) = workspace.history()?;
    entries.truncate(max_count.unwrap_or(usize::MAX));
    let transactions: Result<Vec<_>, Error> =
        entries.iter().map(|entry| transaction(workspace, entry, with_diff)).collect();
    let not_verified = unverified.iter().map(|one| {
        let mut value = json!({
            "id": one.id.to_string(),
            "problem": one.problem.to_string(),
            "details": journal_problem(&one.problem),
            "undoneBy": one.undone_by.map(|id| id.to_string()),
        });
        if let Some(command) = trusting(one) {
            value["undo"] = command.into();
        }
        value
    });
    let not_verified: Vec<_> = not_verified.collect();
    Ok(json!({ "transactions": transactions?, "notVerified": not_verified }))
}

/// One transaction.
///
/// # Errors
///
/// When files that its diff needs cannot be read.
pub fn transaction(workspace: &Workspace, entry: &LogEntry, with_diff: bool) -> Result<Value, Error> {
    let header = &entry.journal.header;
    let file = |record: &Record| {
        json!({
            "path": record.path,
            "operation": match (&record.before, &record.after) { (None, _) => "create", (_, None) => "delete", _ => "update" },
            "beforeSha256": record.before.as_ref().map(|state| state.sha256.to_string()),
            "afterSha256": record.after.as_ref().map(|state| state.sha256.to_string()),
            "trashedTo": record.before.as_ref().map(|_| workspace.stored_path(header.id, record.slot)),
        })
    };
    let mut value = json!({
        "id": header.id.to_string(),
        "timestamp": format_time(header.id.time()),
        "tool": header.tool,
        "agent": header.agent,
        "session": header.session,
        "undoOf": header.undo_of.map(|id| id.to_string()),
        "undoneBy": entry.undone_by.map(|id| id.to_string()),
        "rolledBack": entry.aborted,
        "files": entry.journal.records.iter().map(file).collect::<Vec<_>>(),
    });
    if !entry.journal.carried.is_empty() {
        let lines = |(first, last): (usize, usize)| LineRange { start_line: first, end_line: last };
        let one = |one: &Carried| CarriedHunk {
            path: one.path.clone(),
            hunk: one.hunk,
            from: lines(one.from),
            to: lines(one.to),
            already_there: one.already_there,
        };
        value["carried"] = json!(entry.journal.carried.iter().map(one).collect::<Vec<_>>());
    }
    if with_diff {
        value["diff"] = String::from_utf8_lossy(&workspace.transaction_diff(entry)?).into();
    }
    Ok(value)
}

/// The command that takes back a transaction whose key is not here.
#[must_use]
pub fn trusting(one: &Unverified) -> Option<String> {
    let may = one.problem.can_be_trusted() && one.undone_by.is_none();
    may.then(|| format!("apply-patch undo {} --trust", one.id))
}
