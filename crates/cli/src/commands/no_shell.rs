//! The stand-in for `apply-patch intercept` where the feature `shell` is off.

use std::ffi::OsString;

use clap::Args;

use crate::exit::Exit;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct InterceptArgs {
    /// Command and its arguments
    #[arg(value_name = "ARGV", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) argv: Vec<OsString>,
}

pub(crate) fn intercept(_: &InterceptArgs) -> Result<Exit, Failure> {
    Err(Failure::built_without("shell commands"))
}
