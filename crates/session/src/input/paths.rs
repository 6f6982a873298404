//! Rules for the paths of a patch: all put beneath a directory, and some left out.

use fs_guard::GlobSet;
use patch_grammar::{Patch, Section};
use serde_json::json;

use crate::input::error::InputError;

/// The most files to name in a note on files left out.
const NAMED: usize = 10;

/// A pattern for paths, as git has it: `*` also matches `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPattern {
    /// Take matching files.
    Include(String),
    /// Leave out matching files.
    Exclude(String),
}

impl PathPattern {
    fn text(&self) -> &str {
        match self {
            Self::Include(text) | Self::Exclude(text) => text,
        }
    }

    fn flag(&self) -> &'static str {
        match self {
            Self::Include(_) => "--include",
            Self::Exclude(_) => "--exclude",
        }
    }

    fn with_glob(self) -> Result<(Self, GlobSet), InputError> {
        match GlobSet::across([self.text()]) {
            Ok(glob) => Ok((self, glob)),
            Err(error) => {
                let name = self.flag().trim_start_matches('-');
                Err(InputError::Usage(format!("`{name}`: {error}")))
            }
        }
    }
}

/// The directory above a patch's paths, and the files to take.
#[derive(Debug, Clone, Default)]
pub struct PathRules {
    /// The directory, without `.`, `..` and slashes at either end; empty for none.
    directory: String,
    patterns: Vec<(PathPattern, GlobSet)>,
}

impl PartialEq for PathRules {
    fn eq(&self, other: &Self) -> bool {
        self.directory == other.directory
            && self
                .patterns
                .iter()
                .map(|(pattern, _)| pattern)
                .eq(other.patterns.iter().map(|(pattern, _)| pattern))
    }
}

impl Eq for PathRules {}

impl PathRules {
    /// Reads a directory and patterns. The first matching pattern decides. A path without a match
    /// is taken, unless there is a pattern to include.
    ///
    /// # Errors
    ///
    /// [`InputError::Usage`] when the directory is not beneath the root, or a pattern is malformed.
    pub fn new(
        directory: Option<&str>,
        patterns: impl IntoIterator<Item = PathPattern>,
    ) -> Result<Self, InputError> {
        Ok(Self {
            directory: directory.map_or(Ok(String::new()), normalised)?,
            patterns: patterns.into_iter().map(PathPattern::with_glob).collect::<Result<_, _>>()?,
        })
    }

    /// Returns whether the rules change nothing.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.directory.is_empty() && self.patterns.is_empty()
    }

    /// Writes the rules in one line, for a kept patch; empty if they change nothing.
    pub(crate) fn line(&self) -> String {
        if self.are_none() {
            return String::new();
        }
        let patterns = self.patterns.iter().map(|(pattern, _)| [pattern.flag(), pattern.text()]);
        json!([self.directory, patterns.collect::<Vec<_>>()]).to_string()
    }

    /// Reads the line of rules; `None` if it is none.
    pub(crate) fn of_line(line: &str) -> Option<Self> {
        if line.is_empty() {
            return Some(Self::default());
        }
        let (directory, patterns): (String, Vec<(String, String)>) =
            serde_json::from_str(line).ok()?;
        let patterns = patterns.into_iter().map(|(flag, text)| match &*flag {
            "--include" => Some(PathPattern::Include(text)),
            "--exclude" => Some(PathPattern::Exclude(text)),
            _ => None,
        });
        Self::new(Some(&directory), patterns.collect::<Option<Vec<_>>>()?).ok()
    }

    /// Puts the paths of a patch beneath the directory, and leaves out the excluded files, with a
    /// note. `reverse` says whether the patch is still to be reversed.
    pub(crate) fn of(&self, patch: Patch, reverse: bool) -> Patch {
        if self.are_none() {
            return patch;
        }
        let mut left_out = Vec::new();
        let mut changed = patch.map_sections(|sections| {
            let mut sections = sections.to_vec();
            for path in sections.iter_mut().flat_map(Section::paths_mut) {
                if !self.directory.is_empty() {
                    path.text = beneath(&self.directory, &path.text).into();
                }
            }
            sections.retain(|section| {
                // The path after the change.
                let last = section.destination().filter(|_| !reverse).unwrap_or(&section.path);
                let is_taken = self.takes(&last.text);
                if !is_taken {
                    left_out.push(last.text.to_string());
                }
                is_taken
            });
            sections
        });
        changed.notes.extend(note(&left_out));
        changed
    }

    fn takes(&self, path: &str) -> bool {
        let path = path.strip_prefix("./").unwrap_or(path);
        let first = self.patterns.iter().find(|(_, glob)| glob.matches(path));
        match first {
            Some((PathPattern::Include(_), _)) => true,
            Some((PathPattern::Exclude(_), _)) => false,
            None => {
                let mut patterns = self.patterns.iter().map(|(pattern, _)| pattern);
                !patterns.any(|pattern| matches!(pattern, PathPattern::Include(_)))
            }
        }
    }
}

