//! The files that the user names outside of any workspace: those of the command line, standard
//! input, the terminal.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "not files of a workspace: the caller who names one may read it"
)]

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use apply_patch_api::files::{Error, FileKind};

use crate::platform;
pub(crate) use crate::platform::{Terminal, has_typed, terminal};

/// The path in a variable of the environment; `None` for a relative one.
pub(crate) fn absolute(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The user's home directory, if known.
pub(crate) fn home() -> Option<PathBuf> {
    absolute("HOME").or_else(|| if cfg!(windows) { absolute("USERPROFILE") } else { None })
}

/// Where programs keep the user's configuration, by the rules of the XDG base directories, and
/// `%APPDATA%` on Windows.
pub(crate) fn config_home() -> Option<PathBuf> {
    absolute("XDG_CONFIG_HOME")
        .or_else(|| if cfg!(windows) { absolute("APPDATA") } else { None })
        .or_else(|| Some(home()?.join(".config")))
}

/// Returns whether a file or directory exists at this path.
pub(crate) fn exists(path: &Path) -> bool {
    path.exists()
}

/// Returns whether something has this path, also a dangling link.
pub(crate) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Removes a file; a link is removed itself.
pub(crate) fn remove_file(path: &Path) -> Result<(), Error> {
    std::fs::remove_file(path).map_err(|source| Error::Io {
        operation: "remove",
        path: path.display().to_string(),
        source,
    })
}

/// Removes an empty directory.
pub(crate) fn remove_empty_dir(path: &Path) {
    let _ = std::fs::remove_dir(path);
}

/// Writes a file into a directory named by the user; both are made where they are missing.
pub(crate) fn write_into(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    std::fs::write(dir.join(name), text)
}

/// A file (or a FIFO, or `/dev/stdin`) named by the user, open and not read yet.
#[derive(Debug)]
pub(crate) struct InputFile {
    file: File,
    shown: String,
}

impl InputFile {
    /// Opens the file; links are followed.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let shown = path.display().to_string();
        match File::open(path) {
            Ok(file) => Ok(Self { file, shown }),
            Err(source) => Err(Error::Io { operation: "open", path: shown, source }),
        }
    }

    /// Reads all bytes, at most `limit`.
    pub(crate) fn read(self, limit: u64) -> Result<Vec<u8>, Error> {
        let seen = self.file.metadata().map_err(|error| self.io_error("look at", error))?;
        if seen.is_dir() {
            return Err(Error::NotAFile { path: self.shown, kind: FileKind::Directory });
        }
        if seen.len() > limit {
            return Err(self.too_large(seen.len(), limit));
        }
        let mut bytes = Vec::new();
        // With a byte of room left, the end is seen without growing.
        let room = usize::try_from(seen.len()).unwrap_or(usize::MAX).saturating_add(1);
        bytes.try_reserve_exact(room).map_err(|_| self.too_large(seen.len(), limit))?;
        (&self.file)
            .take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| self.io_error("read", error))?;
        if bytes.len() as u64 > limit {
            return Err(self.too_large(bytes.len() as u64, limit));
        }
        Ok(bytes)
    }

    fn io_error(&self, operation: &'static str, source: io::Error) -> Error {
        Error::Io { operation, path: self.shown.clone(), source }
    }

    fn too_large(&self, size: u64, limit: u64) -> Error {
        Error::TooLarge { path: self.shown.clone(), size, limit }
    }
}

/// Reads a file named by the user, of at most `limit` bytes.
pub(crate) fn read_input(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    InputFile::open(path)?.read(limit)
}

/// The size of the regular file at standard input; `None` for anything else, or an unknown size.
///
/// The size is the room for reading, not the number of bytes to come: the file may grow, or have
/// been read in part.
pub(crate) static STDIN_SIZE: LazyLock<Option<u64>> = LazyLock::new(platform::stdin_size);

/// Whether standard input is a terminal.
pub(crate) static STDIN_IS_TERMINAL: LazyLock<bool> =
    LazyLock::new(|| STDIN_SIZE.is_none() && io::stdin().is_terminal());

/// Whether standard output is a terminal.
pub(crate) static STDOUT_IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal());

/// Whether standard error is a terminal.
pub(crate) static STDERR_IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stderr().is_terminal());
