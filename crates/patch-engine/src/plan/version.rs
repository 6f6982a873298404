//! Files of the history, to be planned again.

use std::sync::Arc;

use fs_guard::Sha256;

/// A file or symbolic link as the history has it, at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileVersion {
    /// The path.
    pub path: String,
    /// The hash.
    pub sha256: Sha256,
    /// The permission bits.
    pub mode: u32,
    /// Whether it is a symbolic link; the bytes are then its target.
    pub link: bool,
    /// The bytes, if they are still kept.
    pub bytes: Option<Arc<Vec<u8>>>,
}
