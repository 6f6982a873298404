//! The store for readers: finished transactions and the files that they displaced.

use std::cell::RefCell;
use std::time::SystemTime;

use fs_guard::{Dir, Root, Sha256, Spot};

use crate::error::{Error, JournalProblem};
use crate::id::TransactionId;
use crate::journal::{Journal, JournalSignature, Kept, LEFT};
use crate::key::{Keys, OwnKey};
use crate::prefix::Prefix;
use crate::signer::Signer;
use crate::tracked::tracks;

pub(crate) const JOURNAL: &str = "journal";
/// The journal's name once the transaction is being rolled back: a rename needs no space on the
/// disk.
pub(crate) const ABORTED: &str = "journal.aborted";
/// A file that makes a transaction with an unverified journal count.
pub(crate) const DONE: &str = "done";
pub(crate) const TRASH: &str = "trash";
pub(crate) const PENDING: &str = "pending";
/// The file that says that the directories below were searched for states.
pub(crate) const SEARCHED: &str = "searched";
/// The file, in the folder of a transaction taken over, with the path of the directory that its
/// paths are relative to.
pub(crate) const FROM: &str = "from";
/// The same file while the folder is on its way from one state to another. It counts if both are
/// there.
pub(crate) const NEXT: &str = "from.next";
/// More than the longest path.
pub(crate) const MAX_FROM: u64 = 8192;
const JOURNAL_LIMIT: u64 = 256 << 20;
const INDEX_LIMIT: u64 = 1 << 30;

/// The state directory of a project, seen from one of its directories, which all paths are relative
/// to.
#[derive(Debug)]
pub struct Store<'r> {
    pub(crate) root: &'r Root,
    pub(crate) dir: Dir,
    pub(crate) prefix: Prefix,
    key: OwnKey,
    keys: RefCell<Keys>,
}

/// A journal as found.
pub(crate) struct FoundJournal {
    pub(crate) journal: Journal,
    /// Whether the transaction is being, or was, rolled back.
    pub(crate) aborted: bool,
    /// Whether an available key proves that this user's program wrote the journal.
    pub(crate) authentic: bool,
}

/// A displaced file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrashEntry {
    /// The transaction that displaced the file.
    pub id: TransactionId,
    /// Its number in the transaction.
    pub slot: u32,
    /// Its former path.
    pub path: String,
    /// When the file was displaced.
    pub time: SystemTime,
    /// Whether its path was removed. Otherwise a new version replaced the file.
    pub deleted: bool,
    /// Whether the file is a symbolic link.
    pub link: bool,
    /// Its length in bytes.
    pub size: u64,
    /// Its permission bits.
    pub mode: u32,
    /// The hash of its bytes.
    pub sha256: Sha256,
    stored: String,
}

impl TrashEntry {
    /// Returns the path of the kept file.
    #[must_use]
    pub fn stored_path(&self) -> &str {
        &self.stored
    }
}

/// Returns the place of a file in the folder of a transaction.
#[must_use]
pub fn slot_in(folder: &Dir, number: u32) -> Spot {
    folder.spot(&number.to_string())
}

/// Returns the path of a displaced file, relative to a directory of the project with this top.
#[must_use]
pub fn stored_path(home: &Root, prefix: &Prefix, id: TransactionId, slot: u32) -> String {
    let path = format!("{}/{TRASH}/{id}/{slot}", home.state_path());
    if path.starts_with('/') { path } else { prefix.relative(&path) }
}

/// Parses what [`stored_path`] returns, for any root.
#[must_use]
pub fn parse_stored_path(path: &str) -> Option<(TransactionId, u32)> {
    let (rest, slot) = path.rsplit_once('/')?;
    let (rest, id) = rest.rsplit_once('/')?;
    let (_, trash) = rest.rsplit_once('/')?;
    Some((id.parse().ok()?, slot.parse().ok()?)).filter(|_| trash == TRASH)
}

impl<'r> Store<'r> {
    /// Opens the store for reading; `None` if the workspace has none.
    pub fn open(root: &'r Root, key: impl Into<OwnKey>) -> Result<Option<Self>, Error> {
        Ok(root.state_dir()?.map(|dir| Self::new(root, dir, key.into())))
    }

    pub(crate) fn new(root: &'r Root, dir: Dir, key: OwnKey) -> Self {
        let keys = RefCell::new(Keys::new(key.place().clone()));
        Self { root, dir, prefix: Prefix::default(), key, keys }
    }

    /// Shows paths relative to a directory of the project.
    #[must_use]
    pub fn seen_from(self, prefix: Prefix) -> Self {
        Self { prefix, ..self }
    }

    /// Returns the directory that paths are relative to.
    #[must_use]
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Returns the path of a displaced file.
    #[must_use]
    pub fn stored_path(&self, id: TransactionId, slot: u32) -> String {
        stored_path(self.root, &self.prefix, id, slot)
    }

