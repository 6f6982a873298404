//! Plans that bring back what transactions displaced.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use fs_guard::{Access, FileKind, RelPath, Root, Sha256};
use workspace_trash::{FileState, Journal, Prefix, Record, Store, TransactionId, TrashEntry};

use super::error::{Drift, Error};
use super::history::{self, LogEntry};
use super::workspace::Workspace;
use crate::carry::{Carried, Conflict, carry, difference};
use crate::lines::is_binary;
use crate::options::{MAX_FILE_SIZE, Options};
use crate::plan::builder::PlanBuilder;
use crate::plan::disk::{Disk, look};
use crate::plan::{Image, Mode, Plan, PlanNote, PostImage};
use crate::reject::{Problem, Reject, Rejects};

/// How a transaction is undone.
#[derive(Clone, Copy)]
pub struct UndoOptions<'u> {
    /// What it did to a file that has changed since is [carried](crate::carry) to the file as it is now. The base is what the
    /// transaction left, and what is wanted there is what it displaced.
    pub carry: bool,
    /// A person knows whose record this is: the journal may be signed with a key that is not here, or with none. It names no path
    /// that the policy refuses all the same, and none that the guard does.
    pub trust: bool,
    /// Finds bytes that a transaction left and that no later one displaced; they are checked against their hash.
    pub left: &'u dyn Fn(&Left<'_>) -> Option<Vec<u8>>,
}

impl Default for UndoOptions<'_> {
    fn default() -> Self {
        Self { carry: false, trust: false, left: &|_| None }
    }
}

impl std::fmt::Debug for UndoOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UndoOptions").field("carry", &self.carry).field("trust", &self.trust).finish_non_exhaustive()
    }
}

/// What a transaction left at a path.
#[derive(Debug, Clone, Copy)]
pub struct Left<'l> {
    /// The transaction.
    pub id: TransactionId,
    /// The path.
    pub path: &'l str,
    /// What it displaced there.
    pub before: &'l [u8],
    /// The hash of what it left.
    pub sha256: Sha256,
}

impl Workspace {
    /// Plans to undo a transaction, or what it did to `paths` (none: all of it).
    ///
    /// Fails with every path that is not what the transaction left.
    pub fn plan_undo(&self, id: TransactionId, paths: &[RelPath]) -> Result<Plan, Error> {
        self.plan_undo_with(Some(id), paths, &UndoOptions::default())
    }

    /// Plans to undo the newest transaction that is neither undone nor itself an undo.
    pub fn plan_undo_last(&self) -> Result<Plan, Error> {
        self.plan_undo_with(None, &[], &UndoOptions::default())
    }

    /// Plans to undo a transaction, or the newest one that is neither undone nor itself an undo, or what it did to `paths`
    /// (none: all of it).
    ///
    /// # Errors
    ///
    /// Every path that is not what the transaction left; or every one that cannot be carried, and every conflict.
    pub fn plan_undo_with(
        &self,
        id: Option<TransactionId>,
        paths: &[RelPath],
        options: &UndoOptions<'_>,
    ) -> Result<Plan, Error> {
        let missing = || id.map_or(Error::NothingTo("undo"), |id| workspace_trash::Error::NoSuchTransaction(id).into());
        let store = self.store()?.ok_or_else(missing)?;
        let (id, log) = match id {
            // What else is there is no reason to refuse one that is named.
            Some(id) => (id, history::log(&store).unwrap_or_default().0),
            None => {
                let log = history::log(&store)?;
                (history::last_active(&log, false)?.ok_or(Error::NothingTo("undo"))?, log.0)
            }
        };
        plan_undo(self, (&store, &log), id, paths, options)
    }

    /// Plans to undo an undo: `id` is the undoing transaction, or the one it undid; `None` is the
    /// newest one.
    pub fn plan_redo(&self, id: Option<TransactionId>) -> Result<Plan, Error> {
        let store = self.store()?.ok_or(Error::NothingTo("redo"))?;
        let log = history::log(&store)?;
        let undo = match id {
            None => history::last_active(&log, true)?,
            Some(id) => history::active_undo_of(&log.0, id)?,
        };
        plan_undo(self, (&store, &log.0), undo.ok_or(Error::NothingTo("redo"))?, &[], &UndoOptions::default())
    }

