//! The history of a workspace: its finished transactions.
//!
//! It is read from the newest one on, only as far as a question needs.

use std::cell::{Ref, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::time::SystemTime;

use fs_guard::RelPath;
use workspace_trash::{
    FileState, Header, Journal, JournalProblem, NewestFirst, Record, Store, TransactionId,
    TrashEntry,
};

use super::error::{Doubt, Error};
use super::reach::Reach;
use super::workspace::Workspace;

/// A finished transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogEntry {
    /// Its journal.
    pub journal: Journal,
    /// The undo in effect, if any.
    pub undone_by: Option<TransactionId>,
    /// Whether the transaction was rolled back, except for files changed by someone else. Then the
    /// journal has the planned changes.
    pub aborted: bool,
    /// Whether all changes are shown: the caller [may see](super::Reach) every path.
    pub whole: bool,
}

impl LogEntry {
    /// Returns whether both are part of one turn of one session.
    #[must_use]
    pub fn is_of_turn_of(&self, other: &Self) -> bool {
        let own = &self.journal.header;
        let other = &other.journal.header;
        own.turn.is_some() && own.turn == other.turn && own.session == other.session
    }

    /// Leaves the part that a caller may see; `None` if there is none.
    fn shown_to(self, reach: &Reach) -> Option<Self> {
        if reach.shows_all(&self.journal) {
            return Some(Self { whole: true, ..self });
        }
        let journal = reach.shown(self.journal)?;
        Some(Self { journal, whole: false, ..self })
    }

    /// Returns the undone transactions, if the undo counts.
    fn undoes(&self) -> impl Iterator<Item = TransactionId> {
        let header = &self.journal.header;
        let counts = !header.partial && !self.aborted && self.undone_by.is_none();
        undone_in(header).filter(move |_| counts)
    }
}

/// A folder in the trash that is not part of the history.
#[derive(Debug)]
#[non_exhaustive]
pub struct Unverified {
    /// The transaction id in its name.
    pub id: TransactionId,
    /// Why its journal is not trusted.
    pub problem: JournalProblem,
    /// The undo in effect, if any.
    pub undone_by: Option<TransactionId>,
}

impl Workspace {
    /// Returns the finished transactions, newest first, with what the caller [may
    /// see](super::Reach) of each.
    pub fn log(&self) -> Result<Vec<LogEntry>, Error> {
        Ok(self.history()?.0)
    }

    /// Returns the finished transactions, with what the caller [may see](super::Reach) of each, and
    /// the folders without a trusted journal, newest first.
    pub fn history(&self) -> Result<(Vec<LogEntry>, Vec<Unverified>), Error> {
        self.history_while(|_| true)
    }

    /// Returns the newest of them: up to the first one, with that, after which `go_on` wants no
    /// more. Only these are read.
    pub fn history_while(
        &self,
        mut go_on: impl FnMut(&LogEntry) -> bool,
    ) -> Result<(Vec<LogEntry>, Vec<Unverified>), Error> {
        let Some(store) = self.store()? else { return Ok((Vec::new(), Vec::new())) };
        let log = Log::new(&store);
        let reach = self.reach();
        let mut entries = Vec::new();
        for entry in log.iter() {
            let Some(entry) = (*entry?).clone().shown_to(&reach) else { continue };
            entries.push(entry);
            if entries.last().is_some_and(|entry| !go_on(entry)) {
                break;
            }
        }
        Ok((entries, log.read.into_inner().unverified))
    }

    /// Returns the newest `count` of them. Only these are read.
    pub fn newest(&self, count: usize) -> Result<Vec<LogEntry>, Error> {
        let mut left = count;
        let (mut entries, _) = self.history_while(|_| {
            left = left.saturating_sub(1);
            left > 0
        })?;
        entries.truncate(count);
        Ok(entries)
    }

    /// Returns how many transactions the history has for this caller, and how many folders there
    /// are that do not count. A person is told what the index of the trash has, if there is one:
    /// journals that were damaged since count.
    ///
    /// # Errors
    ///
    /// If the history cannot be read.
    pub fn count(&self) -> Result<(usize, usize), Error> {
        if self.reach().shows_everything()
            && let Some(store) = self.store()?
            && let Some(totals) = store.totals()?
            // With another key than the one of their signatures, none counts.
            && self.history_while(|_| false)?.1.is_empty()
        {
            return Ok((totals.transactions, 0));
        }
        let (entries, unverified) = self.history()?;
        Ok((entries.len(), unverified.len()))
    }

