//! Approving a part of a proposal. The rest stays proposed, under the same id.

use std::collections::BTreeMap;
use std::sync::Arc;

use fs_guard::{RelPath, Sha256, quoted};
use patch_engine::{Atomicity, Cancellation, Host, Options, Patch, Plan, Report, TurnDiff};
use patch_session::audit::Phase;
use patch_session::text_form::TextForm;
use patch_session::{ErrorKind, FailureClass, Reason, Session, ToolError};

use crate::approve::Approval;
use crate::bases;
use crate::proposal::{Proposal, ProposalPart, files_of};
use crate::propose::{expected, kept_as_diff, planned};
use crate::store::Proposals;

impl Proposals<'_> {
    /// Plans a part of a proposal, to be approved by the digest of the plan.
    ///
    /// # Errors
    ///
    /// When the part does not apply, or changes a file outside the proposal.
    pub fn plan_part(
        &self,
        proposal: &Proposal,
        part: ProposalPart<'_>,
    ) -> Result<Arc<Plan>, ToolError> {
        let asking = self.session.reopened(self.asking(proposal)?);
        let (_, options) = proposal.parsed(&asking)?;
        let plan = plan_of(&asking, part.patch, part.options(options))?.plan;
        let whole = planned(&asking, proposal)?.plan;
        let is_known = |path: &RelPath| whole.transitions().iter().any(|one| one.path() == path);
        match plan.transitions().iter().find(|one| !is_known(one.path())) {
            None => Ok(plan),
            Some(other) => {
                let path = other.path().as_str();
                let message = format!("{} does not change {}", proposal.id(), quoted(path));
                Err(ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message)
                    .reason(Reason::NotProposable))
            }
        }
    }

    /// Commits a part of a proposal, `part`, whose plan has the digest that a person agreed to. The
    /// rest stays proposed, under the same id, as a patch for the files behind the part.
    ///
    /// # Errors
    ///
    /// Those of [`approve`](Self::approve). Where the part was committed and the rest cannot be
    /// kept, the whole patch stays proposed: what is committed of it is then there already.
    pub fn approve_part(
        &self,
        proposal: &Proposal,
        part: ProposalPart<'_>,
        agreed: Sha256,
        host: &mut dyn Host,
    ) -> Result<Approval, ToolError> {
        let asking = self.session.reopened(self.asking(proposal)?);
        let whole = planned(&asking, proposal)?;
        let (_, options) = proposal.parsed(&asking)?;
        // From the files as proposed to those with the part: the rest, reversed.
        let mut to_part = TurnDiff::in_place_of(&whole.plan);
        to_part.applied(&plan_of(&asking, part.patch, part.options(options.clone()))?);
        let to_part = to_part.diff();
        if to_part.is_empty() {
            return self.approve(proposal, whole.plan.digest(), host);
        }
        let rest = TextForm::GIT_DIFF.reversed().read(to_part);
        let rest = rest.expect("BUG: a diff has no rules for paths");
        let options = Options { expected: BTreeMap::new(), ..options };
        // Before anything is changed: a patch is kept only if it can be read again.
        let rest = rest.parse(&options).map_err(|error| error.tool_error(rest.text.as_bytes()))?;
        let approval = self.committed(proposal, Some(part), agreed, host)?;
        let Approval::Committed(report) = &approval else { return Ok(approval) };
        let transaction = report.transaction.map(|id| id.to_string());
        let left = self.update(proposal.id(), |left, folder| {
            let record = &mut left.record;
            if record.attempt.take().is_some() {
                record.transactions.extend(transaction.clone());
            }
            let plan = plan_of(&asking, &rest, options)?.plan;
            record.expected = expected(&plan);
            let kept = kept_as_diff(&asking, record, &plan)?;
            record.digest = kept.plan.plan.digest().to_string();
            record.files = files_of(&kept.plan.plan);
            bases::keep(folder, &kept.plan.plan, true)?;
            left.patch = kept.patch;
            Ok(())
        })?;
        self.log("approve", Phase::Approved, &left, None, transaction.as_deref())?;
        Ok(approval)
    }
}

fn plan_of(asking: &Session, patch: &Patch, options: Options) -> Result<Report, ToolError> {
    let report = asking.preview(patch, options, Atomicity::Whole, &Cancellation::NEVER);
    report.map_err(|failed| ToolError::failed(&failed))
}
