//! Exit codes: patch(1)'s three, and what a careful caller wants to tell apart beyond them.

use std::process::ExitCode;

use patch_engine::ErrorKind;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; with `--check` or `--dry-run`: it would apply.
    Done = 0,
    /// The patch does not parse or does not apply; nothing changed.
    DoesNotApply = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// Refused: outside the workspace, against the policy, or not approved.
    Refused = 3,
    /// A file is not what was expected.
    Stale = 4,
    /// Input, output, lock or limit; rolled back, nothing changed.
    Failed = 5,
    /// Changed in part.
    Partial = 6,
    /// Interrupted by SIGINT; rolled back.
    Interrupted = 130,
    /// Interrupted by SIGTERM; rolled back.
    Terminated = 143,
}

impl Exit {
    /// The code for an error of planning, locking or committing.
    pub(crate) fn of(kind: ErrorKind, from_system: bool) -> Self {
        match kind {
            ErrorKind::StaleFile => Self::Stale,
            _ if from_system => Self::Failed,
            ErrorKind::OutsideWorkspace | ErrorKind::PermissionDenied => Self::Refused,
            ErrorKind::FileTooLarge | ErrorKind::Timeout => Self::Failed,
            ErrorKind::CommandFailed => Self::Refused,
            _ => Self::DoesNotApply,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
