//! Finds the hunks of a diff that are applied already at the very lines that the diff states.
//!
//! A diff states the line of each hunk. Applied hunks above, and other changes of the file, move
//! this line down or up: a walk takes the hunks from the top, and the shift of each one counts for
//! the hunks below. Either the old lines of a hunk are expected at its line, or the new ones. Where
//! the new lines stand, the hunk is applied already, wherever else its old lines stand. Where both
//! stand, the next hunk tells which was meant; failing this, the longer text.
//!
//! The first walk begins at the stated lines. Where hunks are missing there, hunks whose old or new
//! lines stand in only one place tell how far the file moved, and of several walks the one that
//! explains the most hunks wins.

use std::ops::Range;

use patch_grammar::{Line, LineKind};

use super::applied::{ends_as_wanted, tells, texts};
use super::draft::Node;
use super::find::Blocks;
use super::hunk_lines::is_context;
use super::needle::{Fixed, Needle};
use super::pass::Pass;
use super::placed::Placed;
use super::reject::{HunkReject, RejectReason};
use super::rules::Rules;
use crate::text::lines::Lines;

/// Marks the hunks that are applied already: the `done` ones, and the ones found at their stated
/// lines. The latter are returned as rejects. The stated lines of the other hunks move by the
/// growth of the marked ones.
pub(super) fn find<'p>(
    lines: &Lines<'_>,
    needles: &mut [Needle<'p>],
    done: &[Placed],
    rules: &Rules,
) -> Vec<HunkReject> {
    for placed in done {
        let start = placed.first_line - 1;
        needles[placed.hunk].done = Some(start..start + placed.line_count);
    }
    let mut rejects = Vec::new();
    for (index, found) in found(lines, needles, rules) {
        let needle = &mut needles[index];
        match found {
            Found::Applied(place) if needle.done.is_none() => {
                let lines = place.start + 1..=place.end;
                rejects.push(needle.reject(RejectReason::AlreadyApplied { lines }));
                needle.done = Some(place);
            }
            Found::Fresh(start) => needle.expected = Some(start),
            Found::Applied(_) | Found::Nowhere => {}
        }
    }
    let mut grown = 0;
    for index in from_the_top(needles) {
        let needle = &mut needles[index];
        needle.stated = needle.stated.and_then(|line| line.checked_add_signed(grown));
        needle.inserts_below = needle.inserts_below.and_then(|line| line.checked_add_signed(grown));
        if needle.done.is_some() {
            grown += needle.growth();
        }
    }
    rejects
}

/// Returns the hunks in the order of their stated lines: those of a reversed diff begin at the
/// bottom. Where some state none, the order is that of the patch.
fn from_the_top(needles: &[Needle<'_>]) -> Vec<usize> {
    let line = |needle: &Needle<'_>| needle.stated.or(needle.inserts_below);
    let mut order: Vec<usize> = (0..needles.len()).collect();
    if needles.iter().all(|needle| line(needle).is_some()) {
        order.sort_by_key(|&index| line(&needles[index]));
    }
    order
}

/// Where a hunk was found.
#[derive(Debug, Clone)]
enum Found {
    /// Its new lines stand here.
    Applied(Range<usize>),
    /// Its old lines begin here.
    Fresh(usize),
    Nowhere,
}

/// A hunk that states its line.
struct Numbered<'a, 'p> {
    needle: &'a Needle<'p>,
    /// The 0-based line that it states for its old lines.
    stated: usize,
    old: &'a [&'p [u8]],
    new: Vec<&'p [u8]>,
    new_lines: Vec<&'a Line<'p>>,
    growth: isize,
    /// Whether its new lines can hardly stand somewhere by chance.
    tells: bool,
}

impl<'a, 'p> Numbered<'a, 'p> {
    fn new(lines: &Lines<'_>, needle: &'a Needle<'p>, rules: &Rules) -> Option<Self> {
        let counted = needle.inserts_below.filter(|_| rules.unidiff_zero);
        let stated = needle.stated.or(counted)?;
        let body = needle.lines(0);
        let new_lines: Vec<&Line<'_>> =
            body.iter().filter(|line| line.kind != LineKind::Delete).collect();
        let inserts = body.iter().any(|line| line.kind == LineKind::Insert && tells(line.text));
        let new = texts(lines, new_lines.iter().copied());
        let tells = inserts || new.len() > 1;
        let old = &needle.old[..];
        Some(Self { needle, stated, old, new, new_lines, growth: needle.growth(), tells })
    }

    /// Returns whether the old lines stand from a line on.
    fn is_fresh(&self, lines: &Lines<'_>, start: usize) -> bool {
        stand(lines, self.old, start)
            && !self.old.is_empty()
            && self.needle.endings_fit(lines, start, 0, Pass::Exact)
    }

