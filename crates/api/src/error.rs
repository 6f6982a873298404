//! Errors about the call itself, not about patches and files.

use patch_session::hints::Caller;
use patch_session::{Language, Reason, ToolError};

/// Returns an error in the words of a program's language. An error in the words of another caller,
/// as of a model, stays as it is.
#[must_use]
pub fn told(error: ToolError, language: Language) -> ToolError {
    match error.caller {
        Caller::Terminal => error.addressed(Caller::Program(language)),
        _ => error,
    }
}

/// Returns the error of an argument that makes no sense.
pub(crate) fn argument(argument: &str, message: impl Into<String>, wanted: &str) -> ToolError {
    ToolError::arguments(Reason::BadArguments, message)
        .remedies([patch_engine::Remedy::give(argument, wanted)])
}
