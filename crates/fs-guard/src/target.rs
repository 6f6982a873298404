//! A path that may be changed.

use std::ops::Deref;

use crate::error::Error;
use crate::policy::Access;
use crate::rel_path::RelPath;
use crate::root::Root;

/// A path that was checked for being changed: only such a path can be given a file, or lose one.
///
/// A path that was checked for reading is no target, whatever is done with it in between:
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
    /// Checks a path that is to be changed: its spelling, its names, and the lists of forbidden and guarded paths.
    ///
    /// Reading is no change: with [`Access::Read`] it is checked as for an update.
    ///
    /// # Errors
    ///
    /// Those of [`check`](Self::check).
    pub fn target(&self, path: &str, access: Access) -> Result<Target, Error> {
        let access = if access == Access::Read { Access::Update } else { access };
        self.check(path, access).map(Target)
    }

    /// Checks a path that is to be changed by a record, which was written after all checks.
    ///
    /// # Errors
    ///
    /// Those of [`check_recorded`](Self::check_recorded).
    pub fn target_recorded(&self, path: &str, authentic: bool) -> Result<Target, Error> {
        self.check_recorded(path, authentic).map(Target)
    }
}
