//! The only loop that publishes: each staged file gets its name, or a name is taken away, and what came out is looked
//! at. A commit and its recovery run it forwards; a roll-back goes the same way back (`rollback.rs`).

use std::collections::BTreeSet;

use fs_guard::{Dir, Dirs, DisplacedFile, Metadata, Root, Sha256, Spot, StagedFile, SyncGroup, Target};
use workspace_trash::{FileState, Journal, Operation, Pending, Record};

use super::error::{CommitError, Drift};
use super::slot::{Slot, look};
use crate::plan::{Plan, PreImage, Transition};

/// A transaction between its commit point and its end.
pub(super) struct Publication<'p> {
    pub(super) dirs: &'p Dirs<'p>,
    pub(super) pending: &'p Pending<'p>,
    pub(super) journal: &'p Journal,
    /// The checked path of each record.
    pub(super) paths: Vec<Target>,
    /// The directories to be made, with the modes that are not the default.
    pub(super) created: Vec<(Target, Option<u32>)>,
    /// The directories that go when they are empty in the end, the innermost first, with their modes.
    pub(super) removed: Vec<(Target, u32)>,
}

/// What a commit still has in its hands, and a recovery has to look for.
pub(super) struct Fresh<'f> {
    pub(super) plan: &'f Plan,
    /// The new file of each transition.
    pub(super) files: Vec<Option<StagedFile>>,
}

impl Publication<'_> {
    /// Does every record that is not done, in the order of the journal, but for those that
    /// [take a directory's place](Self::publish_last). `published` gets the slot of each.
    pub(super) fn publish(
        &self,
        mut fresh: Option<&mut Fresh<'_>>,
        published: &mut dyn FnMut(usize),
    ) -> Result<(), CommitError> {
        let (made, over) = (self.made(), self.taken_over());
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
                // Its directory is removed already.
                Err(fs_guard::Error::NotFound { .. }) if fresh.is_none() && self.is_taken(record)? => continue,
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

    /// Does the records that take the place of a directory, once that is removed; tells whether there are any.
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

    /// The paths of the files that take the place of a directory that goes.
    pub(super) fn taken_over(&self) -> BTreeSet<&str> {
        taken_over(self.journal, &self.journal.records)
    }

    /// Tells whether files are staged beside their places.
    pub(super) fn is_beside(&self) -> bool {
        self.journal.records.iter().any(|record| record.sibling.is_some())
    }

    /// Removes the directories that are to go and are empty; tells whether there were any.
    ///
    /// What was in them has to be durable elsewhere: no file system promises to keep that order.
    pub(super) fn remove_dirs(&self) -> Result<bool, CommitError> {
        let mut any = false;
        for (dir, _) in &self.removed {
            any |= self.dirs.remove_dir(dir)?;
        }
        Ok(any)
    }

    fn publish_one(&self, record: &Record, place: &Spot, fresh: Option<&mut Fresh<'_>>) -> Result<(), CommitError> {
        match fresh {
            Some(fresh) => self.publish_fresh(record, place, fresh),
            None => self.publish_found(record, place),
        }
    }

    /// Publishes what was staged just now.
    fn publish_fresh(&self, record: &Record, place: &Spot, fresh: &mut Fresh<'_>) -> Result<(), CommitError> {
        let index = record.slot as usize;
        let expected = expected(&fresh.plan.transitions()[index]);
        match fresh.files[index].take() {
            Some(file) => publish(file, place, expected),
            None => take(place, &self.stage_spot(record, place)?, expected),
        }
    }

    /// Publishes what was staged by a commit that was cut off, as far as that is not done.
    fn publish_found(&self, record: &Record, place: &Spot) -> Result<(), CommitError> {
        let slot = self.stage_spot(record, place)?;
        let expected = record.before.as_ref().map_or(ExpectedFile::Nothing, ExpectedFile::Recorded);
        match (record.operation(), look(&slot, record)?) {
            // Where a name is made in two steps, both names may be there.
            (Operation::Add, Slot::New) if slot.is_also(place) => Ok(slot.remove()?),
            (Operation::Add | Operation::Update, Slot::New) => publish(slot.staged()?, place, expected),
            (Operation::Delete, Slot::Empty) => take(place, &slot, expected),
            // As if it was not taken yet: a rename to another name of the same file would do nothing.
            (Operation::Delete, Slot::Old) if has_both_names(&slot, place)? => {
                slot.remove()?;
                take(place, &slot, expected)
            }
            _ => Ok(()),
        }
    }

    /// Tells whether what a record takes away is in the folder.
    fn is_taken(&self, record: &Record) -> Result<bool, CommitError> {
        let slot = self.pending.slot(record.slot);
        Ok(record.operation() == Operation::Delete && look(&slot, record)? == Slot::Old)
    }

    fn make_dirs(&self, resumes: bool) -> Result<(), CommitError> {
        for (dir, mode) in &self.created {
            match resumes {
                true => self.dirs.resume_dir(dir, *mode)?,
                false => drop(self.dirs.create_dir(dir, *mode)?),
            }
        }
        Ok(())
    }

    /// Where a record's file waits, and where what it displaces is put.
    pub(super) fn stage_spot(&self, record: &Record, place: &Spot) -> Result<Spot, CommitError> {
        let home = self.pending.slot(record.slot);
        let Some(name) = &record.sibling else { return Ok(home) };
        let beside = place.dir().spot(name);
        // In the end what was displaced comes home. That it cannot be seen does not mean that it is not there.
        Ok(if beside.metadata()?.is_none() && home.metadata()?.is_some() { home } else { beside })
    }

    /// The second sync: every directory in which a name changed.
    pub(super) fn sync(&self, whole: Option<&Dir>) -> Result<(), CommitError> {
        let mut group = SyncGroup::new();
        group.dirs_of(self.dirs);
        group.dir(self.pending.folder());
        Ok(group.sync(whole)?)
    }

    /// The paths of the directories that the transaction makes.
    pub(super) fn made(&self) -> BTreeSet<&str> {
        created(self.journal)
    }
}

