//! Finds the one patch or diff in a text from people and models: a chat answer, a mail, a script.
//!
//! Only the shape of lines counts here; the parsers decide whether the text is a patch.

use std::fmt;
use std::ops::Range;

use memchr::memmem;

use crate::diagnose;
use crate::diff::{self, Between};
use crate::error::{ParseError, ParseErrorKind};
use crate::lines::{Lines, numbers, shown};
use crate::mail::cover_letter;
use crate::marker::Marker;
use crate::outside;
use crate::wrapper;

pub use crate::fence::Fence;
pub use crate::lines::left_out;

const BEGIN: &str = Marker::Begin.as_str();
const END: &str = Marker::End.as_str();

/// The byte-order mark of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The most patches that an error lists.
const SHOWN: usize = 10;

crate::names::named! {
    /// The apparent form of a part of a text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub enum DetectedKind {
        /// A patch between `*** Begin Patch` and `*** End Patch`.
        Envelope = "patch",
        /// A unified or git diff.
        Diff = "diff",
    }
}

/// The one patch of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    /// The apparent form.
    pub kind: DetectedKind,
    /// The patch itself, after an empty line for each line before, so that line numbers stay true.
    pub text: Vec<u8>,
    /// Notes on what was removed to get the patch; none when the text was nothing but the patch.
    pub notes: Vec<String>,
    /// Whether something other than blanks stood behind the patch.
    pub ended: bool,
}

/// Why there is no one patch.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum DetectError {
    /// Nothing looks like one.
    Nothing,
    /// Several parts look like one.
    Several(Vec<DetectedPart>),
}

crate::names::debug_is_display!(DetectError);

/// One of several patches of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedPart {
    /// The apparent form.
    pub kind: DetectedKind,
    /// Its 1-based lines, last excluded.
    pub lines: Range<usize>,
    /// The first files of the patch.
    pub files: Vec<String>,
}

impl std::error::Error for DetectError {}

impl fmt::Display for DetectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str(
                "there is no patch in it: wanted `*** Begin Patch`, or a unified or git diff",
            ),
            Self::Several(all) => {
                write!(f, "there are {} patches in it, and only one can be meant: ", all.len())?;
                for (nth, part) in all.iter().take(SHOWN).enumerate() {
                    let comma = if nth == 0 { "" } else { "; " };
                    write!(f, "{comma}{}: a {} in {}", nth + 1, part.kind, shown(&part.lines))?;
                    if !part.files.is_empty() {
                        write!(f, " ({})", part.files.join(", ").escape_debug())?;
                    }
                }
                if all.len() > SHOWN {
                    write!(f, "; and {} more", all.len() - SHOWN)?;
                }
                Ok(())
            }
        }
    }
}

/// Returns whether a text is plainly one envelope and nothing else: the first line and the last are
/// the markers, and all lines between that begin with `**` are headers.
#[must_use]
pub fn is_bare(text: &[u8]) -> bool {
    let Some(rest @ ([] | [b'\n', ..] | [b'\r', b'\n', ..])) = text.strip_prefix(BEGIN.as_bytes())
    else {
        return false;
    };
    let body = text.trim_ascii_end();
    if !body.ends_with(END.as_bytes())
        || text[body.len()..].iter().any(|byte| !matches!(byte, b'\r' | b'\n'))
        || !rest.trim_ascii_start().starts_with(b"*** ")
    {
        return false;
    }
    let last = body.len() - END.len();
    headers_of(text).all(|(at, line, next)| at == last || (is_header(line) && is_plain(line, next)))
}

/// Returns whether a line begins with a marker other than the first and the last.
fn is_header(line: &[u8]) -> bool {
    let headers = Marker::ALL.iter().filter(|one| !matches!(one, Marker::Begin | Marker::End));
    headers.map(|marker| marker.as_str()).any(|header| line.starts_with(header.as_bytes()))
}

/// Returns the lines with two stars in front, except the first line of the text: for each, the byte
/// of its beginning, the line, and the text after.
fn headers_of(text: &[u8]) -> impl Iterator<Item = (usize, &[u8], &[u8])> {
    memmem::find_iter(text, b"\n**").map(|at| {
        let rest = &text[at + 1..];
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        (at + 1, &rest[..end], rest.get(end + 1..).unwrap_or_default())
    })
}

