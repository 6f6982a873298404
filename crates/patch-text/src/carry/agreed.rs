//! Where minimal edit scripts differ, and yet make the same text.
//!
//! An *edit script* is a path through the grid of [`alignment`](super::alignment). Along a script a
//! change replaces lines that stand side by side in the current file, or inserts in a gap; if the
//! current file got lines between them, or next to them, the script makes no text. Changes are
//! carried when all minimal scripts make the same text, and one of them keeps the footprint of each
//! change. So neighbours of a change may have gone in some scripts, but not in all.

use std::ops::Range;

use crate::locate::interner::Interner;
use crate::locate::pass::Pass;
use crate::text::lines::split;

/// How many points of the grid are looked at for one file: some 20 ms of work.
pub(super) const MAX_POINTS: usize = 1 << 21;

/// A change of a stretch of the base.
#[derive(Debug)]
pub(super) struct Replacement {
    /// The replaced 0-based lines of the stretch.
    pub(super) lines: Range<usize>,
    /// The new lines.
    pub(super) text: Vec<u8>,
}

/// Returns for each change its 0-based first line in the current stretch; `None` if the place is
/// not certain.
///
/// The changes are in order, with a line or more between two of them. What is above and below the
/// stretches is matched in every minimal script. `points` is how many points of the grid may be
/// looked at, and is counted down.
pub(super) fn agreed(
    base: &[u8],
    current: &[u8],
    changes: &[Replacement],
    points: &mut usize,
) -> Option<Vec<usize>> {
    let grid = Grid::new(base, current, points)?;
    let places = grid.decided(changes)?;
    grid.all_make(changes, &places).then_some(places)
}

/// The points of the grid, and the steps of minimal scripts.
struct Grid<'g> {
    base: Vec<&'g [u8]>,
    current: Vec<&'g [u8]>,
    /// For each point, row by row, the steps that minimal scripts take from there.
    steps: Vec<u8>,
}

/// A line of the base without a match.
const DROP: u8 = 1;
/// A line of the current file without a match.
const INSERT: u8 = 2;
/// A match.
const KEEP: u8 = 4;

impl<'g> Grid<'g> {
    fn new(base: &'g [u8], current: &'g [u8], points: &mut usize) -> Option<Self> {
        let base: Vec<&[u8]> = split(base).collect();
        let current: Vec<&[u8]> = split(current).collect();
        let width = current.len() + 1;
        *points = points.checked_sub((base.len() + 1).checked_mul(width)?)?;
        let mut interner = Interner::new(Pass::Exact);
        let old: Vec<u32> = base.iter().map(|line| interner.insert(line)).collect();
        let new: Vec<u32> = interner.all(current.iter().copied()).collect();
        // The steps that are cheapest on the way from each point to the end.
        let mut steps = vec![0; (base.len() + 1) * width];
        let mut below = vec![0; width];
        for line in (0..=base.len()).rev() {
            let mut costs = vec![0; width];
            for at in (0..width).rev() {
                let drop = (line < base.len()).then(|| below[at] + 1);
                let insert = (at < current.len()).then(|| costs[at + 1] + 1);
                let is_match = drop.is_some() && insert.is_some() && old[line] == new[at];
                let keep = is_match.then(|| below[at + 1]);
                let ways = [(DROP, drop), (INSERT, insert), (KEEP, keep)];
                let cheapest = ways.iter().filter_map(|way| way.1).min().unwrap_or(0);
                costs[at] = cheapest;
                steps[line * width + at] = ways
                    .iter()
                    .filter(|way| way.1 == Some(cheapest))
                    .fold(0, |steps, way| steps | way.0);
            }
            below = costs;
        }
        let mut grid = Self { base, current, steps };
        grid.forget_unreached();
        Some(grid)
    }

    /// Removes the steps from points outside all minimal scripts.
    fn forget_unreached(&mut self) {
        let moves = self.moves();
        let mut reached = vec![false; self.steps.len()];
        reached[0] = true;
        for point in 0..self.steps.len() {
            if !reached[point] {
                self.steps[point] = 0;
                continue;
            }
            for (step, to) in moves {
                if self.steps[point] & step != 0 {
                    reached[point + to] = true;
                }
            }
        }
    }

    fn width(&self) -> usize {
        self.current.len() + 1
    }

    /// Returns by how many points each step goes on.
    fn moves(&self) -> [(u8, usize); 3] {
        [(KEEP, self.width() + 1), (DROP, self.width()), (INSERT, 1)]
    }

