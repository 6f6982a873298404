//! Finds out what the slots of a transaction's folder hold.

use fs_guard::Spot;
use workspace_trash::Record;

/// The content of a record's slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Nothing.
    Empty,
    /// The complete new file.
    New,
    /// The inode of the new file with other bytes: the crash came before they were written.
    Torn,
    /// The displaced file, as the plan expected it.
    Old,
    /// Some other file, which was displaced instead.
    Foreign,
}

/// Finds out what a slot holds. Where old and new bytes are equal, the inode tells which file it
/// is.
pub(super) fn look(slot: &Spot, record: &Record) -> Result<Slot, fs_guard::Error> {
    let Some(seen) = slot.metadata()? else { return Ok(Slot::Empty) };
    let digest = slot.hash()?;
    let [is_old, is_new] = [&record.before, &record.after].map(|state| {
        state.as_ref().is_some_and(|s| {
            s.kind() == seen.kind && s.size == seen.size && Some(s.sha256) == digest
        })
    });
    let [has_old_inode, has_new_inode] = [&record.before, &record.after]
        .map(|state| state.as_ref().is_some_and(|s| s.ino == seen.ino));
    Ok(match (is_old, is_new) {
        (true, false) => Slot::Old,
        (false, true) => Slot::New,
        // The bytes are the same, for instance when only the mode changes.
        (true, true) if has_old_inode => Slot::Old,
        (true, true) => Slot::New,
        (false, false) if has_new_inode && !has_old_inode => Slot::Torn,
        (false, false) => Slot::Foreign,
    })
}
