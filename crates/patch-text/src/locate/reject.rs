//! Why a hunk was not placed: as data, in words, and what can be done about it.

use std::cell::Cell;
use std::fmt;
use std::mem::size_of;
use std::ops::RangeInclusive;

use super::mangled::Mangled;
use super::pass::Pass;
use super::search::SATURATION;
use super::unseen::{Unseen, UnseenKind};

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
    /// Why a hunk was not placed. Line numbers are 1-based and refer to the pre-image.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub error enum RejectReason {
        /// Its old lines do not stand in the file together. `details.nearest` is the closest place:
        /// how many lines agree, the first that differs, and in `region` up to 12 lines with the
        /// columns that differ; `notAtEnd` or `notAtStart` when all agree, but the hunk wants that
        /// end of the file. Where no place is like the hunk, `details.named` has the lines of the
        /// file that define what it names. What to do: copy the lines from the file; if only blanks or punctuation
        /// differ, `--fuzz` with the pass that is named.
        ContextNotFound {
            /// The most similar place; `None` where no place is like the hunk.
            nearest: Option<Box<Nearest>>,
            /// Where no place is like the hunk: the lines of the file that it names.
            named: Vec<NamedLine>,
        } = "context_not_found",
        /// Its lines are in the file, but not below the `@@` header (`codex`); or outside of its
        /// scope while what the hunk leaves stands in there. What to do: correct the header.
        OutsideScope {
            /// The innermost header.
            header: String,
            /// The places of the old lines, at most 64.
            candidates: Vec<Candidate>,
            /// Whether there are more.
            more: bool,
        } = "outside_scope",
        /// The `@@` header is not a line of the file, and without it the place is not clear
        /// (`codex`). What to do: use a line of the file.
        HeaderNotFound {
            /// The header.
            header: String,
            /// The places of the old lines, at most 64.
            candidates: Vec<Candidate>,
            /// Whether there are more.
            more: bool,
        } = "anchor_not_found",
        /// It fits in several places; `details.candidates` has each, and what to add to mean
        /// it. What to do: add that context or header; `--ambiguous first` takes the uppermost.
        MultipleMatches {
            /// The places, at most 64; fewer if many hunks of the patch have so many.
            candidates: Vec<Candidate>,
            /// Whether there are more.
            more: bool,
            /// Whether each hunk has places, but no choice of them keeps the order of the hunks.
            out_of_order: bool,
        } = "multiple_matches",
        /// It changes lines that another hunk of the section changes. What to do: write the two
        /// as one hunk.
        OverlappingEdits {
            /// The other hunk, 0-based.
            other: usize,
            /// The lines of the file that both change, or that the other hunk removed.
            lines: Option<RangeInclusive<usize>>,
        } = "overlapping_edits",
        /// What the hunk leaves is in the file, and what it removes is not
        /// (`docs/profiles.md#applied-already`). What to do: leave the hunk out, or
        /// `--skip-applied`.
        AlreadyApplied {
            /// Where the new lines are.
            lines: RangeInclusive<usize>,
        } = "already_applied",
        /// With fuzz its lines do not tell how to indent what it inserts (`indentedLine` of the
        /// patch, `matchedLines` of the file). What to do: copy the old lines, and indent the new
        /// ones like them.
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
        /// It only inserts, and has no context line. What to do: begin with the line that the hint
        /// names, add context, or `*** End of File`; for a diff made with `-U0`,
        /// `--unidiff-zero`.
        NoAnchor {
            /// The line that its header names, if it names one: its number and its text.
            header: Option<(usize, String)>,
            /// Whether the line number of a diff can place the hunk.
            number: LineNumber,
        } = "no_anchor",
        /// `\ No newline at end of file` after a line that is not the last, or where the file ends
        /// in a line feed. What to do: leave the marker out.
        FinalNewline = "final_newline",
        /// Text beyond ASCII is inserted into a file that is not UTF-8. What to do: insert ASCII,
        /// or convert the file first.
        Encoding = "encoding",
        /// The diff ends within its last hunk (`docs/dialects.md#diffs-that-are-cut-off`). What to
        /// do: send all of it; if it is whole, `--recount`, or `@@` without numbers.
        CutOff {
            /// How many lines of the old and of the new file the numbers promise.
            promised: (u64, u64),
            /// How many of them are missing; none, if the end of the last line is.
            missing: (u64, u64),
        } = "cut_off",
    }
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ContextNotFound { nearest, named } => {
                context_not_found(f, nearest.as_deref(), named)
            }
            Self::OutsideScope { header, candidates, more } => {
                write!(f, "its old lines are in the file, but not below `@@ {header}`")?;
                places(f, candidates, *more)
            }
            Self::HeaderNotFound { header, candidates, more } => {
                write!(f, "the header `@@ {header}` names no line of the file")?;
                if candidates.is_empty() {
                    return Ok(());
                }
                f.write_str("; the old lines are")?;
                places(f, candidates, *more)
            }
            Self::MultipleMatches { candidates, more, out_of_order } => {
                f.write_str("it fits in more than one place:")?;
                places(f, candidates, *more)?;
                if *out_of_order {
                    f.write_str(", and no choice keeps the order of the hunks")?;
                }
                Ok(())
            }
            Self::OverlappingEdits { other, lines } => {
                write!(f, "it changes what hunk {} changes", other + 1)?;
                match lines {
                    Some(lines) => write!(f, " ({})", line_words(lines)),
                    None => Ok(()),
                }
            }
            Self::AlreadyApplied { lines } => {
                write!(f, "it is applied already: its new lines are at {}", line_words(lines))
            }
            Self::Indentation { lines, patch_line, contradicts } => {
                write!(f, "its old lines are at {} but for blanks, ", line_words(lines))?;
                indentation(f, *patch_line, *contradicts)
            }
            Self::NoAnchor { header: Some((line, _)), .. } => write!(
                f,
                "it only inserts, and has no context line; its header is line {line} of the file"
            ),
            Self::NoAnchor { header: None, number } => f.write_str(no_anchor(*number)),
            Self::FinalNewline => f.write_str(
                "its marker for a missing line feed does not fit: that line is not \
                             the last, or the file ends in a line feed",
            ),
            Self::CutOff { missing: (0, 0), .. } => f.write_str(
                "the diff was cut off: with this last line, the file has not the id that the diff \
                 states",
            ),
            Self::CutOff { promised: (old, new), missing } => write!(
                f,
                "the diff was cut off: the hunk promises {old} old and {new} new lines, and has {} \
                 and {}",
                old - missing.0,
                new - missing.1
            ),
            Self::Encoding if cfg!(feature = "encodings") => f.write_str(
                "it inserts text that the encoding of the file cannot \
                                           store; the file is not UTF-8",
            ),
            Self::Encoding => f.write_str(
                "the encoding of the file cannot store it, or is one that needs the feature \
                 `encodings` of patch-engine, which this program is without",
            ),
        }
    }
}

