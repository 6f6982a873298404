//! Net changes: what several transactions did together, without the changes of others between
//! them.

use std::collections::HashSet;
use std::fmt;

use patch_engine::commit::{self, LogEntry, TransactionId};
use patch_engine::{ChangeBetween, HistoryDiffs, TurnDiff};
use serde::Serialize;
use workspace_trash::format_time;

use crate::answer::changed_by::ChangedBy;
use crate::answer::changes::ChangedFile;
use crate::session::Session;

/// The net changes of several transactions.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NetChanges {
    /// The ids of the transactions, the newest first, with those that are undone.
    pub transactions: Vec<String>,
    /// The sessions of the transactions.
    pub sessions: Vec<String>,
    /// The beginning of the first transaction: RFC 3339, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The beginning of the last transaction: RFC 3339, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The files that differ: from before the first transaction to after the last one.
    pub changed_files: Vec<ChangedFile>,
    /// The changes of the same files by others, between the transactions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_between: Vec<ChangedBetween>,
    /// The changes as one diff in git's form, without the bytes no longer known.
    pub diff: String,
}

/// A change of a file by others, between two of the transactions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedBetween {
    /// The file.
    pub path: String,
    /// Whether the diff leaves the change out. Otherwise the two cannot be told apart, and the diff
    /// has both.
    pub left_out: bool,
    /// Who changed the file, the newest first.
    pub by: Vec<ChangedBy>,
}

impl fmt::Display for ChangedBetween {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by: Vec<_> = self.by.iter().map(ToString::to_string).collect();
        let rest = if self.left_out {
            "that is not in this diff"
        } else {
            "this diff has both, as they cannot be told apart"
        };
        write!(f, "{} was also changed in between {}; {rest}", self.path, by.join(", and "))
    }
}

/// The net changes of several transactions, and their diff before it is written as text.
#[derive(Debug)]
pub struct NetDiff {
    /// The net changes.
    pub data: NetChanges,
    /// The diff, in git's form.
    pub diff: Vec<u8>,
    /// The diff with the files that it is made of.
    pub turn: TurnDiff,
}

impl Session {
    /// Returns the net changes of transactions, the newest first: those whose changes stand, from
    /// the files before the first to the files after the last.
    ///
    /// # Errors
    ///
    /// When the history or a file cannot be read.
    pub fn net_changes(&self, newest_first: &[LogEntry]) -> Result<NetDiff, commit::Error> {
        let workspace = self.workspace();
        let store = workspace.store()?;
        let net = HistoryDiffs::new(workspace, store.as_ref()).net(newest_first)?;
        let diff = net.diff();
        let time = |entry: &LogEntry| format_time(entry.journal.header.id.time());
        let mut sessions: Vec<String> =
            newest_first.iter().filter_map(|entry| entry.journal.header.session.clone()).collect();
        sessions.sort_unstable();
        sessions.dedup();
        let ids = newest_first.iter().map(|entry| entry.journal.header.id);
        let data = NetChanges {
            transactions: ids.map(|id| id.to_string()).collect(),
            sessions,
            since: newest_first.last().map(time),
            until: newest_first.first().map(time),
            changed_files: net.changes().into_iter().map(ChangedFile::of_turn).collect(),
            changed_between: self.changed_between(net.between(), newest_first)?,
            diff: String::from_utf8_lossy(&diff).into_owned(),
        };
        Ok(NetDiff { data, diff, turn: net })
    }

    /// Finds who changed files between transactions of these.
    fn changed_between(
        &self,
        between: &[ChangeBetween],
        newest_first: &[LogEntry],
    ) -> Result<Vec<ChangedBetween>, commit::Error> {
        let Some(oldest) = between.iter().map(|one| one.earlier).min() else {
            return Ok(Vec::new());
        };
        let own: HashSet<TransactionId> =
            newest_first.iter().map(|entry| entry.journal.header.id).collect();
        let (log, _) = self.workspace().history_while(|entry| entry.journal.header.id > oldest)?;
        let mut found: Vec<ChangedBetween> = Vec::new();
        for one in between {
            let lies_between = |entry: &&LogEntry| {
                let id = entry.journal.header.id;
                id > one.earlier
                    && id < one.later
                    && !entry.aborted
                    && entry.journal.records.iter().any(|record| record.path == one.path)
            };
            let changes: Vec<&LogEntry> = log.iter().filter(lies_between).collect();
            // An undo that does not count, of these transactions, is no change of others.
            let others = changes.iter().filter(|entry| !own.contains(&entry.journal.header.id));
            let mut by: Vec<_> =
                others.map(|entry| self.described(&entry.journal.header)).collect();
            if by.is_empty() && changes.is_empty() {
                by.push(ChangedBy::default());
            }
            if by.is_empty() {
                continue;
            }
            match found.iter_mut().find(|known| known.path == one.path) {
                Some(known) => {
                    known.left_out &= one.left_out;
                    by.append(&mut known.by);
                    by.dedup();
                    known.by = by;
                }
                None => {
                    let path = one.path.clone();
                    found.push(ChangedBetween { path, left_out: one.left_out, by });
                }
            }
        }
        Ok(found)
    }
}
