//! What a commit will do, as a value: path transitions, and the same as a person counts.

use std::collections::HashMap;
use std::sync::Arc;

use fs_guard::{RelPath, Sha256};
use patch_grammar::Warning;

use crate::locate::{Note, Placed};
use crate::transition::Transition;

/// What a commit will do: nothing else, and all of it.
#[derive(Debug)]
pub struct Plan {
    /// The paths that change: those that appear or are replaced in the order of the patch, then
    /// those that go away.
    pub transitions: Vec<Transition>,
    /// Directories to be created, outermost first.
    pub create_dirs: Vec<RelPath>,
    /// Directories that go when they are empty in the end, innermost first.
    pub remove_dirs: Vec<RelPath>,
    /// The same as a person counts: a move is one change.
    pub changes: Vec<Change>,
    /// How many hunks the patch has.
    pub hunk_count: usize,
    /// Where each hunk went, with its section.
    pub placed: Vec<(usize, Placed)>,
    /// What was overlooked, and what a reader should know.
    pub notes: Vec<PlanNote>,
    /// Pre-images that are still in memory.
    pub(crate) pre_images: HashMap<RelPath, Arc<Vec<u8>>>,
}

/// One change as a person counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What happens.
    pub operation: Operation,
    /// The file before; for a new file, the new one.
    pub path: RelPath,
    /// Where a moved file goes.
    pub to_path: Option<RelPath>,
    /// Its hash before.
    pub before: Option<Sha256>,
    /// Its hash after.
    pub after: Option<Sha256>,
    /// The transition that makes the new file, or removes the old one of a deletion.
    pub transition: usize,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// It appears.
    Create,
    /// Its bytes change.
    Update,
    /// It goes away.
    Delete,
    /// It has another path, and maybe other bytes.
    Move,
}

impl Operation {
    /// The stable name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Move => "move",
        }
    }
}

/// Something about a plan that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanNote {
    /// Something in the text was overlooked.
    Text(Warning),
    /// A hunk was placed in a way that is worth a word.
    Hunk {
        /// The file.
        path: String,
        /// The 0-based hunk of its section.
        hunk: usize,
        /// The word.
        note: Note,
    },
    /// A section changes nothing.
    Unchanged {
        /// The file.
        path: String,
    },
}
