//! What a call hears and says while it runs.

use std::cell::Cell;
use std::time::{Duration, Instant};

use file_tools::changes::summary;
use fs_guard::Sha256;
use patch_engine::Host;
use patch_engine::approval::{Decision, Request};
use tokio::sync::mpsc::UnboundedSender;

use crate::ask::Preview;

/// Progress of a long look around is told so often.
const INTERVAL: Duration = Duration::from_millis(200);

/// What becomes of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is committed.
    Commit,
    /// It is shown, unless it is the one that was approved.
    Ask(Option<Sha256>),
    /// Nobody can be asked.
    NobodyToAsk,
    /// The person said no.
    Declined,
}

/// How far a call is.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) steps: f64,
    pub(crate) message: String,
}

/// The host of one call.
pub(crate) struct CallHost {
    answer: Answer,
    /// What is to be shown; the call was put off then.
    pub(crate) preview: Option<Preview>,
    /// It has so many files that they cannot all be shown.
    pub(crate) unshown: Option<usize>,
    /// It could be done, if only somebody could be asked.
    pub(crate) nobody: bool,
    cancelled: Box<dyn Fn() -> bool + Send>,
    progress: Option<UnboundedSender<Progress>>,
    looks: Cell<u32>,
    told: Cell<Instant>,
}

impl CallHost {
    pub(crate) fn new(
        answer: Answer,
        cancelled: Box<dyn Fn() -> bool + Send>,
        progress: Option<UnboundedSender<Progress>>,
    ) -> Self {
        Self {
            answer,
            preview: None,
            unshown: None,
            nobody: false,
            cancelled,
            progress,
            looks: Cell::new(0),
            told: Cell::new(Instant::now()),
        }
    }

    fn tell(&self, message: String) {
        if let Some(progress) = &self.progress {
            self.looks.set(self.looks.get() + 1);
            // Nobody listens any more when the call was cancelled.
            let _ = progress.send(Progress { steps: f64::from(self.looks.get()), message });
        }
    }
}

impl Host for CallHost {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        let plan = request.plan;
        match self.answer {
            Answer::Commit => {}
            Answer::Ask(approved) if approved == Some(plan.digest()) => {}
            Answer::Ask(_) => {
                self.preview = Preview::of(plan)?;
                self.unshown = self.preview.is_none().then(|| plan.changes().len());
                return Ok(if self.preview.is_some() { Decision::Postpone } else { Decision::Decline });
            }
            Answer::NobodyToAsk => {
                self.nobody = true;
                return Ok(Decision::Decline);
            }
            Answer::Declined => return Ok(Decision::Decline),
        }
        self.tell(format!("planned: {}", summary(plan)));
        Ok(Decision::Approve)
    }

    fn cancelled(&self) -> bool {
        if self.progress.is_some() {
            let now = Instant::now();
            if now.duration_since(self.told.get()) >= INTERVAL {
                self.told.set(now);
                self.tell(format!("looked at {} places", self.looks.get()));
            } else {
                self.looks.set(self.looks.get().saturating_add(1));
            }
        }
        (self.cancelled)()
    }
}
