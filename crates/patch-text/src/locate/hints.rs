//! What the author of a hunk that was not placed can do, as data and in words.

use std::fmt;
use std::ops::RangeInclusive;

use super::pass::Pass;
use super::reject::{
    Advice, Candidate, Edge, EndMark, HunkReject, LineNumber, NamedLine, Nearest, RejectReason,
    line_words,
};
use super::unseen::{Unseen, UnseenKind};

/// The most candidate places that get a remedy of their own.
pub const MAX_PLACES: usize = 3;

/// One thing to do about a hunk that was not placed. Several are alternatives, the best one first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HunkRemedy {
    /// Read the file again and write the hunk against what is there; `None` for the whole file.
    ReadAgain(Option<RangeInclusive<usize>>),
    /// Take these lines in place of the hunk's, with their prefixes.
    ReplaceHunk(Vec<String>),
    /// Put these lines into the hunk: then it means one place.
    AddContext {
        /// The line of that place in the file.
        means_line: usize,
        /// Whether to leave out the text after `@@` too.
        bare: bool,
        /// Below the hunk's last line; otherwise above its first.
        below: bool,
        /// The lines, without their prefix.
        lines: Vec<String>,
    },
    /// Put more of the file around the old text, and around the new one too.
    AddText {
        /// The line of that place in the file.
        means_line: usize,
        /// The text to put before both.
        before: String,
        /// The text to put after both.
        after: String,
    },
    /// Begin the hunk with this header: then it means one place.
    UseHeader {
        /// The line of that place in the file.
        means_line: usize,
        /// The text after `@@`; `None` to leave it out.
        header: Option<String>,
    },
    /// Leave a part out.
    LeaveOut(HunkPart),
    /// Write this hunk and another one, counted from 1, as one.
    Join(usize),
    /// Send the whole of a text that was cut off, or send it in parts.
    SendAgain,
    /// Place it by another rule.
    Set(HunkRule),
    /// Say which charset the file has.
    NameCharset,
    /// Convert the line ends of the file to LF.
    ConvertLineEnds,
}

/// A part of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HunkPart {
    /// All of it: it is applied already.
    Whole,
    /// `*** End of File`.
    EndOfFile,
    /// `\ No newline at end of file`.
    NoNewline,
    /// Letters beyond ASCII.
    NotAscii,
    /// The numbers after `@@`.
    Numbers,
    /// The `index` line of its diff.
    Ids,
    /// A context line that shows bytes by U+FFFD.
    Unreadable,
}

/// A rule of placement by which a hunk has a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HunkRule {
    /// This difference between a hunk and the file is accepted.
    Fuzz(Pass),
    /// The line numbers of a diff without context decide.
    UnidiffZero,
    /// The first of several places is taken.
    FirstPlace,
    /// All places of a text are taken.
    AllPlaces,
    /// Hunks that are applied already are left out.
    SkipApplied,
    /// Headers decide.
    ByHeaders,
    /// The numbers of the last hunk are ignored.
    Recount,
}

impl HunkReject {
    /// Returns sentences for the model or person who wrote the patch: what can be done, the best
    /// one first. Lines to copy stand below a sentence, each on a line of its own. Other rules of
    /// placement are not named: they are up to the program.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        self.reason.remedies().iter().filter_map(HunkRemedy::words).collect()
    }
}

impl fmt::Display for HunkReject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hunk, patch_line, reason } = self;
        write!(f, "hunk {} (patch line {patch_line}): {reason}", hunk + 1)
    }
}

impl std::error::Error for HunkReject {}

