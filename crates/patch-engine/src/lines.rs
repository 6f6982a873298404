//! A file as lines: where each begins, without copying any.

use std::ops::Range;

/// The byte-order mark of UTF-8.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// An index of the lines of `bytes`. Lines end in LF or CRLF; a lone CR is content. A byte-order
/// mark belongs to the file and not to its first line.
#[derive(Debug)]
pub(crate) struct Lines<'f> {
    bytes: &'f [u8],
    /// Where each line begins, and one more entry for the end.
    starts: Vec<u32>,
    bom: usize,
}

impl<'f> Lines<'f> {
    /// Indexes `bytes`, which must be shorter than 4 GiB (the engine's limit for one file is lower).
    pub(crate) fn new(bytes: &'f [u8]) -> Self {
        let bom = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
        let mut starts = Vec::with_capacity(bytes.len() / 32 + 2);
        starts.push(0);
        starts.extend(memchr::memchr_iter(b'\n', bytes).map(|end| offset(end + 1)));
        if bytes.len() > bom && bytes.last() != Some(&b'\n') {
            starts.push(offset(bytes.len()));
        }
        Self { bytes, starts, bom }
    }

    pub(crate) fn bytes(&self) -> &'f [u8] {
        self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn has_bom(&self) -> bool {
        self.bom > 0
    }

    /// The byte where line `index` begins, after a byte-order mark; the end of the file for `len()`.
    pub(crate) fn start(&self, index: usize) -> usize {
        match index {
            0 => self.bom,
            _ => self.starts[index] as usize,
        }
    }

    /// Line `index` with its terminator.
    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        self.start(index)..self.starts[index + 1] as usize
    }

    /// Line `index` without its terminator.
    pub(crate) fn content(&self, index: usize) -> &'f [u8] {
        let line = &self.bytes[self.range(index)];
        &line[..line.len() - terminator_len(line)]
    }

    /// The terminator of line `index`: `\n`, `\r\n`, or nothing at the end of the file.
    pub(crate) fn terminator(&self, index: usize) -> &'f [u8] {
        let line = &self.bytes[self.range(index)];
        &line[line.len() - terminator_len(line)..]
    }

    /// Whether the last line has a terminator; true for an empty file.
    pub(crate) fn ends_in_newline(&self) -> bool {
        self.len() == 0 || self.bytes.last() == Some(&b'\n')
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'f [u8]> {
        (0..self.len()).map(|index| self.content(index))
    }

    /// The terminator that most lines have; LF when none has any.
    pub(crate) fn dominant_terminator(&self) -> &'static [u8] {
        let lf = memchr::memchr_iter(b'\n', self.bytes).count();
        let crlf = memchr::memmem::find_iter(self.bytes, b"\r\n").count();
        if crlf * 2 > lf { b"\r\n" } else { b"\n" }
    }
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
            let found: Vec<_> = (0..index.len()).map(|i| (index.content(i), index.terminator(i))).collect();
            assert_eq!(found, lines, "{bytes:?}");
            assert_eq!(index.ends_in_newline(), newline, "{bytes:?}");
        }
    }

    #[test]
    fn the_dominant_terminator_is_that_of_most_lines() {
        for (bytes, dominant) in
            [(&b"a"[..], &b"\n"[..]), (b"a\r\nb\r\nc\n", b"\r\n"), (b"a\r\nb\n", b"\n"), (b"a\n", b"\n")]
        {
            assert_eq!(Lines::new(bytes).dominant_terminator(), dominant, "{bytes:?}");
        }
    }
}
