//! The stand-in for grammars of files where the feature `constrain` is off.

use apply_patch_api::grammar::export::Format;
use apply_patch_api::tools::ToolError;
use serde_json::Value;

use crate::args;
use crate::failure::Failure;
use crate::global::Global;

/// A grammar that is never made.
pub(super) enum FittedGrammar {}

impl FittedGrammar {
    pub(super) fn text(&self, _: &str) -> Result<String, ToolError> {
        match *self {}
    }

    pub(super) fn stub(&self) -> &Value {
        match *self {}
    }

    pub(super) fn notes(&self) -> Vec<String> {
        match *self {}
    }
}

pub(super) fn fitted(_: &Global, _: &args::Fit, _: Format) -> Result<FittedGrammar, Failure> {
    Err(Failure::built_without("grammars for files"))
}
