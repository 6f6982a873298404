//! The only loop that publishes: each staged file gets its name, each deleted file loses it, and
//! each displaced file is checked. A commit and its recovery run the loop forwards; a roll-back
//! goes through the records backwards (`rollback.rs`).

use std::collections::BTreeSet;

use fs_guard::{
    Dir, Dirs, DisplacedFile, Metadata, Root, Sha256, Spot, StagedFile, SyncGroup, Target,
};
use workspace_trash::{FileState, Journal, Operation, Pending, Record};

use super::error::{CommitError, Drift};
use super::slot::{Slot, look};
use crate::plan::{Plan, PreImage, Transition};

/// A transaction after its commit point.
pub(super) struct Publication<'p> {
    pub(super) dirs: &'p Dirs<'p>,
    pub(super) pending: &'p Pending<'p>,
    pub(super) journal: &'p Journal,
    /// The checked path of each record.
    pub(super) paths: Vec<Target>,
    /// The directories to create, with their modes where these are not the default.
    pub(super) created: Vec<(Target, Option<u32>)>,
    /// The directories to remove in the end if they are empty, innermost first, with their modes.
    pub(super) removed: Vec<(Target, u32)>,
}

/// The plan and files of a running commit in memory; recovery looks for them on the disk.
pub(super) struct Fresh<'f> {
    pub(super) plan: &'f Plan,
    /// The new file of each transition.
    pub(super) files: Vec<Option<StagedFile>>,
}