/// Describes a hunk whose old lines have no place, with the nearest one.
fn context_not_found(
    f: &mut fmt::Formatter<'_>,
    nearest: Option<&Nearest>,
    named: &[NamedLine],
) -> fmt::Result {
    let Some(nearest) = nearest else {
        f.write_str("its old lines are not in the file")?;
        return named_lines(f, named);
    };
    match &nearest.not_at {
        Some(edge) => {
            let lines = line_words(&nearest.lines);
            write!(f, "its old lines are at {lines}, and not {}", edge_words(edge))
        }
        None => write!(f, "its old lines are not in the file; {nearest}"),
    }
}

/// Says where the lines are that a hunk names.
fn named_lines(f: &mut fmt::Formatter<'_>, named: &[NamedLine]) -> fmt::Result {
    for (nth, NamedLine { line, text }) in named.iter().enumerate() {
        let before = if nth == 0 { ";" } else { "," };
        write!(f, "{before} line {line} is `{text}`")?;
    }
    Ok(())
}

/// Describes why a line of the patch cannot be indented like the file.
fn indentation(f: &mut fmt::Formatter<'_>, patch_line: u32, contradicts: bool) -> fmt::Result {
    if contradicts {
        write!(
            f,
            "but patch line {patch_line}, which has the same indentation as another line of the \
             hunk, does not have it there"
        )
    } else {
        write!(f, "which do not tell how to indent patch line {patch_line}")
    }
}

/// Describes a hunk that only inserts and has no header that is a line of the file.
fn no_anchor(number: LineNumber) -> &'static str {
    match number {
        LineNumber::None => "it only inserts, and nothing says where",
        LineNumber::NotAsked => {
            "it only inserts, and shows no line of the file: only its number says where"
        }
        LineNumber::Unsure => {
            "it only inserts, and its line number does not say where: the file has changed"
        }
    }
}

/// How many bytes the reasons of one file, or of one patch, may take before they are abridged.
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
pub struct Room {
    left: Cell<usize>,
}