/// Returns whether nothing has to be taken off a header: no quotation marks or stars around its
/// path, no names of a diff below.
fn is_plain(line: &[u8], next: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let path = line.get(4..).unwrap_or_default();
    let blanks = match memchr::memchr(b':', line).map(|colon| &line[colon + 1..]) {
        Some(path) => !path.starts_with(b" ") || path.starts_with(b"  ") || path.ends_with(b" "),
        None => line.ends_with(b" "),
    };
    let decorated = path.iter().any(|byte| matches!(byte, b'*' | b'"' | b'\'' | b'`'));
    let update = line.starts_with(Marker::Update.as_str().as_bytes());
    let names_diff = update && next.starts_with(b"--- ");
    !(blanks || path.ends_with(b"\t") || decorated || names_diff)
}

/// Returns whether a text can be an envelope as it stands, with nothing but empty lines around.
/// Only then does parsing before the search pay.
#[must_use]
pub fn may_stand_alone(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| wrapper::ends(text, false))
        && headers_of(text).all(|(_, line, next)| is_plain(line, next))
}

/// Finds an envelope that is plain in itself ([`is_bare`]), from the first line that is exactly
/// `*** Begin Patch` on. The text around is not checked.
#[must_use]
pub fn find_bare(text: &[u8]) -> Option<Bare> {
    let top = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let start = memmem::find_iter(text, BEGIN).find(|&at| at == top || text[at - 1] == b'\n')?;
    let end = start + memmem::find(&text[start..], format!("\n{END}").as_bytes())? + 1;
    let end = memchr::memchr(b'\n', &text[end..]).map_or(text.len(), |feed| end + feed + 1);
    let range = start..end;
    if !is_bare(&text[range.clone()]) {
        return None;
    }
    let before = count_feeds(&text[..start]);
    let lines = before..before + count_lines(&text[range.clone()]);
    let below = &text[end..];
    let after = lines.end..lines.end + count_lines(below);
    let before = says_something(&text[top..start]).then_some(0..lines.start);
    let after = says_something(below).then_some(after);
    let notes = note(DetectedKind::Envelope, &lines, before, after).into_iter().collect();
    Some(Bare { range, notes })
}

fn count_feeds(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Returns the number of lines; the last one may lack its line feed.
fn count_lines(text: &[u8]) -> usize {
    count_feeds(text) + usize::from(!text.ends_with(b"\n"))
}

fn says_something(text: &[u8]) -> bool {
    !String::from_utf8_lossy(text).trim().is_empty()
}

/// Finds the one patch in `text`.
///
/// # Errors
///
/// When nothing looks like a patch, or several things do.
pub fn find(text: &[u8]) -> Result<Detected, DetectError> {
    match <[Found; 1]>::try_from(find_all(text)) {
        Ok([found]) => Ok(found.into_detected()),
        Err(none) if none.is_empty() => Err(DetectError::Nothing),
        Err(all) => Err(DetectError::Several(all.into_iter().map(Found::into_part).collect())),
    }
}

/// One of the patches of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The apparent form.
    pub kind: DetectedKind,
    /// Its 1-based lines, last excluded.
    pub lines: Range<usize>,
    /// The patch alone.
    pub text: Vec<u8>,
    /// Whether anything but blanks stands behind the patch.
    pub ended: bool,
    notes: Vec<String>,
}

impl Found {
    /// Describes the patch for an error.
    #[must_use]
    pub fn into_part(self) -> DetectedPart {
        let lines = self.text.split(|&byte| byte == b'\n');
        let named = lines.filter(|line| match self.kind {
            DetectedKind::Envelope => line.starts_with(b"*** "),
            DetectedKind::Diff => line.starts_with(b"+++ ") || line.starts_with(b"rename to "),
        });
        let files = outside::files(named);
        DetectedPart { kind: self.kind, lines: self.lines, files }
    }