impl Publication<'_> {
    /// Publishes every record that is not done yet, in the order of the journal, except those that
    /// [replace a directory](Self::publish_last). `published` gets the slot of each.
    pub(super) fn publish(
        &self,
        mut fresh: Option<&mut Fresh<'_>>,
        published: &mut dyn FnMut(usize),
    ) -> Result<(), CommitError> {
        let made = self.made();
        let over = self.taken_over();
        let mut dirs_made = false;
        for (record, path) in self.journal.records.iter().zip(&self.paths) {
            if over.contains(&*record.path) {
                break;
            }
            if !dirs_made && !gives_way(&made, record) {
                self.make_dirs(fresh.is_none())?;
                dirs_made = true;
            }
            let place = match self.dirs.place(path) {
                // The file was taken, and its directory removed, before the interruption.
                Err(fs_guard::Error::NotFound { .. })
                    if fresh.is_none() && self.is_taken(record)? =>
                {
                    continue;
                }
                place => place?,
            };
            self.publish_one(record, &place, fresh.as_deref_mut())?;
            published(record.slot as usize);
        }
        if !dirs_made {
            self.make_dirs(fresh.is_none())?;
        }
        Ok(self.dirs.check_still_there()?)
    }

    /// Publishes the files in place of removed directories. Returns whether there are any.
    pub(super) fn publish_last(
        &self,
        mut fresh: Option<&mut Fresh<'_>>,
        published: &mut dyn FnMut(usize),
    ) -> Result<bool, CommitError> {
        let over = self.taken_over();
        for (record, path) in self.journal.records.iter().zip(&self.paths) {
            if !over.contains(&*record.path) {
                continue;
            }
            let place = self.dirs.place(path)?;
            self.publish_one(record, &place, fresh.as_deref_mut())?;
            published(record.slot as usize);
        }
        Ok(!over.is_empty())
    }

    /// Returns the paths of files in place of removed directories.
    pub(super) fn taken_over(&self) -> BTreeSet<&str> {
        taken_over(self.journal, &self.journal.records)
    }

    /// Returns whether files are staged beside their places.
    pub(super) fn is_beside(&self) -> bool {
        self.journal.records.iter().any(|record| record.sibling.is_some())
    }

    /// Removes the empty ones of the directories to remove. Returns whether there were any.
    ///
    /// The files that moved out of them must be durable elsewhere by now: no file system promises
    /// to keep that order.
    pub(super) fn remove_dirs(&self) -> Result<bool, CommitError> {
        let mut any = false;
        for (dir, _) in &self.removed {
            any |= self.dirs.remove_dir(dir)?;
        }
        Ok(any)
    }

    fn publish_one(
        &self,
        record: &Record,
        place: &Spot,
        fresh: Option<&mut Fresh<'_>>,
    ) -> Result<(), CommitError> {
        match fresh {
            Some(fresh) => self.publish_fresh(record, place, fresh),
            None => self.publish_found(record, place),
        }
    }

    /// Publishes a record of a running commit.
    fn publish_fresh(
        &self,
        record: &Record,
        place: &Spot,
        fresh: &mut Fresh<'_>,
    ) -> Result<(), CommitError> {
        let index = record.slot as usize;
        let expected = expected(&fresh.plan.transitions()[index]);
        match fresh.files[index].take() {
            Some(file) => publish(file, place, expected),
            None => take(place, &self.stage_spot(record, place)?, expected),
        }
    }

    /// Publishes an open record of an interrupted commit.
    fn publish_found(&self, record: &Record, place: &Spot) -> Result<(), CommitError> {
        let slot = self.stage_spot(record, place)?;
        let expected = record.before.as_ref().map_or(ExpectedFile::Nothing, ExpectedFile::Recorded);
        match (record.operation(), look(&slot, record)?) {
            // Where a new name takes two steps (link, unlink), the file may have both names.
            (Operation::Add, Slot::New) if slot.is_also(place) => Ok(slot.remove()?),
            (Operation::Add | Operation::Update, Slot::New) => {
                publish(slot.staged()?, place, expected)
            }
            (Operation::Delete, Slot::Empty) => take(place, &slot, expected),
            // The file has both names. A rename between two names of one file does nothing, so
            // start anew.
            (Operation::Delete, Slot::Old) if has_both_names(&slot, place)? => {
                slot.remove()?;
                take(place, &slot, expected)
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the deleted file of a record is in the folder.
    fn is_taken(&self, record: &Record) -> Result<bool, CommitError> {
        let slot = self.pending.slot(record.slot);
        Ok(record.operation() == Operation::Delete && look(&slot, record)? == Slot::Old)
    }

    fn make_dirs(&self, resumes: bool) -> Result<(), CommitError> {
        for (dir, mode) in &self.created {
            if resumes {
                self.dirs.resume_dir(dir, *mode)?;
            } else {
                self.dirs.create_dir(dir, *mode)?;
            }
        }
        Ok(())
    }

    /// Returns the place of a record's staged file, which is also where the displaced file goes.
    pub(super) fn stage_spot(&self, record: &Record, place: &Spot) -> Result<Spot, CommitError> {
        let home = self.pending.slot(record.slot);
        let Some(name) = &record.sibling else { return Ok(home) };
        let beside = place.dir().spot(name);
        // At the end displaced files move home. If the look at `beside` fails, that is an error:
        // the file may still be there.
        Ok(if beside.metadata()?.is_none() && home.metadata()?.is_some() { home } else { beside })
    }

    /// Does the second sync: of every directory in which a name changed.
    pub(super) fn sync(&self, whole: Option<&Dir>) -> Result<(), CommitError> {
        let mut group = SyncGroup::new();
        group.dirs_of(self.dirs);
        group.dir(self.pending.folder());
        Ok(group.sync(whole)?)
    }

    /// Returns the paths of the created directories.
    pub(super) fn made(&self) -> BTreeSet<&str> {
        created(self.journal)
    }
}

fn created(journal: &Journal) -> BTreeSet<&str> {
    journal.created_dirs.iter().map(|(dir, _)| dir.as_str()).collect()
}

/// Returns whether a record has to be done before the directories are created, because one of them
/// takes its path.
pub(super) fn gives_way(made: &BTreeSet<&str>, record: &Record) -> bool {
    record.operation() == Operation::Delete && made.contains(record.path.as_str())
}

/// Returns the paths of the records that have to be done after the directories are removed: files
/// that replace one.
fn taken_over<'j>(journal: &Journal, records: &'j [Record]) -> BTreeSet<&'j str> {
    let removed: BTreeSet<&str> =
        journal.removed_dirs.iter().map(|(dir, _)| dir.as_str()).collect();
    let over = records
        .iter()
        .filter(|record| record.operation() == Operation::Add && removed.contains(&*record.path));
    over.map(|record| &*record.path).collect()
}

