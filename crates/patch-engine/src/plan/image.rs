//! One path's change, and the one answer to the question which bytes a file has before and after.

use std::sync::Arc;

use fs_guard::{FileKind, Metadata, RelPath, Root, Sha256};
use workspace_trash::{KeyPlace, Store, TransactionId};

use super::splices::Splices;
use super::{Change, Plan};

/// One path's change. At least one of `before` and `after` is present.
///
/// Create, update, delete, move and undo are all this one shape. A move is two transitions: the destination
/// appears, the source goes.
#[derive(Debug, Clone)]
pub struct Transition {
    /// The path, checked by the guard when the plan was made, and again when it is committed.
    pub(crate) path: RelPath,
    /// What planning saw there; `None` when nothing was there.
    pub(crate) before: Option<PreImage>,
    /// What shall be there; `None` when the path goes away.
    pub(crate) after: Option<PostImage>,
}

impl Transition {
    /// The path.
    #[must_use]
    pub fn path(&self) -> &RelPath {
        &self.path
    }

    /// The hash of what planning saw there; `None` when nothing was there.
    #[must_use]
    pub fn before(&self) -> Option<Sha256> {
        self.before.as_ref().map(|before| before.sha256)
    }

    /// The hash of what shall be there; `None` when the path goes away.
    #[must_use]
    pub fn after(&self) -> Option<Sha256> {
        self.after.as_ref().map(|after| after.sha256)
    }
}

/// A file (or symbolic link) as planning read it.
#[derive(Debug, Clone)]
pub(crate) struct PreImage {
    /// Kind, size, mode and identity at the time of reading.
    pub(crate) metadata: Metadata,
    /// SHA-256 of all bytes; of the link's target text for a symbolic link.
    pub(crate) sha256: Sha256,
    /// The bytes, as long as there is room for them.
    pub(crate) bytes: Option<Arc<Vec<u8>>>,
}

/// A file (or symbolic link) as it shall be.
#[derive(Debug, Clone)]
pub(crate) struct PostImage {
    /// Where the bytes come from.
    pub(crate) image: Image,
    /// SHA-256 of all bytes.
    pub(crate) sha256: Sha256,
    /// Length in bytes.
    pub(crate) size: u64,
    /// Permission bits (`0o777` at most); `None` takes the default for a new file under the umask.
    pub(crate) mode: Option<u32>,
    /// It is a symbolic link, and the bytes are its target.
    pub(crate) link: bool,
    /// All of it is written anew, and not as an edit of what was there.
    pub(crate) rewritten: bool,
    /// The existing file whose owner, extended attributes and ACLs carry over: the path itself for
    /// an update, the source for a move.
    pub(crate) attributes_of: Option<RelPath>,
}

/// Where the bytes of a post-image come from.
#[derive(Debug, Clone)]
pub(crate) enum Image {
    /// They are in memory.
    Kept(Arc<Vec<u8>>),
    /// They are those that this path had before the commit.
    OnDisk(RelPath),
    /// They are those that this path had before the commit, with some ranges replaced.
    Spliced(RelPath, Splices),
    /// An earlier transaction displaced them.
    Stored(TransactionId, u32),
}

/// Which bytes a change has before or after.
///
/// They are read again where they are not in memory, and have to have the hash that the plan states.
/// `committed` is the transaction that carried the plan out: what it displaced is in its folder since.
///
/// [`Plan::images`] gives them before the commit, [`Report::images`](crate::Report::images) after it.
#[derive(Debug, Clone, Copy)]
pub struct Images<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) committed: Option<TransactionId>,
}

/// A file that has not the bytes that the plan was made for.
fn changed(path: &RelPath) -> fs_guard::Error {
    fs_guard::Error::Changed { path: path.as_str().into() }
}

impl<'p> Images<'p> {
    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// The bytes of a changed file before; empty where it is created.
    ///
    /// # Errors
    ///
    /// [`fs_guard::Error::Changed`] when they are not what the plan was made for any more.
    pub fn old(&self, change: &Change) -> Result<Arc<Vec<u8>>, fs_guard::Error> {
        match change.before {
            Some(_) => self.before(&change.path),
            None => Ok(Arc::default()),
        }
    }

    /// The bytes of a changed file after; empty where it is deleted.
    ///
    /// # Errors
    ///
    /// [`fs_guard::Error::Changed`] when the files that they come from are not what the plan was made for any more.
    #[allow(clippy::new_ret_no_self, reason = "the other side of `old`")]
    pub fn new(&self, change: &Change) -> Result<Arc<Vec<u8>>, fs_guard::Error> {
        match change.after {
            Some(_) => self.after(self.plan.transition_of(change)),
            None => Ok(Arc::default()),
        }
    }

    /// The bytes that a path of the plan had before.
    pub(crate) fn before(&self, path: &RelPath) -> Result<Arc<Vec<u8>>, fs_guard::Error> {
        let (index, image) = self.plan.pre_image(path).ok_or_else(|| changed(path))?;
        if let Some(bytes) = &image.bytes {
            return Ok(Arc::clone(bytes));
        }
        let slot = |id| self.stored(id, index, image.sha256, image.metadata.size);
        // After the commit the path may have the same bytes again, but the folder is where they went.
        let found = self.committed.and_then(slot);
        found.or_else(|| on_disk(&self.plan.root, path, image.sha256)).ok_or_else(|| changed(path))
    }

    /// The bytes that a transition leaves.
    pub(crate) fn after(&self, transition: &Transition) -> Result<Arc<Vec<u8>>, fs_guard::Error> {
        let path = &transition.path;
        let after = transition.after.as_ref().ok_or_else(|| changed(path))?;
        let published = || self.committed.and_then(|_| on_disk(&self.plan.root, path, after.sha256));
        match &after.image {
            Image::Kept(bytes) => Ok(Arc::clone(bytes)),
            Image::OnDisk(from) => self.before(from),
            Image::Spliced(from, splices) => Ok(splices.apply(&self.before(from)?).into()),
            Image::Stored(id, slot) => {
                let stored = self.stored(*id, *slot as usize, after.sha256, after.size);
                stored.or_else(published).ok_or_else(|| changed(path))
            }
        }
    }

    /// A displaced file, if it is there and has these bytes.
    fn stored(&self, id: TransactionId, slot: usize, sha256: Sha256, size: u64) -> Option<Arc<Vec<u8>>> {
        let store = Store::open(&self.plan.root, KeyPlace::Nowhere).ok()??;
        let spot = store.slot(id, u32::try_from(slot).ok()?).ok()?;
        let bytes = match spot.metadata().ok()??.kind {
            FileKind::Symlink => spot.read_link().ok()?,
            _ => spot.read(size).ok()?.0,
        };
        (Sha256::of(&bytes) == sha256).then(|| bytes.into())
    }
}

/// Whether a file or link with these bytes is at a path.
pub(super) fn is_on_disk(root: &Root, path: &RelPath, sha256: Sha256) -> bool {
    on_disk(root, path, sha256).is_some()
}

/// The file at a path, if it has these bytes.
fn on_disk(root: &Root, path: &RelPath, sha256: Sha256) -> Option<Arc<Vec<u8>>> {
    let seen = root.metadata(path).ok()??;
    let bytes = match seen.kind {
        FileKind::Symlink => root.read_link(path).ok()?,
        FileKind::File => root.read(path, seen.size).ok()?.0,
        FileKind::Directory | FileKind::Other => return None,
    };
    (Sha256::of(&bytes) == sha256).then(|| bytes.into())
}
