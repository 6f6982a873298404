//! Rolls a transaction back, from any point.

use fs_guard::{DisplacedFile, Metadata, Spot, Target};
use workspace_trash::{FileState, Operation, Record};

use super::error::CommitError;
use super::publish::{Publication, gives_way, has_both_names, is_ours, is_published, is_recorded};
use super::siblings;
use super::slot::{Slot, look};

impl Publication<'_> {
    /// Undoes every record, last first. Returns the paths that someone else has changed since:
    /// these are left alone, and the files displaced there stay in their slots. At a path of
    /// `touched`, a published file that is gone was removed or renamed by someone else, so its
    /// pre-image is not put there.
    pub(super) fn roll_back(&self, touched: &[String]) -> Result<Vec<String>, CommitError> {
        let made = self.made();
        let mut left = Vec::new();
        let over = self.taken_over();
        let remake = self.removed_is_ours()?;
        let records = self.journal.records.iter().zip(&self.paths).rev();
        // A file replaced by a directory is restored after the directory is removed.
        let (files, before_dirs): (Vec<_>, Vec<_>) =
            records.partition(|(record, _)| !gives_way(&made, record));
        let (last, files): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|(record, _)| over.contains(&*record.path));
        self.undo_all(last, touched, &mut left)?;
        if remake {
            self.make_removed_dirs()?;
        }
        self.undo_all(files, touched, &mut left)?;
        // Staged files may be in the directories to remove next.
        siblings::remove_staged(self.dirs, self.journal);
        for (dir, _) in self.created.iter().rev() {
            self.dirs.remove_dir(dir)?;
        }
        self.undo_all(before_dirs, touched, &mut left)?;
        Ok(left)
    }

    /// Undoes some records, and adds to `left` the paths that someone else has changed since.
    fn undo_all(
        &self,
        records: Vec<(&Record, &Target)>,
        touched: &[String],
        left: &mut Vec<String>,
    ) -> Result<(), CommitError> {
        for (record, path) in records {
            if !self.undo(path, record, touched.contains(&record.path))? {
                left.push(record.path.clone());
            }
        }
        Ok(())
    }

    /// Returns whether removed directories have to be created again. If nothing is left to undo, a
    /// later transaction removed them, not this one.
    fn removed_is_ours(&self) -> Result<bool, CommitError> {
        Ok(!self.removed.is_empty()
            && !self.is_beside()
            && (self.journal.records.is_empty() || self.has_effects()?))
    }

    /// Creates the removed directories again.
    pub(super) fn make_removed_dirs(&self) -> Result<(), CommitError> {
        for (dir, mode) in self.removed.iter().rev() {
            match self.dirs.resume_dir(dir, Some(*mode)) {
                // Someone else has removed its parent.
                Ok(()) | Err(fs_guard::Error::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Returns whether any record is done.
    fn has_effects(&self) -> Result<bool, CommitError> {
        for (record, path) in self.journal.records.iter().zip(&self.paths) {
            let slot = self.pending.slot(record.slot);
            let done = match record.operation() {
                Operation::Add => match self.dirs.place(path) {
                    Ok(place) => slot.metadata()?.is_none() && is_published(Some(&place), record)?,
                    Err(fs_guard::Error::NotFound { .. }) => false,
                    Err(error) => return Err(error.into()),
                },
                Operation::Update | Operation::Delete => {
                    matches!(look(&slot, record)?, Slot::Old | Slot::Foreign)
                }
            };
            if done {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Undoes one record. Returns `false` if someone else's change is in the way.
    fn undo(&self, path: &Target, record: &Record, touched: bool) -> Result<bool, CommitError> {
        let place = match self.dirs.place(path) {
            Ok(place) => place,
            // The directory was not created yet, or is gone. A displaced file stays in its slot.
            Err(fs_guard::Error::NotFound { .. }) => {
                let slot = self.pending.slot(record.slot);
                let keeps = record.before.is_some()
                    && matches!(look(&slot, record)?, Slot::Old | Slot::Foreign);
                return Ok(!keeps);
            }
            Err(error) => return Err(error.into()),
        };
        let slot = self.stage_spot(record, &place)?;
        slot.settle_exchange(&place)?;
        let undone = match record.operation() {
            Operation::Add => undo_add(&place, &slot, record)?,
            Operation::Update => undo_update(&place, &slot, record, touched)?,
            Operation::Delete => match look(&slot, record)? {
                Slot::Empty => true,
                _ if has_both_names(&slot, &place)? => {
                    slot.remove()?;
                    true
                }
                _ => put_back(DisplacedFile::at(&slot), &place)? || is_restored(&place, record)?,
            },
        };
        // Someone has put the pre-image back, so this copy is not needed.
        if undone && record.sibling.is_some() && look(&slot, record)? == Slot::Old {
            slot.remove()?;
        }
        Ok(undone)
    }
}

fn undo_add(place: &Spot, slot: &Spot, record: &Record) -> Result<bool, CommitError> {
    let ours = record.after.as_ref().expect("an added file has an after");
    if slot.metadata()?.is_some() {
        return finish_link(place, slot);
    }
    let Some(seen) = place.metadata()? else { return Ok(true) };
    if !is_ours(&seen, place, ours)? {
        return Ok(false);
    }
    let taken = match DisplacedFile::take(place, slot) {
        Ok(taken) => taken,
        Err(fs_guard::Error::Changed { .. }) => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    if still_ours(taken.spot(), ours)? {
        return Ok(true);
    }
    taken.put_back(place)?;
    Ok(false)
}

/// Where a new file is published by a link, it may have both names: the published one is removed.
fn finish_link(place: &Spot, slot: &Spot) -> Result<bool, CommitError> {
    if slot.is_also(place) {
        place.remove()?;
    }
    Ok(true)
}

fn undo_update(
    place: &Spot,
    slot: &Spot,
    record: &Record,
    touched: bool,
) -> Result<bool, CommitError> {
    let ours = record.after.as_ref().expect("an updated file has an after");
    match look(slot, record)? {
        Slot::New | Slot::Torn => return Ok(true),
        // It was restored before; or someone removed the displaced file, and then the new one
        // stays.
        Slot::Empty => {
            let stays = place.metadata()?.is_some_and(|seen| seen.ino == ours.ino);
            return Ok(!stays);
        }
        Slot::Old | Slot::Foreign => {}
    }
    let displaced = DisplacedFile::at(slot);
    match place.metadata()? {
        None if touched => return Ok(false),
        None => return put_back(displaced, place),
        Some(seen) if !is_ours(&seen, place, ours)? => return is_restored(place, record),
        Some(_) => {}
    }
    let swapped = match displaced.swap_back(place) {
        Ok(swapped) => swapped,
        Err(fs_guard::Error::Changed { .. }) => return put_back(DisplacedFile::at(slot), place),
        Err(error) => return Err(error.into()),
    };
    if still_ours(swapped.spot(), ours)? {
        return Ok(true);
    }
    // Someone saved the file in between: the save gets its place back.
    swapped.swap_back(place)?;
    Ok(false)
}

/// Returns whether someone else has put the pre-image back, with nothing left to undo.
fn is_restored(place: &Spot, record: &Record) -> Result<bool, CommitError> {
    Ok(record.before.as_ref().map_or(Ok(false), |before| is_recorded(place, before))?)
}

fn put_back(displaced: DisplacedFile, place: &Spot) -> Result<bool, CommitError> {
    match displaced.put_back(place) {
        Ok(()) => Ok(true),
        // Also where the directory is gone, and was open.
        Err(fs_guard::Error::AlreadyExists { .. } | fs_guard::Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn still_ours(spot: &Spot, ours: &FileState) -> Result<bool, CommitError> {
    let seen: Option<Metadata> = spot.metadata()?;
    Ok(match seen {
        Some(seen) => is_ours(&seen, spot, ours)?,
        None => false,
    })
}
