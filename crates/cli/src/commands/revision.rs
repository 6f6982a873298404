//! The files of a commit of the repository around the workspace.

use std::path::PathBuf;

use apply_patch_api::engine::Files;
#[cfg(feature = "git")]
use apply_patch_api::tools::git::{CommitTree, enclosing};

use crate::failure::Failure;
use crate::global::Global;

pub(super) fn files_of(global: &Global, revision: &str) -> Result<Files, Failure> {
    Ok(commit(global, revision)?.files(global.settings.policy()?))
}

/// The directories that have the objects of the commit.
pub(super) fn object_dirs(global: &Global, revision: &str) -> Result<Vec<PathBuf>, Failure> {
    Ok(commit(global, revision)?.object_dirs())
}

#[cfg(feature = "git")]
fn commit(global: &Global, revision: &str) -> Result<CommitTree, Failure> {
    enclosing(global.root(), revision).map_err(|error| Failure::Tool(Box::new(error)))
}

#[cfg(not(feature = "git"))]
fn commit(_: &Global, _: &str) -> Result<NoCommit, Failure> {
    Err(no_git())
}

/// The error where the feature `git` is off.
#[cfg(not(feature = "git"))]
pub(super) fn no_git() -> Failure {
    Failure::Usage("this program was built without git: build it with its default features".into())
}

/// What there is none of without git.
#[cfg(not(feature = "git"))]
enum NoCommit {}

#[cfg(not(feature = "git"))]
impl NoCommit {
    fn files(self, _: apply_patch_api::files::Policy) -> Files {
        match self {}
    }

    fn object_dirs(self) -> Vec<PathBuf> {
        match self {}
    }
}
