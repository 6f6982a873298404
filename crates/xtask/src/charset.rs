//! Sets of characters.

use std::ops::RangeInclusive;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// A set of characters (Unicode scalar values).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharSet(ClassUnicode);

impl Default for CharSet {
    fn default() -> Self {
        Self(ClassUnicode::empty())
    }
}

impl CharSet {
    /// The set of one character.
    pub(crate) fn single(c: char) -> Self {
        Self::range(c..=c)
    }

    /// The set of a range, ends included.
    pub(crate) fn range(range: RangeInclusive<char>) -> Self {
        if range.is_empty() {
            return Self::default();
        }
        Self(ClassUnicode::new([ClassUnicodeRange::new(*range.start(), *range.end())]))
    }

    /// The set of all characters.
    pub(crate) fn all() -> Self {
        Self::default().complement()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.ranges().is_empty()
    }

    /// The character of a set with only one.
    pub(crate) fn only(&self) -> Option<char> {
        match self.0.ranges() {
            [range] if range.start() == range.end() => Some(range.start()),
            _ => None,
        }
    }

    pub(crate) fn union(mut self, other: &Self) -> Self {
        self.0.union(&other.0);
        self
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.0.intersect(&other.0);
        both
    }

    /// The characters outside the set.
    pub(crate) fn complement(&self) -> Self {
        let mut others = self.clone();
        others.0.negate();
        others
    }

    pub(crate) fn difference(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.0.difference(&other.0);
        rest
    }

    /// Whether `c` is in the set.
    #[must_use]
    pub fn contains(&self, c: char) -> bool {
        self.ranges().any(|(first, last)| (first..=last).contains(&c))
    }

    /// A character of the set, readable if possible.
    #[must_use]
    pub fn sample(&self) -> Option<char> {
        let letter = self.within('a', 'z').map(|(_, last)| last).max();
        letter
            .or_else(|| self.within(' ', '~').map(|(first, _)| first).min())
            .or_else(|| self.ranges().next().map(|(first, _)| first))
    }

    /// The parts of the ranges between two characters.
    fn within(&self, low: char, high: char) -> impl Iterator<Item = (char, char)> {
        let cut = self.ranges().map(move |(first, last)| (first.max(low), last.min(high)));
        cut.filter(|(first, last)| first <= last)
    }

    /// The ranges, ends included.
    pub(crate) fn ranges(&self) -> impl ExactSizeIterator<Item = (char, char)> {
        self.0.ranges().iter().map(|range| (range.start(), range.end()))
    }
}
