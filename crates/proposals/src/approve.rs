//! Approving a proposal: a new plan is made, and committed if a person saw exactly this plan.

use fs_guard::Sha256;
use patch_engine::commit::approval::{Decision, Request};
use patch_engine::commit::{TransactionId, Workspace};
use patch_engine::remedy::ForPerson;
use patch_engine::{Atomicity, Cancellation, Event, Host, Options, Patch, Plan, Remedy, Report};
use patch_session::audit::Phase;
use patch_session::changes::{DiffDetail, PatchData};
use patch_session::{ErrorKind, FailureClass, Reason, Session, ToolError};

use crate::proposal::{Attempt, Proposal, ProposalPart, ProposalState};
use crate::propose::planned;
use crate::store::{Proposals, check_waits};

/// The tool's name in the journal and the log.
const TOOL: &str = "approve";

/// A plan to be shown.
#[derive(Debug)]
#[non_exhaustive]
pub struct Shown {
    /// The digest to approve exactly this plan by.
    pub digest: Sha256,
    /// What it changes, with diffs.
    pub data: PatchData,
    /// All of it as a git diff.
    pub diff: Vec<u8>,
}

impl Shown {
    /// Shows a plan.
    ///
    /// # Errors
    ///
    /// When a file has changed since planning.
    pub fn of(plan: &Plan) -> Result<Self, fs_guard::Error> {
        Ok(Self {
            digest: plan.digest(),
            data: PatchData::planned(plan, true, DiffDetail::Full)?,
            diff: plan.images().diffs()?,
        })
    }
}

/// The outcome of an approval.
#[derive(Debug)]
pub enum Approval {
    /// It was committed.
    Committed(Box<Report>),
    /// Nothing had to be done: it was committed before, as this transaction, or the files have all
    /// of it without one.
    Done(Option<String>),
    /// The files have changed, and so has the plan: nothing was committed. Approve this one by its
    /// digest.
    Differs(Box<Shown>),
}

impl Proposals<'_> {
    /// Opens the workspace for planning a proposal: guarded files are let pass.
    pub(crate) fn asking(self, proposal: &Proposal) -> Result<Workspace, ToolError> {
        let own = self.session.workspace();
        if own.prefix().as_str() == proposal.directory() {
            return Ok(own.asking().0);
        }
        let message = format!("{} is for another directory of the project: {:?}", proposal.id(), {
            if proposal.directory().is_empty() { "." } else { proposal.directory() }
        });
        Err(ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message)
            .reason(Reason::NoSuchProposal))
    }

    /// Plans a proposal for the files as they are now, and changes nothing.
    ///
    /// # Errors
    ///
    /// When the proposal does not apply any more.
    pub fn plan(&self, proposal: &Proposal) -> Result<Report, ToolError> {
        self.tidy()?;
        let asking = self.session.reopened(self.asking(proposal)?);
        planned(&asking, proposal).map_err(|error| proposed_again(proposal, error))
    }

    /// Returns the rules for planning a proposal.
    ///
    /// # Errors
    ///
    /// When the workspace does not allow one of them any more.
    pub fn options(&self, proposal: &Proposal) -> Result<Options, ToolError> {
        let asking = self.session.reopened(self.asking(proposal)?);
        Ok(proposal.parsed(&asking)?.1)
    }

    /// Commits a proposal, if its plan has the digest that a person agreed to. The transaction is
    /// of the session, agent and turn that made it.
    ///
    /// # Errors
    ///
    /// When it is decided, does not apply any more, or cannot be committed.
    pub fn approve(
        &self,
        proposal: &Proposal,
        agreed: Sha256,
        host: &mut dyn Host,
    ) -> Result<Approval, ToolError> {
        let approval = self.committed(proposal, None, agreed, host)?;
        let transaction = match &approval {
            Approval::Committed(report) => report.transaction.map(|id| id.to_string()),
            Approval::Done(transaction) => transaction.clone(),
            Approval::Differs(_) => return Ok(approval),
        };
        let approved = self.update(proposal.id(), |proposal, _| {
            if proposal.state() == ProposalState::Proposed {
                proposal.record.decide(ProposalState::Approved, self.session, None);
                proposal.record.transactions.extend(transaction.clone());
                proposal.record.attempt = None;
            }
            Ok(())
        })?;
        if matches!(approval, Approval::Committed(_)) {
            self.log(TOOL, Phase::Approved, &approved, None, transaction.as_deref())?;
        }
        Ok(approval)
    }

    /// Commits a proposal, or a part of its patch, if the plan has this digest.
    pub(crate) fn committed(
        self,
        proposal: &Proposal,
        part: Option<ProposalPart<'_>>,
        agreed: Sha256,
        host: &mut dyn Host,
    ) -> Result<Approval, ToolError> {
        self.tidy()?;
        let now = self.find(proposal.id())?;
        if now.state() == ProposalState::Approved {
            return Ok(Approval::Done(now.transactions().last().cloned()));
        }
        check_waits(&now)?;
        let author = now.author().ok_or_else(|| {
            let message = format!("{}: who made it is not known", now.id());
            ToolError::new(FailureClass::Failed, ErrorKind::CommandFailed, message)
        })?;
        let session = self.session.on_behalf_of(&author, self.asking(&now)?)?;
        let (patch, options) = now.parsed(&session)?;
        let mut deciding = Deciding {
            proposals: self,
            proposal: &now,
            agreed,
            of_part: part.is_some(),
            host,
            outcome: None,
        };
        let result = match part {
            Some(part) => apply(&session, part.patch, part.options(options), &mut deciding),
            None => apply(&session, &patch, options, &mut deciding),
        };
        let outcome = deciding.outcome.take();
        match (outcome, result) {
            (Some(outcome), _) => outcome,
            (None, Ok(report)) if report.already_done || report.plan.is_empty() => {
                Ok(Approval::Done(report.transaction.map(|id| id.to_string())))
            }
            (None, Ok(report)) => {
                if session.turn().is_some() {
                    // The turn may have had no other change, and then nobody wrote that it ended.
                    let _ = session.end_turn();
                }
                Ok(Approval::Committed(Box::new(report)))
            }
            (None, Err(error)) => Err(proposed_again(&now, session.with_changed_by(error))),
        }
    }
}

