//! Answers of the tools as results of the protocol.

use file_tools::{Reply, Tool, ToolError};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// The result for a reply: the data, the same as text for clients that know no data, and for an error first of all what
/// a model needs to know to do it right.
pub(crate) fn result(reply: &Reply) -> CallToolResult {
    let value = serde_json::to_value(reply).unwrap_or_default();
    let json = ContentBlock::text(reply.to_json());
    if reply.is_ok() {
        let mut result = CallToolResult::structured(value);
        result.content = vec![json];
        return result;
    }
    let mut result = CallToolResult::structured_error(value);
    result.content = match reply {
        Reply::Failure(failure) => vec![ContentBlock::text(explained(&failure.error)), json],
        _ => vec![json],
    };
    result
}

/// The result for a call that did not come to its tool.
pub(crate) fn failed(tool: Tool, error: ToolError) -> CallToolResult {
    match tool {
        Tool::EditPatch => {
            let class = Some(error.class);
            let failed = file_tools::tools::edit_patch::EditPatchResult::failed(&error);
            result(&Reply::EditPatch(failed, class))
        }
        _ => result(&Reply::from(error)),
    }
}

/// An error in words: what was seen, the closest place, what to do.
fn explained(error: &ToolError) -> String {
    let mut lines = vec![format!("{}: {}", error.kind, error.message)];
    let details = &error.details;
    match details.get("rejects").and_then(Value::as_array) {
        Some(rejects) => {
            for (index, reject) in rejects.iter().enumerate() {
                if index > 0 {
                    lines.extend(reject["message"].as_str().map(str::to_owned));
                }
                place(reject, &mut lines);
            }
        }
        None => place(details, &mut lines),
    }
    if let Some(more) = details.get("moreRejects") {
        lines.push(format!("and {more} more"));
    }
    lines.extend(error.suggested_next_action.as_ref().map(|action| format!("next: {action}")));
    lines.join("\n")
}

/// The place in the file that comes closest, with the first line that differs.
fn place(details: &Value, lines: &mut Vec<String>) {
    let nearest = &details["nearest"];
    let first = &nearest["firstDifference"];
    if let (Some(wanted), Some(found)) = (first["wanted"].as_str(), first["found"].as_str()) {
        lines.push(format!("  closest: lines {}-{}", nearest["startLine"], nearest["endLine"]));
        lines.push(format!("  you wrote:          {wanted}"));
        lines.push(format!("  line {:<5} really is: {found}", first["fileLine"].to_string()));
    } else if nearest.is_object() {
        lines.push(format!("  closest: lines {}-{}", nearest["startLine"], nearest["endLine"]));
    }
    for candidate in details["candidates"].as_array().into_iter().flatten() {
        let line = &candidate["startLine"];
        let words = |key: &str| candidate[key].as_array().map(|lines| lines.iter().filter_map(Value::as_str).collect());
        let (before, after): (Option<Vec<_>>, Option<Vec<_>>) = (words("addContextBefore"), words("addContextAfter"));
        lines.push(match (before, after, candidate["addHeader"].as_str()) {
            (Some(before), ..) => format!("  to mean line {line}, put before it: {}", before.join(" / ")),
            (_, Some(after), _) => format!("  to mean line {line}, put after it: {}", after.join(" / ")),
            (.., Some(header)) => format!("  to mean line {line}, begin the hunk with: @@ {header}"),
            _ => format!("  it could be line {line}"),
        });
    }
}
