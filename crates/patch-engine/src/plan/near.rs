//! The path probably meant in place of a failing one: only shown, never used.

use std::cell::Cell;
use std::collections::VecDeque;

use fs_guard::{Access, Error, FileKind, RelPath, Spelling};
use patch_grammar::diff::of_quoted;

use crate::files::Files;
use crate::plan::paths::is_file;
use crate::plan::reject::{Problem, Reject};

/// The most directory entries to look at for one path.
const LOOKED_AT: usize = 20_000;

/// The most paths of a patch to search for.
const SEARCHES: usize = 8;

/// Directories with files made by other programs: they are not searched.
const SKIPPED: &[&[u8]] = &[b"node_modules", b"target", b"dist", b"build"];

/// Finds what was probably meant.
#[derive(Debug, Default)]
pub(crate) struct Near {
    /// How many searches were made.
    searches: Cell<usize>,
}

/// Returns the name that has octal escapes in a path, as git prints names, without its quotes or
/// with them. In a path as Windows has it, digits behind a backslash begin a name.
pub(super) fn of_git(path: &str) -> Option<String> {
    let inner = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')).unwrap_or(path);
    of_quoted(&format!("\"{inner}\"")).filter(|name| !name.is_ascii())
}

impl Reject {
    /// Returns the same reject, with the path probably meant.
    #[must_use]
    pub fn among(self, files: impl Into<Files>) -> Self {
        Self { near: Near::default().path(&files.into(), &self.path, &self.problem), ..self }
    }
}

impl Near {
    /// Returns the path to write instead of `path`, where that is clear enough to be worth a
    /// question.
    pub(crate) fn path(&self, files: &Files, path: &str, problem: &Problem) -> Option<String> {
        let respelt = match problem {
            Problem::Guard(Error::Spelling { problem: Spelling::Absolute, .. }) => {
                files.directory()?.relative(path)?
            }
            Problem::Guard(Error::Spelling {
                problem:
                    Spelling::Backslash
                    | Spelling::EmptyComponent
                    | Spelling::DotComponent
                    | Spelling::TrailingSlash,
                ..
            })
            | Problem::Guard(Error::Traversal { .. }) => {
                if let Some(name) = of_git(path) {
                    return Some(name).filter(|name| is_file(files, name));
                }
                let respelt = plain(&path.replace('\\', "/"))?;
                // `a/` and `b/` of a diff.
                let rest = respelt.split_once('/').map(|(_, rest)| rest.to_owned());
                rest.filter(|rest| !is_file(files, &respelt) && is_file(files, rest))
                    .unwrap_or(respelt)
            }
            // A file taken away by another section still exists, and is not meant.
            Problem::Missing => return self.existing(files, path).filter(|near| near != path),
            Problem::MissingParent { .. } => {
                return self.parent(files, path).filter(|near| near != path);
            }
            _ => return None,
        };
        files
            .check(&respelt, Access::Update)
            .ok()
            .map(|path| path.to_string())
            .filter(|respelt| respelt != path)
    }

    /// Returns the existing file probably meant.
    fn existing(&self, files: &Files, path: &str) -> Option<String> {
        let path = path.strip_prefix("./").unwrap_or(path);
        // `a/` and `b/` of a diff, and the name of the workspace's own directory.
        if let Some((_, rest)) = path.split_once('/')
            && is_file(files, rest)
        {
            return Some(rest.to_owned());
        }
        let name = path.rsplit('/').next()?;
        let beneath = format!("/{path}");
        self.search(files, |found, kind| {
            if kind == FileKind::Directory {
                return 0;
            }
            match found.as_str() {
                found
                    if found.ends_with(&beneath)
                        || fs_guard::normalisations(found, path).is_some() =>
                {
                    3
                }
                found if one_edit(found, path) => 2,
                _ if found.file_name() == name => 1,
                _ => 0,
            }
        })
    }

    /// Returns the same file name in an existing directory.
    fn parent(&self, files: &Files, path: &str) -> Option<String> {
        let (directory, name) = path.strip_prefix("./").unwrap_or(path).rsplit_once('/')?;
        let beneath = format!("/{directory}");
        let rest = directory.split_once('/').map(|(_, rest)| rest);
        let found = self.search(files, |found, kind| match (kind, found.as_str()) {
            (FileKind::Directory, found) if found.ends_with(&beneath) || rest == Some(found) => 3,
            (FileKind::Directory, found) if one_edit(found, directory) => 2,
            _ => 0,
        })?;
        Some(format!("{found}/{name}"))
    }

    /// Returns the one entry with the best mark; `None` when two entries share it.
    fn search(&self, files: &Files, mark: impl Fn(&RelPath, FileKind) -> u8) -> Option<String> {
        let searches = self.searches.replace(self.searches.get() + 1);
        if searches >= SEARCHES {
            return None;
        }
        let mut best: (u8, Vec<String>) = (1, Vec::new());
        let mut left = LOOKED_AT;
        let mut pending = VecDeque::from([None::<RelPath>]);
        while let Some(dir) = pending.pop_front() {
            for (name, kind) in files.read_dir(dir.as_ref()).unwrap_or_default() {
                left = left.checked_sub(1)?;
                let path = match &dir {
                    Some(dir) => [dir.as_str().as_bytes(), b"/", &name[..]].concat(),
                    None => name.clone(),
                };
                // An unreadable path is not shown.
                let Ok(path) = files.check_bytes(&path, Access::Read) else { continue };
                let marked = mark(&path, kind);
                if marked > best.0 {
                    best = (marked, Vec::new());
                }
                if marked == best.0 {
                    best.1.push(path.to_string());
                }
                if kind == FileKind::Directory && !SKIPPED.contains(&&*name) {
                    pending.push_back(Some(path));
                }
            }
        }
        match &mut best.1[..] {
            [one] => Some(std::mem::take(one)),
            _ => None,
        }
    }
}

/// A path without `.`, `..` and empty components; `None` for one that climbs out.
fn plain(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty() && !path.starts_with('/')).then(|| parts.join("/"))
}

/// Returns whether two paths differ by one character (inserted, deleted, replaced, or swapped with
/// its neighbour), or in case only.
fn one_edit(one: &str, other: &str) -> bool {
    one.len().abs_diff(other.len()) <= 4
        && (strsim::osa_distance(one, other) == 1 || one.to_lowercase() == other.to_lowercase())
}
