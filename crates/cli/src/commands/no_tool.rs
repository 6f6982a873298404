//! The stand-in for the file tools where the feature `tools` is off.

use super::any_args::AnyArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;

pub(crate) type ToolArgs = AnyArgs;

pub(crate) fn tool(_: &Global, _: &ToolArgs) -> Result<Exit, Failure> {
    Err(Failure::built_without("the file tools"))
}
