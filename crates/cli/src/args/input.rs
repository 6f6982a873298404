//! Where the patch comes from, and what it is.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Input {
    /// The patch; `-` or nothing for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// What the input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputForm {
    Envelope,
    Unified,
    Openai,
    Auto,
}
