//! The flags of every command.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Workspace root; nothing outside it is touched
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".", global = true)]
    pub(crate) root: PathBuf,
    /// When to use colours: auto, always or never [default: auto]
    #[arg(long, value_name = "WHEN", global = true, hide_possible_values = true)]
    pub(crate) color: Option<When>,
    /// Do not use a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Print exactly one JSON object, also when the command fails
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more, e.g. how the sandbox confines
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}
