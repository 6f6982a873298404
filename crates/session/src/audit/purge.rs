//! Removes the lines of transactions that are gone.
//!
//! A commit says which transactions were purged, so that their lines go with them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::SystemTime;

use fs_guard::{Dir, Error};
use patch_engine::commit::{TransactionId, Workspace};
use workspace_trash::{Keys, Retention, format_time};

use super::Audit;
use super::chain::{Chain, newest};
use super::event::{Event, Operation, Phase, PurgedLines, Tip};
use super::verify::{files, folder, sessions, verify_files};
use crate::audit::session_name::SessionName;

/// Which lines are kept.
#[derive(Debug)]
pub(crate) struct Cut {
    /// The oldest transaction that is kept.
    oldest: Option<TransactionId>,
    /// The time from which on a line is kept that is of no transaction.
    time: String,
}

impl Cut {
    /// Keeps the lines from a transaction on.
    pub(crate) fn before(oldest: TransactionId) -> Self {
        Self { oldest: Some(oldest), time: format_time(oldest.time()) }
    }

    /// Keeps what is kept of failed calls where there are no transactions.
    pub(crate) fn of_retention(retention: &Retention, now: SystemTime) -> Self {
        let is_none = retention.max_count == 0 || retention.max_bytes == 0;
        let age = if is_none { Default::default() } else { retention.max_age };
        let time = now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
        Self { oldest: None, time: format_time(time) }
    }

    fn removes(&self, event: &Event) -> bool {
        match event.transaction_id.as_ref().and_then(|id| id.parse::<TransactionId>().ok()) {
            Some(id) => self.oldest.is_none_or(|oldest| id < oldest),
            None => event.timestamp < self.time,
        }
    }
}

/// Removes the first lines of every log, up to the first that is kept, or only counts them. A log
/// that does not verify is left for a person to look at. `audit` has the agent, and how long to wait
/// for others who write.
///
/// # Errors
///
/// If a log cannot be read or written.
pub(crate) fn purge(
    audit: &Audit,
    workspace: &Workspace,
    cut: &Cut,
    durable: bool,
    dry_run: bool,
) -> Result<u64, Error> {
    let Some(dir) = folder(workspace)? else { return Ok(0) };
    let mut removed = 0;
    for session in sessions(&dir)? {
        let Ok(session) = session.parse() else { continue };
        if newest(&dir, SessionName::as_str(&session)).metadata()?.is_none() {
            // It was interrupted while it was continued in another file; its next line mends that.
            continue;
        }
        let audit = Audit { session, ..audit.clone() };
        let purged = audit.purge(workspace, &dir, cut, durable, dry_run);
        removed += match purged {
            Err(Error::Locked { .. }) if audit.lock_timeout.is_zero() => 0,
            purged => purged?,
        };
    }
    Ok(removed)
}

/// The lines of a log that are removed, and the rest of it.
struct Found {
    count: u64,
    /// Where the last one of them is.
    last: Tip,
    rest: Vec<u8>,
    /// Where the last line is.
    end: Tip,
    /// The intents in the rest that have no outcome yet.
    open: BTreeSet<TransactionId>,
    /// Nothing but the line is left that tells of an earlier purge, and it is removed too.
    is_over: bool,
}

impl Audit {
    fn purge(
        &self,
        workspace: &Workspace,
        dir: &Dir,
        cut: &Cut,
        durable: bool,
        dry_run: bool,
    ) -> Result<u64, Error> {
        let session = self.session.as_str();
        let key = workspace.key();
        let signer = key.signer()?;
        let keys = || {
            let mut keys = Keys::new(key.place().clone());
            signer.iter().for_each(|signer| keys.set_own(signer));
            keys
        };
        if dry_run {
            return Ok(find(dir, session, cut, &mut keys())?.map_or(0, |found| found.count));
        }
        // Most logs have nothing to remove: this is looked at before one is locked.
        if !may_have_some(&files(dir, session)?, cut) {
            return Ok(0);
        }
        let chain = Chain::lock(
            &workspace.create_state_dir()?,
            session,
            (signer, RefCell::new(keys())),
            durable,
            self.lock_timeout,
        )?;
        let Some(found) = find(dir, session, cut, &mut keys())? else { return Ok(0) };
        if found.is_over {
            chain.remove()?;
            return Ok(found.count);
        }
        let Tip { seq, hash } = found.last;
        let now = format_time(SystemTime::now());
        let event = Event {
            purged: Some(PurgedLines { seq, hash: hash.to_string() }),
            ..Event::new(now, session, "purge", Phase::Purged, Operation::Patch)
        };
        let mut line = serde_json::to_vec(&event).expect("text keys");
        line.pop();
        chain.begin_anew(&line, &found.rest, found.end, found.open)?;
        Ok(found.count)
    }
}

/// Returns whether a log may have lines that are to be removed, by its first lines.
fn may_have_some(files: &[(String, Vec<u8>)], cut: &Cut) -> bool {
    let lines = files.iter().flat_map(|(_, bytes)| bytes.split(|&byte| byte == b'\n'));
    let mut events = lines.filter_map(|line| serde_json::from_slice::<Event>(line).ok());
    events.find(|event| event.phase != Phase::Purged).is_none_or(|event| cut.removes(&event))
}

/// Finds the lines that are to be removed; `None` if there are none, or the log does not verify.
fn find(dir: &Dir, session: &str, cut: &Cut, keys: &mut Keys) -> Result<Option<Found>, Error> {
    let files = files(dir, session)?;
    let mut found = Found {
        count: 0,
        last: Tip::START,
        rest: Vec::new(),
        end: Tip::START,
        open: BTreeSet::new(),
        is_over: false,
    };
    // Where the first line is that is kept: one that a crash cut off before it goes too.
    let mut kept = None;
    let mut is_over = true;
    let mut lines = 0;
    let verified = verify_files(dir, session, &files, keys, |line| {
        found.end = line.tip;
        lines += 1;
        if kept.is_none()
            && line.event.is_some_and(|it| it.phase != Phase::Purged && !cut.removes(it))
        {
            kept = Some(line.start);
        }
        if kept.is_none() {
            found.last = line.tip;
            let purge = line.event.filter(|event| event.phase == Phase::Purged);
            found.count += u64::from(line.event.is_some() && purge.is_none());
            is_over &= line.event.is_none() || purge.is_some_and(|event| cut.removes(event));
        } else if let Some(event) = line.event {
            found.open.extend(event.intends());
            event.answers().map(|id| found.open.remove(&id));
        }
    })?;
    found.is_over = is_over && kept.is_none();
    if !verified.ok || found.count == 0 && !(found.is_over && lines > 0) {
        return Ok(None);
    }
    if let Some(start) = kept {
        let all: Vec<&[u8]> = files.iter().map(|(_, bytes)| &bytes[..]).collect();
        found.rest = all.concat().split_off(start);
    }
    Ok(Some(found))
}
