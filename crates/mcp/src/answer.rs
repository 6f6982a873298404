//! Answers of the tools as results of the protocol.

use apply_patch_api::tools::envelope::Success;
use apply_patch_api::tools::{Data, Hint, Reply, Tool, ToolError};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// The most notes in the text.
const MAX_NOTES: usize = 20;

/// Makes the result of a reply: the data, and a sentence as text; for an error, the text is what a
/// model needs to correct the call.
pub(crate) fn result(reply: &Reply) -> CallToolResult {
    let mut value = serde_json::to_value(reply).unwrap_or_default();
    let file = read_text(&mut value, reply);
    let mut text = match reply {
        Reply::Success(success) => success.output.clone(),
        Reply::Failure(failure) => explained(&failure.error),
        Reply::EditPatch(result) => {
            result.summary.as_ref().or(result.error.as_ref()).cloned().unwrap_or_default()
        }
    };
    let mut notes = reply.notes();
    for note in notes.by_ref().take(MAX_NOTES) {
        text += &format!("\nnote: {note}");
    }
    match notes.count() {
        0 => {}
        more => text += &format!("\nand {more} more notes"),
    }
    let mut result = if reply.is_ok() {
        CallToolResult::structured(value)
    } else {
        CallToolResult::structured_error(value)
    };
    result.content = vec![ContentBlock::text(text)];
    result.content.extend(file.map(ContentBlock::text));
    result
}

/// Takes the text of a file out of the data of an answer: a model sees the text itself, not a
/// string of JSON. An empty text stays, as clients refuse an empty part of a message.
fn read_text(answer: &mut Value, reply: &Reply) -> Option<String> {
    let Reply::Success(Success { data: Data::ReadFile(read), .. }) = reply else { return None };
    read.content.as_ref().filter(|text| !text.is_empty())?;
    match answer["data"].as_object_mut()?.remove("content")? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Adds the data as text, below the sentence, for a client whose protocol has no data, or that may
/// keep the data from the model.
pub(crate) fn with_data_as_text(mut result: CallToolResult) -> CallToolResult {
    if let Some(data) = &result.structured_content {
        result.content.insert(1, ContentBlock::text(data.to_string()));
    }
    result
}

/// Makes the result for a client that gives the model either the data or the text: an answer with
/// the text of a file is text alone.
pub(crate) fn for_reader_of_data(tool: Tool, result: CallToolResult) -> CallToolResult {
    if !shows_text(tool) || result.content.len() == 1 {
        return result;
    }
    let mut result = with_data_as_text(result);
    result.structured_content = None;
    result
}

/// Returns whether answers of a tool have more text than a sentence.
pub(crate) fn shows_text(tool: Tool) -> bool {
    tool == Tool::ReadFile
}

/// Makes the result of a call that failed before its tool ran.
pub(crate) fn failed(tool: Tool, error: ToolError) -> CallToolResult {
    result(&Reply::failed(tool, error))
}

/// Explains an error: what was seen, the closest place, what to do.
fn explained(error: &ToolError) -> String {
    let mut lines = vec![format!("{}: {}", error.kind, error.message)];
    let details = &error.details;
    place(details, &mut lines);
    for reject in details.get("rejects").and_then(Value::as_array).into_iter().flatten() {
        lines.push(match reject["message"].as_str() {
            Some(message) => message.to_owned(),
            None => format!(
                "patch line {}: {}",
                reject["patchLine"],
                reject["reason"].as_str().unwrap_or_default()
            ),
        });
    }
    lines.extend(error.printed().map(|printed| format!("the check printed:\n{printed}")));
    if let Some(more) = details.get("moreRejects") {
        lines.push(format!("and {more} more"));
    }
    lines.extend(error.suggested_next_action.as_ref().map(|action| format!("next: {action}")));
    for hint in &error.hints {
        if let Hint::ReplaceHunk { lines: paste } = hint {
            lines.push("replace_hunk:".into());
            lines.extend(paste.iter().cloned());
        }
    }
    lines.join("\n")
}

/// The lines of a list.
fn joined(lines: &Value) -> Option<String> {
    let lines: Vec<_> = lines.as_array()?.iter().filter_map(Value::as_str).collect();
    Some(lines.join("\n"))
}

/// Adds the closest place in the file, with the first different line.
fn place(details: &Value, lines: &mut Vec<String>) {
    let nearest = &details["nearest"];
    let first = &nearest["firstDifference"];
    if nearest.is_object() {
        lines.push(format!("  closest: lines {}-{}", nearest["startLine"], nearest["endLine"]));
    }
    if let Some(wanted) = first["wanted"].as_str()
        && let Some(found) = first["found"].as_str()
    {
        lines.push(format!("  you wrote:          {wanted}"));
        lines.push(format!("  line {:<5} really is: {found}", first["fileLine"].to_string()));
    }
    for candidate in details["candidates"].as_array().into_iter().flatten() {
        let line = &candidate["startLine"];
        let before = joined(&candidate["addContextBefore"]);
        let after = joined(&candidate["addContextAfter"]);
        let (words, context) = match (before, after, candidate["addHeader"].as_str()) {
            (Some(before), ..) => ("put before it:", before),
            (_, Some(after), _) => ("put after it:", after),
            (.., Some(header)) => ("begin the hunk with:", format!("@@ {header}")),
            _ => {
                lines.push(format!("  it could be line {line}"));
                continue;
            }
        };
        // Text to be copied stands on lines of its own.
        lines.push(format!("  to mean line {line}, {words}"));
        lines.push(context);
    }
}
