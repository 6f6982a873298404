//! The rules about the entry at a path and its surroundings, for directories and trees alike.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::io;
use std::sync::MutexGuard;

use crate::error::{Error, Rule};
use crate::fold::fold;
use crate::metadata::{FileKind, Metadata};
use crate::policy::{Access, Policy};
use crate::rel_path::RelPath;

/// Known facts about directories, by path. The path of the root is empty.
#[derive(Debug, Default)]
pub(crate) struct Learnt {
    pub(crate) not_git: BTreeSet<Box<str>>,
    pub(crate) listings: HashMap<Box<str>, Listing>,
}

/// The names in a directory, also by their folded spelling.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) names: HashSet<Box<str>>,
    pub(crate) folded: HashMap<Box<str>, Box<str>>,
}

/// The files that the rules look at.
pub(crate) trait Look {
    fn learnt(&self) -> MutexGuard<'_, Learnt>;

    /// Returns the metadata of what is at a path. A link on the way is an error.
    fn metadata(&self, path: &RelPath) -> Result<Option<Metadata>, Error>;

    /// Returns whether anything is at a path. An entry out of reach counts as nothing. Any other
    /// error is returned, because it does not tell whether something is there.
    fn has(&self, path: &str) -> Result<bool, Error>;

    /// Returns the names in a directory; `None` if there is no such directory. The path of the root
    /// is empty.
    fn names(&self, dir: &str) -> Result<Option<Vec<Vec<u8>>>, Error>;

    /// Applies the rules to metadata from a path.
    fn check_pre_image(&self, path: &RelPath, seen: &Metadata, access: Access)
    -> Result<(), Error>;
}

/// Returns the metadata of the entry at the path, after applying the rules for `access`.
pub(crate) fn inspect(
    files: &impl Look,
    path: &RelPath,
    access: Access,
) -> Result<Option<Metadata>, Error> {
    let seen = files.metadata(path)?;
    if let Some(seen) = &seen {
        files.check_pre_image(path, seen, access)?;
    }
    Ok(seen)
}

/// Refuses paths in git's directories, whatever their names. `is_dir` means that the path itself is
/// a directory.
pub(crate) fn check_not_git(files: &impl Look, path: &RelPath, is_dir: bool) -> Result<(), Error> {
    check_dir_not_git(files, "", path)?;
    for (end, _) in path.as_str().match_indices('/') {
        check_dir_not_git(files, &path.as_str()[..end], path)?;
    }
    if is_dir { check_dir_not_git(files, path.as_str(), path) } else { Ok(()) }
}

fn check_dir_not_git(files: &impl Look, dir: &str, path: &RelPath) -> Result<(), Error> {
    if files.learnt().not_git.contains(dir) {
        return Ok(());
    }
    check_no_repository(files, dir, path, 0)?;
    files.learnt().not_git.insert(dir.into());
    Ok(())
}

/// Refuses `path` if git would take its directory `dir`, with the new [`PARTS`] inside, for a
/// repository.
fn check_no_repository(files: &impl Look, dir: &str, path: &RelPath, new: u8) -> Result<(), Error> {
    let has = |part: u8| {
        let name = PARTS[usize::from(part)];
        if new & 1 << part != 0 { Ok(true) } else { files.has(&joined(dir, name)) }
    };
    // With `commondir` the other two may be elsewhere. Few directories have a `HEAD`, so its check
    // comes first.
    if has(HEAD)? && (has(OBJECTS)? && has(REFS)? || has(COMMONDIR)?) {
        let shown = if dir.is_empty() { "." } else { dir };
        return Err(Error::Forbidden {
            path: path.as_str().into(),
            rule: Rule::BareRepository(shown.into()),
        });
    }
    Ok(())
}

/// Refuses new files that would make a directory a bare git repository.
pub(crate) fn check_no_new_repository<'p>(
    files: &impl Look,
    appearing: impl IntoIterator<Item = &'p RelPath>,
) -> Result<(), Error> {
    let mut parts: BTreeMap<String, (u8, &RelPath)> = BTreeMap::new();
    for path in appearing {
        let mut start = 0;
        for name in path.components() {
            if let Some(part) = PARTS.iter().position(|part| part.eq_ignore_ascii_case(name)) {
                let dir = path.as_str()[..start].trim_end_matches('/');
                parts.entry(dir.to_owned()).or_insert((0, path)).0 |= 1 << part;
            }
            start += name.len() + 1;
        }
    }
    parts.iter().try_for_each(|(dir, (new, path))| check_no_repository(files, dir, path, *new))
}

