//! The files that transactions left, rebuilt from the diffs in the audit log where no later
//! transaction displaced them.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::time::SystemTime;

use patch_engine::commit::{self, Left, LogEntry, TransactionId, UndoOptions, Workspace};
use patch_engine::{Cancellation, ErrorKind, FinalNewline, Options, Plan, edit};
use patch_grammar::diff::{self, DiffOptions};

use crate::answer::error::{FailureClass, ToolError};
use crate::audit::{self, Event, Phase};
use crate::session::{Session, history};
use crate::settings::since;

/// Transactions that are undone together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Those of a session.
    Session(String),
    /// This one and all that followed it.
    From(TransactionId),
    /// Those since then.
    Since(SystemTime),
}

impl Turn {
    /// Reads what names a transaction and all that followed it, or a time: an age or a date.
    ///
    /// # Errors
    ///
    /// When it names neither, or both.
    pub fn since(workspace: &Workspace, text: &str) -> Result<Self, ToolError> {
        match (history::find(workspace, text), since(text)) {
            (Ok(id), Ok(_)) => {
                let message = format!(
                    "{text:?} is a time, and the transaction {id} is named by it too: give more \
                     of the id, or the time as a date"
                );
                Err(ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message))
            }
            (Ok(id), Err(_)) => Ok(Self::From(id)),
            (Err(_), Ok(time)) => Ok(Self::Since(time)),
            (Err(not_found), Err(_)) => Err(not_found),
        }
    }

    fn has(&self, entry: &LogEntry) -> bool {
        let header = &entry.journal.header;
        let is_in = match self {
            Self::Session(name) => header.session.as_ref() == Some(name),
            Self::From(id) => header.id >= *id,
            Self::Since(time) => header.id.time() >= *time,
        };
        is_in && !entry.aborted
    }
}

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

    /// Plans to undo all transactions of a turn as one.
    ///
    /// # Errors
    ///
    /// When there are none, and those of
    /// [`Workspace::plan_undo_all`](commit::Workspace::plan_undo_all).
    pub fn plan_undo_turn(
        &self,
        turn: &Turn,
        carry: bool,
        cancellation: &Cancellation,
    ) -> Result<Plan, commit::Error> {
        let log = self.workspace().log()?;
        let mut of_turn: Vec<_> = log.iter().filter(|entry| turn.has(entry)).collect();
        // What others have undone is undone.
        let ids: HashSet<TransactionId> =
            of_turn.iter().map(|entry| entry.journal.header.id).collect();
        of_turn.retain(|entry| entry.undone_by.is_none_or(|by| ids.contains(&by)));
        let ids: Vec<_> = of_turn.iter().map(|entry| entry.journal.header.id).collect();
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
