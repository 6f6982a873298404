//! The files of a repository: this crate's part of `std::fs`, and the steps to make a file durable.
//!
//! The caller names the repository, and git follows links there, so this is no sandbox.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the one place that touches files"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Makes an error of the crate from one of the system.
pub(crate) fn failed<'a>(
    action: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> Error + 'a {
    move |source| Error::Io { action, path: path.to_owned(), source }
}

/// Whether an error means: no such file.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
    )
}

/// Reads a regular file of at most `limit` bytes; none if there is no file of this name.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    match read_up_to(path, limit)? {
        Some(bytes) if bytes.len() as u64 > limit => {
            Err(failed("read", path)(io::Error::other("it is too large")))
        }
        read => Ok(read),
    }
}

/// Reads a regular file; none for a missing file, or one of more than `limit` bytes.
pub(crate) fn read_small(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    Ok(read_up_to(path, limit)?.filter(|bytes| bytes.len() as u64 <= limit))
}

/// Reads the first `limit` bytes of a regular file, and one more if there are more; none if there
/// is no file of this name.
fn read_up_to(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    match read_regular(path, limit) {
        Err(error) if is_absent(&error) => Ok(None),
        other => other.map_err(failed("read", path)),
    }
}

fn read_regular(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    // Opening a pipe would wait for a writer. `GIT_CONFIG_GLOBAL=/dev/null` is the way of git's
    // manual to have no configuration.
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() || path == Path::new("/dev/null") {
        return Ok(None);
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    // One byte more than the expected size, so that a short first read is also the last.
    let size = usize::try_from(metadata.len().min(limit)).unwrap_or(usize::MAX).saturating_add(1);
    let mut bytes = vec![0; size.min(1 << 20)];
    let mut file = File::open(path)?;
    let read = file.read(&mut bytes)?;
    bytes.truncate(read);
    if read + 1 != size {
        file.take(limit + 1 - read as u64).read_to_end(&mut bytes)?;
    }
    Ok(Some(bytes))
}

/// Returns the text of a symbolic link; none if there is none.
pub(crate) fn read_link(path: &Path) -> Option<PathBuf> {
    fs::read_link(path).ok()
}

/// Returns the path that bytes are, if the system has such paths.
#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "as on other systems")]
pub(crate) fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(bytes).into())
}

/// Returns the path that bytes are, if they are UTF-8.
#[cfg(not(unix))]
pub(crate) fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Returns a path without links and `..`; none if it leads nowhere.
pub(crate) fn canonical(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// Lists the names in a directory; none if there is no such directory.
pub(crate) fn names(path: &Path) -> Result<Vec<PathBuf>> {
    let list = fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>());
    match list {
        Err(error) if is_absent(&error) => Ok(Vec::new()),
        other => other.map_err(failed("list", path)),
    }
}

/// Who besides the owner may use what is written (`core.sharedRepository`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Shared {
    /// The bits left by the umask.
    #[default]
    Umask,
    /// These bits are added.
    Add(u32),
    /// These bits are all.
    Exactly(u32),
}

/// How files are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileInProgress {
    pub(crate) shared: Shared,
    /// Whether what is written outlasts a power cut.
    pub(crate) durable: bool,
}

impl FileInProgress {
    fn sync(self, file: &File) -> io::Result<()> {
        if self.durable { file.sync_all() } else { Ok(()) }
    }

    /// Makes the names in a directory durable.
    pub(crate) fn sync_dir(self, path: &Path) -> Result<()> {
        // Elsewhere a directory cannot be opened as a file, and its names are durable without a
        // sync.
        if !cfg!(unix) || !self.durable {
            return Ok(());
        }
        File::open(path).and_then(|directory| directory.sync_all()).map_err(failed("sync", path))
    }
}

impl Shared {
    /// Returns what becomes of a mode.
    #[cfg_attr(not(unix), allow(dead_code, reason = "other systems have no such modes"))]
    fn adjust(self, mode: u32, directory: bool) -> u32 {
        let (mut bits, rest) = match self {
            Self::Umask => return mode,
            Self::Add(bits) => (bits, mode & 0o7777),
            Self::Exactly(bits) => (bits, mode & 0o7000),
        };
        if mode & 0o200 == 0 {
            bits &= !0o222;
        }
        if mode & 0o100 != 0 {
            bits |= (bits & 0o444) >> 2;
        }
        // The files of a shared directory belong to its group.
        rest | bits | if directory { 0o2000 } else { 0 }
    }

