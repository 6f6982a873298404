//! Writes the log while a commit happens.

use std::sync::Arc;
use std::time::SystemTime;

use fs_guard::AppendFile;
use patch_engine::transaction::{Outcome, Recovered, TransactionId, Workspace};
use patch_engine::{Change, CommitLog, ErrorKind, Plan};

use super::Audit;
use super::chain::{End, Lines, Written};
use super::diffs::{Diffs, MAX_DIFFS};
use super::error::AuditError;
use super::event::{Operation, Phase};
use super::json;
use super::strings::Strings;

/// Records one call in the log.
///
/// A commit is refused when the log cannot be written.
pub(crate) struct Recorder<'r> {
    audit: &'r Audit,
    workspace: &'r Workspace,
    tool: String,
    /// What the call is meant to do, for the case that it fails; and what changing a file is called.
    operation: Operation,
    durable: bool,
    /// Of a commit in a git repository, what its lines have beside those of a directory.
    git: Option<GitFields>,
    plans: Vec<Planned>,
    /// The commits that came as far as their intents, each with the index of its plan.
    begun: Vec<(TransactionId, usize)>,
    /// Where the last lines ended.
    written: Option<Written>,
}

/// What the lines of a commit in a git repository have beside those of a directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct GitFields {
    pub(crate) onto: String,
    pub(crate) commit: String,
    pub(crate) tree: String,
    pub(crate) branch: Option<String>,
}

/// The fields of a plan's changes.
#[derive(Debug)]
struct Planned {
    /// Before the commit and after.
    changes: Strings,
    /// After it only.
    diffs: Option<Diffs>,
}

impl std::fmt::Debug for Recorder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("tool", &self.tool).field("begun", &self.begun).finish_non_exhaustive()
    }
}

impl<'r> Recorder<'r> {
    /// Starts to record a call of `tool`.
    ///
    /// Only with `durable` is the log synced.
    pub(crate) fn new(
        audit: &'r Audit,
        workspace: &'r Workspace,
        tool: &str,
        operation: Operation,
        durable: bool,
    ) -> Self {
        let tool = tool.to_owned();
        let (git, plans, begun, written) = (None, Vec::new(), Vec::new(), None);
        Self { audit, workspace, tool, operation, durable, git, plans, begun, written }
    }

    /// The lines from now on are about this commit.
    #[cfg(feature = "git")]
    pub(crate) fn of_commit(&mut self, fields: GitFields) {
        self.git = Some(fields);
    }

    /// What the lines of a commit end with, but for their place in the chain.
    fn closing(&self, ok: Option<bool>, error: Option<ErrorKind>, id: TransactionId) -> Vec<u8> {
        let mut out = closing(ok, error, Some(id));
        if let Some(GitFields { onto, commit, tree, branch }) = &self.git {
            json::field(&mut out, "onto", onto);
            json::field(&mut out, "commit", commit);
            json::field(&mut out, "tree", tree);
            if let Some(branch) = branch {
                json::field(&mut out, "branch", branch);
            }
        }
        out
    }

    /// What all lines of a phase begin with.
    fn opening(&self, phase: Phase) -> Vec<u8> {
        let mut out = b"{".to_vec();
        json::field(&mut out, "timestamp", &workspace_trash::format_time(SystemTime::now()));
        json::field(&mut out, "sessionId", self.audit.session.as_str());
        if let Some(agent) = &self.audit.agent {
            json::field(&mut out, "agentName", agent);
        }
        json::field(&mut out, "toolName", &self.tool);
        json::field(&mut out, "phase", phase.as_str());
        out
    }

    fn change(&self, out: &mut Vec<u8>, change: &Change) {
        let operation = match change.operation {
            patch_engine::ChangeKind::Create => Operation::Create,
            patch_engine::ChangeKind::Delete => Operation::Delete,
            patch_engine::ChangeKind::Move => Operation::Move,
            patch_engine::ChangeKind::Update => self.operation,
        };
        what(out, operation, change.path.as_str());
        if let Some(to) = &change.to_path {
            json::field(out, "toPath", to.as_str());
        }
        if let Some(before) = &change.before {
            json::hash(out, "beforeSha256", before);
        }
        if let Some(after) = &change.after {
            json::hash(out, "afterSha256", after);
        }
    }

