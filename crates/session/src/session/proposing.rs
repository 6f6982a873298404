//! Proposals: changes that wait for a person in the state directory. The crate `patch-proposals`
//! keeps them; its folder and its lines in the log are known here.

use fs_guard::Error;
use patch_engine::commit::Workspace;

use crate::answer::error::ToolError;
use crate::audit::recorder::ProposalStep;
use crate::audit::session_name::{SessionName, TurnName};
use crate::audit::{Audit, Operation};
use crate::session::Session;

/// The folder of the proposals in the state directory.
pub const FOLDER: &str = "proposals";

/// The folder in it with the files that the proposals were made for, each named by its hash.
pub const BASES: &str = "bases";

/// The lock of whoever writes to the folder.
pub const LOCK: &str = "lock";

/// The hexadecimal digits of an id, behind `p-`.
pub const DIGITS: usize = 12;

/// Who changes something: a session, its agent, and its turn.
#[derive(Debug, Clone)]
pub struct Author {
    /// The session.
    pub session: SessionName,
    /// The agent.
    pub agent: Option<String>,
    /// The turn of the session.
    pub turn: Option<TurnName>,
}

impl Session {
    /// Returns who changes something with this session now.
    #[must_use]
    pub fn author(&self) -> Author {
        Author { session: self.name().clone(), agent: self.audit.agent.clone(), turn: self.turn() }
    }

    /// Makes a session of somebody else, for what they proposed, in an open workspace.
    ///
    /// # Errors
    ///
    /// When the ledger of that session cannot be read.
    pub fn on_behalf_of(&self, author: &Author, workspace: Workspace) -> Result<Self, ToolError> {
        let audit = Audit {
            session: author.session.clone(),
            agent: author.agent.clone(),
            ..self.audit.clone()
        };
        let session = Self::resume(workspace, audit, self.settings.clone())?;
        if let Some(turn) = &author.turn {
            session.begin_turn(Some(turn.clone()))?;
        }
        Ok(session)
    }

    /// Writes a step in the life of a proposal to the log.
    ///
    /// # Errors
    ///
    /// When the log cannot be written.
    pub fn log_proposal(&self, tool: &str, step: &ProposalStep<'_>) -> Result<(), Error> {
        let mut log = self.recorder(tool, Operation::Patch);
        let logged = log.of_proposal(step);
        *self.written() = log.into_written();
        logged
    }
}

/// Returns whether a text is the whole id of a proposal.
#[must_use]
pub fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix("p-").unwrap_or_default();
    digits.len() == DIGITS && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns whether the path is one of a folder or a file of this program.
pub(super) fn is_own(path: &str) -> bool {
    match path.strip_prefix(BASES) {
        Some("") => true,
        Some(name) => {
            name.strip_prefix('/').is_some_and(|name| name.parse::<fs_guard::Sha256>().is_ok())
        }
        None => path == LOCK || is_id(path),
    }
}
