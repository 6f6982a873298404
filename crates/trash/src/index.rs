//! The index of the trash: commits and readers find the newest and the oldest transactions without
//! listing all of them.
//!
//! The file `index` begins with a line about its folder. Then comes a line of the same length for
//! each finished transaction, the oldest first. A commit appends one under the lock, once its
//! folder is in the trash. The line has the id, the bytes displaced up to and with this
//! transaction, the bytes of those that were purged, the number of the first unpurged line, a mark
//! of the turn, whether the transaction undid another one, the hash of the patch text, and a stamp
//! of the folder `trash`: its inode, times, size and number of links at the time.
//!
//! The index is believed if the stamp in its last line matches the folder now: every change of the
//! names in a folder moves its times. Otherwise the folder is listed: a process was killed between
//! the move and the line, another version of the program was at work, a person removed a folder,
//! the state was copied, or the line is torn. Readers have no lock, and list the folder each time;
//! the next transaction writes the index anew. Lines of a folder with this inode are used again, so
//! only the journals of the other names are read.
//!
//! The index only says where to look. Journals are read and checked as ever, and missing ids are
//! passed over. With a forged line the oldest transactions are purged earlier, or newer ones do not
//! show until the folder changes: whoever can write a line could as well remove the folders.
//!
//! Limitations: a person's changes to the folder between a commit's first look and the move are not
//! noticed. Some kernels stamp a folder with the time of the last timer tick, and on some file
//! systems its size and links do not change with the number of names (ext4 counts 65 000). A
//! transaction committed there by an older version of the program, within the tick of the last
//! commit, is in the trash, but does not show until the index is written anew, for example by
//! `purge`. File systems with times in whole seconds are not believed. Nor is Windows, where
//! nothing promises that the time of a folder is written at once: there the names are compared with
//! the folder's at each transaction.

use std::sync::Arc;

use fs_guard::{AppendFile, Dir, Metadata, OpenFile, Sha256};

use crate::error::Error;
use crate::id::TransactionId;
use crate::journal::Journal;
use crate::store::{Store, TRASH, transactions_of};

pub(crate) const INDEX: &str = "index";

/// The length of a line, with its end.
pub(crate) const LINE: usize = 162;
/// Where in a line the hash of the patch text is.
const TEXT: usize = 80;
/// How many lines are read at first. A patch text is looked for in these.
const TAIL: u32 = 256;
/// How many lines are read at once after that.
const BLOCK: u32 = 8192;

/// The entry of the index for one transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Indexed {
    pub(crate) bytes: u64,
    /// The mark of its turn.
    pub(crate) turn: Option<u32>,
    /// Whether the transaction undid another one.
    pub(crate) undoes: bool,
    /// The hash of the patch text.
    pub(crate) text: Option<Sha256>,
}

impl Indexed {
    pub(crate) fn of(journal: &Journal) -> Self {
        let turn = journal.header.turn.as_deref().map(mark);
        let undoes = journal.header.undo_of.is_some();
        Self { bytes: journal.kept_bytes(), turn, undoes, text: journal.header.text }
    }
}

/// Returns the mark of a turn: several may have the same.
fn mark(turn: &str) -> u32 {
    let hash = Sha256::of(turn.as_bytes()).0;
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
}

/// The numbers of the last line, about the whole index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Summary {
    /// The number of lines.
    pub(crate) lines: u32,
    /// The number of the first unpurged line.
    pub(crate) first: u32,
    /// Displaced bytes of all transactions.
    pub(crate) bytes: u64,
    /// Displaced bytes of the transactions that were purged.
    pub(crate) purged: u64,
    /// Whether the trash has transactions missing from the index, because their journals are not
    /// trusted.
    pub(crate) others: bool,
    /// The stamp of the folder; `None` if the stamp tells nothing.
    pub(crate) stamp: Option<u64>,
    pub(crate) last: Option<TransactionId>,
}

impl Summary {
    pub(crate) fn count(&self) -> u32 {
        self.lines - self.first
    }

    pub(crate) fn kept(&self) -> u64 {
        self.bytes.saturating_sub(self.purged)
    }

    /// Returns whether the folder is unchanged.
    pub(crate) fn is_of(&self, trash: &Dir) -> bool {
        trash.metadata().is_ok_and(|trash| stamp(&trash) == self.stamp)
    }

    /// Adds a transaction.
    pub(crate) fn add(&mut self, id: TransactionId, of: Indexed) {
        self.lines += 1;
        self.bytes = self.bytes.saturating_add(of.bytes);
        self.last = Some(id);
    }

