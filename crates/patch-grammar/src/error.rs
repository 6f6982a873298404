//! What can be wrong with a text that should be a patch, and what was overlooked in one that is.

use std::fmt;
use std::ops::Range;

// Where the generated parser looks for it.
pub(crate) use pest_itself::error::Error;

/// The first thing in a text that keeps it from being a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// The 1-based line.
    pub line: u32,
    /// The 1-based column, counted in characters.
    pub column: u32,
    /// The byte range to point at; empty at the end of the text.
    pub span: Range<usize>,
    /// What could stand there, in words; never empty.
    pub expected: Vec<&'static str>,
    /// The text that stands there instead, cut after 80 characters; `None` at the end of the text.
    pub seen: Option<String>,
}

/// What is wrong with a text that should be a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The text is not UTF-8.
    NotUtf8,
    /// The text has a NUL character.
    Nul,
    /// There is no text.
    Empty,
    /// The first marker is missing.
    NoBegin,
    /// The last marker is missing.
    NoEnd,
    /// There is other text before the first marker.
    TextBefore,
    /// There is other text after the last marker.
    TextAfter,
    /// A second patch follows.
    SecondEnvelope,
    /// Blanks stand around a marker or before a header, and the options do not allow it.
    Padded,
    /// A heredoc or a Markdown fence is around the patch, and the options do not allow it.
    Wrapped,
    /// A line begins with `***` and is no header, or no header that can stand here.
    UnknownHeader {
        /// The header that was meant, if one is near.
        closest: Option<&'static str>,
    },
    /// A header has no path.
    NoPath,
    /// A `*** Move File:` header does not have exactly one ` -> `.
    NoArrow,
    /// A line of a new file does not begin with `+`.
    NoPlus,
    /// A line of a hunk begins with something else than a blank, `-`, `+`.
    NoPrefix,
    /// An update has neither hunks nor a destination.
    NoHunks,
    /// A hunk has no lines.
    EmptyHunk,
    /// The first hunk of an update does not begin with `@@`, and the options do not allow it.
    NoAt,
    /// The `*** Environment ID:` line names no environment.
    EnvironmentMissing,
    /// There is a second `*** Environment ID:` line.
    EnvironmentTwice,
    /// The patch is meant for another environment than the options name.
    OtherEnvironment {
        /// The one that the patch names.
        id: String,
    },
    /// There are no file operations.
    NoSections,
    /// There are more file operations than the options allow.
    TooManySections {
        /// The limit.
        limit: usize,
    },
    /// Something else stands where a part of the patch should.
    Unexpected,
    /// The text should be a diff and names no file.
    NoDiff,
    /// A hunk of a diff stands below no file.
    NoFile,
    /// A file of a diff changes, and no hunk says how.
    FileWithoutHunks,
    /// The numbers of a hunk of a diff do not fit its lines, and neither do these tell where it ends.
    HunkEnd,
    /// A path of a diff cannot be read.
    BadPath,
    /// A mode of a git diff is not one of a file.
    BadMode,
    /// A diff of a merge, with more than two sides.
    CombinedDiff,
    /// A diff names a binary file, whose bytes are not in it or are in another form.
    BinaryDiff {
        /// The file, or the line that names it.
        path: String,
    },
    /// A git diff changes a symbolic link.
    Symlink {
        /// The link.
        path: String,
    },
    /// A git diff changes a submodule.
    Submodule {
        /// Its directory.
        path: String,
    },
}