/// Names the files left out.
fn note(left_out: &[String]) -> Option<String> {
    let names = left_out.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = left_out.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!left_out.is_empty()).then(|| format!("left out, as their paths are excluded: {names}{more}"))
}

/// Returns a directory without `.`, `..` and needless slashes.
fn normalised(directory: &str) -> Result<String, InputError> {
    beneath_root(directory).ok_or_else(|| {
        let rule = "the directory must be relative, and beneath the root";
        InputError::Usage(format!("`directory` {directory:?}: {rule}"))
    })
}

fn beneath_root(directory: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in directory.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!directory.starts_with('/')).then(|| parts.join("/"))
}

/// Puts a path of a patch beneath a directory. A path refused by the guard stays refused.
pub fn beneath(directory: &str, path: &str) -> String {
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{directory}/{}", path.strip_prefix("./").unwrap_or(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_normalised_or_refused() {
        for (directory, wanted) in [
            ("", Some("")),
            (".", Some("")),
            ("some/..", Some("")),
            ("some/sub", Some("some/sub")),
            ("some/sub/", Some("some/sub")),
            ("./some//sub", Some("some/sub")),
            ("some/./sub", Some("some/sub")),
            ("some/../some/sub", Some("some/sub")),
            ("..", None),
            ("../foo", None),
            ("some/../../foo", None),
            ("/some", None),
        ] {
            assert_eq!(normalised(directory).ok().as_deref(), wanted, "{directory}");
        }
    }

    fn include(text: &str) -> PathPattern {
        PathPattern::Include(text.to_owned())
    }

    fn exclude(text: &str) -> PathPattern {
        PathPattern::Exclude(text.to_owned())
    }

    #[test]
    fn the_first_pattern_that_matches_decides() {
        for (patterns, path, wanted) in [
            (vec![], "sub/n.c", true),
            (vec![include("*.c")], "sub/n.c", true),
            (vec![include("sub/*")], "sub/a/n.c", true),
            (vec![include("n.c")], "sub/n.c", false),
            (vec![include("sub")], "sub/n.c", false),
            (vec![include("SUB/n.c")], "sub/n.c", false),
            (vec![include("s?b/[a-z].c")], "sub/n.c", true),
            (vec![include("sub/[!a]*")], "sub/n.c", true),
            (vec![include("sub/n\\.c")], "./sub/n.c", true),
            (vec![exclude("other")], "sub/n.c", true),
            (vec![exclude("sub/*")], "sub/n.c", false),
            (vec![exclude("other"), include("another")], "sub/n.c", false),
            (vec![exclude("sub/n.c"), include("*")], "sub/n.c", false),
            (vec![include("*"), exclude("sub/n.c")], "sub/n.c", true),
        ] {
            let rules = PathRules::new(None, patterns.clone()).expect("globs");
            assert_eq!(rules.takes(path), wanted, "{patterns:?} {path}");
        }
        let broken = PathRules::new(None, [include("[a")]);
        assert!(broken.is_err(), "{broken:?}");
    }

    #[test]
    fn a_note_names_only_so_many_files() {
        let names: Vec<String> = (0..12).map(|number| number.to_string()).collect();
        assert_eq!(note(&[]), None);
        let said = note(&names).expect("files are left out");
        assert!(said.ends_with(": 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"), "{said}");
    }
}
