//! The hunks of one text, looked for in the current text.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use patch_text::carry::{Conflict, carry, difference};
use patch_text::diff;
use patch_text::locate::edit::Edit;
use patch_text::text::lines::{ends_converted, with_ends};
use patch_text::text::splices::{Splice, Splices};

use crate::hunk::{HunkKind, HunkState, ReviewHunk, id_of};

/// How many unchanged lines are shown around a hunk. Changes with no more than twice as many lines
/// between them are one hunk, as in git.
const CONTEXT: usize = 3;

/// One change of lines, from what the transactions left back to what was before them.
struct Reversal {
    /// The replaced bytes of the text left by the transactions, and the bytes before.
    splice: Splice,
    state: ReversalState,
}

enum ReversalState {
    /// The replacement in the current text.
    Standing(Splice),
    Reverted,
    /// The number of the conflict.
    Changed(usize),
}

/// Finds the hunks of the change of a text from `before` to `after` in the text `now`.
pub(crate) fn hunks(path: &str, before: &[u8], after: &[u8], now: &[u8]) -> Vec<ReviewHunk> {
    let converted = ends_converted(after, now);
    let [before, after] = [before, after].map(|text| match converted {
        Some(crlf) => with_ends(text, crlf),
        None => text.to_vec(),
    });
    let (reversals, conflicts) = reversals(&before, &after, now);
    let mut hunks = Vec::new();
    let mut seen = HashMap::new();
    let mut shown_to = 0;
    let mut in_now = LineCounter::default();
    let mut in_after = LineCounter::default();
    for group in groups(&reversals, &after, now) {
        let members = &reversals[group.clone()];
        let identity = members
            .iter()
            .flat_map(|one| [&after[one.splice.start..one.splice.end], &one.splice.text[..]]);
        let identity: Vec<&[u8]> = identity.collect();
        let nth = seen.entry(identity.concat()).or_insert(0);
        let mut hunk = ReviewHunk {
            id: id_of(path, HunkKind::Lines, &identity, *nth),
            ..ReviewHunk::of_file(path, HunkKind::Lines, HunkState::Standing, &[])
        };
        *nth += 1;
        match &members[0].state {
            ReversalState::Standing(_) => {
                let next = reversals.get(group.end..).unwrap_or_default();
                let limit =
                    next.iter().find_map(Reversal::standing).map_or(now.len(), |it| it.start);
                stand(&mut hunk, members, now, shown_to..limit, &mut in_now);
                shown_to = hunk.at.end;
            }
            ReversalState::Reverted => {
                hunk.state = HunkState::Reverted;
                as_made(&mut hunk.diff, &reversals[..group.start], members, &after, &in_after);
            }
            ReversalState::Changed(conflict) => {
                hunk.state = HunkState::Changed;
                hunk.conflict = Some(conflicts[*conflict].clone());
                as_made(&mut hunk.diff, &reversals[..group.start], members, &after, &in_after);
            }
        }
        for Reversal { splice, .. } in members {
            in_after.replace(&after, splice.start..splice.end, &splice.text);
        }
        hunks.push(hunk);
    }
    hunks
}

impl Reversal {
    fn standing(&self) -> Option<&Splice> {
        match &self.state {
            ReversalState::Standing(splice) => Some(splice),
            _ => None,
        }
    }
}

/// Carries the way back of each change to the current text. Where the lines of some were changed
/// since, the others are carried without them.
fn reversals(before: &[u8], after: &[u8], now: &[u8]) -> (Vec<Reversal>, Vec<Conflict>) {
    let back = difference(after, before);
    let splices = back.splices.as_slice();
    let mut changed: BTreeMap<usize, usize> = BTreeMap::new();
    let mut conflicts = Vec::new();
    let carried = loop {
        let mut edit = Edit::default();
        for (nth, splice) in splices.iter().enumerate() {
            if !changed.contains_key(&nth) {
                edit.splices.push(splice.start..splice.end, splice.text.clone());
                edit.sources.push(vec![nth]);
            }
        }
        match carry(after, now, &edit) {
            Ok(carried) => break carried,
            Err(found) => {
                for conflict in found {
                    changed.extend(conflict.hunks.iter().map(|&nth| (nth, conflicts.len())));
                    conflicts.push(conflict);
                }
            }
        }
    };
    let standing = carried.hunks.iter().filter(|hunk| !hunk.already_there).map(|hunk| hunk.hunk);
    let mut standing: BTreeMap<usize, &Splice> = standing.zip(carried.splices.as_slice()).collect();
    let reversals = splices.iter().enumerate().map(|(nth, splice)| {
        let state = match (changed.get(&nth), standing.remove(&nth)) {
            (Some(&conflict), _) => ReversalState::Changed(conflict),
            (None, Some(place)) => ReversalState::Standing(place.clone()),
            (None, None) => ReversalState::Reverted,
        };
        Reversal { splice: splice.clone(), state }
    });
    (reversals.collect(), conflicts)
}

