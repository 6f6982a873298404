//! A text with LF in place of CRLF, in which other texts are looked for and replaced.
//!
//! A text that is looked for need not begin or end with a line. Texts to look for, and their
//! replacements, have LF alone; a replacement ends its lines as the file does.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::text::lines::{BOM, line_start};

/// The most lines above or below a place that are added to make its text unique.
const WIDER: usize = 5;

/// A file with CRLF as LF, and the way back from a position there to a position in the file.
#[derive(Debug)]
pub struct LfText {
    /// Where the text begins, after a byte-order mark.
    bom: usize,
    text: Vec<u8>,
    /// The positions in `text` of line feeds that stand for CRLF, ascending.
    crlf: Vec<usize>,
}

/// The places of a text that do not overlap.
#[derive(Debug)]
pub struct TextPlaces {
    /// Where they begin.
    pub starts: Vec<usize>,
    /// How many more places overlap the place before them.
    pub overlapping: usize,
}

/// More of the text around a place.
#[derive(Debug)]
pub struct MoreText {
    /// The text before the place.
    pub before: String,
    /// The text behind the place.
    pub after: String,
}

impl LfText {
    /// Reads the bytes of a file.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let body = bytes.strip_prefix(BOM).unwrap_or(bytes);
        let mut text = Vec::with_capacity(body.len());
        let mut crlf = Vec::new();
        for (at, &byte) in body.iter().enumerate() {
            if byte == b'\r' && body.get(at + 1) == Some(&b'\n') {
                crlf.push(text.len());
            } else {
                text.push(byte);
            }
        }
        Self { bom: bytes.len() - body.len(), text, crlf }
    }

    /// Returns the text without a byte-order mark.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Finds the places of a text that is not empty.
    #[must_use]
    pub fn places(&self, old: &[u8]) -> TextPlaces {
        let mut starts: Vec<usize> = Vec::new();
        let mut overlapping = 0;
        let finder = Finder::new(old);
        let mut from = 0;
        while let Some(at) = finder.find(&self.text[from..]) {
            let at = from + at;
            // Places of a text that overlap cannot all be replaced.
            match starts.last() {
                Some(last) if at < last + old.len() => overlapping += 1,
                _ => starts.push(at),
            }
            from = at + 1;
        }
        TextPlaces { starts, overlapping }
    }

    /// Converts a position in the text to a position in the file.
    fn in_file(&self, at: usize) -> usize {
        self.bom + at + self.crlf.partition_point(|&crlf| crlf < at)
    }

    /// Returns the line of a position in the text, from 1.
    #[must_use]
    pub fn line(&self, at: usize) -> usize {
        memchr::memchr_iter(b'\n', &self.text[..at]).count() + 1
    }

    /// Returns where a line begins, counted from 1; the end of the text for a line below the last.
    #[must_use]
    pub fn start_of(&self, line: usize) -> usize {
        line_start(&self.text, line)
    }

    /// Makes the range and the bytes that replace the text `old` at a place. The bytes that both
    /// texts share at their ends stay as they are.
    #[must_use]
    pub fn splice(&self, start: usize, old: &[u8], new: &[u8]) -> (Range<usize>, Vec<u8>) {
        let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        let old = &old[head..];
        let new = &new[head..];
        let tail =
            old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
        let old = &old[..old.len() - tail];
        let new = &new[..new.len() - tail];
        let start = start + head;
        let end = start + old.len();
        let mut text = Vec::with_capacity(new.len());
        let mut at = start;
        for &byte in new {
            // The nth new line ends like the nth old one, or else like its neighbours.
            if byte == b'\n' {
                let next = memchr::memchr(b'\n', &self.text[at.min(end)..end]);
                let next = next.map(|next| at + next);
                if self.ends_in_crlf(next.unwrap_or(end)) {
                    text.push(b'\r');
                }
                at = next.map_or(end, |next| next + 1);
            }
            text.push(byte);
        }
        // A carriage return before the line feed after the text stays there.
        (self.in_file(start)..self.in_file(end), text)
    }

    /// Returns whether the first line that ends at or after a position, or else the last one before
    /// it, ends in CRLF.
    fn ends_in_crlf(&self, at: usize) -> bool {
        let at = at.min(self.text.len());
        let after = memchr::memchr(b'\n', &self.text[at..]).map(|next| at + next);
        let near = after.or_else(|| memchr::memrchr(b'\n', &self.text[..at]));
        near.is_some_and(|near| self.crlf.binary_search(&near).is_ok())
    }

    /// Returns the text around a place that makes its text unique: the rest of its line, or else
    /// the fewest lines above or below. `None` if so few lines do not.
    #[must_use]
    pub fn more_text(&self, start: usize, old: &[u8]) -> Option<MoreText> {
        let end = start + old.len();
        // The beginnings of the line and of the lines above it.
        let aboves = std::iter::successors(Some(self.line_start(start)), |&above| {
            Some(self.line_start(above.checked_sub(1)?))
        });
        let below = if old.ends_with(b"\n") {
            end
        } else {
            self.next_line(end).map_or(self.text.len(), |next| next - 1)
        };
        // The ends of the line and of the lines below it.
        let belows = std::iter::successors(Some(below), |&below| {
            (below < self.text.len()).then(|| self.next_line(below).unwrap_or(self.text.len()))
        });
        let aboves: Vec<_> = aboves.take(WIDER).map(|above| above..end).collect();
        let belows: Vec<_> = belows.take(WIDER).map(|below| start..below).collect();
        // The first place of a file has no lines above, and the last one none below.
        let range = (0..WIDER)
            .flat_map(|nth| [aboves.get(nth), belows.get(nth)])
            .flatten()
            .find(|range| self.is_unique(range))?
            .clone();
        let before = self.utf8(range.start..start)?;
        let after = self.utf8(end..range.end)?;
        Some(MoreText { before, after })
    }

    /// Returns the beginning of the line at a position.
    fn line_start(&self, at: usize) -> usize {
        memchr::memrchr(b'\n', &self.text[..at]).map_or(0, |feed| feed + 1)
    }

    /// Returns the position after the next line feed.
    fn next_line(&self, at: usize) -> Option<usize> {
        memchr::memchr(b'\n', &self.text[at..]).map(|feed| at + feed + 1)
    }

    /// Returns whether the text of a range is nowhere else.
    fn is_unique(&self, range: &Range<usize>) -> bool {
        let finder = Finder::new(&self.text[range.clone()]);
        finder.find(&self.text) == Some(range.start)
            && finder.find(&self.text[range.start + 1..]).is_none()
    }

    fn utf8(&self, range: Range<usize>) -> Option<String> {
        std::str::from_utf8(&self.text[range]).ok().map(ToOwned::to_owned)
    }
}