    /// Puts an empty line before the patch for each line before. There may be as many patches as
    /// lines, so not every patch gets them.
    #[must_use]
    pub fn into_detected(self) -> Detected {
        let mut text = vec![b'\n'; self.lines.start - 1];
        text.extend_from_slice(&self.text);
        Detected { kind: self.kind, text, notes: self.notes, ended: self.ended }
    }
}

/// Returns whether no line of a text belongs to a patch.
#[must_use]
pub fn is_prose(text: &[u8]) -> bool {
    let lines = Lines::new(text, 0..text.len());
    let line = |at: usize| if at < lines.len() { lines.get(at) } else { b"" };
    !(0..lines.len()).any(|at| outside::belongs(line, at))
}

/// Checks the lines around the patches of a text, all of which were found.
///
/// # Errors
///
/// [`ParseErrorKind::TextOutside`] if a line belongs to a patch and is in none of them, and
/// [`ParseErrorKind::Hidden`] for a patch in a comment.
pub fn check_around(text: &[u8], found: &[Found]) -> Result<(), ParseError> {
    let skipped = text.len() - text.strip_prefix(BOM).unwrap_or(text).len();
    let lines = Lines::new(text, skipped..text.len());
    let starts = found.iter().map(|one| one.lines.start - 1).chain([lines.len()]);
    let ends = std::iter::once(0).chain(found.iter().map(|one| one.lines.end - 1));
    let around: Vec<_> = ends.zip(starts).map(|(end, start)| end..start).collect();
    let mut indented = around.iter().cloned().flatten().map(|at| lines.get(at));
    let quotes = indented.any(outside::is_quotation)
        && found.iter().all(|one| one.kind == DetectedKind::Diff && diff::is_finished(&one.text));
    outside::check(text, &lines, around, quotes)?;
    let mut comment = Comment::default();
    let mut at = 0;
    for one in found {
        let start = one.lines.start - 1;
        (at..start).for_each(|at| comment.read(&String::from_utf8_lossy(lines.get(at))));
        if comment.open.is_some() {
            let start = lines.range(start).start;
            let expected = vec!["the patch where its reader sees it"];
            return Err(diagnose::at_offset(text, start, 0, ParseErrorKind::Hidden, expected));
        }
        at = one.lines.end - 1;
    }
    Ok(())
}

/// Follows the comments of Markdown and HTML, line by line.
#[derive(Debug, Default)]
struct Comment {
    fence: Option<Fence>,
    /// The closing text of the open comment.
    open: Option<&'static str>,
}

impl Comment {
    fn read(&mut self, line: &str) {
        let mut rest = line;
        loop {
            if let Some(end) = self.open {
                let Some((_, after)) = rest.split_once(end) else { return };
                (self.open, rest) = (None, after);
            } else if let Some(fence) = &self.fence {
                if fence.is_closed_by(line) {
                    self.fence = None;
                }
                return;
            } else if let Some((before, after)) = rest.split_once("<!--") {
                // Between backticks the comment is visible.
                self.open = (!before.ends_with('`')).then_some("-->");
                rest = after;
            } else {
                self.fence = Fence::opened_by(line);
                self.open = definition(rest);
                return;
            }
        }
    }
}

/// Returns the text that closes a link title still open at the end of the line: Markdown hides link
/// definitions.
fn definition(line: &str) -> Option<&'static str> {
    let (_, target) = line.trim_start().strip_prefix('[')?.split_once("]: ")?;
    let title = target.split_once(' ').map_or("", |(_, title)| title.trim_start());
    let close = match title.chars().next()? {
        '(' => ")",
        '"' => "\"",
        '\'' => "'",
        _ => return None,
    };
    (!title[1..].contains(close)).then_some(close)
}

/// An envelope that is plain in itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bare {
    /// Its byte range.
    pub range: Range<usize>,
    /// Notes on the text that was left out; empty if there was none.
    pub notes: Vec<String>,
}

