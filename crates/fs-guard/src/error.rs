//! The errors: what is refused, and what can fail.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use crate::kind::ErrorKind;
use crate::metadata::FileKind;
use crate::names::{Spelling, is_invisible};
use crate::sys::{self, code};
use crate::users::Account;

/// A refusal or a failure, with its path.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The directory named as the root, or as a base, cannot be one.
    #[error("{}: {problem}", quoted(.path))]
    NoRoot {
        /// The directory as given.
        path: String,
        /// Why.
        problem: NoRoot,
    },
    /// The path is spelled in a way that is never accepted.
    #[error("{}: {problem}", quoted(path))]
    Spelling {
        /// The path as given.
        path: String,
        /// The fault of the spelling.
        problem: Spelling,
    },
    /// The path contains `..`.
    #[error(
        "{} climbs out of its directory with `..`; paths are relative to the root",
        quoted(.path)
    )]
    Traversal {
        /// The path as given.
        path: String,
    },
    /// The path is outside the directories of the policy.
    #[error("{} is outside of the directories that may be touched here", quoted(.path))]
    NotWithin {
        /// The path as given.
        path: String,
    },
    /// The path may never be touched.
    #[error("{} may not be touched: {rule}", quoted(.path))]
    Forbidden {
        /// The path.
        path: String,
        /// The rule.
        rule: Rule,
    },
    /// The path is on the guarded list and not approved.
    #[error("{} has to be approved: it matches the guarded pattern `{glob}`", quoted(.path))]
    Guarded {
        /// The path.
        path: String,
        /// The pattern of the guarded list.
        glob: String,
    },
    /// A symbolic link is made or changed without approval.
    #[error("{} is a symbolic link; to make or change one has to be approved", quoted(.path))]
    GuardedLink {
        /// The path.
        path: String,
    },
    /// A symbolic link cannot have this target.
    #[error("{} cannot link to {}: {problem}", quoted(.path), quoted(.target))]
    LinkTarget {
        /// The path of the link.
        path: String,
        /// The target, as given.
        target: String,
        /// The fault of the target.
        problem: &'static str,
    },
    /// A symbolic link is on the way, and stays inside the root.
    #[error(
        "{} goes through the symbolic link {}{}",
        quoted(.path), quoted(.link), leads_to(.real_path.as_deref())
    )]
    Symlink {
        /// The path.
        path: String,
        /// The component with the link.
        link: String,
        /// Where the path leads; `None` if it leads nowhere (a loop).
        real_path: Option<String>,
    },
    /// A symbolic link on the way leads out of the root.
    #[error("{} leaves the root through the symbolic link {}", quoted(.path), quoted(.link))]
    LeadsOut {
        /// The path.
        path: String,
        /// The component with the link.
        link: String,
    },
    /// Another file system is mounted on the way.
    #[error(
        "{} leaves the root's file system at the mount point {}",
        quoted(.path), quoted(.mount)
    )]
    Mount {
        /// The path.
        path: String,
        /// The component with the mount point.
        mount: String,
    },
    /// The file is on another device than the root.
    #[error("{} is on another device than the root", quoted(.path))]
    OtherDevice {
        /// The path.
        path: String,
    },
    /// Something other than a regular file is there.
    #[error("{} is a {}, not a file", quoted(.path), .kind.as_str())]
    NotAFile {
        /// The path.
        path: String,
        /// The kind of the entry there.
        kind: FileKind,
    },
    /// A directory is needed, and something else is there.
    #[error("{} is not a directory, so {} cannot be beneath it", quoted(.component), quoted(.path))]
    NotADirectory {
        /// The path.
        path: String,
        /// The path of the other entry.
        component: String,
    },
    /// The file has several names.
    #[error(
        "{} has {links} hard links; its other names would see the change or lose it",
        quoted(.path)
    )]
    HardLinked {
        /// The path.
        path: String,
        /// The number of names.
        links: u64,
    },
    /// The file is read-only.
    #[error("{} is read-only", quoted(.path))]
    ReadOnly {
        /// The path.
        path: String,
    },
    /// An existing entry differs from the path only by case or normalisation.
    #[error(
        "{} differs from the existing {} by case or Unicode normalisation alone",
        quoted(.path), quoted(.existing)
    )]
    Collision {
        /// The path.
        path: String,
        /// The existing entry.
        existing: String,
    },
    /// Nothing is there.
    #[error("{} does not exist", quoted(.path))]
    NotFound {
        /// The path.
        path: String,
    },
    /// Something is there already.
    #[error("{} exists already", quoted(.path))]
    AlreadyExists {
        /// The path.
        path: String,
    },
    /// The file is larger than allowed.
    #[error("{} has {size} bytes, more than the limit of {limit}", quoted(.path))]
    TooLarge {
        /// The path.
        path: String,
        /// The size, if known.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The file changed during use.
    #[error("{} was changed by someone else", quoted(.path))]
    Changed {
        /// The path.
        path: String,
    },
    /// A private file or directory was not created by this program for this user.
    #[error("{} is not trusted: {problem}; {}", quoted(.path), advice(problem))]
    UntrustedState {
        /// The file or directory.
        path: String,
        /// The reason.
        problem: &'static str,
    },
    /// A private file or directory belongs to another user.
    #[error("{} belongs to {owner}, and this program runs as {user}", quoted(.path))]
    OthersState {
        /// The file or directory.
        path: String,
        /// The owner.
        owner: Account,
        /// Who runs this program.
        user: Account,
    },
    /// Another process holds the lock.
    #[error("the lock is held by {}; gave up after \
             {waited:.0?}", .holder.as_deref().unwrap_or("another process"))]
    Locked {
        /// The holder, if the lock file names one.
        holder: Option<String>,
        /// How long the caller waited.
        waited: Duration,
    },
    /// The work was [given up](crate::Cancellation).
    #[error("cancelled")]
    Cancelled,
    /// A system call failed.
    #[error("cannot {operation} {}: {source}", quoted(.path))]
    Io {
        /// The operation.
        operation: &'static str,
        /// The path, relative to the root if the path is beneath.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
}

crate::debug::debug_is_display!(Error);

/// A rule that no option lifts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// `.git` in any spelling, or a directory with the same inode.
    #[error("it belongs to a git directory")]
    GitDirectory,
    /// The directory of another version control, such as `.hg`, in any spelling.
    #[error("it belongs to `{0}`, a directory of version control")]
    VersionControl(&'static str),
    /// A directory with the shape of a bare repository.
    #[error("{0:?} is a bare git repository")]
    BareRepository(String),
    /// The program's private directory, or its private files elsewhere.
    #[error("it belongs to the state directory")]
    StateDirectory,
    /// A pattern of the forbidden list.
    #[error("it matches the forbidden pattern `{0}`")]
    Glob(String),
}

/// A path for an error, shortened: senders of many thousand bytes know the rest.
#[must_use]
pub fn shortened(path: &str) -> Cow<'_, str> {
    if path.len() > 512 { without_middle(path, 60) } else { path.into() }
}