/// Sorts records into the order of publication: deletes that make way for a directory,
/// then additions and updates, then the other deletes, then files that replace a directory.
pub(super) fn sort(journal: &mut Journal) {
    let mut records = std::mem::take(&mut journal.records);
    let made = created(journal);
    let over: BTreeSet<String> =
        taken_over(journal, &records).into_iter().map(str::to_owned).collect();
    // Plans without directories are in this order already, and sorting would allocate room for half
    // of the records.
    if !records.is_sorted_by_key(|record| rank(record, &made, &over)) {
        records.sort_by_key(|record| rank(record, &made, &over));
    }
    journal.records = records;
}

/// Returns the place of a record in the order of publication, with the directories that are `made`
/// and the paths of files that take `over` from directories.
fn rank(record: &Record, made: &BTreeSet<&str>, over: &BTreeSet<String>) -> u8 {
    match record.operation() {
        Operation::Delete if gives_way(made, record) => 0,
        Operation::Delete => 2,
        Operation::Add if over.contains(&*record.path) => 3,
        Operation::Add | Operation::Update => 1,
    }
}

/// Returns the displaced file of a transition.
pub(super) fn expected(transition: &Transition) -> ExpectedFile<'_> {
    transition.before.as_ref().map_or(ExpectedFile::Nothing, ExpectedFile::Seen)
}

/// The expected old file of a record, as planning saw it or as in the journal.
#[derive(Clone, Copy)]
pub(super) enum ExpectedFile<'e> {
    Nothing,
    Seen(&'e PreImage),
    Recorded(&'e FileState),
}

impl ExpectedFile<'_> {
    fn digest(self) -> Option<Sha256> {
        match self {
            Self::Nothing => None,
            Self::Seen(image) => Some(image.sha256()),
            Self::Recorded(state) => Some(state.sha256),
        }
    }

    /// Checks the file before it is displaced, and fails if it is seen not to be the expected one.
    ///
    /// Returns whether the times are enough to tell, so that they are enough after the exchange
    /// too. If they are not, [`is_in`](Self::is_in) reads the bytes once the file is displaced:
    /// until then they could change.
    pub(super) fn check(self, place: &Spot) -> Result<bool, CommitError> {
        match self {
            Self::Nothing => match place.metadata()? {
                None => Ok(true),
                Some(_) => Err(self.stale(place)),
            },
            Self::Seen(image) => {
                let now = place.metadata()?;
                // This compares `ctime` too, which shows a change whose `mtime` was reset.
                if now.as_ref() == Some(&image.metadata) {
                    return Ok(image.metadata.times_are_telling());
                }
                match now {
                    Some(now)
                        if place.holds_now(&now, &image.metadata, &image.sha256(), false)? =>
                    {
                        Ok(false)
                    }
                    _ => Err(self.stale(place)),
                }
            }
            Self::Recorded(state) => {
                if is_recorded(place, state)? {
                    return Ok(false);
                }
                Err(self.stale(place))
            }
        }
    }

    /// Returns whether the file displaced into `slot` is the expected one.
    pub(super) fn is_in(self, slot: &Spot, trust_times: bool) -> Result<bool, CommitError> {
        Ok(match self {
            Self::Nothing => false,
            Self::Seen(image) => slot.holds(&image.metadata, &image.sha256(), trust_times)?,
            Self::Recorded(state) => is_recorded(slot, state)?,
        })
    }

    fn stale(self, place: &Spot) -> CommitError {
        stale(place, self.digest(), place)
    }
}

