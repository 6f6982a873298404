//! The bytes that the hunks of a file cost.

use crate::suffixes::shortest_unique;
use crate::text::FileText;

/// The characters of a text that the file does not have.
const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

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
    pub(crate) fn new(file: &FileText) -> Self {
        let ends = shortest_unique(&file.ids, &file.order);
        let mut sums = vec![0];
        let mut longest = 0;
        for line in 0..file.len() {
            let cost = file.line(line).len() as u32 + 2;
            longest = longest.max(cost);
            sums.push(cost.saturating_add(sums[line as usize]));
        }
        let mut this = Self { ends, sums, most: 0, fewest: u32::MAX, longest, farthest: 0 };
        for start in 0..file.limit {
            let cost = this.bytes(start, this.ends[start as usize]);
            this.most = this.most.max(cost);
            this.fewest = this.fewest.min(cost);
        }
        // There are more texts of so many letters than lines.
        while LETTERS.len().pow(this.farthest) <= file.firsts.len() {
            this.farthest += 1;
        }
        this
    }

    /// The bytes of the lines from `start` to `end`.
    pub(crate) fn bytes(&self, start: u32, end: u32) -> u32 {
        self.sums[end as usize] - self.sums[start as usize]
    }

    /// The fewest bytes to be added to a text until it is not a line of the file.
    pub(crate) fn to_new(&self, file: &FileText, text: &[u8]) -> u32 {
        let mut longer = text.to_vec();
        (0..self.farthest).find(|&len| can_be_new(file, &mut longer, len)).unwrap_or(self.farthest)
    }
}

/// Whether a text with `len` more letters may be no line of the file.
fn can_be_new(file: &FileText, text: &mut Vec<u8>, len: u32) -> bool {
    if len == 0 {
        return file.id_of(text.strip_suffix(b"\r").unwrap_or(text)).is_none();
    }
    LETTERS.iter().any(|&letter| {
        text.push(letter);
        let can = can_be_new(file, text, len - 1);
        text.pop();
        can
    })
}