/// Finds all patches in `text`, in their order.
#[must_use]
pub fn find_all(text: &[u8]) -> Vec<Found> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let whole = Lines::new(text, 0..text.len());
    // Only ASCII characters decide what a line looks like.
    let shape = String::from_utf8_lossy(text);
    let lines: Vec<&str> = shape.split_inclusive('\n').collect();
    let first = lines.iter().position(|line| !line.trim().is_empty());
    let last = lines.iter().rposition(|line| !line.trim().is_empty());
    let mut all = Vec::new();
    for one in candidates(&lines, &whole) {
        let before = first.filter(|&first| first < one.lines.start).map(|_| 0..one.lines.start);
        let after = last.filter(|&last| last >= one.lines.end).map(|_| one.lines.end..lines.len());
        let ended = after.is_some();
        let mut notes: Vec<_> = note(one.kind, &one.lines, before, after).into_iter().collect();
        let bytes = &text[whole.range(one.lines.start).start..whole.range(one.lines.end).start];
        let mut text = Vec::with_capacity(bytes.len());
        bytes
            .split_inclusive(|&byte| byte == b'\n')
            .for_each(|line| text.extend_from_slice(dedent(line, one.indent)));
        if one.indent > 0 {
            notes.push(format!("removed the indentation of {} blanks", one.indent));
        }
        all.push(Found { kind: one.kind, lines: numbers(&one.lines), text, ended, notes });
    }
    all
}

/// Says which lines were taken and which were left out, if any were.
fn note(
    kind: DetectedKind,
    lines: &Range<usize>,
    before: Option<Range<usize>>,
    after: Option<Range<usize>>,
) -> Option<String> {
    let taken = shown(&numbers(lines));
    left_out(before.into_iter().chain(after))
        .map(|left_out| format!("took the {kind} in {taken}; {left_out}"))
}

/// A part of the text that looks like a patch.
#[derive(Debug)]
struct PatchCandidate {
    kind: DetectedKind,
    lines: Range<usize>,
    /// How many blanks stand before each line.
    indent: usize,
}

fn candidates(lines: &[&str], whole: &Lines<'_>) -> Vec<PatchCandidate> {
    let mut all = Vec::new();
    let mut fence = None::<Fence>;
    let mut at = 0;
    // The lines before this one lead to no diff.
    let mut leads_nowhere = 0;
    let ends = Ends::of(lines);
    while let Some(line) = lines.get(at) {
        match &fence {
            Some(open) if open.is_closed_by(line) => fence = None,
            None if Fence::opened_by(line).is_some() => fence = Fence::opened_by(line),
            None if let Some(end) = cover_letter(|at| whole.get(at), at, lines.len()) => {
                at = end;
                continue;
            }
            _ => {
                let candidate = envelope(lines, at, &ends, fence.as_ref())
                    .or_else(|| diff(lines, whole, at, fence.as_ref(), &mut leads_nowhere));
                if let Some(candidate) = candidate {
                    at = candidate.lines.end;
                    all.push(candidate);
                    continue;
                }
            }
        }
        at += 1;
    }
    all
}

/// The lines with an end marker. They are found once: otherwise each of many envelopes without an
/// end would search the rest of the text.
#[derive(Debug)]
struct Ends {
    /// In file order: the line, how many blanks stand before the marker, and the fewest from there
    /// on.
    all: Vec<(usize, usize, usize)>,
}

impl Ends {
    fn of(lines: &[&str]) -> Self {
        let mut all = Vec::new();
        let mut fewest = usize::MAX;
        for (at, line) in lines.iter().enumerate().rev().filter(|(_, line)| is_end(line)) {
            fewest = fewest.min(blanks(line));
            all.push((at, blanks(line), fewest));
        }
        all.reverse();
        Self { all }
    }

    /// Returns the first line after `at` that ends an envelope with this indentation: a deeper
    /// marker is inside of the envelope.
    fn after(&self, at: usize, indent: usize) -> Option<usize> {
        let rest = &self.all[self.all.partition_point(|&(end, ..)| end <= at)..];
        rest.first().filter(|&&(.., fewest)| fewest <= indent)?;
        rest.iter().find(|&&(_, blanks, _)| blanks <= indent).map(|&(end, ..)| end)
    }
}

fn is_end(line: &str) -> bool {
    #[cfg(test)]
    tests::LOOKED_AT.set(tests::LOOKED_AT.get() + 1);
    line.trim() == END
}

