//! All matches of all hunks in a file: the first step of [`ordered`](super::ordered).

use super::landmarks::{self, Spot};
use super::needle::{Fixed, Needle};
use super::numbers::Numbers;
use super::pass::Pass;
use super::search::{Automaton, Occurrences, SATURATION};
use crate::lines::{Lines, Mark};

/// What was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// Each hunk's matches in the first pass that has any; `None` for hunks without old lines, and for
    /// those that match nowhere.
    pub(crate) matches: Vec<Option<Matches>>,
    /// All occurrences of the hunks' lines, for hunks with [`Rest`].
    pub(crate) occurrences: Vec<Occurrences>,
    /// Where some of the matches begin, by line.
    pub(crate) marks: Vec<Mark>,
}

/// All matches of a hunk.
#[derive(Debug)]
pub(crate) struct Matches {
    pub(crate) pass: Pass,
    pub(crate) dropped: usize,
    /// The first lines of the first [`SATURATION`] ones, ascending.
    pub(crate) starts: Vec<u32>,
    /// How to find the others, if there are any.
    pub(crate) rest: Option<Rest>,
}

/// Matches that are found one at a time; the same for hunks with the same lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Rest {
    /// Which of [`Found::occurrences`] has them.
    pub(crate) list: usize,
    /// Of which sequence they are there.
    pub(crate) sequence: usize,
}

/// Finds the matches of `needles`.
pub(crate) fn find(lines: &Lines<'_>, needles: &[Needle<'_>], passes: &[Pass]) -> Found {
    let matches = needles.iter().map(|_| None).collect();
    let mut finder = Finder { lines, needles, found: Found { matches, occurrences: Vec::new(), marks: Vec::new() } };
    finder.find_fixed(passes);
    // Most hunks match in the first pass. What is left is looked for in all others at once.
    let (first, others) = passes.split_at(passes.len().min(1));
    finder.find_in(first);
    finder.find_in(others);
    finder.found.marks.sort_unstable();
    finder.found
}

struct Finder<'a, 'f, 'p> {
    lines: &'a Lines<'f>,
    needles: &'a [Needle<'p>],
    found: Found,
}

impl<'a, 'p> Finder<'a, '_, 'p> {
    /// The hunks that say themselves where they are.
    fn find_fixed(&mut self, passes: &[Pass]) {
        let fixed = self.needles.iter().filter(|needle| !needle.is_insertion());
        for (needle, fixed) in fixed.filter_map(|needle| Some((needle, needle.fixed?))) {
            let variants = passes.iter().flat_map(|&pass| needle.variants().map(move |dropped| (pass, dropped)));
            for (pass, dropped) in variants {
                if let Some(mark) = self.fixed_mark(fixed, needle.old_without(dropped).len())
                    && needle.fits(self.lines, mark, dropped, pass)
                {
                    self.found.marks.push(mark);
                    self.found.matches[needle.index] =
                        Some(Matches { pass, dropped, starts: vec![mark.line], rest: None });
                    break;
                }
            }
        }
    }

    /// Where a hunk of `len` lines begins that must be at the start or at the end.
    fn fixed_mark(&self, fixed: Fixed, len: usize) -> Option<Mark> {
        match fixed {
            Fixed::Start => Some(Mark { line: 0, byte: self.lines.start(0) as u32 }),
            Fixed::End => {
                let line = self.lines.len().checked_sub(len)?;
                let mut byte = self.lines.bytes().len();
                for _ in 0..len {
                    byte = self.lines.line_before(byte)?.start;
                }
                Some(Mark { line: line as u32, byte: byte as u32 })
            }
        }
    }

    /// The hunks that have no match yet, and the numbers of separators that may be left out of each.
    fn wanted(&self) -> Vec<(&'a Needle<'p>, usize)> {
        self.needles
            .iter()
            .filter(|needle| {
                !needle.is_insertion() && needle.fixed.is_none() && self.found.matches[needle.index].is_none()
            })
            .flat_map(|needle| needle.variants().map(move |dropped| (needle, dropped)))
            .collect()
    }

    fn find_in(&mut self, passes: &[Pass]) {
        let wanted = self.wanted();
        let Some(&most_lenient) = passes.iter().max().filter(|_| !wanted.is_empty()) else { return };
        let blocks: Vec<&[&[u8]]> = wanted.iter().map(|&(needle, dropped)| needle.old_without(dropped)).collect();
        let Some(spots) = landmarks::find(self.lines, &blocks, most_lenient) else {
            for &pass in passes {
                self.find_by_numbers(pass);
            }
            return;
        };
        for &pass in passes {
            for (&(needle, dropped), spots) in wanted.iter().zip(&spots) {
                // What a stricter pass sees, every more lenient one sees.
                let seen = |spot: &&Spot| spot.pass <= pass;
                let starts: Vec<u32> = spots.iter().filter(seen).map(|spot| spot.mark.line).collect();
                let matches = &mut self.found.matches[needle.index];
                if matches.is_none() && !starts.is_empty() {
                    *matches = Some(Matches { pass, dropped, starts, rest: None });
                    self.found.marks.extend(spots.iter().filter(seen).map(|spot| spot.mark));
                }
            }
        }
    }

    /// The way for every input.
    fn find_by_numbers(&mut self, pass: Pass) {
        let wanted = self.wanted();
        if wanted.is_empty() {
            return;
        }
        let mut numbers = Numbers::new(pass);
        let sequences: Vec<Vec<u32>> = wanted
            .iter()
            .map(|&(needle, dropped)| needle.old_without(dropped).iter().map(|line| numbers.insert(line)).collect())
            .collect();
        let automaton = Automaton::new(&sequences);
        let all = automaton.run(numbers.all(self.lines.iter()));
        let list = self.found.occurrences.len();
        for (index, (needle, dropped)) in wanted.into_iter().enumerate() {
            let matches = &mut self.found.matches[needle.index];
            let count = all.count(index);
            if count > 0 && matches.is_none() {
                let rest = (count > SATURATION).then(|| Rest { list, sequence: automaton.same_as(index) });
                *matches = Some(Matches { pass, dropped, starts: all.first(index, SATURATION), rest });
            }
        }
        self.found.occurrences.push(all);
    }
}