/// The entries that make a directory a git repository, by the numbers below.
const PARTS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];
const HEAD: u8 = 0;
const OBJECTS: u8 = 1;
const REFS: u8 = 2;
const COMMONDIR: u8 = 3;

/// Finds an existing entry, at the path or at a directory on the way, with a name different only by
/// case or Unicode normalisation. `moved` is a file soon to be gone.
pub(crate) fn collision(
    files: &impl Look,
    path: &RelPath,
    moved: Option<&RelPath>,
) -> Result<Option<String>, Error> {
    let mut start = 0;
    for name in path.components() {
        let parent = path.as_str()[..start].trim_end_matches('/');
        learn_listing(files, parent)?;
        let learnt = files.learnt();
        let Some(listing) = learnt.listings.get(parent) else { return Ok(None) };
        if !listing.names.contains(name) {
            let folded = fold(name);
            let existing = listing.folded.get(&*folded).map(|existing| joined(parent, existing));
            let Some(moved) = moved.filter(|_| existing.is_some()) else { return Ok(existing) };
            // There may be several.
            let alike = listing.names.iter().filter(|other| fold(other) == folded);
            return Ok(alike
                .map(|other| joined(parent, other))
                .filter(|other| other != moved.as_str())
                .min());
        }
        start += name.len() + 1;
    }
    Ok(None)
}

fn joined(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}

fn learn_listing(files: &impl Look, dir: &str) -> Result<(), Error> {
    if files.learnt().listings.contains_key(dir) {
        return Ok(());
    }
    let Some(names) = files.names(dir)? else { return Ok(()) };
    let mut listing = Listing::default();
    for name in names {
        // A name in another encoding never equals the folded name of a checked path.
        let Ok(name) = String::from_utf8(name) else { continue };
        listing.folded.insert(fold(&name).into(), name.as_str().into());
        listing.names.insert(name.into());
    }
    files.learnt().listings.insert(dir.into(), listing);
    Ok(())
}

/// Returns the directories to be created for the path, outermost first.
pub(crate) fn parents_missing(files: &impl Look, path: &RelPath) -> Result<Vec<RelPath>, Error> {
    check_not_git(files, path, false)?;
    let mut missing = Vec::new();
    let mut dirs: Vec<RelPath> = path.ancestors().collect();
    while let Some(dir) = dirs.pop() {
        match files.metadata(&dir)? {
            Some(seen) if seen.kind == FileKind::Directory => break,
            Some(seen) if seen.kind == FileKind::Symlink => {
                files.check_pre_image(&dir, &seen, Access::Read)?
            }
            Some(_) => {
                let component = dir.as_str().into();
                return Err(Error::NotADirectory { path: path.as_str().into(), component });
            }
            None => missing.push(dir),
        }
    }
    missing.reverse();
    Ok(missing)
}

/// Applies the rules for kinds of files. Returns `Ok(true)` if nothing more has to be checked. A
/// link is refused by `explain_link`.
pub(crate) fn check_kind(
    path: &RelPath,
    seen: &Metadata,
    access: Access,
    explain_link: impl FnOnce() -> Error,
) -> Result<bool, Error> {
    match (seen.kind, access) {
        (FileKind::Symlink, Access::Delete) => Ok(true),
        (FileKind::Symlink, _) => Err(explain_link()),
        (FileKind::Directory | FileKind::Submodule | FileKind::Other, _) => {
            Err(Error::NotAFile { path: path.as_str().into(), kind: seen.kind })
        }
        (FileKind::File, Access::Read) => Ok(true),
        (FileKind::File, Access::Create) => {
            Err(Error::AlreadyExists { path: path.as_str().into() })
        }
        (FileKind::File, Access::Update | Access::Delete) => Ok(false),
    }
}