    /// Plans to bring displaced files of one transaction back: each by its number, to its place or to the path
    /// beside it.
    ///
    /// # Errors
    ///
    /// When a file is there, with the transaction that left it so; when the transaction, or the file, is not kept.
    pub fn plan_restore(&self, id: TransactionId, files: &[(u32, Option<RelPath>)]) -> Result<Plan, Error> {
        let store = self.store()?.ok_or(workspace_trash::Error::NoSuchTransaction(id))?;
        let journal = store.journal(id)?;
        let options = Options { create_parents: true, ..Options::default() };
        let mut builder = PlanBuilder::new(self.root(), &options);
        for (slot, target) in files {
            let slot = *slot;
            let missing = || workspace_trash::Error::NoSuchSlot { id, slot };
            let record = journal.records.iter().find(|record| record.slot == slot).ok_or_else(missing)?;
            let before = record.before.as_ref().ok_or_else(missing)?;
            if store.slot(id, slot)?.metadata()?.is_none() {
                return Err(missing().into());
            }
            if target.is_none() {
                elsewhere(self, id, std::iter::once(&record.path))?;
            }
            let path = target.as_ref().map_or(record.path.as_str(), RelPath::as_str);
            let path = self.root().check(path, Access::Create)?;
            if let Err(mut problem) = builder.make_way(&path) {
                if let Problem::Exists { by } = &mut problem {
                    let now = look(&self.root().into(), &path)?.and_then(Result::ok).map(|disk| disk.sha256);
                    *by = left_by(&history::log(&store)?.0, path.as_str(), now);
                }
                return Err(rejected(&path, problem));
            }
            builder.restore(&path, None, Some(stored(before, id, slot)));
        }
        Ok(builder.finish()?)
    }
}

/// Fails when one of the paths lies outside the root.
fn elsewhere<'p>(
    workspace: &Workspace,
    id: TransactionId,
    paths: impl Iterator<Item = &'p String>,
) -> Result<(), Error> {
    let outside: Vec<_> = paths.filter(|path| Prefix::leads_out(path)).cloned().collect();
    let project = || fs_guard::real_path(workspace.home().path());
    match outside.is_empty() {
        true => Ok(()),
        false => Err(Error::Elsewhere { id, paths: outside, project: project()?.display().to_string() }),
    }
}

fn rejected(path: &RelPath, problem: Problem) -> Error {
    match problem {
        Problem::Guard(error) => error.into(),
        problem => Rejects::from(Reject::of(path.as_str(), problem)).into(),
    }
}

