//! The path probably meant in place of a failing one: only shown, never used.

use std::cell::Cell;
use std::collections::VecDeque;

use fs_guard::{Access, Error, FileKind, RelPath, Sha256, Spelling};
use patch_grammar::diff::of_quoted;

use crate::files::Files;
use crate::plan::decorated::{below_top, undecorated};
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

/// Returns the one file with these bytes.
pub(crate) fn with_bytes(files: &Files, size: u64, sha256: Sha256) -> Option<String> {
    Near::default().search(files, |found, kind| {
        let has_size = || matches!(files.metadata(found), Ok(Some(seen)) if seen.size == size);
        let is_same = kind == FileKind::File
            && size > 0
            && has_size()
            && matches!(files.hash(found), Ok((hash, _)) if hash == sha256);
        u8::from(is_same)
    })
}

impl Near {
    /// Returns the path to write instead of `path`, where that is clear enough to be worth a
    /// question.
    pub(crate) fn path(&self, files: &Files, path: &str, problem: &Problem) -> Option<String> {
        let respelt = match problem {
            Problem::Guard(Error::Spelling {
                problem: Spelling::Absolute | Spelling::Tilde,
                ..
            }) => match beneath(files, path) {
                Some(beneath) => beneath,
                None => return self.bare(files, path).or_else(|| self.tail(files, path)),
            },
            Problem::Guard(Error::Spelling {
                problem:
                    Spelling::Control(_)
                    | Spelling::Invisible(_)
                    | Spelling::ReservedCharacter(_)
                    | Spelling::TrailingDotOrBlank(_),
                ..
            }) => return self.bare(files, path),
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
                if let Some(bare) = self.bare(files, path) {
                    return Some(bare);
                }
                // The address of a page, not of a file.
                if path.contains("://") {
                    return None;
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

    /// Returns the file whose name is within this one, with something around it.
    fn bare(&self, files: &Files, path: &str) -> Option<String> {
        let spellings = undecorated(path);
        let is_there = |bare: &&String| is_file(files, bare);
        if let Some(bare) = spellings.iter().find(is_there) {
            return Some(bare.clone());
        }
        let beneath = |bare: &String| beneath(files, bare).filter(|bare| is_file(files, bare));
        spellings
            .iter()
            .find_map(beneath)
            .or_else(|| spellings.iter().find_map(|bare| self.tail(files, bare)))
    }

    /// Returns the file that an absolute path of another system ends with.
    fn tail(&self, files: &Files, path: &str) -> Option<String> {
        let below = below_top(path)?;
        let mut tail = &*below;
        loop {
            if is_file(files, tail) {
                break;
            }
            tail = tail.split_once('/')?.1;
        }
        if tail.contains('/') {
            return Some(tail.to_owned());
        }
        // A file of that name may be meant that is elsewhere.
        self.search(files, |found, kind| {
            if kind != FileKind::Directory && found.file_name() == tail { 1 } else { 0 }
        })
    }

    /// Returns the existing file probably meant.
    fn existing(&self, files: &Files, path: &str) -> Option<String> {
        let path = path.strip_prefix("./").unwrap_or(path);
        if let Some(bare) = self.bare(files, path) {
            return Some(bare);
        }
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
                found if is_slip(found, path) => 2,
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
            (FileKind::Directory, found) if is_slip(found, directory) => 2,
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

/// Returns the relative path of an absolute one, or of an URI, that is beneath the root.
fn beneath(files: &Files, path: &str) -> Option<String> {
    let root = files.directory()?;
    root.relative(path).or_else(|| root.relative(&format!("/{}", below_top(path)?)))
}

/// Returns whether two paths differ as by a slip: in case and in the signs between words, or by a
/// character or two of one component, but for its digits, which tell files apart.
fn is_slip(one: &str, other: &str) -> bool {
    if one.len().abs_diff(other.len()) > 8 {
        return false;
    }
    if words(one) == words(other) {
        return true;
    }
    let mut differing = one.split('/').zip(other.split('/')).filter(|(one, other)| one != other);
    let is_as_deep = one.matches('/').count() == other.matches('/').count();
    match (differing.next(), differing.next()) {
        (Some((one, other)), None) if is_as_deep => is_slip_of_name(one, other),
        _ => false,
    }
}

/// Returns whether two names differ by at most two characters, and a third of their length.
fn is_slip_of_name(one: &str, other: &str) -> bool {
    let is_small = |one: &str, other: &str| {
        let edits = strsim::osa_distance(one, other);
        edits <= 2 && edits * 3 <= one.chars().count().max(other.chars().count())
    };
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    if digits(one) != digits(other) {
        return false;
    }
    match (one.rsplit_once('.'), other.rsplit_once('.')) {
        (Some((stem, ending)), Some((other_stem, other_ending))) if stem == other_stem => {
            let longer = ending.len().max(other_ending.len());
            is_small(one, other) && strsim::osa_distance(ending, other_ending) < longer
        }
        (Some((stem, ending)), Some((other_stem, other_ending))) if ending == other_ending => {
            is_small(stem, other_stem)
        }
        _ => is_small(one, other),
    }
}

/// Returns a path in lower case, with one sign between words.
fn words(path: &str) -> String {
    path.to_lowercase().replace(['-', ' '], "_")
}
