//! The bytes that the hunks of a file cost.

use crate::suffixes::shortest_unique;

/// The characters of a text that the file does not have.
pub(crate) const LETTERS: &[u8; 64] =
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/// The bytes of the old lines of a file in a patch, each with its sign and its line feed.
#[derive(Debug)]
pub(crate) struct Costs {
    /// The end of the shortest block from each line on that stands once.
    pub(crate) ends: Vec<u32>,
    /// The bytes of all lines above a line.
    sums: Vec<u32>,
    /// The most bytes of a shortest block.
    pub(crate) most: u32,
    /// The fewest bytes of one.
    pub(crate) fewest: u32,
    /// The most bytes of a line.
    pub(crate) longest: u32,
    /// The most bytes to be added to a text until it is not a line of the file.
    pub(crate) farthest: u32,
}

impl Costs {
    /// Counts the bytes. `lines` are the lengths of the lines, `ids` the numbers of their texts, of
    /// which there are `texts`; blocks that stand once begin above `limit`.
    pub(crate) fn new(
        lines: impl Iterator<Item = u32>,
        ids: &[u32],
        order: &[u32],
        texts: usize,
        limit: u32,
    ) -> Self {
        let ends = shortest_unique(ids, order);
        let mut sums = vec![0_u32];
        let mut longest = 0;
        let mut sum = 0_u32;
        for line in lines {
            longest = longest.max(line + 2);
            sum = sum.saturating_add(line + 2);
            sums.push(sum);
        }
        let mut this = Self { ends, sums, most: 0, fewest: u32::MAX, longest, farthest: 0 };
        for start in 0..limit {
            let cost = this.bytes(start, this.ends[start as usize]);
            this.most = this.most.max(cost);
            this.fewest = this.fewest.min(cost);
        }
        // There are more texts of so many letters than lines.
        while LETTERS.len().pow(this.farthest) <= texts {
            this.farthest += 1;
        }
        this
    }

    /// The bytes of the lines from `start` to `end`.
    pub(crate) fn bytes(&self, start: u32, end: u32) -> u32 {
        self.sums[end as usize] - self.sums[start as usize]
    }
}
