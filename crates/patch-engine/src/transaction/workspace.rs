//! A workspace: its files, and the store of what was displaced in it.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fs_guard::{Policy, Root};
use workspace_trash::{KeyPlace, LockedStore, Purged, Retention, Store};

use super::error::Error;
use super::recover::recover;
use super::recovered::Recovered;
use crate::kind::ErrorKind;

/// A directory tree that patches may touch. Opening one writes nothing.
#[derive(Debug)]
pub struct Workspace {
    root: Arc<Root>,
    key_place: KeyPlace,
}

impl Workspace {
    /// Opens a directory.
    pub fn open(dir: &Path, policy: Policy) -> Result<Self, Error> {
        Ok(Self { root: Arc::new(Root::open(dir, policy)?), key_place: crate::policy::key_place() })
    }

    /// Takes the key of the journals from elsewhere.
    #[must_use]
    pub fn with_key_place(mut self, key_place: KeyPlace) -> Self {
        self.key_place = key_place;
        self
    }

    /// Returns where the key of the journals is kept.
    #[must_use]
    pub fn key_place(&self) -> &KeyPlace {
        &self.key_place
    }

    /// Returns the files.
    #[must_use]
    pub fn root(&self) -> &Arc<Root> {
        &self.root
    }

    /// Tells whether there is a state directory (trusted or not).
    #[must_use]
    pub fn has_state(&self) -> bool {
        !matches!(self.root.state_dir(), Ok(None))
    }

    /// Opens the store for reading; `None` when there is none.
    pub fn store(&self) -> Result<Option<Store<'_>>, Error> {
        Ok(Store::open(&self.root, self.key_place.clone())?)
    }

    /// Recovers what was cut off, unless another process is at work: for commands that only look, so
    /// that they do not look at half a transaction. Without anything to recover nothing is written.
    pub fn recover_if_idle(&self) -> Result<Vec<Recovered>, Error> {
        let unfinished = self.store()?.is_some_and(|store| store.has_unfinished().unwrap_or(false));
        if !unfinished {
            return Ok(Vec::new());
        }
        match self.lock(Duration::ZERO) {
            Ok(locked) => Ok(locked.recovered.clone()),
            Err(error) if error.kind() == ErrorKind::Timeout => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Takes the workspace's lock, waiting at most `timeout`, and recovers what was cut off.
    ///
    /// The state directory is made when missing, and removed again when nothing was committed.
    pub fn lock(&self, timeout: Duration) -> Result<Locked<'_>, Error> {
        let store = LockedStore::lock(&self.root, self.key_place.clone(), timeout)?;
        self.root.forget();
        let recovered = recover(&self.root, &store)?;
        Ok(Locked { workspace: self, store, recovered })
    }
}

/// A workspace that no other process commits to meanwhile.
#[derive(Debug)]
pub struct Locked<'w> {
    pub(super) workspace: &'w Workspace,
    pub(super) store: LockedStore<'w>,
    recovered: Vec<Recovered>,
}

impl Locked<'_> {
    /// Returns what was found interrupted, and what became of it.
    #[must_use]
    pub fn recovered(&self) -> &[Recovered] {
        &self.recovered
    }

    /// Returns the store.
    #[must_use]
    pub fn locked_store(&self) -> &LockedStore<'_> {
        &self.store
    }

    /// Removes displaced files for good, by age, size and number; with `dry_run` only returns which.
    pub fn purge(&self, retention: &Retention, dry_run: bool) -> Result<Purged, Error> {
        Ok(self.store.purge(retention, SystemTime::now(), dry_run)?)
    }
}

impl Deref for Locked<'_> {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        self.workspace
    }
}
