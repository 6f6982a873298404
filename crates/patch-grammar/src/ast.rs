//! The tree of a patch. It borrows from the text and keeps the place of every part.

use std::ops::Range;

use crate::error::Warning;

/// A whole patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch<'p> {
    /// The text that was parsed; all spans are byte ranges of it.
    pub text: &'p str,
    /// The file operations in the order of the text.
    pub sections: Vec<Section<'p>>,
    /// What was overlooked to read the text.
    pub warnings: Vec<Warning>,
}

impl Patch<'_> {
    /// Counts the hunks of all sections.
    #[must_use]
    pub fn hunk_count(&self) -> usize {
        self.sections.iter().map(|section| section.hunks().len()).sum()
    }
}

/// A part of the text and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<'p> {
    /// The part.
    pub text: &'p str,
    /// Its byte range in the patch text.
    pub span: Range<usize>,
    /// The 1-based line it stands in.
    pub line: u32,
}

/// One file operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section<'p> {
    /// The file it is about, as written, blanks around it removed.
    pub path: Spanned<'p>,
    /// What happens to the file.
    pub operation: SectionOperation<'p>,
    /// The byte range from the header to the last line of the section.
    pub span: Range<usize>,
}

impl<'p> Section<'p> {
    /// The hunks of an update; none for other operations.
    #[must_use]
    pub fn hunks(&self) -> &[Hunk<'p>] {
        match &self.operation {
            SectionOperation::Update { hunks, .. } => hunks,
            SectionOperation::Add(_) | SectionOperation::Delete => &[],
        }
    }

    /// The 1-based line of the section's header.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.path.line
    }
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionOperation<'p> {
    /// It is created.
    Add(AddedLines<'p>),
    /// It is deleted.
    Delete,
    /// It changes, moves, or both. `*** Move File:` is an update with a destination.
    Update {
        /// Where it goes.
        move_to: Option<Spanned<'p>>,
        /// What changes.
        hunks: Vec<Hunk<'p>>,
    },
}

/// The lines of a new file, still as they stand in the patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedLines<'p> {
    /// The lines, each with its plus sign and its terminator; empty for an empty file.
    pub text: &'p str,
    /// Whether a marker says that the last line has no line feed.
    pub no_newline: bool,
}

impl<'p> AddedLines<'p> {
    /// Iterates over the lines without plus signs and terminators.
    pub fn lines(&self) -> impl Iterator<Item = &'p str> + use<'p> {
        TextLines { rest: self.text }.map(|line| &line[1..])
    }
}

/// One block of changed lines of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'p> {
    /// Whether it was opened by `@@`.
    pub opened: bool,
    /// The texts after `@@`, the outermost first; `@@` alone has none.
    pub headers: Vec<Header<'p>>,
    /// The lines, without markers.
    pub lines: Vec<Line<'p>>,
    /// How many of the last lines are empty and lack even their blank: they may be separators and
    /// no part of the hunk.
    pub separators: usize,
    /// Whether `*** End of File` follows.
    pub end_of_file: bool,
    /// The byte range from `@@` to the last line.
    pub span: Range<usize>,
    /// The 1-based line where it begins.
    pub line: u32,
}

impl<'p> Hunk<'p> {
    /// Iterates over the lines that must be in the file: context and deleted ones.
    pub fn old_lines(&self) -> impl Iterator<Item = &Line<'p>> {
        self.lines.iter().filter(|line| line.kind != LineKind::Insert)
    }

    /// Iterates over the lines that will be in the file: context and inserted ones.
    pub fn new_lines(&self) -> impl Iterator<Item = &Line<'p>> {
        self.lines.iter().filter(|line| line.kind != LineKind::Delete)
    }
}

/// The text after `@@`.
pub type Header<'p> = Spanned<'p>;

/// One line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'p> {
    /// Its text, without prefix and terminator.
    pub text: &'p str,
    /// The 1-based line of the patch it stands in.
    pub line: u32,
    /// Context, deleted or inserted.
    pub kind: LineKind,
    /// Whether a marker says that it has no line feed in the file.
    pub no_newline: bool,
}

/// The three kinds of line in a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// Stays.
    Context,
    /// Goes.
    Delete,
    /// Comes.
    Insert,
}

/// Splits a text at line feeds and drops one carriage return before each; the last line needs none.
pub(crate) struct TextLines<'p> {
    pub(crate) rest: &'p str,
}

impl<'p> Iterator for TextLines<'p> {
    type Item = &'p str;

    fn next(&mut self) -> Option<&'p str> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = match memchr::memchr(b'\n', self.rest.as_bytes()) {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, ""),
        };
        self.rest = rest;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }
}
