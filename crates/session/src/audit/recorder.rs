//! Writes the log of a commit.
//!
//! # Order of writing
//!
//! Under the lock of the workspace, and that of the log:
//!
//! 1. The log's first file and the head of an empty log, with synced names.
//! 2. *Intents*, before the commit point. The same sync makes them and the journal durable; the
//!    head stays. If they cannot be written, nothing is applied. If more than 32 files change, or
//!    commands are run, others may write to the log before the outcomes.
//! 3. The commit, then the *outcomes*, which are synced. Then the head is overwritten in its place
//!    and synced: it has 512 bytes, a sector, which a disk writes whole or not at all. (With very
//!    many open intents, or a second name, it is written beside and renamed.) If that fails, the
//!    commit stands, and a warning says so.
//! 4. Recovery, `recover`, `trash purge` and the next commit of the session write outcomes for
//!    intents that have none: `recovered` is `finished` or `reverted`. Each run of `apply-patch
//!    git` does that at its start: `finished` if the branch has the commit, or if all of the
//!    commit is there and no branch was to be moved. A run holds the lock of `.apply-patch` in the
//!    git directory meanwhile.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fs_guard::{AppendFile, Sha256};
use patch_engine::commit::{self, Recovered, TransactionId, Workspace};
use patch_engine::{Change, ChangeKind, CommitLog, ErrorKind, GitCommit, Plan, Profile};

use super::Audit;
use super::chain::{End, LogWriter, Written};
use super::event::{Event, Operation, Phase};
use super::purge::{self, Cut};
use crate::answer::changes;
use crate::answer::error::ToolError;
use crate::audit::session_name::TurnName;

/// The most notes of a plan that are logged.
const MAX_NOTES: usize = 20;

/// The most changes of a commit during which other calls of the session wait for the log.
const CHANGES_IN_NO_TIME: usize = 32;

/// Records one call in the log.
///
/// A commit is refused if the log cannot be written.
pub struct Recorder<'r> {
    audit: &'r Audit,
    workspace: &'r Workspace,
    tool: String,
    /// The operation of the call, for the case that it fails, and the word for changing a file.
    operation: Operation,
    durable: bool,
    /// Whether a commit may run commands of the user, which may take any time.
    runs_commands: bool,
    /// The turn of the session in which it is called.
    turn: Option<TurnName>,
    /// Whether a person edited the patch.
    edited: bool,
    /// The profile of the patch, if it is one.
    profile: Option<Profile>,
    /// The next commit to a git repository; `None` in a directory.
    in_git: Option<GitCommit>,
    /// The plans whose changes are logged before the commit and after it.
    plans: Vec<Arc<Plan>>,
    /// The hash of the diff that the next commit keeps.
    diff: Option<Sha256>,
    /// The commits whose intents are written.
    begun: Vec<Begun>,
    /// Where the last lines ended.
    written: Option<Written>,
    /// Where the lines of an earlier call of the session ended.
    earlier: Option<Written>,
    /// Whether the last commit failed.
    failed: bool,
    /// The error of writing an outcome, if there was one.
    unwritten: Option<fs_guard::Error>,
    /// Whether any intents are written.
    has_begun: bool,
    /// The number of newest transactions that no purge removes.
    always_kept: usize,
    /// Whether transactions were purged whose lines are in the logs.
    purged: bool,
}

/// A commit whose intent is written.
#[derive(Debug)]
struct Begun {
    id: TransactionId,
    /// The index of its plan.
    plan: usize,
    /// The hash of the diff that it keeps.
    diff: Option<Sha256>,
    /// The commit of a git repository, if it is one.
    in_git: Option<GitCommit>,
}

/// A step in the life of a proposal.
#[derive(Debug, Clone, Copy)]
pub struct ProposalStep<'s> {
    /// The step.
    pub phase: Phase,
    /// The id of the proposal.
    pub id: &'s str,
    /// The first file that it changes.
    pub path: &'s str,
    /// Why, in the words of who took it.
    pub why: Option<&'s str>,
    /// The transaction of an approval.
    pub transaction: Option<&'s str>,
}

