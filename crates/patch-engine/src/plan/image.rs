//! The change of one path: the file before, and the file after.

use std::sync::Arc;

use fs_guard::{Access, FileKind, Metadata, RelPath, Sha256};
use patch_text::text::splices::Splices;
use workspace_trash::TransactionId;

use super::shared_lines::SharedLines;
use super::submodules;
use crate::files::Files;
use crate::files::hash::{LazyHash, outcome};

/// One path's change. At least one of `before` and `after` is present.
///
/// Create, update, delete, move and undo are all this one shape. A move is two transitions: the
/// destination appears, the source goes.
#[derive(Debug, Clone)]
pub struct Transition {
    /// The path, checked by the guard when the plan was made, and again in the commit.
    pub(crate) path: RelPath,
    /// The file seen there by planning, if any.
    pub(crate) before: Option<PreImage>,
    /// The planned file; `None` when the path is deleted.
    pub(crate) after: Option<PostImage>,
}

impl Transition {
    /// Returns whether bytes that the patch writes may have something, so that it pays to put the
    /// file together. What is moved or comes back as it was has nothing new.
    pub(crate) fn writes(
        &self,
        has: impl Fn(&[u8]) -> bool,
        lines_have: impl Fn(&SharedLines) -> bool,
    ) -> bool {
        match self.after.as_ref().map(|after| &after.image) {
            Some(Image::Kept(bytes)) => has(bytes),
            Some(Image::Lines(lines)) => lines_have(lines),
            Some(Image::Spliced(_, splices)) => {
                splices.as_slice().iter().any(|splice| has(&splice.text))
            }
            Some(Image::OnDisk(_) | Image::Stored(..)) | None => false,
        }
    }

    /// Returns what a commit does with the path.
    pub(crate) fn access(&self) -> Access {
        match (&self.before, &self.after) {
            (None, _) => Access::Create,
            (Some(_), Some(_)) => Access::Update,
            (Some(_), None) => Access::Delete,
        }
    }

    /// Checks whether the file there may be displaced. A link is taken away, and nothing is written
    /// through a link.
    pub(crate) fn check_displaced(&self, files: &Files) -> Result<(), fs_guard::Error> {
        let Some(before) = &self.before else { return Ok(()) };
        let is_link = before.metadata.kind == FileKind::Symlink;
        let access = if is_link { Access::Delete } else { self.access() };
        files.check_pre_image(&self.path, &before.metadata, access)
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &RelPath {
        &self.path
    }

    /// Returns whether a symbolic link is at the path, before or afterwards.
    #[must_use]
    pub fn is_of_link(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.metadata.kind == FileKind::Symlink)
            || self.after.as_ref().is_some_and(|after| after.link)
    }

    /// Returns the hash of what planning saw there; `None` when nothing was there.
    #[must_use]
    pub fn before(&self) -> Option<Sha256> {
        self.before.as_ref().map(PreImage::sha256)
    }

    /// Returns the size in bytes of what planning saw there; `None` when nothing was there.
    #[must_use]
    pub fn size_before(&self) -> Option<u64> {
        self.before.as_ref().map(|before| before.metadata.size)
    }

    /// Returns the hash of the planned file; `None` when the path is deleted.
    #[must_use]
    pub fn after(&self) -> Option<Sha256> {
        self.after.as_ref().map(PostImage::sha256)
    }

    /// Returns the length in bytes of the planned file; `None` when the path is deleted, or becomes
    /// a link.
    #[must_use]
    pub fn after_size(&self) -> Option<u64> {
        self.after.as_ref().filter(|after| !after.link).map(|after| after.size)
    }
}

/// A file (or symbolic link) as planning read it.
#[derive(Debug, Clone)]
pub(crate) struct PreImage {
    /// Kind, size, mode and identity at the time of reading.
    pub(crate) metadata: Metadata,
    /// SHA-256 of all bytes; of the link's target text for a symbolic link.
    pub(crate) hash: LazyHash,
    /// The bytes, as long as there is room for them.
    pub(crate) bytes: Option<Arc<Vec<u8>>>,
}

impl PreImage {
    /// Returns the SHA-256 of all bytes.
    pub(crate) fn sha256(&self) -> Sha256 {
        self.hash.get()
    }
}

/// A file (or symbolic link) after the change.
#[derive(Debug, Clone)]
pub(crate) struct PostImage {
    /// Where the bytes come from.
    pub(crate) image: Image,
    /// SHA-256 of all bytes. Of an image that is made of a file before the commit it is computed
    /// from that file's bytes.
    pub(crate) hash: LazyHash,
    /// Length in bytes.
    pub(crate) size: u64,
    pub(crate) mode: Mode,
    /// A symbolic link: the bytes are its target.
    pub(crate) link: bool,
    /// The whole file is rewritten, and not edited.
    pub(crate) rewritten: bool,
    /// The existing file whose owner, extended attributes and ACLs carry over: the path itself for
    /// an update, the source for a move.
    pub(crate) attributes_of: Option<RelPath>,
}

impl PostImage {
    /// Makes a new file.
    pub(crate) fn new(image: Image, hash: impl Into<LazyHash>, size: u64) -> Self {
        Self {
            image,
            hash: hash.into(),
            size,
            mode: Mode::Default { executable: false },
            link: false,
            rewritten: true,
            attributes_of: None,
        }
    }

