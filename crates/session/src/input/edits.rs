//! Calls of tools that edit files, as JSON: Edit, MultiEdit, Write, str_replace and their kin.
//!
//! Each edit replaces a text that is in the file exactly once, or, with `replace_all`, wherever it
//! is. Edits act in order, each on what those before it left. A field that is not known, and says
//! something, is an error: its meaning would be lost.

use std::collections::HashSet;

use patch_grammar::envelope::Writer;
use patch_grammar::marker;
use patch_grammar::{Extent, Marker};
use serde_json::{Map, Value};

use crate::input::fields::{HOLDERS, nothing_else};
use crate::input::files::push_file;
use crate::input::not_received::{NotReceived, wrapped};
use crate::text::{counted, normalised};

/// The names of tools that edit files.
const TOOLS: [&str; 21] = [
    "create",
    "create_file",
    "edit",
    "edit_file",
    "file_edit",
    "multi_edit",
    "multi_replace_string_in_file",
    "multiedit",
    "replace",
    "replace_file_content",
    "replace_in_file",
    "replace_string_in_file",
    "search_replace",
    "str_replace",
    "str_replace_based_edit_tool",
    "str_replace_edit",
    "str_replace_editor",
    "text_editor",
    "write",
    "write_file",
    "write_to_file",
];

/// The fields with the name of a tool.
const NAME: [&str; 3] = ["name", "tool", "tool_name"];

const PATH: &[&str] = &["file_path", "path", "filePath", "filepath"];
const OLD: &[&str] = &["old_string", "oldString", "old_str", "oldText", "old_text"];
const NEW: &[&str] = &["new_string", "newString", "new_str", "newText", "new_text"];
const EVERYWHERE: &[&str] = &["replace_all", "replaceAll"];
const COUNT: &[&str] = &["expected_replacements", "expectedOccurrences"];
const LIST: &[&str] = &["edits", "replacements"];
/// The fields of the tool `edit_file` with names of lines.
const LINES: [&str; 3] = ["from", "to", "after"];
const CONTENT: &[&str] = &["content", "file_text"];

/// The commands of the text editor tool.
const COMMANDS: [&str; 6] = ["str_replace", "create", "insert", "view", "undo_edit", "delete"];

/// An edit, with the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    path: String,
    change: Change,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    /// A new file.
    Create(String),
    /// A text in place of another one.
    Replace { old: String, new: String, extent: Extent },
}

/// A section of the envelope written from edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedSection {
    /// The file: an envelope cannot have every path.
    pub path: String,
    /// The extent of its hunk's lines in the file.
    pub extent: Extent,
}

/// The envelope written from edits.
#[derive(Debug)]
pub struct Written {
    /// The envelope.
    pub text: Vec<u8>,
    /// For each line of the envelope the line of the JSON, both from 1.
    pub lines: Vec<u32>,
    /// The sections, one for each edit.
    pub sections: Vec<EditedSection>,
}

/// Reads the edits of one call, or of a list of calls; `None` for any other JSON.
pub(super) fn of(value: &Value) -> Result<Option<Vec<FileEdit>>, NotReceived> {
    match value {
        Value::Object(object) => of_object(object.clone(), None),
        Value::Array(items) => of_list(items, None),
        _ => Ok(None),
    }
}

fn of_list(items: &[Value], path: Option<&str>) -> Result<Option<Vec<FileEdit>>, NotReceived> {
    let mut all = Vec::new();
    let mut others = 0;
    for item in items {
        let found = match item {
            Value::Object(object) => of_object(object.clone(), path)?,
            _ => None,
        };
        match found {
            Some(found) => all.extend(found),
            None => others += 1,
        }
    }
    match (all.is_empty(), others) {
        (true, _) => Ok(None),
        (false, 0) => Ok(Some(all)),
        (false, _) => wrapped(
            "something else stands in the list beside the edits, and would be lost",
            "send the edits alone",
        ),
    }
}