impl Default for Room {
    fn default() -> Self {
        Self { left: Cell::new(ROOM) }
    }
}

impl Room {
    /// Returns the reason as it is while there is room, and abridged when there is none.
    pub fn fit(&self, mut reason: RejectReason) -> RejectReason {
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
    /// Estimates the size of the reason in bytes, without texts of the hunk itself.
    fn size(&self) -> usize {
        match self {
            Self::ContextNotFound { nearest: Some(nearest), .. } => {
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

    /// Keeps only the parts of the message, and the first differing line.
    fn abridge(&mut self) {
        match self {
            Self::ContextNotFound { nearest: Some(nearest), .. } => {
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
                // A new list: one that shrinks in place leaves gaps in memory that no other list
                // fits.
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
    /// The lines that the hunk would match. For a hunk without old lines, the line below the
    /// insertion.
    pub lines: RangeInclusive<usize>,
    /// The addition to the hunk that selects this place.
    pub advice: Option<Advice>,
}

impl Candidate {
    fn size(&self) -> usize {
        let lines = match &self.advice {
            Some(Advice::Before(lines) | Advice::After(lines)) => &lines[..],
            Some(Advice::Header(header)) => std::slice::from_ref(header),
            Some(Advice::Text { before, after }) => {
                return size_of::<Self>() + before.len() + after.len();
            }
            None => &[],
        };
        size_of::<Self>() + lines.iter().map(|line| size_of::<String>() + line.len()).sum::<usize>()
    }
}

/// The smallest addition that makes a hunk unique.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Advice {
    /// Context lines to put before the hunk's first line, ready to paste, without prefix.
    Before(Vec<String>),
    /// Context lines to put after the hunk's last line.
    After(Vec<String>),
    /// The text for an `@@` header.
    Header(String),
    /// More of the text around an edit whose text may be a part of a line.
    Text {
        /// The text to put before its texts.
        before: String,
        /// The text to put behind them.
        after: String,
    },
}

impl HunkReject {
    /// Returns whether the hunk is refused only because the file has other lines too.
    #[doc(hidden)]
    pub fn is_not_all(&self) -> bool {
        let RejectReason::ContextNotFound { nearest: Some(nearest), .. } = &self.reason else {
            return false;
        };
        matches!(nearest.not_at, Some(Edge::Bare { .. }))
    }
}

/// Whether the line number of a hunk that only inserts can place the hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineNumber {
    /// There is no line number, or none of a diff.
    None,
    /// The diff states a line number, and the rules do not let it decide.
    NotAsked,
    /// The line number would decide, but the file has changed since the diff was made: there are
    /// fewer lines, or the hunks around were found at other distances from their lines.
    Unsure,
}

/// A mark in a patch that says that a line is the last of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndMark {
    /// `*** End of File`.
    EndOfFile,
    /// `\ No newline at end of file`.
    NoNewline,
}

/// An end of a file, where a hunk says that it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edge {
    /// By `*** End of File`, or a note that the last line has no terminator.
    Marked(EndMark),
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
    /// Both: a hunk of a diff has no context at all, and the file has other lines, of which these
    /// are at most 3 above the hunk and 3 below.
    Bare {
        /// The lines above the hunk.
        above: Vec<String>,
        /// The lines below the hunk.
        below: Vec<String>,
    },
}

/// The region of the file that is most similar to the old lines of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nearest {
    /// Its lines.
    pub lines: RangeInclusive<usize>,
    /// How many of the old lines are here, in their places.
    pub agreeing: usize,
    /// How many old lines the hunk has.
    pub of: usize,
    /// The first line that differs.
    pub difference: Option<Difference>,
    /// The pass that would have matched, if there is one.
    pub pass: Option<Pass>,
    /// The damage to the hunk's lines from before the author saw them. The other fields are about
    /// the undamaged lines.
    pub mangled: Option<Mangled>,
    /// The 1-based line of the patch whose new indentation does not follow from the lines of the
    /// region. Then the pass would not do.
    pub untold: Option<u32>,
    /// Whether all old lines are in the file, but in another order or not together.
    pub scattered: bool,
    /// The end of the file that the hunk names, if its old lines stand in this region and the hunk
    /// was refused only because the region is elsewhere.
    pub not_at: Option<Edge>,
    /// The first difference that cannot be seen.
    pub unseen: Option<Unseen>,
    /// The first lines of the region, at most 12.
    pub region: Vec<Shown>,
    /// The hunk, ready to paste, with the lines of the region in place of its context and deleted
    /// lines, prefixes included, and with enough context to stand there only. Empty if the region
    /// has fewer lines, or the lines are too many.
    pub paste: Vec<String>,
}

/// A line of the file that a hunk names, and its text without the blanks around.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NamedLine {
    /// The 1-based line.
    pub line: usize,
    /// Its text.
    pub text: String,
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
    /// The first and the last differing character, 1-based; none if the hunk has this line. For a
    /// line that is shorter than the hunk's, both are one past its end.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub columns: Option<(usize, usize)>,
}

/// A line of a hunk and the line of the file in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
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

/// Says where in the file a hunk has to stand, and why.
fn edge_words(edge: &Edge) -> &'static str {
    match edge {
        Edge::Marked(_) => "at the end of the file, as the hunk says",
        Edge::End { .. } => {
            "at the end of the file, where a diff has context above a change and none below"
        }
        Edge::Start { .. } => {
            "at the beginning of the file, where a diff has a hunk that begins at line 1 and has \
             no context above its change"
        }
        Edge::Bare { .. } => "all of the file, so that a diff has to show lines around them",
    }
}

