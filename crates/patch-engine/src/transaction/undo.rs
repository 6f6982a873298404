//! Plans that bring back what transactions displaced.

use std::collections::BTreeMap;

use fs_guard::{Access, FileKind, RelPath, Sha256};
use workspace_trash::{FileState, Journal, Record, Store, TransactionId};

use super::commit::Committed;
use super::error::{CommitError, Drift, Error};
use super::options::{CommitObserver, CommitOptions};
use super::workspace::{Locked, Workspace};
use crate::transition::{Content, PostImage, PreImage, Transition};

/// A plan that brings displaced files back; an ordinary commit carries it out.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UndoPlan {
    /// The transaction it undoes; `None` for a restore from the trash.
    pub undo_of: Option<TransactionId>,
    /// It undoes only some of that transaction's paths.
    pub partial: bool,
    /// What changes.
    pub transitions: Vec<Transition>,
    /// Directories that have to be there, outermost first.
    pub create_dirs: Vec<RelPath>,
    /// The permissions that these had.
    pub dir_modes: BTreeMap<RelPath, u32>,
    /// Directories that go when they are empty, innermost first.
    pub remove_dirs: Vec<RelPath>,
}

impl Workspace {
    /// Plans to undo a transaction, or what it did to `paths` (none: all of it).
    ///
    /// Fails with every path that is not what the transaction left.
    pub fn plan_undo(&self, id: TransactionId, paths: &[RelPath]) -> Result<UndoPlan, Error> {
        let store = self.store()?.ok_or(workspace_trash::Error::NoSuchTransaction(id))?;
        plan_undo(self, &store, id, paths)
    }

    /// Plans to undo the newest transaction that is neither undone nor itself an undo.
    pub fn plan_undo_last(&self) -> Result<UndoPlan, Error> {
        let store = self.store()?.ok_or(Error::NothingTo("undo"))?;
        let id = super::history::last_active(&store, false)?.ok_or(Error::NothingTo("undo"))?;
        plan_undo(self, &store, id, &[])
    }

    /// Plans to undo an undo: `id` is the undoing transaction, or the one it undid; `None` is the
    /// newest one.
    pub fn plan_redo(&self, id: Option<TransactionId>) -> Result<UndoPlan, Error> {
        let store = self.store()?.ok_or(Error::NothingTo("redo"))?;
        let undo = match id {
            None => super::history::last_active(&store, true)?,
            Some(id) => super::history::active_undo_of(&store, id)?,
        };
        plan_undo(self, &store, undo.ok_or(Error::NothingTo("redo"))?, &[])
    }

    /// Plans to bring one displaced file back, to its place or to `target`, where nothing may be.
    pub fn plan_restore(&self, id: TransactionId, slot: u32, target: Option<&RelPath>) -> Result<UndoPlan, Error> {
        let store = self.store()?.ok_or(workspace_trash::Error::NoSuchTransaction(id))?;
        let journal = store.journal(id)?;
        let missing = || workspace_trash::Error::NoSuchSlot { id, slot };
        let record = journal.records.iter().find(|record| record.slot == slot).ok_or_else(missing)?;
        let before = record.before.as_ref().ok_or_else(missing)?;
        if store.slot(id, slot)?.metadata()?.is_none() {
            return Err(missing().into());
        }
        let path = match target {
            Some(target) => target.clone(),
            None => self.root().check(&record.path, Access::Create)?,
        };
        let exists = self.root().metadata(&path)?.is_some();
        if exists {
            return Err(fs_guard::Error::AlreadyExists { path: path.as_str().into() }.into());
        }
        if let Some(existing) = self.root().collision(&path)? {
            return Err(fs_guard::Error::Collision { path: path.as_str().into(), existing }.into());
        }
        let create_dirs = self.root().parents_missing(&path)?;
        let after = Some(stored(before, id, slot));
        Ok(UndoPlan {
            undo_of: None,
            partial: false,
            transitions: vec![Transition { path, before: None, after }],
            create_dirs,
            dir_modes: BTreeMap::new(),
            remove_dirs: Vec::new(),
        })
    }
}

