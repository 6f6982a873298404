//! What stands in for the MCP server where the feature `mcp` is off.

use super::serve::ServeArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;

pub(crate) fn require() -> Result<(), Failure> {
    Err(Failure::Usage(
        "this program was built without the MCP server: build it with its default features".into(),
    ))
}

pub(crate) fn serve(_: &Global, _: &ServeArgs) -> Result<Exit, Failure> {
    require().map(|()| Exit::Done)
}
