//! How long displaced files are kept.

use std::time::{Duration, SystemTime};

use fs_guard::Dir;

use crate::error::Error;
use crate::id::TransactionId;
use crate::locked::LockedStore;

/// The suffix of a transaction's folder while its files are being removed.
pub(crate) const REMOVED: &str = ".removed";

/// The part of the trash that commits keep.
///
/// The newest transactions are kept whatever their age and size; older ones are removed once they
/// pass one of the other limits. An unfinished transaction is never touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How many of the newest transactions are always kept.
    pub keep_last: usize,
    /// The age beyond which older transactions are removed.
    pub max_age: Duration,
    /// The size in bytes beyond which the oldest transactions are removed.
    pub max_bytes: u64,
    /// The most transactions to keep.
    pub max_count: usize,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            keep_last: 20,
            max_age: Duration::from_secs(30 * 24 * 3600),
            max_bytes: 1 << 30,
            max_count: 1000,
        }
    }
}

impl Retention {
    /// Returns whether a transaction passes a limit other than `keep_last`: there are `newer` ones,
    /// with `bytes` in all of them together.
    pub(crate) fn is_over(
        &self,
        newer: usize,
        id: TransactionId,
        bytes: u64,
        now: SystemTime,
    ) -> bool {
        let age = now.duration_since(id.time()).unwrap_or_default();
        newer >= self.max_count || age > self.max_age || bytes > self.max_bytes
    }
}

/// The result of a purge.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Purged {
    /// The removed transactions.
    pub transactions: Vec<TransactionId>,
    /// How many bytes of displaced files they had.
    pub bytes: u64,
}

impl LockedStore<'_> {
    /// Removes everything beyond `retention`, oldest first. With `dry_run` only returns what would
    /// be removed.
    ///
    /// Folders without trusted journals are left for a person to judge, and do not count.
    pub fn purge(
        &self,
        retention: &Retention,
        now: SystemTime,
        dry_run: bool,
    ) -> Result<Purged, Error> {
        let mut purged = Purged::default();
        let mut kept_bytes = 0_u64;
        let mut index = 0;
        let mut over = false;
        for id in self.list()? {
            let bytes = match self.journal(id) {
                Ok(journal) => journal.kept_bytes(),
                Err(Error::Journal { .. }) => continue,
                Err(error) => return Err(error),
            };
            let all = kept_bytes.saturating_add(bytes);
            // Everything older than the first removed transaction is removed too: a history has no
            // gaps. The limit of size never removes a transaction that is always kept.
            let counted = if index >= retention.keep_last { all } else { 0 };
            over |= retention.is_over(index, id, counted, now);
            if index < retention.keep_last || !over {
                kept_bytes = all;
            } else {
                purged.transactions.push(id);
                purged.bytes += bytes;
            }
            index += 1;
        }
        if !dry_run {
            let trash = self.trash()?;
            finish_removing(&trash, &trash.names()?)?;
            // In this order an interrupted purge leaves a history without gaps.
            purged.transactions.iter().rev().try_for_each(|&id| self.remove(id))?;
            self.write_index(&trash)?;
        }
        Ok(purged)
    }

    /// Removes one finished transaction for good.
    pub fn remove(&self, id: TransactionId) -> Result<(), Error> {
        let trash = self.trash()?;
        match trash.open_dir(&id.to_string())? {
            Some(folder) => remove_folder(&trash, folder, id),
            None => Ok(()),
        }
    }
}

/// Removes the folder of a finished transaction, which was just opened.
pub(crate) fn remove_folder(trash: &Dir, folder: Dir, id: TransactionId) -> Result<(), Error> {
    // Windows renames no open directory.
    let folder = Some(folder).filter(|_| cfg!(unix));
    // Not by way of the pending transactions: recovery would finish or revert it again, over later
    // changes.
    let removed = format!("{id}{REMOVED}");
    trash.spot(&id.to_string()).rename_new(&trash.spot(&removed))?;
    match folder {
        Some(folder) => trash.remove_opened(&removed, &folder)?,
        None => trash.remove_tree(&removed)?,
    }
    Ok(())
}

/// Returns whether a folder has the name of a transaction that is being removed.
fn is_removed(name: &str) -> bool {
    name.strip_suffix(REMOVED).is_some_and(|id| id.parse::<TransactionId>().is_ok())
}

/// Continues interrupted removals. Returns whether there were any.
pub(crate) fn finish_removing(trash: &Dir, names: &[String]) -> Result<bool, Error> {
    let mut any = false;
    for name in names.iter().filter(|name| is_removed(name)) {
        trash.remove_tree(name)?;
        any = true;
    }
    Ok(any)
}
