//! The rules of the guard for files that are not beneath a directory handle.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{At as _, Error};
use crate::metadata::{Entry, FileKind, Metadata};
use crate::policy::{Access, Policy, unicode};
use crate::rel_path::RelPath;
use crate::rules::{self, Learnt, Look, NameStep, Real};

/// Files that are not on a disk: in memory, in an archive, in another program. They are only read.
///
/// Paths are relative, with `/` between components, and are looked up as spelled; links are not
/// followed. The answers of a tree must not change during its use.
///
/// [`GuardedTree`] adds the rules.
pub trait Tree: fmt::Debug + Send + Sync {
    /// Returns the metadata of the entry at a path. `None` if nothing is there, or its directory
    /// does not exist.
    ///
    /// # Errors
    ///
    /// If that cannot be determined.
    fn entry(&self, path: &str) -> io::Result<Option<Entry>>;

    /// Reads a file, or the text of a symbolic link; of a submodule, its line in git's diffs:
    /// `Subproject commit`, and the id of the commit.
    ///
    /// # Errors
    ///
    /// If there is no file or link, or it cannot be read.
    fn read(&self, path: &str) -> io::Result<Arc<Vec<u8>>>;

    /// Lists a directory, in any order. The path of the root is empty.
    ///
    /// # Errors
    ///
    /// If there is no such directory, or it cannot be listed.
    fn list(&self, dir: &str) -> io::Result<Vec<(Vec<u8>, FileKind)>>;

    /// Returns whether this tree knows its directories. If not, every directory is taken to exist
    /// and to be empty: none has to be created, and no name collides with another.
    fn has_directories(&self) -> bool {
        true
    }

    /// Returns whether this is a tree of git, whose submodules can be changed.
    fn has_submodules(&self) -> bool {
        false
    }

    /// Returns a name for the whole contents, such as the id of a commit. `None` if there is none.
    fn id(&self) -> Option<String> {
        None
    }
}

/// A tree and the rules for its files: the rules of a [`Root`](crate::Root), with the same errors.
///
/// There are no mount points, devices or hard links. A file whose mode lets nobody write it is
/// read-only.
#[derive(Debug)]
pub struct GuardedTree {
    tree: Arc<dyn Tree>,
    policy: Arc<Policy>,
    learnt: Mutex<Learnt>,
}

impl GuardedTree {
    /// Combines rules with a tree.
    #[must_use]
    pub fn new(tree: Arc<dyn Tree>, policy: impl Into<Arc<Policy>>) -> Self {
        Self { tree, policy: policy.into(), learnt: Mutex::default() }
    }

    /// Returns the tree.
    #[must_use]
    pub fn tree(&self) -> &Arc<dyn Tree> {
        &self.tree
    }

    /// Returns the rules.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Checks the spelling of a path, its names, and the lists of forbidden and guarded paths.
    ///
    /// # Errors
    ///
    /// Those of [`Root::check`](crate::Root::check).
    pub fn check(&self, path: &str, access: Access) -> Result<RelPath, Error> {
        self.policy.check(path, access, |dir| Ok(self.metadata(dir)?.is_some()))
    }

    /// Checks a path given as bytes in UTF-8.
    ///
    /// # Errors
    ///
    /// Those of [`Root::check`](crate::Root::check).
    pub fn check_bytes(&self, path: &[u8], access: Access) -> Result<RelPath, Error> {
        self.check(unicode(path)?, access)
    }

    /// Returns the metadata of what is at the path itself, never following a link. `None` if
    /// nothing is there.
    ///
    /// # Errors
    ///
    /// If a link is on the way, or the path is inside a git repository.
    pub fn metadata(&self, path: &RelPath) -> Result<Option<Metadata>, Error> {
        let seen = self.look(path)?;
        rules::check_not_git(
            self,
            path,
            seen.as_ref().is_some_and(|seen| seen.kind == FileKind::Directory),
        )?;
        Ok(seen)
    }

    /// Returns the metadata of the entry at the path, after applying the rules for `access`.
    ///
    /// # Errors
    ///
    /// Those of [`metadata`](Self::metadata) and [`check_pre_image`](Self::check_pre_image).
    pub fn inspect(&self, path: &RelPath, access: Access) -> Result<Option<Metadata>, Error> {
        rules::inspect(self, path, access)
    }

    /// Applies the rules for links, special files and permissions to metadata from a path.
    ///
    /// # Errors
    ///
    /// If a rule refuses it.
    pub fn check_pre_image(
        &self,
        path: &RelPath,
        seen: &Metadata,
        access: Access,
    ) -> Result<(), Error> {
        if !rules::check_kind(path, seen, access, || self.explain_link(path))?
            && seen.mode & 0o222 == 0
        {
            return Err(Error::ReadOnly { path: path.as_str().into() });
        }
        Ok(())
    }

    /// Reads a regular file of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// If there is no file, it is larger, or it cannot be read.
    pub fn read(&self, path: &RelPath, limit: u64) -> Result<(Arc<Vec<u8>>, Metadata), Error> {
        let seen =
            self.metadata(path)?.ok_or_else(|| Error::NotFound { path: path.to_string() })?;
        self.read_seen(path, seen, limit)
    }

