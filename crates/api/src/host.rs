//! The callbacks of the program around a call.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use file_tools::events::{EventForm, Events};
use fs_guard::Policy;
use patch_engine::commit::approval::{ApprovalPolicy, Approvals, Decision, Request};
use patch_engine::remedy::ForPerson;
use patch_engine::{Cancellation, Event, Plan, Remedy};
use patch_session::changes::{DiffDetail, PatchData};
use patch_session::{ErrorKind, FailureClass, Language, Reason, ToolError};
use serde_json::{Value, json};

use crate::error::told;

type Approve<'h> = Box<dyn FnMut(&Proposal<'_>) -> Decision + Send + 'h>;
type Observe<'h> = Box<dyn FnMut(Value) + Send + 'h>;

/// The callbacks of a call; none by default.
#[derive(Default)]
pub struct Callbacks<'h> {
    /// Decides about a plan before it is committed.
    pub approve: Option<Approve<'h>>,
    /// Receives the events of the call, as the objects of `--events jsonl`.
    pub observe: Option<Observe<'h>>,
    /// Gives up the call. Up to the commit point all files are then as before.
    pub cancellation: Cancellation,
    /// The language whose options errors name; without one they name flags.
    pub language: Option<Language>,
}

impl std::fmt::Debug for Callbacks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Callbacks")
            .field("approve", &self.approve.is_some())
            .finish_non_exhaustive()
    }
}

/// A plan before its approval.
#[derive(Debug)]
pub struct Proposal<'p> {
    plan: &'p Plan,
    reasons: Vec<String>,
    edited: Mutex<Option<Vec<u8>>>,
}

impl Proposal<'_> {
    /// Returns a hash of the plan, 64 hexadecimal digits: equal plans have equal hashes.
    #[must_use]
    pub fn digest(&self) -> String {
        self.plan.digest().to_string()
    }

    /// Returns the changes as a git diff.
    ///
    /// # Errors
    ///
    /// If a file has changed meanwhile.
    pub fn diff(&self) -> Result<Vec<u8>, ToolError> {
        Ok(self.plan.images().diffs()?)
    }

    /// Returns the changed files, as [`PlannedPatch::changes`](crate::PlannedPatch::changes) does.
    #[must_use]
    pub fn changes(&self) -> Value {
        json!(self.shown().changed_files)
    }

    /// Returns notes for a reader of the plan, as of a file that does not parse any more.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.shown().notes
    }

    /// Gives the patch for [`Decision::Edit`], as a person edited the proposal. The edited patch is
    /// applied in place of the proposal; approval is asked again only if it touches other paths.
    /// The edit of a proposal counts as declined unless the call applies one patch as a whole.
    pub fn edit(&self, patch: impl Into<Vec<u8>>) {
        *self.edited.lock().unwrap_or_else(PoisonError::into_inner) = Some(patch.into());
    }

    fn shown(&self) -> PatchData {
        PatchData::planned(self.plan, true, DiffDetail::None).unwrap_or_default()
    }

    /// Returns the reasons why approval is needed, in words. There may be none.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        &self.reasons
    }
}

/// The policy of approval, and the approvals so far.
#[derive(Debug)]
pub(crate) struct Approver {
    /// `None` asks about every change if the call has `approve`.
    policy: Option<ApprovalPolicy>,
    approvals: Mutex<Approvals>,
}

impl Approver {
    /// Makes an approver, and the policy of its guard. The approver asks about changes of guarded
    /// files; with [`ApprovalPolicy::Never`] the guard refuses them.
    pub(crate) fn new(asks: Option<ApprovalPolicy>, policy: Policy) -> (Self, Policy) {
        let mut approvals = Approvals::new(asks.unwrap_or_default());
        let policy = approvals.take_guarded(policy);
        (Self { policy: asks, approvals: Mutex::new(approvals) }, policy)
    }

    /// Returns approvals that ask about every change.
    pub(crate) fn of_every_change(&self) -> Approvals {
        self.approvals().of_every_change()
    }

    pub(crate) fn begin_turn(&self) {
        self.approvals().begin_turn();
    }

    pub(crate) fn end_turn(&self) {
        self.approvals().end_turn();
    }

