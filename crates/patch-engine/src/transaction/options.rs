//! How a transaction is committed.

use std::collections::BTreeMap;
use std::sync::Arc;

use fs_guard::{AppendFile, RelPath};
use workspace_trash::{Retention, TransactionId};

use super::error::CommitError;
use super::workspace::Workspace;
use crate::apply::Report;
use crate::plan::Plan;
use crate::transition::Transition;

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Power loss: everything is on the disk before it counts.
    #[default]
    Full,
    /// The end of the process at any instant; nothing is waited for.
    Process,
    /// As `Process`, and nothing at all is promised after a power loss, on any file system.
    None,
}

/// What a commit needs to know beside the plan.
#[derive(Debug, Clone, Default)]
pub struct CommitOptions {
    /// What it survives.
    pub durability: Durability,
    /// The tool that was called, for the journal.
    pub tool: Option<String>,
    /// The agent that called it.
    pub agent: Option<String>,
    /// The session it was called in.
    pub session: Option<String>,
    /// The transaction that it undoes.
    pub undo_of: Option<TransactionId>,
    /// It undoes a part of that only.
    pub partial_undo: bool,
    /// Directories that go when they are empty in the end, innermost first.
    pub remove_dirs: Vec<RelPath>,
    /// Permissions of created directories that are not the default.
    pub dir_modes: BTreeMap<RelPath, u32>,
    /// How long displaced files are kept.
    pub retention: Retention,
}

/// Who is told of a plan and its commit while it happens.
///
/// For each plan that is to be committed: [`planned`](Self::planned),
/// [`before_commit_point`](Self::before_commit_point), [`published`](Self::published) for each of its paths, and
/// [`ended`](Self::ended). A failed commit may end early; a plan that was overtaken by a change of a file is
/// told again instead of ending.
///
/// Two observers are one: a pair tells both, the first one first. Of two logs the first one's counts.
pub trait CommitObserver {
    /// This is what will be committed; whoever works on it meanwhile can keep it.
    fn planned(&mut self, plan: &Arc<Plan>) {
        let _ = plan;
    }

    /// Everything is staged and nothing is published: the last moment to refuse.
    ///
    /// The audit log writes here what is about to happen.
    fn before_commit_point(&mut self, id: TransactionId, transitions: &[Transition]) -> Result<(), String> {
        let _ = (id, transitions);
        Ok(())
    }

    /// A log that shall be durable together with the journal.
    fn log(&self) -> Option<&AppendFile> {
        None
    }

    /// The transition of this index is published; the commit can still be rolled back.
    fn published(&mut self, index: usize) {
        let _ = index;
    }

    /// What became of the plan that was told last. After a failure
    /// [`is_rolled_back`](CommitError::is_rolled_back) tells whether anything is changed.
    fn ended(&mut self, workspace: &Workspace, result: Result<&Report, (&Plan, &CommitError)>) {
        let _ = (workspace, result);
    }
}

/// Nobody is told.
impl CommitObserver for () {}

impl<O: CommitObserver + ?Sized> CommitObserver for &mut O {
    fn planned(&mut self, plan: &Arc<Plan>) {
        (**self).planned(plan);
    }

    fn before_commit_point(&mut self, id: TransactionId, transitions: &[Transition]) -> Result<(), String> {
        (**self).before_commit_point(id, transitions)
    }

    fn log(&self) -> Option<&AppendFile> {
        (**self).log()
    }

    fn published(&mut self, index: usize) {
        (**self).published(index);
    }

    fn ended(&mut self, workspace: &Workspace, result: Result<&Report, (&Plan, &CommitError)>) {
        (**self).ended(workspace, result);
    }
}

/// Nobody may be told.
impl<O: CommitObserver> CommitObserver for Option<O> {
    fn planned(&mut self, plan: &Arc<Plan>) {
        if let Some(observer) = self {
            observer.planned(plan);
        }
    }

    fn before_commit_point(&mut self, id: TransactionId, transitions: &[Transition]) -> Result<(), String> {
        self.as_mut().map_or(Ok(()), |observer| observer.before_commit_point(id, transitions))
    }

    fn log(&self) -> Option<&AppendFile> {
        self.as_ref()?.log()
    }

    fn published(&mut self, index: usize) {
        if let Some(observer) = self {
            observer.published(index);
        }
    }

    fn ended(&mut self, workspace: &Workspace, result: Result<&Report, (&Plan, &CommitError)>) {
        if let Some(observer) = self {
            observer.ended(workspace, result);
        }
    }
}

impl<A: CommitObserver, B: CommitObserver> CommitObserver for (A, B) {
    fn planned(&mut self, plan: &Arc<Plan>) {
        self.0.planned(plan);
        self.1.planned(plan);
    }

    fn before_commit_point(&mut self, id: TransactionId, transitions: &[Transition]) -> Result<(), String> {
        self.0.before_commit_point(id, transitions)?;
        self.1.before_commit_point(id, transitions)
    }

    fn log(&self) -> Option<&AppendFile> {
        self.0.log().or_else(|| self.1.log())
    }

    fn published(&mut self, index: usize) {
        self.0.published(index);
        self.1.published(index);
    }

    fn ended(&mut self, workspace: &Workspace, result: Result<&Report, (&Plan, &CommitError)>) {
        self.0.ended(workspace, result);
        self.1.ended(workspace, result);
    }
}
