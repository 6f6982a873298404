//! The directories that enclose a root.

use crate::policy::Policy;
use crate::rel_path::RelPath;
use crate::root::Root;
use crate::sys::{self, Open};

impl Root {
    /// Opens the directories that enclose this one, nearest first, under another policy, each with the path from there
    /// to here.
    ///
    /// Ends at the first one that cannot reach this directory without a symbolic link or a mount point, or only through
    /// a name that is never touched or is not UTF-8.
    pub fn enclosing<'r>(&'r self, policy: &'r Policy) -> impl Iterator<Item = (Self, RelPath)> + 'r {
        let real = crate::named::real_path(self.path()).unwrap_or_default();
        let above: Vec<_> = real.ancestors().skip(1).map(std::path::Path::to_path_buf).collect();
        above.into_iter().map_while(move |dir| {
            let below: Option<Vec<_>> = real.strip_prefix(&dir).ok()?.iter().map(|name| name.to_str()).collect();
            let below = below?.join("/");
            let root = Self::open(&dir, policy.clone()).ok()?;
            let path = root.check_recorded(&below, true).ok()?;
            let reached = root.open_beneath(&path, Open::Directory).ok()??;
            sys::stat(&reached).ok()?.same_inode(&self.metadata).then_some((root, path))
        })
    }

    /// Returns whether the directory has an entry `.git`: a repository, or the file that names one.
    #[must_use]
    pub fn has_git(&self) -> bool {
        sys::stat_at(&self.handle, ".git").is_ok()
    }

    /// Returns whether entries can be created in the directory, and it has the same owner as another one.
    #[must_use]
    pub fn is_writable_as(&self, other: &Self) -> bool {
        self.metadata.uid == other.metadata.uid && sys::may_write(&self.handle).is_ok()
    }
}
