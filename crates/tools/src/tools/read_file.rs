//! `read_file`: a slice of a text file, and the hash of all of it.

use std::ops::RangeInclusive;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use fs_guard::RelPath;
use patch_engine::{ErrorKind, FileText, Host, Remedy, Sha256};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::tools::file_tool::{About, FileTool};
use crate::tools::page::{bad_cursor, rest};
use patch_session::answer::arguments::given;
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::error::ToolError;
use patch_session::answer::reason::Reason;
use patch_session::line_tags::LineTags;
use patch_session::session::Session;
use patch_session::text::{Newlines, length, prefix, split_terminator, without_bom};

/// The bytes of an answer besides its data: the envelope, the sentence, the cursor.
const AROUND: usize = 200;

/// Content is never cut to fewer bytes, so that every part makes progress.
const LEAST: usize = 64;

/// Longer content is cut, unless the call asks for more.
const MAX_BYTES: u64 = 262_144;

/// The arguments of `read_file`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadFile {
    /// File, from the workspace root.
    pub path: String,
    /// First line, from 1.
    #[serde(default, deserialize_with = "given")]
    pub start_line: Option<u64>,
    /// Last line, included.
    #[serde(default, deserialize_with = "given")]
    pub end_line: Option<u64>,
    /// Most bytes of content (262144).
    #[serde(default, deserialize_with = "given")]
    pub max_bytes: Option<u64>,
    /// nextCursor of the last answer.
    #[serde(default, deserialize_with = "given")]
    pub cursor: Option<String>,
    /// Put its number and a tab before each line.
    pub line_numbers: Option<bool>,
    /// Put 12#kz| before each line, its number and tag, for edit_file.
    pub tags: Option<bool>,
    /// Give a binary file as base64.
    pub allow_binary: Option<bool>,
    /// Most bytes of the answer.
    #[serde(default, deserialize_with = "given")]
    pub max_result_bytes: Option<u64>,
}

/// The data of an answer of `read_file`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadFileData {
    /// The file; where a link leads.
    pub path: String,
    /// The lines, ending in line feeds, without a byte-order mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The bytes of a binary file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_base64: Option<String>,
    /// First line given.
    pub start_line: u64,
    /// Last line given; less than startLine when there is none.
    pub end_line: u64,
    /// Lines of the whole file.
    pub line_count: u64,
    /// Bytes of the whole file.
    pub size_bytes: u64,
    /// SHA-256 of the whole file as it is on disk.
    pub sha256: String,
    /// The content was cut.
    pub truncated: bool,
    /// Where to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Whether it is binary.
    pub binary: bool,
    /// lf, crlf, mixed or none.
    pub newline_style: &'static str,
    /// Whether it starts with a byte-order mark.
    pub has_bom: bool,
    /// utf-8, or the charset that the content was decoded from, or unknown (content has U+FFFD for
    /// what is not UTF-8), or binary.
    pub encoding: &'static str,
    /// Whether the lines have tags.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) tagged: bool,
}

impl ReadFileData {
    /// Returns the lines that have tags; line 0 is the place above the first one.
    pub(crate) fn tagged_lines(&self) -> Option<RangeInclusive<usize>> {
        let first = if self.start_line <= 1 { 0 } else { index(self.start_line) };
        self.tagged.then(|| first..=index(self.end_line))
    }
}

impl FileTool for ReadFile {
    type Data = ReadFileData;

    const ABOUT: About = About {
        title: "Read a file",
        does: "Reads, opens a file: shows its contents, or lines startLine to endLine of it (from \
            1, both included). Lines are read with LF ends and without BOM; sha256 is of the \
            whole file on disk: change the file with it as expectedSha256, or without in the same \
            session. If truncated, read on with cursor. lineNumbers puts numbers before the \
            lines, tags 12#kz|, for edit_file.",
        errors: "Errors: not_found: check the path with glob. binary_file: leave it, or set \
            allowBinary. file_too_large: give up. outside_workspace, permission_denied: use \
            another path. command_failed: correct the arguments.",
        example: "{\"path\":\"src/main.rs\",\"startLine\":1,\"endLine\":80}",
        idempotent: true,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        vec![&mut self.path]
    }