    /// Makes a new file of bytes in memory.
    pub(crate) fn kept(bytes: Vec<u8>) -> Self {
        let sha256 = Sha256::of(&bytes);
        let size = bytes.len() as u64;
        Self::new(Image::Kept(bytes.into()), sha256, size)
    }

    /// The same, without hashing them yet.
    pub(crate) fn unhashed(bytes: Vec<u8>) -> Self {
        let size = bytes.len() as u64;
        let bytes = Arc::new(bytes);
        let hash = LazyHash::later(&bytes);
        Self::new(Image::Kept(bytes), hash, size)
    }

    /// Returns the SHA-256 of all bytes.
    pub(crate) fn sha256(&self) -> Sha256 {
        self.hash.get_by(|bytes| match &self.image {
            Image::Spliced(_, splices) => outcome(splices, bytes).0,
            _ => Sha256::of(bytes),
        })
    }

    /// Computes the hash, and lets go of the bytes for its computation.
    pub(crate) fn settle_hash(&mut self) {
        self.hash = self.sha256().into();
    }

    /// Returns whether a file before has the same bytes.
    pub(crate) fn has_bytes_of(&self, before: &PreImage) -> bool {
        match (&self.image, self.hash.bytes(), &before.bytes) {
            _ if self.hash.is_known() => self.sha256() == before.sha256(),
            _ if self.size != before.metadata.size => false,
            (Image::Spliced(_, splices), Some(source), Some(bytes)) => {
                let mut rest = Some(&bytes[..]);
                for piece in splices.pieces(source, 0) {
                    rest = rest.and_then(|rest| rest.strip_prefix(piece));
                }
                rest.is_some_and(<[u8]>::is_empty)
            }
            (_, Some(own), Some(bytes)) => own == bytes,
            _ => self.sha256() == before.sha256(),
        }
    }

    /// Makes a submodule of its line.
    pub(crate) fn submodule(line: Vec<u8>) -> Self {
        Self { mode: Mode::Exactly(submodules::MODE), ..Self::kept(line) }
    }

    /// Returns whether the file is a submodule.
    pub(crate) fn is_submodule(&self) -> bool {
        self.mode == Mode::Exactly(submodules::MODE)
    }

    /// Makes a new symbolic link.
    pub(crate) fn link_to(target: Vec<u8>) -> Self {
        Self { link: true, ..Self::kept(target) }
    }
}

/// The permission bits of a post-image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// These, `0o777` at most; or those of a submodule in a git tree.
    Exactly(u32),
    /// Those of a new file, under the umask.
    Default {
        /// It may be run by those who may read it.
        executable: bool,
    },
}

impl Mode {
    /// Returns the bits, if they do not depend on the umask.
    pub(crate) fn exact(self) -> Option<u32> {
        match self {
            Self::Exactly(mode) => Some(mode),
            Self::Default { .. } => None,
        }
    }

    /// Returns the bits to create the file with.
    pub(crate) fn requested(self) -> u32 {
        match self {
            Self::Exactly(mode) => mode,
            Self::Default { executable: false } => 0o666,
            Self::Default { executable: true } => 0o777,
        }
    }

    /// Returns the bits under the usual umask, for display.
    pub(crate) fn shown(self) -> u32 {
        match self {
            Self::Exactly(mode) => mode,
            Self::Default { .. } => self.requested() & !0o022,
        }
    }

    /// Sets the right to run the file as git does: only the owner's right counts.
    pub(crate) fn with_executable(self, executable: bool) -> Self {
        match self {
            Self::Exactly(mode) if (mode & 0o100 != 0) == executable => self,
            // All readers may run the file.
            Self::Exactly(mode) if executable => Self::Exactly(mode | 0o100 | (mode & 0o444) >> 2),
            Self::Exactly(mode) => Self::Exactly(mode & !0o111),
            Self::Default { .. } => Self::Default { executable },
        }
    }
}

/// Where the bytes of a post-image come from.
#[derive(Debug, Clone)]
pub(crate) enum Image {
    /// They are in memory.
    Kept(Arc<Vec<u8>>),
    /// They are lines of the patch, whose text is in memory.
    Lines(SharedLines),
    /// They are the bytes of this path before the commit.
    OnDisk(RelPath),
    /// They are the bytes of this path before the commit, with some ranges replaced.
    Spliced(RelPath, Splices),
    /// An earlier transaction displaced them.
    Stored(TransactionId, u32),
}

#[cfg(test)]
mod tests {
    use super::Mode;

    #[test]
    fn the_right_to_run_follows_the_right_to_read() {
        for (mode, executable, wanted) in [
            (0o644, true, 0o755),
            (0o640, true, 0o750),
            (0o600, true, 0o700),
            (0o200, true, 0o300),
            (0o755, false, 0o644),
            (0o750, false, 0o640),
            // As it is.
            (0o700, true, 0o700),
            (0o744, true, 0o744),
            (0o611, false, 0o611),
        ] {
            assert_eq!(
                Mode::Exactly(mode).with_executable(executable),
                Mode::Exactly(wanted),
                "{mode:o} {executable}"
            );
        }
        let new = Mode::Default { executable: false };
        assert_eq!(new.requested(), 0o666);
        assert_eq!(new.with_executable(true).requested(), 0o777);
    }
}
