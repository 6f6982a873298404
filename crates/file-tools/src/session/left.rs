//! The files that transactions left, rebuilt from the diffs in the audit log where no later
//! transaction displaced them.

use std::cell::OnceCell;

use patch_engine::commit::{self, Left, TransactionId, UndoOptions};
use patch_engine::{Cancellation, FinalNewline, Options, Plan, edit};
use patch_grammar::diff::{self, DiffOptions};

use crate::audit::{self, Event, Phase};
use crate::session::Session;
use crate::session::span::Span;

impl Session {
    /// Plans to undo a transaction, or the last one, or what it did to `paths`. With `carry`, what
    /// it did to a file that has changed since is carried to the file as it is now. With `trust`, a
    /// journal that is signed with a key that is not here, or with none, will do: a person knows
    /// that change.
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
        self.undoing(carry, trust, cancellation, |options| {
            self.workspace().plan_undo_with(id, paths, options)
        })
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
        self.undoing(carry, false, cancellation, |options| {
            self.workspace().plan_undo_all(&ids, options)
        })
    }

    /// Plans to reverse an undo: the one that is named, or the newest.
    ///
    /// # Errors
    ///
    /// Those of [`Workspace::plan_redo_with`](commit::Workspace::plan_redo_with).
    pub fn plan_redo(
        &self,
        id: Option<TransactionId>,
        cancellation: &Cancellation,
    ) -> Result<Plan, commit::Error> {
        self.undoing(false, false, cancellation, |options| {
            self.workspace().plan_redo_with(id, options)
        })
    }

    fn undoing(
        &self,
        carry: bool,
        trust: bool,
        cancellation: &Cancellation,
        plan: impl FnOnce(&UndoOptions<'_>) -> Result<Plan, commit::Error>,
    ) -> Result<Plan, commit::Error> {
        let events = OnceCell::new();
        let left = |left: &Left<'_>| {
            let events = events.get_or_init(|| audit::events(self.workspace()).unwrap_or_default());
            rebuilt(events, &self.workspace().prefix().join(left.path), left)
        };
        plan(&UndoOptions { carry, trust, left: &left, cancellation: cancellation.clone() })
    }
}

/// Rebuilds a file from its logged diff; the caller checks its hash.
fn rebuilt(events: &[Event], path: &str, left: &Left<'_>) -> Option<Vec<u8>> {
    let (id, after) = (left.id.to_string(), left.sha256.to_string());
    let wanted = |event: &Event| {
        event.phase == Phase::Outcome
            && event.path == path
            && event.transaction_id.as_ref() == Some(&id)
            && event.after_sha256.as_ref() == Some(&after)
    };
    let diff = events.iter().find(|event| wanted(event))?.diff.as_ref()?;
    let patch = diff::parse(diff, &DiffOptions::default()).ok()?;
    let [section] = patch.sections() else { return None };
    let edit =
        edit(left.before, section.hunks(), &Options::default().placement, FinalNewline::Keep)
            .ok()?;
    Some(edit.apply(left.before))
}
