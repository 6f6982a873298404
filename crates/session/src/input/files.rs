//! Whole files in fences of Markdown, each below a line with its path.
//!
//! A path stands alone on the line above the fence, or behind the language of the fence. A fence
//! without a path is left out if its language is that of commands or their output; any other one may
//! be a file too, and is an error. Whoever writes the files makes new ones only, unless the caller
//! says that the files are whole: an answer may show a part of a file that is there.

use std::collections::HashMap;
use std::ops::Range;

use patch_grammar::detect::{Fence, left_out};
use patch_grammar::envelope::Writer;
use patch_grammar::marker::{self, NO_NEWLINE};
use patch_grammar::{Marker, has_part_of_patch, path_of};

use crate::input::not_received::{NotReceived, wrapped};
use crate::text::counted;

/// The languages of fences with commands, and with what they print.
const COMMANDS: [&str; 20] = [
    "",
    "bash",
    "bat",
    "cmd",
    "console",
    "fish",
    "log",
    "output",
    "plain",
    "plaintext",
    "powershell",
    "ps1",
    "sh",
    "shell",
    "shell-session",
    "shellsession",
    "terminal",
    "text",
    "txt",
    "zsh",
];

/// The languages of fences that are no files, whatever stands above them.
const OTHERS: [&str; 7] =
    ["console", "diff", "output", "patch", "shell-session", "shellsession", "terminal"];

/// The files of a text, as an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeText {
    /// The envelope.
    pub text: Vec<u8>,
    /// For each line of the envelope the line of the text, both from 1.
    pub lines: Vec<u32>,
    /// How many files there are, and what was left out.
    pub notes: Vec<String>,
}

/// A fence. Lines are counted from 0.
struct FencedText<'t> {
    /// The language, in lower case.
    language: String,
    path: Option<String>,
    /// From the line with the path to the closing one.
    lines: Range<usize>,
    /// The lines of the text.
    inside: Range<usize>,
    /// The text, with the indentation of the fence removed.
    text: Vec<&'t str>,
}

/// Writes the lines of a new file as a section.
pub(super) fn push_file(out: &mut Writer, path: &str, content: &str) {
    out.header(Marker::Add, path, None);
    if !content.is_empty() {
        let mut body = String::new();
        content.split('\n').for_each(|line| marker::push_line(&mut body, '+', line));
        out.lines((body + NO_NEWLINE).as_bytes());
    }
}

/// The content of a fence, and what stands around it.
pub(super) struct LoneFence<T> {
    /// The value that `read` made of it.
    pub(super) content: T,
    /// The text, below an empty line for each line above it.
    pub(super) text: String,
    /// The note on what was left out.
    pub(super) left_out: Option<String>,
}

/// Finds the fences of a text in which `read` finds something; none where a part of a patch stands
/// beside one.
pub(super) fn fences_with<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Vec<LoneFence<T>> {
    let lines: Vec<&str> = text.lines().collect();
    let found = fences(&lines).unwrap_or_default();
    let lone = |fence: &FencedText<'_>| {
        let inside = fence.text.join("\n");
        let content = read(&inside)?;
        let left_out = beside([fence], &lines).ok()?;
        Some(LoneFence { content, text: "\n".repeat(fence.inside.start) + &inside, left_out })
    };
    found.iter().filter_map(lone).collect()
}

/// A part of a patch stands beside fences.
struct PartOfPatch;

/// Returns the note on the lines beside fences, if they are not empty.
fn beside<'f>(
    fences: impl IntoIterator<Item = &'f FencedText<'f>>,
    lines: &[&str],
) -> Result<Option<String>, PartOfPatch> {
    let mut around = Vec::new();
    let mut end = 0;
    for fence in fences {
        around.push(end..fence.lines.start.max(end));
        end = fence.lines.end;
    }
    around.push(end..lines.len());
    let outside: Vec<&str> = around.iter().cloned().flatten().map(|at| lines[at]).collect();
    if has_part_of_patch(outside.join("\n").as_bytes()) {
        return Err(PartOfPatch);
    }
    around.retain(|range| range.clone().any(|at| !lines[at].trim().is_empty()));
    Ok(left_out(around))
}

