//! Why the server ends.

/// Why a server could not start, or had to stop.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] apply_patch_api::engine::commit::Error),
    /// The system has no random bytes, or cannot start a thread.
    #[error("the server cannot start: {0}")]
    System(String),
    /// The client began in a way that the protocol does not know.
    #[error("the client did not keep to the protocol: {0}")]
    Protocol(String),
}

impl ServeError {
    pub(crate) fn system(error: impl std::fmt::Display) -> Self {
        Self::System(error.to_string())
    }
}
