//! What the input is: a patch in the envelope, a diff, or operations as JSON, which become the
//! first.

use apply_patch_api::engine::{Failed, Options, ParseError, Patch, Rejects};
use apply_patch_api::grammar::ParseOptions;
use apply_patch_api::tools::input::{InputError, PatchText};

use crate::args::From;
use crate::failure::Failure;
use crate::input::Input;

/// Finds the envelope or the diff in the input, and notes how. `options` are those that it will be
/// parsed with.
pub(crate) fn of(input: Input, from: &From, options: &ParseOptions) -> Result<Input, Failure> {
    let sent = match PatchText::read(&input.sent.text, &from.how(), options) {
        Ok(sent) => sent,
        Err(InputError::Usage(message)) => return Err(Failure::Usage(message)),
        Err(InputError::Parse(error)) => return Err(Failure::parse(&input, error)),
        Err(error) => return Err(Failure::Unreadable(format!("{}: {error}", input.name))),
    };
    let name = if sent.converted { format!("{}, converted", input.name) } else { input.name };
    Ok(Input { sent, name, kept: None })
}

/// A failure that still lacks the text of the patch.
pub(crate) enum Rest {
    /// The text does not parse.
    Parse(ParseError),
    /// The patch cannot be planned, or not be undone.
    Rejected(Rejects),
    /// The patch was not applied, or not all of it.
    Failed(Failed),
    /// A failure that needs no text.
    Other(Failure),
}

impl Rest {
    /// Returns the failure, with the input that it is about.
    pub(crate) fn of(self, input: Input) -> Failure {
        match self {
            Self::Parse(error) => Failure::Parse(Box::new((input, error))),
            Self::Rejected(rejects) => Failure::Rejected(Box::new((input, rejects))),
            Self::Failed(failed) => Failure::Failed(Box::new((input, failed))),
            Self::Other(failure) => failure,
        }
    }
}

/// Reads the patch of an input, and reverses it where that is wanted.
pub(crate) fn parsed(input: &Input, options: &Options) -> Result<Patch, Rest> {
    Ok(input.sent.parse(options)?)
}

impl std::convert::From<Rejects> for Rest {
    fn from(rejects: Rejects) -> Self {
        Self::Rejected(rejects)
    }
}

impl std::convert::From<apply_patch_api::files::Error> for Rest {
    fn from(error: apply_patch_api::files::Error) -> Self {
        Self::Other(error.into())
    }
}

impl std::convert::From<InputError> for Rest {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Parse(error) => Self::Parse(error),
            InputError::Irreversible(rejects) => Self::Rejected(rejects),
            error => unreachable!("BUG: it was read before: {error}"),
        }
    }
}
