//! The stand-in for the files of a commit where the feature `git` is off.

use std::path::PathBuf;

use apply_patch_api::engine::Files;

use crate::failure::Failure;
use crate::global::Global;

pub(super) fn files_of(_: &Global, _: &str) -> Result<Files, Failure> {
    Err(Failure::built_without("git"))
}

pub(super) fn object_dirs(_: &Global, _: &str) -> Result<Vec<PathBuf>, Failure> {
    Err(Failure::built_without("git"))
}
