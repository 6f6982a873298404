//! What was written so far, as far as what follows depends on it.
//!
//! Everything here only grows, so a state is the lengths of these lists, and going back to it is to
//! cut them off.

use std::ops::Range;

use crate::text::FileText;

/// The number of a line whose text is not one of the file's.
pub(crate) const FOREIGN: u32 = u32::MAX;

/// A line of a hunk, as a range of what was written, without its sign.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HunkLine {
    pub(crate) sign: u8,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Lines of the file as the hunks leave it: some of the file's, or one that a hunk inserted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PostLines {
    /// The first of them, counted in the file as the hunks leave it.
    pub(crate) at: u32,
    pub(crate) len: u32,
    /// The first as a line of the file, or [`FOREIGN`] if a hunk inserted it.
    pub(crate) old: u32,
    /// The number of the text of an inserted line.
    pub(crate) id: u32,
}

impl PostLines {
    pub(crate) fn end(&self) -> u32 {
        self.at + self.len
    }
}

/// What was written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    /// All bytes.
    pub(crate) bytes: Vec<u8>,
    /// The lines of hunks.
    pub(crate) lines: Vec<HunkLine>,
    /// The files as the hunks leave them, one after the other, each down to the end of its last
    /// hunk.
    pub(crate) post: Vec<PostLines>,
    /// Where in its file something stands that did not stand in the file: the range of the line
    /// before a gap and the one after it, or of an inserted line that is like one of the file.
    /// Ascending, for each file anew.
    pub(crate) changes: Vec<(u32, u32)>,
    /// The sections so far.
    pub(crate) sections: Vec<SectionPaths>,
}

/// A finished section, or the present one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SectionPaths {
    /// The path that it takes.
    pub(crate) path: Option<u32>,
    /// Whether that file goes away.
    pub(crate) leaves: bool,
    /// The path that it makes, as a range of what was written.
    pub(crate) new: Option<(u32, u32)>,
}

/// The lengths of a [`Log`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lengths {
    bytes: u32,
    lines: u32,
    post: u32,
    changes: u32,
    sections: u32,
}

impl Lengths {
    /// How many bytes there are.
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
        }
    }

    /// Goes back to what was written then.
    pub(crate) fn cut(&mut self, to: Lengths) {
        self.bytes.truncate(to.bytes as usize);
        self.lines.truncate(to.lines as usize);
        self.post.truncate(to.post as usize);
        self.changes.truncate(to.changes as usize);
        self.sections.truncate(to.sections as usize);
    }

    pub(crate) fn text(&self, range: (u32, u32)) -> &[u8] {
        &self.bytes[range.0 as usize..range.1 as usize]
    }

    /// The text of a line of the hunk; a carriage return at its end says how it ends.
    pub(crate) fn line(&self, line: HunkLine) -> &[u8] {
        let text = self.text((line.start, line.end));
        text.strip_suffix(b"\r").unwrap_or(text)
    }
}

/// The file as the hunks so far leave it.
#[derive(Clone, Copy)]
pub(crate) struct Post<'a> {
    pub(crate) file: &'a FileText,
    pub(crate) lines: &'a [PostLines],
    /// The first line of the file that is not in `lines`.
    pub(crate) cursor: u32,
}

impl Post<'_> {
    pub(crate) fn len(&self) -> u32 {
        self.end() + self.file.len() - self.cursor
    }

    /// The first line below those that are listed.
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

    /// The places where lines of the file stand because of what the hunks changed.
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

    /// How many lines the longest end of the file has that stands somewhere because of what the
    /// hunks changed.
    pub(crate) fn repeated_end(&self, changes: &[(u32, u32)]) -> u32 {
        let (size, total) = (self.file.len(), self.len());
        // Below the last change of it, such an end is an end that repeats in the file.
        let below = size - self.file.limit;
        let (mut longest, mut from) = (0, 0);
        for &(_, last) in changes {
            from = from.max(last + 1);
            let until = (last + 1 + below).min(total - 1);
            for end in from..=until {
                let same = |back: &u32| {
                    self.id(end - 1 - back) == self.file.ids[(size - 1 - back) as usize]
                };
                let shared = (0..end.min(size)).take_while(same).count() as u32;
                let nearest = changes.partition_point(|&(_, last)| last < end) - 1;
                if end - shared <= changes[nearest].0 {
                    longest = longest.max(shared);
                }
            }
            from = from.max(until + 1);
        }
        longest
    }
}
