//! The host of a change: approves it, may cancel it, and receives events.

use std::sync::Arc;

use fs_guard::{AppendFile, Cancellation, RelPath, Sha256, quoted};
use workspace_trash::TransactionId;

use crate::commit::error::CommitError;
use crate::commit::recovered::Recovered;
use crate::commit::report::Report;
use crate::plan::Plan;
use crate::plan::kind::ErrorKind;

/// The caller of a change: a terminal, a tool server, a program. `()` approves everything and
/// ignores events.
///
/// For each plan it is asked with [`approve`](Self::approve), and receives, as far as the commit
/// gets: [`Event::Planned`], [`Event::Staged`], [`Event::Published`] for each path,
/// [`Event::Verifying`] where that is wanted, and [`Event::Committed`] or [`Event::Failed`]. A plan
/// that was overtaken by a change of a file is announced again instead of ending.
#[expect(unused_variables, reason = "the names are for the documentation")]
pub trait Host {
    /// Decides about exactly the plan to commit.
    ///
    /// # Errors
    ///
    /// When the plan cannot be shown, as a file has changed since. Nothing is committed then.
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        Ok(Decision::Approve)
    }

    /// Returns the patch that takes the place of the one whose plan it has
    /// [edited](Decision::Edit), once.
    fn edited(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Returns how the change is given up. It is polled for each file and each megabyte, while
    /// planning, staging and syncing, and by the check of [`Verify`](super::Verify): everything is
    /// then as it was before, and the kind of the error is [`ErrorKind::Cancelled`]. From the
    /// commit point on the change is finished.
    fn cancellation(&self) -> Cancellation {
        Cancellation::NEVER
    }

    /// Receives an event.
    fn event(&mut self, event: &Event<'_>) {}
}

impl Host for () {}

/// Why a person is asked about a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A file is deleted.
    Deletes {
        /// The file.
        path: RelPath,
    },
    /// A whole file is replaced: by one moved there, or by a rewritten one.
    Replaces {
        /// The file.
        path: RelPath,
    },
    /// A file makes tools run code.
    Guarded {
        /// The file.
        path: RelPath,
        /// The pattern of the guard.
        glob: String,
    },
    /// A symbolic link is made, or leads elsewhere.
    Links {
        /// The link.
        path: RelPath,
    },
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Deletes { path } => write!(f, "{} is deleted", quoted(path.as_str())),
            Self::Replaces { path } => write!(f, "{} is replaced", quoted(path.as_str())),
            Self::Guarded { path, glob } => {
                write!(
                    f,
                    "{} is guarded by `{glob}`: such files make tools run code",
                    quoted(path.as_str())
                )
            }
            Self::Links { path } => write!(f, "{} becomes a symbolic link", quoted(path.as_str())),
        }
    }
}

/// A request for approval.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request<'p> {
    /// Exactly the plan that will be committed; its changes have the paths of sources and
    /// destinations.
    pub plan: &'p Plan,
    /// Why it is asked; with
    /// [`ApprovalPolicy::Always`](crate::commit::approval::ApprovalPolicy::Always) there may be
    /// none.
    pub reasons: Vec<Reason>,
    /// The plan is that of a patch that the host [edited](Decision::Edit), and it touches no path
    /// that the plan before it did not touch.
    pub edited: bool,
}

impl<'p> Request<'p> {
    /// Makes a request without a reason.
    #[must_use]
    pub fn new(plan: &'p Plan) -> Self {
        Self { plan, reasons: Vec::new(), edited: false }
    }
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// This plan may be committed.
    Approve,
    /// This plan may be committed, and later ones that do no more than it to the same paths.
    ApproveForSession,
    /// This plan may be committed, and until the [turn](super::approval::Approvals::begin_turn)
    /// ends, later ones for which there is no other kind of reason to ask than for it. Without an
    /// open turn it is only this one.
    ApproveForTurn,
    /// Nothing may be changed.
    Decline,
    /// This plan may not be committed, and the host has [another patch](Host::edited) in place of
    /// the one that it is made of. What cannot be edited is declined.
    Edit,
    /// Nothing may be changed now: approval was requested elsewhere, and the same call will be made
    /// again.
    Postpone,
}

