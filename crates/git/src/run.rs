//! Several patches that become durable together.
//!
//! Each patch is planned over the commits of the patches before it, in memory. Then one append logs
//! all intents, one pack has all objects, and each branch moves once, to its last commit. A process
//! that is killed leaves a branch at its old commit or at the new one.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use git_object_tree::Repository;
use patch_engine::commit::TransactionId;
use patch_engine::{ErrorKind, Event, GitCommit, Host, Options, Patch, Report, approved};

use super::branches::{Branches, TOGETHER, short};
use super::{CommitView, GitReport, GitRequest, GitSession, OntoCommit};
use patch_session::answer::error::ToolError;
use patch_session::audit::recorder::{IntendedCommit, Recorder};

/// The most bytes of new objects of a run, which are in memory.
const BYTES: usize = 8 << 20;

/// A commit in memory.
struct Prepared {
    /// The number of the patch in the run.
    number: usize,
    id: TransactionId,
    /// The index of the plan in the log.
    logged: usize,
    commit: GitCommit,
    report: GitReport,
}

impl GitSession {
    /// Applies patches one after the other, each as [`apply`](Self::apply) does. Returns the result
    /// of each.
    ///
    /// The objects of several patches are written together, up to [`TOGETHER`] patches and 8 MiB.
    /// For all of them a branch moves once, with one line in its reflog. If a branch cannot be
    /// moved, its patches are planned again, one by one, over its new commit. The host receives an
    /// event for each commit.
    pub fn apply_all(
        &self,
        tool: &str,
        patches: &[(Patch, GitRequest)],
        options: &Options,
        host: &mut dyn Host,
    ) -> Vec<Result<GitReport, ToolError>> {
        let mut results = Vec::with_capacity(patches.len());
        while results.len() < patches.len() {
            let rest = &patches[results.len()..];
            if let [(patch, request)] = rest {
                results.push(self.apply(tool, patch, options, request, host));
                break;
            }
            let mut run = CommitRun::new(self, tool, options);
            for (result, (patch, request)) in run.results(rest, host).into_iter().zip(rest) {
                results.push(
                    result.unwrap_or_else(|| self.apply(tool, patch, options, request, host)),
                );
            }
        }
        results
    }
}

/// Patches that are committed together.
struct CommitRun<'s, 'o> {
    session: &'s GitSession,
    options: &'o Options,
    /// The repository, with the new objects in memory.
    repository: Repository,
    branches: Branches,
    prepared: Vec<Prepared>,
    log: Recorder<'s>,
}

impl<'s, 'o> CommitRun<'s, 'o> {
    fn new(session: &'s GitSession, tool: &str, options: &'o Options) -> Self {
        let log = session.recorder(tool, options);
        Self {
            session,
            options,
            repository: session.repository.isolated(),
            branches: Branches::default(),
            prepared: Vec::new(),
            log,
        }
    }

    /// Commits as many of the first patches together as possible. Returns their results; `None` for
    /// a patch that has to be applied alone.
    fn results(
        &mut self,
        patches: &[(Patch, GitRequest)],
        host: &mut dyn Host,
    ) -> Vec<Option<Result<GitReport, ToolError>>> {
        let mut results = Vec::new();
        for (patch, request) in patches {
            let full = self.prepared.len() >= TOGETHER || self.repository.unwritten().1 >= BYTES;
            if full
                || !self.branches.allow(
                    &request.onto,
                    request.branch.as_deref(),
                    request.allow_checked_out,
                )
            {
                break;
            }
            let (objects, _) = self.repository.unwritten();
            let result = self.prepare(results.len(), patch, request, host).transpose();
            if let Some(Err(_)) = &result {
                self.repository.forget_after(objects);
            }
            results.push(result);
        }
        let prepared: Vec<usize> = self.prepared.iter().map(|prepared| prepared.number).collect();
        let mut landed = BTreeMap::from_iter(self.publish(host));
        let lost = prepared.into_iter().find(|number| !landed.contains_key(number));
        for (number, result) in results.iter_mut().enumerate() {
            if let Some(report) = landed.remove(&number) {
                *result = Some(Ok(report));
            } else if lost.is_some_and(|lost| lost < number) {
                // The patch was planned over a commit that is lost.
                *result = None;
            } else if let Some(Err(error)) = result
                && let Err(error) = self.log.failed(error)
            {
                host.event(&Event::Unlogged(&error.to_string()));
            }
        }
        results
    }

