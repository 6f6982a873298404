//! How long displaced files are kept.

use std::time::{Duration, SystemTime};

use fs_guard::Dir;

use crate::error::Error;
use crate::id::TransactionId;
use crate::locked::LockedStore;

/// The suffix of a transaction's folder while its files are being removed.
const REMOVED: &str = ".removed";

/// What commits keep when they purge the trash.
///
/// The newest transactions are kept whatever their age and size; older ones are removed once they
/// pass one of the other limits. An unfinished transaction is never touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How many of the newest transactions are always kept.
    pub keep_last: usize,
    /// The age after which older transactions are removed.
    pub max_age: Duration,
    /// The size in bytes above which the oldest transactions are removed.
    pub max_bytes: u64,
    /// The most transactions that are kept.
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
    /// Returns whether the commit that makes it `count` transactions should look for what to purge.
    ///
    /// One in sixteen commits does, or one in an eighth of the number of transactions, so that they
    /// read at most eight journals per commit on average. Between two looks there are at most two
    /// intervals, so that no more than `max_bytes` can accumulate unseen.
    fn is_due(&self, count: usize, displaced: u64) -> bool {
        let interval = (count.min(self.max_count) / 8).next_power_of_two().max(16);
        let since = if count > self.max_count { count - self.max_count } else { count };
        let is_large = displaced.saturating_mul(2 * interval as u64) > self.max_bytes;
        count > self.keep_last && (is_large || since.is_multiple_of(interval))
    }
}

/// The result of a purge.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Purged {
    /// The transactions that were removed.
    pub transactions: Vec<TransactionId>,
    /// How many bytes of displaced files they had.
    pub bytes: u64,
}

impl LockedStore<'_> {
    /// Removes what `retention` does not keep, oldest first. With `dry_run` it only returns what
    /// that would be.
    ///
    /// Folders whose journals are not trusted are left for a person to look at, and do not count.
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
        for id in self.transactions()? {
            let bytes = match self.journal(id) {
                Ok(journal) => journal.kept_bytes(),
                Err(Error::Journal { .. }) => continue,
                Err(error) => return Err(error),
            };
            let age = now.duration_since(id.time()).unwrap_or_default();
            // Everything older than the first removed transaction is removed too: a history has no
            // gaps.
            over |= index >= retention.max_count
                || age > retention.max_age
                || (index >= retention.keep_last
                    && kept_bytes.saturating_add(bytes) > retention.max_bytes);
            if index < retention.keep_last || !over {
                kept_bytes = kept_bytes.saturating_add(bytes);
            } else {
                purged.transactions.push(id);
                purged.bytes += bytes;
            }
            index += 1;
        }
        if !dry_run {
            let trash = self.trash()?;
            finish_removing(&trash, &trash.names()?)?;
            // The order makes sure that an interrupted purge leaves a history without gaps.
            purged.transactions.iter().rev().try_for_each(|&id| self.remove(id))?;
        }
        Ok(purged)
    }

    /// Does what [`purge`](Self::purge) does, but only now and then, because that reads every
    /// journal. A commit calls it with the number of bytes that it displaced.
    pub fn purge_sometimes(
        &self,
        retention: &Retention,
        now: SystemTime,
        displaced: u64,
    ) -> Result<(), Error> {
        if retention.is_due(self.count.get() + 1, displaced) {
            self.purge(retention, now, false)?;
        }
        Ok(())
    }

    /// Removes one finished transaction for good.
    pub fn remove(&self, id: TransactionId) -> Result<(), Error> {
        // Not by way of the pending transactions: recovery would finish or revert it again, over
        // later changes.
        let trash = self.trash()?;
        let name = id.to_string();
        if trash.open_dir(&name)?.is_some() {
            let removed = format!("{name}{REMOVED}");
            trash.spot(&name).rename_new(&trash.spot(&removed))?;
            trash.remove_tree(&removed)?;
        }
        Ok(())
    }
}

/// Continues interrupted removals.
pub(crate) fn finish_removing(trash: &Dir, names: &[String]) -> Result<(), Error> {
    let is_removed = |name: &str| {
        name.strip_suffix(REMOVED).is_some_and(|id| id.parse::<TransactionId>().is_ok())
    };
    names.iter().filter(|name| is_removed(name)).try_for_each(|name| Ok(trash.remove_tree(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_look_seldom_where_there_are_many_transactions() {
        let usual = Retention::default();
        let few = Retention { max_count: 30, ..usual };
        let share = usual.max_bytes / 32;
        for (retention, count, displaced, is_due) in [
            (usual, 16, 0, false),
            (usual, 20, u64::MAX, false),
            (usual, 21, u64::MAX, true),
            (usual, 32, 0, true),
            (usual, 33, 0, false),
            (usual, 48, 0, true),
            (usual, 33, share, false),
            (usual, 33, share + 1, true),
            (usual, 128, 0, true),
            (usual, 136, share / 2, false),
            (usual, 136, share / 2 + 1, true),
            (usual, 144, 0, false),
            (usual, 160, 0, true),
            (usual, 896, 0, true),
            (usual, 960, 0, false),
            (usual, 1000, 0, false),
            (usual, 1001, 0, false),
            (usual, 1024, 0, false),
            (usual, 1128, 0, true),
            (usual, 1129, 0, false),
            (usual, 5096, 0, true),
            (few, 32, 0, false),
            (few, 46, 0, true),
        ] {
            assert_eq!(retention.is_due(count, displaced), is_due, "{count} {displaced}");
        }
    }

    #[test]
    fn however_many_transactions_there_are_a_commit_reads_few_journals() {
        for max_count in [100, 999, 1000, usize::MAX] {
            let retention = Retention { max_count, ..Retention::default() };
            let (mut count, mut read, mut most, mut unseen) = (0, 0, 0, 0);
            for _ in 0..10_000 {
                count += 1;
                most = most.max(count);
                if retention.is_due(count, 0) {
                    read += count;
                    count = count.min(max_count);
                    unseen = 0;
                    continue;
                }
                // The most that this commit can displace without looking.
                let mut sizes = (5..64).map(|halvings| retention.max_bytes >> halvings);
                unseen += sizes
                    .find(|&bytes| !retention.is_due(count, bytes))
                    .expect("to displace nothing is not much");
                assert!(unseen <= retention.max_bytes, "{max_count}: {count} {unseen}");
            }
            assert!(read < 10_000 * 9, "{max_count}: {read}");
            assert!(most <= max_count.saturating_add(max_count / 7 + 2), "{max_count}: {most}");
        }
    }
}