    /// Reads a regular file of at most `limit` bytes, whose metadata was looked at just now.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    pub fn read_seen(
        &self,
        path: &RelPath,
        seen: Metadata,
        limit: u64,
    ) -> Result<(Arc<Vec<u8>>, Metadata), Error> {
        match seen.kind {
            FileKind::File => {}
            FileKind::Symlink => return Err(self.explain_link(path)),
            kind => return Err(Error::NotAFile { path: path.to_string(), kind }),
        }
        if seen.size > limit {
            return Err(Error::TooLarge { path: path.to_string(), size: seen.size, limit });
        }
        let bytes = self.tree.read(path.as_str()).at("read", path)?;
        match bytes.len() as u64 {
            size if size > limit => Err(Error::TooLarge { path: path.to_string(), size, limit }),
            size if size != seen.size => Err(Error::Changed { path: path.to_string() }),
            _ => Ok((bytes, seen)),
        }
    }

    /// Returns the text of a symbolic link.
    ///
    /// # Errors
    ///
    /// If there is none, or it cannot be read.
    pub fn read_link(&self, path: &RelPath) -> Result<Arc<Vec<u8>>, Error> {
        self.tree.read(path.as_str()).at("read the link", path)
    }

    /// Lists a directory (`None`: the root), in no particular order.
    ///
    /// # Errors
    ///
    /// If there is no such directory, or it may not be entered.
    pub fn read_dir(&self, path: Option<&RelPath>) -> Result<Vec<(Vec<u8>, FileKind)>, Error> {
        if let Some(path) = path {
            match self.metadata(path)? {
                None => return Err(Error::NotFound { path: path.as_str().into() }),
                Some(seen) if seen.kind == FileKind::Directory => {}
                Some(seen) if seen.kind == FileKind::Symlink => return Err(self.explain_link(path)),
                Some(_) => {
                    let path = path.as_str().to_owned();
                    return Err(Error::NotADirectory { component: path.clone(), path });
                }
            }
        }
        self.tree
            .list(path.map_or("", RelPath::as_str))
            .at("list", path.map_or(".", RelPath::as_str))
    }

    /// Finds an existing entry, at the path or at a directory on the way, with a name different
    /// only by case or Unicode normalisation.
    ///
    /// # Errors
    ///
    /// If a directory cannot be listed.
    pub fn collision(
        &self,
        path: &RelPath,
        moved: Option<&RelPath>,
    ) -> Result<Option<String>, Error> {
        rules::collision(self, path, moved)
    }

    /// Returns the directories to be created for the path, outermost first.
    ///
    /// # Errors
    ///
    /// If a file or a link is where a directory has to be.
    pub fn parents_missing(&self, path: &RelPath) -> Result<Vec<RelPath>, Error> {
        rules::parents_missing(self, path)
            .map(|missing| if self.tree.has_directories() { missing } else { Vec::new() })
    }

    /// Refuses new files that would make a directory a bare git repository.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], with the first such path.
    pub fn check_no_new_repository<'p>(
        &self,
        appearing: impl IntoIterator<Item = &'p RelPath>,
    ) -> Result<(), Error> {
        rules::check_no_new_repository(self, appearing)
    }

    /// Returns the metadata of what is at a path, none of whose directories may be a link.
    fn look(&self, path: &RelPath) -> Result<Option<Metadata>, Error> {
        for (end, _) in path.as_str().match_indices('/') {
            let above = &path.as_str()[..end];
            match self.tree.entry(above).at("look at", above)? {
                Some(entry) if entry.kind == FileKind::Directory => {}
                Some(entry) if entry.kind == FileKind::Symlink => {
                    return Err(self.explain_link(path));
                }
                None if !self.tree.has_directories() => {}
                _ => return Ok(None),
            }
        }
        Ok(self.tree.entry(path.as_str()).at("look at", path)?.map(Metadata::of))
    }

    /// Checks that a symbolic link to `target` may be made at the path, or an old link changed.
    ///
    /// # Errors
    ///
    /// If the link is not approved, or leads out of the root or to a forbidden path.
    pub fn check_link(&self, path: &RelPath, target: &[u8]) -> Result<(), Error> {
        let real = rules::check_link(self.policy(), path, target, |at| self.real_path(at))?;
        real.map_or(Ok(()), |real| self.check(&real, Access::Read).map(drop))
    }

    /// Returns the error for a path with a link inside.
    fn explain_link(&self, path: &RelPath) -> Error {
        self.real_path(path.as_str()).into_link_error(path)
    }

    /// Finds where a path with links leads.
    fn real_path(&self, path: &str) -> Real {
        rules::real_path(path, |path| self.step(path), |_| None)
    }

    fn step(&self, path: &str) -> std::io::Result<NameStep> {
        Ok(match self.tree.entry(path)?.map(|entry| entry.kind) {
            Some(FileKind::Symlink) => NameStep::Link(self.tree.read(path)?.to_vec()),
            Some(FileKind::Directory) => NameStep::Directory,
            _ => NameStep::End,
        })
    }
}

impl Look for GuardedTree {
    fn learnt(&self) -> MutexGuard<'_, Learnt> {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn metadata(&self, path: &RelPath) -> Result<Option<Metadata>, Error> {
        self.metadata(path)
    }

    fn has(&self, path: &str) -> Result<bool, Error> {
        Ok(self.tree.entry(path).at("look at", path)?.is_some())
    }

    fn names(&self, dir: &str) -> Result<Option<Vec<Vec<u8>>>, Error> {
        if !dir.is_empty() {
            let entry = self.tree.entry(dir).at("look at", dir)?;
            if entry.is_none_or(|entry| entry.kind != FileKind::Directory) {
                return Ok(None);
            }
        }
        let entries = self.tree.list(dir).at("list", if dir.is_empty() { "." } else { dir })?;
        Ok(Some(entries.into_iter().map(|(name, _)| name).collect()))
    }

    fn check_pre_image(
        &self,
        path: &RelPath,
        seen: &Metadata,
        access: Access,
    ) -> Result<(), Error> {
        self.check_pre_image(path, seen, access)
    }
}
