//! A workspace as an agent's session uses it, and the road that every call takes.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use fs_guard::{Access, FileKind, Metadata, RelPath, Root, Sha256};
use patch_engine::transaction::{CommitError, CommitObserver, CommitOptions, Durability, TransactionId, Workspace};
use patch_engine::transition::Transition;
use patch_engine::{ErrorKind, Expected, Plan, Report, file_plan};
use serde_json::Value;

use crate::audit::{Audit, Operation, Recorder};
use crate::call::{Reply, Tool};
use crate::envelope::ToolResult;
use crate::error::{FailureClass, ToolError};
use crate::ledger::{Ledger, ensure_state};
use crate::session::SessionName;

/// What the caller of a tool may want to know and say while it runs.
pub trait Hooks {
    /// Sees exactly the plan that will be committed; `false` declines it.
    fn approve(&mut self, plan: &Plan) -> bool {
        let _ = plan;
        true
    }

    /// Whether `approve` said no only for now: somebody is asked, and the call will be made again. It leaves no trace
    /// in the audit log then.
    fn postponed(&self) -> bool {
        false
    }

    /// Who is told of commits while they happen, as [`Events`](crate::events::Events) is.
    fn observer(&mut self) -> Option<&mut dyn CommitObserver> {
        None
    }

    /// A tool is called by its name, with these arguments.
    fn called(&mut self, tool: Tool, args: &Value) {
        let _ = (tool, args);
    }

    /// This is what the call that was told last is answered with.
    fn answered(&mut self, reply: &Reply) {
        let _ = reply;
    }

    /// Whether the call shall end; asked now and then. What is past its commit point is finished.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Approves everything.
impl Hooks for () {}

/// How the tools work.
#[derive(Debug, Clone)]
pub struct ToolSettings {
    /// What a commit survives.
    pub durability: Durability,
    /// How long to wait for another process.
    pub lock_timeout: Duration,
    /// The largest file that is read or written, in bytes.
    pub max_file_size: u64,
    /// About how many bytes of JSON an answer may have; `None` leaves only the tools' own limits.
    ///
    /// Lists and files are cut with a cursor to go on from, diffs and the reasons of errors are cut.
    pub max_output: Option<usize>,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            lock_timeout: Duration::from_secs(10),
            max_file_size: patch_engine::MAX_FILE_SIZE,
            max_output: None,
        }
    }
}

/// The tools of one session in one workspace.
///
/// Every tool has a method of its own, and all are reached by [`call`](Self::call) too.
#[derive(Debug)]
pub struct FileTools {
    workspace: Workspace,
    audit: Audit,
    ledger: Arc<Ledger>,
    settings: ToolSettings,
}

impl FileTools {
    /// Starts a session; what it reads is remembered as long as this value lives.
    #[must_use]
    pub fn new(workspace: Workspace, audit: Audit, settings: ToolSettings) -> Self {
        let audit = audit.with_lock_timeout(settings.lock_timeout);
        Self { workspace, audit, ledger: Arc::new(Ledger::in_memory()), settings }
    }

    /// Goes on with a session that is kept in the state directory.
    ///
    /// # Errors
    ///
    /// When what it has read cannot be looked up.
    pub fn resume(workspace: Workspace, audit: Audit, settings: ToolSettings) -> Result<Self, ToolError> {
        let ledger = Arc::new(Ledger::open(&workspace, &audit.session)?);
        Ok(Self { ledger, ..Self::new(workspace, audit, settings) })
    }

