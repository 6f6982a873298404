//! Finds out whether a hunk that fits nowhere is applied already.
//!
//! The caller then leaves the hunk out, and a wrong answer would lose the change. So strong
//! evidence is required: the whole post-state of the hunk stands in one place, and its old lines
//! stand nowhere. A line that happens to stand somewhere is no evidence.

use std::collections::{HashMap, HashSet};
use std::ops::{Range, RangeInclusive};

use patch_grammar::{Line, LineKind};

use super::find::Blocks;
use super::hunk_lines::{is_context, runs};
use super::needle::{Fixed, Needle};
use super::pass::{Pass, trim};
use super::placed::{Note, Placed};
use super::scope::ScopeEnds;
use super::search::SATURATION;
use crate::text::lines::{BOM, Lines};

/// How many lines are compared to find the post-state of a hunk at its place.
const COMPARED: usize = 1 << 20;

/// The fewest letters and digits that make a new line distinctive.
const DISTINCTIVE: usize = 3;

/// Returns the lines of the whole post-state of the hunk, if they are strong evidence.
pub(crate) fn place(lines: &Lines<'_>, needle: &Needle<'_>) -> Option<RangeInclusive<usize>> {
    let hunk = needle.lines(needle.separators);
    if !every_change_shows(hunk) {
        return None;
    }
    let wanted: Vec<&Line<'_>> = hunk.iter().filter(|line| line.kind != LineKind::Delete).collect();
    let new = texts(lines, wanted.iter().copied());
    if new.is_empty() {
        return None;
    }
    let blocks = Blocks::new(lines, vec![&new], &[Pass::Exact]);
    // A hunk at an end of the file stands there or nowhere.
    let first = match needle.fixed {
        Some(Fixed::End) => lines.len().checked_sub(new.len())?,
        Some(Fixed::Start | Fixed::Whole) | None => 0,
    };
    let start = blocks.next(Pass::Exact, 0, first)?;
    let place = start..start + new.len();
    let evident = stands_as_wanted(lines, needle, &wanted, &place)
        && says_enough(lines, &wanted)
        && (needle.fixed.is_some()
            || blocks.next(Pass::Exact, 0, start + 1).is_none() && old_lines_are_gone(lines, hunk))
        && removed_lines_are_gone(lines, hunk)
        && in_scope(lines, needle, start);
    evident.then(|| start + 1..=place.end)
}

/// Returns the lines of the whole post-state of a hunk that was placed, at this very place: the
/// file would have the insertions twice. A diff that states this very line for the old lines means
/// the repetition.
pub(crate) fn again(
    lines: &Lines<'_>,
    needle: &Needle<'_>,
    placed: &Placed,
) -> Option<RangeInclusive<usize>> {
    let dropped = placed.notes.contains(&Note::SeparatorsDropped);
    let body = needle.lines(if dropped { needle.separators } else { 0 });
    let old = placed.first_line - 1..placed.first_line - 1 + placed.line_count;
    let is_meant = needle.expected == Some(old.start);
    if is_meant || !body.iter().any(|line| line.kind == LineKind::Insert) {
        return None;
    }
    let wanted: Vec<&Line<'_>> = body.iter().filter(|line| line.kind != LineKind::Delete).collect();
    let new = texts(lines, wanted.iter().copied());
    // It stands on some of the old lines; where there are none, beside the place.
    let (first, last) = if old.is_empty() {
        (old.start.saturating_sub(new.len()), old.start)
    } else {
        (old.start.saturating_sub(new.len() - 1), old.end - 1)
    };
    if new == needle.old_without(if dropped { needle.separators } else { 0 }) {
        return None;
    }
    // The differences that a pass overlooks may be all that the hunk changes.
    let pass = if new.len() > old.len() { placed.pass } else { Pass::Exact };
    let mut effort = COMPARED;
    let end = (last + new.len()).min(lines.len());
    let around: Vec<&[u8]> = (first..end).map(|index| lines.content(index)).collect();
    let beside = [first, last].into_iter().filter(|_| old.is_empty());
    let on = (first..=last).filter(|_| !old.is_empty());
    let place = beside.chain(on).map(|start| start..start + new.len()).find(|place| {
        around
            .get(place.start - first..place.end - first)
            .is_some_and(|found| same_texts(found, &new, pass, &mut effort))
            && (pass != Pass::Exact || ends_as_wanted(lines, needle, &wanted, place))
    })?;
    // Without old lines, the match may be chance.
    let evident = !old.is_empty()
        || body.iter().any(|line| tells(line.text))
            && (needle.headers.iter().any(|header| tells(header.as_bytes()))
                || says_enough(lines, &wanted));
    evident.then(|| place.start + 1..=place.end)
}

/// Returns whether lines of the file are these texts, as far as `effort` lasts.
fn same_texts(found: &[&[u8]], texts: &[&[u8]], pass: Pass, effort: &mut usize) -> bool {
    found.iter().zip(texts).all(|(found, text)| {
        *effort = effort.saturating_sub(1);
        *effort > 0 && pass.same(text, found)
    })
}

/// Returns the lines of the file as a hunk leaves them.
pub(super) fn new_texts<'p>(lines: &Lines<'_>, needle: &Needle<'p>) -> Vec<&'p [u8]> {
    let new = needle.lines(needle.separators).iter();
    texts(lines, new.filter(|line| line.kind != LineKind::Delete))
}

/// Returns the first places of adjacent lines.
pub(super) fn places_of(lines: &Lines<'_>, texts: &[&[u8]]) -> Vec<u32> {
    if texts.is_empty() {
        return Vec::new();
    }
    Blocks::new(lines, vec![texts], &[Pass::Exact]).first(Pass::Exact, 0, SATURATION)
}