fn created(journal: &Journal) -> BTreeSet<&str> {
    journal.created_dirs.iter().map(|(dir, _)| dir.as_str()).collect()
}

/// Tells whether a record has to be done before the directories are made.
pub(super) fn gives_way(made: &BTreeSet<&str>, record: &Record) -> bool {
    record.operation() == Operation::Delete && made.contains(record.path.as_str())
}

/// The paths of the records that have to be done after the directories are removed: a file appears where one was.
fn taken_over<'j>(journal: &Journal, records: &'j [Record]) -> BTreeSet<&'j str> {
    let removed: BTreeSet<&str> = journal.removed_dirs.iter().map(|(dir, _)| dir.as_str()).collect();
    let over = records.iter().filter(|record| record.operation() == Operation::Add && removed.contains(&*record.path));
    over.map(|record| &*record.path).collect()
}

/// Puts records into the order in which they are published: files that give way to a directory,
/// then all that appears or changes, then all that goes, then files that take the place of a directory.
pub(super) fn sort(journal: &mut Journal) {
    let mut records = std::mem::take(&mut journal.records);
    let made = created(journal);
    let over: BTreeSet<String> = taken_over(journal, &records).into_iter().map(str::to_owned).collect();
    let rank = |record: &Record| match record.operation() {
        Operation::Delete if gives_way(&made, record) => 0,
        Operation::Delete => 2,
        Operation::Add if over.contains(&*record.path) => 3,
        Operation::Add | Operation::Update => 1,
    };
    // A plan has them in this order but where directories come or go, and sorting takes room for half of them.
    if !records.is_sorted_by_key(rank) {
        records.sort_by_key(rank);
    }
    journal.records = records;
}

/// What a transition displaces.
pub(super) fn expected(transition: &Transition) -> ExpectedFile<'_> {
    transition.before.as_ref().map_or(ExpectedFile::Nothing, ExpectedFile::Seen)
}

