//! The changes in the way of an undo, and the undos that clear the way.
//!
//! The versions of each file are followed from the current one back, through all transactions since
//! the oldest one to undo. A version that no transaction left was edited by something else. A change
//! and its exact undo are passed over as one.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use workspace_trash::{FileState, Prefix, Record, TransactionId};

use super::error::Error;
use super::history::{self, Log, LogEntry, are_same};
use super::reach::Reach;
use crate::remedy::UndoStep;

/// The most transactions that are followed to clear the way.
const MOST: usize = 200;

/// The most undos that are named, to be made one after the other.
const MOST_NAMED: usize = 12;

/// Why a file is not as the transactions to undo left it.
pub(super) struct Cause {
    /// The newest other transaction that changed it since; `None` if its version was overwritten by
    /// something else.
    pub(super) by: Option<Rc<LogEntry>>,
    /// The change lies between two of the transactions to undo.
    pub(super) between: bool,
    /// Something that is not a transaction changed the file since the oldest of them.
    pub(super) edited: bool,
}

/// All transactions since the oldest one to undo.
pub(super) struct Since<'l, 's> {
    log: &'l Log<'s>,
    /// The transactions to undo.
    ids: &'l [TransactionId],
    /// Newest first, without those that were rolled back.
    entries: Vec<Rc<LogEntry>>,
    /// The changes of each path, newest first.
    changes: HashMap<String, Vec<Change>>,
    /// The undo of a part, for each path of a transaction that is undone by itself.
    taken_back: HashMap<(TransactionId, String), TransactionId>,
}

/// A record of an entry, by their numbers.
#[derive(Clone, Copy)]
struct Change {
    entry: usize,
    record: usize,
}

/// The transactions to undo on the way, with those that were named.
struct Needed {
    ids: BTreeSet<TransactionId>,
    /// The paths of a transaction of which only a part is to be undone.
    parts: HashMap<TransactionId, HashSet<String>>,
}

impl Needed {
    fn has(&self, id: TransactionId, path: &str) -> bool {
        self.ids.contains(&id) && self.parts.get(&id).is_none_or(|paths| paths.contains(path))
    }
}

/// The undos of some transactions one after the other, newest first.
pub(super) struct Steps {
    pub(super) ids: Vec<TransactionId>,
    /// The paths of a transaction of which only a part is undone.
    parts: HashMap<TransactionId, HashSet<String>>,
}

/// The versions of the files on the way back.
struct Versions<'v> {
    /// The oldest needed change of each path.
    oldest: HashMap<&'v str, TransactionId>,
    files: HashMap<&'v str, Option<FileState>>,
    /// Changes of a path from this one on are passed over: they are undone exactly.
    undone_from: HashMap<&'v str, TransactionId>,
    steps: Vec<TransactionId>,
}

/// The meaning of an entry on the way back.
enum Met {
    Passed,
    /// It has to be undone too.
    Needed,
    /// A file is in no version of the entry.
    Blocked,
}

impl<'l, 's> Since<'l, 's> {
    /// Reads the transactions since the oldest of `ids`, which are given newest first.
    pub(super) fn of(log: &'l Log<'s>, ids: &'l [TransactionId]) -> Result<Self, Error> {
        let mut oldest = ids.last().copied();
        let mut entries = log.until(oldest)?;
        // A transaction counts again where its undo is undone.
        while let Some(undone) = oldest_undone(&entries).filter(|id| Some(*id) < oldest) {
            oldest = Some(undone);
            entries = log.until(oldest)?;
        }
        entries.retain(|entry| !entry.aborted);
        let mut changes: HashMap<String, Vec<Change>> = HashMap::new();
        let mut taken_back = HashMap::new();
        for (nth, entry) in entries.iter().enumerate() {
            let header = &entry.journal.header;
            let part_of = header.undo_of.filter(|_| header.partial && entry.undone_by.is_none());
            for (record, changed) in entry.journal.records.iter().enumerate() {
                let change = Change { entry: nth, record };
                changes.entry(changed.path.clone()).or_default().push(change);
                if let Some(target) = part_of {
                    taken_back.insert((target, changed.path.clone()), header.id);
                }
            }
        }
        Ok(Self { log, ids, entries, changes, taken_back })
    }

