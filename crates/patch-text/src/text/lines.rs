//! A file as lines: where each begins, without copying any.
//!
//! Lines are indexed only when one far from all hunks is needed.

use std::cell::OnceCell;
use std::ops::Range;

use crate::cancel::Cancel;

/// The byte-order mark of UTF-8.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// Returns where a line of a text begins, counted from 1; the end of the text for a line below the
/// last.
#[must_use]
pub fn line_start(text: &[u8], line: usize) -> usize {
    let feed = line.checked_sub(2).map(|nth| memchr::memchr_iter(b'\n', text).nth(nth));
    feed.map_or(0, |feed| feed.map_or(text.len(), |feed| feed + 1))
}

/// Iterates over the lines of a text, with their terminators.
pub(crate) fn split(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = memchr::memchr_iter(b'\n', text).map(|feed| feed + 1);
    let rest = text.last().is_some_and(|&last| last != b'\n').then_some(text.len());
    ends.chain(rest).scan(0, |from, end| Some(&text[std::mem::replace(from, end)..end]))
}

/// The lines of `bytes`. Lines end in LF or CRLF; a lone CR is content. A byte-order mark belongs
/// to the file and not to its first line.
///
/// The index of all lines is built at the first request for a line outside the marked
/// neighbourhoods: most edits need only a few lines of a file.
#[derive(Debug, Default)]
pub struct Lines<'f> {
    bytes: &'f [u8],
    bom: usize,
    len: OnceCell<usize>,
    /// Lines, ascending, and the bytes where they begin.
    marked: OnceCell<Vec<Mark>>,
    /// Where each line begins, and one more entry for the end.
    starts: OnceCell<Vec<u32>>,
    terminators: OnceCell<Terminators>,
    cancel: Option<&'f dyn Cancel>,
}

/// How the terminated lines of a file end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminators {
    /// Some line ends in LF alone.
    pub lf: bool,
    /// Some line ends in CRLF.
    pub crlf: bool,
}

/// A line, and the byte where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) line: u32,
    pub(crate) byte: u32,
}

impl<'f> Lines<'f> {
    /// `bytes` must be shorter than 4 GiB (the engine's limit for one file is lower).
    pub fn new(bytes: &'f [u8]) -> Self {
        let bom = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
        Self { bytes, bom, ..Self::default() }
    }

    /// The same, with a byte-order mark as text of the first line.
    pub(crate) fn with_mark_as_text(bytes: &'f [u8]) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// Lets a search of these lines be cancelled. A cancelled search has not found everything.
    pub(crate) fn cancelled_by(self, cancel: &'f dyn Cancel) -> Self {
        Self { cancel: Some(cancel), ..self }
    }

    /// Returns whether the search is to be given up.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(Cancel::is_cancelled)
    }

    /// The same for whoever has looked at `count` lines so far: only few of them ask.
    #[inline]
    pub(crate) fn is_cancelled_at(&self, count: usize) -> bool {
        /// So many lines are looked at in a few milliseconds.
        const LINES: usize = 1 << 15;
        count % LINES == LINES - 1 && self.is_cancelled()
    }

