//! The tree of a patch. It borrows from the text and records the place of every part.

use std::borrow::Cow;
use std::ops::Range;

use crate::binary::Binary;
#[cfg(feature = "serde")]
use crate::fields::{deleted, ends, text};

/// A part of the text and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Spanned<'p> {
    /// The part; a copy where its form in the text is another, such as a quoted path.
    pub text: Cow<'p, str>,
    /// Its byte range in the patch text.
    #[cfg_attr(feature = "serde", serde(serialize_with = "ends"))]
    pub span: Range<usize>,
    /// The 1-based line of the part.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub line: u32,
}

/// One file operation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Section<'p> {
    /// The file of the section, as written, without blanks around it.
    #[cfg_attr(feature = "serde", serde(flatten, serialize_with = "path_and_line"))]
    pub path: Spanned<'p>,
    /// The other name of the file, where the `--- ` line of a diff has another one than the `+++ `
    /// line and nothing says that the file moves. The file that exists is meant.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub old_name: Option<Spanned<'p>>,
    /// The byte range from the header to the last line of the section.
    #[cfg_attr(feature = "serde", serde(serialize_with = "ends"))]
    pub span: Range<usize>,
    /// Whether the owner may run the file afterwards, or, of a deleted file, could before, if the
    /// section says so: only git diffs do.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub executable: Option<bool>,
    /// Whether the file is a symbolic link, whose only line, without a line feed, is the target:
    /// only git diffs have links.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub link: bool,
    /// The bytes of a binary file, if a git diff has them: the section has no lines and no hunks
    /// then.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub binary: Option<Box<Binary<'p>>>,
    /// The id in git, perhaps abbreviated, of a file that is deleted without its lines: `git diff
    /// --irreversible-delete` leaves them out.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub deleted_id: Option<&'p str>,
    /// The commits of a submodule at the path: only git diffs have submodules. The section then has
    /// no lines and no hunks.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub submodule: Option<Submodule<'p>>,
    /// The change of the file.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub operation: SectionOperation<'p>,
}

/// The commits of a submodule in a git diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct Submodule<'p> {
    /// The id of the commit before; `None` for a new submodule. The lines of `git diff
    /// --submodule=log` have the first digits only.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub old: Option<&'p str>,
    /// The id of the commit afterwards; `None` for a deleted submodule.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub new: Option<&'p str>,
}

impl Submodule<'_> {
    /// Returns the same of the reversed section.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { old: self.new, new: self.old }
    }
}

/// Writes the `path` of a section, and its `line`.
#[cfg(feature = "serde")]
fn path_and_line<S: serde::Serializer>(
    path: &Spanned<'_>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap as _;
    let mut fields = serializer.serialize_map(Some(2))?;
    fields.serialize_entry("path", path)?;
    fields.serialize_entry("line", &path.line)?;
    fields.end()
}

impl<'p> Section<'p> {
    /// Returns the hunks of an update, of a copy or of the deletion of a whole file.
    #[must_use]
    pub fn hunks(&self) -> &[Hunk<'p>] {
        match &self.operation {
            SectionOperation::Update { hunks, .. } | SectionOperation::Copy { hunks, .. } => hunks,
            SectionOperation::Delete(hunks) => hunks.as_deref().unwrap_or_default(),
            SectionOperation::Add(_) => &[],
        }
    }

    /// Returns the 0-based place of a hunk in the text. It is the hunk's index, unless the hunks of
    /// the section are in reverse order.
    #[must_use]
    pub fn place_in_text(&self, hunk: usize) -> usize {
        match self.hunks() {
            [first, .., last] if first.line > last.line => self.hunks().len() - 1 - hunk,
            _ => hunk,
        }
    }

