//! The ways to open and to rename.

/// How an entry is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    /// For reading, without waiting for a FIFO's writer.
    Read,
    /// To be synced.
    Sync,
    /// A directory, as a place for other calls and for syncing.
    Directory,
    /// A directory on the way to something.
    Step,
    /// Without any access: to look at the entry itself, also when it is a link.
    Look,
    /// A new file for writing; fails when anything is there.
    CreateNew(u32),
    /// For appending; created when missing.
    Append(u32),
    /// For reading and writing in place; created when missing.
    ReadWrite(u32),
}

/// How a rename treats what is at the new place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rename {
    /// It goes.
    Replace,
    /// It stays, and the rename fails.
    NoReplace,
    /// Both swap their places.
    Exchange,
}
