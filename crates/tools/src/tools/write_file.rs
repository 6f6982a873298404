//! `write_file`: new text for a whole file, which keeps its line ends and its byte-order mark.

use std::borrow::Cow;
use std::collections::HashSet;

use patch_engine::{ErrorKind, Expected, Host, PlanBuilder, Remedy, Splices};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tools::by_tags;
use crate::tools::file_tool::{About, FileTool};
use patch_session::Tool;
use patch_session::answer::arguments::given;
use patch_session::answer::changes::DiffDetail;
use patch_session::answer::envelope::{Success, ToolResult};
use patch_session::answer::error::ToolError;
use patch_session::answer::fit::cut_diff;
use patch_session::session::{Session, finish};
use patch_session::text::{Newlines, normalised, split_terminator, without_bom};

/// The arguments of `write_file`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteFile {
    /// File, from the workspace root.
    pub path: String,
    /// All of its new text.
    pub content: String,
    /// sha256 from read_file, empty if the file must not exist; by default the one that this
    /// session saw last.
    pub expected_sha256: Option<String>,
    /// Diff to show; none by default.
    pub diff: Option<DiffDetail>,
    /// Most bytes of the answer (8192).
    #[serde(default, deserialize_with = "given")]
    pub max_result_bytes: Option<u64>,
}

/// The data of an answer of `write_file`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WriteFileData {
    /// The file.
    pub path: String,
    /// Its hash before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_sha256: Option<String>,
    /// Its hash now.
    pub after_sha256: String,
    /// The unified diff, or how many lines it has, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The transaction, for undo; none when nothing changed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub transaction_id: String,
}

impl FileTool for WriteFile {
    type Data = WriteFileData;

    const ABOUT: About = About {
        title: "Write a file",
        does: "Overwrites a file: writes its whole content; CRLF and BOM are kept. For small \
            changes use edit_file.",
        errors: "Errors: stale_file: the file changed, read it again. binary_file: leave it. \
            patch_apply_error: the file is not UTF-8, write ASCII. not_found: the directory is \
            missing. already_exists: a name differs only by case. permission_denied: ask. \
            outside_workspace, command_failed: correct the arguments.",
        example: "{\"path\":\"a.txt\",\"content\":\"new\\n\",\"expectedSha256\":\"<sha256 from \
            read_file>\"}",
        idempotent: true,
    };

    fn paths(&mut self) -> Vec<&mut String> {
        vec![&mut self.path]
    }

    fn call(&self, session: &Session, host: &mut dyn Host) -> ToolResult<Self::Data> {
        session.changing(Tool::WriteFile, host, |call| {
            let given = self.expected_sha256.as_deref();
            let expected = session.seen(&self.path, given).map_err(|error| match error.kind {
                ErrorKind::NotFound => error.also(make_new_file()),
                _ => error,
            })?;
            let mut now = None;
            let report = call.commit(&mut |root| {
                let options = session.options(false, false)?;
                let mut builder = PlanBuilder::new(root, &options);
                let loaded = session.load(&mut builder, &self.path, given);
                let loaded = loaded.map_err(|error| {
                    let is_gone = error.details["actualSha256"] == "";
                    if is_gone { error.also(make_new_file()) } else { error }
                })?;
                let Some(file) = loaded else {
                    debug_assert_eq!(expected, Expected::Absent);
                    by_tags::refuse_copied(session, &self.path, &self.content)?;
                    builder.create(&self.path, self.content.clone().into_bytes())?;
                    return finish(builder);
                };
                let Some(text) = options.encodings.text_of(
                    root,
                    &file.path,
                    &file.bytes,
                    !self.content.is_ascii(),
                ) else {
                    return Err(super::binary(&self.path, file.bytes.len(), file.sha256()));
                };
                if session.ledger().has_tags(file.path.as_str()) {
                    by_tags::refuse_in_text(&self.path, "content", &self.content, text.bytes())?;
                }
                now = Some((file.path.clone(), file.sha256()));
                let splices = text.stored(rewrite(&self.path, text.bytes(), &self.content)?);
                builder.update(&self.path, splices.ok_or_else(|| super::encoding(&self.path))?)?;
                finish(builder)
            })?;
            let (path, before, after) = super::changed(&report, now);
            let data = WriteFileData {
                path,
                before_sha256: before.map(|hash| hash.to_string()),
                after_sha256: after.map(|hash| hash.to_string()).unwrap_or_default(),
                diff: if report.plan.changes().is_empty() {
                    None
                } else {
                    super::diff(&report, self.diff)
                },
                transaction_id: super::transaction(&report),
            };
            let what = match (&data.before_sha256, data.transaction_id.is_empty()) {
                (None, _) => "created",
                (_, true) => "unchanged:",
                _ => "wrote",
            };
            Ok(Success::new(format!("{what} {}", data.path), data))
        })
    }

