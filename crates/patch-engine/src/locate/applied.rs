//! Finds out whether a hunk that fits nowhere is applied already.
//!
//! A caller that is told so leaves the hunk out, and loses its change if it is not true. So strong
//! evidence is required: the whole post-state of the hunk stands in one place, and what it replaces
//! stands nowhere. A line that happens to stand somewhere is no evidence.

use std::collections::{HashMap, HashSet};
use std::ops::{Range, RangeInclusive};

use patch_grammar::{Hunk, Line, LineKind};

use super::find::Blocks;
use super::needle::{Fixed, Needle};
use super::pass::{Pass, trim};
use super::placed::{Note, Placed};
use super::scope::ScopeEnds;
use super::unchanged::as_context;
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
    // A hunk that is at an end of the file stands there or nowhere.
    let first = match needle.fixed {
        Some(Fixed::End) => lines.len().checked_sub(new.len())?,
        Some(Fixed::Start | Fixed::Whole) | None => 0,
    };
    let start = blocks.next(Pass::Exact, 0, first)?;
    let place = start..start + new.len();
    let alone = || {
        needle.fixed.is_some()
            || blocks.next(Pass::Exact, 0, start + 1).is_none() && old_lines_are_gone(lines, hunk)
    };
    let evident = stands_as_wanted(lines, needle, &wanted, &place)
        && says_enough(lines, &wanted)
        && alone()
        && removed_lines_are_gone(lines, hunk)
        && in_scope(lines, needle, start);
    evident.then(|| start + 1..=place.end)
}

/// Returns the lines where the whole post-state of a hunk stands that was placed, and that inserts
/// lines at the edges of its old ones: the file has just these lines there already, and would have
/// them twice. Where a diff states this very line, it means the repetition.
pub(crate) fn again(
    lines: &Lines<'_>,
    hunk: &Hunk<'_>,
    placed: &Placed,
) -> Option<RangeInclusive<usize>> {
    let dropped = placed.notes.contains(&Note::SeparatorsDropped);
    let all = as_context(&hunk.lines);
    let body = &all[..all.len() - if dropped { hunk.separators } else { 0 }];
    let is_insert = |line: &Line<'_>| line.kind == LineKind::Insert;
    let first = body.iter().position(|line| !is_insert(line)).unwrap_or(0);
    let last = body.iter().rposition(|line| !is_insert(line)).map_or(0, |last| last + 1);
    let (above, below) = (&body[..first], &body[last..]);
    let is_stated = |stated| placed.line_count == 0 || stated as usize == placed.first_line;
    if body[first..last].iter().any(|line| line.kind != LineKind::Context)
        || hunk.old_start.is_some_and(is_stated)
    {
        return None;
    }
    let old = placed.first_line - 1..placed.first_line - 1 + placed.line_count;
    let stand = |new: &[Line<'_>], first: Option<usize>| {
        first.is_some_and(|first| {
            first + new.len() <= lines.len()
                && new
                    .iter()
                    .zip(first..)
                    .all(|(line, index)| placed.pass.same(line.text, lines.content(index)))
        })
    };
    let place = if stand(above, old.start.checked_sub(above.len())) && stand(below, Some(old.end)) {
        old.start - above.len()..old.end + below.len()
    } else if first == last && stand(below, old.start.checked_sub(below.len())) {
        old.start - below.len()..old.end
    } else {
        return None;
    };
    let wanted: Vec<&Line<'_>> = body.iter().collect();
    let evident = body.iter().any(|line| is_insert(line) && tells(line.text))
        && (hunk.headers.iter().any(|header| tells(header.text.as_bytes()))
            || says_enough(lines, &wanted));
    evident.then(|| place.start + 1..=place.end)
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
        Some(Fixed::Whole) => *place == (0..lines.len()),
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

/// Returns whether no line that the hunk deletes stands anywhere, even if lines are compared
/// leniently.
fn removed_lines_are_gone(lines: &Lines<'_>, hunk: &[Line<'_>]) -> bool {
    let matched = || hunk.iter().filter(|line| line.kind != LineKind::Insert);
    let old = texts(lines, matched());
    let removed =
        matched().zip(&old).filter(|(line, text)| line.kind == LineKind::Delete && tells(text));
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
