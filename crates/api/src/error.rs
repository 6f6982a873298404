//! The errors that are about the call itself, not about patches and files.

use file_tools::{ArgumentChange, ErrorKind, FailureClass, Hint, ToolError};
use serde_json::json;

/// An argument that makes no sense.
pub(crate) fn argument(argument: &str, message: impl Into<String>, wanted: &str) -> ToolError {
    let change = ArgumentChange::Give { argument: argument.into(), wanted: wanted.into() };
    let error = ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message)
        .details(json!({ "reason": "bad_arguments" }))
        .hints([Hint::CorrectArguments { arguments: vec![change] }]);
    ToolError { recoverable: true, ..error }
}
