//! Keeps the index of the trash, under the lock.

use std::sync::Arc;
use std::time::SystemTime;

use fs_guard::{Dir, Metadata};

use crate::error::Error;
use crate::id::TransactionId;
use crate::index::{INDEX, Index, IndexLine, Indexed, LINE, NewestFirst, Summary, head, stamp};
use crate::locked::LockedStore;
use crate::retention::{Retention, finish_removing, remove_folder};
use crate::store::{TRASH, transactions_of};

/// The most transactions that one commit removes.
const STEP: u32 = 64;
/// One in so many commits looks for transactions that are too old, or too many.
const LOOK: u32 = 16;
/// Other files of purged transactions are purged when about as many transactions were removed as
/// this part of those that are kept.
const SHARE: u32 = 4;
/// The longest index that is read as a whole, in bytes.
const LIMIT: u64 = 4 << 30;

impl LockedStore<'_> {
    /// Finds the transactions in the trash: from the index, or from the folder if the index is not
    /// believed. The index is then written anew.
    pub(crate) fn look(&self) -> Result<(Dir, NewestFirst<'_>), Error> {
        let trash = match self.dir.open_dir_seen(TRASH)? {
            Some((trash, seen)) => {
                let index =
                    Index::believed(&seen, || self.last_read.take().or_else(|| self.open_index()));
                if let Some(index) = index {
                    self.known.set(Some(index.summary));
                    return Ok((trash, NewestFirst::indexed(self, index)));
                }
                trash
            }
            // Created now, so that the end of the transaction needs no space.
            None => self.trash()?,
        };
        let ids = self.write_index(&trash)?;
        Ok((trash, NewestFirst::listed(self, ids)))
    }

    /// Writes the index anew, and finishes interrupted removals: each has changed the folder.
    /// Returns the transactions in the folder, newest first. Where a journal cannot be read or the
    /// index not written, the next transaction tries again.
    pub(crate) fn write_index(&self, trash: &Dir) -> Result<Vec<TransactionId>, Error> {
        self.known.set(None);
        // Windows replaces no open file.
        drop((self.index_file.take(), self.last_read.take()));
        let (seen, ids) = loop {
            let seen = trash.metadata()?;
            let names = trash.names()?;
            if !finish_removing(trash, &names)? {
                break (seen, transactions_of(&names));
            }
        };
        self.known.set(self.written(&seen, &ids));
        Ok(ids)
    }

    /// Opens the index, until a line is added or the index is written anew.
    pub(crate) fn open_index(&self) -> Option<Index> {
        let mut file = self.index_file.borrow_mut();
        if file.is_none() {
            *file = Some(Arc::new(self.dir.spot(INDEX).append().ok()?));
        }
        Index::of_writer(file.as_ref()?)
    }

    fn written(&self, trash: &Metadata, newest_first: &[TransactionId]) -> Option<Summary> {
        let old = self.lines_of(trash);
        let stamp = stamp(trash);
        let there = old.is_some();
        let mut old = old.unwrap_or_default().into_iter().peekable();
        let mut text = head(trash);
        let mut summary = Summary::default();
        let mut same = true;
        let mut last = None;
        for &id in newest_first.iter().rev() {
            while old.next_if(|(other, _)| *other < id).is_some() {
                same = false;
            }
            let of = match old.next_if(|(other, _)| *other == id) {
                Some((_, of)) => of,
                None => {
                    same = false;
                    match self.unless_gone(id, self.journal(id)) {
                        Ok(Some(journal)) => Indexed::of(&journal),
                        Ok(None) => continue,
                        Err(error) if error.is_distrust() => {
                            summary.others = true;
                            continue;
                        }
                        Err(_) => return None,
                    }
                }
            };
            summary.add(id, of);
            last = Some((text.len(), of));
            text += &summary.line(of)?;
        }
        let spot = self.dir.spot(INDEX);
        let Some((start, of)) = last else {
            if there {
                spot.remove().ok()?;
            }
            return Some(Summary { stamp, ..summary });
        };
        // Nothing is to be written where only the names can tell what changed.
        if stamp.is_none() && same && old.next().is_none() {
            return Index::open(&self.dir).map(|index| Summary { stamp, ..index.summary });
        }
        summary.stamp = stamp;
        text.truncate(start);
        text += &summary.line(of)?;
        spot.write(text.as_bytes(), false).ok()?;
        Some(summary)
    }

    /// Returns the transactions of this folder's index, oldest first, believed or not; `None`
    /// without an index.
    fn lines_of(&self, trash: &Metadata) -> Option<Vec<(TransactionId, Indexed)>> {
        let bytes = match self.dir.spot(INDEX).read(LIMIT) {
            Ok((bytes, _)) => bytes,
            Err(fs_guard::Error::NotFound { .. }) => return None,
            Err(_) => return Some(Vec::new()),
        };
        let (lines, _) = bytes.as_chunks::<LINE>();
        let Some((_, lines)) =
            lines.split_first().filter(|(first, _)| first[..] == *head(trash).as_bytes())
        else {
            return Some(Vec::new());
        };
        let mut before = 0;
        let lines = lines.iter().map_while(|line| {
            let IndexLine { id, turn, undoes, bytes, text, .. } = IndexLine::parse(line)?;
            let of = Indexed { bytes: bytes.checked_sub(before)?, turn, undoes, text };
            before = bytes;
            Some((id, of))
        });
        let mut lines: Vec<_> = lines.collect();
        let sorted = lines.windows(2).take_while(|pair| pair[0].0 < pair[1].0).count();
        lines.truncate(sorted + 1);
        Some(lines)
    }

    /// Removes a transaction in the trash, if its journal is trusted.
    fn purge_one(&self, trash: &Dir, id: TransactionId) -> Result<(), Error> {
        let Some(folder) = trash.open_dir(&id.to_string())? else { return Ok(()) };
        self.journal_in(&folder, id, false)?;
        remove_folder(trash, folder, id)
    }

    /// Adds a transaction just moved into the trash, and purges if `keep` says so. `next` is the
    /// present state of the index. Returns the new state; `None` if the index is not to be
    /// believed.
    pub(crate) fn note(
        &self,
        trash: &Dir,
        mut next: Summary,
        id: TransactionId,
        of: Indexed,
        keep: Option<(&Retention, SystemTime)>,
    ) -> Option<Summary> {
        let open = self.index_file.take();
        // The clock was set back by more than a day.
        if next.last >= Some(id) {
            return None;
        }
        let written = next.lines;
        next.add(id, of);
        if let Some((retention, now)) = keep {
            self.purge_some(trash, &mut next, written, retention, now)?;
        }
        let seen = trash.metadata().ok()?;
        next.stamp = stamp(&seen);
        let spot = self.dir.spot(INDEX);
        if next.first > STEP && next.first > next.lines / 2 {
            let kept = Index::open(&self.dir)?.read(next.first, written)?;
            next = Summary { lines: next.lines - next.first, first: 0, ..next };
            let line = next.line(of)?;
            let text = [head(&seen).as_bytes(), &kept.bytes, line.as_bytes()].concat();
            drop(open);
            spot.write(&text, false).ok()?;
            return Some(next);
        }
        let file = match open {
            Some(file) => file,
            None => Arc::new(spot.append().ok()?),
        };
        let mut text = next.line(of)?;
        let mut length = 0;
        if written == 0 {
            text.insert_str(0, &head(&seen));
        } else {
            length = (u64::from(written) + 1) * LINE as u64;
        }
        if file.opened_size() != length {
            return None;
        }
        file.append(text.as_bytes()).ok()?;
        Some(next)
    }

    /// Removes the oldest transactions, at most [`STEP`], if some are not kept. `written` is the
    /// number of lines in the file.
    fn purge_some(
        &self,
        trash: &Dir,
        next: &mut Summary,
        written: u32,
        retention: &Retention,
        now: SystemTime,
    ) -> Option<()> {
        let count = next.count() as usize;
        let Some(spare) = count.checked_sub(retention.keep_last).filter(|spare| *spare > 0) else {
            return Some(());
        };
        let is_due = next.lines.is_multiple_of(LOOK)
            || count >= retention.max_count.saturating_add(LOOK as usize)
            || next.kept() > retention.max_bytes;
        let spare = u32::try_from(spare).unwrap_or(STEP).min(STEP);
        let end = (next.first + spare).min(written);
        if !is_due || end == next.first {
            return Some(());
        }
        let first = next.first;
        let block = Index::open(&self.dir)?.read(next.first, end)?;
        for number in next.first..end {
            let IndexLine { id, bytes, .. } = IndexLine::parse(block.line(number)?)?;
            if !retention.is_over((next.lines - 1 - number) as usize, id, next.kept(), now) {
                break;
            }
            if let Err(error) = self.purge_one(trash, id) {
                // The journal was trusted when the index was written: with another key, or before
                // someone changed the journal. All journals are checked again.
                if error.is_distrust() {
                    self.dir.spot(INDEX).remove().ok()?;
                }
                return None;
            }
            next.first = number + 1;
            next.purged = bytes;
        }
        let is_due = |last: TransactionId| others_are_due(last, next.first - first, next.count());
        self.purged.set(next.last.is_some_and(is_due));
        Some(())
    }
}

/// Returns whether other files of purged transactions are due for a purge, after a commit that has
/// `removed` so many transactions and `kept` so many.
///
/// To remove lines from a log takes as long as to write all that are kept, so it is to be seldom.
/// Where the index is not believed, nobody knows how many were removed before: so it is by chance.
fn others_are_due(commit: TransactionId, removed: u32, kept: u32) -> bool {
    let seldom = (kept / SHARE).max(LOOK);
    removed > 0 && commit.is_one_in((seldom / removed).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_due_by_what_was_removed_and_what_is_kept() {
        let due = |removed, kept| {
            let ids = (0..10_000).map(|_| TransactionId::new(SystemTime::now(), None));
            ids.filter(|id| others_are_due(*id, removed, kept)).count()
        };
        for (removed, kept, expected) in [
            (0, 1000, 0..=0),
            (16, 2, 10_000..=10_000),
            (14, 2, 10_000..=10_000),
            (64, 100, 10_000..=10_000),
            // One in 16, in 15 and in 250.
            (1, 10, 400..=900),
            (16, 1000, 450..=950),
            (1, 1000, 5..=120),
        ] {
            let due = due(removed, kept);
            assert!(expected.contains(&due), "{removed} {kept}: {due}");
        }
    }
}
