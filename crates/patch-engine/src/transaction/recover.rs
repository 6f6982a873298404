//! Finishing, or reverting, what was cut off.

use fs_guard::{Dirs, RelPath, Root};
use workspace_trash::{Journal, LockedStore, Operation, Record, TransactionId, Unfinished};

use super::commit::{gives_way, remove_dirs, stage_spot, sync_published};
use super::error::{CommitError, Error};
use super::publish::{self, Expected};
use super::rollback::{Slot, look, roll_back};
use super::siblings;

/// A transaction that was found cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// Its name.
    pub id: TransactionId,
    /// What became of it.
    pub outcome: Outcome,
}

/// What recovery made of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It had not come to its commit point; nothing in the workspace had changed.
    Discarded,
    /// All of it has happened now.
    Completed,
    /// None of it has happened now.
    RolledBack,
    /// None of it, but for these paths: someone else has changed them since, and they were left so.
    /// What the transaction had displaced there is in the trash.
    RolledBackExcept(Vec<String>),
}

/// Recovers every transaction that is not finished, the newest first: an older one can only be
/// unfinished beside it when all of it had happened.
pub(super) fn recover(root: &Root, store: &LockedStore<'_>) -> Result<Vec<Recovered>, Error> {
    let mut unfinished = store.unfinished()?;
    unfinished.reverse();
    let mut recovered = Vec::new();
    for found in unfinished {
        let id = found.pending.id();
        let journal = found.pending.journal_path();
        let outcome =
            recover_one(root, store, found).map_err(|cause| Error::NotRecovered { journal, cause: Box::new(cause) })?;
        recovered.push(Recovered { id, outcome });
    }
    Ok(recovered)
}

fn recover_one(root: &Root, store: &LockedStore<'_>, found: Unfinished<'_>) -> Result<Outcome, CommitError> {
    let Unfinished { pending, journal, aborted } = found;
    let dirs = Dirs::new(root);
    let Some(journal) = journal else {
        siblings::remove_listed(&dirs, pending.folder())?;
        pending.discard()?;
        return Ok(Outcome::Discarded);
    };
    let authentic = store.is_signed()?;
    // All names first: nothing of a journal is done when one of them is not acceptable.
    let mut paths = Vec::with_capacity(journal.records.len());
    for record in &journal.records {
        let path = root.check_recorded(&record.path, authentic)?;
        if let Some(name) = &record.sibling {
            siblings::check_name(root, &path, name)?;
        }
        paths.push(path);
    }
    let check_all = |paths: Vec<&String>| -> Result<Vec<RelPath>, CommitError> {
        Ok(paths.into_iter().map(|path| root.check_recorded(path, authentic)).collect::<Result<_, _>>()?)
    };
    let made = check_all(journal.created_dirs.iter().map(|(dir, _)| dir).collect())?;
    let created: Vec<_> = made.into_iter().zip(journal.created_dirs.iter().map(|(_, mode)| *mode)).collect();
    let removed = check_all(journal.removed_dirs.iter().map(|(dir, _)| dir).collect())?;
    store.keep();

    let state = if aborted { Progress::Spoilt } else { progress(&dirs, &pending, &journal, &paths)? };
    if state != Progress::Spoilt {
        let went_on = match state {
            Progress::Done => Ok(()),
            _ => go_on(&dirs, &pending, &journal, &paths, &created),
        };
        // When it did not go on, someone else has changed a file since, or one cannot be published at
        // all. Nobody was told that it happened, so it can go back.
        if went_on.is_ok() {
            sync_published(&dirs, &pending, None)?;
            remove_dirs(&dirs, &removed);
            siblings::bring_home(&dirs, &pending, &journal)?;
            pending.finish()?;
            return Ok(Outcome::Completed);
        }
    }
    pending.mark_aborted(true)?;
    let left = roll_back(&dirs, &pending, &journal, authentic)?;
    sync_published(&dirs, &pending, None)?;
    if left.is_empty() {
        pending.discard()?;
        Ok(Outcome::RolledBack)
    } else {
        siblings::bring_home(&dirs, &pending, &journal)?;
        pending.finish()?;
        Ok(Outcome::RolledBackExcept(left))
    }
}

/// How far a transaction came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Every record is done.
    Done,
    /// What is not done can still be done.
    Begun,
    /// A slot holds what should not be there.
    Spoilt,
}

fn progress(
    dirs: &Dirs<'_>,
    pending: &workspace_trash::Pending<'_>,
    journal: &Journal,
    paths: &[RelPath],
) -> Result<Progress, CommitError> {
    let mut progress = Progress::Done;
    for (record, path) in journal.records.iter().zip(paths) {
        let slot = match dirs.place(path) {
            Ok(place) => {
                let slot = stage_spot(pending, record, &place);
                slot.settle_exchange(&place)?;
                slot
            }
            // Its directory is not made yet.
            Err(fs_guard::Error::NotFound { .. }) => pending.slot(record.slot),
            Err(error) => return Err(error.into()),
        };
        match (record.operation(), look(&slot, record)?) {
            (Operation::Add, Slot::Empty) | (Operation::Update, Slot::Old) => {}
            (Operation::Delete, Slot::Old) if !is_linked(dirs, path, &slot) => {}
            (Operation::Add | Operation::Update, Slot::New) | (Operation::Delete, Slot::Empty | Slot::Old) => {
                progress = Progress::Begun;
            }
            _ => return Ok(Progress::Spoilt),
        }
    }
    Ok(progress)
}

/// Where a name is taken away in two steps, both names may be there.
fn is_linked(dirs: &Dirs<'_>, path: &RelPath, slot: &fs_guard::Spot) -> bool {
    dirs.place(path).is_ok_and(|place| place.is_also(slot))
}

fn go_on(
    dirs: &Dirs<'_>,
    pending: &workspace_trash::Pending<'_>,
    journal: &Journal,
    paths: &[RelPath],
    created: &[(RelPath, Option<u32>)],
) -> Result<(), CommitError> {
    let mut dirs_made = false;
    for (record, path) in journal.records.iter().zip(paths) {
        if !dirs_made && !gives_way(journal, record) {
            make_dirs(dirs, created)?;
            dirs_made = true;
        }
        go_on_with(dirs, pending, record, path)?;
    }
    if !dirs_made {
        make_dirs(dirs, created)?;
    }
    Ok(())
}

fn make_dirs(dirs: &Dirs<'_>, created: &[(RelPath, Option<u32>)]) -> Result<(), CommitError> {
    for (dir, mode) in created {
        dirs.create_dir(dir, *mode)?;
    }
    Ok(())
}

fn go_on_with(
    dirs: &Dirs<'_>,
    pending: &workspace_trash::Pending<'_>,
    record: &Record,
    path: &RelPath,
) -> Result<(), CommitError> {
    let place = dirs.place(path)?;
    let slot = stage_spot(pending, record, &place);
    let slot_holds = look(&slot, record)?;
    let expected = record.before.as_ref().map_or(Expected::Nothing, Expected::Recorded);
    match (record.operation(), slot_holds) {
        (Operation::Add, Slot::New) => {
            // Where a new name is made by a link, both names may be there.
            if slot.is_also(&place) {
                return Ok(slot.remove()?);
            }
            publish::publish(slot.staged()?, &place, expected)
        }
        (Operation::Update, Slot::New) => publish::publish(slot.staged()?, &place, expected),
        (Operation::Delete, Slot::Old) if slot.is_also(&place) => Ok(place.remove()?),
        (Operation::Delete, Slot::Empty) => publish::take(&place, &slot, expected),
        _ => Ok(()),
    }
}
