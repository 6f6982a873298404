//! Verifies that a log is as it was written.

use std::collections::BTreeSet;

use fs_guard::{Dir, Error, Sha256, Spot};
use patch_engine::commit::Workspace;
use serde::Serialize;
use workspace_trash::Keys;

use super::chain::{FOLDER, FoundHead, READ_LIMIT, is_continued_as, newest, older, read_head};
use super::event::{Broken, Event, PurgedLines, Tip, check};
use crate::audit::session_name::SessionName;

/// The result for the log of one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// The session.
    pub session: String,
    /// Whether every line is as it was written, and none is missing.
    pub ok: bool,
    /// The number of good lines before the first bad one.
    pub lines: u64,
    /// Whether signatures could be checked.
    pub signed: bool,
    /// The number of lines that crashes cut off; the line after each records it.
    pub torn_lines: u64,
    /// The transactions whose intents have no outcome yet: one is running or was interrupted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<String>,
    /// The lines at its beginning that were purged with their transactions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purged: Option<Purge>,
    /// The first bad line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_bad: Option<BadLine>,
}

/// The lines that were purged from a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Purge {
    /// How many there were.
    pub lines: u64,
    /// When the last of them were purged: RFC 3339, UTC.
    pub timestamp: String,
}

/// A line that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BadLine {
    /// The file, relative to the root.
    pub file: String,
    /// The number of the line in the file, from 1.
    pub line: u64,
    /// The problem.
    pub problem: String,
}

/// Verifies the logs of all sessions, or of one.
///
/// # Errors
///
/// If they cannot be read.
pub fn verify(
    workspace: &Workspace,
    session: Option<&SessionName>,
) -> Result<Vec<Verified>, Error> {
    let Some(dir) = folder(workspace)? else { return Ok(Vec::new()) };
    let mut keys = Keys::new(workspace.key_place().clone());
    let mut all = Vec::new();
    for name in sessions(&dir)? {
        if session.is_none_or(|session| session.as_str() == name) {
            let mut found = verify_session(&dir, &name, &mut keys)?;
            // Another process may have purged the log meanwhile.
            if !found.ok {
                found = verify_session(&dir, &name, &mut keys)?;
            }
            all.push(found);
        }
    }
    Ok(all)
}

/// Opens the folder of the logs.
pub(super) fn folder(workspace: &Workspace) -> Result<Option<Dir>, Error> {
    match workspace.state_dir()? {
        Some(state) => state.open_dir(FOLDER),
        None => Ok(None),
    }
}

/// Returns whether the program makes a file of this name in the folder of the logs.
pub(crate) fn is_own(name: &str) -> bool {
    name.split_once('.').is_some_and(|(name, rest)| {
        name.parse::<SessionName>().is_ok() && (rest.ends_with("jsonl") || rest == "head")
    })
}

/// Returns the sessions that have a log or a head.
pub(super) fn sessions(dir: &Dir) -> Result<Vec<String>, Error> {
    let names = dir.names()?;
    let mut sessions: Vec<String> = names
        .iter()
        .filter(|name| is_own(name))
        .filter_map(|name| Some(name.split_once('.')?.0.to_owned()))
        .collect();
    sessions.sort_unstable();
    sessions.dedup();
    Ok(sessions)
}

/// Returns the files of a log, oldest first.
pub(super) fn files(dir: &Dir, session: &str) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let read = |spot: Spot| match spot.read(READ_LIMIT) {
        Ok((bytes, _)) => Ok(Some((spot.path(), bytes))),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    let mut files = Vec::new();
    for number in 1.. {
        match read(older(dir, session, number))? {
            Some(file) => files.push(file),
            None if is_continued_as(dir, session, number - 1) => return Ok(files),
            None => break,
        }
    }
    files.extend(read(newest(dir, session))?);
    Ok(files)
}

fn verify_session(dir: &Dir, session: &str, keys: &mut Keys) -> Result<Verified, Error> {
    verify_files(dir, session, &files(dir, session)?, keys, |_| ())
}

/// A line that verifies.
pub(super) struct GoodLine<'f> {
    pub(super) event: Option<&'f Event>,
    /// Where it is in the chain.
    pub(super) tip: Tip,
    /// Where it begins in the bytes of all files.
    pub(super) start: usize,
}

