//! The errors that are about the call itself, not about patches and files.

use file_tools::{Reason, ToolError};

/// Returns the error of an argument that makes no sense.
pub(crate) fn argument(argument: &str, message: impl Into<String>, wanted: &str) -> ToolError {
    ToolError::arguments(Reason::BadArguments, message)
        .remedies([patch_engine::Remedy::give(argument, wanted)])
}
