//! New paths: of added files, and of moved ones.
//!
//! A new path is the directory of a known file, and a name of ASCII letters, digits, `_`, `-` and
//! `.` without a dot in front. The guard of the engine decides whether a path is free. A beginning
//! that the guard would refuse with every ending is never written.

use std::collections::HashSet;
use std::sync::LazyLock;

use fs_guard::fold;

use crate::paths::{DEVICES, PathRules};

/// The longest name.
pub(crate) const LONGEST: usize = 208;

/// A name has no dot after so many bytes, so that no long name ends in a refused extension.
const LAST_DOT: usize = 60;

/// The last byte of the endings that make any name free. The default policy refuses no name that
/// ends in it, but those with a closed beginning.
const LAST: char = 'q';

/// The first bytes of these endings, of which there is one for each letter, digit and sign.
const FIRSTS: usize = 38;

/// The beginnings of names that the default policy refuses with every ending: keys, and devices of
/// Windows with a dot.
static CLOSED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let devices = DEVICES.iter().map(|device| format!("{device}."));
    devices.chain(["id_rsa".to_owned()]).collect()
});

/// Names that make a directory look like a git repository.
const REPOSITORY: [&str; 4] = ["head", "objects", "refs", "commondir"];

/// The names of a workspace, with which new paths must not collide.
pub(crate) struct Names {
    rules: PathRules,
    /// All paths and the directories above them, folded in case.
    taken: HashSet<Box<str>>,
    /// The directories for new files, each with a slash.
    directories: HashSet<Box<str>>,
    /// The number of endings that no known path has.
    endings: usize,
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").field("directories", &self.directories).finish_non_exhaustive()
    }
}

/// The directories above a path, each with a slash.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..=at])
}

impl Names {
    pub(crate) fn new(paths: &[Box<str>], rules: PathRules) -> Self {
        let mut this =
            Self { rules, taken: HashSet::new(), directories: HashSet::new(), endings: FIRSTS };
        for path in paths {
            this.taken.insert(fold(path).into());
            for directory in above(path) {
                this.taken.insert(fold(directory.trim_end_matches('/')).into());
                if this.rules.may_create(&format!("{directory}z")) {
                    this.directories.insert(directory.into());
                }
            }
        }
        let firsts = this.taken.iter().filter_map(|path| path.strip_suffix(LAST)?.bytes().last());
        let used: HashSet<u8> = firsts.filter(|&byte| is_plain(byte)).collect();
        this.endings -= used.len();
        this
    }

    /// Whether a name may go on with a byte; `path` is the new path so far.
    pub(crate) fn may_follow(&self, path: &str, byte: u8) -> bool {
        let name = &path[path.rfind('/').map_or(0, |at| at + 1)..];
        let fits = match byte {
            b'.' => !name.is_empty() && name.len() < LAST_DOT,
            _ => is_plain(byte),
        };
        fits && name.len() < LONGEST && !closed_with(name, byte)
    }

    /// The most bytes after which a name of a length is free; `new` is the number of new paths so
    /// far.
    pub(crate) fn most_to_free(&self, name: usize, new: usize) -> u32 {
        let longest = LONGEST.saturating_sub(name) as u32;
        // Each new path has one of the endings at most, and the first byte of one more may finish a
        // closed beginning.
        if new + 1 < self.endings { longest.min(2) } else { longest }
    }

    /// Whether a new file may be in a directory, given with its slash; `gone` are the files deleted
    /// or moved so far.
    pub(crate) fn is_directory(&self, directory: &str, gone: &[&str], paths: &[Box<str>]) -> bool {
        self.directories.contains(directory)
            && (gone.is_empty()
                || paths.iter().any(|path| path.starts_with(directory) && !gone.contains(&&**path)))
    }

    /// Whether a new file may have this path; `new` are the new paths so far.
    pub(crate) fn is_free<'n>(&self, path: &str, mut new: impl Iterator<Item = &'n str>) -> bool {
        let name = &path[path.rfind('/').map_or(0, |at| at + 1)..];
        let folded = fold(path);
        !name.is_empty()
            && !REPOSITORY.iter().any(|other| other.eq_ignore_ascii_case(name))
            && !self.taken.contains(&*folded)
            && !new.any(|other| fold(other) == folded)
            && self.rules.may_create(path)
    }
}

/// Whether a byte is allowed anywhere in a new name.
pub(crate) fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether a name becomes one of the closed beginnings with one more byte.
fn closed_with(name: &str, byte: u8) -> bool {
    CLOSED.iter().any(|closed| {
        let len = closed.len() - 1;
        name.len() == len
            && closed.as_bytes()[len].eq_ignore_ascii_case(&byte)
            && closed[..len].eq_ignore_ascii_case(name)
    })
}

/// The texts that must not follow a name.
pub(crate) fn closed_after(name: &str) -> impl Iterator<Item = &'static str> + '_ {
    CLOSED.iter().filter_map(|closed| {
        let begins = closed.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name));
        begins.then(|| &closed[name.len()..])
    })
}

#[cfg(test)]
mod tests {
    use patch_engine::{DEFAULT_FORBIDDEN, DEFAULT_GUARDED};

    use super::*;

    #[test]
    fn no_name_that_the_policy_refuses_has_the_last_byte_of_the_endings() {
        for pattern in DEFAULT_FORBIDDEN.iter().chain(DEFAULT_GUARDED) {
            let name = pattern.rsplit('/').next().unwrap_or(pattern);
            // No new path has a hidden part, `id_rsa` is a closed beginning, and a directory whose
            // files are all refused gets none.
            let is_other = pattern.contains("/.") || ["id_rsa*", "**"].contains(&name);
            assert!(is_other || !name.ends_with([LAST, '*', '?', ']', '}']), "{pattern}");
        }
        let listed = DEVICES.iter().chain(&crate::paths::DIRECTORIES).chain(&REPOSITORY);
        assert!(listed.into_iter().all(|name| !name.ends_with(LAST)));
    }
}
