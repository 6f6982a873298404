//! Why a command ends without doing what it should; printed in one place.

use patch_engine::transaction::{self, Workspace};
use patch_engine::{Applied, ParseError, Reject};

use crate::exit::Exit;
use crate::input::{Input, NoInput};
use crate::{args, json, render};

/// Why a command ends without doing what it should.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line makes no sense.
    Usage(String),
    /// A person sits at the terminal and named no patch.
    Help,
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
    Rejected(Box<(Input, Vec<Reject>)>),
    /// The workspace cannot be used.
    Workspace(Box<transaction::Error>),
    /// A plan could not be committed.
    Commit(Box<transaction::CommitError>),
    /// What was applied, and why not all of it.
    Applied(Box<(Input, Applied)>),
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
            NoInput::Terminal => Self::Help,
            NoInput::Failed(message) => Self::Input(message),
            NoInput::TooLong => Self::TooLong,
        }
    }
}

impl Failure {
    pub(crate) fn parse(input: &Input, error: ParseError) -> Self {
        Self::Parse(Box::new((input.clone(), error)))
    }

    /// Prints what went wrong and gives the exit code.
    pub(crate) fn report(self, global: &args::Global, workspace: Option<&Workspace>) -> Exit {
        if let Self::Help = self {
            use std::io::Write as _;

            use clap::CommandFactory as _;
            // Nothing can be done about a closed standard error.
            let _ = write!(anstream::stderr(), "{}", args::Cli::command().render_help().ansi());
            return Exit::Usage;
        }
        let failure = json::Failure::new(&self);
        if global.json {
            json::print(&failure.envelope());
        } else {
            render::failure(&self, workspace);
        }
        failure.exit
    }
}
