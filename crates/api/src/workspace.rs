//! A directory, its session, and its transactions.

use std::path::Path;

use file_tools::Tools as _;
use fs_guard::Access;
use patch_engine::commit::approval::{Decision, Request};
use patch_engine::commit::{self, TransactionId};
use patch_engine::{
    Atomicity, Cancellation, Event, Expected, Failed, Files, Options, Patch, Problem, Reject,
};
use patch_session::audit::{Audit, Operation};
use patch_session::changes::{DiffDetail, PatchData, restored};
use patch_session::input::PatchText;
use patch_session::settings::Layers;
use patch_session::text_form::TextForm;
use patch_session::{
    BadName, Session, SessionName, Span, SpanNames, Tool, ToolError, TurnName, history,
};
use serde_json::{Value, json};

use crate::error::argument;
use crate::host::{Approver, Callbacks};
use crate::options::PatchOptions;
use crate::plan::PlannedPatch;
use crate::workspace_options::{NetRequest, RedoRequest, UndoRequest, WorkspaceOptions};

/// A directory whose files are changed, all or nothing, by one session. Calls may come from many
/// threads.
#[derive(Debug)]
pub struct OpenWorkspace {
    pub(crate) session: Session,
    pub(crate) approver: Approver,
    pub(crate) layers: Layers,
}

/// Parses the name of a session.
pub(crate) fn session_name(name: &str) -> Result<SessionName, ToolError> {
    name.parse().map_err(|error: BadName| argument("session", error.to_string(), "another name"))
}

fn id(text: &str) -> Result<TransactionId, ToolError> {
    text.parse::<TransactionId>()
        .map_err(|error| argument("id", error.to_string(), "the id of a transaction of `log`"))
}

impl OpenWorkspace {
    /// Opens a directory, and writes nothing.
    ///
    /// # Errors
    ///
    /// If there is no such directory, or if an option makes no sense.
    pub fn open(root: &Path, options: &WorkspaceOptions) -> Result<Self, ToolError> {
        let (approver, policy) = Approver::new(options.settings.approve, options.policy()?);
        let workspace = commit::Workspace::open_with(root, policy, options.state())?;
        let settings = options.session_settings();
        let agent = options.agent.clone();
        let session = match &options.session {
            Some(name) => {
                Session::resume(workspace, Audit::new(session_name(name)?, agent), settings)?
            }
            None => Session::new(workspace, Audit::new(SessionName::random()?, agent), settings),
        };
        Ok(Self { session, approver, layers: options.layers() })
    }

