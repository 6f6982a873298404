//! Patches for the commits of a git repository: planned over a commit's tree, without a checkout,
//! and committed.
//!
//! The same rules, hosts and logs as in a directory. A patch becomes blobs, trees and a commit,
//! which are durable before the branch is moved; it is moved only if it is where it was, so that
//! nobody's commit is lost. The audit log is in the git directory, in `.apply-patch`; its lines
//! name the commits and the tree.

mod branches;
pub(crate) mod commit_tree;
mod run;

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Once};
use std::time::{Instant, SystemTime};

use fs_guard::{Policy, Wait};
use git_object_tree::{
    BranchMove, EntryKind, Id, NewCommit, OpenOptions, Repository, Resolved, Role, Signature,
    TreeChange, TreeEntry,
};
use patch_engine::commit::{
    self, Committed, Durability, Locked, StatePlace, TransactionId, Workspace,
};
use patch_engine::remedy::Setting;
use patch_engine::{
    Cancellation, ChangedFile, CommitLog, Committer, Content, ErrorKind, Event, Files, GitCommit,
    Host, NotCommitted, Options, Patch, Plan, Rejects, Remedy, Report, SUBMODULE_MODE, commit_to,
    intend, plan, submodule_commit,
};
use serde::Serialize;
use serde_json::json;

use crate::branches::{Branches, WrittenCommit};
use crate::commit_tree::told;
use patch_session::answer::changes::{DiffDetail, PatchData};
use patch_session::answer::error::{FailureClass, ToolError};
use patch_session::answer::reason::Reason;
use patch_session::audit::recorder::Recorder;
use patch_session::audit::{self, Audit, Operation};
use patch_session::session::SessionSettings;

pub use crate::branches::TOGETHER;
pub use crate::commit_tree::{CommitTree, committed, enclosing};
pub use git_object_tree::Id as CommitId;

/// The most commits of a branch to search for the commit of a run that was killed.
const SEARCHED: usize = 10_000;

/// What to do with a patch in a repository.
#[derive(Debug, Clone, Default)]
pub struct GitRequest {
    /// The commit whose files it is for: a branch, a tag, an id, as git writes them.
    pub onto: String,
    /// The branch to move, which is created if missing. Default: the branch that `onto` names, if
    /// it names one.
    pub branch: Option<String>,
    /// The message of the commit. Default: a message that names the files.
    pub message: Option<String>,
    /// The author, as `Name <address>`. Default: the author that git would take.
    pub author: Option<String>,
    /// Carry the hunks to the newest commit of a branch that has moved on from `onto`, where their
    /// place is certain, and try again as often as the branch moves.
    pub carry: bool,
    /// Move the branch even if it is checked out; the index and the files stay as they are.
    pub allow_checked_out: bool,
}

/// The result of a patch in a repository.
#[derive(Debug)]
#[non_exhaustive]
pub struct GitReport {
    /// The commit; `None` when the patch changes nothing, or was only planned.
    pub commit: Option<Id>,
    /// Its tree, or what would be its tree; that of `onto` when nothing changes.
    pub tree: Id,
    /// The commit that it follows.
    pub onto: Id,
    /// The branch that was moved.
    pub branch: Option<String>,
    /// The plan, and the name that the log has for the change.
    pub report: Report,
}

/// What is answered about a commit, or the plan of one.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GitData {
    /// The new commit; null when nothing changes, or it was only planned.
    pub commit: Option<String>,
    /// Its tree, or what would be its tree; that of `onto` when nothing changes.
    pub tree: String,
    /// The commit that it follows.
    pub onto: String,
    /// The branch that was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// What changes.
    #[serde(flatten)]
    pub patch: PatchData,
}

impl GitReport {
    /// Turns the report into data; `planned` says that it comes from [`GitSession::plan`].
    ///
    /// # Errors
    ///
    /// When bytes that the diff of a plan needs are gone.
    pub fn data(&self, planned: bool, detail: DiffDetail) -> Result<GitData, fs_guard::Error> {
        let patch = if planned {
            PatchData::planned(&self.report.plan, true, detail)?
        } else {
            PatchData::applied(std::slice::from_ref(&self.report), true, detail)
        };
        Ok(GitData {
            commit: self.commit.map(|id| id.to_string()),
            tree: self.tree.to_string(),
            onto: self.onto.to_string(),
            branch: self.branch.clone(),
            patch,
        })
    }
}

