//! Files in memory: a tree as a map, and patches applied to such trees.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use fs_guard::{Entry, Error, FileKind, Policy, Tree};
use patch_grammar::parse;

use crate::commit;
use crate::files::Files;
use crate::plan::Plan;
use crate::plan::images::{ChangedFile, Content};
use crate::plan::options::Options;
use crate::plan::planner::plan;

/// Files in memory, by path. Directories are there as long as a file is in them. A clone is cheap.
///
/// ```
/// use patch_engine::{MemoryTree, Options, apply_in_memory};
///
/// let mut tree = MemoryTree::new();
/// tree.insert("src/a.txt", b"one\ntwo\n".to_vec());
/// let patch = "*** Begin Patch\n*** Update File: src/a.txt\n@@\n-two\n+TWO\n*** End Patch\n";
/// let changed = apply_in_memory(&tree, patch, &Options::default())?;
/// tree.commit(&changed.plan)?;
/// assert_eq!(tree.get("src/a.txt").unwrap(), b"one\nTWO\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryTree(Arc<BTreeMap<Box<str>, Content>>);

impl MemoryTree {
    /// Makes a tree without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a file at a path, in place of what was there.
    ///
    /// The path is not checked before a patch names the file.
    pub fn insert(&mut self, path: &str, bytes: impl Into<Arc<Vec<u8>>>) {
        self.insert_content(path, Content { bytes: bytes.into(), mode: 0o644, link: false });
    }

    /// Puts a file with a mode, or a symbolic link, at a path, in place of what was there.
    pub fn insert_content(&mut self, path: &str, content: Content) {
        Arc::make_mut(&mut self.0).insert(path.into(), content);
    }

    /// Removes the file or link at a path.
    pub fn remove(&mut self, path: &str) {
        Arc::make_mut(&mut self.0).remove(path);
    }

    /// The bytes of a file, or the text of a link.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.0.get(path).map(|content| &**content.bytes)
    }

    /// All files and links, in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Content)> {
        self.0.iter().map(|(path, content)| (&**path, content))
    }

    /// Carries out a plan.
    ///
    /// # Errors
    ///
    /// [`Error::Changed`] when a file is not what the plan was made for; then nothing is changed.
    pub fn commit(&mut self, plan: &Plan) -> Result<(), Error> {
        let changed = plan.images().changed()?;
        for file in &changed {
            if !file.was(self.get(file.path.as_str())) {
                return Err(Error::Changed { path: file.path.to_string() });
            }
        }
        let files = Arc::make_mut(&mut self.0);
        for ChangedFile { path, after, .. } in changed {
            match after {
                Some(content) => files.insert(path.as_str().into(), content),
                None => files.remove(path.as_str()),
            };
        }
        Ok(())
    }

    /// Iterates over the files beneath a directory, with their paths relative to it; `dir` ends in
    /// a slash, or is empty.
    fn beneath<'t>(&'t self, dir: &'t str) -> impl Iterator<Item = (&'t str, &'t Content)> {
        let from = (Bound::Included(dir), Bound::Unbounded);
        self.0
            .range::<str, _>(from)
            .map_while(move |(path, content)| Some((path.strip_prefix(dir)?, content)))
    }
}

impl<P: Into<Box<str>>, B: Into<Vec<u8>>> FromIterator<(P, B)> for MemoryTree {
    fn from_iter<I: IntoIterator<Item = (P, B)>>(files: I) -> Self {
        let files = files.into_iter().map(|(path, bytes)| {
            let bytes = Arc::new(bytes.into());
            (path.into(), Content { bytes, mode: 0o644, link: false })
        });
        Self(Arc::new(files.collect()))
    }
}

impl Tree for MemoryTree {
    fn entry(&self, path: &str) -> io::Result<Option<Entry>> {
        let from = (Bound::Included(path), Bound::Unbounded);
        let Some((next, content)) = self.0.range::<str, _>(from).next() else { return Ok(None) };
        // Of the paths that begin with this one, the first often tells what it is.
        Ok(match next.strip_prefix(path) {
            Some("") => Some(content.entry()),
            Some(rest) if rest.starts_with('/') => Some(Entry::directory()),
            Some(_) => self.beneath(&format!("{path}/")).next().map(|_| Entry::directory()),
            None => None,
        })
    }

    fn read(&self, path: &str) -> io::Result<Arc<Vec<u8>>> {
        let content = self.0.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::clone(&content.bytes))
    }

    fn list(&self, dir: &str) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        let mut entries: Vec<(Vec<u8>, FileKind)> = Vec::new();
        let dir = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        for (path, content) in self.beneath(&dir) {
            match path.split_once('/') {
                None => entries.push((path.into(), content.entry().kind)),
                Some((dir, _))
                    if entries.last().is_some_and(|(last, _)| last == dir.as_bytes()) => {}
                Some((dir, _)) => entries.push((dir.into(), FileKind::Directory)),
            }
        }
        Ok(entries)
    }
}

/// The result of a patch of files in memory.
#[derive(Debug)]
#[non_exhaustive]
pub struct Changed {
    /// The file at each changed path afterwards.
    pub files: Vec<ChangedFile>,
    /// The plan: what changes, where the hunks went, diffs ([`Plan::images`]).
    pub plan: Plan,
}

/// Applies a patch to files in memory, under the rules of a workspace and its default
/// [`policy`](crate::policy()). `tree` stays as it is: [`MemoryTree::commit`] makes the change
/// there.
///
/// For other rules use `plan(Files::of_tree(Arc::new(tree), policy), …)`.
///
/// # Errors
///
/// When the text is not a patch, or does not apply.
pub fn apply_in_memory(
    tree: &MemoryTree,
    text: &str,
    options: &Options,
) -> Result<Changed, commit::Error> {
    static POLICY: OnceLock<Arc<Policy>> = OnceLock::new();
    let policy = POLICY.get_or_init(|| Arc::new(crate::policy::policy()));
    let patch = parse(text, &options.parse)?;
    let files = Files::of_tree(Arc::new(tree.clone()), Arc::clone(policy)).hashed_late();
    let plan = plan(files, &patch, options)?;
    Ok(Changed { files: plan.images().changed()?, plan })
}
