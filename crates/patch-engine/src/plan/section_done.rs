//! The effect of a section that is applied already.

use std::fmt;

/// The effect of a section that is applied already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum SectionDone {
    /// It makes a file.
    Made,
    /// It deletes one.
    Deleted,
    /// It moves one.
    Moved,
    /// It copies one.
    Copied,
    /// It brings a submodule to a commit.
    AtCommit,
}

impl fmt::Display for SectionDone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Made => "the file is there with just these bytes",
            Self::Deleted => "there is no such file any more",
            Self::Moved => "the file has moved",
            Self::Copied => "the copy is there",
            Self::AtCommit => "the submodule is at this commit",
        })
    }
}
