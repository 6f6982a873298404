//! The tools, one file each: a [`FileTool`](file_tool::FileTool) with its arguments, its data, and
//! what is said of it. The list of them is here.

/// Hands the list of the tools to a macro. A line has the type of a tool and its module.
macro_rules! each_tool {
    ($then:ident) => {
        $then! {
            ReadFile: read_file;
            ListDirectory: list_directory;
            SearchFiles: search_files;
            Glob: glob;
            CreateFile: create_file;
            WriteFile: write_file;
            EditFile: edit_file;
            DeleteFile: delete_file;
            RestoreFile: restore_file;
            MoveFile: move_file;
            ApplyPatch: apply_patch;
            EditPatch: edit_patch;
            Undo: undo;
            UndoTurn: undo_turn;
            Propose: propose;
            Proposal: proposal;
        }
    };
}

pub mod apply_patch;
pub(crate) mod by_tags;
pub mod create_file;
pub mod delete_file;
pub mod edit_file;
pub(crate) mod file_tool;
pub mod glob;
pub mod list_directory;
pub mod move_file;
pub(crate) mod page;
pub mod proposal;
pub mod propose;
pub(crate) mod query;
pub mod read_file;
mod resend;
pub mod restore_file;
pub mod search_files;
pub mod undo;
pub mod undo_turn;
pub(crate) mod walk;
pub mod write_file;

use fs_guard::RelPath;
use patch_engine::commit::TransactionId;
use patch_engine::remedy::{Action, ForPerson, Part, Setting};
use patch_engine::{ErrorKind, Remedy, Report, Sha256};
use serde_json::json;

use patch_session::answer::changes::{DiffDetail, diff_of};
use patch_session::answer::error::ToolError;
use patch_session::answer::reason::Reason;

fn transaction(report: &Report) -> String {
    report.transaction.as_ref().map(TransactionId::to_string).unwrap_or_default()
}

/// Returns the diff that an answer shows of all that a call changed.
fn diff(report: &Report, detail: Option<DiffDetail>) -> Option<String> {
    let diffs =
        || report.plan.changes().iter().flat_map(|change| diff_of(report, change)).collect();
    detail.unwrap_or_default().of(diffs)
}

/// Returns the path of the file that a call changed, and its hashes before and after; `unchanged`
/// is the file that the call found as it wants it.
fn changed(
    report: &Report,
    unchanged: Option<(RelPath, Sha256)>,
) -> (String, Option<Sha256>, Option<Sha256>) {
    match report.plan.changes().first() {
        Some(change) => (change.path.to_string(), change.before, change.after),
        None => {
            let (path, sha256) = unchanged.expect("a call that changes nothing has found its file");
            (path.to_string(), Some(sha256), Some(sha256))
        }
    }
}

fn binary(path: &str, size: usize, sha256: Sha256) -> ToolError {
    ToolError::about(
        ErrorKind::BinaryFile,
        path,
        Reason::Binary,
        format!("it is binary ({size} bytes)"),
    )
    .details(json!({ "path": path, "sizeBytes": size, "sha256": sha256.to_string() }))
    .remedies([Remedy::Ask(ForPerson::ChangeBinaryFile)])
}

/// Makes the error of a path that is a directory; `found` is the target of a link.
pub(crate) fn directory(path: &str, found: &str) -> ToolError {
    ToolError::about(ErrorKind::NotFound, path, Reason::Directory, "it is a directory, not a file")
        .remedies([Remedy::act(Action::List, found)])
}

fn encoding(path: &str) -> ToolError {
    let message = "its encoding cannot store the new text; it is not UTF-8";
    ToolError::about(ErrorKind::PatchApplyError, path, Reason::Encoding, message)
        .details(json!({ "path": path }))
        .remedies([
            Remedy::LeaveOut(Part::NotAscii),
            Remedy::Ask(ForPerson::Allow(Setting::Encoding(path.into()))),
        ])
}

use patch_session::session::paths::{checked, missing};