    /// The same session in the same directory, opened under another policy: what it has read stays known.
    #[must_use]
    pub fn reopened(&self, workspace: Workspace) -> Self {
        let Self { audit, ledger, settings, .. } = self;
        Self { workspace, audit: audit.clone(), ledger: ledger.clone(), settings: settings.clone() }
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &SessionName {
        &self.audit.session
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &ToolSettings {
        &self.settings
    }

    /// The files, with nothing remembered from earlier calls.
    pub(crate) fn root(&self) -> &Root {
        self.workspace.root().forget();
        self.workspace.root()
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Finds what a reading tool means: links are followed as long as they stay beneath the root.
    pub(crate) fn find(&self, root: &Root, path: &str) -> Result<(RelPath, Metadata), ToolError> {
        let checked = root.check(path, Access::Read)?;
        let missing = || ToolError {
            recoverable: true,
            ..ToolError::about(ErrorKind::NotFound, path, "there is no such file or directory")
                .next("check the path; list the directory first")
        };
        let seen = match root.metadata(&checked) {
            Ok(Some(seen)) if seen.kind == FileKind::Symlink => None,
            Ok(Some(seen)) => Some(seen),
            Ok(None) => return Err(missing()),
            Err(fs_guard::Error::Symlink { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        match seen {
            Some(seen) => Ok((checked, seen)),
            None => {
                let real = root.follow(&checked)?;
                let seen = root.metadata(&real)?.ok_or_else(missing)?;
                Ok((real, seen))
            }
        }
    }

    /// Checks what the caller expects of a file, or else what the session saw of it.
    pub(crate) fn check_expected(
        &self,
        path: &str,
        actual: Option<Sha256>,
        given: Option<&str>,
    ) -> Result<(), ToolError> {
        let found = actual.map_or(Expected::Absent, Expected::Hash);
        match (given, self.ledger.get(path)) {
            (Some(given), _) => {
                let expected = expected(given)?;
                if expected == found { Ok(()) } else { Err(ToolError::stale(path, &expected, actual, false).single()) }
            }
            (None, Some(seen)) if actual != Some(seen) => {
                Err(ToolError::stale(path, &Expected::Hash(seen), actual, true).single())
            }
            (None, _) => Ok(()),
        }
    }

    /// Reads a file that is to be changed, and checks that it is the one the caller means.
    pub(crate) fn load(
        &self,
        root: &Root,
        path: &str,
        given: Option<&str>,
    ) -> Result<Option<file_plan::Loaded>, ToolError> {
        let file = file_plan::load_file(root, path, self.settings.max_file_size)?;
        let key = file.as_ref().map_or(path, |file| file.path.as_str());
        self.check_expected(key.strip_prefix("./").unwrap_or(key), file.as_ref().map(|file| file.sha256), given)?;
        Ok(file)
    }

    /// Runs a call that may change files, and writes its failure to the audit log.
    pub(crate) fn changing<T>(
        &self,
        tool: &'static str,
        operation: Operation,
        hooks: &mut dyn Hooks,
        run: impl FnOnce(&mut Call<'_>) -> ToolResult<T>,
    ) -> ToolResult<T> {
        let mut call = Call { tools: self, tool, operation, hooks: RefCell::new(hooks), logged: false };
        let result = run(&mut call);
        let postponed = call.hooks.borrow().postponed();
        if let (Err(error), false) = (&result, call.logged || postponed) {
            self.log_failure(tool, operation, error);
        }
        result
    }

    fn log_failure(&self, tool: &str, operation: Operation, error: &ToolError) {
        let durable = self.settings.durability == Durability::Full;
        // The call changed nothing. That its failure cannot be written down is no second failure.
        if ensure_state(&self.workspace, self.settings.lock_timeout).is_ok() {
            let mut nobody = ();
            let mut recorder = Recorder::new(&self.audit, &self.workspace, tool, operation, durable, &mut nobody);
            let _ = recorder.finish(&[], Some((error.kind, error.path.as_deref())));
        }
    }
}

/// Hashes a file without holding it in memory.
pub(crate) fn hash(root: &Root, path: &RelPath) -> Result<Sha256, fs_guard::Error> {
    root.open_file(path)?.0.hash()
}

/// Reads an expectation: 64 hexadecimal digits, or nothing for no file.
pub(crate) fn expected(text: &str) -> Result<Expected, ToolError> {
    text.parse().map_err(|_| {
        ToolError::arguments(format!("{text:?} is no SHA-256: it has 64 hexadecimal digits, or none for no file"))
            .next("take the sha256 from read_file, unchanged")
    })
}

/// A call that may change files.
pub(crate) struct Call<'c> {
    pub(crate) tools: &'c FileTools,
    tool: &'static str,
    operation: Operation,
    hooks: RefCell<&'c mut dyn Hooks>,
    /// The audit log has what became of it.
    logged: bool,
}

/// Refuses the commit of a call that was cancelled, and tells the caller's observer of the others.
pub(crate) struct Watch<'w, 'c>(&'w RefCell<&'c mut dyn Hooks>);

impl CommitObserver for Watch<'_, '_> {
    fn planned(&mut self, plan: &Arc<Plan>) {
        if let Some(observer) = self.0.borrow_mut().observer() {
            observer.planned(plan);
        }
    }

    fn before_commit_point(&mut self, id: TransactionId, transitions: &[Transition]) -> Result<(), String> {
        let mut hooks = self.0.borrow_mut();
        if hooks.cancelled() {
            return Err("the call was cancelled".into());
        }
        hooks.observer().map_or(Ok(()), |observer| observer.before_commit_point(id, transitions))
    }

    fn published(&mut self, index: usize) {
        if let Some(observer) = self.0.borrow_mut().observer() {
            observer.published(index);
        }
    }

    fn ended(&mut self, workspace: &Workspace, result: Result<&Report, (&Plan, &CommitError)>) {
        if let Some(observer) = self.0.borrow_mut().observer() {
            observer.ended(workspace, result);
        }
    }
}

impl Call<'_> {
    /// The options of the commit.
    pub(crate) fn commit_options(&self) -> CommitOptions {
        CommitOptions {
            durability: self.tools.settings.durability,
            tool: Some(self.tool.to_owned()),
            agent: self.tools.audit.agent.clone(),
            session: Some(self.tools.audit.session.to_string()),
            ..CommitOptions::default()
        }
    }

    /// Runs `commit` with an observer that keeps the audit log; `commit` gives what was committed.
    pub(crate) fn audited(
        &mut self,
        commit: impl FnOnce(&mut dyn CommitObserver, &mut dyn FnMut(&Plan) -> bool) -> Committed,
    ) -> Committed {
        let tools = self.tools;
        let durable = tools.settings.durability == Durability::Full;
        let mut watch = Watch(&self.hooks);
        let mut recorder =
            Recorder::new(&tools.audit, &tools.workspace, self.tool, self.operation, durable, &mut watch);
        let hooks = &self.hooks;
        let mut approve = |plan: &Plan| hooks.borrow_mut().approve(plan);
        let mut committed = commit(&mut recorder, &mut approve);
        let _ = recorder.recovered(&committed.recovered);
        let failure = committed.failure.as_ref().map(|error| (error.kind, error.path.as_deref()));
        let nothing = failure.is_some() && committed.transactions.is_empty() && !recorder.has_begun();
        if !nothing {
            // The files are changed and the intent is logged; that the outcome is missing shows there.
            let _ = recorder.finish(&committed.transactions, failure);
            self.logged = true;
        }
        let noted = tools.ledger.note(&tools.workspace, &committed.touched);
        if let (Err(error), None) = (noted, &committed.failure) {
            committed.failure = Some(error.into());
        }
        committed
    }

    /// Plans and commits.
    pub(crate) fn commit(
        &mut self,
        plan: &mut dyn FnMut(&Root) -> Result<Plan, ToolError>,
    ) -> Result<Report, ToolError> {
        let options = self.commit_options();
        let tools = self.tools;
        let mut report = None;
        let committed = self.audited(|observer, approve| {
            let mut recovered = Vec::new();
            let mut plan = |root: &Root| {
                let plan = plan(root)?;
                if plan.is_empty() || approve(&plan) { Ok(plan) } else { Err(declined()) }
            };
            let timeout = tools.settings.lock_timeout;
            let result =
                patch_engine::carry_out(&tools.workspace, timeout, &options, &mut plan, observer, &mut recovered);
            let mut committed = Committed { recovered, ..Committed::default() };
            match result {
                Ok(done) => {
                    committed.touched = touched(&done.plan.transitions);
                    committed.transactions.extend(done.transaction);
                    report = Some(done);
                }
                Err(error) => committed.failure = Some(error),
            }
            committed
        });
        match committed.failure {
            Some(error) => Err(error),
            None => Ok(report.expect("a commit without failure has a report")),
        }
    }
}

/// What the paths of a commit are afterwards.
pub(crate) fn touched(transitions: &[Transition]) -> Vec<(String, Option<Sha256>)> {
    let after = |transition: &Transition| transition.after.as_ref().map(|after| after.sha256);
    transitions.iter().map(|transition| (transition.path.to_string(), after(transition))).collect()
}

/// What came of a commit.
#[derive(Default)]
pub(crate) struct Committed {
    pub(crate) transactions: Vec<TransactionId>,
    pub(crate) recovered: Vec<patch_engine::transaction::Recovered>,
    pub(crate) touched: Vec<(String, Option<Sha256>)>,
    pub(crate) failure: Option<ToolError>,
}

pub(crate) fn declined() -> ToolError {
    ToolError::new(FailureClass::Refused, ErrorKind::PermissionDenied, "declined; nothing was changed")
        .next("ask the person what to do instead")
}
