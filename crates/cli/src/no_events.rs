//! The stand-in for events where the feature `tools` is off.

use std::path::Path;

use apply_patch_api::engine::Event;
use apply_patch_api::tools::ToolError;
use serde::Serialize;

use crate::args;
use crate::failure::Failure;

/// Events that are never written.
#[derive(Debug)]
pub(crate) enum Events {}

impl Events {
    pub(crate) fn event(&mut self, _: &Event<'_>) {
        match *self {}
    }

    pub(crate) fn end_call(&mut self, _: &impl Serialize, _: Option<&str>) {
        match *self {}
    }
}

pub(crate) fn begin(
    _: &mut Option<Events>,
    _: &Path,
    args: &args::Reporting,
    _: &[u8],
) -> Result<(), Failure> {
    match args.events {
        Some(_) => Err(Failure::built_without("events")),
        None => Ok(()),
    }
}

pub(crate) fn fail(_: &mut Option<Events>, _: ToolError) {}
