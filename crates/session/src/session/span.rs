//! Spans: the transactions of a session or of a turn, or since a time, to show or to undo as one.

use std::time::SystemTime;

use patch_engine::commit::{self, LogEntry, TransactionId, Workspace};
use patch_engine::remedy::{Listing, MAX_PLACES};
use patch_engine::{ErrorKind, Remedy};

use crate::answer::error::{FailureClass, ToolError};
use crate::answer::reason::Reason;
use crate::session::history::{self, find};
use crate::settings::since;

/// Several transactions, to be shown or undone together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Span {
    /// The transactions of a session.
    Session(String),
    /// The transactions of a turn, by the names of the turn and of its session.
    Turn(String, Option<String>),
    /// A transaction and all later ones.
    From(TransactionId),
    /// The transactions from one to another, both included.
    Range(TransactionId, TransactionId),
    /// The transactions since a time.
    Since(SystemTime),
}

/// The names that a caller may give for a span: one of them, or none.
#[derive(Debug, Clone, Copy, Default)]
pub struct SpanNames<'n> {
    /// A session, or the beginning of its name.
    pub session: Option<&'n str>,
    /// The first transaction, or a time.
    pub since: Option<&'n str>,
    /// A turn.
    pub turn: Option<&'n str>,
}

impl SpanNames<'_> {
    /// Finds the span; `None` if no name is given.
    ///
    /// # Errors
    ///
    /// Those of [`Span::of_session`], [`Span::since`] and [`Span::of_turn`].
    pub fn find(self, workspace: &Workspace) -> Result<Option<Span>, ToolError> {
        if let Some(name) = self.session {
            return Span::of_session(workspace, name).map(Some);
        }
        if let Some(text) = self.since {
            return Span::since(workspace, text).map(Some);
        }
        self.turn.map(|name| Span::of_turn(workspace, name)).transpose()
    }
}

impl Span {
    /// Reads the name of the first transaction, or a time: an age or a date.
    ///
    /// # Errors
    ///
    /// When the text means neither, or both.
    pub fn since(workspace: &Workspace, text: &str) -> Result<Self, ToolError> {
        match (find(workspace, text), since(text)) {
            (Ok(id), Ok(_)) => {
                let message = format!(
                    "{text:?} is a time, and the transaction {id} is named by it too: give more \
                     of the id, or the time as a date"
                );
                Err(ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message))
            }
            (Ok(id), Err(_)) => Ok(Self::From(id)),
            (Err(_), Ok(time)) => Ok(Self::Since(time)),
            (Err(not_found), Err(wrong)) => {
                let message = format!("{}, and {wrong}", not_found.message);
                Err(ToolError { message, ..not_found })
            }
        }
    }

    /// Reads two names of transactions with `..` between them: the first and the last one. Without
    /// the last one all that followed are meant. `None` for a text without `..`.
    ///
    /// # Errors
    ///
    /// When one of the two is no transaction, or the last one is older than the first.
    pub fn range(workspace: &Workspace, text: &str) -> Result<Option<Self>, ToolError> {
        let Some((first, last)) = text.split_once("..") else { return Ok(None) };
        let first = find(workspace, first)?;
        if last.is_empty() {
            return Ok(Some(Self::From(first)));
        }
        let last = find(workspace, last)?;
        if last < first {
            let message =
                format!("{text:?} begins with the newer transaction; give the older first");
            return Err(ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message));
        }
        Ok(Some(Self::Range(first, last)))
    }

    /// Finds the session with this name or prefix.
    ///
    /// # Errors
    ///
    /// Those of [`history::session`].
    pub fn of_session(workspace: &Workspace, text: &str) -> Result<Self, ToolError> {
        history::session(workspace, text).map(Self::Session)
    }

    /// Finds a turn by its name, or by `SESSION/NAME`.
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

    /// Finds a turn by its name, or by `SESSION/NAME`; `None` if there is none.
    pub(crate) fn turn(workspace: &Workspace, text: &str) -> Result<Option<Self>, ToolError> {
        let (session, name) = match text.split_once('/') {
            Some((session, name)) => (Some(session), name),
            None => (None, text),
        };
        let log = Self::Turn(name.to_owned(), None).newest(workspace)?;
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

    /// Returns the transactions, the newest first, without those rolled back.
    ///
    /// # Errors
    ///
    /// When the journals cannot be read.
    pub fn entries(&self, workspace: &Workspace) -> Result<Vec<LogEntry>, commit::Error> {
        let mut entries = self.newest(workspace)?;
        entries.retain(|entry| self.has(entry) && !entry.aborted);
        Ok(entries)
    }

    /// Returns the newest transactions of the log, at least up to the oldest of the span.
    pub(crate) fn newest(&self, workspace: &Workspace) -> Result<Vec<LogEntry>, commit::Error> {
        let of_turn = match self {
            Self::Turn(name, _) => workspace.of_turn(name)?,
            _ => None,
        };
        if of_turn.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let (newest, _) = workspace.history_while(|entry| {
            let id = entry.journal.header.id;
            match (self, of_turn.as_ref().and_then(|ids| ids.last())) {
                (_, Some(oldest)) => id > *oldest,
                (Self::From(oldest) | Self::Range(oldest, _), _) => id > *oldest,
                (Self::Since(time), _) => id.time() >= *time,
                _ => true,
            }
        })?;
        Ok(newest)
    }

    /// Returns whether a transaction is in the span.
    #[must_use]
    pub fn has(&self, entry: &LogEntry) -> bool {
        let header = &entry.journal.header;
        match self {
            Self::Session(name) => header.session.as_ref() == Some(name),
            Self::Turn(name, session) => {
                header.turn.as_ref() == Some(name) && header.session == *session
            }
            Self::From(id) => header.id >= *id,
            Self::Range(first, last) => (*first..=*last).contains(&header.id),
            Self::Since(time) => header.id.time() >= *time,
        }
    }
}

/// The meaning of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// A transaction.
    Transaction(TransactionId),
    /// The transactions of a turn, the newest first, without those rolled back.
    Turn(Span, Vec<LogEntry>),
    /// The transactions from one to another, `FIRST..LAST`.
    Range(Span),
}

impl Named {
    /// Finds a transaction as [`find`] does, a turn by its name or by `SESSION/NAME`, or a
    /// [range](Span::range).
    ///
    /// # Errors
    ///
    /// When the text means neither, or both, or several turns, or the journals cannot be read.
    pub fn find(workspace: &Workspace, name: &str) -> Result<Self, ToolError> {
        if let Some(range) = Span::range(workspace, name)? {
            return Ok(Self::Range(range));
        }
        let turn = Span::turn(workspace, name)?;
        match (find(workspace, name), turn) {
            (Ok(id), None) => Ok(Self::Transaction(id)),
            (Ok(id), Some(_)) => {
                let message = format!(
                    "{name:?} is a turn, and names the transaction {id} too: give more of the id, \
                 or the turn as SESSION/{name}"
                );
                Err(ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message))
            }
            (Err(_), Some(turn)) => {
                let entries = turn.entries(workspace)?;
                Ok(Self::Turn(turn, entries))
            }
            (Err(error), None) => Err(error),
        }
    }
}
