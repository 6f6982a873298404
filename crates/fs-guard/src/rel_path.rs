//! A path beneath the root whose spelling and name have been checked.

use std::fmt;
use std::sync::Arc;

/// A checked path beneath a [`Root`](crate::Root): `/`-separated, no `.` or `..`, no empty
/// component.
///
/// Only [`Root::check`](crate::Root::check) and its relatives create one, so no check is repeated.
/// A checked path need not exist, and is not a permission: files are reached only through the
/// root's handle.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Arc<str>);

impl RelPath {
    pub(crate) fn new_unchecked(path: &str) -> Self {
        Self(path.into())
    }

    /// Returns the path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the components, outermost first.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// Returns the last component.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.split().1
    }

    /// Returns the parent directory; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.split().0.map(|parent| Self(parent.into()))
    }

    /// Returns its parent directories, outermost first, without the root.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        self.0.match_indices('/').map(|(at, _)| Self(self.0[..at].into()))
    }

    /// Returns the parent's text (`None` for the root) and the name.
    pub(crate) fn split(&self) -> (Option<&str>, &str) {
        match self.0.rsplit_once('/') {
            Some((parent, name)) => (Some(parent), name),
            None => (None, &self.0),
        }
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl AsRef<str> for RelPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for RelPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}
