//! Snapshots of files that sessions were shown or wrote, by hash. With them, an edit of an older
//! version can be carried to the current file.
//!
//! Snapshots are compressed files in a folder of the state directory. The name has the SHA-256 and
//! the path, so a snapshot serves its own path only. A file without the right hash is not used, so
//! nothing in the folder has to be durable: a file gets its name when written in full, and is
//! ignored if damaged by a power cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use fs_guard::{Dir, Error, Metadata, RelPath, Root, Sha256, Spot};
use patch_engine::commit::{self, Prefix, Reach, Workspace};
use workspace_trash::{FileState, OwnKey, Store, packed, unpacked};

use crate::session::{SessionSettings, Versions};

/// The folder of the snapshots in the state directory.
pub(super) const FOLDER: &str = "snapshots";

/// The largest snapshot takes one part in this many of the room.
const LARGEST: u64 = 4;

/// About one write in this many checks the size of all snapshots: the check costs a system call per
/// snapshot.
const LOOKS: u64 = 64;

/// The most transactions to search for a displaced version, the newest first.
const TRANSACTIONS: usize = 64;

impl SessionSettings {
    /// Returns whether to keep a file of this size as a snapshot.
    pub(crate) fn keeps(&self, size: u64) -> bool {
        self.max_snapshots > 0 && size <= self.max_snapshots / LARGEST && size <= self.max_file_size
    }

    /// Keeps the bytes of a file. On failure the call goes on: a later edit of this version is just
    /// stale.
    pub(crate) fn keep_snapshot(
        &self,
        workspace: &Workspace,
        path: &str,
        sha256: Sha256,
        bytes: &[u8],
    ) {
        if self.keeps(bytes.len() as u64) {
            let _ =
                self.try_keep(workspace, &name(workspace.prefix(), path, sha256), sha256, bytes);
        }
    }

    fn try_keep(
        &self,
        workspace: &Workspace,
        name: &str,
        sha256: Sha256,
        bytes: &[u8],
    ) -> Result<(), commit::Error> {
        /// Tells the drafts of one process apart.
        static DRAFTS: AtomicU32 = AtomicU32::new(0);
        let packed = packed(bytes);
        let state = match workspace.state_dir()? {
            Some(state) => state,
            None => {
                workspace.make_state(self.lock_timeout)?;
                workspace.create_state_dir()?
            }
        };
        let folder = state.open_or_create_dir(FOLDER)?;
        // Not cached: a forked process has another number, but the same count of drafts.
        let draft =
            format!("{name}.{}-{}", std::process::id(), DRAFTS.fetch_add(1, Ordering::Relaxed));
        let draft = folder.spot(&draft);
        let mut file = match draft.create(0o600) {
            // A process with this number was killed while writing.
            Err(Error::AlreadyExists { .. }) => {
                draft.remove()?;
                draft.create(0o600)?
            }
            created => created?,
        };
        let named = file
            .write(&packed)
            .map(|()| file.finish_own(false))
            .and_then(|file| file.replace(&folder.spot(name)).map_err(|failed| failed.error));
        if named.is_err() {
            let _ = draft.remove();
        }
        let large = packed.len() as u64 > self.max_snapshots / LOOKS;
        if large || u64::from(sha256.0[0]) < 256 / LOOKS {
            shrink(&folder, self.max_snapshots)?;
        }
        Ok(named?)
    }

    /// Returns the source of earlier versions of the workspace's files.
    pub(crate) fn snapshots_of(&self, workspace: &Workspace) -> Arc<dyn patch_engine::Snapshots> {
        Arc::new(SnapshotSource {
            root: workspace.root().clone(),
            versions: self.versions,
            home: workspace.home().clone(),
            prefix: workspace.prefix().clone(),
            reach: workspace.reach(),
            key: workspace.key(),
            max_file_size: self.max_file_size,
        })
    }
}

