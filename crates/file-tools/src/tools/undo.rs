//! `undo`: takes back a transaction that is named.

use fs_guard::Access;
use patch_engine::transaction;
use patch_engine::{ErrorKind, Host};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::audit::Operation;
use crate::changes::{ChangedFile, DiffDetail, committed_files, summary};
use crate::envelope::{Success, ToolResult};
use crate::error::ToolError;
use crate::session::Session;

/// How many transactions are named to a caller that named none.
const NAMED: usize = 5;

/// The arguments of `undo`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Undo {
    /// transactionId of the answer to undo; that of an undo brings its changes back.
    pub transaction_id: Option<String>,
    /// Only these files of it.
    pub paths: Option<Vec<String>>,
    /// How much to show of the diff: none (default), stat or full.
    pub diff: Option<DiffDetail>,
    /// Most bytes of the answer; 8192 by default.
    pub max_result_bytes: Option<u64>,
}

/// What `undo` gives.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoData {
    /// What was taken back.
    pub undo_of: String,
    /// The transaction that did it; undo it to have the changes again. None if there was nothing to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    /// The files that changed.
    pub changed_files: Vec<ChangedFile>,
    /// Diffs or files are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Session {
    /// Takes back what a transaction did, or what it did to some files.
    ///
    /// # Errors
    ///
    /// When none is named (the error lists the newest of this session), there is no such transaction, its files are
    /// not what it left, or the guard refuses one of them.
    pub fn undo(&self, args: &Undo, host: &mut dyn Host) -> ToolResult<UndoData> {
        self.changing("undo", Operation::Write, host, |call| {
            let named = args.transaction_id.as_deref().unwrap_or_default().trim();
            let Ok(id) = named.parse() else { return Err(self.not_named(named)) };
            let root = self.root();
            let paths = args.paths.iter().flatten().map(|path| root.check(path, Access::Read));
            let paths = paths.collect::<Result<Vec<_>, _>>()?;
            let report =
                call.commit(&mut |_| self.workspace().plan_undo(id, &paths).map_err(|error| not_undone(&error)))?;
            let data = UndoData {
                undo_of: id.to_string(),
                transaction_id: report.transaction.map(|id| id.to_string()),
                changed_files: committed_files(&report, args.diff.unwrap_or_default()),
                truncated: false,
            };
            Ok(Success::new(format!("took back {id}: {}", summary(&report.plan)), data))
        })
    }

    /// Names what could be meant.
    fn not_named(&self, named: &str) -> ToolError {
        let message = match named {
            "" => "transactionId is missing".to_owned(),
            named => format!("{named:?} is no transaction"),
        };
        let mine = |entry: &&transaction::LogEntry| {
            let header = &entry.journal.header;
            header.session.as_deref() == Some(self.name().as_str()) && entry.undone_by.is_none() && !entry.aborted
        };
        let log = self.workspace().log().unwrap_or_default();
        let newest: Vec<_> = log
            .iter()
            .filter(mine)
            .take(NAMED)
            .map(|entry| {
                let paths: Vec<_> = entry.journal.records.iter().take(NAMED).map(|record| &record.path).collect();
                json!({ "transactionId": entry.journal.header.id.to_string(), "tool": entry.journal.header.tool, "paths": paths })
            })
            .collect();
        let next = match newest.first() {
            Some(first) => format!("name one of details.transactions; the newest is {}", first["transactionId"]),
            None => "this session has changed nothing that could be taken back".into(),
        };
        ToolError::arguments(message).details(json!({ "transactions": newest })).next(next)
    }
}

fn not_undone(error: &transaction::Error) -> ToolError {
    let converted = ToolError::workspace(error);
    match error.kind() {
        ErrorKind::StaleFile => converted.next("the files were changed since: read them, and edit them instead"),
        ErrorKind::NotFound => ToolError { recoverable: true, ..converted }
            .next("take transactionId from the answer of the change, and paths from its changedFiles"),
        _ => converted,
    }
}