    /// Returns where the changes go along some minimal script that keeps the footprint of each.
    fn decided(&self, changes: &[Replacement]) -> Option<Vec<usize>> {
        let width = self.width();
        let moves = self.moves();
        // The steps that keep the footprints.
        let mut allowed = vec![DROP | INSERT | KEEP; self.base.len() + 1];
        for change in changes {
            let Range { start, end } = change.lines;
            (start.saturating_sub(1)..=end).for_each(|line| allowed[line] &= !DROP);
            (start..=end).for_each(|line| allowed[line] &= !INSERT);
        }
        // Which points lead to the end so.
        let mut leads = vec![false; self.steps.len()];
        *leads.last_mut()? = true;
        for point in (0..self.steps.len() - 1).rev() {
            let steps = self.steps[point] & allowed[point / width];
            leads[point] = moves.iter().any(|(step, to)| steps & step != 0 && leads[point + to]);
        }
        let mut places = Vec::new();
        let mut point = 0;
        if !leads[0] {
            return None;
        }
        loop {
            let line = point / width;
            if changes.get(places.len()).is_some_and(|change| change.lines.start == line) {
                places.push(point % width);
            }
            if point + 1 == self.steps.len() {
                return Some(places);
            }
            let steps = self.steps[point] & allowed[line];
            point += moves.iter().find(|(step, to)| steps & step != 0 && leads[point + to])?.1;
        }
    }

    /// Returns whether every minimal script makes the text that the changes make at their places.
    fn all_make(&self, changes: &[Replacement], places: &[usize]) -> bool {
        let mut wanted = WantedText::new(&self.current, changes, places);
        let mut changes = changes.iter().peekable();
        let mut line = 0;
        while line <= self.base.len() {
            if let Some(change) = changes.next_if(|change| change.lines.start == line) {
                if !self.all_take(change, &wanted) {
                    return false;
                }
                wanted.pass(change.text.len(), self.base[change.lines.clone()].concat().len());
                line = change.lines.end;
            }
            let is_wanted = self.row(line).all(|(at, steps)| {
                steps & (INSERT | KEEP) == 0 || wanted.has(at, self.current[at])
            });
            if !is_wanted {
                return false;
            }
            line += 1;
        }
        true
    }

    /// Returns whether every minimal script can make a change, and its text is wanted there.
    fn all_take(&self, change: &Replacement, wanted: &WantedText) -> bool {
        let Range { start, end } = change.lines;
        let is_taken = (start..=end).all(|line| {
            let kept = if line < end { KEEP } else { KEEP | DROP };
            self.row(line).all(|(_, steps)| steps & !kept == 0)
        });
        is_taken && self.row(start).all(|(at, _)| wanted.has(at, &change.text))
    }

    /// Returns the points of a row that minimal scripts come to, with the steps that they take.
    fn row(&self, line: usize) -> impl Iterator<Item = (usize, u8)> {
        let width = self.width();
        let first = line * width;
        let end = self.steps.len() - 1;
        self.steps[first..][..width]
            .iter()
            .copied()
            .enumerate()
            .filter(move |&(at, steps)| steps != 0 || first + at == end)
    }
}

/// The one text that all scripts have to make.
struct WantedText {
    /// The bytes before each line of the current file.
    before: Vec<usize>,
    text: Vec<u8>,
    /// How many bytes the changes so far added, and how many they removed.
    added: usize,
    removed: usize,
}

impl WantedText {
    fn new(current: &[&[u8]], changes: &[Replacement], places: &[usize]) -> Self {
        let mut before = vec![0];
        for line in current {
            before.push(before[before.len() - 1] + line.len());
        }
        let mut text = Vec::new();
        let mut at = 0;
        for (change, &place) in changes.iter().zip(places) {
            text.extend(current[at..place].iter().copied().flatten());
            text.extend_from_slice(&change.text);
            at = place + change.lines.len();
        }
        text.extend(current[at..].iter().copied().flatten());
        Self { before, text, added: 0, removed: 0 }
    }

    /// Goes past a change.
    fn pass(&mut self, added: usize, removed: usize) {
        self.added += added;
        self.removed += removed;
    }

    /// Returns whether a text stands where a line of the current file would.
    fn has(&self, at: usize, text: &[u8]) -> bool {
        let from = (self.before[at] + self.added).checked_sub(self.removed);
        from.and_then(|from| self.text.get(from..)).is_some_and(|rest| rest.starts_with(text))
    }
}
