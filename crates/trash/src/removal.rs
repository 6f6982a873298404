//! Removes a state for good.
//!
//! All that the program keeps there moves into one folder, [`REMOVED`], in which nothing is looked
//! for, and that folder is removed. The state directory itself stays where it is until it is empty:
//! under another name, neither the guard nor git would know it. Each thing moves in one step, in an
//! order that leaves a true history after every step: first what was never in it, then all
//! transactions at once, last the logs, which say what was applied and not what can be undone. So a
//! removal that was cut off leaves a state whose history is whole or empty, and the next removal
//! finishes it.

use crate::error::Error;
use crate::index::INDEX;
use crate::locked::{GITIGNORE, LOCK, LockedStore};
use crate::store::{FROM, PENDING, SEARCHED, TRASH};
use crate::take_over::BELOW;

/// The folder of what is being removed.
const REMOVED: &str = "removed";

/// What the store keeps, in the order in which it is removed.
const KEPT: [&str; 6] = [BELOW, TRASH, PENDING, INDEX, FROM, SEARCHED];

/// What became of a state that should be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// It is gone.
    Done,
    /// The directory stays, with these names in it: the program did not make them.
    Others(Vec<String>),
    /// Nothing was removed: a transaction is unfinished.
    Unfinished,
}

impl LockedStore<'_> {
    /// Removes the state: what the store keeps, then what else the program does (`also`, names in
    /// the state directory), and the directory if it is empty then. Links are removed, not
    /// followed.
    ///
    /// # Errors
    ///
    /// If something cannot be removed. The rest can be removed later in the same way.
    pub fn remove_state(self, also: &[&str]) -> Result<Removal, Error> {
        if self.has_unfinished()? {
            return Ok(Removal::Unfinished);
        }
        let (dir, root) = (&self.dir, self.root);
        let mtime = root.mtime();
        // What an earlier removal left has the same names.
        dir.remove_tree(REMOVED)?;
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
        // On Windows an open directory keeps its name when it is removed.
        drop(removed);
        dir.remove_tree(REMOVED)?;
        let own = |name: &String| [LOCK, GITIGNORE].contains(&name.as_str());
        let others: Vec<_> = dir.names()?.into_iter().filter(|name| !own(name)).collect();
        if !others.is_empty() {
            self.keep();
            return Ok(Removal::Others(others));
        }
        self.remove_empty(mtime)?;
        root.state_parent()?.sync()?;
        Ok(Removal::Done)
    }
}