    /// Returns one finished transaction.
    pub fn show(&self, id: TransactionId) -> Result<LogEntry, Error> {
        let entry = match self.store()? {
            Some(store) => Log::new(&store).by_id(id)?,
            None => None,
        };
        let shown = entry.and_then(|entry| (*entry).clone().shown_to(&self.reach()));
        Ok(shown.ok_or(workspace_trash::Error::NoSuchTransaction(id))?)
    }

    /// Returns the transactions that may be part of a turn with this name, newest first: all that
    /// are, and few others. `None` if that is not known without reading all of the history.
    ///
    /// # Errors
    ///
    /// If the state directory is not trusted.
    pub fn of_turn(&self, turn: &str) -> Result<Option<Vec<TransactionId>>, Error> {
        let Some(store) = self.store()? else { return Ok(Some(Vec::new())) };
        Ok(store.of_turn(turn)?)
    }

    /// Finds the newest transaction that changed all of these paths, is not an undo, and whose
    /// changes to them still stand.
    ///
    /// # Errors
    ///
    /// If the journals cannot be read.
    pub fn last_change_of(&self, paths: &[RelPath]) -> Result<Option<TransactionId>, Error> {
        let Some(store) = self.store()? else { return Ok(None) };
        let log = Log::new(&store);
        let reach = self.reach();
        for change in changes(&log) {
            let change = change?;
            let id = change.journal.header.id;
            let changes_all = paths.iter().all(|path| {
                change.journal.records.iter().any(|record| record.path == path.as_str())
                    && reach.shows(path.as_str())
            });
            if changes_all {
                let back = taken_back(&log, id)?;
                if !paths.iter().any(|path| back.contains(path.as_str())) {
                    return Ok(Some(id));
                }
            }
        }
        Ok(None)
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

/// The history, newest first, read as far as asked for.
pub(super) struct Log<'s> {
    pub(super) store: &'s Store<'s>,
    read: RefCell<ReadLog<'s>>,
    /// Whether the history ends at a read error.
    ends_at_error: bool,
}

/// The part read so far.
#[derive(Default)]
struct ReadLog<'s> {
    ids: Option<NewestFirst<'s>>,
    entries: Vec<Rc<LogEntry>>,
    unverified: Vec<Unverified>,
    /// The undo of each transaction. An undo is newer than its transaction, and read first: then it
    /// is known whether the undo is undone itself.
    undone: BTreeMap<TransactionId, TransactionId>,
    ended: bool,
}

impl<'s> Log<'s> {
    pub(super) fn new(store: &'s Store<'s>) -> Self {
        Self { store, read: RefCell::default(), ends_at_error: false }
    }

    /// Ends where something cannot be read.
    pub(super) fn ending_at_error(self) -> Self {
        Self { ends_at_error: true, ..self }
    }

    /// Returns the `nth` newest transaction of those in the history.
    fn get(&self, nth: usize) -> Result<Option<Rc<LogEntry>>, Error> {
        let mut read = self.read.borrow_mut();
        while read.entries.len() <= nth && !read.ended {
            if let Err(error) = self.read_more(&mut read) {
                read.ended = true;
                if !self.ends_at_error {
                    return Err(error);
                }
            }
        }
        Ok(read.entries.get(nth).cloned())
    }

