//! The transactions of a workspace as data.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::SystemTime;

use patch_engine::commit::{self, Error, LogEntry, TransactionId, Unverified, Workspace};
use patch_engine::remedy::{Listing, MAX_PLACES};
use patch_engine::{ErrorKind, HistoryDiffs, Remedy};
use serde_json::{Value, json};
use workspace_trash::{Carried, Journal, Prefix, Record, format_time};

use crate::answer::changes::{CarriedHunk, ChangedFile, LineRange};
use crate::answer::error::{FailureClass, ToolError, journal_problem};
use crate::answer::reason::Reason;

/// The choice of transactions to list.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The most entries to list, the newest first; a turn is one entry.
    pub max_count: Option<usize>,
    /// Only transactions begun at this time or later.
    pub since: Option<SystemTime>,
    /// Only transactions of this session.
    pub session: Option<String>,
    /// Only transactions with a change at or beneath one of these paths; empty for all.
    pub paths: Vec<String>,
}

impl Wanted {
    /// Reads the wanted transactions, grouped as by [`of`](Self::of), and lists the untrusted
    /// journals on the way. Reads no more journals than needed.
    ///
    /// # Errors
    ///
    /// When a journal cannot be read.
    pub fn read(
        &self,
        workspace: &Workspace,
    ) -> Result<(Vec<Vec<LogEntry>>, Vec<Unverified>), Error> {
        let max_count = self.max_count.unwrap_or(usize::MAX);
        let mut found = 0;
        let mut turns = HashSet::new();
        let (mut entries, mut unverified) = workspace.history_while(|entry| {
            if self.has(entry) {
                found += turn_of(entry).map_or(1, |turn| usize::from(turns.insert(turn)));
            }
            found < max_count && self.is_recent(entry)
        })?;
        // The rest of a turn may be older than the entries listed after the turn.
        if found >= max_count && !turns.is_empty() {
            let mut oldest = entries.last().map(|entry| entry.journal.header.id);
            for (_, turn) in &turns {
                let of_turn = workspace.of_turn(turn)?;
                oldest = of_turn.and_then(|ids| ids.last().copied()).min(oldest);
            }
            (entries, unverified) = workspace.history_while(|entry| {
                oldest.is_none_or(|oldest| entry.journal.header.id > oldest)
                    && self.is_recent(entry)
            })?;
        }
        Ok((self.of(entries), unverified))
    }

    /// Returns whether a transaction began at the wanted time or later.
    fn is_recent(&self, entry: &LogEntry) -> bool {
        self.since.is_none_or(|since| entry.journal.header.id.time() >= since)
    }

    /// Returns whether a transaction is of the wanted time and session, and has a change at the
    /// wanted paths.
    fn has(&self, entry: &LogEntry) -> bool {
        let Journal { header, records, created_dirs, removed_dirs, .. } = &entry.journal;
        let dirs =
            created_dirs.iter().map(|(dir, _)| dir).chain(removed_dirs.iter().map(|(dir, _)| dir));
        let paths: Vec<&String> = records.iter().map(|record| &record.path).chain(dirs).collect();
        self.is_recent(entry)
            && (self.session.is_none() || self.session == header.session)
            && (self.paths.is_empty()
                || self.paths.iter().any(|wanted| {
                    let wanted = wanted.trim_end_matches('/').trim_start_matches("./");
                    let wanted = if wanted == "." { "" } else { wanted };
                    paths.iter().any(|path| is_beneath(path, wanted))
                }))
    }

    /// Filters a list of transactions, the newest first. The transactions of a turn are one group,
    /// at the place of the newest; every other transaction is a group of its own.
    #[must_use]
    pub fn of(&self, mut newest_first: Vec<LogEntry>) -> Vec<Vec<LogEntry>> {
        newest_first.retain(|entry| self.has(entry));
        let mut grouped: Vec<Vec<LogEntry>> = Vec::new();
        let mut turns: HashMap<(Option<String>, String), usize> = HashMap::new();
        for entry in newest_first {
            match turn_of(&entry).map(|turn| *turns.entry(turn).or_insert(grouped.len())) {
                Some(at) if at < grouped.len() => grouped[at].push(entry),
                _ => grouped.push(vec![entry]),
            }
        }
        grouped.truncate(self.max_count.unwrap_or(usize::MAX));
        grouped
    }
}

