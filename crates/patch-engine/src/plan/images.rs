//! The bytes of files before and after a plan.

use std::sync::Arc;

use fs_guard::{Entry, FileKind, RelPath, Sha256};
use workspace_trash::{KeyPlace, Prefix, Store, TransactionId, stored_path};

use super::image::{Image, Transition};
use super::{Change, Plan};
use crate::files::Files;
use crate::files::hash::LazyHash;

/// The bytes of a plan's files before and after.
///
/// Bytes that are not in memory are read again, and have to have the hash that the plan states.
/// `committed` is the transaction that carried the plan out: the files that it displaced are in its
/// folder.
///
/// [`Plan::images`] gives them before the commit, [`Report::images`](crate::Report::images) after
/// it.
#[derive(Debug, Clone, Copy)]
pub struct Images<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) committed: Option<TransactionId>,
}

/// Makes the error for a file changed since planning.
fn changed(path: &RelPath) -> fs_guard::Error {
    fs_guard::Error::Changed { path: path.as_str().into() }
}

impl Plan {
    /// Returns the bytes of its files, and their diffs, before a commit.
    #[must_use]
    pub fn images(&self) -> Images<'_> {
        Images { plan: self, committed: None }
    }

    /// Returns the same after a transaction has carried it out: the displaced files are in its
    /// folder of the trash.
    #[must_use]
    pub fn images_after(&self, transaction: TransactionId) -> Images<'_> {
        Images { plan: self, committed: Some(transaction) }
    }

    /// Returns whether the files of a change are as the plan wants them.
    #[must_use]
    pub fn is_done(&self, change: &Change) -> bool {
        let Transition { path, after, .. } = self.transition_of(change);
        match after {
            Some(after) => on_disk(&self.files, path, after.sha256()).is_some(),
            None => self.files.metadata(path).is_ok_and(|seen| seen.is_none()),
        }
    }
}

/// The change at one path.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChangedFile {
    /// The path.
    pub path: RelPath,
    before: Option<LazyHash>,
    /// The file afterwards; `None` when deleted.
    pub after: Option<Content>,
}

impl ChangedFile {
    /// Returns the hash of the file before; `None` when there is none.
    #[must_use]
    pub fn before(&self) -> Option<Sha256> {
        self.before.as_ref().map(LazyHash::get)
    }

    /// Returns whether this is the file before; `None` where there is none.
    pub(crate) fn was(&self, bytes: Option<&[u8]>) -> bool {
        match (&self.before, bytes) {
            (Some(before), Some(bytes)) => before.is_of(bytes),
            (before, bytes) => before.is_none() && bytes.is_none(),
        }
    }
}

/// A file or symbolic link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The bytes of a file, or the text of a link.
    pub bytes: Arc<Vec<u8>>,
    /// Permission bits, `0o777` at most; or `0o160000`, and the bytes are the line that a diff has
    /// of a submodule: `Subproject commit`, and the id of the commit.
    pub mode: u32,
    /// The file is a symbolic link.
    pub link: bool,
}

impl Content {
    /// Returns its kind, mode and size.
    pub(crate) fn entry(&self) -> Entry {
        let size = self.bytes.len() as u64;
        if self.link {
            Entry::link(size)
        } else {
            Entry { kind: FileKind::File, mode: self.mode, size }
        }
    }
}

impl<'p> Images<'p> {
    /// Returns the result at each changed path: created and replaced files in the order of the
    /// patch, then deleted ones.
    ///
    /// # Errors
    ///
    /// [`fs_guard::Error::Changed`] when the files that the bytes come from are not what the plan
    /// was made for any more.
    pub fn changed(&self) -> Result<Vec<ChangedFile>, fs_guard::Error> {
        let files = self.plan.transitions.iter().map(|transition| {
            let before = transition.before.as_ref().map(|before| before.hash.clone());
            let path = transition.path.clone();
            Ok(ChangedFile { path, before, after: self.content(transition)? })
        });
        files.collect()
    }

    /// Returns the new content of a transition; `None` where the file is deleted.
    fn content(&self, transition: &Transition) -> Result<Option<Content>, fs_guard::Error> {
        let Some(after) = &transition.after else { return Ok(None) };
        let mode = after.mode.shown();
        Ok(Some(Content { bytes: self.after(transition)?, mode, link: after.link }))
    }

