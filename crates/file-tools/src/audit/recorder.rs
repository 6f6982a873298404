//! Writes the log while a commit happens.

use std::time::SystemTime;

use fs_guard::AppendFile;
use patch_engine::transaction::{CommitError, CommitObserver, Outcome, Recovered, TransactionId, Workspace};
use patch_engine::transition::{Content, Transition};
use patch_engine::{Applied, Change, ErrorKind, Plan, Report};

use super::event::{Event, Operation, Phase};
use super::{Audit, AuditError};
use crate::changes::capped;
use crate::error::ToolError;

/// Diffs of larger changes are left out.
const MAX_DIFFED: u64 = 1 << 20;

/// All diffs of one commit together.
const MAX_DIFFS: usize = 4 << 20;

/// The diffs of so many changes are made before the budget is looked at.
const CHANGES_AT_ONCE: usize = 256;

/// A thread costs about as much as the diffs of a few small changes.
const CHANGES_WORTH_A_THREAD: usize = 32;

/// Tells the log of one call, and hands on what it is told.
///
/// A commit is refused when the log cannot be written.
pub struct Recorder<'r> {
    audit: &'r Audit,
    workspace: &'r Workspace,
    tool: String,
    /// What the call is meant to do, for the case that it fails; and what changing a file is called.
    operation: Operation,
    durable: bool,
    inner: &'r mut dyn CommitObserver,
    planned: Option<Vec<Event>>,
    /// The commits that came as far as their intents.
    begun: Vec<(TransactionId, Vec<Event>)>,
    file: Option<AppendFile>,
}

impl std::fmt::Debug for Recorder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("tool", &self.tool).field("begun", &self.begun).finish_non_exhaustive()
    }
}

impl<'r> Recorder<'r> {
    /// Starts to tell of a call of `tool`; `inner` is told of its commits too.
    ///
    /// Only with `durable` is the log synced.
    pub fn new(
        audit: &'r Audit,
        workspace: &'r Workspace,
        tool: &str,
        operation: Operation,
        durable: bool,
        inner: &'r mut dyn CommitObserver,
    ) -> Self {
        let tool = tool.to_owned();
        Self { audit, workspace, tool, operation, durable, inner, planned: None, begun: Vec::new(), file: None }
    }

    fn event(&self, phase: Phase, operation: Operation, path: &str) -> Event {
        Event {
            timestamp: workspace_trash::format_time(SystemTime::now()),
            session_id: self.audit.session.to_string(),
            agent_name: self.audit.agent.clone(),
            tool_name: self.tool.clone(),
            phase,
            operation,
            path: path.to_owned(),
            to_path: None,
            before_sha256: None,
            after_sha256: None,
            diff: None,
            ok: None,
            error_kind: None,
            transaction_id: None,
            torn: None,
        }
    }

    fn of_change(&self, change: &Change) -> Event {
        let operation = match change.operation {
            patch_engine::Operation::Create => Operation::Create,
            patch_engine::Operation::Delete => Operation::Delete,
            patch_engine::Operation::Move => Operation::Move,
            patch_engine::Operation::Update => self.operation,
        };
        Event {
            to_path: change.to_path.as_ref().map(ToString::to_string),
            before_sha256: change.before.map(|hash| hash.to_string()),
            after_sha256: change.after.map(|hash| hash.to_string()),
            ..self.event(Phase::Intent, operation, change.path.as_str())
        }
    }

