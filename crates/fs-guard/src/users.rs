//! The system's list of users, as far as it is a file.

use std::path::{Path, PathBuf};

use crate::sys;

/// Returns the user's home directory: `$HOME`, or `%USERPROFILE%` on Windows; where that names no directory, what the
/// system's list of users says.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "this crate is where files are looked at")]
pub fn home() -> Option<PathBuf> {
    let names = if cfg!(windows) { &["HOME", "USERPROFILE"][..] } else { &["HOME"] };
    let named = names.iter().filter_map(std::env::var_os).map(PathBuf::from);
    let named = named.filter(|home| home.is_absolute()).find(|home| std::fs::metadata(home).is_ok());
    named.or_else(|| Some(PathBuf::from(user(sys::user())?.home)))
}

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) home: String,
}

/// Finds a user by number. `None` where there is no such list, or the user stands elsewhere, as in a directory service.
pub(crate) fn user(uid: u32) -> Option<User> {
    /// The largest list that is read, in bytes.
    const LIMIT: u64 = 1 << 20;
    let list = crate::named::read_config(Path::new("/etc/passwd"), LIMIT).ok()??;
    find(&String::from_utf8_lossy(&list), uid)
}

fn find(list: &str, uid: u32) -> Option<User> {
    list.lines().find_map(|line| {
        let fields: Vec<_> = line.split(':').collect();
        let [name, _, number, _, _, home, ..] = fields[..] else { return None };
        (number.parse() == Ok(uid)).then(|| User { name: name.into(), home: home.into() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_number() {
        let list = "root:x:0:0:root:/root:/bin/sh\n# 5:5\nbad:x:5\nme:x:1000:1000:Me,,,:/home/me:/bin/sh\n";
        let user = |name: &str, home: &str| Some(User { name: name.into(), home: home.into() });
        assert_eq!(find(list, 1000), user("me", "/home/me"));
        assert_eq!(find(list, 0), user("root", "/root"));
        assert_eq!(find(list, 5), None);
        assert_eq!(find("", 0), None);
    }
}