    /// Returns the new path of a moved file, or of a copy.
    #[must_use]
    pub fn destination(&self) -> Option<&Spanned<'p>> {
        match &self.operation {
            SectionOperation::Update { move_to, .. } => move_to.as_ref(),
            SectionOperation::Copy { to, .. } => Some(to),
            SectionOperation::Add(_) | SectionOperation::Delete(_) => None,
        }
    }

    /// Iterates over the paths of the section: its own and, of a moved file or a copy, the new one.
    pub fn paths(&self) -> impl Iterator<Item = &Spanned<'p>> {
        std::iter::once(&self.path).chain(self.destination())
    }

    /// Iterates over the same, to change them.
    pub fn paths_mut(&mut self) -> impl Iterator<Item = &mut Spanned<'p>> {
        let destination = match &mut self.operation {
            SectionOperation::Update { move_to, .. } => move_to.as_mut(),
            SectionOperation::Copy { to, .. } => Some(to),
            SectionOperation::Add(_) | SectionOperation::Delete(_) => None,
        };
        std::iter::once(&mut self.path).chain(destination)
    }

    /// Returns the 1-based line of the section's header.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.path.line
    }
}

/// The change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(
    feature = "serde",
    serde(tag = "operation", rename_all = "camelCase", rename_all_fields = "camelCase")
)]
pub enum SectionOperation<'p> {
    /// It is created.
    Add(AddedLines<'p>),
    /// It is deleted. A diff shows all of its lines: the file must have no others. An envelope does
    /// not show them.
    #[cfg_attr(feature = "serde", serde(serialize_with = "deleted"))]
    Delete(Option<Vec<Hunk<'p>>>),
    /// It changes, moves, or both. `*** Move File:` is an update with a destination.
    Update {
        /// Its new path.
        move_to: Option<Spanned<'p>>,
        /// The changes.
        hunks: Vec<Hunk<'p>>,
    },
    /// A copy of the file is created elsewhere. An envelope cannot express this, a git diff can.
    Copy {
        /// The path of the copy.
        to: Spanned<'p>,
        /// The changes in the copy.
        hunks: Vec<Hunk<'p>>,
    },
}

/// The meaning of the end of a line in a patch for the end of the line in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LineEndings {
    /// Nothing: the patch itself was stored with CRLF, as the line of `*** Begin Patch` shows.
    Framing,
    /// A carriage return is meant for the file; its absence says nothing.
    #[default]
    Stated,
    /// All lines end in the file as they do in the patch: the rule of unified diffs.
    Exact,
    /// The same, of a diff that has no carriage return at all and may have lost them, as git's do
    /// under `core.autocrlf`: an old line also matches a line with CRLF, and a new line ends like
    /// its neighbour.
    Unmarked,
}

impl LineEndings {
    /// Returns whether the lines come from a diff, with the bytes of the file.
    #[must_use]
    pub fn is_of_diff(self) -> bool {
        matches!(self, Self::Exact | Self::Unmarked)
    }
}

/// The lines of a new file, still as they stand in the patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedLines<'p> {
    /// The lines, each with its plus sign and its terminator; empty for an empty file.
    pub text: &'p [u8],
    /// The meaning of the terminators.
    pub endings: LineEndings,
    /// Whether a marker says that the last line has no line feed.
    pub no_newline: bool,
    /// The signs that the last line is whole, where it ends a diff.
    pub last: Option<LastLine<'p>>,
}

/// The signs that a new file was not cut off within its last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastLine<'p> {
    /// The id in git that the whole file has.
    pub id: &'p str,
    /// The text ends without a line feed.
    pub unterminated: bool,
}

impl<'p> AddedLines<'p> {
    /// Makes a new file without lines.
    #[must_use]
    pub fn empty(endings: LineEndings) -> Self {
        Self { text: b"", endings, no_newline: false, last: None }
    }

    /// Takes the lines of `body`, each after its sign, up to a marker for a missing line feed.
    #[must_use]
    pub fn of_body(body: &'p [u8], endings: LineEndings) -> Self {
        let end = memchr::memmem::find(body, b"\n\\").map_or(body.len(), |end| end + 1);
        Self { text: &body[..end], endings, no_newline: end < body.len(), last: None }
    }

