//! The files that transactions left, rebuilt from the diffs in the audit log where no later
//! transaction displaced them.

use std::cell::OnceCell;

use patch_engine::commit::{self, Left, TransactionId, UndoOptions};
use patch_engine::{FinalNewline, Options, Plan, edit};
use patch_grammar::diff::{self, DiffOptions};

use crate::audit::{self, Event, Phase};
use crate::session::Session;

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
    ) -> Result<Plan, commit::Error> {
        let events = OnceCell::new();
        let left = |left: &Left<'_>| {
            let events = events.get_or_init(|| audit::events(self.workspace()).unwrap_or_default());
            rebuilt(events, &self.workspace().prefix().join(left.path), left)
        };
        self.workspace().plan_undo_with(id, paths, &UndoOptions { carry, trust, left: &left })
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