/// The file that is to be displaced, as it is known: from planning, or from the journal.
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
            Self::Seen(image) => Some(image.sha256),
            Self::Recorded(state) => Some(state.sha256),
        }
    }

    /// Looks at the place before anything is staged. A change that its times do not show is found by [`check`](Self::check).
    pub(super) fn check_early(self, place: &Spot) -> Result<(), CommitError> {
        match self {
            Self::Seen(image) if place.metadata()?.as_ref() == Some(&image.metadata) => Ok(()),
            _ => self.check(place).map(drop),
        }
    }

    /// Looks at the place before anything is done: fails when it is not what is expected.
    ///
    /// Returns whether times alone showed it, so that they can show it again afterwards.
    pub(super) fn check(self, place: &Spot) -> Result<bool, CommitError> {
        match self {
            Self::Nothing => match place.metadata()? {
                None => Ok(true),
                Some(_) => Err(self.stale(place)),
            },
            Self::Seen(image) => {
                let now = place.metadata()?;
                // With `ctime`, which shows a change whose `mtime` was put back.
                if now.as_ref() == Some(&image.metadata) && image.metadata.times_are_telling() {
                    return Ok(true);
                }
                match now {
                    Some(now) if place.holds_now(&now, &image.metadata, &image.sha256, false)? => Ok(false),
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

    /// Tells whether what was displaced into `slot` is what is expected.
    pub(super) fn is_in(self, slot: &Spot, trust_times: bool) -> Result<bool, CommitError> {
        Ok(match self {
            Self::Nothing => false,
            Self::Seen(image) => slot.holds(&image.metadata, &image.sha256, trust_times)?,
            Self::Recorded(state) => is_recorded(slot, state)?,
        })
    }

    fn stale(self, place: &Spot) -> CommitError {
        stale(place, self.digest(), place)
    }
}

/// Tells whether the file there is the recorded one: the same bytes, kind and mode.
pub(super) fn is_recorded(spot: &Spot, state: &FileState) -> Result<bool, fs_guard::Error> {
    let Some(seen) = spot.metadata()? else { return Ok(false) };
    if seen.kind != state.kind() || seen.size != state.size || (!state.link && seen.mode != state.mode) {
        return Ok(false);
    }
    Ok(spot.hash()? == Some(state.sha256))
}

/// The error for a path whose file, now at `at`, is not the one expected.
pub(super) fn stale(place: &Spot, expected: Option<Sha256>, at: &Spot) -> CommitError {
    // The hash is for the message; that it cannot be had is no other error.
    let actual = at.hash().ok().flatten();
    CommitError::Stale(Drift { path: place.path(), expected, actual, by: None })
}

/// Publishes an addition or an update.
fn publish(file: StagedFile, place: &Spot, expected: ExpectedFile<'_>) -> Result<(), CommitError> {
    let slot = file.spot().clone();
    if matches!(expected, ExpectedFile::Nothing) {
        // It fails where something is: that need not be looked at before.
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

/// Takes a file's name away.
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

/// Tells whether what was seen is the file that a transaction published: by its bytes, as its times can be put back.
pub(super) fn is_ours(seen: &Metadata, spot: &Spot, ours: &FileState) -> Result<bool, fs_guard::Error> {
    Ok(seen.kind == ours.kind() && seen.size == ours.size && spot.hash()? == Some(ours.sha256))
}

/// The checked paths of the directories that a journal removes, with their modes.
pub(super) fn removed(root: &Root, journal: &Journal, authentic: bool) -> Result<Vec<(Target, u32)>, fs_guard::Error> {
    let dirs = journal.removed_dirs.iter();
    dirs.map(|(dir, mode)| Ok((root.target_recorded(dir, authentic)?, *mode))).collect()
}

/// Tells whether a file that was taken away has its old name too.
///
/// btrfs keeps what was synced in a log of its own until the next whole commit: when the directory that a file moved to was
/// synced, and not yet the one that it came from, a power cut leaves it in both.
pub(super) fn has_both_names(slot: &Spot, place: &Spot) -> Result<bool, fs_guard::Error> {
    Ok(match (slot.metadata()?, place.metadata()?) {
        (Some(one), Some(other)) => one.same_inode(&other),
        _ => false,
    })
}

/// Tells whether the new file of an addition has its name.
pub(super) fn is_published(place: Option<&Spot>, record: &Record) -> Result<bool, CommitError> {
    let (Some(place), Some(ours)) = (place, &record.after) else { return Ok(false) };
    Ok(match place.metadata()? {
        Some(seen) => seen.ino == ours.ino || is_ours(&seen, place, ours)?,
        None => false,
    })
}
