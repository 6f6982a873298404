//! Where hunks went.

use super::draft::Draft;
use super::pass::Pass;

/// Where one hunk went.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placed {
    /// The 0-based hunk of the section.
    pub hunk: usize,
    /// The first matched pre-image line, 1-based; for an insertion, the line below.
    pub first_line: usize,
    /// How many pre-image lines the hunk matched.
    pub line_count: usize,
    /// The pass that matched.
    pub pass: Pass,
    /// Notes about everything beyond plain matching.
    pub notes: Vec<Note>,
}

/// Something about a placement that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Note {
    /// The hunk stands out of file order, in the only fitting place.
    OutOfOrder,
    /// A header of the hunk is not in the file; its one exact place stands.
    HeaderNotFound,
    /// The empty lines after the hunk were separators.
    SeparatorsDropped,
    /// The hunk was matched by this pass: its old lines are not in the file exactly.
    Fuzz(Pass),
    /// Inserted lines were indented like the file.
    Reindented(Vec<Reindented>),
    /// The unchanged parts of replaced lines keep the file's punctuation and the file's blanks at
    /// line ends.
    KeptCharacters,
    /// The hunk fits in several places and the first was taken.
    FirstOfSeveral,
    /// The hunk fits exactly in several places, and its stated line tells which one is meant.
    StatedLine,
    /// The hunk of a diff has no context above, as at the beginning of the file, but its old lines
    /// are exactly elsewhere.
    NotAtStart,
    /// The same with the context below, and the end of the file.
    NotAtEnd,
    /// The hunk of a diff stands in another line than the stated one; both count from 1. For a hunk
    /// that only inserts, the lines are those below it.
    Offset {
        /// The line where the diff says that the hunk begins.
        stated: usize,
        /// The line where it begins.
        line: usize,
    },
    /// The hunk only inserts, and its stated line tells where.
    LineNumber,
    /// The old lines of the hunk differ from the file in whitespace errors that are to be fixed.
    FixedWhitespace,
    /// The hunk was left out: the file has its change already, in these lines.
    AlreadyApplied,
}

/// An indentation of inserted lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reindented {
    /// The blanks in the patch.
    pub patch: String,
    /// The blanks in the file.
    pub file: String,
}

/// All hunks of a section, placed.
#[derive(Debug)]
pub(crate) struct Located<'f, 'p> {
    pub(crate) draft: Draft<'f, 'p>,
    pub(crate) placed: Vec<Placed>,
}