/// A text without its middle: `end` characters stay at each end.
#[must_use]
pub fn without_middle(text: &str, end: usize) -> Cow<'_, str> {
    match text.char_indices().nth(end).zip(text.char_indices().rev().nth(end.saturating_sub(1))) {
        Some(((head, _), (tail, _))) if head < tail => {
            format!("{}…{}", &text[..head], &text[tail..]).into()
        }
        _ => text.into(),
    }
}

/// A text with an escape for every [invisible](is_invisible) character.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_invisible(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

/// A path for a message: [shortened], and in quotes if it has blanks, quotes or invisible
/// characters.
#[must_use]
pub fn quoted(path: &str) -> Cow<'_, str> {
    let path = shortened(path);
    let quoted = visible(&format!("{path:?}"));
    if path.is_empty() || quoted.len() != path.len() + 2 || path.contains(char::is_whitespace) {
        quoted.into()
    } else {
        path
    }
}

fn leads_to(real_path: Option<&str>) -> String {
    match real_path {
        Some(real) => format!("; it leads to {}", quoted(real)),
        None => String::new(),
    }
}

/// The problem of a private directory where modes cannot be set.
pub(crate) const NO_MODES: &str = "its file system keeps no modes, so others may enter it";

/// Why a directory cannot be a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoRoot {
    /// Nothing is there.
    #[error("no such directory")]
    Missing,
    /// Something else is there.
    #[error("not a directory")]
    NotADirectory,
    /// It was removed, and is still the working directory of this process.
    #[error("this directory was removed")]
    Removed,
}

impl NoRoot {
    /// Converts the error of opening, or finding, the directory `path`.
    pub(crate) fn from_io(source: io::Error, operation: &'static str, path: &str) -> Error {
        let relative = !std::path::Path::new(path).is_absolute();
        let problem = match source.kind() {
            io::ErrorKind::NotFound if relative && is_removed() => Self::Removed,
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::NotADirectory => Self::NotADirectory,
            _ => return Error::Io { operation, path: path.into(), source },
        };
        Error::NoRoot { path: path.into(), problem }
    }
}

/// Returns whether the working directory of this process was removed.
fn is_removed() -> bool {
    std::env::current_dir().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// The problem of a private directory with another mode than its own.
pub(crate) const OPENED: &str = "its mode is not 0700";

/// The problem of a secret with such a mode.
pub(crate) const READABLE: &str = "others may read it";

/// Says what to do. A directory opened by `chmod -R` has the only copies of displaced files, and is
/// not to be removed.
fn advice(problem: &str) -> &'static str {
    match problem {
        NO_MODES => "mount that with umask=077",
        OPENED => {
            "`chmod 700` it, if you changed its mode yourself; otherwise look at it and remove it"
        }
        READABLE => {
            "`chmod 600` it, if you changed its mode yourself; otherwise look at it and remove it"
        }
        _ => "look at it and remove it",
    }
}