    #[cfg(unix)]
    fn apply(self, path: &Path) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        if self == Self::Umask {
            return Ok(());
        }
        let metadata = fs::metadata(path)?;
        let mode = metadata.permissions().mode() & 0o7777;
        let wanted = self.adjust(mode, metadata.is_dir());
        if mode == wanted {
            Ok(())
        } else {
            fs::set_permissions(path, PermissionsExt::from_mode(wanted))
        }
    }

    #[cfg(not(unix))]
    #[allow(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "the same function as elsewhere"
    )]
    fn apply(self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Creates a directory with its parents, down from `base`; returns the directories with changed
/// entries.
pub(crate) fn create_dirs(
    base: &Path,
    relative: &Path,
    writing: FileInProgress,
) -> io::Result<Vec<PathBuf>> {
    let mut at = base.to_owned();
    let mut changed = Vec::new();
    for part in relative.components() {
        let next = at.join(part);
        match fs::create_dir(&next) {
            Ok(()) => {
                writing.shared.apply(&next)?;
                changed.push(at);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && next.is_dir() => {}
            Err(error) => return Err(error),
        }
        at = next;
    }
    Ok(changed)
}

/// Removes a directory, and its subdirectories, if there is no file in any of them.
pub(crate) fn remove_empty_dirs(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_empty_dirs(&entry.path())?;
        }
    }
    fs::remove_dir(path)
}

/// A file with no name yet that anyone looks for; dropped, it is removed.
pub(crate) struct Temporary(NamedTempFile);

impl Temporary {
    /// Creates a file that cannot be written again.
    pub(crate) fn create(directory: &Path, prefix: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o444));
        }
        builder.tempfile_in(directory).map(Self)
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Makes the bytes durable and sets the mode.
    pub(crate) fn sync(&self, writing: FileInProgress) -> io::Result<()> {
        writing.shared.apply(self.0.path())?;
        writing.sync(self.0.as_file())
    }

    /// Gives the file its name; if another program was faster, its file, which has the same
    /// contents, is made durable instead.
    pub(crate) fn publish(self, path: &Path, writing: FileInProgress) -> io::Result<()> {
        match self.0.persist_noclobber(path) {
            Ok(_) => Ok(()),
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
                freshen(path, writing).map(drop)
            }
            Err(failed) => Err(failed.error),
        }
    }
}

/// Sets the time of an existing file to now, and makes the file durable; returns whether there is
/// one.
///
/// git removes old objects that nothing refers to, and other programs need not have made them
/// durable.
pub(crate) fn freshen(path: &Path, writing: FileInProgress) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    // Another user's file keeps its time, as with git.
    let _ = file.set_modified(SystemTime::now());
    writing.sync(&file)?;
    Ok(true)
}

/// Appends a line to a file in one write, and makes the file durable; returns whether there is one.
pub(crate) fn append(
    path: &Path,
    line: &[u8],
    create: bool,
    writing: FileInProgress,
) -> io::Result<bool> {
    match OpenOptions::new().append(true).create(create).open(path) {
        Ok(mut file) => {
            file.write_all(line)?;
            writing.shared.apply(path)?;
            writing.sync(&file)?;
            Ok(true)
        }
        Err(error) if is_absent(&error) && !create => Ok(false),
        Err(error) => Err(error),
    }
}

/// A file that another program takes as the sign to wait; dropped, it is removed.
pub(crate) struct Lock {
    path: PathBuf,
    file: Option<File>,
}

impl Lock {
    /// Creates the file; fails with [`io::ErrorKind::AlreadyExists`] if there is one.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        Ok(Self { path: path.to_owned(), file: Some(file) })
    }

    /// Writes these bytes, makes them durable, and gives the file the locked name.
    pub(crate) fn commit(
        mut self,
        bytes: &[u8],
        path: &Path,
        writing: FileInProgress,
        before: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut file = self.file.take().expect("a lock is committed once");
        file.write_all(bytes)
            .and_then(|()| writing.shared.apply(&self.path))
            .and_then(|()| writing.sync(&file))
            .map_err(failed("write", &self.path))?;
        drop(file);
        before()?;
        fs::rename(&self.path, path).map_err(failed("replace", path))?;
        // Nothing to remove any more, and the name may be someone else's lock by now.
        self.path.clear();
        Ok(())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            self.file = None;
            let _ = fs::remove_file(&self.path);
        }
    }
}
