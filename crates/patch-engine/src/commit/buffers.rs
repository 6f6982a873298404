//! The files of a host program, such as the unsaved buffers of an editor: read by its callbacks,
//! changed by itself.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fs_guard::{Entry, FileKind, Tree};
use patch_text::text::splices::Splice;

use crate::plan::ChangeKind;
use crate::plan::images::{Content, Images};

/// A file of a host program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFile {
    /// The content.
    pub content: Content,
    /// The host's version number of the file, like a document version in the Language Server
    /// Protocol.
    pub version: Option<i64>,
}

type Read = dyn Fn(&str) -> io::Result<Option<HostFile>> + Send + Sync;
type List = dyn Fn(&str) -> io::Result<Option<Vec<(String, FileKind)>>> + Send + Sync;

/// The files of a host program. Each is read once and remembered: use a new tree for each plan.
///
/// The host carries out the plan itself: [`Images::edits`] returns the text edits, and
/// [`HostTree::version`] their version.
pub struct HostTree {
    read: Box<Read>,
    list: Option<Box<List>>,
    files: Mutex<BTreeMap<String, Option<HostFile>>>,
}

impl fmt::Debug for HostTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostTree").field("files", &self.files).finish_non_exhaustive()
    }
}

impl HostTree {
    /// Makes a tree whose files `read` returns; `None` when there is no file at the path.
    ///
    /// Directories are not known: every one is assumed to exist, and no name collides with another.
    #[must_use]
    pub fn new(
        read: impl Fn(&str) -> io::Result<Option<HostFile>> + Send + Sync + 'static,
    ) -> Self {
        Self { read: Box::new(read), list: None, files: Mutex::default() }
    }

    /// Adds directories: `list` returns the names in one (the root's path is empty), and `None`
    /// when there is none.
    #[must_use]
    pub fn with_list(
        self,
        list: impl Fn(&str) -> io::Result<Option<Vec<(String, FileKind)>>> + Send + Sync + 'static,
    ) -> Self {
        Self { list: Some(Box::new(list)), ..self }
    }

    /// Returns the version that a file had when it was read; `None` when it was not read, or has
    /// none.
    #[must_use]
    pub fn version(&self, path: &str) -> Option<i64> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).get(path)?.as_ref()?.version
    }

    /// Returns whether a file was found at a path.
    fn knows(&self, path: &str) -> bool {
        self.known().get(path).is_some_and(Option::is_some)
    }

    /// Returns the files read so far.
    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Option<HostFile>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, path: &str) -> io::Result<Option<HostFile>> {
        if let Some(known) = self.known().get(path) {
            return Ok(known.clone());
        }
        let file = (self.read)(path)?;
        self.known().insert(path.to_owned(), file.clone());
        Ok(file)
    }
}

impl Tree for HostTree {
    fn entry(&self, path: &str) -> io::Result<Option<Entry>> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        if let Some(HostFile { content, .. }) = self.file(path)? {
            // Whether a directory is a git repository is asked for each: its `objects` are no file
            // beside `HEAD`.
            let head = if parent.is_empty() { "HEAD".to_owned() } else { format!("{parent}/HEAD") };
            if name == "objects" && self.knows(&head) {
                return Err(io::Error::other(
                    "the callback has a file at every path; it has to return none where there is \
                     none",
                ));
            }
            return Ok(Some(content.entry()));
        }
        let Some(list) = &self.list else { return Ok(None) };
        if list(path)?.is_some() {
            if name == "HEAD" {
                return Err(io::Error::other(
                    "the callback has a directory at every path; it has to return none where \
                     there is none",
                ));
            }
            return Ok(Some(Entry::directory()));
        }
        let kind = list(parent)?.unwrap_or_default().into_iter().find(|(found, _)| found == name);
        let other = kind.filter(|(_, kind)| *kind == FileKind::Other);
        Ok(other.map(|(_, kind)| Entry { kind, mode: 0o644, size: 0 }))
    }

    fn read(&self, path: &str) -> io::Result<Arc<Vec<u8>>> {
        let file = self.file(path)?.ok_or(io::ErrorKind::NotFound)?;
        Ok(file.content.bytes)
    }

    fn list(&self, dir: &str) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        let Some(list) = &self.list else { return Ok(Vec::new()) };
        let names = list(dir)?.ok_or(io::ErrorKind::NotFound)?;
        Ok(names.into_iter().map(|(name, kind)| (name.into_bytes(), kind)).collect())
    }

    fn has_directories(&self) -> bool {
        self.list.is_some()
    }
}