    /// Returns the directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.session.workspace().root().path()
    }

    /// Returns the name of the session.
    #[must_use]
    pub fn session(&self) -> &str {
        self.session.name().as_str()
    }

    /// Completes or undoes a transaction that another process left half done, before the files are
    /// read.
    pub(crate) fn tidy(&self) {
        let recovered = self.session.workspace().recover_if_idle().unwrap_or_default();
        if !recovered.is_empty() {
            // If the recovery cannot be logged, the next call that writes reports it.
            let _ = self.session.recovered(&recovered);
        }
    }

    /// Plans a patch, and writes nothing.
    ///
    /// # Errors
    ///
    /// If the text is not a patch, if the patch does not apply, or if the call is given up.
    pub fn plan(
        &self,
        patch: &[u8],
        options: &PatchOptions,
        cancellation: &Cancellation,
    ) -> Result<PlannedPatch, ToolError> {
        self.tidy();
        let made_of = Some((patch.to_vec(), options.clone()));
        let (_, patch, rules) = self.parsed(patch, options)?;
        match self.session.preview(&patch, rules, self.atomicity(options)?, cancellation) {
            Ok(report) => Ok(PlannedPatch::of_report(report, None, made_of)),
            Err(Failed { error: commit::Error::Rejected(why), mut reports, .. })
                if options.partial && !reports.is_empty() =>
            {
                Ok(PlannedPatch::of_report(reports.remove(0), Some(why), made_of))
            }
            Err(failed) => Err(self.session.with_changed_by(ToolError::failed(&failed))),
        }
    }

    /// Returns which sections are applied where some do not apply.
    fn atomicity(&self, options: &PatchOptions) -> Result<Atomicity, ToolError> {
        let atomicity = options.atomicity()?;
        if atomicity == Atomicity::EachSection && self.session.settings().verify.is_some() {
            let message = "a workspace with `verify` changes all files of a patch or none";
            return Err(argument("atomic", message, "true, or leave it out"));
        }
        Ok(atomicity)
    }

    /// Reads a patch and its rules; with `amend` the patch is merged into the refused one.
    fn parsed(
        &self,
        patch: &[u8],
        options: &PatchOptions,
    ) -> Result<(TextForm, Patch, Options), ToolError> {
        let (text, parsed, rules) = self.read(patch, options)?;
        Ok((TextForm::of(&text), parsed, rules))
    }

    /// Does the same, and returns the text.
    pub(crate) fn read(
        &self,
        patch: &[u8],
        options: &PatchOptions,
    ) -> Result<(PatchText, Patch, Options), ToolError> {
        let (mut text, mut rules) = options.read_part(&self.layers, patch)?;
        rules.formatter.clone_from(&self.session.settings().formatter);
        if let Some(id) = &options.amend {
            if options.reverse {
                let message = "a reversed patch amends none";
                return Err(argument("reverse", message, "false, or leave it out"));
            }
            text = self.session.amended(id, &text, &rules)?;
        }
        let parsed = text.parse(&rules);
        let parsed = parsed.map_err(|error| error.tool_error(text.text.as_bytes()))?;
        Ok((text, parsed, rules))
    }

    /// Applies a patch. Returns the `data` of `apply-patch --json`.
    ///
    /// # Errors
    ///
    /// If the text is not a patch, or if the patch does not apply or is not approved. Then nothing
    /// is changed, unless the patch is applied file by file: `details.applied` names the changed
    /// files.
    pub fn apply(
        &self,
        patch: &[u8],
        options: &PatchOptions,
        host: Callbacks<'_>,
    ) -> Result<Value, ToolError> {
        self.applied(patch, options, host, None)
    }

    /// Applies exactly this plan.
    ///
    /// # Errors
    ///
    /// `stale_file` if a file has changed since it was planned, and the errors of
    /// [`apply`](Self::apply). A plan for files that are not in a directory is refused.
    pub fn apply_plan(&self, plan: &PlannedPatch, host: Callbacks<'_>) -> Result<Value, ToolError> {
        let Some((patch, options)) = &plan.made_of else {
            let message = "the plan is not for the files of a directory";
            return Err(argument("plan", message, "a plan of a workspace"));
        };
        self.applied(patch, options, host, Some(plan))
    }

    fn applied(
        &self,
        patch: &[u8],
        options: &PatchOptions,
        host: Callbacks<'_>,
        exactly: Option<&PlannedPatch>,
    ) -> Result<Value, ToolError> {
        let atomicity = match options.atomicity()? {
            Atomicity::EachSection if exactly.is_some() => Atomicity::Whole,
            _ => self.atomicity(options)?,
        };
        let input = json!({ "patch": String::from_utf8_lossy(patch) });
        let data = self.approver.run(
            host,
            self.root(),
            "apply_patch",
            &input,
            |host| self.applied_by(host, patch, options, atomicity, exactly),
            |data| json!({ "ok": true, "data": data }),
        )?;
        Ok(serde_json::to_value(data).expect("text keys"))
    }

    /// Applies a patch, or exactly the plan of it, with a host.
    fn applied_by(
        &self,
        host: &mut dyn patch_engine::Host,
        patch: &[u8],
        options: &PatchOptions,
        atomicity: Atomicity,
        exactly: Option<&PlannedPatch>,
    ) -> Result<PatchData, ToolError> {
        let (form, patch, mut rules) = self.parsed(patch, options).inspect_err(|error| {
            self.session.failed("apply", Operation::Patch, error, &mut ());
        })?;
        if let Some(plan) = exactly.filter(|_| rules.base.is_none()) {
            for transition in plan.plan.transitions() {
                let before = transition.before().map_or(Expected::Absent, Expected::Hash);
                rules.expected.insert(transition.path().to_string(), before);
            }
        }
        let atomic = atomicity != Atomicity::EachSection;
        let mut host = Exactly { host, plan: exactly, differs: false };
        let reports = self.session.apply("apply", &patch, rules, atomicity, &mut host);
        let reports = reports.map_err(|failed| match (host.differs, exactly) {
            (true, Some(plan)) => stale(plan),
            _ => {
                let error = ToolError::failed(&failed);
                let kept = if atomic && !options.reverse {
                    self.session.keep(form, &patch, &error, &failed.reports)
                } else {
                    None
                };
                self.session.with_changed_by(error.kept_as(kept))
            }
        })?;
        let mut data = PatchData::applied(&reports, atomic, options.diff);
        self.session.add_changed_by(&mut data.carried, &reports);
        Ok(data)
    }

    /// Undoes a transaction. Returns the `data` of `apply-patch undo --json`.
    ///
    /// # Errors
    ///
    /// If there is no such transaction, or if its files have changed since.
    pub fn undo(&self, options: &UndoRequest, host: Callbacks<'_>) -> Result<Value, ToolError> {
        let root = self.session.workspace().root();
        let paths = options
            .paths
            .iter()
            .map(|path| root.check(path, Access::Read))
            .collect::<Result<Vec<_>, _>>()?;
        let named = options.id.as_deref().map(id).transpose()?;
        if let Some(span) = self.span(options)? {
            return self.executed("undo", options.diff, host, &|cancellation| {
                self.session.plan_undo_span(&span, options.carry, cancellation)
            });
        }
        self.executed("undo", options.diff, host, &|cancellation| {
            self.session.plan_undo(named, &paths, options.carry, false, cancellation)
        })
    }

    /// Returns the transactions to undo as one, if the options name several.
    fn span(&self, options: &UndoRequest) -> Result<Option<Span>, ToolError> {
        let UndoRequest { session, since, turn, .. } = options;
        let Some(span) = self.named_span(session, since, turn)? else { return Ok(None) };
        if options.id.is_some() || !options.paths.is_empty() {
            let message = "`session`, `since` and `turn` undo all of it, without `id` and `paths`";
            return Err(argument("since", message, "nothing, or leave out `id` and `paths`"));
        }
        Ok(Some(span))
    }

    /// Returns the span with one of these names, if one is given.
    fn named_span(
        &self,
        session: &Option<String>,
        since: &Option<String>,
        turn: &Option<String>,
    ) -> Result<Option<Span>, ToolError> {
        if [session, since, turn].into_iter().flatten().count() > 1 {
            let message = "`session`, `since` and `turn` each name several transactions";
            return Err(argument("since", message, "one of them"));
        }
        let session = session.as_deref();
        let names = SpanNames { session, since: since.as_deref(), turn: turn.as_deref() };
        names.find(self.session.workspace())
    }

    /// Begins a turn, and returns its name. Until [`end_turn`](Self::end_turn), all changes of this
    /// workspace's session are one diff, one entry of the log, and one undo. Without a name the
    /// turn gets a new one; processes that give the same name share the turn.
    ///
    /// # Errors
    ///
    /// If a turn is open already, or if the text is not a name.
    pub fn begin_turn(&self, name: Option<&str>) -> Result<String, ToolError> {
        let name: Option<TurnName> = name
            .map(str::parse)
            .transpose()
            .map_err(|error: BadName| argument("turn", error.to_string(), "another name"))?;
        let name = self.session.begin_turn(name)?;
        self.approver.begin_turn();
        Ok(name.to_string())
    }

    /// Ends the turn. Returns its `id`, its `transactions`, its `changedFiles`, and all its changes
    /// as one `diff`. A turn without changes has no transactions, and leaves no trace.
    ///
    /// # Errors
    ///
    /// If no turn is open, or if the history cannot be read or written.
    pub fn end_turn(&self) -> Result<Value, ToolError> {
        self.approver.end_turn();
        Ok(serde_json::to_value(self.session.end_turn()?).expect("text keys"))
    }

    /// Returns the changes of the open turn so far, in the form of [`end_turn`](Self::end_turn);
    /// null if no turn is open.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn turn_so_far(&self) -> Result<Value, ToolError> {
        Ok(serde_json::to_value(self.session.turn_so_far()?).expect("text keys"))
    }

    /// Reverses an undo. Returns the `data` of `apply-patch redo --json`.
    ///
    /// # Errors
    ///
    /// If there is no such undo, or if its files have changed since.
    pub fn redo(
        &self,
        named: Option<&str>,
        diff: DiffDetail,
        host: Callbacks<'_>,
    ) -> Result<Value, ToolError> {
        let id = named.map(str::to_owned);
        self.redo_with(&RedoRequest { id, diff, ..RedoRequest::default() }, host)
    }

    /// Does the same by these options.
    ///
    /// # Errors
    ///
    /// Those of [`redo`](Self::redo).
    pub fn redo_with(
        &self,
        options: &RedoRequest,
        host: Callbacks<'_>,
    ) -> Result<Value, ToolError> {
        let named = options.id.as_deref().map(id).transpose()?;
        self.executed("redo", options.diff, host, &|cancellation| {
            self.session.plan_redo_with(named, options.carry, cancellation)
        })
    }

    fn executed(
        &self,
        tool: &str,
        detail: DiffDetail,
        host: Callbacks<'_>,
        plan: &dyn Fn(&Cancellation) -> Result<patch_engine::Plan, commit::Error>,
    ) -> Result<Value, ToolError> {
        self.approver.run(
            host,
            self.root(),
            tool,
            &json!({}),
            |host| {
                let plan = &mut |files: &Files| plan(files.cancellation());
                let report = self.session.execute(tool, Operation::Write, host, plan)?;
                Ok(restored(&report, detail))
            },
            |data| json!({ "ok": true, "data": data }),
        )
    }

    /// Returns the newest transactions, of one session or of all: the `data` of
    /// `apply-patch log --json`.
    ///
    /// # Errors
    ///
    /// If the transactions cannot be read.
    pub fn log(
        &self,
        max_count: Option<usize>,
        session: Option<&str>,
        with_diff: bool,
    ) -> Result<Value, ToolError> {
        self.tidy();
        let workspace = self.session.workspace();
        let session = session.map(|name| history::session(workspace, name)).transpose()?;
        let wanted = history::Wanted { max_count, session, ..Default::default() };
        Ok(history::log(workspace, &wanted, with_diff)?)
    }

    /// Returns what several transactions changed, as one diff: the `data` of
    /// `apply-patch show --json` with `--session`, `--since`, `--turn` or `ID..ID`. The changes of
    /// others between them are left out where that is certain, and `changedBetween` names them.
    ///
    /// # Errors
    ///
    /// If not exactly one name is given, if nothing has it, or if the history cannot be read.
    pub fn net_changes(&self, request: &NetRequest) -> Result<Value, ToolError> {
        self.tidy();
        let NetRequest { session, since, turn, range } = request;
        let workspace = self.session.workspace();
        let one = "exactly one of `session`, `since`, `turn` and `range`";
        let span = match (range, self.named_span(session, since, turn)?) {
            (None, Some(span)) => Some(span),
            (Some(range), None) => Span::range(workspace, range)?,
            _ => return Err(argument("since", "it is not said what to show", one)),
        };
        let span = span.ok_or_else(|| argument("range", "it has no `..`", "`ID..ID`"))?;
        let net = self.session.net_changes(&span.entries(workspace)?)?;
        Ok(serde_json::to_value(net.data).expect("text keys"))
    }

    /// Calls a file tool. Returns its answer, also if the tool failed.
    #[must_use]
    pub fn call(&self, tool: &str, arguments: &Value, host: Callbacks<'_>) -> Value {
        let answered = self.approver.run(
            host,
            self.root(),
            tool,
            arguments,
            |host| {
                let reply = self.session.call(tool, arguments, host);
                Ok(serde_json::to_value(&reply).expect("text keys"))
            },
            Value::clone,
        );
        answered.expect("an answer is one also when the tool failed")
    }

    /// Calls a file tool, and keeps each change as a proposal in place of making it. The answer then
    /// has `proposalId` and `state` in the details of its error. `call_id` is the caller's name of
    /// the call: the same one is answered with the same proposal, whatever became of it.
    #[must_use]
    pub fn call_later(
        &self,
        tool: &str,
        arguments: &Value,
        call_id: &str,
        host: Callbacks<'_>,
    ) -> Value {
        let answered = self.approver.run(
            Callbacks { approve: None, ..host },
            self.root(),
            tool,
            arguments,
            |host| {
                let mut approvals = self.approver.of_every_change();
                let reply = match Tool::named(tool) {
                    Some(known) => {
                        let call = Some(call_id);
                        self.session.call_later(known, arguments, call, &mut approvals, host)
                    }
                    // The answer names the tools.
                    None => self.session.call(tool, arguments, host),
                };
                Ok(serde_json::to_value(&reply).expect("text keys"))
            },
            Value::clone,
        );
        answered.expect("an answer is one also when the tool failed")
    }
}

/// Makes the error of a plan that differs from the plan that would be committed now.
fn stale(plan: &PlannedPatch) -> ToolError {
    let path = plan.plan.transitions().first().map_or("", |transition| transition.path().as_str());
    let error = ToolError::of_rejects(&[Reject::of(
        path,
        Problem::Guard(fs_guard::Error::Changed { path: path.into() }),
    )]);
    ToolError {
        message: "the files are not what the plan was made for any more".into(),
        path: None,
        ..error
    }
}

/// A host that declines every plan but the wanted one.
struct Exactly<'h, 'p> {
    host: &'h mut dyn patch_engine::Host,
    plan: Option<&'p PlannedPatch>,
    differs: bool,
}

impl patch_engine::Host for Exactly<'_, '_> {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        if let Some(plan) = self.plan
            && plan.plan.digest() != request.plan.digest()
        {
            self.differs = true;
            return Ok(Decision::Decline);
        }
        self.host.approve(request)
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