fn is_beneath(path: &str, dir: &str) -> bool {
    match dir {
        "" => !Prefix::leads_out(path),
        dir => path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    }
}

/// Returns the session and the name of a transaction's turn.
fn turn_of(entry: &LogEntry) -> Option<(Option<String>, String)> {
    let header = &entry.journal.header;
    header.turn.clone().map(|turn| (header.session.clone(), turn))
}

/// Finds the session with this name in the log, or the only session with this prefix.
///
/// # Errors
///
/// When there is none or more than one, or the journals cannot be read.
pub fn session(workspace: &Workspace, name: &str) -> Result<String, ToolError> {
    let log = workspace.log()?;
    let all: BTreeSet<&str> =
        log.iter().filter_map(|entry| entry.journal.header.session.as_deref()).collect();
    let begun: Vec<&str> = match all.get(name) {
        Some(same) => vec![*same],
        None if name.is_empty() => Vec::new(),
        None => all.iter().filter(|session| session.starts_with(name)).copied().collect(),
    };
    match &begun[..] {
        [one] => Ok((*one).to_owned()),
        [] => Err(not_in_log(format!("there is no session {name:?} in the log"))),
        many => {
            let named: Vec<_> = many.iter().take(MAX_PLACES).copied().collect();
            let message = format!("several sessions begin with {name:?}: {}", named.join(", "));
            Err(ToolError::new(FailureClass::Usage, ErrorKind::CommandFailed, message)
                .reason(Reason::NoTransaction)
                .remedies([Remedy::See(Listing::Log)]))
        }
    }
}

/// Makes the error of a name without a transaction or a session in the log.
fn not_in_log(message: String) -> ToolError {
    ToolError::new(FailureClass::DoesNotApply, ErrorKind::NotFound, message)
        .reason(Reason::NoTransaction)
        .remedies([Remedy::See(Listing::Log)])
}

/// Finds a transaction by its id, by a unique beginning or end of the id or of its short form, of
/// at least [four characters](TransactionId::NAMED_BY), by `last`, or by `@N` for the N-th newest
/// of the log.
///
/// # Errors
///
/// When there is none or more than one, or the journals cannot be read.
pub fn find(workspace: &Workspace, name: &str) -> Result<TransactionId, ToolError> {
    if let Ok(id) = name.parse() {
        return Ok(id);
    }
    let nth = if name == "last" {
        Some(1)
    } else {
        name.strip_prefix('@').and_then(|nth| nth.parse().ok()).filter(|&nth| nth > 0)
    };
    if let Some(nth) = nth {
        return nth_newest(workspace, name, nth);
    }
    if name.len() < TransactionId::NAMED_BY && !name.starts_with('@') {
        return Err(too_short(name));
    }
    let all =
        workspace.store()?.map(|store| store.transactions()).transpose().map_err(Error::from)?;
    let mut found: Vec<_> =
        all.unwrap_or_default().into_iter().filter(|id| id.is_named(name)).collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(not_in_log(format!("there is no transaction {name:?}"))),
        count => {
            let named: Vec<_> = found.iter().take(MAX_PLACES).map(ToString::to_string).collect();
            let more = if count > named.len() { ", …" } else { "" };
            Err(not_in_log(format!(
                "{name:?} is the beginning or the end of {count} transactions: {}{more}",
                named.join(", ")
            )))
        }
    }
}

/// Finds the N-th newest transaction; `name` is the name given for it.
fn nth_newest(workspace: &Workspace, name: &str, nth: usize) -> Result<TransactionId, ToolError> {
    let mut read = 0;
    let (entries, _) = workspace.history_while(|_| {
        read += 1;
        read < nth
    })?;
    match entries.get(nth - 1) {
        Some(entry) => Ok(entry.journal.header.id),
        None => Err(not_in_log(match entries.len() {
            1 => format!("there is no transaction {name}: there is one"),
            count => format!("there is no transaction {name}: there are {count}"),
        })),
    }
}

/// Makes the error of a name too short for an id.
fn too_short(name: &str) -> ToolError {
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let nth = name.parse().ok().filter(|nth: &usize| is_number && *nth > 0);
    not_in_log(match nth {
        Some(nth) => format!(
            "{name:?} names no transaction: write \"@{nth}\" to count back from the newest, which \
             is \"@1\"; of an id, write four characters at least"
        ),
        None => format!(
            "{name:?} names no transaction: of an id, write four characters at least, or \"@N\" for \
             the N-th newest"
        ),
    })
}