    /// Plans a patch over the commits before it, and makes its commit in memory. Returns a report
    /// only if the patch changes nothing.
    fn prepare(
        &mut self,
        number: usize,
        patch: &Patch,
        request: &GitRequest,
        host: &mut dyn Host,
    ) -> Result<Option<GitReport>, ToolError> {
        let repository = &self.repository;
        let view = CommitView { repository, branches: &self.branches };
        let mut onto = OntoCommit::new(self.session, patch, request, self.options, view);
        let plan = approved(&mut onto, &mut self.log, host)?;
        if plan.is_empty() {
            return Ok(Some(onto.report(Report::new(plan, None))));
        }
        let last = onto.write(repository, &plan, &host.cancellation())?.clone();
        let id =
            TransactionId::new(SystemTime::now(), self.prepared.last().map(|prepared| prepared.id));
        let place = onto.place().clone();
        let commit = onto.logged();
        let report = onto.report(Report::new(plan, Some(id)));
        let logged = self.log.plans() - 1;
        self.prepared.push(Prepared { number, id, logged, commit, report });
        if let Some(branch) = &place.branch {
            let named_by = place.named.then_some(&*request.onto);
            let allowed = request.allow_checked_out;
            self.branches.go(branch, named_by, place.from, last, allowed);
        }
        Ok(None)
    }

    /// Logs and publishes the prepared commits. Returns the reports of those that were published,
    /// with the numbers of their patches.
    fn publish(&mut self, host: &mut dyn Host) -> Vec<(usize, GitReport)> {
        if self.prepared.is_empty() {
            return Vec::new();
        }
        let cancellation = host.cancellation();
        // A patch that fails here is applied again alone, and reports its error then.
        let Ok(_locked) = self.session.lock(cancellation.clone()) else { return Vec::new() };
        let intents = self.prepared.iter().map(|prepared| IntendedCommit {
            id: prepared.id,
            plan: prepared.logged,
            commit: prepared.commit.clone(),
        });
        if self.log.intend_several(intents).is_err() {
            return Vec::new();
        }
        for prepared in &self.prepared {
            host.event(&Event::Staged(prepared.id));
        }
        let mut failed = ErrorKind::Cancelled;
        let mut stays = BTreeSet::new();
        let goes_on = cancellation.check().is_ok();
        if goes_on {
            // A branch that cannot move is found before its objects are written, if possible.
            for to in self.branches.moves() {
                if let Err(error) = self.session.publish(&self.repository, to, host) {
                    failed = error.kind;
                    stays.insert(to.branch);
                }
            }
        }
        let no_branch = self.prepared.iter().any(|prepared| prepared.report.branch.is_none());
        let flushed = goes_on && no_branch && self.repository.flush().is_ok();
        let mut landed = std::mem::take(&mut self.prepared);
        landed.retain(|prepared| match &prepared.report.branch {
            Some(branch) => goes_on && !stays.contains(short(branch)),
            None => flushed,
        });
        let ids: Vec<TransactionId> = landed.iter().map(|prepared| prepared.id).collect();
        if let Err(error) = self.log.answer(&ids, failed) {
            host.event(&Event::Unlogged(&error.to_string()));
        }
        let mut reports = Vec::with_capacity(landed.len());
        for Prepared { number, report, .. } in landed {
            host.event(&Event::Committed(&report.report));
            reports.push((number, report));
        }
        reports
    }
}
