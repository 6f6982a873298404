//! The changes of files, by the words of the audit log.

use serde::{Deserialize, Serialize};

/// A change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// The file is created.
    Create,
    /// All bytes of the file are replaced.
    Write,
    /// Parts of the file are replaced.
    Edit,
    /// The file is deleted.
    Delete,
    /// The file is moved.
    Move,
    /// A patch changes the file, or a patch as a whole failed.
    Patch,
}

impl Operation {
    /// Returns the word in a line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Patch => "patch",
        }
    }
}
