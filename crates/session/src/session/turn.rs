//! Turns: the changes of a session between a beginning and an end are one diff, one entry of the
//! log and one undo.
//!
//! The journal of each transaction has the name of its turn, and the audit log has a line at the
//! end. So the turn of a killed process is still a turn, and a turn without changes leaves no
//! trace.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::SystemTime;

use patch_engine::ErrorKind;
use patch_engine::commit::{self, Workspace, standing};
use serde::{Serialize, Serializer};
use workspace_trash::format_time;

use crate::answer::changes::ChangedFile;
use crate::answer::error::{FailureClass, ToolError};
use crate::audit::session_name::TurnName;
use crate::audit::{Operation, ended_turns};
use crate::session::Session;
use crate::session::span::Span;

/// The changes of a turn.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnSummary {
    /// The name of the turn.
    pub id: String,
    /// The ids of the transactions, the newest first.
    pub transactions: Vec<String>,
    /// The files that differ from before the turn.
    pub changed_files: Vec<ChangedFile>,
    /// The changes as one diff in git's form, without the bytes no longer known.
    pub diff: String,
}

/// A turn without an end in the logs. Its process may be at work or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenTurn {
    /// The name of the turn.
    pub id: String,
    /// The session.
    pub session: String,
    /// The beginning of the first transaction; written as RFC 3339, UTC.
    #[serde(serialize_with = "as_text")]
    pub since: SystemTime,
    /// The number of transactions.
    pub transactions: usize,
}

fn as_text<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format_time(*time))
}

impl Session {
    /// Begins a turn: until [`end_turn`](Self::end_turn), all changes of this session belong to the
    /// turn. Returns its name, a new one unless `name` is given. Processes that give the same name,
    /// in sessions of the same name, share the turn.
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

    /// Ends the turn, and returns its changes. Calls that change files should be over by then.
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

    /// Returns the changes of the open turn so far; `None` if no turn is open.
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
        Ok(TurnSummary {
            id: turn.to_string(),
            transactions: entries.iter().map(|entry| entry.journal.header.id.to_string()).collect(),
            changed_files: diff.changes().into_iter().map(ChangedFile::of_turn).collect(),
            diff: String::from_utf8_lossy(&diff.diff()).into_owned(),
        })
    }
}

/// The most transactions to search for open turns, the newest first.
const NEWEST: usize = 1000;

/// Lists the open turns among the newest thousand transactions, the newest first. A turn is open if
/// the audit log has no line for its end, its session has changed nothing else since, and the turn
/// is not undone.
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
        let Some(turn) = &header.turn else { continue };
        let Some(session) = &header.session else { continue };
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
