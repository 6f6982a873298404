//! The options of a commit.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fs_guard::{Cancellation, Root, Sha256};
use workspace_trash::Retention;

use crate::plan::Plan;
use crate::plan::formatter::CommandFailure;

patch_grammar::named! {
    /// The failures survived by a commit that has returned.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Durability {
        /// Power loss: every step is synced.
        #[default]
        Full = "full",
        /// A kill of the process at any instant. Nothing is synced.
        Process = "process",
        /// As `Process`. After a power loss nothing is promised, on any file system.
        None = "none",
    }
}

/// How long to wait for another process by default.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The options of a commit.
#[derive(Debug, Clone)]
pub struct CommitOptions {
    /// The failures to survive.
    pub durability: Durability,
    /// The called tool, for the journal.
    pub tool: Option<String>,
    /// The calling agent, for the journal.
    pub agent: Option<String>,
    /// The session of the call, for the journal.
    pub session: Option<String>,
    /// The turn of the session, for the journal.
    pub turn: Option<String>,
    /// How long displaced files are kept.
    pub retention: Retention,
    /// How long to wait for the lock. Default: [`LOCK_TIMEOUT`].
    pub lock_timeout: Duration,
    /// A check of the published files before the commit counts. Default: none.
    pub verify: Option<Arc<dyn Verify>>,
    /// The hash of the patch text. The same text is not applied again while the files are as this
    /// commit left them.
    pub text: Option<Sha256>,
}

/// A check of the published files, such as a test run.
pub trait Verify: fmt::Debug + Send + Sync {
    /// Returns whether there is anything to check where these paths change.
    fn concerns(&self, paths: &[&str]) -> bool {
        let _ = paths;
        true
    }

    /// Checks the files of the workspace, which all have their new bytes. The lock is held. A plan
    /// that undoes a transaction is not checked: what it brings back was there before.
    ///
    /// If the check fails, or the process ends before it passes, everything is rolled back. A check
    /// that waits should poll `cancellation` and give up when it is cancelled. `state` is the path
    /// of the state directory: programs that are started should get it in the variable
    /// [`CHECKED`](super::CHECKED).
    ///
    /// # Errors
    ///
    /// If the files are not accepted.
    fn verify(
        &self,
        root: &Root,
        plan: &Plan,
        state: &str,
        cancellation: &Cancellation,
    ) -> Result<(), CommandFailure>;
}

impl Default for CommitOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            tool: None,
            agent: None,
            session: None,
            turn: None,
            retention: Retention::default(),
            lock_timeout: LOCK_TIMEOUT,
            verify: None,
            text: None,
        }
    }
}