    /// Returns the plan.
    #[must_use]
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// Returns the old bytes of a changed file; empty for a new one.
    ///
    /// # Errors
    ///
    /// [`fs_guard::Error::Changed`] when they are not what the plan was made for any more.
    pub fn old_bytes(&self, change: &Change) -> Result<Arc<Vec<u8>>, fs_guard::Error> {
        match change.before {
            Some(_) => self.before(&change.path),
            None => Ok(Arc::default()),
        }
    }

    /// Returns the new bytes of a changed file; empty for a deleted one.
    ///
    /// # Errors
    ///
    /// [`fs_guard::Error::Changed`] when the files that they come from are not what the plan was
    /// made for any more.
    pub fn new_bytes(&self, change: &Change) -> Result<Arc<Vec<u8>>, fs_guard::Error> {
        match change.after {
            Some(_) => self.after(self.plan.transition_of(change)),
            None => Ok(Arc::default()),
        }
    }

    /// Returns the old bytes of a path of the plan.
    pub(crate) fn before(&self, path: &RelPath) -> Result<Arc<Vec<u8>>, fs_guard::Error> {
        let (index, image) = self.plan.pre_image(path).ok_or_else(|| changed(path))?;
        if let Some(bytes) = &image.bytes {
            return Ok(Arc::clone(bytes));
        }
        // After the commit the path may have the same bytes again, but the folder has the displaced
        // file.
        let found = self
            .committed
            .and_then(|id| self.stored(id, index, image.sha256(), image.metadata.size));
        found
            .or_else(|| on_disk(&self.plan.files, path, image.sha256()))
            .ok_or_else(|| changed(path))
    }

    /// Returns the new bytes of a transition.
    pub(crate) fn after(&self, transition: &Transition) -> Result<Arc<Vec<u8>>, fs_guard::Error> {
        let path = &transition.path;
        let after = transition.after.as_ref().ok_or_else(|| changed(path))?;
        match &after.image {
            Image::Kept(bytes) => Ok(Arc::clone(bytes)),
            Image::Lines(lines) => Ok(lines.bytes().into()),
            Image::OnDisk(from) => self.before(from),
            Image::Spliced(from, splices) => Ok(splices.apply(&self.before(from)?).into()),
            Image::Stored(id, slot) => {
                let stored = self.stored(*id, *slot as usize, after.sha256(), after.size);
                let bytes = stored.or_else(|| {
                    self.committed?;
                    on_disk(&self.plan.files, path, after.sha256())
                });
                bytes.ok_or_else(|| {
                    let home = self.plan.files.home();
                    let path = home.map_or_else(
                        || path.to_string(),
                        |home| stored_path(home, &Prefix::default(), *id, *slot),
                    );
                    fs_guard::Error::Changed { path }
                })
            }
        }
    }

    /// Reads a displaced file, if there is one with this hash.
    fn stored(
        &self,
        id: TransactionId,
        slot: usize,
        sha256: Sha256,
        size: u64,
    ) -> Option<Arc<Vec<u8>>> {
        let store = Store::open(self.plan.files.home()?, KeyPlace::Nowhere).ok()??;
        let spot = store.slot(id, u32::try_from(slot).ok()?).ok()?;
        let bytes = match spot.metadata().ok()??.kind {
            FileKind::Symlink => spot.read_link().ok()?,
            _ => spot.read(size).ok()?.0,
        };
        (Sha256::of(&bytes) == sha256).then(|| bytes.into())
    }
}

/// Reads the file at a path, or the target of the link, if its hash is this one.
fn on_disk(files: &Files, path: &RelPath, sha256: Sha256) -> Option<Arc<Vec<u8>>> {
    let seen = files.metadata(path).ok()??;
    let bytes = match seen.kind {
        FileKind::Symlink | FileKind::Submodule => files.read_link(path).ok()?,
        FileKind::File => files.read(path, seen.size).ok()?.0,
        FileKind::Directory | FileKind::Other => return None,
    };
    (Sha256::of(&bytes) == sha256).then_some(bytes)
}
