//! The disk space of a project's state, and the removal of the state.

use fs_guard::{Dir, Error, FileKind, Wait};
use patch_engine::commit::{self, Removal, State, Workspace};
use serde::Serialize;

use super::{ledger, proposing, refused, snapshots};
use crate::audit;

/// The folders of sessions in a state directory, besides those of the engine. The log is removed
/// last, as the record of applied changes.
const FOLDERS: [&str; 6] =
    [ledger::FOLDER, snapshots::FOLDER, refused::FOLDER, proposing::FOLDER, REVIEWS, audit::FOLDER];

/// The folder of reviews, and the file in it.
#[doc(hidden)]
pub const REVIEWS: &str = "reviews";
#[doc(hidden)]
pub const DECISIONS: &str = "decisions.json";

/// The sizes of the files in a state directory, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreSize {
    /// The displaced files of transactions, for `trash purge` to remove. Their journals are counted
    /// only without an index of the trash.
    pub trash: u64,
    /// The logs.
    pub audit: u64,
    /// Snapshots, and everything else.
    pub other: u64,
}

impl StoreSize {
    /// Returns the sum.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.trash + self.audit + self.other
    }
}

/// Adds up the sizes of the files in the state directory; `None` when there is none. The size of
/// the trash is in its index.
///
/// # Errors
///
/// When the directory is not trusted, or cannot be read.
pub fn store_size(workspace: &Workspace) -> Result<Option<StoreSize>, commit::Error> {
    let Some(store) = workspace.store()? else { return Ok(None) };
    let trash = store.totals()?.map(|totals| totals.bytes);
    Ok(Some(size_of(store.dir(), trash)?))
}

/// Adds up the sizes of the files in a state directory.
///
/// # Errors
///
/// When it cannot be read.
pub fn size_in(state: &Dir) -> Result<StoreSize, Error> {
    size_of(state, None)
}

fn size_of(state: &Dir, trash: Option<u64>) -> Result<StoreSize, Error> {
    let mut size = StoreSize::default();
    for name in state.names()? {
        let known = trash.filter(|_| name == "trash");
        let bytes = known.map_or_else(|| bytes_of(state, &name), Ok)?;
        match name.as_str() {
            "trash" => size.trash += bytes,
            "audit" => size.audit += bytes,
            _ => size.other += bytes,
        }
    }
    Ok(size)
}

/// Removes a state for good, with the folders of sessions.
///
/// # Errors
///
/// Those of [`State::remove`].
pub fn remove_state(state: &State, wait: impl Into<Wait>) -> Result<Removal, commit::Error> {
    state.remove(wait, &FOLDERS, &is_own)
}

/// Returns the bytes of a file, or of all files in a directory; a file that disappears meanwhile
/// counts as empty.
fn bytes_of(dir: &Dir, name: &str) -> Result<u64, Error> {
    let Some(seen) = dir.spot(name).metadata()? else { return Ok(0) };
    if seen.kind != FileKind::Directory {
        return Ok(seen.size);
    }
    let Some(inner) = dir.open_dir(name)? else { return Ok(0) };
    inner.names()?.iter().map(|name| bytes_of(&inner, name)).sum()
}

/// Returns whether a path in the state directory is one of a session's folders or files.
fn is_own(path: &str) -> bool {
    let (folder, path) = path.split_once('/').unwrap_or((path, ""));
    // A killed program may leave the draft of a file.
    let name = path.strip_suffix(".new").unwrap_or(path);
    FOLDERS.contains(&folder)
        && (path.is_empty()
            || match folder {
                ledger::FOLDER => ledger::is_own(name),
                snapshots::FOLDER => snapshots::is_own(name),
                refused::FOLDER => refused::is_own(name),
                REVIEWS => name == DECISIONS,
                proposing::FOLDER => proposing::is_own(name),
                _ => audit::is_own(name),
            })
}
