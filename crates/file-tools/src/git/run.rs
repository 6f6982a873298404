//! Several patches that become durable together.
//!
//! Each is planned over what those before it make, which is in memory until then. One append logs
//! the intents of all, one pack has all objects, and each branch moves once, to the last commit for
//! it. A process that is cut off leaves a branch where it was or where it should be.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::time::SystemTime;

use git_object_tree::{Id, Repository, Resolved};
use patch_engine::commit::TransactionId;
use patch_engine::{ErrorKind, Event, Host, Options, Patch, Report, approved};

use super::{GitReport, GitRequest, GitSession, OntoCommit, Place, Written};
use crate::answer::error::ToolError;
use crate::audit::recorder::Recorder;

/// The most patches of a run, and the most bytes of new objects: about a tenth of a second of work,
/// and little memory.
pub(super) const PATCHES: usize = 64;
const BYTES: usize = 8 << 20;

/// The branches that a run is to move.
#[derive(Debug, Default)]
pub(super) struct Branches {
    /// By their names without `refs/heads/`.
    tips: BTreeMap<String, Tip>,
    /// What named one of them where it was resolved.
    names: BTreeMap<String, String>,
}

/// A branch that a run is to move.
#[derive(Debug)]
struct Tip {
    /// Where it is; `None` if it is to be created.
    from: Option<Id>,
    /// The last commit for it, to which it is to go.
    last: Written,
    allow_checked_out: bool,
}

/// Returns the name of a branch without `refs/heads/`.
fn short(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}

impl Branches {
    /// Returns where a branch is to go, if a run moves it.
    pub(super) fn tip(&self, branch: &str) -> Option<Resolved> {
        let Written { commit, tree, .. } = self.tips.get(short(branch))?.last;
        Some(Resolved { commit, tree })
    }

    /// Returns what a revision is, if it names a branch that a run moves.
    pub(super) fn resolved(&self, revision: &str) -> Option<Resolved> {
        self.tip(self.names.get(revision)?)
    }

    /// Notes that a branch is to go to a commit.
    fn go(&mut self, branch: &str, place: &Place, request: &GitRequest, last: Written) {
        if place.named && short(branch) == short(&request.onto) {
            self.names.insert(request.onto.clone(), short(branch).into());
        }
        match self.tips.entry(short(branch).into()) {
            Entry::Occupied(tip) => tip.into_mut().last = last,
            Entry::Vacant(tip) => {
                let allow_checked_out = request.allow_checked_out;
                tip.insert(Tip { from: place.from, last, allow_checked_out });
            }
        }
    }

    /// Whether a request means the same now as when the branches have moved.
    fn allow(&self, request: &GitRequest) -> bool {
        let GitRequest { onto, branch, allow_checked_out, .. } = request;
        let name = onto.split(['~', '^']).next().unwrap_or_default();
        let moves = |branch: &String| {
            [name, name.strip_prefix("heads/").unwrap_or(name), short(name)].contains(&&**branch)
        };
        let is_symbolic = name == "@" || name.ends_with("HEAD");
        let moved = is_symbolic || self.tips.keys().any(moves);
        let tip = self.tips.get(short(branch.as_ref().unwrap_or(onto)));
        self.tips.is_empty()
            || (tip.is_none_or(|tip| tip.allow_checked_out == *allow_checked_out)
                && (self.names.contains_key(onto) || !moved))
    }
}

/// A commit that is in memory.
struct Prepared {
    /// The number of its patch among all.
    number: usize,
    id: TransactionId,
    /// The index of its plan in the log.
    logged: usize,
    details: Vec<(&'static str, String)>,
    report: GitReport,
}

impl GitSession {
    /// Applies patches one after the other, each as [`apply`](Self::apply) does, and returns what
    /// became of each.
    ///
    /// What is to be written is written for several together, up to 64 patches and 8 MiB: a branch
    /// moves once for them, and its log has one line. When a branch cannot be moved, its patches
    /// are planned again, one by one, over what it is then. Every host is told of a commit when it
    /// is made.
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
            let mut run = Run::new(self, tool, options);
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
struct Run<'s, 'o> {
    session: &'s GitSession,
    options: &'o Options,
    /// With everything that is to be written.
    repository: Repository,
    branches: Branches,
    prepared: Vec<Prepared>,
    log: Recorder<'s>,
}

impl<'s, 'o> Run<'s, 'o> {
    fn new(session: &'s GitSession, tool: &str, options: &'o Options) -> Self {
        let log = session.recorder(tool, options).of_several();
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
        if let [_] = patches {
            return vec![None];
        }
        let mut results = Vec::new();
        for (patch, request) in patches {
            let full = self.prepared.len() >= PATCHES || self.repository.unwritten().1 >= BYTES;
            if full || !self.branches.allow(request) {
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
        let (place, details) = (onto.place().clone(), onto.details());
        let report = onto.report(Report::new(plan, Some(id)));
        let logged = self.log.plans() - 1;
        self.prepared.push(Prepared { number, id, logged, details, report });
        if let Some(branch) = &place.branch {
            self.branches.go(branch, &place, request, last);
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
        let intents = self
            .prepared
            .iter()
            .map(|prepared| (prepared.id, prepared.logged, prepared.details.clone()));
        if self.log.intend_several(intents).is_err() {
            return Vec::new();
        }
        for prepared in &self.prepared {
            host.event(&Event::Staged(prepared.id));
        }
        let mut failed = ErrorKind::Cancelled;
        let mut stays = BTreeSet::new();
        let flushed = cancellation.check().is_ok() && self.repository.flush().is_ok();
        if flushed {
            for (branch, tip) in &self.branches.tips {
                let allowed = tip.allow_checked_out;
                let to = (branch.as_str(), tip.from, &tip.last);
                if let Err(error) = self.session.publish(&self.repository, to, allowed, host) {
                    failed = error.kind;
                    stays.insert(branch.clone());
                }
            }
        }
        let landed = |prepared: &Prepared| {
            let branch = prepared.report.branch.as_deref().map(short);
            flushed && branch.is_none_or(|branch| !stays.contains(branch))
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
