//! Where in a patch the output is.

use std::ops::Range;
use std::sync::Arc;

use crate::log::Lengths;
use crate::utf8::Utf8;

/// A state: what may follow depends on it and on the log, cut to these lengths.
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
    /// In a text of which this is left.
    Literal(&'static str, Next),
    /// In the header of a section, one of these, after so many bytes.
    Header { first: u32, end: u32, at: u32 },
    /// In a path of a new file that begins at this byte of the output.
    NewPath { start: u32, next: Next },
    /// At the beginning of a line below the header of an update.
    AfterUpdate,
    /// At the beginning of a line below the path that the file moves to.
    AfterMove,
    /// At the beginning of a line of a new file.
    NewLine,
    /// In a line of a new file.
    NewText(Utf8),
    /// After `@@`.
    At,
    /// In the text after `@@`, which is one of these texts of the file, after so many bytes.
    AtText { first: u32, end: u32, at: u32 },
    /// At the beginning of a line of a hunk.
    Line,
    /// In an old line, after so many bytes.
    Old { sign: u8, at: u32 },
    /// In an added line that begins at this byte of the output.
    Added { start: u32, utf8: Utf8 },
    /// After `*** End Patch`.
    End,
    /// After its line feed.
    Closed,
}

/// What comes after something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Sections,
    MoveTo,
    At,
    New,
    AfterMove,
}

/// What counts of the present section.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OpenSection {
    /// The file that it updates.
    pub(crate) file: u32,
    /// The first line below the hunks so far.
    pub(crate) cursor: u32,
    /// The line from which on no block has one place any more.
    pub(crate) limit: u32,
    /// Where in the log the lines and the changes of the file begin.
    pub(crate) post: u32,
    pub(crate) changes: u32,
}

/// What counts of the present hunk.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenHunk {
    /// Where in the log its lines begin.
    pub(crate) lines: u32,
    /// The first line that may be its first.
    pub(crate) min: u32,
    /// The first line with the text of its `@@` line.
    pub(crate) header: Option<u32>,
    /// The suffixes of the file that begin with its old lines.
    pub(crate) range: Range<u32>,
    /// How many old lines it has.
    pub(crate) depth: u32,
    /// Whether it adds or removes a line.
    pub(crate) changes: bool,
    /// The places where the same lines stand because of the hunks before; known once the block
    /// stands once in the file.
    pub(crate) twins: Option<Arc<[u32]>>,
}

impl OpenHunk {
    /// Whether its old lines stand once in the file.
    pub(crate) fn is_unique(&self) -> bool {
        self.depth > 0 && self.range.len() == 1
    }
}
