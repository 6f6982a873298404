//! Who changed a file, for a call that did not expect the change.

use std::collections::{BTreeMap, HashSet};

use fs_guard::{Access, FileKind, Sha256};
use patch_engine::commit::TransactionId;
use patch_engine::{ErrorKind, Report};
use serde_json::{Value, json};
use workspace_trash::{Header, format_time};

use crate::answer::changed_by::ChangedBy;
use crate::answer::changes::CarriedHunk;
use crate::answer::error::ToolError;
use crate::session::Session;

/// The most files of one call to look up.
const FILES: usize = 20;

/// The most transactions to search, the newest first.
const TRANSACTIONS: usize = 64;

impl Session {
    /// Adds to an error of changed files who changed each file last, as found by
    /// [`changed_by`](Self::changed_by).
    #[must_use]
    pub fn with_changed_by(&self, error: ToolError) -> ToolError {
        let found = self.changed_by(&error);
        error.with_changed_by(&found)
    }

    /// Finds who last changed the files of an error, without files hidden from the caller. Nothing
    /// is found for the error of an undo, which names the transactions itself.
    #[must_use]
    pub fn changed_by(&self, error: &ToolError) -> BTreeMap<String, ChangedBy> {
        if error.kind != ErrorKind::StaleFile || error.details.get("drifted").is_some() {
            return BTreeMap::new();
        }
        let rejects = error.details["rejects"].as_array().into_iter().flatten();
        let stale = rejects.filter(|reject| reject["kind"] == ErrorKind::StaleFile.as_str());
        let others = stale.filter_map(|reject| reject["path"].as_str()).map(ToOwned::to_owned);
        let paths = error.path.iter().cloned().chain(others).take(FILES);
        let now = paths.filter_map(|path| {
            let sha256 = self.hash_now(&path)?;
            Some((path, sha256))
        });
        self.left_by(now.collect(), &[])
    }

    /// Adds who changed the files with carried hunks, except for changes of this session, which has
    /// carried hunks there before.
    pub fn add_changed_by(&self, carried: &mut [CarriedHunk], reports: &[Report]) {
        let paths: HashSet<&str> = carried.iter().map(|hunk| &*hunk.path).collect();
        let mut before = BTreeMap::new();
        for transition in reports.iter().flat_map(|report| report.plan.transitions()) {
            let path = transition.path().as_str();
            if paths.contains(path) && !before.contains_key(path) {
                before.insert(path.to_owned(), transition.before());
            }
        }
        let own: Vec<_> = reports.iter().filter_map(|report| report.transaction).collect();
        let found = self.left_by(before, &own);
        for hunk in carried {
            hunk.changed_by = found.get(&hunk.path).filter(|by| !by.own_session).cloned();
        }
    }

    /// Returns the present hash of a file; `Some(None)` if there is no file, and `None` if the file
    /// is hidden from the caller or cannot be read.
    fn hash_now(&self, path: &str) -> Option<Option<Sha256>> {
        let root = self.root();
        let path = root.check(path, Access::Read).ok()?;
        match root.metadata(&path).ok()? {
            Some(seen)
                if seen.kind == FileKind::File && seen.size <= self.settings.max_file_size =>
            {
                crate::session::hash(root, &path).ok().map(Some)
            }
            Some(_) => None,
            None => Some(None),
        }
    }

    /// Finds who left each of these files with its hash, apart from the transactions in `own`: the
    /// newest transaction with a change of the file, or, if this one left other bytes, an editor or
    /// another program. A file is missing from the answer if none of the newest transactions
    /// changed the file and there are older ones, or if its transaction also changed files hidden
    /// from the caller.
    fn left_by(
        &self,
        mut files: BTreeMap<String, Option<Sha256>>,
        own: &[TransactionId],
    ) -> BTreeMap<String, ChangedBy> {
        let mut found = BTreeMap::new();
        if files.is_empty() {
            return found;
        }
        let Ok(store) = self.workspace().store() else { return found };
        let reach = self.workspace().reach();
        files.retain(|path, _| reach.shows(path));
        // One transaction more than searched tells whether there are older ones.
        let newest = store.as_ref().and_then(|store| store.newest_first().ok());
        let all: Vec<_> =
            newest.into_iter().flatten().map_while(Result::ok).take(TRANSACTIONS + 1).collect();
        let looked_at = all.iter().filter(|id| !own.contains(id)).take(TRANSACTIONS);
        for &id in looked_at {
            let Some(store) = store.as_ref().filter(|_| !files.is_empty()) else { break };
            let Ok(journal) = store.journal(id) else { continue };
            if store.is_aborted(id).unwrap_or(true) {
                continue;
            }
            let is_shown = reach.shows_all(&journal);
            for record in &journal.records {
                let Some(now) = files.remove(&record.path) else { continue };
                let is_it = record.after.as_ref().map(|state| state.sha256) == now;
                if !is_it {
                    found.insert(record.path.clone(), ChangedBy::default());
                } else if is_shown {
                    found.insert(record.path.clone(), self.described(&journal.header));
                }
            }
        }
        if all.len() <= TRANSACTIONS {
            found.extend(files.into_keys().map(|path| (path, ChangedBy::default())));
        }
        found
    }

    pub(crate) fn described(&self, header: &Header) -> ChangedBy {
        ChangedBy {
            by_apply_patch: true,
            transaction_id: Some(header.id.to_string()),
            agent: header.agent.clone(),
            session: header.session.clone(),
            own_session: header.session.as_deref() == Some(self.name().as_str()),
            turn_id: header.turn.clone(),
            tool: header.tool.clone(),
            time: Some(format_time(header.id.time())),
        }
    }
}

impl ToolError {
    /// Adds who changed the files last: `changedBy` in the details, of each reject too, and a
    /// sentence about the first.
    #[must_use]
    pub fn with_changed_by(mut self, found: &BTreeMap<String, ChangedBy>) -> Self {
        let first = self.path.as_ref().and_then(|path| Some((path, found.get(path)?)));
        if let Some((path, by)) = first {
            let others = self.details.get("rejects").is_some();
            let whose = if others { format!("{path} was ") } else { String::new() };
            self.message += &format!("; {whose}last changed {by}");
            self = self.details(json!({ "changedBy": by }));
        }
        let rejects = self.details.get_mut("rejects").and_then(Value::as_array_mut);
        for reject in rejects.into_iter().flatten() {
            if let Some(by) = reject["path"].as_str().and_then(|path| found.get(path)) {
                reject["changedBy"] = json!(by);
            }
        }
        self
    }
}
