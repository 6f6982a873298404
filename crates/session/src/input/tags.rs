//! Calls of tools in XML-like tags, as some models write them.
//!
//! The tags are taken off only if they are a call of this tool, with the patch and nothing else.

use patch_grammar::{Marker, has_part_of_patch};

use crate::input::fields::{HOLDERS, TOOLS};
use crate::input::not_received::{NotReceived, wrapped};

/// The content of the tags of a call.
pub(super) struct TaggedText {
    /// The text, below an empty line for each line above it.
    pub(super) text: String,
    /// The note that names the tags that were taken off.
    pub(super) note: String,
}

/// The tags that begin a call.
const CALLS: [&str; 7] = [
    "tool_call",
    "function_calls",
    "invoke",
    "function",
    "apply_patch",
    "applypatch",
    "edit.patch",
];

/// The tags between a call and its text.
const INNER: [&str; 4] = ["parameter", "input", "patch", "arguments"];

/// Finds the one call of a text; `None` if there is none.
pub(super) fn of(text: &str) -> Result<Option<TaggedText>, NotReceived> {
    let Some((start, rest, names)) = opened(text) else { return Ok(None) };
    let is_alone = rest.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']);
    let Some((inside, after, is_closed_alone)) = closed(rest, &names) else { return Ok(None) };
    let outer = &names[0];
    if inside.trim().is_empty()
        || has_part_of_patch(&text.as_bytes()[..start])
        || has_part_of_patch(after.as_bytes())
    {
        return Ok(None);
    }
    let has_parameters = names.iter().any(|name| plain(name) == "parameter");
    if closes(inside, outer) || opened(after).is_some() {
        return wrapped("there is not exactly one tool call", "send the one alone");
    }
    if has_parameters && names.iter().any(|name| closes(inside, name)) {
        return wrapped(
            "the call has more parameters than the patch, and they would be lost",
            "send the patch alone, and say that another way",
        );
    }
    let is_json = inside.trim_start().starts_with('{');
    if is_alone && is_closed_alone && !is_json {
        // The lines of the tags are left out as any others.
        return Ok(None);
    }
    if !is_json && !inside.trim_start().starts_with(Marker::Begin.as_str()) {
        return Ok(None);
    }
    let mut note = format!("took the patch out of `<{outer}>`");
    if !text[..start].trim().is_empty() || !after.trim().is_empty() {
        note += ", and left out the text around it";
    }
    let above = text[..text.len() - rest.len()].matches('\n').count();
    let text = "\n".repeat(above) + inside;
    Ok(Some(TaggedText { text, note }))
}

/// Returns whether a line of a text ends with the closing tag of this name.
fn closes(text: &str, name: &str) -> bool {
    let close = format!("</{name}>");
    text.lines().any(|line| line.trim_end().ends_with(&close))
}

/// Returns where the tags of a call begin, the text behind them, and their names.
fn opened(text: &str) -> Option<(usize, &str, Vec<String>)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start + line.len() - line.trim_start().len();
        start += line.len();
        if !line.trim_start().starts_with('<') {
            continue;
        }
        let mut names = Vec::new();
        let mut rest = &text[at..];
        while let Some((name, behind)) = tag(rest.trim_start(), names.is_empty()) {
            names.push(name);
            rest = behind;
        }
        if !names.is_empty() {
            return Some((at, rest, names));
        }
    }
    None
}

/// Returns the name of a tag, and the text behind it, if it is one of a call of this tool.
fn tag(text: &str, is_first: bool) -> Option<(String, &str)> {
    let (inside, rest) = text.strip_prefix('<')?.split_once('>')?;
    let end = inside.find([' ', '=']).unwrap_or(inside.len());
    let (name, of) = inside.split_at(end);
    let of = of.trim().trim_start_matches("name").trim_start_matches('=').trim();
    let of = of.trim_matches(['"', '\'']);
    let is_known = match plain(name) {
        "invoke" | "function" => TOOLS.contains(&of),
        "parameter" => HOLDERS.contains(&of),
        plain => of.is_empty() && (CALLS.contains(&plain) || !is_first && INNER.contains(&plain)),
    };
    let may_stand = CALLS.contains(&plain(name)) || !is_first;
    (is_known && may_stand).then(|| (name.to_owned(), rest))
}

/// Returns a name without its namespace.
fn plain(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, name)| name)
}

/// Returns the text within tags, the text behind them, and whether the tags that close stand on
/// lines of their own.
fn closed<'t>(rest: &'t str, names: &[String]) -> Option<(&'t str, &'t str, bool)> {
    let (outer, inner) = names.split_first()?;
    let close = format!("</{outer}>");
    let at = rest.rfind(&close)?;
    let after = &rest[at + close.len()..];
    let mut inside = &rest[..at];
    for name in inner {
        inside = inside.trim_end().strip_suffix(&format!("</{name}>"))?;
    }
    let is_alone = inside.trim_end_matches([' ', '\t']).ends_with('\n');
    Some((inside, after, is_alone))
}
