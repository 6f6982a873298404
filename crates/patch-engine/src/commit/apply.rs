//! Applies a patch: lock, plan, ask, commit, report.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fs_guard::{Access, Cancellation, Hasher, RelPath, Sha256, Wait};
use patch_grammar::Patch;
use workspace_trash::{Journal, Prefix};

use crate::commit::committer::{Committer, NotCommitted, commit_to};
use crate::commit::host::{CommitLog, Event, Host};
use crate::commit::report::Report;
use crate::commit::{
    CommitError, CommitOptions, Committed, Error, Locked, Recovered, TransactionId, UndoOptions,
    Workspace,
};
use crate::files::Files;
use crate::plan::Plan;
use crate::plan::builder::PlanBuilder;
use crate::plan::fitting::{plan_before_first, plan_fitting};
use crate::plan::options::Options;
use crate::plan::paths::Named;
use crate::plan::paths::plain;
use crate::plan::planner::plan;
use crate::plan::reject::{Problem, Reject, Rejects};
use crate::plan::relative::relative;
use crate::plan::simultaneous::{made, steps};

/// The settings for applying a patch.
#[derive(Debug, Clone)]
pub struct ApplyOptions {
    /// The rules of planning.
    pub options: Options,
    /// How the transaction is committed.
    pub commit: CommitOptions,
    /// The sections to apply where some do not apply. Default: none.
    pub atomicity: Atomicity,
}

/// The sections of a patch to apply where some do not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Atomicity {
    /// None: all sections are one transaction.
    #[default]
    Whole,
    /// Those that do, as one transaction: all hunks of a section, or none. A section is left out
    /// too if it names a path of one that does not apply. None are applied where the guard or the
    /// policy refuses a section, or the system fails.
    Fitting,
    /// Those before the first that does not: each section is a transaction. Those of a git diff
    /// that only make sense together, as a swap of two files, are one.
    EachSection,
}

impl Atomicity {
    /// Returns what two switches mean together; `None` if they contradict each other. `atomic`
    /// wants one transaction, `partial` only the sections that apply.
    #[must_use]
    pub fn of(atomic: bool, partial: bool) -> Option<Self> {
        match (atomic, partial) {
            (true, false) => Some(Self::Whole),
            (true, true) => Some(Self::Fitting),
            (false, false) => Some(Self::EachSection),
            (false, true) => None,
        }
    }
}

impl Default for ApplyOptions {
    fn default() -> Self {
        Self::new(Options::default())
    }
}

impl ApplyOptions {
    /// ApplyOptions with the rules `options`, and defaults for the rest.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, commit: CommitOptions::default(), atomicity: Atomicity::Whole }
    }

    /// Plans a patch. Also returns why sections are left out.
    fn plan(&self, files: &Files, patch: &Patch) -> Result<(Plan, Option<Rejects>), Rejects> {
        match self.atomicity {
            Atomicity::Whole => plan(files, patch, &self.options).map(|plan| (plan, None)),
            Atomicity::Fitting => plan_fitting(files, patch, &self.options),
            Atomicity::EachSection => plan_before_first(files, patch, &self.options),
        }
    }
}

patch_grammar::debug_is_display!(Failed);

/// Why a patch was not applied, or not all of its sections, and the reports of those applied.
#[derive(thiserror::Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct Failed {
    /// Why nothing, or nothing more, was committed.
    #[source]
    pub error: Error,
    /// The committed transactions: none with [`Atomicity::Whole`].
    pub reports: Vec<Report>,
    /// Nothing was committed: the reports tell what would be.
    pub dry_run: bool,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { error, reports: Vec::new(), dry_run: false }
    }
}

/// Hashes a patch, to recognise it later: its text, its paths and hunks, and the directory of the
/// project that it is for. `None` for a long patch, which would take too long to hash.
fn hash_of(patch: &Patch, prefix: &Prefix) -> Option<Sha256> {
    /// Longer patches are not recognised.
    const MAX_SIZE: usize = 1 << 20;
    if patch.text().as_bytes().len() > MAX_SIZE {
        return None;
    }
    let mut hasher = Hasher::new();
    hasher.update(&[u8::from(patch.reversed)]);
    if !prefix.is_empty() {
        hasher.update(&(prefix.as_str().len() as u64).to_be_bytes());
        hasher.update(prefix.as_str().as_bytes());
    }
    hasher.update(patch.text().as_bytes());
    // The same text may be about other paths: where it is applied beneath a directory, or leading
    // parts are left out.
    for section in patch.sections() {
        for path in section.paths() {
            hasher.update(b"\0");
            hasher.update(path.text.as_bytes());
        }
        hasher.update(b"\n");
        section.hunks().iter().for_each(|hunk| hasher.update(&hunk.line.to_be_bytes()));
    }
    Some(hasher.finish())
}

