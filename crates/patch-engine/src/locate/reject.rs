//! Why a hunk was not placed, as data.

use std::cell::Cell;
use std::mem::size_of;
use std::ops::RangeInclusive;

use super::mangled::Mangled;
use super::pass::Pass;
use super::search::SATURATION;

/// A hunk that was not placed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HunkReject {
    /// The 0-based hunk of the section.
    pub hunk: usize,
    /// The 1-based line of the patch where the hunk begins.
    pub patch_line: u32,
    /// The reason.
    pub reason: RejectReason,
}

patch_grammar::named! {
    /// Why a hunk was not placed. Line numbers are 1-based and refer to the pre-image. This enum is
    /// exhaustive, so that whoever words the reasons has to add one for a new variant.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub error enum RejectReason {
        /// Its old lines stand nowhere in the file.
        ContextNotFound {
            /// The most similar place.
            nearest: Option<Box<Nearest>>,
        } = "context_not_found",
        /// Its old lines are in the file, but not where its headers say.
        OutsideScope {
            /// The innermost header.
            header: String,
            /// The places of the old lines, at most 64.
            candidates: Vec<Candidate>,
            /// Whether there are more.
            more: bool,
        } = "outside_scope",
        /// A header is not in the file, and without it the hunk does not have exactly one exact
        /// place.
        HeaderNotFound {
            /// The header.
            header: String,
            /// The places of the old lines, at most 64.
            candidates: Vec<Candidate>,
            /// Whether there are more.
            more: bool,
        } = "anchor_not_found",
        /// It fits in several places.
        MultipleMatches {
            /// The places, at most 64; fewer if many hunks of the patch have so many.
            candidates: Vec<Candidate>,
            /// Whether there are more.
            more: bool,
            /// Whether each hunk has places, but no choice of them keeps the order of the hunks.
            out_of_order: bool,
        } = "multiple_matches",
        /// It changes lines that another hunk of the section changes.
        OverlappingEdits {
            /// The other hunk, 0-based.
            other: usize,
            /// The lines of the file that both change, or that the other hunk removed.
            lines: Option<RangeInclusive<usize>>,
        } = "overlapping_edits",
        /// The file already has its new lines, and its old ones are gone.
        AlreadyApplied {
            /// Where the new lines are.
            lines: RangeInclusive<usize>,
        } = "already_applied",
        /// Its old lines are in the file but for blanks, and do not tell how to indent what it
        /// inserts.
        Indentation {
            /// Where they are.
            lines: RangeInclusive<usize>,
            /// The 1-based line of the patch that is inserted with an indentation that they do not
            /// tell; or, if `contradicts`, the old line that is indented in the file otherwise than
            /// another one with the same indentation.
            patch_line: u32,
            /// Whether one indentation of the hunk stands for several of the file.
            contradicts: bool,
        } = "indentation",
        /// It has no old lines, and nothing says where it goes that the rules take for a place.
        NoAnchor {
            /// The line that its header names, if it names one: its number and its text.
            header: Option<(usize, String)>,
            /// What the line number of a diff is worth.
            number: LineNumber,
        } = "no_anchor",
        /// A marker for a missing line feed is at a line that is not the last, or the last line of
        /// the file has a line feed.
        FinalNewline = "final_newline",
        /// It inserts text that is not ASCII into a file that is not UTF-8.
        Encoding = "encoding",
    }
}

/// How many bytes the reasons of one file, and those of one patch, may take before they are
/// abridged.
///
/// A reason with all its places and lines takes some kilobytes, and a patch may have a hundred
/// thousand hunks.
const ROOM: usize = 256 << 10;

/// How many places an abridged reason names: as many as its message.
pub(crate) const NAMED: usize = 6;

/// How many characters of a line an abridged reason has.
const ABRIDGED_WIDTH: usize = 100;

/// The room for reasons.
#[derive(Debug)]
pub(crate) struct Room {
    left: Cell<usize>,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self { left: Cell::new(ROOM) }
    }

    /// Returns the reason as it is while there is room, and abridged when there is none.
    pub(crate) fn fit(&self, mut reason: RejectReason) -> RejectReason {
        let size = reason.size();
        match self.left.get().checked_sub(size) {
            Some(left) => self.left.set(left),
            None => reason.abridge(),
        }
        reason
    }

    /// Returns how many places are worth looking for: a list of more would be abridged.
    pub(crate) fn places(&self) -> usize {
        if self.left.get() < SATURATION * size_of::<Candidate>() { NAMED } else { SATURATION }
    }
}

impl RejectReason {
    /// Returns about how many bytes it takes, apart from texts of the hunk itself.
    fn size(&self) -> usize {
        match self {
            Self::ContextNotFound { nearest: Some(nearest) } => {
                let difference = nearest.difference.iter();
                let lines =
                    difference.flat_map(|at| [Some(&at.wanted), at.found.as_ref()]).flatten();
                let lines = lines
                    .chain(nearest.region.iter().map(|shown| &shown.text))
                    .chain(&nearest.paste);
                lines.map(|line| size_of::<Shown>() + line.len()).sum()
            }
            Self::OutsideScope { candidates, .. }
            | Self::HeaderNotFound { candidates, .. }
            | Self::MultipleMatches { candidates, .. } => {
                candidates.iter().map(Candidate::size).sum()
            }
            _ => 0,
        }
    }

