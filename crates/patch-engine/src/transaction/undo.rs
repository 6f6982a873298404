//! Plans that bring back what transactions displaced.

use fs_guard::{Access, FileKind, RelPath};
use workspace_trash::{FileState, Journal, Record, Store, TransactionId};

use super::error::{Drift, Error};
use super::workspace::Workspace;
use crate::options::Options;
use crate::plan::builder::PlanBuilder;
use crate::plan::disk::{Disk, look};
use crate::plan::{Image, Mode, Plan, PostImage};
use crate::reject::{Problem, Reject, Rejects};

impl Workspace {
    /// Plans to undo a transaction, or what it did to `paths` (none: all of it).
    ///
    /// Fails with every path that is not what the transaction left.
    pub fn plan_undo(&self, id: TransactionId, paths: &[RelPath]) -> Result<Plan, Error> {
        let store = self.store()?.ok_or(workspace_trash::Error::NoSuchTransaction(id))?;
        plan_undo(self, &store, id, paths)
    }

    /// Plans to undo the newest transaction that is neither undone nor itself an undo.
    pub fn plan_undo_last(&self) -> Result<Plan, Error> {
        let store = self.store()?.ok_or(Error::NothingTo("undo"))?;
        let id = super::history::last_active(&store, false)?.ok_or(Error::NothingTo("undo"))?;
        plan_undo(self, &store, id, &[])
    }

    /// Plans to undo an undo: `id` is the undoing transaction, or the one it undid; `None` is the
    /// newest one.
    pub fn plan_redo(&self, id: Option<TransactionId>) -> Result<Plan, Error> {
        let store = self.store()?.ok_or(Error::NothingTo("redo"))?;
        let undo = match id {
            None => super::history::last_active(&store, true)?,
            Some(id) => super::history::active_undo_of(&store, id)?,
        };
        plan_undo(self, &store, undo.ok_or(Error::NothingTo("redo"))?, &[])
    }

    /// Plans to bring displaced files of one transaction back: each by its number, to its place or to the path
    /// beside it. Nothing may be there.
    pub fn plan_restore(&self, id: TransactionId, files: &[(u32, Option<RelPath>)]) -> Result<Plan, Error> {
        let store = self.store()?.ok_or(workspace_trash::Error::NoSuchTransaction(id))?;
        let journal = store.journal(id)?;
        let options = Options { create_parents: true, overwrite: false, ..Options::default() };
        let mut builder = PlanBuilder::new(self.root(), &options);
        for (slot, target) in files {
            let slot = *slot;
            let missing = || workspace_trash::Error::NoSuchSlot { id, slot };
            let record = journal.records.iter().find(|record| record.slot == slot).ok_or_else(missing)?;
            let before = record.before.as_ref().ok_or_else(missing)?;
            if store.slot(id, slot)?.metadata()?.is_none() {
                return Err(missing().into());
            }
            let path = target.as_ref().map_or(record.path.as_str(), RelPath::as_str);
            let path = self.root().check(path, Access::Create)?;
            builder.make_way(&path).map_err(|problem| rejected(&path, problem))?;
            builder.restore(&path, None, Some(stored(before, id, slot)));
        }
        Ok(builder.finish()?)
    }
}

fn rejected(path: &RelPath, problem: Problem) -> Error {
    match problem {
        Problem::Guard(error) => error.into(),
        problem => Rejects::from(Reject::of(path.as_str(), problem)).into(),
    }
}

fn plan_undo(workspace: &Workspace, store: &Store<'_>, id: TransactionId, paths: &[RelPath]) -> Result<Plan, Error> {
    let root = workspace.root();
    let journal = store.journal(id)?;
    if store.is_aborted(id)? {
        return Err(Error::Aborted(id));
    }
    let authentic = store.is_signed()?;
    let records = wanted(&journal, paths)?;
    let options = Options::default();
    let mut builder = PlanBuilder::with_capacity(root.into(), &options, records.len());
    builder.undoes(id, records.len() < journal.records.len(), authentic);
    let mut drifts = Vec::new();
    let mut come_back = Vec::new();
    for record in &records {
        let path = root.check_recorded(&record.path, authentic)?;
        match before_undo(workspace, &path, record, &journal)? {
            Err(drift) => drifts.push(drift),
            Ok(now) => {
                let post = record.before.as_ref().map(|state| stored(state, id, record.slot));
                builder.restore(&path, now, post);
                if record.before.is_some() {
                    come_back.push(path);
                }
            }
        }
    }
    if !drifts.is_empty() {
        return Err(Error::Drifted { id, drifts });
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
    Ok(builder.plan(0, Vec::new(), Vec::new()))
}

fn wanted<'j>(journal: &'j Journal, paths: &[RelPath]) -> Result<Vec<&'j Record>, Error> {
    let records = &journal.records;
    if let Some(path) = paths.iter().find(|path| !records.iter().any(|record| record.path == path.as_str())) {
        return Err(Error::NotInTransaction { id: journal.header.id, path: path.as_str().into() });
    }
    let chosen = |record: &&Record| paths.is_empty() || paths.iter().any(|path| path.as_str() == record.path);
    Ok(records.iter().filter(chosen).collect())
}

/// What is at the path now, if that is what the transaction left there.
fn before_undo(
    workspace: &Workspace,
    path: &RelPath,
    record: &Record,
    journal: &Journal,
) -> Result<Result<Option<Disk>, Drift>, Error> {
    let mut now = look(&workspace.root().into(), path)?;
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
    if same {
        return Ok(Ok(disk));
    }
    let (expected, actual) = (left.map(|state| state.sha256), disk.map(|disk| disk.sha256));
    Ok(Err(Drift { path: path.as_str().into(), expected, actual }))
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
