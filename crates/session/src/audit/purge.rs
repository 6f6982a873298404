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
use super::event::{Event, Operation, Phase, PurgedLines, Tip, check};
use super::verify::{files, folder, sessions, verify_session};
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
        // Most logs have nothing to remove: whether this one has is looked at before it is locked.
        let found = find(dir, session, cut, &mut keys())?;
        if dry_run || found.is_none() {
            return Ok(found.map_or(0, |found| found.count));
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

/// Finds the lines that are to be removed; `None` if there are none, or the log does not verify.
fn find(dir: &Dir, session: &str, cut: &Cut, keys: &mut Keys) -> Result<Option<Found>, Error> {
    let files = files(dir, session)?;
    let all = || files.iter().flat_map(|(_, bytes)| bytes.split_inclusive(|&byte| byte == b'\n'));
    let event = |line: &[u8]| serde_json::from_slice::<Event>(line).ok();
    let is_removed = |event: &Event| event.phase == Phase::Purged || cut.removes(event);
    // A line that a crash cut off goes with the next one.
    let first = all().position(|line| event(line).is_some_and(|event| !is_removed(&event)));
    let before = first.unwrap_or_else(|| all().count());
    let (mut count, mut is_over) = (0, first.is_none());
    for event in all().take(before).filter_map(event) {
        count += u64::from(event.phase != Phase::Purged);
        is_over &= event.phase == Phase::Purged && cut.removes(&event);
    }
    if count == 0 && !(is_over && before > 0) {
        return Ok(None);
    }
    if !verify_session(dir, session, keys)?.ok {
        return Ok(None);
    }
    let (mut tip, mut last, mut open) = (Tip::START, Tip::START, BTreeSet::new());
    for (nth, line) in all().enumerate() {
        let _ = check(line.strip_suffix(b"\n").unwrap_or(line), &mut tip, keys)?;
        if nth < before {
            last = tip;
        } else if let Some(event) = event(line) {
            open.extend(event.intends());
            event.answers().map(|id| open.remove(&id));
        }
    }
    let rest = all().skip(before).flatten().copied().collect();
    Ok(Some(Found { count, last, rest, end: tip, open, is_over }))
}
