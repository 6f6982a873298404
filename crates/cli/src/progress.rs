//! A bar on standard error, for runs that last.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use patch_engine::Event;

/// How long a commit lasts before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// The fewest files that are worth it: fewer take no second, or wait for something that a bar does not know.
const LEAST: usize = 20;

/// Shows how far a commit is; only on a terminal, and only when it lasts.
#[derive(Debug)]
pub(crate) struct CommitProgress {
    wanted: bool,
    bar: Option<(ProgressBar, Arc<AtomicBool>)>,
}

impl CommitProgress {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { wanted: !quiet && std::io::stderr().is_terminal(), bar: None }
    }

    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match (event, &self.bar) {
            (Event::Planned(plan), _) => self.begin(plan.transitions().len()),
            (Event::Staged(_), Some((bar, _))) => bar.set_message("applying"),
            (Event::Published(index), Some((bar, _))) => bar.set_position(*index as u64 + 1),
            (Event::Committed(_) | Event::Failed(..), _) => {
                if let Some((bar, over)) = self.bar.take() {
                    over.store(true, Ordering::SeqCst);
                    bar.finish_and_clear();
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, files: usize) {
        if !self.wanted || files < LEAST {
            return;
        }
        let bar = ProgressBar::with_draw_target(Some(files as u64), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} files");
        bar.set_style(style.expect("the template is constant").progress_chars("#>-"));
        bar.set_message("staging");
        let over = Arc::new(AtomicBool::new(false));
        let (late, is_over) = (bar.clone(), over.clone());
        // The thread ends with the process when the commit is quicker. Without it there is no bar.
        let _ = thread::Builder::new().spawn(move || {
            thread::sleep(PATIENCE);
            if !is_over.load(Ordering::SeqCst) {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.tick();
            }
        });
        self.bar = Some((bar, over));
    }
}
