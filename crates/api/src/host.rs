//! The program around a call, as closures.

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

/// What the program around a call decides and observes; nothing by default.
#[derive(Default)]
pub struct Callbacks<'h> {
    /// Decides about the plan that is about to be committed.
    pub approve: Option<Approve<'h>>,
    /// Receives what happens, as the objects of `--events jsonl`.
    pub observe: Option<Observe<'h>>,
    /// How the call is given up: until the commit point, with everything as it was before.
    pub cancellation: Cancellation,
    /// The language that errors are told in; flags are named unless it is set.
    pub language: Option<Language>,
}

impl std::fmt::Debug for Callbacks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Callbacks")
            .field("approve", &self.approve.is_some())
            .finish_non_exhaustive()
    }
}

/// A plan that waits for approval.
#[derive(Debug)]
pub struct Proposal<'p> {
    plan: &'p Plan,
    reasons: Vec<String>,
    edited: Mutex<Option<Vec<u8>>>,
}

impl Proposal<'_> {
    /// A name of exactly this plan: 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        self.plan.digest().to_string()
    }

    /// The changes as a git diff.
    ///
    /// # Errors
    ///
    /// When a file was changed meanwhile.
    pub fn diff(&self) -> Result<Vec<u8>, ToolError> {
        Ok(self.plan.images().diffs()?)
    }

    /// The files that change.
    #[must_use]
    pub fn changes(&self) -> Value {
        json!(self.shown().changed_files)
    }

    /// What a reader should know about the plan, as that a file does not parse any more.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.shown().notes
    }

    /// Proposes another patch, as a person edited it, for [`Decision::Edit`]: that one is applied
    /// in place of the proposal. It is asked about again only if it touches other paths. Where the
    /// proposal is not that of a patch that is applied as a whole, it counts as declined.
    pub fn edit(&self, patch: impl Into<Vec<u8>>) {
        *self.edited.lock().unwrap_or_else(PoisonError::into_inner) = Some(patch.into());
    }

    fn shown(&self) -> PatchData {
        PatchData::planned(self.plan, true, DiffDetail::None).unwrap_or_default()
    }

    /// Why it is asked, in words; there need not be a reason.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        &self.reasons
    }
}

/// When a host is asked, and what it has approved for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Approver {
    /// `None`: every change is asked about if the call has `approve`.
    policy: Option<ApprovalPolicy>,
    approvals: Mutex<Approvals>,
}

impl Approver {
    /// Guarded files are asked about if there is someone to ask; otherwise the guard refuses them.
    pub(crate) fn new(asks: Option<ApprovalPolicy>, policy: Policy) -> (Self, Policy) {
        let mut approvals = Approvals::new(asks.unwrap_or_default());
        let policy = approvals.take_guarded(policy);
        (Self { policy: asks, approvals: Mutex::new(approvals) }, policy)
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

    /// Makes a call with this host, and reports its events; `root` is the directory of its files.
    pub(crate) fn run<T>(
        &self,
        host: Callbacks<'_>,
        root: &Path,
        (tool, input): (&str, &Value),
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

/// The error of a change that needs approval, in a call without `approve`.
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
        // The lock is not held during the decision, which may take as long as a person takes.
        let mut approvals = self.approver.approvals().clone();
        let decision = approvals.ask(&mut asked).approve(request)?;
        if let Some(Decision::ApproveForSession | Decision::ApproveForTurn) = asked.answer {
            let mut again = OneAnswer { answer: asked.answer, ..OneAnswer::default() };
            self.approver.approvals().ask(&mut again).approve(request)?;
        }
        let (was_asked, unasked) = (asked.answer.is_some(), asked.unasked);
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
        // A question that nobody answers any more is not declined.
        self.cancellation.check()?;
        let approved = decision.approves();
        patch_engine::Host::event(self, &Event::Decided { approved, asked });
        Ok(decision)
    }
}

/// Asks the closure, and remembers its answer.
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
