//! What the author of a patch saw, as the sections so far leave it.

use std::collections::HashMap;
use std::sync::Arc;

use fs_guard::{RelPath, Sha256};

use crate::files::Files;
use crate::options::{Expected, Options, Snapshots};
use crate::plan::PostImage;
use crate::reject::{Checked, Problem};

/// The base of a patch. Without one it says nothing, and remembers nothing.
pub(crate) struct Base<'o> {
    files: Option<&'o Files>,
    snapshots: Option<&'o dyn Snapshots>,
    /// The largest file that is read, in bytes.
    limit: u64,
    /// What is at the paths that were asked for, or changed by a section; `None` where the base says nothing.
    known: HashMap<RelPath, Option<Arc<Vec<u8>>>>,
}

impl<'o> Base<'o> {
    pub(crate) fn new(options: &'o Options) -> Self {
        let (files, snapshots) = (options.base.as_ref(), options.snapshots.as_deref());
        Self { files, snapshots, limit: options.max_file_size, known: HashMap::new() }
    }

    /// What is at a path, if the base says something about it.
    pub(crate) fn of(&mut self, path: &RelPath) -> Checked<Option<Arc<Vec<u8>>>> {
        if let Some(known) = self.known.get(path) {
            return Ok(known.clone());
        }
        let Some(files) = self.files else { return Ok(None) };
        let found = match files.read(path, self.limit) {
            Ok((bytes, _)) => Some(bytes),
            Err(error @ fs_guard::Error::Io { .. }) => return Err(Problem::Guard(error)),
            // What is no file there was not seen as one.
            Err(_) => None,
        };
        self.known.insert(path.clone(), found.clone());
        Ok(found)
    }

    /// What is at a path, if that is not what `now` is.
    pub(crate) fn unlike(&mut self, path: &RelPath, now: &PostImage) -> Checked<Option<Arc<Vec<u8>>>> {
        let base = self.of(path)?;
        Ok(base.filter(|base| base.len() as u64 != now.size || Sha256::of(base) != now.sha256))
    }

    /// Whether a file with this hash is at a path.
    pub(crate) fn has(&mut self, path: &RelPath, sha256: Sha256) -> bool {
        self.of(path).is_ok_and(|base| base.is_some_and(|base| Sha256::of(&base) == sha256))
    }

    /// Takes the bytes with this hash for the base of a file, if they are at hand.
    pub(crate) fn recall(&mut self, path: &RelPath, sha256: Sha256) -> bool {
        let bytes = self.snapshots.and_then(|snapshots| snapshots.bytes(path, sha256));
        let found = bytes.is_some();
        if found {
            self.known.insert(path.clone(), bytes);
        }
        found
    }

    /// What the author of the patch takes files to be after it.
    pub(crate) fn left(self) -> Vec<(RelPath, Arc<Vec<u8>>)> {
        self.known.into_iter().filter_map(|(path, bytes)| Some((path, bytes?))).collect()
    }

    /// Refuses what cannot be carried where a file is not what the author saw.
    pub(crate) fn check_unchanged(&mut self, path: &RelPath, now: &PostImage) -> Checked<()> {
        match self.unlike(path, now)? {
            None => Ok(()),
            Some(base) => Err(Problem::Stale { expected: hash(&base), actual: Some(now.sha256) }),
        }
    }

    /// Why a file that is missing now cannot be changed.
    pub(crate) fn missing(&mut self, path: &RelPath) -> Checked<Problem> {
        let base = self.of(path)?;
        Ok(base.map_or(Problem::Missing, |base| Problem::Stale { expected: hash(&base), actual: None }))
    }

    /// Notes what a section leaves at a path; nothing where it is the same as in the file.
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