    /// Returns the line of the last transaction; `None` if a number does not fit.
    pub(crate) fn line(&self, of: Indexed) -> Option<String> {
        let Self { first, bytes, purged, others, stamp, .. } = self;
        let id = self.last?;
        let turn = of.turn.map_or_else(|| "--------".to_owned(), |turn| format!("{turn:08x}"));
        let undoes = if of.undoes { '+' } else { '-' };
        let others = if *others { '+' } else { '-' };
        let stamp = stamp.unwrap_or_default();
        let text = of.text.map_or_else(|| "-".repeat(64), |text| text.to_string());
        let line = format!(
            "{id} {bytes:012x} {purged:012x} {first:08x} {turn} {undoes} {others} {text} \
             {stamp:016x}\n"
        );
        (line.len() == LINE).then_some(line)
    }
}

/// A line as found.
#[derive(Debug)]
pub(crate) struct IndexLine {
    pub(crate) id: TransactionId,
    pub(crate) turn: Option<u32>,
    pub(crate) undoes: bool,
    pub(crate) bytes: u64,
    pub(crate) purged: u64,
    pub(crate) first: u32,
    pub(crate) others: bool,
    pub(crate) text: Option<Sha256>,
    pub(crate) stamp: u64,
}

impl IndexLine {
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
        let mut parts = text.split(' ');
        let id = parts.next()?.parse().ok()?;
        let bytes = hex(parts.next()?)?;
        let purged = hex(parts.next()?)?;
        let first = u32::try_from(hex(parts.next()?)?).ok()?;
        let turn = match parts.next()? {
            "--------" => None,
            turn => Some(u32::from_str_radix(turn, 16).ok()?),
        };
        let undoes = parts.next()? == "+";
        let others = parts.next()? == "+";
        let text = parts.next()?.parse().ok();
        let stamp = hex(parts.next()?)?;
        Some(Self { id, turn, undoes, bytes, purged, first, others, text, stamp })
    }
}

fn hex(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}

pub(crate) fn head(trash: &Metadata) -> String {
    format!("{:<161}\n", format!("index 3 of the folder with inode {:016x}", trash.ino))
}

/// Returns what changes whenever a name in the folder does; `None` where nothing does for certain.
pub(crate) fn stamp(trash: &Metadata) -> Option<u64> {
    let Metadata { ino, size, nlink, mtime, ctime, .. } = trash;
    if cfg!(windows) || (mtime.1 == 0 && ctime.1 == 0) {
        return None;
    }
    let hash = Sha256::of(format!("{ino} {size} {nlink} {mtime:?} {ctime:?}").as_bytes()).0;
    Some(u64::from_be_bytes(hash[..8].try_into().expect("a hash is longer")))
}

/// The file of the index.
#[derive(Debug)]
enum IndexFile {
    /// As a reader has it.
    Read(OpenFile),
    /// As the one writer has it, who adds a line later.
    Append(Arc<AppendFile>),
}

impl IndexFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, fs_guard::Error> {
        match self {
            Self::Read(file) => file.read_at(buffer, offset),
            Self::Append(file) => file.read_at(buffer, offset),
        }
    }
}

/// The index, open for reading.
#[derive(Debug)]
pub(crate) struct Index {
    file: IndexFile,
    pub(crate) summary: Summary,
    /// The lines of the last read; at first the end of the file.
    tail: IndexBlock,
}

/// Lines of one read.
#[derive(Debug, Default)]
pub(crate) struct IndexBlock {
    /// The number of the first.
    pub(crate) start: u32,
    pub(crate) bytes: Vec<u8>,
}

impl IndexBlock {
    pub(crate) fn line(&self, number: u32) -> Option<&[u8]> {
        let at = usize::try_from(number.checked_sub(self.start)?).ok()? * LINE;
        self.bytes.get(at..at + LINE)
    }
}

impl Index {
    /// Opens the index if its last line is whole.
    pub(crate) fn open(dir: &Dir) -> Option<Self> {
        let (file, seen) = dir.spot(INDEX).open().ok()?;
        Self::of(IndexFile::Read(file), seen.size)
    }

    /// Does the same with a file open for appending.
    pub(crate) fn of_writer(file: &Arc<AppendFile>) -> Option<Self> {
        Self::of(IndexFile::Append(Arc::clone(file)), file.opened_size())
    }

    fn of(file: IndexFile, size: u64) -> Option<Self> {
        let lines = u32::try_from(size / LINE as u64).ok()?.checked_sub(1)?;
        if lines == 0 || !size.is_multiple_of(LINE as u64) {
            return None;
        }
        let mut index = Self { file, summary: Summary::default(), tail: IndexBlock::default() };
        index.tail = index.read(lines.saturating_sub(TAIL), lines)?;
        let IndexLine { id, bytes, purged, first, others, stamp, .. } =
            IndexLine::parse(index.tail.line(lines - 1)?)?;
        index.summary =
            Summary { lines, first, bytes, purged, others, stamp: Some(stamp), last: Some(id) };
        (first < lines).then_some(index)
    }

