//! The stand-in for the file tools where the feature `tools` is off.

use std::ffi::OsString;

use clap::Args;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;

#[derive(Debug, Args)]
pub(crate) struct ToolArgs {
    /// Options and files
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) all: Vec<OsString>,
}

pub(crate) fn tool(_: &Global, _: &ToolArgs) -> Result<Exit, Failure> {
    Err(Failure::built_without("the file tools"))
}