/// The change of a file in a transaction.
#[derive(Debug, Clone, Copy)]
pub struct FileChange<'j> {
    /// `A`, `M`, `D` or `R`.
    pub letter: char,
    /// The record of the file, at the old path if the file moved.
    pub before: &'j Record,
    /// The record of the new path, if the file moved.
    pub moved_to: Option<&'j Record>,
}

impl<'j> FileChange<'j> {
    fn new(before: &'j Record, moved_to: Option<&'j Record>) -> Self {
        let letter = match (&before.before, &before.after) {
            _ if moved_to.is_some() => 'R',
            (None, _) => 'A',
            (_, None) => 'D',
            _ => 'M',
        };
        Self { letter, before, moved_to }
    }

    /// Returns the path, or both paths of a move.
    #[must_use]
    pub fn paths(&self) -> String {
        match self.moved_to {
            Some(to) => format!("{} -> {}", self.before.path, to.path),
            None => self.before.path.clone(),
        }
    }
}

/// Lists the changes of a transaction, in the order of the journal.
#[must_use]
pub fn changes(journal: &Journal) -> Vec<FileChange<'_>> {
    let moves = journal.moves();
    let to_of: BTreeMap<u32, &Record> = moves.iter().map(|(from, to)| (from.slot, *to)).collect();
    let came: BTreeSet<u32> = moves.iter().map(|(_, to)| to.slot).collect();
    journal
        .records
        .iter()
        // A file may have moved away from the new place of another.
        .filter(|record| !came.contains(&record.slot) || to_of.contains_key(&record.slot))
        .map(|record| FileChange::new(record, to_of.get(&record.slot).copied()))
        .collect()
}

/// Lists transactions as data, with their turns, and the transactions with untrusted journals.
///
/// # Errors
///
/// When the journals, or files for a diff, cannot be read.
pub fn log(workspace: &Workspace, wanted: &Wanted, with_diff: bool) -> Result<Value, Error> {
    let (grouped, unverified) = wanted.read(workspace)?;
    listed(workspace, &grouped, &unverified, with_diff)
}

/// Lists the transactions in these groups of [`Wanted::of`] as data, with their turns, and the
/// transactions with untrusted journals. The diff of a turn is with the turn.
///
/// # Errors
///
/// When files for a diff cannot be read.
pub fn listed(
    workspace: &Workspace,
    grouped: &[Vec<LogEntry>],
    unverified: &[Unverified],
    with_diff: bool,
) -> Result<Value, Error> {
    let store = workspace.store()?;
    let diffs = HistoryDiffs::new(workspace, store.as_ref());
    let diffs = with_diff.then_some(&diffs);
    let transactions = grouped.iter().flat_map(|entries| {
        let diffs = diffs.filter(|_| !is_turn(entries));
        entries.iter().map(move |entry| transaction_with(workspace, entry, diffs))
    });
    let transactions: Result<Vec<_>, Error> = transactions.collect();
    let turns = grouped.iter().filter(|entries| is_turn(entries));
    let turns: Result<Vec<_>, Error> = turns.map(|entries| turn_with(entries, diffs)).collect();
    let not_verified: Vec<_> = unverified.iter().map(not_verified).collect();
    Ok(json!({ "transactions": transactions?, "turns": turns?, "notVerified": not_verified }))
}

/// Returns whether a group of transactions is a turn.
fn is_turn(entries: &[LogEntry]) -> bool {
    entries[0].journal.header.turn.is_some()
}

/// Describes a transaction with an untrusted journal as data.
fn not_verified(one: &Unverified) -> Value {
    let mut value = json!({
        "id": one.id.to_string(),
        "problem": one.problem.to_string(),
        "details": journal_problem(&one.problem),
        "undoneBy": one.undone_by.map(|id| id.to_string()),
    });
    if let Some(command) = trusting(one) {
        value["undo"] = command.into();
    }
    value
}

/// Describes a turn as data, by its transactions, the newest first, with its diff.
///
/// # Errors
///
/// When files for the diff cannot be read.
pub fn turn(workspace: &Workspace, entries: &[LogEntry]) -> Result<Value, Error> {
    let store = workspace.store()?;
    turn_with(entries, Some(&HistoryDiffs::new(workspace, store.as_ref())))
}