    /// Opens the index, where the folder tells anything, if it is believed.
    pub(crate) fn believed(trash: &Metadata, open: impl FnOnce() -> Option<Self>) -> Option<Self> {
        let now = stamp(trash)?;
        open().filter(|index| index.summary.stamp == Some(now))
    }

    /// Returns those of the last transactions that were asked for with a patch text, newest first.
    pub(crate) fn asked_for_with(&self, text: &Sha256) -> impl Iterator<Item = TransactionId> {
        let hash = text.hex();
        let (lines, _) = self.tail.bytes.as_chunks::<LINE>();
        let lines = lines.iter().rev().filter(move |line| line[TEXT..TEXT + 64] == hash);
        lines.filter_map(|line| Some(IndexLine::parse(line)?.id))
    }

    /// Reads lines; `None` if they cannot be read.
    pub(crate) fn read(&self, start: u32, end: u32) -> Option<IndexBlock> {
        let mut bytes = vec![0; usize::try_from(end.checked_sub(start)?).ok()? * LINE];
        let at = (u64::from(start) + 1) * LINE as u64;
        let mut read = 0;
        while read < bytes.len() {
            match self.file.read_at(&mut bytes[read..], at + read as u64).ok()? {
                0 => return None,
                more => read += more,
            }
        }
        Some(IndexBlock { start, bytes })
    }

    /// Returns the transactions newer than this one, and `more` before them, the oldest first;
    /// `None` for an unreadable line.
    fn after(self, id: TransactionId, more: u32) -> Option<OldestFirst> {
        let Summary { first, lines, .. } = self.summary;
        let mut start = first;
        let mut end = lines;
        while start < end {
            let middle = start + (end - start) / 2;
            let block = self.read(middle, middle + 1)?;
            if IndexLine::parse(block.line(middle)?)?.id <= id {
                start = middle + 1
            } else {
                end = middle
            }
        }
        Some(OldestFirst { index: self, next: start.saturating_sub(more).max(first) })
    }

    /// Returns the unpurged lines, from the last one on.
    fn backwards(self) -> Backwards {
        Backwards { end: self.summary.lines, index: self }
    }
}

/// The lines of an index, from the last one on, read as they are asked for.
#[derive(Debug)]
struct Backwards {
    index: Index,
    /// The number of the line after the next one.
    end: u32,
}

impl Iterator for Backwards {
    /// `None` for an unreadable line.
    type Item = Option<IndexLine>;

    fn next(&mut self) -> Option<Option<IndexLine>> {
        let Index { summary: Summary { first, .. }, tail, .. } = &self.index;
        let number = self.end.checked_sub(1).filter(|number| number >= first)?;
        if tail.line(number).is_none()
            && let Some(block) =
                self.index.read(self.end.saturating_sub(BLOCK).max(*first), self.end)
        {
            self.index.tail = block;
        }
        self.end = number;
        Some(self.index.tail.line(number).and_then(IndexLine::parse))
    }
}

/// Finished transactions, oldest first, read as they are asked for. It ends where a line cannot be
/// read.
#[derive(Debug)]
pub struct OldestFirst {
    index: Index,
    /// The number of the next line.
    next: u32,
}

impl Iterator for OldestFirst {
    type Item = TransactionId;

    fn next(&mut self) -> Option<TransactionId> {
        let Index { summary: Summary { lines, .. }, tail, .. } = &self.index;
        let number = Some(self.next).filter(|number| number < lines)?;
        if tail.line(number).is_none() {
            self.index.tail = self.index.read(number, number.saturating_add(BLOCK).min(*lines))?;
        }
        self.next += 1;
        Some(IndexLine::parse(self.index.tail.line(number)?)?.id)
    }
}

/// The finished transactions, newest first, read as they are asked for.
#[derive(Debug)]
pub struct NewestFirst<'s> {
    store: &'s Store<'s>,
    indexed: Option<Backwards>,
    last: Option<TransactionId>,
    listed: std::vec::IntoIter<TransactionId>,
}

impl<'s> NewestFirst<'s> {
    pub(crate) fn listed(store: &'s Store<'s>, ids: Vec<TransactionId>) -> Self {
        Self { store, indexed: None, last: None, listed: ids.into_iter() }
    }

    pub(crate) fn indexed(store: &'s Store<'s>, index: Index) -> Self {
        let listed = Vec::new().into_iter();
        Self { store, indexed: Some(index.backwards()), last: None, listed }
    }
}

impl Iterator for NewestFirst<'_> {
    type Item = Result<TransactionId, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(lines) = &mut self.indexed else { return self.listed.next().map(Ok) };
        if let Some(line) = lines.next()? {
            self.last = Some(line.id);
            return Some(Ok(line.id));
        }
        // A line is damaged: the folder has the rest.
        self.indexed = None;
        let rest = match self.store.list() {
            Ok(ids) => ids.into_iter().filter(|id| self.last.is_none_or(|last| *id < last)),
            Err(error) => return Some(Err(error)),
        };
        self.listed = rest.collect::<Vec<_>>().into_iter();
        self.listed.next().map(Ok)
    }
}

