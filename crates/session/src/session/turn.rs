//! Turns: what a session changes between a beginning and an end is one diff, one entry of the log
//! and one undo.
//!
//! The journal of each transaction has the name of its turn, and the audit log has a line at the
//! end. So a turn of a process that died is still one, and one that changed nothing leaves no
//! trace.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::SystemTime;

use patch_engine::ErrorKind;
use patch_engine::commit::{self, LogEntry, Workspace, standing};
use serde::{Serialize, Serializer};
use workspace_trash::format_time;

use crate::answer::changes::ChangedFile;
use crate::answer::error::{FailureClass, ToolError};
use crate::audit::session_name::TurnName;
use crate::audit::{Operation, ended_turns};
use crate::session::Session;
use crate::session::span::Span;

/// What a turn changed.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnSummary {
    /// Its name.
    pub id: String,
    /// The ids of its transactions, the newest first.
    pub transactions: Vec<String>,
    /// The files that are not what they were before it.
    pub changed_files: Vec<ChangedFile>,
    /// The changes as one diff in git's form; bytes that are no longer known are left out of it.
    pub diff: String,
}

/// A turn that has not ended, as far as the logs tell. Its process may be at work or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenTurn {
    /// Its name.
    pub id: String,
    /// Its session.
    pub session: String,
    /// When its first transaction began; written as RFC 3339, UTC.
    #[serde(serialize_with = "as_text")]
    pub since: SystemTime,
    /// How many transactions it has.
    pub transactions: usize,
}

fn as_text<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format_time(*time))
}

impl Session {
    /// Begins a turn: until [`end_turn`](Self::end_turn), all changes of this session belong to it.
    /// Returns its name, which is a new one unless `name` is given. The changes of processes that
    /// give one name are one turn, if their sessions have one name too.
    ///
    /// # Errors
    ///
    /// When a turn is open already, or the system has no random bytes.
    pub fn begin_turn(&self, name: Option<TurnName>) -> Result<TurnName, ToolError> {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = &*turn {
            return Err(wrong(format!("turn {open} is open: end it before you begin another")));
        }
        let name = match name {
            Some(name) => name,
            None => TurnName::random()?,
        };
        Ok(turn.insert(name).clone())
    }

    /// Ends the turn, and returns what it changed. Calls that change files should be over by then.
    ///
    /// # Errors
    ///
    /// When no turn is open. When the history cannot be read or the end cannot be logged, the turn
    /// has ended all the same, but [`open_turns`] still lists it.
    pub fn end_turn(&self) -> Result<TurnSummary, ToolError> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner).take();
        let turn = turn.ok_or_else(|| wrong("no turn is open: begin one first".into()))?;
        let summary = self.summary(&turn)?;
        if !summary.transactions.is_empty() {
            let mut log = self.recorder("end_turn", Operation::Patch).of_turn(Some(turn));
            log.end_turn()?;
        }
        Ok(summary)
    }

    /// Returns the name of the open turn.
    #[must_use]
    pub fn turn(&self) -> Option<TurnName> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what the open turn has changed so far; `None` if no turn is open.
    ///
    /// # Errors
    ///
    /// When the history cannot be read.
    pub fn turn_so_far(&self) -> Result<Option<TurnSummary>, ToolError> {
        self.turn().map(|turn| self.summary(&turn)).transpose()
    }

    fn summary(&self, turn: &TurnName) -> Result<TurnSummary, ToolError> {
        let span = Span::Turn(turn.to_string(), Some(self.name().to_string()));
        let entries = span.entries(self.workspace())?;
        let diff = self.workspace().turn_diff(&entries)?;
        let id = |entry: &LogEntry| entry.journal.header.id.to_string();
        Ok(TurnSummary {
            id: turn.to_string(),
            transactions: entries.iter().map(id).collect(),
            changed_files: diff.changes().into_iter().map(ChangedFile::of_turn).collect(),
            diff: String::from_utf8_lossy(&diff.diff()).into_owned(),
        })
    }
}

/// The most transactions among which open turns are looked for, the newest first.
const NEWEST: usize = 1000;

/// Lists the open turns among the newest thousand transactions, the newest first: those that no
/// line of the audit log ends, whose session has changed nothing else since, and that are not
/// undone.
///
/// # Errors
///
/// When the history or an audit log cannot be read.
pub fn open_turns(workspace: &Workspace) -> Result<Vec<OpenTurn>, commit::Error> {
    let Some(store) = workspace.store()? else { return Ok(Vec::new()) };
    if store.has_turns(NEWEST)? == Some(false) {
        return Ok(Vec::new());
    }
    let newest_first = workspace.newest(NEWEST)?;
    let mut sessions = HashSet::new();
    let mut open = Vec::new();
    for newest in newest_first.iter().filter(|entry| !entry.aborted) {
        let header = &newest.journal.header;
        if !sessions.insert(&header.session) {
            continue;
        }
        let (Some(turn), Some(session)) = (&header.turn, &header.session) else { continue };
        if ended_turns(workspace, session)?.contains(turn) {
            continue;
        }
        let all = Span::Turn(turn.clone(), Some(session.clone())).newest(workspace)?;
        let ids = standing(&all, |entry| entry.is_of_turn_of(newest));
        if let Some(oldest) = ids.last() {
            open.push(OpenTurn {
                id: turn.clone(),
                session: session.clone(),
                since: oldest.time(),
                transactions: ids.len(),
            });
        }
    }
    Ok(open)
}

fn wrong(message: String) -> ToolError {
    ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message)
}
