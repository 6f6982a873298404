//! The metadata of directory entries: kind, size, permissions and identity.

#[cfg(any(unix, windows))]
use std::time::SystemTime;

/// The kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A symbolic link (never followed).
    Symlink,
    /// A directory.
    Directory,
    /// A commit of another repository, in a tree of git.
    Submodule,
    /// A FIFO, socket or device.
    Other,
}

impl FileKind {
    /// Returns the word for messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Symlink => "symbolic link",
            Self::Directory => "directory",
            Self::Submodule => "submodule",
            Self::Other => "special file",
        }
    }
}

/// The metadata of an entry of a [`Tree`](crate::Tree).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its kind. [`FileKind::Submodule`] and [`FileKind::Other`] can be neither read nor entered.
    pub kind: FileKind,
    /// Permission bits, at most `0o777`.
    pub mode: u32,
    /// Length in bytes, of a file or of a link's text.
    pub size: u64,
}

impl Entry {
    /// Returns the metadata of a file with mode 644, or of an executable with 755.
    #[must_use]
    pub fn file(size: u64, executable: bool) -> Self {
        Self { kind: FileKind::File, mode: if executable { 0o755 } else { 0o644 }, size }
    }

    /// Returns the metadata of a symbolic link.
    #[must_use]
    pub fn link(size: u64) -> Self {
        Self { kind: FileKind::Symlink, mode: 0o777, size }
    }

    /// Returns the metadata of a directory.
    #[must_use]
    pub fn directory() -> Self {
        Self { kind: FileKind::Directory, mode: 0o755, size: 0 }
    }
}

/// A point in time as file systems store it: seconds since 1970 and nanoseconds.
pub type FileTime = (i64, u32);

/// The metadata of a directory entry.
#[derive(Debug, Clone)]
pub struct Metadata {
    /// Its kind.
    pub kind: FileKind,
    /// Length in bytes.
    pub size: u64,
    /// Permission bits with set-id bits, at most `0o7777`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Number of names (hard links).
    pub nlink: u64,
    /// Device number of the file system.
    pub dev: u64,
    /// Inode number, unique on the device.
    pub ino: u64,
    /// Time of the last change of the bytes.
    pub mtime: FileTime,
    /// Time of the last change of the bytes or the inode.
    pub ctime: FileTime,
    /// Whether the last change came so shortly before the look that another change might leave the
    /// same times.
    pub(crate) racy: bool,
    /// Whether the file has extended attributes, if known.
    pub(crate) has_xattrs: Option<bool>,
}

/// Compares everything but what is about the observation itself.
impl PartialEq for Metadata {
    fn eq(&self, other: &Self) -> bool {
        self.same_bytes_as(other)
            && self.ctime == other.ctime
            && (self.mode, self.uid, self.gid, self.nlink)
                == (other.mode, other.uid, other.gid, other.nlink)
    }
}

impl Eq for Metadata {}

/// The time of an entry that is not on a disk.
const NEVER: FileTime = (0, 0);

impl Metadata {
    /// Returns the metadata of an entry that is not on a disk: one name, no owner, no times.
    pub(crate) fn of(entry: Entry) -> Self {
        let Entry { kind, mode, size } = entry;
        Self {
            kind,
            size,
            mode,
            uid: 0,
            gid: 0,
            nlink: 1,
            dev: 0,
            ino: 0,
            mtime: NEVER,
            ctime: NEVER,
            racy: false,
            has_xattrs: Some(false),
        }
    }

    /// Returns whether both are the same inode.
    #[must_use]
    pub fn same_inode(&self, other: &Self) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }

    /// Returns whether both are the same inode with the same size and modification time.
    ///
    /// `ctime` is not compared, because a rename changes it.
    #[must_use]
    pub fn same_bytes_as(&self, other: &Self) -> bool {
        self.same_inode(other)
            && self.kind == other.kind
            && self.size == other.size
            && self.mtime == other.mtime
    }

    /// Returns whether equal times prove equal bytes. They do not if the file changed within the
    /// granularity of its time stamps before the look.
    #[must_use]
    pub fn times_are_telling(&self) -> bool {
        !self.racy
    }

    /// Returns the permission bits for a replacement: set-id bits are dropped.
    #[must_use]
    pub fn kept_mode(&self) -> u32 {
        self.mode & 0o777
    }

    /// Returns whether extended attributes may have to be copied.
    #[must_use]
    pub fn may_have_xattrs(&self) -> bool {
        self.kind == FileKind::File && self.has_xattrs != Some(false)
    }

    /// Notes whether the times of this observation can be trusted to show the next change.
    ///
    /// Linux stamps files with the time of the last timer tick (at most 10 ms ago). File systems
    /// with times in whole seconds, or two of them, show zero nanoseconds.
    pub(crate) fn observed_at(mut self, now: FileTime) -> Self {
        let coarse = self.mtime.1 == 0 && self.ctime.1 == 0;
        let needed: i128 = if coarse { 2_500_000_000 } else { 60_000_000 };
        let latest = nanos(self.mtime.max(self.ctime));
        self.racy = nanos(now) - latest < needed;
        self
    }
}

/// Returns the time of day. It is ahead of what files are stamped with by a tick at most.
#[cfg(any(unix, windows))]
pub(crate) fn now() -> FileTime {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (now.as_secs().cast_signed(), now.subsec_nanos())
}

fn nanos((seconds, nanos): FileTime) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(mtime: FileTime, now: FileTime) -> bool {
        with(mtime, mtime, now)
    }

    fn with(mtime: FileTime, ctime: FileTime, now: FileTime) -> bool {
        Metadata {
            kind: FileKind::File,
            size: 0,
            mode: 0o644,
            uid: 0,
            gid: 0,
            nlink: 1,
            dev: 1,
            ino: 1,
            mtime,
            ctime,
            racy: false,
            has_xattrs: None,
        }
        .observed_at(now)
        .times_are_telling()
    }

    #[test]
    fn fresh_times_tell_nothing() {
        assert!(!at((100, 5), (100, 5)));
        assert!(!at((100, 5), (100, 50_000_000)));
        assert!(at((100, 5), (100, 70_000_000)));
        assert!(!at((100, 0), (102, 0)), "a file system of whole seconds");
        assert!(at((100, 0), (103, 0)));
        assert!(!at((200, 5), (100, 0)), "from the future");
        // A single whole second, as a copied file may have it, does not prove such a file system.
        assert!(with((50, 0), (100, 5), (100, 70_000_000)));
        assert!(with((50, 5), (100, 0), (100, 70_000_000)));
        assert!(!with((100, 5), (50, 5), (100, 50_000_000)));
        assert!(!with((50, 5), (100, 5), (100, 50_000_000)));
    }
}
