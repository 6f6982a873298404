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
use patch_session::refused::RefusedForm;
use patch_session::settings::Layers;
use patch_session::{BadName, Session, SessionName, Span, ToolError, TurnName, history};
use serde_json::{Value, json};

use crate::error::argument;
use crate::host::{Approver, Callbacks};
use crate::options::PatchOptions;
use crate::plan::PlannedPatch;
use crate::workspace_options::{UndoRequest, WorkspaceOptions};

/// A directory whose files are changed, all or nothing, by one session. Calls may come from many
/// threads.
#[derive(Debug)]
pub struct OpenWorkspace {
    session: Session,
    approver: Approver,
    layers: Layers,
}

/// The name of a session.
pub(crate) fn session_name(name: &str) -> Result<SessionName, ToolError> {
    name.parse().map_err(|error: BadName| argument("session", error.to_string(), "another name"))
}

fn id(text: &str) -> Result<TransactionId, ToolError> {
    let wrong = |error: &dyn std::fmt::Display| {
        argument("id", error.to_string(), "the id of a transaction of `log`")
    };
    text.parse().map_err(|error| wrong(&error))
}

impl OpenWorkspace {
    /// Opens a directory; nothing is written by that.
    ///
    /// # Errors
    ///
    /// When there is no such directory, or the options make no sense.
    pub fn open(root: &Path, options: &WorkspaceOptions) -> Result<Self, ToolError> {
        let (approver, policy) = Approver::new(options.settings.approve, options.policy()?);
        let workspace = commit::Workspace::open_with(root, policy, options.state())?;
        let settings = options.session_settings();
        let audit = |name| Audit::new(name, options.agent.clone());
        let session = match &options.session {
            Some(name) => Session::resume(workspace, audit(session_name(name)?), settings)?,
            None => Session::new(workspace, audit(SessionName::random()?), settings),
        };
        Ok(Self { session, approver, layers: options.layers() })
    }

    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.session.workspace().root().path()
    }

    /// The name of the session.
    #[must_use]
    pub fn session(&self) -> &str {
        self.session.name().as_str()
    }

    /// Recovers what a process left half done, before the files are read.
    fn tidy(&self) {
        let recovered = self.session.workspace().recover_if_idle().unwrap_or_default();
        if !recovered.is_empty() {
            // If this cannot be logged, the next call that writes reports it.
            let _ = self.session.recovered(&recovered);
        }
    }

    /// Plans a patch; nothing is written.
    ///
    /// # Errors
    ///
    /// When the text is not a patch, or does not apply, or it is cancelled.
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

    /// Reads a patch, amended where that is asked for, and the rules for it.
    fn parsed(
        &self,
        patch: &[u8],
        options: &PatchOptions,
    ) -> Result<(RefusedForm, Patch, Options), ToolError> {
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
        Ok((RefusedForm::of(&text), parsed, rules))
    }

    /// Applies a patch: the `data` of `apply-patch --json`.
    ///
    /// # Errors
    ///
    /// When the text is not a patch, does not apply, or is not approved; then nothing is changed.
    /// When it is applied file by file, `details.applied` has what was.
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
    /// `stale_file` when the files are not what the plan was made for any more; those of
    /// [`apply`](Self::apply). A plan for other files than those of a directory is refused.
    pub fn apply_plan(&self, plan: &PlannedPatch, host: Callbacks<'_>) -> Result<Value, ToolError> {
        let wrong = || {
            argument(
                "plan",
                "the plan is not for the files of a directory",
                "a plan of a workspace",
            )
        };
        let (patch, options) = plan.made_of.as_ref().ok_or_else(wrong)?;
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
        let atomic = atomicity != Atomicity::EachSection;
        let input = json!({ "patch": String::from_utf8_lossy(patch) });
        let call = |host: &mut dyn patch_engine::Host| {
            let (form, patch, mut rules) = self.parsed(patch, options).inspect_err(|error| {
                self.session.failed("apply", Operation::Patch, error, &mut ());
            })?;
            if let Some(plan) = exactly.filter(|_| rules.base.is_none()) {
                for transition in plan.plan.transitions() {
                    let before = transition.before().map_or(Expected::Absent, Expected::Hash);
                    rules.expected.insert(transition.path().to_string(), before);
                }
            }
            let mut host = Exactly { host, plan: exactly, differs: false };
            let reports = self.session.apply("apply", &patch, rules, atomicity, &mut host);
            let reports = reports.map_err(|failed| match (host.differs, exactly) {
                (true, Some(plan)) => stale(plan),
                _ => {
                    let error = ToolError::failed(&failed);
                    let keeps = atomic && !options.reverse;
                    let kept = || self.session.keep(form, &patch, &error, &failed.reports);
                    let kept = keeps.then(kept).flatten();
                    self.session.with_changed_by(error.kept_as(kept))
                }
            })?;
            let mut data = PatchData::applied(&reports, atomic, options.diff);
            self.session.add_changed_by(&mut data.carried, &reports);
            Ok(data)
        };
        let answer = |data: &PatchData| json!({ "ok": true, "data": data });
        let data = self.approver.run(host, self.root(), ("apply_patch", &input), call, answer)?;
        Ok(serde_json::to_value(data).expect("text keys"))
    }

    /// Undoes a transaction: the `data` of `apply-patch undo --json`.
    ///
    /// # Errors
    ///
    /// When there is none, or its files are not what it left.
    pub fn undo(&self, options: &UndoRequest, host: Callbacks<'_>) -> Result<Value, ToolError> {
        let root = self.session.workspace().root();
        let paths: Result<Vec<_>, _> =
            options.paths.iter().map(|path| root.check(path, Access::Read)).collect();
        let (paths, named) = (paths?, options.id.as_deref().map(id).transpose()?);
        if let Some(span) = self.span(options)? {
            return self.executed("undo", options.diff, host, &|cancellation| {
                self.session.plan_undo_span(&span, options.carry, cancellation)
            });
        }
        self.executed("undo", options.diff, host, &|cancellation| {
            self.session.plan_undo(named, &paths, options.carry, false, cancellation)
        })
    }

    /// Returns which transactions are to be undone as one, if several are named.
    fn span(&self, options: &UndoRequest) -> Result<Option<Span>, ToolError> {
        let UndoRequest { session, since, turn, .. } = options;
        let workspace = self.session.workspace();
        let span = match (session, since, turn) {
            (None, None, None) => return Ok(None),
            (Some(name), None, None) => Span::of_session(workspace, name)?,
            (None, Some(since), None) => Span::since(workspace, since)?,
            (None, None, Some(turn)) => Span::of_turn(workspace, turn)?,
            _ => {
                let message = "`session`, `since` and `turn` each name what is undone";
                return Err(argument("since", message, "one of them"));
            }
        };
        if options.id.is_some() || !options.paths.is_empty() {
            let message = "`session`, `since` and `turn` undo all of it, without `id` and `paths`";
            return Err(argument("since", message, "nothing, or leave out `id` and `paths`"));
        }
        Ok(Some(span))
    }

    /// Begins a turn, and returns its name: until [`end_turn`](Self::end_turn), all changes of this
    /// workspace's session are one diff, one entry of the log, and one undo. The name is a new one
    /// unless it is given; several processes that give one belong to one turn.
    ///
    /// # Errors
    ///
    /// When a turn is open already, or the text is not a name.
    pub fn begin_turn(&self, name: Option<&str>) -> Result<String, ToolError> {
        let bad = |error: BadName| argument("turn", error.to_string(), "another name");
        let name: Option<TurnName> = name.map(str::parse).transpose().map_err(bad)?;
        let name = self.session.begin_turn(name)?;
        self.approver.begin_turn();
        Ok(name.to_string())
    }

    /// Ends the turn: its `id`, its `transactions`, the `changedFiles`, and all of it as one
    /// `diff`. A turn that changed nothing has none of them, and leaves no trace.
    ///
    /// # Errors
    ///
    /// When no turn is open, or the history cannot be read or written.
    pub fn end_turn(&self) -> Result<Value, ToolError> {
        self.approver.end_turn();
        Ok(serde_json::to_value(self.session.end_turn()?).expect("text keys"))
    }

    /// What the open turn has changed so far, as [`end_turn`](Self::end_turn) tells it; null if no
    /// turn is open.
    ///
    /// # Errors
    ///
    /// When the history cannot be read.
    pub fn turn_so_far(&self) -> Result<Value, ToolError> {
        Ok(serde_json::to_value(self.session.turn_so_far()?).expect("text keys"))
    }

    /// Reverses an undo: the `data` of `apply-patch redo --json`.
    ///
    /// # Errors
    ///
    /// When there is none, or its files are not what it left.
    pub fn redo(
        &self,
        named: Option<&str>,
        detail: DiffDetail,
        host: Callbacks<'_>,
    ) -> Result<Value, ToolError> {
        let named = named.map(id).transpose()?;
        self.executed("redo", detail, host, &|cancellation| {
            self.session.plan_redo(named, cancellation)
        })
    }

    fn executed(
        &self,
        tool: &str,
        detail: DiffDetail,
        host: Callbacks<'_>,
        plan: &dyn Fn(&Cancellation) -> Result<patch_engine::Plan, commit::Error>,
    ) -> Result<Value, ToolError> {
        let call = |host: &mut dyn patch_engine::Host| {
            let plan = &mut |files: &Files| plan(files.cancellation());
            let report = self.session.execute(tool, Operation::Write, host, plan)?;
            Ok(restored(&report, detail))
        };
        self.approver.run(
            host,
            self.root(),
            (tool, &json!({})),
            call,
            |data| json!({ "ok": true, "data": data }),
        )
    }

    /// The newest transactions, of one session or of all: the `data` of `apply-patch log --json`.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
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

    /// Calls a file tool: its answer, also when it failed.
    #[must_use]
    pub fn call(&self, tool: &str, arguments: &Value, host: Callbacks<'_>) -> Value {
        let call = |host: &mut dyn patch_engine::Host| {
            let reply = self.session.call(tool, arguments, host);
            Ok(serde_json::to_value(&reply).expect("text keys"))
        };
        let answered = self.approver.run(host, self.root(), (tool, arguments), call, Value::clone);
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