/// A commit of a git repository whose intent is to be written.
#[derive(Debug)]
pub struct IntendedCommit {
    /// The transaction.
    pub id: TransactionId,
    /// The index of its plan in the log.
    pub plan: usize,
    /// The commit.
    pub commit: GitCommit,
}

impl std::fmt::Debug for Recorder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("tool", &self.tool)
            .field("begun", &self.begun)
            .finish_non_exhaustive()
    }
}

impl<'r> Recorder<'r> {
    /// Starts to record a call of `tool`.
    ///
    /// The log is synced only with `durable`. No purge removes the last `always_kept` transactions.
    pub(crate) fn new(
        audit: &'r Audit,
        workspace: &'r Workspace,
        tool: &str,
        operation: Operation,
        durable: bool,
        always_kept: usize,
    ) -> Self {
        let tool = tool.to_owned();
        Self {
            audit,
            workspace,
            tool,
            operation,
            durable,
            runs_commands: false,
            turn: None,
            edited: false,
            profile: None,
            in_git: None,
            plans: Vec::new(),
            diff: None,
            begun: Vec::new(),
            written: None,
            earlier: None,
            failed: false,
            unwritten: None,
            has_begun: false,
            always_kept,
            purged: false,
        }
    }

    /// Sets the turn of the call.
    pub(crate) fn of_turn(self, turn: Option<TurnName>) -> Self {
        Self { turn, ..self }
    }

    /// Sets whether its commits may run commands.
    pub(crate) fn with_commands(self, runs_commands: bool) -> Self {
        Self { runs_commands, ..self }
    }

    /// Notes that a person edited the patch.
    pub(crate) fn edited(&mut self) {
        self.edited = true;
    }

    /// Continues after the lines of an earlier call of the session.
    pub(crate) fn after(self, earlier: Option<Written>) -> Self {
        Self { earlier, ..self }
    }

    /// Returns where the last lines ended, for a later call of the session.
    pub(crate) fn into_written(mut self) -> Option<Written> {
        self.unlock();
        self.written
    }

    /// Lets others write to the log.
    fn unlock(&mut self) {
        // If the system does not unlock it, closing it does.
        self.written.take_if(|written| written.unlock().is_err());
    }

    /// Returns where the last lines ended, if they are still where the log is.
    fn since(&mut self) -> Result<Option<Written>, fs_guard::Error> {
        if self.written.is_some() {
            return Ok(self.written.take());
        }
        let Some(earlier) = self.earlier.take() else { return Ok(None) };
        let dir = super::verify::folder(self.workspace)?;
        Ok(dir.is_some_and(|dir| dir.is_same_handle(&earlier.dir)).then_some(earlier))
    }

    /// Sets the profile of the call's patch.
    pub fn of_patch(self, profile: Profile) -> Self {
        Self { profile: Some(profile), ..self }
    }

    /// Returns the number of plans that the log was given.
    pub fn plans(&self) -> usize {
        self.plans.len()
    }

    /// Returns a line of a phase that says nothing of a change yet. What is recovered may be of
    /// another turn, and of another person.
    fn line(&self, phase: Phase) -> Event {
        let timestamp = workspace_trash::format_time(SystemTime::now());
        let session = self.audit.session.as_str();
        let mut line = Event::new(timestamp, session, &self.tool, phase, self.operation);
        line.agent_name.clone_from(&self.audit.agent);
        if phase != Phase::Recovered {
            line.turn_id = self.turn.as_ref().map(|turn| turn.as_str().to_owned());
            line.edited_by_person = self.edited.then_some(true);
        }
        line
    }

    /// Converts a path of the workspace to one of the project.
    fn recorded(&self, path: &str) -> String {
        let prefix = self.workspace.prefix();
        if prefix.is_empty() || path.is_empty() || path.starts_with('/') {
            path.to_owned()
        } else {
            prefix.join(path)
        }
    }

