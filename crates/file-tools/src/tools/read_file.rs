//! `read_file`: a slice of a text file, and the hash of all of it.

use patch_engine::{ErrorKind, Sha256};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::envelope::{Success, ToolResult};
use crate::error::ToolError;
use crate::text::{Newlines, base64, is_binary, prefix, split_terminator, without_bom};
use crate::workspace::FileTools;

/// Content that is longer is cut, unless the call asks for more.
const MAX_BYTES: u64 = 262_144;

/// The arguments of `read_file`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadFile {
    /// File, relative to the workspace root.
    pub path: String,
    /// First line, from 1.
    #[serde(default)]
    #[schemars(with = "u64")]
    pub start_line: Option<u64>,
    /// Last line, included.
    #[serde(default)]
    #[schemars(with = "u64")]
    pub end_line: Option<u64>,
    /// Most bytes of content; 262144 by default.
    #[serde(default)]
    #[schemars(with = "u64")]
    pub max_bytes: Option<u64>,
    /// Give a binary file as base64.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub allow_binary: Option<bool>,
}

/// What `read_file` gives.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadFileData {
    /// The file; where a link leads.
    pub path: String,
    /// The lines, ending in line feeds, without a byte-order mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content: Option<String>,
    /// The bytes of a binary file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
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
    /// The content was cut at maxBytes.
    pub truncated: bool,
    /// Whether it is binary.
    pub binary: bool,
    /// lf, crlf, mixed or none.
    pub newline_style: &'static str,
    /// Whether it starts with a UTF-8 byte-order mark.
    pub has_bom: bool,
    /// utf-8, or unknown (content has U+FFFD for what is not UTF-8), or binary.
    pub encoding: &'static str,
}

impl FileTools {
    /// Reads a text file, or a slice of it.
    ///
    /// # Errors
    ///
    /// When there is no such file, it is binary, too large, or the guard refuses it.
    pub fn read_file(&self, args: &ReadFile) -> ToolResult<ReadFileData> {
        let read = self.read_unseen(args)?;
        let hash = read.data.sha256.parse().ok();
        self.ledger().note(self.workspace(), &[(read.data.path.clone(), hash)])?;
        Ok(read)
    }

    /// Reads a file that the model is not shown, so that the session does not count as having seen it.
    pub(crate) fn read_unseen(&self, args: &ReadFile) -> ToolResult<ReadFileData> {
        let root = self.root();
        if args.start_line == Some(0) || args.end_line == Some(0) {
            return Err(ToolError::arguments("lines are counted from 1").next("use startLine 1 for the first line"));
        }
        let (path, seen) = self.find(root, &args.path)?;
        if seen.kind == fs_guard::FileKind::Directory {
            return Err(ToolError::about(ErrorKind::NotFound, &args.path, "it is a directory, not a file")
                .next("use list_directory for it"));
        }
        let (bytes, _) = root.read(&path, self.settings().max_file_size)?;
        let sha256 = Sha256::of(&bytes);
        let limit = usize::try_from(args.max_bytes.unwrap_or(MAX_BYTES)).unwrap_or(usize::MAX);
        let size = bytes.len();
        let binary = is_binary(&bytes);
        if binary && args.allow_binary != Some(true) {
            let message = format!("it is binary ({size} bytes)");
            return Err(ToolError::about(ErrorKind::BinaryFile, &args.path, message)
                .details(json!({ "path": path.as_str(), "sizeBytes": size, "sha256": sha256.to_string() }))
                .next("leave it alone, or read it with allowBinary"));
        }
        let text = without_bom(&bytes);
        let mut data = ReadFileData {
            path: path.to_string(),
            content: None,
            content_base64: None,
            start_line: 1,
            end_line: 0,
            line_count: 0,
            size_bytes: size as u64,
            sha256: sha256.to_string(),
            truncated: false,
            binary,
            newline_style: Newlines::of(text).as_str(),
            has_bom: text.len() < size,
            encoding: if std::str::from_utf8(&bytes).is_ok() { "utf-8" } else { "unknown" },
        };
        let output;
        if binary {
            data.encoding = "binary";
            data.newline_style = "none";
            data.truncated = size > limit;
            data.content_base64 = Some(base64(&bytes[..size.min(limit)]));
            output = format!("{path}: {size} bytes, binary");
        } else {
            slice(text, args, limit, &mut data);
            output = match data.end_line >= data.start_line {
                true => format!("{path}: lines {}-{} of {}", data.start_line, data.end_line, data.line_count),
                false => format!("{path}: no lines of {}", data.line_count),
            };
        }
        Ok(Success::new(output, data))
    }
}

/// Fills in the lines that are asked for.
fn slice(text: &[u8], args: &ReadFile, limit: usize, data: &mut ReadFileData) {
    let start = args.start_line.unwrap_or(1);
    let end = args.end_line.unwrap_or(u64::MAX);
    let mut content = String::new();
    let mut full = false;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        data.line_count += 1;
        if data.line_count < start || data.line_count > end || full {
            continue;
        }
        let (line, terminator) = split_terminator(line);
        content += &String::from_utf8_lossy(line);
        if !terminator.is_empty() {
            content.push('\n');
        }
        // The rest is only counted.
        full = content.len() > limit;
    }
    if content.len() > limit {
        content.truncate(prefix(&content, limit).len());
        data.truncated = true;
    } else if full {
        data.truncated = true;
    }
    let given = content.split_inclusive('\n').count() as u64;
    data.start_line = start;
    data.end_line = start + given - 1;
    data.content = Some(content);
}
