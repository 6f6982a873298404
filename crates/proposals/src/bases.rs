//! The files that proposals were made for, by hash: with them a hunk is carried to a file that
//! changed since.

use std::sync::Arc;

use fs_guard::{Dir, Error, RelPath, Root, Sha256};
use patch_engine::{Plan, Snapshots};
use patch_session::Session;
use patch_session::proposing::{BASES, FOLDER};
use workspace_trash::{packed, unpacked};

use crate::proposal::Proposal;

/// The largest file to keep, and the most bytes to keep for one proposal.
const MAX_BASE: u64 = 8 << 20;
const MAX_BASES: u64 = 32 << 20;

/// Keeps the files updated by a plan, as they are.
///
/// # Errors
///
/// When a file cannot be written, or has changed since planning.
pub(crate) fn keep(folder: &Dir, plan: &Plan, durable: bool) -> Result<(), Error> {
    let bases = folder.open_or_create_dir(BASES)?;
    let images = plan.images();
    let mut room = MAX_BASES;
    for change in plan.changes() {
        let Some(sha256) = change.before.filter(|_| change.after.is_some()) else { continue };
        let size = plan.transitions().iter().find(|it| it.path() == &change.path);
        let size = size.and_then(|it| it.size_before()).unwrap_or_default();
        let spot = bases.spot(&sha256.to_string());
        if size > MAX_BASE.min(room) || spot.metadata()?.is_some() {
            continue;
        }
        room -= size;
        spot.write(&packed(&images.old_bytes(change)?), durable)?;
    }
    Ok(())
}

/// Removes the files of none of these proposals.
///
/// # Errors
///
/// When one cannot be removed.
pub(crate) fn prune<'p>(
    folder: &Dir,
    waiting: impl Iterator<Item = &'p Proposal>,
) -> Result<(), Error> {
    let Some(bases) = folder.open_dir(BASES)? else { return Ok(()) };
    let used: Vec<&String> = waiting.flat_map(|one| one.record.expected.values()).collect();
    for name in bases.names()? {
        if !used.contains(&&name) {
            bases.spot(&name).remove()?;
        }
    }
    Ok(())
}

/// Finds the files that a proposal was made for: those kept with it, and then what the session
/// knows.
#[derive(Debug)]
struct Bases {
    home: Arc<Root>,
    others: Option<Arc<dyn Snapshots>>,
}

impl Bases {
    fn kept(&self, sha256: Sha256) -> Option<Vec<u8>> {
        let bases = self.home.state_dir().ok()??.open_dir(FOLDER).ok()??.open_dir(BASES).ok()??;
        let (packed, _) = bases.spot(&sha256.to_string()).read(2 * MAX_BASE).ok()?;
        unpacked(&packed, MAX_BASE).filter(|bytes| Sha256::of(bytes) == sha256)
    }
}

impl Snapshots for Bases {
    fn bytes(&self, path: &RelPath, sha256: Sha256) -> Option<Arc<Vec<u8>>> {
        let kept = self.kept(sha256).map(Arc::new);
        kept.or_else(|| self.others.as_ref()?.bytes(path, sha256))
    }
}

impl Proposal {
    /// Returns the source of the files before the proposal.
    pub(crate) fn snapshots(&self, session: &Session) -> Arc<dyn Snapshots> {
        let home = session.workspace().home().clone();
        Arc::new(Bases { home, others: session.snapshots_for(None) })
    }
}