/// Reads the files of a text; `None` if no fence has a path.
pub(super) fn of(text: &str) -> Result<Option<WholeText>, NotReceived> {
    let lines: Vec<&str> =
        text.split_inclusive('\n').map(|line| line.trim_end_matches(['\n', '\r'])).collect();
    let fences = fences(&lines)?;
    if fences.iter().all(|fence| fence.path.is_none()) {
        return Ok(None);
    }
    let Ok(left_out) = beside(fences.iter().filter(|fence| fence.path.is_some()), &lines) else {
        return wrapped(
            "a part of a patch stands beside the whole files, and would be lost",
            "send the patch and the files one after the other",
        );
    };
    check_others(&fences)?;
    let files = files(&fences)?;
    let mut notes = vec![format!("read {} in full", counted(files.len(), "file", "files"))];
    notes.extend(left_out);
    Ok(Some(written(&files, notes)))
}

/// Writes the files as an envelope.
fn written(files: &[(&str, &FencedText<'_>)], notes: Vec<String>) -> WholeText {
    let mut out = Writer::default();
    let first = files.first().map_or(0, |(_, fence)| fence.lines.start);
    let mut from = vec![first];
    for (path, fence) in files {
        from.push(fence.lines.start);
        let content: String = fence.text.iter().flat_map(|line| [line, "\n"]).collect();
        push_file(&mut out, path, &content);
        from.extend(fence.inside.clone());
        // The empty line behind the last line feed, and the marker.
        from.resize(out.next_line() - 1, fence.lines.end - 1);
    }
    from.push(files.last().map_or(0, |(_, fence)| fence.lines.end - 1));
    let lines = from.into_iter().map(number).collect();
    WholeText { text: out.finish(), lines, notes }
}

fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

/// Refuses a fence that may be a file too.
fn check_others(fences: &[FencedText<'_>]) -> Result<(), NotReceived> {
    let mut shows_fences = false;
    for fence in fences {
        match &fence.path {
            // A fence in Markdown ends at the first one that is shown in it.
            Some(path) => shows_fences = is_markdown(path),
            None if shows_fences || !COMMANDS.contains(&&*fence.language) => {
                let line = number(fence.lines.start);
                return wrapped(
                    format!("there are whole files, and no path above the fence in line {line}"),
                    "write its path alone on the line above it, or leave the fence out (text with \
                     fences in it goes in a longer fence)",
                );
            }
            None => {}
        }
    }
    Ok(())
}

fn is_markdown(path: &str) -> bool {
    let (_, ending) = path.rsplit_once('.').unwrap_or_default();
    ["markdown", "md", "mdx", "qmd", "rmd"].contains(&&*ending.to_ascii_lowercase())
}

/// Returns the files, each once.
fn files<'f, 't>(
    fences: &'f [FencedText<'t>],
) -> Result<Vec<(&'f str, &'f FencedText<'t>)>, NotReceived> {
    let mut files: Vec<(&str, &FencedText<'_>)> = Vec::new();
    let mut known: HashMap<&str, &FencedText<'_>> = HashMap::new();
    for fence in fences {
        let Some(path) = &fence.path else { continue };
        let plain = path.trim_start_matches("./");
        match known.get(plain) {
            None => {
                known.insert(plain, fence);
                files.push((path, fence));
            }
            Some(first) if first.text == fence.text => {}
            Some(first) => {
                let first = number(first.lines.start);
                let second = number(fence.lines.start);
                return wrapped(
                    format!("{path} stands there twice, in line {first} and in line {second}"),
                    "send the one that is meant",
                );
            }
        }
    }
    Ok(files)
}

fn fences<'t>(lines: &[&'t str]) -> Result<Vec<FencedText<'t>>, NotReceived> {
    let mut fences: Vec<FencedText<'_>> = Vec::new();
    let mut floor = 0;
    let mut hidden = false;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let Some(fence) = Fence::opened_by(line) else {
            hidden = is_hidden_below(line, hidden);
            at += 1;
            continue;
        };
        let Some(length) = lines[at + 1..].iter().position(|line| fence.is_closed_by(line)) else {
            // Without a path it is none of ours to say so.
            return if fences.iter().any(|fence| fence.path.is_some())
                || path_above(lines, at, floor).is_some()
            {
                wrapped(
                    format!("the fence in line {} is not closed", number(at)),
                    "send all of the file, and close the fence (text with fences in it goes in a \
                     longer fence)",
                )
            } else {
                Ok(Vec::new())
            };
        };
        let inside = at + 1..at + 1 + length;
        let indent = line.len() - line.trim_start_matches(' ').len();
        let text = lines[inside.clone()].iter().map(|line| dedent(line, indent)).collect();
        let info = line.trim().trim_start_matches(['`', '~']).trim();
        let (language, own) = of_info(info);
        let above = path_above(lines, at, floor);
        let (path, start) = match (own, above) {
            _ if OTHERS.contains(&&*language) => (None, at),
            (Some(own), Some((above, _))) if own != above => {
                return wrapped(
                    format!("the fence in line {} has two paths, {above} and {own}", number(at)),
                    "write one",
                );
            }
            (_, Some((path, start))) => (Some(path), start),
            (Some(path), None) => (Some(path), at),
            (None, None) => (None, at),
        };
        if hidden && path.is_some() {
            return wrapped("the file is in a comment, where a reader does not see it", "show it");
        }
        at = inside.end + 1;
        floor = at;
        fences.push(FencedText { language, path, lines: start..at, inside, text });
    }
    Ok(fences)
}

