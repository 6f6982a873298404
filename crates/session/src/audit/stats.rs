//! Statistics from the logs: failed calls and committed transactions over time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use patch_engine::commit::Workspace;
use serde::Serialize;

use super::event::Phase;
use super::state::events;

/// Counts of failed calls and of transactions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// The time of the first line that is counted; empty if there is none.
    pub since: String,
    /// The transactions that were committed.
    pub transactions: usize,
    /// The calls that failed and changed nothing.
    pub failed: usize,
    /// The number of failures per reason; per kind where a log is older than the reasons.
    pub by_reason: BTreeMap<String, usize>,
    /// The number of failed patches per profile.
    pub by_profile: BTreeMap<String, usize>,
    /// The transactions and failed calls per agent; `-` stands for none.
    pub by_agent: BTreeMap<String, Count>,
    /// The transactions and failed calls per day (UTC).
    pub by_day: BTreeMap<String, Count>,
}

/// Counts of transactions and of failed calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    /// Transactions that were committed.
    pub transactions: usize,
    /// Calls that failed.
    pub failed: usize,
}

/// Counts the lines in the logs of all sessions since a time.
///
/// # Errors
///
/// If the logs cannot be read.
pub fn stats(workspace: &Workspace, since: SystemTime) -> Result<Stats, fs_guard::Error> {
    let since = workspace_trash::format_time(since);
    let mut stats = Stats::default();
    let mut seen = BTreeSet::new();
    for event in events(workspace)?.into_iter().filter(|event| event.timestamp >= since) {
        let failed = match (event.phase, event.ok, &event.transaction_id) {
            (Phase::Failed, ..) => true,
            // A transaction has a line for each file.
            (Phase::Outcome | Phase::Recovered, Some(true), Some(id))
                if seen.insert(id.clone()) =>
            {
                false
            }
            _ => continue,
        };
        let agent = event.agent_name.unwrap_or_else(|| "-".into());
        let day: String = event.timestamp.chars().take(10).collect();
        let counts =
            [stats.by_agent.entry(agent).or_default(), stats.by_day.entry(day).or_default()];
        for count in counts {
            *(if failed { &mut count.failed } else { &mut count.transactions }) += 1;
        }
        if failed {
            stats.failed += 1;
            let reason = event.reason.or(event.error_kind).unwrap_or_else(|| "unknown".into());
            *stats.by_reason.entry(reason).or_default() += 1;
            event
                .profile
                .into_iter()
                .for_each(|profile| *stats.by_profile.entry(profile).or_default() += 1);
        } else {
            stats.transactions += 1;
        }
        if stats.since.is_empty() || event.timestamp < stats.since {
            stats.since = event.timestamp;
        }
    }
    Ok(stats)
}
