//! A host keeping every plan as a proposal, in place of asking.

use patch_engine::commit::approval::{Decision, Request};
use patch_engine::remedy::ForPerson;
use patch_engine::{Cancellation, ErrorKind, Event, Host, Remedy};
use patch_session::{FailureClass, Reason, Session, ToolError};
use serde_json::json;

use crate::proposal::Proposal;
use crate::store::Proposals;

/// A host keeping every plan as a proposal when asked: nothing is changed.
pub struct Later<'h> {
    session: &'h Session,
    tool: &'h str,
    call: Option<&'h str>,
    host: &'h mut dyn Host,
    made: Option<Result<Proposal, ToolError>>,
}

impl std::fmt::Debug for Later<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Later").field("tool", &self.tool).finish_non_exhaustive()
    }
}

impl<'h> Later<'h> {
    /// Makes the host of a call of `tool`, by the caller's name `call`. `host` gets the events.
    pub fn new(
        session: &'h Session,
        tool: &'h str,
        call: Option<&'h str>,
        host: &'h mut dyn Host,
    ) -> Self {
        Self { session, tool, call, host, made: None }
    }

    /// Returns the proposal, or why there is none; `None` if no plan was made.
    #[must_use]
    pub fn into_made(self) -> Option<Result<Proposal, ToolError>> {
        self.made
    }
}

impl Host for Later<'_> {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        let reasons = request.reasons.iter().map(ToString::to_string).collect();
        let made =
            Proposals::of(self.session).propose_plan(self.tool, request.plan, reasons, self.call);
        self.made = Some(made.map(|made| made.proposal));
        Ok(Decision::Postpone)
    }

    fn cancellation(&self) -> Cancellation {
        self.host.cancellation()
    }

    fn event(&mut self, event: &Event<'_>) {
        self.host.event(event);
    }
}

/// The answer to a call whose change waits as a proposal.
#[must_use]
pub fn proposed_later(proposal: &Proposal) -> ToolError {
    let id = proposal.id();
    let message = format!("nothing is changed yet: it was kept as the proposal {id}, for a person");
    ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, message)
        .reason(Reason::Proposed)
        .details(json!({ "proposalId": id, "state": proposal.state().as_str() }))
        .remedies([Remedy::Ask(ForPerson::DecideAbout { proposal: id.to_owned() })])
}
