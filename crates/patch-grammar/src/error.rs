//! The faults of a text that should be a patch, and those that were overlooked in one that is.

use std::fmt;
use std::ops::Range;

use crate::binary::{MAX_FILE, MAX_PATCH};
use crate::lines::listed;

// Where the generated parser looks for it.
pub(crate) use pest_itself::error::Error;

/// The first thing in a text that keeps it from being a patch.
#[derive(Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The fault.
    pub kind: ParseErrorKind,
    /// The 1-based line.
    pub line: u32,
    /// The 1-based column, counted in characters.
    pub column: u32,
    /// The byte range to point at; empty at the end of the text.
    pub span: Range<usize>,
    /// The things that could stand there, in words; never empty.
    pub expected: Vec<&'static str>,
    /// The text that stands there instead, cut after 80 characters; `None` at the end of the text.
    pub seen: Option<String>,
}

crate::names::debug_is_display!(ParseError);

crate::names::named! {
    /// A form of a text that cannot be applied.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub enum OtherForm {
        /// The output of `diff -c`.
        Context = "a context diff",
        /// The output of `diff` alone.
        Normal = "a normal diff",
        /// The output of `diff -e`.
        Ed = "an ed script",
        /// Any text, but in UTF-16.
        Utf16 = "UTF-16 text",
    }
}

