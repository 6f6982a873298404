//! The files of a commit of the repository around the workspace.

use std::path::PathBuf;

use apply_patch_api::engine::Files;
use apply_patch_api::tools::git::{CommitTree, enclosing};

use crate::failure::Failure;
use crate::global::Global;

pub(super) fn files_of(global: &Global, revision: &str) -> Result<Files, Failure> {
    Ok(commit(global, revision)?.files(global.settings.policy()?))
}

/// The directories with the objects of the commit.
pub(super) fn object_dirs(global: &Global, revision: &str) -> Result<Vec<PathBuf>, Failure> {
    Ok(commit(global, revision)?.object_dirs())
}

fn commit(global: &Global, revision: &str) -> Result<CommitTree, Failure> {
    enclosing(global.root(), revision).map_err(|error| Failure::Tool(Box::new(error)))
}
