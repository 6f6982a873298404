//! Finishes or reverts interrupted transactions.

use fs_guard::{Dirs, FileKind, Policy, Root, Spot, SyncGroup, Target};
use workspace_trash::{Journal, LockedStore, Operation, Pending, Record, Unfinished};

use super::error::{CommitError, Error};
use super::publish::{Publication, has_both_names, is_ours, is_published, is_recorded, removed};
use super::recovered::{Outcome, Recovered};
use super::siblings;
use super::slot::{Slot, look};

/// Recovers every unfinished transaction, newest first. If there are several, all changes of the
/// older ones were made before the newest began.
pub(super) fn recover(root: &Root, store: &LockedStore<'_>) -> Result<Vec<Recovered>, Error> {
    let mut unfinished = store.unfinished()?;
    unfinished.reverse();
    let mut recovered = Vec::with_capacity(unfinished.len());
    // A transaction is recovered as a whole, even if this workspace may touch only some of its
    // directories.
    let whole = if unfinished.is_empty() || root.policy().within.is_empty() {
        None
    } else {
        Some(Root::open(root.path(), Policy { within: Vec::new(), ..root.policy().clone() })?)
    };
    let root = whole.as_ref().unwrap_or(root);
    for (nth, found) in unfinished.into_iter().enumerate() {
        let id = found.pending.id();
        let journal = found.pending.journal_path();
        let (outcome, touched) = recover_one(root, store, found, nth == 0)
            .map_err(|cause| Error::NotRecovered { journal, cause: Box::new(cause) })?;
        recovered.push(Recovered { id, outcome, touched, hidden: 0 });
    }
    Ok(recovered)
}

/// The paths that a journal names.
struct RecordedTargets {
    paths: Vec<Target>,
    created: Vec<(Target, Option<u32>)>,
    removed: Vec<(Target, u32)>,
}

/// Checks all paths of a journal first: if one is refused, nothing of the journal is carried out.
fn recorded_targets(root: &Root, journal: &Journal) -> Result<RecordedTargets, CommitError> {
    // The store returns only journals that are signed with a key of this user.
    let authentic = true;
    let paths = journal
        .records
        .iter()
        .map(|record| root.target_recorded(&record.path, authentic))
        .collect::<Result<Vec<_>, _>>()?;
    for (record, path) in journal.records.iter().zip(&paths) {
        if let Some(name) = &record.sibling {
            siblings::check_name(root, path, name)?;
        }
    }
    let created = journal
        .created_dirs
        .iter()
        .map(|(dir, mode)| Ok((root.target_recorded(dir, authentic)?, *mode)));
    let created = created.collect::<Result<Vec<_>, fs_guard::Error>>()?;
    let removed = removed(root, journal, authentic)?;
    Ok(RecordedTargets { paths, created, removed })
}

