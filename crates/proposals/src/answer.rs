//! A proposal as data, for answers.

use std::time::{Duration, UNIX_EPOCH};

use patch_engine::remedy::ForPerson;
use patch_engine::{ErrorKind, Plan, Remedy};
use patch_session::changes::{CarriedHunk, ChangedFile, DiffDetail, PatchData};
use patch_session::{FailureClass, Reason, ToolError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use workspace_trash::format_time;

use crate::approve::Shown;
use crate::proposal::{Proposal, ProposalState};
use crate::store::Listed;

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
    /// The call that made it, as the caller names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
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

/// All proposals as data, the newest first.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalList {
    /// Those that are as this program wrote them.
    pub proposals: Vec<ProposalData>,
    /// The ids of those that were altered, or are not signed with a key that is here.
    pub not_verified: Vec<String>,
}

impl ProposalList {
    /// Makes data of a list.
    #[must_use]
    pub fn of(listed: &[Listed]) -> Self {
        let mut list = Self { proposals: Vec::new(), not_verified: Vec::new() };
        for one in listed {
            match one {
                Listed::Verified(proposal) => list.proposals.push(proposal.data()),
                Listed::NotVerified { id } => list.not_verified.push(id.clone()),
            }
        }
        list
    }
}

/// A proposal as data, and what it would do now.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedProposal {
    /// The proposal.
    #[serde(flatten)]
    pub proposal: ProposalData,
    /// What it would do now, if it waits and applies.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub now: Option<ProposalNow>,
    /// Why it does not apply any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// Older proposals that were found to have expired.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expired: Vec<String>,
}

/// What a proposal would do to the files as they are now.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalNow {
    /// It is not what was shown when it was proposed: the files have changed since.
    pub differs: bool,
    /// The digest by which exactly this is approved.
    pub digest_now: String,
    /// The files, in order, with their diffs.
    pub changed_files: Vec<ChangedFile>,
    /// What was overlooked, and what a reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The hunks that were carried to files that have changed since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<CarriedHunk>,
}

impl PlannedProposal {
    /// Takes a proposal that is not planned.
    #[must_use]
    pub fn of(proposal: &Proposal) -> Self {
        Self { proposal: proposal.data(), now: None, error: None, expired: Vec::new() }
    }

    /// Takes a proposal and its plan for the files as they are now.
    ///
    /// # Errors
    ///
    /// When a file has changed since it was planned.
    pub fn with_plan(proposal: &Proposal, plan: &Plan) -> Result<Self, fs_guard::Error> {
        let data = PatchData::planned(plan, true, DiffDetail::Full)?;
        let digest = plan.digest();
        let now = ProposalNow {
            differs: digest != proposal.digest(),
            digest_now: digest.to_string(),
            changed_files: data.changed_files,
            notes: data.notes,
            carried: data.carried,
        };
        Ok(Self { now: Some(now), ..Self::of(proposal) })
    }
}

/// Makes the error of a proposal whose result is not the one that a person has seen.
#[must_use]
pub fn differs(proposal: &Proposal, shown: &Shown) -> ToolError {
    let id = proposal.id();
    let digest = shown.digest.to_string();
    let message = format!(
        "{id}: the files have changed since it was proposed, and so has the result; nothing was \
         changed"
    );
    ToolError::new(FailureClass::Stale, ErrorKind::StaleFile, message)
        .reason(Reason::PlanDiffers)
        .details(json!({
            "proposalId": id, "digest": digest, "changedFiles": shown.data.changed_files,
        }))
        .remedies([Remedy::Ask(ForPerson::ApproveResult { proposal: id.to_owned(), digest })])
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
            call_id: self.call().map(str::to_owned),
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
