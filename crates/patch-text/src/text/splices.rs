//! Byte ranges of a file, and the bytes that take their place.

use std::ops::Range;

/// `source[start..end]` becomes `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// First byte replaced.
    pub start: usize,
    /// One past the last byte replaced; equal to `start` for an insertion.
    pub end: usize,
    /// The new bytes.
    pub text: Vec<u8>,
}

/// Replacements in one file. They ascend and do not overlap, by construction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Splices(Vec<Splice>);

impl Splices {
    /// Makes a list without replacements.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a list with room for `count` replacements.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self(Vec::with_capacity(count))
    }

    /// Adds the replacement of `range` by `text`, after all others.
    ///
    /// # Panics
    ///
    /// When the range is reversed, or begins before the end of the one added last.
    pub fn push(&mut self, range: Range<usize>, text: Vec<u8>) {
        let ordered = range.start >= self.end() && range.end >= range.start;
        assert!(ordered, "BUG: {range:?} does not come after byte {}", self.end());
        self.0.push(Splice { start: range.start, end: range.end, text });
    }

    /// Returns the end of the last range: a source has to be that long.
    #[must_use]
    pub fn end(&self) -> usize {
        self.0.last().map_or(0, |last| last.end)
    }

    /// Returns whether nothing is replaced.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The replacements, in file order.
    #[must_use]
    pub fn as_slice(&self) -> &[Splice] {
        &self.0
    }

    /// Counts the bytes that are replaced and inserted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|splice| splice.end - splice.start + splice.text.len()).sum()
    }

    /// Iterates over the result from byte `from` of `source` on: unchanged and new pieces in turn,
    /// none of them empty. No replacement begins before `from`.
    pub fn pieces<'s>(&'s self, source: &'s [u8], from: usize) -> impl Iterator<Item = &'s [u8]> {
        let ends = std::iter::once(from).chain(self.0.iter().map(|splice| splice.end));
        let starts = self.0.iter().map(|splice| splice.start).chain(std::iter::once(source.len()));
        let new = self.0.iter().map(|splice| &splice.text[..]).chain(std::iter::once(&[][..]));
        let stays = ends.zip(starts).map(|(from, to)| &source[from..to]);
        stays.zip(new).flat_map(|(stays, new)| [stays, new]).filter(|piece| !piece.is_empty())
    }

    /// Returns the whole file after the replacements.
    #[must_use]
    pub fn apply(&self, source: &[u8]) -> Vec<u8> {
        let mut result = Vec::with_capacity(self.size_of(source.len()));
        self.pieces(source, 0).for_each(|piece| result.extend_from_slice(piece));
        result
    }

    /// Returns the size of the result for a file of `source` bytes.
    #[must_use]
    pub fn size_of(&self, source: usize) -> usize {
        self.0
            .iter()
            .fold(source, |size, splice| size + splice.text.len() - (splice.end - splice.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(parts: &[(usize, usize, &str)]) -> Splices {
        let mut splices = Splices::new();
        parts.iter().for_each(|&(start, end, text)| splices.push(start..end, text.into()));
        splices
    }

    #[test]
    fn replaces_ranges_and_nothing_else() {
        for (parts, result) in [
            (&[][..], "abcdef"),
            (&[(0, 0, "x")][..], "xabcdef"),
            (&[(6, 6, "x")], "abcdefx"),
            (&[(0, 6, "")], ""),
            (&[(0, 1, "A"), (1, 1, "-"), (5, 6, "")], "A-bcde"),
            (&[(2, 4, "x"), (4, 4, "y"), (4, 5, "z")], "abxyzf"),
        ] {
            let splices = of(parts);
            let whole = splices.apply(b"abcdef");
            assert_eq!(whole.as_slice(), result.as_bytes(), "{parts:?}");
            assert_eq!(splices.size_of(6), result.len(), "{parts:?}");
            assert!(splices.pieces(b"abcdef", 0).all(|piece| !piece.is_empty()));
        }
    }

    #[test]
    #[should_panic(expected = "does not come after byte 3")]
    fn refuses_what_is_out_of_order() {
        of(&[(1, 3, "x"), (2, 4, "y")]);
    }
}