/// How large the history is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// The number of finished transactions.
    pub transactions: usize,
    /// The bytes of the displaced files.
    pub bytes: u64,
}

impl Store<'_> {
    /// Returns the finished transactions, newest first. Only as much is read as is asked for,
    /// unless the index is not believed.
    pub fn newest_first(&self) -> Result<NewestFirst<'_>, Error> {
        match self.index()? {
            Some(index) => Ok(NewestFirst::indexed(self, index)),
            None => Ok(NewestFirst::listed(self, self.list()?)),
        }
    }

    /// Returns the size of the history, as far as known without reading the journals; damaged
    /// journals count.
    pub fn totals(&self) -> Result<Option<Totals>, Error> {
        Ok(self.index()?.map(|index| Totals {
            transactions: index.summary.count() as usize,
            bytes: index.summary.kept(),
        }))
    }

    /// Returns the transactions that may be part of a turn with this name, newest first: all of the
    /// turn, and few others. `None` if only the journals can tell.
    pub fn of_turn(&self, turn: &str) -> Result<Option<Vec<TransactionId>>, Error> {
        let Some(index) = self.index()? else { return Ok(None) };
        let wanted = Some(mark(turn));
        let mut found = Vec::new();
        for line in index.backwards() {
            let Some(line) = line else { return Ok(None) };
            found.extend((line.turn == wanted).then_some(line.id));
        }
        Ok(Some(found))
    }

    /// Returns the undos after this transaction, newest first. `None` if only the journals can
    /// tell.
    pub fn undos_after(&self, id: TransactionId) -> Result<Option<Vec<TransactionId>>, Error> {
        let Some(index) = self.index()? else { return Ok(None) };
        let mut found = Vec::new();
        for line in index.backwards() {
            match line {
                None => return Ok(None),
                Some(line) if line.id <= id => break,
                Some(line) => found.extend(line.undoes.then_some(line.id)),
            }
        }
        Ok(Some(found))
    }

    /// Returns the transactions after this one, and `more` before them, the oldest first. `None` if
    /// they are not known without listing all.
    pub fn after(&self, id: TransactionId, more: u32) -> Result<Option<OldestFirst>, Error> {
        Ok(self.index()?.and_then(|index| index.after(id, more)))
    }

    /// Returns whether one of the newest `count` transactions is part of a turn; `None` if only
    /// their journals can tell.
    pub fn has_turns(&self, count: usize) -> Result<Option<bool>, Error> {
        let Some(index) = self.index()? else { return Ok(None) };
        for line in index.backwards().take(count) {
            match line {
                None => return Ok(None),
                Some(line) if line.turn.is_some() => return Ok(Some(true)),
                Some(_) => {}
            }
        }
        Ok(Some(false))
    }

    /// Finds the newest finished transaction of a patch text, among the last 256 of all. `None`
    /// without signed journals: anyone could claim that a text was applied.
    pub fn applied(&self, text: &Sha256) -> Result<Option<Journal>, Error> {
        self.applied_in(Index::open(&self.dir).as_ref(), text)
    }

    /// Does the same with the index, believed or not. Without one the journals are read.
    pub(crate) fn applied_in(
        &self,
        index: Option<&Index>,
        text: &Sha256,
    ) -> Result<Option<Journal>, Error> {
        let ids: Vec<_> = match index {
            Some(index) => index.asked_for_with(text).collect(),
            None => self.list()?.into_iter().take(TAIL as usize).collect(),
        };
        for id in ids {
            let read = self.journal_if(id, false).and_then(|read| Ok((read, self.is_aborted(id)?)));
            match self.unless_gone(id, read) {
                Ok(Some(((journal, authentic), false))) if journal.header.text == Some(*text) => {
                    return Ok(authentic.then_some(journal));
                }
                Err(error) if !error.is_distrust() => return Err(error),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Opens the index if it is believed and complete.
    fn index(&self) -> Result<Option<Index>, Error> {
        let Some((_, trash)) = self.dir.open_dir_seen(TRASH)? else { return Ok(None) };
        let index = Index::believed(&trash, || Index::open(&self.dir));
        Ok(index.filter(|index| !index.summary.others))
    }

    /// Lists the transactions in the trash, newest first.
    pub(crate) fn list(&self) -> Result<Vec<TransactionId>, Error> {
        match self.dir.open_dir(TRASH)? {
            Some(trash) => Ok(transactions_of(&trash.names()?)),
            None => Ok(Vec::new()),
        }
    }
}
