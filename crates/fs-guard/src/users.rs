//! The system's list of users, as far as it is a file.

use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::metadata::Metadata;
use crate::sys;

/// Returns the user's home directory: `$HOME`, or `%USERPROFILE%` on Windows; where that names no
/// directory, the one in the system's list of users.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "this crate is where files are looked at")]
pub fn home() -> Option<PathBuf> {
    named_homes().find(|home| std::fs::metadata(home).is_ok()).or_else(listed_home)
}

/// Returns the metadata of the user's [home directory](home), if permitted.
pub(crate) fn seen_home() -> Option<Metadata> {
    named_homes()
        .find_map(|home| sys::stat_path(&home).ok())
        .or_else(|| sys::stat_path(&listed_home()?).ok())
}

fn named_homes() -> impl Iterator<Item = PathBuf> {
    let names = if cfg!(windows) { &["HOME", "USERPROFILE"][..] } else { &["HOME"] };
    let named = names.iter().filter_map(std::env::var_os).map(PathBuf::from);
    named.filter(|home| home.is_absolute())
}

/// Returns the home directory of this process's user in the system's list of users.
#[must_use]
pub fn listed_home() -> Option<PathBuf> {
    Some(PathBuf::from(user(sys::user())?.home)).filter(|home| home.is_absolute())
}

/// A user of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Account {
    /// The number.
    pub uid: u32,
    /// The name in the system's list of users, if any.
    pub name: Option<Box<str>>,
}

impl Account {
    pub(crate) fn of(uid: u32) -> Self {
        Self { uid, name: user(uid).map(|user| user.name.into()) }
    }

    /// Whether this is the user who may do everything.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.uid == ROOT
    }

    /// Returns the name, or else the number: what commands such as `chown` take.
    #[must_use]
    pub fn id(&self) -> String {
        self.name.as_ref().map_or_else(|| self.uid.to_string(), ToString::to_string)
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "user {}", self.uid),
        }
    }
}

/// Returns whether what this process makes at a path would keep another user out of their own
/// directory: the process runs as root, and what is there, or the nearest directory above, belongs
/// to somebody else.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "this crate is where files are looked at")]
pub fn keeps_out(path: &Path) -> bool {
    if sys::user() != ROOT {
        return false;
    }
    let nearest = path.ancestors().find_map(|at| std::fs::symlink_metadata(at).ok());
    nearest.is_some_and(|seen| owner(&seen) != ROOT)
}

/// The number of the user who may do everything.
pub(crate) const ROOT: u32 = 0;

#[cfg(unix)]
fn owner(seen: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::uid(seen)
}

#[cfg(not(unix))]
fn owner(_: &std::fs::Metadata) -> u32 {
    ROOT
}

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct User {
    name: String,
    home: String,
}

/// Finds a user by number. `None` where there is no such list, or the user stands elsewhere, as in
/// a directory service.
#[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a file of the system")]
fn user(uid: u32) -> Option<User> {
    /// The most bytes of a list.
    const LIMIT: u64 = 1 << 20;
    let mut list = Vec::new();
    std::fs::File::open("/etc/passwd").ok()?.take(LIMIT).read_to_end(&mut list).ok()?;
    find(&String::from_utf8_lossy(&list), uid)
}

fn find(list: &str, uid: u32) -> Option<User> {
    list.lines().find_map(|line| {
        let fields: Vec<_> = line.split(':').collect();
        let [name, _, number, _, _, home, ..] = fields[..] else { return None };
        (number.parse() == Ok(uid) && is_user_name(name))
            .then(|| User { name: name.into(), home: home.into() })
    })
}

fn is_user_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '$'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_number() {
        let list = "root:x:0:0:root:/root:/bin/sh\n# 5:5\nbad:x:5\n\
                    me:x:1000:1000:Me,,,:/home/me:/bin/sh\n";
        let user = |name: &str, home: &str| Some(User { name: name.into(), home: home.into() });
        assert_eq!(find(list, 1000), user("me", "/home/me"));
        assert_eq!(find(list, 0), user("root", "/root"));
        assert_eq!(find(list, 5), None);
        assert_eq!(find("", 0), None);
    }
}
