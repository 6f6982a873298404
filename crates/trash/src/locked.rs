//! The store for the one writer of the workspace.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use fs_guard::{AppendFile, Dir, Error as FilesError, FileTime, LockFile, Root, Sha256, Wait};

use crate::error::Error;
use crate::index::{Index, Summary};
use crate::journal::Journal;
use crate::key::OwnKey;
use crate::prefix::Prefix;
use crate::store::{PENDING, SEARCHED, Store, TRASH};

pub(crate) const LOCK: &str = "lock";
pub(crate) const GITIGNORE: &str = ".gitignore";

/// The store, with the workspace's lock held.
///
/// A state directory created for this lock is removed at the end if nothing was committed: a failed
/// first call leaves no file behind.
#[derive(Debug)]
pub struct LockedStore<'r> {
    store: Store<'r>,
    lock: RefCell<Option<LockFile>>,
    root_mtime: Option<FileTime>,
    keep: Cell<bool>,
    /// The folder of unfinished transactions, once opened.
    pub(crate) pending: OnceCell<Dir>,
    /// The summary of the index, if believed, since the beginning of the last transaction.
    pub(crate) known: Cell<Option<Summary>>,
    /// Whether transactions were purged, and their other files are due for a purge.
    pub(crate) purged: Cell<bool>,
    /// Whether the directories below were looked through for states when the lock was taken.
    pub(crate) searched: OnceCell<bool>,
    /// The open file of the index.
    pub(crate) index_file: RefCell<Option<Arc<AppendFile>>>,
    /// The index at the last read.
    pub(crate) last_read: RefCell<Option<Index>>,
}

impl<'r> Deref for LockedStore<'r> {
    type Target = Store<'r>;

    fn deref(&self) -> &Self::Target {
        &self.store
    }
}

impl<'r> LockedStore<'r> {
    /// Takes the lock, waiting if necessary, and creates the state directory if it is missing.
    pub fn lock(
        root: &'r Root,
        key: impl Into<OwnKey>,
        wait: impl Into<Wait>,
    ) -> Result<Self, Error> {
        let Wait { timeout, cancellation } = wait.into();
        let key = key.into();
        let start = Instant::now();
        let mut first = true;
        loop {
            let (dir, root_mtime) =
                if first { root.state_dir_to_lock()? } else { root.create_state_dir()? };
            // The known numbers of the directory may be old.
            let may_try_again = std::mem::take(&mut first) || start.elapsed() < timeout;
            let left = timeout.saturating_sub(start.elapsed());
            let left = Wait { timeout: left, cancellation: cancellation.clone() };
            match dir.spot(LOCK).lock(left) {
                Ok(lock) => {
                    // It was taken over meanwhile by the project around.
                    if !root.hold_state(&dir)? && may_try_again {
                        continue;
                    }
                    let locked = Self {
                        store: Store::new(root, dir, key),
                        pending: OnceCell::new(),
                        lock: RefCell::new(Some(lock)),
                        root_mtime,
                        keep: Cell::new(false),
                        known: Cell::new(None),
                        purged: Cell::new(false),
                        searched: OnceCell::new(),
                        index_file: RefCell::default(),
                        last_read: RefCell::default(),
                    };
                    // The file that says so was made later than the one for git: one look is
                    // enough.
                    if !(root.is_work_tree() && locked.has_searched()?) {
                        locked.ignore_in_git()?;
                    }
                    return Ok(locked);
                }
                // The previous process removed its new directory.
                Err(FilesError::Io { source, .. })
                    if source.kind() == std::io::ErrorKind::NotFound && may_try_again => {}
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
        }
        Ok(())
    }

    /// Returns whether the state directory was created for this lock.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.root_mtime.is_some()
    }

    /// Shows paths relative to a directory of the project.
    #[must_use]
    pub fn seen_from(mut self, prefix: Prefix) -> Self {
        self.store.prefix = prefix;
        self
    }

    /// Opens the parent of the state directory, for a sync.
    pub fn parent_dir(&self) -> Result<Dir, Error> {
        Ok(self.root.state_parent()?)
    }

    /// Returns whether journals are signed here. Creates the key if it is missing.
    ///
    /// # Errors
    ///
    /// If the key exists but cannot be used, or cannot be created although that should be possible.
    pub fn is_signed(&self) -> Result<bool, Error> {
        Ok(self.signer()?.is_some())
    }

    /// Keeps the state directory, because something was committed.
    pub fn keep(&self) {
        self.keep.set(true);
    }

    /// Does the same as [`Store::applied`]. The next transaction uses the index of this read.
    pub fn applied(&self, text: &Sha256) -> Result<Option<Journal>, Error> {
        // The index would be created, and stay.
        if self.is_new() && !self.keep.get() {
            return Ok(None);
        }
        let index = self.open_index();
        let found = self.applied_in(index.as_ref(), text);
        self.last_read.replace(index);
        found
    }

    pub(crate) fn trash(&self) -> Result<Dir, Error> {
        Ok(self.dir.open_or_create_dir(TRASH)?)
    }

    /// Removes the state directory if it has nothing but what `lock` created.
    fn tidy(&self, root_mtime: FileTime) -> Result<(), Error> {
        let dir = self.store.dir();
        for name in [TRASH, PENDING] {
            dir.remove_dir(name)?;
        }
        if dir.names()?.iter().any(|name| ![LOCK, GITIGNORE, SEARCHED].contains(&name.as_str())) {
            return Ok(());
        }
        dir.spot(SEARCHED).remove()?;
        self.remove_empty(root_mtime)
    }

    /// Removes the state directory with only the lock and the file for git. Releases the lock.
    pub(crate) fn remove_empty(&self, root_mtime: FileTime) -> Result<(), Error> {
        self.store.dir().spot(GITIGNORE).remove()?;
        if let Some(lock) = self.lock.take() {
            lock.remove()?;
        }
        self.store.root.remove_state_dir(root_mtime)?;
        Ok(())
    }
}

impl Drop for LockedStore<'_> {
    fn drop(&mut self) {
        self.store.root.release_state();
        if let Some(mtime) = self.root_mtime
            && !self.keep.get()
        {
            // Nothing depends on this: the next lock finds an empty state directory.
            let _ = self.tidy(mtime);
        }
    }
}
