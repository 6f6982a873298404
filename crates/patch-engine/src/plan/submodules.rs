//! Submodules, which only git diffs change, and only trees of git have. For a plan, a submodule is
//! a file with the line that a diff has of it: `Subproject commit`, and the id of the commit.

/// The mode of a submodule in git. It has no permissions.
pub const MODE: u32 = 0o160_000;

const WORDS: &str = "Subproject commit ";

/// The problem with the change of a submodule.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubmoduleProblem {
    /// The files are not those of a git tree.
    #[error("it is a submodule, whose change only a git tree takes (`apply-patch git`)")]
    NoGitTree,
    /// A diff moves it, and a directory is there. Git moves files, links and submodules only.
    #[error(
        "a directory is there, and a diff moves none: it moves a submodule, which only a git tree \
         takes (`apply-patch git`)"
    )]
    Directory {
        /// Where it would go: the path that patterns are matched with.
        to: String,
    },
    /// The diff does not have the whole id of the new commit.
    #[error(
        "the diff has only the first digits of the submodule's new commit; `git diff \
         --submodule=short` has all of them"
    )]
    ShortId,
    /// The submodule is at another commit.
    #[error("the submodule is at another commit than the diff says: {found}")]
    OtherCommit {
        /// The id of the commit that it is at.
        found: String,
    },
    /// There is something else.
    #[error("the diff is for a submodule, and this is none")]
    NoSubmodule,
}

/// Returns the line that stands for a submodule: `Subproject commit`, the id of the commit that it
/// is at, in lower-case hexadecimal digits, and a line end. This is what a [`Tree`](crate::Tree)
/// answers as the content of a submodule.
#[must_use]
pub fn line_of(commit: &str) -> Vec<u8> {
    format!("{WORDS}{}\n", commit.to_ascii_lowercase()).into_bytes()
}

/// Returns the line that stands for a submodule at a commit, if a diff has its whole id.
pub(super) fn line(commit: Option<&str>) -> Result<Vec<u8>, SubmoduleProblem> {
    match commit {
        Some(id) if matches!(id.len(), 40 | 64) => Ok(line_of(id)),
        _ => Err(SubmoduleProblem::ShortId),
    }
}

/// Returns the id of the commit in such a line, as it is written there, or `None` where the bytes
/// are no such line.
#[must_use]
pub fn commit_of(line: &[u8]) -> Option<&str> {
    std::str::from_utf8(line).ok()?.strip_prefix(WORDS)?.strip_suffix('\n')
}

/// Returns whether a diff, which may have the first digits only, means this commit.
pub(super) fn is_commit(found: &str, stated: Option<&str>) -> bool {
    stated.is_some_and(|stated| {
        found.get(..stated.len()).is_some_and(|start| start.eq_ignore_ascii_case(stated))
    })
}
