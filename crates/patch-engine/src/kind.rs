//! The closed set of error kinds that programs see, here and in the crates above.

use std::fmt;

/// What went wrong, as a program sees it. The names are stable; messages are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
    /// Nothing is at the path.
    NotFound,
    /// Something is at the path, or at one that a file system may take for it.
    AlreadyExists,
    /// The policy or the operating system forbids it.
    PermissionDenied,
    /// The path leads out of the root.
    OutsideWorkspace,
    /// The file is not text.
    BinaryFile,
    /// A limit was exceeded.
    FileTooLarge,
    /// The file is not what was expected.
    StaleFile,
    /// The text to be replaced is not in the file.
    OldTextNotFound,
    /// The text to be replaced is in the file more than once.
    MultipleMatches,
    /// Two edits touch the same text.
    OverlappingEdits,
    /// The patch does not parse.
    PatchParseError,
    /// The patch does not apply.
    PatchApplyError,
    /// The request makes no sense, or a system call failed.
    CommandFailed,
    /// A lock was not to be had in time.
    Timeout,
    /// None of the above.
    Unknown,
}

impl ErrorKind {
    /// Every kind, in the order of the contract.
    pub const ALL: [Self; 15] = [
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::OutsideWorkspace,
        Self::BinaryFile,
        Self::FileTooLarge,
        Self::StaleFile,
        Self::OldTextNotFound,
        Self::MultipleMatches,
        Self::OverlappingEdits,
        Self::PatchParseError,
        Self::PatchApplyError,
        Self::CommandFailed,
        Self::Timeout,
        Self::Unknown,
    ];

    /// Returns the stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::PermissionDenied => "permission_denied",
            Self::OutsideWorkspace => "outside_workspace",
            Self::BinaryFile => "binary_file",
            Self::FileTooLarge => "file_too_large",
            Self::StaleFile => "stale_file",
            Self::OldTextNotFound => "old_text_not_found",
            Self::MultipleMatches => "multiple_matches",
            Self::OverlappingEdits => "overlapping_edits",
            Self::PatchParseError => "patch_parse_error",
            Self::PatchApplyError => "patch_apply_error",
            Self::CommandFailed => "command_failed",
            Self::Timeout => "timeout",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<fs_guard::ErrorKind> for ErrorKind {
    fn from(kind: fs_guard::ErrorKind) -> Self {
        match kind {
            fs_guard::ErrorKind::NotFound => Self::NotFound,
            fs_guard::ErrorKind::AlreadyExists => Self::AlreadyExists,
            fs_guard::ErrorKind::PermissionDenied => Self::PermissionDenied,
            fs_guard::ErrorKind::OutsideRoot => Self::OutsideWorkspace,
            fs_guard::ErrorKind::TooLarge => Self::FileTooLarge,
            fs_guard::ErrorKind::Changed => Self::StaleFile,
            fs_guard::ErrorKind::Locked => Self::Timeout,
            fs_guard::ErrorKind::Invalid | fs_guard::ErrorKind::Failed => Self::CommandFailed,
        }
    }
}
