//! Sessions: every change goes through a session, with an audit log and a read ledger.

pub mod bounds;
pub mod changing;
pub mod history;
pub(crate) mod ledger;
pub mod net;
pub mod paths;
pub mod printed;
pub mod proposing;
pub mod refused;
pub(crate) mod snapshots;
pub mod span;
pub(crate) mod store_size;
pub mod text_form;
pub(crate) mod turn;
pub(crate) mod undo;
pub(crate) mod who;

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use fs_guard::{Access, Cancellation, FileKind, Metadata, RelPath, Root, Sha256};
use patch_engine::commit::approval::{ApprovalPolicy, Decision, Request};
use patch_engine::commit::{self, CommitOptions, Durability, Locked, Recovered, Verify, Workspace};
use patch_engine::remedy::Action;
use patch_engine::{
    ApplyOptions, Atomicity, Encodings, ErrorKind, Event, Expected, Failed, Files, Formatter, Host,
    Loaded, Options, Patch, Plan, PlanBuilder, Problem, Profile, Reject, Remedy, Report,
    Transition, TurnDiff,
};
use workspace_trash::{Purged, Retention};

use crate::answer::error::{FailureClass, ToolError};
use crate::answer::reason::Reason;
use crate::audit::purge::Cut;
use crate::audit::recorder::Recorder;
use crate::audit::session_name::{SessionName, TurnName};
use crate::audit::{self, Audit, Operation, Written};
use crate::input::received::NotReceived;
use crate::input::{InputError, PatchText, ReadAs};
use crate::session::ledger::Ledger;
use crate::settings::names::argument_of;
use crate::settings::{Layer, Layers};

/// The most files of one call to keep snapshots of. A larger change is not likely to be edited
/// further.
const KEPT_OF_A_CALL: usize = 100;

/// How a session works.
#[derive(Debug, Clone)]
pub struct SessionSettings {
    /// The failures that a commit has to survive.
    pub durability: Durability,
    /// How long to wait for another process.
    pub lock_timeout: Duration,
    /// The largest file that is read or written, in bytes.
    pub max_file_size: u64,
    /// The rules of planning not set by a call, and the bounds of those set.
    pub layers: Layers,
    /// The declared charsets of files.
    pub encodings: Encodings,
    /// About how many bytes of JSON an answer may have; `None` leaves only the tools' own limits.
    ///
    /// Lists and files are cut with a cursor for the rest, diffs and the reasons of errors without.
    pub max_output: Option<usize>,
    /// How many bytes of snapshots to keep in the state directory; 0 keeps none.
    ///
    /// A snapshot is a version of a file shown to a session or written by one, compressed: an edit
    /// of this version can be carried to the file after other changes. The oldest snapshots go
    /// first.
    pub max_snapshots: u64,
    /// How long to keep the files displaced by commits.
    pub retention: Retention,
    /// How long a proposal waits for a decision, how long the decision is kept then, and how many
    /// are kept.
    pub proposal_keep: Retention,
    /// Whether a failed call leaves no trace if nothing was ever changed: no state directory is
    /// made for the log.
    pub traceless: bool,
    /// The check of every change, after its files are published and before the change counts.
    pub verify: Option<Arc<dyn Verify>>,
    /// The formatter of new files, run before a plan is shown.
    pub formatter: Option<Arc<dyn Formatter>>,
    /// Whether [`Tool::UndoTurn`](crate::Tool::UndoTurn) can be called.
    pub undo_turn: bool,
    /// Whether tools may be told of proposals that other sessions have made.
    pub any_proposal: bool,
    /// The lookup of versions in a version control system, besides snapshots and displaced files;
    /// `None` for these two only.
    pub versions: Option<Versions>,
}

/// Returns the version with a hash of the file at a path beneath a directory, up to a number of
/// bytes.
pub type Versions = fn(&std::path::Path, &str, Sha256, u64) -> Option<Vec<u8>>;

