//! Why a hunk has no place, as data.

use std::ops::RangeInclusive;

use super::pass::Pass;

/// A hunk that was not placed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HunkReject {
    /// The 0-based hunk of the section.
    pub hunk: usize,
    /// The 1-based line of the patch where the hunk begins.
    pub patch_line: u32,
    /// Why.
    pub reason: RejectReason,
}

/// Why a hunk has no place. Line numbers are 1-based and those of the pre-image.
/// A new variant breaks callers, so that each finds the words for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RejectReason {
    /// Its old lines are nowhere in the file.
    ContextNotFound {
        /// The place that is most like them.
        nearest: Option<Box<Nearest>>,
    },
    /// Its old lines are in the file, but not where its headers want it.
    OutsideScope {
        /// The innermost header.
        header: String,
        /// Where the old lines are.
        candidates: Vec<Candidate>,
    },
    /// A header is not in the file, and the hunk has not exactly one exact place without it.
    HeaderNotFound {
        /// The header.
        header: String,
        /// Where the old lines are.
        candidates: Vec<Candidate>,
    },
    /// It fits in several places.
    MultipleMatches {
        /// The places, at most 64.
        candidates: Vec<Candidate>,
        /// Whether there are more.
        more: bool,
        /// Whether places exist, but none that keeps the order of the hunks.
        out_of_order: bool,
    },
    /// It changes lines that another hunk of the section changes.
    OverlappingEdits {
        /// The other hunk, 0-based.
        other: usize,
        /// The lines of the file they share, or that the other hunk removed.
        lines: Option<RangeInclusive<usize>>,
    },
    /// The file already has its new lines, and its old ones are gone.
    AlreadyApplied {
        /// Where the new lines are.
        lines: RangeInclusive<usize>,
    },
    /// It has no old lines, no header, and does not say that it goes to the end of the file.
    NoAnchor,
    /// A marker for a missing line feed stands at a line that is not the last, or the file's last
    /// line has one.
    FinalNewline,
    /// It inserts text that is not ASCII into a file that is not UTF-8.
    Encoding,
}

impl RejectReason {
    /// The stable short name, which programs go by.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::ContextNotFound { .. } => "context_not_found",
            Self::OutsideScope { .. } => "outside_scope",
            Self::HeaderNotFound { .. } => "anchor_not_found",
            Self::MultipleMatches { .. } => "multiple_matches",
            Self::OverlappingEdits { .. } => "overlapping_edits",
            Self::AlreadyApplied { .. } => "already_applied",
            Self::NoAnchor => "no_anchor",
            Self::FinalNewline => "final_newline",
            Self::Encoding => "encoding",
        }
    }
}

/// A place where a hunk fits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// The lines it would match; for a hunk without old lines, the line it would come before.
    pub lines: RangeInclusive<usize>,
    /// What to write into the hunk to mean this place.
    pub advice: Option<Advice>,
}

/// The smallest addition that makes a hunk unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// Context lines to put before the hunk's first line, ready to paste, without prefix.
    Before(Vec<String>),
    /// Context lines to put after the hunk's last line.
    After(Vec<String>),
    /// The text for an `@@` header.
    Header(String),
}

/// The region of the file that is most like the old lines of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nearest {
    /// Its lines.
    pub lines: RangeInclusive<usize>,
    /// How many of the old lines are in it, in their place.
    pub agreeing: usize,
    /// How many old lines the hunk has.
    pub of: usize,
    /// The first line that differs.
    pub difference: Option<Difference>,
    /// The pass that would have matched, if one would.
    pub pass: Option<Pass>,
    /// Whether all old lines are in the file, but in another order or not together.
    pub scattered: bool,
    /// Whether the old lines stand there, and the hunk has no place only because it says that the file ends with them.
    pub not_at_end: bool,
    /// The first lines of the place, at most 12.
    pub region: Vec<Shown>,
    /// The hunk's lines with those of the place for its context and removed lines, prefixes included, ready to paste; empty when the
    /// place has not as many lines, or they are many.
    pub paste: Vec<String>,
}

/// A line of the file, and where it differs from what a hunk has there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Shown {
    /// The 1-based line.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// The first and the last character that differ, 1-based; none when the hunk has this line. A line that is shorter than the hunk's
    /// differs one past its end.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub columns: Option<(usize, usize)>,
}

/// A line of a hunk and the line of the file that stands in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The 1-based line of the patch.
    pub patch_line: u32,
    /// The 1-based line of the file; one past the last when the file ends there.
    pub file_line: usize,
    /// What the hunk has.
    pub wanted: String,
    /// What the file has; `None` when it ends before.
    pub found: Option<String>,
    /// The first character in which they differ, 1-based.
    pub column: usize,
}
