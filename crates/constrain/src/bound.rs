//! The files that a model is held to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use fs_guard::fold;

use crate::error::{BindError, NotBound};
use crate::names::Names;
use crate::text::FileText;
use crate::wide::Wide;

/// What a model may write.
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

/// Files as they are now, with all that a patch may say of them.
///
/// It is made once for a set of files, and shared by all matchers.
#[derive(Debug)]
pub struct Bound {
    pub(crate) operations: Operations,
    pub(crate) paths: Vec<Box<str>>,
    /// Of each path the first one that differs from it in case at most.
    pub(crate) alike: Vec<u32>,
    pub(crate) files: Vec<Option<FileText>>,
    /// What may begin a section, in the order of their bytes.
    pub(crate) headers: Vec<Header>,
    pub(crate) names: Names,
    /// Masks of places where much may follow.
    pub(crate) wide: Mutex<HashMap<WideKey, Arc<Wide>>>,
}

/// A vocabulary and a node of it, a file, some of its suffixes, and a place in their lines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct WideKey {
    pub(crate) vocabulary: u64,
    pub(crate) node: u32,
    pub(crate) file: u32,
    pub(crate) suffixes: Range<u32>,
    pub(crate) depth: u32,
    pub(crate) at: u32,
}

/// A line that begins a section, or ends the patch.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) text: Box<str>,
    pub(crate) kind: HeaderKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderKind {
    /// Of the path with this number.
    Update(u32),
    Delete(u32),
    Add,
    End,
}

/// Collects what a [`Bound`] is made of.
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

    /// Adds a path at which there is a file that may be deleted, and where no new one may be. Name
    /// all files of the workspace, so that a new one collides with none.
    #[must_use]
    pub fn path(mut self, path: &str) -> Self {
        self.others.insert(path.to_owned());
        self
    }

    /// Makes the value that matchers share.
    ///
    /// # Errors
    ///
    /// [`NotBound`] for the first path that no header can name or file that hunks cannot show, and
    /// when there is nothing that a patch may do.
    pub fn bind(mut self) -> Result<Bound, NotBound> {
        let error = |path: &str, problem| NotBound { path: path.to_owned(), problem };
        if let Some(path) = &self.twice {
            return Err(error(path, BindError::Twice));
        }
        self.others.retain(|path| !self.files.contains_key(path));
        let (mut paths, mut files) = (Vec::new(), Vec::new());
        for (path, bytes) in self.files {
            files.push(Some(FileText::new(bytes).map_err(|problem| error(&path, problem))?));
            paths.push(path.into_boxed_str());
        }
        files.extend(self.others.iter().map(|_| None));
        paths.extend(self.others.into_iter().map(String::into_boxed_str));
        if let Some(path) = paths.iter().find(|path| !is_nameable(path)) {
            return Err(error(path, BindError::Path));
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
            return Err(error("", BindError::Nothing));
        }
        Ok(Bound { operations, paths, alike, files, headers, names, wide: Mutex::default() })
    }
}

/// Whether the text of a header can be just this path.
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

    /// Returns what is cached for a place, or makes it.
    pub(crate) fn wide(&self, key: WideKey, make: impl FnOnce() -> Wide) -> Arc<Wide> {
        /// So many places are remembered.
        const REMEMBERED: usize = 1024;
        let lock = || self.wide.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Arc::clone(known);
        }
        let made = Arc::new(make());
        let mut cache = lock();
        if cache.len() >= REMEMBERED {
            cache.clear();
        }
        cache.insert(key, Arc::clone(&made));
        made
    }
}
