//! The names that git refuses in trees.

use gix_validate::path::component;

use crate::error::{Error, Result};
use crate::tree::Kind;

/// More components than any tree has; each is a step of a recursion.
pub(crate) const DEPTH: usize = 512;

/// Splits a path, and checks every component of it as [`check`] does.
pub(crate) fn components(path: &[u8]) -> Result<Vec<&[u8]>> {
    let components: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    if components.len() > DEPTH {
        return Err(invalid(path, "it has more than 512 components"));
    }
    components.iter().try_for_each(|name| check(name).map_err(|problem| invalid(path, problem)))?;
    Ok(components)
}

pub(crate) fn invalid(path: &[u8], problem: &'static str) -> Error {
    Error::InvalidPath { path: String::from_utf8_lossy(path).into_owned(), problem }
}

/// Checks one name as `git fsck --strict` does: nothing that a file system could take for `.git`.
pub(crate) fn check(name: &[u8]) -> std::result::Result<(), &'static str> {
    if name.contains(&0) {
        return Err("a NUL in it");
    }
    if name.len() > 4096 {
        return Err("a component of more than 4096 bytes");
    }
    // A backslash divides names where git runs on Windows.
    for part in name.split(|byte| *byte == b'\\') {
        let options = component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
        match gix_validate::path::component(part.into(), None, options) {
            Ok(_) => {}
            Err(component::Error::Empty) if part.len() < name.len() => {}
            Err(component::Error::Empty) => return Err("an empty component"),
            Err(component::Error::Relative) if part.len() == name.len() => return Err("a component `.` or `..`"),
            Err(component::Error::Relative) => return Err("a component `.` or `..` after a backslash"),
            Err(component::Error::DotGitDir) => return Err("git keeps `.git`, in any spelling, for itself"),
            Err(_) => return Err("a name that git refuses"),
        }
    }
    Ok(())
}

/// Checks what git asks of files that it reads itself: they are no links.
pub(crate) fn check_kind(name: &[u8], kind: Kind) -> std::result::Result<(), &'static str> {
    let read_by_git = || {
        let options = component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
        gix_validate::path::component(name.into(), Some(component::Mode::Symlink), options).is_err()
            || [&b".gitattributes"[..], b".gitignore", b".mailmap"].iter().any(|own| name.eq_ignore_ascii_case(own))
    };
    if kind == Kind::Symlink && read_by_git() {
        Err("git reads this file itself, and takes no link for it")
    } else {
        Ok(())
    }
}