crate::names::named! {
    /// A fault of a text that should be a patch.
    #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
    #[non_exhaustive]
    pub error enum ParseErrorKind {
        /// The text is not UTF-8.
        #[error("the patch is not UTF-8")]
        NotUtf8 = "not_utf8",
        /// The text has a NUL character.
        #[error("the patch has a NUL character")]
        Nul = "nul",
        /// There is no text.
        #[error("the patch is empty")]
        Empty = "empty",
        /// The first marker is missing.
        #[error("the patch does not begin with `*** Begin Patch`")]
        NoBegin = "no_begin",
        /// Nothing in the text belongs to a patch of any form.
        #[error("there is no patch in the text")]
        NoPatch = "no_patch",
        /// The last marker is missing, or the text ends within a character.
        #[error("the patch was cut off: it ends without `*** End Patch`")]
        NoEnd = "no_end",
        /// There is other text before the first marker.
        #[error("there is other text before `*** Begin Patch`")]
        TextBefore = "text_before",
        /// There is other text after the last marker.
        #[error("there is other text after `*** End Patch`")]
        TextAfter = "text_after",
        /// Lines around the patch are a part of a patch too.
        #[error("{} outside the patch and would be lost{}", stand(lines), of_files(files))]
        TextOutside {
            /// The first of them, from 0, last excluded.
            lines: Vec<Range<usize>>,
            /// The files that they name, as written.
            files: Vec<String>,
        } = "text_outside",
        /// The patch is in a comment of the text around it.
        #[error("the patch is in a comment, where a reader of the text does not see it")]
        Hidden = "hidden",
        /// A SEARCH/REPLACE block does not say which file it changes.
        #[error("no line names the file of this block{}", may_be_meant(meant.as_deref()))]
        NoBlockPath {
            /// The word in the line above that looks like a path, beside other words.
            meant: Option<String>,
        } = "no_path",
        /// A SEARCH/REPLACE block lacks a marker, or has one too many.
        #[error("the SEARCH/REPLACE block is not `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`")]
        BadBlock = "bad_block",
        /// A second patch follows.
        #[error("a second `*** Begin Patch` follows; send one patch at a time")]
        SecondEnvelope = "second_envelope",
        /// Blanks stand around a marker or before a header, and the options do not allow it.
        #[error("blanks stand before or after a `***` line; it must begin and end without")]
        Padded = "padded",
        /// A heredoc or a Markdown fence is around the patch, and the options do not allow it.
        #[error("the patch is wrapped in a heredoc or a Markdown fence")]
        Wrapped = "wrapped",
        /// A line begins with `***` and is not a header, or no header that can stand here.
        #[error("this `***` line is not a header that can stand here{}", is_close(*closest))]
        UnknownHeader {
            /// The header that was meant, if one is near.
            closest: Option<&'static str>,
        } = "unknown_header",
        /// A header has no path.
        #[error("the header has no path")]
        NoPath = "no_path",
        /// A `*** Move File:` header does not have exactly one ` -> `.
        #[error("the header needs two paths with one ` -> ` between them")]
        NoArrow = "no_arrow",
        /// A line of a new file does not begin with `+`.
        #[error("every line of a new file must begin with `+`, empty ones too")]
        NoPlus = "no_plus",
        /// A line of a hunk begins with something else than a blank, `-`, `+`.
        #[error("every line of a hunk must begin with a blank (context), `-` or `+`")]
        NoPrefix = "no_prefix",
        /// An update has neither hunks nor a destination.
        #[error("the update has no hunks and no `*** Move to:`")]
        NoHunks = "no_hunks",
        /// A hunk has no lines.
        #[error("the hunk has no lines")]
        EmptyHunk = "empty_hunk",
        /// The first hunk of an update does not begin with `@@`, and the options do not allow it.
        #[error("the hunk of this line does not begin with `@@`")]
        NoAt = "no_at",
        /// The `*** Environment ID:` line names no environment.
        #[error("the `*** Environment ID:` line names no environment")]
        EnvironmentMissing = "environment",
        /// There is a second `*** Environment ID:` line.
        #[error("the patch names its environment twice")]
        EnvironmentTwice = "environment",
        /// The patch is meant for another environment than the options name.
        #[error("the patch is meant for the environment `{}`", id.escape_debug())]
        OtherEnvironment {
            /// The one that the patch names.
            id: String,
        } = "environment",
        /// There are no file operations.
        #[error("the patch has no file operations")]
        NoSections = "no_sections",
        /// There are more file operations than the options allow.
        #[error("the patch has more than {limit} file \
                 operation{}", if *limit == 1 { "" } else { "s" })]
        TooManySections {
            /// The limit.
            limit: usize,
        } = "too_many_sections",
        /// Something else stands where a part of the patch should.
        #[error("this is not a part of a patch")]
        Unexpected = "unexpected",
        /// The text should be a diff and names no file.
        #[error("this is not a unified or git diff")]
        NoDiff = "no_diff",
        /// A hunk of a diff stands below no file.
        #[error("the hunk belongs to no file")]
        NoFile = "no_file",
        /// A file of a diff changes, and no hunk says how.
        #[error("the diff says that the file changes, and not how")]
        FileWithoutHunks = "file_without_hunks",
        /// The numbers of a hunk of a diff do not fit its lines, and neither do these tell where it
        /// ends.
        #[error("the numbers of the hunk do not fit its lines, and this may be its end or not")]
        HunkEnd = "hunk_end",
        /// A diff ends within its last hunk.
        #[error(
            "the diff was cut off: its last hunk promises {} old and {} new lines, and has {} and \
             {}",
            promised.0, promised.1, found.0, found.1
        )]
        CutOff {
            /// How many lines of the old and the new file the numbers promise.
            promised: (u64, u64),
            /// How many it has.
            found: (u64, u64),
        } = "cut_off",
        /// A diff ends within a line.
        #[error("the diff was cut off: it ends within this line")]
        HalfLine = "cut_off",
        /// A path of a diff cannot be read.
        #[error("the path cannot be read")]
        BadPath = "bad_path",
        /// The text is a diff in another form, or in UTF-16.
        #[error("this is {form}, which cannot be applied")]
        OtherForm {
            /// The form.
            form: OtherForm,
        } = "other_form",
        /// Two lines of the header of a file in a git diff contradict each other.
        #[error("the header of the file contradicts itself")]
        Contradiction = "contradiction",
        /// A mode of a git diff is not one of a file.
        #[error("this is not a mode of a file")]
        BadMode = "bad_mode",
        /// The change of a submodule does not say its commits.
        #[error("the lines of a submodule are `Subproject commit` and the id of a commit")]
        BadSubmodule = "bad_submodule",
        /// A diff of a merge, with more than two sides.
        #[error("`@@@` and `diff --cc` show a merge (a combined diff), which cannot be applied")]
        CombinedDiff = "combined_diff",
        /// A diff names a binary file, whose bytes are not in it or are in another form.
        #[error("{path}: a binary change cannot be applied")]
        BinaryDiff {
            /// The file, or the line that names it.
            path: String,
        } = "binary_diff",
        /// A line of a binary patch is not one, or its bytes are not what it says.
        #[error("the binary patch is damaged")]
        BadBinary = "bad_binary",
        /// The files of a binary patch are too large.
        #[error(
            "a binary patch makes files of up to {} MiB, and of {} MiB together",
            MAX_FILE >> 20,
            MAX_PATCH >> 20
        )]
        LargeBinary = "large_binary",
        /// The modes of a section are those of two kinds of file.
        #[error("{path}: its modes are those of two kinds of file")]
        Symlink {
            /// The link.
            path: String,
        } = "symlink",
    }
}

