//! The errors of the store.

use fs_guard::ErrorKind;

use crate::fingerprint::Fingerprint;
use crate::id::TransactionId;

/// A failure of the store.
#[derive(thiserror::Error)]
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
    #[error("the journal of {} is not trusted: {problem}", fs_guard::quoted(.path))]
    Journal {
        /// The transaction id in its name.
        id: TransactionId,
        /// The transaction's folder.
        path: String,
        /// The problem.
        problem: JournalProblem,
    },
    /// The journal of an interrupted transaction is not trusted, so the transaction is neither
    /// finished nor reverted.
    #[error(
        "the journal of the interrupted transaction {} is not trusted: {problem}; look at \
         it and remove it",
        fs_guard::quoted(.path)
    )]
    Unfinished {
        /// The transaction's folder.
        path: String,
        /// The problem.
        problem: JournalProblem,
    },
}

fs_guard::debug_is_display!(Error);

/// Why a journal is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalProblem {
    /// It is incomplete.
    #[error("it is cut off or damaged")]
    Damaged,
    /// The whole journal was written, and has changed since.
    #[error("it was changed, or is damaged")]
    Altered,
    /// It is not signed, although journals are signed here.
    #[error(
        "it is not signed: there was no place for a key where it was made, or another program \
         made it"
    )]
    NotSigned,
    /// The journal is signed with a key that is not available here.
    #[error("it is signed with the key {0}, which is not here")]
    OtherKey(Fingerprint),
    /// The journal names a key that is available here, but is not signed with it.
    #[error("it is not signed with the key that it names")]
    Forged,
    /// Without a place for a key the journal cannot be checked: anyone could have written it.
    #[error("there is no place for a key here to check it with, and anyone can have written it")]
    NoKey,
    /// It belongs to another transaction.
    #[error("it belongs to another transaction")]
    Misplaced,
    /// Git tracks the state directory, so the directory came with a repository.
    #[error("the state directory is tracked by git")]
    Tracked,
    /// There is none.
    #[error("it is missing")]
    Missing,
}

impl JournalProblem {
    /// Returns whether a person may decide to trust the journal: the journal is complete, and was
    /// made with another key, or without one.
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

    /// Returns a stable word for the reason behind the kind.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Files(error) => error.reason(),
            Self::NoSuchTransaction(_) => "no_such_transaction",
            Self::NoSuchSlot { .. } => "no_such_slot",
            Self::Journal { .. } | Self::Unfinished { .. } => "untrusted_state",
        }
    }

    /// Returns whether the error means that a finished transaction does not count as this user's.
    pub(crate) fn is_distrust(&self) -> bool {
        matches!(
            self,
            Self::Journal { .. }
                | Self::Files(
                    fs_guard::Error::UntrustedState { .. } | fs_guard::Error::OthersState { .. }
                )
        )
    }

    /// Returns the path of the error.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Files(error) => error.path(),
            Self::Journal { path, .. } | Self::Unfinished { path, .. } => Some(path),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_is_the_sentence() {
        let errors: Vec<Box<dyn std::error::Error>> = vec![
            Box::new(Error::NoSuchTransaction(TransactionId::new(
                std::time::SystemTime::now(),
                None,
            ))),
            Box::new(Error::from(fs_guard::Error::NotFound { path: "a".into() })),
            Box::new("x".parse::<TransactionId>().expect_err("it is none")),
        ];
        for error in errors {
            assert_eq!(format!("{error:?}"), error.to_string());
        }
    }
}
