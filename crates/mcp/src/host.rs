//! The host of a call: it answers for the person, and reports progress.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use apply_patch_api::engine::commit::approval::{Decision, Request};
use apply_patch_api::engine::{Cancellation, Event, Host, Plan};
use apply_patch_api::files::Sha256;
use apply_patch_api::tools::changes::summary;
use tokio::sync::mpsc::UnboundedSender;

use crate::ask::Preview;
use crate::links::Changed;

/// How often the progress of a long call is reported.
const INTERVAL: Duration = Duration::from_millis(200);

/// The answer to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolAnswer {
    /// Commit the plan.
    Commit,
    /// Show the plan, unless it is the one that was approved, perhaps with the rest of the turn.
    Ask { approved: Option<Sha256>, rest: bool },
    /// The client cannot ask a person.
    CannotAsk,
    /// The person declined the plan.
    Declined,
    /// The person closed the question and said neither yes nor no.
    Cancelled,
}

/// Why a plan that could be committed was not.
#[derive(Debug)]
pub(crate) enum Unapproved {
    /// A person has to be shown this first.
    ToShow(Preview),
    /// The plan has too many files to show them all.
    TooMany(usize),
    /// The client cannot ask a person.
    CannotAsk,
    /// The person who was asked has not answered.
    Cancelled,
}

/// The progress of a call.
#[derive(Debug)]
pub(crate) struct CallProgress {
    pub(crate) steps: u32,
    pub(crate) total: Option<u32>,
    pub(crate) message: String,
}

/// The host of one call.
pub(crate) struct CallHost {
    answer: ToolAnswer,
    pub(crate) unapproved: Option<Unapproved>,
    pub(crate) changed: Changed,
    cancellation: Cancellation,
    progress: Option<Arc<Progress>>,
}

impl CallHost {
    pub(crate) fn new(
        answer: ToolAnswer,
        cancelled: impl Fn() -> bool + Send + Sync + 'static,
        progress: Option<Arc<Progress>>,
    ) -> Self {
        let counted = progress.clone();
        let cancellation = Cancellation::new(move || {
            counted.iter().for_each(|progress| progress.looked());
            cancelled()
        });
        Self { answer, unapproved: None, changed: Changed::default(), cancellation, progress }
    }
}

/// Reports the progress of a call, also if it runs again after a question.
pub(crate) struct Progress {
    sender: UnboundedSender<CallProgress>,
    steps: Mutex<Steps>,
}

struct Steps {
    count: u32,
    /// The last step, once there is a plan.
    total: Option<u32>,
    reported: Instant,
}

impl Progress {
    pub(crate) fn new(sender: UnboundedSender<CallProgress>) -> Self {
        let steps = Steps { count: 0, total: None, reported: Instant::now() };
        Self { sender, steps: Mutex::new(steps) }
    }

    /// Counts a place that was looked at. While a plan is carried out, only its files count.
    fn looked(&self) {
        let mut steps = self.steps();
        if steps.total.is_none() {
            let count = steps.count.saturating_add(1);
            let places = if count == 1 { "place" } else { "places" };
            self.step(&mut steps, || format!("looked at {count} {places}"));
        }
    }

    /// Reports a plan that will be carried out.
    fn planned(&self, plan: &Plan) {
        let mut steps = self.steps();
        let files = u32::try_from(plan.transitions().len()).unwrap_or(u32::MAX);
        steps.count = steps.count.saturating_add(1);
        steps.total = Some(steps.count.saturating_add(files).saturating_add(1));
        self.report(&mut steps, format!("planned: {}", summary(plan)));
    }

    /// Counts a step, and reports the count if the last report was a while ago.
    fn step(&self, steps: &mut Steps, message: impl FnOnce() -> String) {
        steps.count = steps.count.saturating_add(1);
        // A second attempt has the same steps again.
        steps.total = steps.total.map(|total| total.max(steps.count));
        if steps.reported.elapsed() >= INTERVAL {
            self.report(steps, message());
        }
    }

    fn report(&self, steps: &mut Steps, message: String) {
        steps.reported = Instant::now();
        let progress = CallProgress { steps: steps.count, total: steps.total, message };
        // The receiver is gone when the call was cancelled.
        let _ = self.sender.send(progress);
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host for CallHost {
    fn approve(
        &mut self,
        request: &Request<'_>,
    ) -> Result<Decision, apply_patch_api::files::Error> {
        let plan = request.plan;
        match self.answer {
            ToolAnswer::Commit => {}
            ToolAnswer::Ask { approved, rest } if approved == Some(plan.digest()) => {
                if rest {
                    return Ok(Decision::ApproveForTurn);
                }
            }
            ToolAnswer::Ask { .. } => {
                let (unapproved, decision) = match Preview::of(plan, &request.reasons)? {
                    Some(preview) => (Unapproved::ToShow(preview), Decision::Postpone),
                    None => (Unapproved::TooMany(plan.changes().len()), Decision::Decline),
                };
                self.unapproved = Some(unapproved);
                return Ok(decision);
            }
            ToolAnswer::CannotAsk => {
                self.unapproved = Some(Unapproved::CannotAsk);
                return Ok(Decision::Decline);
            }
            ToolAnswer::Cancelled => {
                self.unapproved = Some(Unapproved::Cancelled);
                return Ok(Decision::Decline);
            }
            ToolAnswer::Declined => return Ok(Decision::Decline),
        }
        Ok(Decision::Approve)
    }

    fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Committed(report) = event {
            self.changed.add(report);
        }
        let Some(progress) = &self.progress else { return };
        match event {
            Event::Planned(plan) => progress.planned(plan),
            Event::Staged(_) => progress.step(&mut progress.steps(), || "all is written".into()),
            Event::Published(index) => progress
                .step(&mut progress.steps(), || format!("{} files have their names", index + 1)),
            _ => {}
        }
    }
}
