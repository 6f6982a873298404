//! Removes a state for good.
//!
//! Everything of the program moves into one folder, [`REMOVED`], where nobody looks for anything,
//! and this folder is removed. The state directory itself stays in place until empty: under another
//! name, neither the guard nor git would know it. Each entry moves in one step, in an order with a
//! true history after every step: first what was never in the history, then all transactions at
//! once, last the logs, which say what was applied and not what can be undone. So a removal that
//! was cut off leaves a state whose history is whole or empty, and the next removal finishes the
//! work.
//!
//! Files that the program did not make stay, at any depth: in [`REMOVED`] only what has the name of
//! something of the program is removed, and the rest moves back to its old place, with the
//! directories above it.

use fs_guard::Dir;

use crate::error::Error;
use crate::id::TransactionId;
use crate::index::INDEX;
use crate::journal::LEFT;
use crate::locked::{GITIGNORE, LOCK, LockedStore};
use crate::retention;
use crate::store::{ABORTED, DONE, FROM, JOURNAL, NEXT, PENDING, SEARCHED, TRASH};
use crate::take_over::BELOW;

/// The folder of what is being removed.
const REMOVED: &str = "removed";

/// The entries of the store, in the order of their removal.
const KEPT: [&str; 6] = [BELOW, TRASH, PENDING, INDEX, FROM, SEARCHED];

/// The outcome of the removal of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// It is gone.
    Done,
    /// The directory stays, with these paths inside: the program did not make them.
    Others(Vec<String>),
    /// Nothing was removed: a transaction is unfinished.
    Unfinished,
}

impl LockedStore<'_> {
    /// Removes the state: the entries of the store, then the program's other entries (`also`, names
    /// in the state directory), and finally the directory, if empty. Inside these entries, only the
    /// store's own files are removed, and the paths known to `is_own`, given from the state
    /// directory on. Links are removed, not followed.
    ///
    /// # Errors
    ///
    /// If something cannot be removed. The rest can be removed later in the same way.
    pub fn remove_state(
        self,
        also: &[&str],
        is_own: &dyn Fn(&str) -> bool,
    ) -> Result<Removal, Error> {
        if self.has_unfinished()? {
            return Ok(Removal::Unfinished);
        }
        let dir = &self.dir;
        let root = self.root;
        let mtime = root.mtime();
        // The rest of an earlier removal has the same names.
        remove_moved(dir, is_own)?;
        let removed = dir.create_dir(REMOVED)?;
        for name in KEPT.iter().chain(also) {
            // The draft of a file, from a program that was killed.
            for name in [(*name).to_owned(), format!("{name}.new")] {
                let spot = dir.spot(&name);
                if spot.metadata()?.is_some() {
                    spot.rename_new(&removed.spot(&name))?;
                }
            }
            dir.sync()?;
        }
        // On Windows an open directory keeps its name after its removal.
        drop(removed);
        let mut others = remove_moved(dir, is_own)?;
        let mut beside = dir.names()?;
        beside.retain(|name| {
            ![LOCK, GITIGNORE].contains(&name.as_str())
                && others.iter().all(|path| path.split('/').next() != Some(name.as_str()))
        });
        others.extend(beside);
        others.sort_unstable();
        if !others.is_empty() {
            self.keep();
            return Ok(Removal::Others(others));
        }
        self.remove_empty(mtime)?;
        root.state_parent()?.sync()?;
        Ok(Removal::Done)
    }
}

/// Removes everything moved into [`REMOVED`], and moves the rest back. Returns the paths of the
/// rest.
fn remove_moved(dir: &Dir, also: &dyn Fn(&str) -> bool) -> Result<Vec<String>, Error> {
    let left =
        dir.remove_own(REMOVED, &|path| inside(path).is_none_or(|path| is_own(path, also)))?;
    let Some(removed) = dir.open_dir(REMOVED)? else { return Ok(Vec::new()) };
    for name in removed.names()? {
        // If a removal was cut off before this, the program may have made another one since.
        let taken = dir.names()?;
        let mut free = name.clone();
        while taken.contains(&free) {
            free += ".left";
        }
        removed.spot(&name).rename_new(&dir.spot(&free))?;
    }
    drop(removed);
    dir.remove_dir(REMOVED)?;
    Ok(left.iter().filter_map(|path| inside(path)).map(str::to_owned).collect())
}

/// A path without its first component.
fn inside(path: &str) -> Option<&str> {
    path.split_once('/').map(|(_, inner)| inner)
}

/// Returns whether a path in the state directory belongs to the program; `also` knows the paths
/// from outside the store.
fn is_own(path: &str, also: &dyn Fn(&str) -> bool) -> bool {
    let (top, rest) = parted(path);
    match (top, rest) {
        (TRASH | PENDING | BELOW, None) => true,
        (TRASH | PENDING, Some(rest)) => is_of_transaction(rest) || also(path),
        // A state that was taken over.
        (BELOW, Some(rest)) => {
            let (number, rest) = parted(rest);
            number.parse::<u32>().is_ok()
                && rest.is_none_or(|rest| [LOCK, GITIGNORE].contains(&rest) || is_own(rest, also))
        }
        (name, None) if [INDEX, FROM, SEARCHED].contains(&undrafted(name)) => true,
        _ => also(path),
    }
}

/// Returns whether a path in the trash, or beside it, is of a transaction or of an entry in its
/// folder.
fn is_of_transaction(path: &str) -> bool {
    let (id, name) = parted(path);
    let id = id.strip_suffix(retention::REMOVED).unwrap_or(id);
    id.parse::<TransactionId>().is_ok() && name.map(undrafted).is_none_or(is_in_folder)
}

/// Returns whether the program makes files of this name in the folder of a transaction.
fn is_in_folder(name: &str) -> bool {
    name.parse::<u32>().is_ok() || [JOURNAL, LEFT, ABORTED, DONE, FROM, NEXT].contains(&name)
}

/// A path as its first component and the rest.
fn parted(path: &str) -> (&str, Option<&str>) {
    path.split_once('/').map_or((path, None), |(first, rest)| (first, Some(rest)))
}

/// The name of a file without what its draft has at the end.
fn undrafted(name: &str) -> &str {
    name.strip_suffix(".new").unwrap_or(name)
}
