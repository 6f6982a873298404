//! Patches for the commits of a git repository, without a checkout.
//!
//! A [`GitSession`] plans a patch over the tree of a commit, and makes a commit of it. The rules,
//! the host and the audit log are the same as for a directory. The blobs, trees and the commit are
//! durable before the branch is moved, and the branch is moved only from the commit it was read at,
//! so that no other commit is lost. The audit log is in `.apply-patch` in the git directory; its
//! lines name the commits and the tree.
//!
//! ```no_run
//! use patch_engine::{Options, Profile, parse, policy};
//! use patch_git::{GitRequest, GitSession};
//! use patch_session::audit::Audit;
//! use patch_session::{SessionName, SessionSettings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let audit = Audit::new(SessionName::random()?, Some("my-agent".into()));
//! let session = GitSession::open("repo.git".as_ref(), policy(), audit, SessionSettings::default())?;
//!
//! let options = Options::new(Profile::Standard);
//! let text = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+TWO\n*** End Patch\n";
//! let patch = parse(text, &options.parse)?;
//! let request = GitRequest { onto: "main".into(), ..GitRequest::default() };
//! let report = session.apply("git", &patch, &options, &request, &mut ())?;
//! if let (Some(branch), Some(commit)) = (report.branch, report.commit) {
//!     println!("{branch} is at {commit}");
//! }
//! # Ok(())
//! # }
//! ```

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
    Cancellation, Change, ChangeKind, ChangedFile, CommitLog, Committer, Content, ErrorKind, Event,
    Files, GitCommit, Host, NotCommitted, Options, Patch, Plan, Rejects, Remedy, Report,
    SUBMODULE_MODE, commit_to, intend, plan, submodule_commit,
};
use serde::Serialize;
use serde_json::json;

use crate::branches::{Branches, PendingMove, WrittenCommit};
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

/// The commit that a patch is for, and the commit that it becomes.
#[derive(Debug, Clone, Default)]
pub struct GitRequest {
    /// The commit that the patch is for, as a revision of git: a branch, a tag, an object id.
    pub onto: String,
    /// The branch to move; a missing branch is made. Default: the branch that `onto` names, if
    /// `onto` is the name of one.
    pub branch: Option<String>,
    /// The message of the commit. Default: a message with the names of the files.
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
    /// The commit; `None` if the patch changes nothing, or was only planned.
    pub commit: Option<Id>,
    /// The tree of the commit, also of a planned one; the tree of `onto` if nothing changes.
    pub tree: Id,
    /// The parent of the commit.
    pub onto: Id,
    /// The branch that was moved.
    pub branch: Option<String>,
    /// The plan, and the name of the change in the log.
    pub report: Report,
}

/// The data of an answer about a commit, or about the plan of one.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GitData {
    /// The new commit; null if nothing changes, or if it was only planned.
    pub commit: Option<String>,
    /// The tree of the commit, also of a planned one; the tree of `onto` if nothing changes.
    pub tree: String,
    /// The parent of the commit.
    pub onto: String,
    /// The branch that was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The changes.
    #[serde(flatten)]
    pub patch: PatchData,
}

impl GitReport {
    /// Turns the report into data; `planned` is for a report of [`GitSession::plan`].
    ///
    /// # Errors
    ///
    /// If bytes for the diff of a plan are gone.
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

/// A session in a git repository. Patches become commits here only.
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
    /// Opens a repository by its git directory or its work tree.
    ///
    /// # Errors
    ///
    /// If there is no repository, or if it has a format that cannot be used.
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
        // The git directory of a linked work tree goes when the work tree is removed.
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

    /// Returns the repository.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Returns the files of a commit.
    ///
    /// # Errors
    ///
    /// If there is no such commit.
    pub fn tree(&self, revision: &str) -> Result<CommitTree, ToolError> {
        Ok(CommitTree::new(&self.repository, self.repository.resolve(revision).map_err(told)?))
    }

    /// Returns the rules for the paths of files.
    #[must_use]
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Plans a patch over the files of a commit, and writes nothing. The report has the tree that
    /// the patch would make.
    ///
    /// # Errors
    ///
    /// If there is no such commit, if the branch has moved on from it or cannot be moved, if the
    /// patch does not apply, or if no commit can have this message and author.
    pub fn plan(
        &self,
        patch: &Patch,
        options: &Options,
        request: &GitRequest,
    ) -> Result<GitReport, ToolError> {
        let repository = &self.repository;
        let branches = &Branches::default();
        let place = self.place(request, None, CommitView { repository, branches })?;
        let never = &Cancellation::NEVER;
        let plan = Arc::new(self.plan_over(repository, patch, options, &place, never)?);
        let CommitTarget { onto, branch, from, .. } = place;
        let mut tree = onto.tree;
        if !plan.is_empty() {
            // The commit is made in memory, so that the plan has the errors of the commit, too.
            tree = write(&repository.isolated(), &plan, onto, request, never)?.tree;
            if let Some(branch) = &branch {
                repository.check_move(branch, from, request.allow_checked_out).map_err(told)?;
            }
        }
        let report = Report::new(plan, None);
        Ok(GitReport { commit: None, tree, onto: onto.commit, branch, report })
    }

