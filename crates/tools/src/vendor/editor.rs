//! The commands of Anthropic's text editor tool (`view`, `str_replace`, `create`, `insert`), done
//! by the file tools.

use patch_engine::remedy::Action;
use patch_engine::{Host, Remedy};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tools::create_file::CreateFile;
use crate::tools::edit_file::edit_file_as;
use crate::tools::edit_file::{EditFile, TextEdit};
use crate::tools::file_tool::FileTool;
use crate::tools::list_directory::ListDirectory;
use crate::tools::read_file::ReadFile;
use crate::tools::read_file::read_unseen;
use crate::tools::write_file::WriteFile;
use patch_session::answer::arguments::normalise;
use patch_session::answer::error::ToolError;
use patch_session::answer::hints::Caller;
use patch_session::answer::reason::Reason;
use patch_session::session::Session;
use patch_session::session::bounds::within;
use patch_session::session::changing::Warned;
use patch_session::text::counted;

/// A command of the editor tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum EditorCommand {
    /// Shows a file with line numbers, or a directory.
    View {
        /// The file or directory.
        path: String,
        /// First and last line; -1 is the end.
        #[serde(default)]
        view_range: Option<Vec<i64>>,
    },
    /// Replaces a text that is in the file once.
    StrReplace {
        /// The file.
        path: String,
        /// The text.
        old_str: String,
        /// The replacement; nothing by default.
        #[serde(default)]
        new_str: Option<String>,
    },
    /// Makes a file, or replaces one that this session has seen.
    Create {
        /// The file.
        path: String,
        /// All of its text.
        file_text: String,
    },
    /// Inserts text after a line.
    Insert {
        /// The file.
        path: String,
        /// The line; 0 for the beginning.
        insert_line: u64,
        /// The text.
        #[serde(alias = "new_str")]
        insert_text: String,
    },
}

const COMMANDS: [&str; 4] = ["view", "str_replace", "create", "insert"];

/// Returns the schema of a command's arguments; for an unknown command, a schema that lists the
/// commands.
fn arguments_of(command: &str) -> Value {
    let text = json!({ "type": "string" });
    let (properties, required) = match command {
        "view" => (
            json!({
                "path": text, "view_range": { "type": "array", "items": { "type": "signed" } },
            }),
            &["path"][..],
        ),
        "str_replace" => {
            (json!({ "path": text, "old_str": text, "new_str": text }), &["path", "old_str"][..])
        }
        "create" => (json!({ "path": text, "file_text": text }), &["path", "file_text"][..]),
        "insert" => (
            json!({ "path": text, "insert_line": { "type": "integer" }, "insert_text": text }),
            &["path", "insert_line", "insert_text"][..],
        ),
        _ => {
            // The arguments may be those of any command.
            let commands = json!({ "enum": COMMANDS });
            let each = COMMANDS.iter().map(|command| arguments_of(command)["properties"].take());
            let all = each.filter_map(|properties| properties.as_object().cloned()).flatten();
            let mut properties: serde_json::Map<_, _> =
                all.map(|(name, _)| (name, json!({}))).collect();
            properties.insert("command".into(), commands);
            return json!({ "properties": properties, "required": ["command"] });
        }
    };
    let mut schema = json!({ "type": "object", "properties": properties, "required": required });
    schema["properties"]["command"] = text;
    schema
}

/// The answer, as the API's `tool_result` has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EditorReply {
    /// The text for the model.
    pub content: String,
    /// Whether the command failed.
    pub is_error: bool,
}

impl EditorReply {
    /// The answer for an error, in the words of this tool.
    #[must_use]
    pub fn failed(error: ToolError) -> Self {
        let printed = error.printed();
        let error = error.addressed(Caller::Editor).bounded();
        let next =
            error.suggested_next_action.map(|next| format!("\nnext: {next}")).unwrap_or_default();
        let printed =
            printed.map(|text| format!("\nthe check printed:\n{text}")).unwrap_or_default();
        let content = format!("{}: {}{printed}{next}", error.kind, error.message);
        Self { content, is_error: true }
    }
}

/// Runs a command of the editor tool; `max_characters` cuts what `view` shows.
pub(crate) fn editor(
    session: &Session,
    input: &Value,
    max_characters: Option<usize>,
    host: &mut dyn Host,
) -> EditorReply {
    let mut input = input.clone();
    let mut notes = Vec::new();
    let schema = arguments_of(input["command"].as_str().unwrap_or_default());
    normalise(&schema, &mut input, &mut notes);
    let mut host = Warned::new(host);
    let mut reply = match try_editor(session, &input, max_characters, &mut host) {
        Ok(content) => EditorReply { content, is_error: false },
        Err(error) => EditorReply::failed(within(error, &session.settings().layers)),
    };
    for note in notes.into_iter().chain(host.warnings).chain(host.shortfalls) {
        reply.content +=
            &format!("{}note: {note}", if reply.content.ends_with('\n') { "" } else { "\n" });
    }
    reply
}