/// Returns the texts of adjacent lines. A byte-order mark belongs to the file, not to its first
/// line.
pub(super) fn texts<'l, 'p: 'l>(
    lines: &Lines<'_>,
    together: impl Iterator<Item = &'l Line<'p>>,
) -> Vec<&'p [u8]> {
    let mut texts: Vec<&[u8]> = together.map(|line| line.text).collect();
    if let Some(first) = texts.first_mut().filter(|_| lines.has_bom()) {
        *first = first.strip_prefix(BOM).unwrap_or(first);
    }
    texts
}

/// Returns whether a line has more than blanks and punctuation.
pub(super) fn tells(line: &[u8]) -> bool {
    line.iter().any(is_telling)
}

/// Returns whether a byte is of a letter or a digit, or beyond ASCII.
fn is_telling(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// Returns whether a line is context with more than blanks and punctuation.
fn is_telling_context(line: &Line<'_>) -> bool {
    is_context(line) && tells(line.text)
}

/// Returns whether the new lines prove every change of the hunk. They prove insertions, and
/// deletions between two context lines with more than blanks and punctuation: a blank line or a
/// brace might be one to be deleted itself. They do not prove deletions above the first context
/// line or below the last.
pub(super) fn every_change_shows(hunk: &[Line<'_>]) -> bool {
    let first = hunk.iter().position(is_telling_context).unwrap_or(hunk.len());
    let last = hunk.iter().rposition(is_telling_context).unwrap_or(0);
    let mut start = 0;
    for run in runs(hunk) {
        start += run.len();
        if is_context(&run[0]) {
            continue;
        }
        let inserts = run.iter().any(|line| line.kind == LineKind::Insert && tells(line.text));
        let between = first < start && start <= last;
        if !inserts && !between {
            return false;
        }
    }
    true
}

/// Returns whether the place is the stated one of the hunk, with the stated line ends.
fn stands_as_wanted(
    lines: &Lines<'_>,
    needle: &Needle<'_>,
    wanted: &[&Line<'_>],
    place: &Range<usize>,
) -> bool {
    let fixed = match needle.fixed {
        None => true,
        Some(Fixed::Start) => place.start == 0,
        Some(Fixed::End) => place.end == lines.len(),
        Some(Fixed::Whole) => *place == (0..lines.len()),
    };
    fixed && ends_as_wanted(lines, needle, wanted, place)
}

/// Returns whether the lines at a place end as the hunk states.
pub(super) fn ends_as_wanted(
    lines: &Lines<'_>,
    needle: &Needle<'_>,
    wanted: &[&Line<'_>],
    place: &Range<usize>,
) -> bool {
    wanted.iter().zip(place.clone()).all(|(line, index)| match line.kind {
        LineKind::Insert => needle.terminator(line).is_none_or(|wanted| {
            let found = lines.terminator(index);
            // The last line may have no terminator.
            wanted == found || found.is_empty()
        }),
        _ => !line.crlf || lines.terminator(index) == b"\r\n",
    })
}

/// Returns whether the lines are no coincidence: one of them is context, or two new ones are unlike
/// any other line of the file.
fn says_enough(lines: &Lines<'_>, wanted: &[&Line<'_>]) -> bool {
    if wanted.iter().any(|line| is_telling_context(line)) {
        return true;
    }
    let mut counts: HashMap<&[u8], usize> = wanted
        .iter()
        .map(|line| trim(line.text))
        .filter(|line| line.iter().filter(|byte| is_telling(byte)).count() >= DISTINCTIVE)
        .map(|line| (line, 0))
        .collect();
    for line in lines.iter() {
        if let Some(count) = counts.get_mut(trim(line)) {
            *count += 1;
        }
    }
    counts.values().filter(|&&count| count == 1).count() >= 2
}

/// Returns whether none of the deleted lines stands anywhere, even in a lenient comparison.
fn removed_lines_are_gone(lines: &Lines<'_>, hunk: &[Line<'_>]) -> bool {
    let matched = hunk.iter().filter(|line| line.kind != LineKind::Insert);
    let old = texts(lines, matched.clone());
    let removed =
        matched.zip(&old).filter(|(line, text)| line.kind == LineKind::Delete && tells(text));
    let removed: HashSet<_> = removed.map(|(_, text)| Pass::Unicode.key(text)).collect();
    removed.is_empty() || !lines.iter().any(|line| removed.contains(&Pass::Unicode.key(line)))
}

/// Returns whether the old lines of the hunk do not stand together, compared in the same way.
fn old_lines_are_gone(lines: &Lines<'_>, hunk: &[Line<'_>]) -> bool {
    let old = texts(lines, hunk.iter().filter(|line| line.kind != LineKind::Insert));
    old.is_empty()
        || Blocks::new(lines, vec![&old], &[Pass::Unicode]).next(Pass::Unicode, 0, 0).is_none()
}

/// Returns whether a line is below the hunk's headers. Without headers every line is.
fn in_scope(lines: &Lines<'_>, needle: &Needle<'_>, line: usize) -> bool {
    if needle.headers.is_empty() {
        return true;
    }
    let ends = ScopeEnds::new(lines);
    let whole = 0..lines.len() as u32;
    let mut scopes = vec![whole];
    for header in &needle.headers {
        let mut inner: Vec<Range<u32>> = Vec::new();
        let mut outer = scopes.iter().peekable();
        for (index, text) in (0..).zip(lines.iter()) {
            while outer.next_if(|scope| scope.end <= index).is_some() {}
            if outer.peek().is_some_and(|scope| scope.contains(&index))
                && Pass::Unicode.same(text, header.as_bytes())
            {
                inner.push(ends.of(index));
            }
        }
        scopes = inner;
    }
    scopes.iter().any(|scope| scope.contains(&(line as u32)))
}