    /// Computes the id of the tree that a plan makes of its own tree `onto`, and writes nothing.
    ///
    /// # Errors
    ///
    /// If an object is missing.
    pub fn tree_of(&self, plan: &Plan, onto: Id) -> Result<Id, ToolError> {
        write_tree(&self.repository.isolated(), plan, onto, &Cancellation::NEVER)
    }

    /// Applies a patch to the files of a commit: makes a commit of it, and moves the branch there.
    ///
    /// # Errors
    ///
    /// If there is no such commit, if the branch is not at the commit (any more), or if the patch
    /// does not apply, is not approved or cannot be written. Then the branch stays where it is.
    pub fn apply(
        &self,
        tool: &str,
        patch: &Patch,
        options: &Options,
        request: &GitRequest,
        host: &mut dyn Host,
    ) -> Result<GitReport, ToolError> {
        let mut log = self.recorder(tool, options);
        let view = CommitView { repository: &self.repository, branches: &Branches::default() };
        let mut onto = OntoCommit::new(self, patch, request, options, view);
        let result = commit_to(&mut onto, &mut log, host);
        // The log has the intent, so a missing outcome shows there.
        if let Err(error) = log.finish(&[], result.as_ref().err()) {
            host.event(&Event::Unlogged(&error.to_string()));
        }
        Ok(onto.report(result?))
    }

    /// Starts to record calls of a tool.
    fn recorder(&self, tool: &str, options: &Options) -> Recorder<'_> {
        let log = self.settings.recorder(&self.audit, &self.workspace, tool, Operation::Patch);
        let log = log.of_patch(options.profile);
        // Once is enough: the next session tries again, and if the log cannot be written, this
        // change is refused anyway.
        self.answered.call_once(|| drop(self.answer_cut_off(&log)));
        log
    }

    /// Writes the outcomes of killed runs into the log. A run holds the lock from its intent to its
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

    /// Returns whether an intended commit was made: whether its branch contains it, or whether all
    /// its objects are there if no branch was to move. `None` if this cannot be told.
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
        // The parents of the commit are not searched, as they are older. Some of them may have been
        // made together with it.
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

    /// Returns whether a tree is written, with the files of an intent.
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

    /// Returns the files of a commit as the base of a patch: the files as its author saw them.
    ///
    /// # Errors
    ///
    /// If there is no such commit.
    pub fn base(&self, revision: &str) -> Result<Files, ToolError> {
        Ok(self.tree(revision)?.files(Arc::clone(&self.policy)))
    }

    /// Finds the parent of the commit of a patch, and the branch to move. `seen` is the commit that
    /// the author saw, if it is known already.
    fn place(
        &self,
        request: &GitRequest,
        seen: Option<Resolved>,
        view: CommitView<'_>,
    ) -> Result<CommitTarget, ToolError> {
        let CommitView { repository, branches } = view;
        let (onto, named) = match seen {
            Some(seen) => (seen, view.branch(&request.onto).is_ok_and(|at| at.is_some())),
            None => match branches.resolved(&request.onto) {
                Some(tip) => (tip, true),
                None => resolve(repository, &request.onto)?,
            },
        };
        let branch = request.branch.clone().or_else(|| named.then(|| request.onto.clone()));
        let from = match &branch {
            Some(branch) => view.branch(branch).map_err(told)?,
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
        let files = self.files(repository, place.onto, cancellation);
        if place.seen == place.onto {
            return plan(files, patch, options);
        }
        let base = self.files(repository, place.seen, cancellation);
        let options = Options { base: Some(base), ..options.clone() };
        plan(files, patch, &options)
    }

    fn files(
        &self,
        repository: &Repository,
        commit: Resolved,
        cancellation: &Cancellation,
    ) -> Files {
        let tree = CommitTree::new(repository, commit);
        tree.files(Arc::clone(&self.policy)).cancelled_by(cancellation.clone())
    }

    /// Moves a branch, once all objects of its new commit are durable.
    fn publish(
        &self,
        repository: &Repository,
        to: PendingMove<'_>,
        host: &mut dyn Host,
    ) -> Result<(), ToolError> {
        let PendingMove { branch, from, to, allow_checked_out } = to;
        let began = Instant::now();
        let to = BranchMove {
            branch,
            from,
            to: to.commit,
            by: &to.committer,
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
                // Each try has waited as long as git does.
                Err(git_object_tree::Error::Locked { .. })
                    if began.elapsed() < self.settings.lock_timeout => {}
                Err(error) => return Err(told(error)),
            }
        }
    }
}

/// A repository as it will be after the commits so far.
#[derive(Clone, Copy)]
struct CommitView<'r> {
    /// The repository with the objects of the commits.
    repository: &'r Repository,
    /// The branches that the commits will move.
    branches: &'r Branches,
}

impl CommitView<'_> {
    /// Returns the commit of a branch, if there is such a branch.
    fn branch(self, name: &str) -> Result<Option<Id>, git_object_tree::Error> {
        match self.branches.tip(name) {
            Some(tip) => Ok(Some(tip.commit)),
            None => self.repository.branch(name),
        }
    }
}

