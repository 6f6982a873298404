//! The displaced files of the history, to find bytes in.

use std::cell::RefCell;
use std::collections::HashMap;

use fs_guard::Sha256;
use workspace_trash::{NewestFirst, Store, TransactionId, TrashEntry};

use super::error::Error;

/// How many transactions are searched that are not newer than the one that left the bytes. One of
/// them may have displaced the same.
const OLDER: usize = 256;

/// The displaced files by the hash of their bytes, listed as far as they are searched.
#[derive(Debug)]
pub(crate) struct Kept<'s> {
    pub(crate) store: &'s Store<'s>,
    listed: RefCell<Listed<'s>>,
}

#[derive(Debug, Default)]
struct Listed<'s> {
    ids: Option<NewestFirst<'s>>,
    /// The transactions that were listed, newest first.
    transactions: Vec<TransactionId>,
    by_hash: HashMap<Sha256, Vec<TrashEntry>>,
}

impl<'s> Kept<'s> {
    pub(crate) fn new(store: &'s Store<'s>) -> Self {
        Self { store, listed: RefCell::default() }
    }

    /// Returns the first thing that `look` finds, newest first, among the files with this hash that
    /// were displaced after a transaction, and by some that are older.
    pub(crate) fn find<T>(
        &self,
        left_by: TransactionId,
        sha256: Sha256,
        look: impl Fn(&TrashEntry) -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let mut listed = self.listed.borrow_mut();
        let mut looked = 0;
        loop {
            let same = listed.by_hash.get(&sha256).map_or(&[][..], Vec::as_slice);
            for entry in &same[looked..] {
                if let Some(found) = look(entry)? {
                    return Ok(Some(found));
                }
            }
            looked = same.len();
            let newer = listed.transactions.partition_point(|id| *id > left_by);
            if listed.transactions.len() - newer > OLDER || !self.list_more(&mut listed)? {
                return Ok(None);
            }
        }
    }

    /// Lists those of one more transaction; none of one whose journal is not trusted.
    fn list_more(&self, listed: &mut Listed<'s>) -> Result<bool, Error> {
        let store = self.store;
        let ids = match &mut listed.ids {
            Some(ids) => ids,
            none => none.insert(store.newest_first()?),
        };
        let Some(id) = ids.next().transpose()? else { return Ok(false) };
        let entries = match store.unless_gone(id, store.entries_in(id)) {
            Ok(found) => found.unwrap_or_default(),
            Err(workspace_trash::Error::Journal { .. }) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        listed.transactions.push(id);
        for entry in entries {
            listed.by_hash.entry(entry.sha256).or_default().push(entry);
        }
        Ok(true)
    }
}
