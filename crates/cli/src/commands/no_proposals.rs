//! The stand-in for proposals where the feature `proposals` is off.

use apply_patch_api::tools::Session;

use super::any_args::AnyArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;

pub(crate) type ProposeArgs = AnyArgs;
pub(crate) type ProposalsArgs = AnyArgs;
pub(crate) type ApproveArgs = AnyArgs;
pub(crate) type DeclineArgs = AnyArgs;

pub(super) fn waiting(_: &Session) -> Result<Option<usize>, Failure> {
    Ok(None)
}

fn missing() -> Result<Exit, Failure> {
    Err(Failure::built_without("proposals"))
}

pub(crate) fn propose(_: &Global, _: &ProposeArgs) -> Result<Exit, Failure> {
    missing()
}

pub(crate) fn list(_: &Global) -> Result<Exit, Failure> {
    missing()
}

pub(crate) fn show(_: &mut Global, _: &str, _: bool) -> Result<Exit, Failure> {
    missing()
}

pub(crate) fn review(_: &mut Global, _: &str, _: bool) -> Result<Exit, Failure> {
    missing()
}

pub(crate) fn approve(_: &mut Global, _: &ApproveArgs) -> Result<Exit, Failure> {
    missing()
}

pub(crate) fn decline(_: &Global, _: &DeclineArgs) -> Result<Exit, Failure> {
    missing()
}