/// Returns whether the file at `spot` is the recorded one: the same bytes, kind and mode.
pub(super) fn is_recorded(spot: &Spot, state: &FileState) -> Result<bool, fs_guard::Error> {
    let Some(seen) = spot.metadata()? else { return Ok(false) };
    if seen.kind != state.kind()
        || seen.size != state.size
        || (!state.link && seen.mode != state.mode)
    {
        return Ok(false);
    }
    Ok(spot.hash()? == Some(state.sha256))
}

/// Returns the error for a path whose file, now at `at`, is not the expected one.
pub(super) fn stale(place: &Spot, expected: Option<Sha256>, at: &Spot) -> CommitError {
    // The hash is for the message only, so failing to compute it is not an error.
    let actual = at.hash().ok().flatten();
    CommitError::Stale(Drift::of(place.path(), expected, actual))
}

/// Publishes an addition or an update.
fn publish(file: StagedFile, place: &Spot, expected: ExpectedFile<'_>) -> Result<(), CommitError> {
    let slot = file.spot().clone();
    if matches!(expected, ExpectedFile::Nothing) {
        // This fails if something is there, so no check is needed before.
        return file.publish_new(place).map_err(|failed| match failed.error {
            fs_guard::Error::AlreadyExists { .. } => expected.stale(place),
            error => error.into(),
        });
    }
    let trust_times = expected.check(place)?;
    match file.exchange(place) {
        Ok(displaced) => verify(&displaced, place, expected, trust_times),
        Err(failed) => Err(match failed.error {
            fs_guard::Error::Changed { .. } if slot.metadata()?.is_some() => expected.stale(place),
            error => error.into(),
        }),
    }
}

/// Moves a file away from its place.
fn take(place: &Spot, slot: &Spot, expected: ExpectedFile<'_>) -> Result<(), CommitError> {
    let trust_times = expected.check(place)?;
    match DisplacedFile::take(place, slot) {
        Ok(displaced) => verify(&displaced, place, expected, trust_times),
        Err(fs_guard::Error::Changed { .. }) => Err(expected.stale(place)),
        Err(error) => Err(error.into()),
    }
}

fn verify(
    displaced: &DisplacedFile,
    place: &Spot,
    expected: ExpectedFile<'_>,
    trust_times: bool,
) -> Result<(), CommitError> {
    if expected.is_in(displaced.spot(), trust_times)? {
        return Ok(());
    }
    Err(stale(place, expected.digest(), displaced.spot()))
}

/// Returns whether a file is the one that a transaction published. The bytes decide, because times
/// can be reset.
pub(super) fn is_ours(
    seen: &Metadata,
    spot: &Spot,
    ours: &FileState,
) -> Result<bool, fs_guard::Error> {
    Ok(seen.kind == ours.kind() && seen.size == ours.size && spot.hash()? == Some(ours.sha256))
}

/// Returns the checked paths of the directories to remove, with their modes.
pub(super) fn removed(
    root: &Root,
    journal: &Journal,
    authentic: bool,
) -> Result<Vec<(Target, u32)>, fs_guard::Error> {
    let dirs = journal.removed_dirs.iter();
    dirs.map(|(dir, mode)| Ok((root.target_recorded(dir, authentic)?, *mode))).collect()
}

/// Returns whether a file moved away still has its old name too.
///
/// Until its next full commit btrfs keeps synced changes in a log. If the directory that a file
/// moved to was synced, and the one that it came from was not, a power cut leaves the file in both.
pub(super) fn has_both_names(slot: &Spot, place: &Spot) -> Result<bool, fs_guard::Error> {
    Ok(match (slot.metadata()?, place.metadata()?) {
        (Some(one), Some(other)) => one.same_inode(&other),
        _ => false,
    })
}

/// Returns whether the new file of an addition has been published.
pub(super) fn is_published(place: Option<&Spot>, record: &Record) -> Result<bool, CommitError> {
    let Some((place, ours)) = place.zip(record.after.as_ref()) else { return Ok(false) };
    Ok(match place.metadata()? {
        Some(seen) => seen.ino == ours.ino || is_ours(&seen, place, ours)?,
        None => false,
    })
}
