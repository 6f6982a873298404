//! The paths that a patch may change.
//!
//! The guard of the engine decides, by its default policy, and the reader of patches says how a
//! path is spelt in a header.

use std::sync::Arc;

use fs_guard::{Access, Error, GuardedTree, Rule, Spelling};
use patch_engine::{MemoryTree, policy};
use patch_grammar::marker::LITERAL;
use patch_grammar::{ParseOptions, parse};

/// Names that the guard refuses in any directory and any case, with more after a dot too: devices
/// of Windows.
pub(crate) const DEVICES: [&str; 25] = [
    "con", "prn", "aux", "nul", "conin$", "conout$", "clock$", "com1", "com2", "com3", "com4",
    "com5", "com6", "com7", "com8", "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7",
    "lpt8", "lpt9",
];

/// Names that the guard refuses in any directory and any case: directories of version control, and
/// the applier's own.
pub(crate) const DIRECTORIES: [&str; 9] =
    [".git", ".hg", ".jj", ".svn", ".bzr", "_darcs", ".pijul", "cvs", ".apply-patch"];

/// Why no patch may change a file at a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathProblem {
    /// The guard refuses the spelling.
    #[error("{0}")]
    Spelling(Spelling),
    /// The path has a component `..`.
    #[error("the path climbs out of its directory with `..`")]
    Climbs,
    /// The default policy lets nothing there be changed.
    #[error("no patch may change it: {0}")]
    Forbidden(Rule),
    /// The guard drops a part of the spelling.
    #[error("a patch calls it `{0}`")]
    Spelt(String),
    /// A header with the path would be read otherwise.
    #[error("the header of a patch cannot name it as it is")]
    Header,
}

/// The rules of the engine for paths, without files.
pub(crate) struct PathRules(GuardedTree);

impl std::fmt::Debug for PathRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PathRules")
    }
}

impl PathRules {
    /// The rules of the default policy.
    pub(crate) fn new() -> Self {
        Self(GuardedTree::new(Arc::new(MemoryTree::new()), policy()))
    }

    /// Whether the policy lets a new file be made without an approval.
    pub(crate) fn may_create(&self, path: &str) -> bool {
        self.0.check(path, Access::Create).is_ok()
    }

    /// Finds why no patch may change an existing file. A path whose change has to be approved is
    /// one that may be changed.
    pub(crate) fn check(&self, path: &str) -> Result<(), PathProblem> {
        match self.0.check(path, Access::Update) {
            Ok(checked) if checked.as_str() != path => {
                return Err(PathProblem::Spelt(checked.as_str().to_owned()));
            }
            Ok(_) | Err(Error::Guarded { .. }) => {}
            Err(Error::Spelling { problem, .. }) => return Err(PathProblem::Spelling(problem)),
            Err(Error::Forbidden { rule, .. }) => return Err(PathProblem::Forbidden(rule)),
            Err(Error::Traversal { .. }) => return Err(PathProblem::Climbs),
            Err(_) => return Err(PathProblem::Header),
        }
        if is_read_as_written(path) { Ok(()) } else { Err(PathProblem::Header) }
    }
}

impl PathProblem {
    /// Whether no file of a workspace has such a path, whatever the policy is.
    pub(crate) fn is_spelling(&self) -> bool {
        !matches!(self, Self::Forbidden(_))
    }
}

/// Whether the reader of patches takes a path in a header as it is. In a text that a model wrote,
/// quotes around a path are taken off.
fn is_read_as_written(path: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    if path.bytes().all(is_usual) {
        return true;
    }
    let text = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-x\n*** End Patch\n");
    let is_quoted = path.starts_with(LITERAL) && path.ends_with(LITERAL);
    !is_quoted
        && parse(text, &ParseOptions::default()).is_ok_and(|patch| {
            let mut sections = patch.sections().iter();
            sections.next().is_some_and(|section| section.path.text == path)
                && sections.next().is_none()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(path: &str) -> Option<String> {
        PathRules::new().check(path).err().map(|problem| problem.to_string())
    }

    #[test]
    fn paths_that_no_patch_may_change_are_told_from_others() {
        let long = "x".repeat(5_000);
        for (path, wanted) in [
            ("src/a.rs", None),
            ("mein Brief/ü (1).txt", None),
            ("\"a\"", Some("cannot name it")),
            ("`a`", Some("cannot name it")),
            ("a\"b", None),
            ("\"a\\tb\"", Some("backslash")),
            (" a", Some("cannot name it")),
            ("a ", Some("cannot name it")),
            ("../x", Some("climbs out")),
            ("/abs", Some("absolute")),
            ("./a", Some("a patch calls it `a`")),
            ("a//b", Some("empty component")),
            ("a/", Some("ends in `/`")),
            ("", Some("is empty")),
            ("a\\b", Some("backslash")),
            ("a\u{1b}", Some("control character")),
            ("a\tb", Some("control character")),
            ("a\nb", Some("control character")),
            (&long, Some("longer than")),
            (".git/config", Some("git directory")),
            ("x/.GIT/config", Some("git directory")),
            (".apply-patch/x", Some("state directory")),
            (".env", Some("forbidden pattern")),
            // Someone may approve it.
            (".github/workflows/x.yml", None),
            // It exists, and is not made anew.
            ("aux.txt", None),
        ] {
            let found = problem(path);
            let as_wanted = match (&found, wanted) {
                (None, None) => true,
                (Some(found), Some(wanted)) => found.contains(wanted),
                _ => false,
            };
            assert!(as_wanted, "{path:?}: {found:?}");
        }
    }

    /// All names of up to three of the characters in listed names, and longer ones like these.
    fn names() -> Vec<String> {
        let letters = || "abcghijlmnoprstuvxz019_-.$".chars();
        let one: Vec<String> = letters().map(String::from).collect();
        let longer = |names: &[String]| -> Vec<String> {
            names.iter().flat_map(|name| letters().map(move |c| format!("{name}{c}"))).collect()
        };
        let two = longer(&one);
        let three = longer(&two);
        let listed = || DEVICES.iter().chain(&DIRECTORIES);
        let four = longer(&["com".to_owned(), "lpt".to_owned(), ".git".to_owned()]);
        let around = listed().flat_map(|name| {
            [format!("{name}x"), format!("{name}.x"), format!("x{name}"), name.to_uppercase()]
        });
        [one, two, three, four, around.collect()].concat()
    }

    #[test]
    fn the_lists_have_the_names_that_the_guard_refuses_everywhere() {
        let rules = PathRules::new();
        let refuses = |path: &str| match rules.0.check(path, Access::Create) {
            Err(Error::Forbidden { rule: Rule::Glob(_), .. } | Error::Guarded { .. }) | Ok(_) => {
                false
            }
            Err(_) => true,
        };
        for name in DEVICES.iter().chain(&DIRECTORIES) {
            assert!(refuses(name), "{name}");
            assert!(refuses(&format!("a/{}/b", name.to_uppercase())), "{name}");
        }
        for name in DEVICES {
            assert!(refuses(&format!("{name}.x")), "{name}");
        }
        for name in names() {
            let folded = name.to_lowercase();
            let stem = folded.split('.').next().unwrap_or_default();
            let listed = DEVICES.contains(&stem) || DIRECTORIES.contains(&&*folded);
            // No name ends in a dot, and `.` and `..` are no names.
            assert_eq!(refuses(&name), listed || folded.ends_with('.'), "{name}");
        }
    }
}