/// Refuses to replace a file read or changed by another section of the patch, as where all
/// sections are planned together.
fn check_unused(
    patch: &Patch,
    index: usize,
    named: &Named<'_>,
    files: &Files,
    options: &Options,
) -> Result<(), Reject> {
    let section = &patch.sections()[index];
    let Some(to) = made(section) else { return Ok(()) };
    let other = named.sections(to).find(|&other| other != index);
    let Some(other) = other else { return Ok(()) };
    if !PlanBuilder::new(files.clone(), options).exists(to, Access::Create).unwrap_or(false) {
        return Ok(());
    }
    let problem = Problem::ReplacesUsed { other: patch.place_in_text(other) };
    let line = section.destination().unwrap_or(&section.path).line;
    Err(Reject { section: Some(0), patch_line: Some(line), ..Reject::of(to, problem) })
}

impl Workspace {
    /// Applies a patch: all of it, or what [`ApplyOptions::atomicity`] says.
    ///
    /// `host` is asked about exactly the plan to commit.
    ///
    /// A patch that was applied as one transaction before, and whose files are still as that left
    /// them, is not applied again: the report has that transaction, and an empty plan
    /// ([`Report::already_done`]).
    ///
    /// ```
    /// use patch_engine::{ApplyOptions, parse, commit::Workspace};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let settings = ApplyOptions::default();
    /// # let text = "*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch\n";
    /// let workspace = Workspace::open(dir.path(), patch_engine::policy())?;
    /// let patch = parse(text, &settings.options.parse)?;
    /// let reports = workspace.apply(&patch, &settings, &mut ())?;
    /// # assert_eq!(reports[0].plan.changes().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Why it was not applied, or not all of it, and what was.
    pub fn apply(
        &self,
        patch: &Patch,
        settings: &ApplyOptions,
        host: &mut dyn Host,
    ) -> Result<Vec<Report>, Failed> {
        self.apply_logged(patch, settings, &mut (), host)
    }

