//! Goes back although the transaction's folder is gone.
//!
//! A check may run `git clean -fdx`, which removes the state directory with all that is in it. So
//! the displaced files stay open while the check runs; if they lost their names, they are copied
//! beside their places, and the roll-back finds them there.

use fs_guard::{Metadata, OpenFile, SyncGroup};
use workspace_trash::Journal;

use super::error::CommitError;
use super::publish::Publication;
use super::siblings;

/// The most files that are held open. Systems let a process have 1024 open files or more; some of
/// these are the program's own.
const MOST: usize = 500;

/// The displaced files of a transaction.
pub(super) struct Held {
    /// By the number of the slot.
    files: Vec<(u32, HeldFile)>,
}

enum HeldFile {
    File(OpenFile, Metadata),
    Link(Vec<u8>),
}

impl Held {
    /// Opens the displaced files.
    pub(super) fn open(publication: &Publication<'_>) -> Result<Self, CommitError> {
        let mut files = Vec::new();
        for (record, path) in publication.journal.records.iter().zip(&publication.paths).take(MOST)
        {
            let Some(before) = &record.before else { continue };
            let slot = match publication.dirs.place(path) {
                Ok(place) => publication.stage_spot(record, &place)?,
                Err(_) => publication.pending.slot(record.slot),
            };
            let displaced = if before.link {
                HeldFile::Link(slot.read_link()?)
            } else {
                let (file, seen) = slot.open()?;
                HeldFile::File(file, seen)
            };
            files.push((record.slot, displaced));
        }
        Ok(Self { files })
    }

    /// Returns whether the folder is gone, or a displaced file.
    pub(super) fn is_lost(&self, publication: &Publication<'_>) -> Result<bool, CommitError> {
        if publication.is_beside() {
            return Ok(false);
        }
        if publication.pending.journal_spot().metadata()?.is_none() {
            return Ok(true);
        }
        for (slot, _) in &self.files {
            if publication.pending.slot(*slot).metadata()?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Copies the displaced files beside their places. Returns the journal with these places.
    pub(super) fn put_beside(self, publication: &Publication<'_>) -> Result<Journal, CommitError> {
        publication.make_removed_dirs()?;
        let mut journal = publication.journal.clone();
        let mut held = self.files.into_iter().peekable();
        let mut copies = Vec::new();
        for (record, path) in journal.records.iter_mut().zip(&publication.paths) {
            let name = siblings::name(path)?;
            let displaced =
                held.next_if(|(slot, _)| *slot == record.slot).map(|(_, displaced)| displaced);
            let place = match publication.dirs.place(path) {
                Ok(place) => place,
                // Someone removed its directory.
                Err(fs_guard::Error::NotFound { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            let beside = place.dir().spot(&name);
            record.sibling = Some(name);
            match displaced {
                Some(HeldFile::File(mut file, seen)) => {
                    copies.push(siblings::copy(&mut file, &seen, &beside)?)
                }
                Some(HeldFile::Link(text)) => drop(beside.create_link(&text)?),
                None => {}
            }
        }
        let mut group = SyncGroup::new();
        copies.iter().for_each(|copy| group.file(copy));
        group.dirs_of(publication.dirs);
        group.sync(None)?;
        Ok(journal)
    }
}
