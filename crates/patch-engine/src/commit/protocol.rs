//! One commit, from staging to the trash.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::SystemTime;

use fs_guard::{Cancellation, Dirs, FileKind, RelPath, Sha256, StagedFile, SyncGroup, Target};
use workspace_trash::{
    Carried, FileState, Header, Journal, Kept, Pending, Record, TransactionId, slot_in,
};

use super::create_ahead::{CreatedAhead, ToCreate, create_ahead};
use super::error::CommitError;
use super::held::Held;
use super::left::LeftRecord;
use super::options::{CommitOptions, Durability, Verify};
use super::publish::{self, Fresh, Publication};
use super::siblings;
use super::stage::Stager;
use super::workspace::Locked;
use crate::commit::host::{CommitLog, Event, Host, intend};
use crate::plan::formatter::{CommandEnd, CommandFailure};
use crate::plan::{Authority, ChangeKind, Plan, PlanNote};

/// The result of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// The transaction's name.
    pub id: TransactionId,
    /// For each transition, the place of the displaced file (beneath the root).
    pub trashed: Vec<Option<String>>,
}

impl From<TransactionId> for Committed {
    /// A commit without displaced files.
    fn from(id: TransactionId) -> Self {
        Self { id, trashed: Vec::new() }
    }
}

impl Locked<'_> {
    /// Carries out all of a plan, or none of it. The host can [give it
    /// up](Host::cancellation) until the commit point.
    ///
    /// Checks every path against the policy again, whatever access it was checked for when the plan
    /// was made.
    ///
    /// If the file system does not let files be renamed out of the state directory, the commit is
    /// tried a second time with the new files staged beside the old ones; the log and the host are
    /// then called again.
    ///
    /// # Errors
    ///
    /// After any error but [`CommitError::RollbackIncomplete`] and [`CommitError::Untidy`]
    /// everything is as it was before.
    pub fn commit(
        &self,
        plan: &Plan,
        options: &CommitOptions,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
    ) -> Result<Committed, CommitError> {
        self.commit_after_look(plan, false, options, log, host)
    }

    /// The same; `seen` tells whether the files were read a moment ago, under this lock. Then each
    /// is only looked at right before and after its exchange, and not once more before anything is
    /// staged.
    pub(super) fn commit_after_look(
        &self,
        plan: &Plan,
        seen: bool,
        options: &CommitOptions,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
    ) -> Result<Committed, CommitError> {
        let cancellation = host.cancellation();
        let commit = Commit { locked: self, plan, seen, options, cancellation };
        match commit.run(false, log, host) {
            Err(CommitError::Files(error)) if is_cross_device(&error) => {
                commit.run(true, log, host)
            }
            result => result,
        }
    }
}

fn is_cross_device(error: &fs_guard::Error) -> bool {
    error.io().is_some_and(|error| error.kind() == std::io::ErrorKind::CrossesDevices)
}

struct Commit<'c> {
    locked: &'c Locked<'c>,
    plan: &'c Plan,
    seen: bool,
    options: &'c CommitOptions,
    cancellation: Cancellation,
}

/// The paths of a plan, checked for the access of the commit.
struct Targets {
    /// One for each transition.
    paths: Vec<Target>,
    /// The directories to create, with their modes where these are not the default.
    created: Vec<(Target, Option<u32>)>,
}

/// The staged files, ready to publish.
struct Staged {
    journal: Journal,
    files: Vec<Option<StagedFile>>,
    /// The record of the files left, if kept in a file of its own.
    left: Option<StagedFile>,
    /// The directories to remove, with their modes.
    removed: Vec<(Target, u32)>,
}

