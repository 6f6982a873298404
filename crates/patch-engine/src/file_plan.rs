//! Plans of single file operations: the shape that patches have, so they take the same road.

use std::sync::Arc;

use fs_guard::{Access, FileKind, Hasher, Metadata, RelPath, Root, Sha256};

use crate::plan::{Change, Operation, Plan};
use crate::planner::{Disk, load};
use crate::reject::{Problem, Reject};
use crate::transition::{Content, PostImage, PreImage, Splice, Transition};

/// More files than this are not deleted in one go.
pub const MAX_DELETED: usize = 10_000;

/// A file as it was read to be changed.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Its path.
    pub path: RelPath,
    /// Its bytes.
    pub bytes: Arc<Vec<u8>>,
    /// Its hash.
    pub sha256: Sha256,
    metadata: Metadata,
}

/// Reads a file that is to be changed; `None` when nothing is there.
///
/// # Errors
///
/// When the guard refuses it, or it is larger than `max_size`.
pub fn load_file(root: &Root, path: &str, max_size: u64) -> Result<Option<Loaded>, Reject> {
    let load = || {
        let path = root.check(path, Access::Update).map_err(Problem::Guard)?;
        let disk = load(root, &path, Access::Update, max_size)?;
        Ok(disk.map(|Disk { metadata, sha256, bytes }| {
            let bytes = bytes.expect("a file that is to be changed is read whole");
            Loaded { path, bytes, sha256, metadata }
        }))
    };
    load().map_err(|problem| reject(path, problem))
}

/// Plans a new file; nothing may be there.
///
/// # Errors
///
/// When something is there, the guard refuses the path, or a directory is missing and
/// `create_parents` is not set.
pub fn create(root: &Root, path: &str, bytes: Vec<u8>, create_parents: bool, max_size: u64) -> Result<Plan, Reject> {
    let plan = || {
        let target = root.check(path, Access::Create).map_err(Problem::Guard)?;
        let size = bytes.len() as u64;
        if size > max_size {
            let error = fs_guard::Error::TooLarge { path: path.into(), size, limit: max_size };
            return Err(Problem::Guard(error));
        }
        if root.inspect(&target, Access::Update).map_err(Problem::Guard)?.is_some() {
            return Err(Problem::Exists);
        }
        let create_dirs = check_place(root, &target, create_parents)?;
        let after = PostImage {
            sha256: Sha256::of(&bytes),
            size,
            content: Content::Bytes(bytes.into()),
            mode: None,
            attributes_of: None,
        };
        let sha256 = after.sha256;
        let change = Change {
            operation: Operation::Create,
            path: target.clone(),
            to_path: None,
            before: None,
            after: Some(sha256),
            transition: 0,
        };
        let transitions = vec![Transition { path: target, before: None, after: Some(after) }];
        Ok(Plan { create_dirs, ..of(transitions, vec![change]) })
    };
    plan().map_err(|problem| reject(path, problem))
}

/// Plans new bytes for a file; a plan without transitions when they are the same.
#[must_use]
pub fn update(file: &Loaded, splices: Vec<Splice>) -> Plan {
    let mut hasher = Hasher::new();
    let (mut size, mut from) = (0, 0);
    for splice in &splices {
        for part in [&file.bytes[from..splice.start], &splice.text] {
            hasher.update(part);
            size += part.len() as u64;
        }
        from = splice.end;
    }
    hasher.update(&file.bytes[from..]);
    size += (file.bytes.len() - from) as u64;
    let sha256 = hasher.finish();
    if sha256 == file.sha256 {
        return of(Vec::new(), Vec::new());
    }
    let path = file.path.clone();
    let change = Change {
        operation: Operation::Update,
        path: path.clone(),
        to_path: None,
        before: Some(file.sha256),
        after: Some(sha256),
        transition: 0,
    };
    let after = PostImage {
        content: Content::Spliced { source: Arc::clone(&file.bytes), splices },
        sha256,
        size,
        mode: Some(file.metadata.kept_mode()),
        attributes_of: Some(path.clone()),
    };
    let before = PreImage { metadata: file.metadata.clone(), sha256: file.sha256 };
    of(vec![Transition { path, before: Some(before), after: Some(after) }], vec![change])
}

/// Plans the deletion of a file or link, or, with `recursive`, of a directory with all beneath it.
///
/// # Errors
///
/// When nothing is there, or the guard refuses it or anything beneath it.
pub fn delete(root: &Root, path: &str, recursive: bool, max_size: u64) -> Result<Plan, Reject> {
    let target = root.check(path, Access::Delete).map_err(|error| reject(path, Problem::Guard(error)))?;
    let fail = |error| reject(path, Problem::Guard(error));
    let seen = root.metadata(&target).map_err(fail)?.ok_or_else(|| reject(path, Problem::Missing))?;
    let mut files = Vec::new();
    let mut dirs = Vec::new();
    if seen.kind == FileKind::Directory && recursive {
        collect(root, &target, &mut files, &mut dirs)?;
    } else {
        files.push(target);
    }
    let mut plan = of(Vec::new(), Vec::new());
    for file in files {
        let at = |problem| reject(file.as_str(), problem);
        let disk = load(root, &file, Access::Delete, max_size).map_err(at)?.ok_or_else(|| at(Problem::Missing))?;
        plan.changes.push(Change {
            operation: Operation::Delete,
            path: file.clone(),
            to_path: None,
            before: Some(disk.sha256),
            after: None,
            transition: plan.transitions.len(),
        });
        plan.pre_images.extend(disk.bytes.map(|bytes| (file.clone(), bytes)));
        let before = Some(PreImage { metadata: disk.metadata, sha256: disk.sha256 });
        plan.transitions.push(Transition { path: file, before, after: None });
    }
    plan.remove_dirs = dirs;
    Ok(plan)
}

