//! How a transaction is committed.

use std::time::Duration;

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
        }
    }
}