    pub(crate) fn bytes(&self) -> &'f [u8] {
        self.bytes
    }

    /// Returns the number of lines.
    pub(crate) fn len(&self) -> usize {
        *self.len.get_or_init(|| {
            let terminated = memchr::memchr_iter(b'\n', self.bytes).count();
            terminated + usize::from(self.bytes.len() > self.bom && !self.bytes.ends_with(b"\n"))
        })
    }

    /// Remembers the number of lines, after a walk over all of them.
    pub(crate) fn counted(&self, len: usize) {
        self.len.get_or_init(|| len);
    }

    pub(crate) fn has_bom(&self) -> bool {
        self.bom > 0
    }

    /// The byte where line `index` begins, after a byte-order mark; the end of the file for
    /// `len()`.
    pub(crate) fn start(&self, index: usize) -> usize {
        if index == 0 {
            return self.bom;
        }
        if let (None, Some(marked)) = (self.starts.get(), self.marked.get())
            && let Ok(nth) = marked.binary_search_by_key(&index, |mark| mark.line as usize)
        {
            return marked[nth].byte as usize;
        }
        self.starts()[index] as usize
    }

    fn starts(&self) -> &[u32] {
        self.starts.get_or_init(|| {
            let mut starts = Vec::with_capacity(self.bytes.len() / 32 + 2);
            starts.push(0);
            starts.extend(LineFeeds::new(self.bytes, self.bom).map(|feed| offset(feed + 1)));
            if !self.ends_in_newline() {
                starts.push(offset(self.bytes.len()));
            }
            self.counted(starts.len() - 1);
            starts
        })
    }

    /// Remembers where lines begin: for each place, number of lines and number of lines around
    /// these lines, those before, and one more after. Only the first call counts.
    pub(crate) fn mark(&self, places: impl Iterator<Item = (Mark, usize, usize)>) {
        if self.starts.get().is_some() {
            return;
        }
        let mut marked = Vec::new();
        for (mark, len, around) in places {
            marked.reserve(len + 2 * around + 1);
            let mut at = mark;
            for _ in 0..around {
                let Some(line) = self.line_before(at.byte as usize) else { break };
                at = Mark { line: at.line - 1, byte: offset(line.start) };
                marked.push(at);
            }
            marked.push(mark);
            let lines = self.walk_from(mark.byte as usize).take(len + around);
            marked.extend(
                (mark.line + 1..)
                    .zip(lines)
                    .map(|(line, range)| Mark { line, byte: offset(range.end) }),
            );
        }
        marked.sort_unstable();
        self.marked.get_or_init(|| marked);
    }

    /// The lines from the one that begins at byte `at` on, with their terminators.
    pub(crate) fn walk_from(&self, at: usize) -> Walk<'f> {
        Walk { start: at, feeds: LineFeeds::new(self.bytes, at) }
    }

    /// All lines, with their terminators.
    pub(crate) fn walk(&self) -> Walk<'f> {
        self.walk_from(self.bom)
    }

    /// The line before the one that begins at byte `at`, with its terminator.
    pub(crate) fn line_before(&self, at: usize) -> Option<Range<usize>> {
        let end = at.checked_sub(1).filter(|&end| end >= self.bom)?;
        let start = memchr::memrchr(b'\n', &self.bytes[self.bom..end])
            .map_or(self.bom, |found| self.bom + found + 1);
        Some(start..at)
    }

    /// A line of [`walk`](Self::walk) without its terminator.
    #[inline]
    pub(crate) fn text(&self, line: Range<usize>) -> &'f [u8] {
        let line = &self.bytes[line];
        &line[..line.len() - terminator_len(line)]
    }

    /// Line `index` with its terminator.
    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        self.start(index)..self.start(index + 1)
    }

    /// Line `index` without its terminator.
    pub(crate) fn content(&self, index: usize) -> &'f [u8] {
        self.text(self.range(index))
    }

    /// The terminator of line `index`: `\n`, `\r\n`, or nothing at the end of the file.
    pub(crate) fn terminator(&self, index: usize) -> &'f [u8] {
        self.terminator_of(self.range(index))
    }

    /// The terminator of a line of [`walk`](Self::walk).
    pub(crate) fn terminator_of(&self, line: Range<usize>) -> &'f [u8] {
        let line = &self.bytes[line];
        &line[line.len() - terminator_len(line)..]
    }

    /// Returns whether the last line has a terminator; true for an empty file.
    pub(crate) fn ends_in_newline(&self) -> bool {
        self.bytes.len() == self.bom || self.bytes.ends_with(b"\n")
    }

    pub fn iter(&self) -> impl Iterator<Item = &'f [u8]> {
        let starts = self.starts();
        (1..starts.len())
            .take_while(|&next| !self.is_cancelled_at(next))
            .map(|next| self.text(self.bom.max(starts[next - 1] as usize)..starts[next] as usize))
    }

    /// Returns which terminators occur.
    pub fn terminators(&self) -> Terminators {
        *self.terminators.get_or_init(|| {
            let mut found = Terminators { lf: false, crlf: false };
            for at in memchr::memchr_iter(b'\n', self.bytes) {
                match at.checked_sub(1).map(|before| self.bytes[before]) {
                    Some(b'\r') => found.crlf = true,
                    _ => found.lf = true,
                }
                if found.lf && found.crlf {
                    break;
                }
            }
            found
        })
    }

    /// Returns the terminator that most lines have; LF when no line has one.
    pub(crate) fn dominant_terminator(&self) -> &'static [u8] {
        let lf = memchr::memchr_iter(b'\n', self.bytes).count();
        let crlf = memchr::memmem::find_iter(self.bytes, b"\r\n").count();
        if crlf * 2 > lf { b"\r\n" } else { b"\n" }
    }
}