impl RejectReason {
    /// Returns what can be done, the best one first.
    #[must_use]
    #[doc(hidden)]
    pub fn remedies(&self) -> Vec<HunkRemedy> {
        use HunkRemedy::*;
        match self {
            Self::ContextNotFound { nearest: Some(nearest), .. } => of_nearest(nearest),
            Self::ContextNotFound { nearest: None, named } if !named.is_empty() => {
                named.iter().map(|named| ReadAgain(Some(named.around()))).collect()
            }
            Self::MultipleMatches { candidates, .. } => {
                let rule = Set(HunkRule::FirstPlace);
                // No lines around them tell the places apart.
                some(of_places(candidates, false)).unwrap_or_else(|| vec![rule])
            }
            Self::OutsideScope { candidates, .. } | Self::HeaderNotFound { candidates, .. } => {
                // Without its header, which would lead elsewhere again.
                some(of_places(candidates, true)).unwrap_or_else(|| {
                    vec![match &candidates[..] {
                        [place] => UseHeader { means_line: *place.lines.start(), header: None },
                        [place, ..] => ReadAgain(Some(place.lines.clone())),
                        [] => ReadAgain(None),
                    }]
                })
            }
            Self::Indentation { lines, .. } => vec![ReadAgain(Some(lines.clone()))],
            Self::OverlappingEdits { other, .. } => vec![Join(other + 1)],
            Self::AlreadyApplied { .. } => {
                vec![LeaveOut(HunkPart::Whole), Set(HunkRule::SkipApplied)]
            }
            Self::NoAnchor { header: Some((means_line, line)), .. } => {
                let lines = vec![line.clone()];
                let context =
                    AddContext { means_line: *means_line, bare: false, below: false, lines };
                vec![context, Set(HunkRule::ByHeaders)]
            }
            Self::NoAnchor { header: None, number: LineNumber::NotAsked } => {
                vec![Set(HunkRule::UnidiffZero), ReadAgain(None)]
            }
            Self::ContextNotFound { nearest: None, .. } | Self::NoAnchor { header: None, .. } => {
                vec![ReadAgain(None)]
            }
            Self::FinalNewline => vec![LeaveOut(HunkPart::NoNewline)],
            Self::CutOff { missing: (0, 0), .. } => vec![SendAgain, LeaveOut(HunkPart::Ids)],
            Self::CutOff { .. } => {
                vec![SendAgain, Set(HunkRule::Recount), LeaveOut(HunkPart::Numbers)]
            }
            Self::Encoding => vec![LeaveOut(HunkPart::NotAscii), NameCharset],
        }
    }
}

impl NamedLine {
    /// Returns the lines of the file to read: from this one on.
    #[doc(hidden)]
    #[must_use]
    pub fn around(&self) -> RangeInclusive<usize> {
        /// How many lines further.
        const READ: usize = 15;
        self.line..=self.line + READ
    }
}

fn some(remedies: Vec<HunkRemedy>) -> Option<Vec<HunkRemedy>> {
    (!remedies.is_empty()).then_some(remedies)
}

/// The remedies for a hunk that is not in the file, but nearly.
fn of_nearest(nearest: &Nearest) -> Vec<HunkRemedy> {
    let read = HunkRemedy::ReadAgain(Some(nearest.lines.clone()));
    if let Some(edge) = &nearest.not_at {
        let bare = matches!(edge, Edge::Bare { .. });
        let zero = bare.then_some(HunkRemedy::Set(HunkRule::UnidiffZero));
        let elsewhere = within(edge, *nearest.lines.start());
        // With the marker, the same lines would be refused again.
        let marker = elsewhere == HunkRemedy::LeaveOut(HunkPart::NoNewline);
        let read = (!marker).then_some(read);
        return zero.into_iter().chain([elsewhere]).chain(read).collect();
    }
    if let Some(remedies) = nearest.unseen.as_ref().and_then(of_unseen) {
        return remedies;
    }
    let paste = (!nearest.paste.is_empty()).then(|| HunkRemedy::ReplaceHunk(nearest.paste.clone()));
    let pass = nearest.pass.filter(|_| nearest.untold.is_none());
    let fuzz = pass.map(|pass| HunkRemedy::Set(HunkRule::Fuzz(pass)));
    paste.into_iter().chain([read]).chain(fuzz).collect()
}

/// The remedies for a difference that another look does not show either.
fn of_unseen(unseen: &Unseen) -> Option<Vec<HunkRemedy>> {
    match unseen.kind {
        UnseenKind::Replacement => {
            Some(vec![HunkRemedy::LeaveOut(HunkPart::Unreadable), HunkRemedy::NameCharset])
        }
        UnseenKind::Charset => Some(vec![HunkRemedy::NameCharset]),
        UnseenKind::CarriageReturns => Some(vec![HunkRemedy::ConvertLineEnds]),
        _ => None,
    }
}