/// Checks that a symbolic link may be made: the link is approved, and its target is relative and
/// stays beneath the root. `real` follows the links on the way. Returns the path of the target,
/// unless the target is the root.
pub(crate) fn check_link(
    policy: &Policy,
    path: &RelPath,
    target: &[u8],
    real: impl FnOnce(&str) -> Real,
) -> Result<Option<String>, Error> {
    if !policy.lets_link(path) {
        return Err(Error::GuardedLink { path: path.to_string() });
    }
    let refused = |problem| Error::LinkTarget {
        path: path.to_string(),
        target: String::from_utf8_lossy(target).into_owned(),
        problem,
    };
    let target = std::str::from_utf8(target).map_err(|_| refused("it is not UTF-8"))?;
    if target.is_empty() || target.contains(['\n', '\0']) {
        return Err(refused("it is no path"));
    }
    if target.starts_with('/') {
        return Err(refused("it is absolute, and a link has to be relative"));
    }
    // Below a name there may be a link later on, and `..` leads elsewhere then.
    let mut parts = target.split('/').filter(|part| !matches!(*part, "" | "."));
    if parts.by_ref().find(|part| *part != "..").is_some() && parts.any(|part| part == "..") {
        return Err(refused("`..` follows a name"));
    }
    let parent = path.as_str().rsplit_once('/').map_or("", |(parent, _)| parent);
    match real(&format!("{parent}/{target}")) {
        Real::Inside { path: real, .. } => Ok(Some(real).filter(|real| !real.is_empty())),
        Real::Outside { .. } => {
            Err(Error::LeadsOut { path: path.to_string(), link: path.to_string() })
        }
        other => Err(other.into_link_error(path)),
    }
}

/// Where a path with links leads.
pub(crate) enum Real {
    Inside { path: String, link: Option<String> },
    Outside { link: String },
    Endless { link: String },
    Unknown(io::Error),
}

impl Real {
    /// Returns the error for a path with a link inside.
    pub(crate) fn into_link_error(self, path: &RelPath) -> Error {
        let path = path.to_string();
        match self {
            Self::Outside { link } => Error::LeadsOut { path, link },
            Self::Inside { path: real, link } => {
                let link = link.unwrap_or_else(|| path.clone());
                Error::Symlink { path, link, real_path: (!real.is_empty()).then_some(real) }
            }
            Self::Endless { link } => Error::Symlink { path, link, real_path: None },
            Self::Unknown(_) => Error::Symlink { link: path.clone(), path, real_path: None },
        }
    }
}

/// The finding of a step along a path with links.
pub(crate) enum NameStep {
    Directory,
    /// A link, with its text.
    Link(Vec<u8>),
    /// Anything else, or nothing.
    End,
}

/// Follows links by hand, beneath the root, to find where a path leads. `look` returns what is at a
/// path without links; `inside` returns the part of an absolute link text beneath the root.
pub(crate) fn real_path(
    path: &str,
    mut look: impl FnMut(&str) -> io::Result<NameStep>,
    inside: impl Fn(&str) -> Option<String>,
) -> Real {
    /// The most links followed by Linux.
    const MOST_LINKS: usize = 40;
    let mut todo: VecDeque<String> = path.split('/').map(str::to_owned).collect();
    let mut done: Vec<String> = Vec::new();
    // No directory exists from here on, so there are no links.
    let mut end = None;
    let mut first_link = None;
    let mut links = 0;
    while let Some(name) = todo.pop_front() {
        match &*name {
            "" | "." => continue,
            ".." => {
                if done.pop().is_none() {
                    return Real::Outside { link: first_link.unwrap_or_else(|| path.into()) };
                }
                end = end.filter(|&end| end <= done.len());
                continue;
            }
            _ => {}
        }
        done.push(name);
        if end.is_some() {
            continue;
        }
        let here = done.join("/");
        match look(&here) {
            Ok(NameStep::Directory) => {}
            Ok(NameStep::End) => end = Some(done.len()),
            Ok(NameStep::Link(text)) => {
                done.pop();
                let link = first_link.get_or_insert(here).clone();
                links += 1;
                let text = match String::from_utf8(text) {
                    Ok(text) if links <= MOST_LINKS => text,
                    _ => return Real::Endless { link },
                };
                let text = if text.starts_with('/') {
                    let Some(inside) = inside(&text) else { return Real::Outside { link } };
                    done.clear();
                    inside
                } else {
                    text
                };
                for part in text.rsplit('/') {
                    todo.push_front(part.to_owned());
                }
            }
            Err(error) => return Real::Unknown(error),
        }
    }
    Real::Inside { path: done.join("/"), link: first_link }
}
