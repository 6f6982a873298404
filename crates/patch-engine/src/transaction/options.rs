//! How a transaction is committed.

use std::collections::BTreeMap;

use fs_guard::{AppendFile, RelPath};
use workspace_trash::{Retention, TransactionId};

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

/// Who is told of a commit while it happens.
pub trait CommitObserver {
    /// This is what will be committed.
    fn planned(&mut self, plan: &Plan) {
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
}

/// Nobody is told.
impl CommitObserver for () {}
