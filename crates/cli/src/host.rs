//! The terminal as the host of a change: it approves, cancels and shows progress.

use apply_patch_api::engine::commit::approval::{Decision, Request};
use apply_patch_api::engine::{Cancellation, Event, Host};

use crate::approve::Prompt;
use crate::events::Events;
use crate::interrupt;
use crate::progress::Progress;
use crate::render;

/// Asks at the terminal, gives up on a signal, and shows what happens.
pub(crate) struct TerminalHost<'h> {
    prompt: &'h Prompt,
    events: Option<&'h mut Events>,
    progress: Progress,
    /// Print errors and warnings only.
    quiet: bool,
}

impl<'h> TerminalHost<'h> {
    /// A host that watches for signals from now on.
    pub(crate) fn new(prompt: &'h Prompt, events: Option<&'h mut Events>, quiet: bool) -> Self {
        let progress = Progress::new(quiet || events.is_some());
        interrupt::watch();
        Self { prompt, events, progress, quiet }
    }
}

impl Host for TerminalHost<'_> {
    fn approve(
        &mut self,
        request: &Request<'_>,
    ) -> Result<Decision, apply_patch_api::files::Error> {
        self.progress.hide();
        self.prompt.decide(request)
    }

    fn cancellation(&self) -> Cancellation {
        Cancellation::new(|| interrupt::came().is_some())
    }

    fn event(&mut self, event: &Event<'_>) {
        // A message is printed on a line of its own.
        if let Event::Recovered(_)
        | Event::Unlogged(_)
        | Event::Unsigned
        | Event::NotDurable(_)
        | Event::NotInTrash(_) = event
        {
            self.progress.hide();
        }
        self.progress.event(event);
        if let Event::Committed(_) = event {
            interrupt::changed();
        }
        match *event {
            Event::Recovered(recovered) if !self.quiet => render::recovered(recovered),
            Event::Committed(_) if !self.quiet && interrupt::came().is_some() => {
                render::message("the signal came too late: the change was complete, and stays");
            }
            Event::Verifying(_) if !self.quiet => {
                render::message("the files are changed; verifying")
            }
            _ => render::warning(event),
        }
        if let Some(events) = &mut self.events {
            events.event(event);
        }
    }
}
