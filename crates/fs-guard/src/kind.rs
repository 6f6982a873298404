//! The kinds of errors, for programs.

use std::fmt;

/// The kind of an [`Error`](crate::Error). The names are stable; messages are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Nothing is at the path.
    NotFound,
    /// The path exists, or one that a file system may take for the same.
    AlreadyExists,
    /// The policy or the operating system forbids the access.
    PermissionDenied,
    /// The path leads out of the root.
    OutsideRoot,
    /// A limit was exceeded.
    TooLarge,
    /// The file is not the expected one.
    Changed,
    /// A lock was not released in time.
    Locked,
    /// The caller gave the work up.
    Cancelled,
    /// The operation is never possible with this path, or with what is there.
    Invalid,
    /// A system call failed.
    Failed,
}

impl ErrorKind {
    /// Returns the stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::PermissionDenied => "permission_denied",
            Self::OutsideRoot => "outside_root",
            Self::TooLarge => "too_large",
            Self::Changed => "changed",
            Self::Locked => "locked",
            Self::Cancelled => "cancelled",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
