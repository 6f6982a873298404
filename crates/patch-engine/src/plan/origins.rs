//! Where files come from that move.

use std::collections::{HashMap, HashSet};

use fs_guard::RelPath;

/// Which new files of a plan moved from where.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins {
    /// The path that each came from, by the index of its transition.
    from: HashMap<usize, RelPath>,
    left: HashSet<RelPath>,
}

impl Origins {
    /// Starts with the paths that files leave; where they go is [put in](Self::insert) later.
    pub(super) fn leaving(left: HashSet<RelPath>) -> Self {
        Self { from: HashMap::new(), left }
    }

    /// Notes that the new file of a transition moved from a path.
    pub(super) fn insert(&mut self, transition: usize, from: RelPath) {
        self.left.insert(from.clone());
        self.from.insert(transition, from);
    }

    /// Returns where the new file of a transition moved from, if it did.
    pub(super) fn of(&self, transition: usize) -> Option<&RelPath> {
        self.from.get(&transition)
    }

    /// Returns whether the file that is at a path before moves away.
    pub(super) fn leaves(&self, path: &RelPath) -> bool {
        self.left.contains(path)
    }
}
