//! The stand-in for `apply-patch review` and `undo -i` where the feature `review` is off.

use apply_patch_api::engine::commit::LogEntry;
use apply_patch_api::tools::Session;
use apply_patch_api::tools::changes::DiffDetail;

use super::history::SpanArgs;
use super::review_args::ReviewArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;

pub(crate) fn review(_: &Global, _: &ReviewArgs) -> Result<Exit, Failure> {
    Err(Failure::built_without("reviews"))
}

pub(super) fn undo_some(
    _: &Global,
    _: Session,
    _: &[LogEntry],
    _: &[String],
    _: (bool, Option<DiffDetail>),
) -> Result<Exit, Failure> {
    Err(Failure::built_without("reviews"))
}

pub(super) fn entries(
    _: &Session,
    _: Option<&str>,
    _: &SpanArgs,
) -> Result<Vec<LogEntry>, Failure> {
    Err(Failure::built_without("reviews"))
}
