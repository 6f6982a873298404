//! What recovery found and did.

use workspace_trash::TransactionId;

/// A transaction that was found cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// Its name.
    pub id: TransactionId,
    /// What became of it.
    pub outcome: Outcome,
}

/// What recovery made of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It had not come to its commit point; nothing in the workspace had changed.
    Discarded,
    /// All of it has happened now.
    Completed,
    /// All of it, but for these directories, which could not be removed.
    CompletedExcept(Vec<String>),
    /// None of it has happened now.
    RolledBack,
    /// None of it, but for these paths: someone else has changed them since, and they were left so.
    /// What the transaction had displaced there is in the trash.
    RolledBackExcept(Vec<String>),
}

impl Outcome {
    /// Tells whether the files are as the transaction leaves them.
    #[must_use]
    pub fn has_happened(&self) -> bool {
        matches!(self, Self::Completed | Self::CompletedExcept(_))
    }
}
