//! Everything that can be refused or go wrong here.

use std::io;
use std::time::Duration;

use crate::kind::ErrorKind;
use crate::metadata::FileKind;
use crate::names::Spelling;
use crate::sys::code;

/// A refusal or a failure, with the path it is about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path is spelt in a way that is never accepted.
    #[error("{:?}: {problem}", shortened(path))]
    Spelling {
        /// The path as it was given.
        path: String,
        /// What is wrong with it.
        problem: Spelling,
    },
    /// The path climbs with `..`.
    #[error("{path:?} climbs out of its directory with `..`; paths are relative to the root")]
    Traversal {
        /// The path as it was given.
        path: String,
    },
    /// The path lies outside of the directories that may be touched here.
    #[error("{path:?} is outside of the directories that may be touched here")]
    NotWithin {
        /// The path as it was given.
        path: String,
    },
    /// The path may never be touched.
    #[error("{path:?} may not be touched: {rule}")]
    Forbidden {
        /// The path.
        path: String,
        /// The rule.
        rule: Rule,
    },
    /// The path is on the guarded list, and not approved.
    #[error("{path:?} has to be approved: it matches the guarded pattern `{glob}`")]
    Guarded {
        /// The path.
        path: String,
        /// The pattern of the guarded list.
        glob: String,
    },
    /// A symbolic link is on the way, and stays inside.
    #[error("{path:?} goes through the symbolic link {link:?}{}", leads_to(.real_path.as_deref()))]
    Symlink {
        /// The path.
        path: String,
        /// The component that is a link.
        link: String,
        /// Where the path leads; `None` when it leads nowhere (a loop).
        real_path: Option<String>,
    },
    /// A symbolic link on the way leads out of the root.
    #[error("{path:?} leaves the root through the symbolic link {link:?}")]
    LeadsOut {
        /// The path.
        path: String,
        /// The component that is a link.
        link: String,
    },
    /// Another file system is mounted on the way.
    #[error("{path:?} leaves the root's file system at the mount point {mount:?}")]
    Mount {
        /// The path.
        path: String,
        /// The component that is a mount point.
        mount: String,
    },
    /// The file is on another device than the root.
    #[error("{path:?} is on another device than the root")]
    OtherDevice {
        /// The path.
        path: String,
    },
    /// Something other than a regular file is there.
    #[error("{path:?} is a {}, not a file", .kind.as_str())]
    NotAFile {
        /// The path.
        path: String,
        /// What is there.
        kind: FileKind,
    },
    /// A directory was needed and something else is there.
    #[error("{component:?} is not a directory, so {path:?} cannot be beneath it")]
    NotADirectory {
        /// The path.
        path: String,
        /// What is not a directory.
        component: String,
    },
    /// The file has further names.
    #[error("{path:?} has {links} hard links; its other names would see the change or lose it")]
    HardLinked {
        /// The path.
        path: String,
        /// How many names the file has.
        links: u64,
    },
    /// The file is read-only.
    #[error("{path:?} is read-only")]
    ReadOnly {
        /// The path.
        path: String,
    },
    /// An existing entry differs from the path by case or normalisation alone.
    #[error("{path:?} differs from the existing {existing:?} by case or Unicode normalisation alone")]
    Collision {
        /// The path.
        path: String,
        /// What is there.
        existing: String,
    },
    /// Nothing is there.
    #[error("{path:?} does not exist")]
    NotFound {
        /// The path.
        path: String,
    },
    /// Something is there already.
    #[error("{path:?} exists already")]
    AlreadyExists {
        /// The path.
        path: String,
    },
    /// The file is larger than allowed.
    #[error("{path:?} has {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size, as far as it is known.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The file changed while it was used.
    #[error("{path:?} was changed by someone else")]
    Changed {
        /// The path.
        path: String,
    },
    /// A private file or directory is not one that this program made for this user.
    #[error("{path:?} is not trusted: {problem}; {}", advice(problem))]
    UntrustedState {
        /// What is not trusted.
        path: String,
        /// Why.
        problem: &'static str,
    },
    /// Another process holds the lock.
    #[error("the lock is held by {}; gave up after {waited:?}", .holder.as_deref().unwrap_or("another process"))]
    Locked {
        /// Who holds it, if the lock file names it.
        holder: Option<String>,
        /// How long was waited.
        waited: Duration,
    },
    /// A system call failed.
    #[error("cannot {operation} {path:?}: {source}")]
    Io {
        /// What was tried.
        operation: &'static str,
        /// The path, relative to the root where it is beneath it.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
}

/// A rule that no option lifts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// `.git`, however spelt, or a directory that is the same inode.
    #[error("it belongs to a git directory")]
    GitDirectory,
    /// A directory with the shape of a bare repository.
    #[error("{0:?} is a bare git repository")]
    BareRepository(String),
    /// The program's own directory, or what it keeps elsewhere.
    #[error("it belongs to the state directory")]
    StateDirectory,
    /// A pattern of the forbidden list.
    #[error("it matches the forbidden pattern `{0}`")]
    Glob(String),
}

