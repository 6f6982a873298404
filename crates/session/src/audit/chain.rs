//! Appending to the files of a log.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use fs_guard::{AppendFile, Dir, Error, SECTOR, SectorFile, Sha256, Spot};
use workspace_trash::{Keys, Signer, TransactionId};

use super::event::{Event, Tip, Torn, check, end};

const HEAD_KIND: &str = "audit head 3";

/// The largest log file that is read.
pub(super) const READ_LIMIT: u64 = 1 << 30;

/// The folder of the logs in the state directory.
pub(crate) const FOLDER: &str = "audit";

/// Lines are written out when they have this many bytes together, so that a batch of any size takes
/// little memory.
const BYTES_AT_ONCE: usize = 256 << 10;

/// How long a log is: the content of its `.head`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) tip: Tip,
    /// The length of the newest file.
    length: u64,
    /// The inode number of that file; 0 if it has none.
    inode: u64,
    /// How many older files there are.
    older: u32,
    /// The intents that have no outcome yet.
    open: BTreeSet<TransactionId>,
}

impl Head {
    const START: Self =
        Self { tip: Tip::START, length: 0, inode: 0, older: 0, open: BTreeSet::new() };
}

/// Who syncs the appended lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The caller, with the rest of its commit. The head is written with the next lines.
    Open,
    /// The same, and the log stays locked until then, or until it is closed.
    Locked,
    /// This call, including the head.
    Closed,
}

/// Where a call of this process ended, for its next lines.
#[derive(Debug)]
pub(crate) struct Written {
    pub(super) file: AppendFile,
    head: Head,
    pub(super) dir: Dir,
    is_locked: bool,
    /// The head's file, if it was opened.
    head_file: Option<SectorFile>,
}

impl Written {
    /// Lets others write to the log.
    pub(super) fn unlock(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.is_locked) { self.file.unlock() } else { Ok(()) }
    }
}

/// The content of a head file.
#[derive(Debug)]
pub(super) enum FoundHead {
    Missing,
    Fine(Head),
    Damaged,
}

/// Where a log that is continued ends.
struct LogEnd {
    head: Head,
    /// The fault of the head, if any.
    lost: Option<&'static str>,
    /// The part that was cut off at the end of the log.
    torn: Option<Torn>,
}

/// A log that is locked for writing: its newest file is.
#[derive(Debug)]
pub(super) struct Chain<'c> {
    dir: Dir,
    file: AppendFile,
    /// The length of the file, in bytes.
    length: u64,
    /// Where an earlier call of this process ended in this file.
    since: Option<Head>,
    /// The head's file, if it was opened.
    head_file: Option<SectorFile>,
    session: &'c str,
    signer: Option<&'c Signer>,
    /// Whether earlier lines may have been signed with another key of this user.
    keys: RefCell<Keys>,
    durable: bool,
    lock_timeout: Duration,
}

/// The newest file of a session.
pub(super) fn newest(dir: &Dir, session: &str) -> Spot {
    dir.spot(&format!("{session}.jsonl"))
}

/// An older file of a session; number 1 is the oldest.
pub(super) fn older(dir: &Dir, session: &str, number: u32) -> Spot {
    dir.spot(&format!("{session}.{number}.jsonl"))
}

/// Returns whether the newest file of a session is also the one with this number. Where files
/// cannot be renamed without replacing in one step, a process was interrupted between the two steps
/// while it continued the log in another file.
pub(super) fn is_continued_as(dir: &Dir, session: &str, number: u32) -> bool {
    newest(dir, session).is_also(&older(dir, session, number))
}

/// Removes the name of the newest file from one that also has the name of an older file.
fn end_continuing(dir: &Dir, session: &str) -> Result<bool, Error> {
    let mut last = 0;
    while older(dir, session, last + 1).metadata()?.is_some() {
        last += 1;
    }
    let is_continued = is_continued_as(dir, session, last);
    if is_continued {
        newest(dir, session).remove()?;
    }
    Ok(is_continued)
}

fn head_spot(dir: &Dir, session: &str) -> Spot {
    dir.spot(&format!("{session}.head"))
}

/// Reads how long a log is. If the log is not locked, the head may be written meanwhile: it is
/// damaged if it reads the same twice.
pub(super) fn read_head(dir: &Dir, session: &str, keys: &mut Keys) -> Result<FoundHead, Error> {
    let mut before = None;
    loop {
        let bytes = match head_spot(dir, session).read(4096) {
            Ok((bytes, _)) => bytes,
            Err(Error::NotFound { .. }) => return Ok(FoundHead::Missing),
            Err(error) => return Err(error),
        };
        if let Some(head) = parse_head(&bytes, session, keys)? {
            return Ok(FoundHead::Fine(head));
        }
        let bytes = Some(bytes);
        if bytes == before {
            return Ok(FoundHead::Damaged);
        }
        before = bytes;
    }
}