    /// Sets the operation of a change in a line, and its paths.
    fn set_change(&self, line: &mut Event, change: &Change) {
        line.operation = match change.operation {
            ChangeKind::Create => Operation::Create,
            ChangeKind::Delete => Operation::Delete,
            ChangeKind::Move => Operation::Move,
            ChangeKind::Update => self.operation,
        };
        line.path = self.recorded(change.path.as_str());
        line.to_path = change.to_path.as_ref().map(|to| self.recorded(to.as_str()));
    }

    /// Sets what a line says of a plan that only makes or removes directories: the outermost one.
    fn set_directory(&self, line: &mut Event, plan: &Plan) {
        let gone = plan.remove_dirs().last().map(|dir| (Operation::Delete, dir));
        let made = plan.create_dirs().next().map(|dir| (Operation::Create, dir));
        if let Some((operation, dir)) = gone.or(made) {
            line.operation = operation;
            line.path = self.recorded(dir.as_str());
        }
    }

    /// Writes the intents of a commit, a line for each file. The first one has the notes.
    fn push_intents(
        &self,
        lines: &mut LogWriter<'_>,
        begun: &Begun,
    ) -> Result<(), fs_guard::Error> {
        let plan = &self.plans[begun.plan];
        if plan.is_empty() {
            return Ok(());
        }
        let mut line = self.line(Phase::Intent);
        begun.identify(&mut line);
        line.notes = changes::notes(plan);
        line.notes.truncate(MAX_NOTES);
        for change in plan.changes() {
            self.set_change(&mut line, change);
            line.before_sha256 = change.before.as_ref().map(Sha256::to_string);
            line.after_sha256 = change.after.as_ref().map(Sha256::to_string);
            lines.push(&mut line)?;
            line.notes.clear();
        }
        if plan.changes().is_empty() {
            self.set_directory(&mut line, plan);
            lines.push(&mut line)?;
        }
        lines.intends(begun.id);
        Ok(())
    }

    /// Writes the outcome of a commit, which names its file if it has only one. The intents have
    /// the others, and all hashes. `error`: it was not made, for an error of this kind.
    fn push_outcome(
        &self,
        lines: &mut LogWriter<'_>,
        begun: &Begun,
        error: Option<ErrorKind>,
    ) -> Result<(), fs_guard::Error> {
        let plan = &self.plans[begun.plan];
        if !plan.is_empty() {
            let mut line = self.line(Phase::Outcome);
            match plan.changes() {
                [] => self.set_directory(&mut line, plan),
                [change] => self.set_change(&mut line, change),
                _ => {}
            }
            line.ok = Some(error.is_none());
            line.error_kind = error.map(|kind| kind.as_str().to_owned());
            begun.identify(&mut line);
            if error.is_none() {
                line.diff_sha256 = begun.diff.as_ref().map(Sha256::to_string);
            }
            lines.push(&mut line)?;
        }
        lines.answers(begun.id);
        Ok(())
    }

    /// Returns whether any intents are written.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Ends the call: writes the outcomes that are not written yet (the commits in `committed` were
    /// made, the others were not), and the failure, if no outcome has it.
    ///
    /// # Errors
    ///
    /// If the log cannot be written, or could not when a commit ended. Commits stay: their intents
    /// are in the log, and get their outcomes from the next lines that are written.
    pub fn finish(
        &mut self,
        committed: &[TransactionId],
        failure: Option<&ToolError>,
    ) -> Result<(), fs_guard::Error> {
        let kind = failure.map_or(ErrorKind::Unknown, |error| error.kind);
        let mut written = self.answer(committed, kind);
        if let Some(error) = failure.filter(|_| !std::mem::take(&mut self.failed)) {
            written = written.and(self.failed(error));
        }
        if std::mem::take(&mut self.purged) {
            self.unlock();
            // Lines that stay longer than they should are no reason to complain about a change: a
            // later commit tries again.
            let _ = self.purge_lines();
        }
        self.unwritten.take().map_or(written, Err)
    }

