//! The fields of JSON around a patch or an edit.

use serde_json::{Map, Value};

use crate::input::not_received::{NotReceived, wrapped};

/// The names of this tool in the calls of models.
pub(super) const TOOLS: [&str; 6] = [
    "apply_patch",
    "applypatch",
    "edit.patch",
    "edit_patch",
    "functions.apply_patch",
    "container.apply_patch",
];

/// The fields for a patch, or for the arguments of a call.
pub(super) const HOLDERS: [&str; 8] =
    ["arguments", "args", "parameters", "function", "patch", "input", "patch_text", "patchText"];

/// The fields without a meaning for the change.
const SILENT: [&str; 13] = [
    "id",
    "call_id",
    "callId",
    "type",
    "status",
    "index",
    "role",
    "timeout",
    "timeout_ms",
    "explanation",
    "description",
    "instruction",
    "reason",
];

/// Refuses a field whose meaning would be lost; `of` names the rest.
pub(super) fn nothing_else(object: &Map<String, Value>, of: &str) -> Result<(), NotReceived> {
    match object.iter().find(|(field, value)| !is_silent(field, value)) {
        Some((field, _)) => wrapped(
            format!("`{field}` beside the {of} says something that would be lost"),
            format!("send the {of} alone, and say that another way"),
        ),
        None => Ok(()),
    }
}

/// Returns whether a field says nothing about the change.
fn is_silent(field: &str, value: &Value) -> bool {
    let is_here = matches!(field, "workdir" | "cwd" | "working_directory")
        && matches!(value.as_str(), Some("" | "." | "./"));
    // Where a program calls the tool, another caller is named.
    let is_direct = field == "caller" && value["type"] == "direct";
    SILENT.contains(&field) || value.is_null() || is_here || is_direct
}
