//! The stand-in for the specs of tools where the feature `tools` is off.

use super::tool::ToolArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;

pub(crate) type ToolSpecArgs = ToolArgs;
pub(crate) type PromptArgs = ToolArgs;

pub(crate) fn tool_spec(global: &Global, args: &ToolSpecArgs) -> Result<Exit, Failure> {
    super::tool::tool(global, args)
}

pub(crate) fn prompt(_: &PromptArgs) -> Result<Exit, Failure> {
    Err(Failure::built_without("the file tools"))
}
