//! The stand-in for the MCP server where the feature `mcp` is off.

use super::serve::ServeArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;

pub(crate) fn require() -> Result<(), Failure> {
    Err(Failure::built_without("the MCP server"))
}

pub(crate) fn serve(_: &Global, _: &ServeArgs) -> Result<Exit, Failure> {
    require().map(|()| Exit::Done)
}