    /// Returns the state directory.
    #[must_use]
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Returns all finished transactions, newest first.
    pub fn transactions(&self) -> Result<Vec<TransactionId>, Error> {
        self.newest_first()?.collect()
    }

    /// Returns whether there are unfinished transactions: running or interrupted ones.
    pub fn has_unfinished(&self) -> Result<bool, Error> {
        match self.dir().open_dir(PENDING)? {
            Some(pending) => Ok(!pending.names()?.is_empty()),
            None => Ok(false),
        }
    }

    /// Returns whether this transaction is unfinished: running or interrupted.
    pub fn is_unfinished(&self, id: TransactionId) -> Result<bool, Error> {
        match self.dir().open_dir(PENDING)? {
            Some(pending) => Ok(pending.spot(&id.to_string()).metadata()?.is_some()),
            None => Ok(false),
        }
    }

    /// Reads a finished transaction's journal.
    pub fn journal(&self, id: TransactionId) -> Result<Journal, Error> {
        Ok(self.journal_if(id, false)?.0)
    }

    /// Reads a finished transaction's journal. Also returns whether an available key proves that
    /// this user's program wrote the journal.
    ///
    /// With `trust`, a journal with an unknown key's signature, or without any, is accepted, if git
    /// does not track it. Such a journal is no more than a claim: each of its paths has to pass the
    /// guard.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read or is not trusted.
    pub fn journal_if(&self, id: TransactionId, trust: bool) -> Result<(Journal, bool), Error> {
        self.journal_in(&self.folder(id)?, id, trust)
    }

    /// Does the same with the transaction's folder.
    pub(crate) fn journal_in(
        &self,
        folder: &Dir,
        id: TransactionId,
        trust: bool,
    ) -> Result<(Journal, bool), Error> {
        let found = self
            .read_journal(folder, &taken_from(folder)?, id, trust)?
            .map(|found| (found.journal, found.authentic));
        found.ok_or_else(|| Error::Journal {
            id,
            path: folder.path().into(),
            problem: JournalProblem::Missing,
        })
    }

    /// Returns the place of a displaced file.
    pub fn slot(&self, id: TransactionId, slot: u32) -> Result<Spot, Error> {
        Ok(slot_in(&self.folder(id)?, slot))
    }

    /// Returns what tells the files that a finished transaction left, [packed](crate::packed);
    /// `None` if nothing does, or the bytes are more than `most`, or not those that were written.
    #[must_use]
    pub fn left_by(&self, journal: &Journal, most: u64) -> Option<Vec<u8>> {
        match &journal.left {
            Kept::None => None,
            Kept::Here(bytes) => Some(bytes.clone()),
            Kept::InFile(size, sha256) => {
                let folder = self.folder(journal.header.id).ok()?;
                let size = Some(*size).filter(|size| *size <= most)?;
                let (bytes, _) = folder.spot(LEFT).read(size).ok()?;
                Some(bytes).filter(|bytes| Sha256::of(bytes) == *sha256)
            }
        }
    }

