//! The host of a call: it answers for the person, and reports progress.

use std::cell::Cell;
use std::time::{Duration, Instant};

use apply_patch_api::engine::Host;
use apply_patch_api::engine::commit::approval::{Decision, Request};
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
    cancelled: Box<dyn Fn() -> bool + Send>,
    progress: Option<UnboundedSender<CallProgress>>,
    looks: Cell<u32>,
    reported: Cell<Instant>,
}

impl CallHost {
    pub(crate) fn new(
        answer: ToolAnswer,
        cancelled: Box<dyn Fn() -> bool + Send>,
        progress: Option<UnboundedSender<CallProgress>>,
    ) -> Self {
        Self {
            answer,
            unapproved: None,
            cancelled,
            progress,
            looks: Cell::new(0),
            reported: Cell::new(Instant::now()),
        }
    }

    fn report(&self, message: String) {
        if let Some(progress) = &self.progress {
            self.looks.set(self.looks.get() + 1);
            // The receiver is gone when the call was cancelled.
            let _ = progress.send(CallProgress { steps: f64::from(self.looks.get()), message });
        }
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
        self.report(format!("planned: {}", summary(plan)));
        Ok(Decision::Approve)
    }

    fn cancelled(&self) -> bool {
        if self.progress.is_some() {
            let now = Instant::now();
            if now.duration_since(self.reported.get()) >= INTERVAL {
                self.reported.set(now);
                self.report(match self.looks.get() {
                    1 => "looked at 1 place".to_owned(),
                    looks => format!("looked at {looks} places"),
                });
            } else {
                self.looks.set(self.looks.get().saturating_add(1));
            }
        }
        (self.cancelled)()
    }
}