impl SessionSettings {
    /// Makes the settings of a session from the given ones and their bounds.
    #[must_use]
    pub fn of(layers: &Layers) -> Self {
        let (settings, _) = layers.resolve(Profile::default(), ApprovalPolicy::default());
        Self {
            durability: settings.durability,
            lock_timeout: settings.lock_timeout,
            max_file_size: settings.max_file_size.0,
            layers: layers.clone(),
            encodings: settings.encoding.encodings(),
            max_snapshots: settings.max_snapshots.0,
            retention: settings.trash_keep.retention(),
            proposal_keep: settings.proposal_keep.retention(),
            max_output: None,
            traceless: false,
            verify: None,
            formatter: None,
            undo_turn: false,
            any_proposal: false,
            versions: None,
        }
    }

    /// Starts to record a call of `tool`.
    #[doc(hidden)]
    pub fn recorder<'r>(
        &self,
        audit: &'r Audit,
        workspace: &'r Workspace,
        tool: &str,
        operation: Operation,
    ) -> Recorder<'r> {
        let durable = self.durability == Durability::Full;
        Recorder::new(audit, workspace, tool, operation, durable, self.retention.keep_last)
            .with_commands(self.verify.is_some())
    }
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self::of(&Layers::default())
    }
}

/// One session in one workspace: the only way to change files from a terminal, a tool or a server.
///
/// Every change is planned, approved by a [`Host`], written to the audit log and committed here.
/// The session remembers the files read, so that no file is overwritten unseen.
///
/// ```
/// use patch_engine::{Options, PlanBuilder, commit::Workspace};
/// use patch_session::audit::{Audit, Operation};
/// use patch_session::{Session, SessionName, SessionSettings, ToolError};
///
/// # let dir = tempfile::tempdir()?;
/// let workspace = Workspace::open(dir.path(), patch_engine::policy())?;
/// let session = Session::new(workspace, Audit::new(SessionName::random()?, None), SessionSettings::default());
/// let options = Options::default();
/// let report = session.execute::<ToolError>("my-tool", Operation::Create, &mut (), &mut |root| {
///     let mut builder = PlanBuilder::new(root, &options);
///     builder.create("note.txt", b"a note\n".to_vec())?;
///     Ok(builder.finish()?)
/// });
/// assert_eq!(report.unwrap().plan.changes().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Session {
    workspace: Workspace,
    audit: Audit,
    ledger: Arc<Ledger>,
    /// The open turn.
    turn: Arc<Mutex<Option<TurnName>>>,
    /// The end of the last lines in the log.
    written: Mutex<Option<Written>>,
    settings: SessionSettings,
}

impl Session {
    /// Starts a session that remembers its reads as long as this value lives.
    #[must_use]
    pub fn new(workspace: Workspace, audit: Audit, settings: SessionSettings) -> Self {
        let audit = audit.with_lock_timeout(settings.lock_timeout);
        Self {
            workspace,
            audit,
            ledger: Arc::new(Ledger::in_memory()),
            turn: Arc::default(),
            written: Mutex::default(),
            settings,
        }
    }

    /// Resumes a session kept in the state directory.
    ///
    /// # Errors
    ///
    /// When its ledger cannot be read.
    pub fn resume(
        workspace: Workspace,
        audit: Audit,
        settings: SessionSettings,
    ) -> Result<Self, ToolError> {
        let ledger = Arc::new(Ledger::open(&workspace, &audit.session, settings.lock_timeout)?);
        Ok(Self { ledger, ..Self::new(workspace, audit, settings) })
    }

    /// Makes the same session for the same directory under another policy. The reads are still
    /// known, and an open turn goes on.
    #[must_use]
    pub fn reopened(&self, workspace: Workspace) -> Self {
        Self {
            workspace,
            audit: self.audit.clone(),
            ledger: self.ledger.clone(),
            turn: self.turn.clone(),
            written: Mutex::default(),
            settings: self.settings.clone(),
        }
    }

