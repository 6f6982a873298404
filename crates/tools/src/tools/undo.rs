//! `undo`: undoes a transaction by its id.

use fs_guard::Access;
use patch_engine::commit::{self, TransactionId};
use patch_engine::remedy::{Action, ForPerson};
use patch_engine::{Cancellation, ErrorKind, Host, Remedy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::tools::file_tool::{About, FileTool};
use patch_session::Tool;
use patch_session::answer::arguments::given;
use patch_session::answer::changes::{ChangedFile, DiffDetail, committed_files, summary};
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::error::ToolError;
use patch_session::answer::fit::cut_changes;
use patch_session::answer::reason::Reason;
use patch_session::session::Session;

/// How many transactions the error names to a caller that named none.
const NAMED: usize = 5;

/// The arguments of `undo`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Undo {
    /// transactionId of the answer to undo.
    #[serde(default, deserialize_with = "given")]
    pub transaction_id: Option<String>,
    /// Only these files of it.
    #[serde(default, deserialize_with = "given")]
    pub paths: Option<Vec<String>>,
    /// Diff to show; none by default.
    pub diff: Option<DiffDetail>,
    /// Most bytes of the answer (8192).
    #[serde(default, deserialize_with = "given")]
    pub max_result_bytes: Option<u64>,
}

/// The data of an answer of `undo`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoData {
    /// What was undone.
    pub undo_of: String,
    /// The transaction that did it; undo it to have the changes again. None if there was nothing to
    /// change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    /// The files that changed.
    pub changed_files: Vec<ChangedFile>,
    /// Diffs or files are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl FileTool for Undo {
    type Data = UndoData;

    const ABOUT: About = About {
        title: "Undo a change",
        does: "Undo: reverts (rolls back) what one call changed, by its transactionId, or some \
            paths of it. Undo its own transactionId to have the change again.",
        errors: "Errors: stale_file: the files changed since, edit them instead. not_found: no \
            such transaction, or it did not touch these paths. command_failed: name the \
            transaction; details.transactions has the newest. permission_denied: ask. \
            outside_workspace: correct the path.",
        example: "{\"transactionId\":\"<transactionId from edit_file>\"}",
        idempotent: false,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        self.paths.iter_mut().flatten().collect()
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        session.changing(Tool::Undo, host, |call| {
            let named = self.transaction_id.as_deref().unwrap_or_default().trim();
            let Ok(id) = named.parse() else { return Err(not_named(session, named)) };
            let root = session.root();
            let paths = self.paths.iter().flatten().map(|path| root.check(path, Access::Read));
            let paths = paths.collect::<Result<Vec<_>, _>>()?;
            let report = call.commit(&mut |files| {
                session
                    .plan_undo(Some(id), &paths, false, false, files.cancellation())
                    .map_err(|error| not_undone(session, id, &error))
            })?;
            let data = UndoData {
                undo_of: id.to_string(),
                transaction_id: report.transaction.map(|id| id.to_string()),
                changed_files: committed_files(&report, self.diff.unwrap_or_default()),
                truncated: false,
            };
            Ok(Success::new(format!("undid {id}: {}", summary(&report.plan)), data))
        })
    }

    fn fit(data: &mut Self::Data, max: usize) {
        data.truncated |= cut_changes(&mut data.changed_files, max);
    }
}

/// Makes the error of a call that names no transaction, with a list of possible ones.
fn not_named(session: &Session, named: &str) -> ToolError {
    let message = match named {
        "" => "transactionId is missing".to_owned(),
        named => format!("{named:?} is not a transaction"),
    };
    let mut left = NAMED;
    let log = session.workspace().history_while(|entry| {
        left -= usize::from(is_undoable(session, entry));
        left > 0
    });
    let newest: Vec<_> = log
        .iter()
        .flat_map(|(entries, _)| entries)
        .filter(|entry| is_undoable(session, entry))
        .map(|entry| {
            let paths: Vec<_> =
                entry.journal.records.iter().take(NAMED).map(|record| &record.path).collect();
            json!({
                "transactionId": entry.journal.header.id.to_string(),
                "tool": entry.journal.header.tool, "paths": paths,
            })
        })
        .collect();
    let remedy = match newest.first() {
        Some(first) => {
            Remedy::set("transactionId", first["transactionId"].as_str().unwrap_or_default())
        }
        None => Remedy::Ask(ForPerson::NameChange),
    };
    ToolError::arguments(Reason::NoTransaction, message)
        .details(json!({ "transactions": newest }))
        .remedies([remedy])
}

/// Returns whether a transaction is one of this session, whole, and not undone.
fn is_undoable(session: &Session, entry: &commit::LogEntry) -> bool {
    let header = &entry.journal.header;
    let stands = entry.undone_by.is_none() && !entry.aborted;
    header.session.as_deref() == Some(session.name().as_str()) && stands && entry.whole
}

/// Returns the action that changes a file by other means, if it can be one.
fn by_hand(drift: &commit::Drift) -> Option<Remedy> {
    match (&drift.moved_to, drift.actual, drift.expected) {
        (Some(now), ..) => Some(Remedy::act(Action::Move, now)),
        (None, Some(_), _) => Some(Remedy::act(Action::Edit, &drift.path)),
        (None, None, Some(_)) => Some(Remedy::act(Action::Create, &drift.path)),
        // A directory is there.
        (None, None, None) => None,
    }
}

/// Returns whether some paths of a transaction can be undone now.
fn can_undo(session: &Session, id: TransactionId, paths: &[&str]) -> bool {
    let checked: Result<Vec<_>, _> =
        paths.iter().map(|path| session.root().check(path, Access::Read)).collect();
    checked.is_ok_and(|paths| {
        let never = &Cancellation::NEVER;
        !paths.is_empty() && session.plan_undo(Some(id), &paths, false, false, never).is_ok()
    })
}

/// Makes the error of a transaction that cannot be undone.
fn not_undone(session: &Session, id: TransactionId, error: &commit::Error) -> ToolError {
    let converted = ToolError::workspace(error);
    match error {
        commit::Error::Drifted { drifts, .. } => {
            let entry = session.workspace().show(id);
            let others: Vec<&str> = entry
                .iter()
                .flat_map(|entry| &entry.journal.records)
                .map(|record| &*record.path)
                .filter(|path| !drifts.iter().any(|drift| drift.path == *path))
                .collect();
            let others = Some(others).filter(|paths| can_undo(session, id, paths));
            let others = others.map(|others| Remedy::set("paths", others));
            converted.remedies(drifts.iter().filter_map(by_hand).take(NAMED).chain(others))
        }
        commit::Error::Elsewhere { .. } => {
            let entry = session.workspace().show(id);
            let records = entry.iter().flat_map(|entry| &entry.journal.records);
            let here: Vec<&str> = records.map(|record| &*record.path).collect();
            if here.is_empty() {
                converted
            } else {
                ToolError { recoverable: true, ..converted }.remedies([Remedy::set("paths", here)])
            }
        }
        commit::Error::NotInTransaction { .. } => {
            ToolError { recoverable: true, ..converted }.remedies([Remedy::omit("paths")])
        }
        commit::Error::Aborted(_) | commit::Error::Store(_) | commit::Error::NothingTo { .. }
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::CommandFailed) =>
        {
            let other = not_named(session, "");
            ToolError { recoverable: true, ..converted }
                .remedies(other.remedies)
                .details(other.details)
        }
        _ => converted,
    }
}
