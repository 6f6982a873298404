//! One commit, from staging to the trash.

use std::collections::BTreeSet;
use std::time::SystemTime;

use fs_guard::{Access, Dirs, FileKind, RelPath, Spot, StagedFile, SyncGroup};
use workspace_trash::{FileState, Header, Journal, Operation, Pending, Record, TransactionId, stored_path};

use super::error::CommitError;
use super::options::{CommitObserver, CommitOptions, Durability};
use super::publish::{self, Expected};
use super::rollback::roll_back;
use super::siblings;
use super::stage::Stager;
use super::workspace::Locked;
use crate::transition::Transition;

/// What a commit did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// The transaction's name.
    pub id: TransactionId,
    /// For each transition, where the file that it displaced is kept (beneath the root).
    pub trashed: Vec<Option<String>>,
    /// The directories that were removed because they were empty in the end.
    pub removed_dirs: Vec<RelPath>,
}

impl Locked<'_> {
    /// Makes all of a plan happen, or none of it.
    ///
    /// `create_dirs` are made first, outermost first. Each path occurs in one transition only.
    ///
    /// On a file system where files cannot be renamed out of the state directory, the observer is
    /// asked a second time, for a second attempt that stages beside the files.
    pub fn commit(
        &self,
        transitions: &[Transition],
        create_dirs: &[RelPath],
        options: &CommitOptions,
        observer: &mut dyn CommitObserver,
    ) -> Result<Committed, CommitError> {
        let commit = Commit { locked: self, plan: transitions, create_dirs, options };
        match commit.run(false, observer) {
            Err(CommitError::Files(error)) if is_cross_device(&error) => commit.run(true, observer),
            result => result,
        }
    }
}

fn is_cross_device(error: &fs_guard::Error) -> bool {
    error.io().is_some_and(|error| error.kind() == std::io::ErrorKind::CrossesDevices)
}

struct Commit<'c> {
    locked: &'c Locked<'c>,
    plan: &'c [Transition],
    create_dirs: &'c [RelPath],
    options: &'c CommitOptions,
}

/// Everything a publication needs.
struct Staged {
    journal: Journal,
    files: Vec<Option<StagedFile>>,
}