/// Recovers one transaction. Returns what was done, and the paths that someone else has touched
/// since.
fn recover_one(
    root: &Root,
    store: &LockedStore<'_>,
    found: Unfinished<'_>,
    is_newest: bool,
) -> Result<(Outcome, Vec<String>), CommitError> {
    let Unfinished { pending, journal, aborted, done } = found;
    let Some(journal) = journal else {
        let dirs = Dirs::new(root);
        siblings::remove_listed(&dirs, pending.folder())?;
        pending.discard()?;
        return Ok((Outcome::Discarded, Vec::new()));
    };
    let links = journal.records.iter().filter(|record| record.is_of_link());
    let dirs = Dirs::new(root).with_links(links.map(|record| &*record.path));
    let RecordedTargets { paths, created, removed } = recorded_targets(root, &journal)?;
    store.keep();

    let publication =
        Publication { dirs: &dirs, pending: &pending, journal: &journal, paths, created, removed };
    let RecoveryProgress { step, mut touched } = publication.progress()?;
    let went_on = match step {
        _ if aborted => false,
        // An edit of files that may have been reported as changed is a later edit.
        RecoveryStep::Done => {
            touched.is_empty() || done || !is_newest || may_have_been_reported(&pending)?
        }
        RecoveryStep::Begun if touched.is_empty() => {
            publication.sync_staged(store)?;
            publication.publish(None, &mut |_| {}).is_ok()
        }
        RecoveryStep::Begun | RecoveryStep::Spoilt => false,
    };
    if went_on {
        publication.sync(None)?;
    }
    if went_on && publication.finish_removing()? && publication.finish_last()? {
        let mut stay = Vec::new();
        if siblings::bring_home(&dirs, &pending, &journal)? {
            // All files are changed. A directory that cannot be removed must not stop every later
            // command.
            stay = publication.remove_dirs_left();
            publication.sync(None)?;
        }
        pending.finish()?;
        let outcome =
            if stay.is_empty() { Outcome::Completed } else { Outcome::CompletedExcept(stay) };
        return Ok((outcome, touched));
    }
    pending.mark_aborted(true)?;
    let left = publication.roll_back(&touched)?;
    publication.sync(None)?;
    touched.extend(left.iter().filter(|path| !touched.contains(path)).cloned().collect::<Vec<_>>());
    let outcome = if left.is_empty() {
        pending.discard()?;
        Outcome::RolledBack
    } else {
        if siblings::bring_home(&dirs, &pending, &journal)? {
            publication.sync(None)?;
        }
        pending.finish()?;
        Outcome::RolledBackExcept(left)
    };
    Ok((outcome, touched))
}

/// Returns whether the newest transaction, whose files are all published, may have been reported as
/// done.
///
/// The report comes after the move of the folder to the trash. A process that is killed leaves what
/// it did, so that the folder is still here only if it was killed before. A power cut may undo the
/// move, which is not synced.
fn may_have_been_reported(pending: &Pending<'_>) -> Result<bool, CommitError> {
    let journal = pending.journal_spot().metadata()?;
    let started = fs_guard::started_at();
    Ok(journal.zip(started).is_none_or(|(journal, started)| journal.mtime <= started))
}

/// How far a transaction got, and what others did at its paths since.
struct RecoveryProgress {
    step: RecoveryStep,
    /// Where a published file is not there any more, or where something else is to be changed than
    /// the pre-image.
    touched: Vec<String>,
}

/// How far a transaction got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecoveryStep {
    /// Every record is done.
    Done,
    /// Some records are not done, and can still be done.
    Begun,
    /// A slot holds an unexpected file, so the transaction has to be rolled back.
    Spoilt,
}

