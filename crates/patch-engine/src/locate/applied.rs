//! Finds out whether a hunk that fits nowhere is applied already.
//!
//! A caller that is told so leaves the hunk out, and loses its change if it is not true. So strong
//! evidence is required: the whole post-state of the hunk stands in one place, and what it replaces
//! stands nowhere. A line that happens to stand somewhere is no evidence.

use std::collections::{HashMap, HashSet};
use std::ops::{Range, RangeInclusive};

use patch_grammar::{Line, LineKind};

use super::find::Blocks;
use super::needle::{Fixed, Needle};
use super::pass::{Pass, trim};
use super::scope::ScopeEnds;
use crate::text::lines::{BOM, Lines};

/// The fewest letters and digits that make a new line distinctive.
const DISTINCTIVE: usize = 3;

/// Returns the lines where the whole post-state of the hunk stands, if that is strong evidence.
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
    let start = blocks.next(Pass::Exact, 0, 0)?;
    let place = start..start + new.len();
    let evident = blocks.next(Pass::Exact, 0, start + 1).is_none()
        && stands_as_wanted(lines, needle, &wanted, &place)
        && says_enough(lines, &wanted)
        && nothing_to_replace(lines, hunk)
        && in_scope(lines, needle, start);
    evident.then(|| start + 1..=place.end)
}

/// Returns the texts of adjacent lines. A byte-order mark belongs to the file, not to its first
/// line.
fn texts<'l, 'p: 'l>(
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
fn tells(line: &[u8]) -> bool {
    line.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

/// Returns whether the new lines prove every change of the hunk. They prove insertions, and
/// deletions between two context lines that are more than blanks and punctuation: a blank line or a
/// brace might be one that was to be deleted itself. Deletions above the first or below the last
/// context line they do not prove.
fn every_change_shows(hunk: &[Line<'_>]) -> bool {
    let anchor = |line: &Line<'_>| line.kind == LineKind::Context && tells(line.text);
    let first = hunk.iter().position(anchor).unwrap_or(hunk.len());
    let last = hunk.iter().rposition(anchor).unwrap_or(0);
    let mut start = 0;
    for run in hunk
        .chunk_by(|one, other| (one.kind == LineKind::Context) == (other.kind == LineKind::Context))
    {
        start += run.len();
        if run[0].kind == LineKind::Context {
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

/// Returns whether the place is where the hunk itself says it is, with the line ends that it
/// states.
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
    };
    fixed
        && wanted.iter().zip(place.clone()).all(|(line, index)| match line.kind {
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
    if wanted.iter().any(|line| line.kind == LineKind::Context && tells(line.text)) {
        return true;
    }
    let long = |line: &[u8]| {
        line.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count()
    };
    let mut counts: HashMap<&[u8], usize> = wanted
        .iter()
        .map(|line| trim(line.text))
        .filter(|line| long(line) >= DISTINCTIVE)
        .map(|line| (line, 0))
        .collect();
    for line in lines.iter() {
        if let Some(count) = counts.get_mut(trim(line)) {
            *count += 1;
        }
    }
    counts.values().filter(|&&count| count == 1).count() >= 2
}

/// Returns whether the lines that the hunk replaces stand nowhere, even if lines are compared
/// leniently: none of the deleted lines, and not all old lines together.
fn nothing_to_replace(lines: &Lines<'_>, hunk: &[Line<'_>]) -> bool {
    let matched = || hunk.iter().filter(|line| line.kind != LineKind::Insert);
    let old = texts(lines, matched());
    let removed =
        matched().zip(&old).filter(|(line, text)| line.kind == LineKind::Delete && tells(text));
    let removed: HashSet<_> = removed.map(|(_, text)| Pass::Unicode.key(text)).collect();
    if !removed.is_empty() && lines.iter().any(|line| removed.contains(&Pass::Unicode.key(line))) {
        return false;
    }
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
