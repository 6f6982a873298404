//! The store as the one writer of the workspace uses it.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::time::{Duration, Instant, SystemTime};

use fs_guard::{Dir, Error as FilesError, FileTime, LockFile, Root};

use crate::error::{Error, JournalProblem};
use crate::id::TransactionId;
use crate::journal::Journal;
use crate::key::KeyPlace;
use crate::pending::Pending;
use crate::retention::finish_removing;
use crate::store::{PENDING, Store, TRASH, transactions_of};

const LOCK: &str = "lock";
const GITIGNORE: &str = ".gitignore";

/// The store, with the workspace's lock held.
///
/// When the state directory was made for this lock and nothing was committed, it is removed again
/// in the end, so that a failed first call leaves no file behind.
#[derive(Debug)]
pub struct LockedStore<'r> {
    store: Store<'r>,
    lock: RefCell<Option<LockFile>>,
    root_mtime: Option<FileTime>,
    keep: Cell<bool>,
    /// How many finished transactions there were when the last one began.
    pub(crate) count: Cell<usize>,
}

/// A transaction that was cut off.
#[derive(Debug)]
pub struct Unfinished<'s> {
    /// Its folder.
    pub pending: Pending<'s>,
    /// Its journal; `None` when it was cut off before that was complete, so nothing was published.
    pub journal: Option<Journal>,
    /// It was being rolled back.
    pub aborted: bool,
}

impl<'r> Deref for LockedStore<'r> {
    type Target = Store<'r>;

    fn deref(&self) -> &Self::Target {
        &self.store
    }
}

impl<'r> LockedStore<'r> {
    /// Takes the lock, waiting at most `timeout`; the state directory is made when missing.
    pub fn lock(root: &'r Root, key_place: KeyPlace, timeout: Duration) -> Result<Self, Error> {
        let start = Instant::now();
        loop {
            let (dir, root_mtime) = root.create_state_dir()?;
            let left = timeout.saturating_sub(start.elapsed());
            match dir.spot(LOCK).lock(left) {
                Ok(lock) => {
                    let locked = Self {
                        store: Store::new(root, dir, key_place),
                        lock: RefCell::new(Some(lock)),
                        root_mtime,
                        keep: Cell::new(false),
                        count: Cell::new(0),
                    };
                    locked.ignore_in_git()?;
                    return Ok(locked);
                }
                // The process before us removed the directory it had made.
                Err(FilesError::Io { source, .. })
                    if source.kind() == std::io::ErrorKind::NotFound && start.elapsed() < timeout => {}
                Err(error) => {
                    if let Some(mtime) = root_mtime {
                        let _ = root.remove_state_dir(mtime);
                    }
                    return Err(error.into());
                }
            }
        }
    }

    fn ignore_in_git(&self) -> Result<(), Error> {
        let spot = self.dir.spot(GITIGNORE);
        if spot.metadata()?.is_none() {
            let mut file = spot.create(0o600)?;
            file.write(b"*\n")?;
            file.finish(None, None, false)?;
        }
        Ok(())
    }

    /// Starts a transaction: an empty folder for its files.
    pub fn begin(&self) -> Result<Pending<'_>, Error> {
        // A key that cannot be read is an error now, not when files are staged.
        self.key()?;
        // Made now, so that the end of the transaction needs no space.
        let trash = self.trash()?;
        let names = trash.names()?;
        finish_removing(&trash, &names)?;
        let before = transactions_of(&names);
        self.count.set(before.len());
        let now = SystemTime::now();
        let last = self.last_ahead(&before, now)?;
        let pending = self.dir.open_or_create_dir(PENDING)?;
        let id = TransactionId::new(now, last)?;
        let folder = pending.create_dir(&id.to_string())?;
        Ok(Pending::new(self, id, pending, folder).with_trash(trash))
    }

    /// Returns the newest transaction that a new one's name has to follow although the clock is not past it.
    ///
    /// Only one whose journal is trusted, and not one from the future: a folder with a name proves nothing.
    fn last_ahead(&self, newest_first: &[TransactionId], now: SystemTime) -> Result<Option<TransactionId>, Error> {
        let microsecond = Duration::from_micros(1);
        let behind = |id: TransactionId| id.time() + microsecond <= now;
        let ahead = newest_first.iter().skip_while(|id| id.is_ahead_of(now)).take_while(|&&id| !behind(id));
        for &id in ahead {
            match self.journal(id) {
                Ok(_) => return Ok(Some(id)),
                Err(Error::Journal { .. } | Error::Files(FilesError::UntrustedState { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Returns the transactions that were cut off, the oldest first.
    ///
    /// Fails when there is something that is none, as it may hold files that were displaced, and when a journal that is
    /// whole is not signed with the user's key: carrying it out would let anyone write files who can make a folder.
    pub fn unfinished(&self) -> Result<Vec<Unfinished<'_>>, Error> {
        let Some(pending) = self.dir.open_dir(PENDING)? else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for name in pending.names()? {
            let id = name.parse::<TransactionId>().map_err(|_| FilesError::UntrustedState {
                path: pending.spot(&name).path(),
                problem: "it is not the name of a transaction",
            })?;
            let Some(folder) = pending.open_dir(&name)? else { continue };
            let read = match self.read_journal(&folder, id) {
                // Cut off while it was written: the commit point was not reached.
                Err(Error::Journal { problem: JournalProblem::Damaged, .. }) => None,
                result => result?,
            };
            let (journal, aborted) = match read {
                // Carrying it out is not for a program to decide.
                Some(_) if !self.is_signed()? => {
                    return Err(Error::Journal { path: folder.path().into(), problem: JournalProblem::Unsigned });
                }
                Some((journal, aborted)) => (Some(journal), aborted),
                None => (None, false),
            };
            let pending = Pending::new(self, id, pending.clone(), folder);
            all.push(Unfinished { pending, journal, aborted });
        }
        Ok(all)
    }

    /// Tells whether the state directory was made for this lock.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.root_mtime.is_some()
    }

    /// Notes that something was committed: the state directory stays.
    pub fn keep(&self) {
        self.keep.set(true);
    }

    pub(crate) fn trash(&self) -> Result<Dir, Error> {
        Ok(self.dir.open_or_create_dir(TRASH)?)
    }

    /// Removes the state directory if there is nothing in it but what `lock` made.
    fn tidy(&self, root_mtime: FileTime) -> Result<(), Error> {
        let dir = self.store.dir();
        for name in [TRASH, PENDING] {
            dir.remove_dir(name)?;
        }
        if dir.names()?.iter().any(|name| name != LOCK && name != GITIGNORE) {
            return Ok(());
        }
        dir.spot(GITIGNORE).remove()?;
        if let Some(lock) = self.lock.take() {
            lock.remove()?;
        }
        self.store.root.remove_state_dir(root_mtime)?;
        Ok(())
    }
}

impl Drop for LockedStore<'_> {
    fn drop(&mut self) {
        if let Some(mtime) = self.root_mtime
            && !self.keep.get()
        {
            // Nothing depends on it: the next lock finds an empty state directory.
            let _ = self.tidy(mtime);
        }
    }
}