/// Reads a call. `path` is the file of the list in which it stands.
fn of_object(
    mut object: Map<String, Value>,
    path: Option<&str>,
) -> Result<Option<Vec<FileEdit>>, NotReceived> {
    if object.get("type").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("_file")) {
        // An operation of the Responses API.
        return Ok(None);
    }
    if let Some(found) = of_call(&mut object)? {
        return Ok(Some(found));
    }
    if !is_edit(&object, path) {
        return Ok(None);
    }
    let own = take_text(&mut object, PATH)?;
    let path = match (own, path) {
        (Some(own), Some(path)) if own != path => {
            return wrapped(
                format!("an edit of {own} stands in a list of edits of {path}"),
                "name one file for each edit",
            );
        }
        (own, path) => own.or_else(|| path.map(str::to_owned)),
    };
    let Some(path) = path else {
        return wrapped("this edit names no file", "give its `file_path`");
    };
    if path.trim() != path || path.is_empty() || path.contains(char::is_control) {
        return wrapped(
            format!("{path:?} is not the path of a file"),
            "give the path without blanks around it or control characters",
        );
    }
    let command = take_command(&mut object)?;
    if let Some(list) = take(&mut object, LIST) {
        nothing_else(&object, "edit")?;
        let Value::Array(items) = list.1 else {
            return wrapped(format!("`{}` is not a list", list.0), "send a list of edits");
        };
        return match of_list(&items, Some(&path))? {
            Some(all) => Ok(Some(all)),
            None => wrapped("the list of edits has no edit", "send at least one"),
        };
    }
    let change = match take_text(&mut object, CONTENT)? {
        Some(content) => Change::Create(content),
        None => replacement(&mut object)?,
    };
    let fits = match command.as_deref() {
        Some("create") => matches!(change, Change::Create(_)),
        Some(_) => !matches!(change, Change::Create(_)),
        None => true,
    };
    if !fits {
        return wrapped("the command does not fit its arguments", "send the other command");
    }
    nothing_else(&object, "edit")?;
    Ok(Some(vec![FileEdit { path, change }]))
}

/// Reads the arguments of a call that has the name of a tool.
fn of_call(object: &mut Map<String, Value>) -> Result<Option<Vec<FileEdit>>, NotReceived> {
    let name = NAME.iter().find_map(|field| object.get(*field));
    let name = match name {
        Some(Value::String(name)) => Some(name.to_lowercase()),
        Some(_) => return Ok(None),
        None => None,
    };
    if name.as_deref().is_some_and(|name| !is_tool(name)) {
        return Ok(None);
    }
    let Some(holder) = HOLDERS.iter().find(|field| object.contains_key(**field)) else {
        if name.is_some() {
            object.retain(|field, _| !NAME.contains(&&**field));
        }
        return Ok(None);
    };
    let inner = match &object[*holder] {
        // JSON as text is a layer of its own where it stands alone, and is read here in a list.
        Value::String(text) => crate::json::unique(text.as_bytes()).ok(),
        value => Some(value.clone()),
    };
    let Some(inner) = inner.filter(Value::is_object) else { return Ok(None) };
    let Some(found) = of(&inner)? else { return Ok(None) };
    object.retain(|field, _| field != holder && !NAME.contains(&&**field));
    nothing_else(object, "edit")?;
    Ok(Some(found))
}

/// Returns whether a name, also behind a namespace, is that of a tool that edits files.
fn is_tool(name: &str) -> bool {
    TOOLS.contains(&name.rsplit(['.', ':']).next().unwrap_or(name))
}

/// Returns whether an object has a field with one of these names.
fn has(object: &Map<String, Value>, names: &[&str]) -> bool {
    names.iter().any(|name| object.contains_key(*name))
}

/// Returns whether an object has the fields of an edit.
fn is_edit(object: &Map<String, Value>, path: Option<&str>) -> bool {
    let is_command = object
        .get("command")
        .and_then(Value::as_str)
        .is_some_and(|command| COMMANDS.contains(&command));
    let is_named = has(object, PATH) || path.is_some();
    let has_text = has(object, OLD) || has(object, NEW);
    has_text && !object.contains_key("diff")
        || is_named && (is_command || has(object, CONTENT) || has(object, LIST))
}

/// Takes the command of a text editor tool, if it changes a file and says which text.
fn take_command(object: &mut Map<String, Value>) -> Result<Option<String>, NotReceived> {
    let Some(command) = object.remove("command") else { return Ok(None) };
    match command.as_str() {
        Some(command @ ("create" | "str_replace")) => Ok(Some(command.to_owned())),
        Some("insert") => wrapped(
            "`insert` gives the number of a line, and no text of the file to find the place by",
            "send `str_replace` with the line above it as `old_str`, and as `new_str` that line \
             and the new lines",
        ),
        _ => wrapped(
            format!("`command` {command} does not edit a file"),
            "send `str_replace`, or `create` for a new file",
        ),
    }
}

