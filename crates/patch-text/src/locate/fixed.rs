//! Finds hunks whose old lines differ from the file only in whitespace errors that are to be fixed:
//! an earlier patch of a series may have been fixed, or this patch written against a fixed file.
//!
//! The hunks are located with all errors fixed, in the hunks and in the file. Then they get the
//! file's own lines, and are applied to the unfixed file.

use std::iter::repeat_n;

use patch_grammar::{Hunk, Line, LineEndings, LineKind};

use crate::locate::edit::{Edit, edit_by};
use crate::locate::edit_rules::EditRules;
use crate::locate::{Note, Placed};
use crate::text::lines::Lines;
use crate::text::whitespace::{WhitespaceRule, WhitespaceRules, is_blank_line};

/// Applies hunks whose old lines differ from the file's in whitespace errors only; `None` where
/// errors are not to be fixed, or fixing them does not help.
pub(super) fn edit(source: &[u8], hunks: &[Hunk<'_>], rules: EditRules<'_>) -> Option<Edit> {
    let whitespace = rules.whitespace.filter(|of| of.overlook)?.rules;
    let lines = Lines::new(source).cancelled_by(rules.cancel);
    let file = FixedFile::of_file(&lines, whitespace);
    let texts: Vec<Vec<FixedLine>> = hunks
        .iter()
        .map(|hunk| hunk.lines.iter().map(|line| fixed(line, whitespace)).collect())
        .collect();
    let as_fixed: Vec<Hunk<'_>> =
        hunks.iter().zip(&texts).map(|(hunk, texts)| with_fixed(hunk, texts)).collect();
    let exact = EditRules { whitespace: None, ..rules };
    let located = edit_by(&file.bytes, &as_fixed, exact).or_else(|rejects| {
        let missing = file.missing_at_end(&as_fixed, whitespace);
        if missing == 0 {
            Err(rejects)
        } else {
            edit_by(&file.and_blank(missing), &as_fixed, exact)
        }
    });
    let placed = located.ok()?.placed;
    let mut differ = Vec::new();
    let meant: Vec<Hunk<'_>> = hunks
        .iter()
        .enumerate()
        .map(|(index, hunk)| {
            let Some(at) = placed.iter().find(|placed| placed.hunk == index) else {
                return hunk.clone();
            };
            let meant = as_in_file(hunk, &texts[index], at, &lines, &file);
            if meant.lines != hunk.lines {
                differ.push(index);
            }
            meant
        })
        .collect();
    if differ.is_empty() {
        return None;
    }
    let mut edit = edit_by(source, &meant, rules).ok()?;
    for placed in edit.placed.iter_mut().filter(|placed| differ.contains(&placed.hunk)) {
        placed.notes.push(Note::FixedWhitespace);
    }
    Some(edit)
}

/// A line without whitespace errors, and whether it ends in CRLF.
#[derive(Debug, PartialEq, Eq)]
struct FixedLine {
    text: Vec<u8>,
    crlf: bool,
}

fn fixed_text(text: &[u8], crlf: bool, rules: WhitespaceRules) -> FixedLine {
    let mut whole = text.to_vec();
    if crlf {
        whole.push(b'\r');
    }
    let mut text = rules.fixed(&whole).unwrap_or(whole);
    let crlf = crlf && text.ends_with(b"\r");
    text.truncate(text.len() - usize::from(crlf));
    FixedLine { text, crlf }
}

fn fixed(line: &Line<'_>, rules: WhitespaceRules) -> FixedLine {
    fixed_text(line.text, line.crlf, rules)
}

/// Returns a hunk whose lines have no whitespace errors.
fn with_fixed<'t>(hunk: &Hunk<'t>, texts: &'t [FixedLine]) -> Hunk<'t> {
    let lines = hunk.lines.iter().zip(texts);
    let lines =
        lines.map(|(line, fixed)| Line { text: &fixed.text, crlf: fixed.crlf, ..*line }).collect();
    Hunk { lines, ..hunk.clone() }
}

/// Returns a hunk with the lines of the file where it was placed. Blank lines beyond the end of the
/// file are inserted where the hunk has lines to insert below them.
fn as_in_file<'t>(
    hunk: &Hunk<'t>,
    texts: &'t [FixedLine],
    placed: &Placed,
    lines: &Lines<'t>,
    file: &FixedFile,
) -> Hunk<'t> {
    let mut at = placed.first_line - 1;
    let end = at + placed.line_count;
    let mut meant = Hunk { lines: Vec::with_capacity(hunk.lines.len()), ..hunk.clone() };
    // How many lines are needed: all but blank lines beyond the end with no insertion below.
    let mut needed = 0;
    for (line, fixed) in hunk.lines.iter().zip(texts) {
        let is_old = line.kind != LineKind::Insert && at < end;
        let found = file.lines.get(at);
        match found {
            Some(found) if is_old && found.text == fixed.text => {
                meant.lines.push(as_found(line, at, lines, hunk.endings));
            }
            None if is_old && line.kind == LineKind::Context => {
                meant.lines.push(Line {
                    kind: LineKind::Insert,
                    text: &fixed.text,
                    crlf: fixed.crlf,
                    ..*line
                });
            }
            None if is_old => {}
            _ => meant.lines.push(*line),
        }
        if !is_old || found.is_some() {
            needed = meant.lines.len();
        }
        at += usize::from(is_old);
    }
    meant.lines.truncate(needed);
    meant
}