    /// Whether a commit came as far as its intents.
    pub(crate) fn has_begun(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Writes what became of the commits: those of `committed` happened, others did not.
    ///
    /// `reports` has their plans, as far as there are any, for the diffs.
    ///
    /// # Errors
    ///
    /// When the log cannot be written. What was committed stays so: its intent is in the log.
    pub fn finish(
        &mut self,
        committed: &[TransactionId],
        reports: &[Report],
        failure: Option<(ErrorKind, Option<&str>)>,
    ) -> Result<(), AuditError> {
        let mut events = Vec::new();
        let mut budget = MAX_DIFFS;
        let now = workspace_trash::format_time(SystemTime::now());
        for (id, intents) in std::mem::take(&mut self.begun) {
            let ok = committed.contains(&id);
            let report = reports.iter().find(|report| report.transaction == Some(id)).filter(|_| ok);
            let mut diffs = report.map_or(Vec::new(), |report| diffs(&report.plan, &mut budget)).into_iter();
            for intent in intents {
                let mut event = Event { timestamp: now.clone(), phase: Phase::Outcome, ok: Some(ok), ..intent };
                if !ok {
                    let kind = failure.map_or(ErrorKind::Unknown, |(kind, _)| kind);
                    event.error_kind = Some(kind.as_str().into());
                }
                event.diff = diffs.next().flatten();
                events.push(event);
            }
        }
        if let Some((kind, path)) = failure
            && events.iter().all(|event| event.ok == Some(true))
        {
            events.push(Event {
                ok: Some(false),
                error_kind: Some(kind.as_str().into()),
                ..self.event(Phase::Failed, self.operation, path.unwrap_or_default())
            });
        }
        if events.is_empty() { Ok(()) } else { self.audit.append(self.workspace, &events, self.durable) }
    }

    /// Writes what became of a patch: its outcomes, or that it failed.
    ///
    /// A workspace in which nothing was ever committed stays without a trace of a patch that does not fit.
    ///
    /// # Errors
    ///
    /// When the log cannot be written.
    pub fn applied(&mut self, applied: &Applied) -> Result<(), AuditError> {
        self.recovered(&applied.recovered)?;
        let failure = applied.failure.as_ref().map(|_| ToolError::applied(applied));
        if !self.has_begun() && !self.workspace.has_state() {
            return Ok(());
        }
        let committed: Vec<_> = applied.reports.iter().filter_map(|report| report.transaction).collect();
        let failure = failure.as_ref().map(|error| (error.kind, error.path.as_deref()));
        self.finish(&committed, &applied.reports, failure)
    }

    /// Writes what became of interrupted transactions.
    ///
    /// # Errors
    ///
    /// When the log cannot be written.
    pub fn recovered(&self, recovered: &[Recovered]) -> Result<(), AuditError> {
        let events: Vec<_> = recovered
            .iter()
            .map(|one| Event {
                ok: Some(one.outcome == Outcome::Completed),
                transaction_id: Some(one.id.to_string()),
                ..self.event(Phase::Recovered, Operation::Patch, "")
            })
            .collect();
        if events.is_empty() { Ok(()) } else { self.audit.append(self.workspace, &events, self.durable) }
    }
}

impl CommitObserver for Recorder<'_> {
    fn planned(&mut self, plan: &Plan) {
        let mut events: Vec<_> = plan.changes.iter().map(|change| self.of_change(change)).collect();
        // Directories are told of where nothing else changes.
        if events.is_empty() {
            let gone = plan.remove_dirs.last().map(|dir| (Operation::Delete, dir));
            let made = plan.create_dirs.first().map(|dir| (Operation::Create, dir));
            let told = gone.or(made).map(|(operation, dir)| self.event(Phase::Intent, operation, dir.as_str()));
            events.extend(told);
        }
        self.planned = Some(events);
        self.inner.planned(plan);
    }

    fn before_commit_point(&mut self, id: TransactionId, transitions: &[Transition]) -> Result<(), String> {
        self.inner.before_commit_point(id, transitions)?;
        let mut events = self.planned.clone().ok_or("what is committed was not told to the audit log")?;
        for event in &mut events {
            event.transaction_id = Some(id.to_string());
        }
        let written = self.audit.write(self.workspace, &events, self.durable);
        self.file = Some(written.map_err(|error| error.to_string())?);
        self.begun.push((id, events));
        Ok(())
    }

    fn log(&self) -> Option<&AppendFile> {
        self.file.as_ref()
    }

    fn published(&mut self, index: usize) {
        self.inner.published(index);
    }

    fn ended(&mut self, workspace: &Workspace, result: Result<&Report, (&Plan, &CommitError)>) {
        self.inner.ended(workspace, result);
    }
}

/// The diffs of a plan's changes, as far as the budget goes.
fn diffs(plan: &Plan, budget: &mut usize) -> Vec<Option<String>> {
    let mut all = Vec::with_capacity(plan.changes.len());
    for changes in plan.changes.chunks(CHANGES_AT_ONCE) {
        if *budget == 0 {
            break;
        }
        let diff = |change| diff(plan, change);
        let texts: Vec<_> = if changes.len() < CHANGES_WORTH_A_THREAD {
            changes.iter().map(diff).collect()
        } else {
            let (left, right) = changes.split_at(changes.len() / 2);
            std::thread::scope(|scope| {
                let right = scope.spawn(|| right.iter().map(diff).collect::<Vec<_>>());
                let left: Vec<_> = left.iter().map(diff).collect();
                left.into_iter().chain(right.join().expect("a diff does not panic")).collect()
            })
        };
        for text in texts {
            // What does not fit leaves room for those after it.
            let text = text.filter(|text| text.len() <= *budget);
            *budget -= text.as_ref().map_or(0, String::len);
            all.push(text);
        }
    }
    all
}

/// The diff of a change that is not too large.
fn diff(plan: &Plan, change: &Change) -> Option<String> {
    let transition = &plan.transitions[change.transition];
    let size = match &transition.after {
        Some(after) => match &after.content {
            Content::Spliced { splices, .. } | Content::SplicedFrom { splices, .. } => {
                splices.iter().map(|splice| (splice.end - splice.start + splice.text.len()) as u64).sum()
            }
            Content::CopyOf(_) => 0,
            _ => after.size + transition.before.as_ref().map_or(0, |before| before.metadata.size),
        },
        None => transition.before.as_ref().map_or(0, |before| before.metadata.size),
    };
    (size <= MAX_DIFFED).then(|| capped(&plan.diff(change)))
}