    /// Tells why a file is not as the transactions to undo left it.
    pub(super) fn cause(&self, path: &str, now: Option<&FileState>) -> Result<Cause, Error> {
        let mut cause = Cause { by: None, between: false, edited: false };
        let changes = self.changes.get(path).map_or(&[][..], Vec::as_slice);
        let is_own = |change: &Change| self.ids.contains(&self.id(*change));
        // One that a person vouches for may not be in the history.
        let oldest = self.ids.last();
        let count =
            changes.partition_point(|change| oldest.is_none_or(|id| self.id(*change) >= *id));
        let own = changes[..count].iter().rposition(is_own);
        let count = own.map_or(count, |oldest| oldest + 1);
        let mut version = now;
        let mut undone_from = None;
        // Whether something was met that tells the cause, and one of the transactions to undo.
        let (mut is_known, mut is_between) = (false, false);
        for &change in &changes[..count] {
            let (id, record) = (self.id(change), self.record(change));
            if undone_from.is_some_and(|from| id >= from) {
                continue;
            }
            let is_left = are_same(record.after.as_ref(), version);
            if !is_left && are_same(record.before.as_ref(), version) {
                // Something else took the change back.
                continue;
            }
            if !is_left {
                cause.edited = true;
                if !is_known {
                    cause.between = is_between;
                    is_known = !is_between;
                }
            }
            if is_own(&change) {
                is_between = true;
            } else if let Some(from) = self.undoes_exactly(change, &|id| self.ids.contains(id))? {
                undone_from = Some(from);
                version = record.after.as_ref();
                continue;
            } else if !is_known {
                cause.by = Some(Rc::clone(&self.entries[change.entry]));
                cause.between = is_between;
                is_known = true;
            }
            version = record.before.as_ref();
        }
        cause.edited |= cause.by.is_none();
        Ok(cause)
    }

