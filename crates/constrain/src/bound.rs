//! The files that an output has to fit.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use fs_guard::fold;

use crate::error::{BindError, NotBound};
use crate::names::Names;
use crate::paths::{PathProblem, PathRules};
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
    /// The most bytes that may be needed to finish an output whose hunks repeat nothing.
    pub(crate) most_rest: OnceLock<u32>,
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

    /// Adds the path of a file that may be deleted, unless the default policy keeps patches off the
    /// file. Name all files of the workspace, so that no new file collides with one of them.
    #[must_use]
    pub fn path(mut self, path: &str) -> Self {
        self.others.insert(path.to_owned());
        self
    }

    /// Makes the value shared by matchers.
    ///
    /// # Errors
    ///
    /// [`NotBound`] for the first path that no file of a workspace has, for the first file that no
    /// patch may change or that hunks cannot show, and if the operations leave no section to write.
    /// A file whose change has to be approved can be bound.
    pub fn bind(mut self) -> Result<Bound, NotBound> {
        if let Some(path) = &self.twice {
            return Err(not_bound(path, BindError::Twice));
        }
        self.others.retain(|path| !self.files.contains_key(path));
        let rules = PathRules::new();
        let mut paths = Vec::new();
        let mut files = Vec::new();
        for (path, bytes) in self.files {
            rules.check(&path).map_err(|problem| not_bound(&path, BindError::Path(problem)))?;
            files.push(Some(FileText::new(bytes).map_err(|problem| not_bound(&path, problem))?));
            paths.push(path.into_boxed_str());
        }
        let mut may_delete = vec![true; paths.len()];
        for path in self.others {
            let problem = rules.check(&path).err();
            may_delete.push(problem.is_none());
            if let Some(problem) = problem.filter(PathProblem::is_spelling) {
                return Err(not_bound(&path, BindError::Path(problem)));
            }
            files.push(None);
            paths.push(path.into_boxed_str());
        }
        let operations = self.operations;
        let mut first = HashMap::new();
        let alike = paths
            .iter()
            .zip(0..)
            .map(|(path, nth)| *first.entry(fold(path)).or_insert(nth))
            .collect();
        let names = Names::new(&paths, rules);
        let headers = headers(&paths, &files, &may_delete, operations);
        if headers.len() == 1 {
            return Err(not_bound("", BindError::Nothing));
        }
        Ok(Bound {
            operations,
            paths,
            alike,
            files,
            headers,
            names,
            wide: Mutex::default(),
            most_rest: OnceLock::new(),
        })
    }
}

fn not_bound(path: &str, problem: BindError) -> NotBound {
    NotBound { path: path.to_owned(), problem }
}

fn headers(
    paths: &[Box<str>],
    files: &[Option<FileText>],
    may_delete: &[bool],
    operations: Operations,
) -> Vec<Header> {
    let mut headers = vec![Header { text: "*** End Patch".into(), kind: HeaderKind::End }];
    if operations.add {
        headers.push(Header { text: "*** Add File: ".into(), kind: HeaderKind::Add });
    }
    for (number, path) in paths.iter().enumerate() {
        let file = &files[number];
        let is_deleted = operations.delete && may_delete[number];
        let number = number as u32;
        if is_deleted {
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
