//! Where the patch comes from, and what it is.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// File with the patch; standard input if it is `-` or left out
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// What the input is, for the commands that take more than a patch in the envelope.
#[derive(Debug, Args)]
pub(crate) struct From {
    /// Form of the input; `auto` finds the one patch or diff in it, also in a chat answer, and says what it left out
    #[arg(long, value_name = "FORM", default_value = "envelope")]
    pub(crate) from: InputForm,
    /// Of a diff: leave out so many leading parts of each path, as patch(1) does. Unless set: the prefixes that git writes
    #[arg(short = 'p', long, value_name = "N")]
    pub(crate) strip: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputForm {
    Envelope,
    Unified,
    Openai,
    Auto,
}
