//! The audit log: what was done to files, and what was tried. It shows when it has been changed.
//!
//! `.apply-patch/audit/<session>.jsonl` has a line of JSON for each file of each commit before its
//! commit point (`phase` is `intent`), one for the commit after it (`outcome`), one for each call
//! that failed before that (`failed`), one for each interrupted transaction that was recovered
//! (`recovered`), and one at the end of each turn that changed something (`ended`). What a commit
//! changed in its files is kept in its transaction; the log has the hash of that.
//!
//! Every line has a number, the hash of the line before, its own hash over all its bytes up to
//! there, and a signature of that hash under the user's key, so that a line cannot be changed,
//! inserted, removed or moved. `<session>.head`, also signed, records the length of the log at the
//! end of the last call, so that its end cannot be cut off. A log that exceeds its limit is
//! continued in the next file: `<session>.1.jsonl` is the oldest one, `<session>.jsonl` the newest.
//!
//! The lines of transactions that were purged are removed from the beginning of a log. It begins then
//! with a line that tells so (`purged`), and after which of the lines that were removed the next one
//! comes.
//!
//! A line is an [`Event`] with its place in the chain.
//!
//! Limitations: anyone who can read the user's key can forge all of this, and nobody notices if an
//! older log is restored together with its older head. A log written where there is no place for a
//! key is not signed.

mod chain;
mod event;
pub(crate) mod purge;
pub mod recorder;
pub mod session_name;
mod state;
mod stats;
mod verify;

pub(crate) use chain::FOLDER;
pub use event::{Event, Operation, Phase, PurgedLines, Torn};
pub(crate) use state::ended_turns;
pub use state::{PathState, Status, state};
pub use stats::{Count, Stats, stats};
pub(crate) use verify::is_own;
pub use verify::{BadLine, Purge, Verified, verify};

use std::cell::RefCell;
use std::time::Duration;

pub(crate) use chain::Written;
use chain::{Chain, End, LogWriter};
use patch_engine::commit::{LOCK_TIMEOUT, Workspace};
use workspace_trash::Keys;

use crate::audit::session_name::SessionName;

/// The length above which a log is continued in another file: 16 MiB.
pub const MAX_LOG_SIZE: u64 = 16 << 20;

/// The log of one session.
#[derive(Debug, Clone)]
pub struct Audit {
    /// The session.
    pub session: SessionName,
    /// The name of the agent.
    pub agent: Option<String>,
    /// The length above which the log is continued in another file.
    pub max_size: u64,
    /// How long to wait for another process that writes to the log.
    pub lock_timeout: Duration,
}

impl Audit {
    /// Creates the log of a session.
    #[must_use]
    pub fn new(session: SessionName, agent: Option<String>) -> Self {
        Self { session, agent, max_size: MAX_LOG_SIZE, lock_timeout: LOCK_TIMEOUT }
    }

    /// Sets how long to wait for another process that writes to the log.
    #[must_use]
    pub fn with_lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = timeout;
        self
    }

    /// Appends events, in one write if they are small together. The state directory must exist.
    ///
    /// The fields `head` and `torn` of an event are ignored: the log adds its own.
    ///
    /// # Errors
    ///
    /// If the log cannot be written. Then nothing may be applied.
    pub fn append(
        &self,
        workspace: &Workspace,
        events: &[Event],
        durable: bool,
    ) -> Result<(), fs_guard::Error> {
        self.write(workspace, durable, None, End::Closed, |lines| {
            events.iter().try_for_each(|event| {
                lines.push(&mut event.clone())?;
                event.intends().into_iter().for_each(|id| lines.intends(id));
                event.answers().into_iter().for_each(|id| lines.answers(id));
                Ok(())
            })
        })
        .map(drop)
    }

    /// Appends lines after those that an earlier call of this process wrote, if there was one.
    fn write(
        &self,
        workspace: &Workspace,
        durable: bool,
        since: Option<Written>,
        end: End,
        write: impl FnOnce(&mut LogWriter<'_>) -> Result<(), fs_guard::Error>,
    ) -> Result<Written, fs_guard::Error> {
        let key = workspace.key();
        let signer = key.signer()?;
        let mut keys = Keys::new(key.place().clone());
        signer.iter().for_each(|signer| keys.set_own(signer));
        let keys = (signer, RefCell::new(keys));
        let session = self.session.as_str();
        let chain = match since {
            Some(written) => Chain::lock_again(written, session, keys, durable, self.lock_timeout)?,
            None => {
                let state = workspace.create_state_dir()?;
                Chain::lock(&state, session, keys, durable, self.lock_timeout)?
            }
        };
        chain.append(self.max_size, end, write)
    }
}