impl Error {
    /// Makes the error for a private file or directory of another user.
    pub(crate) fn others(path: &str, owner: u32) -> Self {
        Self::OthersState {
            path: path.into(),
            owner: Account::of(owner),
            user: Account::of(sys::user()),
        }
    }

    /// Returns the kind for programs.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Spelling { .. }
            | Self::LinkTarget { .. }
            | Self::NotAFile { .. }
            | Self::NotADirectory { .. } => ErrorKind::Invalid,
            Self::Traversal { .. }
            | Self::NotWithin { .. }
            | Self::LeadsOut { .. }
            | Self::Mount { .. } => ErrorKind::OutsideRoot,
            Self::Forbidden { .. }
            | Self::Guarded { .. }
            | Self::GuardedLink { .. }
            | Self::Symlink { .. }
            | Self::OtherDevice { .. }
            | Self::HardLinked { .. }
            | Self::ReadOnly { .. }
            | Self::UntrustedState { .. }
            | Self::OthersState { .. } => ErrorKind::PermissionDenied,
            Self::Collision { .. } | Self::AlreadyExists { .. } => ErrorKind::AlreadyExists,
            Self::NoRoot { problem: NoRoot::NotADirectory, .. } => ErrorKind::Invalid,
            Self::NotFound { .. } | Self::NoRoot { .. } => ErrorKind::NotFound,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            Self::Changed { .. } => ErrorKind::Changed,
            Self::Locked { .. } => ErrorKind::Locked,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::Io { source, .. } => match source.raw_os_error() {
                Some(code::NOENT) => ErrorKind::NotFound,
                Some(code::EXIST) => ErrorKind::AlreadyExists,
                Some(code::ACCES | code::PERM | code::ROFS) => ErrorKind::PermissionDenied,
                _ => ErrorKind::Failed,
            },
        }
    }

    /// Returns the path of the error.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::NoRoot { path, .. }
            | Self::Spelling { path, .. }
            | Self::Traversal { path }
            | Self::NotWithin { path }
            | Self::Forbidden { path, .. }
            | Self::Guarded { path, .. }
            | Self::GuardedLink { path }
            | Self::LinkTarget { path, .. }
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
            | Self::OthersState { path, .. }
            | Self::Io { path, .. } => Some(path),
            Self::Locked { .. } | Self::Cancelled => None,
        }
    }

    /// Returns a stable word for the rule that refused, if a rule did.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Spelling { problem, .. } => problem.reason(),
            Self::Traversal { .. } => "traversal",
            Self::NotWithin { .. } => "not_within",
            Self::Forbidden { rule, .. } => match rule {
                Rule::GitDirectory => "git_directory",
                Rule::VersionControl(_) => "version_control",
                Rule::BareRepository(_) => "bare_repository",
                Rule::StateDirectory => "state_directory",
                Rule::Glob(_) => "forbidden",
            },
            Self::Guarded { .. } | Self::GuardedLink { .. } => "guarded",
            Self::LinkTarget { .. } => "link_target",
            Self::Symlink { .. } | Self::LeadsOut { .. } => "symlink",
            Self::Mount { .. } => "mount",
            Self::OtherDevice { .. } => "other_device",
            Self::NotAFile { kind: FileKind::Directory, .. } => "directory",
            Self::NotAFile { .. } => "special_file",
            Self::NotADirectory { .. } | Self::NoRoot { problem: NoRoot::NotADirectory, .. } => {
                "not_a_directory"
            }
            Self::HardLinked { .. } => "hard_links",
            Self::ReadOnly { .. } => "read_only",
            Self::Collision { .. } => "collision",
            Self::NotFound { .. } | Self::NoRoot { .. } => "not_found",
            Self::AlreadyExists { .. } => "exists",
            Self::TooLarge { .. } => "too_large",
            Self::Changed { .. } => "changed",
            Self::UntrustedState { .. } | Self::OthersState { .. } => "untrusted_state",
            Self::Locked { .. } => "locked",
            Self::Cancelled => "cancelled",
            Self::Io { .. } => "io",
        }
    }

    /// Returns whether something failed, and nothing was refused.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::NoRoot { .. })
    }

    /// Returns the underlying error of the system, if there is one.
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

/// Adds the operation and the path to a system error.
pub(crate) trait At<T> {
    fn at(self, operation: &'static str, path: impl AsRef<str>) -> Result<T, Error>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, operation: &'static str, path: impl AsRef<str>) -> Result<T, Error> {
        self.map_err(|source| Error::Io { operation, path: path.as_ref().into(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_is_the_sentence() {
        let errors: Vec<Box<dyn std::error::Error>> = vec![
            Box::new(Error::NotFound { path: "a\u{1b}".into() }),
            Box::new(Error::Symlink { path: "a".into(), link: "b".into(), real_path: None }),
            Box::new(crate::GlobError { pattern: "[a".into(), problem: "unclosed".into() }),
            Box::new("x".parse::<crate::Sha256>().expect_err("it is none")),
        ];
        for error in errors {
            assert_eq!(format!("{error:?}"), error.to_string());
        }
    }
}