    fn fit(data: &mut Self::Data, max: usize) {
        cut_diff(&mut data.diff, max);
    }
}

/// Makes the remedy of a call for a file that is missing: a call for a new file says so.
fn make_new_file() -> Remedy {
    Remedy::give("expectedSha256", "empty text, to make a new file")
}

/// Computes the splices that give a file the text `content`.
///
/// Unchanged lines keep all their bytes: terminators, and invalid UTF-8, which `read_file` shows as
/// U+FFFD.
fn rewrite(path: &str, old: &[u8], content: &str) -> Result<Splices, ToolError> {
    let body = without_bom(old);
    let bom = old.len() - body.len();
    let content =
        if bom > 0 { content.strip_prefix('\u{feff}').unwrap_or(content) } else { content };
    let unicode = std::str::from_utf8(old).is_ok();
    let style = Newlines::of(body);
    // Of a line that ends in CR CRLF, `read_file` shows the first CR, which is text.
    if unicode && style != Newlines::Mixed && memchr::memmem::find(body, b"\r\r\n").is_none() {
        let text = match style {
            Newlines::Crlf => Cow::Owned(normalised(content).replace('\n', "\r\n")),
            _ => Cow::Borrowed(content),
        };
        return Ok(narrowed(body, text.as_bytes(), bom));
    }
    // Where no line ends in CRLF, a carriage return is text, as in a UTF-8 file.
    let any_crlf = matches!(style, Newlines::Crlf | Newlines::Mixed);
    let old_lines: Vec<&[u8]> = body.split_inclusive(|&byte| byte == b'\n').collect();
    let before: Vec<_> = old_lines.iter().map(|line| shown(line, any_crlf)).collect();
    let new_lines: Vec<&str> = content.split_inclusive('\n').collect();
    let known: HashSet<&str> = before.iter().map(String::as_str).collect();
    let after: Vec<_> = new_lines
        .iter()
        .map(|line| match known.get(line) {
            Some(known) => (*known).to_owned(),
            None => shown(line.as_bytes(), any_crlf),
        })
        .collect();
    let [before, after] =
        [&before, &after].map(|lines| lines.iter().map(|line| line.as_bytes()).collect::<Vec<_>>());
    let mut starts = vec![bom];
    starts.extend(old_lines.iter().scan(bom, |at, line| {
        *at += line.len();
        Some(*at)
    }));
    let mut splices = Splices::new();
    // A coarser diff writes the same text; only more lines get the line ends of their neighbours.
    for (old, new) in patch_engine::changed_ranges(&before, &after) {
        let mut text = Vec::new();
        for (nth, line) in new_lines[new].iter().enumerate() {
            let (line, end) = split_shown(line.as_bytes(), any_crlf);
            text.extend_from_slice(line);
            if !end.is_empty() {
                // A new line ends like the line that it replaces, or else like its neighbour.
                let near = (old.start + nth).min(old.start + old.len().saturating_sub(1));
                let end = line_end(&old_lines, near)
                    .or_else(|| line_end(&old_lines, near.wrapping_sub(1)));
                text.extend_from_slice(end.unwrap_or(b"\n"));
            }
        }
        if !unicode && !text.is_ascii() {
            return Err(super::encoding(path));
        }
        splices.push(starts[old.start]..starts[old.end], text);
    }
    Ok(splices)
}