/// Verifies the files of one log, oldest first, and passes each good line to `see`.
pub(super) fn verify_files(
    dir: &Dir,
    session: &str,
    files: &[(String, Vec<u8>)],
    keys: &mut Keys,
    mut see: impl FnMut(GoodLine<'_>),
) -> Result<Verified, Error> {
    let head = read_head(dir, session, keys)?;
    let mut verified = Verified {
        session: session.to_owned(),
        ok: false,
        lines: 0,
        signed: keys.tell()?,
        torn_lines: 0,
        unanswered: Vec::new(),
        purged: None,
        first_bad: None,
    };
    let mut open = BTreeSet::new();
    let mut tip = Tip::START;
    let mut at_head = matches!(&head, FoundHead::Fine(head) if head.tip == tip);
    let mut end = 0;
    for (file, bytes) in files {
        let mut lines = bytes.split_inclusive(|&byte| byte == b'\n').peekable();
        let mut number = 0;
        while let Some(whole) = lines.next() {
            number += 1;
            let start = end;
            end += whole.len();
            let line = whole.strip_suffix(b"\n");
            let result = line.map_or(Ok(Err(Broken::Shape)), |line| check(line, &mut tip, keys))?;
            if let Err(broken) = result {
                // A line that a crash cut off is recorded by the next line.
                if let Some(next) = lines.peek()
                    && tells_of_torn(next, line.unwrap_or_default(), tip, keys)?
                {
                    verified.torn_lines += 1;
                    continue;
                }
                let problem = broken.to_string();
                verified.first_bad = Some(BadLine { file: file.clone(), line: number, problem });
                return Ok(verified);
            }
            verified.lines += 1;
            let event = serde_json::from_slice::<Event>(line.unwrap_or_default()).ok();
            see(GoodLine { event: event.as_ref(), tip, start });
            if let Some(event) = event {
                if let Some(how) = &event.head {
                    let problem = format!(
                        "lines before it can be missing: the file that tells where the log ends \
                         was {how}"
                    );
                    verified.first_bad.get_or_insert(BadLine {
                        file: file.clone(),
                        line: number,
                        problem,
                    });
                }
                open.extend(event.intends());
                event.answers().map(|id| open.remove(&id));
                if let Some(PurgedLines { seq: lines, .. }) = event.purged {
                    verified.purged = Some(Purge { lines, timestamp: event.timestamp });
                }
            }
            at_head |= matches!(&head, FoundHead::Fine(head) if head.tip == tip);
        }
    }
    verified.unanswered = open.iter().map(ToString::to_string).collect();
    let problem = match head {
        FoundHead::Fine(_) if at_head => None,
        FoundHead::Fine(head) => {
            Some(format!("lines are missing at the end: there were {}", head.tip.seq))
        }
        FoundHead::Missing if tip == Tip::START => None,
        FoundHead::Missing => Some("the file that tells where the log ends is missing".to_owned()),
        FoundHead::Damaged => Some("the file that tells where the log ends was changed".to_owned()),
    };
    let at_end = problem.map(|problem| {
        let (file, bytes) = files
            .last()
            .map_or((newest(dir, session).path(), &[][..]), |(f, b)| (f.clone(), &b[..]));
        let line = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        BadLine { file, line, problem }
    });
    verified.first_bad = verified.first_bad.or(at_end);
    verified.ok = verified.first_bad.is_none();
    Ok(verified)
}

/// Returns whether a good line records that `torn` was cut off before it.
fn tells_of_torn(line: &[u8], torn: &[u8], mut tip: Tip, keys: &mut Keys) -> Result<bool, Error> {
    let Some(line) = line.strip_suffix(b"\n") else { return Ok(false) };
    Ok(check(line, &mut tip, keys)?.is_ok()
        && serde_json::from_slice::<Event>(line).is_ok_and(|event| {
            event.torn.is_some_and(|cut_off| {
                cut_off.bytes == torn.len() as u64 && cut_off.sha256 == Sha256::of(torn).to_string()
            })
        }))
}