impl Publication<'_> {
    /// Removes the directories to remove, after every record is done. Returns `false` if one cannot
    /// be removed.
    ///
    /// A transaction that was reported as done has removed all that were empty, so this does not
    /// make it fail.
    fn finish_removing(&self) -> Result<bool, CommitError> {
        if self.is_beside() {
            return Ok(true);
        }
        let mut any = false;
        for (dir, _) in &self.removed {
            let seen = self.dirs.root().metadata(dir.path())?;
            if seen.is_some_and(|seen| seen.kind == FileKind::Directory) {
                let Ok(removed) = self.dirs.remove_dir(dir) else { return Ok(false) };
                any |= removed;
            }
        }
        if any {
            self.sync(None)?;
        }
        Ok(true)
    }

    /// Removes the directories to remove that are empty, trying each twice. Returns those that
    /// could not be removed.
    fn remove_dirs_left(&self) -> Vec<String> {
        let left = self.removed.iter().filter(|(dir, _)| {
            self.dirs.remove_dir(dir).or_else(|_| self.dirs.remove_dir(dir)).is_err()
        });
        left.map(|(dir, _)| dir.as_str().to_owned()).collect()
    }

    /// Publishes the files that replace directories. Returns `false` if one cannot be published.
    fn finish_last(&self) -> Result<bool, CommitError> {
        match self.publish_last(None, &mut |_| {}) {
            Ok(true) => self.sync(None).map(|()| true),
            Ok(false) => Ok(true),
            Err(_) => Ok(false),
        }
    }

    /// Repeats the first sync: after a kill, the journal and the staged files may exist in the page
    /// cache only, and would be lost if the power failed now.
    fn sync_staged(&self, store: &LockedStore<'_>) -> Result<(), CommitError> {
        let mut group = SyncGroup::new();
        for (record, path) in self.journal.records.iter().zip(&self.paths) {
            let slot = match self.dirs.place(path) {
                Ok(place) => self.stage_spot(record, &place)?,
                Err(_) => self.pending.slot(record.slot),
            };
            if slot.metadata()?.is_some_and(|seen| seen.kind == FileKind::File) {
                group.spot(slot);
            }
        }
        group.spot(self.pending.journal_spot());
        self.pending.add_dirs(&mut group);
        group.dir(&store.parent_dir()?);
        group.dirs_of(self.dirs);
        Ok(group.sync(None)?)
    }

    /// Finds out how far the transaction got, and looks at each of its paths.
    ///
    /// If the slot of an addition is empty, the file was published, or it never reached the disk:
    /// when the power fails before the commit point, the disk may have the journal without all of
    /// its files. If any other record is published, or the new file has its name, the commit point
    /// was passed.
    fn progress(&self) -> Result<RecoveryProgress, CommitError> {
        let mut step = RecoveryStep::Done;
        let mut touched = Vec::new();
        let mut published = false;
        let mut missing = false;
        let made = self.made();
        let over = self.taken_over();
        for (record, path) in self.journal.records.iter().zip(&self.paths) {
            let (slot, place) = match self.dirs.place(path) {
                Ok(place) => {
                    let slot = self.stage_spot(record, &place)?;
                    slot.settle_exchange(&place)?;
                    (slot, Some(place))
                }
                // Its directory is not created yet, or is removed.
                Err(fs_guard::Error::NotFound { .. }) => (self.pending.slot(record.slot), None),
                Err(error) => return Err(error.into()),
            };
            let place = place.as_ref();
            let as_left = match (record.operation(), look(&slot, record)?) {
                (Operation::Add, Slot::Empty) => {
                    let there = is_published(place, record)?;
                    published |= there;
                    missing |= !there;
                    is_after(place, record)?
                }
                (Operation::Update, Slot::Old) => {
                    published = true;
                    is_after(place, record)?
                }
                (Operation::Delete, Slot::Old) => {
                    published = true;
                    let both = place.map_or(Ok(false), |place| has_both_names(&slot, place))?;
                    if both {
                        step = RecoveryStep::Begun;
                    }
                    both || is_free(place, made.contains(&*record.path))?
                }
                (Operation::Add, Slot::New) => {
                    step = RecoveryStep::Begun;
                    let linked = place.is_some_and(|place| slot.is_also(place));
                    linked || is_free(place, over.contains(&*record.path))?
                }
                (Operation::Update, Slot::New) | (Operation::Delete, Slot::Empty) => {
                    step = RecoveryStep::Begun;
                    is_before(place, record)?
                }
                _ => return Ok(RecoveryProgress { step: RecoveryStep::Spoilt, touched }),
            };
            if !as_left {
                touched.push(record.path.clone());
            }
        }
        let step = if missing && !published { RecoveryStep::Spoilt } else { step };
        Ok(RecoveryProgress { step, touched })
    }
}

/// Returns whether nothing is at a place, or a directory where the transaction makes or removes
/// one.
fn is_free(place: Option<&Spot>, or_directory: bool) -> Result<bool, CommitError> {
    let seen = place.map_or(Ok(None), Spot::metadata)?;
    Ok(seen.is_none_or(|seen| or_directory && seen.kind == FileKind::Directory))
}

/// Returns whether a place has the bytes that a record publishes.
fn is_after(place: Option<&Spot>, record: &Record) -> Result<bool, CommitError> {
    let Some((place, after)) = place.zip(record.after.as_ref()) else { return Ok(false) };
    Ok(place.metadata()?.map_or(Ok(false), |seen| is_ours(&seen, place, after))?)
}

/// Returns whether a record's pre-image is at a place.
fn is_before(place: Option<&Spot>, record: &Record) -> Result<bool, CommitError> {
    let Some((place, before)) = place.zip(record.before.as_ref()) else { return Ok(false) };
    Ok(is_recorded(place, before)?)
}