/// Returns a text that ends its lines in LF with CRLF.
pub fn with_crlf(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 16);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => out.extend(line.iter().chain(b"\r\n")),
            None => out.extend_from_slice(line),
        }
    }
    out
}

/// Returns a text with LF in place of each CRLF.
pub fn with_lf(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out
}

/// Returns a text with one kind of line ends.
#[must_use]
pub fn with_ends(text: &[u8], crlf: bool) -> Vec<u8> {
    let text = with_lf(text);
    if crlf { with_crlf(&text) } else { text }
}

/// Returns whether `now` is the text `before` with other line ends, all of one kind: `Some(true)`
/// for CRLF, `Some(false)` for LF.
#[must_use]
pub fn ends_converted(before: &[u8], now: &[u8]) -> Option<bool> {
    let ends = Lines::new(now).terminators();
    let is_pure = !(ends.crlf && ends.lf);
    (is_pure && now != before && now == with_ends(before, ends.crlf)).then_some(ends.crlf)
}

/// Lines, one after the other, with their terminators.
#[derive(Debug)]
pub(crate) struct Walk<'f> {
    start: usize,
    feeds: LineFeeds<'f>,
}

impl Iterator for Walk<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.start;
        self.start = match self.feeds.next() {
            Some(feed) => feed + 1,
            None => self.feeds.bytes.len(),
        };
        (start < self.start).then_some(start..self.start)
    }
}

/// Iterates over the line feeds of a text. A call of `memchr` for each would cost more than a look
/// at all bytes of a typical line of source code.
#[derive(Debug)]
struct LineFeeds<'f> {
    bytes: &'f [u8],
    /// The first byte still to look at.
    next: usize,
    /// The current block, and a bit for each of its line feeds to come.
    block: usize,
    mask: u64,
}

impl<'f> LineFeeds<'f> {
    fn new(bytes: &'f [u8], from: usize) -> Self {
        Self { bytes, next: from, block: from, mask: 0 }
    }

    /// Finds the next block with a line feed; near the end of the file, and in a long line, the
    /// next line feed alone.
    fn advance(&mut self) -> Option<()> {
        /// After so many bytes without a line feed, a line is called long.
        const LONG: usize = 256;
        let patience = self.next + LONG;
        while self.mask == 0 {
            let rest = &self.bytes[self.next..];
            self.block = self.next;
            match rest.first_chunk() {
                Some(block) if self.next < patience => {
                    self.mask = line_feeds(block);
                    self.next += block.len();
                }
                _ => {
                    self.block += memchr::memchr(b'\n', rest)?;
                    self.mask = 1;
                    self.next = self.block + 1;
                }
            }
        }
        Some(())
    }
}

impl Iterator for LineFeeds<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.mask == 0 {
            self.advance()?;
        }
        let bit = self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        Some(self.block + bit)
    }
}

