//! The files that an output has to fit.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fs_guard::fold;

use crate::error::{BindError, NotBound};
use crate::names::Names;
use crate::text::FileText;
use crate::wide::Wide;

/// The kinds of sections that a model may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operations {
    /// Sections `*** Update File`.
    pub update: bool,
    /// Sections `*** Add File`.
    pub add: bool,
    /// Sections `*** Delete File`.
    pub delete: bool,
    /// Lines `*** Move to` in the section of an update.
    pub rename: bool,
}

impl Default for Operations {
    /// Updates alone.
    fn default() -> Self {
        Self { update: true, add: false, delete: false, rename: false }
    }
}

/// Files as they are now, prepared for the patches that may be written for them.
///
/// Make one value for a set of files; all matchers share it.
#[derive(Debug)]
pub struct Bound {
    pub(crate) operations: Operations,
    pub(crate) paths: Vec<Box<str>>,
    /// For each path, the first path equal without regard to case.
    pub(crate) alike: Vec<u32>,
    pub(crate) files: Vec<Option<FileText>>,
    /// The possible first lines of a section, sorted by their bytes.
    pub(crate) headers: Vec<Header>,
    pub(crate) names: Names,
    /// Cached tokens of places with many possible lines.
    pub(crate) wide: Mutex<HashMap<WideKey, Arc<Wide>>>,
}

/// A node of a vocabulary, some suffixes of a file, and a place in their lines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct WideKey {
    pub(crate) vocabulary: u64,
    pub(crate) node: u32,
    pub(crate) file: u32,
    pub(crate) suffixes: Range<u32>,
    pub(crate) depth: u32,
    pub(crate) at: u32,
}

/// The first line of a section, or the last of the patch.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) text: Box<str>,
    pub(crate) kind: HeaderKind,
}

impl Header {
    /// The byte of the text at a place; none at its end.
    pub(crate) fn byte(&self, at: u32) -> Option<u8> {
        self.text.as_bytes().get(at as usize).copied()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderKind {
    /// An update of the path with this number.
    Update(u32),
    Delete(u32),
    Add,
    End,
}

/// Collects the files for a [`Bound`].
#[derive(Debug, Default)]
pub struct Binder {
    operations: Operations,
    files: BTreeMap<String, Vec<u8>>,
    others: BTreeSet<String>,
    twice: Option<String>,
}

impl Binder {
    /// Begins without files.
    #[must_use]
    pub fn new(operations: Operations) -> Self {
        Self { operations, ..Self::default() }
    }

    /// Adds a file that may be updated, with its bytes.
    #[must_use]
    pub fn file(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        if self.files.insert(path.to_owned(), bytes.into()).is_some() {
            self.twice = Some(path.to_owned());
        }
        self
    }

    /// Adds the path of a file that may be deleted. Name all files of the workspace, so that no new
    /// file collides with one of them.
    #[must_use]
    pub fn path(mut self, path: &str) -> Self {
        self.others.insert(path.to_owned());
        self
    }

    /// Makes the value shared by matchers.
    ///
    /// # Errors
    ///
    /// [`NotBound`] for the first path that no header can name, for the first file that hunks
    /// cannot show, and if the operations leave no section to write.
    pub fn bind(mut self) -> Result<Bound, NotBound> {
        if let Some(path) = &self.twice {
            return Err(not_bound(path, BindError::Twice));
        }
        self.others.retain(|path| !self.files.contains_key(path));
        let mut paths = Vec::new();
        let mut files = Vec::new();
        for (path, bytes) in self.files {
            files.push(Some(FileText::new(bytes).map_err(|problem| not_bound(&path, problem))?));
            paths.push(path.into_boxed_str());
        }
        files.extend(self.others.iter().map(|_| None));
        paths.extend(self.others.into_iter().map(String::into_boxed_str));
        if let Some(path) = paths.iter().find(|path| !is_nameable(path)) {
            return Err(not_bound(path, BindError::Path));
        }
        let operations = self.operations;
        let mut first = HashMap::new();
        let alike = paths
            .iter()
            .zip(0..)
            .map(|(path, nth)| *first.entry(fold(path)).or_insert(nth))
            .collect();
        let names = Names::new(&paths);
        let headers = headers(&paths, &files, operations);
        if headers.len() == 1 {
            return Err(not_bound("", BindError::Nothing));
        }
        Ok(Bound { operations, paths, alike, files, headers, names, wide: Mutex::default() })
    }
}

fn not_bound(path: &str, problem: BindError) -> NotBound {
    NotBound { path: path.to_owned(), problem }
}

/// Whether a header can name a path unchanged.
fn is_nameable(path: &str) -> bool {
    !path.is_empty() && !path.contains(['\n', '\r', '\0']) && path.trim_matches([' ', '\t']) == path
}

fn headers(paths: &[Box<str>], files: &[Option<FileText>], operations: Operations) -> Vec<Header> {
    let mut headers = vec![Header { text: "*** End Patch".into(), kind: HeaderKind::End }];
    if operations.add {
        headers.push(Header { text: "*** Add File: ".into(), kind: HeaderKind::Add });
    }
    for ((path, file), number) in paths.iter().zip(files).zip(0..) {
        if operations.delete {
            let text = format!("*** Delete File: {path}\n").into();
            headers.push(Header { text, kind: HeaderKind::Delete(number) });
        }
        if file.is_some() && operations.update {
            let text = format!("*** Update File: {path}\n").into();
            headers.push(Header { text, kind: HeaderKind::Update(number) });
        }
    }
    headers.sort_unstable_by(|one, other| one.text.cmp(&other.text));
    headers
}

impl Bound {
    /// The paths of the files and the others, as a header names them.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(|path| &**path)
    }

    pub(crate) fn file(&self, number: u32) -> &FileText {
        self.files[number as usize].as_ref().expect("only files are updated")
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<WideKey, Arc<Wide>>> {
        self.wide.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cached tokens of a place, or makes them.
    pub(crate) fn wide(&self, key: WideKey, make: impl FnOnce() -> Wide) -> Arc<Wide> {
        /// The most places in the cache.
        const CACHED: usize = 1024;
        if let Some(known) = self.cache().get(&key) {
            return Arc::clone(known);
        }
        let made = Arc::new(make());
        let mut cache = self.cache();
        if cache.len() >= CACHED {
            cache.clear();
        }
        cache.insert(key, Arc::clone(&made));
        made
    }
}
