//! What a session has read, so that it does not write over what it has not seen.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fs_guard::{Dir, Error, Sha256};
use patch_engine::ErrorKind;
use patch_engine::commit::{self, Workspace};
use workspace_trash::Prefix;

use crate::session::session_name::SessionName;

/// The folder of the ledgers in the state directory.
const FOLDER: &str = "sessions";

/// A longer ledger is rewritten, with one line for each file.
const COMPACT_SIZE: u64 = 1 << 20;
const MAX_SIZE: u64 = 64 << 20;

/// The hash that each file had when the session read or wrote it last.
///
/// A ledger can only make a write fail, never permit one, so it is not signed: the worst that a
/// forged one can do is a refusal, which ends when the file is read again.
#[derive(Debug)]
pub(crate) struct Ledger {
    /// The session whose ledger is kept on disk; `None` for one in memory only.
    kept: Option<SessionName>,
    /// How long to wait for another process that writes to it.
    lock_timeout: Duration,
    seen: Mutex<BTreeMap<String, Sha256>>,
}

impl Ledger {
    /// Makes a ledger that lasts as long as the process.
    pub(crate) fn in_memory() -> Self {
        Self { kept: None, lock_timeout: Duration::ZERO, seen: Mutex::default() }
    }

    /// Opens the ledger of a session in the state directory.
    pub(crate) fn open(
        workspace: &Workspace,
        session: &SessionName,
        lock_timeout: Duration,
    ) -> Result<Self, commit::Error> {
        let mut seen = BTreeMap::new();
        if let Some(dir) = folder(workspace)? {
            match dir.spot(&file_name(session)).read(MAX_SIZE) {
                Ok((bytes, _)) => {
                    // A line that a crash cut off is skipped.
                    for line in String::from_utf8_lossy(&bytes).split_inclusive('\n') {
                        read_line(line, workspace.prefix(), &mut seen);
                    }
                    if bytes.len() as u64 > COMPACT_SIZE {
                        compact(&dir, session, (&seen, workspace.prefix()), lock_timeout)?;
                    }
                }
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self { kept: Some(session.clone()), lock_timeout, seen: Mutex::new(seen) })
    }

    pub(crate) fn get(&self, path: &str) -> Option<Sha256> {
        self.seen().get(path).copied()
    }

    /// Notes the hashes that files have now; `None` for a file that is gone.
    pub(crate) fn note(
        &self,
        workspace: &Workspace,
        files: &[(String, Option<Sha256>)],
    ) -> Result<(), commit::Error> {
        let mut lines = String::new();
        for (path, hash) in files {
            let known = match hash {
                Some(hash) => self.seen().insert(path.clone(), *hash),
                None => self.seen().remove(path),
            };
            if known == *hash {
                continue;
            }
            match hash {
                Some(hash) => writeln!(lines, "{hash} {}", workspace.prefix().join(path)),
                None => writeln!(lines, "- {}", workspace.prefix().join(path)),
            }
            .expect("a string takes all");
        }
        let Some(session) = self.kept.as_ref().filter(|_| !lines.is_empty()) else { return Ok(()) };
        match append(workspace, session, &lines, self.lock_timeout) {
            // Where nothing can be written, there is no need to remember what was read.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
            result => result,
        }
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<String, Sha256>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn folder(workspace: &Workspace) -> Result<Option<Dir>, Error> {
    match workspace.state_dir()? {
        Some(state) => state.open_dir(FOLDER),
        None => Ok(None),
    }
}

fn append(
    workspace: &Workspace,
    session: &SessionName,
    lines: &str,
    lock_timeout: Duration,
) -> Result<(), commit::Error> {
    workspace.make_state(lock_timeout)?;
    let dir = workspace.create_state_dir()?.open_or_create_dir(FOLDER)?;
    let _lock = dir.spot("lock").lock(lock_timeout)?;
    Ok(dir.spot(&file_name(session)).append()?.append(lines.as_bytes())?)
}

fn compact(
    dir: &Dir,
    session: &SessionName,
    (seen, prefix): (&BTreeMap<String, Sha256>, &Prefix),
    lock_timeout: Duration,
) -> Result<(), Error> {
    let _lock = dir.spot("lock").lock(lock_timeout)?;
    let mut text = String::new();
    for (path, hash) in seen {
        writeln!(text, "{hash} {}", prefix.join(path)).expect("a string takes all");
    }
    dir.spot(&file_name(session)).write(text.as_bytes(), false)
}

fn file_name(session: &SessionName) -> String {
    format!("{session}.reads")
}

/// Paths have no control characters, so a line is a line. They are the project's.
fn read_line(line: &str, prefix: &Prefix, seen: &mut BTreeMap<String, Sha256>) {
    let Some((hash, path)) = line.strip_suffix('\n').and_then(|line| line.split_once(' ')) else {
        return;
    };
    let path = prefix.relative(path);
    if hash == "-" {
        seen.remove(&path);
    } else if let Ok(hash) = hash.parse() {
        seen.insert(path, hash);
    }
}
