//! All matches of all hunks in a file: the first step of [`ordered`](super::ordered).

use super::find::Blocks;
use super::needle::Needle;
use super::pass::Pass;
use super::search::SATURATION;
use crate::text::lines::{Lines, Mark};

/// The matches of all hunks.
pub(crate) struct AllMatches<'a, 'f, 'p> {
    /// Each hunk's matches in the first pass with any; `None` for hunks without old lines, and for
    /// hunks without a match.
    pub(crate) matches: Vec<Option<Matches>>,
    /// The blocks that [`Rest`] refers to.
    pub(crate) searched: Vec<Blocks<'a, 'f, 'p>>,
    /// The beginnings of matches, by line, where they are listed.
    pub(crate) marks: Vec<Mark>,
}

/// All matches of a hunk.
#[derive(Debug)]
pub(crate) struct Matches {
    pub(crate) pass: Pass,
    pub(crate) dropped: usize,
    /// The first lines of the first [`SATURATION`] matches, ascending; of all matches, where their
    /// terminators had to be compared.
    pub(crate) starts: Vec<u32>,
    /// How to find the others, if there are any.
    pub(crate) rest: Option<Rest>,
}

/// Matches that are found one at a time, shared by hunks with the same lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Rest {
    /// The index in [`AllMatches::searched`].
    pub(crate) searched: usize,
    pub(crate) pass: Pass,
    pub(crate) block: usize,
}

/// Finds the matches of `needles`.
pub(crate) fn find<'a, 'f, 'p>(
    lines: &'a Lines<'f>,
    needles: &'a [Needle<'p>],
    passes: &[Pass],
) -> AllMatches<'a, 'f, 'p> {
    let matches = needles.iter().map(|_| None).collect();
    let mut finder = MatchFinder {
        lines,
        needles,
        found: AllMatches { matches, searched: Vec::new(), marks: Vec::new() },
    };
    finder.find_fixed(passes);
    // Most hunks match in the first pass. The others are searched for with all other passes at
    // once.
    let (first, others) = passes.split_at(passes.len().min(1));
    finder.find_in(first);
    finder.find_in(others);
    finder.found.marks.sort_unstable();
    finder.found
}

struct MatchFinder<'a, 'f, 'p> {
    lines: &'a Lines<'f>,
    needles: &'a [Needle<'p>],
    found: AllMatches<'a, 'f, 'p>,
}

impl<'a, 'p> MatchFinder<'a, '_, 'p> {
    /// Finds the hunks that state their place.
    fn find_fixed(&mut self, passes: &[Pass]) {
        for needle in self.needles {
            if needle.is_insertion() || needle.done.is_some() {
                continue;
            }
            let variants = passes
                .iter()
                .flat_map(|&pass| needle.variants().map(move |dropped| (pass, dropped)));
            for (pass, dropped) in variants {
                if let Some(mark) = needle.fixed_mark(self.lines, dropped)
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

    /// Returns the hunks without a match so far, and how many separators may be left out of each.
    fn wanted(&self) -> Vec<(&'a Needle<'p>, usize)> {
        self.needles
            .iter()
            .filter(|needle| {
                !needle.is_insertion()
                    && needle.fixed.is_none()
                    && needle.done.is_none()
                    && self.found.matches[needle.index].is_none()
            })
            .flat_map(|needle| needle.variants().map(move |dropped| (needle, dropped)))
            .collect()
    }

    fn find_in(&mut self, passes: &[Pass]) {
        let wanted = self.wanted();
        if wanted.is_empty() {
            return;
        }
        let blocks = wanted.iter().map(|&(needle, dropped)| needle.old_without(dropped)).collect();
        let blocks = Blocks::new(self.lines, blocks, passes);
        for &pass in passes {
            for (block, &(needle, dropped)) in wanted.iter().enumerate() {
                let matches = &mut self.found.matches[needle.index];
                if matches.is_some() {
                    continue;
                }
                if needle.wants_endings(pass) {
                    let first = blocks.next_of(needle, dropped, pass, block, 0);
                    let starts = std::iter::successors(first, |&start| {
                        blocks.next_of(needle, dropped, pass, block, start + 1)
                    });
                    let starts: Vec<u32> = starts.map(|start| start as u32).collect();
                    if !starts.is_empty() && !blocks.gave_up() {
                        *matches = Some(Matches { pass, dropped, starts, rest: None });
                    }
                    continue;
                }
                let starts = blocks.first(pass, block, SATURATION);
                if !starts.is_empty() {
                    let rest = Rest {
                        searched: self.found.searched.len(),
                        pass,
                        block: blocks.same_as(pass, block),
                    };
                    let rest = (blocks.count(pass, block) > SATURATION).then_some(rest);
                    *matches = Some(Matches { pass, dropped, starts, rest });
                    self.found.marks.extend(blocks.spots(pass, block).into_iter().flatten());
                }
            }
        }
        self.found.searched.push(blocks);
    }
}