/// The remedies for a hunk that fits in several places; `bare` if its header has to go.
fn of_places(candidates: &[Candidate], bare: bool) -> Vec<HunkRemedy> {
    let remedies = candidates.iter().filter_map(|place| chosen(place, bare));
    let mut remedies: Vec<_> = remedies.take(MAX_PLACES).collect();
    if remedies.iter().any(|remedy| matches!(remedy, HunkRemedy::AddText { .. })) {
        remedies.push(HunkRemedy::Set(HunkRule::AllPlaces));
    }
    remedies
}

/// Returns what makes a hunk mean this place.
fn chosen(place: &Candidate, bare: bool) -> Option<HunkRemedy> {
    let means_line = *place.lines.start();
    Some(match place.advice.as_ref()? {
        Advice::Before(lines) => {
            HunkRemedy::AddContext { means_line, bare, below: false, lines: lines.clone() }
        }
        Advice::After(lines) => {
            HunkRemedy::AddContext { means_line, bare, below: true, lines: lines.clone() }
        }
        Advice::Header(header) => {
            HunkRemedy::UseHeader { means_line, header: Some(header.clone()) }
        }
        Advice::Text { before, after } => {
            HunkRemedy::AddText { means_line, before: before.clone(), after: after.clone() }
        }
    })
}

/// Returns what makes a hunk stand elsewhere than at an end of the file.
fn within(edge: &Edge, means_line: usize) -> HunkRemedy {
    let (below, lines) = match edge {
        Edge::Marked(EndMark::EndOfFile) => return HunkRemedy::LeaveOut(HunkPart::EndOfFile),
        Edge::Marked(EndMark::NoNewline) => return HunkRemedy::LeaveOut(HunkPart::NoNewline),
        Edge::End { below } => (true, below),
        Edge::Bare { above, below } if below.is_empty() => (false, above),
        Edge::Bare { below, .. } => (true, below),
        Edge::Start { above } => (false, above),
    };
    HunkRemedy::AddContext { means_line, bare: false, below, lines: lines.clone() }
}

impl HunkRemedy {
    /// Words the remedy; `None` for a rule, which is up to the program.
    fn words(&self) -> Option<String> {
        Some(match self {
            Self::ReadAgain(None) => {
                "read the file again and write the change for what is there now".into()
            }
            Self::ReadAgain(Some(lines)) => format!(
                "read {} of the file again and copy the context and the removed lines from there",
                line_words(lines)
            ),
            Self::ReplaceHunk(lines) => paste_words(lines),
            Self::AddContext { means_line, bare, below, lines } => {
                context_words(*means_line, bare.then_some("@@"), *below, &as_context(lines))
            }
            Self::AddText { means_line, before, after } => {
                search_words(*means_line, before, after, |text| format!("{text:?}"))
            }
            Self::UseHeader { means_line, header } => {
                header_words(*means_line, &header_line(header.as_deref()))
            }
            Self::LeaveOut(part) => part.words().into(),
            Self::Join(other) => format!("write hunk {other} and this one as one hunk"),
            Self::SendAgain => format!("send {SEND_AGAIN}"),
            Self::Set(_) => return None,
            Self::NameCharset => "ask the person in charge which charset the file has".into(),
            Self::ConvertLineEnds => {
                "ask the person in charge to convert the line ends of the file to LF".into()
            }
        })
    }
}

impl HunkPart {
    /// Says that the part is to be left out.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Whole => "leave the hunk out: it is done already",
            Self::EndOfFile => "leave `*** End of File` out if these lines are meant",
            Self::NoNewline => "leave `\\ No newline at end of file` out",
            Self::NotAscii => "insert ASCII only",
            Self::Numbers => "leave out the numbers after its last `@@`, if it is whole",
            Self::Ids => "leave out its last `index` line, if it is whole",
            Self::Unreadable => "leave the line with U+FFFD out, if it is context",
        }
    }
}

/// The text to send in place of one that was cut off.
pub const SEND_AGAIN: &str =
    "the whole patch again; if it is too long for one answer, send several smaller ones";

/// Writes lines to copy, each on a line of its own.
pub fn block(lines: impl IntoIterator<Item: AsRef<str>>) -> String {
    lines.into_iter().flat_map(|line| ["\n".to_owned(), line.as_ref().to_owned()]).collect()
}

/// Writes lines as the context lines of a hunk.
#[must_use]
pub fn as_context(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| format!(" {line}")).collect()
}