    fn approvals(&self) -> MutexGuard<'_, Approvals> {
        self.approvals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call with these callbacks, and reports its events; `root` is the directory of its
    /// files.
    pub(crate) fn run<T>(
        &self,
        host: Callbacks<'_>,
        root: &Path,
        tool: &str,
        input: &Value,
        call: impl FnOnce(&mut dyn patch_engine::Host) -> Result<T, ToolError>,
        answer: impl FnOnce(&T) -> Value,
    ) -> Result<T, ToolError> {
        let Callbacks { approve, observe, cancellation, language } = host;
        let events = observe.map(|mut observe| {
            let sink =
                move |line: &str| observe(serde_json::from_str(line).expect("events are JSON"));
            let mut events = Events::new(EventForm::Jsonl, "", root, sink);
            events.begin_call(tool, tool, input);
            events
        });
        let mut asking = AskingHost {
            approver: self,
            approve,
            cancellation,
            events,
            unasked: false,
            edited: None,
        };
        let result = call(&mut asking);
        let result = if asking.unasked { result.map_err(unasked) } else { result };
        let result = match language {
            Some(language) => result.map_err(|error| told(error, language)),
            None => result,
        };
        if let Some(mut events) = asking.events {
            match &result {
                Ok(done) => events.end_call(&answer(done), None),
                Err(error) => {
                    events.end_call(&json!({ "ok": false, "error": error }), Some(&error.message))
                }
            }
        }
        result
    }
}

/// Makes the error of a change that needs approval, in a call without `approve`.
fn unasked(error: ToolError) -> ToolError {
    let message =
        "the change needs approval, and the call has no `approve` to ask; nothing was changed";
    match error.kind {
        ErrorKind::PermissionDenied => ToolError::new(FailureClass::Refused, error.kind, message)
            .reason(Reason::ApprovalRequired)
            .remedies([Remedy::Ask(ForPerson::Own("approve the change".into()))]),
        _ => error,
    }
}

/// The host of one call.
struct AskingHost<'a, 'h> {
    approver: &'a Approver,
    approve: Option<Approve<'h>>,
    cancellation: Cancellation,
    events: Option<Events<'h>>,
    /// Approval was needed, and the call has no `approve`.
    unasked: bool,
    /// The patch in place of the proposal.
    edited: Option<Vec<u8>>,
}

impl patch_engine::Host for AskingHost<'_, '_> {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        let policy = self.approver.policy;
        if policy == Some(ApprovalPolicy::Never) || (policy.is_none() && self.approve.is_none()) {
            return self.decided(Decision::Approve, false);
        }
        if request.edited {
            return self.decided(Decision::Approve, true);
        }
        let mut asked = OneAnswer { approve: self.approve.as_mut(), ..OneAnswer::default() };
        if policy.is_none() {
            let decision = patch_engine::Host::approve(&mut asked, request)?;
            self.edited = asked.edited;
            return self.decided(decision, true);
        }
        // A person may take long to decide, so the lock is not held meanwhile.
        let mut approvals = self.approver.approvals().clone();
        let decision = approvals.ask(&mut asked).approve(request)?;
        if let Some(Decision::ApproveForSession | Decision::ApproveForTurn) = asked.answer {
            let mut again = OneAnswer { answer: asked.answer, ..OneAnswer::default() };
            self.approver.approvals().ask(&mut again).approve(request)?;
        }
        let was_asked = asked.answer.is_some();
        let unasked = asked.unasked;
        self.edited = asked.edited;
        self.unasked |= unasked;
        self.decided(decision, was_asked)
    }

    fn edited(&mut self) -> Option<Vec<u8>> {
        self.edited.take()
    }

    fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Some(events) = &mut self.events {
            patch_engine::Host::event(events, event);
        }
    }
}

impl AskingHost<'_, '_> {
    fn decided(&mut self, decision: Decision, asked: bool) -> Result<Decision, fs_guard::Error> {
        // The answer to a call that was given up does not count, not even as declined.
        self.cancellation.check()?;
        let approved = decision.approves();
        patch_engine::Host::event(self, &Event::Decided { approved, asked });
        Ok(decision)
    }
}

/// A host that asks `approve`, and keeps its answer.
#[derive(Default)]
struct OneAnswer<'a, 'h> {
    approve: Option<&'a mut Approve<'h>>,
    answer: Option<Decision>,
    edited: Option<Vec<u8>>,
    unasked: bool,
}

impl patch_engine::Host for OneAnswer<'_, '_> {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        let reasons = request.reasons.iter().map(ToString::to_string).collect();
        let decision = match (&mut self.approve, self.answer) {
            (Some(approve), _) => {
                let proposal = Proposal { plan: request.plan, reasons, edited: Mutex::default() };
                let decision = approve(&proposal);
                self.edited = proposal.edited.into_inner().unwrap_or_else(PoisonError::into_inner);
                decision
            }
            (None, Some(answer)) => answer,
            (None, None) => {
                self.unasked = true;
                return Ok(Decision::Decline);
            }
        };
        self.answer = Some(decision);
        Ok(decision)
    }
}
