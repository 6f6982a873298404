//! The function that a hunk is in, for the header of the hunk.
//!
//! As in `git diff` of a file without a `diff` attribute, this is the nearest line above the hunk
//! whose first character may begin a name, in the file before the change. No hunk is placed by this
//! line.

/// The most bytes of a line that a header has.
const LONGEST: usize = 80;

/// Finds the functions of the hunks of one file, from the first hunk to the last, so that every
/// line is looked at once.
#[derive(Debug)]
pub(super) struct Functions<'f> {
    file: &'f [u8],
    /// The byte where a line begins.
    at: usize,
    /// The file is searched as far as this byte.
    searched: usize,
    found: &'f [u8],
}

impl<'f> Functions<'f> {
    /// Starts at the first line of a file.
    pub(super) fn new(file: &'f [u8]) -> Self {
        Self { file, at: 0, searched: 0, found: b"" }
    }

    /// Goes to the line that begins at a byte.
    pub(super) fn seek(&mut self, byte: usize) {
        self.at = byte;
    }

    /// Goes past the next lines of the file.
    pub(super) fn pass(&mut self, lines: &[&[u8]]) {
        self.at += lines.iter().map(|line| line.len()).sum::<usize>();
    }

    /// Returns the function above the line; empty if there is none.
    pub(super) fn above(&mut self) -> &'f [u8] {
        let mut end = self.at;
        while end > self.searched {
            let start = memchr::memrchr(b'\n', &self.file[self.searched..end - 1])
                .map_or(self.searched, |feed| self.searched + feed + 1);
            let line = self.file[start..end].trim_ascii_end();
            if begins_one(line) {
                self.found = cut(line);
                break;
            }
            end = start;
        }
        self.searched = self.at;
        self.found
    }
}

/// Cuts a name where a header ends, and before bytes that are not UTF-8.
fn cut(name: &[u8]) -> &[u8] {
    let name = name[..name.len().min(LONGEST)].trim_ascii_end();
    name.utf8_chunks().next().map_or(b"", |chunk| chunk.valid().as_bytes())
}

fn begins_one(line: &[u8]) -> bool {
    line.first().is_some_and(|&first| first.is_ascii_alphabetic() || first == b'_' || first == b'$')
}
