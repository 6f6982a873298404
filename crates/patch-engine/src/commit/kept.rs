//! The displaced files of the history, to find bytes in.

use std::cell::RefCell;

use workspace_trash::{NewestFirst, Store, TransactionId, TrashEntry};

use super::error::Error;

/// How many transactions are searched that are not newer than the one that left the bytes. One of
/// them may have displaced the same.
const OLDER: usize = 256;

/// The displaced files, newest first, listed as far as they are searched.
pub(crate) struct Kept<'s> {
    pub(crate) store: &'s Store<'s>,
    listed: RefCell<Listed<'s>>,
}

#[derive(Default)]
struct Listed<'s> {
    ids: Option<NewestFirst<'s>>,
    transactions: Vec<(TransactionId, Vec<TrashEntry>)>,
}

impl<'s> Kept<'s> {
    pub(crate) fn new(store: &'s Store<'s>) -> Self {
        Self { store, listed: RefCell::default() }
    }

    /// Returns the first thing that `look` finds, newest first, among the files that were displaced
    /// after a transaction, and by some that are older.
    pub(crate) fn find<T>(
        &self,
        left_by: TransactionId,
        look: impl Fn(&TrashEntry) -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let mut older = 0;
        for nth in 0.. {
            let mut listed = self.listed.borrow_mut();
            if nth == listed.transactions.len() && !self.list_more(&mut listed)? {
                break;
            }
            let (id, entries) = &listed.transactions[nth];
            for entry in entries {
                if let Some(found) = look(entry)? {
                    return Ok(Some(found));
                }
            }
            older += usize::from(*id <= left_by);
            if older > OLDER {
                break;
            }
        }
        Ok(None)
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
        listed.transactions.push((id, entries));
        Ok(true)
    }
}
