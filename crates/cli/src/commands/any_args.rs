//! The arguments of a command that was left out of a build.

use std::ffi::OsString;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct AnyArgs {
    /// Options and files
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) all: Vec<OsString>,
}
