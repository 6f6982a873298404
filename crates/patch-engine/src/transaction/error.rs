//! What can go wrong with transactions.

use fs_guard::Sha256;
use workspace_trash::{JournalProblem, TransactionId};

use super::options::NotVerified;
use crate::kind::ErrorKind;
use crate::reject::Rejects;

/// A file that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    /// Its path.
    pub path: String,
    /// The hash it should have; `None` when nothing should be there.
    pub expected: Option<Sha256>,
    /// The hash it has; `None` when nothing is there, or no file.
    pub actual: Option<Sha256>,
    /// The later transaction that left it as it is; `None` when none did.
    pub by: Option<TransactionId>,
}

/// Why it is uncertain whether a transaction is the newest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Doubt {
    /// Its journal is not trusted.
    #[error(transparent)]
    Journal(#[from] JournalProblem),
    /// Its name lies in the future.
    #[error("it lies in the future")]
    Future,
}

/// A transaction could not be locked, looked at or planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store could not be used.
    #[error(transparent)]
    Store(#[from] workspace_trash::Error),
    /// A file could not be used.
    #[error(transparent)]
    Files(#[from] fs_guard::Error),
    /// Files are no longer what the transaction left.
    #[error("not as transaction {} left it: {}", .id.short(), paths(.drifts))]
    Drifted {
        /// The transaction to be undone.
        id: TransactionId,
        /// Every file that differs.
        drifts: Vec<Drift>,
        /// What it did can be carried to the files as they are now.
        carry: bool,
    },
    /// The transaction did nothing to the path.
    #[error("transaction {id} did not touch {path:?}")]
    NotInTransaction {
        /// The transaction.
        id: TransactionId,
        /// The path.
        path: String,
    },
    /// It changed files outside the root, in the same project.
    #[error("transaction {id} changed files outside this directory: {}; it can be taken back in {project:?}", .paths.join(", "))]
    Elsewhere {
        /// The transaction.
        id: TransactionId,
        /// The files, relative to the root.
        paths: Vec<String>,
        /// The project's top.
        project: String,
    },
    /// A file cannot be brought back to where it shall be.
    #[error(transparent)]
    Rejected(#[from] Rejects),
    /// There is nothing to be undone, or redone.
    #[error("there is no transaction to {0}")]
    NothingTo(&'static str),
    /// It is uncertain which transaction is the newest.
    #[error("cannot tell which transaction to {what}: {}; name it", doubts(.transactions))]
    Doubtful {
        /// `undo` or `redo`.
        what: &'static str,
        /// The transactions that would be passed over, and why.
        transactions: Vec<(TransactionId, Doubt)>,
    },
    /// The transaction was rolled back.
    #[error("transaction {0} was rolled back; there is nothing to undo")]
    Aborted(TransactionId),
    /// A transaction that was cut off could not be finished or reverted.
    #[error("the interrupted transaction in {journal:?} cannot be recovered: {cause}")]
    NotRecovered {
        /// Its journal.
        journal: String,
        /// Why.
        cause: Box<CommitError>,
    },
}

fn paths(drifts: &[Drift]) -> String {
    let by = |drift: &Drift| match (drift.by, drift.actual) {
        (Some(id), _) => format!("{:?} (transaction {} changed it)", drift.path, id.short()),
        (None, Some(_)) => format!("{:?} (edited since)", drift.path),
        (None, None) => format!("{:?} (there is no file)", drift.path),
    };
    drifts.iter().map(by).collect::<Vec<_>>().join(", ")
}

fn doubts(transactions: &[(TransactionId, Doubt)]) -> String {
    transactions.iter().map(|(id, problem)| format!("{id} ({problem})")).collect::<Vec<_>>().join(", ")
}

impl Error {
    /// Returns the transactions that are in the way and that a person may [trust](super::UndoOptions::trust): they are signed
    /// with a key that is not here, or not signed.
    #[must_use]
    pub fn to_be_trusted(&self) -> Vec<TransactionId> {
        match self {
            Self::Store(workspace_trash::Error::Journal { id, problem, .. }) if problem.can_be_trusted() => vec![*id],
            Self::Doubtful { transactions, .. } => {
                let trustable = |doubt: &Doubt| matches!(doubt, Doubt::Journal(problem) if problem.can_be_trusted());
                transactions.iter().filter(|(_, doubt)| trustable(doubt)).map(|(id, _)| *id).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the kind for programs.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(error) => error.kind().into(),
            Self::Files(error) => error.kind().into(),
            Self::Drifted { .. } => ErrorKind::StaleFile,
            Self::Rejected(rejects) => rejects[0].kind(),
            Self::NotInTransaction { .. } | Self::NothingTo(_) => ErrorKind::NotFound,
            Self::Aborted(_) => ErrorKind::CommandFailed,
            Self::Doubtful { .. } => ErrorKind::PermissionDenied,
            Self::Elsewhere { .. } => ErrorKind::OutsideWorkspace,
            Self::NotRecovered { cause, .. } => cause.kind(),
        }
    }

    /// Returns the path it is about; the first one where there are several.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Store(error) => error.path(),
            Self::Files(error) => error.path(),
            Self::Drifted { drifts, .. } => drifts.first().map(|drift| &*drift.path),
            Self::NotInTransaction { path, .. } => Some(path),
            Self::Rejected(rejects) => Some(&rejects[0].path),
            Self::Elsewhere { paths, .. } => paths.first().map(String::as_str),
            Self::NotRecovered { journal, .. } => Some(journal),
            Self::NothingTo(_) | Self::Aborted(_) | Self::Doubtful { .. } => None,
        }
    }
}

/// A plan could not be committed. Except for [`RollbackIncomplete`](Self::RollbackIncomplete) and [`Untidy`](Self::Untidy),
/// everything is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// A file is not what the plan was made for.
    #[error("{:?} was changed since the plan was made", .0.path)]
    Stale(Drift),
    /// A file could not be used.
    #[error(transparent)]
    Files(#[from] fs_guard::Error),
    /// The store could not be used.
    #[error(transparent)]
    Store(#[from] workspace_trash::Error),
    /// The host gave it up.
    #[error("cancelled; nothing was changed")]
    Cancelled,
    /// The log of commits cannot be written.
    #[error("refused before anything was written: {0}")]
    Refused(String),
    /// What was published was not accepted.
    #[error("the command of the check {}", .0.end)]
    Unverified(Box<NotVerified>),
    /// The plan does nothing.
    #[error("there is nothing to commit")]
    Nothing,
    /// The plan was made for another workspace.
    #[error("the plan was made for another workspace")]
    OtherWorkspace,
    /// The roll-back could not be finished: some files are not as they were before.
    #[error("{cause}; the roll-back could not be finished{} (journal: {journal})", left(.paths))]
    RollbackIncomplete {
        /// Where the journal is.
        journal: String,
        /// The files that were changed by someone else meanwhile and were left so; what the commit
        /// had displaced is in the trash. Empty when the roll-back itself failed: `recover` goes on.
        paths: Vec<String>,
        /// Why the commit failed, or why the roll-back did.
        cause: Box<CommitError>,
    },
    /// All of it happened, but files that it displaced are still beside their places, or directories that should be gone are
    /// there. Recovery goes on with that.
    #[error("{cause}; every file is changed, but what was displaced is not put away yet (journal: {journal})")]
    Untidy {
        /// Where the journal is.
        journal: String,
        /// What failed.
        cause: Box<CommitError>,
    },
}

fn left(paths: &[String]) -> String {
    match paths {
        [] => String::new(),
        paths => format!("; changed by someone else and left so: {}", paths.join(", ")),
    }
}

impl CommitError {
    /// Returns the kind for programs.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Stale(_) => ErrorKind::StaleFile,
            Self::Files(error) => error.kind().into(),
            Self::Store(error) => error.kind().into(),
            Self::Cancelled | Self::Refused(_) | Self::Unverified(_) | Self::Nothing | Self::OtherWorkspace => {
                ErrorKind::CommandFailed
            }
            Self::RollbackIncomplete { cause, .. } | Self::Untidy { cause, .. } => cause.kind(),
        }
    }

    /// Returns the path it is about.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Stale(drift) => Some(&drift.path),
            Self::Files(error) => error.path(),
            Self::Store(error) => error.path(),
            Self::RollbackIncomplete { cause, .. } | Self::Untidy { cause, .. } => cause.path(),
            Self::Cancelled | Self::Refused(_) | Self::Unverified(_) | Self::Nothing | Self::OtherWorkspace => None,
        }
    }

    /// Tells whether every file is as it was before.
    #[must_use]
    pub fn is_rolled_back(&self) -> bool {
        !matches!(self, Self::RollbackIncomplete { .. } | Self::Untidy { .. })
    }
}