/// The end of the message about a line that is not a header: the header that was meant, if one is
/// near.
fn is_close(closest: Option<&str>) -> String {
    closest.map(|closest| format!("; {closest} is close")).unwrap_or_default()
}

/// The end of the message about a block without a path.
fn may_be_meant(path: Option<&str>) -> String {
    path.map(|path| format!("; `{path}` may be meant: write it alone")).unwrap_or_default()
}

fn stand(lines: &[Range<usize>]) -> String {
    let one = lines.iter().map(Range::len).sum::<usize>() == 1;
    format!("{} {}", listed(lines.iter().cloned()), if one { "stands" } else { "stand" })
}

fn of_files(files: &[String]) -> String {
    match files {
        [] => String::new(),
        files => format!(": {}", files.join(", ").escape_debug()),
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
#[non_exhaustive]
pub struct Warning {
    /// The thing that was overlooked.
    pub kind: WarningKind,
    /// The 1-based line.
    pub line: u32,
}

/// A thing that was overlooked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    /// The numbers of a hunk of a diff do not fit its lines, which were taken as they are.
    HunkNumbers {
        /// How many lines of the old and the new file the numbers promise.
        promised: (u64, u64),
        /// How many it has.
        found: (u64, u64),
    },
    /// A hunk of a diff has no numbers.
    NoHunkNumbers,
    /// The first parts of the paths of a diff of new files were left out, as their two names tell.
    PrefixLeftOut {
        /// The first parts of each path.
        prefix: String,
    },
    /// A line of a diff says that something is there or changed, and the diff does not have it.
    NotInDiff,
    /// A binary file was left out, as asked for: the diff does not have its bytes.
    BinaryLeftOut {
        /// The file.
        path: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.kind {
            WarningKind::Heredoc => "a heredoc around the patch was removed",
            WarningKind::Fence => "a Markdown fence around the patch was removed",
            WarningKind::Padded => "blanks around a `***` line were removed",
            WarningKind::StoredWithCrlf => {
                "the diff was stored with CRLF, which says nothing about the ends of lines in its \
                 files"
            }
            WarningKind::HunkNumbers { promised, found } => {
                return write!(
                    f,
                    "line {}: the numbers of the hunk do not fit its lines, which were taken as \
                     they stand: it promises {} old and {} new lines, and has {} and {}",
                    self.line, promised.0, promised.1, found.0, found.1
                );
            }
            WarningKind::NoHunkNumbers => {
                "the hunk has no numbers; its lines were taken as they stand"
            }
            WarningKind::PrefixLeftOut { prefix } => {
                let prefix = prefix.escape_debug();
                return write!(
                    f,
                    "line {}: left out `{prefix}` before the paths, in which the two names of each \
                     file differ",
                    self.line
                );
            }
            WarningKind::BinaryLeftOut { path } => {
                let path = path.escape_debug();
                return write!(
                    f,
                    "line {}: left out the binary file {path}, whose bytes are not in the diff",
                    self.line
                );
            }
            WarningKind::NotInDiff => "the diff names this without its contents: nothing was done",
        };
        write!(f, "line {}: {what}", self.line)
    }
}

#[cfg(test)]
mod tests {

    #[test]
    fn debug_is_the_sentence() {
        let errors: Vec<Box<dyn std::error::Error>> = vec![
            Box::new(crate::parse("x", &crate::ParseOptions::default()).expect_err("no patch")),
            Box::new(crate::detect::find(b"x").expect_err("no patch")),
            Box::new("x".parse::<crate::Dialect>().expect_err("no dialect")),
            Box::new(crate::envelope::Inexpressible {
                path: "a".into(),
                line: 1,
                problem: crate::envelope::Unsaid::Path,
            }),
        ];
        for error in errors {
            assert_eq!(format!("{error:?}"), error.to_string());
        }
    }
}
