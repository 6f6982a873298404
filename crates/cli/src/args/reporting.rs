//! How the outcome is reported.

use apply_patch_api::tools::changes::DiffDetail;
use clap::{Args, ValueEnum};

/// How a program around the agent is informed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reporting")]
pub(crate) struct Reporting {
    /// Print events as JSON lines instead of the summary: our own (`jsonl`), as Codex clients read
    /// them (`codex`), or as notifications of the Agent Client Protocol, version 1 (`acp`) or 2
    /// (`acp-v2`)
    #[arg(long, value_name = "FORM", conflicts_with = "json")]
    pub(crate) events: Option<EventsArg>,
    /// Id of the call in the events [default: a random one]
    #[arg(long, value_name = "ID", requires = "events", conflicts_with = "json")]
    pub(crate) call_id: Option<String>,
}

/// How much a JSON answer shows.
#[derive(Debug, Args)]
#[command(next_help_heading = None)]
pub(crate) struct Detail {
    /// With `--json`: how much of the diff each changed file has: nothing, its number of lines, or
    /// all of it [default: none, or full where nothing is written]
    #[arg(long, value_name = "DETAIL", value_parser = super::choice::choice::<DiffDetail>())]
    pub(crate) diff: Option<DiffDetail>,
}

impl Detail {
    /// Refuses what only `--json` shows without it: clap does not see a `--json` before the
    /// command.
    pub(crate) fn check(&self, json: bool) -> Result<(), String> {
        match self.diff {
            Some(_) if !json => {
                Err("`--diff` is for `--json`; `-n` and `show` print the diff".into())
            }
            _ => Ok(()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventsArg {
    Jsonl,
    Codex,
    #[value(alias = "acp-v1")]
    Acp,
    AcpV2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    Text,
    Html,
}
