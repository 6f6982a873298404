//! The private directory and its subdirectories, kept open from one operation to the next.
//!
//! Each operation checks them again by their names; the private directory once, under its lock.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::metadata::Metadata;
use crate::sys::Fd;

/// The private directory at the last look.
#[derive(Debug, Clone)]
pub(crate) struct KnownState {
    pub(crate) handle: Arc<Fd>,
    pub(crate) seen: Metadata,
    /// The open subdirectories.
    pub(crate) kept: Arc<KeptDirs>,
    /// Whether a lock inside is held.
    pub(crate) locked: bool,
}

impl KnownState {
    pub(crate) fn new((handle, seen): Opened) -> Self {
        Self { handle, seen, kept: Arc::default(), locked: false }
    }
}

/// An open directory, with the metadata that tells whether it still has its name.
type Opened = (Arc<Fd>, Metadata);

/// Open directories, by name.
#[derive(Debug, Default)]
pub(crate) struct KeptDirs(Mutex<HashMap<Box<str>, Opened>>);

impl KeptDirs {
    pub(crate) fn take(&self, name: &str) -> Option<Opened> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name)
    }

    pub(crate) fn put(&self, name: &str, handle: Arc<Fd>, seen: Metadata) {
        let mut dirs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        dirs.insert(name.into(), (handle, seen));
    }
}
