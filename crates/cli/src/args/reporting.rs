//! How the outcome is told.

use clap::{Args, ValueEnum};

/// How a program around the agent is told.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reporting")]
pub(crate) struct Reporting {
    /// Print what happens as lines of JSON, instead of the summary or answer: jsonl, codex (as Codex clients know them),
    /// acp or acp-v1, acp-v2 (Agent Client Protocol)
    #[arg(long, value_name = "FORM", hide_possible_values = true, conflicts_with = "json")]
    pub(crate) events: Option<Events>,
    /// The name of the call in the events; one that nobody else has when left out
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