    /// Returns the transactions to undo one after the other, newest first, so that those to undo
    /// are undone: with all that others have built on them. Where an undo is undone on the way, what
    /// it has undone is undone again. `wanted` are the paths to bring back, `now` reads a file, or
    /// returns `None` if it cannot be one of a transaction. `None` if there is no such way, or if
    /// the caller may not see one of them.
    pub(super) fn steps(
        &self,
        wanted: &HashSet<&str>,
        reach: &Reach,
        mut now: impl FnMut(&str) -> Result<Option<Option<FileState>>, Error>,
    ) -> Result<Option<Steps>, Error> {
        let parts: HashSet<String> = wanted.iter().map(|path| (*path).to_owned()).collect();
        let parts = self.ids.iter().map(|id| (*id, parts.clone())).collect();
        let mut needed = Needed { ids: self.ids.iter().copied().collect(), parts };
        let mut read = HashMap::new();
        'again: while needed.ids.len() <= self.ids.len() + MOST {
            let mut versions = self.versions(&needed);
            for path in versions.oldest.keys() {
                if !read.contains_key(*path) {
                    let Some(file) = now(path)? else { return Ok(None) };
                    read.insert((*path).to_owned(), file);
                }
                versions.files.insert(path, read[*path].clone());
            }
            for (nth, entry) in self.entries.iter().enumerate() {
                match self.meet(nth, &needed, &mut versions)? {
                    Met::Passed => {}
                    Met::Needed if self.add(entry, reach, &mut needed)? => continue 'again,
                    Met::Needed | Met::Blocked => return Ok(None),
                }
            }
            let Versions { steps: ids, .. } = versions;
            needed.parts.retain(|id, _| !self.ids.contains(id));
            return Ok((!ids.is_empty()).then_some(Steps { ids, parts: needed.parts }));
        }
        Ok(None)
    }

    /// Adds a transaction to those that have to be undone, and what counts again then. Returns
    /// whether the caller may undo it.
    fn add(&self, entry: &LogEntry, reach: &Reach, needed: &mut Needed) -> Result<bool, Error> {
        let header = &entry.journal.header;
        let mut paths = entry.journal.records.iter().map(|record| &record.path);
        if !reach.shows_all(&entry.journal) || paths.any(|path| Prefix::leads_out(path)) {
            return Ok(false);
        }
        needed.ids.insert(header.id);
        needed.parts.remove(&header.id);
        if header.undo_of.is_none() || !history::is_undo(self.log, header.id)? {
            return Ok(true);
        }
        for undone in history::undone_in(header) {
            if !self.entries.iter().any(|entry| entry.journal.header.id == undone) {
                return Ok(false);
            }
            let is_new = needed.ids.insert(undone);
            if header.partial && (is_new || needed.parts.contains_key(&undone)) {
                let paths = entry.journal.records.iter().map(|record| record.path.clone());
                needed.parts.entry(undone).or_default().extend(paths);
            } else {
                needed.parts.remove(&undone);
            }
        }
        Ok(true)
    }

    /// Divides steps into those that one command undoes as one, because nothing else that stands
    /// lies between them. A transaction of which a part is undone is by itself, and so is each with
    /// `paths`, those to bring back. Steps that change nothing together are left out.
    pub(super) fn runs<'r>(&self, steps: &'r Steps, paths: &[String]) -> Vec<&'r [TransactionId]> {
        let mut runs = Vec::new();
        let mut rest = &steps.ids[..];
        while !rest.is_empty() {
            let whole = rest.iter().take_while(|id| !steps.parts.contains_key(id)).count();
            let mut counts = (2..=whole).rev().filter(|_| paths.is_empty());
            let count = counts.find(|&count| self.are_range(&rest[..count], &steps.ids));
            let (run, others) = rest.split_at(count.unwrap_or(1));
            if self.change_anything(run) {
                runs.push(run);
            }
            rest = others;
        }
        if runs.len() > MOST_NAMED { Vec::new() } else { runs }
    }

    /// Names the undo of a run; `paths` are those to bring back.
    pub(super) fn named(&self, run: &[TransactionId], steps: &Steps, paths: &[String]) -> UndoStep {
        let newest = run[0];
        let name = match run {
            [_, .., oldest] => format!("{}..{}", oldest.short(), newest.short()),
            _ => newest.short(),
        };
        let mut paths = match steps.parts.get(&newest) {
            Some(part) => part.iter().cloned().collect(),
            None if self.ids.contains(&newest) => paths.to_vec(),
            None => Vec::new(),
        };
        paths.sort_unstable();
        UndoStep { name, paths }
    }

    /// Returns whether a file is another one after these transactions than before.
    fn change_anything(&self, newest_first: &[TransactionId]) -> bool {
        self.changes.values().any(|changes| {
            let mut own = changes.iter().filter(|change| newest_first.contains(&self.id(**change)));
            let newest = own.next();
            let oldest = own.next_back().or(newest);
            newest.zip(oldest).is_some_and(|(newest, oldest)| {
                let before = self.record(*oldest).before.as_ref();
                !are_same(before, self.record(*newest).after.as_ref())
            })
        })
    }

    /// Returns whether an undo of all from the last of these to the first would undo these alone:
    /// whatever else lies between is undone, and stays so when the `steps` are done.
    fn are_range(&self, newest_first: &[TransactionId], steps: &[TransactionId]) -> bool {
        let range = newest_first[newest_first.len() - 1]..=newest_first[0];
        self.entries.iter().all(|entry| {
            let id = entry.journal.header.id;
            let stays_undone = entry.undone_by.is_some_and(|by| !steps.contains(&by));
            !range.contains(&id) || newest_first.contains(&id) != stays_undone
        })
    }

    /// Returns the current versions of the files that the needed transactions changed.
    fn versions<'v>(&'v self, needed: &Needed) -> Versions<'v> {
        let mut oldest = HashMap::new();
        for entry in &self.entries {
            let id = entry.journal.header.id;
            if needed.ids.contains(&id) {
                for record in self.undone_of(entry, needed) {
                    oldest.insert(record.path.as_str(), id);
                }
            }
        }
        let files = HashMap::with_capacity(oldest.len());
        Versions { oldest, files, undone_from: HashMap::new(), steps: Vec::new() }
    }

    /// Goes back over one entry.
    fn meet<'v>(
        &'v self,
        nth: usize,
        needed: &Needed,
        versions: &mut Versions<'v>,
    ) -> Result<Met, Error> {
        let entry = &self.entries[nth];
        let id = entry.journal.header.id;
        if !needed.ids.contains(&id) {
            let mut undone = Vec::new();
            let mut is_needed = false;
            for (nth_record, record) in entry.journal.records.iter().enumerate() {
                if !versions.counts(id, record) {
                    continue;
                }
                let change = Change { entry: nth, record: nth_record };
                match self.undoes_exactly(change, &|id| needed.ids.contains(id))? {
                    Some(from) => undone.push((record.path.as_str(), from)),
                    None => is_needed |= !versions.is(record.before.as_ref(), record),
                }
            }
            if is_needed {
                return Ok(Met::Needed);
            }
            versions.undone_from.extend(undone);
            return Ok(Met::Passed);
        }
        let mut changes = false;
        for record in self.undone_of(entry, needed) {
            if versions.is(record.before.as_ref(), record) {
                continue;
            }
            if !versions.is(record.after.as_ref(), record) {
                return Ok(Met::Blocked);
            }
            versions.files.insert(&record.path, record.before.clone());
            changes = true;
        }
        if changes {
            versions.steps.push(id);
        }
        Ok(Met::Passed)
    }

    /// Returns the records of an entry that its undo would take back.
    fn undone_of<'v>(
        &'v self,
        entry: &'v LogEntry,
        needed: &Needed,
    ) -> impl Iterator<Item = &'v Record> {
        let id = entry.journal.header.id;
        entry.journal.records.iter().filter(move |record| {
            let part = self.taken_back.get(&(id, record.path.clone()));
            needed.has(id, &record.path) && part.is_none_or(|part| needed.ids.contains(part))
        })
    }

    /// Returns the oldest of the changes to a path that an undo or a redo has taken back exactly.
    /// `None` for any other change, and if another needed change lies between. A redo of an exact
    /// undo is none either: it is undone itself, and not the change that it brought back.
    fn undoes_exactly(
        &self,
        change: Change,
        is_needed: &dyn Fn(&TransactionId) -> bool,
    ) -> Result<Option<TransactionId>, Error> {
        let header = &self.entries[change.entry].journal.header;
        if header.undo_of.is_none() {
            return Ok(None);
        }
        let record = self.record(change);
        let is_undone = |change: &&Change| {
            let id = self.id(**change);
            history::undone_in(header).any(|undone| undone == id)
        };
        let mut undone = self.changes[&record.path].iter().filter(is_undone);
        let Some(newest) = undone.next() else { return Ok(None) };
        if !history::is_undo(self.log, header.id)?
            && self.undoes_exactly(*newest, is_needed)?.is_some()
        {
            return Ok(None);
        }
        let oldest = undone.next_back().unwrap_or(newest);
        let is_exact = are_same(record.after.as_ref(), self.record(*oldest).before.as_ref())
            && are_same(record.before.as_ref(), self.record(*newest).after.as_ref());
        let id = self.id(change);
        let between = |change: &&Change| (self.id(*oldest)..id).contains(&self.id(**change));
        let mut others =
            self.changes[&record.path].iter().filter(between).filter(|change| !is_undone(change));
        let is_clear = !others.any(|change| is_needed(&self.id(*change)));
        Ok((is_exact && is_clear).then(|| self.id(*oldest)))
    }

    fn id(&self, change: Change) -> TransactionId {
        self.entries[change.entry].journal.header.id
    }

    fn record(&self, change: Change) -> &Record {
        &self.entries[change.entry].journal.records[change.record]
    }
}

/// Returns the oldest transaction that one of these has undone.
fn oldest_undone(entries: &[Rc<LogEntry>]) -> Option<TransactionId> {
    entries.iter().flat_map(|entry| history::undone_in(&entry.journal.header)).min()
}

impl Versions<'_> {
    /// Returns whether a change of an entry that is not needed yet lies on a needed one.
    fn counts(&self, id: TransactionId, record: &Record) -> bool {
        let path = record.path.as_str();
        self.oldest.get(path).is_some_and(|oldest| id > *oldest)
            && self.undone_from.get(path).is_none_or(|from| id < *from)
    }

    /// Returns whether the file of a record is in this version.
    fn is(&self, version: Option<&FileState>, record: &Record) -> bool {
        let file = self.files.get(record.path.as_str());
        file.is_some_and(|file| are_same(file.as_ref(), version))
    }
}
