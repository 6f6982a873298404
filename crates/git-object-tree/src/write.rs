//! New trees and commits.

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::sync::Arc;

use crate::commit::NewCommit;
use crate::error::{Error, Result};
use crate::id::{Id, ObjectKind};
use crate::names;
use crate::object::{Object, hash};
use crate::repository::Repository;
use crate::tree::{EntryKind, Named, TreeEntry, TreeObject, encode};
use crate::unwritten::NewObject;

/// The change of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeChange<'a> {
    /// The entry is removed. It must be there, and be no directory.
    Remove,
    /// A file, an executable file or a symbolic link with these bytes takes its place, or is new.
    Write(EntryKind, &'a [u8]),
    /// An object that the repository has (or a commit of a submodule) takes its place, or is new: a
    /// move, or another mode.
    Set(TreeEntry),
}

impl Repository {
    /// Makes the tree that changes turn a tree into, and returns its id; new blobs and trees are
    /// kept in memory until they are [flushed](Self::flush), but can be read at once.
    ///
    /// A path has at most one change. Directories come and go with their contents.
    ///
    /// # Errors
    ///
    /// [`InvalidPath`](crate::Error::InvalidPath) for names refused by git, new or in a changed
    /// directory; [`PathConflict`](crate::Error::PathConflict) if a file stands in place of a
    /// directory or the other way round, or a path has two changes;
    /// [`NoSuchPath`](crate::Error::NoSuchPath) if there is nothing to remove; those of reading
    /// trees.
    pub fn write_tree<'a, P: AsRef<[u8]>>(
        &self,
        base: Id,
        changes: impl IntoIterator<Item = (P, TreeChange<'a>)>,
    ) -> Result<Id> {
        let mut root = DirectoryChanges::default();
        for (path, change) in changes {
            let path = path.as_ref();
            let components = names::components(path)?;
            let (last, above) = components.split_last().expect("a path has a component");
            if let TreeChange::Write(kind, _) | TreeChange::Set(TreeEntry { kind, .. }) = change {
                names::check_kind(last, kind).map_err(|problem| names::invalid(path, problem))?;
            }
            let mut at = &mut root;
            for name in above {
                at = at.names.entry(name.to_vec()).or_default().beneath.get_or_insert_default();
            }
            match at.names.entry(last.to_vec()) {
                btree_map::Entry::Occupied(node) if node.get().change.is_some() => {
                    return Err(conflict(path, "there are two changes for it"));
                }
                node => node.or_default().change = Some(change),
            }
        }
        if root.names.is_empty() {
            return Ok(base);
        }
        match apply(self, Some(base), &root, &mut Vec::new())? {
            Some(tree) => Ok(tree),
            None => put(self, None, ObjectKind::Tree, Vec::new()),
        }
    }

    /// Makes a commit, and returns its id; the commit is kept in memory as by
    /// [`write_tree`](Self::write_tree).
    ///
    /// # Errors
    ///
    /// [`InvalidIdentity`](crate::Error::InvalidIdentity);
    /// [`MissingObject`](crate::Error::MissingObject) and [`WrongKind`](crate::Error::WrongKind) if
    /// the tree or a parent is no such object of this repository.
    pub fn write_commit(&self, commit: &NewCommit<'_>) -> Result<Id> {
        check_object(self, commit.tree, ObjectKind::Tree)?;
        for parent in commit.parents {
            check_object(self, *parent, ObjectKind::Commit)?;
        }
        put(self, None, ObjectKind::Commit, commit.encode()?)
    }
}

/// The changes of a directory.
#[derive(Default)]
struct DirectoryChanges<'a> {
    names: BTreeMap<Vec<u8>, TreeNode<'a>>,
}

#[derive(Default)]
struct TreeNode<'a> {
    change: Option<TreeChange<'a>>,
    beneath: Option<DirectoryChanges<'a>>,
}

fn conflict(path: &[u8], problem: &'static str) -> Error {
    Error::PathConflict { path: String::from_utf8_lossy(path).into_owned(), problem }
}