    /// Iterates over the lines without plus signs and line feeds. A carriage return at the end of a
    /// line belongs to the file.
    pub fn lines(&self) -> impl Iterator<Item = &'p [u8]> + use<'p> {
        let framed = self.endings == LineEndings::Framing;
        TextLines { rest: self.text }.map(move |line| {
            let line = &line[1..];
            if framed { line.strip_suffix(b"\r").unwrap_or(line) } else { line }
        })
    }
}

/// One block of changed lines of an update.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct Hunk<'p> {
    /// The 1-based first line of the hunk.
    pub line: u32,
    /// The byte range from `@@` to the last line.
    #[cfg_attr(feature = "serde", serde(serialize_with = "ends"))]
    pub span: Range<usize>,
    /// Whether `@@` opened the hunk.
    // As data, the byte range shows this.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub opened: bool,
    /// The texts after `@@`, the outermost first; `@@` alone has none.
    pub headers: Vec<Header<'p>>,
    /// Whether `*** End of File` follows.
    pub end_of_file: bool,
    /// How many of the last lines are empty and lack even their blank: they may be separators and
    /// no part of the hunk.
    pub separators: usize,
    /// The 1-based first line of the hunk in the old file, or the line after which it inserts, if
    /// stated: only unified diffs state one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub old_start: Option<u32>,
    /// The same of the new file.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub new_start: Option<u32>,
    /// The meaning of the terminators of the lines.
    // As data, the lines show this.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub endings: LineEndings,
    /// The lines missing from the last hunk of a diff, where nothing shows that the text is whole.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub shortfall: Option<Box<Shortfall<'p>>>,
    /// The extent of the lines in the file.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Extent::is_lines"))]
    pub extent: Extent,
    /// The lines, without markers.
    pub lines: Vec<Line<'p>>,
}

/// The extent of a hunk's lines in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Extent {
    /// Whole lines.
    #[default]
    Lines,
    /// The lines of a text that is in the file once, and need not begin or end with a line: only
    /// the edits of tools have such a text. The hunk is the only one of its section.
    Text,
    /// The same, of a text that is replaced wherever it is.
    EveryText,
}

impl Extent {
    #[cfg(feature = "serde")]
    fn is_lines(&self) -> bool {
        *self == Self::Lines
    }
}

/// The lines missing from the last hunk of a diff by its numbers, where nothing behind the hunk
/// ends it: the text was cut off, or its author counted wrong. The file may tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortfall<'p> {
    /// How many lines the numbers promise, of the old file and of the new one.
    pub promised: (u64, u64),
    /// How many of them are missing; zeros for a complete hunk.
    pub missing: (u64, u64),
    /// The 1-based first lines of the hunk in the old and the new file, as stated.
    pub starts: (u64, u64),
    /// The diff has other hunks, and their numbers are right.
    pub others_are_right: bool,
    /// The text ends without a line feed.
    pub unterminated: bool,
    /// The ids of the old and the new file in git, where the diff has them.
    pub ids: Option<(&'p str, &'p str)>,
}

impl Shortfall<'_> {
    /// Returns the same of the reversed hunk.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let mut reversed = Self { ids: self.ids.map(|(old, new)| (new, old)), ..*self };
        let Self { promised, missing, starts, .. } = &mut reversed;
        for (old, new) in [promised, missing, starts] {
            std::mem::swap(old, new);
        }
        reversed
    }
}

impl<'p> Hunk<'p> {
    /// Iterates over the old lines: context and deleted ones.
    pub fn old_lines(&self) -> impl Iterator<Item = &Line<'p>> {
        self.lines.iter().filter(|line| line.kind != LineKind::Insert)
    }

    /// Iterates over the new lines: context and inserted ones.
    pub fn new_lines(&self) -> impl Iterator<Item = &Line<'p>> {
        self.lines.iter().filter(|line| line.kind != LineKind::Delete)
    }
}

/// The text after `@@`.
pub type Header<'p> = Spanned<'p>;