/// Writes the first line of a hunk, with the text after `@@` or without.
#[must_use]
pub fn header_line(header: Option<&str>) -> String {
    header.map_or_else(|| "@@".into(), |header| format!("@@ {header}"))
}

/// Offers lines, or a SEARCH/REPLACE block, in place of those that were sent.
#[must_use]
pub fn paste_words(lines: &[String]) -> String {
    let is_block = lines.first().is_some_and(|line| line.starts_with('<'));
    let what = if is_block { "block" } else { "hunk's lines" };
    format!("if that place is meant, take for the {what}:{}", block(lines))
}

/// Says which lines to put into a hunk. `lines` have their prefix.
#[must_use]
pub fn context_words(
    means_line: usize,
    header: Option<&str>,
    is_below: bool,
    lines: &[String],
) -> String {
    let header = header.map(|line| format!("begin the hunk with `{line}` alone, and "));
    let header = header.unwrap_or_default();
    let side = if is_below { "below the hunk's last line" } else { "above the hunk's first line" };
    format!("to mean line {means_line}, {header}put {side}:{}", block(lines))
}

/// Says which line to begin a hunk with.
#[must_use]
pub fn header_words(means_line: usize, header: &str) -> String {
    if header == "@@" {
        return format!("leave the text after `@@` out if line {means_line} is meant");
    }
    format!("to mean line {means_line}, begin the hunk with:{}", block([header]))
}

/// Says which lines to put into both parts of a SEARCH/REPLACE block, or which text before or
/// behind both texts of an edit, as `quoted` writes it.
#[must_use]
pub fn search_words(
    means_line: usize,
    before: &str,
    after: &str,
    quoted: fn(&str) -> String,
) -> String {
    // The text of an edit begins or ends within a line.
    if [before, after].iter().any(|text| !text.is_empty() && !text.ends_with('\n')) {
        let (side, text) = if after.is_empty() { ("before", before) } else { ("behind", after) };
        let text = quoted(text);
        return format!(
            "to mean line {means_line}, put {text} {side} both the old and the new text"
        );
    }
    let (side, text) = if after.is_empty() { ("above", before) } else { ("below", after) };
    let lines = block(text.lines());
    format!("to mean line {means_line}, put {side} the lines of both SEARCH and REPLACE:{lines}")
}

#[cfg(test)]
mod tests {
    use patch_grammar::{ParseOptions, parse};

    use crate::{FinalNewline, HunkReject, Rules, edit};

    fn refused(file: &str, hunk: &str) -> HunkReject {
        let patch = format!("*** Begin Patch\n*** Update File: f\n{hunk}*** End Patch\n");
        let patch = parse(&patch, &ParseOptions::default()).expect("a patch");
        let hunks = patch.sections()[0].hunks();
        let rules = Rules::default();
        let refused = edit(file.as_bytes(), hunks, &rules, FinalNewline::Keep);
        refused.expect_err("it is refused").remove(0)
    }

    #[test]
    fn each_hint_is_a_sentence_with_the_lines_to_copy() {
        for (file, hunk, wanted) in [
            (
                "a\nx\nb\nx\n",
                "@@\n-x\n+y\n",
                &[
                    "to mean line 2, put above the hunk's first line:\n a",
                    "to mean line 4, put above the hunk's first line:\n b",
                ][..],
            ),
            (
                "one two\nthree\n",
                "@@\n-one  two\n+1\n three\n",
                &[
                    "if that place is meant, take for the hunk's lines:\n-one two\n+1\n three",
                    "read lines 1-2 of the file again and copy the context and the removed lines \
                     from there",
                ],
            ),
            (
                "one\ny\nthree\n",
                "@@\n one\n-x\n+y\n three\n",
                &["leave the hunk out: it is done already"],
            ),
            (
                "a\n",
                "@@\n-x\n+y\n",
                &["read the file again and write the change for what is there now"],
            ),
            (
                "x\nz\n",
                "@@\n-x\n+y\n*** End of File\n",
                &[
                    "leave `*** End of File` out if these lines are meant",
                    "read line 1 of the file again and copy the context and the removed lines from \
                     there",
                ],
            ),
        ] {
            let refused = refused(file, hunk);
            assert_eq!(refused.hints(), wanted, "{refused}");
            assert!(refused.to_string().starts_with("hunk 1 (patch line 3): it"), "{refused}");
        }
    }
}
