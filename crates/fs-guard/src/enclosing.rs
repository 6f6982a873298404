//! The directories around a root, and directories that are no place for a project.

use std::fmt;

use crate::policy::Policy;
use crate::rel_path::RelPath;
use crate::root::Root;
use crate::sys::{self, Open};
use crate::users::seen_home;

/// A work tree has one of these entries at its top.
pub const WORK_TREES: [&str; 3] = [".git", ".hg", ".jj"];

/// A directory around a root.
#[derive(Debug)]
pub struct Enclosing {
    /// The directory.
    pub root: Root,
    /// The path from there to the root inside, for patterns and messages. Bytes that are not UTF-8
    /// are replaced.
    pub path: String,
    /// The same path, if it can be walked: through no symbolic link, no mount point and no name
    /// that is never touched.
    pub way: Option<RelPath>,
}

/// Why a directory is the place of a project only if someone says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Common {
    /// It is the user's home directory.
    Home,
    /// It is the top of the file system.
    Top,
    /// Others may create files there, as in `/tmp`.
    Shared,
}

impl fmt::Display for Common {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Home => "your home directory",
            Self::Top => "the top of the file system",
            Self::Shared => "a directory in which others may create files",
        })
    }
}

impl Root {
    /// Opens the directories around this one, nearest first, under another policy.
    pub fn enclosing<'r>(&'r self, policy: &'r Policy) -> impl Iterator<Item = Enclosing> + 'r {
        let real = crate::named::real_path(self.path()).unwrap_or_default();
        let above: Vec<_> = real.ancestors().skip(1).map(std::path::Path::to_path_buf).collect();
        above.into_iter().filter_map(move |dir| {
            let below: Vec<_> =
                real.strip_prefix(&dir).ok()?.iter().map(|name| name.to_string_lossy()).collect();
            let path = below.join("/");
            let root = Self::open(&dir, policy.clone()).ok()?;
            let way = real.to_str().and_then(|_| self.way_from(&root, &path));
            Some(Enclosing { root, path, way })
        })
    }

    fn way_from(&self, above: &Self, path: &str) -> Option<RelPath> {
        let path = above.check_recorded(path, true).ok()?;
        let reached = above.open_beneath(&path, Open::Directory).ok()??;
        sys::stat(&reached).ok()?.same_inode(&self.metadata).then_some(path)
    }

    /// Returns whether the directory has an entry `.git`: a repository, or a file that names one.
    #[must_use]
    pub fn has_git(&self) -> bool {
        sys::stat_at(&self.handle, ".git").is_ok()
    }

    /// Returns whether the directory was the top of a work tree of git, Mercurial or Jujutsu when
    /// this was asked first.
    #[must_use]
    pub fn is_work_tree(&self) -> bool {
        let [_git, others @ ..] = WORK_TREES;
        *self.is_work_tree.get_or_init(|| {
            matches!(self.dot_git(), Ok(Some(_)))
                || others.into_iter().any(|name| sys::stat_at(&self.handle, name).is_ok())
        })
    }

    /// Returns why the directory is not a place for a project unless someone says so.
    #[must_use]
    pub fn common(&self) -> Option<Common> {
        /// Others may write, and nobody may remove what is another's.
        const SHARED: u32 = 0o1002;
        if self.metadata.mode & SHARED == SHARED {
            return Some(Common::Shared);
        }
        if is_top(self) {
            return Some(Common::Top);
        }
        seen_home().is_some_and(|home| home.same_inode(&self.metadata)).then_some(Common::Home)
    }

    /// Returns whether the directory accepts new entries, and has the same owner as another one.
    #[must_use]
    pub fn is_writable_as(&self, other: &Self) -> bool {
        self.metadata.uid == other.metadata.uid && sys::may_write(&self.handle).is_ok()
    }
}

#[cfg(unix)]
fn is_top(root: &Root) -> bool {
    sys::stat_at(&root.handle, "..").is_ok_and(|above| above.same_inode(&root.metadata))
}

#[cfg(not(unix))]
fn is_top(root: &Root) -> bool {
    crate::named::real_path(root.path()).is_ok_and(|path| path.parent().is_none())
}
