//! The displaced files of the history, to find bytes in.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use fs_guard::Sha256;
use workspace_trash::{NewestFirst, OldestFirst, Record, Store, TransactionId, TrashEntry};

use super::error::Error;
use super::left::LeftFiles;

/// How many transactions are searched that are not newer than the one that left the bytes. One of
/// them may have displaced the same.
const OLDER: u32 = 256;

/// How many of the newest transactions are listed before the search goes on from the one that left
/// the bytes: what it left was most likely displaced soon after.
const NEAR: usize = 16;

/// The displaced files by the hash of their bytes, listed as far as they are searched.
#[derive(Debug)]
pub(crate) struct KeptFiles<'s> {
    pub(crate) store: &'s Store<'s>,
    listed: RefCell<Listed<'s>>,
    far: RefCell<Option<Far>>,
    /// The records that transactions kept of the files they left.
    left: RefCell<HashMap<TransactionId, LeftFiles<'s>>>,
}

#[derive(Debug, Default)]
struct Listed<'s> {
    ids: Option<NewestFirst<'s>>,
    /// The listed transactions, newest first.
    transactions: Vec<TransactionId>,
    by_hash: HashMap<Sha256, Vec<TrashEntry>>,
}

/// The files displaced after a transaction far back, and by some before, listed as far as they are
/// searched.
#[derive(Debug)]
struct Far {
    left_by: TransactionId,
    ids: OldestFirst,
    by_hash: HashMap<Sha256, Vec<TrashEntry>>,
}

impl<'s> KeptFiles<'s> {
    pub(crate) fn new(store: &'s Store<'s>) -> Self {
        Self {
            store,
            listed: RefCell::default(),
            far: RefCell::default(),
            left: RefCell::default(),
        }
    }

    /// Returns the bytes of a file as a transaction left it, if it kept what tells them. With
    /// `trust`, its journal may be signed with a key that is not here.
    pub(crate) fn left_by(
        &self,
        id: TransactionId,
        record: &Record,
        trust: bool,
    ) -> Result<Option<Vec<u8>>, Error> {
        let mut left = self.left.borrow_mut();
        let left = match left.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                let (journal, _) = self.store.journal_if(id, trust)?;
                free.insert(LeftFiles::of(self.store, Cow::Owned(journal)))
            }
        };
        Ok(left.bytes(record))
    }

    /// Returns what `look` finds first among the files with this hash that were displaced after a
    /// transaction, and by some older ones.
    pub(crate) fn find<T>(
        &self,
        left_by: TransactionId,
        sha256: Sha256,
        look: impl Fn(&TrashEntry) -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let mut listed = self.listed.borrow_mut();
        let mut looked = 0;
        let mut more = 0;
        loop {
            let same = listed.by_hash.get(&sha256).map_or(&[][..], Vec::as_slice);
            for entry in &same[looked..] {
                if let Some(found) = look(entry)? {
                    return Ok(Some(found));
                }
            }
            looked = same.len();
            let newer = listed.transactions.partition_point(|id| *id > left_by);
            if more == NEAR
                && newer == listed.transactions.len()
                && let Some(found) =
                    self.find_far(left_by, sha256, listed.transactions.last().copied(), &look)?
            {
                return Ok(found);
            }
            more += 1;
            if listed.transactions.len() - newer > OLDER as usize || !self.list_more(&mut listed)? {
                return Ok(None);
            }
        }
    }

    /// Does the same from that transaction on, up to those that are listed; `None` if the
    /// transactions after it are not known.
    fn find_far<T>(
        &self,
        left_by: TransactionId,
        sha256: Sha256,
        listed: Option<TransactionId>,
        look: &impl Fn(&TrashEntry) -> Result<Option<T>, Error>,
    ) -> Result<Option<Option<T>>, Error> {
        let mut far = self.far.borrow_mut();
        if far.as_ref().is_none_or(|far| far.left_by != left_by) {
            let ids = self.store.after(left_by, OLDER)?;
            *far = ids.map(|ids| Far { left_by, ids, by_hash: HashMap::new() });
        }
        let Some(far) = &mut *far else { return Ok(None) };
        for entry in far.by_hash.get(&sha256).into_iter().flatten() {
            if let Some(found) = look(entry)? {
                return Ok(Some(Some(found)));
            }
        }
        while let Some(id) = far.ids.next().filter(|id| listed.is_none_or(|listed| *id < listed)) {
            let mut found = None;
            for entry in self.entries_in(id)? {
                if found.is_none() && entry.sha256 == sha256 {
                    found = look(&entry)?;
                }
                far.by_hash.entry(entry.sha256).or_default().push(entry);
            }
            if found.is_some() {
                return Ok(Some(found));
            }
        }
        Ok(Some(None))
    }

    /// Lists what a transaction displaced; nothing if its journal is not trusted.
    fn entries_in(&self, id: TransactionId) -> Result<Vec<TrashEntry>, Error> {
        match self.store.unless_gone(id, self.store.entries_in(id)) {
            Ok(found) => Ok(found.unwrap_or_default()),
            Err(workspace_trash::Error::Journal { .. }) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Lists those of one more transaction; none of one whose journal is not trusted.
    fn list_more(&self, listed: &mut Listed<'s>) -> Result<bool, Error> {
        let ids = match &mut listed.ids {
            Some(ids) => ids,
            none => none.insert(self.store.newest_first()?),
        };
        let Some(id) = ids.next().transpose()? else { return Ok(false) };
        listed.transactions.push(id);
        for entry in self.entries_in(id)? {
            listed.by_hash.entry(entry.sha256).or_default().push(entry);
        }
        Ok(true)
    }
}
