//! The results of recovery.

use workspace_trash::{Prefix, TransactionId};

use super::reach::Reach;

/// An interrupted transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// Its id.
    pub id: TransactionId,
    /// The outcome.
    pub outcome: Outcome,
    /// The paths of the transaction at which someone else has changed, removed or put something
    /// since. If there is one, the transaction is rolled back, unless its files may have been
    /// reported as changed before.
    pub touched: Vec<String>,
    /// How many more such paths there are that the caller [may not see](Reach).
    pub hidden: usize,
}

impl Recovered {
    /// Makes the paths relative to a directory of the project, and removes those that the caller
    /// may not see.
    pub(super) fn seen_by(&mut self, prefix: &Prefix, reach: &Reach) {
        self.each_list(|paths| paths.iter_mut().for_each(|path| *path = prefix.relative(path)));
        let all = self.touched.len();
        self.each_list(|paths| paths.retain(|path| reach.shows(path)));
        self.hidden = all - self.touched.len();
    }

    /// Makes the paths of a directory those of its project.
    pub(super) fn beneath(mut self, prefix: &Prefix) -> Self {
        self.each_list(|paths| paths.iter_mut().for_each(|path| *path = prefix.join(path)));
        self
    }

    fn each_list(&mut self, act: impl Fn(&mut Vec<String>)) {
        act(&mut self.touched);
        if let Outcome::CompletedExcept(paths) | Outcome::RolledBackExcept(paths) =
            &mut self.outcome
        {
            act(paths);
        }
    }
}

/// The outcome of a recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Discarded before the commit point: nothing in the workspace had changed.
    Discarded,
    /// Finished: all files are changed.
    Completed,
    /// Finished, but these directories could not be removed.
    CompletedExcept(Vec<String>),
    /// Rolled back: no file is changed.
    RolledBack,
    /// Rolled back except for these paths, which someone else has changed since and which were
    /// left alone. The files that the transaction displaced there are in the trash.
    RolledBackExcept(Vec<String>),
}

impl Outcome {
    /// Returns whether the files are as the transaction leaves them.
    #[must_use]
    pub fn has_happened(&self) -> bool {
        matches!(self, Self::Completed | Self::CompletedExcept(_))
    }
}
