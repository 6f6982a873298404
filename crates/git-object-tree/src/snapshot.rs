//! A tree for reading.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::id::Id;
use crate::names;
use crate::repository::Repository;
use crate::tree::{EntryKind, TreeEntry};

/// A name in a directory, and what it is.
pub type Listed = (Vec<u8>, TreeEntry);

/// A tree that does not change: paths are looked up on request, and only the directories on the way
/// are read.
#[derive(Clone)]
pub struct Snapshot {
    repository: Repository,
    tree: Id,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Snapshot").field(&self.tree).finish()
    }
}

impl Repository {
    /// Returns a tree for reading. Nothing is read yet.
    #[must_use]
    pub fn snapshot(&self, tree: Id) -> Snapshot {
        Snapshot { repository: self.clone(), tree }
    }
}

impl Snapshot {
    /// Returns the id of the tree.
    #[must_use]
    pub fn tree(&self) -> Id {
        self.tree
    }

    /// Returns the repository that the tree is in.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Returns the entry at a path, its components divided by `/`; none if there is nothing.
    /// Symbolic links are not followed.
    ///
    /// The empty path is the tree itself.
    ///
    /// # Errors
    ///
    /// Those of reading a tree: [`MissingObject`](Error::MissingObject),
    /// [`CorruptObject`](Error::CorruptObject) (also for a tree with entries out of order, or two
    /// of one name), [`WrongKind`](Error::WrongKind), [`TooLarge`](Error::TooLarge),
    /// [`Io`](Error::Io).
    pub fn entry(&self, path: impl AsRef<[u8]>) -> Result<Option<TreeEntry>> {
        let mut at = TreeEntry { kind: EntryKind::Directory, id: self.tree };
        if path.as_ref().is_empty() {
            return Ok(Some(at));
        }
        for name in path.as_ref().split(|byte| *byte == b'/') {
            if at.kind != EntryKind::Directory {
                return Ok(None);
            }
            match self.repository.tree(at.id)?.find(name) {
                Some(entry) => at = entry,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// Returns the size of a blob in bytes, without reading the blob.
    ///
    /// # Errors
    ///
    /// [`MissingObject`](Error::MissingObject), [`CorruptObject`](Error::CorruptObject),
    /// [`Io`](Error::Io).
    pub fn size(&self, blob: Id) -> Result<u64> {
        self.repository.header(blob)?.map(|(_, size)| size).ok_or(Error::MissingObject { id: blob })
    }

    /// Reads a blob of at most `limit` bytes: the bytes of a file, or the target of a symbolic
    /// link. They are checked to have the id.
    ///
    /// # Errors
    ///
    /// [`TooLarge`](Error::TooLarge) before anything is read;
    /// [`MissingObject`](Error::MissingObject), [`CorruptObject`](Error::CorruptObject),
    /// [`WrongKind`](Error::WrongKind), [`Io`](Error::Io).
    pub fn bytes(&self, blob: Id, limit: u64) -> Result<Arc<[u8]>> {
        self.repository.blob(blob, limit)
    }

    /// Lists a directory in git's order; none if there is no directory at this path. The empty path
    /// is the tree itself.
    ///
    /// # Errors
    ///
    /// Those of [`entry`](Self::entry).
    pub fn list(&self, path: impl AsRef<[u8]>) -> Result<Option<Vec<Listed>>> {
        match self.entry(path)? {
            Some(TreeEntry { kind: EntryKind::Directory, id }) => {
                let tree = self.repository.tree(id)?;
                Ok(Some(tree.iter().map(|named| (named.name.to_vec(), named.entry)).collect()))
            }
            _ => Ok(None),
        }
    }

    /// Calls `visit` with every path that is not a directory, in git's order.
    ///
    /// # Errors
    ///
    /// Those of [`entry`](Self::entry); [`InvalidPath`](Error::InvalidPath) if the directories are
    /// nested too deep.
    pub fn walk(&self, visit: &mut dyn FnMut(&[u8], TreeEntry)) -> Result<()> {
        self.walk_from(self.tree, &mut Vec::new(), 0, visit)
    }

    fn walk_from(
        &self,
        id: Id,
        path: &mut Vec<u8>,
        depth: usize,
        visit: &mut dyn FnMut(&[u8], TreeEntry),
    ) -> Result<()> {
        if depth > names::DEPTH {
            return Err(names::invalid(path, "it has too many components"));
        }
        let tree = self.repository.tree(id)?;
        for named in tree.iter() {
            let length = path.len();
            path.extend_from_slice(named.name);
            if named.entry.kind == EntryKind::Directory {
                path.push(b'/');
                self.walk_from(named.entry.id, path, depth + 1, visit)?;
            } else {
                visit(path, named.entry);
            }
            path.truncate(length);
        }
        Ok(())
    }
}