/// A path as an error names it: who sent one of many thousand bytes knows it.
#[must_use]
pub fn shortened(path: &str) -> std::borrow::Cow<'_, str> {
    /// How many characters of each end.
    const END: usize = 60;
    match path.char_indices().nth(END).zip(path.char_indices().rev().nth(END - 1)) {
        Some(((head, _), (tail, _))) if path.len() > 512 => format!("{}…{}", &path[..head], &path[tail..]).into(),
        _ => path.into(),
    }
}

fn leads_to(real_path: Option<&str>) -> String {
    match real_path {
        Some(real) => format!("; it leads to {real:?}"),
        None => String::new(),
    }
}

/// Of a directory that has just been made, and was removed again.
pub(crate) const NO_MODES: &str = "its file system keeps no modes, so others may enter it";

fn advice(problem: &str) -> &'static str {
    if problem == NO_MODES { "mount that with umask=077" } else { "look at it and remove it" }
}

impl Error {
    /// Returns the kind for programs.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Spelling { .. } | Self::NotAFile { .. } | Self::NotADirectory { .. } => ErrorKind::Invalid,
            Self::Traversal { .. } | Self::NotWithin { .. } | Self::LeadsOut { .. } | Self::Mount { .. } => {
                ErrorKind::OutsideRoot
            }
            Self::Forbidden { .. }
            | Self::Guarded { .. }
            | Self::Symlink { .. }
            | Self::OtherDevice { .. }
            | Self::HardLinked { .. }
            | Self::ReadOnly { .. }
            | Self::UntrustedState { .. } => ErrorKind::PermissionDenied,
            Self::Collision { .. } | Self::AlreadyExists { .. } => ErrorKind::AlreadyExists,
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            Self::Changed { .. } => ErrorKind::Changed,
            Self::Locked { .. } => ErrorKind::Locked,
            Self::Io { source, .. } => match source.raw_os_error() {
                Some(code::NOENT) => ErrorKind::NotFound,
                Some(code::EXIST) => ErrorKind::AlreadyExists,
                Some(code::ACCES | code::PERM | code::ROFS) => ErrorKind::PermissionDenied,
                _ => ErrorKind::Failed,
            },
        }
    }

    /// Returns the path it is about.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Spelling { path, .. }
            | Self::Traversal { path }
            | Self::NotWithin { path }
            | Self::Forbidden { path, .. }
            | Self::Guarded { path, .. }
            | Self::Symlink { path, .. }
            | Self::LeadsOut { path, .. }
            | Self::Mount { path, .. }
            | Self::OtherDevice { path }
            | Self::NotAFile { path, .. }
            | Self::NotADirectory { path, .. }
            | Self::HardLinked { path, .. }
            | Self::ReadOnly { path }
            | Self::Collision { path, .. }
            | Self::NotFound { path }
            | Self::AlreadyExists { path }
            | Self::TooLarge { path, .. }
            | Self::Changed { path }
            | Self::UntrustedState { path, .. }
            | Self::Io { path, .. } => Some(path),
            Self::Locked { .. } => None,
        }
    }

    /// Returns a stable word for the rule behind the kind.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Spelling { problem, .. } => problem.reason(),
            Self::Traversal { .. } => "traversal",
            Self::NotWithin { .. } => "not_within",
            Self::Forbidden { rule, .. } => match rule {
                Rule::GitDirectory => "git_directory",
                Rule::BareRepository(_) => "bare_repository",
                Rule::StateDirectory => "state_directory",
                Rule::Glob(_) => "forbidden",
            },
            Self::Guarded { .. } => "guarded",
            Self::Symlink { .. } | Self::LeadsOut { .. } => "symlink",
            Self::Mount { .. } => "mount",
            Self::OtherDevice { .. } => "other_device",
            Self::NotAFile { kind: FileKind::Directory, .. } => "directory",
            Self::NotAFile { .. } => "special_file",
            Self::NotADirectory { .. } => "not_a_directory",
            Self::HardLinked { .. } => "hard_links",
            Self::ReadOnly { .. } => "read_only",
            Self::Collision { .. } => "collision",
            Self::NotFound { .. } => "not_found",
            Self::AlreadyExists { .. } => "exists",
            Self::TooLarge { .. } => "too_large",
            Self::Changed { .. } => "changed",
            Self::UntrustedState { .. } => "untrusted_state",
            Self::Locked { .. } => "locked",
            Self::Io { .. } => "io",
        }
    }

    /// Returns the system's error behind it, if there is one.
    #[must_use]
    pub fn io(&self) -> Option<&io::Error> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }

    pub(crate) fn is_code(&self, code: i32) -> bool {
        self.io().and_then(io::Error::raw_os_error) == Some(code)
    }
}

/// Gives a system error its place.
pub(crate) trait At<T> {
    fn at(self, operation: &'static str, path: impl AsRef<str>) -> Result<T, Error>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, operation: &'static str, path: impl AsRef<str>) -> Result<T, Error> {
        self.map_err(|source| Error::Io { operation, path: path.as_ref().into(), source })
    }
}
