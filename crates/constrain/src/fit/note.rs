//! The files that a fitted grammar leaves out, and the reasons why none can be made.

use std::fmt;

use patch_grammar::export::Format;

use crate::paths::PathProblem;

/// Why a file cannot be updated under a fitted grammar.
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
    /// The path differs from an earlier file's in case alone, and a patch with both does not apply.
    Alike,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Path(problem) => return problem.fmt(f),
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
    /// The file.
    pub path: String,
    /// The reason.
    pub why: Unfit,
}

impl fmt::Display for FitNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match self.why {
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
    /// The files have so many lines that the grammar would take too much memory.
    #[error(
        "too large for a fitted grammar: `{path}` has {lines} lines, {shown} of which may be \
         shown; with the files after it that would take {mebibytes} MiB of memory, of {limit}: \
         name only the lines that the model was shown, or leave the file out"
    )]
    TooManyLines {
        /// The file.
        path: String,
        /// The number of lines.
        lines: usize,
        /// How many of them may be shown.
        shown: usize,
        /// The memory for the grammar of this file and the files after, in MiB.
        mebibytes: usize,
        /// The most memory, in MiB.
        limit: usize,
    },
    /// The notation cannot express the grammar in reasonable space.
    #[error("a grammar that fits files has no form as {format}; take lark, ebnf or gbnf")]
    Format {
        /// The requested notation.
        format: Format,
    },
    /// An engine would refuse the grammar, or die of it.
    #[error(
        "too large for {engine}: {count} {what}, of {limit}; the largest file is `{path}`, with \
         {lines} lines: name only the lines that the model was shown, or take another notation"
    )]
    TooLarge {
        /// The engine of this notation.
        engine: &'static str,
        /// The file with the most lines that may be shown.
        path: String,
        /// How many lines of the file may be shown.
        lines: usize,
        /// The parts of the grammar that are too many.
        what: &'static str,
        /// How many of them the grammar has.
        count: usize,
        /// How many of them the engine takes.
        limit: usize,
    },
}

patch_grammar::debug_is_display!(FitError);