/// Finds a version by its hash: among the snapshots, among the displaced files of transactions,
/// and, with the feature `git`, in the newest commits of the git repository around the workspace.
#[derive(Debug)]
struct SnapshotSource {
    root: Arc<Root>,
    versions: Option<Versions>,
    home: Arc<Root>,
    prefix: Prefix,
    reach: Reach,
    key: OwnKey,
    max_file_size: u64,
}

impl SnapshotSource {
    fn kept(&self, path: &str, sha256: Sha256) -> Option<Vec<u8>> {
        let folder = self.home.state_dir().ok()??.open_dir(FOLDER).ok()??;
        let (packed, _) =
            folder.spot(&name(&self.prefix, path, sha256)).read(self.max_file_size).ok()?;
        unpacked(&packed, self.max_file_size).filter(|bytes| Sha256::of(bytes) == sha256)
    }

    fn is_version(&self, file: &FileState, sha256: Sha256) -> bool {
        file.sha256 == sha256 && !file.link && file.size <= self.max_file_size
    }

    fn displaced(&self, sha256: Sha256) -> Option<Vec<u8>> {
        let store = Store::open(&self.home, self.key.clone()).ok()??.seen_from(self.prefix.clone());
        store.newest_first().ok()?.take(TRANSACTIONS).find_map(|id| {
            let id = id.ok()?;
            let journal = store.journal(id).ok()?;
            let record = journal.records.iter().find(|record| {
                record.before.as_ref().is_some_and(|before| self.is_version(before, sha256))
                    && self.reach.shows(&record.path)
            })?;
            let (bytes, _) = store.slot(id, record.slot).ok()?.read(self.max_file_size).ok()?;
            (Sha256::of(&bytes) == sha256).then_some(bytes)
        })
    }
}

impl patch_engine::Snapshots for SnapshotSource {
    fn bytes(&self, path: &RelPath, sha256: Sha256) -> Option<Arc<Vec<u8>>> {
        if !self.reach.shows(path.as_str()) {
            return None;
        }
        let found = self.kept(path.as_str(), sha256).or_else(|| self.displaced(sha256));
        let found = found.or_else(|| {
            self.versions?(self.root.path(), path.as_str(), sha256, self.max_file_size)
        });
        found.map(Arc::new)
    }
}

/// Returns whether the name is one of this program's files: a snapshot, or its draft.
pub(super) fn is_own(name: &str) -> bool {
    let name = name.split_once('.').map_or(name, |(name, _)| name);
    name.split_once('-').is_some_and(|(sha256, path)| {
        sha256.parse::<Sha256>().is_ok()
            && path.len() == 32
            && path.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Returns the name of a snapshot: its hash, and enough digits of the hash of its path to tell
/// paths apart.
fn name(prefix: &Prefix, path: &str, sha256: Sha256) -> String {
    format!("{sha256}-{:.32}", Sha256::of(prefix.join(path).as_bytes()).to_string())
}

/// Removes the oldest files of the folder until the rest has at most `most` bytes. Half-written
/// files count too, and go as they get old.
fn shrink(folder: &Dir, most: u64) -> Result<(), Error> {
    let files = oldest_first(folder)?;
    let mut size: u64 = files.iter().map(|(seen, _)| seen.size).sum();
    for (seen, spot) in files {
        if size <= most {
            break;
        }
        spot.remove()?;
        size -= seen.size;
    }
    Ok(())
}

/// Lists the files of a folder, the oldest first.
pub(crate) fn oldest_first(folder: &Dir) -> Result<Vec<(Metadata, Spot)>, Error> {
    let mut files = Vec::new();
    for name in folder.names()? {
        let spot = folder.spot(&name);
        // Another process may have removed the file.
        if let Some(seen) = spot.metadata()? {
            files.push((seen, spot));
        }
    }
    files.sort_by_key(|(seen, _)| seen.mtime);
    Ok(files)
}