/// A session in a git repository: the only way by which patches become commits.
#[derive(Debug)]
pub struct GitSession {
    repository: Repository,
    /// The git directory of the repository, for the state and the log.
    workspace: Workspace,
    audit: Audit,
    settings: SessionSettings,
    policy: Arc<Policy>,
    /// The outcomes of killed runs have been logged.
    answered: Once,
}

impl GitSession {
    /// Opens the repository whose git directory (or work tree) this is.
    ///
    /// # Errors
    ///
    /// When there is none, or it is one that cannot be used.
    pub fn open(
        git_dir: &Path,
        policy: Policy,
        audit: Audit,
        settings: SessionSettings,
    ) -> Result<Self, ToolError> {
        let options = OpenOptions {
            durable: settings.durability == Durability::Full,
            ..OpenOptions::default()
        };
        let repository = Repository::open(git_dir, &options).map_err(told)?;
        // Not that of a linked work tree, which is removed with it.
        let workspace =
            Workspace::open_with(repository.common_dir(), policy.clone(), StatePlace::Root)?;
        let audit = audit.with_lock_timeout(settings.lock_timeout);
        Ok(Self {
            repository,
            workspace,
            audit,
            settings,
            policy: Arc::new(policy),
            answered: Once::new(),
        })
    }

    /// The repository.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The files of a commit.
    ///
    /// # Errors
    ///
    /// When there is no such commit.
    pub fn tree(&self, revision: &str) -> Result<CommitTree, ToolError> {
        Ok(CommitTree::new(&self.repository, self.repository.resolve(revision).map_err(told)?))
    }

    /// The rules for its files.
    #[must_use]
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Plans a patch over the files of a commit; nothing is written. The report has the tree that
    /// the patch would make.
    ///
    /// # Errors
    ///
    /// When there is no such commit, its branch has moved on from it or cannot be moved, the patch
    /// does not apply, or nothing can be committed with this message and author.
    pub fn plan(
        &self,
        patch: &Patch,
        options: &Options,
        request: &GitRequest,
    ) -> Result<GitReport, ToolError> {
        let repository = &self.repository;
        let place = self.place(request, None, (repository, &Branches::default()))?;
        let never = &Cancellation::NEVER;
        let plan = Arc::new(self.plan_over(repository, patch, options, &place, never)?);
        let CommitTarget { onto, branch, from, .. } = place;
        let mut tree = onto.tree;
        if !plan.is_empty() {
            // In memory: what the commit would be refused for refuses the preview too.
            tree = write(&repository.isolated(), &plan, onto, request, never)?.tree;
            if let Some(branch) = &branch {
                repository.check_move(branch, from, request.allow_checked_out).map_err(told)?;
            }
        }
        let (onto, report) = (onto.commit, Report::new(plan, None));
        Ok(GitReport { commit: None, tree, onto, branch, report })
    }

    /// Computes the id of the tree that a plan makes of the tree `onto`, for which it was made;
    /// nothing is written.
    ///
    /// # Errors
    ///
    /// When an object is missing.
    pub fn tree_of(&self, plan: &Plan, onto: Id) -> Result<Id, ToolError> {
        write_tree(&self.repository.isolated(), plan, onto, &Cancellation::NEVER)
    }

    /// Applies a patch to the files of a commit: it becomes a commit, and the branch is moved to
    /// it.
    ///
    /// # Errors
    ///
    /// When there is no such commit, its branch is not there (any more), the patch does not apply,
    /// it is not approved, or cannot be written. The branch has not moved then.
    pub fn apply(
        &self,
        tool: &str,
        patch: &Patch,
        options: &Options,
        request: &GitRequest,
        host: &mut dyn Host,
    ) -> Result<GitReport, ToolError> {
        let mut log = self.recorder(tool, options);
        let (repository, branches) = (&self.repository, &Branches::default());
        let mut onto = OntoCommit::new(self, (patch, request), options, (repository, branches));
        let result = commit_to(&mut onto, &mut log, host);
        // The intent is in the log; that the outcome is missing shows there.
        if let Err(error) = log.finish(&[], result.as_ref().err()) {
            host.event(&Event::Unlogged(&error.to_string()));
        }
        Ok(onto.report(result?))
    }

