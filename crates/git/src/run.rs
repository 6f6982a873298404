//! Several patches that become durable together.
//!
//! Each is planned over what those before it make, which is in memory until then. One append logs
//! the intents of all, one pack has all objects, and each branch moves once, to the last commit for
//! it. A process that is cut off leaves a branch where it was or where it should be.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use git_object_tree::Repository;
use patch_engine::commit::TransactionId;
use patch_engine::{ErrorKind, Event, GitCommit, Host, Options, Patch, Report, approved};

use super::branches::{Branches, TOGETHER, short};
use super::{GitReport, GitRequest, GitSession, OntoCommit};
use patch_session::answer::error::ToolError;
use patch_session::audit::recorder::{IntendedCommit, Recorder};

/// The most bytes of new objects of a run: so much is in memory.
const BYTES: usize = 8 << 20;

/// A commit that is in memory.
struct Prepared {
    /// The number of its patch among all.
    number: usize,
    id: TransactionId,
    /// The index of its plan in the log.
    logged: usize,
    commit: GitCommit,
    report: GitReport,
}

impl GitSession {
    /// Applies patches one after the other, each as [`apply`](Self::apply) does, and returns what
    /// became of each.
    ///
    /// What is to be written is written for several together, up to [`TOGETHER`] patches and 8 MiB:
    /// a branch moves once for them, and its log has one line. When a branch cannot be moved, its
    /// patches are planned again, one by one, over what it is then. Every host is told of a commit
    /// when it is made.
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

/// The patches that are committed together.
struct CommitRun<'s, 'o> {
    session: &'s GitSession,
    options: &'o Options,
    /// With everything that is to be written.
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

    /// Returns the results of as many of the first patches as can be committed together; `None` for
    /// those that have to be applied one by one.
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
            let (number, (objects, _)) = (results.len(), self.repository.unwritten());
            let result = self.prepare(number, patch, request, host).transpose();
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
                // It was planned over something that did not come to be.
                *result = None;
            } else if let Some(Err(error)) = result
                && let Err(error) = self.log.failed(error)
            {
                host.event(&Event::Unlogged(&error.to_string()));
            }
        }
        results
    }

    /// Plans a patch over what those before it make, and makes its commit in memory. Returns the
    /// report of a patch that changes nothing.
    fn prepare(
        &mut self,
        number: usize,
        patch: &Patch,
        request: &GitRequest,
        host: &mut dyn Host,
    ) -> Result<Option<GitReport>, ToolError> {
        let repository = &self.repository;
        let before = (repository, &self.branches);
        let mut onto = OntoCommit::new(self.session, (patch, request), self.options, before);
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
            self.branches.go(branch, named_by, (place.from, last), allowed);
        }
        Ok(None)
    }

    /// Logs and publishes what is prepared. Returns what was committed, with its number.
    fn publish(&mut self, host: &mut dyn Host) -> Vec<(usize, GitReport)> {
        if self.prepared.is_empty() {
            return Vec::new();
        }
        let cancellation = host.cancellation();
        // What fails here fails again one by one, and says why then.
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
            // What can be told before leaves no objects behind.
            for (branch, from, last, allowed) in self.branches.iter() {
                let to = (branch, from, last);
                if let Err(error) = self.session.publish(&self.repository, to, allowed, host) {
                    failed = error.kind;
                    stays.insert(branch);
                }
            }
        }
        let no_branch = self.prepared.iter().any(|prepared| prepared.report.branch.is_none());
        let flushed = goes_on && no_branch && self.repository.flush().is_ok();
        let landed = |prepared: &Prepared| match &prepared.report.branch {
            Some(branch) => goes_on && !stays.contains(short(branch)),
            None => flushed,
        };
        let (landed, _): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.prepared).into_iter().partition(landed);
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