/// Runs a command of the editor tool.
///
/// # Errors
///
/// Those of the file tool behind the command.
pub(crate) fn try_editor(
    session: &Session,
    input: &Value,
    max_characters: Option<usize>,
    host: &mut dyn Host,
) -> Result<String, ToolError> {
    let command = EditorCommand::deserialize(input).map_err(|error| {
        let schema = arguments_of(input["command"].as_str().unwrap_or_default());
        ToolError::bad_arguments("the command does not fit", &schema, input, &error)
    })?;
    match command {
        EditorCommand::View { path, view_range } => {
            view(session, &path, view_range.as_deref(), max_characters, host)
        }
        EditorCommand::StrReplace { path, old_str, new_str } => {
            let path = beneath_root(session, &path)?;
            let edit = TextEdit {
                old_text: old_str,
                new_text: new_str.unwrap_or_default(),
                ..TextEdit::default()
            };
            let expected_sha256 = Some(seen_or_current(session, &path)?);
            let edit = EditFile { path, expected_sha256, edits: vec![edit], ..EditFile::default() };
            Ok(edit_file_as(session, Caller::Editor, &edit, host)?.output)
        }
        EditorCommand::Create { path, file_text } => create(session, &path, file_text, host),
        EditorCommand::Insert { path, insert_line, insert_text } => {
            insert(session, &path, insert_line, &insert_text, host)
        }
    }
}

fn view(
    session: &Session,
    path: &str,
    range: Option<&[i64]>,
    max_characters: Option<usize>,
    host: &mut dyn Host,
) -> Result<String, ToolError> {
    let path = beneath_root(session, path)?;
    let dir = matches!(path.as_str(), "" | "." | "./") || {
        let (_, seen) = session.find(session.root(), &path)?;
        seen.kind == fs_guard::FileKind::Directory
    };
    let mut shown = if dir {
        if range.is_some() {
            let message = "a directory has no lines, so it has no view_range";
            return Err(ToolError::arguments(Reason::BadLine, message)
                .remedies([Remedy::omit("view_range")]));
        }
        view_directory(session, path, host)?
    } else {
        view_file(session, path, range, host)?
    };
    if let Some((end, _)) = max_characters.and_then(|most| shown.char_indices().nth(most)) {
        shown.truncate(end);
        shown += "\n… (truncated; view a range)\n";
    }
    Ok(shown)
}

/// Lists a directory and the directories in it, ordered by path.
fn view_directory(
    session: &Session,
    path: String,
    host: &mut dyn Host,
) -> Result<String, ToolError> {
    let list = ListDirectory {
        path: Some(path),
        recursive: Some(true),
        max_depth: Some(2),
        ..ListDirectory::default()
    };
    let list = list.call(session, host)?.data;
    let mut entries = list.entries;
    entries.sort_by(|one, other| one.relative_path.cmp(&other.relative_path));
    let mut shown = String::new();
    for entry in entries {
        let slash = if entry.kind == "directory" { "/" } else { "" };
        shown += &format!("{}{slash}\n", entry.relative_path);
    }
    if list.truncated {
        shown += "… (truncated; view a directory in it)\n";
    }
    Ok(shown)
}

