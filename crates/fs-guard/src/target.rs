//! A path that may be changed.

use std::ops::Deref;

use crate::error::Error;
use crate::policy::Access;
use crate::rel_path::RelPath;
use crate::root::Root;

/// A path that was checked for a change. Only at such a path can a file be created, replaced or
/// removed.
///
/// A path that was checked for reading is not a target:
///
/// ```compile_fail,E0308
/// # use fs_guard::{Access, Dirs, Root};
/// # fn place(root: &Root) -> Result<(), fs_guard::Error> {
/// let read = root.check("notes.txt", Access::Read)?;
/// Dirs::new(root).place(&read)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target(RelPath);

impl Target {
    /// The path.
    #[must_use]
    pub fn path(&self) -> &RelPath {
        &self.0
    }
}

impl Deref for Target {
    type Target = RelPath;

    fn deref(&self) -> &RelPath {
        &self.0
    }
}

impl Root {
    /// Checks a path for a change: its spelling, its names, and the lists of forbidden and guarded
    /// paths.
    ///
    /// With [`Access::Read`] the path is checked as for an update.
    ///
    /// # Errors
    ///
    /// Those of [`check`](Self::check).
    pub fn target(&self, path: &str, access: Access) -> Result<Target, Error> {
        let access = if access == Access::Read { Access::Update } else { access };
        self.check(path, access).map(Target)
    }

    /// Checks a recorded path for a change. The record was written after all checks.
    ///
    /// # Errors
    ///
    /// Those of [`check_recorded`](Self::check_recorded).
    pub fn target_recorded(&self, path: &str, authentic: bool) -> Result<Target, Error> {
        self.check_recorded(path, authentic).map(Target)
    }
}