/// Returns whether an HTML comment is open at the end of a line.
fn is_hidden_below(line: &str, hidden: bool) -> bool {
    match (line.rfind("<!--"), line.rfind("-->")) {
        (Some(open), Some(close)) => open > close,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => hidden,
    }
}

/// Removes up to `indent` blanks.
fn dedent(line: &str, indent: usize) -> &str {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    &line[blanks.min(indent)..]
}

/// Returns the path above a fence, past one empty line, and its line.
fn path_above(lines: &[&str], at: usize, floor: usize) -> Option<(String, usize)> {
    let above = (floor..at).rev().take(2).find(|&at| !lines[at].trim().is_empty())?;
    let path = path_of(lines[above])?;
    is_file(&path).then_some((path, above))
}

/// Returns the language and the path behind the marks of a fence.
fn of_info(info: &str) -> (String, Option<String>) {
    let (first, rest) = info.split_once(char::is_whitespace).unwrap_or((info, ""));
    if let Some((language, path)) = first.split_once(':')
        && rest.is_empty()
        && !language.chars().all(|c| c.is_ascii_digit())
    {
        return (language.to_lowercase(), path_of(path).filter(|path| is_file(path)));
    }
    let rest = rest.trim();
    let named = ["path=", "title=", "file=", "filename="];
    let value = named.iter().find_map(|name| rest.strip_prefix(name)).unwrap_or(rest);
    let alone = if rest.is_empty() && first.contains(['/', '.']) { first } else { value };
    let path = path_of(alone).filter(|path| is_file(path));
    (first.to_lowercase(), path)
}

/// Returns whether the line that opens a fence has a path.
pub(super) fn has_path(line: &str) -> bool {
    of_info(line.trim().trim_start_matches(['`', '~']).trim()).1.is_some()
}

/// Returns whether a path may be that of a file, and no reference to lines of one.
fn is_file(path: &str) -> bool {
    !path.contains(':') && !path.ends_with('/')
}