/// Takes the texts of an edit.
fn replacement(object: &mut Map<String, Value>) -> Result<Change, NotReceived> {
    for field in LINES {
        // Empty text is how a model leaves a field out where all are required.
        if object.remove(field).is_some_and(|name| !name.is_null() && name != "") {
            return wrapped(
                format!("`{field}` names a line by its tag, which only the tool `edit_file` knows"),
                "give the text of the lines as `old_string`",
            );
        }
    }
    let Some(old) = take_text(object, OLD)? else {
        return wrapped("this edit has no old text", "give its `old_string`");
    };
    let Some(new) = take_text(object, NEW)? else {
        return wrapped(
            "this edit has no new text",
            "give its `new_string`; an empty one deletes the old text",
        );
    };
    let everywhere = match take(object, EVERYWHERE) {
        None => false,
        Some((_, Value::Bool(everywhere))) => everywhere,
        Some((field, _)) => {
            return wrapped(format!("`{field}` is neither true nor false"), "send one of the two");
        }
    };
    if let Some((field, count)) = take(object, COUNT)
        && (count.as_u64() != Some(1) || everywhere)
    {
        return wrapped(
            format!("`{field}` {count} says how often the old text is there"),
            "leave it out where it is there once, or set `replace_all` to true in its place",
        );
    }
    let old = normalised(&old).into_owned();
    if old.is_empty() {
        return Ok(Change::Create(new));
    }
    let new = normalised(&new).into_owned();
    if old == new {
        return wrapped(
            "an edit changes nothing: its old and its new text are the same",
            "leave it out",
        );
    }
    let extent = if everywhere { Extent::EveryText } else { Extent::Text };
    Ok(Change::Replace { old, new, extent })
}

/// Takes the field with one of these names. Null is as if it were not there.
fn take(object: &mut Map<String, Value>, names: &[&'static str]) -> Option<(&'static str, Value)> {
    let name = names.iter().find(|name| object.get(**name).is_some_and(|it| !it.is_null()))?;
    Some((name, object.remove(*name)?))
}

fn take_text(
    object: &mut Map<String, Value>,
    names: &[&'static str],
) -> Result<Option<String>, NotReceived> {
    match take(object, names) {
        None => Ok(None),
        Some((field, Value::String(text))) if text.contains('\0') => wrapped(
            format!("`{field}` has a NUL character, and a patch is text"),
            "leave the character out",
        ),
        Some((_, Value::String(text))) => Ok(Some(text)),
        Some((field, _)) => wrapped(
            format!("`{field}` is JSON and not a text"),
            "send the text itself, as a string",
        ),
    }
}

/// Says what was read.
pub(super) fn note(edits: &[FileEdit]) -> String {
    let files: HashSet<&str> = edits.iter().map(|edit| &*edit.path).collect();
    let edits = counted(edits.len(), "edit", "edits");
    format!("read {edits} of {} as JSON", counted(files.len(), "file", "files"))
}

/// Writes edits as an envelope with a section for each; `json` is the text that they stand in.
pub(super) fn to_envelope(edits: &[FileEdit], json: &str) -> Written {
    let mut lines = lines_of_texts(json);
    if lines.len() != edits.len() {
        lines = vec![1; edits.len()];
    }
    let mut out = Writer::default();
    let mut from = vec![lines.first().copied().unwrap_or(1)];
    let mut sections = Vec::with_capacity(edits.len());
    for (FileEdit { path, change }, line) in edits.iter().zip(lines) {
        let mut body = String::new();
        let extent = match change {
            Change::Create(content) => {
                push_file(&mut out, path, content);
                Extent::Lines
            }
            Change::Replace { old, new, extent } => {
                out.header(Marker::Update, path, None);
                marker::push_header(&mut body, None);
                old.split('\n').for_each(|line| marker::push_line(&mut body, '-', line));
                new.split('\n').for_each(|line| marker::push_line(&mut body, '+', line));
                *extent
            }
        };
        out.lines(body.as_bytes());
        from.resize(out.next_line() - 1, line);
        sections.push(EditedSection { path: path.clone(), extent });
    }
    from.push(from.last().copied().unwrap_or(1));
    Written { text: out.finish(), lines: from, sections }
}

/// Returns the lines of the fields with the old text of an edit, or the text of a new file.
fn lines_of_texts(json: &str) -> Vec<u32> {
    let bytes = json.as_bytes();
    let mut lines = Vec::new();
    let mut line = 1;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => line += 1,
            b'"' => {
                let start = at + 1;
                at = start;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let text = json.get(start..at).unwrap_or_default();
                let is_key =
                    json.get(at + 1..).is_some_and(|rest| rest.trim_start().starts_with(':'));
                if is_key && (OLD.contains(&text) || CONTENT.contains(&text)) {
                    lines.push(line);
                }
            }
            _ => {}
        }
        at += 1;
    }
    lines
}
