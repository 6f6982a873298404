//! The remedies for a hunk that was not placed.

use std::ops::RangeInclusive;

use patch_text::locate::{
    Advice, Candidate, Edge, EndMark, LineNumber, NamedLine, Nearest, RejectReason, Unseen,
    UnseenKind,
};

use super::{ForPerson, MAX_PLACES, Part, Remedy, Setting};

impl Remedy {
    /// To read the lines of a file from one on that a hunk names.
    #[must_use]
    pub fn read_around(path: &str, named: &NamedLine) -> Self {
        /// How many lines further.
        const READ: usize = 15;
        Self::ReadAgain { path: path.into(), lines: Some(named.line..=named.line + READ) }
    }

    /// To read lines of a file again.
    pub(crate) fn read_lines(path: &str, lines: &RangeInclusive<usize>) -> Self {
        Self::ReadAgain { path: path.into(), lines: Some(lines.clone()) }
    }

    /// Returns the remedies for a hunk that was not placed in the file at `path`.
    #[must_use]
    pub fn of_hunk(reason: &RejectReason, path: &str) -> Vec<Self> {
        vec![match reason {
            RejectReason::ContextNotFound { nearest: Some(nearest), .. } => {
                return of_nearest(nearest, path);
            }
            RejectReason::MultipleMatches { candidates, .. }
            | RejectReason::OutsideScope { candidates, .. }
            | RejectReason::HeaderNotFound { candidates, .. } => {
                // Without its header, which would lead elsewhere again.
                let bare = !matches!(reason, RejectReason::MultipleMatches { .. });
                return of_places(reason, candidates, bare, path);
            }
            RejectReason::Indentation { lines, .. } => Remedy::read_lines(path, lines),
            RejectReason::OverlappingEdits { other, .. } => Remedy::Join { other: other + 1 },
            RejectReason::AlreadyApplied { .. } => {
                return vec![Remedy::LeaveOut(Part::Hunk), Remedy::Set(Setting::SkipApplied)];
            }
            RejectReason::NoAnchor { header: Some((means_line, line)), .. } => {
                return vec![
                    Remedy::AddContext {
                        means_line: *means_line,
                        bare: false,
                        below: false,
                        lines: vec![line.clone()],
                    },
                    Remedy::Set(Setting::Codex),
                ];
            }
            RejectReason::NoAnchor { header: None, number: LineNumber::NotAsked } => {
                return vec![Remedy::Set(Setting::UnidiffZero), Remedy::read_again(path)];
            }
            RejectReason::ContextNotFound { nearest: None, named } if !named.is_empty() => {
                return named.iter().map(|named| Remedy::read_around(path, named)).collect();
            }
            RejectReason::ContextNotFound { nearest: None, .. }
            | RejectReason::NoAnchor { header: None, .. } => Remedy::read_again(path),
            RejectReason::FinalNewline => Remedy::LeaveOut(Part::NoNewline),
            RejectReason::CutOff { missing: (0, 0), .. } => {
                return vec![Remedy::SendAgain, Remedy::LeaveOut(Part::Ids)];
            }
            RejectReason::CutOff { .. } => return Remedy::of_cut_off(),
            RejectReason::Encoding => {
                return vec![
                    Remedy::LeaveOut(Part::NotAscii),
                    Remedy::Ask(ForPerson::Allow(Setting::Encoding(path.into()))),
                ];
            }
            // A new reason has its remedy here: the feature is on wherever remedies are worded.
            #[cfg(not(feature = "exhaustive"))]
            _ => Remedy::read_again(path),
        }]
    }
}

