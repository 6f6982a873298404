//! Directory trees as values, to compare before and after.

use crate::posix::{MetadataExt as _, PermissionsExt as _};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{MAIN_SEPARATOR, Path};

pub use walkdir::DirEntry;
use walkdir::WalkDir;

/// Everything beneath a directory, by relative path.
pub type Tree = BTreeMap<String, Entry>;

/// One file, directory or other entry.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its kind.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// The time of the last change, to the nanosecond, and the inode: for trees that must be
    /// untouched.
    pub identity: Option<(i64, i64, u64)>,
}

/// The kind of an entry.
#[derive(Clone, PartialEq, Eq)]
pub enum Kind {
    /// A file with these bytes.
    File(Vec<u8>),
    /// A directory.
    Directory,
    /// A symbolic link with this target.
    Link(String),
    /// A device, a pipe or a socket.
    Special,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::File(bytes) => write!(f, "{:o} {:?}", self.mode, String::from_utf8_lossy(bytes))?,
            Kind::Directory => write!(f, "{:o} directory", self.mode)?,
            Kind::Link(target) => write!(f, "link to {target}")?,
            Kind::Special => f.write_str("special")?,
        }
        if let Some((seconds, nanoseconds, inode)) = self.identity {
            write!(f, " at {seconds}.{nanoseconds:09}, inode {inode}")?;
        }
        Ok(())
    }
}

/// Everything beneath a directory, by relative path with `/`. No link is followed.
pub fn beneath(root: &Path) -> impl Iterator<Item = (String, DirEntry)> {
    walk(root, |_| true)
}

/// Everything beneath a directory without the state directory of the program.
pub fn outside_state(root: &Path) -> impl Iterator<Item = (String, DirEntry)> {
    walk(root, |found| found.depth() != 1 || found.file_name() != ".apply-patch")
}

fn walk(
    root: &Path,
    wanted: impl FnMut(&DirEntry) -> bool,
) -> impl Iterator<Item = (String, DirEntry)> {
    WalkDir::new(root).min_depth(1).into_iter().filter_entry(wanted).map(move |found| {
        let found = found.expect("a readable directory");
        let path = found.path().strip_prefix(root).expect("beneath");
        // Only a hostile tree has names that are not UTF-8.
        (path.to_string_lossy().replace(MAIN_SEPARATOR, "/"), found)
    })
}

/// Reads everything beneath `root`, without following links. With `identity`, also times and
/// inodes, and `root` itself.
pub fn look(root: &Path, identity: bool) -> Tree {
    let top = identity.then(|| (".".into(), entry(root, true)));
    let below = beneath(root).map(|(path, found)| (path, entry(found.path(), identity)));
    top.into_iter().chain(below).collect()
}

fn entry(path: &Path, identity: bool) -> Entry {
    let seen = fs::symlink_metadata(path).expect("it was there a moment ago");
    let kind = match seen.file_type() {
        kind if kind.is_dir() => Kind::Directory,
        kind if kind.is_symlink() => {
            Kind::Link(fs::read_link(path).expect("a link").to_string_lossy().into_owned())
        }
        // Too large for memory; the times show whether the file has changed.
        kind if kind.is_file() && seen.len() > 64 << 20 => {
            Kind::File(format!("{} bytes", seen.len()).into_bytes())
        }
        kind if kind.is_file() => Kind::File(fs::read(path).expect("a readable file")),
        _ => Kind::Special,
    };
    let identity = identity.then(|| (seen.mtime(), seen.mtime_nsec(), seen.ino()));
    // Links have no mode of their own.
    let mode = if let Kind::Link(_) = kind { 0 } else { seen.permissions().mode() & 0o7777 };
    Entry { kind, mode, identity }
}

/// Copies files and directories. Of the mode of a file only the right to run it is kept.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a new directory");
    for (path, found) in beneath(from) {
        let target = to.join(path);
        if found.file_type().is_dir() {
            fs::create_dir_all(target).expect("a new directory");
            continue;
        }
        fs::write(&target, fs::read(found.path()).expect("a readable file")).expect("a new file");
        let seen = fs::metadata(found.path()).expect("a file");
        set_mode(&target, if seen.permissions().mode() & 0o100 != 0 { 0o755 } else { 0o644 });
    }
}

/// Sets the mode of a file.
pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a file of ours");
}

/// The differences, one path a line; empty if there are none.
pub fn difference(wanted: &Tree, found: &Tree) -> String {
    let mut out = String::new();
    for path in wanted.keys().chain(found.keys().filter(|path| !wanted.contains_key(*path))) {
        match (wanted.get(path), found.get(path)) {
            (Some(wanted), Some(found)) if wanted == found => {}
            (Some(wanted), Some(found)) => {
                out += &format!("{path}:\n  wanted {wanted:?}\n   found {found:?}\n")
            }
            (Some(wanted), None) => {
                out += &format!("{path}:\n  wanted {wanted:?}\n   found nothing\n")
            }
            (None, Some(found)) => {
                out += &format!("{path}:\n  wanted nothing\n   found {found:?}\n")
            }
            (None, None) => unreachable!("a key of one of them"),
        }
    }
    out
}