/// One line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct Line<'p> {
    /// Context, deleted or inserted.
    pub kind: LineKind,
    /// The text, without prefix and terminator. In an envelope the text is UTF-8.
    #[cfg_attr(feature = "serde", serde(serialize_with = "text"))]
    pub text: &'p [u8],
    /// The 1-based line of the patch.
    pub line: u32,
    /// Whether the patch says that the line ends in CRLF in the file. For a patch that does not say
    /// so see [`LineEndings`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub crlf: bool,
    /// Whether a marker says that the line has no line feed in the file.
    pub no_newline: bool,
}

impl<'p> Line<'p> {
    /// Makes a line of a hunk: `text` is the line after its prefix, without the line feed.
    #[must_use]
    pub fn new(text: &'p [u8], endings: LineEndings, line: u32, kind: LineKind) -> Self {
        let (text, crlf) = match text.strip_suffix(b"\r") {
            Some(text) => (text, endings != LineEndings::Framing),
            None => (text, false),
        };
        Self { text, crlf, line, kind, no_newline: false }
    }

    /// Takes note of a marker: the line has no line feed in the file, so a carriage return is part
    /// of the text. `text` is the line after its prefix.
    fn without_newline(&mut self, text: &'p [u8]) {
        self.no_newline = true;
        if self.crlf {
            (self.text, self.crlf) = (text, false);
        }
    }

    /// Returns how a line of a diff ends in the file.
    #[must_use]
    pub fn ending(&self) -> &'static [u8] {
        match (self.no_newline, self.crlf) {
            (true, _) => b"",
            (false, true) => b"\r\n",
            (false, false) => b"\n",
        }
    }

    /// Returns the text for display, with replacements for bytes that are not UTF-8.
    #[must_use]
    pub fn text_lossy(&self) -> Cow<'p, str> {
        String::from_utf8_lossy(self.text)
    }
}

/// The three kinds of line in a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub enum LineKind {
    /// The line stays.
    Context,
    /// The line is deleted.
    Delete,
    /// The line is inserted.
    Insert,
}

impl LineKind {
    /// Returns what a line of this kind begins with in a patch.
    #[must_use]
    pub const fn sign(self) -> char {
        match self {
            Self::Context => ' ',
            Self::Delete => '-',
            Self::Insert => '+',
        }
    }
}

/// Splits a hunk into its lines; the first is line `number` of the patch. Also returns how many of
/// the last lines are empty and lack even their blank.
pub(crate) fn hunk_lines(text: &[u8], number: u32, endings: LineEndings) -> (Vec<Line<'_>>, usize) {
    let count = memchr::memchr_iter(b'\n', text).count() + usize::from(!text.ends_with(b"\n"));
    let mut lines = Vec::<Line<'_>>::with_capacity(count);
    let mut bare = 0;
    let mut last: &[u8] = b"";
    for (text, number) in (TextLines { rest: text }).zip(number..) {
        let (kind, content) = match text {
            [b'+', content @ ..] => (LineKind::Insert, content),
            [b'-', content @ ..] => (LineKind::Delete, content),
            [b'\\', ..] => {
                if let Some(line) = lines.last_mut() {
                    line.without_newline(last);
                }
                continue;
            }
            [b' ', content @ ..] => (LineKind::Context, content),
            // An empty line whose blank was lost.
            content => (LineKind::Context, content),
        };
        bare = if matches!(text, b"" | b"\r") { bare + 1 } else { 0 };
        lines.push(Line::new(content, endings, number, kind));
        last = content;
    }
    (lines, bare)
}

/// Splits a text after line feeds and drops them; the last line needs none.
pub(crate) struct TextLines<'p> {
    pub(crate) rest: &'p [u8],
}

impl<'p> Iterator for TextLines<'p> {
    type Item = &'p [u8];

    fn next(&mut self) -> Option<&'p [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = match memchr::memchr(b'\n', self.rest) {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &[][..]),
        };
        self.rest = rest;
        Some(line)
    }
}