    /// Leaves what the message has, and the first line that differs.
    fn abridge(&mut self) {
        match self {
            Self::ContextNotFound { nearest: Some(nearest) } => {
                nearest.region = Vec::new();
                nearest.paste = Vec::new();
                for line in nearest
                    .difference
                    .iter_mut()
                    .flat_map(|at| [Some(&mut at.wanted), at.found.as_mut()])
                {
                    line.into_iter().for_each(abridge);
                }
            }
            Self::OutsideScope { candidates, more, .. }
            | Self::HeaderNotFound { candidates, more, .. }
            | Self::MultipleMatches { candidates, more, .. } => {
                *more |= candidates.len() > NAMED;
                // A list of their own: one that shrinks in its place leaves gaps that no other list
                // fits into.
                let named = candidates.iter().take(NAMED);
                *candidates = named
                    .map(|candidate| Candidate { lines: candidate.lines.clone(), advice: None })
                    .collect();
            }
            _ => {}
        }
    }
}

fn abridge(line: &mut String) {
    if let Some((end, _)) = line.char_indices().nth(ABRIDGED_WIDTH) {
        *line = format!("{}…", &line[..end]);
    }
}

/// A place where a hunk fits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// The lines that it would match. For a hunk without old lines: the line that it would be
    /// inserted before.
    pub lines: RangeInclusive<usize>,
    /// What to add to the hunk to select this place.
    pub advice: Option<Advice>,
}

impl Candidate {
    fn size(&self) -> usize {
        let lines = match &self.advice {
            Some(Advice::Before(lines) | Advice::After(lines)) => &lines[..],
            Some(Advice::Header(header)) => std::slice::from_ref(header),
            None => &[],
        };
        size_of::<Self>() + lines.iter().map(|line| size_of::<String>() + line.len()).sum::<usize>()
    }
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

impl HunkReject {
    /// Returns whether it is refused only because the file has other lines too.
    pub(crate) fn is_not_all(&self) -> bool {
        let RejectReason::ContextNotFound { nearest: Some(nearest) } = &self.reason else {
            return false;
        };
        matches!(nearest.not_at, Some(Edge::Bare { .. }))
    }
}

/// What the line number of a hunk that only inserts is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineNumber {
    /// It has none, or one that no diff states.
    None,
    /// The diff states it, and the rules do not let it decide.
    NotAsked,
    /// It would decide, but the file is not what the diff was made for: it has fewer lines, or the
    /// hunks around were found at other distances from their lines.
    Unsure,
}

/// An end of a file, at which a hunk says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edge {
    /// By `*** End of File`, or a note that the last line has no terminator.
    Marked,
    /// The end: a hunk of a diff has context above its changes, and none below. These lines stand
    /// below, at most 3.
    End {
        /// The lines.
        below: Vec<String>,
    },
    /// The beginning: a hunk of a diff begins at line 1, without context above its changes. These
    /// lines stand above, at most 3.
    Start {
        /// The lines.
        above: Vec<String>,
    },
    /// Both: a hunk of a diff has no context at all, and the file has other lines. At most 3 stand
    /// here of those above it, and of those below.
    Bare {
        /// The lines above it.
        above: Vec<String>,
        /// The lines below it.
        below: Vec<String>,
    },
}

/// The region of the file that is most similar to the old lines of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nearest {
    /// Its lines.
    pub lines: RangeInclusive<usize>,
    /// How many of the old lines it has, in their places.
    pub agreeing: usize,
    /// How many old lines the hunk has.
    pub of: usize,
    /// The first line that differs.
    pub difference: Option<Difference>,
    /// The pass that would have matched, if there is one.
    pub pass: Option<Pass>,
    /// What was done to the hunk's lines before its author saw them. The rest is about the lines
    /// without it.
    pub mangled: Option<Mangled>,
    /// The 1-based line of the patch that is inserted with an indentation that the lines of the
    /// region do not tell. The pass would not do then.
    pub untold: Option<u32>,
    /// Whether all old lines are in the file, but in another order or not together.
    pub scattered: bool,
    /// The end of the file at which the hunk says it is, if its old lines stand there and it was
    /// refused only because of that.
    pub not_at: Option<Edge>,
    /// The first lines of the region, at most 12.
    pub region: Vec<Shown>,
    /// The hunk, ready to paste, with the lines of the region in place of its context and deleted
    /// lines, prefixes included. Empty if the region has fewer lines, or they are too many.
    pub paste: Vec<String>,
}

/// A line of the file, and where it differs from the hunk's line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Shown {
    /// The 1-based line.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// The first and the last character that differ, 1-based; none if the hunk has this line. If
    /// the line is shorter than the hunk's, they are one past its end.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub columns: Option<(usize, usize)>,
}

/// A line of a hunk and the line of the file in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The 1-based line of the patch.
    pub patch_line: u32,
    /// The 1-based line of the file; one past the last if the file ends there.
    pub file_line: usize,
    /// The hunk's line.
    pub wanted: String,
    /// The file's line; `None` if the file ends before.
    pub found: Option<String>,
    /// The first character that differs, 1-based.
    pub column: usize,
}
