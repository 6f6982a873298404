//! A line on standard error that says how far a change is, for runs that last.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use apply_patch_api::engine::Event;

use crate::{outside, render};

/// How often the progress is checked, and how many checks a change has to last before the line
/// appears.
const INTERVAL: Duration = Duration::from_millis(100);
const PATIENCE: u32 = 10;

/// The longest bar.
const LONGEST: usize = 30;

/// The part of the work that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Files are read and the change is planned, or another process is waited for.
    Preparing,
    /// How many files are done of how many.
    Files { what: &'static str, done: usize, of: usize },
    /// Nothing: someone else writes to the terminal, or the change is over.
    Hidden,
}

/// The line on the terminal.
#[derive(Debug)]
struct StageLine {
    stage: Stage,
    is_drawn: bool,
}

/// Shows the progress of a change; only on a terminal, and only for a long one.
#[derive(Debug)]
pub(crate) struct Progress {
    /// `None` where nothing is ever shown.
    shown: Option<Arc<Mutex<StageLine>>>,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        let shown = (!quiet && *outside::STDERR_IS_TERMINAL)
            .then(|| Arc::new(Mutex::new(StageLine { stage: Stage::Preparing, is_drawn: false })));
        if let Some(shown) = shown.clone() {
            // The thread ends with the process. Without a thread nothing is shown.
            let _ = thread::Builder::new().spawn(move || {
                let mut seen = 0;
                // Until the progress is dropped.
                while Arc::strong_count(&shown) > 1 {
                    thread::sleep(INTERVAL);
                    let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                    seen = if shown.stage == Stage::Hidden { 0 } else { seen + 1 };
                    if seen >= PATIENCE {
                        draw(&mut shown);
                    }
                }
            });
        }
        Self { shown }
    }

    pub(crate) fn event(&self, event: &Event<'_>) {
        match event {
            Event::Planned(plan) => self.stage(|_| Stage::Files {
                what: "staging",
                done: 0,
                of: plan.transitions().len(),
            }),
            Event::Staged(_) => self.stage(|stage| match stage {
                Stage::Files { of, .. } => Stage::Files { what: "applying", done: 0, of },
                stage => stage,
            }),
            Event::Published(index) => self.stage(|stage| match stage {
                Stage::Files { what, of, .. } => Stage::Files { what, done: index + 1, of },
                stage => stage,
            }),
            Event::Verifying(_) | Event::Committed(_) | Event::Failed { .. } => self.hide(),
            _ => {}
        }
    }

    /// Takes the line away, before others write to the terminal.
    pub(crate) fn hide(&self) {
        self.stage(|_| Stage::Hidden);
    }

    fn stage(&self, next: impl FnOnce(Stage) -> Stage) {
        let Some(shown) = &self.shown else { return };
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.stage = next(shown.stage);
        if shown.stage == Stage::Hidden {
            draw(&mut shown);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.hide();
    }
}

fn draw(shown: &mut StageLine) {
    let width = render::error_width().unwrap_or(80);
    let text = line(shown.stage, width);
    if shown.is_drawn || !text.is_empty() {
        // Nothing can be done about a closed standard error.
        let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K{text}");
    }
    shown.is_drawn = !text.is_empty();
}

/// A stage in a line shorter than `width`.
fn line(stage: Stage, width: usize) -> String {
    let text = match stage {
        Stage::Hidden => String::new(),
        Stage::Preparing => "preparing …".to_owned(),
        Stage::Files { what, done, of } => {
            let counts = format!("{done}/{of} files");
            let room = width.saturating_sub(what.len() + counts.len() + 5).min(LONGEST);
            let full = (room * done).checked_div(of).unwrap_or(0).min(room);
            match room {
                ..5 => format!("{what} {counts}"),
                _ => format!("{what} [{}{}] {counts}", "#".repeat(full), "-".repeat(room - full)),
            }
        }
    };
    text.chars().take(width.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_into_the_terminal() {
        let stage = |done| Stage::Files { what: "applying", done, of: 2000 };
        assert_eq!(line(stage(0), 80), format!("applying [{}] 0/2000 files", "-".repeat(30)));
        assert_eq!(
            line(stage(1000), 80),
            format!("applying [{}{}] 1000/2000 files", "#".repeat(15), "-".repeat(15))
        );
        assert_eq!(line(stage(2000), 80), format!("applying [{}] 2000/2000 files", "#".repeat(30)));
        assert_eq!(line(stage(1000), 40), "applying [######------] 1000/2000 files");
        assert_eq!(line(Stage::Preparing, 80), "preparing …");
        assert_eq!(line(Stage::Hidden, 80), "");
        for width in 0..90 {
            for stage in [stage(0), stage(7), stage(2000), Stage::Preparing, Stage::Hidden] {
                assert!(line(stage, width).chars().count() < width.max(1), "{width}: {stage:?}");
            }
        }
        let none = Stage::Files { what: "staging", done: 0, of: 0 };
        assert!(line(none, 80).ends_with("] 0/0 files"));
    }
}
