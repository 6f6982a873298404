//! `restore_file`: brings a file back from the trash.

use fs_guard::Access;
use patch_engine::transaction::{self, TransactionId};
use patch_engine::{ErrorKind, Host};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::Operation;
use crate::envelope::{Success, ToolResult};
use crate::error::ToolError;
use crate::session::Session;

/// The arguments of `restore_file`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RestoreFile {
    /// trashedTo of delete_file, apply_patch or move_file.
    pub trashed_path: Option<String>,
    /// Instead of trashedPath: TRANSACTION/NUMBER.
    pub trash_id: Option<String>,
    /// Where to, if not to its old path.
    pub target_path: Option<String>,
}

/// What `restore_file` gives.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreFileData {
    /// Whether it is back.
    pub restored: bool,
    /// Where; the first one of several.
    pub path: String,
    /// Its hash.
    pub sha256: String,
    /// How many files are back.
    pub restored_files: usize,
    /// The transaction, for undo.
    pub transaction_id: String,
}

impl Session {
    /// Restores a file, or all that one transaction deleted; never over an existing one.
    ///
    /// # Errors
    ///
    /// When the trash has no such file, something is at its place, or the guard refuses that.
    pub fn restore_file(&self, args: &RestoreFile, host: &mut dyn Host) -> ToolResult<RestoreFileData> {
        self.changing("restore_file", Operation::Create, host, |call| {
            let named = match (&args.trashed_path, &args.trash_id) {
                (Some(named), None) | (None, Some(named)) => named,
                _ => return Err(ToolError::arguments("give either trashedPath or trashId")),
            };
            let (id, slot) = parse(named)?;
            let root = self.root();
            let target = args.target_path.as_deref().map(|path| root.check(path, Access::Create)).transpose()?;
            // Without a state directory there is no trash, and none is made to find that out.
            if !self.workspace().has_state() {
                return Err(gone(named));
            }
            let report = call.commit(&mut |_| {
                let slots = match slot {
                    Some(slot) => vec![slot],
                    None => self.deleted_by(id).map_err(|error| not_there(named, &error))?,
                };
                if slots.is_empty() {
                    return Err(gone(named));
                }
                if slots.len() > 1 && target.is_some() {
                    return Err(ToolError::arguments("several files cannot have one targetPath")
                        .next(format!("name one of them: {named}/0, {named}/1, …")));
                }
                let files: Vec<_> = slots.into_iter().map(|slot| (slot, target.clone())).collect();
                self.workspace().plan_restore(id, &files).map_err(|error| not_there(named, &error))
            })?;
            let transitions = report.plan.transitions();
            let first = &transitions[0];
            let data = RestoreFileData {
                restored: true,
                path: first.path().to_string(),
                sha256: first.after().map(|hash| hash.to_string()).unwrap_or_default(),
                restored_files: transitions.len(),
                transaction_id: super::transaction(&report),
            };
            let output = match data.restored_files {
                1 => format!("restored {}", data.path),
                files => format!("restored {files} files"),
            };
            Ok(Success::new(output, data))
        })
    }

    /// The files that a transaction took away.
    fn deleted_by(&self, id: TransactionId) -> Result<Vec<u32>, transaction::Error> {
        let entry = self.workspace().show(id)?;
        let gone = |record: &&workspace_trash::Record| record.before.is_some() && record.after.is_none();
        Ok(entry.journal.records.iter().filter(gone).map(|record| record.slot).collect())
    }
}

/// Reads a path in the trash, `ID/NUMBER`, or `ID`.
fn parse(named: &str) -> Result<(TransactionId, Option<u32>), ToolError> {
    let named_file = || workspace_trash::parse_stored_path(named).map(|(id, slot)| (id, Some(slot)));
    let short = || {
        let rest = workspace_trash::parse_stored_path(&format!("{named}/0")).map(|(id, _)| (id, None));
        rest.or_else(|| match named.rsplit_once('/') {
            Some((id, slot)) => Some((id.parse().ok()?, Some(slot.parse().ok()?))),
            None => Some((named.parse().ok()?, None)),
        })
    };
    named_file().or_else(short).ok_or_else(|| {
        ToolError::arguments(format!("{named:?} names nothing in the trash"))
            .next("use trashedTo as delete_file gave it, unchanged")
    })
}

fn gone(named: &str) -> ToolError {
    ToolError::about(ErrorKind::NotFound, named, "the trash has no such file")
        .next("use trashedTo as delete_file gave it; it may have been purged")
}

fn not_there(named: &str, error: &transaction::Error) -> ToolError {
    let converted = ToolError::workspace(error);
    match error.kind() {
        ErrorKind::NotFound => gone(named),
        ErrorKind::AlreadyExists => ToolError { recoverable: true, ..converted }
            .next("something is at its place: give another targetPath, or move that away first"),
        _ => converted,
    }
}
