//! The ways of opening and renaming, and the names for that.

/// A name in an open directory; `D` borrows the handle of the platform.
#[derive(Clone, Copy)]
#[cfg_attr(not(any(unix, windows)), allow(dead_code, reason = "no call reads it there"))]
pub(crate) struct NameIn<'n, D> {
    pub(crate) dir: D,
    pub(crate) name: &'n str,
}

/// How an entry is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    /// For reading, without waiting for a FIFO's writer.
    Read,
    /// To sync the file.
    Sync,
    /// A directory, as the base of other calls and for syncing.
    Directory,
    /// A directory on the way to an entry.
    Step,
    /// Without access, for a look at the entry itself, even a link.
    Look,
    /// A new file for writing. Fails if anything is there.
    CreateNew(u32),
    /// For appending and reading. Created if missing.
    Append(u32),
    /// For reading and writing in place. Created if missing.
    ReadWrite(u32),
    /// For reading and writing in place.
    Overwrite,
}

/// The treatment by a rename of an entry that has the new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rename {
    /// Replace it.
    Replace,
    /// Keep it, and fail.
    NoReplace,
    /// Swap the two.
    Exchange,
}
