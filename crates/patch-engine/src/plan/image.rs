//! One path's change: what is there before, and what shall be after.

use std::sync::Arc;

use fs_guard::{Metadata, RelPath, Sha256};
use workspace_trash::TransactionId;

use super::splices::Splices;

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