/// Joins neighbouring changes to hunks.
fn groups(reversals: &[Reversal], after: &[u8], now: &[u8]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (nth, reversal) in reversals.iter().enumerate() {
        let before = groups.last_mut().map(|group| (&reversals[group.end - 1], group));
        match before {
            Some((before, group)) if are_one(before, reversal, after, now) => group.end = nth + 1,
            _ => groups.push(nth..nth + 1),
        }
    }
    groups
}

/// Returns whether two neighbouring changes are one hunk.
fn are_one(one: &Reversal, next: &Reversal, after: &[u8], now: &[u8]) -> bool {
    let were_near = is_short(&after[one.splice.end..next.splice.start]);
    match (&one.state, &next.state) {
        (ReversalState::Standing(one), ReversalState::Standing(next)) => {
            were_near && is_short(&now[one.end..next.start])
        }
        (ReversalState::Reverted, ReversalState::Reverted) => were_near,
        (ReversalState::Changed(one), ReversalState::Changed(next)) => one == next,
        _ => false,
    }
}

/// Returns whether two changes with this text between them are near each other.
fn is_short(between: &[u8]) -> bool {
    feeds(between) <= 2 * CONTEXT
}

/// Counts lines from the top of a text, before and after the replacements so far.
#[derive(Debug, Clone, Copy, Default)]
struct LineCounter {
    /// The place in the text, and the lines above it.
    at: usize,
    lines: usize,
    /// How many more lines there are above after the replacements.
    shift: isize,
}

impl LineCounter {
    /// Returns how many lines are above a place at or below the last one, after the replacements.
    fn above(&self, text: &[u8], at: usize) -> usize {
        let lines = self.lines + feeds(&text[self.at..at]);
        lines.saturating_add_signed(self.shift)
    }

    /// Goes on below a replaced part of the text.
    fn replace(&mut self, text: &[u8], part: Range<usize>, by: &[u8]) {
        self.lines += feeds(&text[self.at..part.end]);
        self.at = part.end;
        self.shift += line_count(by) as isize - line_count(&text[part]) as isize;
    }
}

/// Counts line feeds.
fn feeds(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

/// Fills in a hunk standing in the current text, shown with lines around within `room`.
fn stand(
    hunk: &mut ReviewHunk,
    members: &[Reversal],
    now: &[u8],
    room: Range<usize>,
    lines: &mut LineCounter,
) {
    for splice in members.iter().filter_map(Reversal::standing) {
        hunk.back.push(splice.start..splice.end, splice.text.clone());
    }
    let first = hunk.back.as_slice()[0].start;
    let start = lines_up(now, first, room.start);
    hunk.at = start..lines_down(now, hunk.back.end(), room.end);
    let old = spliced(now, hunk.at.clone(), &hunk.back);
    diff::stretch(&mut hunk.diff, now, hunk.at.clone(), &old, lines.above(now, start));
    lines.replace(now, hunk.at.clone(), &old);
}

/// Shows changes as made; `earlier` are the changes above, counted by `lines`.
fn as_made(
    out: &mut Vec<u8>,
    earlier: &[Reversal],
    members: &[Reversal],
    after: &[u8],
    lines: &LineCounter,
) {
    let mut splices = Splices::new();
    for one in members {
        splices.push(one.splice.start..one.splice.end, one.splice.text.clone());
    }
    let limit = earlier.last().map_or(0, |last| last.splice.end);
    let start = lines_up(after, members[0].splice.start, limit);
    let at = start..lines_down(after, splices.end(), after.len());
    let old = spliced(after, at.clone(), &splices);
    diff::stretch(out, after, at, &old, lines.above(after, start));
}

/// Returns a part of a text after some replacements within it.
fn spliced(text: &[u8], at: Range<usize>, splices: &Splices) -> Vec<u8> {
    let mut out = Vec::new();
    let mut from = at.start;
    for splice in splices.as_slice() {
        out.extend_from_slice(&text[from..splice.start]);
        out.extend_from_slice(&splice.text);
        from = splice.end;
    }
    out.extend_from_slice(&text[from..at.end]);
    out
}

fn line_count(text: &[u8]) -> usize {
    feeds(text) + usize::from(!text.is_empty() && !text.ends_with(b"\n"))
}

/// Goes up from the beginning of a line, as far as `limit`.
fn lines_up(text: &[u8], from: usize, limit: usize) -> usize {
    let mut at = from;
    for _ in 0..CONTEXT {
        if at <= limit {
            break;
        }
        at = text[..at - 1].iter().rposition(|&byte| byte == b'\n').map_or(0, |feed| feed + 1);
    }
    at.max(limit)
}

/// Goes down from the end of a line, as far as `limit`.
fn lines_down(text: &[u8], from: usize, limit: usize) -> usize {
    let mut at = from;
    for _ in 0..CONTEXT {
        if at >= limit {
            break;
        }
        at = text[at..]
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(text.len(), |feed| at + feed + 1);
    }
    at.min(limit)
}
