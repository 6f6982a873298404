//! The tools, one file each: arguments, data, and the method of [`Session`](crate::Session).

pub mod apply_patch;
pub mod create_file;
pub mod delete_file;
pub mod edit_file;
pub mod edit_patch;
pub mod glob;
pub mod list_directory;
pub mod move_file;
pub mod read_file;
pub mod restore_file;
pub mod search_files;
pub mod undo;
pub mod write_file;

use patch_engine::transaction::TransactionId;
use patch_engine::{ErrorKind, Report, Sha256};
use serde_json::json;

use crate::error::ToolError;

fn transaction(report: &Report) -> String {
    report.transaction.as_ref().map(TransactionId::to_string).unwrap_or_default()
}

fn binary(path: &str, size: usize, sha256: Sha256) -> ToolError {
    ToolError::about(ErrorKind::BinaryFile, path, format!("it is binary ({size} bytes)"))
        .details(json!({ "path": path, "sizeBytes": size, "sha256": sha256.to_string() }))
        .next("leave it alone; binary files can be moved and deleted, not edited")
}

fn encoding(path: &str) -> ToolError {
    ToolError::about(ErrorKind::PatchApplyError, path, "its encoding cannot store the new text; it is not UTF-8")
        .details(json!({ "path": path, "reason": "encoding" }))
        .next("insert ASCII only, or ask for the file to be converted first")
}

fn missing(path: &str) -> ToolError {
    ToolError::about(ErrorKind::NotFound, path, "there is no such file")
        .next("check the path with list_directory or glob; create_file makes a new file")
}
