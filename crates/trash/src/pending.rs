//! A transaction that is not finished: its folder, its journal, its end.

use fs_guard::{Dir, Spot, StagedFile, SyncGroup};

use crate::error::Error;
use crate::id::TransactionId;
use crate::journal::Journal;
use crate::locked::LockedStore;
use crate::store::{ABORTED, JOURNAL};

/// The folder of a transaction under way.
///
/// It ends in one of two ways: [`finish`](Self::finish) makes it a trash entry,
/// [`discard`](Self::discard) removes it. When it does neither, recovery sees to it.
#[derive(Debug)]
pub struct Pending<'s> {
    store: &'s LockedStore<'s>,
    id: TransactionId,
    parent: Dir,
    folder: Dir,
    trash: Option<Dir>,
}

impl<'s> Pending<'s> {
    pub(crate) fn new(store: &'s LockedStore<'_>, id: TransactionId, parent: Dir, folder: Dir) -> Self {
        Self { store, id, parent, folder, trash: None }
    }

    pub(crate) fn with_trash(self, trash: Dir) -> Self {
        Self { trash: Some(trash), ..self }
    }

    /// Returns the transaction's name.
    #[must_use]
    pub fn id(&self) -> TransactionId {
        self.id
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Dir {
        &self.folder
    }

    /// Returns the place of a file in it.
    #[must_use]
    pub fn slot(&self, number: u32) -> Spot {
        self.folder.spot(&number.to_string())
    }

    /// Returns where the journal is, for messages.
    #[must_use]
    pub fn journal_path(&self) -> String {
        self.folder.spot(JOURNAL).path()
    }

    /// Writes the journal; it is not durable yet.
    pub fn write_journal(&self, journal: &Journal) -> Result<StagedFile, Error> {
        let text = journal.to_text(self.store.key()?);
        let mut file = self.folder.spot(JOURNAL).create(0o600)?;
        file.write(text.as_bytes())?;
        Ok(file.finish(None, None, true)?)
    }

    /// Adds to a group what has to be durable for the folder to be found again.
    pub fn add_dirs(&self, group: &mut SyncGroup<'_>) {
        group.dir(&self.folder);
        group.dir(&self.parent);
        group.dir(self.store.dir());
    }

    /// Notes, durably if wanted, that the transaction is being rolled back.
    pub fn mark_aborted(&self, durable: bool) -> Result<(), Error> {
        let journal = self.folder.spot(JOURNAL);
        if journal.metadata()?.is_some() {
            journal.rename_new(&self.folder.spot(ABORTED))?;
        }
        if durable {
            self.folder.sync()?;
        }
        Ok(())
    }

    /// Removes the folder with all that is in it.
    ///
    /// The journal goes first: without it the folder is discarded whenever it is found.
    pub fn discard(self) -> Result<(), Error> {
        self.folder.spot(JOURNAL).remove()?;
        self.folder.spot(ABORTED).remove()?;
        self.parent.remove_tree(&self.id.to_string())?;
        Ok(())
    }

    /// Makes the folder, which holds the displaced files by now, a trash entry.
    pub fn finish(self) -> Result<(), Error> {
        let name = self.id.to_string();
        let trash = match self.trash {
            Some(trash) => trash,
            None => self.store.trash()?,
        };
        self.parent.spot(&name).rename_new(&trash.spot(&name))?;
        self.store.keep();
        Ok(())
    }
}