    /// Returns whether the new lines stand from a line on.
    fn is_applied(&self, lines: &Lines<'_>, start: usize) -> bool {
        stand(lines, &self.new, start)
            && !self.new.is_empty()
            && *self.old != self.new
            && ends_as_wanted(lines, self.needle, &self.new_lines, &self.place(start))
    }

    /// Returns whether a place is at the end of the file where the diff was made.
    fn is_at_edge(&self, lines: &Lines<'_>, place: &Range<usize>) -> bool {
        match self.needle.fixed {
            Some(Fixed::Start) => place.start == 0,
            Some(Fixed::End) => place.end == lines.len(),
            Some(Fixed::Whole) => *place == (0..lines.len()),
            None => false,
        }
    }

    /// Returns whether the new lines may stand at a place by chance.
    fn may_be_chance(&self, lines: &Lines<'_>, place: &Range<usize>) -> bool {
        !self.tells && !self.is_at_edge(lines, place)
    }

    /// Returns how far the diff itself moves the hunk: from its old line to its new one.
    fn stated_shift(&self) -> Option<isize> {
        let old = self.needle.hunk.old_start?;
        let new = self.needle.hunk.new_start?;
        Some(new as isize - old as isize)
    }

    fn place(&self, start: usize) -> Range<usize> {
        start..start + self.new.len()
    }

    /// The stated line, so many lines lower or higher.
    fn moved(&self, shift: isize) -> Option<usize> {
        self.stated.checked_add_signed(shift)
    }

    fn shift_to(&self, start: usize) -> isize {
        // Lines are counted in 32 bits.
        start as isize - self.stated as isize
    }
}

/// Returns whether texts are the lines of the file from a line on.
fn stand(lines: &Lines<'_>, texts: &[&[u8]], start: usize) -> bool {
    start + texts.len() <= lines.len()
        && texts.iter().zip(start..).all(|(text, index)| *text == lines.content(index))
}

/// Returns the hunks that state their lines, and where each was found.
fn found(lines: &Lines<'_>, needles: &[Needle<'_>], rules: &Rules) -> Vec<(usize, Found)> {
    let mut hunks: Vec<Numbered<'_, '_>> =
        needles.iter().filter_map(|needle| Numbered::new(lines, needle, rules)).collect();
    hunks.sort_by_key(|hunk| hunk.stated);
    let mut best = walk(lines, &hunks, 0, &[]);
    if best.missed > 0 && !lines.is_cancelled() {
        let anchors = anchors(lines, &hunks, &best.found);
        // The shift of the first hunk with a known place, if the hunks above are not applied, and
        // if they are. A part of a longer diff also states the lines of the new file.
        let mut above = 0;
        let mut shifts = vec![0];
        for (hunk, anchor) in hunks.iter().zip(&anchors) {
            if let Some(shift) = shift_above(hunk, anchor) {
                shifts.extend([shift, shift - above]);
                break;
            }
            above += hunk.growth;
        }
        shifts.extend(hunks.first().and_then(Numbered::stated_shift));
        for shift in shifts {
            let walked = walk(lines, &hunks, shift, &anchors);
            if walked.missed < best.missed {
                best = walked;
            }
        }
    }
    let proven = best.found.iter().filter(|found| !matches!(found, Found::Nowhere)).count() > 1;
    hunks
        .iter()
        .zip(best.found)
        .map(|(hunk, found)| match found {
            Found::Applied(place) if !proven && hunk.may_be_chance(lines, &place) => {
                (hunk.needle.index, Found::Nowhere)
            }
            found => (hunk.needle.index, found),
        })
        .collect()
}

/// One way to find the hunks.
struct Walk {
    found: Vec<Found>,
    /// How many hunks are not at the place that follows from the hunks above.
    missed: usize,
}

/// Walks the hunks from the top; the first is expected at `shift` lines from its stated line. An
/// anchor is the actual place of a hunk that is not where it is expected.
fn walk(
    lines: &Lines<'_>,
    hunks: &[Numbered<'_, '_>],
    mut shift: isize,
    anchors: &[Found],
) -> Walk {
    let mut walk = Walk { found: Vec::with_capacity(hunks.len()), missed: 0 };
    for (index, hunk) in hunks.iter().enumerate() {
        if lines.is_cancelled() {
            break;
        }
        let found = match &hunk.needle.done {
            Some(done) => Found::Applied(done.clone()),
            None => expected(lines, hunks, index, shift),
        };
        let found = match found {
            Found::Nowhere => {
                walk.missed += 1;
                if let Some(anchor) = anchors.get(index) {
                    shift = shift_above(hunk, anchor).unwrap_or(shift);
                    if matches!(anchor, Found::Applied(_)) {
                        shift += hunk.growth;
                    }
                }
                Found::Nowhere
            }
            Found::Applied(place) => {
                shift = hunk.shift_to(place.start) + hunk.growth;
                Found::Applied(place)
            }
            Found::Fresh(start) => Found::Fresh(start),
        };
        walk.found.push(found);
    }
    walk.found.resize(hunks.len(), Found::Nowhere);
    walk
}

