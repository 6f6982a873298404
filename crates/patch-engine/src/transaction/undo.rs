//! Plans that bring back what transactions displaced.

use std::sync::Arc;

use fs_guard::{Access, FileKind, RelPath, Sha256};
use workspace_trash::{FileState, Journal, Record, Store, TransactionId};

use super::error::{Drift, Error};
use super::workspace::Workspace;
use crate::plan::{Change, Operation, Plan};
use crate::planner::KEPT_FOR_DIFF;
use crate::transition::{Content, PostImage, PreImage, Transition};

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
        let mut plan = Plan::default();
        for (slot, target) in files {
            let slot = *slot;
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
            if exists || plan.transitions.iter().any(|other| other.path == path) {
                return Err(fs_guard::Error::AlreadyExists { path: path.as_str().into() }.into());
            }
            if let Some(existing) = self.root().collision(&path)? {
                return Err(fs_guard::Error::Collision { path: path.as_str().into(), existing }.into());
            }
            for dir in self.root().parents_missing(&path)? {
                if !plan.create_dirs.contains(&dir) {
                    plan.create_dirs.push(dir);
                }
            }
            plan.keep_stored(&store, &path, before, id, slot);
            let after = Some(stored(before, id, slot));
            plan.transitions.push(Transition { path, before: None, after });
        }
        plan.create_dirs.sort();
        plan.changes = changes(&plan.transitions);
        Ok(plan)
    }
}

impl Plan {
    /// Keeps the bytes of a displaced file for the diff, if it is small and still what was displaced.
    fn keep_stored(&mut self, store: &Store<'_>, path: &RelPath, state: &FileState, id: TransactionId, slot: u32) {
        if state.link || state.size > KEPT_FOR_DIFF {
            return;
        }
        // A file that cannot be read is refused when it is staged; here it only has no diff.
        let read = store.slot(id, slot).ok().and_then(|spot| spot.read(KEPT_FOR_DIFF).ok());
        if let Some((bytes, _)) = read
            && Sha256::of(&bytes) == state.sha256
        {
            self.stored.insert(path.clone(), bytes.into());
        }
    }
}

/// The transitions as a person counts: a file that goes and comes with the same bytes at another path has
/// moved. The journal does not say what was a move, so one that changed the file counts as two.
fn changes(transitions: &[Transition]) -> Vec<Change> {
    let mut goes: Vec<(usize, Sha256)> = Vec::new();
    for (index, transition) in transitions.iter().enumerate() {
        if let (Some(before), None) = (&transition.before, &transition.after) {
            goes.push((index, before.sha256));
        }
    }
    let mut changes = Vec::with_capacity(transitions.len());
    for (index, Transition { path, before, after }) in transitions.iter().enumerate() {
        let Some(post) = after else { continue };
        let source = match before {
            None => goes.iter().position(|(_, sha256)| *sha256 == post.sha256).map(|at| goes.remove(at).0),
            Some(_) => None,
        };
        changes.push(match source {
            Some(source) => Change {
                operation: Operation::Move,
                path: transitions[source].path.clone(),
                to_path: Some(path.clone()),
                before: Some(post.sha256),
                after: Some(post.sha256),
                transition: index,
            },
            None => Change {
                operation: if before.is_some() { Operation::Update } else { Operation::Create },
                path: path.clone(),
                to_path: None,
                before: before.as_ref().map(|before| before.sha256),
                after: Some(post.sha256),
                transition: index,
            },
        });
    }
    changes.extend(goes.into_iter().map(|(index, sha256)| Change {
        operation: Operation::Delete,
        path: transitions[index].path.clone(),
        to_path: None,
        before: Some(sha256),
        after: None,
        transition: index,
    }));
    changes
}

fn plan_undo(workspace: &Workspace, store: &Store<'_>, id: TransactionId, paths: &[RelPath]) -> Result<Plan, Error> {
    let root = workspace.root();
    let journal = store.journal(id)?;
    if store.is_aborted(id)? {
        return Err(Error::Aborted(id));
    }
    let authentic = store.is_signed()?;
    let records = wanted(&journal, paths)?;
    let mut plan = Plan { undo_of: Some(id), partial_undo: records.len() < journal.records.len(), ..Plan::default() };
    let mut drifts = Vec::new();
    for record in &records {
        let path = root.check_recorded(&record.path, authentic)?;
        match before_undo(workspace, &path, record)? {
            Err(drift) => drifts.push(drift),
            Ok(now) => {
                let (before, bytes) = now.unzip();
                plan.pre_images.extend(bytes.flatten().map(|bytes| (path.clone(), bytes)));
                if let Some(state) = &record.before {
                    for dir in root.parents_missing(&path)? {
                        if !plan.create_dirs.contains(&dir) {
                            plan.create_dirs.push(dir);
                        }
                    }
                    plan.keep_stored(store, &path, state, id, record.slot);
                }
                let after = record.before.as_ref().map(|state| stored(state, id, record.slot));
                plan.transitions.push(Transition { path, before, after });
            }
        }
    }
    if !drifts.is_empty() {
        return Err(Error::Drifted { id, drifts });
    }
    for (dir, mode) in &journal.removed_dirs {
        let dir = root.check_recorded(dir, authentic)?;
        if paths.is_empty() && root.metadata(&dir)?.is_none() && !plan.create_dirs.contains(&dir) {
            plan.create_dirs.push(dir.clone());
        }
        if plan.create_dirs.contains(&dir) {
            plan.dir_modes.insert(dir, *mode);
        }
    }
    // A directory comes before what is in it.
    plan.create_dirs.sort();
    for (dir, _) in journal.created_dirs.iter().rev() {
        plan.remove_dirs.push(root.check_recorded(dir, authentic)?);
    }
    plan.changes = changes(&plan.transitions);
    Ok(plan)
}

fn wanted<'j>(journal: &'j Journal, paths: &[RelPath]) -> Result<Vec<&'j Record>, Error> {
    let records = &journal.records;
    if let Some(path) = paths.iter().find(|path| !records.iter().any(|record| record.path == path.as_str())) {
        return Err(Error::NotInTransaction { id: journal.header.id, path: path.as_str().into() });
    }
    let chosen = |record: &&Record| paths.is_empty() || paths.iter().any(|path| path.as_str() == record.path);
    Ok(records.iter().filter(chosen).collect())
}

/// A file as it is now, and its bytes if they are kept for the diff.
type Now = (PreImage, Option<Arc<Vec<u8>>>);

/// What is at the path now, if that is what the transaction left there.
fn before_undo(workspace: &Workspace, path: &RelPath, record: &Record) -> Result<Result<Option<Now>, Drift>, Error> {
    let root = workspace.root();
    let seen = root.metadata(path)?;
    let mut bytes = None;
    let digest = match &seen {
        None => None,
        Some(seen) if seen.kind == FileKind::Symlink => Some(Sha256::of(&root.read_link(path)?)),
        Some(seen) if seen.kind == FileKind::File && seen.size <= KEPT_FOR_DIFF => {
            let (read, _) = root.read(path, u64::MAX)?;
            let digest = Sha256::of(&read);
            bytes = Some(read.into());
            Some(digest)
        }
        Some(seen) if seen.kind == FileKind::File => Some(root.open_file(path)?.0.hash()?),
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
    Ok(Ok(seen.zip(digest).map(|(metadata, sha256)| (PreImage { metadata, sha256 }, bytes))))
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
