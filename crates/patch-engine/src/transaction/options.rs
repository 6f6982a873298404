//! How a transaction is committed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fs_guard::{Root, Sha256};
use workspace_trash::Retention;

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Power loss: everything is on the disk before it counts.
    #[default]
    Full,
    /// The end of the process at any instant; nothing is waited for.
    Process,
    /// As `Process`, and nothing at all is promised after a power loss, on any file system.
    None,
}

/// What a commit needs to know beside the plan.
#[derive(Debug, Clone)]
pub struct CommitOptions {
    /// What it survives.
    pub durability: Durability,
    /// The tool that was called, for the journal.
    pub tool: Option<String>,
    /// The agent that called it.
    pub agent: Option<String>,
    /// The session it was called in.
    pub session: Option<String>,
    /// How long displaced files are kept.
    pub retention: Retention,
    /// How long to wait for another process that writes. Default: 10 s.
    pub lock_timeout: Duration,
    /// What has to accept the files, once they are published, before the commit counts. Default: nothing.
    pub verify: Option<Arc<dyn Verify>>,
    /// The hash of the text that asks for it: the same one is not carried out again while its files stand.
    pub text: Option<Sha256>,
}

/// A check of what was published, such as a run of tests.
pub trait Verify: fmt::Debug + Send + Sync {
    /// Looks at the files of the workspace, which all have their new bytes. The lock is held.
    ///
    /// When it is not accepted, or the process ends before it is, everything is put back. `cancelled` tells whether to give
    /// up: that is for the check to ask while it waits.
    ///
    /// # Errors
    ///
    /// Why the files are not accepted.
    fn verify(&self, root: &Root, cancelled: &dyn Fn() -> bool) -> Result<(), NotVerified>;
}

/// Why what was published was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotVerified {
    /// How the check ended.
    pub end: CheckEnd,
    /// What it printed; the last of it, where that is long.
    pub output: Vec<u8>,
    /// How many bytes before that are left out.
    pub left_out: u64,
}

/// How a check ended that did not accept what was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckEnd {
    /// It said no, with this exit code.
    Exited(i32),
    /// A signal ended it.
    Killed(i32),
    /// It took longer than this.
    TimedOut(Duration),
    /// It could not be run; why.
    NotRun(String),
    /// It was given up.
    Cancelled,
}

impl fmt::Display for CheckEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exited with {code}"),
            Self::Killed(signal) => write!(f, "was ended by signal {signal}"),
            Self::TimedOut(limit) => write!(f, "took longer than {} s", limit.as_secs_f64()),
            Self::NotRun(why) => write!(f, "could not be run: {why}"),
            Self::Cancelled => f.write_str("was given up"),
        }
    }
}

impl Default for CommitOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            tool: None,
            agent: None,
            session: None,
            retention: Retention::default(),
            lock_timeout: Duration::from_secs(10),
            verify: None,
            text: None,
        }
    }
}
