//! The files that a fitted grammar leaves out, and the reasons why none can be made.

use std::fmt;

use patch_grammar::export::Format;

use crate::paths::PathProblem;

/// Why a file cannot be updated under a fitted grammar, or what else is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// It has a NUL byte in its first 8 KiB.
    Binary,
    /// It is not UTF-8.
    NotUtf8,
    /// None of the lines that may be shown make a block that stands once in the file.
    NoBlock,
    /// Long parts of the file are repeated over and over.
    Repetitive,
    /// No patch may change a file at its path.
    Path(PathProblem),
    /// So many paths are listed that a patch deletes one of them at most.
    Many(usize),
    /// The path differs from an earlier file's in case alone, and a patch with both does not apply.
    Alike,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Path(problem) => return problem.fmt(f),
            Self::Many(paths) => {
                return write!(f, "{paths} paths are listed: a patch deletes one of them at most");
            }
            Self::Binary => "it is binary",
            Self::NotUtf8 => "it is not UTF-8",
            Self::NoBlock => "no block of the lines that may be shown stands once in it",
            Self::Repetitive => "long parts of it are repeated over and over",
            Self::Alike => "its path differs from that of a file before it in case alone",
        })
    }
}

/// A file left out of a fitted grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FitNote {
    /// The file; empty if the note is about all listed paths.
    pub path: String,
    /// The reason.
    pub why: Unfit,
}

impl fmt::Display for FitNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match self.why {
            Unfit::Many(_) => return self.why.fmt(f),
            Unfit::Alike | Unfit::Path(_) => "",
            _ => " of updates",
        };
        write!(f, "{}: left out{of}: {}", fs_guard::quoted(&self.path), self.why)
    }
}

/// Why there is no fitted grammar.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// A file was given twice.
    #[error("the file `{path}` is given twice")]
    Twice {
        /// The path.
        path: String,
    },
    /// No operation is possible on any file.
    #[error("a patch could do nothing to these files")]
    Nothing {
        /// The files left out.
        notes: Vec<FitNote>,
    },
    /// The notation cannot express the grammar in reasonable space.
    #[error("a grammar that fits files has no form as {format}; take lark, ebnf or gbnf")]
    Format {
        /// The requested notation.
        format: Format,
    },
    /// The engine of the notation would refuse the grammar, or die of it.
    #[error("{0}")]
    TooLarge(Box<TooMany>),
    /// A file has more lines than are looked at, even if few of them may be shown.
    #[error("`{path}` has {lines} lines, of {limit} at most: leave the file out")]
    TooLong {
        /// The file.
        path: String,
        /// The number of lines.
        lines: usize,
        /// The most lines.
        limit: usize,
    },
    /// A file has so many lines that no engine would take a grammar for it.
    #[error(
        "`{path}` has {lines} lines, {shown} of which may be shown, and no engine takes a grammar \
         for so many: name only the lines that the model was shown, or leave the file out"
    )]
    TooManyLines {
        /// The file.
        path: String,
        /// The number of lines.
        lines: usize,
        /// How many of them may be shown.
        shown: usize,
    },
}

/// The parts of a grammar of which an engine takes no more.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooMany {
    /// The engine of the notation.
    pub engine: &'static str,
    /// The parts.
    pub what: &'static str,
    /// How many of them the grammar has.
    pub count: usize,
    /// How many of them the engine takes.
    pub limit: usize,
    /// The reason.
    pub cause: Cause,
    /// A notation whose engine takes the grammar.
    pub instead: Option<Format>,
}

/// Why a grammar is too large.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// A file has many lines that may be shown; this one the most.
    Lines {
        /// The file.
        path: String,
        /// How many lines of the file may be shown.
        lines: usize,
    },
    /// There are many files.
    Files {
        /// How many.
        files: usize,
    },
    /// Many paths are listed.
    Paths {
        /// How many.
        paths: usize,
    },
    /// Many paths are listed, and a new file may be none of them.
    Names {
        /// How many.
        paths: usize,
    },
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, what, count, limit, .. } = self;
        write!(f, "too large for {engine}: {count} {what}, of {limit}; ")?;
        match &self.cause {
            Cause::Lines { path, lines } => write!(
                f,
                "the largest file is `{path}`, with {lines} lines: name only the lines that the \
                 model was shown"
            ),
            Cause::Files { files } => {
                write!(f, "there are {files} files: make the grammar for fewer")
            }
            Cause::Paths { paths } => write!(
                f,
                "{paths} paths are listed: leave out `paths`, or the operations `add`, `delete` \
                 and `move`"
            ),
            Cause::Names { paths } => {
                write!(f, "{paths} paths are listed: leave out the operations `add` and `move`")
            }
        }?;
        match self.instead {
            Some(format) => write!(f, ", or take the notation {format}"),
            None => Ok(()),
        }
    }
}

patch_grammar::debug_is_display!(FitError);