/// The remedies for a hunk that is not in the file, but nearly.
fn of_nearest(nearest: &Nearest, path: &str) -> Vec<Remedy> {
    if let Some(edge) = &nearest.not_at {
        let bare = matches!(edge, Edge::Bare { .. });
        let zero = bare.then_some(Remedy::Set(Setting::UnidiffZero));
        let elsewhere = within(edge, *nearest.lines.start());
        // With the marker, the same lines would be refused again.
        let marker = elsewhere == Remedy::LeaveOut(Part::NoNewline);
        let read = (!marker).then(|| Remedy::read_lines(path, &nearest.lines));
        return zero.into_iter().chain([elsewhere]).chain(read).collect();
    }
    if let Some(remedies) = nearest.unseen.as_ref().and_then(|one| of_unseen(one, path)) {
        return remedies;
    }
    let paste =
        (!nearest.paste.is_empty()).then(|| Remedy::ReplaceHunk { lines: nearest.paste.clone() });
    let pass = nearest.pass.filter(|_| nearest.untold.is_none());
    let fuzz = pass.map(|pass| Remedy::Set(Setting::Fuzz(pass)));
    let read = Remedy::read_lines(path, &nearest.lines);
    paste.into_iter().chain([read]).chain(fuzz).collect()
}

/// The remedies for a hunk that fits in several places, or in none that its header allows; `bare`
/// if its header has to go.
fn of_places(
    reason: &RejectReason,
    candidates: &[Candidate],
    bare: bool,
    path: &str,
) -> Vec<Remedy> {
    let remedies = candidates.iter().filter_map(|place| chosen(place, bare));
    let mut remedies: Vec<_> = remedies.take(MAX_PLACES).collect();
    if remedies.iter().any(|remedy| matches!(remedy, Remedy::AddText { .. })) {
        remedies.push(Remedy::set("replace_all", true));
    }
    if !remedies.is_empty() {
        return remedies;
    }
    vec![match (reason, candidates) {
        // No lines around them tell the places apart.
        (RejectReason::MultipleMatches { .. }, _) => Remedy::Set(Setting::FirstPlace),
        (_, [place]) => Remedy::UseHeader { means_line: *place.lines.start(), header: None },
        (_, [place, ..]) => Remedy::read_lines(path, &place.lines),
        (_, []) => Remedy::read_again(path),
    }]
}

/// The remedies for a difference that another look does not show either.
fn of_unseen(unseen: &Unseen, path: &str) -> Option<Vec<Remedy>> {
    let encoding = Remedy::Ask(ForPerson::Allow(Setting::Encoding(path.into())));
    match unseen.kind {
        UnseenKind::Replacement => Some(vec![Remedy::LeaveOut(Part::Unreadable), encoding]),
        UnseenKind::Charset => Some(vec![encoding]),
        UnseenKind::CarriageReturns => {
            let convert = "convert the line ends of the file to LF".into();
            Some(vec![Remedy::Ask(ForPerson::Own(convert))])
        }
        _ => None,
    }
}

/// Returns what makes a hunk mean this place; `bare` if its header has to go.
fn chosen(place: &Candidate, bare: bool) -> Option<Remedy> {
    let means_line = *place.lines.start();
    Some(match place.advice.as_ref()? {
        Advice::Before(lines) => {
            Remedy::AddContext { means_line, bare, below: false, lines: lines.clone() }
        }
        Advice::After(lines) => {
            Remedy::AddContext { means_line, bare, below: true, lines: lines.clone() }
        }
        Advice::Header(header) => Remedy::UseHeader { means_line, header: Some(header.clone()) },
        Advice::Text { before, after } => {
            Remedy::AddText { means_line, before: before.clone(), after: after.clone() }
        }
        #[cfg(not(feature = "exhaustive"))]
        _ => return None,
    })
}

/// Returns what makes a hunk stand elsewhere than at an end of the file.
fn within(edge: &Edge, means_line: usize) -> Remedy {
    let (below, lines) = match edge {
        Edge::Marked(EndMark::EndOfFile) => return Remedy::LeaveOut(Part::EndOfFile),
        Edge::Marked(EndMark::NoNewline) => return Remedy::LeaveOut(Part::NoNewline),
        Edge::End { below } => (true, below),
        Edge::Bare { above, below } if below.is_empty() => (false, above),
        Edge::Bare { below, .. } => (true, below),
        Edge::Start { above } => (false, above),
    };
    Remedy::AddContext { means_line, bare: false, below, lines: lines.clone() }
}
