//! `delete_file`: takes a file, or a directory with all in it, into the trash.

use fs_guard::FileKind;
use patch_engine::commit::{self, TransactionId};
use patch_engine::{ErrorKind, Files, Host, Plan, PlanBuilder, Remedy, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tools::file_tool::{About, FileTool};
use patch_session::Tool;
use patch_session::answer::arguments::given;
use patch_session::answer::changes::DiffDetail;
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::error::{FailureClass, ToolError};
use patch_session::answer::fit::cut_diff;
use patch_session::answer::reason::Reason;
use patch_session::session::{Session, expected, finish};
use patch_session::text::counted;

/// The arguments of `delete_file`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteFile {
    /// File, link or directory, relative to the workspace root.
    pub path: String,
    /// sha256 from read_file.
    #[serde(default, deserialize_with = "given")]
    pub expected_sha256: Option<String>,
    /// Keep nothing in the trash: it cannot be restored.
    pub permanent: Option<bool>,
    /// Delete a directory with all in it.
    pub recursive: Option<bool>,
    /// Diff to show; none by default.
    pub diff: Option<DiffDetail>,
    /// Most bytes of the answer (8192).
    #[serde(default, deserialize_with = "given")]
    pub max_result_bytes: Option<u64>,
}

/// The data of an answer of `delete_file`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeleteFileData {
    /// Whether it is gone.
    pub deleted: bool,
    /// What is gone.
    pub path: String,
    /// How many files went.
    pub deleted_files: usize,
    /// The hash that the file had; none for a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_sha256: Option<String>,
    /// Where restore_file finds it; none when it is gone for good, or had no files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trashed_to: Option<String>,
    /// The unified diff, or how many lines it has, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The transaction, for undo; none when it is gone for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
}

impl FileTool for DeleteFile {
    type Data = DeleteFileData;

    const ABOUT: About = About {
        title: "Delete a file",
        does: "Deletes (removes) a file, link, or (recursive) directory: it goes to the trash; \
            trashedTo is for restore_file.",
        errors: "Errors: not_found: check the path. stale_file: it changed, read it again. \
            command_failed: to delete a directory, set recursive. permission_denied: ask. \
            outside_workspace: use another path.",
        example: "{\"path\":\"old.txt\",\"expectedSha256\":\"<sha256>\"}",
        idempotent: false,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        vec![&mut self.path]
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        session.changing(Tool::DeleteFile, host, |call| {
            let given = self.expected_sha256.as_deref();
            given.map(|given| expected(given, ("expectedSha256", ""))).transpose()?;
            let mut directory = None;
            let report = call.commit(&mut |files| {
                let plan;
                (plan, directory) = self.plan(session, files)?;
                Ok(plan)
            })?;
            let kept = match (self.permanent, report.transaction) {
                (Some(true), Some(id)) => {
                    forget(session, id).map_err(|error| not_for_good(&self.path, id, &error))?;
                    None
                }
                (_, id) => id,
            };
            Ok(self.answer(session, &report, kept, directory))
        })
    }

    fn fit(data: &mut Self::Data, max: usize) {
        cut_diff(&mut data.diff, max);
    }
}

impl DeleteFile {
    /// Plans the deletion. Returns the plan, and the path if it is a directory.
    fn plan(&self, session: &Session, files: &Files) -> Result<(Plan, Option<String>), ToolError> {
        let given = self.expected_sha256.as_deref();
        let recursive = self.recursive == Some(true);
        let root = session.workspace().root();
        let path = super::checked(root, &self.path, fs_guard::Access::Delete)?;
        let seen = root.metadata(&path)?;
        let is_dir = seen.as_ref().is_some_and(|seen| seen.kind == FileKind::Directory);
        if is_dir && !recursive {
            let message = "it is a directory";
            return Err(ToolError::about(
                ErrorKind::CommandFailed,
                &self.path,
                Reason::Directory,
                message,
            )
            .details(serde_json::json!({ "path": path.as_str() }))
            .remedies([Remedy::set("recursive", true)]));
        }
        if is_dir && given.is_some() {
            return Err(ToolError::arguments(Reason::BadSha256, "a directory has no sha256")
                .remedies([Remedy::omit("expectedSha256")]));
        }
        if seen.is_none() {
            // A missing file that was expected is a different error from a file never known.
            session.check_expected(path.as_str(), None, given)?;
            return Err(super::missing(root, &self.path));
        }
        let options = session.options(false, false)?;
        let mut builder = PlanBuilder::new(files, &options);
        if recursive {
            builder.remove_all(&self.path)?;
        } else {
            builder.remove(&self.path)?;
        }
        let plan = finish(builder)?;
        for change in plan.changes() {
            session.check_expected(change.path.as_str(), change.before, given)?;
        }
        Ok((plan, is_dir.then(|| path.to_string())))
    }

    /// Makes the answer; `kept` is the transaction if the trash keeps its files.
    fn answer(
        &self,
        session: &Session,
        report: &Report,
        kept: Option<TransactionId>,
        directory: Option<String>,
    ) -> Success<DeleteFileData> {
        let changes = report.plan.changes();
        let trashed_to = match (kept, &directory) {
            (None, _) => None,
            // The trash keeps files; directories come back with undo.
            _ if changes.is_empty() => None,
            // All its files are in the transaction's folder.
            (Some(id), Some(_)) => {
                let slot = session.workspace().stored_path(id, 0);
                slot.rsplit_once('/').map(|(folder, _)| folder.to_owned())
            }
            (Some(_), None) => report.trashed.first().cloned().flatten(),
        };
        let first = changes.first().filter(|_| directory.is_none());
        let data = DeleteFileData {
            deleted: true,
            path: directory
                .or_else(|| first.map(|change| change.path.to_string()))
                .unwrap_or_default(),
            deleted_files: changes.len(),
            before_sha256: first.and_then(|change| change.before).map(|hash| hash.to_string()),
            trashed_to,
            diff: super::diff(report, self.diff),
            transaction_id: kept.map(|id| id.to_string()),
        };
        let files = counted(data.deleted_files, "file", "files");
        let end = match &data.trashed_to {
            Some(place) => &format!("; kept in {place}"),
            None if kept.is_some() => "; undo brings it back",
            None => " for good",
        };
        let output = format!("deleted {} ({files}){end}", data.path);
        Success::new(output, data)
    }
}

/// Removes a transaction from the trash.
fn forget(session: &Session, id: TransactionId) -> Result<(), commit::Error> {
    let locked = session.workspace().lock(session.settings().lock_timeout)?;
    Ok(locked.locked_store().remove(id)?)
}

/// Makes the error of a permanent deletion that may have left files in the trash.
fn not_for_good(path: &str, id: TransactionId, error: &commit::Error) -> ToolError {
    let message = format!("{path} is deleted, but the trash may still keep it: {error}");
    let error = ToolError::workspace(error);
    let mut details = error.details;
    details["transactionId"] = id.to_string().into();
    ToolError { class: FailureClass::Partial, message, details, path: Some(path.into()), ..error }
}
