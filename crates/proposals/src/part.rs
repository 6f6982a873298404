//! Approving a part of a proposal. The rest stays proposed, under the same id.

use fs_guard::Sha256;
use patch_engine::{Atomicity, Cancellation, Host, Patch, TurnDiff};
use patch_session::ToolError;
use patch_session::audit::Phase;
use patch_session::text_form::TextForm;

use crate::approve::Approval;
use crate::bases;
use crate::proposal::{Proposal, files_of};
use crate::propose::{expected, kept_as_diff_of, planned};
use crate::store::Proposals;

impl Proposals<'_> {
    /// Plans a part of a proposal, and returns the digest by which it is approved.
    ///
    /// # Errors
    ///
    /// When the part does not apply.
    pub fn plan_part(&self, proposal: &Proposal, part: &Patch) -> Result<Sha256, ToolError> {
        let asking = self.session.reopened(self.asking(proposal)?);
        let (_, options) = proposal.parsed(&asking)?;
        let report = asking.preview(part, options, Atomicity::Whole, &Cancellation::NEVER);
        let report = report.map_err(|failed| ToolError::failed(&failed))?;
        Ok(report.plan.digest())
    }

    /// Commits a part of a proposal, `part`, whose plan has the digest that a person agreed to. What
    /// is not in it stays proposed, under the same id, as a patch for the files behind the part.
    ///
    /// # Errors
    ///
    /// Those of [`approve`](Self::approve). The part may be committed where the rest cannot be kept.
    pub fn approve_part(
        &self,
        proposal: &Proposal,
        part: &Patch,
        agreed: Sha256,
        host: &mut dyn Host,
    ) -> Result<Approval, ToolError> {
        let asking = self.session.reopened(self.asking(proposal)?);
        // From the files as proposed to those with the part; reversed it is the rest.
        let whole = planned(&asking, proposal)?;
        let mut rest = TurnDiff::in_place_of(&whole.plan);
        let (_, options) = proposal.parsed(&asking)?;
        let report = asking.preview(part, options, Atomicity::Whole, &Cancellation::NEVER);
        rest.applied(&report.map_err(|failed| ToolError::failed(&failed))?);
        let rest = rest.diff();
        if rest.is_empty() {
            return self.approve(proposal, whole.plan.digest(), host);
        }
        let approval = self.committed(proposal, Some(part), agreed, host)?;
        let Approval::Committed(report) = &approval else { return Ok(approval) };
        let transaction = report.transaction.map(|id| id.to_string());
        let form = TextForm::GIT_DIFF.reversed();
        let left = self.update(proposal.id(), |left, folder| {
            let record = &mut left.record;
            if record.attempt.take().is_some() {
                record.transactions.extend(transaction.clone());
            }
            record.meaning.clear();
            record.environment = None;
            record.expected.clear();
            record.form = form.line();
            let (patch, report) = kept_as_diff_of(&asking, record, form, rest)?;
            record.expected = expected(&report.plan);
            record.digest = report.plan.digest().to_string();
            record.files = files_of(&report.plan);
            bases::keep(folder, &report.plan, true)?;
            left.patch = patch;
            Ok(())
        })?;
        self.log("approve", Phase::Approved, &left, None, transaction.as_deref())?;
        Ok(approval)
    }
}
