//! Files and directories by their own paths, outside any root.

use std::path::{Path, PathBuf};

use crate::error::{At as _, Error, NoRoot};
use crate::metadata::{FileKind, FileTime};
use crate::read::read_whole;
use crate::sys;

/// Reads a configuration file, if there is one. `None` if nothing has the name.
///
/// Only a regular file of at most `limit` bytes is read. Anything else is an error, and does not
/// block.
pub fn read_config(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Error> {
    let shown = path.display().to_string();
    let handle = match sys::open_config(path).at("open", &shown) {
        Ok(handle) => handle,
        Err(error) if error.is_code(sys::code::NOENT) || error.is_code(sys::code::NOTDIR) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let seen = sys::stat(&handle).at("look at", &shown)?;
    if seen.kind != FileKind::File {
        return Err(Error::NotAFile { path: shown, kind: seen.kind });
    }
    read_whole(&handle, seen.size, limit, &shown).map(Some)
}

/// Returns the path of a directory or file without symbolic links, for comparing paths from people,
/// never for opening.
#[allow(clippy::disallowed_methods, reason = "this crate is where files are looked at")]
pub fn real_path(path: &Path) -> Result<PathBuf, Error> {
    std::fs::canonicalize(path)
        .map_err(|source| NoRoot::from_io(source, "find", &path.to_string_lossy()))
}

/// Returns the second in which this machine started, by its present clock; `None` on systems that
/// do not say.
#[must_use]
pub fn started_at() -> Option<FileTime> {
    sys::started_at()
}