/// Commits a patch to a repository.
struct OntoCommit<'s, 'r> {
    session: &'s GitSession,
    patch: &'r Patch,
    options: &'r Options,
    request: &'r GitRequest,
    view: CommitView<'r>,
    /// The target; `None` before the plan.
    place: Option<CommitTarget>,
    written: Option<WrittenCommit>,
    /// The lock, held until the outcome is written. An intent without a lock is of a process that
    /// was killed.
    locked: Option<Locked<'s>>,
}

impl<'s, 'r> OntoCommit<'s, 'r> {
    fn new(
        session: &'s GitSession,
        patch: &'r Patch,
        request: &'r GitRequest,
        options: &'r Options,
        view: CommitView<'r>,
    ) -> Self {
        Self { session, patch, options, request, view, place: None, written: None, locked: None }
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

    /// Returns the commit as the log has it.
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
        let repository = self.view.repository.isolated();
        let cancellation = host.cancellation();
        let written = self.write(&repository, plan, &cancellation)?.clone();
        let id = TransactionId::new(SystemTime::now(), None);
        log.in_git(self.logged());
        self.locked = Some(self.session.lock(cancellation)?);
        intend(id, log, host).map_err(commit::Error::from)?;
        let CommitTarget { branch, from, .. } = self.place();
        match branch {
            Some(branch) => {
                let allow_checked_out = self.request.allow_checked_out;
                let to = PendingMove { branch, from: *from, to: &written, allow_checked_out };
                self.session.publish(&repository, to, host)?;
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
        self.locked = None;
        self.written = None;
        let seen = self.place.as_ref().map(|place| place.seen);
        let place = self.session.place(self.request, seen, self.view)?;
        let place = self.place.insert(place);
        let Self { session, view, patch, options, .. } = *self;
        Ok(session.plan_over(view.repository, patch, options, place, &host.cancellation())?)
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
    /// The commit that the author of the patch saw: `onto`, or an older one.
    seen: Resolved,
    branch: Option<String>,
    /// Whether `onto` of the request is the name of a branch.
    named: bool,
    /// The commit of the branch now; `None` for a new branch.
    from: Option<Id>,
}

/// Resolves a revision, and tells whether it is the name of a branch. A tag or an object id may
/// have the same name.
fn resolve(repository: &Repository, revision: &str) -> Result<(Resolved, bool), ToolError> {
    loop {
        let before = repository.branch(revision).unwrap_or_default();
        let found = repository.resolve(revision).map_err(told)?;
        // The branch may have moved between the two reads.
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
    // A tree that was cut short is dropped by the check below.
    let tree = repository.write_tree(onto, changes.take_while(|_| !cancellation.is_cancelled()));
    cancellation.check()?;
    tree.map_err(told)
}

/// Returns the entry of a submodule in a tree.
fn submodule(content: &Content) -> Result<TreeEntry, ToolError> {
    let id = submodule_commit(&content.bytes).and_then(|id| id.parse().ok()).ok_or_else(|| {
        let message = "the id of the submodule's commit is not one of this repository's kind";
        ToolError::new(FailureClass::DoesNotApply, ErrorKind::PatchApplyError, message)
    })?;
    Ok(TreeEntry { kind: EntryKind::Submodule, id })
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
    // The plumbing of git takes an empty message; `git commit` does not.
    if message.chars().all(|sign| sign == '\0' || sign.is_ascii_whitespace()) {
        let text = "the message of the commit is empty";
        let error = ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, text);
        let reason = git_object_tree::ErrorKind::InvalidInput.as_str();
        return Err(error.details(json!({ "reason": reason })));
    }
    let commit = NewCommit {
        tree,
        parents: &[onto.commit],
        author: &author,
        committer: &committer,
        message: &message,
    };
    let commit = repository.write_commit(&commit).map_err(told)?;
    Ok(WrittenCommit { commit, tree, committer })
}

/// Writes a message that names the changes.
fn message_of(plan: &Plan) -> String {
    match plan.changes() {
        [one] => message_line(one),
        changes => {
            let lines: Vec<_> = changes.iter().map(message_line).collect();
            format!("Change {} files\n\n{}", changes.len(), lines.join("\n"))
        }
    }
}

fn message_line(change: &Change) -> String {
    match change.operation {
        ChangeKind::Create => format!("Add {}", change.path),
        ChangeKind::Update => format!("Update {}", change.path),
        ChangeKind::Delete => format!("Delete {}", change.path),
        ChangeKind::Move => format!("Move {} to {}", change.path, change.last_path()),
    }
}

fn commit_words(id: Option<Id>) -> String {
    id.map_or_else(|| "no commit".to_owned(), |id| id.to_string())
}

/// Makes the error of a branch that is not at the commit of the patch.
fn moved(branch: &str, expected: Option<Id>, actual: Option<Id>) -> ToolError {
    let message = format!(
        "the branch {branch} is at {}, not at {}",
        commit_words(actual),
        commit_words(expected)
    );
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