    /// Reads one more folder, with or without a trusted journal.
    fn read_more(&self, read: &mut ReadLog<'s>) -> Result<(), Error> {
        let store = self.store;
        let ids = match &mut read.ids {
            Some(ids) => ids,
            none => none.insert(store.newest_first()?),
        };
        let Some(id) = ids.next().transpose()? else {
            read.ended = true;
            return Ok(());
        };
        let undone_by = read.undone.get(&id).copied();
        match read_one(store, id, undone_by)? {
            // Removed by a purge in another process.
            None => {}
            // Not signed by this user.
            Some(Err(problem)) => read.unverified.push(Unverified { id, problem, undone_by }),
            Some(Ok(entry)) => {
                read.undone.extend(entry.undoes().map(|target| (target, id)));
                read.entries.push(Rc::new(entry));
            }
        }
        Ok(())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Result<Rc<LogEntry>, Error>> {
        let mut nth = 0;
        std::iter::from_fn(move || {
            nth += 1;
            self.get(nth - 1).transpose()
        })
    }

    /// Returns all from the newest to `id`; `None` for all there are.
    pub(super) fn until(&self, id: Option<TransactionId>) -> Result<Vec<Rc<LogEntry>>, Error> {
        let entries = self.iter().take_while(|entry| {
            entry.as_ref().map_or(true, |it| id.is_none_or(|id| it.journal.header.id >= id))
        });
        entries.collect()
    }

    pub(super) fn by_id(&self, id: TransactionId) -> Result<Option<Rc<LogEntry>>, Error> {
        Ok(self.by_ids(&[id])?.pop())
    }

    /// Returns some transactions, as far as they are in the history, newest first, as given.
    fn by_ids(&self, newest_first: &[TransactionId]) -> Result<Vec<Rc<LogEntry>>, Error> {
        let Some(oldest) = newest_first.last() else { return Ok(Vec::new()) };
        let entries = self.with_undos(*oldest, newest_first)?;
        let wanted = entries.into_iter().filter(|entry| {
            let id = entry.journal.header.id;
            newest_first.binary_search_by(|other| id.cmp(other)).is_ok()
        });
        Ok(wanted.collect())
    }

    /// Returns the transactions after `id` that undid others, and those of `more` (none of which is
    /// older than `id`), newest first. Others may be among them: far back, only the undos are read.
    fn with_undos(
        &self,
        id: TransactionId,
        more: &[TransactionId],
    ) -> Result<Vec<Rc<LogEntry>>, Error> {
        /// How many of the newest are read in any case: there is no need to open the index then.
        const NEAR: usize = 4;
        let nearest = self.get(NEAR)?;
        let is_far = nearest.is_some_and(|nearest| nearest.journal.header.id > id);
        let undos = if is_far { self.store.undos_after(id)? } else { None };
        let Some(mut ids) = undos else { return self.until(Some(id)) };
        ids.extend_from_slice(more);
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids.dedup();
        let mut entries = Vec::new();
        let mut undone = BTreeMap::new();
        for id in ids {
            match read_one(self.store, id, undone.get(&id).copied()) {
                Ok(None | Some(Err(_))) => {}
                Ok(Some(Ok(entry))) => {
                    undone.extend(entry.undoes().map(|target| (target, id)));
                    entries.push(Rc::new(entry));
                }
                Err(_) if self.ends_at_error => break,
                Err(error) => return Err(error),
            }
        }
        Ok(entries)
    }

    /// Returns the header of a transaction in the history, however old.
    fn header(&self, id: TransactionId) -> Result<Option<Header>, Error> {
        match self.store.unless_gone(id, self.store.journal(id)) {
            Ok(journal) => Ok(journal.map(|journal| journal.header)),
            Err(workspace_trash::Error::Journal { .. }) => Ok(None),
            Err(_) if self.ends_at_error => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn unverified(&self) -> Ref<'_, [Unverified]> {
        Ref::map(self.read.borrow(), |read| &read.unverified[..])
    }
}

/// Reads a transaction, or why its journal is not trusted; `None` for one gone by now.
fn read_one(
    store: &Store<'_>,
    id: TransactionId,
    undone_by: Option<TransactionId>,
) -> Result<Option<Result<LogEntry, JournalProblem>>, Error> {
    let found = store.journal(id).and_then(|journal| Ok((journal, store.is_aborted(id)?)));
    match store.unless_gone(id, found) {
        Ok(found) => Ok(found
            .map(|(journal, aborted)| Ok(LogEntry { journal, undone_by, aborted, whole: true }))),
        Err(workspace_trash::Error::Journal { problem, .. }) => Ok(Some(Err(problem))),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a transaction undoes a change or a redo. Where what it undoes is not kept any
/// more, its tool tells.
pub(super) fn is_undo(log: &Log<'_>, mut id: TransactionId) -> Result<bool, Error> {
    let mut undoes = 0;
    let mut redoes = false;
    while let Some(header) = log.header(id)? {
        let Some(target) = header.undo_of else { return Ok(undoes % 2 == 1) };
        redoes = header.tool.as_deref() == Some("redo");
        (undoes, id) = (undoes + 1, target);
    }
    Ok((undoes + usize::from(redoes)) % 2 == 1)
}

/// Returns the transactions that an undo names, whether it counts or not.
pub(super) fn undone_in(header: &Header) -> impl Iterator<Item = TransactionId> {
    header.undo_of.iter().chain(&header.also_undo_of).copied()
}

/// Returns whether two states are those of the same file.
pub(super) fn are_same(one: Option<&FileState>, other: Option<&FileState>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            one.sha256 == other.sha256
                && one.link == other.link
                && (one.link || one.mode & 0o777 == other.mode & 0o777)
        }
        (one, other) => one.is_none() && other.is_none(),
    }
}

fn counts(entry: &LogEntry) -> bool {
    entry.undone_by.is_none() && !entry.aborted
}

/// Returns the changes in effect, newest first.
pub(super) fn changes(log: &Log<'_>) -> impl Iterator<Item = Result<Rc<LogEntry>, Error>> {
    log.iter().filter(|entry| {
        entry.as_ref().map_or(true, |entry| counts(entry) && entry.journal.header.undo_of.is_none())
    })
}

/// Returns which transactions are undone to undo all that `are_wanted`, newest first: not those
/// that were rolled back, nor those that others have undone, or will have once their redo is undone.
pub fn standing<'l>(
    newest_first: impl IntoIterator<Item = &'l LogEntry>,
    are_wanted: impl Fn(&LogEntry) -> bool,
) -> Vec<TransactionId> {
    let (mut found, others): (Vec<_>, Vec<_>) = newest_first
        .into_iter()
        .filter(|entry| !entry.aborted)
        .partition(|entry| are_wanted(entry));
    let ids: HashSet<_> = found.iter().map(|entry| entry.journal.header.id).collect();
    let is_undone_here = |entry: &LogEntry| entry.undone_by.is_some_and(|by| ids.contains(&by));
    let undone_again: HashSet<_> = others
        .into_iter()
        .filter(|entry| !entry.journal.header.partial && is_undone_here(entry))
        .flat_map(|entry| undone_in(&entry.journal.header))
        .collect();
    found.retain(|entry| entry.undone_by.is_none() || is_undone_here(entry));
    found.retain(|entry| !undone_again.contains(&entry.journal.header.id));
    found.iter().map(|entry| entry.journal.header.id).collect()
}

/// Returns the transactions to undo with a change: all of its turn, or the change alone.
pub(super) fn with_its_turn(log: &Log<'_>, change: &LogEntry) -> Result<Vec<TransactionId>, Error> {
    let Some(turn) = &change.journal.header.turn else {
        return Ok(vec![change.journal.header.id]);
    };
    let entries = match log.store.of_turn(turn)? {
        Some(ids) => log.by_ids(&ids)?,
        None => log.until(None)?,
    };
    Ok(standing(entries.iter().map(|entry| &**entry), |entry| entry.is_of_turn_of(change)))
}

/// Returns the name of the turn of these transactions, newest first, if they are all of the turn.
pub(super) fn whole_turn(log: &Log<'_>, ids: &[TransactionId]) -> Result<Option<String>, Error> {
    let Some(&newest) = ids.first() else { return Ok(None) };
    let Some(newest) = log.by_id(newest)? else { return Ok(None) };
    let Some(turn) = newest.journal.header.turn.clone() else { return Ok(None) };
    Ok((with_its_turn(log, &newest)? == ids).then_some(turn))
}

/// Returns the name for `undo` of these transactions, newest first: of one, or of a turn.
pub(super) fn name_of(log: &Log<'_>, ids: &[TransactionId]) -> Result<Option<String>, Error> {
    match ids {
        [] => Ok(None),
        [id] => Ok(Some(id.short())),
        [newest, ..] => Ok(log.header(*newest)?.map(|Header { turn, session, .. }| {
            session.into_iter().chain(turn).collect::<Vec<_>>().join("/")
        })),
    }
}

/// Returns the undos in effect since the last change, newest first. An undo of some files is one
/// too.
pub(super) fn undos(log: &Log<'_>) -> impl Iterator<Item = Result<Rc<LogEntry>, Error>> {
    log.iter()
        .filter(|entry| entry.as_ref().map_or(true, |entry| !entry.aborted))
        .take_while(|entry| {
            entry.as_ref().map_or(true, |entry| entry.journal.header.undo_of.is_some())
        })
        .filter(|entry| entry.as_ref().map_or(true, |entry| counts(entry)))
        .filter_map(|entry| match entry {
            Ok(entry) => match is_undo(log, entry.journal.header.id) {
                Ok(yes) => yes.then_some(Ok(entry)),
                Err(error) => Some(Err(error)),
            },
            error => Some(error),
        })
}

/// Fails if it is unclear whether this is the newest transaction to undo or to redo (`None`: that
/// there is none): a newer one is not verified, or an id lies in the future.
pub(super) fn is_newest(
    log: &Log<'_>,
    found: Option<TransactionId>,
    what: &'static str,
) -> Result<(), Error> {
    let mut doubtful: Vec<(TransactionId, Doubt)> = log
        .unverified()
        .iter()
        .filter(|one| one.undone_by.is_none() && found.is_none_or(|found| one.id > found))
        .map(|one| (one.id, Doubt::Journal(one.problem.clone())))
        .collect();
    let now = SystemTime::now();
    let future = log.iter().map_while(Result::ok).map(|entry| entry.journal.header.id);
    let future = future.take_while(|id| id.is_ahead_of(now));
    doubtful.extend(future.map(|id| (id, Doubt::Future)));
    if doubtful.is_empty() { Ok(()) } else { Err(Error::Doubtful { what, transactions: doubtful }) }
}

/// Returns the last transaction in effect that changed each of these paths, and its record. An undo
/// and the undone transaction are looked through.
pub(super) fn last_changes_to<'p>(
    log: &Log<'_>,
    mut paths: HashSet<&'p str>,
) -> Result<HashMap<&'p str, (Rc<LogEntry>, Record)>, Error> {
    let mut last = HashMap::new();
    for entry in log.iter() {
        if paths.is_empty() {
            break;
        }
        let entry = entry?;
        if !counts(&entry)
            || !entry.journal.records.iter().any(|record| paths.contains(&*record.path))
            || is_undo(log, entry.journal.header.id)?
        {
            continue;
        }
        for record in &entry.journal.records {
            if let Some(path) = paths.take(&*record.path) {
                last.insert(path, (Rc::clone(&entry), record.clone()));
            }
        }
    }
    Ok(last)
}