impl Decision {
    /// Returns whether the plan may be committed.
    #[must_use]
    pub fn approves(self) -> bool {
        matches!(self, Self::Approve | Self::ApproveForSession | Self::ApproveForTurn)
    }
}

/// An event of a change.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'e> {
    /// Interrupted transactions of earlier processes were finished or reverted.
    Recovered(&'e [Recovered]),
    /// The decision about a plan.
    Decided {
        /// The plan may be committed.
        approved: bool,
        /// Somebody was asked; otherwise the policy or an earlier answer decided.
        asked: bool,
    },
    /// This plan will be committed.
    Planned(&'e Arc<Plan>),
    /// All files of the transaction are written, and none has its name yet. A second attempt sends
    /// this again.
    Staged(TransactionId),
    /// The transition of this index is published; the commit can still be rolled back.
    Published(usize),
    /// All is published, and the check begins.
    Verifying(TransactionId),
    /// The plan is committed.
    Committed(&'e Report),
    /// The plan could not be committed.
    Failed {
        /// The plan.
        plan: &'e Plan,
        /// Everything is as before.
        rolled_back: bool,
    },
    /// The change could not be logged in full; why.
    Unlogged(&'e str),
    /// The plan is committed, but its journal is not signed, since there is no place for a key. A
    /// program that has a key cannot tell whose change this is.
    Unsigned,
    /// A power cut may undo the change; why.
    NotDurable(&'e str),
    /// The plan is committed, but what it displaced could not be moved to the trash; why. The next
    /// process that takes the lock moves it there.
    NotInTrash(&'e str),
}

/// A commit of a git repository that is about to be published, for the log.
#[derive(Debug, Clone)]
pub struct GitCommit {
    /// The id of the commit that the change is based on.
    pub onto: String,
    /// The id of the new commit, if it is written.
    pub commit: Option<String>,
    /// The id of its tree.
    pub tree: Option<String>,
    /// The name of the branch that is moved to it, if one is.
    pub branch: Option<String>,
}

/// A log of commits, written before they happen. `()` keeps none.
#[expect(unused_variables, reason = "the names are for the documentation")]
pub trait CommitLog {
    /// Interrupted transactions of earlier processes were finished or reverted.
    fn recovered(&mut self, recovered: &[Recovered]) {}

    /// This plan will be committed. The host may keep it, to work on it meanwhile.
    fn planned(&mut self, plan: &Arc<Plan>) {}

    /// The next commit is one of a git repository.
    fn in_git(&mut self, commit: GitCommit) {}

    /// The next commit keeps its diff, as bytes with this hash.
    fn keeps(&mut self, diff: Sha256) {}

    /// All files are staged and nothing is published: writes down what is about to happen.
    ///
    /// # Errors
    ///
    /// When the log cannot be written. The commit is refused then.
    fn intend(&mut self, id: TransactionId) -> Result<(), String> {
        Ok(())
    }

    /// The commit has ended, and the lock is still held: all of it happened, or nothing, with the
    /// kind of the error. Without a kind, recovery finds out whether it happened.
    fn ended(&mut self, ended: Result<TransactionId, Option<ErrorKind>>) {}

    /// Old transactions were purged. Called now and then, not for each of them.
    fn purged(&mut self) {}

    /// Returns the file to be made durable together with the journal.
    fn file(&self) -> Option<&AppendFile> {
        None
    }
}

impl CommitLog for () {}

/// Logs and tells what is about to happen, when all is staged and nothing is published. Writing
/// that may take a while, so whether it is given up is polled before and after it.
///
/// # Errors
///
/// When the host cancels, or the log cannot be written; the commit is then refused.
pub fn intend(
    id: TransactionId,
    log: &mut dyn CommitLog,
    host: &mut dyn Host,
) -> Result<(), CommitError> {
    let cancellation = host.cancellation();
    cancellation.check()?;
    log.intend(id).map_err(CommitError::Refused)?;
    cancellation.check()?;
    host.event(&Event::Staged(id));
    Ok(())
}
