//! The result envelope: `{"ok":true,"output":…,"data":…}` or `{"ok":false,"error":…}`.

use serde::Serialize;

use crate::answer::error::ToolError;

/// The envelope of a successful call.
#[derive(Debug, Clone, Serialize)]
pub struct Success<T> {
    ok: bool,
    /// The outcome, in one line.
    pub output: String,
    /// The outcome, as data.
    pub data: T,
    /// The arguments converted to the form of the tool, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub normalised: Vec<String>,
    /// Faults in the new files, and remarks of a person about the change, a sentence each. For a
    /// patch they are among the notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl<T> Success<T> {
    /// Makes the envelope of a success.
    pub fn new(output: impl Into<String>, data: T) -> Self {
        Self { ok: true, output: output.into(), data, normalised: Vec::new(), warnings: Vec::new() }
    }

    /// Replaces the data.
    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> Success<U> {
        Success {
            ok: true,
            output: self.output,
            data: with(self.data),
            normalised: self.normalised,
            warnings: self.warnings,
        }
    }
}

/// The envelope of a failed call.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    ok: bool,
    /// The cause.
    pub error: ToolError,
    /// The arguments converted to the form of the tool, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub normalised: Vec<String>,
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Self { ok: false, error: error.bounded(), normalised: Vec::new() }
    }
}

/// The result of a tool: data with a summary, or an error.
pub type ToolResult<T> = Result<Success<T>, ToolError>;
