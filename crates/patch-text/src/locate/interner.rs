//! Gives the lines of a patch numbers, so that each line is compared once and then only numbers
//! are; and fingerprints, so that most lines of a file need no comparison at all.

use std::borrow::Cow;
use std::collections::HashMap;

use super::pass::{Pass, equal};

/// The number of a line that is not in the patch.
pub(crate) const FOREIGN: u32 = u32::MAX;

/// The numbers of the patch's lines, as one pass sees them.
#[derive(Debug)]
pub(crate) struct Interner<'p> {
    pass: Pass,
    ids: HashMap<Cow<'p, [u8]>, u32, foldhash::fast::RandomState>,
    seen: Fingerprints,
}

impl<'p> Interner<'p> {
    pub(crate) fn new(pass: Pass) -> Self {
        Self { pass, ids: HashMap::default(), seen: Fingerprints::default() }
    }

    /// Returns the number of a line of the patch, giving it a new one if needed.
    pub(crate) fn insert(&mut self, line: &'p [u8]) -> u32 {
        let key = self.pass.key(line);
        self.seen.insert(fingerprint(&key));
        let next = u32::try_from(self.ids.len())
            .expect("a patch has fewer lines than bytes, at most 64 MiB");
        *self.ids.entry(key).or_insert(next)
    }

    /// Returns the numbers of the lines of some blocks of the patch.
    pub(crate) fn sequences<'b>(
        &mut self,
        blocks: impl Iterator<Item = &'b [&'p [u8]]>,
    ) -> Vec<Vec<u32>>
    where
        'p: 'b,
    {
        blocks.map(|block| block.iter().map(|line| self.insert(line)).collect()).collect()
    }

    /// Returns the number of a line of the file, or [`FOREIGN`].
    pub(crate) fn get(&self, line: &[u8]) -> u32 {
        let key = self.pass.key(line);
        if self.seen.contains(fingerprint(&key)) {
            self.ids.get(&key).copied().unwrap_or(FOREIGN)
        } else {
            FOREIGN
        }
    }

    /// Returns the numbers of all lines of a file.
    pub(crate) fn all<'f>(
        &self,
        lines: impl Iterator<Item = &'f [u8]>,
    ) -> impl Iterator<Item = u32> {
        // Tables of data repeat a line many times.
        let mut last = (Cow::Borrowed(&[][..]), self.get(&[]));
        lines.map(move |line| {
            let key = self.pass.key(line);
            if !self.seen.contains(fingerprint(&key)) {
                return FOREIGN;
            }
            if !equal(&key, &last.0) {
                let id = self.ids.get(&key).copied().unwrap_or(FOREIGN);
                last = (key, id);
            }
            last.1
        })
    }
}

/// A set of fingerprints with false positives: about one in a thousand with a few dozen entries.
///
/// It is created for each file. On the heap that would take two fresh pages of memory each time.
#[derive(Debug)]
pub(crate) struct Fingerprints([u64; 1024]);

impl Default for Fingerprints {
    fn default() -> Self {
        Self([0; 1024])
    }
}

impl Fingerprints {
    pub(crate) fn insert(&mut self, fingerprint: u64) {
        let bit = fingerprint >> 48;
        self.0[(bit >> 6) as usize] |= 1 << (bit & 63);
    }

    #[inline]
    pub(crate) fn contains(&self, fingerprint: u64) -> bool {
        let bit = fingerprint >> 48;
        self.0[(bit >> 6) as usize] & (1 << (bit & 63)) != 0
    }
}

/// The multiplier of the fingerprints.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns a number that is the same for equal lines and rarely for others. It depends on a line's
/// length, its first 64 and its last eight bytes. The upper bits are the best.
#[inline]
pub(crate) fn fingerprint(line: &[u8]) -> u64 {
    let Some(&last) = line.last_chunk() else {
        let (first, last) = short_ends(line);
        return (first ^ last.rotate_left(23) ^ (line.len() as u64)).wrapping_mul(FACTOR);
    };
    let (words, _) = line[..line.len().min(64)].as_chunks();
    mix(words.iter().fold(line.len() as u64, mix), &last)
}

#[inline]
fn mix(mixed: u64, &word: &[u8; 8]) -> u64 {
    (mixed.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR)
}

/// Returns all bytes of a line with fewer than eight.
fn short_ends(line: &[u8]) -> (u64, u64) {
    match (line, line.first_chunk().zip(line.last_chunk())) {
        (_, Some((&first, &last))) => {
            (u32::from_le_bytes(first).into(), u32::from_le_bytes(last).into())
        }
        (&[first, middle, last], _) => {
            (u64::from_le_bytes([0, first, middle, 0, 0, 0, 0, 0]), last.into())
        }
        (&[first, last], _) => (u64::from(first) << 8, last.into()),
        (&[only], _) => (u64::from(only) << 8, 0),
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_file_has_the_number_of_the_same_line_of_the_patch() {
        let mut interner = Interner::new(Pass::Trailing);
        let lines = ["", "a", "abcdefgh", "abcdefgh1abcdefgh", "abcdefgh2abcdefgh"];
        let ids: Vec<u32> = lines.iter().map(|line| interner.insert(line.as_bytes())).collect();
        assert_eq!(ids, [0, 1, 2, 3, 4]);
        for (line, id) in lines.iter().zip(ids) {
            assert_eq!(interner.get(format!("{line} ").as_bytes()), id);
        }
        assert_eq!(interner.get(b"abcdefgh3abcdefgh"), FOREIGN);
        let all: Vec<u32> =
            interner.all([&b"a"[..], b"a", b"x", b"a ", b"", b""].into_iter()).collect();
        assert_eq!(all, [1, 1, FOREIGN, 1, 0, 0]);
    }

    #[test]
    fn short_lines_have_fingerprints_of_their_own() {
        let lines = [
            "", "a", "b", "ab", "ba", "aab", "aba", "}", "},", "});", "abcd", "abcde", "abcdefg",
            "abcdefgh",
        ];
        let mut prints: Vec<u64> =
            lines.iter().map(|line| fingerprint(line.as_bytes()) >> 48).collect();
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), lines.len());
    }

    /// Lines of `a` and `b`, all of one length.
    fn of_length(len: usize) -> impl Iterator<Item = String> {
        (0..1_u32 << len).map(move |bits| {
            (0..len).map(|at| if bits >> at & 1 == 1 { 'b' } else { 'a' }).collect()
        })
    }

    #[test]
    fn few_lines_share_a_fingerprint() {
        for len in 1..=10 {
            let mut prints: Vec<u64> =
                of_length(len).map(|line| fingerprint(line.as_bytes()) >> 48).collect();
            let all = prints.len();
            prints.sort_unstable();
            prints.dedup();
            assert!(all - prints.len() <= all / 32, "{len}: {} of {all}", prints.len());
        }
    }

    #[test]
    fn few_lines_are_taken_for_those_of_the_patch() {
        let mut seen = Fingerprints::default();
        let put_in: Vec<u64> = of_length(5).map(|line| fingerprint(line.as_bytes())).collect();
        put_in.iter().for_each(|&print| seen.insert(print));
        assert!(put_in.iter().all(|&print| seen.contains(print)));
        let others = of_length(12).filter(|line| seen.contains(fingerprint(line.as_bytes())));
        assert!(others.count() < 40, "of 4096");
    }
}
