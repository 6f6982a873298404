//! Calls of tools that may change files.

use patch_engine::commit::approval::{Decision, Request};
use patch_engine::{Atomicity, Cancellation, Event, Files, Host, Options, Patch, Plan, Report};

use crate::answer::changes::{shortfall, warnings};
use crate::answer::envelope::ToolResult;
use crate::answer::error::ToolError;
use crate::audit::Operation;
use crate::session::Session;
use crate::session::text_form::TextForm;
use crate::tool::Tool;

impl Session {
    /// Runs a tool that may change files, and logs its failure.
    #[doc(hidden)]
    pub fn changing<T>(
        &self,
        tool: Tool,
        host: &mut dyn Host,
        run: impl FnOnce(&mut ChangingCall<'_>) -> ToolResult<T>,
    ) -> ToolResult<T> {
        let mut call = ChangingCall { session: self, tool, host, logged: false };
        let result = run(&mut call);
        if let (Err(error), false) = (&result, call.logged) {
            self.failed(tool.as_str(), operation_of(tool), error, call.host);
        }
        result.map_err(|error| self.with_changed_by(error))
    }
}

/// A call of a tool that may change files.
pub struct ChangingCall<'c> {
    session: &'c Session,
    tool: Tool,
    host: &'c mut dyn Host,
    /// Whether the outcome is in the audit log.
    logged: bool,
}

impl ChangingCall<'_> {
    /// Plans and commits.
    pub fn commit(
        &mut self,
        plan: &mut dyn FnMut(&Files) -> Result<Plan, ToolError>,
    ) -> Result<Report, ToolError> {
        self.logged = true;
        self.session.execute(self.tool.as_str(), operation_of(self.tool), self.host, plan)
    }

    /// Plans a patch and commits the plan; `check` sees each plan before approval. If the patch
    /// does not apply, it is kept in the form `keep`, to be amended.
    pub fn apply(
        &mut self,
        patch: &Patch,
        options: Options,
        (atomicity, keep): (Atomicity, Option<TextForm>),
        check: &dyn Fn(&Plan) -> Result<(), ToolError>,
    ) -> Result<Vec<Report>, ToolError> {
        self.logged = true;
        let mut host = Checked { host: self.host, check, error: None };
        let applied = self.session.apply(self.tool.as_str(), patch, options, atomicity, &mut host);
        applied.map_err(|failed| {
            let own = host.error.take().filter(|_| failed.reports.is_empty());
            let error = own.unwrap_or_else(|| ToolError::failed(&failed));
            let kept =
                keep.and_then(|form| self.session.keep(form, patch, &error, &failed.reports));
            error.kept_as(kept)
        })
    }
}

/// A host that checks each plan before approval.
struct Checked<'h> {
    host: &'h mut dyn Host,
    check: &'h dyn Fn(&Plan) -> Result<(), ToolError>,
    error: Option<ToolError>,
}

impl Host for Checked<'_> {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        match (self.check)(request.plan) {
            Ok(()) => self.host.approve(request),
            Err(error) => {
                let path = error.path.clone().unwrap_or_default();
                self.error = Some(error);
                Err(fs_guard::Error::Changed { path })
            }
        }
    }

    fn edited(&mut self) -> Option<Vec<u8>> {
        self.host.edited()
    }

    fn cancellation(&self) -> Cancellation {
        self.host.cancellation()
    }

    fn event(&mut self, event: &Event<'_>) {
        self.host.event(event);
    }
}

/// A host that collects the faults in the new files of each commit.
pub struct Warned<'h> {
    host: &'h mut dyn Host,
    pub warnings: Vec<String>,
    /// The problems after each commit, from the events.
    pub shortfalls: Vec<String>,
}

impl<'h> Warned<'h> {
    pub fn new(host: &'h mut dyn Host) -> Self {
        Self { host, warnings: Vec::new(), shortfalls: Vec::new() }
    }
}

impl Host for Warned<'_> {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        self.host.approve(request)
    }

    fn edited(&mut self) -> Option<Vec<u8>> {
        self.host.edited()
    }

    fn cancellation(&self) -> Cancellation {
        self.host.cancellation()
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Committed(report) = event {
            self.warnings.extend(warnings(&report.plan));
        }
        self.shortfalls.extend(shortfall(event));
        self.host.event(event);
    }
}

/// Returns the word of the log for the changes of a tool.
fn operation_of(tool: Tool) -> Operation {
    tool.operation().expect("BUG: a tool that only reads changes nothing")
}