    /// Returns the workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the name of the session.
    #[must_use]
    pub fn name(&self) -> &SessionName {
        &self.audit.session
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &SessionSettings {
        &self.settings
    }

    /// Returns the files, with nothing cached from earlier calls.
    #[doc(hidden)]
    pub fn root(&self) -> &Arc<Root> {
        self.workspace.root().forget();
        self.workspace.root()
    }

    /// Returns the options of a single operation: only as the call asks, whatever the settings say.
    #[doc(hidden)]
    pub fn options(&self, create_parents: bool, overwrite: bool) -> Result<Options, ToolError> {
        self.options_for(Layer {
            profile: Some(Profile::Strict),
            create_parents: Some(create_parents),
            overwrite: Some(overwrite),
            ..Layer::default()
        })
    }

    /// Returns the options of a call with these settings.
    ///
    /// # Errors
    ///
    /// When the workspace does not allow one of them.
    #[doc(hidden)]
    pub fn options_for(&self, call: Layer) -> Result<Options, ToolError> {
        let layers = self.settings.layers.clone().with(call.clone());
        let (settings, notes) = layers.resolve(Profile::default(), ApprovalPolicy::default());
        if let Some(note) = notes.iter().find(|note| call.text(note.key).is_some()) {
            let error = ToolError::new(
                FailureClass::Refused,
                ErrorKind::PermissionDenied,
                note.to_string(),
            );
            return Err(error.remedies([Remedy::omit(argument_of(note.key))]));
        }
        Ok(Options {
            max_file_size: self.settings.max_file_size,
            encodings: self.settings.encodings.clone(),
            formatter: self.settings.formatter.clone(),
            ..settings.options()
        })
    }

    /// Returns the source of earlier versions, unless the call forbids carrying.
    #[doc(hidden)]
    pub fn snapshots_for(&self, carry: Option<bool>) -> Option<Arc<dyn patch_engine::Snapshots>> {
        (carry != Some(false)).then(|| self.settings.snapshots_of(&self.workspace))
    }

    /// Remembers a file shown to the session, and its bytes if given.
    #[doc(hidden)]
    pub fn note_shown(
        &self,
        path: &str,
        sha256: Sha256,
        bytes: Option<&[u8]>,
    ) -> Result<(), ToolError> {
        if self.ledger.get(path) != Some(sha256) {
            self.ledger.note(&self.workspace, &[(path.to_owned(), Some(sha256))])?;
            if let Some(bytes) = bytes {
                self.settings.keep_snapshot(&self.workspace, path, sha256, bytes);
            }
        }
        Ok(())
    }

    /// Notes lines of a version of a file that were printed with tags, for the edits that name them.
    #[doc(hidden)]
    pub fn note_tagged(
        &self,
        path: &str,
        sha256: Sha256,
        lines: impl IntoIterator<Item = RangeInclusive<usize>>,
    ) -> Result<(), ToolError> {
        Ok(self.ledger.note_tagged(&self.workspace, path, sha256, lines)?)
    }

    /// Returns the hashes by which the session knows the files after a change.
    fn touched(&self, report: &Report) -> Vec<(String, Option<Sha256>)> {
        let plan = &report.plan;
        let is_undo = plan.undo_of().is_some();
        let known = plan.transitions().iter().filter(|now| !(is_undo && self.is_unseen(now)));
        let mut touched: Vec<_> =
            known.map(|now| (now.path().as_str().to_owned(), now.after())).collect();
        // After a carried change, the session has not seen the changes of others to the file, unless
        // it knows the version that was changed: the change was for an earlier one.
        let is_formatted = self.settings.formatter.is_some();
        let carried = plan.carried_bases().iter().filter(|(path, _)| {
            let before = plan.transitions().iter().find(|now| now.path() == path);
            let before = before.and_then(Transition::before);
            is_formatted || before.is_none() || before != self.ledger.get(path.as_str())
        });
        for (path, bytes) in carried {
            touched.push((path.to_string(), Some(Sha256::of(bytes))));
        }
        touched
    }

    /// Returns whether the session knows the file of a transition in another version than the one
    /// replaced. A version unseen before a change is still unseen when an undo brings it back.
    fn is_unseen(&self, now: &Transition) -> bool {
        match (now.before(), self.ledger.get(now.path().as_str())) {
            (Some(before), Some(known)) => before != known,
            _ => false,
        }
    }

    fn keep_version(&self, path: &RelPath, sha256: Sha256, bytes: &[u8]) {
        self.settings.keep_snapshot(&self.workspace, path.as_str(), sha256, bytes);
    }

    /// Keeps the new versions of changed files, for later edits.
    fn keep_written(&self, report: &Report) {
        let images = report.images();
        for change in report.plan.changes().iter().take(KEPT_OF_A_CALL) {
            let size = report.plan.transition_of(change).after_size();
            if let (Some(sha256), Some(size)) = (change.after, size)
                && self.settings.keeps(size)
                && let Ok(bytes) = images.new_bytes(change)
            {
                self.keep_version(change.to_path.as_ref().unwrap_or(&change.path), sha256, &bytes);
            }
        }
        for (path, bytes) in report.plan.carried_bases() {
            self.keep_version(path, Sha256::of(bytes), bytes);
        }
    }

    #[doc(hidden)]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Finds the file for a reading tool. Links are followed as long as they stay beneath the root.
    #[doc(hidden)]
    pub fn find(&self, root: &Arc<Root>, path: &str) -> Result<(RelPath, Metadata), ToolError> {
        let checked = paths::checked(root, path, Access::Read)?;
        match root.metadata(&checked) {
            Ok(Some(seen)) if seen.kind != FileKind::Symlink => return Ok((checked, seen)),
            Ok(Some(_)) | Err(fs_guard::Error::Symlink { .. }) => {}
            Ok(None) => return Err(paths::missing(root, path)),
            Err(error) => return Err(error.into()),
        }
        let real = root.follow(&checked)?;
        let seen = root.metadata(&real)?.ok_or_else(|| paths::missing(root, path))?;
        Ok((real, seen))
    }

    /// Checks a file against the hash expected by the caller, or else against the hash seen by the
    /// session.
    #[doc(hidden)]
    pub fn check_expected(
        &self,
        path: &str,
        actual: Option<Sha256>,
        given: Option<&str>,
    ) -> Result<(), ToolError> {
        let found = actual.map_or(Expected::Absent, Expected::Hash);
        match (given, self.ledger.get(path)) {
            (Some(given), _) => {
                let expected = expected(given, ("expectedSha256", ""))?;
                if expected == found {
                    Ok(())
                } else {
                    Err(ToolError::stale(path, &expected, actual, false))
                }
            }
            (None, Some(seen)) if actual != Some(seen) => {
                Err(ToolError::stale(path, &Expected::Hash(seen), actual, true))
            }
            (None, _) => Ok(()),
        }
    }

    /// Returns the hash of a file expected by the caller, or else the hash seen by the session.
    ///
    /// # Errors
    ///
    /// When there is neither: an unread file is not changed.
    #[doc(hidden)]
    pub fn seen(&self, path: &str, given: Option<&str>) -> Result<Expected, ToolError> {
        if let Some(given) = given {
            return expected(given, ("expectedSha256", ""));
        }
        // Not `self.root()`: the plan under way keeps its cache of directories.
        let key = paths::checked(self.workspace.root(), path, Access::Read)?;
        match self.ledger.get(key.as_str()).or_else(|| self.printed_whole(&key)) {
            Some(seen) => Ok(Expected::Hash(seen)),
            None => Err(self.unread(path, &key)),
        }
    }

    /// Makes the error of a file unread by this session. The error of a file that cannot be read at
    /// all has the cause as its reason.
    fn unread(&self, path: &str, key: &RelPath) -> ToolError {
        let root = self.root();
        let limit = self.settings.max_file_size;
        let error = match root.inspect(key, Access::Update) {
            Err(error) => error,
            Ok(None) => return paths::missing(root, path),
            Ok(Some(seen)) if seen.size > limit => {
                fs_guard::Error::TooLarge { path: key.to_string(), size: seen.size, limit }
            }
            Ok(Some(_)) => {
                let message = format!("{path}: this session has not read it");
                let error = ToolError::arguments(Reason::Unread, message);
                return ToolError { path: Some(path.into()), ..error }.remedies([
                    Remedy::act(Action::Read, path),
                    Remedy::give("expectedSha256", SHA256_WANTED),
                ]);
            }
        };
        ToolError::refused(&Reject::of(path, Problem::Guard(error)).among(root))
    }

    /// Reads a file to change, and checks the file against the expected hash.
    #[doc(hidden)]
    pub fn load(
        &self,
        builder: &mut PlanBuilder<'_>,
        path: &str,
        given: Option<&str>,
    ) -> Result<Option<Loaded>, ToolError> {
        let file = builder.load(path)?;
        let key = file.as_ref().map_or(path, |file| file.path.as_str());
        self.check_expected(
            key.strip_prefix("./").unwrap_or(key),
            file.as_ref().map(|file| file.sha256()),
            given,
        )?;
        Ok(file)
    }

    /// Plans a patch like [`apply`](Self::apply), and writes nothing.
    ///
    /// # Errors
    ///
    /// Why the patch does not apply, or only in part, and the part that would be applied.
    pub fn preview(
        &self,
        patch: &Patch,
        options: Options,
        atomicity: Atomicity,
        cancellation: &Cancellation,
    ) -> Result<Report, Failed> {
        let settings = ApplyOptions { options, commit: self.commit_options("preview"), atomicity };
        self.workspace.preview(patch, &settings, cancellation)
    }

    /// Applies a patch: as a whole, or section by section, as `atomicity` says.
    ///
    /// If the host [edits](Decision::Edit) a patch to be applied as a whole, the edited patch takes
    /// its place, with the same options. The host is asked again, and told whether the edited patch
    /// touches other paths; the first report then has the difference.
    ///
    /// # Errors
    ///
    /// Why the patch was not applied, or only in part, and the applied part.
    pub fn apply(
        &self,
        tool: &str,
        patch: &Patch,
        options: Options,
        atomicity: Atomicity,
        host: &mut dyn Host,
    ) -> Result<Vec<Report>, Failed> {
        self.apply_in_place_of(None, tool, patch, options, atomicity, host)
    }

    /// Applies a patch that a person edited in place of `proposal`, if there is one.
    ///
    /// # Errors
    ///
    /// Those of [`apply`](Self::apply).
    pub fn apply_in_place_of(
        &self,
        proposal: Option<TurnDiff>,
        tool: &str,
        patch: &Patch,
        options: Options,
        atomicity: Atomicity,
        host: &mut dyn Host,
    ) -> Result<Vec<Report>, Failed> {
        let settings = ApplyOptions { options, commit: self.commit_options(tool), atomicity };
        let mut log = self.recorder(tool, Operation::Patch).of_patch(settings.options.profile);
        let mut host = Proposing { host, proposal, paths: None, edited: None };
        let mut edited = None;
        let mut result = loop {
            if host.proposal.is_some() {
                log.edited();
            }
            let patch = edited.as_ref().unwrap_or(patch);
            let result = self.workspace.apply_logged(patch, &settings, &mut log, &mut host);
            match host.edited.take().filter(|_| atomicity == Atomicity::Whole) {
                None => break result,
                Some(text) => match edited_patch(text, &settings.options) {
                    Ok(patch) => edited = Some(patch),
                    Err(error) => break Err(error.into()),
                },
            }
        };
        if let (Ok(reports), Some(mut proposal)) = (&mut result, host.proposal) {
            reports.iter().for_each(|report| proposal.applied(report));
            let diff = Some(proposal.diff()).filter(|diff| !diff.is_empty());
            if let Some(first) = reports.first_mut() {
                first.edited = diff;
            }
        }
        let (reports, error) = match &result {
            Ok(reports) => (reports, None),
            Err(failed) => (&failed.reports, Some(ToolError::failed(failed))),
        };
        self.conclude(log, reports, error.as_ref(), host.host);
        result
    }

    /// Carries out a plan made by `plan`: an operation on files, an undo, a redo or a restore.
    ///
    /// `operation` is the log's word for a change of a file's bytes, and for the call as a whole.
    ///
    /// # Errors
    ///
    /// Those of `plan`, of asking, of locking and of committing.
    pub fn execute<E>(
        &self,
        tool: &str,
        operation: Operation,
        host: &mut dyn Host,
        plan: &mut dyn FnMut(&Files) -> Result<Plan, E>,
    ) -> Result<Report, E>
    where
        E: From<commit::Error>,
        ToolError: for<'e> From<&'e E>,
    {
        let mut log = self.recorder(tool, operation);
        let result = self.workspace.execute(&self.commit_options(tool), &mut log, host, plan);
        let (reports, error) = match &result {
            Ok(report) => (std::slice::from_ref(report), None),
            Err(error) => (&[][..], Some(ToolError::from(error))),
        };
        self.conclude(log, reports, error.as_ref(), host);
        result
    }

    /// Logs a call that failed before there was a plan.
    pub fn failed(&self, tool: &str, operation: Operation, error: &ToolError, host: &mut dyn Host) {
        self.conclude(self.recorder(tool, operation), &[], Some(error), host);
    }

    /// Logs the outcome of interrupted transactions.
    ///
    /// # Errors
    ///
    /// When the log cannot be written.
    pub fn recovered(&self, recovered: &[Recovered]) -> Result<(), fs_guard::Error> {
        self.recorder("recover", Operation::Patch).write_recovered(recovered)
    }

    /// Removes old transactions for good, and their lines of the audit logs, and returns both, the
    /// lines counted. `locked` is the workspace. With `dry_run` nothing is removed.
    ///
    /// # Errors
    ///
    /// When the trash or a log cannot be read or written.
    pub fn purge(
        &self,
        locked: &Locked<'_>,
        retention: &Retention,
        dry_run: bool,
    ) -> Result<(Purged, u64), commit::Error> {
        let purged = locked.purge(retention, dry_run)?;
        let gone: HashSet<_> = purged.transactions.iter().collect();
        let mut oldest = None;
        for id in locked.locked_store().newest_first()? {
            let id = id?;
            if !gone.contains(&id) {
                oldest = Some(id);
            }
        }
        let cut = match oldest {
            Some(oldest) => Cut::before(oldest),
            None => Cut::of_retention(retention, SystemTime::now()),
        };
        let durable = self.settings.durability == Durability::Full;
        let lines = audit::purge::purge(&self.audit, &self.workspace, &cut, durable, dry_run)?;
        Ok((purged, lines))
    }

    fn recorder(&self, tool: &str, operation: Operation) -> Recorder<'_> {
        let earlier = self.written().take();
        let log = self.settings.recorder(&self.audit, &self.workspace, tool, operation);
        log.of_turn(self.turn()).after(earlier)
    }

