//! `restore_file`: brings a file back from the trash.

use fs_guard::Access;
use patch_engine::commit::{self, TransactionId};
use patch_engine::remedy::{Action, MAX_PLACES};
use patch_engine::{ErrorKind, Host, Remedy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tools::file_tool::{About, FileTool};
use patch_session::Tool;
use patch_session::answer::arguments::given;
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::error::ToolError;
use patch_session::answer::reason::Reason;
use patch_session::session::Session;

/// The arguments of `restore_file`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RestoreFile {
    /// trashedTo of delete_file, apply_patch or move_file.
    #[serde(default, deserialize_with = "given")]
    pub trashed_path: Option<String>,
    /// Instead of trashedPath: TRANSACTION/NUMBER.
    #[serde(default, deserialize_with = "given")]
    pub trash_id: Option<String>,
    /// Where to, if not to its old path.
    #[serde(default, deserialize_with = "given")]
    pub target_path: Option<String>,
}

/// The data of an answer of `restore_file`.
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

impl FileTool for RestoreFile {
    type Data = RestoreFileData;

    const ABOUT: About = About {
        title: "Restore a file",
        does: "Restores a deleted file from the trash: brings it back, to its old path or \
            targetPath; never over a file.",
        errors: "Errors: not_found: it is not in the trash. already_exists: give another \
            targetPath. command_failed: give trashedPath as you got it. permission_denied, \
            outside_workspace: use another targetPath.",
        example: "{\"trashedPath\":\"<trashedTo from delete_file>\"}",
        idempotent: false,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        [&mut self.trashed_path, &mut self.target_path].into_iter().flatten().collect()
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        session.changing(Tool::RestoreFile, host, |call| {
            let one = "either trashedPath or trashId is needed, not both";
            let (argument, named) = match (&self.trashed_path, &self.trash_id) {
                (Some(named), None) => ("trashedPath", named),
                (None, Some(named)) => ("trashId", named),
                (Some(_), Some(_)) => {
                    return Err(ToolError::arguments(Reason::BadArguments, one)
                        .remedies([Remedy::omit("trashId")]));
                }
                (None, None) => {
                    let give = Remedy::give("trashedPath", TRASHED_WANTED);
                    return Err(ToolError::arguments(Reason::BadArguments, one).remedies([give]));
                }
            };
            let (id, slot) = parse(argument, named)?;
            let root = session.root();
            let target = self
                .target_path
                .as_deref()
                .map(|path| root.check(path, Access::Create))
                .transpose()?;
            // Without a state directory there is no trash, and no reason to create one.
            if !session.workspace().has_state() {
                return Err(gone(argument, named));
            }
            let report = call.commit(&mut |_| {
                let slots = match slot {
                    Some(slot) => vec![slot],
                    None => deleted_by(session, id)
                        .map_err(|error| not_there(session, argument, named, &error))?,
                };
                if slots.is_empty() {
                    return Err(gone(argument, named));
                }
                if slots.len() > 1 && target.is_some() {
                    let one = slots
                        .iter()
                        .take(MAX_PLACES)
                        .map(|slot| Remedy::set(argument, format!("{named}/{slot}")));
                    let message = format!(
                        "{named} is {} files, which cannot have one targetPath",
                        slots.len()
                    );
                    return Err(ToolError::arguments(Reason::SeveralFiles, message)
                        .remedies(one.chain([Remedy::omit("targetPath")])));
                }
                let files: Vec<_> = slots.into_iter().map(|slot| (slot, target.clone())).collect();
                session
                    .workspace()
                    .plan_restore(id, &files)
                    .map_err(|error| not_there(session, argument, named, &error))
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
}

/// Lists the deleted files of a transaction.
fn deleted_by(session: &Session, id: TransactionId) -> Result<Vec<u32>, commit::Error> {
    let entry = session.workspace().show(id)?;
    let gone =
        |record: &&workspace_trash::Record| record.before.is_some() && record.after.is_none();
    Ok(entry.journal.records.iter().filter(gone).map(|record| record.slot).collect())
}

/// Parses a path in the trash, `ID/NUMBER`, or `ID`.
fn parse(argument: &str, named: &str) -> Result<(TransactionId, Option<u32>), ToolError> {
    let file = workspace_trash::parse_stored_path(named).map(|(id, slot)| (id, Some(slot)));
    file.or_else(|| parse_folder(named)).or_else(|| parse_id(named)).ok_or_else(|| {
        ToolError::arguments(Reason::BadTrashPath, format!("{named:?} names nothing in the trash"))
            .remedies([Remedy::give(argument, TRASHED_WANTED)])
    })
}

/// Parses the path of a transaction's folder in the trash.
fn parse_folder(named: &str) -> Option<(TransactionId, Option<u32>)> {
    let (id, _) = workspace_trash::parse_stored_path(&format!("{named}/0"))?;
    Some((id, None))
}

/// Parses `ID/NUMBER`, or `ID`.
fn parse_id(named: &str) -> Option<(TransactionId, Option<u32>)> {
    match named.rsplit_once('/') {
        Some((id, slot)) => Some((id.parse().ok()?, Some(slot.parse().ok()?))),
        None => Some((named.parse().ok()?, None)),
    }
}

/// The value that an error asks for, as the name of a file in the trash.
const TRASHED_WANTED: &str = "trashedTo of the answer that took the file away, unchanged";

fn gone(argument: &str, named: &str) -> ToolError {
    let message = "the trash has no such file; it may have been purged";
    ToolError::about(ErrorKind::NotFound, named, Reason::NoSuchSlot, message)
        .remedies([Remedy::give(argument, TRASHED_WANTED)])
}

/// Returns whether a tool can move the file at a path away.
fn movable(session: &Session, path: &str) -> bool {
    let root = session.root();
    let seen =
        root.check(path, Access::Delete).and_then(|path| root.inspect(&path, Access::Update));
    matches!(seen, Ok(Some(seen)) if seen.size <= session.settings().max_file_size)
}

/// Makes the error of a restore that failed.
fn not_there(session: &Session, argument: &str, named: &str, error: &commit::Error) -> ToolError {
    let converted = ToolError::workspace(error);
    match error.kind() {
        ErrorKind::NotFound => gone(argument, named),
        ErrorKind::AlreadyExists => {
            // The existing file may have a name that only differs in case.
            let there = match converted.remedies.first() {
                Some(Remedy::RenamePath { to, .. }) => Some(to.clone()),
                _ => error.path().map(ToOwned::to_owned),
            };
            let away = there
                .filter(|path| movable(session, path))
                .map(|path| Remedy::act(Action::Move, &path));
            ToolError { recoverable: true, ..converted }.remedies(
                std::iter::once(Remedy::give("targetPath", "a path where nothing is")).chain(away),
            )
        }
        _ => converted,
    }
}