/// Returns the paths of a transaction undone one by one, and not redone since.
pub(super) fn taken_back(log: &Log<'_>, id: TransactionId) -> Result<HashSet<String>, Error> {
    Ok(all_taken_back(log, &[id])?.remove(&id).unwrap_or_default())
}

/// Returns the paths of transactions, given newest first, undone one by one by others, and not
/// redone since.
pub(super) fn all_taken_back(
    log: &Log<'_>,
    ids: &[TransactionId],
) -> Result<HashMap<TransactionId, HashSet<String>>, Error> {
    let mut back: HashMap<_, HashSet<String>> = HashMap::new();
    let Some(&oldest) = ids.last() else { return Ok(back) };
    for entry in log.with_undos(oldest, &[])? {
        let header = &entry.journal.header;
        let is_part = header.partial && counts(&entry) && !ids.contains(&header.id);
        if let Some(target) = header.undo_of.filter(|target| is_part && ids.contains(target)) {
            let paths = entry.journal.records.iter().map(|record| record.path.clone());
            back.entry(target).or_default().extend(paths);
        }
    }
    Ok(back)
}

/// Finds the undo in effect: `id` itself, or the undo of `id`.
pub(super) fn active_undo_of(
    log: &Log<'_>,
    id: TransactionId,
) -> Result<Option<TransactionId>, Error> {
    let entry = log.by_id(id)?.ok_or(workspace_trash::Error::NoSuchTransaction(id))?;
    if let Some(undo) = entry.undone_by {
        return Ok(Some(undo));
    }
    Ok(entry.journal.header.undo_of.map(|_| id))
}