    fn written(&self) -> MutexGuard<'_, Option<Written>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commit_options(&self, tool: &str) -> CommitOptions {
        CommitOptions {
            durability: self.settings.durability,
            tool: Some(tool.to_owned()),
            agent: self.audit.agent.clone(),
            session: Some(self.audit.session.to_string()),
            turn: self.turn().map(|turn| turn.to_string()),
            lock_timeout: self.settings.lock_timeout,
            verify: self.settings.verify.clone(),
            retention: self.settings.retention,
            ..CommitOptions::default()
        }
    }

    /// Logs the outcome of a call, and notes the new hashes of its files.
    fn conclude(
        &self,
        mut log: Recorder<'_>,
        reports: &[Report],
        error: Option<&ToolError>,
        host: &mut dyn Host,
    ) {
        if error.is_some_and(|error| error.postponed) {
            return;
        }
        if error.is_some() && reports.is_empty() && !log.has_begun() {
            let traceless = self.settings.traceless && !self.workspace.has_state();
            // Nothing was changed. A failure to log this is not a second failure.
            if traceless || self.workspace.make_state(self.settings.lock_timeout).is_err() {
                return;
            }
        }
        let committed: Vec<_> = reports.iter().filter_map(|report| report.transaction).collect();
        let mut unlogged = log.finish(&committed, error).err().map(|error| error.to_string());
        *self.written() = log.into_written();
        let touched: Vec<_> = reports.iter().flat_map(|report| self.touched(report)).collect();
        if let Err(error) = self.ledger.note(&self.workspace, &touched) {
            unlogged.get_or_insert(error.to_string());
        }
        if self.settings.max_snapshots > 0 {
            reports.iter().for_each(|report| self.keep_written(report));
        }
        // The files are changed. The log has the intent, and so shows that the outcome is missing.
        if let Some(unlogged) = unlogged {
            host.event(&Event::Unlogged(&unlogged));
        }
    }
}