impl Commit<'_> {
    fn run(&self, beside: bool, observer: &mut dyn CommitObserver) -> Result<Committed, CommitError> {
        let store = &self.locked.store;
        let dirs = Dirs::new(self.locked.workspace.root());
        self.check(&dirs)?;
        let pending = store.begin()?;
        let Staged { journal, files } = match self.stage(&dirs, &pending, beside) {
            Ok(staged) => staged,
            Err(error) => {
                // Nothing but the folder (and siblings, which it lists) was written.
                let _ = siblings::remove_listed(&dirs, pending.folder());
                let _ = pending.discard();
                return Err(error);
            }
        };
        let id = pending.id();
        if let Err(reason) = observer.before_commit_point(id, self.plan) {
            let _ = siblings::remove_listed(&dirs, pending.folder());
            let _ = pending.discard();
            return Err(CommitError::Refused(reason));
        }
        match self.publish(&dirs, &pending, &journal, files, observer) {
            Ok(()) => {}
            Err(cause) => return Err(self.abort(&dirs, pending, &journal, cause)),
        }
        let removed_dirs = remove_dirs(&dirs, &self.options.remove_dirs);
        // It happened, and is durable. Whatever fails from here on, the next lock does.
        store.keep();
        let trashed = self.plan.iter().enumerate().map(|(index, transition)| {
            transition.before.as_ref().map(|_| stored_path(dirs.root(), id, slot_number(index)))
        });
        let committed = Committed { id, trashed: trashed.collect(), removed_dirs };
        if siblings::bring_home(&dirs, &pending, &journal).is_ok() && pending.finish().is_ok() {
            let _ = store.purge_sometimes(&self.options.retention, SystemTime::now());
        }
        Ok(committed)
    }

    /// Looks at everything once more before anything is written.
    fn check(&self, dirs: &Dirs<'_>) -> Result<(), CommitError> {
        if self.plan.is_empty() && self.create_dirs.is_empty() && self.options.remove_dirs.is_empty() {
            return Err(CommitError::Nothing);
        }
        let root = dirs.root();
        let mut paths = BTreeSet::new();
        for transition in self.plan {
            let path = &transition.path;
            assert!(paths.insert(path), "BUG: two transitions of {path}");
            assert!(transition.before.is_some() || transition.after.is_some(), "BUG: no transition of {path}");
            if let Some(before) = &transition.before {
                let access = if transition.after.is_some() { Access::Update } else { Access::Delete };
                root.check_pre_image(path, &before.metadata, access)?;
            }
            check_writable(dirs, path)?;
        }
        for dir in self.create_dirs {
            check_writable(dirs, dir)?;
        }
        let appearing = self.plan.iter().filter(|t| t.before.is_none()).map(|t| &t.path);
        root.check_no_new_repository(appearing)?;
        for transition in self.plan {
            let place = match dirs.place(&transition.path) {
                Ok(place) => place,
                Err(fs_guard::Error::NotFound { .. }) if transition.before.is_none() => continue,
                Err(error) => return Err(error.into()),
            };
            expected(transition).check(&place)?;
        }
        Ok(())
    }

    fn stage(&self, dirs: &Dirs<'_>, pending: &Pending<'_>, beside: bool) -> Result<Staged, CommitError> {
        let names = if beside {
            siblings::choose(dirs, pending, self.plan, self.create_dirs)?
        } else {
            vec![None; self.plan.len()]
        };
        let durable = self.options.durability == Durability::Full;
        let stager = Stager::new(dirs, &self.locked.store, self.plan, durable);
        let mut files = Vec::with_capacity(self.plan.len());
        let mut records = Vec::with_capacity(self.plan.len());
        for ((index, transition), sibling) in self.plan.iter().enumerate().zip(names) {
            let path = &transition.path;
            let slot = match &sibling {
                None => pending.slot(slot_number(index)),
                Some(name) => dirs.place(path)?.dir().spot(name),
            };
            let file = match &transition.after {
                Some(post) => Some(stager.stage(path, post, &slot)?),
                None => None,
            };
            let after = file.as_ref().zip(transition.after.as_ref());
            records.push(Record {
                slot: slot_number(index),
                path: path.as_str().into(),
                before: transition.before.as_ref().map(|b| FileState::of(&b.metadata, b.sha256)),
                after: after.map(|(file, post)| FileState::of(file.metadata(), post.sha256)),
                sibling,
            });
            files.push(file);
        }
        let journal = self.journal(dirs, pending.id(), records)?;
        Ok(Staged { journal, files })
    }

    fn journal(&self, dirs: &Dirs<'_>, id: TransactionId, records: Vec<Record>) -> Result<Journal, CommitError> {
        let options = self.options;
        let mut removed_dirs = Vec::new();
        for dir in &options.remove_dirs {
            match dirs.root().metadata(dir)? {
                Some(seen) if seen.kind == FileKind::Directory => {
                    removed_dirs.push((dir.as_str().to_owned(), seen.mode & 0o777));
                }
                _ => {}
            }
        }
        let mut journal = Journal {
            header: Header {
                tool: options.tool.clone(),
                agent: options.agent.clone(),
                session: options.session.clone(),
                undo_of: options.undo_of,
                partial: options.partial_undo,
                ..Header::new(id)
            },
            created_dirs: self
                .create_dirs
                .iter()
                .map(|dir| (dir.as_str().to_owned(), options.dir_modes.get(dir).copied()))
                .collect(),
            removed_dirs,
            records,
        };
        sort_for_publication(&mut journal);
        Ok(journal)
    }

    fn publish(
        &self,
        dirs: &Dirs<'_>,
        pending: &Pending<'_>,
        journal: &Journal,
        mut files: Vec<Option<StagedFile>>,
        observer: &mut dyn CommitObserver,
    ) -> Result<(), CommitError> {
        let durable = self.options.durability == Durability::Full;
        let beside = journal.records.iter().any(|record| record.sibling.is_some());
        let whole = (!beside).then(|| pending.folder());
        {
            let text = pending.write_journal(journal)?;
            if durable {
                let mut group = SyncGroup::new();
                files.iter().flatten().for_each(|file| group.file(file));
                group.file(&text);
                if let Some(log) = observer.log() {
                    group.log(log);
                }
                pending.add_dirs(&mut group);
                if self.locked.store.is_new() {
                    group.dir(&dirs.root().as_dir("")?);
                }
                if beside {
                    group.dirs_of(dirs);
                }
                group.sync(whole)?;
            }
        }
        // The commit point: from here on recovery makes it happen.
        let mut dirs_made = false;
        for record in &journal.records {
            if !dirs_made && !gives_way(journal, record) {
                self.make_dirs(dirs)?;
                dirs_made = true;
            }
            let index = record.slot as usize;
            let transition = &self.plan[index];
            let place = dirs.place(&transition.path)?;
            match files[index].take() {
                Some(file) => publish::publish(file, &place, expected(transition))?,
                None => publish::take(&place, &stage_spot(pending, record, &place), expected(transition))?,
            }
            observer.published(index);
        }
        if !dirs_made {
            self.make_dirs(dirs)?;
        }
        dirs.check_still_there()?;
        if durable {
            sync_published(dirs, pending, whole)?;
        }
        Ok(())
    }

    fn make_dirs(&self, dirs: &Dirs<'_>) -> Result<(), CommitError> {
        for dir in self.create_dirs {
            dirs.create_dir(dir, self.options.dir_modes.get(dir).copied())?;
        }
        Ok(())
    }

    /// Undoes what was published, and says so when that is not possible.
    fn abort(&self, dirs: &Dirs<'_>, pending: Pending<'_>, journal: &Journal, cause: CommitError) -> CommitError {
        let durable = self.options.durability == Durability::Full;
        let name = pending.journal_path();
        let incomplete =
            |cause, paths| CommitError::RollbackIncomplete { journal: name, paths, cause: Box::new(cause) };
        // Without the mark a crash from here on may still finish the transaction; nobody was told of
        // a failure then.
        let marked = pending.mark_aborted(durable);
        let left = match roll_back(dirs, &pending, journal, true) {
            Ok(left) => left,
            Err(error) => {
                self.locked.store.keep();
                return incomplete(error, Vec::new());
            }
        };
        if durable && let Err(error) = sync_published(dirs, &pending, None) {
            self.locked.store.keep();
            return incomplete(error, Vec::new());
        }
        dirs.restore_times();
        let ended = if left.is_empty() {
            pending.discard()
        } else {
            // What could not be put back is kept in the trash.
            self.locked.store.keep();
            let _ = siblings::bring_home(dirs, &pending, journal);
            pending.finish()
        };
        match (ended, left) {
            (Ok(()), left) if left.is_empty() => cause,
            (Ok(()), left) => incomplete(cause, left),
            // It is undone; what is left of the folder is discarded when it is found, if it is marked.
            (Err(_), left) if left.is_empty() && marked.is_ok() => cause,
            (Err(error), left) => {
                self.locked.store.keep();
                incomplete(error.into(), left)
            }
        }
    }
}