    fn call(&self, session: &Session, _: &mut dyn Host) -> ToolResult<Self::Data> {
        let (path, bytes) = opened(session, self)?;
        let sha256 = Sha256::of(&bytes);
        let read = part(session, self, session.settings().max_output, &path, &bytes, sha256);
        match &read {
            Ok(read) if !read.data.binary => {
                session.note_shown(path.as_str(), sha256, Some(&bytes))?
            }
            Ok(_) => session.note_shown(path.as_str(), sha256, None)?,
            // The error names the hash of the binary file, so the model has seen this version. A
            // ledger that cannot be written is not reported on top of it.
            Err(error) if error.kind == ErrorKind::BinaryFile => {
                let _ = session.note_shown(path.as_str(), sha256, None);
            }
            Err(_) => {}
        }
        read
    }
}

/// Reads a file for the tools: the session does not record the file as seen by the model.
pub(crate) fn read_unseen(session: &Session, args: &ReadFile) -> ToolResult<ReadFileData> {
    let (path, bytes) = opened(session, args)?;
    part(session, args, None, &path, &bytes, Sha256::of(&bytes))
}

/// Reads the bytes of the file.
fn opened(session: &Session, args: &ReadFile) -> Result<(RelPath, Vec<u8>), ToolError> {
    let root = session.root();
    let (path, seen) = session.find(root, &args.path)?;
    if seen.kind == fs_guard::FileKind::Directory {
        return Err(super::directory(&args.path, path.as_str()));
    }
    let (bytes, _) = root.read(&path, session.settings().max_file_size)?;
    Ok((path, bytes))
}

/// Makes the answer from the bytes of a file.
fn part(
    session: &Session,
    args: &ReadFile,
    most: Option<usize>,
    path: &RelPath,
    bytes: &[u8],
    sha256: Sha256,
) -> ToolResult<ReadFileData> {
    let from = match args.cursor.as_deref().filter(|text| !text.is_empty()) {
        None => 0,
        Some(text) => text.parse().map_err(|_| bad_cursor(text))?,
    };
    let decoded = session.settings().encodings.text_of(session.root(), path, bytes, false);
    if decoded.is_none() && args.allow_binary != Some(true) {
        return Err(binary_refused(&args.path, path, bytes.len(), sha256));
    }
    let whole = decoded.as_ref().map_or(bytes, FileText::bytes);
    let text = without_bom(whole);
    let mut data = ReadFileData {
        path: path.to_string(),
        content: None,
        content_base64: None,
        start_line: 1,
        end_line: 0,
        line_count: 0,
        size_bytes: bytes.len() as u64,
        sha256: sha256.to_string(),
        truncated: false,
        next_cursor: None,
        binary: decoded.is_none(),
        newline_style: Newlines::of(text).as_str(),
        has_bom: text.len() < whole.len(),
        encoding: match decoded.as_ref().and_then(FileText::encoding) {
            Some(name) => name,
            None if std::str::from_utf8(bytes).is_ok() => "utf-8",
            None => "unknown",
        },
        tagged: false,
    };
    let asked = args.max_result_bytes.map(|asked| {
        let around = length(&data) + data.path.len() + AROUND;
        usize::try_from(asked).unwrap_or(usize::MAX).saturating_sub(around).max(LEAST)
    });
    let most = asked.into_iter().chain(most).min().unwrap_or(usize::MAX);
    let mut output = if data.binary {
        add_base64(bytes, args, from, most, &mut data)
    } else {
        add_lines(text, args, from, most, &mut data)
    };
    output += &rest(data.truncated, data.next_cursor.as_deref());
    Ok(Success::new(output, data))
}

/// Makes the error of a binary file that the call does not allow.
fn binary_refused(named: &str, path: &RelPath, size: usize, sha256: Sha256) -> ToolError {
    let message = format!("it is binary ({size} bytes)");
    ToolError::about(ErrorKind::BinaryFile, named, Reason::Binary, message)
        .details(json!({ "path": path.as_str(), "sizeBytes": size, "sha256": sha256.to_string() }))
        .remedies([Remedy::set("allowBinary", true)])
}

