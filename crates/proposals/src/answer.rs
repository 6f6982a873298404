//! A proposal as data, for answers.

use schemars::JsonSchema;
use serde::Serialize;
use std::time::{Duration, UNIX_EPOCH};

use workspace_trash::format_time;

use crate::proposal::{Proposal, ProposalState};

/// A proposal as data.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposalData {
    /// Its id.
    pub proposal_id: String,
    /// proposed, approved, declined, withdrawn or expired.
    pub state: String,
    /// When it was made.
    pub time: String,
    /// The session that made it.
    pub session: String,
    /// The agent of that session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The turn in which it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// Why it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The directory of the project to which its paths are relative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The files that it changes.
    pub files: Vec<FileData>,
    /// Why a person is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The plan that was shown.
    pub digest: String,
    /// When it was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<String>,
    /// Why it was declined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_why: Option<String>,
    /// The transactions of what was approved, for undo.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transaction_ids: Vec<String>,
}

/// A file that a proposal changes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileData {
    /// create, update, delete or move.
    pub operation: String,
    /// Its path before.
    pub path: String,
    /// Where it moves to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_path: Option<String>,
}

impl Proposal {
    /// Returns the proposal as data.
    #[must_use]
    pub fn data(&self) -> ProposalData {
        let decision = self.decision();
        let decided = decision.map(|it| UNIX_EPOCH + Duration::from_secs(it.time));
        let files = self.files().iter().map(|file| FileData {
            operation: file.operation.clone(),
            path: file.path.clone(),
            to_path: file.to_path.clone(),
        });
        ProposalData {
            proposal_id: self.id().to_owned(),
            state: self.state().as_str().to_owned(),
            time: format_time(self.time()),
            session: self.session().to_owned(),
            agent: self.agent().map(str::to_owned),
            turn_id: self.turn().map(str::to_owned),
            why: self.why().map(str::to_owned),
            directory: Some(self.directory().to_owned()).filter(|it| !it.is_empty()),
            files: files.collect(),
            reasons: self.reasons().to_vec(),
            digest: self.digest().to_string(),
            decided: decided.map(format_time),
            decided_why: decision.and_then(|it| it.why.clone()),
            transaction_ids: self.transactions().to_vec(),
        }
    }

    /// Says in one line what became of it.
    #[must_use]
    pub fn outcome(&self) -> String {
        let id = self.id();
        let mut line = match self.state() {
            ProposalState::Proposed if !self.transactions().is_empty() => {
                format!("{id}: a part was approved, the rest waits for a person")
            }
            ProposalState::Proposed => format!("{id}: it waits for a person; nothing is changed"),
            ProposalState::Approved => format!("{id}: approved"),
            ProposalState::Declined => format!("{id}: declined; nothing was changed"),
            ProposalState::Withdrawn => format!("{id}: withdrawn; nothing was changed"),
            ProposalState::Expired => format!("{id}: expired; nothing was changed"),
        };
        if !self.transactions().is_empty() {
            line += &format!(" (transaction {})", self.transactions().join(", "));
        }
        if let Some(why) = self.decision().and_then(|decision| decision.why.as_deref()) {
            line += &format!(": {why}");
        }
        line
    }
}
