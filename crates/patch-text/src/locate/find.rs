//! Finds where the hunks' lines stand in a file, for both rules of placement.
//!
//! The prefilter compares whole hunks around their rare lines. Where this would be too much work,
//! the automaton finds all hunks in one walk.

use std::cell::{Cell, OnceCell};

use super::interner::Interner;
use super::needle::Needle;
use super::pass::Pass;
use super::prefilter::{self, Spot};
use super::search::{Automaton, Occurrences};
use crate::text::lines::{Lines, Mark};

/// How many terminators are compared for all hunks of a file. Without a bound, many hunks whose
/// texts stand everywhere in a file with mixed terminators would cost one walk each. Hunks beyond
/// the bound match nowhere, and neither does a hunk whose places were not all checked.
const COMPARED_ENDINGS: usize = 16_000_000;

/// Blocks of lines, and all places of each in a file.
pub(crate) struct Blocks<'a, 'f, 'p> {
    lines: &'a Lines<'f>,
    blocks: Vec<&'a [&'p [u8]]>,
    /// The places that the prefilter found, for the most lenient pass; `None` if it gave up.
    spots: Option<Vec<Vec<Spot>>>,
    /// The places that the automaton found for each requested pass, if the prefilter gave up.
    occurrences: [OnceCell<Occurrences>; Pass::ALL.len()],
    /// How many terminators may still be compared.
    effort: Cell<usize>,
}

impl<'a, 'f, 'p> Blocks<'a, 'f, 'p> {
    /// Searches for `blocks` with `passes`. No block is empty.
    pub(crate) fn new(lines: &'a Lines<'f>, blocks: Vec<&'a [&'p [u8]]>, passes: &[Pass]) -> Self {
        let spots = match passes.iter().max() {
            Some(&most_lenient) if !blocks.is_empty() => {
                prefilter::find(lines, &blocks, most_lenient)
            }
            _ => Some(vec![Vec::new(); blocks.len()]),
        };
        Self {
            lines,
            blocks,
            spots,
            occurrences: Default::default(),
            effort: Cell::new(COMPARED_ENDINGS),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a [&'p [u8]]> {
        self.blocks.iter().copied()
    }

    pub(crate) fn block(&self, block: usize) -> &'a [&'p [u8]] {
        self.blocks[block]
    }

    fn occurrences(&self, pass: Pass) -> &Occurrences {
        self.occurrences[pass as usize].get_or_init(|| {
            let mut interner = Interner::new(pass);
            let sequences = interner.sequences(self.iter());
            Automaton::new(&sequences).run(interner.all(self.lines.iter()))
        })
    }

    /// Returns the places of a block that the prefilter found. Every place of a stricter pass is
    /// also a place of a more lenient pass.
    pub(crate) fn spots(
        &self,
        pass: Pass,
        block: usize,
    ) -> Option<impl DoubleEndedIterator<Item = Mark>> {
        let spots = self.spots.as_ref()?[block].iter();
        Some(spots.filter(move |spot| spot.pass <= pass).map(|spot| spot.mark))
    }

    /// How many places a block has.
    pub(crate) fn count(&self, pass: Pass, block: usize) -> usize {
        match self.spots(pass, block) {
            Some(spots) => spots.count(),
            None => self.occurrences(pass).count(block),
        }
    }

    /// The first lines of the first `limit` places of a block, ascending.
    pub(crate) fn first(&self, pass: Pass, block: usize, limit: usize) -> Vec<u32> {
        match self.spots(pass, block) {
            Some(spots) => spots.map(|mark| mark.line).take(limit).collect(),
            None => self.occurrences(pass).first(block, limit),
        }
    }

    /// The first place of a block that begins in `from..`.
    pub(crate) fn next(&self, pass: Pass, block: usize, from: usize) -> Option<usize> {
        match self.spots(pass, block) {
            Some(spots) => spots.map(|mark| mark.line as usize).find(|&line| line >= from),
            None => self.occurrences(pass).next(block, from),
        }
    }

    /// Returns the first place in `from..` of a hunk's block where the lines also end as the hunk
    /// states.
    pub(crate) fn next_of(
        &self,
        needle: &Needle<'_>,
        dropped: usize,
        pass: Pass,
        block: usize,
        mut from: usize,
    ) -> Option<usize> {
        loop {
            let start = self.next(pass, block, from)?;
            if !needle.wants_endings(pass) {
                return Some(start);
            }
            self.effort.set(self.effort.get().saturating_sub(self.blocks[block].len()));
            if self.gave_up() {
                return None;
            }
            if needle.endings_fit(self.lines, start, dropped, pass) {
                return Some(start);
            }
            from = start + 1;
        }
    }

    /// Returns whether [`next_of`](Self::next_of) may have missed places.
    pub(crate) fn gave_up(&self) -> bool {
        self.effort.get() == 0
    }

    /// Returns the last place of a block that begins in `..=until`. Only the automaton answers:
    /// such blocks have more places than the prefilter lists.
    pub(crate) fn previous(&self, pass: Pass, block: usize, until: usize) -> Option<usize> {
        self.occurrences(pass).previous(block, until)
    }

    /// Returns the first block with the same lines, if the automaton was used; else the block
    /// itself.
    pub(crate) fn same_as(&self, pass: Pass, block: usize) -> usize {
        if self.spots.is_some() { block } else { self.occurrences(pass).same_as(block) }
    }
}
