//! The host of a change: approves it, may cancel it, and receives events.

use std::sync::Arc;

use fs_guard::{AppendFile, RelPath};
use workspace_trash::TransactionId;

use crate::plan::Plan;
use crate::report::Report;
use crate::transaction::error::CommitError;
use crate::transaction::recovered::Recovered;

/// Who asks for a change: a terminal, a tool server, a program. `()` approves everything and hears nothing.
///
/// For each plan it is asked with [`approve`](Self::approve), and receives, as far as the commit gets: [`Event::Planned`],
/// [`Event::Staged`], [`Event::Published`] for each path, [`Event::Verifying`] where that is wanted, and [`Event::Committed`] or [`Event::Failed`]. A plan that was
/// overtaken by a change of a file is announced again instead of ending.
#[expect(unused_variables, reason = "the names are for the documentation")]
pub trait Host {
    /// Decides about exactly the plan that will be committed.
    ///
    /// # Errors
    ///
    /// When the plan cannot be shown, as a file has changed since. Nothing is committed then.
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        Ok(Decision::Approve)
    }

    /// Whether the change is to be given up. It is asked now and then, and the last time before anything is published:
    /// what is past that is finished.
    fn cancelled(&self) -> bool {
        false
    }

    /// Hears what happens.
    fn event(&mut self, event: &Event<'_>) {}
}

impl Host for () {}

/// Why a plan is worth a question.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A file goes away.
    Deletes {
        /// The file.
        path: RelPath,
    },
    /// A file gives way to another, whole: to one that moves there, or to one that is written anew.
    Replaces {
        /// The file.
        path: RelPath,
    },
    /// A file makes tools run code.
    Guarded {
        /// The file.
        path: RelPath,
        /// The pattern that guards it.
        glob: String,
    },
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Deletes { path } => write!(f, "{path} is deleted"),
            Self::Replaces { path } => write!(f, "{path} is replaced"),
            Self::Guarded { path, glob } => write!(f, "{path} is guarded by {glob:?}: such files make tools run code"),
        }
    }
}

/// What is asked.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request<'p> {
    /// Exactly the plan that will be committed; its changes have the paths of sources and destinations.
    pub plan: &'p Plan,
    /// Why it is asked; with [`ApprovalPolicy::Always`](crate::approval::ApprovalPolicy::Always) there may be none.
    pub reasons: Vec<Reason>,
}

impl<'p> Request<'p> {
    /// Asks about a plan, for no reason of its own.
    #[must_use]
    pub fn new(plan: &'p Plan) -> Self {
        Self { plan, reasons: Vec::new() }
    }
}

/// What is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// This plan may be committed.
    Approve,
    /// This plan may be committed, and later ones that do no more than it to the same paths.
    ApproveForSession,
    /// Nothing may be changed.
    Decline,
    /// Nothing may be changed now: approval was requested elsewhere, and the same call will be made again.
    Postpone,
}

/// Something that happened.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'e> {
    /// Transactions of earlier processes that were cut off were finished or reverted.
    Recovered(&'e [Recovered]),
    /// What was decided about a plan.
    Decided {
        /// It may be committed.
        approved: bool,
        /// Somebody was asked; otherwise the policy or an earlier answer decided.
        asked: bool,
    },
    /// This is what will be committed.
    Planned(&'e Arc<Plan>),
    /// All files of the transaction are written, and none has its name yet. A second attempt tells it again.
    Staged(TransactionId),
    /// The transition of this index is published; the commit can still be rolled back.
    Published(usize),
    /// All is published, and the check that has to accept it begins.
    Verifying(TransactionId),
    /// The plan is committed.
    Committed(&'e Report),
    /// The plan could not be committed; [`is_rolled_back`](CommitError::is_rolled_back) tells whether anything is changed.
    Failed(&'e Plan, &'e CommitError),
    /// What was done could not be written down in full; why.
    Unlogged(&'e str),
    /// The plan is committed, and its journal is not signed, for there is no place for a key: elsewhere, where there is one, it is
    /// not known whose change this is.
    Unsigned,
    /// What was done may be undone by a power cut; why.
    NotDurable(&'e str),
}

/// A log of commits that is written before they happen. `()` keeps none.
#[expect(unused_variables, reason = "the names are for the documentation")]
pub trait CommitLog {
    /// Transactions of earlier processes that were cut off were finished or reverted.
    fn recovered(&mut self, recovered: &[Recovered]) {}

    /// This plan will be committed. The host may keep it, to work on it meanwhile.
    fn planned(&mut self, plan: &Arc<Plan>) {}

    /// All files are staged and nothing is published: what is about to happen is written down.
    ///
    /// # Errors
    ///
    /// When that is not possible. The commit is refused then.
    fn intend(&mut self, id: TransactionId) -> Result<(), String> {
        Ok(())
    }

    /// What was intended has ended, and the workspace is still locked: all of it happened, or why not. Whether it did after
    /// an error that [is not rolled back](CommitError::is_rolled_back) is for recovery to find out.
    fn ended(&mut self, ended: Result<TransactionId, &CommitError>) {}

    /// The file that has to be durable together with the journal.
    fn file(&self) -> Option<&AppendFile> {
        None
    }
}

impl CommitLog for () {}
