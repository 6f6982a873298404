//! Finds the one place in a file where each hunk goes, or says why there is none.
//!
//! Nothing here guesses: every place that fits is known before one is taken. Two rules exist:
//! [`Order::PostState`] wants one place for each hunk in the file as the hunks before it leave it
//! (profile `strict`); [`Order::File`] wants one way to place all hunks in file order (profile
//! `codex`). Similarity appears only in the words of a refusal.
mod draft;
mod find;
mod headers;
mod indent;
mod interner;
mod matches;
mod needle;
mod ordered;
mod pass;
mod post_state;
mod prefilter;
mod refuse;
mod reject;
mod scope;
mod search;

use patch_grammar::Hunk;

pub(crate) use draft::Draft;
pub use pass::Pass;
pub use reject::{Advice, Candidate, Difference, HunkReject, HunkTrouble, Nearest};

use crate::lines::Lines;
use needle::Needle;

/// Which places count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// Each hunk has one place in the post-state of all hunks before it; headers are informational.
    PostState,
    /// All hunks together have one placement that keeps their order and does not overlap; headers
    /// narrow where a hunk may begin.
    File,
}

/// What to do about a hunk that fits in several places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ambiguous {
    /// Refuse it.
    Reject,
    /// Take the first place.
    First,
}

/// The rules of placement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Which places count.
    pub order: Order,
    /// The matching passes that are tried, in this order.
    pub passes: Vec<Pass>,
    /// What to do about a hunk that fits in several places.
    pub ambiguous: Ambiguous,
    /// Whether a hunk that only inserts, and has no header, goes to the end of the file.
    pub append_without_anchor: bool,
    /// Whether two or more stacked headers must be in the file; otherwise a single exact place stands
    /// without them.
    pub stacked_headers_must_match: bool,
}

/// Where one hunk went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The 0-based hunk of the section.
    pub hunk: usize,
    /// The first pre-image line, 1-based, that the hunk matched or stands before.
    pub first_line: usize,
    /// How many pre-image lines it matched.
    pub line_count: usize,
    /// The pass that matched.
    pub pass: Pass,
    /// What was done beyond plain matching.
    pub notes: Vec<Note>,
}

/// Something about a placement that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The hunk stands out of file order; it is the only place that fits.
    OutOfOrder,
    /// A header of the hunk is not in the file; its one exact place stands.
    HeaderNotFound,
    /// The empty lines after the hunk were separators.
    SeparatorsDropped,
    /// Inserted lines were indented like the matched lines.
    Reindented {
        /// Blanks that were put before each inserted line.
        added: String,
        /// Blanks that were taken away.
        removed: String,
    },
    /// The hunk fits in several places and the first was taken.
    FirstOfSeveral,
}

/// All hunks of a section, placed.
#[derive(Debug)]
pub(crate) struct Located<'f, 'p> {
    pub(crate) draft: Draft<'f, 'p>,
    pub(crate) placed: Vec<Placed>,
}

/// Places `hunks` in the file `lines`.
///
/// Time is linear in file and patch; see [`search`] and [`post_state`] for the bounds.
///
/// # Errors
///
/// One entry for each hunk that has no place, or more than one.
pub(crate) fn locate<'f, 'p>(
    lines: &'f Lines<'f>,
    hunks: &'p [Hunk<'p>],
    rules: &Rules,
) -> Result<Located<'f, 'p>, Vec<HunkReject>> {
    let needles: Vec<Needle<'p>> =
        hunks.iter().enumerate().map(|(index, hunk)| Needle::new(index, hunk, lines)).collect();
    match rules.order {
        Order::PostState => post_state::locate(lines, needles, rules),
        Order::File => ordered::locate(lines, needles, rules),
    }
}
