//! Compares the hashes in the logs with the files on the disk.

use std::collections::{BTreeMap, HashSet};

use fs_guard::Dir;
use fs_guard::{Access, Cancellation, FileKind, Sha256};
use patch_engine::commit::Workspace;
use serde::Serialize;

use super::event::{Event, Operation, Phase};
use super::verify::{files, folder, sessions};
use crate::audit::session_name::SessionName;

/// A path in the logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PathState {
    /// The path.
    pub path: String,
    /// How the file on the disk compares with the log.
    pub status: Status,
    /// The hash that the last transaction left; empty if it left no file.
    pub logged_sha256: String,
    /// The hash on the disk; empty if there is no file.
    pub actual_sha256: String,
    /// The last transaction.
    pub transaction_id: String,
}

/// How a file on the disk compares with the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It has the hash in the log.
    Same,
    /// It has other bytes.
    Changed,
    /// It is gone.
    Missing,
    /// According to the log there is no file.
    Unexpected,
    /// It cannot be read.
    Unreadable,
}

/// The last known state of a path.
struct LastKnown {
    transaction: String,
    hash: String,
    /// The hash from before, if the log does not show whether the change was made.
    or: Option<String>,
}

/// Rebuilds the last known hash of every path from the logs alone, and compares it with the disk.
///
/// # Errors
///
/// If the logs cannot be read.
pub fn state(workspace: &Workspace) -> Result<Vec<PathState>, fs_guard::Error> {
    let events = events(workspace)?;
    let states = last_known(&events).into_iter().map(|(path, known)| {
        let actual = actual(workspace, &path);
        let status = match &actual {
            Err(()) => Status::Unreadable,
            Ok(actual) if *actual == known.hash || known.or.as_ref() == Some(actual) => {
                Status::Same
            }
            Ok(actual) if actual.is_empty() => Status::Missing,
            Ok(_) if known.hash.is_empty() => Status::Unexpected,
            Ok(_) => Status::Changed,
        };
        let LastKnown { transaction, hash, .. } = known;
        let actual_sha256 = actual.unwrap_or_default();
        let path = workspace.prefix().relative(&path);
        PathState { path, status, logged_sha256: hash, actual_sha256, transaction_id: transaction }
    });
    Ok(states.collect())
}

/// Returns all events of all logs. Lines that are not events are skipped.
pub(crate) fn events(workspace: &Workspace) -> Result<Vec<Event>, fs_guard::Error> {
    let Some(dir) = folder(workspace)? else { return Ok(Vec::new()) };
    let mut events = Vec::new();
    for session in sessions(&dir)? {
        for (_, bytes) in files(&dir, &session)? {
            let lines = bytes.split(|&byte| byte == b'\n');
            events.extend(lines.filter_map(|line| serde_json::from_slice::<Event>(line).ok()));
        }
    }
    Ok(events)
}

/// Returns the turns that ended in a session.
pub(crate) fn ended_turns(
    workspace: &Workspace,
    session: &str,
) -> Result<HashSet<String>, fs_guard::Error> {
    let Some(dir) = folder(workspace)? else { return Ok(HashSet::new()) };
    let mut ended = HashSet::new();
    for (_, bytes) in files(&dir, session)? {
        let text = String::from_utf8_lossy(&bytes);
        // Most lines are of commits, and some of them are long.
        let lines = text.lines().filter(|line| line.contains(r#""phase":"ended""#));
        let events = lines.filter_map(|line| serde_json::from_str::<Event>(line).ok());
        ended.extend(events.filter_map(|event| event.turn_id));
    }
    Ok(ended)
}

/// Returns the intents in the log of one session.
pub(super) fn intents(dir: &Dir, session: &SessionName) -> Result<Vec<Event>, fs_guard::Error> {
    let mut intents = Vec::new();
    for (_, bytes) in files(dir, session.as_str())? {
        let events = bytes
            .split(|&byte| byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Event>(line).ok());
        intents.extend(events.filter(|event| event.phase == Phase::Intent));
    }
    Ok(intents)
}

fn last_known(events: &[Event]) -> BTreeMap<String, LastKnown> {
    // The outcome of each transaction. Ids sort by time.
    let mut ended: BTreeMap<&str, bool> = BTreeMap::new();
    for event in events {
        if let (Some(id), Some(ok), Phase::Outcome | Phase::Recovered) =
            (&event.transaction_id, event.ok, event.phase)
        {
            ended.insert(id, ok);
        }
    }
    let mut intents: Vec<_> = events
        .iter()
        .filter(|event| event.phase == Phase::Intent)
        .filter_map(|event| Some((event.transaction_id.as_deref()?, event)))
        .collect();
    intents.sort_by_key(|(id, _)| *id);
    let mut paths = BTreeMap::new();
    for (id, event) in intents {
        let happened = ended.get(id).copied();
        if happened == Some(false) {
            continue;
        }
        let mut set = |path: &str, hash: Option<&String>, before: Option<&String>| {
            let (hash, before) =
                (hash.cloned().unwrap_or_default(), before.cloned().unwrap_or_default());
            let or = happened.is_none().then_some(before);
            paths.insert(path.to_owned(), LastKnown { transaction: id.to_owned(), hash, or });
        };
        let (before, after) = (event.before_sha256.as_ref(), event.after_sha256.as_ref());
        match (event.operation, &event.to_path) {
            (Operation::Move, Some(to)) => {
                set(&event.path, None, before);
                set(to, after, None);
            }
            _ => set(&event.path, after, before),
        }
    }
    paths
}

/// Returns the hash of what is at a path of the project; empty if there is no file or link.
fn actual(workspace: &Workspace, path: &str) -> Result<String, ()> {
    let root = workspace.home();
    let path = root.check(path, Access::Read).map_err(drop)?;
    match root.metadata(&path).map_err(drop)? {
        None => Ok(String::new()),
        Some(seen) if seen.kind == FileKind::Symlink => {
            Ok(Sha256::of(&root.read_link(&path).map_err(drop)?).to_string())
        }
        Some(seen) if seen.kind == FileKind::File => Ok(root
            .open_file(&path)
            .and_then(|(mut file, _)| file.hash(&Cancellation::NEVER))
            .map_err(drop)?
            .to_string()),
        Some(_) => Ok(String::new()),
    }
}
