//! The flags of every command.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    /// The workspace, which is never left
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".", global = true)]
    pub(crate) root: PathBuf,
    /// When to use colours: auto (default), always or never
    #[arg(long, value_name = "WHEN", global = true, hide_possible_values = true)]
    pub(crate) color: Option<When>,
    /// Do not show long answers in a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Print exactly one JSON object, failures included
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more, e.g. what the sandbox is
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}
