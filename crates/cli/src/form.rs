//! What the input is: a patch in the envelope, a diff, or operations as JSON, which become the first.

use std::borrow::Cow;

use file_tools::input::{InputError, PatchText};
use patch_engine::{Options, ParseError, Patch, Rejects};
use patch_grammar::ParseOptions;

use crate::args::From;
use crate::failure::Failure;
use crate::input::Input;

/// The input as an envelope or a diff, with notes of what was done for that. `options` are those that it will be parsed with.
pub(crate) fn of(input: Input, from: &From, options: &ParseOptions) -> Result<Input, Failure> {
    let text = match PatchText::read(&input.bytes, &from.how(), options) {
        Ok(text) => text,
        Err(InputError::Usage(message)) => return Err(Failure::Usage(message)),
        Err(InputError::Parse(error)) => return Err(Failure::parse(&input, error)),
        Err(error) => return Err(Failure::Unreadable(format!("{}: {error}", input.name))),
    };
    let PatchText { bytes, diff, notes, reverse, converted, .. } = text;
    let name = if converted { format!("{}, converted", input.name) } else { input.name };
    let bytes = match bytes {
        Cow::Borrowed(_) => input.bytes,
        Cow::Owned(bytes) => bytes.into(),
    };
    Ok(Input { bytes, name, diff, notes, reverse, kept: None })
}

/// Why an input is no patch that could be planned.
pub(crate) enum Unread {
    /// It does not parse.
    Parse(ParseError),
    /// It is to be taken back, and cannot be.
    Irreversible(Rejects),
}

impl Unread {
    /// The failure, with the input that it is about.
    pub(crate) fn of(self, input: Input) -> Failure {
        match self {
            Self::Parse(error) => Failure::Parse(Box::new((input, error))),
            Self::Irreversible(rejects) => Failure::Rejected(Box::new((input, rejects))),
        }
    }
}

/// Reads the patch of an input, reverses it where that is wanted, and lets `then` do the rest.
pub(crate) fn parsed<T>(input: &Input, options: &Options, then: impl FnOnce(&Patch<'_>) -> T) -> Result<T, Unread> {
    input.text().parsed(options, then).map_err(Unread::from)
}

impl std::convert::From<InputError> for Unread {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Parse(error) => Self::Parse(error),
            InputError::Irreversible(rejects) => Self::Irreversible(rejects),
            error => unreachable!("BUG: it was read before: {error}"),
        }
    }
}
