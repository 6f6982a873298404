//! What can go wrong with the store.

use fs_guard::ErrorKind;

use crate::fingerprint::Fingerprint;
use crate::id::TransactionId;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of the store could not be used.
    #[error(transparent)]
    Files(#[from] fs_guard::Error),
    /// There is no such transaction.
    #[error("there is no transaction {0}")]
    NoSuchTransaction(TransactionId),
    /// The transaction displaced no file at this place.
    #[error("transaction {id} keeps no file {slot}")]
    NoSuchSlot {
        /// The transaction.
        id: TransactionId,
        /// The slot.
        slot: u32,
    },
    /// A journal cannot be read, or was not written by this program for this user.
    #[error("the journal of {path:?} is not trusted: {problem}")]
    Journal {
        /// The transaction whose name it has.
        id: TransactionId,
        /// The transaction's folder.
        path: String,
        /// What is wrong.
        problem: JournalProblem,
    },
    /// The journal of a transaction that was cut off is not trusted, so it is neither finished nor reverted.
    #[error("the journal of the interrupted transaction {path:?} is not trusted: {problem}; look at it and remove it")]
    Unfinished {
        /// The transaction's folder.
        path: String,
        /// What is wrong.
        problem: JournalProblem,
    },
}

/// Why a journal is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalProblem {
    /// It is not complete, or was changed.
    #[error("it is cut off or damaged")]
    Damaged,
    /// It is not signed, and journals are signed here.
    #[error("it is not signed: there was no place for a key where it was made, or another program made it")]
    NotSigned,
    /// It is signed with a key that is not here.
    #[error("it is signed with the key {0}, which is not here")]
    OtherKey(Fingerprint),
    /// It names a key that is here, and is not signed with it.
    #[error("it is not signed with the key that it names")]
    Forged,
    /// It cannot be checked, as there is no place for a key: anyone can have written it.
    #[error("there is no place for a key here to check it with, and anyone can have written it")]
    NoKey,
    /// It is another transaction's.
    #[error("it belongs to another transaction")]
    Misplaced,
    /// The state directory is tracked by git, so it came with a repository.
    #[error("the state directory is tracked by git")]
    Tracked,
    /// There is none.
    #[error("it is missing")]
    Missing,
}

impl JournalProblem {
    /// Tells whether a person may know better: the journal is whole, and made where another key was, or none.
    #[must_use]
    pub fn can_be_trusted(&self) -> bool {
        matches!(self, Self::NotSigned | Self::OtherKey(_))
    }
}

impl Error {
    /// Returns the kind for programs.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Files(error) => error.kind(),
            Self::NoSuchTransaction(_) | Self::NoSuchSlot { .. } => ErrorKind::NotFound,
            Self::Journal { .. } | Self::Unfinished { .. } => ErrorKind::PermissionDenied,
        }
    }

    /// Returns a stable word for what is behind the kind.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Files(error) => error.reason(),
            Self::NoSuchTransaction(_) => "no_such_transaction",
            Self::NoSuchSlot { .. } => "no_such_slot",
            Self::Journal { .. } | Self::Unfinished { .. } => "untrusted_state",
        }
    }

    /// Returns the path it is about.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Files(error) => error.path(),
            Self::Journal { path, .. } | Self::Unfinished { path, .. } => Some(path),
            _ => None,
        }
    }
}