/// Returns the most bytes of content in the answer, of which the limits of the answer leave `most`.
fn content_limit(args: &ReadFile, most: usize) -> usize {
    usize::try_from(args.max_bytes.unwrap_or(MAX_BYTES)).unwrap_or(usize::MAX).min(most)
}

/// Fills in the bytes of a binary file from an offset on, in at most `most` characters of base64.
/// Returns a sentence about the file.
fn add_base64(
    bytes: &[u8],
    args: &ReadFile,
    from: usize,
    most: usize,
    data: &mut ReadFileData,
) -> String {
    data.encoding = "binary";
    data.newline_style = "none";
    let rest = &bytes[from.min(bytes.len())..];
    // Three bytes take four characters.
    let given = rest.len().min(content_limit(args, most)).min(most / 4 * 3);
    data.truncated = given < rest.len();
    data.next_cursor = data.truncated.then(|| (from + given).to_string());
    data.content_base64 = Some(BASE64_STANDARD.encode(&rest[..given]));
    format!("{}: {} bytes, binary", data.path, bytes.len())
}

/// Fills in the requested lines from an offset in the text on, in at most `most` bytes of a JSON
/// string. Returns a sentence about the lines.
fn add_lines(
    text: &[u8],
    args: &ReadFile,
    from: usize,
    most: usize,
    data: &mut ReadFileData,
) -> String {
    let (mut next, continues) = slice(text, args, from, content_limit(args, most), data);
    let before = match (args.tags, args.line_numbers) {
        (Some(true), _) => {
            let lines = index(data.start_line)..=index(data.end_line);
            BeforeLines::Tags(LineTags::of(text, lines))
        }
        (_, Some(true)) => BeforeLines::Numbers,
        _ => BeforeLines::Nothing,
    };
    let content = data.content.as_deref().unwrap_or_default();
    let fitting = fitting_json(content, most, data.start_line, &before);
    if fitting < content.len() {
        (next, _) = slice(text, args, from, fitting, data);
    }
    data.truncated = next.is_some();
    data.next_cursor = next.map(|at| at.to_string());
    data.tagged = matches!(before, BeforeLines::Tags(_));
    let content = data.content.take().unwrap_or_default();
    data.content = Some(before.put(content, data.start_line, continues));
    let ReadFileData { path, start_line, end_line, line_count, .. } = &*data;
    if end_line >= start_line {
        format!("{path}: lines {start_line}-{end_line} of {line_count}")
    } else {
        format!("{path}: no lines of {line_count}")
    }
}

/// Returns the number of a line as the lines in memory are counted.
fn index(line: u64) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX)
}

/// The words that are put before each line.
enum BeforeLines<'t> {
    Nothing,
    /// Its number and a tab.
    Numbers,
    /// Its number and its tag.
    Tags(LineTags<'t>),
}

impl BeforeLines<'_> {
    /// Returns the words before a line.
    fn of(&self, number: u64) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Numbers => format!("{number}\t"),
            Self::Tags(tags) => tags.before(index(number)),
        }
    }

    /// Puts the words before each line. If the text continues a line, that line had them in the
    /// last answer.
    fn put(&self, content: String, first: u64, continues: bool) -> String {
        if matches!(self, Self::Nothing) {
            return content;
        }
        (first..)
            .zip(content.split_inclusive('\n'))
            .enumerate()
            .map(|(at, (number, line))| match (at, continues) {
                (0, true) => String::from(line),
                _ => self.of(number) + line,
            })
            .collect()
    }
}

