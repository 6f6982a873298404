//! The errors of a repository.

use std::io;
use std::path::PathBuf;

use crate::id::{Id, ObjectKind};

/// The result of every function here.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no repository at this place.
    #[error("{} is not a git repository: {problem}", path.display())]
    NotARepository {
        /// The place.
        path: PathBuf,
        /// The missing thing.
        problem: &'static str,
    },
    /// The repository needs a feature missing from this crate.
    #[error("this repository cannot be used: {what} is not supported")]
    Unsupported {
        /// The missing feature.
        what: String,
    },
    /// A configuration file cannot be used.
    #[error("the git configuration cannot be used: {problem}")]
    Configuration {
        /// The fault.
        problem: String,
    },
    /// No ref and no object has this name.
    #[error("there is no revision {revision:?}")]
    UnknownRevision {
        /// The name.
        revision: String,
    },
    /// A revision cannot be read, or several objects have this abbreviation.
    #[error("the revision {revision:?} cannot be used: {problem}")]
    InvalidRevision {
        /// The revision.
        revision: String,
        /// The fault.
        problem: &'static str,
    },
    /// An object is not in the repository.
    #[error("object {id} is missing from the repository")]
    MissingObject {
        /// Its name.
        id: Id,
    },
    /// An object is of another kind than its place asks for.
    #[error("object {id} is a {found}, where a {wanted} is needed")]
    WrongKind {
        /// Its name.
        id: Id,
        /// Its kind.
        found: ObjectKind,
        /// The wanted kind.
        wanted: ObjectKind,
    },
    /// An object cannot be read, its bytes do not have its name, or they break the rules of its
    /// kind.
    #[error("object {id} is corrupt: {problem}")]
    CorruptObject {
        /// Its name.
        id: Id,
        /// The fault.
        problem: String,
    },
    /// An object is larger than is allowed.
    #[error("object {id} has {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Its name.
        id: Id,
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// git refuses this path, or would on another platform.
    #[error("the path {path:?} cannot be in a tree: {problem}")]
    InvalidPath {
        /// The path.
        path: String,
        /// The fault.
        problem: &'static str,
    },
    /// A path is a file where another change needs a directory, or the other way round, or two
    /// changes are for one path.
    #[error("the change of {path:?} cannot be made: {problem}")]
    PathConflict {
        /// The path.
        path: String,
        /// The obstacle.
        problem: &'static str,
    },
    /// There is nothing at this path.
    #[error("there is no {path:?} in the tree")]
    NoSuchPath {
        /// The path.
        path: String,
    },
    /// This is not a name for a branch.
    #[error("{name:?} is not a name for a branch")]
    InvalidBranch {
        /// The name.
        name: String,
    },
    /// A ref cannot be read.
    #[error("the ref {name} is corrupt: {problem}")]
    CorruptRef {
        /// Its name.
        name: String,
        /// The fault.
        problem: &'static str,
    },
    /// A ref names another ref, and is not moved.
    #[error("{name} is a symbolic ref to {target}; give that one")]
    SymbolicRef {
        /// Its name.
        name: String,
        /// The target of the ref.
        target: String,
    },
    /// The names of two refs cannot both exist: one is a directory of the other.
    #[error("{name} cannot be created, as {other} exists")]
    RefConflict {
        /// The new ref.
        name: String,
        /// The existing ref.
        other: String,
    },
    /// A branch is not at the expected commit; someone else was faster.
    #[error("{name} is at {}, expected {}", at(actual), at(expected))]
    RefMoved {
        /// The ref.
        name: String,
        /// The expected commit; none for a new branch.
        expected: Option<Id>,
        /// The present commit.
        actual: Option<Id>,
    },
    /// The lock file of a ref exists.
    #[error("{name} is locked: {} exists; if no git program is running in this repository, remove \
             the file", lock.display())]
    Locked {
        /// The ref.
        name: String,
        /// Its lock file.
        lock: PathBuf,
    },
    /// A branch is checked out, or being rebased or bisected.
    #[error("{name} is checked out in {}", worktree.display())]
    CheckedOut {
        /// The ref.
        name: String,
        /// The work tree.
        worktree: PathBuf,
    },
    /// No name or e-mail address to commit with is configured.
    #[error("there is no {role} to commit as: set user.name and user.email, or {variable}")]
    NoIdentity {
        /// `author` or `committer`.
        role: &'static str,
        /// The environment variable that may have it.
        variable: &'static str,
    },
    /// A name, an address or a time cannot be in a commit.
    #[error("{value:?} cannot be used in a commit: {problem}")]
    InvalidIdentity {
        /// The text.
        value: String,
        /// The fault.
        problem: &'static str,
    },
    /// The branch has moved, but its new place may not outlast a power cut.
    #[error("{name} has moved, but may be back after a power cut: cannot sync its directory")]
    NotDurable {
        /// The ref.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// The file system refuses.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The action that was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The same as `Display`: `unwrap` and `main` print this.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

fn at(id: &Option<Id>) -> String {
    id.map_or_else(|| "no commit".to_owned(), |id| id.to_string())
}

/// The class of an [`Error`]; the names ([`as_str`](Self::as_str)) stay the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No repository, revision, object or path has this name.
    NotFound,
    /// The repository or its configuration needs what this crate does not have.
    Unsupported,
    /// An argument cannot be used.
    InvalidInput,
    /// The repository is damaged.
    Corrupt,
    /// An object is larger than is allowed.
    TooLarge,
    /// Changes contradict the tree, or each other.
    Conflict,
    /// Someone else moved the branch.
    Moved,
    /// Someone else holds the lock.
    Locked,
    /// The branch is checked out.
    CheckedOut,
    /// There is no identity to commit as.
    NoIdentity,
    /// The file system refuses.
    Io,
}

