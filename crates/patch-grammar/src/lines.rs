//! The lines of a text.

use std::ops::Range;

/// The lines of a part of a text, with their terminators. They are counted from the start of the
/// text.
#[derive(Debug)]
pub(crate) struct Lines<'t> {
    text: &'t [u8],
    /// How many lines stand before the part.
    first: usize,
    /// Where each line of the part begins, and the end.
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t [u8], part: Range<usize>) -> Self {
        let first = memchr::memchr_iter(b'\n', &text[..part.start]).count();
        let text = &text[..part.end];
        let start = part.start;
        let feeds = memchr::memchr_iter(b'\n', &text[start..]);
        let mut starts = Vec::with_capacity(feeds.clone().count() + 2);
        starts.push(start);
        starts.extend(feeds.map(|end| start + end + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        Self { text, first, starts }
    }

    /// Returns the first line.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Returns the line after the last one.
    pub(crate) fn len(&self) -> usize {
        self.first + self.starts.len() - 1
    }

    /// Returns the byte range of a line; for `len()`, the end of the text.
    pub(crate) fn range(&self, at: usize) -> Range<usize> {
        let at = at.saturating_sub(self.first);
        let end = self.starts.len() - 1;
        self.starts[at.min(end)]..self.starts[(at + 1).min(end)]
    }

    /// Returns a line with its terminator; nothing beyond the last.
    pub(crate) fn whole(&self, at: usize) -> &'t [u8] {
        &self.text[self.range(at)]
    }

    /// Returns a line without its terminator.
    pub(crate) fn get(&self, at: usize) -> &'t [u8] {
        let line = self.whole(at);
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

/// Says which lines were left out, counted from 0, if any were.
pub fn left_out(lines: impl IntoIterator<Item = Range<usize>>) -> Option<String> {
    let lines = listed(lines);
    (!lines.is_empty()).then(|| format!("left out {lines}"))
}

/// Formats ranges of lines, counted from 0.
pub(crate) fn listed(lines: impl IntoIterator<Item = Range<usize>>) -> String {
    let lines: Vec<_> = lines.into_iter().map(|lines| shown(&numbers(&lines))).collect();
    lines.join(" and ")
}

/// Counts lines from 1.
pub(crate) fn numbers(lines: &Range<usize>) -> Range<usize> {
    lines.start + 1..lines.end + 1
}

/// Formats line numbers.
pub(crate) fn shown(lines: &Range<usize>) -> String {
    match lines.len() {
        1 => format!("line {}", lines.start),
        _ => format!("lines {}-{}", lines.start, lines.end - 1),
    }
}

/// Returns whether a line is the header of a hunk of a merge.
pub(crate) fn is_combined(line: &[u8]) -> bool {
    line.starts_with(b"@@@ -") || line.starts_with(b"@@@@")
}
