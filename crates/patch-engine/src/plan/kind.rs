//! The closed set of error kinds that programs see, here and in the crates above.

patch_grammar::named! {
    /// The kind of an error, for programs. The names are stable; messages are not.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ErrorKind {
        /// Nothing is at the path.
        NotFound = "not_found",
        /// Something is at the path, or at one that a file system may take for it.
        AlreadyExists = "already_exists",
        /// The policy or the operating system forbids it.
        PermissionDenied = "permission_denied",
        /// The path leads out of the root.
        OutsideWorkspace = "outside_workspace",
        /// The file is not text.
        BinaryFile = "binary_file",
        /// A limit was exceeded.
        FileTooLarge = "file_too_large",
        /// The file is not what was expected.
        StaleFile = "stale_file",
        /// The text to be replaced is not in the file.
        OldTextNotFound = "old_text_not_found",
        /// The text to be replaced is in the file more than once.
        MultipleMatches = "multiple_matches",
        /// Two edits touch the same text.
        OverlappingEdits = "overlapping_edits",
        /// The patch does not parse.
        PatchParseError = "patch_parse_error",
        /// The patch does not apply.
        PatchApplyError = "patch_apply_error",
        /// The request makes no sense, or a system call failed.
        CommandFailed = "command_failed",
        /// A lock could not be taken in time.
        Timeout = "timeout",
        /// The caller gave it up, and everything is as it was.
        Cancelled = "cancelled",
        /// None of the above.
        Unknown = "unknown",
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
            fs_guard::ErrorKind::Cancelled => Self::Cancelled,
            // The request makes no sense, or a system call failed.
            _ => Self::CommandFailed,
        }
    }
}