pub(super) fn slot_number(index: usize) -> u32 {
    u32::try_from(index).expect("a patch has fewer sections")
}

fn expected(transition: &Transition) -> Expected<'_> {
    transition.before.as_ref().map_or(Expected::Nothing, Expected::Seen)
}

/// Fails when the directory that a path needs (or the nearest one there is) cannot be changed.
fn check_writable(dirs: &Dirs<'_>, path: &RelPath) -> Result<(), CommitError> {
    let mut at = path.clone();
    loop {
        match dirs.check_writable(&at) {
            Err(fs_guard::Error::NotFound { .. }) => match at.parent() {
                Some(parent) => at = parent,
                None => return Ok(()),
            },
            result => return Ok(result?),
        }
    }
}

/// Puts records into the order in which they are published: files that give way to a directory,
/// then all that appears or changes, then all that goes.
fn sort_for_publication(journal: &mut Journal) {
    let made: BTreeSet<String> = journal.created_dirs.iter().map(|(dir, _)| dir.clone()).collect();
    journal.records.sort_by_key(|record| match record.operation() {
        Operation::Delete if made.contains(&record.path) => 0,
        Operation::Delete => 2,
        Operation::Add | Operation::Update => 1,
    });
}

/// Tells whether a record has to be done before the directories are made.
pub(super) fn gives_way(journal: &Journal, record: &Record) -> bool {
    record.operation() == Operation::Delete && journal.created_dirs.iter().any(|(dir, _)| *dir == record.path)
}

/// Where a record's file waits, and where what it displaces is put.
pub(super) fn stage_spot(pending: &Pending<'_>, record: &Record, place: &Spot) -> Spot {
    let home = pending.slot(record.slot);
    let Some(name) = &record.sibling else { return home };
    let beside = place.dir().spot(name);
    // In the end what was displaced comes home.
    match (beside.metadata(), home.metadata()) {
        (Ok(None), Ok(Some(_))) => home,
        _ => beside,
    }
}

/// The second sync: every directory in which a name changed.
pub(super) fn sync_published(
    dirs: &Dirs<'_>,
    pending: &Pending<'_>,
    whole: Option<&fs_guard::Dir>,
) -> Result<(), CommitError> {
    let mut group = SyncGroup::new();
    group.dirs_of(dirs);
    group.dir(pending.folder());
    Ok(group.sync(whole)?)
}

/// Removes directories that are empty now; that one cannot be removed changes nothing for files.
pub(super) fn remove_dirs(dirs: &Dirs<'_>, wanted: &[RelPath]) -> Vec<RelPath> {
    wanted.iter().filter(|dir| dirs.remove_dir(dir).unwrap_or(false)).cloned().collect()
}