/// The change of one file by a plan, for a program with files of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileEdit {
    /// The kind of the change.
    pub operation: ChangeKind,
    /// The path before; of a new file, its path.
    pub path: String,
    /// Where a moved file goes.
    pub to_path: Option<String>,
    /// The whole file afterwards; `None` when deleted.
    pub text: Option<Arc<Vec<u8>>>,
    /// The same as replacements in the old text, in its order, without overlaps; none for a new or
    /// deleted file.
    pub edits: Vec<TextEdit>,
}

/// A replacement in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// The replaced bytes.
    pub bytes: Range<usize>,
    /// The same as positions.
    pub range: Range<Position>,
    /// The new text.
    pub text: Vec<u8>,
}

/// A place in a text, as the Language Server Protocol counts: lines end in LF, CRLF or CR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 0.
    pub line: u32,
    /// How many UTF-16 code units are before it in the line. Each byte that is not UTF-8 counts as
    /// one.
    pub character: u32,
}

impl Images<'_> {
    /// Returns the change of each file, for a program with files of its own.
    ///
    /// # Errors
    ///
    /// [`fs_guard::Error::Changed`] when the files are not what the plan was made for any more.
    pub fn edits(&self) -> Result<Vec<FileEdit>, fs_guard::Error> {
        let edits = self.plan().changes().iter().map(|change| {
            let old = self.old_bytes(change)?;
            let new = self.new_bytes(change)?;
            let kept = matches!(change.operation, ChangeKind::Update | ChangeKind::Move);
            let splices = if kept { patch_text::diff::splices(&old, &new) } else { Vec::new() };
            Ok(FileEdit {
                operation: change.operation,
                path: change.path.to_string(),
                to_path: change.to_path.as_ref().map(ToString::to_string),
                text: change.after.map(|_| new),
                edits: positioned(&old, splices),
            })
        });
        edits.collect()
    }
}

/// Finds the positions of replacements.
fn positioned(old: &[u8], splices: Vec<Splice>) -> Vec<TextEdit> {
    let mut walk = BufferWalk { text: old, at: 0, line: 0, line_start: 0 };
    let mut edits = Vec::with_capacity(splices.len());
    for Splice { start, end, text } in splices {
        let range = walk.to(start)..walk.to(end);
        edits.push(TextEdit { bytes: start..end, range, text });
    }
    edits
}

/// A walk through a text, with a count of its lines.
struct BufferWalk<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

impl BufferWalk<'_> {
    fn to(&mut self, end: usize) -> Position {
        while let Some(found) = memchr::memchr2(b'\n', b'\r', &self.text[self.at..end]) {
            self.at += found + 1;
            // In CRLF, the line feed ends the line.
            if self.text[self.at - 1] == b'\n' || self.text.get(self.at) != Some(&b'\n') {
                (self.line, self.line_start) = (self.line + 1, self.at);
            }
        }
        self.at = end;
        let before = self.text[self.line_start..end].utf8_chunks();
        let units = before
            .map(|chunk| chunk.valid().encode_utf16().count() + chunk.invalid().len())
            .sum::<usize>();
        Position { line: self.line, character: u32::try_from(units).unwrap_or(u32::MAX) }
    }
}