impl ParseErrorKind {
    /// A stable short name for programs.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NotUtf8 => "not_utf8",
            Self::Nul => "nul",
            Self::Empty => "empty",
            Self::NoBegin => "no_begin",
            Self::NoEnd => "no_end",
            Self::TextBefore => "text_before",
            Self::TextAfter => "text_after",
            Self::SecondEnvelope => "second_envelope",
            Self::Padded => "padded",
            Self::Wrapped => "wrapped",
            Self::UnknownHeader { .. } => "unknown_header",
            Self::NoPath => "no_path",
            Self::NoArrow => "no_arrow",
            Self::NoPlus => "no_plus",
            Self::NoPrefix => "no_prefix",
            Self::NoHunks => "no_hunks",
            Self::EmptyHunk => "empty_hunk",
            Self::NoAt => "no_at",
            Self::EnvironmentMissing | Self::EnvironmentTwice | Self::OtherEnvironment { .. } => "environment",
            Self::NoSections => "no_sections",
            Self::TooManySections { .. } => "too_many_sections",
            Self::Unexpected => "unexpected",
            Self::NoDiff => "no_diff",
            Self::NoFile => "no_file",
            Self::FileWithoutHunks => "file_without_hunks",
            Self::HunkEnd => "hunk_end",
            Self::BadPath => "bad_path",
            Self::BadMode => "bad_mode",
            Self::CombinedDiff => "combined_diff",
            Self::BinaryDiff { .. } => "binary_diff",
            Self::Symlink { .. } => "symlink",
            Self::Submodule { .. } => "submodule",
        }
    }
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUtf8 => "the patch is not UTF-8",
            Self::Nul => "the patch has a NUL character",
            Self::Empty => "the patch is empty",
            Self::NoBegin => "the patch does not begin with `*** Begin Patch`",
            Self::NoEnd => "the patch ends without `*** End Patch`",
            Self::TextBefore => "there is other text before `*** Begin Patch`",
            Self::TextAfter => "there is other text after `*** End Patch`",
            Self::SecondEnvelope => "a second `*** Begin Patch` follows; send one patch at a time",
            Self::Padded => "blanks stand before or after a `***` line; it must begin and end without",
            Self::Wrapped => "the patch is wrapped in a heredoc or a Markdown fence",
            Self::UnknownHeader { closest: None } => "this `***` line is no header that can stand here",
            Self::UnknownHeader { closest: Some(closest) } => {
                return write!(f, "this `***` line is no header that can stand here; {closest} is close");
            }
            Self::NoPath => "the header has no path",
            Self::NoArrow => "the header needs two paths with one ` -> ` between them",
            Self::NoPlus => "every line of a new file must begin with `+`, empty ones too",
            Self::NoPrefix => "every line of a hunk must begin with a blank (context), `-` or `+`",
            Self::NoHunks => "the update has no hunks and no `*** Move to:`",
            Self::EmptyHunk => "the hunk has no lines",
            Self::NoAt => "the first hunk of an update must begin with `@@`",
            Self::EnvironmentMissing => "the `*** Environment ID:` line names no environment",
            Self::EnvironmentTwice => "the patch names its environment twice",
            Self::OtherEnvironment { id } => {
                return write!(f, "the patch is meant for the environment `{}`", id.escape_debug());
            }
            Self::NoSections => "the patch has no file operations",
            Self::TooManySections { limit } => {
                let plural = if *limit == 1 { "" } else { "s" };
                return write!(f, "the patch has more than {limit} file operation{plural}");
            }
            Self::Unexpected => "this is no part of a patch",
            Self::NoDiff => "this is no unified or git diff",
            Self::NoFile => "the hunk belongs to no file",
            Self::FileWithoutHunks => "the diff says that the file changes, and not how",
            Self::HunkEnd => "the numbers of the hunk do not fit its lines, and this may be its end or not",
            Self::BadPath => "the path cannot be read",
            Self::BadMode => "this is no mode of a file",
            Self::CombinedDiff => "the diff of a merge cannot be applied",
            Self::BinaryDiff { path } => return write!(f, "{path}: a binary change cannot be applied"),
            Self::Symlink { path } => return write!(f, "{path}: a change of a symbolic link cannot be applied"),
            Self::Submodule { path } => return write!(f, "{path}: a change of a submodule cannot be applied"),
        })
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {}, column {}): expected ", self.kind, self.line, self.column)?;
        for (index, expected) in self.expected.iter().enumerate() {
            match index {
                0 => {}
                _ if index + 1 == self.expected.len() => f.write_str(" or ")?,
                _ => f.write_str(", ")?,
            }
            f.write_str(expected)?;
        }
        match &self.seen {
            Some(seen) => write!(f, ", saw `{}`", seen.escape_debug()),
            None => f.write_str(", saw the end of the text"),
        }
    }
}

impl std::error::Error for ParseError {}

/// Something that was overlooked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What it is.
    pub kind: WarningKind,
    /// The 1-based line.
    pub line: u32,
}

/// What was overlooked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// A heredoc around the patch was removed.
    Heredoc,
    /// A Markdown fence around the patch was removed.
    Fence,
    /// Blanks around a marker or before a header were removed.
    Padded,
    /// A diff was itself stored with CRLF; its carriage returns were left out.
    StoredWithCrlf,
    /// Backslashes in the paths of a diff were taken as `/`.
    Backslashes,
    /// The numbers of a hunk of a diff do not fit its lines, which were taken as they are.
    HunkNumbers,
    /// A hunk of a diff has no numbers.
    NoHunkNumbers,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            WarningKind::Heredoc => "a heredoc around the patch was removed",
            WarningKind::Fence => "a Markdown fence around the patch was removed",
            WarningKind::Padded => "blanks around a `***` line were removed",
            WarningKind::StoredWithCrlf => "the diff was stored with CRLF: line feeds alone are meant",
            WarningKind::Backslashes => "backslashes in the paths of the diff are taken as `/`",
            WarningKind::HunkNumbers => "the numbers of the hunk do not fit its lines, which were taken as they stand",
            WarningKind::NoHunkNumbers => "the hunk has no numbers; its lines were taken as they stand",
        };
        write!(f, "line {}: {what}", self.line)
    }
}
