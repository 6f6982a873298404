//! Converts paths of a directory to paths of the enclosing project, and back.
//!
//! Journals have the paths of the project; a store takes and gives the paths of its directory, and
//! little else knows of the difference.

use crate::journal::Journal;

/// The path of a directory beneath its project, in git's words a prefix.
///
/// Recorded paths are relative to the project, so they mean the same for every reader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefix(String);

impl Prefix {
    /// Creates the prefix of a directory at this path. It is empty for the project itself.
    #[must_use]
    pub fn new(path: &str) -> Self {
        Self(path.to_owned())
    }

    /// Returns the path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the directory is the project itself.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Converts a path relative to the directory to one of the project; each leading `..` goes up.
    #[must_use]
    pub fn join(&self, path: &str) -> String {
        let mut above = self.0.as_str();
        let mut below = path;
        while let Some(rest) = below.strip_prefix("../").filter(|_| !above.is_empty()) {
            above = above.rsplit_once('/').map_or("", |(parent, _)| parent);
            below = rest;
        }
        if above.is_empty() { below.to_owned() } else { format!("{above}/{below}") }
    }

    /// Converts a path of the project to one relative to the directory, with leading `..` for a
    /// path outside.
    #[must_use]
    pub fn relative(&self, path: &str) -> String {
        let mut above = String::new();
        let mut below = path;
        let mut from = self.0.as_str();
        while !from.is_empty() {
            let (name, deeper) = from.split_once('/').unwrap_or((from, ""));
            match below.split_once('/').filter(|(first, _)| *first == name) {
                Some((_, rest)) => (below, from) = (rest, deeper),
                None => {
                    above = "../".repeat(from.split('/').count());
                    break;
                }
            }
        }
        above + below
    }

    /// Returns whether a path relative to the directory leads out.
    #[must_use]
    pub fn leads_out(path: &str) -> bool {
        path.starts_with("../")
    }

    pub(crate) fn joined(&self, journal: &Journal) -> Journal {
        map(journal.clone(), |path| self.join(path))
    }

    pub(crate) fn relative_to(&self, journal: Journal) -> Journal {
        if self.is_empty() { journal } else { map(journal, |path| self.relative(path)) }
    }
}

/// The same with other paths.
fn map(journal: Journal, to: impl Fn(&str) -> String) -> Journal {
    let Journal {
        header,
        mut created_dirs,
        mut removed_dirs,
        mut records,
        moved,
        mut carried,
        left,
    } = journal;
    created_dirs.iter_mut().for_each(|(path, _)| *path = to(path));
    removed_dirs.iter_mut().for_each(|(path, _)| *path = to(path));
    records.iter_mut().for_each(|record| record.path = to(&record.path));
    carried.iter_mut().for_each(|carried| carried.path = to(&carried.path));
    Journal { header, created_dirs, removed_dirs, records, moved, carried, left }
}

#[cfg(test)]
mod tests {
    use super::Prefix;

    #[test]
    fn paths_go_there_and_back() {
        for (prefix, project, here) in [
            ("", "a/b", "a/b"),
            ("a", "a/b", "b"),
            ("a", "b", "../b"),
            ("a", "ab/c", "../ab/c"),
            ("a/b", "a/b/c/d", "c/d"),
            ("a/b", "a/c", "../c"),
            ("a/b", "c", "../../c"),
            // A file in the place of the directory.
            ("a/b", "a", "../../a"),
        ] {
            let prefix = Prefix::new(prefix);
            assert_eq!(prefix.relative(project), here, "{prefix:?} {project}");
            assert_eq!(prefix.join(here), project, "{prefix:?} {here}");
            assert_eq!(Prefix::leads_out(here), here.starts_with(".."));
        }
    }
}
