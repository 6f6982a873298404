//! Logs: files that only grow.

use crate::dir::Spot;
use crate::error::{At as _, Error};
use crate::metadata::{FileKind, Metadata};
use crate::sys::{self, Fd, Open};

/// One of the program's own files, open for appending.
#[derive(Debug)]
pub struct AppendFile {
    pub(crate) handle: Fd,
    pub(crate) path: Box<str>,
    /// The metadata at the time of opening, or of the last lock.
    pub(crate) opened: Metadata,
}

impl Spot {
    /// Opens a log here, and creates it (mode 0600) if it is missing. A link, a special file or
    /// another user's file is refused.
    pub fn append(&self) -> Result<AppendFile, Error> {
        let file = self.open_log()?;
        file.require_own()?;
        Ok(file)
    }

    pub(crate) fn open_log(&self) -> Result<AppendFile, Error> {
        let path = self.path();
        let handle = self.open_own(Open::Append(0o600))?;
        let opened = sys::stat(&handle).at("look at", &path)?;
        Ok(AppendFile { handle, path: path.into(), opened })
    }
}

impl AppendFile {
    /// Appends bytes, in one write if the system accepts all of them.
    pub fn append(&self, bytes: &[u8]) -> Result<(), Error> {
        sys::write_all(&self.handle, &mut [std::io::IoSlice::new(bytes)])
            .at("append to", &self.path)
    }

    /// Reads bytes at an offset. Returns how many; 0 at the end.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, Error> {
        sys::read_at(&self.handle, buffer, offset).at("read", &self.path)
    }

    /// Syncs what was appended.
    pub fn sync(&self) -> Result<(), Error> {
        sys::sync(&self.handle).at("sync", &self.path)
    }

    /// Returns the length in bytes at the time of opening, or of the last lock.
    #[must_use]
    pub fn opened_size(&self) -> u64 {
        self.opened.size
    }

    /// Returns the inode number. While the file exists no other file of the system has that number.
    #[must_use]
    pub fn inode(&self) -> u64 {
        self.opened.ino
    }

    /// Fails unless the log is a regular file with a single name, owned by this user.
    pub fn require_own(&self) -> Result<(), Error> {
        require_own_file(&self.opened, &self.path)
    }

    pub(crate) fn handle(&self) -> &Fd {
        &self.handle
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

/// Fails unless the file is a regular one with a single name, owned by this user.
pub(crate) fn require_own_file(seen: &Metadata, path: &str) -> Result<(), Error> {
    let problem = if seen.kind != FileKind::File {
        "it is not a file"
    } else if seen.uid != sys::user() {
        return Err(Error::others(path, seen.uid));
    } else if seen.nlink > 1 {
        "it has several names"
    } else {
        return Ok(());
    };
    Err(Error::UntrustedState { path: path.into(), problem })
}