/// Returns whether the old or the new lines of a hunk stand where they are expected.
fn expected(lines: &Lines<'_>, hunks: &[Numbered<'_, '_>], index: usize, shift: isize) -> Found {
    let hunk = &hunks[index];
    let Some(start) = hunk.moved(shift) else { return Found::Nowhere };
    let fresh = hunk.is_fresh(lines, start);
    let applied = hunk.is_applied(lines, start);
    let is_applied = match (fresh, applied) {
        (false, false) => return Found::Nowhere,
        (false, true) => true,
        (true, false) => false,
        (true, true) => {
            let if_fresh = next_stands(lines, hunks, index, shift);
            let if_applied = next_stands(lines, hunks, index, shift + hunk.growth);
            if if_fresh == if_applied { hunk.growth > 0 } else { if_applied == Some(true) }
        }
    };
    if is_applied { Found::Applied(hunk.place(start)) } else { Found::Fresh(start) }
}

/// Returns whether the hunk after one stands at its line, moved by a shift.
fn next_stands(
    lines: &Lines<'_>,
    hunks: &[Numbered<'_, '_>],
    index: usize,
    shift: isize,
) -> Option<bool> {
    let next = hunks.get(index + 1).filter(|next| next.needle.done.is_none())?;
    let line = next.moved(shift)?;
    Some(next.is_fresh(lines, line) || next.is_applied(lines, line))
}

/// Returns how far a hunk stands from its line.
fn shift_above(hunk: &Numbered<'_, '_>, found: &Found) -> Option<isize> {
    match found {
        Found::Applied(place) => Some(hunk.shift_to(place.start)),
        Found::Fresh(start) => Some(hunk.shift_to(*start)),
        Found::Nowhere => None,
    }
}

/// Returns the places of the hunks that were not found, where only one place is possible.
fn anchors(lines: &Lines<'_>, hunks: &[Numbered<'_, '_>], found: &[Found]) -> Vec<Found> {
    let missing: Vec<usize> =
        (0..hunks.len()).filter(|&index| matches!(found[index], Found::Nowhere)).collect();
    let sides: Vec<&[&[u8]]> =
        missing.iter().flat_map(|&index| [hunks[index].old, &hunks[index].new[..]]).collect();
    // A side without lines stands nowhere.
    let blocks: Vec<&[&[u8]]> = sides.iter().copied().filter(|side| !side.is_empty()).collect();
    let blocks = Blocks::new(lines, blocks, &[Pass::Exact]);
    let mut next = 0;
    let mut places = sides.iter().map(|side| {
        if side.is_empty() {
            return Vec::new();
        }
        next += 1;
        blocks.first(Pass::Exact, next - 1, 2)
    });
    let mut anchors = vec![Found::Nowhere; hunks.len()];
    for index in missing {
        let old = places.next().unwrap_or_default();
        let new = places.next().unwrap_or_default();
        anchors[index] = match (&old[..], &new[..]) {
            (&[start], []) => Found::Fresh(start as usize),
            ([], &[start]) => Found::Applied(hunks[index].place(start as usize)),
            _ => Found::Nowhere,
        };
    }
    anchors
}

/// The changed lines of a hunk that is applied already, counted from its first line.
pub(super) fn core(needle: &Needle<'_>) -> Option<Range<usize>> {
    let body = needle.lines(0);
    let above = body.iter().take_while(|line| is_context(line)).count();
    let below = body.iter().rev().take_while(|line| is_context(line)).count();
    let place = needle.done.as_ref()?;
    Some(above..place.len().saturating_sub(below).max(above))
}

/// Returns why a hunk cannot be placed on hunks that are applied already: it would remove lines
/// that one of them inserted, or it comes earlier in the diff and cannot have seen these lines.
pub(super) fn disturbed(
    done: &[&Needle<'_>],
    needle: &Needle<'_>,
    dropped: usize,
    matched: &[Node],
) -> Option<RejectReason> {
    let old = needle.lines(dropped).iter().filter(|line| line.kind != LineKind::Insert);
    let first = matched.first()?;
    let last = matched.last()?;
    done.iter().find_map(|other| {
        let place = other.done.as_ref().filter(|place| {
            place.start <= last.0.max(first.0) && first.0.min(last.0) < place.end
        })?;
        let core = core(other)?;
        let core = place.start + core.start..place.start + core.end;
        let is_above = needle.index < other.index;
        let on = old
            .clone()
            .zip(matched)
            .any(|(line, at)| (is_above || line.kind == LineKind::Delete) && core.contains(&at.0));
        on.then(|| RejectReason::OverlappingEdits {
            other: other.index,
            lines: Some(core.start + 1..=core.end),
        })
    })
}
