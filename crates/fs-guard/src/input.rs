//! Files that the user names on the command line, outside any root.

use std::path::{Path, PathBuf};

use crate::error::{At as _, Error};
use crate::metadata::FileKind;
use crate::read::read_whole;
use crate::sys;

/// A file (or a FIFO, or `/dev/stdin`) that the user named, open and not read yet.
#[derive(Debug)]
pub struct InputFile {
    handle: sys::Fd,
    shown: String,
}

impl InputFile {
    /// Opens it. Links are followed: whoever may name a file to this process may read it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let shown = path.display().to_string();
        let handle = sys::open_input(path).at("open", &shown)?;
        Ok(Self { handle, shown })
    }

    /// Reads all of it, at most `limit` bytes.
    pub fn read(self, limit: u64) -> Result<Vec<u8>, Error> {
        let Self { handle, shown } = self;
        let seen = sys::stat(&handle).at("look at", &shown)?;
        if seen.kind == FileKind::Directory {
            return Err(Error::NotAFile { path: shown, kind: seen.kind });
        }
        let size = if seen.kind == FileKind::File { seen.size } else { 0 };
        read_whole(&handle, size, limit, &shown)
    }
}

/// How many bytes the regular file has that is standard input; 0 when it is something else, or cannot be looked at.
///
/// This is how much room reading it takes, not how much will be read: the file may grow, or have been read in part.
#[must_use]
pub fn stdin_size() -> u64 {
    match sys::stat_stdin() {
        Ok(seen) if seen.kind == FileKind::File => seen.size,
        _ => 0,
    }
}

/// Reads a file that the user named, of at most `limit` bytes.
pub fn read_input(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    InputFile::open(path)?.read(limit)
}

/// Reads a configuration file that may be missing: `None` when there is nothing by that name.
///
/// Only a regular file is read, of at most `limit` bytes; whatever else is there is an error, and does not block.
pub fn read_config(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Error> {
    let shown = path.display().to_string();
    let handle = match sys::open_config(path).at("open", &shown) {
        Ok(handle) => handle,
        Err(error) if error.is_code(sys::code::NOENT) || error.is_code(sys::code::NOTDIR) => return Ok(None),
        Err(error) => return Err(error),
    };
    let seen = sys::stat(&handle).at("look at", &shown)?;
    if seen.kind != FileKind::File {
        return Err(Error::NotAFile { path: shown, kind: seen.kind });
    }
    read_whole(&handle, seen.size, limit, &shown).map(Some)
}

/// Gives the path of a directory or file without symbolic links; for comparing what people name, never for opening.
#[allow(clippy::disallowed_methods, reason = "this crate is where files are looked at")]
pub fn real_path(path: &Path) -> Result<PathBuf, Error> {
    std::fs::canonicalize(path).at("find", path.to_string_lossy())
}