    /// Whether a commit came as far as its intents.
    pub(crate) fn has_begun(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Writes what became of the commits: those of `committed` happened, others did not.
    ///
    /// # Errors
    ///
    /// When the log cannot be written. What was committed stays so: its intent is in the log.
    pub(crate) fn finish(
        &mut self,
        committed: &[TransactionId],
        failure: Option<(ErrorKind, Option<&str>)>,
    ) -> Result<(), AuditError> {
        let begun = std::mem::take(&mut self.begun);
        let mut plans = std::mem::take(&mut self.plans);
        let ended = |id: &TransactionId| committed.contains(id);
        // The diffs are waited for before the log is locked.
        let mut room = MAX_DIFFS;
        let mut diffs = |(id, plan): &(TransactionId, usize)| {
            let diffs = if ended(id) { plans[*plan].diffs.take() } else { None };
            diffs.map(|diffs| diffs.finish(*id, &mut room)).unwrap_or_default()
        };
        let diffs: Vec<Strings> = begun.iter().map(&mut diffs).collect();
        let changes = |plan: usize| &plans[plan].changes;
        let failed = failure.filter(|_| begun.iter().all(|&(id, plan)| ended(&id) || changes(plan).is_empty()));
        if begun.iter().all(|&(_, plan)| changes(plan).is_empty()) && failed.is_none() {
            return Ok(());
        }
        let opening = self.opening(Phase::Outcome);
        let kind = failure.map_or(ErrorKind::Unknown, |(kind, _)| kind);
        self.append(|lines| {
            for (&(id, plan), diffs) in begun.iter().zip(&diffs) {
                let closing = self.closing(Some(ended(&id)), (!ended(&id)).then_some(kind), id);
                let mut diffs = diffs.iter();
                for change in changes(plan).iter() {
                    lines.push(&[&opening, change, diffs.next().unwrap_or_default(), &closing])?;
                }
            }
            match failed {
                Some((_, path)) => {
                    let mut opening = self.opening(Phase::Failed);
                    what(&mut opening, self.operation, path.unwrap_or_default());
                    lines.push(&[&opening, &closing(Some(false), Some(kind), None)])
                }
                None => Ok(()),
            }
        })
    }

    /// Writes what became of interrupted transactions.
    ///
    /// # Errors
    ///
    /// When the log cannot be written.
    pub(crate) fn write_recovered(&self, recovered: &[Recovered]) -> Result<(), AuditError> {
        if recovered.is_empty() {
            return Ok(());
        }
        let mut opening = self.opening(Phase::Recovered);
        what(&mut opening, Operation::Patch, "");
        self.append(|lines| {
            recovered.iter().try_for_each(|one| {
                let closing = closing(Some(one.outcome == Outcome::Completed), None, Some(one.id));
                lines.push(&[&opening, &closing])
            })
        })
    }

    fn append(&self, write: impl FnOnce(&mut Lines<'_>) -> Result<(), fs_guard::Error>) -> Result<(), AuditError> {
        let since = self.written.as_ref().map(|written| written.head);
        self.audit.write(self.workspace, self.durable, since, End::Closed, write)?;
        Ok(())
    }
}

/// What is done, and to which path.
fn what(out: &mut Vec<u8>, operation: Operation, path: &str) {
    json::field(out, "operation", operation.as_str());
    json::field(out, "path", path);
}

/// What a line ends with, but for its place in the chain.
fn closing(ok: Option<bool>, error: Option<ErrorKind>, id: Option<TransactionId>) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(ok) = ok {
        json::flag(&mut out, "ok", ok);
    }
    if let Some(error) = error {
        json::field(&mut out, "errorKind", error.as_str());
    }
    if let Some(id) = id {
        json::field(&mut out, "transactionId", &id.to_string());
    }
    out
}

impl CommitLog for Recorder<'_> {
    fn planned(&mut self, plan: &Arc<Plan>) {
        let mut changes = Strings::with_capacity(plan.changes().len(), 256 * plan.changes().len());
        for change in plan.changes() {
            changes.push(|out| self.change(out, change));
        }
        // Directories are logged where nothing else changes.
        if changes.is_empty() {
            let gone = plan.remove_dirs().last().map(|dir| (Operation::Delete, dir));
            let made = plan.create_dirs().next().map(|dir| (Operation::Create, dir));
            if let Some((operation, dir)) = gone.or(made) {
                changes.push(|out| what(out, operation, dir.as_str()));
            }
        }
        self.plans.push(Planned { changes, diffs: Some(Diffs::begin(plan)) });
    }

    fn intend(&mut self, id: TransactionId) -> Result<(), String> {
        let plan = self.plans.len().checked_sub(1).ok_or("the audit log was not given the plan")?;
        let changes = &self.plans[plan].changes;
        let (opening, closing) = (self.opening(Phase::Intent), self.closing(None, None, id));
        let since = self.written.as_ref().map(|written| written.head);
        let written = self.audit.write(self.workspace, self.durable, since, End::Open, |lines| {
            changes.iter().try_for_each(|change| lines.push(&[&opening, change, &closing]))
        });
        self.written = Some(written.map_err(|error| error.to_string())?);
        self.begun.push((id, plan));
        Ok(())
    }

    fn file(&self) -> Option<&AppendFile> {
        self.written.as_ref().map(|written| &written.file)
    }

    fn recovered(&mut self, recovered: &[Recovered]) {
        // What became of them is on the disk; the log is no reason to refuse what comes.
        let _ = self.write_recovered(recovered);
    }
}