/// A bit for each line feed in a block. Eight bytes at a time are one number: when the compiler
/// optimises for size, it does not vectorise a loop over bytes.
#[inline]
fn line_feeds(block: &[u8; 64]) -> u64 {
    /// All bits but the highest of each byte.
    const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let (words, _) = block.as_chunks::<8>();
    words.iter().enumerate().fold(0, |mask, (nth, &word)| {
        let differs = u64::from_le_bytes(word) ^ u64::from_ne_bytes([b'\n'; 8]);
        // The highest bit of each byte that does not differ.
        let same = !(((differs & LOW) + LOW) | differs | LOW);
        // The product gathers the lowest bit of each byte in the highest byte.
        let bits = (same >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask | bits << (8 * nth)
    })
}

fn terminator_len(line: &[u8]) -> usize {
    match line {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    }
}

fn offset(value: usize) -> u32 {
    u32::try_from(value).expect("files are limited to less than 4 GiB before they are indexed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_feeds_alone_have_a_bit() {
        for byte in 0..=u8::MAX {
            for at in 0..64 {
                for (around, rest) in [(0, 1), (b'\n', 1), (0x8A, 7), (0xFF, 3)] {
                    let mut block = [byte; 64];
                    block[at] = around;
                    block[(at + rest) % 64] = b'\n';
                    let naive =
                        (0..64).fold(0, |mask, at| mask | u64::from(block[at] == b'\n') << at);
                    assert_eq!(line_feeds(&block), naive, "{block:?}");
                }
            }
        }
    }

    #[test]
    fn splits_at_lf_and_crlf_and_nowhere_else() {
        for (bytes, lines, newline) in [
            (&b""[..], &[][..], true),
            (b"\n", &[(&b""[..], &b"\n"[..])][..], true),
            (b"a", &[(b"a", b"")], false),
            (b"a\r\nb\rc\n\r\n", &[(b"a", b"\r\n"), (b"b\rc", b"\n"), (b"", b"\r\n")], true),
            (b"a\r", &[(b"a\r", b"")], false),
            (b"\xef\xbb\xbfa\n", &[(b"a", b"\n")], true),
            (b"\xef\xbb\xbf", &[], true),
            (b"\r\r\n", &[(b"\r", b"\r\n")], true),
        ] {
            let index = Lines::new(bytes);
            let found: Vec<_> =
                (0..index.len()).map(|i| (index.content(i), index.terminator(i))).collect();
            assert_eq!(found, lines, "{bytes:?}");
            assert_eq!(index.ends_in_newline(), newline, "{bytes:?}");
            assert_eq!(
                index.iter().collect::<Vec<_>>(),
                lines.iter().map(|line| line.0).collect::<Vec<_>>()
            );
            let mut at = bytes.len();
            for line in (0..lines.len()).rev() {
                assert_eq!(index.line_before(at), Some(index.range(line)), "{bytes:?}");
                at = index.start(line);
            }
            assert_eq!(index.line_before(at), None, "{bytes:?}");
        }
    }

    #[test]
    fn finds_every_line_feed_in_blocks_long_lines_and_tails() {
        for period in [1, 2, 3, 7, 63, 64, 65, 200, 255, 256, 257, 300, 1000] {
            for len in [0, 1, 63, 64, 65, 127, 128, 129, 1000, 2100] {
                let bytes: Vec<u8> = (0..len)
                    .map(|at| if at % period == period - 1 { b'\n' } else { b'x' })
                    .collect();
                let lines = Lines::new(&bytes);
                for at in [0, 1.min(len), len / 2] {
                    let wanted: Vec<&[u8]> =
                        bytes[at..].split_inclusive(|&byte| byte == b'\n').collect();
                    let found: Vec<&[u8]> = lines.walk_from(at).map(|line| &bytes[line]).collect();
                    assert_eq!(found, wanted, "{period} {len} {at}");
                }
            }
        }
    }

    #[test]
    fn marked_lines_are_known_without_an_index_and_others_with_one() {
        for bytes in [&b"a\nbb\r\nccc\n\ne\nf"[..], b"\xef\xbb\xbfa\nbb\nccc\n\n\nf\n"] {
            let whole = Lines::new(bytes);
            for first in 0..6 {
                let all = (0..=6 - first).flat_map(|len| [(len, 1), (len, 2), (len, 9)]);
                for (len, around) in all {
                    let lines = Lines::new(bytes);
                    let mark = Mark { line: first as u32, byte: whole.start(first) as u32 };
                    lines.mark(std::iter::once((mark, len, around)));
                    for line in first.saturating_sub(around)..=(first + len + around - 1).min(6) {
                        assert_eq!(
                            lines.start(line),
                            whole.start(line),
                            "{bytes:?} {first} {len} {line}"
                        );
                    }
                    assert!(lines.starts.get().is_none());
                    for line in 0..=6 {
                        assert_eq!(
                            lines.start(line),
                            whole.start(line),
                            "{bytes:?} {first} {len} {line}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_dominant_terminator_is_that_of_most_lines() {
        for (bytes, dominant) in [
            (&b"a"[..], &b"\n"[..]),
            (b"a\r\nb\r\nc\n", b"\r\n"),
            (b"a\r\nb\n", b"\n"),
            (b"a\n", b"\n"),
        ] {
            assert_eq!(Lines::new(bytes).dominant_terminator(), dominant, "{bytes:?}");
        }
    }
}
