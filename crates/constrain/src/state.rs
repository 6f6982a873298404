//! The place of an output in the grammar of patches.

use std::ops::Range;
use std::sync::Arc;

use crate::log::Lengths;
use crate::utf8::Utf8;

/// A state of the matcher. The next byte depends on the state, and on the log cut to its lengths.
#[derive(Debug, Clone)]
pub(crate) struct MatcherState {
    pub(crate) place: Place,
    pub(crate) lengths: Lengths,
    pub(crate) section: OpenSection,
    pub(crate) hunk: OpenHunk,
}

/// A place in the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a fixed text, before this rest of it.
    Literal(&'static str, Next),
    /// In the header of a section, one of a range of headers, after `at` bytes.
    Header { first: u32, end: u32, at: u32 },
    /// In the path of a new file, from this byte of the output on.
    NewPath { start: u32, next: Next },
    /// At the beginning of a line below the header of an update.
    AfterUpdate,
    /// At the beginning of a line below the new path of a moved file.
    AfterMove,
    /// At the beginning of a line of a new file.
    NewLine,
    /// In a line of a new file.
    NewText(Utf8),
    /// After `@@`.
    At,
    /// In the text after `@@`, one of a range of texts of the file, after `at` bytes.
    AtText { first: u32, end: u32, at: u32 },
    /// At the beginning of a line of a hunk.
    Line,
    /// In an old line, after `at` bytes.
    Old { sign: u8, at: u32 },
    /// In an added line, from this byte of the output on.
    Added { start: u32, utf8: Utf8 },
    /// After `*** End Patch`.
    End,
    /// After the line feed below `*** End Patch`.
    Closed,
}

/// The place after a fixed text or a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Sections,
    MoveTo,
    At,
    New,
    AfterMove,
}

/// The open section.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OpenSection {
    /// The number of the updated file.
    pub(crate) file: u32,
    /// The first line below the hunks so far.
    pub(crate) cursor: u32,
    /// The first line from which every block stands more than once.
    pub(crate) limit: u32,
    /// The index in the log of the file's first lines.
    pub(crate) post: u32,
    /// The index in the log of the file's first change.
    pub(crate) changes: u32,
}

/// The open hunk.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenHunk {
    /// The index in the log of the hunk's first line.
    pub(crate) lines: u32,
    /// The first line of the file at which the hunk may begin.
    pub(crate) min: u32,
    /// The first line of the file with the text of the `@@` line.
    pub(crate) header: Option<u32>,
    /// The suffixes of the file that begin with the hunk's old lines.
    pub(crate) range: Range<u32>,
    /// The number of old lines.
    pub(crate) depth: u32,
    /// Whether the hunk adds or removes a line.
    pub(crate) changes: bool,
    /// Whether the hunk adds a line with a text that the file does not have: it is not applied
    /// already then, whatever follows.
    pub(crate) is_new: bool,
    /// The other places of the old lines, made by the hunks above. Known once the old lines stand
    /// once in the file.
    pub(crate) twins: Option<Arc<[u32]>>,
}

impl OpenHunk {
    /// Whether the old lines stand once in the file.
    pub(crate) fn is_unique(&self) -> bool {
        self.depth > 0 && self.range.len() == 1
    }
}
