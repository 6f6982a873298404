//! What a commit will do, as a value: path transitions, and the same as a person counts.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use fs_guard::{Hasher, RelPath, Sha256};
use patch_grammar::Warning;
use workspace_trash::TransactionId;

use crate::edit;
use crate::locate::{Note, Placed};
use crate::transition::{Content, Transition};

/// What a commit will do: nothing else, and all of it.
///
/// A patch, one operation on a file, undo, redo and a restore from the trash all come to one, so that
/// what is shown, approved, logged and committed is the same value.
#[derive(Debug, Default)]
pub struct Plan {
    /// The paths that change: those that appear or are replaced in the order of the patch, then
    /// those that go away.
    pub transitions: Vec<Transition>,
    /// Directories to be created, outermost first.
    pub create_dirs: Vec<RelPath>,
    /// Directories that go when they are empty in the end, innermost first.
    pub remove_dirs: Vec<RelPath>,
    /// Permissions of created directories that are not the default.
    pub dir_modes: BTreeMap<RelPath, u32>,
    /// The transaction that it undoes; `None` for a patch, an operation and a restore.
    pub undo_of: Option<TransactionId>,
    /// It undoes only some of that transaction's paths.
    pub partial_undo: bool,
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
    /// Post-images from the store that are in memory.
    pub(crate) stored: HashMap<RelPath, Arc<Vec<u8>>>,
}

impl Plan {
    /// A hash of all that carrying it out does: what was approved is what is committed when both have the same.
    ///
    /// # Panics
    ///
    /// Never: lengths fit into 64 bits.
    #[must_use]
    pub fn digest(&self) -> Sha256 {
        let mut hasher = Hasher::new();
        let mut add = |bytes: &[u8]| {
            hasher.update(&u64::try_from(bytes.len()).expect("64 bits").to_be_bytes());
            hasher.update(bytes);
        };
        for Transition { path, before, after } in &self.transitions {
            add(path.as_str().as_bytes());
            match before {
                Some(before) => {
                    add(&before.sha256.0);
                    add(&[before.metadata.kind as u8]);
                    add(&before.metadata.mode.to_be_bytes());
                }
                None => add(b""),
            }
            match after {
                Some(after) => {
                    add(&after.sha256.0);
                    add(&after.mode.unwrap_or(u32::MAX).to_be_bytes());
                }
                None => add(b""),
            }
        }
        for dirs in [&self.create_dirs, &self.remove_dirs] {
            add(b"dirs");
            dirs.iter().for_each(|dir| add(dir.as_str().as_bytes()));
        }
        for (dir, mode) in &self.dir_modes {
            add(dir.as_str().as_bytes());
            add(&mode.to_be_bytes());
        }
        add(self.undo_of.map(|id| id.to_string()).unwrap_or_default().as_bytes());
        hasher.finish()
    }

    /// Tells whether carrying it out changes nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.transitions.is_empty() && self.create_dirs.is_empty() && self.remove_dirs.is_empty()
    }
}

impl Plan {
    /// The bytes of a changed file before, as far as they are in memory: of files that are deleted or moved
    /// unchanged only small ones are.
    #[must_use]
    pub fn old_bytes(&self, change: &Change) -> Option<Arc<Vec<u8>>> {
        let kept = || self.pre_images.get(&change.path).cloned();
        match self.transitions[change.transition].after.as_ref().map(|after| &after.content) {
            Some(Content::Spliced { source, .. }) => Some(Arc::clone(source)),
            _ if change.before.is_none() => None,
            _ => kept(),
        }
    }

    /// The bytes of a changed file after, as far as they are in memory.
    #[must_use]
    pub fn new_bytes(&self, change: &Change) -> Option<Arc<Vec<u8>>> {
        let transition = &self.transitions[change.transition];
        match &transition.after.as_ref()?.content {
            Content::Bytes(bytes) => Some(Arc::clone(bytes)),
            Content::Spliced { source, splices } => Some(edit::splice(source, splices).into()),
            Content::CopyOf(path) => self.pre_images.get(path).cloned(),
            Content::SplicedFrom { .. } => None,
            Content::Stored { .. } => self.stored.get(&transition.path).cloned(),
        }
    }
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