    /// Lists the displaced files, newest first.
    ///
    /// Also returns the transactions whose journals are not trusted.
    pub fn entries(&self) -> Result<(Vec<TrashEntry>, Vec<Error>), Error> {
        let mut entries = Vec::new();
        let mut refused = Vec::new();
        for id in self.newest_first()? {
            let id = id?;
            match self.unless_gone(id, self.entries_in(id)) {
                Ok(found) => entries.extend(found.into_iter().flatten()),
                Err(error @ Error::Journal { .. }) => refused.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok((entries, refused))
    }

    /// Lists the files displaced by one transaction.
    ///
    /// # Errors
    ///
    /// If its journal cannot be read or is not trusted.
    pub fn entries_in(&self, id: TransactionId) -> Result<Vec<TrashEntry>, Error> {
        let journal = self.journal(id)?;
        let aborted = self.is_aborted(id)?;
        let mut entries = Vec::new();
        for entry in self.entries_of(&journal) {
            // After a roll-back most slots are empty or hold the new file.
            if !aborted || self.slot(id, entry.slot)?.hash()? == Some(entry.sha256) {
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    /// Passes on the result of reading a finished transaction. Returns `None` if reading failed
    /// because the transaction is gone: readers take no lock, so a purge may remove what they have
    /// just listed.
    ///
    /// # Errors
    ///
    /// Those of `read`, if the transaction still exists.
    pub fn unless_gone<T>(
        &self,
        id: TransactionId,
        read: Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) => match self.folder(id) {
                Err(Error::NoSuchTransaction(_)) => Ok(None),
                _ => Err(error),
            },
        }
    }

    fn folder(&self, id: TransactionId) -> Result<Dir, Error> {
        let folder = match self.dir.open_dir(TRASH)? {
            Some(trash) => trash.open_dir(&id.to_string())?,
            None => None,
        };
        folder.ok_or(Error::NoSuchTransaction(id))
    }

    pub(crate) fn signer(&self) -> Result<Option<&Signer>, Error> {
        let signer = self.key.signer()?;
        signer.iter().for_each(|&signer| self.keys.borrow_mut().set_own(signer));
        Ok(signer)
    }

    /// Returns whether a transaction in the trash was rolled back, as far as possible. Files that
    /// could not be restored are kept in its folder.
    pub fn is_aborted(&self, id: TransactionId) -> Result<bool, Error> {
        Ok(self.folder(id)?.spot(ABORTED).metadata()?.is_some())
    }

    /// Reads the journal in a transaction's folder; `None` if there is none.
    pub(crate) fn read_journal(
        &self,
        folder: &Dir,
        from: &Prefix,
        id: TransactionId,
        trust: bool,
    ) -> Result<Option<FoundJournal>, Error> {
        let refuse = |problem| Error::Journal { id, path: folder.path().into(), problem };
        let (bytes, aborted) = match read_own(folder, JOURNAL)? {
            Some(bytes) => (bytes, false),
            None => match read_own(folder, ABORTED)? {
                Some(bytes) => (bytes, true),
                None => return Ok(None),
            },
        };
        let (journal, signature) = Journal::read(&bytes).map_err(refuse)?;
        let authentic = match self.check(signature.as_ref())? {
            Ok(authentic) => authentic,
            Err(problem) if trust && problem.can_be_trusted() => false,
            Err(problem) => return Err(refuse(problem)),
        };
        if journal.header.id != id {
            return Err(refuse(JournalProblem::Misplaced));
        }
        if !authentic && self.is_tracked() {
            return Err(refuse(JournalProblem::Tracked));
        }
        let journal = if from.is_empty() { journal } else { from.joined(&journal) };
        Ok(Some(FoundJournal { journal: self.prefix.relative_to(journal), aborted, authentic }))
    }

    /// Returns whether an available key proves that this user's program signed a journal. Without a
    /// place for a key, nobody can tell, and the journal is not refused.
    fn check(
        &self,
        signature: Option<&JournalSignature<'_>>,
    ) -> Result<Result<bool, JournalProblem>, Error> {
        let mut keys = self.keys.borrow_mut();
        if let Some(signature) = signature
            && let Some(signer) = keys.find(|signer| signer.fingerprint() == signature.key)?
        {
            return Ok(signature.check(signer).map(|()| true));
        }
        Ok(match signature {
            _ if !keys.tell()? => Ok(false),
            Some(signature) => Err(JournalProblem::OtherKey(signature.key)),
            None => Err(JournalProblem::NotSigned),
        })
    }

    fn entries_of(&self, journal: &Journal) -> impl Iterator<Item = TrashEntry> {
        let id = journal.header.id;
        journal.records.iter().filter_map(move |record| {
            let before = record.before.as_ref()?;
            Some(TrashEntry {
                id,
                slot: record.slot,
                path: record.path.clone(),
                time: id.time(),
                deleted: record.after.is_none(),
                link: before.link,
                size: before.size,
                mode: before.mode,
                sha256: before.sha256,
                stored: self.stored_path(id, record.slot),
            })
        })
    }

    fn is_tracked(&self) -> bool {
        let indexes = self.root.git_indexes(INDEX_LIMIT);
        indexes.iter().any(|index| tracks(index, &format!("{}/", self.root.policy().private_dir)))
    }
}

/// Returns the directory that the paths of a transaction are relative to, seen from the one that
/// has the state.
fn taken_from(folder: &Dir) -> Result<Prefix, Error> {
    for name in [NEXT, FROM] {
        match folder.spot(name).read(MAX_FROM) {
            Ok((bytes, _)) => return Ok(Prefix::new(&String::from_utf8_lossy(&bytes))),
            Err(fs_guard::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Prefix::default())
}

/// Returns the transactions among the names in the trash, newest first.
pub(crate) fn transactions_of(names: &[String]) -> Vec<TransactionId> {
    let mut ids: Vec<TransactionId> = names.iter().filter_map(|name| name.parse().ok()).collect();
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids
}

/// Reads a file of the program's own; `None` if there is none.
fn read_own(folder: &Dir, name: &str) -> Result<Option<Vec<u8>>, Error> {
    match folder.spot(name).read(JOURNAL_LIMIT) {
        Ok((bytes, _)) => Ok(Some(bytes)),
        Err(fs_guard::Error::NotFound { .. }) => Ok(None),
        Err(fs_guard::Error::NotAFile { path, .. }) => {
            Err(fs_guard::Error::UntrustedState { path, problem: "it is not a file" }.into())
        }
        Err(error) => Err(error.into()),
    }
}