/// Describes the region, and how it differs from the old lines of the hunk.
impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(unseen) = &self.unseen
            && unseen.kind == UnseenKind::CarriageReturns
        {
            return write!(f, "{unseen}");
        }
        let one = self.lines.start() == self.lines.end();
        let (is, differ) = if one { ("is", "differs") } else { ("are", "differ") };
        match self.mangled {
            Some(Mangled::LineNumbers) => {
                f.write_str("line numbers stand before its lines: leave them out; without them ")?;
            }
            Some(Mangled::Entities) => f.write_str(
                "it has HTML entities (such as `&lt;`) where the file has the characters; with \
                 these ",
            )?,
            Some(Mangled::LeftOut) => f.write_str(
                "`...` is no line of the file, and old lines have to be whole, with none left out; ",
            )?,
            Some(Mangled::EmptyLine) => {
                f.write_str("an empty context line stands at its end: leave it out; without it ")?;
            }
            Some(Mangled::Tabs) => {
                f.write_str("it has `\\t` where the file has tabs; with these ")?;
            }
            None => {}
        }
        write!(f, "nearest {is} {}, ", line_words(&self.lines))?;
        match (self.pass, self.agreeing, self.of) {
            (Some(Pass::Trailing), ..) => write!(f, "which {differ} only in blanks at line ends"),
            (Some(Pass::Unicode), ..) => {
                write!(f, "which {differ} only in blanks and typographic punctuation")
            }
            (Some(_), ..) => write!(f, "which {differ} only in blanks"),
            (None, 0, 1) => f.write_str("which is different"),
            (None, 0, of) => write!(f, "where none of {of} agrees"),
            (None, 1, of) => write!(f, "where 1 of {of} agrees"),
            (None, agreeing, of) => write!(f, "where {agreeing} of {of} agree"),
        }?;
        if let Some(line) = self.untold {
            let do_not = if one { "does not" } else { "do not" };
            write!(f, ", and {do_not} tell how to indent patch line {line}")?;
        }
        if self.pass.is_none() && self.scattered {
            f.write_str(" (all of them are in the file, but in another order or not together)")?;
        }
        if let Some(unseen) = &self.unseen {
            write!(f, "; {unseen}")?;
        }
        Ok(())
    }
}

/// Formats lines as `line 3`, or `lines 3-5`.
#[must_use]
pub fn line_words(lines: &RangeInclusive<usize>) -> String {
    match (lines.start(), lines.end()) {
        (first, last) if first == last => format!("line {first}"),
        (first, last) => format!("lines {first}-{last}"),
    }
}

fn places(f: &mut fmt::Formatter<'_>, candidates: &[Candidate], more: bool) -> fmt::Result {
    for (nth, candidate) in candidates.iter().take(NAMED).enumerate() {
        let first = candidate.lines.start();
        let last = candidate.lines.end();
        f.write_str(match (nth, candidates.len(), first == last) {
            (0, 1, true) => " line ",
            (0, ..) => " lines ",
            _ => ", ",
        })?;
        if first == last { write!(f, "{first}")? } else { write!(f, "{first}-{last}")? }
    }
    match candidates.len() {
        len if more && len <= NAMED => f.write_str(" and others"),
        len if more => write!(f, " and more than {} others", len.saturating_sub(NAMED)),
        len if len > NAMED => write!(f, " and {} others", len - NAMED),
        _ => Ok(()),
    }
}
