//! How long displaced files are kept.

use std::time::{Duration, SystemTime};

use crate::error::Error;
use crate::id::TransactionId;
use crate::locked::LockedStore;

/// What an ordinary commit may remove from the trash.
///
/// The last transactions are kept whatever their age and size; older ones go when one of the other
/// limits is passed. A transaction that is not finished is never touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// So many of the newest transactions are always kept.
    pub keep_last: usize,
    /// Older transactions go after this time.
    pub max_age: Duration,
    /// The oldest transactions go while all together keep more bytes than this.
    pub max_bytes: u64,
    /// No more transactions than this are kept.
    pub max_count: usize,
}

impl Default for Retention {
    fn default() -> Self {
        Self { keep_last: 20, max_age: Duration::from_secs(30 * 24 * 3600), max_bytes: 1 << 30, max_count: 1000 }
    }
}

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Purged {
    /// The transactions whose folders are gone.
    pub transactions: Vec<TransactionId>,
    /// How many bytes of displaced files they kept.
    pub bytes: u64,
}

impl LockedStore<'_> {
    /// Removes what `retention` does not keep, or tells with `dry_run` what that would be.
    ///
    /// Folders whose journals are not trusted are left for a person to look at.
    pub fn purge(&self, retention: &Retention, now: SystemTime, dry_run: bool) -> Result<Purged, Error> {
        let mut purged = Purged::default();
        let mut kept_bytes = 0_u64;
        for (index, id) in self.transactions()?.into_iter().enumerate() {
            let bytes = match self.journal(id) {
                Ok(journal) => journal.kept_bytes(),
                Err(Error::Journal { .. }) => continue,
                Err(error) => return Err(error),
            };
            let age = now.duration_since(id.time()).unwrap_or_default();
            let over = index >= retention.max_count
                || age > retention.max_age
                || kept_bytes.saturating_add(bytes) > retention.max_bytes;
            if index < retention.keep_last || !over {
                kept_bytes = kept_bytes.saturating_add(bytes);
                continue;
            }
            if !dry_run {
                self.remove(id)?;
            }
            purged.transactions.push(id);
            purged.bytes += bytes;
        }
        Ok(purged)
    }

    /// Does what [`purge`](Self::purge) does, now and then: looking at every journal costs more than
    /// a small commit.
    pub fn purge_sometimes(&self, retention: &Retention, now: SystemTime) -> Result<(), Error> {
        let count = self.count.get() + 1;
        if count > retention.keep_last && count.is_multiple_of(16) {
            self.purge(retention, now, false)?;
        }
        Ok(())
    }

    /// Removes one finished transaction for good.
    pub fn remove(&self, id: TransactionId) -> Result<(), Error> {
        // Out of the trash, then without its journal, then its files: a removal that is cut off
        // leaves either the whole entry, which recovery puts back, or a folder that it discards.
        let trash = self.trash()?;
        let name = id.to_string();
        if let Some(folder) = trash.open_dir(&name)? {
            let pending = self.dir().open_or_create_dir(crate::store::PENDING)?;
            trash.spot(&name).rename_new(&pending.spot(&name))?;
            folder.spot(crate::store::JOURNAL).remove()?;
            folder.spot(crate::store::ABORTED).remove()?;
            pending.remove_tree(&name)?;
        }
        Ok(())
    }
}