/// Plans to give a file another path.
///
/// # Errors
///
/// When there is no file, something is at the new path and `overwrite` is not set, or the guard refuses
/// one of the paths.
pub fn rename(root: &Root, from: &str, to: &str, overwrite: bool, max_size: u64) -> Result<Plan, Reject> {
    let source = || {
        let path = root.check(from, Access::Delete).map_err(Problem::Guard)?;
        let disk = load(root, &path, Access::Delete, max_size)?.ok_or(Problem::Missing)?;
        if disk.metadata.kind != FileKind::File {
            root.check_pre_image(&path, &disk.metadata, Access::Update).map_err(Problem::Guard)?;
            let (path, kind) = (path.to_string(), disk.metadata.kind);
            return Err(Problem::Guard(fs_guard::Error::NotAFile { path, kind }));
        }
        Ok((path, disk))
    };
    let (from, disk) = source().map_err(|problem| reject(from, problem))?;
    let target = || {
        let path = root.check(to, Access::Create).map_err(Problem::Guard)?;
        if path == from {
            return Err(Problem::SamePath);
        }
        let existing = load(root, &path, Access::Delete, max_size)?;
        if let Some(existing) = &existing {
            // What a link leads to is never replaced through it.
            root.check_pre_image(&path, &existing.metadata, Access::Update).map_err(Problem::Guard)?;
            if !overwrite {
                return Err(Problem::Exists);
            }
            return Ok((path, Some(PreImage { metadata: existing.metadata.clone(), sha256: existing.sha256 })));
        }
        check_place(root, &path, false)?;
        Ok((path, None))
    };
    let (to, replaced) = target().map_err(|problem| reject(to, problem))?;
    let after = PostImage {
        content: Content::CopyOf(from.clone()),
        sha256: disk.sha256,
        size: disk.metadata.size,
        mode: Some(disk.metadata.kept_mode()),
        attributes_of: Some(from.clone()),
    };
    let change = Change {
        operation: Operation::Move,
        path: from.clone(),
        to_path: Some(to.clone()),
        before: Some(disk.sha256),
        after: Some(disk.sha256),
        transition: 0,
    };
    let before = Some(PreImage { metadata: disk.metadata, sha256: disk.sha256 });
    let transitions = vec![
        Transition { path: to, before: replaced, after: Some(after) },
        Transition { path: from, before, after: None },
    ];
    Ok(of(transitions, vec![change]))
}

/// Everything beneath a directory, and the directories, innermost first.
fn collect(root: &Root, dir: &RelPath, files: &mut Vec<RelPath>, dirs: &mut Vec<RelPath>) -> Result<(), Reject> {
    let at = |path: &str| {
        let path = path.to_owned();
        move |error| reject(&path, Problem::Guard(error))
    };
    let mut entries = root.read_dir(Some(dir)).map_err(at(dir.as_str()))?;
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    for entry in entries {
        let path = [dir.as_str().as_bytes(), b"/", &entry.name].concat();
        let shown = String::from_utf8_lossy(&path).into_owned();
        let path = root.check_bytes(&path, Access::Delete).map_err(at(&shown))?;
        match entry.metadata.kind {
            FileKind::Directory => collect(root, &path, files, dirs)?,
            _ => files.push(path),
        }
        if files.len() > MAX_DELETED {
            let (size, limit) = (files.len() as u64, MAX_DELETED as u64);
            return Err(at(dir.as_str())(fs_guard::Error::TooLarge { path: dir.to_string(), size, limit }));
        }
    }
    dirs.push(dir.clone());
    Ok(())
}

/// Checks that a file can appear at a path, and gives the directories to be made for it.
fn check_place(root: &Root, path: &RelPath, create_parents: bool) -> Result<Vec<RelPath>, Problem> {
    if let Some(existing) = root.collision(path).map_err(Problem::Guard)? {
        return Err(Problem::Guard(fs_guard::Error::Collision { path: path.to_string(), existing }));
    }
    let missing = root.parents_missing(path).map_err(Problem::Guard)?;
    match missing.first() {
        Some(directory) if !create_parents => Err(Problem::MissingParent { directory: directory.to_string() }),
        _ => {
            root.check_no_new_repository([path]).map_err(Problem::Guard)?;
            Ok(missing)
        }
    }
}

fn of(transitions: Vec<Transition>, changes: Vec<Change>) -> Plan {
    Plan { transitions, changes, ..Plan::default() }
}

fn reject(path: &str, problem: Problem) -> Reject {
    Reject { section: None, path: path.to_owned(), hunk: None, patch_line: None, problem }
}
