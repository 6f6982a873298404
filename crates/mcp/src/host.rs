//! The host of a call: it answers for the person, and reports progress.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use apply_patch_api::engine::commit::approval::{Decision, Request};
use apply_patch_api::engine::{Cancellation, Host};
use apply_patch_api::files::Sha256;
use apply_patch_api::tools::changes::summary;
use tokio::sync::mpsc::UnboundedSender;

use crate::ask::Preview;

/// How often the progress of a long search is reported.
const INTERVAL: Duration = Duration::from_millis(200);

/// What to do with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolAnswer {
    /// Commit it.
    Commit,
    /// Show it, unless it is the plan that was approved.
    Ask(Option<Sha256>),
    /// The client cannot ask a person.
    CannotAsk,
    /// The person declined it.
    Declined,
}

/// Why a plan that could be committed was not.
#[derive(Debug)]
pub(crate) enum Unapproved {
    /// A person has to be shown this first.
    ToShow(Preview),
    /// It has so many files that they cannot all be shown.
    TooMany(usize),
    /// The client cannot ask a person.
    CannotAsk,
}

/// The progress of a call.
#[derive(Debug)]
pub(crate) struct CallProgress {
    pub(crate) steps: f64,
    pub(crate) message: String,
}

/// The host of one call.
pub(crate) struct CallHost {
    answer: ToolAnswer,
    pub(crate) unapproved: Option<Unapproved>,
    cancellation: Cancellation,
    progress: Option<Arc<Progress>>,
}

/// Reports the progress of a call.
struct Progress {
    sender: UnboundedSender<CallProgress>,
    steps: Mutex<Steps>,
}

struct Steps {
    count: u32,
    reported: Instant,
}

impl CallHost {
    pub(crate) fn new(
        answer: ToolAnswer,
        cancelled: impl Fn() -> bool + Send + Sync + 'static,
        progress: Option<UnboundedSender<CallProgress>>,
    ) -> Self {
        let steps = || Mutex::new(Steps { count: 0, reported: Instant::now() });
        let progress = progress.map(|sender| Arc::new(Progress { sender, steps: steps() }));
        let counted = progress.clone();
        let cancellation = Cancellation::new(move || {
            counted.iter().for_each(|progress| progress.step());
            cancelled()
        });
        Self { answer, unapproved: None, cancellation, progress }
    }
}

impl Progress {
    fn report(&self, steps: &mut Steps, message: String) {
        steps.count = steps.count.saturating_add(1);
        // The receiver is gone when the call was cancelled.
        let _ = self.sender.send(CallProgress { steps: f64::from(steps.count), message });
    }

    /// Counts a step, and reports the steps now and then.
    fn step(&self) {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if steps.reported.elapsed() < INTERVAL {
            steps.count = steps.count.saturating_add(1);
            return;
        }
        steps.reported = Instant::now();
        let message = match steps.count {
            1 => "looked at 1 place".to_owned(),
            count => format!("looked at {count} places"),
        };
        self.report(&mut steps, message);
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
            ToolAnswer::Ask(approved) if approved == Some(plan.digest()) => {}
            ToolAnswer::Ask(_) => {
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
            ToolAnswer::Declined => return Ok(Decision::Decline),
        }
        if let Some(progress) = &self.progress {
            let mut steps = progress.steps.lock().unwrap_or_else(PoisonError::into_inner);
            progress.report(&mut steps, format!("planned: {}", summary(plan)));
        }
        Ok(Decision::Approve)
    }

    fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }
}
