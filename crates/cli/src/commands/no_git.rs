//! The stand-in for git where the feature `git` is off.

use super::any_args::AnyArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;

pub(crate) type GitArgs = AnyArgs;

pub(crate) fn git(_: &Global, _: &GitArgs) -> Result<Exit, Failure> {
    Err(Failure::built_without("git"))
}
