//! The output so far: its bytes, and the lists on which the next byte depends.
//!
//! The lists only grow. A state holds their lengths, and to go back to a state is to truncate them.

use std::ops::Range;

use crate::text::FileText;

/// The number of a text missing from the file, and of an inserted line.
pub(crate) const FOREIGN: u32 = u32::MAX;

/// A line of a hunk without its sign, as a range of the output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HunkLine {
    pub(crate) sign: u8,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Lines of the file as the hunks leave it: a run of old lines, or one inserted line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PostLines {
    /// The number of the first line in the file as the hunks leave it.
    pub(crate) at: u32,
    pub(crate) len: u32,
    /// The number of the first line in the old file, or [`FOREIGN`] for an inserted line.
    pub(crate) old: u32,
    /// The number of the text of an inserted line.
    pub(crate) id: u32,
}

impl PostLines {
    pub(crate) fn end(&self) -> u32 {
        self.at + self.len
    }
}

/// The output so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    /// All bytes.
    pub(crate) bytes: Vec<u8>,
    /// The lines of hunks.
    pub(crate) lines: Vec<HunkLine>,
    /// The files as the hunks leave them, one after the other, each down to the end of its last
    /// hunk.
    pub(crate) post: Vec<PostLines>,
    /// The places in the files as the hunks leave them where a block may stand that did not stand
    /// there before: the lines above and below a gap, or an inserted line with a text of the file.
    /// Ascending within each file.
    pub(crate) changes: Vec<(u32, u32)>,
    /// The sections so far.
    pub(crate) sections: Vec<SectionPaths>,
    /// The number of added lines so far, with the open one.
    pub(crate) added: u32,
    /// The most added lines.
    pub(crate) most_added: Option<u32>,
}

/// The paths of a section.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SectionPaths {
    /// The number of the old path.
    pub(crate) path: Option<u32>,
    /// Whether the old path has no file any more.
    pub(crate) leaves: bool,
    /// The beginning and the end of the new path in the output.
    pub(crate) new: Option<(u32, u32)>,
}

impl SectionPaths {
    /// A section without a new path.
    pub(crate) fn old(path: Option<u32>, leaves: bool) -> Self {
        Self { path, leaves, new: None }
    }
}

/// The lengths of a [`Log`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lengths {
    bytes: u32,
    lines: u32,
    post: u32,
    changes: u32,
    sections: u32,
    added: u32,
}

impl Lengths {
    /// The number of bytes.
    pub(crate) fn bytes(self) -> u32 {
        self.bytes
    }
}

impl Log {
    pub(crate) fn lengths(&self) -> Lengths {
        Lengths {
            bytes: self.bytes.len() as u32,
            lines: self.lines.len() as u32,
            post: self.post.len() as u32,
            changes: self.changes.len() as u32,
            sections: self.sections.len() as u32,
            added: self.added,
        }
    }

    /// Goes back to the output of these lengths.
    pub(crate) fn cut(&mut self, to: Lengths) {
        self.bytes.truncate(to.bytes as usize);
        self.lines.truncate(to.lines as usize);
        self.post.truncate(to.post as usize);
        self.changes.truncate(to.changes as usize);
        self.sections.truncate(to.sections as usize);
        self.added = to.added;
    }

    /// The number of lines that may still be added.
    pub(crate) fn lines_left(&self) -> u32 {
        self.most_added.map_or(u32::MAX, |most| most - self.added)
    }

    /// The bytes of the output from `start` to `end`.
    pub(crate) fn text(&self, start: u32, end: u32) -> &[u8] {
        &self.bytes[start as usize..end as usize]
    }

    /// The text of a hunk's line, without a carriage return at its end.
    pub(crate) fn line(&self, line: HunkLine) -> &[u8] {
        let text = self.text(line.start, line.end);
        text.strip_suffix(b"\r").unwrap_or(text)
    }
}

/// The file as the hunks so far leave it.
#[derive(Clone, Copy)]
pub(crate) struct Post<'a> {
    pub(crate) file: &'a FileText,
    pub(crate) lines: &'a [PostLines],
    /// The first line of the file beyond `lines`.
    pub(crate) cursor: u32,
}

impl Post<'_> {
    pub(crate) fn len(&self) -> u32 {
        self.end() + self.file.len() - self.cursor
    }

    /// The first line below the listed ones.
    fn end(&self) -> u32 {
        self.lines.last().map_or(0, PostLines::end)
    }

    /// The number of the text of a line.
    pub(crate) fn id(&self, at: u32) -> u32 {
        if at >= self.end() {
            return self.file.ids[(self.cursor + at - self.end()) as usize];
        }
        let lines = self.lines[self.lines.partition_point(|lines| lines.end() <= at)];
        if lines.old == FOREIGN {
            return lines.id;
        }
        self.file.ids[(lines.old + at - lines.at) as usize]
    }

    /// The number of lines above `at` that are equal to those above a line of the file.
    pub(crate) fn shared_above(&self, at: u32, line: u32) -> u32 {
        let lines = (0..at).rev().zip((0..line).rev());
        lines.take_while(|&(at, line)| self.id(at) == self.file.ids[line as usize]).count() as u32
    }

    /// The number of lines below `at` that are equal to those below a line of the file.
    pub(crate) fn shared_below(&self, at: u32, line: u32) -> u32 {
        let lines = (at + 1..self.len()).zip(line + 1..self.file.len());
        lines.take_while(|&(at, line)| self.id(at) == self.file.ids[line as usize]).count() as u32
    }

    /// The places where a block of the file stands because of the changes so far.
    pub(crate) fn places(&self, changes: &[(u32, u32)], block: Range<u32>) -> Vec<u32> {
        let len = block.len() as u32;
        let mut places: Vec<u32> = Vec::new();
        let mut from = 0;
        for &(first, last) in changes {
            // The block has to reach from the first line of the change to its last.
            from = from.max((last + 1).saturating_sub(len));
            let until = (first + 1).min((self.len() + 1).saturating_sub(len));
            for place in from..until {
                if block
                    .clone()
                    .zip(place..)
                    .all(|(line, at)| self.id(at) == self.file.ids[line as usize])
                {
                    places.push(place);
                }
            }
            from = from.max(until);
        }
        places
    }

    /// The length in lines of the longest end of the file that the changes so far repeat elsewhere.
    pub(crate) fn repeated_end(&self, changes: &[(u32, u32)]) -> u32 {
        let size = self.file.len();
        let total = self.len();
        // The part below its last change is an end that repeats in the file itself.
        let below = size - self.file.limit;
        let mut longest = 0;
        let mut from = 0;
        for &(_, last) in changes {
            from = from.max(last + 1);
            let until = (last + 1 + below).min(total - 1);
            for end in from..=until {
                let shared = self.shared_end(end);
                let nearest = changes.partition_point(|&(_, last)| last < end) - 1;
                if end - shared <= changes[nearest].0 {
                    longest = longest.max(shared);
                }
            }
            from = from.max(until + 1);
        }
        longest
    }

    /// The number of lines above `end` that are equal to the last lines of the file.
    fn shared_end(&self, end: u32) -> u32 {
        let size = self.file.len();
        (0..end.min(size))
            .take_while(|back| self.id(end - 1 - back) == self.file.ids[(size - 1 - back) as usize])
            .count() as u32
    }
}
