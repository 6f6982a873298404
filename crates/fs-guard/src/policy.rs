//! What the guard allows.

use crate::globs::Globs;
use crate::names::NamePolicy;
use crate::rel_path::RelPath;

/// What is meant to be done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Its bytes are read and shown.
    Read,
    /// It appears.
    Create,
    /// Its bytes are replaced.
    Update,
    /// It goes away.
    Delete,
}

/// What becomes of a file with more than one hard link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HardLinks {
    /// It is refused.
    #[default]
    Refuse,
    /// The changed name becomes a file of its own; the other names keep the old bytes.
    Break,
}

/// The rules of a [`Root`](crate::Root) beside those that no policy lifts.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The name, in the root, of a directory of the program's own that no checked path reaches: a dot, and then ASCII
    /// letters, digits, `-` and `_`.
    pub private_dir: Box<str>,
    /// Ends of paths that are never touched, as `app/key`: for what the program keeps elsewhere, in the case that the
    /// root is the user's home.
    pub reserved: Vec<Box<str>>,
    /// Which names may be created.
    pub names: NamePolicy,
    /// Patterns of paths that are never touched.
    pub forbidden: Globs,
    /// Patterns of paths that have to be approved before they are changed.
    pub guarded: Globs,
    /// Patterns of guarded paths that are approved.
    pub allow: Globs,
    /// What becomes of a file with several names.
    pub hard_links: HardLinks,
    /// The directories outside of which nothing is touched, relative to the root; none: all of the root.
    ///
    /// Directories above them can be looked into, and show these only.
    pub within: Vec<RelPath>,
    /// The private directory may be one that others may enter: there are file systems that keep no modes.
    pub accept_open_private_dir: bool,
}

impl Policy {
    /// Forbids and guards nothing beyond the rules that no policy lifts.
    #[must_use]
    pub fn new(private_dir: &str) -> Self {
        Self {
            private_dir: private_dir.into(),
            reserved: Vec::new(),
            names: NamePolicy::default(),
            forbidden: Globs::default(),
            guarded: Globs::default(),
            allow: Globs::default(),
            hard_links: HardLinks::default(),
            within: Vec::new(),
            accept_open_private_dir: false,
        }
    }
}
