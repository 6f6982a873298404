//! From a plan to a report: the same steps in a directory and in a git repository.

use std::sync::Arc;

use super::error::Error;
use super::host::{CommitLog, Decision, Event, Host, Request};
use super::protocol::Committed;
use super::recovered::Recovered;
use super::report::Report;
use crate::plan::Plan;
use crate::plan::kind::ErrorKind;

/// Plans changes for one place and commits them there; [`commit_to`] has the steps.
///
/// Some things differ by nature:
///
/// * A directory has its new files staged in the state directory. The commit point is a journal
///   that is synced. Then each file is swapped for its new version, and the displaced one is
///   checked: what others do is found file by file, and rolled back. From the journal, recovery
///   finishes or reverts what was cut off. The displaced files are kept for undo.
/// * A git repository gets objects that nothing names yet. The commit point is the move of a
///   branch, which is compared and swapped in one step after they are durable: what others do is
///   found there. A process that is cut off leaves the branch where it was or where it should be,
///   so there is nothing to recover, and the parent commit has what was displaced.
pub trait Committer {
    /// Why there is no plan, or no commit.
    type Error: From<Error>;

    /// Makes the plan; another one if the last one was [overtaken](NotCommitted::overtaken).
    ///
    /// # Errors
    ///
    /// When nothing can be planned. Nothing is changed then.
    fn plan(&mut self, log: &mut dyn CommitLog, host: &mut dyn Host) -> Result<Plan, Self::Error>;

    /// Commits all of a plan, or nothing: stages it, [intends](super::host::intend) and publishes
    /// it. The lock is kept until the next plan, as the outcome is logged first.
    ///
    /// # Errors
    ///
    /// When the plan is not committed.
    fn commit(
        &mut self,
        plan: &Arc<Plan>,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
    ) -> Result<Committed, NotCommitted<Self::Error>>;

    /// Returns the interrupted transactions of earlier processes that were finished or reverted on
    /// the way.
    fn recovered(&mut self) -> Vec<Recovered> {
        Vec::new()
    }
}

/// How a commit failed.
#[derive(Debug)]
pub struct NotCommitted<E> {
    /// Why.
    pub error: E,
    /// Its kind.
    pub kind: ErrorKind,
    /// Whether everything is as before. Otherwise recovery finds out.
    pub rolled_back: bool,
    /// Whether others changed the files after they were read: a new plan may succeed.
    pub overtaken: bool,
}

impl<E: From<Error>> From<Error> for NotCommitted<E> {
    fn from(error: Error) -> Self {
        let rolled_back = !matches!(&error, Error::Commit(error) if !error.is_rolled_back());
        Self { kind: error.kind(), rolled_back, overtaken: false, error: error.into() }
    }
}

/// Plans, asks, logs, commits and reports: the only way from a plan to a change, but for plans that
/// are [approved](approved) one by one and published together.
///
/// # Errors
///
/// The errors of the committer and of asking; and when the host [gives up](Host::cancellation).
pub fn commit_to<C: Committer>(
    committer: &mut C,
    log: &mut dyn CommitLog,
    host: &mut dyn Host,
) -> Result<Report, C::Error> {
    loop {
        let plan = approved(committer, log, host)?;
        if plan.is_empty() {
            return Ok(Report { recovered: committer.recovered(), ..Report::new(plan, None) });
        }
        match committer.commit(&plan, log, host) {
            Ok(Committed { id, trashed }) => {
                log.ended(Ok(id));
                let recovered = committer.recovered();
                let report = Report { trashed, recovered, ..Report::new(plan, Some(id)) };
                host.event(&Event::Committed(&report));
                return Ok(report);
            }
            Err(NotCommitted { error, kind, rolled_back, overtaken }) => {
                log.ended(Err(rolled_back.then_some(kind)));
                if !overtaken {
                    host.event(&Event::Failed { plan: &plan, rolled_back });
                    return Err(error);
                }
            }
        }
    }
}

/// Makes a plan, and asks whether it may be committed: the first half of [`commit_to`]. Nobody is
/// asked about an empty plan.
///
/// # Errors
///
/// The errors of planning and of asking; and when the host [gives up](Host::cancellation).
pub fn approved<C: Committer>(
    committer: &mut C,
    log: &mut dyn CommitLog,
    host: &mut dyn Host,
) -> Result<Arc<Plan>, C::Error> {
    host.cancellation().check().map_err(Error::from)?;
    let plan = Arc::new(committer.plan(log, host)?);
    host.cancellation().check().map_err(Error::from)?;
    if !plan.is_empty() {
        approve(&plan, host)?;
        log.planned(&plan);
        host.event(&Event::Planned(&plan));
    }
    Ok(plan)
}

/// Asks a host about exactly the plan to commit.
///
/// # Errors
///
/// When the host does not approve, or the plan cannot be shown.
fn approve(plan: &Plan, host: &mut dyn Host) -> Result<(), Error> {
    match host.approve(&Request::new(plan))? {
        Decision::Approve | Decision::ApproveForSession | Decision::ApproveForTurn => Ok(()),
        Decision::Decline | Decision::Edit => Err(Error::Declined),
        Decision::Postpone => Err(Error::Postponed),
    }
}
