//! What the slots of a transaction's folder hold.

use fs_guard::Spot;
use workspace_trash::{FileState, Record};

/// What the slot of a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Nothing.
    Empty,
    /// The new file, whole.
    New,
    /// The new file's inode, with other bytes: a crash came before they were written.
    Torn,
    /// The file that was expected to be displaced.
    Old,
    /// Some other file: what was displaced instead.
    Foreign,
}

/// Looks into a slot. Inodes distinguish old from new where the bytes do not.
pub(super) fn look(slot: &Spot, record: &Record) -> Result<Slot, fs_guard::Error> {
    let Some(seen) = slot.metadata()? else { return Ok(Slot::Empty) };
    let digest = slot.hash()?;
    let is = |state: &Option<FileState>| {
        state.as_ref().is_some_and(|s| s.kind() == seen.kind && s.size == seen.size && Some(s.sha256) == digest)
    };
    let has_inode = |state: &Option<FileState>| state.as_ref().is_some_and(|s| s.ino == seen.ino);
    Ok(match (is(&record.before), is(&record.after)) {
        (true, false) => Slot::Old,
        (false, true) => Slot::New,
        // The same bytes (a change of mode, say).
        (true, true) if has_inode(&record.before) => Slot::Old,
        (true, true) => Slot::New,
        (false, false) if has_inode(&record.after) && !has_inode(&record.before) => Slot::Torn,
        (false, false) => Slot::Foreign,
    })
}