/// Returns the tree that a directory becomes; none if it is empty.
fn apply(
    repository: &Repository,
    base: Option<Id>,
    changes: &DirectoryChanges<'_>,
    path: &mut Vec<u8>,
) -> Result<Option<Id>> {
    let tree = base.map(|id| repository.tree(id)).transpose()?;
    let mut entries =
        Vec::with_capacity(tree.as_ref().map_or(0, |tree| tree.len()) + changes.names.len());
    for named in tree.iter().flat_map(|tree| tree.iter()) {
        if changes.names.contains_key(named.name) {
            continue;
        }
        // An entry that is not changed here is written again with its directory, and has to be as
        // git wants it.
        names::check(named.name)
            .and_then(|()| names::check_kind(named.name, named.entry.kind))
            .map_err(|problem| names::invalid(&[path, named.name].concat(), problem))?;
        entries.push(named);
    }
    for (name, node) in &changes.names {
        let length = path.len();
        path.extend_from_slice(name);
        let before = tree.as_deref().and_then(|tree: &TreeObject| tree.find(name));
        if let Some(entry) = apply_node(repository, before, node, path)? {
            entries.push(Named { name, entry });
        }
        path.truncate(length);
    }
    if entries.is_empty() {
        return Ok(None);
    }
    let bytes = encode(&mut entries);
    put(repository, base, ObjectKind::Tree, bytes).map(Some)
}

fn is_directory(entry: Option<TreeEntry>) -> bool {
    entry.is_some_and(|entry| entry.kind == EntryKind::Directory)
}

fn apply_node(
    repository: &Repository,
    before: Option<TreeEntry>,
    node: &TreeNode<'_>,
    path: &mut Vec<u8>,
) -> Result<Option<TreeEntry>> {
    let mut before = before;
    if node.change == Some(TreeChange::Remove) && !is_directory(before) {
        if before.take().is_none() {
            return Err(Error::NoSuchPath { path: String::from_utf8_lossy(path).into_owned() });
        }
        if node.beneath.is_none() {
            return Ok(None);
        }
    }
    if let Some(beneath) = &node.beneath {
        let directory = match before {
            Some(TreeEntry { kind: EntryKind::Directory, id }) => Some(id),
            Some(_) => return Err(conflict(path, "it is not a directory")),
            None => None,
        };
        path.push(b'/');
        let after = apply(repository, directory, beneath, path)?
            .map(|id| TreeEntry { kind: EntryKind::Directory, id });
        path.pop();
        // A file that is removed may make room for a directory.
        if node.change.is_none() || (node.change == Some(TreeChange::Remove) && directory.is_none())
        {
            return Ok(after);
        }
        before = after;
    }
    if is_directory(before) || node.change == Some(TreeChange::Remove) {
        return Err(conflict(path, "it is a directory"));
    }
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    match node.change {
        None | Some(TreeChange::Remove) => Ok(None),
        Some(TreeChange::Write(kind, bytes)) => {
            if matches!(kind, EntryKind::Directory | EntryKind::Submodule) {
                return Err(conflict(path, "only files and links have bytes"));
            }
            if kind == EntryKind::Symlink && (bytes.is_empty() || bytes.contains(&0)) {
                return Err(conflict(path, "a link leads to a path"));
            }
            if kind != EntryKind::Symlink && names::has_rules(name) {
                names::check_bytes(name, bytes).map_err(|problem| names::invalid(path, problem))?;
            }
            let id = put(repository, before.map(|entry| entry.id), ObjectKind::Blob, bytes)?;
            Ok(Some(TreeEntry { kind, id }))
        }
        Some(TreeChange::Set(entry)) => {
            match entry.kind {
                EntryKind::Directory => {
                    return Err(conflict(path, "a directory is made by what is in it"));
                }
                EntryKind::Submodule if entry.id == Id::new([0; Id::LEN]) => {
                    return Err(conflict(path, "the id is null"));
                }
                EntryKind::Submodule => {}
                EntryKind::File | EntryKind::Executable if names::has_rules(name) => {
                    let bytes = repository.blob(entry.id, u64::MAX)?;
                    names::check_bytes(name, &bytes)
                        .map_err(|problem| names::invalid(path, problem))?;
                }
                _ => check_object(repository, entry.id, ObjectKind::Blob)?,
            }
            Ok(Some(entry))
        }
    }
}

/// Fails unless the repository has an object of this kind.
pub(crate) fn check_object(repository: &Repository, id: Id, wanted: ObjectKind) -> Result<()> {
    match repository.header(id)? {
        Some((found, _)) if found == wanted => Ok(()),
        Some((found, _)) => Err(Error::WrongKind { id, found, wanted }),
        None => Err(Error::MissingObject { id }),
    }
}

/// Keeps an object for writing, unless it is the one that was there before.
fn put(
    repository: &Repository,
    before: Option<Id>,
    kind: ObjectKind,
    bytes: impl AsRef<[u8]> + Into<Arc<[u8]>>,
) -> Result<Id> {
    let id = hash(kind, bytes.as_ref())?;
    if before != Some(id) {
        repository.objects().put(NewObject { id, object: Object::new(kind, bytes), before });
    }
    Ok(id)
}
