//! The proposals of a workspace: changes that wait for a person, longer than the process.

use fs_guard::Sha256;
use patch_engine::Atomicity;
use patch_proposals::{
    Approval, Listed, PlannedProposal, ProposalList, ProposalState, Proposals, ProposedPatch,
    differs,
};
use patch_session::ToolError;
use patch_session::changes::{DiffDetail, PatchData};
use serde_json::{Value, json};

use crate::error::argument;
use crate::host::Callbacks;
use crate::options::PatchOptions;
use crate::workspace::OpenWorkspace;

/// Makes JSON of an answer.
fn value(answer: &impl serde::Serialize) -> Value {
    serde_json::to_value(answer).expect("text keys")
}

impl OpenWorkspace {
    fn kept(&self) -> Proposals<'_> {
        Proposals::of(&self.session)
    }

    /// Keeps a patch for a person to decide about later, and changes nothing. Returns the `data` of
    /// `apply-patch propose --json`.
    ///
    /// # Errors
    ///
    /// If the text is not a patch, if the patch does not apply, or if it cannot be kept.
    pub fn propose(
        &self,
        patch: &[u8],
        options: &PatchOptions,
        why: Option<&str>,
    ) -> Result<Value, ToolError> {
        if options.atomicity()? != Atomicity::Whole {
            let message = "a patch is proposed as a whole";
            return Err(argument("atomic", message, "nothing, and leave out `partial`"));
        }
        self.tidy();
        let (text, patch, rules) = self.read(patch, options)?;
        let mut proposed = ProposedPatch::new(text, patch, rules);
        proposed.call = options.settings.clone();
        let made = self.kept().propose(proposed, why)?;
        let planned = PlannedProposal::with_plan(&made.proposal, &made.report.plan)?;
        Ok(value(&PlannedProposal { expired: made.expired, ..planned }))
    }

    /// Lists the proposals of the project, the newest first: the `data` of
    /// `apply-patch proposals --json`.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn proposals(&self) -> Result<Value, ToolError> {
        self.tidy();
        Ok(value(&ProposalList::of(&self.kept().list()?)))
    }

    /// Returns a proposal, and what it would do now or why it does not apply any more, if it waits.
    /// `id` may be the beginning of its id.
    ///
    /// # Errors
    ///
    /// If there is none or several, or it was altered.
    pub fn proposal(&self, id: &str) -> Result<Value, ToolError> {
        self.tidy();
        let proposal = self.kept().find(id)?;
        if proposal.state() != ProposalState::Proposed {
            return Ok(value(&PlannedProposal::of(&proposal)));
        }
        Ok(value(&match self.kept().plan(&proposal) {
            Ok(report) => PlannedProposal::with_plan(&proposal, &report.plan)?,
            Err(error) => PlannedProposal { error: Some(error), ..PlannedProposal::of(&proposal) },
        }))
    }

    /// Commits a proposal: exactly what was shown, or the plan with the digest that is given.
    /// Returns the `data` of `apply-patch approve --json`.
    ///
    /// # Errors
    ///
    /// `stale_file` if the files have changed and so has the result: `details` has its `digest` and
    /// `changedFiles`. If the proposal is decided, was altered or does not apply any more.
    pub fn approve(
        &self,
        id: &str,
        digest: Option<&str>,
        host: Callbacks<'_>,
    ) -> Result<Value, ToolError> {
        let digest: Option<Sha256> = digest.map(str::parse).transpose().map_err(|_| {
            let message = "the digest is not 64 hexadecimal digits";
            argument("digest", message, "`digest` or `digestNow` of the proposal")
        })?;
        let input = json!({ "id": id, "digest": digest.map(|digest| digest.to_string()) });
        self.approver.run(
            host,
            self.root(),
            "approve",
            &input,
            |host| {
                let proposal = self.kept().find(id)?;
                let agreed = digest.unwrap_or_else(|| proposal.digest());
                match self.kept().approve(&proposal, agreed, host)? {
                    Approval::Committed(report) => {
                        let reports = std::slice::from_ref(&*report);
                        Ok(value(&PatchData::applied(reports, true, DiffDetail::None)))
                    }
                    Approval::Done(transaction_id) => {
                        let data = PatchData {
                            atomic: true,
                            already_done: true,
                            transaction_id,
                            ..PatchData::default()
                        };
                        Ok(value(&data))
                    }
                    Approval::Differs(shown) => Err(differs(&proposal, &shown)),
                }
            },
            |data| json!({ "ok": true, "data": data }),
        )
    }

    /// Declines a proposal, for the reason that is given: a person decides. Returns it.
    ///
    /// # Errors
    ///
    /// If there is none or several, or it is decided already.
    pub fn decline(&self, id: &str, why: Option<&str>) -> Result<Value, ToolError> {
        Ok(match self.kept().decline(id, why)? {
            Listed::Verified(proposal) => value(&proposal.data()),
            Listed::NotVerified { id } => json!({ "proposalId": id, "state": "not_verified" }),
        })
    }
}
