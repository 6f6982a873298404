//! The whole road: lock, plan, ask, commit, report.

use std::sync::Arc;
use std::time::Duration;

use fs_guard::Root;
use patch_grammar::Patch;

use crate::options::Options;
use crate::plan::Plan;
use crate::planner::plan;
use crate::reject::Reject;
use crate::transaction::{CommitError, CommitObserver, CommitOptions, Recovered, TransactionId, Workspace};
use crate::{ErrorKind, transaction};

/// How a patch is applied, beside the rules of planning.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The rules of planning.
    pub options: Options,
    /// How the transaction is committed.
    pub commit: CommitOptions,
    /// How long to wait for another process. Default: 10 s.
    pub lock_timeout: Duration,
    /// Whether all sections are one transaction. Otherwise each is its own, and the first that fails
    /// is the last. Default: true.
    pub atomic: bool,
}

impl Settings {
    /// Settings with the rules `options`, and defaults for the rest.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, commit: CommitOptions::default(), lock_timeout: Duration::from_secs(10), atomic: true }
    }
}

/// What really happened.
#[derive(Debug)]
pub struct Applied {
    /// What was committed: one entry, or one for each section when they are applied one by one.
    pub reports: Vec<Report>,
    /// Interrupted transactions of earlier runs that were finished or reverted on the way.
    pub recovered: Vec<Recovered>,
    /// Why nothing, or nothing more, was committed.
    pub failure: Option<ApplyError>,
}

/// One committed transaction.
#[derive(Debug)]
pub struct Report {
    /// Its id; `None` when the patch changes nothing.
    pub transaction: Option<TransactionId>,
    /// What was done.
    pub plan: Arc<Plan>,
    /// For each transition of the plan, where the file it displaced is kept, relative to the root.
    pub trashed: Vec<Option<String>>,
}

/// Why a patch was not applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// It cannot be planned.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Rejected(Vec<Reject>),
    /// The workspace could not be locked or recovered.
    #[error(transparent)]
    Workspace(#[from] transaction::Error),
    /// It could not be committed.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The plan was shown and declined.
    #[error("declined; nothing was changed")]
    Declined,
}

impl ApplyError {
    /// The kind of SPEC §8; of several rejects the gravest: refusals, then stale files, then the first.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Rejected(rejects) => gravest(rejects).map_or(ErrorKind::Unknown, Reject::kind),
            Self::Workspace(error) => error.kind(),
            Self::Commit(error) => error.kind(),
            Self::Declined => ErrorKind::PermissionDenied,
        }
    }
}

/// The reject that decides how a failure is reported: a refused path goes before a stale file, and
/// that before everything else.
#[must_use]
pub fn gravest(rejects: &[Reject]) -> Option<&Reject> {
    let rank = |reject: &&Reject| match reject.kind() {
        ErrorKind::OutsideWorkspace => 0,
        ErrorKind::PermissionDenied => 1,
        ErrorKind::StaleFile => 2,
        _ => 3,
    };
    rejects.iter().min_by_key(rank)
}

/// Applies a patch to the files of a workspace.
///
/// `approve` sees exactly the plan that will be committed; when it answers `false`, nothing happens.
/// `observer` is told of the plan and its commit while it happens; of a patch that cannot be planned, or is
/// declined, it is told nothing.
pub fn apply(
    workspace: &Workspace,
    patch: &Patch<'_>,
    settings: &Settings,
    approve: &mut dyn FnMut(&Plan) -> bool,
    observer: &mut dyn CommitObserver,
) -> Applied {
    let mut applied = Applied { reports: Vec::new(), recovered: Vec::new(), failure: None };
    if settings.atomic {
        match apply_once(workspace, patch, settings, approve, observer, &mut applied.recovered) {
            Ok(report) => applied.reports.push(report),
            Err(error) => applied.failure = Some(error),
        }
        return applied;
    }
    let mut settings = settings.clone();
    for section in &patch.sections {
        let warnings = if applied.reports.is_empty() { patch.warnings.clone() } else { Vec::new() };
        let part = Patch { text: patch.text, sections: vec![section.clone()], warnings };
        match apply_once(workspace, &part, &settings, approve, observer, &mut applied.recovered) {
            Ok(report) => {
                // What was expected of a file is checked before it is changed for the first time.
                for change in &report.plan.transitions {
                    settings.options.expected.remove(change.path.as_str());
                }
                applied.reports.push(report);
            }
            Err(error) => {
                applied.failure = Some(error);
                break;
            }
        }
    }
    applied
}

fn apply_once(
    workspace: &Workspace,
    patch: &Patch<'_>,
    settings: &Settings,
    approve: &mut dyn FnMut(&Plan) -> bool,
    observer: &mut dyn CommitObserver,
    recovered: &mut Vec<Recovered>,
) -> Result<Report, ApplyError> {
    let mut plan_it = |root: &Root| {
        let plan = plan(root, patch, &settings.options).map_err(ApplyError::Rejected)?;
        if plan.is_empty() || approve(&plan) { Ok(plan) } else { Err(ApplyError::Declined) }
    };
    carry_out(workspace, settings.lock_timeout, &settings.commit, &mut plan_it, observer, recovered)
}

/// Locks, plans and commits: the road of every change, back as well as forth.
///
/// `plan` may be asked a second time, when files changed between its answer and the lock. What was
/// found interrupted on the way is added to `recovered`.
///
/// # Errors
///
/// Those of `plan`, and those of locking and committing.
pub fn carry_out<E: From<transaction::Error> + From<CommitError>>(
    workspace: &Workspace,
    lock_timeout: Duration,
    commit: &CommitOptions,
    plan: &mut dyn FnMut(&Root) -> Result<Plan, E>,
    observer: &mut dyn CommitObserver,
    recovered: &mut Vec<Recovered>,
) -> Result<Report, E> {
    // The lock is held from the first look at the files to the last change. Only where no patch was
    // ever applied is there no place for a lock yet: it is made when it is known that the patch
    // fits, so that one that does not leaves no trace. Should a second process do the same at the
    // same time, the commit finds files that are not as planned, and the patch is planned anew.
    let mut lock_first = workspace.has_state();
    loop {
        workspace.root().forget();
        let early = if lock_first { Some(workspace.lock(lock_timeout)?) } else { None };
        recovered.extend(early.iter().flat_map(|locked| locked.recovered().iter().cloned()));
        let plan = Arc::new(plan(workspace.root())?);
        if plan.is_empty() {
            return Ok(Report { transaction: None, plan, trashed: Vec::new() });
        }
        let locked = match early {
            Some(locked) => locked,
            None => workspace.lock(lock_timeout)?,
        };
        observer.planned(&plan);
        let options = CommitOptions {
            undo_of: plan.undo_of,
            partial_undo: plan.partial_undo,
            remove_dirs: plan.remove_dirs.clone(),
            dir_modes: plan.dir_modes.clone(),
            ..commit.clone()
        };
        match locked.commit(&plan.transitions, &plan.create_dirs, &options, observer) {
            Ok(committed) => {
                let report = Report { transaction: Some(committed.id), plan, trashed: committed.trashed };
                observer.ended(workspace, Ok(&report));
                return Ok(report);
            }
            Err(CommitError::Stale(_)) if !lock_first => lock_first = true,
            Err(error) => {
                observer.ended(workspace, Err((&plan, &error)));
                return Err(error.into());
            }
        }
    }
}