/// Puts what a person can do in place of what the author of the patch could.
fn proposed_again(proposal: &Proposal, error: ToolError) -> ToolError {
    match error.class {
        FailureClass::DoesNotApply | FailureClass::Stale | FailureClass::Refused => {
            let proposal = proposal.id().to_owned();
            error.remedies([Remedy::Ask(ForPerson::ProposeAgain { proposal })])
        }
        _ => error,
    }
}

fn apply(
    session: &Session,
    patch: &Patch,
    options: Options,
    host: &mut dyn Host,
) -> Result<Report, ToolError> {
    let reports = session.apply(TOOL, patch, options, Atomicity::Whole, host);
    let reports = reports.map_err(|failed| ToolError::failed(&failed))?;
    Ok(reports.into_iter().next().expect("BUG: a whole patch has one report"))
}

/// A host approving one plan, by its digest, under the lock of the workspace.
struct Deciding<'d, 'h> {
    proposals: Proposals<'d>,
    proposal: &'d Proposal,
    agreed: Sha256,
    /// The plan is of a part of the proposal.
    of_part: bool,
    host: &'h mut dyn Host,
    /// Why nothing is committed.
    outcome: Option<Result<Approval, ToolError>>,
}

impl Deciding<'_, '_> {
    /// Returns why a plan is not committed, if it is not. Another process may have decided since.
    fn refused(&self, plan: &Plan) -> Option<Result<Approval, ToolError>> {
        let now = match self.proposals.find(self.proposal.id()) {
            Ok(now) => now,
            Err(error) => return Some(Err(error)),
        };
        if now.state() == ProposalState::Approved {
            return Some(Ok(Approval::Done(now.transactions().last().cloned())));
        }
        if let Err(error) = check_waits(&now) {
            return Some(Err(error));
        }
        if plan.digest() == self.agreed && now.patch == self.proposal.patch {
            return None;
        }
        Some(Shown::of(plan).map(|shown| Approval::Differs(Box::new(shown))).map_err(Into::into))
    }

    /// Notes the transaction before its commit point: a process that is killed behind it has
    /// approved the proposal.
    fn begin(&self, id: TransactionId) {
        // Without the note, the text of the patch is recognised.
        let _ = self.proposals.update(self.proposal.id(), |proposal, _| {
            let of_part = self.of_part;
            proposal.record.attempt = Some(Attempt { transaction: id.to_string(), of_part });
            Ok(())
        });
    }
}

impl Host for Deciding<'_, '_> {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        match self.refused(request.plan) {
            None => Ok(Decision::Approve),
            Some(outcome) => {
                self.outcome = Some(outcome);
                Ok(Decision::Postpone)
            }
        }
    }

    fn cancellation(&self) -> Cancellation {
        self.host.cancellation()
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Staged(id) = event {
            self.begin(*id);
        }
        self.host.event(event);
    }
}
