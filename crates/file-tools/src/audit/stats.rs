//! What the logs tell of calls that failed and of transactions that were committed, over time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use patch_engine::transaction::Workspace;
use serde::Serialize;

use super::error::AuditError;
use super::event::Phase;
use super::state::events;

/// Counts of calls that failed, and of transactions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// When the first line that counts was written; empty when there is none.
    pub since: String,
    /// The transactions that were committed.
    pub transactions: usize,
    /// The calls that failed and changed nothing.
    pub failed: usize,
    /// How many failed for each reason; where a log is older than the reasons, for each kind.
    pub by_reason: BTreeMap<String, usize>,
    /// How many patches of each profile failed.
    pub by_profile: BTreeMap<String, usize>,
    /// For each agent, and `-` where none is named, how many transactions there were, and how many calls failed.
    pub by_agent: BTreeMap<String, Count>,
    /// The same for each day (UTC) that has any.
    pub by_day: BTreeMap<String, Count>,
}

/// How many transactions there were, and how many calls failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    /// Transactions that were committed.
    pub transactions: usize,
    /// Calls that failed.
    pub failed: usize,
}

/// Counts what is in the logs of all sessions since a time.
///
/// # Errors
///
/// When the logs cannot be read.
pub fn stats(workspace: &Workspace, since: SystemTime) -> Result<Stats, AuditError> {
    let since = workspace_trash::format_time(since);
    let mut stats = Stats::default();
    let mut seen = BTreeSet::new();
    for event in events(workspace)?.into_iter().filter(|event| event.timestamp >= since) {
        let failed = match (event.phase, event.ok, &event.transaction_id) {
            (Phase::Failed, ..) => true,
            // A transaction has a line for each file.
            (Phase::Outcome | Phase::Recovered, Some(true), Some(id)) if seen.insert(id.clone()) => false,
            _ => continue,
        };
        let agent = event.agent_name.unwrap_or_else(|| "-".into());
        let day: String = event.timestamp.chars().take(10).collect();
        let counts = [stats.by_agent.entry(agent).or_default(), stats.by_day.entry(day).or_default()];
        for count in counts {
            *(if failed { &mut count.failed } else { &mut count.transactions }) += 1;
        }
        if failed {
            stats.failed += 1;
            let reason = event.reason.or(event.error_kind).unwrap_or_else(|| "unknown".into());
            *stats.by_reason.entry(reason).or_default() += 1;
            event.profile.into_iter().for_each(|profile| *stats.by_profile.entry(profile).or_default() += 1);
        } else {
            stats.transactions += 1;
        }
        if stats.since.is_empty() || event.timestamp < stats.since {
            stats.since = event.timestamp;
        }
    }
    Ok(stats)
}
