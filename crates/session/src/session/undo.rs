//! Plans for undo and redo.

use patch_engine::commit::{self, TransactionId, UndoOptions};
use patch_engine::{Cancellation, Plan};

use crate::session::Session;
use crate::session::span::Span;

impl Session {
    /// Plans to undo a transaction, or the last one, or only the changes to `paths`. With `carry`,
    /// the undo is carried to files changed since. With `trust`, a journal without a signature, or
    /// signed with a missing key, is accepted: a person knows the change.
    ///
    /// # Errors
    ///
    /// Those of [`Workspace::plan_undo_with`](commit::Workspace::plan_undo_with).
    pub fn plan_undo(
        &self,
        id: Option<TransactionId>,
        paths: &[fs_guard::RelPath],
        carry: bool,
        trust: bool,
        cancellation: &Cancellation,
    ) -> Result<Plan, commit::Error> {
        let options = UndoOptions { carry, trust, cancellation: cancellation.clone() };
        self.workspace().plan_undo_with(id, paths, &options)
    }

    /// Plans to undo several transactions as one.
    ///
    /// # Errors
    ///
    /// When there are none, and those of
    /// [`Workspace::plan_undo_all`](commit::Workspace::plan_undo_all).
    pub fn plan_undo_span(
        &self,
        span: &Span,
        carry: bool,
        cancellation: &Cancellation,
    ) -> Result<Plan, commit::Error> {
        let ids = commit::standing(&span.newest(self.workspace())?, |entry| span.has(entry));
        let options = UndoOptions { carry, trust: false, cancellation: cancellation.clone() };
        let plan = self.workspace().plan_undo_all(&ids, &options);
        // An undo that is made first would be one of those to undo.
        let has_own = match span {
            Span::Session(name) => name == self.name().as_str(),
            Span::Turn(name, session) => {
                session.as_deref() == Some(self.name().as_str())
                    && self.turn().is_some_and(|turn| turn.as_str() == name)
            }
            Span::From(_) | Span::Range(..) | Span::Since(_) => false,
        };
        plan.map_err(|error| if has_own { error.unrepeatable() } else { error })
    }

    /// Plans to reverse an undo: the given one, or the newest.
    ///
    /// # Errors
    ///
    /// Those of [`Workspace::plan_redo_with`](commit::Workspace::plan_redo_with).
    pub fn plan_redo(
        &self,
        id: Option<TransactionId>,
        cancellation: &Cancellation,
    ) -> Result<Plan, commit::Error> {
        self.plan_redo_with(id, false, cancellation)
    }

    /// Does the same. With `carry`, the redo is carried to files changed since.
    ///
    /// # Errors
    ///
    /// Those of [`Workspace::plan_redo_with`](commit::Workspace::plan_redo_with).
    pub fn plan_redo_with(
        &self,
        id: Option<TransactionId>,
        carry: bool,
        cancellation: &Cancellation,
    ) -> Result<Plan, commit::Error> {
        let options = UndoOptions { carry, trust: false, cancellation: cancellation.clone() };
        self.workspace().plan_redo_with(id, &options)
    }
}