/// Splits a line into its text and its terminator; CRLF is a terminator only with `any_crlf`.
fn split_shown(line: &[u8], any_crlf: bool) -> (&[u8], &[u8]) {
    let end = split_terminator(line).1.len();
    line.split_at(line.len() - if any_crlf { end } else { end.min(1) })
}

/// Returns a line as `read_file` shows it.
fn shown(line: &[u8], any_crlf: bool) -> String {
    let (text, end) = split_shown(line, any_crlf);
    String::from_utf8_lossy(text).into_owned() + if end.is_empty() { "" } else { "\n" }
}

/// Returns the terminator of a line, if there is such a line and it has one.
fn line_end<'l>(lines: &[&'l [u8]], at: usize) -> Option<&'l [u8]> {
    lines.get(at).map(|line| split_terminator(line).1).filter(|end| !end.is_empty())
}

/// Makes one splice, narrowed by whole lines at both ends.
fn narrowed(old: &[u8], new: &[u8], offset: usize) -> Splices {
    let same = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let head = old[..same].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let old_rest = &old[head..];
    let new_rest = &new[head..];
    let same = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    // Back to the beginning of a line.
    let tail = old_rest[old_rest.len() - same..]
        .iter()
        .position(|&byte| byte == b'\n')
        .map_or(0, |at| same - at - 1);
    let end = old.len() - tail;
    let text = &new_rest[..new_rest.len() - tail];
    let mut splices = Splices::new();
    if old[head..end] != *text {
        splices.push(offset + head..offset + end, text.to_vec());
    }
    splices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(old: &[u8], content: &str) -> Vec<u8> {
        rewrite("f", old, content).unwrap().apply(old)
    }

    #[test]
    fn keeps_what_a_reader_does_not_see() {
        for (old, content, new) in [
            (&b"a\r\nb\r\n"[..], "a\nB\nc\n", &b"a\r\nB\r\nc\r\n"[..]),
            (b"a\nb\n", "a\r\nb\n", b"a\r\nb\n"),
            (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
            (b"\xef\xbb\xbfa\n", "\u{feff}b\n", b"\xef\xbb\xbfb\n"),
            (b"a\r\nb\nc\r\n", "a\nX\nb\nc\n", b"a\r\nX\nb\nc\r\n"),
            (b"a\nb\r\nc", "a\nb\nc\nd\n", b"a\nb\r\nc\r\nd\r\n"),
            (b"caf\xe9\nb\n", "caf\u{fffd}\nB\n", b"caf\xe9\nB\n"),
            (b"a\r\r\nb\r\n", "a\r\nX\nb\n", b"a\r\r\nX\r\nb\r\n"),
            (b"a\r\r\nb\r\n", "a\r\nB\n", b"a\r\r\nB\r\n"),
            (b"a\r\r\nb\r\n", "A\r\nb\r\n", b"A\r\nb\r\n"),
            (b"a\r\nb\nc\r\n", "a\r\nB\nc\r\n", b"a\r\nB\nc\r\n"),
            (b"", "a\n", b"a\n"),
            (b"a", "", b""),
            (b"a\rb\n", "a\rb\nc", b"a\rb\nc"),
            (b"x\nx\nx\n", "x\nx\n", b"x\nx\n"),
            (b"ab", "b", b"b"),
            // In another encoding a carriage return means the same as in UTF-8.
            (b"a\nb\n", "a\r\nB\r\n", b"a\r\nB\r\n"),
            (b"\xe9\nb\n", "\u{fffd}\nB\r\n", b"\xe9\nB\r\n"),
            (b"a\xe9\nb\n", "a\r\nb\r\n", b"a\r\nb\r\n"),
            (b"a\xe9\r\nb\r\n", "a\nb\nc\r\n", b"a\r\nb\r\nc\r\n"),
        ] {
            let found = written(old, content);
            assert_eq!(found, new, "{} <- {content:?}", String::from_utf8_lossy(old));
        }
    }

    #[test]
    fn refuses_what_would_mix_encodings() {
        assert!(rewrite("f", b"caf\xe9\n", "café\n").is_err());
        assert!(rewrite("f", b"caf\xe9\n", "caf\u{fffd}\r\n").is_err());
    }
}
