//! The stand-in for git where the feature `git` is off.

use std::ffi::OsString;

use clap::Args;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;

#[derive(Debug, Args)]
pub(crate) struct GitArgs {
    /// Options and files
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) all: Vec<OsString>,
}

pub(crate) fn git(_: &Global, _: &GitArgs) -> Result<Exit, Failure> {
    Err(Failure::built_without("git"))
}
