//! The errors of the log.

/// The log cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the audit log cannot be used: {0}")]
pub struct AuditError(#[from] pub fs_guard::Error);

impl From<AuditError> for fs_guard::Error {
    fn from(error: AuditError) -> Self {
        error.0
    }
}
