//! The files that transactions left, rebuilt from the diffs in the audit log where no later
//! transaction displaced them.

use std::cell::OnceCell;
use std::time::SystemTime;

use patch_engine::commit::{self, Left, LogEntry, TransactionId, UndoOptions, Workspace};
use patch_engine::remedy::{Listing, MAX_PLACES};
use patch_engine::{Cancellation, ErrorKind, FinalNewline, Options, Plan, Remedy, edit};
use patch_grammar::diff::{self, DiffOptions};

use crate::answer::error::{FailureClass, ToolError};
use crate::answer::reason::Reason;
use crate::audit::{self, Event, Phase};
use crate::session::{Session, history};
use crate::settings::since;

/// Transactions that are undone together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Span {
    /// Those of a session.
    Session(String),
    /// Those of a turn, and the session that it is of.
    Turn(String, Option<String>),
    /// This one and all that followed it.
    From(TransactionId),
    /// Those since then.
    Since(SystemTime),
}

impl Span {
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

    /// Finds the turn with this name, or `SESSION/NAME`.
    ///
    /// # Errors
    ///
    /// When there is none, when several sessions have one, or when the journals cannot be read.
    pub fn of_turn(workspace: &Workspace, text: &str) -> Result<Self, ToolError> {
        Self::turn(workspace, text)?.ok_or_else(|| {
            let message = format!("there is no turn {text:?}");
            ToolError::new(FailureClass::DoesNotApply, ErrorKind::NotFound, message)
                .reason(Reason::NoTransaction)
                .remedies([Remedy::See(Listing::Log)])
        })
    }

    /// The same; `None` if there is none.
    pub(crate) fn turn(workspace: &Workspace, text: &str) -> Result<Option<Self>, ToolError> {
        let (session, name) = match text.split_once('/') {
            Some((session, name)) => (Some(session), name),
            None => (None, text),
        };
        let log = workspace.log()?;
        let mut sessions: Vec<&Option<String>> = log
            .iter()
            .filter(|entry| !entry.aborted)
            .map(|entry| &entry.journal.header)
            .filter(|header| header.turn.as_deref() == Some(name))
            .map(|header| &header.session)
            .filter(|own| session.is_none_or(|session| own.as_deref() == Some(session)))
            .collect();
        sessions.sort_unstable();
        sessions.dedup();
        match &sessions[..] {
            [] => Ok(None),
            [session] => Ok(Some(Self::Turn(name.to_owned(), (*session).clone()))),
            sessions => {
                let named: Vec<_> =
                    sessions.iter().flat_map(|name| name.as_deref()).take(MAX_PLACES).collect();
                let message = format!(
                    "several sessions have a turn {name}; name one as SESSION/{name}: {}",
                    named.join(", ")
                );
                Err(ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message))
            }
        }
    }

    /// Returns whether a transaction is one of them.
    #[must_use]
    pub fn has(&self, entry: &LogEntry) -> bool {
        let header = &entry.journal.header;
        match self {
            Self::Session(name) => header.session.as_ref() == Some(name),
            Self::Turn(name, session) => {
                header.turn.as_ref() == Some(name) && header.session == *session
            }
            Self::From(id) => header.id >= *id,
            Self::Since(time) => header.id.time() >= *time,
        }
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
        let ids = commit::standing(&self.workspace().log()?, |entry| span.has(entry));
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
