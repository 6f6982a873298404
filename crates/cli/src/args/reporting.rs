//! How the outcome is reported.

use clap::{Args, ValueEnum};

/// How a program around the agent is informed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reporting")]
pub(crate) struct Reporting {
    /// Print events as JSON lines instead of the summary: our own (`jsonl`), as Codex clients read them (`codex`), or as
    /// notifications of the Agent Client Protocol, version 1 (`acp`) or 2 (`acp-v2`)
    #[arg(long, value_name = "FORM", conflicts_with = "json")]
    pub(crate) events: Option<Events>,
    /// Id of the call in the events; random unless given
    #[arg(long, value_name = "ID", requires = "events")]
    pub(crate) call_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Events {
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