impl Commit<'_> {
    fn run(
        &self,
        beside: bool,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
    ) -> Result<Committed, CommitError> {
        let store = &self.locked.store;
        let dirs = self.locked.workspace.dirs_of(self.plan);
        let targets = self.check(&dirs)?;
        self.locked.workspace.check_dirs(&dirs, self.plan)?;
        let pending = store.begin()?;
        let Staged { journal, files, left, removed } =
            match self.stage(&dirs, &targets, &pending, beside) {
                Ok(staged) => staged,
                Err(error) => return Err(self.give_up(pending, beside, error)),
            };
        let id = pending.id();
        if let Some(sha256) = journal.left.sha256() {
            log.keeps(sha256);
        }
        if let Err(refused) = intend(id, log, host) {
            // On Windows an open file can keep its name until it is closed.
            drop((files, left));
            return Err(self.give_up(pending, beside, refused));
        }
        let Targets { paths, created } = targets;
        let paths =
            journal.records.iter().map(|record| paths[record.slot as usize].clone()).collect();
        let publication = Publication {
            dirs: &dirs,
            pending: &pending,
            journal: &journal,
            paths,
            created,
            removed,
        };
        let published = self.publish(&publication, files, left, log, host);
        let mut held = None;
        if let Err(cause) = published.and_then(|()| self.verify(&publication, &mut held, host)) {
            let beside = match held.map(|held| self.put_beside(held, &publication)).transpose() {
                Ok(beside) => beside.flatten(),
                Err(error) => {
                    return Err(self.abort(&dirs, pending, &journal, cause, false, Err(error)));
                }
            };
            let journal = beside.as_ref().unwrap_or(&journal);
            let publication = Publication { journal, ..publication };
            // If the mark cannot be written, recovery after a crash may still finish the
            // transaction. This is correct, because no failure was reported.
            let durable = self.options.durability == Durability::Full;
            let marked = pending.mark_aborted(durable).is_ok();
            let left = publication.roll_back(&[]).and_then(|left| {
                if durable {
                    publication.sync(None)?;
                }
                Ok(left)
            });
            return Err(self.abort(&dirs, pending, journal, cause, marked, left));
        }
        // The change is made and durable. Anything that fails from here on is done by the next
        // process that takes the lock.
        store.keep();
        let trashed = self.plan.transitions().iter().enumerate().map(|(index, transition)| {
            transition.before.as_ref().map(|_| store.stored_path(id, slot_number(index)))
        });
        let committed = Committed { id, trashed: trashed.collect() };
        let tidied = self.tidy(&publication);
        self.put_away(pending, tidied, log, host)?;
        if matches!(store.is_signed(), Ok(false)) {
            host.event(&Event::Unsigned);
        }
        Ok(committed)
    }

    /// Brings displaced files to the folder, and removes directories.
    fn tidy(&self, publication: &Publication<'_>) -> Result<(), CommitError> {
        if siblings::bring_home(publication.dirs, publication.pending, publication.journal)? {
            publication.remove_dirs()?;
            if self.options.durability == Durability::Full {
                publication.sync(None)?;
            }
        }
        Ok(())
    }

    /// Puts the folder of a transaction away. A change that is reported as done must not be rolled
    /// back because of later changes by others to the files.
    fn put_away(
        &self,
        pending: Pending<'_>,
        tidied: Result<(), CommitError>,
        log: &mut dyn CommitLog,
        host: &mut dyn Host,
    ) -> Result<(), CommitError> {
        let durable = self.options.durability == Durability::Full;
        if let Err(cause) = tidied {
            let _ = pending.mark_done(durable);
            return Err(CommitError::Untidy {
                journal: pending.journal_path(),
                cause: Box::new(cause),
            });
        }
        match pending.finish_and_purge(&self.options.retention, SystemTime::now()) {
            Ok(true) => log.purged(),
            Ok(false) => {}
            Err(cause) => {
                if pending.mark_done(durable).is_err() {
                    return Err(CommitError::Untidy {
                        journal: pending.journal_path(),
                        cause: Box::new(cause.into()),
                    });
                }
                host.event(&Event::NotInTrash(&cause.to_string()));
            }
        }
        Ok(())
    }

    /// Returns the hash of the patch, to recognise one applied as a whole.
    fn patch_hash(&self) -> Option<Sha256> {
        self.options.text.filter(|_| !self.plan.is_partial())
    }

    /// Removes what was staged. Only the folder was written, and the files staged beside their
    /// places, listed in the folder.
    fn give_up(&self, pending: Pending<'_>, beside: bool, cause: CommitError) -> CommitError {
        let dirs = Dirs::new(self.locked.workspace.home());
        if beside && siblings::remove_listed(&dirs, pending.folder()).is_err() {
            // Recovery finds the list.
            self.locked.store.keep();
            let journal = pending.journal_path();
            return CommitError::RollbackIncomplete {
                journal,
                paths: Vec::new(),
                cause: Box::new(cause),
            };
        }
        let _ = pending.discard();
        cause
    }

    /// Checks every path again before anything is written, and, unless they were read a moment ago,
    /// every pre-image.
    fn check(&self, dirs: &Dirs<'_>) -> Result<Targets, CommitError> {
        if self.plan.is_empty() {
            return Err(CommitError::Nothing);
        }
        if !self
            .plan
            .files()
            .directory()
            .is_some_and(|root| Arc::ptr_eq(root, self.locked.workspace.root()))
        {
            return Err(CommitError::OtherWorkspace);
        }
        let root = dirs.root();
        let transitions = self.plan.transitions();
        let mut paths = Vec::with_capacity(transitions.len());
        for transition in transitions {
            self.cancellation.check()?;
            let path = &transition.path;
            paths.push(match self.plan.authority() {
                Authority::Policy => root.target(path.as_str(), transition.access())?,
                Authority::Journal { authentic } => {
                    root.target_recorded(path.as_str(), authentic)?
                }
            });
            transition.check_displaced(self.plan.files())?;
        }
        let appearing = transitions.iter().filter(|transition| transition.before.is_none());
        root.check_no_new_repository(appearing.map(|transition| &transition.path))?;
        let going: BTreeSet<&RelPath> = self.plan.remove_dirs().iter().collect();
        let unseen = if self.seen { 0 } else { transitions.len() };
        for (transition, path) in transitions.iter().zip(&paths).take(unseen) {
            self.cancellation.check()?;
            let place = match dirs.place(path) {
                Ok(place) => place,
                Err(fs_guard::Error::NotFound { .. }) if transition.before.is_none() => continue,
                Err(error) => return Err(error.into()),
            };
            // A directory to give way to a file is still there now.
            if transition.before.is_some() || !going.contains(&transition.path) {
                publish::expected(transition).check(&place)?;
            }
        }
        // Directories are not checked against the lists: they lead to files that are, or existed
        // before.
        let created = self
            .plan
            .new_dirs()
            .iter()
            .map(|new| Ok((root.target_recorded(new.path.as_str(), true)?, new.mode)));
        let created = created.collect::<Result<_, fs_guard::Error>>()?;
        for removed in self.plan.remove_dirs() {
            root.target_recorded(removed.as_str(), true)?;
        }
        Ok(Targets { paths, created })
    }

    fn stage(
        &self,
        dirs: &Dirs<'_>,
        targets: &Targets,
        pending: &Pending<'_>,
        beside: bool,
    ) -> Result<Staged, CommitError> {
        let transitions = self.plan.transitions();
        let mut over = transitions.iter().filter(|transition| {
            transition.before.is_none() && self.plan.remove_dirs().contains(&transition.path)
                || self.plan.create_dirs().any(|dir| *dir == transition.path)
        });
        if beside && let Some(over) = over.next() {
            // Displaced files would be kept in the very directory replaced by this file, or new
            // ones be staged in the directory to replace this file.
            let source = std::io::Error::from(std::io::ErrorKind::CrossesDevices);
            let path = over.path.to_string();
            return Err(fs_guard::Error::Io { operation: "replace", path, source }.into());
        }
        let names = if beside {
            siblings::choose(
                dirs,
                pending,
                self.locked.store.prefix(),
                &targets.paths,
                &targets.created,
            )?
        } else {
            vec![None; transitions.len()]
        };
        let new = transitions.iter().enumerate();
        let new = new.filter_map(|(index, transition)| Some((index, transition.after.as_ref()?)));
        let new = new.filter(|(_, post)| !beside && Stager::is_new_file(post));
        let folder = pending.folder().clone();
        let to_create = new.map(|(index, post)| {
            let spot = slot_in(&folder, slot_number(index));
            ToCreate { index, spot, mode: post.mode.requested() }
        });
        let mut left = LeftRecord::new(self.plan, pending.left());
        let stage = |created: &mut CreatedAhead| {
            self.stage_each(dirs, targets, pending, names, created, &mut left)
        };
        let (files, records) = if self.plan.is_staged_by_two_threads() {
            create_ahead(to_create, stage)?
        } else {
            stage(&mut CreatedAhead::default())?
        };
        let (kept, left) = left.finish()?;
        let journal = self.journal(dirs, pending.id(), records, kept)?;
        let removed = publish::removed(dirs.root(), &journal, true)?;
        Ok(Staged { journal, files, left, removed })
    }

    fn stage_each(
        &self,
        dirs: &Dirs<'_>,
        targets: &Targets,
        pending: &Pending<'_>,
        names: Vec<Option<String>>,
        created: &mut CreatedAhead,
        left: &mut LeftRecord<'_>,
    ) -> Result<(Vec<Option<StagedFile>>, Vec<Record>), CommitError> {
        let transitions = self.plan.transitions();
        let durable = self.options.durability == Durability::Full;
        let stager = Stager::new(dirs, &self.locked.store, self.plan, durable, &self.cancellation);
        let mut files = Vec::with_capacity(transitions.len());
        let mut records = Vec::with_capacity(transitions.len());
        for ((index, transition), sibling) in transitions.iter().enumerate().zip(names) {
            let path = &transition.path;
            let slot = match &sibling {
                None => pending.slot(slot_number(index)),
                Some(name) => dirs.place(&targets.paths[index])?.dir().spot(name),
            };
            let mut file = match &transition.after {
                Some(post) => {
                    let left = left.begin(index)?;
                    Some(stager.stage(path, post, &slot, created.take(index), left)?)
                }
                None => None,
            };
            // All are staged before the first is published, and their metadata are in the record.
            let staged = file
                .as_mut()
                .map(|file| file.take_metadata().expect("BUG: what is staged is looked at"));
            let after = staged.zip(transition.after.as_ref());
            records.push(Record {
                slot: slot_number(index),
                path: path.as_str().into(),
                before: transition.before.as_ref().map(|b| FileState::of(&b.metadata, b.sha256())),
                after: after.map(|(staged, post)| FileState::of(&staged, post.sha256())),
                sibling,
            });
            files.push(file);
        }
        Ok((files, records))
    }

    fn journal(
        &self,
        dirs: &Dirs<'_>,
        id: TransactionId,
        records: Vec<Record>,
        left: Kept,
    ) -> Result<Journal, CommitError> {
        let options = self.options;
        let mut removed_dirs = Vec::new();
        for dir in self.plan.remove_dirs() {
            match dirs.root().metadata(dir)? {
                Some(seen) if seen.kind == FileKind::Directory => {
                    removed_dirs.push((dir.as_str().to_owned(), seen.mode & 0o777));
                }
                _ => {}
            }
        }
        let undone = self.plan.undone();
        let mut journal = Journal {
            header: Header {
                tool: options.tool.clone(),
                agent: options.agent.clone(),
                session: options.session.clone(),
                turn: options.turn.clone(),
                undo_of: undone.map(|undone| undone.id),
                also_undo_of: self.plan.also_undone().to_vec(),
                partial: undone.is_some_and(|undone| undone.partial),
                unverified: self.check_wanted().is_some(),
                text: self.patch_hash(),
                ..Header::new(id)
            },
            created_dirs: self
                .plan
                .new_dirs()
                .iter()
                .map(|dir| (dir.path.to_string(), dir.mode))
                .collect(),
            removed_dirs,
            moved: self.moved(&records),
            records,
            carried: self.plan.notes().iter().filter_map(carried).collect(),
            left,
        };
        publish::sort(&mut journal);
        Ok(journal)
    }

    /// Returns the slots of moved files: the old one and the new one.
    fn moved(&self, records: &[Record]) -> Vec<(u32, u32)> {
        let moves =
            self.plan.changes().iter().filter(|change| change.operation == ChangeKind::Move);
        let moves: Vec<_> =
            moves.filter_map(|change| Some((&change.path, change.to_path.as_ref()?))).collect();
        if moves.is_empty() {
            return Vec::new();
        }
        let slots: HashMap<&str, u32> =
            records.iter().map(|record| (&*record.path, record.slot)).collect();
        let slots = moves
            .into_iter()
            .filter_map(|(from, to)| Some((*slots.get(from.as_str())?, *slots.get(to.as_str())?)));
        slots.collect()
    }

    /// Writes and syncs the journal (the commit point), then publishes.
    fn publish(
        &self,
        publication: &Publication<'_>,
        files: Vec<Option<StagedFile>>,
        left: Option<StagedFile>,
        log: &dyn CommitLog,
        host: &mut dyn Host,
    ) -> Result<(), CommitError> {
        let Publication { dirs, pending, journal, .. } = *publication;
        let durable = self.options.durability == Durability::Full;
        let beside = journal.records.iter().any(|record| record.sibling.is_some());
        let whole = (!beside).then(|| pending.folder());
        {
            let text = pending.write_journal(journal)?;
            if durable {
                let mut group = SyncGroup::new().cancelled_by(&self.cancellation);
                files.iter().flatten().for_each(|file| group.file(file));
                group.file(&text);
                left.iter().for_each(|left| group.file(left));
                if let Some(log) = log.file() {
                    group.log(log);
                }
                pending.add_dirs(&mut group);
                // The process that created the state directory may have been killed before it
                // synced it, or may never sync.
                group.dir(&self.locked.store.parent_dir()?);
                if beside {
                    group.dirs_of(dirs);
                }
                group.sync(whole)?;
            }
            drop(left);
        }
        self.cancellation.check()?;
        // The commit point: from here on recovery finishes the transaction.
        let mut fresh = Fresh { plan: self.plan, files };
        publication.publish(Some(&mut fresh), &mut |index| host.event(&Event::Published(index)))?;
        if durable {
            publication.sync(whole)?;
        }
        // Files displaced beside their places need their directory until they are moved to the
        // folder. A removed directory must not come back after a power cut, so this is synced.
        let removed = !beside && publication.remove_dirs()?;
        let last = publication
            .publish_last(Some(&mut fresh), &mut |index| host.event(&Event::Published(index)))?;
        if durable && (removed || last) {
            publication.sync(None)?;
        }
        Ok(())
    }

    /// The caller's check, if the plan concerns one.
    fn check_wanted(&self) -> Option<&dyn Verify> {
        let verify = self.options.verify.as_deref().filter(|_| self.plan.undo_of().is_none())?;
        let transitions = self.plan.transitions().iter();
        let paths: Vec<_> = transitions.map(|transition| transition.path().as_str()).collect();
        verify.concerns(&paths).then_some(verify)
    }

    /// Runs the caller's check on the published files, if it concerns them. Once it passes the
    /// transaction counts. What was displaced is open in `held` from then on.
    fn verify(
        &self,
        publication: &Publication<'_>,
        held: &mut Option<Held>,
        host: &mut dyn Host,
    ) -> Result<(), CommitError> {
        let Some(verify) = self.check_wanted() else { return Ok(()) };
        let pending = publication.pending;
        let workspace = self.locked.workspace;
        let held = held.insert(Held::open(publication)?);
        host.event(&Event::Verifying(pending.id()));
        let state = workspace.state_path();
        let verified = verify.verify(workspace.root(), self.plan, &state, &self.cancellation);
        let verified = verified.and_then(|()| match held.is_lost(publication) {
            Ok(true) => Err(CommandFailure {
                command: None,
                end: CommandEnd::RemovedState,
                output: Vec::new(),
                left_out: 0,
            }),
            _ => Ok(()),
        });
        verified.map_err(|refused| match refused.end {
            CommandEnd::Cancelled => fs_guard::Error::Cancelled.into(),
            _ => CommitError::Unverified(Box::new(refused)),
        })?;
        Ok(pending.mark_done(self.options.durability == Durability::Full)?)
    }

    /// Brings displaced files back that lost their names during the check. Returns the journal that
    /// says where they are.
    fn put_beside(
        &self,
        held: Held,
        publication: &Publication<'_>,
    ) -> Result<Option<Journal>, CommitError> {
        if !held.is_lost(publication)? {
            return Ok(None);
        }
        held.put_beside(publication).map(Some)
    }

    /// Cleans up after a roll-back that restored all files but those in `left`. The error tells if
    /// the roll-back is incomplete.
    fn abort(
        &self,
        dirs: &Dirs<'_>,
        pending: Pending<'_>,
        journal: &Journal,
        cause: CommitError,
        marked: bool,
        left: Result<Vec<String>, CommitError>,
    ) -> CommitError {
        let mut journal_path = pending.journal_path();
        let left = match left {
            Ok(left) => left,
            Err(error) => return self.incomplete(journal_path, error, Vec::new()),
        };
        dirs.restore_times();
        if left.is_empty() {
            return match pending.discard() {
                Ok(()) => cause,
                // The files are restored. If the folder is marked as aborted, the next recovery
                // discards it. But if a second attempt follows, that recovery would revert the
                // attempt, so then it is an error.
                Err(_)
                    if marked
                        && !matches!(&cause, CommitError::Files(error) if is_cross_device(error)) =>
                {
                    cause
                }
                Err(error) => self.incomplete(journal_path, error.into(), left),
            };
        }
        // Unrestored files are kept in the trash.
        let _ = siblings::bring_home(dirs, &pending, journal);
        if let Err(error) = pending.finish() {
            return self.incomplete(journal_path, error.into(), left);
        }
        if let Some((_, name)) = journal_path.rsplit_once('/') {
            let kept = self.locked.store.stored_path(pending.id(), 0);
            journal_path = format!("{}/{name}", kept.trim_end_matches("/0"));
        }
        self.incomplete(journal_path, cause, left)
    }

    /// Makes the error of an unfinished roll-back, and keeps the files for recovery.
    fn incomplete(&self, journal: String, cause: CommitError, paths: Vec<String>) -> CommitError {
        self.locked.store.keep();
        CommitError::RollbackIncomplete { journal, paths, cause: Box::new(cause) }
    }
}

pub(super) fn slot_number(index: usize) -> u32 {
    u32::try_from(index).expect("a patch has fewer sections")
}

fn carried(note: &PlanNote) -> Option<Carried> {
    let PlanNote::Carried { path, hunk, from, to, already_there } = note else { return None };
    Some(Carried {
        path: path.clone(),
        hunk: *hunk,
        from: (*from.start(), *from.end()),
        to: (*to.start(), *to.end()),
        already_there: *already_there,
    })
}
