//! Why a command ends without doing what it should.

use patch_engine::transaction;
use patch_engine::{Failed, ParseError, Rejects};

use crate::input::{Input, NoInput};

/// Why a command ends without doing what it should.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line makes no sense.
    Usage(String),
    /// The patch cannot be read.
    Input(String),
    /// The input is not what it should be.
    Unreadable(String),
    /// It was not approved.
    Refused(String),
    /// The patch is too long.
    TooLong,
    /// The text is no patch.
    Parse(Box<(Input, ParseError)>),
    /// The patch cannot be planned.
    Rejected(Box<(Input, Rejects)>),
    /// The workspace cannot be used.
    Workspace(Box<transaction::Error>),
    /// A plan could not be committed.
    Commit(Box<transaction::CommitError>),
    /// Why a patch was not applied, or not all of it.
    Failed(Box<(Input, Failed)>),
}

impl From<transaction::Error> for Failure {
    fn from(error: transaction::Error) -> Self {
        Self::Workspace(Box::new(error))
    }
}

impl From<transaction::CommitError> for Failure {
    fn from(error: transaction::CommitError) -> Self {
        Self::Commit(Box::new(error))
    }
}

impl From<fs_guard::Error> for Failure {
    fn from(error: fs_guard::Error) -> Self {
        transaction::Error::from(error).into()
    }
}

impl From<NoInput> for Failure {
    fn from(error: NoInput) -> Self {
        match error {
            NoInput::Failed(message) => Self::Input(message),
            NoInput::TooLong => Self::TooLong,
        }
    }
}

impl Failure {
    pub(crate) fn parse(input: &Input, error: ParseError) -> Self {
        Self::Parse(Box::new((input.clone(), error)))
    }
}
