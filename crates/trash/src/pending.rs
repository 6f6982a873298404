//! Unfinished transactions: their folders, their journals, their ends.

use std::cell::Cell;
use std::time::{Duration, SystemTime};

use fs_guard::{Dir, Error as FilesError, Hasher, NewFile, Spot, StagedFile, SyncGroup};

use crate::error::{Error, JournalProblem};
use crate::id::TransactionId;
use crate::index::{Indexed, NewestFirst};
use crate::journal::{Journal, Kept, LEFT};
use crate::locked::LockedStore;
use crate::packed::Packer;
use crate::prefix::Prefix;
use crate::retention::Retention;
use crate::store::{ABORTED, DONE, FoundJournal, JOURNAL, PENDING, slot_in};

/// The folder of a running transaction.
///
/// There are two ends: [`finish`](Self::finish) makes the folder a trash entry,
/// [`discard`](Self::discard) removes it. Without either, recovery deals with the folder.
#[derive(Debug)]
pub struct Pending<'s> {
    store: &'s LockedStore<'s>,
    id: TransactionId,
    parent: Dir,
    folder: Dir,
    trash: Option<Dir>,
    /// Its entry in the index, once its journal is written.
    indexed: Cell<Option<Indexed>>,
}

/// An interrupted transaction.
#[derive(Debug)]
pub struct Unfinished<'s> {
    /// Its folder.
    pub pending: Pending<'s>,
    /// The journal; `None` if the interruption came before its completion, so nothing was
    /// published.
    pub journal: Option<Journal>,
    /// Whether the transaction was being rolled back, or was not verified yet.
    pub aborted: bool,
    /// Whether the transaction was [marked](Pending::mark_done) as done.
    pub done: bool,
}

impl LockedStore<'_> {
    /// Starts a transaction, with an empty folder for its files.
    pub fn begin(&self) -> Result<Pending<'_>, Error> {
        // An unreadable key should be an error now, not when files are staged.
        self.signer()?;
        let now = SystemTime::now();
        let (trash, newest_first) = self.look()?;
        let last = self.last_ahead(newest_first, now)?;
        let pending = match self.pending.get() {
            Some(pending) => pending.clone(),
            None => self.dir.open_or_create_dir(PENDING)?,
        };
        let id = TransactionId::new(now, last);
        let folder = pending.create_dir(&id.to_string())?;
        Ok(Pending::new(self, id, pending, folder).with_trash(trash))
    }

    /// Returns the newest transaction, if the id of a new one has to follow although the clock is
    /// not past yet.
    ///
    /// The transaction must have a trusted journal, and not be from the future: the name of a
    /// folder proves nothing.
    fn last_ahead(
        &self,
        newest_first: NewestFirst<'_>,
        now: SystemTime,
    ) -> Result<Option<TransactionId>, Error> {
        let microsecond = Duration::from_micros(1);
        for id in newest_first {
            let id = id?;
            if id.is_ahead_of(now) {
                continue;
            }
            if id.time() + microsecond <= now {
                break;
            }
            match self.journal(id) {
                Ok(_) => return Ok(Some(id)),
                Err(error) if error.is_distrust() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Returns the interrupted transactions, oldest first.
    ///
    /// Fails for an entry other than a transaction, because it may hold displaced files; and for a
    /// complete journal without a signature of this user's keys, because carrying it out would let
    /// anyone who can create a folder write files.
    pub fn unfinished(&self) -> Result<Vec<Unfinished<'_>>, Error> {
        let Some((pending, names)) = self.dir.open_and_list(PENDING)? else {
            return Ok(Vec::new());
        };
        let _ = self.pending.set(pending.clone());
        let mut all = Vec::new();
        for name in names {
            let id = name.parse::<TransactionId>().map_err(|_| FilesError::UntrustedState {
                path: pending.spot(&name).path(),
                problem: "it is not the name of a transaction",
            })?;
            let Some(folder) = pending.open_dir(&name)? else { continue };
            let read = match self.read_journal(&folder, &Prefix::default(), id, false) {
                // Interrupted while the journal was being written: the commit point was not
                // reached.
                Err(Error::Journal { problem: JournalProblem::Damaged, .. }) => None,
                Err(Error::Journal { path, problem, .. }) => {
                    return Err(Error::Unfinished { path, problem });
                }
                result => result?,
            };
            let done = folder.spot(DONE).metadata()?.is_some();
            let (journal, aborted) = match read {
                // A program must not decide to carry it out.
                Some(found) if !found.authentic => {
                    return Err(Error::Unfinished {
                        path: folder.path().into(),
                        problem: JournalProblem::NoKey,
                    });
                }
                Some(FoundJournal { journal, aborted, .. }) => {
                    let unverified = journal.header.unverified && !done;
                    (Some(journal), aborted || unverified)
                }
                None => (None, false),
            };
            let pending = Pending::new(self, id, pending.clone(), folder);
            all.push(Unfinished { pending, journal, aborted, done });
        }
        Ok(all)
    }
}

/// Writes what tells the files that a transaction leaves, [packed](crate::packed): into a file, if
/// there is no room for it in the journal.
#[derive(Debug)]
pub struct LeftWriter {
    spot: Spot,
    packer: Packer,
    /// What is not in the file yet.
    packed: Vec<u8>,
    file: Option<LeftFile>,
}

#[derive(Debug)]
struct LeftFile {
    file: NewFile,
    hasher: Hasher,
    size: u64,
}

impl LeftWriter {
    /// Writes bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.packer.push(bytes, &mut self.packed);
        if self.packed.len() > Kept::MOST_HERE { self.write_packed() } else { Ok(()) }
    }

    fn write_packed(&mut self) -> Result<(), Error> {
        let to = match &mut self.file {
            Some(to) => to,
            none => {
                let file = self.spot.create(0o600)?;
                none.insert(LeftFile { file, hasher: Hasher::new(), size: 0 })
            }
        };
        to.file.write(&self.packed)?;
        to.hasher.update(&self.packed);
        to.size += self.packed.len() as u64;
        self.packed.clear();
        Ok(())
    }

    /// Returns what the journal has to say, and the file, if there is one. It is not synced yet.
    pub fn finish(mut self) -> Result<(Kept, Option<StagedFile>), Error> {
        self.packer.end_block(&mut self.packed);
        if self.file.is_some() || self.packed.len() > Kept::MOST_HERE {
            self.write_packed()?;
        }
        Ok(match self.file {
            Some(LeftFile { file, hasher, size }) => {
                (Kept::InFile(size, hasher.finish()), Some(file.finish_own(true)))
            }
            None if self.packed.is_empty() => (Kept::None, None),
            None => (Kept::Here(self.packed), None),
        })
    }
}

