//! Files that a program formats before they are planned, and how the commands of a user end.

use std::fmt;
use std::time::Duration;

use fs_guard::{Cancellation, RelPath, Root, shortened};

/// Formats new files while they are planned, so that what is shown is what is committed.
pub trait Formatter: fmt::Debug + Send + Sync {
    /// Returns the new bytes of a file as they are formatted, and the commands that did it.
    ///
    /// Receives the directory, the path of the file in it, and the bytes that it would have, which
    /// are text. Nothing is written yet: the file on disk, if there is one, is the old one. A
    /// formatter that waits should poll `cancellation` and give up when it is cancelled.
    ///
    /// `None` if files of this name are not formatted.
    ///
    /// # Errors
    ///
    /// If a command does not succeed. Then nothing is planned.
    fn format(
        &self,
        root: &Root,
        path: &RelPath,
        bytes: &[u8],
        cancellation: &Cancellation,
    ) -> Result<Option<Formatted>, CommandFailure>;
}

/// A formatted file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatted {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The commands, in order.
    pub by: String,
}

/// A failed command of the user: a check of the published files, or a formatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFailure {
    /// The command, where one was run.
    pub command: Option<String>,
    /// The end of the command.
    pub end: CommandEnd,
    /// Its output; only the end of a long one.
    pub output: Vec<u8>,
    /// How many bytes of output before that are left out.
    pub left_out: u64,
}

/// The end of a failed command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum CommandEnd {
    /// The command exited with this code.
    Exited(i32),
    /// Ended by a signal.
    Killed(i32),
    /// The command took longer than this.
    TimedOut(Duration),
    /// The command could not be run, for this reason.
    NotRun(String),
    /// The command succeeded, but removed the state directory: without one, the change could not be
    /// undone.
    RemovedState,
    /// A formatter succeeded without output.
    PrintedNothing,
    /// The work was [given up](Cancellation).
    Cancelled,
}

impl CommandFailure {
    /// Names the command, which is `what` of the user.
    pub(crate) fn named(&self, what: &str) -> String {
        match &self.command {
            Some(command) => {
                let line = command.trim().lines().next().unwrap_or_default();
                format!("{what} `{}`", shortened(line))
            }
            None => what.to_owned(),
        }
    }
}

impl fmt::Display for CommandEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exited with {code}"),
            Self::Killed(signal) => write!(f, "was ended by signal {signal}"),
            Self::TimedOut(limit) => write!(f, "took longer than {} s", limit.as_secs_f64()),
            Self::NotRun(why) => write!(f, "could not be run: {why}"),
            Self::RemovedState => f.write_str(
                "removed the state directory, without which the change cannot be undone",
            ),
            Self::PrintedNothing => f.write_str(
                "printed nothing: it has to read the file from its input, and print it formatted",
            ),
            Self::Cancelled => f.write_str("was given up"),
        }
    }
}
