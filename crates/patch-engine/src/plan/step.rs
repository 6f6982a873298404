//! A section as one step of a plan: read once, before any file is looked at.

use fs_guard::{Access, FileKind};
use patch_grammar::binary::Binary;
use patch_grammar::{AddedLines, Hunk, Section, SectionOperation, Spanned, Submodule};

use crate::plan::prefetch::{Prefetched, access_of};
use crate::plan::reject::{Problem, Reject};

/// The part of a section to plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionPart {
    Whole,
    /// The file goes away: deleted, or edited and taken from its path.
    Taking,
    /// The file comes to its path. An update in place is this alone.
    Putting,
}

/// The change of a file by a section, or by one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Add,
    Delete,
    Update,
    Copy,
    Move,
    /// The first part of a move.
    Take,
    /// The second part.
    Put,
}

impl Deed {
    /// Returns the change of a part, if the section has such a part.
    pub(super) fn of(section: &Section<'_>, part: SectionPart) -> Option<Self> {
        let is_taking = part == SectionPart::Taking;
        match (&section.operation, part) {
            (SectionOperation::Delete(_), SectionPart::Putting) => None,
            (SectionOperation::Delete(_), _) => Some(Self::Delete),
            (SectionOperation::Update { move_to: Some(_), .. }, part) => Some(match part {
                SectionPart::Whole => Self::Move,
                SectionPart::Taking => Self::Take,
                SectionPart::Putting => Self::Put,
            }),
            _ if is_taking => None,
            (SectionOperation::Add(_), _) => Some(Self::Add),
            (SectionOperation::Update { .. }, _) => Some(Self::Update),
            (SectionOperation::Copy { .. }, _) => Some(Self::Copy),
        }
    }
}

/// The contents for a file, or the kind of a file other than text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Contents<'p> {
    /// None: the file stays unchanged, or is deleted unseen.
    AsItIs,
    Added(&'p AddedLines<'p>),
    Hunks(&'p [Hunk<'p>]),
    Binary(&'p Binary<'p>),
    Link,
    Submodule(Submodule<'p>),
    /// A submodule, or a directory, moved as a whole.
    SubmoduleAsItIs,
}

impl<'p> Contents<'p> {
    /// Returns the contents of a section. `kind` is the kind of a file on disk that the section
    /// does not describe.
    fn of(section: &'p Section<'p>, kind: Option<FileKind>) -> Self {
        let is_move =
            matches!(section.operation, SectionOperation::Update { move_to: Some(_), .. });
        match (&section.operation, kind) {
            _ if let Some(submodule) = section.submodule => Self::Submodule(submodule),
            (_, Some(FileKind::Symlink)) => Self::Link,
            (_, Some(FileKind::Submodule | FileKind::Directory)) if is_move => {
                Self::SubmoduleAsItIs
            }
            _ if let Some(binary) = &section.binary => Self::Binary(binary),
            (SectionOperation::Add(lines), _) => Self::Added(lines),
            // Without a line, the deleted file has none.
            (SectionOperation::Delete(Some(hunks)), _) => Self::Hunks(hunks),
            _ if section.hunks().is_empty() => Self::AsItIs,
            _ => Self::Hunks(section.hunks()),
        }
    }
}

/// A section, or one part, with everything stated there.
#[derive(Debug)]
pub(super) struct Step<'p> {
    pub(super) index: usize,
    pub(super) section: &'p Section<'p>,
    pub(super) deed: Deed,
    pub(super) contents: Contents<'p>,
    pub(super) access: Access,
    /// The path of the file.
    pub(super) at: &'p Spanned<'p>,
    /// The path afterwards: a new one for a moved file or a copy.
    pub(super) to: &'p Spanned<'p>,
    pub(super) executable: Option<bool>,
    /// The work done ahead.
    pub(super) prefetched: Option<Prefetched>,
}

impl<'p> Step<'p> {
    pub(super) fn of(
        index: usize,
        section: &'p Section<'p>,
        deed: Deed,
        kind: Option<FileKind>,
    ) -> Self {
        Self {
            index,
            section,
            deed,
            contents: Contents::of(section, kind),
            access: access_of(section),
            at: &section.path,
            to: section.destination().unwrap_or(&section.path),
            executable: section.executable,
            prefetched: None,
        }
    }

    /// Makes a reject of the step's path.
    pub(super) fn reject(&self, problem: Problem) -> Reject {
        Reject::of(&self.at.text, problem)
    }
}