    /// Starts to record calls of a tool.
    fn recorder(&self, tool: &str, options: &Options) -> Recorder<'_> {
        let log = self.settings.recorder(&self.audit, &self.workspace, tool, Operation::Patch);
        let log = log.of_patch(options.profile);
        // Once is enough: the next session can do it too, and where the log cannot be written, this
        // change is refused anyway.
        self.answered.call_once(|| drop(self.answer_cut_off(&log)));
        log
    }

    /// Writes the outcome of killed runs into the logs. A run holds the lock from its intent to its
    /// outcome.
    fn answer_cut_off(&self, log: &Recorder<'_>) -> Result<(), ToolError> {
        if self.workspace.has_state() {
            let _locked = self.lock(Cancellation::NEVER)?;
            log.write_cut_off(|intent| self.happened(intent))?;
        }
        Ok(())
    }

    /// Takes the lock of the state directory in the git directory, and keeps that directory.
    fn lock(&self, cancellation: Cancellation) -> Result<Locked<'_>, ToolError> {
        let timeout = self.settings.lock_timeout;
        let locked = self.workspace.lock(Wait { timeout, cancellation })?;
        locked.locked_store().keep();
        Ok(locked)
    }

    /// Returns whether an intended commit was made: its branch contains it, or, where no branch was
    /// to be moved, all its objects are there. `None` if that cannot be told.
    fn happened(&self, intent: &[audit::Event]) -> Option<bool> {
        let first = intent.first()?;
        let commit: Id = first.commit.as_ref()?.parse().ok()?;
        // The commit is written before a branch is moved to it.
        if self.repository.header(commit).ok()?.is_none() {
            return Some(false);
        }
        let Some(branch) = &first.branch else {
            let of_commit = self.repository.commit(commit).ok()?;
            return self.is_written(of_commit.tree, intent);
        };
        let Some(tip) = self.repository.branch(branch).ok()? else { return Some(false) };
        // Its parents are older, so they are not searched. Some of them may have been made together
        // with it.
        let mut seen = BTreeSet::new();
        let mut older = first.onto.as_ref().and_then(|onto| onto.parse().ok());
        while let Some(id) = older.filter(|_| seen.len() <= TOGETHER) {
            seen.insert(id);
            older = self.repository.commit(id).ok().and_then(|of| of.parents.first().copied());
        }
        let mut next = VecDeque::from([tip]);
        while let Some(id) = next.pop_front() {
            if id == commit {
                return Some(true);
            }
            if !seen.insert(id) {
                continue;
            }
            if seen.len() > SEARCHED {
                return None;
            }
            next.extend(self.repository.commit(id).ok()?.parents);
        }
        Some(false)
    }

    /// Returns whether a tree is written, with the files that an intent names.
    fn is_written(&self, tree: Id, intent: &[audit::Event]) -> Option<bool> {
        let snapshot = self.repository.snapshot(tree);
        for path in
            intent.iter().flat_map(|event| [Some(&event.path), event.to_path.as_ref()]).flatten()
        {
            let there = match snapshot.entry(path.clone()) {
                Ok(Some(entry)) => self.repository.header(entry.id).ok()?.is_some(),
                Ok(None) => true,
                Err(git_object_tree::Error::MissingObject { .. }) => false,
                Err(_) => return None,
            };
            if !there {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns the files of a commit as the base of a patch: the files that its author saw.
    ///
    /// # Errors
    ///
    /// When there is no such commit.
    pub fn base(&self, revision: &str) -> Result<Files, ToolError> {
        Ok(self.tree(revision)?.files(Arc::clone(&self.policy)))
    }

    /// Finds the commit that a patch goes on top of, and the branch to move. `seen` is the commit
    /// that the author saw, if it is known already.
    fn place(
        &self,
        request: &GitRequest,
        seen: Option<Resolved>,
        (repository, branches): (&Repository, &Branches),
    ) -> Result<CommitTarget, ToolError> {
        let branch_at = |name: &str| match branches.tip(name) {
            Some(tip) => Ok(Some(tip.commit)),
            None => repository.branch(name),
        };
        let (onto, named) = match seen {
            Some(seen) => (seen, branch_at(&request.onto).is_ok_and(|at| at.is_some())),
            None => match branches.resolved(&request.onto) {
                Some(tip) => (tip, true),
                None => resolve(repository, &request.onto)?,
            },
        };
        let branch = request.branch.clone().or_else(|| named.then(|| request.onto.clone()));
        let from = match &branch {
            Some(branch) => branch_at(branch).map_err(told)?,
            None => None,
        };
        match (&branch, from) {
            (Some(branch), Some(at)) if at != onto.commit => {
                if !request.carry {
                    return Err(moved(branch, Some(onto.commit), Some(at)));
                }
                let tip = Resolved { commit: at, tree: repository.commit(at).map_err(told)?.tree };
                Ok(CommitTarget {
                    onto: tip,
                    seen: onto,
                    branch: Some(branch.clone()),
                    named,
                    from,
                })
            }
            _ => Ok(CommitTarget { onto, seen: onto, branch, named, from }),
        }
    }

    fn plan_over(
        &self,
        repository: &Repository,
        patch: &Patch,
        options: &Options,
        place: &CommitTarget,
        cancellation: &Cancellation,
    ) -> Result<Plan, Rejects> {
        let files = |commit| {
            let tree = CommitTree::new(repository, commit);
            tree.files(Arc::clone(&self.policy)).cancelled_by(cancellation.clone())
        };
        if place.seen == place.onto {
            return plan(files(place.onto), patch, options);
        }
        let options = Options { base: Some(files(place.seen)), ..options.clone() };
        plan(files(place.onto), patch, &options)
    }

    /// Moves the branch, after everything that it leads to is durable.
    fn publish(
        &self,
        repository: &Repository,
        (branch, from, WrittenCommit { commit, committer, .. }): (&str, Option<Id>, &WrittenCommit),
        allow_checked_out: bool,
        host: &mut dyn Host,
    ) -> Result<(), ToolError> {
        let began = Instant::now();
        let to = BranchMove {
            branch,
            from,
            to: *commit,
            by: committer,
            message: "apply-patch",
            allow_checked_out,
        };
        loop {
            match repository.move_branch(&to) {
                Ok(()) => return Ok(()),
                Err(git_object_tree::Error::RefMoved { actual, .. }) => {
                    return Err(moved(branch, from, actual));
                }
                Err(error @ git_object_tree::Error::NotDurable { .. }) => {
                    host.event(&Event::NotDurable(&told(error).message));
                    return Ok(());
                }
                // It has waited as long as git does.
                Err(git_object_tree::Error::Locked { .. })
                    if began.elapsed() < self.settings.lock_timeout => {}
                Err(error) => return Err(told(error)),
            }
        }
    }
}

/// Commits a patch to a repository.
struct OntoCommit<'s, 'r> {
    session: &'s GitSession,
    patch: &'r Patch,
    options: &'r Options,
    request: &'r GitRequest,
    /// The repository with the commits before this one.
    repository: &'r Repository,
    /// The branches that these commits are to move.
    branches: &'r Branches,
    /// Known as soon as there is a plan.
    place: Option<CommitTarget>,
    written: Option<WrittenCommit>,
    /// Held until the outcome is written: an intent whose process does not hold the lock was cut
    /// off.
    locked: Option<Locked<'s>>,
}

impl<'s, 'r> OntoCommit<'s, 'r> {
    fn new(
        session: &'s GitSession,
        (patch, request): (&'r Patch, &'r GitRequest),
        options: &'r Options,
        (repository, branches): (&'r Repository, &'r Branches),
    ) -> Self {
        let (place, written, locked) = (None, None, None);
        Self { session, patch, options, request, repository, branches, place, written, locked }
    }

    fn place(&self) -> &CommitTarget {
        self.place.as_ref().expect("BUG: what is committed was planned")
    }

    /// Makes the commit of a plan in memory.
    fn write(
        &mut self,
        repository: &Repository,
        plan: &Plan,
        cancellation: &Cancellation,
    ) -> Result<&WrittenCommit, ToolError> {
        let written = write(repository, plan, self.place().onto, self.request, cancellation)?;
        Ok(self.written.insert(written))
    }

    /// What the log says about the commit.
    fn logged(&self) -> GitCommit {
        let CommitTarget { onto, branch, .. } = self.place();
        let written = self.written.as_ref();
        GitCommit {
            onto: onto.commit.to_string(),
            commit: written.map(|written| written.commit.to_string()),
            tree: written.map(|written| written.tree.to_string()),
            branch: branch.clone(),
        }
    }

    fn publish(
        &mut self,
        plan: &Plan,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
    ) -> Result<Committed, ToolError> {
        // A change that fails leaves no objects behind.
        let repository = self.repository.isolated();
        let cancellation = host.cancellation();
        let written = self.write(&repository, plan, &cancellation)?.clone();
        let id = TransactionId::new(SystemTime::now(), None);
        log.in_git(self.logged());
        self.locked = Some(self.session.lock(cancellation)?);
        intend(id, log, host).map_err(commit::Error::from)?;
        let CommitTarget { branch, from, .. } = self.place();
        match branch {
            Some(branch) => {
                let to = (branch.as_str(), *from, &written);
                self.session.publish(&repository, to, self.request.allow_checked_out, host)?;
            }
            None => repository.flush().map_err(told)?,
        }
        Ok(id.into())
    }

    fn report(self, report: Report) -> GitReport {
        let CommitTarget { onto, branch, .. } = self.place();
        let (commit, tree) = match &self.written {
            Some(written) => (Some(written.commit), written.tree),
            None => (None, onto.tree),
        };
        let branch = branch.clone().filter(|_| commit.is_some());
        GitReport { commit, tree, onto: onto.commit, branch, report }
    }
}

impl Committer for OntoCommit<'_, '_> {
    type Error = ToolError;

    fn plan(&mut self, _: &mut dyn CommitLog, host: &mut dyn Host) -> Result<Plan, ToolError> {
        (self.locked, self.written) = (None, None);
        let seen = self.place.as_ref().map(|place| place.seen);
        let place = self.session.place(self.request, seen, (self.repository, self.branches))?;
        let (place, cancellation) = (self.place.insert(place), host.cancellation());
        let Self { session, repository, patch, options, .. } = *self;
        Ok(session.plan_over(repository, patch, options, place, &cancellation)?)
    }

    fn commit(
        &mut self,
        plan: &Arc<Plan>,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
    ) -> Result<Committed, NotCommitted<ToolError>> {
        self.publish(plan, log, host).map_err(|error| {
            let moved = error.details["reason"] == Reason::BranchMoved.as_str();
            let overtaken = moved && self.request.carry;
            NotCommitted { kind: error.kind, error, rolled_back: true, overtaken }
        })
    }
}

/// The commit and the branch that a patch goes to.
#[derive(Clone)]
struct CommitTarget {
    onto: Resolved,
    /// The commit that the author of the patch saw: `onto`, or one before it.
    seen: Resolved,
    branch: Option<String>,
    /// Whether the request names a branch as the commit that the patch is for.
    named: bool,
    /// The commit that the branch is at; `None` if the branch is to be created.
    from: Option<Id>,
}

/// Resolves a revision, and tells whether it is the name of a branch: a tag or an id may look the
/// same.
fn resolve(repository: &Repository, revision: &str) -> Result<(Resolved, bool), ToolError> {
    loop {
        let before = repository.branch(revision).unwrap_or_default();
        let found = repository.resolve(revision).map_err(told)?;
        // The branch may move in between.
        if before == repository.branch(revision).unwrap_or_default() {
            return Ok((found, before == Some(found.commit)));
        }
    }
}

/// Makes the blobs and trees of a plan, in memory.
fn write_tree(
    repository: &Repository,
    plan: &Plan,
    onto: Id,
    cancellation: &Cancellation,
) -> Result<Id, ToolError> {
    let changed = plan.images().changed()?;
    let changes = changed.iter().map(|ChangedFile { path, after, .. }| {
        let change = match after {
            None => TreeChange::Remove,
            Some(content) if content.mode == SUBMODULE_MODE => TreeChange::Set(submodule(content)?),
            Some(content) if content.link => TreeChange::Write(EntryKind::Symlink, &content.bytes),
            Some(content) if content.mode & 0o100 != 0 => {
                TreeChange::Write(EntryKind::Executable, &content.bytes)
            }
            Some(content) => TreeChange::Write(EntryKind::File, &content.bytes),
        };
        Ok((path.as_str(), change))
    });
    let changes = changes.collect::<Result<Vec<_>, ToolError>>()?.into_iter();
    // A tree that is cut short is not used.
    let tree = repository.write_tree(onto, changes.take_while(|_| !cancellation.is_cancelled()));
    cancellation.check()?;
    tree.map_err(told)
}

/// Returns the entry of a submodule in a tree.
fn submodule(content: &Content) -> Result<TreeEntry, ToolError> {
    let id = submodule_commit(&content.bytes).and_then(|id| id.parse().ok());
    let message = "the id of the submodule's commit is not one of this repository's kind";
    let error = || ToolError::new(FailureClass::DoesNotApply, ErrorKind::PatchApplyError, message);
    Ok(TreeEntry { kind: EntryKind::Submodule, id: id.ok_or_else(error)? })
}

/// Makes the commit of a plan, with its trees and blobs, in memory.
fn write(
    repository: &Repository,
    plan: &Plan,
    onto: Resolved,
    request: &GitRequest,
    cancellation: &Cancellation,
) -> Result<WrittenCommit, ToolError> {
    let tree = write_tree(repository, plan, onto.tree, cancellation)?;
    let committer = repository.signature(Role::Committer).map_err(told)?;
    let author = match &request.author {
        Some(author) => Signature::parse(author, committer.time).map_err(told)?,
        None => repository.signature(Role::Author).map_err(told)?,
    };
    let message = request.message.clone().unwrap_or_else(|| message_of(plan));
    // git's plumbing takes such a message; `git commit` does not.
    if message.chars().all(|sign| sign == '\0' || sign.is_ascii_whitespace()) {
        let (class, kind) = (FailureClass::Usage, ErrorKind::CommandFailed);
        let error = ToolError::new(class, kind, "the message of the commit is empty");
        let reason = git_object_tree::ErrorKind::InvalidInput.as_str();
        return Err(error.details(json!({ "reason": reason })));
    }
    let (parents, message) = (&[onto.commit], message.as_str());
    let commit = NewCommit { tree, parents, author: &author, committer: &committer, message };
    let commit = repository.write_commit(&commit).map_err(told)?;
    Ok(WrittenCommit { commit, tree, committer })
}

/// Writes a message that names the changes.
fn message_of(plan: &Plan) -> String {
    let what = |change: &patch_engine::Change| match change.operation {
        patch_engine::ChangeKind::Create => format!("Add {}", change.path),
        patch_engine::ChangeKind::Update => format!("Update {}", change.path),
        patch_engine::ChangeKind::Delete => format!("Delete {}", change.path),
        patch_engine::ChangeKind::Move => format!("Move {} to {}", change.path, change.last_path()),
    };
    match plan.changes() {
        [one] => what(one),
        changes => {
            let lines: Vec<_> = changes.iter().map(what).collect();
            format!("Change {} files\n\n{}", changes.len(), lines.join("\n"))
        }
    }
}

/// Makes the error of a branch that is not at the commit that the patch was made for.
fn moved(branch: &str, expected: Option<Id>, actual: Option<Id>) -> ToolError {
    let at = |id: Option<Id>| id.map_or_else(|| "no commit".to_owned(), |id| id.to_string());
    let message = format!("the branch {branch} is at {}, not at {}", at(actual), at(expected));
    let details = json!({
        "reason": Reason::BranchMoved.as_str(),
        "branch": branch,
        "expected": expected.map(|id| id.to_string()),
        "actual": actual.map(|id| id.to_string()),
    });
    ToolError::new(FailureClass::Stale, ErrorKind::StaleFile, message)
        .details(details)
        .remedies([Remedy::Set(Setting::Carry), Remedy::Set(Setting::Onto(branch.into()))])
}
