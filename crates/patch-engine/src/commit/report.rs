//! Reports what a commit did.

use std::sync::Arc;

use workspace_trash::TransactionId;

use crate::commit::recovered::Recovered;
use crate::plan::Plan;
use crate::plan::images::Images;

/// One committed transaction.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// Its id; `None` when the patch changes nothing.
    pub transaction: Option<TransactionId>,
    /// The plan, carried out.
    pub plan: Arc<Plan>,
    /// For each transition of the plan, the place of the displaced file, relative to the root.
    pub trashed: Vec<Option<String>>,
    /// Interrupted transactions of earlier processes, finished or reverted on the way.
    pub recovered: Vec<Recovered>,
    /// The same patch was applied before, as this transaction, and its files are still as it left
    /// them: nothing was done.
    pub already_done: bool,
    /// The host [edited](super::approval::Decision::Edit) the patch: the diff from what the plan
    /// before would have made to what this one made.
    pub edited: Option<Vec<u8>>,
}

impl Report {
    /// Makes the report of a plan; `transaction` is its name in the log, if committed.
    #[must_use]
    pub fn new(plan: Arc<Plan>, transaction: Option<TransactionId>) -> Self {
        Self {
            transaction,
            plan,
            trashed: Vec::new(),
            recovered: Vec::new(),
            already_done: false,
            edited: None,
        }
    }

    /// Returns the bytes of its files, and their diffs, after the commit.
    #[must_use]
    pub fn images(&self) -> Images<'_> {
        match self.transaction {
            Some(transaction) => self.plan.images_after(transaction),
            None => self.plan.images(),
        }
    }
}