    /// The same, with a log, written before each commit.
    ///
    /// # Errors
    ///
    /// The errors of [`apply`](Self::apply).
    pub fn apply_logged(
        &self,
        patch: &Patch,
        settings: &ApplyOptions,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
    ) -> Result<Vec<Report>, Failed> {
        if settings.atomicity == Atomicity::EachSection {
            return self.apply_each(patch, settings, log, host);
        }
        let text = hash_of(patch, self.prefix());
        let commit = CommitOptions { text, ..settings.commit.clone() };
        let mut why = None;
        let mut done = None;
        let plan = &mut |files: &Files, locked: Option<&Locked<'_>>| {
            let applied = locked
                .zip(text.as_ref())
                .and_then(|(locked, text)| locked.store.applied(text).ok()?);
            let plan;
            match applied.and_then(|journal| self.recognised(patch, settings, &journal)) {
                Some((id, nothing)) => (plan, why, done) = (nothing, None, Some(id)),
                None => {
                    done = None;
                    (plan, why) = settings.plan(files, patch).map_err(Error::from)?;
                }
            }
            Ok::<_, Error>(plan)
        };
        let report = self.execute_locked(&commit, log, host, plan)?;
        match why {
            None if done.is_some() => {
                Ok(vec![Report { already_done: true, transaction: done, ..report }])
            }
            None => Ok(vec![report]),
            Some(why) => Err(Failed { reports: vec![report], ..Error::from(why).into() }),
        }
    }

    /// Applies each section as a transaction.
    fn apply_each(
        &self,
        patch: &Patch,
        settings: &ApplyOptions,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
    ) -> Result<Vec<Report>, Failed> {
        let patch = &*relative(&self.root().into(), patch);
        let mut options = settings.options.clone();
        let mut reports: Vec<Report> = Vec::new();
        let steps = steps(patch);
        let named = Named::of(patch.sections().iter().enumerate());
        let mut step_of = vec![0; patch.sections().len()];
        for (nth, step) in steps.iter().enumerate() {
            step.iter().for_each(|&index| step_of[index] = nth);
        }
        for (nth, step) in steps.iter().enumerate() {
            let mut part =
                patch.map_sections(|all| step.iter().map(|&index| all[index].clone()).collect());
            // Notes about the text are reported with the first section.
            if nth > 0 {
                part.warnings.clear();
                part.notes.clear();
            }
            // The section of a file decides whether the file may have changed.
            let mut of_part = options.clone();
            if options.snapshots.is_some() {
                of_part.expected.retain(|path, _| {
                    let mut naming = named.sections(plain(path)).map(|index| step_of[index]);
                    let last = naming.clone().max();
                    naming.any(|step| step == nth) || last.is_none_or(|last| last < nth)
                });
            }
            let plan = &mut |files: &Files| {
                let unused = match step[..] {
                    [index] => check_unused(patch, index, &named, files, &of_part),
                    _ => Ok(()),
                };
                Ok(unused.map_err(Rejects::from).and_then(|()| plan(files, &part, &of_part))?)
            };
            match self.execute(&settings.commit, log, host, plan) {
                Ok(report) => {
                    // An expectation about a file is checked before the first change of that file.
                    for transition in report.plan.transitions() {
                        options.expected.remove(transition.path().as_str());
                    }
                    reports.push(report);
                }
                Err(Error::Rejected(why)) => {
                    let error = Error::Rejected(why.of_sections(patch, &part, step));
                    return Err(Failed { reports, ..error.into() });
                }
                Err(error) => return Err(Failed { reports, ..error.into() }),
            }
        }
        Ok(reports)
    }

    /// Plans what [`apply`](Self::apply) would do, and writes nothing, unless it is given up. The
    /// report has no transaction, unless the patch was applied already.
    ///
    /// # Errors
    ///
    /// Why the patch does not apply, or not all of it; the reports tell what would be applied.
    pub fn preview(
        &self,
        patch: &Patch,
        settings: &ApplyOptions,
        cancellation: &Cancellation,
    ) -> Result<Report, Failed> {
        let journal = match settings.atomicity {
            Atomicity::EachSection => None,
            _ => self.applied(patch),
        };
        if let Some((id, plan)) = journal.and_then(|it| self.recognised(patch, settings, &it)) {
            let report = Report::new(Arc::new(plan), Some(id));
            return Ok(Report { already_done: true, ..report });
        }
        self.root().forget();
        let files = self.files().cancelled_by(cancellation.clone());
        let (plan, why) = settings.plan(&files, patch).map_err(Error::from)?;
        self.check_commit(&plan)?;
        let report = Report::new(Arc::new(plan), None);
        match why {
            None => Ok(report),
            Some(why) => {
                let error = Error::from(why);
                Err(Failed { error, reports: vec![report], dry_run: true })
            }
        }
    }

    /// Returns the journal of a transaction with the same patch, if known.
    fn applied(&self, patch: &Patch) -> Option<Journal> {
        self.store().ok()??.applied(&hash_of(patch, self.prefix())?).ok()?
    }

    /// Returns the transaction of this journal, which applied the same patch as a whole, and a plan
    /// that changes nothing: if its files are as that left them and, where the patch has to be
    /// verified, that was. `None` also where this cannot be found out: applying the patch will then
    /// show why.
    fn recognised(
        &self,
        patch: &Patch,
        settings: &ApplyOptions,
        journal: &Journal,
    ) -> Option<(TransactionId, Plan)> {
        let verified = settings.commit.verify.as_ref().is_some_and(|verify| {
            let paths: Vec<_> = journal.records.iter().map(|record| &*record.path).collect();
            verify.concerns(&paths)
        });
        let id = self.already_done(journal, &settings.options.expected, verified).ok()??;
        let mut builder = PlanBuilder::new(self.files(), &settings.options);
        builder.of_patch(patch.clone());
        Some((id, builder.finish().ok()?))
    }

    /// Undoes a transaction, or what it did to `paths` (none: all of it).
    ///
    /// ```
    /// # use patch_engine::{ApplyOptions, parse, commit::{CommitOptions, Workspace}};
    /// # let dir = tempfile::tempdir()?;
    /// # let text = "*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch\n";
    /// # let workspace = Workspace::open(dir.path(), patch_engine::policy())?;
    /// # let patch = parse(text, &Default::default())?;
    /// # let id = workspace.apply(&patch, &ApplyOptions::default(), &mut ())?[0].transaction.unwrap();
    /// workspace.undo(id, &[], &CommitOptions::default(), &mut ())?;
    /// # assert!(!dir.path().join("hello.txt").exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the files have changed since, or cannot be brought back.
    pub fn undo(
        &self,
        id: TransactionId,
        paths: &[RelPath],
        options: &CommitOptions,
        host: &mut dyn Host,
    ) -> Result<Report, Error> {
        self.execute(options, &mut (), host, &mut |files| {
            let cancellation = files.cancellation().clone();
            let options = UndoOptions { cancellation, ..UndoOptions::default() };
            self.plan_undo_with(Some(id), paths, &options)
        })
    }

    /// Locks, plans, asks and commits: the only way to change files, forwards or back.
    ///
    /// `plan` gets the files of the root. It may be asked a second time, when files changed between
    /// its answer and the lock.
    ///
    /// # Errors
    ///
    /// The errors of `plan`, of asking, of locking and of committing.
    pub fn execute<E: From<Error>>(
        &self,
        options: &CommitOptions,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
        plan: &mut dyn FnMut(&Files) -> Result<Plan, E>,
    ) -> Result<Report, E> {
        self.execute_locked(options, log, host, &mut |files, _| plan(files))
    }

    /// Does the same; `plan` also gets the lock, if held.
    fn execute_locked<E: From<Error>>(
        &self,
        options: &CommitOptions,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
        plan: &mut PlanLocked<'_, E>,
    ) -> Result<Report, E> {
        let directory = &mut InDirectory {
            workspace: self,
            options,
            plan,
            lock_first: self.home().knows_state() || self.has_state(),
            locked: None,
            planned: None,
            recovered: Vec::new(),
        };
        commit_to(directory, log, host)
    }
}

