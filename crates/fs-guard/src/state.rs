//! The state directory beneath the root, where no patch reaches.

use crate::dir::Dir;
use crate::error::{At as _, Error};
use crate::metadata::{FileKind, FileTime};
use crate::rel_path::RelPath;
use crate::root::Root;
use crate::sys::{self, Fd, Open};

/// The name of the state directory in the root.
pub const STATE_DIR: &str = ".apply-patch";

impl Root {
    /// Opens the state directory; `None` when there is none.
    ///
    /// It is trusted only when it is a directory (not a link to one, not a mount point) of this
    /// user's that nobody else may enter.
    pub fn state_dir(&self) -> Result<Option<Dir>, Error> {
        let untrusted = |problem| Error::UntrustedState { path: STATE_DIR.into(), problem };
        // Over no mount point either, unlike an ordinary open.
        let path = RelPath::new_unchecked(STATE_DIR);
        match self.open_beneath(&path, Open::Directory) {
            Ok(Some(handle)) => {
                let dir = Dir::new(handle, STATE_DIR);
                dir.require_own(&dir.metadata()?)?;
                Ok(Some(dir))
            }
            Ok(None) => Ok(None),
            Err(Error::Io { operation, path, source }) => Err(Error::Io { operation, path, source }),
            Err(_) if sys::stat_at(&self.handle, STATE_DIR).is_ok_and(|seen| seen.kind != FileKind::Directory) => {
                Err(untrusted("it is not a directory"))
            }
            Err(_) => Err(untrusted("it is not a directory of this file system")),
        }
    }

    /// Opens the state directory, which is created when missing. When it was, the root directory's
    /// modification time from before comes with it, for [`Root::remove_state_dir`].
    pub fn create_state_dir(&self) -> Result<(Dir, Option<FileTime>), Error> {
        if let Some(dir) = self.state_dir()? {
            return Ok((dir, None));
        }
        let root = self.as_dir("")?;
        let before = root.metadata()?.mtime;
        match root.create_dir(STATE_DIR) {
            Ok(dir) => {
                // Nothing in it shall be opened to others by a default ACL of the root.
                let _ = sys::remove_xattr(&dir.handle, b"system.posix_acl_default");
                Ok((dir, Some(before)))
            }
            Err(Error::AlreadyExists { path }) => Ok((self.state_dir()?.ok_or(Error::Changed { path })?, None)),
            Err(error) => Err(error),
        }
    }

    /// Removes the state directory if it is empty, and gives the root directory the modification
    /// time back that it had before.
    pub fn remove_state_dir(&self, mtime: FileTime) -> Result<bool, Error> {
        let root = self.as_dir("")?;
        let removed = root.remove_dir(STATE_DIR)?;
        if removed {
            let _ = root.set_mtime(mtime);
        }
        Ok(removed)
    }

    /// Reads the index of the root's git repository, to see whether something is tracked there.
    ///
    /// `None` when there is none; nothing (no index has no bytes) when it is not a file that can be
    /// read, or has more than `limit` bytes. It never waits: whoever made the directory may have put a FIFO there.
    #[must_use]
    pub fn git_index(&self, limit: u64) -> Option<Vec<u8>> {
        let read = |handle: &Fd| {
            let seen = sys::stat(handle).ok()?;
            let index =
                (seen.kind == FileKind::File).then(|| crate::read::read_whole(handle, seen.size, limit, "index"));
            index?.ok()
        };
        let index = RelPath::new_unchecked(".git/index");
        if let Ok(Some(handle)) = self.open_beneath(&index, Open::Read) {
            return Some(read(&handle).unwrap_or_default());
        }
        // A work tree beside its repository: `.git` is a file that tells where that is.
        let handle = self.open_beneath(&RelPath::new_unchecked(".git"), Open::Read).ok()??;
        if sys::stat(&handle).ok()?.kind != FileKind::File {
            return None;
        }
        let text = crate::read::read_whole(&handle, 0, 4096, ".git").ok()?;
        let dir = std::str::from_utf8(&text).ok()?.strip_prefix("gitdir:")?.trim();
        let dir = sys::open_root(&self.path().join(dir)).ok()?;
        let handle = sys::open_at(&dir, "index", Open::Read).ok()?;
        Some(read(&handle).unwrap_or_default())
    }

    /// Returns the root's own handle as a directory, to be synced.
    pub fn as_dir(&self, path: &str) -> Result<Dir, Error> {
        let handle = sys::open_at(&self.handle, ".", Open::Directory).at("open", ".")?;
        Ok(Dir::new(handle, path))
    }
}