/// Fills in the requested lines from an offset in the text on, up to a number of bytes, in whole
/// lines unless the call has a limit of its own. Returns the offset of the rest, and whether the
/// first line is the rest of a line.
fn slice(
    text: &[u8],
    args: &ReadFile,
    from: usize,
    limit: usize,
    data: &mut ReadFileData,
) -> (Option<usize>, bool) {
    data.line_count = 0;
    let start = args.start_line.unwrap_or(1);
    let end = args.end_line.unwrap_or(u64::MAX);
    let whole_lines = args.max_bytes.is_none();
    let mut content = String::new();
    let mut first = None;
    let mut next = None;
    let mut behind = 0;
    let mut continues = false;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let begin = behind.max(from);
        let is_rest = begin > behind;
        behind += line.len();
        data.line_count += 1;
        // The remaining lines are only counted.
        if data.line_count < start || data.line_count > end || behind <= from || next.is_some() {
            continue;
        }
        first.get_or_insert_with(|| {
            continues = is_rest;
            data.line_count
        });
        let (line, terminator) = split_terminator(&text[begin..behind]);
        let (shown, taken) = shown(line, limit - content.len());
        let feed = !terminator.is_empty();
        if taken == line.len() && content.len() + shown.len() + usize::from(feed) <= limit {
            content += &shown;
            if feed {
                content.push('\n');
            }
        } else if whole_lines && !content.is_empty() {
            next = Some(begin);
        } else {
            // A part that cannot have its first character would never be followed by the next.
            let (shown, taken) = if content.is_empty() && taken == 0 && !line.is_empty() {
                first_character(line)
            } else {
                (shown, taken)
            };
            content += &shown;
            next = Some(begin + taken);
        }
    }
    let given = content.split_inclusive('\n').count() as u64;
    data.start_line = first.unwrap_or(start);
    data.end_line = data.start_line + given - 1;
    data.content = Some(content);
    (next, continues)
}

/// Returns how many bytes at the beginning of a text fit into `most` bytes of a JSON string, with
/// the words before its lines, which have numbers from `first` on.
fn fitting_json(text: &str, most: usize, first: u64, before: &BeforeLines<'_>) -> usize {
    let mut left = most;
    let mut number = first;
    let mut before_line = true;
    for (at, c) in text.char_indices() {
        let prefix = if before_line && !matches!(before, BeforeLines::Nothing) {
            number += 1;
            length(&before.of(number - 1)) - 2
        } else {
            0
        };
        // JSON escapes these characters only. Asking the serializer about each character would cost
        // more than the rest of a read.
        let itself = match c {
            '"' | '\\' | '\0'..' ' => length(&c) - 2,
            c => c.len_utf8(),
        };
        let cost = prefix + itself;
        if cost > left {
            return at;
        }
        left -= cost;
        before_line = c == '\n';
    }
    text.len()
}

/// Returns the part of a line that fits into `limit` bytes when invalid UTF-8 is replaced, and the
/// number of its bytes in the line.
fn shown(line: &[u8], limit: usize) -> (String, usize) {
    let mut text = String::new();
    let mut taken = 0;
    for chunk in line.utf8_chunks() {
        let valid = prefix(chunk.valid(), limit - text.len());
        text += valid;
        taken += valid.len();
        let replaced = char::REPLACEMENT_CHARACTER;
        if valid.len() < chunk.valid().len() || chunk.invalid().is_empty() {
            break;
        }
        if text.len() + replaced.len_utf8() > limit {
            break;
        }
        text.push(replaced);
        taken += chunk.invalid().len();
    }
    (text, taken)
}

/// Returns the first character of a line, and the number of its bytes in the line.
fn first_character(line: &[u8]) -> (String, usize) {
    let mut parts = (1..=char::MAX.len_utf8()).map(|limit| shown(line, limit));
    parts.find(|(_, taken)| *taken > 0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The count agrees with the JSON serializer for every character.
    #[test]
    fn what_fits_is_counted_as_json_writes_it() {
        for c in '\0'..=char::MAX {
            let length = length(&c) - 2;
            let text = c.to_string();
            let fitting = |most| fitting_json(&text, most, 1, &BeforeLines::Nothing);
            assert_eq!(fitting(length), text.len(), "{c:?}");
            assert_eq!(fitting(length - 1), 0, "{c:?}");
        }
    }
}