fn head_text(head: &Head, session: &str) -> String {
    let Head { tip, length, inode, older, open } = head;
    let open: String = open.iter().map(|id| format!(" {id}")).collect();
    format!(
        "session {session}\nseq {}\nhash {}\nlength {length}\ninode {inode}\nolder {older}\n\
         open{open}\n",
        tip.seq, tip.hash
    )
}

fn parse_head(bytes: &[u8], session: &str, keys: &mut Keys) -> Result<Option<Head>, Error> {
    let Some((head, body, mac)) = head_in(bytes, session) else { return Ok(None) };
    let accepted = keys.accept(HEAD_KIND, body.as_bytes(), Some(mac.as_bytes()))?;
    Ok(accepted.then_some(head))
}

/// Returns the head in a file, the text that is signed, and its signature.
fn head_in<'h>(bytes: &'h [u8], session: &str) -> Option<(Head, &'h str, &'h str)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (body, mac) = text.strip_suffix('\n')?.rsplit_once("\nmac ")?;
    let mac = mac.trim_end_matches(' ');
    let body = &text[..=body.len()];
    let mut lines = body.lines();
    lines.next()?;
    let mut value = |key: &str| lines.next()?.strip_prefix(key)?.strip_prefix(' ');
    let seq = value("seq")?.parse().ok()?;
    let hash: Sha256 = value("hash")?.parse().ok()?;
    let length = value("length")?.parse().ok()?;
    let inode = value("inode")?.parse().ok()?;
    let older = value("older")?.parse().ok()?;
    let open = lines.next()?.strip_prefix("open")?.split_whitespace();
    let open = open.map(|id| id.parse().ok()).collect::<Option<_>>()?;
    let head = Head { tip: Tip { seq, hash }, length, inode, older, open };
    // Only the exact spelling counts: other spellings of the same digits were not written by this
    // program.
    (body == head_text(&head, session)).then_some((head, body, mac))
}