impl ErrorKind {
    /// Returns its name for programs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Unsupported => "unsupported",
            Self::InvalidInput => "invalid_input",
            Self::Corrupt => "corrupt",
            Self::TooLarge => "too_large",
            Self::Conflict => "conflict",
            Self::Moved => "moved",
            Self::Locked => "locked",
            Self::CheckedOut => "checked_out",
            Self::NoIdentity => "no_identity",
            Self::Io => "io",
        }
    }
}

impl Error {
    /// Returns the kind for programs.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotARepository { .. }
            | Self::UnknownRevision { .. }
            | Self::MissingObject { .. }
            | Self::NoSuchPath { .. } => ErrorKind::NotFound,
            Self::Unsupported { .. } | Self::Configuration { .. } | Self::SymbolicRef { .. } => {
                ErrorKind::Unsupported
            }
            Self::InvalidRevision { .. }
            | Self::WrongKind { .. }
            | Self::InvalidPath { .. }
            | Self::InvalidBranch { .. }
            | Self::InvalidIdentity { .. } => ErrorKind::InvalidInput,
            Self::CorruptObject { .. } | Self::CorruptRef { .. } => ErrorKind::Corrupt,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            Self::PathConflict { .. } | Self::RefConflict { .. } => ErrorKind::Conflict,
            Self::RefMoved { .. } => ErrorKind::Moved,
            Self::Locked { .. } => ErrorKind::Locked,
            Self::CheckedOut { .. } => ErrorKind::CheckedOut,
            Self::NoIdentity { .. } => ErrorKind::NoIdentity,
            Self::Io { .. } | Self::NotDurable { .. } => ErrorKind::Io,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_is_the_sentence() {
        let errors: Vec<Box<dyn std::error::Error>> = vec![
            Box::new(Error::NoSuchPath { path: "a".into() }),
            Box::new(Error::CorruptRef { name: "a".into(), problem: "it is empty" }),
            Box::new("x".parse::<crate::Id>().expect_err("it is none")),
        ];
        for error in errors {
            assert_eq!(format!("{error:?}"), error.to_string());
        }
    }
}