impl<'s> Pending<'s> {
    pub(crate) fn new(
        store: &'s LockedStore<'_>,
        id: TransactionId,
        parent: Dir,
        folder: Dir,
    ) -> Self {
        Self { store, id, parent, folder, trash: None, indexed: Cell::new(None) }
    }

    pub(crate) fn with_trash(self, trash: Dir) -> Self {
        Self { trash: Some(trash), ..self }
    }

    /// Returns the transaction's id.
    #[must_use]
    pub fn id(&self) -> TransactionId {
        self.id
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Dir {
        &self.folder
    }

    /// Returns the place of one of its files.
    #[must_use]
    pub fn slot(&self, number: u32) -> Spot {
        slot_in(&self.folder, number)
    }

    /// Returns the path of the journal, for messages.
    #[must_use]
    pub fn journal_path(&self) -> String {
        let aborted = self.folder.spot(ABORTED);
        match aborted.metadata() {
            Ok(Some(_)) => aborted.path(),
            _ => self.journal_spot().path(),
        }
    }

    /// Returns the place of the journal.
    #[must_use]
    pub fn journal_spot(&self) -> Spot {
        self.folder.spot(JOURNAL)
    }

    /// Writes the journal. It is not synced yet.
    pub fn write_journal(&self, journal: &Journal) -> Result<StagedFile, Error> {
        let signer = self.store.signer()?;
        self.indexed.set(Some(Indexed::of(journal)));
        let mut file = self.folder.spot(JOURNAL).create(0o600)?;
        let write = |part: &str| file.write(part.as_bytes());
        if self.store.prefix.is_empty() {
            journal.write(signer, write)?
        } else {
            self.store.prefix.joined(journal).write(signer, write)?
        }
        Ok(file.finish_own(true))
    }

    /// Returns a writer for what tells the files that the transaction leaves.
    #[must_use]
    pub fn left(&self) -> LeftWriter {
        let spot = self.folder.spot(LEFT);
        LeftWriter { spot, packer: Packer::default(), packed: Vec::new(), file: None }
    }

    /// Adds the directories to sync for the folder to be found again.
    pub fn add_dirs(&self, group: &mut SyncGroup<'_>) {
        group.dir(&self.folder);
        group.dir(&self.parent);
        group.dir(self.store.dir());
    }

    /// Marks the transaction, durably if wanted, as being rolled back.
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

    /// Marks the transaction, durably if wanted, as done: from here on it counts, whatever others
    /// do to its files.
    ///
    /// This is for transactions with verified files, and for those reported as done before the
    /// folder reached the trash. All others are done when the folder is there.
    pub fn mark_done(&self, durable: bool) -> Result<(), Error> {
        // The command that verified the files may have changed the trash.
        let known = self.store.known.take();
        self.store
            .known
            .set(known.filter(|known| self.trash.as_ref().is_some_and(|trash| known.is_of(trash))));
        match self.folder.spot(DONE).create(0o600) {
            Ok(mark) => drop(mark.finish_own(durable)),
            Err(FilesError::AlreadyExists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if durable {
            self.folder.sync()?;
        }
        Ok(())
    }

    /// Removes the folder and everything inside.
    ///
    /// The journal is removed first: without it recovery discards the folder.
    pub fn discard(self) -> Result<(), Error> {
        self.folder.spot(JOURNAL).remove()?;
        self.folder.spot(ABORTED).remove()?;
        self.parent.remove_tree(&self.id.to_string())?;
        Ok(())
    }

    /// Turns the folder, which now holds the displaced files, into a trash entry.
    pub fn finish(&self) -> Result<(), Error> {
        self.finish_keeping(None)
    }

    /// Does the same, and removes some of the oldest transactions if `retention` does not keep
    /// them; a later commit goes on. An interruption leaves a history without gaps. Returns whether
    /// other files of purged transactions are due for a purge: one commit in a few with removals
    /// says yes.
    pub fn finish_and_purge(&self, retention: &Retention, now: SystemTime) -> Result<bool, Error> {
        self.finish_keeping(Some((retention, now)))?;
        Ok(self.store.purged.take())
    }

    fn finish_keeping(&self, keep: Option<(&Retention, SystemTime)>) -> Result<(), Error> {
        let name = self.id.to_string();
        let known = self.store.known.take();
        let (trash, known) = match &self.trash {
            Some(trash) => (trash, known),
            // A recovered transaction: the next one writes the index anew.
            None => (&self.store.trash()?, None),
        };
        self.parent.spot(&name).rename_new(&trash.spot(&name))?;
        self.store.keep();
        if let Some((known, of)) = known.zip(self.indexed.get()) {
            self.store.known.set(self.store.note(trash, known, self.id, of, keep));
        }
        Ok(())
    }
}