fn blanks(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the envelope that begins at line `at`.
fn envelope(
    lines: &[&str],
    at: usize,
    ends: &Ends,
    fence: Option<&Fence>,
) -> Option<PatchCandidate> {
    let indent = blanks(lines[at]);
    if lines[at].trim() != BEGIN {
        return None;
    }
    let rest = &lines[at + 1..];
    let length = ends.after(at, indent).map(|end| end - at).unwrap_or_else(|| {
        // The parser reports a missing end; the text after the fence is not a part of the patch in
        // any case.
        let stop = rest.iter().position(|line| {
            fence.is_some_and(|fence| fence.is_closed_by(line)) || line.trim_end() == BEGIN
        });
        stop.unwrap_or(rest.len())
    });
    let lines_of = at..at + 1 + length;
    // Blanks before every line are indentation. Before some lines they are context, or padding for
    // the parser.
    let indented =
        lines[lines_of.clone()].iter().all(|line| line.trim().is_empty() || blanks(line) >= indent);
    Some(PatchCandidate {
        kind: DetectedKind::Envelope,
        lines: lines_of,
        indent: if indented { indent } else { 0 },
    })
}

/// Returns the diff that begins at line `at`.
fn diff(
    lines: &[&str],
    whole: &Lines<'_>,
    at: usize,
    fence: Option<&Fence>,
    leads_nowhere: &mut usize,
) -> Option<PatchCandidate> {
    let indent = fence.map_or(0, |fence| fence.indent);
    let line = |at: usize| {
        let line = dedent(lines.get(at).map_or(&b""[..], |line| line.as_bytes()), indent);
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    };
    // The lines before the first file, such as the header of a mail, are the diff's too.
    let mut first = at;
    let mut message = false;
    while !if message { diff::opens_in_message(line, first) } else { diff::opens(line, first) } {
        if fence.is_none()
            && let Some(end) = cover_letter(line, first, lines.len())
        {
            first = end;
            continue;
        }
        let ends = first == lines.len()
            || fence.map_or_else(
                || Fence::opened_by(lines[first]).is_some(),
                |fence| fence.is_closed_by(lines[first]),
            );
        let between = Between::of(line, first);
        let leads = match between {
            _ if ends || first < *leads_nowhere => false,
            Some(Between::Line) => first > at || !line(at).trim_ascii().is_empty(),
            Some(Between::Text) => !matches!(line(first).first(), Some(b'-' | b'P')),
            None => message,
        };
        if !leads {
            *leads_nowhere = first.max(*leads_nowhere);
            return None;
        }
        message |= between == Some(Between::Text);
        first += 1;
    }
    let end = match fence {
        // A fence has one diff, also when the numbers of its hunks are wrong.
        Some(fence) => lines[at..]
            .iter()
            .position(|line| fence.is_closed_by(line))
            .map_or(lines.len(), |end| at + end),
        // So has a tag, such as `<patch>`; the numbers are wrong where no other end is found.
        None => match diff::extent(whole, at) {
            end if end == lines.len() => closing_tag(lines, at).unwrap_or(end),
            end => end,
        },
    };
    Some(PatchCandidate { kind: DetectedKind::Diff, lines: at..end, indent })
}

/// Returns the line that closes the tag which stands alone on its line above `at`.
fn closing_tag(lines: &[&str], at: usize) -> Option<usize> {
    let above = lines[..at].iter().rev().map(|line| line.trim()).find(|line| !line.is_empty())?;
    let name = above.strip_prefix('<')?.strip_suffix('>')?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    let close = format!("</{name}>");
    let below = lines[at..].iter().position(|line| line.trim() == close)?;
    (is_name && !name.is_empty()).then_some(at + below)
}

/// Removes up to `indent` blanks.
fn dedent(line: &[u8], indent: usize) -> &[u8] {
    let blanks = line.iter().take(indent).take_while(|&&byte| byte == b' ').count();
    &line[blanks..]
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// How many lines were compared with the end marker.
        pub(super) static LOOKED_AT: Cell<usize> = const { Cell::new(0) };
    }

    const PATCH: &str = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    const MAIL: &str = "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n\
                        Subject: x\n\n--- a\n x | 2 +-\n\n";
    const BINARY: &str = "diff --git a/b b/b\nindex 1..2 100644\nGIT binary patch\nliteral 1\n\
                          IcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n";
    const DIFFER: &str = "diff --git a/p b/p\nindex 1..2 100644\nBinary files a/p and b/p differ\n";
    const GIT: &str =
        "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\n";

    /// Checks the one patch of a text, and the beginning of its note.
    fn assert_found(text: &str, kind: DetectedKind, wanted: &str, note: Option<&str>) {
        let found = find(text.as_bytes()).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        assert_eq!(found.kind, kind, "{text}");
        assert_eq!(String::from_utf8_lossy(&found.text), wanted, "{text}");
        match note {
            Some(note) => {
                let note = format!("took the {note}");
                assert!(found.notes[0].starts_with(&note), "{text}: {:?}", found.notes);
            }
            None => assert!(found.notes.is_empty(), "{text}: {:?}", found.notes),
        }
    }

    #[test]
    fn the_one_patch_is_found() {
        for (text, wanted, note) in [
            (PATCH.to_owned(), PATCH.to_owned(), None),
            (format!("\u{feff}\n{PATCH}\n"), format!("\n{PATCH}"), None),
            (PATCH.replace('\n', "\r\n"), PATCH.replace('\n', "\r\n"), None),
            (
                format!("Here:\n```diff\n{PATCH}```\nDone.\n"),
                format!("\n\n{PATCH}"),
                Some("patch in lines 3-5; left out lines 1-2 and lines 6-7"),
            ),
            (
                format!("apply_patch <<'EOF'\n{PATCH}EOF\n"),
                format!("\n{PATCH}"),
                Some("patch in lines 2-4; left out line 1 and line 5"),
            ),
            // A list item: all lines are indented.
            (
                "1. so\n   ```\n   *** Begin Patch\n   *** Update File: a\n   @@\n    x\n   -y\n\
                 \x20  *** End Patch\n   ```\n"
                    .into(),
                "\n\n*** Begin Patch\n*** Update File: a\n@@\n x\n-y\n*** End Patch\n".into(),
                Some("patch in lines 3-8; left out lines 1-2 and line 9"),
            ),
            // Markers and fences inside of it are its content.
            (
                "*** Begin Patch\n*** Update File: a\n@@\n *** End Patch\n-```\n+*** Begin Patch\n\
                 *** End Patch\n"
                    .into(),
                "*** Begin Patch\n*** Update File: a\n@@\n *** End Patch\n-```\n+*** Begin Patch\n\
                 *** End Patch\n"
                    .into(),
                None,
            ),
            // Half of one is one; the parser says what is missing.
            (
                "```\n*** Begin Patch\n*** Delete File: a\n```\n".into(),
                "\n*** Begin Patch\n*** Delete File: a\n".into(),
                Some("patch in lines 2-3; left out line 1 and line 4"),
            ),
        ] {
            assert_found(&text, DetectedKind::Envelope, &wanted, note);
        }
    }

    #[test]
    fn the_one_diff_is_found() {
        for (text, wanted, note) in [
            (DIFF.into(), DIFF.into(), None),
            (format!("{DIFF}{GIT}"), format!("{DIFF}{GIT}"), None),
            (format!("{GIT}\n{GIT}"), format!("{GIT}\n{GIT}"), None),
            (
                format!("Hi,\n\n{MAIL}{GIT}-- \n2.39\n\nBye\n"),
                format!("\n\n{MAIL}{GIT}-- \n2.39\n"),
                Some("diff in lines 3-17; left out lines 1-2 and lines 18-19"),
            ),
            // Of a binary file, in a mail and in a chat; the first file, and a later one.
            (
                format!("Hi,\n\n{MAIL}{BINARY}{GIT}{BINARY}-- \n2.39\n\nBye\n"),
                format!("\n\n{MAIL}{BINARY}{GIT}{BINARY}-- \n2.39\n"),
                Some("diff in lines 3-35; left out lines 1-2 and lines 36-37"),
            ),
            (
                format!("So:\n\n{BINARY}{GIT}{BINARY}\nThat is all.\n"),
                format!("\n\n{BINARY}{GIT}{BINARY}"),
                Some("diff in lines 3-27; left out lines 1-2 and"),
            ),
            (
                format!("{DIFF}{DIFFER}{GIT}{DIFFER}Bye\n"),
                format!("{DIFF}{DIFFER}{GIT}{DIFFER}"),
                Some("diff in lines 1-19; left out line 20"),
            ),
            (
                format!("{MAIL}{GIT}-- \n2.39\n\n{MAIL}{DIFF}"),
                format!("{MAIL}{GIT}-- \n2.39\n\n{MAIL}{DIFF}"),
                None,
            ),
            (
                format!("So:\ndiff -ru a/x b/x\n{DIFF}Only in b: y\ndiff -ru a/x b/x\n{DIFF}ok\n"),
                format!("\ndiff -ru a/x b/x\n{DIFF}Only in b: y\ndiff -ru a/x b/x\n{DIFF}"),
                Some("diff in lines 2-16; left out line 1 and line 17"),
            ),
            (
                format!("Do this:\n```diff\n{DIFF}```\n"),
                format!("\n\n{DIFF}"),
                Some("diff in lines 3-8; left out lines 1-2 and line 9"),
            ),
            // Lines beyond the numbers of a hunk are not left out in silence.
            (format!("{DIFF}+more\n\nend\n"), format!("{DIFF}+more\n\nend\n"), None),
            // A line that reads like a header, inside a hunk.
            (
                "--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n---- a\n--- b\n+++ c\n".into(),
                "--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n---- a\n--- b\n+++ c\n".into(),
                None,
            ),
        ] {
            assert_found(&text, DetectedKind::Diff, &wanted, note);
        }
    }

    #[test]
    fn none_and_several_are_errors() {
        for (text, wanted) in [
            (String::new(), Vec::new()),
            ("hello\n--- a\n".into(), Vec::new()),
            ("@@ -1 +1 @@\n-a\n+b\n".into(), Vec::new()),
            (
                format!("{PATCH}{PATCH}"),
                vec![(DetectedKind::Envelope, 1..4), (DetectedKind::Envelope, 4..7)],
            ),
            (
                format!("{PATCH}or\n{DIFF}"),
                vec![(DetectedKind::Envelope, 1..4), (DetectedKind::Diff, 5..11)],
            ),
            (
                format!("```\n{DIFF}```\n```\n{GIT}```\n"),
                vec![(DetectedKind::Diff, 2..8), (DetectedKind::Diff, 10..17)],
            ),
            (
                format!("{DIFF}and\n{DIFF}"),
                vec![(DetectedKind::Diff, 1..7), (DetectedKind::Diff, 8..14)],
            ),
        ] {
            let found: Vec<_> = match find(text.as_bytes()) {
                Err(DetectError::Several(all)) => {
                    all.into_iter().map(|part| (part.kind, part.lines)).collect()
                }
                Err(DetectError::Nothing) => Vec::new(),
                Ok(one) => panic!("{text}: {one:?}"),
            };
            assert_eq!(found, wanted, "{text}");
        }
    }

    #[test]
    fn the_work_grows_with_the_text_alone() {
        for (text, patches) in [
            ("*** Begin Patch\n".repeat(2000), 2000),
            (PATCH.repeat(2000), 2000),
            // Ends deeper than every beginning.
            ("*** Begin Patch\n   *** End Patch\n".repeat(2000), 2000),
            // Beginnings ever deeper, each shut out of the one before by a fence.
            (
                (0..200)
                    .map(|blanks| format!("```\n{}*** Begin Patch\n```\n", " ".repeat(blanks)))
                    .collect(),
                200,
            ),
        ] {
            LOOKED_AT.set(0);
            let problem = find(text.as_bytes()).expect_err("several");
            let lines = text.lines().count();
            assert!(
                LOOKED_AT.get() <= 2 * lines,
                "{} of {lines} lines were looked at",
                LOOKED_AT.get()
            );
            assert!(
                matches!(&problem, DetectError::Several(all) if all.len() >= patches),
                "{patches}"
            );
            assert!(problem.to_string().len() < 1000, "{problem}");
        }
    }
}
