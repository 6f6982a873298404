//! Replaces a text that need not begin or end with a line: the edits of tools.

use patch_grammar::{Extent, Hunk, Line, LineEndings, LineKind};

use crate::locate::edit::{Edit, edit_by, not_storable};
use crate::locate::edit_rules::{EditRules, FinalNewline};
use crate::locate::{Advice, Candidate, HunkReject, Note, Pass, Placed, RejectReason, Rules};
use crate::text::lf_text::{LfText, TextPlaces};
use crate::text::splices::Splices;

/// The most places that a reject names.
const NAMED: usize = 20;

/// Returns the hunk of a section whose lines are a text, if it is one.
pub(crate) fn text_hunk<'h, 'p>(hunks: &'h [Hunk<'p>]) -> Option<&'h Hunk<'p>> {
    // An edit is a section of its own, as it acts on the result of the edits before.
    let [hunk] = hunks else { return None };
    (hunk.extent != Extent::Lines).then_some(hunk)
}

/// Replaces the text of a hunk in a file.
pub(crate) fn edit_of_text(
    source: &[u8],
    hunk: &Hunk<'_>,
    rules: EditRules<'_>,
) -> Result<Edit, Vec<HunkReject>> {
    let old = joined(hunk.old_lines());
    let new = joined(hunk.new_lines());
    let file = LfText::new(source);
    let found = file.places(&old);
    if found.starts.is_empty() {
        let reason = nearest_text(source, &old, &new, hunk.line);
        return match reason {
            Some(RejectReason::AlreadyApplied { lines }) if rules.placement.skip_applied => {
                Ok(left_out(lines))
            }
            Some(RejectReason::ContextNotFound { nearest: Some(mut nearest), named }) => {
                // The hunk to paste has whole lines, and is no edit.
                nearest.paste = Vec::new();
                reject(hunk, RejectReason::ContextNotFound { nearest: Some(nearest), named })
            }
            Some(
                reason @ (RejectReason::AlreadyApplied { .. }
                | RejectReason::ContextNotFound { nearest: None, .. }),
            ) => reject(hunk, reason),
            _ => reject(hunk, RejectReason::ContextNotFound { nearest: None, named: Vec::new() }),
        };
    }
    let is_one = found.starts.len() == 1 && found.overlapping == 0;
    if !is_one && hunk.extent == Extent::Text {
        return reject(hunk, several(&file, &found, &old));
    }
    let mut splices = Splices::new();
    for &start in &found.starts {
        let (range, text) = file.splice(start, &old, &new);
        splices.push(range, text);
    }
    if std::str::from_utf8(source).is_err()
        && splices.as_slice().iter().any(|splice| !splice.text.is_ascii())
    {
        return Err(not_storable(std::slice::from_ref(hunk)));
    }
    let start = found.starts[0];
    let first_line = file.line(start);
    let line_count = file.line(start + old.len() - 1) + 1 - first_line;
    let placed = Placed { hunk: 0, first_line, line_count, pass: Pass::Exact, notes: Vec::new() };
    let sources = vec![vec![0]; splices.as_slice().len()];
    Ok(Edit { splices, sources, placed: vec![placed], blank_at_eof: Vec::new() })
}

fn reject(hunk: &Hunk<'_>, reason: RejectReason) -> Result<Edit, Vec<HunkReject>> {
    Err(vec![HunkReject { hunk: 0, patch_line: hunk.line, reason }])
}

/// Joins the lines of a side of a hunk by line feeds.
fn joined<'l, 'p: 'l>(lines: impl Iterator<Item = &'l Line<'p>>) -> Vec<u8> {
    let mut text = Vec::new();
    for (nth, line) in lines.enumerate() {
        if nth > 0 {
            text.push(b'\n');
        }
        text.extend_from_slice(line.text);
        if line.crlf {
            text.push(b'\r');
        }
    }
    text
}

/// The edit of a hunk that is applied already.
fn left_out(lines: std::ops::RangeInclusive<usize>) -> Edit {
    let placed = Placed {
        hunk: 0,
        first_line: *lines.start(),
        line_count: lines.count(),
        pass: Pass::Exact,
        notes: vec![Note::AlreadyApplied],
    };
    Edit { placed: vec![placed], ..Edit::default() }
}

/// Returns the reason of a text that is in several places.
fn several(file: &LfText, found: &TextPlaces, old: &[u8]) -> RejectReason {
    let candidates = found.starts.iter().take(NAMED).map(|&start| {
        let last = start + old.len() - usize::from(old.ends_with(b"\n"));
        let advice = file.more_text(start, old);
        Candidate {
            lines: file.line(start)..=file.line(last.max(start)),
            advice: advice.map(|more| Advice::Text { before: more.before, after: more.after }),
        }
    });
    RejectReason::MultipleMatches {
        candidates: candidates.collect(),
        more: found.starts.len() > NAMED || found.overlapping > 0,
        out_of_order: false,
    }
}

/// Returns the reason why the lines of a text have no place, with the place where they nearly are.
/// `None` if they have a place. The texts have LF alone.
#[must_use]
pub fn nearest_text(source: &[u8], old: &[u8], new: &[u8], line: u32) -> Option<RejectReason> {
    // Lines that the texts share at both ends become context.
    let olds = lines_of(old);
    let news = lines_of(new);
    let head = olds.iter().zip(&news).take_while(|(one, other)| one == other).count();
    let most = olds.len().min(news.len()) - head;
    let tail = olds
        .iter()
        .rev()
        .zip(news.iter().rev())
        .take_while(|(one, other)| one == other)
        .count()
        .min(most);
    let lines = hunk_lines(&olds[..head], LineKind::Context, line)
        .chain(hunk_lines(&olds[head..olds.len() - tail], LineKind::Delete, line))
        .chain(hunk_lines(&news[head..news.len() - tail], LineKind::Insert, line))
        .chain(hunk_lines(&olds[olds.len() - tail..], LineKind::Context, line))
        .collect();
    let hunk = Hunk { opened: true, lines, endings: LineEndings::Framing, line, ..Hunk::default() };
    let placement = Rules::default();
    let rules = EditRules {
        placement: &placement,
        final_newline: FinalNewline::Keep,
        whitespace: None,
        cancel: &(),
    };
    let rejects = edit_by(source, std::slice::from_ref(&hunk), rules).err()?;
    Some(rejects.into_iter().next()?.reason)
}

fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}

fn hunk_lines<'l>(texts: &[&'l [u8]], kind: LineKind, line: u32) -> impl Iterator<Item = Line<'l>> {
    texts.iter().map(move |text| Line::new(text, LineEndings::Framing, line, kind))
}
