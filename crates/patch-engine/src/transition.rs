//! What a plan consists of: one path, and what is there before and after.
//!
//! Create, update, delete, move and undo are all this one shape. A move is two transitions: the
//! destination appears, the source goes.

use std::sync::Arc;

use fs_guard::{Metadata, RelPath, Sha256};

/// One path's change. At least one of `before` and `after` is present.
#[derive(Debug, Clone)]
pub struct Transition {
    /// The path, checked by the guard when the plan was made (and again at publication).
    pub path: RelPath,
    /// What planning saw there; `None` when nothing was there.
    pub before: Option<PreImage>,
    /// What shall be there; `None` when the path goes away.
    pub after: Option<PostImage>,
}

/// A file (or symbolic link) as planning read it.
#[derive(Debug, Clone)]
pub struct PreImage {
    /// Kind, size, mode and identity at the time of reading.
    pub metadata: Metadata,
    /// SHA-256 of all bytes; of the link's target text for a symbolic link.
    pub sha256: Sha256,
}

/// A file as it shall be.
#[derive(Debug, Clone)]
pub struct PostImage {
    /// Where the bytes come from.
    pub content: Content,
    /// SHA-256 of all bytes.
    pub sha256: Sha256,
    /// Length in bytes.
    pub size: u64,
    /// Permission bits (`0o777` at most); `None` takes the default for a new file under the umask.
    pub mode: Option<u32>,
    /// The existing file whose owner, extended attributes and ACLs carry over: the path itself for
    /// an update, the source for a move.
    pub attributes_of: Option<RelPath>,
}

/// Where the bytes of a post-image come from.
#[derive(Debug, Clone)]
pub enum Content {
    /// All bytes, in memory.
    Bytes(Arc<Vec<u8>>),
    /// The pre-image with some ranges replaced; ranges ascend and do not overlap.
    Spliced {
        /// The bytes that the ranges refer to.
        source: Arc<Vec<u8>>,
        /// The replacements.
        splices: Vec<Splice>,
    },
    /// A file of the workspace with some ranges replaced. It is read again when the new one is written, and has to be
    /// the same still.
    SplicedFrom {
        /// The file that the ranges refer to, as it is before the commit.
        from: RelPath,
        /// SHA-256 of all its bytes.
        sha256: Sha256,
        /// The replacements; ranges ascend and do not overlap.
        splices: Vec<Splice>,
        /// The hunks of the diff, made while the bytes were at hand; `None` for a file that is not text.
        hunks: Option<Vec<u8>>,
    },
    /// The bytes of another file of the workspace as it is before the commit (a move without hunks).
    CopyOf(RelPath),
    /// A file displaced by an earlier transaction (undo, restore).
    Stored {
        /// The earlier transaction.
        transaction: workspace_trash::TransactionId,
        /// Its slot.
        slot: u32,
    },
}

/// `source[start..end]` becomes `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// First byte replaced.
    pub start: usize,
    /// One past the last byte replaced; equal to `start` for an insertion.
    pub end: usize,
    /// The new bytes.
    pub text: Vec<u8>,
}
