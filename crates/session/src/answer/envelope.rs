//! The result envelope: `{"ok":true,"output":…,"data":…}` or `{"ok":false,"error":…}`.

use serde::Serialize;

use crate::answer::error::ToolError;

/// The envelope of a call that succeeded.
#[derive(Debug, Clone, Serialize)]
pub struct Success<T> {
    ok: bool,
    /// What happened, in one line.
    pub output: String,
    /// What happened, as data.
    pub data: T,
    /// What was taken for the tool in another form than it was sent in, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub normalised: Vec<String>,
    /// What is wrong with the new files, and what a person said about the change, a sentence each.
    /// A patch has it in its notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl<T> Success<T> {
    /// Makes the envelope of a success.
    pub fn new(output: impl Into<String>, data: T) -> Self {
        let (normalised, warnings) = (Vec::new(), Vec::new());
        Self { ok: true, output: output.into(), data, normalised, warnings }
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

/// The envelope of a call that failed.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    ok: bool,
    /// Why it failed.
    pub error: ToolError,
    /// What was taken for the tool in another form than it was sent in, a sentence each.
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