impl Locked<'_> {
    /// Carries out a plan to undo, redo or restore.
    pub fn commit_undo(
        &self,
        plan: &UndoPlan,
        options: &CommitOptions,
        observer: &mut dyn CommitObserver,
    ) -> Result<Committed, CommitError> {
        let options = CommitOptions {
            undo_of: plan.undo_of,
            partial_undo: plan.partial,
            remove_dirs: plan.remove_dirs.clone(),
            dir_modes: plan.dir_modes.clone(),
            ..options.clone()
        };
        self.commit(&plan.transitions, &plan.create_dirs, &options, observer)
    }
}

fn plan_undo(
    workspace: &Workspace,
    store: &Store<'_>,
    id: TransactionId,
    paths: &[RelPath],
) -> Result<UndoPlan, Error> {
    let root = workspace.root();
    let journal = store.journal(id)?;
    if store.is_aborted(id)? {
        return Err(Error::Aborted(id));
    }
    let authentic = store.is_signed()?;
    let records = wanted(&journal, paths)?;
    let mut transitions = Vec::with_capacity(records.len());
    let mut drifts = Vec::new();
    let mut create_dirs = Vec::new();
    for record in &records {
        let path = root.check_recorded(&record.path, authentic)?;
        match before_undo(workspace, &path, record)? {
            Err(drift) => drifts.push(drift),
            Ok(before) => {
                let after = record.before.as_ref().map(|state| stored(state, id, record.slot));
                if after.is_some() {
                    for dir in root.parents_missing(&path)? {
                        if !create_dirs.contains(&dir) {
                            create_dirs.push(dir);
                        }
                    }
                }
                transitions.push(Transition { path, before, after });
            }
        }
    }
    if !drifts.is_empty() {
        return Err(Error::Drifted { id, drifts });
    }
    let mut dir_modes = BTreeMap::new();
    for (dir, mode) in &journal.removed_dirs {
        let dir = root.check_recorded(dir, authentic)?;
        if paths.is_empty() && root.metadata(&dir)?.is_none() && !create_dirs.contains(&dir) {
            create_dirs.push(dir.clone());
        }
        if create_dirs.contains(&dir) {
            dir_modes.insert(dir, *mode);
        }
    }
    // A directory comes before what is in it.
    create_dirs.sort();
    let mut remove_dirs = Vec::new();
    for (dir, _) in journal.created_dirs.iter().rev() {
        remove_dirs.push(root.check_recorded(dir, authentic)?);
    }
    Ok(UndoPlan {
        undo_of: Some(id),
        partial: records.len() < journal.records.len(),
        transitions,
        create_dirs,
        dir_modes,
        remove_dirs,
    })
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
) -> Result<Result<Option<PreImage>, Drift>, Error> {
    let root = workspace.root();
    let seen = root.metadata(path)?;
    let digest = match &seen {
        None => None,
        Some(seen) if seen.kind == FileKind::Symlink => Some(Sha256::of(&root.read_link(path)?)),
        Some(seen) if seen.kind == FileKind::File => Some(hash(workspace, path)?),
        Some(_) => None,
    };
    let expected = record.after.as_ref();
    let same = match (&seen, expected) {
        (None, None) => true,
        (Some(seen), Some(state)) => {
            seen.kind == state.kind()
                && digest == Some(state.sha256)
                && (state.link || seen.kept_mode() == state.mode & 0o777)
        }
        _ => false,
    };
    if !same {
        return Ok(Err(Drift {
            path: path.as_str().into(),
            expected: expected.map(|state| state.sha256),
            actual: digest,
        }));
    }
    Ok(Ok(seen.zip(digest).map(|(metadata, sha256)| PreImage { metadata, sha256 })))
}

fn hash(workspace: &Workspace, path: &RelPath) -> Result<Sha256, Error> {
    Ok(workspace.root().open_file(path)?.0.hash()?)
}

fn stored(state: &FileState, transaction: TransactionId, slot: u32) -> PostImage {
    PostImage {
        content: Content::Stored { transaction, slot },
        sha256: state.sha256,
        size: state.size,
        mode: Some(state.mode & 0o777),
        attributes_of: None,
    }
}