/// A host whose edited patches take the place of the proposal.
struct Proposing<'h> {
    host: &'h mut dyn Host,
    /// The changes of the first proposal.
    proposal: Option<TurnDiff>,
    /// The paths of the last edited proposal.
    paths: Option<HashSet<RelPath>>,
    /// The patch in place of the proposal.
    edited: Option<Vec<u8>>,
}

impl Host for Proposing<'_> {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        let plan = request.plan;
        let paths = plan.transitions().iter().map(Transition::path);
        let mut own = Request::new(plan);
        own.edited =
            self.paths.as_ref().is_some_and(|known| paths.clone().all(|path| known.contains(path)));
        let decision = self.host.approve(&own)?;
        if decision == Decision::Edit
            && let Some(text) = self.host.edited()
        {
            self.proposal.get_or_insert_with(|| TurnDiff::in_place_of(plan));
            self.paths = Some(paths.cloned().collect());
            self.edited = Some(text);
        }
        Ok(decision)
    }

    fn cancellation(&self) -> Cancellation {
        self.host.cancellation()
    }

    fn event(&mut self, event: &Event<'_>) {
        self.host.event(event);
    }
}

/// Reads a person's edit of a proposal.
fn edited_patch(text: Vec<u8>, options: &Options) -> Result<Patch, commit::Error> {
    let read = PatchText::read(&text.into(), &ReadAs::default(), &options.parse);
    read.and_then(|text| text.parse(options)).map_err(|error| match error {
        InputError::Parse(error) => error.into(),
        InputError::NotReceived(NotReceived::Parse { error, .. }) => (*error).into(),
        InputError::Rejected(rejects) => rejects.into(),
        // There is no patch in the text.
        _ => commit::Error::Declined,
    })
}

/// Finishes the plan of a single operation.
pub fn finish(builder: PlanBuilder<'_>) -> Result<Plan, ToolError> {
    Ok(builder.finish()?)
}

/// Hashes a file without reading all of it into memory.
pub fn hash(root: &Arc<Root>, path: &RelPath) -> Result<Sha256, fs_guard::Error> {
    root.open_file(path)?.0.hash(&Cancellation::NEVER)
}

/// Parses an expected hash: 64 hexadecimal digits, or nothing for no file.
pub fn expected(text: &str, (argument, field): (&str, &str)) -> Result<Expected, ToolError> {
    text.parse().map_err(|_| {
        let message =
            format!("{text:?} is not a SHA-256: it has 64 hexadecimal digits, or none for no file");
        ToolError::arguments(Reason::BadSha256, message).remedies([
            Remedy::give(format!("{argument}{field}"), SHA256_WANTED),
            Remedy::omit(argument),
        ])
    })
}

/// The description of an expected hash, for messages.
const SHA256_WANTED: &str = "the sha256 that read_file gives for the file, unchanged";
