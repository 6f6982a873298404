//! Sets of characters, as sorted ranges.

use std::ops::RangeInclusive;

/// A set of characters (Unicode scalar values).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CharSet {
    /// Sorted, and neither overlapping nor adjacent.
    ranges: Vec<(u32, u32)>,
}

/// The two gaps-free halves of all scalar values.
const ALL: [(u32, u32); 2] = [(0, 0xD7FF), (0xE000, 0x10_FFFF)];

impl CharSet {
    /// The set of one character.
    pub(crate) fn single(c: char) -> Self {
        Self { ranges: vec![(c as u32, c as u32)] }
    }

    /// The set of a range, ends included.
    pub(crate) fn range(range: RangeInclusive<char>) -> Self {
        if range.is_empty() {
            return Self::default();
        }
        Self { ranges: vec![(*range.start() as u32, *range.end() as u32)] }.intersection(&Self::all())
    }

    /// The set of all characters.
    pub(crate) fn all() -> Self {
        Self { ranges: ALL.to_vec() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The character of a set that has only one.
    pub(crate) fn only(&self) -> Option<char> {
        match self.ranges[..] {
            [(first, last)] if first == last => char::from_u32(first),
            _ => None,
        }
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut all: Vec<_> = self.ranges.iter().chain(&other.ranges).copied().collect();
        all.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for (first, last) in all {
            match ranges.last_mut() {
                Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
                _ => ranges.push((first, last)),
            }
        }
        Self { ranges }
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        for &(first, last) in &self.ranges {
            for &(other_first, other_last) in &other.ranges {
                let (first, last) = (first.max(other_first), last.min(other_last));
                if first <= last {
                    ranges.push((first, last));
                }
            }
        }
        Self { ranges }
    }

    /// The characters that are not in the set.
    pub(crate) fn complement(&self) -> Self {
        let mut ranges = Vec::new();
        for (mut first, last) in ALL {
            for &(taken, taken_last) in &self.ranges {
                if taken_last < first || taken > last {
                    continue;
                }
                if taken > first {
                    ranges.push((first, taken - 1));
                }
                first = taken_last + 1;
            }
            if first <= last {
                ranges.push((first, last));
            }
        }
        Self { ranges }
    }

    pub(crate) fn difference(&self, other: &Self) -> Self {
        self.intersection(&other.complement())
    }

    /// Whether `c` is in the set.
    #[must_use]
    pub fn contains(&self, c: char) -> bool {
        self.ranges.iter().any(|&(first, last)| (first..=last).contains(&(c as u32)))
    }

    /// A character of the set, readable if it has one.
    #[must_use]
    pub fn sample(&self) -> Option<char> {
        ('a'..='z')
            .rev()
            .chain(' '..='~')
            .find(|&c| self.contains(c))
            .or_else(|| self.ranges.first().and_then(|&(first, _)| char::from_u32(first)))
    }

    /// The ranges, ends included.
    pub(crate) fn ranges(&self) -> impl ExactSizeIterator<Item = (char, char)> {
        self.ranges.iter().map(|&(first, last)| {
            (
                char::from_u32(first).expect("no range begins in a gap"),
                char::from_u32(last).expect("no range ends in a gap"),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::CharSet;

    #[test]
    fn a_complement_of_a_complement_is_the_set() {
        for set in [
            CharSet::default(),
            CharSet::all(),
            CharSet::single('\n'),
            CharSet::range('a'..='z').union(&CharSet::single('\0')),
            CharSet::range('\u{D000}'..='\u{E010}'),
            CharSet::single('\u{10FFFF}'),
        ] {
            assert_eq!(set.complement().complement(), set);
            assert!(set.intersection(&set.complement()).is_empty());
            assert_eq!(set.difference(&set), CharSet::default());
        }
    }
}