impl<'c> Chain<'c> {
    /// Locks the log of a session in the state directory, waiting at most `timeout`.
    pub(super) fn lock(
        state: &Dir,
        session: &'c str,
        (signer, keys): (Option<&'c Signer>, RefCell<Keys>),
        durable: bool,
        timeout: Duration,
    ) -> Result<Self, Error> {
        let dir = state.open_or_create_dir(FOLDER)?;
        let file = loop {
            let file = newest(&dir, session).append_locked(timeout)?;
            match file.require_own() {
                Ok(()) => break file,
                Err(error) if !end_continuing(&dir, session)? => return Err(error),
                Err(_) => {}
            }
        };
        if file.opened_size() == 0 {
            // The head is written before any line: lines without one did not come from this
            // program.
            let first = older(&dir, session, 1).metadata()?.is_none();
            if first
                && matches!(read_head(&dir, session, &mut keys.borrow_mut())?, FoundHead::Missing)
            {
                if durable {
                    dir.sync()?;
                }
                let text = head_file_text(&Head::START, session, signer);
                head_spot(&dir, session).write(text.as_bytes(), durable)?;
            }
            if durable {
                // The file is synced with its lines; its name is synced once, here.
                dir.sync()?;
                state.sync()?;
            }
        }
        let length = file.opened_size();
        Ok(Self {
            dir,
            file,
            length,
            since: None,
            head_file: None,
            session,
            signer,
            keys,
            durable,
            lock_timeout: timeout,
        })
    }

    /// Locks the log again that an earlier call of this process wrote to.
    pub(super) fn lock_again(
        written: Written,
        session: &'c str,
        (signer, keys): (Option<&'c Signer>, RefCell<Keys>),
        durable: bool,
        timeout: Duration,
    ) -> Result<Self, Error> {
        let Written { file, head, dir, is_locked, mut head_file } = written;
        let (file, length, since) = if is_locked {
            (file, head.length, Some(head))
        } else {
            let (file, is_same) = file.lock_again(&newest(&dir, session), timeout)?;
            file.require_own()?;
            let length = file.opened_size();
            // Otherwise it was continued in another file, which that call did not know.
            head_file = head_file.filter(|_| is_same);
            (file, length, is_same.then_some(head))
        };
        Ok(Self {
            dir,
            file,
            length,
            since,
            head_file,
            session,
            signer,
            keys,
            durable,
            lock_timeout: timeout,
        })
    }

    /// Appends the lines that `write` writes.
    pub(super) fn append(
        mut self,
        max_size: u64,
        end: End,
        write: impl FnOnce(&mut LogWriter<'_>) -> Result<(), Error>,
    ) -> Result<Written, Error> {
        let mut lost = None;
        let LogEnd { head, torn, .. } = loop {
            let found = self.tip()?;
            lost = lost.or(found.lost);
            if found.head.length < max_size.max(1) || found.torn.is_some() {
                break found;
            }
            self.go_on_in_another_file(found.head)?;
        };
        let open = head.open.clone();
        let (text, tip, signer) = (Vec::new(), head.tip, self.signer);
        let mut lines = LogWriter {
            file: &self.file,
            length: self.length,
            text,
            tip,
            lost,
            torn,
            open,
            signer,
        };
        write(&mut lines)?;
        if lines.tip == head.tip {
            return self.written(head, end);
        }
        lines.flush()?;
        let LogWriter { tip, open, length, .. } = lines;
        let head = Head { tip, length, inode: self.file.inode(), open, ..head };
        // The next lines write the head. If this process is killed before, the next process finds
        // the end from the lines. (If a head reached the disk before its lines, lines would seem to
        // be missing.)
        if end == End::Closed {
            if self.durable {
                self.file.sync()?;
            }
            self.write_head(&head)?;
        }
        self.written(head, end)
    }

    fn written(self, head: Head, end: End) -> Result<Written, Error> {
        let Self { file, dir, head_file, .. } = self;
        let mut written = Written { file, head, dir, is_locked: true, head_file };
        if end != End::Locked {
            written.unlock()?;
        }
        Ok(written)
    }

    /// Makes the newest file an older one, and locks a new one. Others may be faster there: then
    /// the log ends elsewhere.
    fn go_on_in_another_file(&mut self, mut head: Head) -> Result<(), Error> {
        if self.durable {
            self.file.sync()?;
        }
        head.older += 1;
        let newest = newest(&self.dir, self.session);
        newest.rename_new(&older(&self.dir, self.session, head.older))?;
        self.file = newest.append_locked(self.lock_timeout)?;
        self.file.require_own()?;
        self.length = self.file.opened_size();
        if self.durable {
            self.dir.sync()?;
        }
        self.since = Some(Head { length: 0, ..head });
        Ok(())
    }

    /// Returns where the log ends, and what was cut off there.
    fn tip(&mut self) -> Result<LogEnd, Error> {
        let length = self.length;
        if let Some(head) = self.since.take().filter(|since| since.length == length) {
            return Ok(LogEnd { head, lost: None, torn: None });
        }
        self.head_file = None;
        let (mut head, lost) = match self.read_head()? {
            FoundHead::Fine(head) => (head, None),
            FoundHead::Missing => (Head::START, Some("missing")),
            FoundHead::Damaged => (Head::START, Some("changed")),
        };
        let next = |head: &Head| older(&self.dir, self.session, head.older + 1);
        // A file that goes on after the one that the head is about has another inode.
        let is_its_file = head.inode != 0 && head.inode == self.file.inode();
        if head.length == length && (is_its_file || next(&head).metadata()?.is_none()) {
            // A lost head counts as that of an empty log. Nothing is written yet, so nothing is
            // lost.
            return Ok(LogEnd { head, lost: None, torn: None });
        }
        // A process was interrupted within a line or between a line and its head; or someone
        // changed the files. The log may have been continued since, in other files.
        loop {
            let continued = next(&head).metadata()?.is_some();
            let spot = if continued { next(&head) } else { newest(&self.dir, self.session) };
            let (bytes, _) = spot.read(READ_LIMIT)?;
            let known = usize::try_from(head.length).unwrap_or(usize::MAX).min(bytes.len());
            let mut rest = &bytes[known..];
            while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
                // A line that does not follow is left for `verify` to report.
                if check(&rest[..end], &mut head.tip, &mut self.keys.borrow_mut())?.is_ok()
                    && let Ok(event) = serde_json::from_slice::<Event>(&rest[..end])
                {
                    head.open.extend(event.intends());
                    event.answers().map(|id| head.open.remove(&id));
                }
                rest = &rest[end + 1..];
            }
            if continued {
                head = Head { length: 0, older: head.older + 1, ..head };
                continue;
            }
            let last = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let torn = &bytes[last..];
            let torn = (!torn.is_empty())
                .then(|| Torn { bytes: torn.len() as u64, sha256: Sha256::of(torn).to_string() });
            head.length = length;
            return Ok(LogEnd { head, lost, torn });
        }
    }

    /// Reads the head, and keeps its file open to overwrite it.
    fn read_head(&mut self) -> Result<FoundHead, Error> {
        let keys = self.keys.get_mut();
        if let Some(file) = head_spot(&self.dir, self.session).sector_file()
            && let Ok(bytes) = file.read()
            && let Some(head) = parse_head(&bytes, self.session, keys)?
        {
            self.head_file = Some(file);
            return Ok(FoundHead::Fine(head));
        }
        read_head(&self.dir, self.session, keys)
    }

    fn write_head(&mut self, head: &Head) -> Result<(), Error> {
        let text = head_file_text(head, self.session, self.signer);
        let spot = head_spot(&self.dir, self.session);
        let file = self.head_file.take().or_else(|| spot.sector_file());
        match (text.as_bytes().try_into(), file) {
            (Ok(sector), Some(file)) => {
                file.overwrite(sector, self.durable)?;
                self.head_file = Some(file);
                Ok(())
            }
            _ => spot.write(text.as_bytes(), self.durable),
        }
    }

    /// Replaces the log by the rest of its lines, behind a line that tells of the purge: `line`, an
    /// object without its closing brace. The last line, at `tip`, stays where it is in the chain.
    pub(super) fn begin_anew(
        mut self,
        line: &[u8],
        rest: &[u8],
        tip: Tip,
        open: BTreeSet<TransactionId>,
    ) -> Result<(), Error> {
        let mut text = line.to_vec();
        end(&mut text, 0, &mut Tip::START.clone(), self.signer);
        text.extend_from_slice(rest);
        if let Some(file) = self.replace(&text)? {
            let (length, inode) = (text.len() as u64, file.inode());
            self.write_head(&Head { tip, length, inode, older: 0, open })?;
        }
        Ok(())
    }

    /// Removes the log.
    pub(super) fn remove(mut self) -> Result<(), Error> {
        // Others may wait for its lock: who gets that finds an empty log, or none.
        if self.replace(b"")?.is_some() {
            head_spot(&self.dir, self.session).remove()?;
            newest(&self.dir, self.session).remove()?;
        }
        Ok(())
    }

    /// Replaces the files of the log by one. Returns it, locked; `None` if others have written to it
    /// meanwhile.
    ///
    /// Lines behind the end that the head tells are good, so the head is that of an empty log first:
    /// whatever interrupts this leaves a log that verifies.
    fn replace(&mut self, text: &[u8]) -> Result<Option<AppendFile>, Error> {
        self.write_head(&Head::START)?;
        let newest = newest(&self.dir, self.session);
        newest.write(text, self.durable)?;
        let mut last = 0;
        while older(&self.dir, self.session, last + 1).metadata()?.is_some() {
            last += 1;
        }
        // The newest first: those that are left then are still the first ones.
        for number in (1..=last).rev() {
            older(&self.dir, self.session, number).remove()?;
        }
        if self.durable {
            self.dir.sync()?;
        }
        let file = newest.append_locked(self.lock_timeout)?;
        Ok(Some(file).filter(|file| file.opened_size() == text.len() as u64))
    }
}

/// Returns the content of a head file; that of most has the same size, and is overwritten.
fn head_file_text(head: &Head, session: &str, signer: Option<&Signer>) -> String {
    let mut text = head_text(head, session);
    match signer {
        Some(signer) => text += &format!("mac {}", signer.sign(HEAD_KIND, text.as_bytes())),
        None => text += "mac -",
    }
    format!("{text:<width$}\n", width = SECTOR - 1)
}

/// Writes lines to the end of a log.
#[derive(Debug)]
pub(super) struct LogWriter<'c> {
    file: &'c AppendFile,
    /// The length of the file, in bytes.
    length: u64,
    text: Vec<u8>,
    tip: Tip,
    /// The fault of the head before the first line, which records it.
    lost: Option<&'static str>,
    /// The part that was cut off before the first line, which records it.
    torn: Option<Torn>,
    /// The intents that have no outcome yet.
    open: BTreeSet<TransactionId>,
    signer: Option<&'c Signer>,
}

impl LogWriter<'_> {
    /// Returns the intents that have no outcome yet.
    pub(super) fn open(&self) -> Vec<TransactionId> {
        self.open.iter().copied().collect()
    }

    /// Notes that these lines have the intent of a commit.
    pub(super) fn intends(&mut self, id: TransactionId) {
        self.open.insert(id);
    }

    /// Notes that these lines have the outcome of a commit.
    pub(super) fn answers(&mut self, id: TransactionId) {
        self.open.remove(&id);
    }

    /// Adds a line. What is to be said of the end of the log is added to the line, too.
    pub(super) fn push(&mut self, event: &mut Event) -> Result<(), Error> {
        event.head = self.lost.take().map(str::to_owned);
        event.torn = self.torn.take();
        if event.torn.is_some() {
            // Ends the line that was cut off.
            self.text.push(b'\n');
        }
        let from = self.text.len();
        serde_json::to_writer(&mut self.text, event).expect("BUG: the keys of an event are text");
        self.text.pop();
        end(&mut self.text, from, &mut self.tip, self.signer);
        if self.text.len() >= BYTES_AT_ONCE {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.file.append(&self.text)?;
        self.length += self.text.len() as u64;
        self.text.clear();
        Ok(())
    }
}
