//! The files that the author of a patch saw, with the changes of the sections so far.

use std::collections::HashMap;
use std::sync::Arc;

use fs_guard::{RelPath, Sha256};

use crate::files::Files;
use crate::plan::options::{Expected, Options, Snapshots};
use crate::plan::reject::{Checked, Problem};

/// The base of a patch. Without one, every file counts as unknown.
pub(crate) struct Base<'o> {
    files: Option<&'o Files>,
    snapshots: Option<&'o dyn Snapshots>,
    /// The largest file that is read, in bytes.
    limit: u64,
    /// The files at the paths that were asked for, or that a section changed; `None` where the base
    /// has none.
    known: HashMap<RelPath, Option<Arc<Vec<u8>>>>,
}

impl<'o> Base<'o> {
    pub(crate) fn new(options: &'o Options) -> Self {
        Self {
            files: options.base.as_ref(),
            snapshots: options.snapshots.as_deref(),
            limit: options.max_file_size,
            known: HashMap::new(),
        }
    }

    /// Returns the file at a path, if the base has one.
    pub(crate) fn of(&mut self, path: &RelPath) -> Checked<Option<Arc<Vec<u8>>>> {
        if let Some(known) = self.known.get(path) {
            return Ok(known.clone());
        }
        let Some(files) = self.files else { return Ok(None) };
        let found = match files.read(path, self.limit) {
            Ok((bytes, _)) => Some(bytes),
            Err(error @ fs_guard::Error::Io { .. }) => return Err(Problem::Guard(error)),
            // Something else than a file was not seen as one.
            Err(_) => None,
        };
        self.known.insert(path.clone(), found.clone());
        Ok(found)
    }

    /// Returns the file at a path, if it differs from the one that is there now, whose hash is
    /// `now`.
    pub(crate) fn unlike(
        &mut self,
        path: &RelPath,
        now: impl FnOnce() -> Sha256,
    ) -> Checked<Option<Arc<Vec<u8>>>> {
        Ok(self.of(path)?.filter(|base| Sha256::of(base) != now()))
    }

    /// Returns whether a file with this hash is at a path.
    pub(crate) fn has(&mut self, path: &RelPath, sha256: Sha256) -> bool {
        self.of(path).is_ok_and(|base| base.is_some_and(|base| Sha256::of(&base) == sha256))
    }

    /// Uses the bytes with this hash as the base of a file, if they are at hand.
    pub(crate) fn recall(&mut self, path: &RelPath, sha256: Sha256) -> bool {
        let bytes = self.snapshots.and_then(|snapshots| snapshots.bytes(path, sha256));
        let found = bytes.is_some();
        if found {
            self.known.insert(path.clone(), bytes);
        }
        found
    }

    /// Returns the files as the author of the patch expects them to be after it.
    pub(crate) fn left(self) -> Vec<(RelPath, Arc<Vec<u8>>)> {
        self.known.into_iter().filter_map(|(path, bytes)| Some((path, bytes?))).collect()
    }

    /// Refuses a change that cannot be carried, where the file is not what the author saw.
    pub(crate) fn check_unchanged(
        &mut self,
        path: &RelPath,
        mut now: impl FnMut() -> Sha256,
    ) -> Checked<()> {
        match self.unlike(path, &mut now)? {
            None => Ok(()),
            Some(base) => Err(Problem::Stale { expected: hash(&base), actual: Some(now()) }),
        }
    }

    /// Returns why a file that is missing now cannot be changed.
    pub(crate) fn missing(&mut self, path: &RelPath) -> Checked<Problem> {
        let base = self.of(path)?;
        Ok(base.map_or(Problem::Missing, |base| Problem::Stale {
            expected: hash(&base),
            actual: None,
        }))
    }

    /// Notes the result of a section at a path; `None` where it is the same as the file.
    pub(crate) fn leave(&mut self, path: &RelPath, bytes: Option<Arc<Vec<u8>>>) {
        if self.files.is_some() || bytes.is_some() || self.known.contains_key(path) {
            self.known.insert(path.clone(), bytes);
        }
    }

    /// Notes that a section moves a file.
    pub(crate) fn rename(&mut self, from: &RelPath, to: &RelPath) -> Checked<()> {
        let moved = self.of(from)?;
        self.leave(to, moved);
        self.leave(from, None);
        Ok(())
    }
}

fn hash(bytes: &[u8]) -> Expected {
    Expected::Hash(Sha256::of(bytes))
}