fn plan_undo(
    workspace: &Workspace,
    (store, log): (&Store<'_>, &[LogEntry]),
    id: TransactionId,
    paths: &[RelPath],
    how: &UndoOptions<'_>,
) -> Result<Plan, Error> {
    let root = workspace.root();
    let (journal, authentic) = store.journal_if(id, how.trust)?;
    if store.is_aborted(id)? {
        return Err(Error::Aborted(id));
    }
    let back = history::taken_back(log, id);
    let mut records = wanted(&journal, paths)?;
    if paths.is_empty() && records.iter().any(|record| !back.contains(&*record.path)) {
        records.retain(|record| !back.contains(&*record.path));
    }
    let dirs = journal.created_dirs.iter().map(|(dir, _)| dir).chain(journal.removed_dirs.iter().map(|(dir, _)| dir));
    let all = records.iter().map(|record| &record.path).chain(dirs.filter(|_| paths.is_empty()));
    elsewhere(workspace, id, all)?;
    let options = Options::default();
    let mut builder = PlanBuilder::with_capacity(root.into(), &options, records.len());
    // With what was taken back of it before, this may be the rest.
    let comes_back =
        |record: &Record| back.contains(&*record.path) || records.iter().any(|wanted| wanted.slot == record.slot);
    builder.undoes(id, !journal.records.iter().all(comes_back), authentic);
    let mut come_back = Vec::new();
    let all_kept = OnceCell::new();
    let (mut drifted, mut conflicts, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for record in &records {
        let path = root.check_recorded(&record.path, authentic)?;
        match is_as_left(root, &path, record, &journal)? {
            Err(now) => match carried_back(workspace, (store, &all_kept), id, (record, &path), now.as_ref(), how)? {
                Some(Ok((post, carried))) if how.carry => {
                    builder.restore(&path, now, Some(post));
                    notes.extend(carried);
                }
                Some(Err(found)) if how.carry => {
                    let conflict = |conflict| Reject::of(path.as_str(), Problem::Conflict(Box::new(conflict)));
                    conflicts.extend(found.into_iter().map(conflict));
                }
                carried => drifted.push((record, now, matches!(carried, Some(Ok(_))))),
            },
            Ok(now) => {
                let post = record.before.as_ref().map(|state| stored(state, id, record.slot));
                builder.restore(&path, now, post);
                if record.before.is_some() {
                    come_back.push(path);
                }
            }
        }
    }
    if !drifted.is_empty() {
        let carry = drifted.iter().all(|(.., carried)| *carried);
        let drift = |(record, now, _): (&&Record, Option<Disk>, bool)| {
            let (expected, actual) = (record.after.as_ref().map(|state| state.sha256), now.map(|disk| disk.sha256));
            let by = left_by(log, &record.path, actual).filter(|by| *by != id);
            Drift { path: record.path.clone(), expected, actual, by }
        };
        return Err(Error::Drifted { id, drifts: drifted.into_iter().map(drift).collect(), carry });
    }
    if let Some(rejects) = Rejects::new(conflicts) {
        return Err(rejects.into());
    }
    // What goes is known by now: a file may give way to the directory that another needs.
    for path in &come_back {
        builder.create_parents(path).map_err(|problem| rejected(path, problem))?;
    }
    for (dir, mode) in &journal.removed_dirs {
        let dir = root.check_recorded(dir, authentic)?;
        // All of a transaction brings its directories back, also those that nothing is in.
        if root.metadata(&dir)?.is_none_or(|seen| seen.kind != FileKind::Directory) {
            builder.restore_dir(dir, *mode, paths.is_empty());
        }
    }
    for (dir, _) in journal.created_dirs.iter().rev() {
        builder.remove_dir(root.check_recorded(dir, authentic)?);
    }
    Ok(builder.plan(0, Vec::new(), notes))
}

/// The last transaction that did something to a path, if it left it as it is now.
fn left_by(newest_first: &[LogEntry], path: &str, actual: Option<Sha256>) -> Option<TransactionId> {
    let mut later = newest_first.iter().filter(|entry| !entry.aborted);
    let (entry, record) = later.find_map(|entry| {
        let record = entry.journal.records.iter().find(|record| record.path == path)?;
        Some((entry, record))
    })?;
    (record.after.as_ref().map(|state| state.sha256) == actual).then_some(entry.journal.header.id)
}

type CarriedBack = Result<(PostImage, Vec<PlanNote>), Vec<Conflict>>;

/// The file of now with what a transaction did to it taken back; `None` where that cannot be told: it is no update of a text
/// file that is there still, or what the transaction left is not known any more.
fn carried_back(
    workspace: &Workspace,
    (store, all_kept): (&Store<'_>, &OnceCell<Vec<TrashEntry>>),
    id: TransactionId,
    (record, path): (&Record, &RelPath),
    now: Option<&Disk>,
    how: &UndoOptions<'_>,
) -> Result<Option<CarriedBack>, Error> {
    let (Some(before), Some(after), Some(now)) = (&record.before, &record.after, now) else { return Ok(None) };
    if before.link || after.link || now.metadata.kind != FileKind::File {
        return Ok(None);
    }
    // Of three modes, as of three texts: the one that was changed, if it was on one side, or on both alike.
    let mode = match (before.mode & 0o777, after.mode & 0o777, now.metadata.kept_mode()) {
        (before, after, now) if now == after || now == before => before,
        (before, after, now) if before == after => now,
        _ => return Ok(None),
    };
    let Some(wanted) = kept(store, id, record.slot, before.sha256)? else { return Ok(None) };
    let Some(base) =
        left(store, all_kept, &Left { id, path: &record.path, before: &wanted, sha256: after.sha256 }, how)?
    else {
        return Ok(None);
    };
    let current = match &now.bytes {
        Some(bytes) => Arc::clone(bytes),
        None => workspace.root().read(path, MAX_FILE_SIZE)?.0.into(),
    };
    // Text in other encodings is not compared as bytes.
    if Sha256::of(&current) != now.sha256 || [&wanted, &base, &*current].iter().any(|bytes| is_binary(bytes)) {
        return Ok(None);
    }
    let Carried { splices, hunks } = match carry(&base, &current, &difference(&base, &wanted)) {
        Ok(carried) => carried,
        Err(conflicts) => return Ok(Some(Err(conflicts))),
    };
    let bytes = splices.apply(&current);
    let post = PostImage {
        sha256: Sha256::of(&bytes),
        size: bytes.len() as u64,
        image: Image::Kept(bytes.into()),
        mode: Mode::Exactly(mode),
        link: false,
        rewritten: false,
        attributes_of: Some(path.clone()),
    };
    Ok(Some(Ok((post, hunks.into_iter().map(|hunk| hunk.note(&record.path)).collect()))))
}

/// The bytes of a displaced file, if they are what the journal says.
fn kept(store: &Store<'_>, id: TransactionId, slot: u32, sha256: Sha256) -> Result<Option<Vec<u8>>, Error> {
    let bytes = match store.slot(id, slot)?.read(MAX_FILE_SIZE) {
        Ok((bytes, _)) => bytes,
        Err(error @ fs_guard::Error::Io { .. }) => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    Ok(Some(bytes).filter(|bytes| Sha256::of(bytes) == sha256))
}

/// The bytes that a transaction left: a later one displaced them, or they are found elsewhere.
fn left(
    store: &Store<'_>,
    all_kept: &OnceCell<Vec<TrashEntry>>,
    left: &Left<'_>,
    how: &UndoOptions<'_>,
) -> Result<Option<Vec<u8>>, Error> {
    if all_kept.get().is_none() {
        let _ = all_kept.set(store.entries()?.0);
    }
    for entry in all_kept.get().into_iter().flatten().filter(|entry| entry.sha256 == left.sha256 && !entry.link) {
        if let Some(bytes) = kept(store, entry.id, entry.slot, left.sha256)? {
            return Ok(Some(bytes));
        }
    }
    Ok((how.left)(left).filter(|bytes| Sha256::of(bytes) == left.sha256))
}

fn wanted<'j>(journal: &'j Journal, paths: &[RelPath]) -> Result<Vec<&'j Record>, Error> {
    let records = &journal.records;
    if let Some(path) = paths.iter().find(|path| !records.iter().any(|record| record.path == path.as_str())) {
        return Err(Error::NotInTransaction { id: journal.header.id, path: path.as_str().into() });
    }
    let named = |record: &Record| paths.iter().any(|path| path.as_str() == record.path);
    let mut slots: BTreeSet<u32> = records.iter().filter(|record| named(record)).map(|record| record.slot).collect();
    // A file that moved comes back as it goes.
    for (from, to) in &journal.moved {
        if slots.contains(from) || slots.contains(to) {
            slots.extend([from, to]);
        }
    }
    Ok(records.iter().filter(|record| paths.is_empty() || slots.contains(&record.slot)).collect())
}

/// What is at the path now: as the transaction left it, or else, as an error, changed.
pub(super) fn is_as_left(
    root: &Arc<Root>,
    path: &RelPath,
    record: &Record,
    journal: &Journal,
) -> Result<Result<Option<Disk>, Option<Disk>>, Error> {
    let mut now = look(&root.into(), path)?;
    let left = record.after.as_ref();
    // The directory that it made in the place of a file goes before the file comes back.
    let made = || journal.created_dirs.iter().any(|(dir, _)| *dir == record.path);
    if left.is_none() && matches!(&now, Some(Err(seen)) if seen.kind == FileKind::Directory) && made() {
        now = None;
    }
    let same = match (&now, left) {
        (None, None) => true,
        (Some(Ok(disk)), Some(state)) => {
            disk.metadata.kind == state.kind()
                && disk.sha256 == state.sha256
                && (state.link || disk.metadata.kept_mode() == state.mode & 0o777)
        }
        _ => false,
    };
    let disk = now.and_then(Result::ok);
    Ok(if same { Ok(disk) } else { Err(disk) })
}

fn stored(state: &FileState, transaction: TransactionId, slot: u32) -> PostImage {
    PostImage {
        image: Image::Stored(transaction, slot),
        sha256: state.sha256,
        size: state.size,
        mode: Mode::Exactly(state.mode & 0o777),
        link: state.link,
        rewritten: false,
        attributes_of: None,
    }
}
