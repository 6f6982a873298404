//! States in directories below a project's top, from before they were parts of it.
//!
//! When the top of a work tree is used for the first time, the directories below are looked through
//! once, and what has a state of its own is taken over: what was interrupted there is recovered,
//! and its history moves to the top. A state that appears later (in a container that sees the
//! directory alone, or that was not found because there are very many directories) stays in use
//! from there; here it is noticed when one of its files is to be changed.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use fs_guard::{FileKind, RelPath, Root, WORK_TREES};
use workspace_trash::{LockedStore, OwnKey, Prefix, Store};

use super::error::{CommitError, Error};
use super::home::anywhere;
use super::recover::recover;
use super::recovered::Recovered;
use crate::plan::Plan;

/// The most directory entries to look at: about a tenth of a second.
const MAX_ENTRIES: usize = 50_000;

/// How long to wait for another process that works in a state below. If it takes longer, the next
/// command takes the state over.
const PATIENCE: Duration = Duration::from_millis(250);

/// Directories that programs fill with what they have downloaded or made. They have most of the
/// entries, and no projects.
const FILLED: &[&str] = &["node_modules", "target", ".venv"];

/// Takes over the states below the top of a work tree, if that was not done before. Returns what
/// was interrupted there.
///
/// A failure is none of the caller's: what could not be taken over stays as it is, in use from
/// below.
pub(super) fn take_over(home: &Root, store: &LockedStore<'_>, key: &OwnKey) -> Vec<Recovered> {
    let mut recovered = Vec::new();
    if home.is_work_tree() && matches!(store.has_searched(), Ok(false)) {
        let done = Root::open(home.path(), anywhere(home)).map_err(Error::from).and_then(|top| {
            store.continue_taking_over()?;
            let mut all = true;
            for path in states_below(&top) {
                let taken = take_one(&top, &path, store, key, &mut recovered);
                // A transaction beyond recovery will be so the next time, too.
                all &= !matches!(taken, Err(Error::Store(_) | Error::Files(_)));
            }
            if all { Ok(store.note_searched()?) } else { Ok(()) }
        });
        drop(done);
    }
    recovered
}

fn take_one(
    top: &Root,
    path: &RelPath,
    store: &LockedStore<'_>,
    key: &OwnKey,
    recovered: &mut Vec<Recovered>,
) -> Result<(), Error> {
    let root = Root::open(&top.path().join(path.as_str()), top.policy().clone())?;
    // An untrusted one is passed over.
    if root.device() != top.device() || !matches!(root.state_dir(), Ok(Some(_))) {
        return Ok(());
    }
    let below = LockedStore::lock(&root, key.clone(), PATIENCE)?;
    let prefix = Prefix::new(path.as_str());
    recovered.extend(recover(&root, &below)?.into_iter().map(|one| one.beneath(&prefix)));
    Ok(store.take_over(&below, &prefix)?)
}

/// Finds the directories below with a state, the nearest ones first. Other work trees
/// are other projects.
fn states_below(top: &Root) -> Vec<RelPath> {
    let mut found = Vec::new();
    let mut left = MAX_ENTRIES;
    let mut dirs = VecDeque::from([None]);
    while let Some(dir) = dirs.pop_front() {
        let Ok(entries) = top.read_dir(dir.as_ref()) else { continue };
        left = left.saturating_sub(entries.len());
        if let Some(dir) = &dir {
            let mut names = entries.iter().map(|entry| &entry.name[..]);
            if names.clone().any(|name| WORK_TREES.iter().any(|tree| name == tree.as_bytes())) {
                continue;
            }
            if names.any(|name| name == top.policy().private_dir.as_bytes()) {
                found.push(dir.clone());
            }
        }
        if left == 0 {
            break;
        }
        for entry in entries.iter().filter(|entry| entry.metadata.kind == FileKind::Directory) {
            let Ok(name) = std::str::from_utf8(&entry.name) else { continue };
            let path = dir.as_ref().map_or_else(|| name.to_owned(), |dir| format!("{dir}/{name}"));
            // Refuses what is never touched: the state itself, and what version controls keep.
            if let Ok(path) = top.check_recorded(&path, true)
                && !FILLED.contains(&name)
            {
                dirs.push_back(Some(path));
            }
        }
    }
    found
}

/// Refuses to change files in a directory with an unfinished transaction of its own.
pub(super) fn check_none_unfinished(
    root: &Root,
    plan: &Plan,
    key: &OwnKey,
) -> Result<(), CommitError> {
    let dirs: BTreeSet<RelPath> =
        plan.transitions().iter().flat_map(|transition| transition.path.ancestors()).collect();
    for dir in dirs {
        if !matches!(root.has_private_dir(&dir), Ok(true)) {
            continue;
        }
        let below = Root::open(&root.path().join(dir.as_str()), root.policy().clone())?;
        // An untrusted one is none.
        let Ok(Some(store)) = Store::open(&below, key.clone()) else { continue };
        if store.has_unfinished()? {
            return Err(CommitError::UnfinishedBelow { directory: dir.as_str().to_owned() });
        }
    }
    Ok(())
}
