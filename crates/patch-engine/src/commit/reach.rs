//! The recorded paths open to a caller.

use std::collections::HashSet;
use std::sync::Arc;

use fs_guard::{Access, Error, RelPath, Root};
use workspace_trash::{Journal, Prefix};

/// Which recorded files a caller may see and change: everything that shows or changes bytes, hashes
/// or paths of the history asks this.
///
/// A program, such as a tool of a model, may do with a recorded file what a direct call may do with
/// the file at its path: the root and the policy decide, as they are now. That a journal is signed
/// says who wrote it, not who may see it. A person may see and undo whatever was done in the
/// project.
#[derive(Debug, Clone)]
pub struct Reach {
    root: Arc<Root>,
    person: bool,
}

impl Reach {
    pub(super) fn new(root: &Arc<Root>, person: bool) -> Self {
        Self { root: Arc::clone(root), person }
    }

    /// Checks a recorded path, relative to the root, for an access. `authentic` says whether the
    /// journal is this user's own.
    ///
    /// # Errors
    ///
    /// If the path leads out of the root, or a direct call is refused there.
    pub fn check(&self, recorded: &str, authentic: bool, access: Access) -> Result<RelPath, Error> {
        match access {
            Access::Read if !self.person => self.root.check(recorded, Access::Read),
            _ => self.root.check_recorded(recorded, self.vouches(authentic)),
        }
    }

    /// Returns whether the lists of forbidden and guarded paths were checked when the path was
    /// recorded, and this is enough.
    pub(super) fn vouches(&self, authentic: bool) -> bool {
        authentic && self.person
    }

    /// Returns whether the caller may see what was recorded of a path.
    #[must_use]
    pub fn shows(&self, recorded: &str) -> bool {
        self.person
            || (!Prefix::leads_out(recorded) && self.check(recorded, true, Access::Read).is_ok())
    }

    /// Returns whether the caller may see whatever was recorded.
    pub(super) fn shows_everything(&self) -> bool {
        self.person
    }

    /// Returns whether the caller may see all changes of a transaction.
    #[must_use]
    pub fn shows_all(&self, journal: &Journal) -> bool {
        self.person || paths(journal).all(|path| self.shows(path))
    }

    /// Returns the visible part of a transaction, if any.
    pub(super) fn shown(&self, mut journal: Journal) -> Option<Journal> {
        let Journal { records, created_dirs, removed_dirs, moved, carried, .. } = &mut journal;
        records.retain(|record| self.shows(&record.path));
        created_dirs.retain(|(dir, _)| self.shows(dir));
        removed_dirs.retain(|(dir, _)| self.shows(dir));
        carried.retain(|carried| self.shows(&carried.path));
        let slots: HashSet<u32> = records.iter().map(|record| record.slot).collect();
        moved.retain(|(from, to)| slots.contains(from) && slots.contains(to));
        (!records.is_empty()).then_some(journal)
    }
}

/// Returns every path of a journal.
fn paths(journal: &Journal) -> impl Iterator<Item = &str> {
    let created = journal.created_dirs.iter().map(|(dir, _)| dir.as_str());
    let removed = journal.removed_dirs.iter().map(|(dir, _)| dir.as_str());
    journal.records.iter().map(|record| record.path.as_str()).chain(created).chain(removed)
}
