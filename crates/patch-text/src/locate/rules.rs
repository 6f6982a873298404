//! The rules of placement.

use super::pass::Pass;

/// Which places count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// Each hunk has exactly one place in the post-state of the hunks before; headers are
    /// informational.
    PostState,
    /// All hunks together have exactly one placement in file order without overlaps; headers narrow
    /// where a hunk may begin.
    File,
}

patch_grammar::named! {
    /// The treatment of a hunk that fits in several places.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Ambiguous {
        /// Refuse it.
        Reject = "reject",
        /// Take the first place.
        First = "first",
    }
}

/// The rules of placement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Which places count.
    pub order: Order,
    /// The matching passes, in the order in which they are tried.
    pub passes: Vec<Pass>,
    /// The treatment of a hunk that fits in several places.
    pub ambiguous: Ambiguous,
    /// Whether a hunk that only inserts, and has no header, goes to the end of the file.
    pub append_without_anchor: bool,
    /// Whether two or more stacked headers must be in the file. Otherwise a single exact place is
    /// enough without them.
    pub stacked_headers_must_match: bool,
    /// Whether a hunk that is applied already, by strong evidence, is left out with a note.
    /// Otherwise the hunk is refused.
    pub skip_applied: bool,
    /// Whether the hunks of a diff may lack all context (`diff -U0`), so that line numbers decide
    /// where a hunk that only inserts goes. Otherwise such a hunk is refused, and so is a hunk
    /// without context that is not all of the file.
    pub unidiff_zero: bool,
}

impl Default for Rules {
    /// Exact matches only, and one place for each hunk. Headers do not count.
    fn default() -> Self {
        Self {
            order: Order::PostState,
            passes: vec![Pass::Exact],
            ambiguous: Ambiguous::Reject,
            append_without_anchor: false,
            stacked_headers_must_match: false,
            skip_applied: false,
            unidiff_zero: false,
        }
    }
}

impl Rules {
    /// Every pass, and one placement of all hunks in file order, which headers narrow: the rules
    /// that models were trained with.
    #[must_use]
    pub fn by_headers() -> Self {
        Self {
            order: Order::File,
            passes: Pass::ALL.to_vec(),
            append_without_anchor: true,
            ..Self::default()
        }
    }
}
