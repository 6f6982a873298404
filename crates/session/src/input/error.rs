//! The error of a text that is not a usable patch.

use patch_engine::{ErrorKind, ParseError, Rejects, Remedy};

use crate::answer::error::{FailureClass, ToolError};
use crate::input::not_received::NotReceived;

/// Why a text is not a patch to plan or to convert.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The options do not suit the text.
    #[error("{0}")]
    Usage(String),
    /// The operations cannot be read, or the patch cannot be expressed in an envelope.
    #[error("{0}")]
    Unreadable(String),
    /// The diff or the path of an operation is wrong.
    #[error("call {call_id}: {message}")]
    BadCall {
        /// The call.
        call_id: String,
        /// The fault.
        message: String,
    },
    /// There is no patch in the text, or more than one, or the meaning is not clear.
    #[error(transparent)]
    NotReceived(#[from] NotReceived),
    /// The patch does not parse.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The patch cannot be reversed, or does not apply to the files.
    #[error(transparent)]
    Rejected(#[from] Rejects),
    /// The patch cannot be expressed in the other form.
    #[error("{0}")]
    Inexpressible(String),
    /// There are no files to make a diff against, or they have changed.
    #[error(transparent)]
    Files(#[from] Box<ToolError>),
}

impl InputError {
    /// Makes the error for programs; `sent` is the text.
    #[must_use]
    pub fn tool_error(&self, sent: &[u8]) -> ToolError {
        match self {
            Self::Usage(message) => {
                ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message)
            }
            Self::Unreadable(_) | Self::BadCall { .. } => ToolError::new(
                FailureClass::DoesNotApply,
                ErrorKind::PatchParseError,
                self.to_string(),
            )
            .remedies([Remedy::SendOne]),
            Self::NotReceived(NotReceived::Parse { error, .. }) => ToolError::parse(error),
            Self::NotReceived(error) => ToolError::new(
                FailureClass::DoesNotApply,
                ErrorKind::PatchParseError,
                error.to_string(),
            )
            .reason(error.reason())
            .remedies(error.remedies()),
            Self::Parse(error) => ToolError::parse_sent(sent, error),
            Self::Rejected(rejects) => ToolError::rejected(rejects),
            Self::Inexpressible(message) => {
                ToolError::new(FailureClass::Failed, ErrorKind::CommandFailed, message)
            }
            Self::Files(error) => (**error).clone(),
        }
    }
}