/// Makes a plan for the files, under the lock if held.
type PlanLocked<'d, E> = dyn FnMut(&Files, Option<&Locked<'_>>) -> Result<Plan, E> + 'd;

/// Commits to the root of a workspace.
struct InDirectory<'d, 'w, E> {
    workspace: &'w Workspace,
    options: &'d CommitOptions,
    plan: &'d mut PlanLocked<'d, E>,
    /// The lock is held from the first look at the files to the last change. Only where no patch
    /// was ever applied is there no place for a lock yet: it is made when it is known that the
    /// patch fits, so that one that does not leaves no trace. Should a second process do the same
    /// at the same time, the commit finds files that are not as planned, and the patch is planned
    /// anew.
    lock_first: bool,
    locked: Option<Locked<'w>>,
    /// When the plan was made under the lock. What is planned without it has to be looked at before
    /// the first file is published, or others would see that file come and go.
    planned: Option<Instant>,
    recovered: Vec<Recovered>,
}

impl<'w, E> InDirectory<'_, 'w, E> {
    fn lock(&mut self, cancellation: Cancellation) -> Result<&Locked<'w>, Error> {
        let locked = match self.locked.take() {
            Some(locked) => locked,
            None => {
                let timeout = self.options.lock_timeout;
                self.workspace.lock(Wait { timeout, cancellation })?
            }
        };
        Ok(self.locked.insert(locked))
    }
}

impl<E: From<Error>> Committer for InDirectory<'_, '_, E> {
    type Error = E;

    fn plan(&mut self, log: &mut dyn CommitLog, host: &mut dyn Host) -> Result<Plan, E> {
        self.locked = None;
        self.workspace.root().forget();
        if self.lock_first {
            let found = self.lock(host.cancellation())?.recovered().to_vec();
            if !found.is_empty() {
                log.recovered(&found);
                host.event(&Event::Recovered(&found));
                self.recovered.extend(found);
            }
        }
        let files = self.workspace.files().cancelled_by(host.cancellation());
        let plan = (self.plan)(&files, self.locked.as_ref())?;
        self.planned = self.locked.is_some().then(Instant::now);
        Ok(plan)
    }

    fn commit(
        &mut self,
        plan: &Arc<Plan>,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
    ) -> Result<Committed, NotCommitted<E>> {
        /// A person who is asked about a plan takes longer.
        const A_MOMENT: Duration = Duration::from_millis(100);
        let options = self.options;
        let seen = self.planned.is_some_and(|planned| planned.elapsed() < A_MOMENT);
        let locked = self.lock(host.cancellation())?;
        let committed = locked.commit_after_look(plan, seen, options, log, host);
        committed.map_err(|error| {
            let stale = matches!(error, CommitError::Stale(_));
            let overtaken = stale && !std::mem::replace(&mut self.lock_first, true);
            NotCommitted { overtaken, ..Error::from(error).into() }
        })
    }

    fn recovered(&mut self) -> Vec<Recovered> {
        std::mem::take(&mut self.recovered)
    }
}
