//! The rules of placement.

use super::pass::Pass;

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
