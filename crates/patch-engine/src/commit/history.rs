//! The history of a workspace: its finished transactions.

use std::collections::{BTreeMap, HashSet};
use std::time::SystemTime;

use fs_guard::RelPath;
use workspace_trash::{Journal, JournalProblem, Record, Store, TransactionId, TrashEntry};

use super::error::{Doubt, Error};
use super::workspace::Workspace;

/// A finished transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogEntry {
    /// Its journal.
    pub journal: Journal,
    /// The transaction that undid it, unless that one is undone itself.
    pub undone_by: Option<TransactionId>,
    /// Whether it was rolled back, except for files that someone else had changed. The journal then
    /// states what was planned.
    pub aborted: bool,
    /// Whether this is all that it did: the caller [may see](super::Reach) every path.
    pub whole: bool,
}

impl LogEntry {
    /// Returns whether both are part of one turn of one session.
    #[must_use]
    pub fn is_of_turn_of(&self, other: &Self) -> bool {
        let (own, other) = (&self.journal.header, &other.journal.header);
        own.turn.is_some() && own.turn == other.turn && own.session == other.session
    }
}

/// A folder in the trash that does not count as history.
#[derive(Debug)]
#[non_exhaustive]
pub struct Unverified {
    /// The transaction id in its name.
    pub id: TransactionId,
    /// Why its journal is not trusted.
    pub problem: JournalProblem,
    /// The transaction that undid it, unless that one is undone itself.
    pub undone_by: Option<TransactionId>,
}

impl Workspace {
    /// Returns the finished transactions, newest first, with what the caller [may
    /// see](super::Reach) of each.
    pub fn log(&self) -> Result<Vec<LogEntry>, Error> {
        Ok(self.history()?.0)
    }

    /// Returns the finished transactions, with what the caller [may see](super::Reach) of each, and
    /// those whose journals are not trusted, newest first.
    pub fn history(&self) -> Result<(Vec<LogEntry>, Vec<Unverified>), Error> {
        let Some(store) = self.store()? else { return Ok((Vec::new(), Vec::new())) };
        let (entries, unverified) = log(&store)?;
        let reach = self.reach();
        let shown = |LogEntry { journal, undone_by, aborted, .. }| {
            let whole = reach.shows_all(&journal);
            let journal = if whole { journal } else { reach.shown(journal)? };
            Some(LogEntry { journal, undone_by, aborted, whole })
        };
        Ok((entries.into_iter().filter_map(shown).collect(), unverified))
    }

    /// Returns one finished transaction.
    pub fn show(&self, id: TransactionId) -> Result<LogEntry, Error> {
        let found = self.log()?.into_iter().find(|entry| entry.journal.header.id == id);
        Ok(found.ok_or(workspace_trash::Error::NoSuchTransaction(id))?)
    }

    /// Finds the newest transaction that changed all of these paths, is not an undo, and whose
    /// changes to them still stand.
    ///
    /// # Errors
    ///
    /// If the journals cannot be read.
    pub fn last_change_of(&self, paths: &[RelPath]) -> Result<Option<TransactionId>, Error> {
        let log = self.log()?;
        let changed = |entry: &LogEntry| {
            let has = |path: &RelPath| {
                entry.journal.records.iter().any(|record| record.path == path.as_str())
            };
            paths.iter().all(has)
        };
        let stands = |id| {
            let back = taken_back(&log, id);
            !paths.iter().any(|path| back.contains(path.as_str()))
        };
        let found = changes(&log).find(|entry| changed(entry) && stands(entry.journal.header.id));
        Ok(found.map(|entry| entry.journal.header.id))
    }

    /// Lists the displaced files that the caller [may see](super::Reach), newest first.
    pub fn trash(&self) -> Result<Vec<TrashEntry>, Error> {
        let Some(store) = self.store()? else { return Ok(Vec::new()) };
        let (mut entries, _) = store.entries()?;
        let reach = self.reach();
        entries.retain(|entry| reach.shows(&entry.path));
        Ok(entries)
    }
}