    /// Removes the lines of transactions that were purged, where nobody else is writing.
    fn purge_lines(&self) -> Result<(), commit::Error> {
        let Some(store) = self.workspace.store()? else { return Ok(()) };
        let Some(oldest) = store.newest_first()?.last().transpose()? else { return Ok(()) };
        let audit = self.audit.clone().with_lock_timeout(Duration::ZERO);
        purge::purge(&audit, self.workspace, &Cut::before(oldest), self.durable, false)?;
        Ok(())
    }

    /// Writes that a call failed before anything was intended.
    ///
    /// # Errors
    ///
    /// If the log cannot be written.
    pub fn failed(&mut self, error: &ToolError) -> Result<(), fs_guard::Error> {
        let mut line = self.line(Phase::Failed);
        line.path = self.recorded(error.path.as_deref().unwrap_or_default());
        line.ok = Some(false);
        line.error_kind = Some(error.kind.as_str().to_owned());
        line.reason = error.details["reason"].as_str().map(str::to_owned);
        line.profile = self.profile.map(|profile| profile.as_str().to_owned());
        self.append(|_, lines| lines.push(&mut line))
    }

    /// Writes that the turn has ended.
    ///
    /// # Errors
    ///
    /// If the log cannot be written.
    pub(crate) fn end_turn(&mut self) -> Result<(), fs_guard::Error> {
        let mut line = self.line(Phase::Ended);
        self.append(|_, lines| lines.push(&mut line))
    }

    /// Writes what became of a proposal.
    ///
    /// # Errors
    ///
    /// If the log cannot be written.
    pub(crate) fn of_proposal(&mut self, step: &ProposalStep<'_>) -> Result<(), fs_guard::Error> {
        let mut line = self.line(step.phase);
        line.proposal_id = Some(step.id.to_owned());
        line.why = step.why.map(str::to_owned);
        line.path = self.recorded(step.path);
        line.transaction_id = step.transaction.map(str::to_owned);
        self.append(|_, lines| lines.push(&mut line))
    }

    /// Writes the outcomes of the commits whose intents are in the log: those in `committed` were
    /// made, the others not, for an error of this kind.
    ///
    /// # Errors
    ///
    /// If the log cannot be written.
    pub fn answer(
        &mut self,
        committed: &[TransactionId],
        kind: ErrorKind,
    ) -> Result<(), fs_guard::Error> {
        let begun = std::mem::take(&mut self.begun);
        let ended = |id: &TransactionId| committed.contains(id);
        self.failed |=
            begun.iter().any(|begun| !ended(&begun.id) && !self.plans[begun.plan].is_empty());
        if begun.iter().all(|begun| self.plans[begun.plan].is_empty()) {
            return Ok(());
        }
        self.append(|recorder, lines| {
            for begun in &begun {
                let error = (!ended(&begun.id)).then_some(kind);
                recorder.push_outcome(lines, begun, error)?;
            }
            Ok(())
        })
    }

    /// Writes the intents of commits.
    ///
    /// # Errors
    ///
    /// If the log cannot be written.
    fn intend_each(&mut self, begun: Vec<Begun>) -> Result<(), String> {
        let unusable = |error: fs_guard::Error| format!("the audit log cannot be used: {error}");
        let since = self.since().map_err(unusable)?;
        let own: Vec<TransactionId> = self.begun.iter().map(|begun| begun.id).collect();
        let changes = |begun: &Begun| self.plans[begun.plan].changes().len();
        let is_short = begun.iter().map(changes).sum::<usize>() <= CHANGES_IN_NO_TIME;
        let end = if is_short && !self.runs_commands { End::Locked } else { End::Open };
        let written = self.audit.write(self.workspace, self.durable, since, end, |lines| {
            // The caller holds the lock, so an intent without an outcome was interrupted. (In a git
            // repository the session asks the branch.)
            let of_directory = begun.iter().all(|begun| begun.in_git.is_none());
            for open in lines.open().into_iter().filter(|open| of_directory && !own.contains(open))
            {
                if let Some(finished) = self.happened(open) {
                    self.push_recovered(self.audit, lines, open, finished)?;
                }
            }
            begun.iter().try_for_each(|begun| self.push_intents(lines, begun))
        });
        self.written = Some(written.map_err(unusable)?);
        (self.has_begun, self.failed) = (true, false);
        self.begun.extend(begun);
        Ok(())
    }