fn turn_with(entries: &[LogEntry], diffs: Option<&HistoryDiffs<'_>>) -> Result<Value, Error> {
    let first = entries.last().map(|entry| entry.journal.header.id.time());
    let newest = entries.first().map(|entry| &entry.journal.header);
    let ids = entries.iter().map(|entry| entry.journal.header.id.to_string());
    let mut value = json!({
        "id": newest.and_then(|header| header.turn.as_ref()),
        "session": newest.and_then(|header| header.session.as_ref()),
        "timestamp": first.map(format_time),
        "transactions": ids.collect::<Vec<_>>(),
        "undone": is_undone(entries),
    });
    if let Some(diffs) = diffs {
        let turn = diffs.of(entries)?;
        let files: Vec<_> = turn.changes().into_iter().map(ChangedFile::of_turn).collect();
        value["changedFiles"] = json!(files);
        value["diff"] = String::from_utf8_lossy(&turn.diff()).into();
    }
    Ok(value)
}

/// Returns whether all transactions of a turn are undone.
#[must_use]
pub fn is_undone(entries: &[LogEntry]) -> bool {
    commit::standing(entries, |_| true).is_empty()
}

/// Describes one transaction as data.
///
/// # Errors
///
/// When files for the diff cannot be read.
pub fn transaction(
    workspace: &Workspace,
    entry: &LogEntry,
    with_diff: bool,
) -> Result<Value, Error> {
    let store = if with_diff { workspace.store()? } else { None };
    let diffs = HistoryDiffs::new(workspace, store.as_ref());
    transaction_with(workspace, entry, with_diff.then_some(&diffs))
}

fn transaction_with(
    workspace: &Workspace,
    entry: &LogEntry,
    diffs: Option<&HistoryDiffs<'_>>,
) -> Result<Value, Error> {
    let header = &entry.journal.header;
    let mut value = json!({
        "id": header.id.to_string(),
        "shortId": header.id.short(),
        "timestamp": format_time(header.id.time()),
        "tool": header.tool,
        "agent": header.agent,
        "session": header.session,
        "turnId": header.turn,
        "undoOf": header.undo_of.map(|id| id.to_string()),
        "undoneBy": entry.undone_by.map(|id| id.to_string()),
        "rolledBack": entry.aborted,
        "files": changes(&entry.journal)
            .iter()
            .map(|change| file(workspace, header.id, change))
            .collect::<Vec<_>>(),
    });
    if !header.also_undo_of.is_empty() {
        let also = header.also_undo_of.iter().map(ToString::to_string);
        value["alsoUndoOf"] = also.collect::<Vec<_>>().into();
    }
    if !entry.journal.carried.is_empty() {
        let carried = entry.journal.carried.iter().map(carried_hunk);
        value["carried"] = json!(carried.collect::<Vec<_>>());
    }
    if let Some(diffs) = diffs {
        let diff = diffs.of(std::slice::from_ref(entry))?.diff();
        value["diff"] = String::from_utf8_lossy(&diff).into();
    }
    Ok(value)
}

/// Describes the change of a file as data.
fn file(workspace: &Workspace, id: TransactionId, change: &FileChange<'_>) -> Value {
    let FileChange { letter, before: record, moved_to } = change;
    let after = moved_to.unwrap_or(record);
    let operation = match letter {
        'A' => "create",
        'D' => "delete",
        'R' => "move",
        _ => "update",
    };
    let mut value = json!({
        "path": record.path,
        "operation": operation,
        "beforeSha256": record.before.as_ref().map(|state| state.sha256.to_string()),
        "afterSha256": after.after.as_ref().map(|state| state.sha256.to_string()),
        "trashedTo": record.before.as_ref().map(|_| workspace.stored_path(id, record.slot)),
    });
    if let Some(to) = moved_to {
        value["toPath"] = to.path.clone().into();
    }
    value
}

fn carried_hunk(carried: &Carried) -> CarriedHunk {
    CarriedHunk {
        path: carried.path.clone(),
        hunk: carried.hunk,
        from: LineRange { start_line: carried.from.0, end_line: carried.from.1 },
        to: LineRange { start_line: carried.to.0, end_line: carried.to.1 },
        already_there: carried.already_there,
        changed_by: None,
    }
}

/// Returns the command to undo a transaction signed with another key.
#[must_use]
pub fn trusting(one: &Unverified) -> Option<String> {
    let may = one.problem.can_be_trusted() && one.undone_by.is_none();
    may.then(|| format!("apply-patch undo {} --trust", one.id))
}