/// Returns an old line as it is in the file.
fn as_found<'t>(line: &Line<'t>, at: usize, file: &Lines<'t>, endings: LineEndings) -> Line<'t> {
    let in_crlf = file.terminator(at) == b"\r\n";
    // Only of these does the absence of a carriage return say something.
    let crlf = in_crlf && (line.crlf || endings == LineEndings::Exact);
    Line { text: file.content(at), crlf, ..*line }
}

/// A file without whitespace errors, line by line.
struct FixedFile {
    bytes: Vec<u8>,
    lines: Vec<FixedLine>,
}

impl FixedFile {
    fn of_file(lines: &Lines<'_>, rules: WhitespaceRules) -> Self {
        let start = if lines.len() == 0 { lines.bytes().len() } else { lines.start(0) };
        let mut bytes = lines.bytes()[..start].to_vec();
        let mut all = Vec::with_capacity(lines.len());
        for index in 0..lines.len() {
            let end = lines.terminator(index);
            let line = fixed_text(lines.content(index), end == b"\r\n", rules);
            bytes.extend_from_slice(&line.text);
            if !end.is_empty() {
                bytes.extend_from_slice(if line.crlf { b"\r\n" } else { b"\n" });
            }
            all.push(line);
        }
        Self { bytes, lines: all }
    }

    /// Returns how many of the blank lines at the end of the last hunk the file lacks: they may
    /// have been removed there.
    fn missing_at_end(&self, hunks: &[Hunk<'_>], rules: WhitespaceRules) -> usize {
        let last = hunks.iter().max_by_key(|hunk| hunk.old_start);
        let Some(last) = last.filter(|_| rules.has(WhitespaceRule::BlankAtEof)) else { return 0 };
        let old: Vec<&[u8]> = last.old_lines().map(|line| line.text).collect();
        let shown = old.iter().rev().take_while(|line| is_blank_line(line)).count();
        // Blank lines alone would fit anywhere at the end.
        if shown == old.len() {
            return 0;
        }
        let there = self.lines.iter().rev().take_while(|line| is_blank_line(&line.text)).count();
        shown.saturating_sub(there)
    }

    /// Returns its bytes, with more blank lines at the end.
    fn and_blank(&self, count: usize) -> Vec<u8> {
        let crlf = self.lines.last().is_some_and(|line| line.crlf);
        let end: &[u8] = if crlf { b"\r\n" } else { b"\n" };
        let mut bytes = self.bytes.clone();
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            bytes.extend_from_slice(end);
        }
        bytes.extend(repeat_n(end, count).flatten());
        bytes
    }
}