    /// Writes the intents of several commits of a git repository.
    ///
    /// # Errors
    ///
    /// If the log cannot be written; the commits are refused then.
    pub fn intend_several(
        &mut self,
        commits: impl IntoIterator<Item = IntendedCommit>,
    ) -> Result<(), String> {
        let mut begun = Vec::new();
        for IntendedCommit { id, plan, commit } in commits {
            begun.push(Begun { id, plan, diff: None, in_git: Some(commit) });
        }
        self.intend_each(begun)
    }

    /// Writes the outcomes of interrupted commits to the log of each session that intended one: of
    /// those that were recovered now, and of those that ended without writing an outcome.
    ///
    /// # Errors
    ///
    /// If a log cannot be written.
    pub(crate) fn write_recovered(&self, recovered: &[Recovered]) -> Result<(), fs_guard::Error> {
        let mut rest: Vec<&Recovered> = recovered.iter().collect();
        let mut answer = |audit: &Audit, lines: &mut LogWriter<'_>| {
            for id in lines.open() {
                let found = rest
                    .iter()
                    .position(|one| one.id == id)
                    .map(|at| rest.remove(at).outcome.clone());
                if let Some(finished) =
                    found.map(|outcome| outcome.has_happened()).or_else(|| self.happened(id))
                {
                    self.push_recovered(audit, lines, id, finished)?;
                }
            }
            Ok(())
        };
        if let Some(dir) = super::verify::folder(self.workspace)? {
            for session in super::verify::sessions(&dir)? {
                let Ok(session) = session.parse() else { continue };
                let audit = Audit { session, ..self.audit.clone() };
                audit.write(self.workspace, self.durable, None, End::Closed, |lines| {
                    answer(&audit, lines)
                })?;
            }
        }
        if rest.is_empty() {
            return Ok(());
        }
        // Those that are in no log.
        self.audit.write(self.workspace, self.durable, None, End::Closed, |lines| {
            let mut each = rest.iter();
            each.try_for_each(|one| {
                self.push_recovered(self.audit, lines, one.id, one.outcome.has_happened())
            })
        })?;
        Ok(())
    }

    /// Writes the outcomes of commits to a git repository whose processes were killed, to the log
    /// of each session that intended one. The caller holds the lock. `happened` gets the lines of
    /// an intent; it returns `None` if it cannot tell.
    ///
    /// # Errors
    ///
    /// If a log cannot be read or written.
    pub fn write_cut_off(
        &self,
        happened: impl Fn(&[Event]) -> Option<bool>,
    ) -> Result<(), fs_guard::Error> {
        let Some(dir) = super::verify::folder(self.workspace)? else { return Ok(()) };
        for session in super::verify::sessions(&dir)? {
            let Ok(session) = session.parse() else { continue };
            let audit = Audit { session, ..self.audit.clone() };
            audit.write(self.workspace, self.durable, None, End::Closed, |lines| {
                let open = lines.open();
                let intents = if open.is_empty() {
                    Vec::new()
                } else {
                    super::state::intents(&dir, &audit.session)?
                };
                for id in open {
                    let of_it = |event: &&Event| event.intends() == Some(id);
                    let intent: Vec<Event> = intents.iter().filter(of_it).cloned().collect();
                    if let Some(finished) = happened(&intent) {
                        self.push_recovered(&audit, lines, id, finished)?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn push_recovered(
        &self,
        audit: &Audit,
        lines: &mut LogWriter<'_>,
        id: TransactionId,
        finished: bool,
    ) -> Result<(), fs_guard::Error> {
        let mut line = self.line(Phase::Recovered);
        line.session_id = audit.session.as_str().to_owned();
        line.operation = Operation::Patch;
        line.ok = Some(finished);
        line.recovered = Some(if finished { "finished" } else { "reverted" }.to_owned());
        line.transaction_id = Some(id.to_string());
        lines.push(&mut line)?;
        lines.answers(id);
        Ok(())
    }

    /// Returns whether a commit that ended without an outcome in the log was made; `None` if that
    /// is not known (any more), or if it has not ended.
    fn happened(&self, id: TransactionId) -> Option<bool> {
        let store = self.workspace.store().ok()??;
        if store.is_unfinished(id).ok()? {
            return None;
        }
        let journal = store.unless_gone(id, store.journal(id)).ok()?;
        if journal.is_some() {
            return store.is_aborted(id).ok().map(|aborted| !aborted);
        }
        // It never existed, unless a purge removed it, and a purge removes the oldest first.
        let mut newer = 0;
        for other in store.newest_first().ok()? {
            if other.ok()? < id {
                return Some(false);
            }
            newer += 1;
        }
        (newer < self.always_kept).then_some(false)
    }

    fn append(
        &mut self,
        write: impl FnOnce(&Self, &mut LogWriter<'_>) -> Result<(), fs_guard::Error>,
    ) -> Result<(), fs_guard::Error> {
        let since = self.since()?;
        let write = |lines: &mut LogWriter<'_>| write(self, lines);
        self.written =
            Some(self.audit.write(self.workspace, self.durable, since, End::Closed, write)?);
        Ok(())
    }
}

impl Begun {
    /// Sets the fields of a line that tell which commit it is about.
    fn identify(&self, line: &mut Event) {
        line.transaction_id = Some(self.id.to_string());
        if let Some(commit) = &self.in_git {
            line.onto = Some(commit.onto.clone());
            line.commit.clone_from(&commit.commit);
            line.tree.clone_from(&commit.tree);
            line.branch.clone_from(&commit.branch);
        }
    }
}

impl CommitLog for Recorder<'_> {
    fn planned(&mut self, plan: &Arc<Plan>) {
        self.plans.push(Arc::clone(plan));
    }

    fn in_git(&mut self, commit: GitCommit) {
        self.in_git = Some(commit);
    }

    fn keeps(&mut self, diff: Sha256) {
        self.diff = Some(diff);
    }

    fn intend(&mut self, id: TransactionId) -> Result<(), String> {
        let plan = self.plans.len().checked_sub(1).ok_or("the audit log was not given the plan")?;
        let diff = self.diff.take();
        let in_git = self.in_git.take();
        self.intend_each(vec![Begun { id, plan, diff, in_git }])
    }

    fn ended(&mut self, ended: Result<TransactionId, Option<ErrorKind>>) {
        let (committed, kind) = match ended {
            Ok(id) => (vec![id], ErrorKind::Unknown),
            Err(Some(kind)) => (Vec::new(), kind),
            // Recovery writes the outcome.
            Err(None) => {
                self.begun.clear();
                self.unlock();
                return;
            }
        };
        if let Err(error) = self.answer(&committed, kind) {
            self.unwritten.get_or_insert(error);
        }
    }

    fn purged(&mut self) {
        self.purged = true;
    }

    fn file(&self) -> Option<&AppendFile> {
        self.written.as_ref().map(|written| &written.file)
    }

    fn recovered(&mut self, recovered: &[Recovered]) {
        // The outcome is on the disk. A failing log is no reason to refuse the next change.
        let _ = self.write_recovered(recovered);
    }
}