/// Shows the lines of a file with their numbers.
fn view_file(
    session: &Session,
    path: String,
    range: Option<&[i64]>,
    host: &mut dyn Host,
) -> Result<String, ToolError> {
    let (start_line, end_line) = match range {
        None => (None, None),
        Some(&[first, -1]) if first >= 1 => (u64::try_from(first).ok(), None),
        Some(&[first, last]) if first >= 1 && last >= first => {
            (u64::try_from(first).ok(), u64::try_from(last).ok())
        }
        Some(_) => {
            let wanted = "[first, last] with 1 <= first <= last, or last -1";
            return Err(ToolError::arguments(Reason::BadLine, format!("view_range is {wanted}"))
                .remedies([Remedy::give("view_range", wanted)]));
        }
    };
    let read = ReadFile { path, start_line, end_line, ..ReadFile::default() };
    let read = read.call(session, host)?.data;
    if let Some([first, _]) = range.filter(|_| read.end_line < read.start_line) {
        let lines = counted(read.line_count, "line", "lines");
        let message = format!("view_range begins at {first}, and the file has {lines}");
        let wanted = format!("[first, last] with first at most {}", read.line_count);
        let remedy = match read.line_count {
            0 => Remedy::omit("view_range"),
            _ => Remedy::give("view_range", wanted),
        };
        return Err(ToolError::arguments(Reason::BadLine, message).remedies([remedy]));
    }
    let mut shown = String::new();
    for (number, line) in
        (read.start_line..).zip(read.content.as_deref().unwrap_or_default().lines())
    {
        shown += &format!("{number:6}\t{line}\n");
    }
    if read.truncated {
        // A range of one line would be cut at the same place.
        let rest = if read.start_line == read.end_line {
            "the line is too long to be shown"
        } else {
            "view a range"
        };
        shown += &format!("… (truncated; {rest})\n");
    }
    Ok(shown)
}

fn create(
    session: &Session,
    path: &str,
    content: String,
    host: &mut dyn Host,
) -> Result<String, ToolError> {
    let path = beneath_root(session, path)?;
    let seen = session
        .root()
        .check(&path, fs_guard::Access::Read)
        .ok()
        .and_then(|key| session.ledger().get(key.as_str()));
    if let Some(seen) = seen {
        let expected_sha256 = Some(seen.to_string());
        let write = WriteFile { path, content, expected_sha256, ..WriteFile::default() };
        return Ok(write.call(session, host)?.output);
    }
    let create = CreateFile {
        path: path.clone(),
        content,
        create_parent_directories: Some(true),
        ..CreateFile::default()
    };
    create.call(session, host).map(|created| created.output).map_err(|error| {
        match &error.details["reason"] {
            // `create` replaces a file once this session has seen it.
            reason if reason == "exists" => error.also_first(Remedy::act(Action::Read, &path)),
            _ => error,
        }
    })
}

fn insert(
    session: &Session,
    path: &str,
    line: u64,
    text: &str,
    host: &mut dyn Host,
) -> Result<String, ToolError> {
    let path = beneath_root(session, path)?;
    let expected = seen_or_current(session, &path)?;
    let read = ReadFile { path, max_bytes: Some(u64::MAX), ..ReadFile::default() };
    let read = read_unseen(session, &read)?.data;
    if read.sha256 != expected {
        let seen = expected.parse().expect("BUG: it was a hash");
        // The file changed since the model saw it.
        let error = ToolError::stale(&read.path, &seen, read.sha256.parse().ok(), true);
        return Err(session.with_changed_by(error));
    }
    if line > read.line_count {
        let lines = counted(read.line_count, "line", "lines");
        let message = format!("insert_line is {line}, and the file has {lines}");
        let wanted = match read.line_count {
            0 => "0".into(),
            last => format!("from 0 to {last}"),
        };
        return Err(ToolError::arguments(Reason::BadLine, message)
            .remedies([Remedy::give("insert_line", wanted)]));
    }
    let content = read.content.unwrap_or_default();
    let above = usize::try_from(line).unwrap_or(usize::MAX);
    let at = content.split_inclusive('\n').take(above).map(str::len).sum();
    let (before, after) = content.split_at(at);
    let open = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let close = if text.ends_with('\n') || after.is_empty() { "" } else { "\n" };
    let write = WriteFile {
        path: read.path,
        content: format!("{before}{open}{text}{close}{after}"),
        expected_sha256: Some(read.sha256),
        ..WriteFile::default()
    };
    Ok(write.call(session, host)?.output)
}

/// Returns the hash that the session saw last, or else the hash that the file has now.
fn seen_or_current(session: &Session, path: &str) -> Result<String, ToolError> {
    let root = session.root();
    let (found, seen) = session.find(root, path)?;
    if let Some(seen) = session.ledger().get(found.as_str()) {
        return Ok(seen.to_string());
    }
    if seen.kind != fs_guard::FileKind::File {
        return Err(crate::tools::directory(path, path));
    }
    Ok(patch_session::session::hash(root, &found)?.to_string())
}

/// Makes an absolute path, as models give them to this tool, relative to the root.
pub(crate) fn beneath_root(session: &Session, path: &str) -> Result<String, ToolError> {
    if !std::path::Path::new(path).is_absolute() {
        return Ok(path.to_owned());
    }
    let inside = session.workspace().root().relative(path);
    inside.ok_or_else(|| fs_guard::Error::NotWithin { path: path.into() }.into())
}
