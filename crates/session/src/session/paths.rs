//! Checks of the paths from callers; an error suggests the path probably meant.

use std::sync::Arc;

use fs_guard::{Access, RelPath, Root};
use patch_engine::{Problem, Reject};

use crate::answer::error::ToolError;

/// Makes the error of a path without a file.
#[must_use]
pub fn missing(root: &Arc<Root>, path: &str) -> ToolError {
    ToolError::from(Reject::of(path, Problem::Missing).among(root))
}

/// Checks a path.
///
/// # Errors
///
/// The guard's.
pub fn checked(root: &Arc<Root>, path: &str, access: Access) -> Result<RelPath, ToolError> {
    Ok(root
        .check(path, access)
        .map_err(|error| Reject::of(path, Problem::Guard(error)).among(root))?)
}
