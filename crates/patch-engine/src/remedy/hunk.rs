//! The remedies for a hunk that was not placed.

use std::ops::RangeInclusive;

use patch_text::locate::hints::{HunkPart, HunkRemedy, HunkRule};
use patch_text::locate::{NamedLine, RejectReason};

use super::{ForPerson, Part, Remedy, Setting};

impl Remedy {
    /// To read the lines of a file from one on that a hunk names.
    #[must_use]
    pub fn read_around(path: &str, named: &NamedLine) -> Self {
        Self::read_lines(path, &named.around())
    }

    /// To read lines of a file again.
    pub(crate) fn read_lines(path: &str, lines: &RangeInclusive<usize>) -> Self {
        Self::ReadAgain { path: path.into(), lines: Some(lines.clone()) }
    }

    /// Returns the remedies for a hunk that was not placed in the file at `path`.
    #[must_use]
    pub fn of_hunk(reason: &RejectReason, path: &str) -> Vec<Self> {
        reason.remedies().into_iter().map(|remedy| in_file(remedy, path)).collect()
    }
}

/// The remedy for a hunk of the file at `path`.
fn in_file(remedy: HunkRemedy, path: &str) -> Remedy {
    match remedy {
        HunkRemedy::ReadAgain(lines) => Remedy::ReadAgain { path: path.into(), lines },
        HunkRemedy::ReplaceHunk(lines) => Remedy::ReplaceHunk { lines },
        HunkRemedy::AddContext { means_line, bare, below, lines } => {
            Remedy::AddContext { means_line, bare, below, lines }
        }
        HunkRemedy::AddText { means_line, before, after } => {
            Remedy::AddText { means_line, before, after }
        }
        HunkRemedy::UseHeader { means_line, header } => Remedy::UseHeader { means_line, header },
        HunkRemedy::LeaveOut(part) => Remedy::LeaveOut(part.into()),
        HunkRemedy::Join(other) => Remedy::Join { other },
        HunkRemedy::SendAgain => Remedy::SendAgain,
        HunkRemedy::Set(HunkRule::AllPlaces) => Remedy::set("replace_all", true),
        HunkRemedy::Set(HunkRule::Fuzz(pass)) => Remedy::Set(Setting::Fuzz(pass)),
        HunkRemedy::Set(HunkRule::UnidiffZero) => Remedy::Set(Setting::UnidiffZero),
        HunkRemedy::Set(HunkRule::FirstPlace) => Remedy::Set(Setting::FirstPlace),
        HunkRemedy::Set(HunkRule::SkipApplied) => Remedy::Set(Setting::SkipApplied),
        HunkRemedy::Set(HunkRule::ByHeaders) => Remedy::Set(Setting::Codex),
        HunkRemedy::Set(HunkRule::Recount) => Remedy::Set(Setting::Recount),
        HunkRemedy::NameCharset => Remedy::Ask(ForPerson::Allow(Setting::Encoding(path.into()))),
        HunkRemedy::ConvertLineEnds => {
            Remedy::Ask(ForPerson::Own("convert the line ends of the file to LF".into()))
        }
    }
}

impl From<HunkPart> for Part {
    fn from(part: HunkPart) -> Self {
        match part {
            HunkPart::Whole => Self::Hunk,
            HunkPart::EndOfFile => Self::EndOfFile,
            HunkPart::NoNewline => Self::NoNewline,
            HunkPart::NotAscii => Self::NotAscii,
            HunkPart::Numbers => Self::Numbers,
            HunkPart::Ids => Self::Ids,
            HunkPart::Unreadable => Self::Unreadable,
        }
    }
}