pub(super) fn log(store: &Store<'_>) -> Result<(Vec<LogEntry>, Vec<Unverified>), Error> {
    let mut entries = Vec::new();
    let mut unverified = Vec::new();
    // Newest first: whether an undo is undone itself is then known before the transaction that it
    // undoes is read.
    let mut undone: BTreeMap<TransactionId, TransactionId> = BTreeMap::new();
    for id in store.transactions()? {
        let read = store.journal(id).and_then(|journal| Ok((journal, store.is_aborted(id)?)));
        let (journal, aborted) = match store.unless_gone(id, read) {
            Ok(Some(read)) => read,
            // A purge in another process removed it.
            Ok(None) => continue,
            // Not signed by this user, so it does not count.
            Err(workspace_trash::Error::Journal { problem, .. }) => {
                unverified.push(Unverified { id, problem, undone_by: undone.get(&id).copied() });
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let undone_by = undone.get(&id).copied();
        if !journal.header.partial && !aborted && undone_by.is_none() {
            let targets = journal.header.undo_of.iter().chain(&journal.header.also_undo_of);
            undone.extend(targets.map(|target| (*target, id)));
        }
        entries.push(LogEntry { journal, undone_by, aborted, whole: true });
    }
    Ok((entries, unverified))
}

/// Returns whether a transaction undoes a change or a redo. Where what it undoes is not kept any
/// more, its tool tells.
fn is_undo(newest_first: &[LogEntry], mut id: TransactionId) -> bool {
    let (mut undoes, mut redoes) = (0, false);
    while let Ok(at) = newest_first.binary_search_by(|entry| id.cmp(&entry.journal.header.id)) {
        let header = &newest_first[at].journal.header;
        let Some(target) = header.undo_of else { return undoes % 2 == 1 };
        redoes = header.tool.as_deref() == Some("redo");
        (undoes, id) = (undoes + 1, target);
    }
    (undoes + usize::from(redoes)) % 2 == 1
}

fn counts(entry: &LogEntry) -> bool {
    entry.undone_by.is_none() && !entry.aborted && !entry.journal.header.partial
}

/// Returns the changes that are not undone, newest first.
pub(super) fn changes(newest_first: &[LogEntry]) -> impl Iterator<Item = &LogEntry> {
    newest_first.iter().filter(|entry| counts(entry) && entry.journal.header.undo_of.is_none())
}

/// Returns which transactions are undone to undo all that `are_wanted`, newest first: not those
/// that were rolled back, nor those that others have undone.
pub fn standing(
    newest_first: &[LogEntry],
    are_wanted: impl Fn(&LogEntry) -> bool,
) -> Vec<TransactionId> {
    let mut found: Vec<_> =
        newest_first.iter().filter(|entry| !entry.aborted && are_wanted(entry)).collect();
    let ids: HashSet<_> = found.iter().map(|entry| entry.journal.header.id).collect();
    found.retain(|entry| entry.undone_by.is_none_or(|by| ids.contains(&by)));
    found.iter().map(|entry| entry.journal.header.id).collect()
}

/// Returns what is undone with a change: all of its turn, or it alone.
pub(super) fn with_its_turn(newest_first: &[LogEntry], change: &LogEntry) -> Vec<TransactionId> {
    if change.journal.header.turn.is_none() {
        return vec![change.journal.header.id];
    }
    standing(newest_first, |entry| entry.is_of_turn_of(change))
}

/// Returns the name of the turn that these transactions, newest first, are all of.
pub(super) fn whole_turn(newest_first: &[LogEntry], ids: &[TransactionId]) -> Option<String> {
    let newest = newest_first.iter().find(|entry| Some(&entry.journal.header.id) == ids.first())?;
    let turn = newest.journal.header.turn.clone()?;
    (with_its_turn(newest_first, newest) == ids).then_some(turn)
}

/// Returns the undos since the last change, newest first, that are not undone.
pub(super) fn undos(newest_first: &[LogEntry]) -> impl Iterator<Item = &LogEntry> {
    newest_first
        .iter()
        .filter(|entry| !entry.aborted)
        .take_while(|entry| entry.journal.header.undo_of.is_some())
        .filter(|entry| counts(entry) && is_undo(newest_first, entry.journal.header.id))
}

/// Fails if it is unclear whether this is the newest transaction to undo or to redo (`None`: that
/// there is none): a newer one is not verified, or an id lies in the future.
pub(super) fn is_newest(
    (entries, unverified): &(Vec<LogEntry>, Vec<Unverified>),
    found: Option<TransactionId>,
    what: &'static str,
) -> Result<(), Error> {
    let mut doubtful: Vec<(TransactionId, Doubt)> = unverified
        .iter()
        .filter(|one| one.undone_by.is_none() && found.is_none_or(|found| one.id > found))
        .map(|one| (one.id, Doubt::Journal(one.problem.clone())))
        .collect();
    let now = SystemTime::now();
    let future =
        entries.iter().map(|entry| entry.journal.header.id).filter(|id| id.is_ahead_of(now));
    doubtful.extend(future.map(|id| (id, Doubt::Future)));
    if doubtful.is_empty() { Ok(()) } else { Err(Error::Doubtful { what, transactions: doubtful }) }
}

/// Returns the last transaction that changed a path, unless that was an undo.
pub(super) fn last_change_to<'l>(
    newest_first: &'l [LogEntry],
    path: &str,
) -> Option<(&'l LogEntry, &'l Record)> {
    let (entry, record) = newest_first.iter().filter(|entry| !entry.aborted).find_map(|entry| {
        let record = entry.journal.records.iter().find(|record| record.path == path)?;
        Some((entry, record))
    })?;
    (!is_undo(newest_first, entry.journal.header.id)).then_some((entry, record))
}

/// Returns the paths of a transaction that were undone one by one, and not redone since.
pub(super) fn taken_back(newest_first: &[LogEntry], id: TransactionId) -> HashSet<&str> {
    let parts = newest_first.iter().filter(|entry| {
        let header = &entry.journal.header;
        header.undo_of == Some(id) && header.partial && entry.undone_by.is_none() && !entry.aborted
    });
    parts.flat_map(|entry| entry.journal.records.iter().map(|record| &*record.path)).collect()
}

/// Finds the undo in effect: `id` itself, or the one that undid `id`.
pub(super) fn active_undo_of(
    entries: &[LogEntry],
    id: TransactionId,
) -> Result<Option<TransactionId>, Error> {
    let by_id = |id: TransactionId| entries.iter().find(|entry| entry.journal.header.id == id);
    let entry = by_id(id).ok_or(workspace_trash::Error::NoSuchTransaction(id))?;
    if let Some(undo) = entry.undone_by {
        return Ok(Some(undo));
    }
    Ok(entry.journal.header.undo_of.map(|_| id))
}
