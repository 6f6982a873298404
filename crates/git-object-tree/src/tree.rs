//! One tree object: the entries of a directory.

use std::cmp::Ordering;
use std::io::Write as _;
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::id::Id;

/// The kind of an entry of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A file.
    File,
    /// An executable file.
    Executable,
    /// A symbolic link; its blob is the path of its target.
    Symlink,
    /// A commit of another repository.
    Submodule,
    /// A directory.
    Directory,
}

impl EntryKind {
    /// Returns the mode that git writes.
    #[must_use]
    pub fn mode(self) -> u32 {
        match self {
            Self::File => 0o100_644,
            Self::Executable => 0o100_755,
            Self::Symlink => 0o120_000,
            Self::Submodule => 0o160_000,
            Self::Directory => 0o040_000,
        }
    }

    /// As git reads a mode: old trees have files with other bits for group and others.
    fn from_mode(mode: u32) -> Option<Self> {
        match mode & 0o170_000 {
            0o100_000 if mode & 0o100 != 0 => Some(Self::Executable),
            0o100_000 => Some(Self::File),
            0o120_000 => Some(Self::Symlink),
            0o160_000 => Some(Self::Submodule),
            0o040_000 => Some(Self::Directory),
            _ => None,
        }
    }
}

/// The entry of a tree at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TreeEntry {
    /// Its kind.
    pub kind: EntryKind,
    /// The object: a blob, a tree, or a commit that is not in this repository.
    pub id: Id,
}

/// An entry with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) entry: TreeEntry,
}

/// A tree that was read: its bytes, and where in them the entries are.
pub(crate) struct TreeObject {
    bytes: Arc<[u8]>,
    entries: Vec<(EntryKind, Range<u32>)>,
}

impl TreeObject {
    /// Reads the bytes of a tree, and checks the order of the entries, so that no lookup can miss
    /// one.
    pub(crate) fn parse(id: Id, bytes: Arc<[u8]>) -> Result<Self> {
        let corrupt =
            |problem| Error::CorruptObject { id, problem: format!("a tree with {problem}") };
        if u32::try_from(bytes.len()).is_err() {
            return Err(corrupt("more than 4 GiB"));
        }
        let mut entries: Vec<(EntryKind, Range<u32>)> = Vec::with_capacity(bytes.len() / 36);
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let space = memchr::memchr(b' ', rest)
                .filter(|at| (1..=7).contains(at))
                .ok_or_else(|| corrupt("a bad mode"))?;
            let mode = rest[..space].iter().try_fold(0_u32, |mode, digit| {
                matches!(digit, b'0'..=b'7').then(|| mode << 3 | u32::from(digit - b'0'))
            });
            let kind = mode.and_then(EntryKind::from_mode).ok_or_else(|| corrupt("a bad mode"))?;
            let name = at + space + 1;
            let end = name
                + memchr::memchr(0, &bytes[name..])
                    .ok_or_else(|| corrupt("a name that is cut off"))?;
            if end == name || memchr::memchr(b'/', &bytes[name..end]).is_some() {
                return Err(corrupt("a bad name"));
            }
            at = end + 1 + Id::LEN;
            if at > bytes.len() {
                return Err(corrupt("an id that is cut off"));
            }
            if let Some((before, range)) = entries.last() {
                let name_before = &bytes[range.start as usize..range.end as usize];
                if order(*before, name_before, kind, &bytes[name..end]) != Ordering::Less {
                    return Err(corrupt("entries that are not sorted"));
                }
            }
            entries.push((kind, name as u32..end as u32));
        }
        let tree = Self { bytes, entries };
        // A file and a directory of one name need not be neighbours: `a`, `a.b`, `a/`.
        for named in tree.iter().filter(|named| named.entry.kind == EntryKind::Directory) {
            if tree.position(named.name, EntryKind::File).is_some() {
                return Err(corrupt("two entries of one name"));
            }
        }
        Ok(tree)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The memory of the tree, about.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
            + self.entries.len() * size_of::<(EntryKind, Range<u32>)>()
            + size_of::<Self>()
    }

    fn at(&self, index: usize) -> Named<'_> {
        let (kind, range) = &self.entries[index];
        let end = range.end as usize;
        let id = Id::from_slice(&self.bytes[end + 1..end + 1 + Id::LEN])
            .expect("it was checked to be whole");
        Named { name: &self.bytes[range.start as usize..end], entry: TreeEntry { kind: *kind, id } }
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Named<'_>> {
        (0..self.entries.len()).map(|index| self.at(index))
    }

    fn position(&self, name: &[u8], kind: EntryKind) -> Option<usize> {
        self.entries
            .binary_search_by(|(other, range)| {
                let other_name = &self.bytes[range.start as usize..range.end as usize];
                order(*other, other_name, kind, name)
            })
            .ok()
    }

    /// Returns the entry of this name.
    pub(crate) fn find(&self, name: &[u8]) -> Option<TreeEntry> {
        // A directory is sorted as if its name ended in a slash, so there are two possible places.
        let index = self
            .position(name, EntryKind::File)
            .or_else(|| self.position(name, EntryKind::Directory))?;
        Some(self.at(index).entry)
    }
}

/// git's order of the entries in a tree.
fn order(kind: EntryKind, name: &[u8], other_kind: EntryKind, other: &[u8]) -> Ordering {
    let common = name.len().min(other.len());
    name[..common].cmp(&other[..common]).then_with(|| {
        let next = name.get(common).copied().unwrap_or(end_of(kind));
        next.cmp(&other.get(common).copied().unwrap_or(end_of(other_kind)))
    })
}

/// The byte that git takes for the one behind the last of a name.
fn end_of(kind: EntryKind) -> u8 {
    if kind == EntryKind::Directory { b'/' } else { 0 }
}

/// Sorts these entries, and returns the bytes of their tree.
pub(crate) fn encode(entries: &mut [Named<'_>]) -> Vec<u8> {
    entries.sort_by(|one, other| order(one.entry.kind, one.name, other.entry.kind, other.name));
    let mut bytes = Vec::with_capacity(entries.iter().map(|named| named.name.len() + 28).sum());
    for named in entries {
        write!(bytes, "{:o} ", named.entry.kind.mode()).expect("a vector takes all");
        bytes.extend_from_slice(named.name);
        bytes.push(0);
        bytes.extend_from_slice(named.entry.id.as_bytes());
    }
    bytes
}
