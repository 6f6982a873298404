//! The paths that sections name.

use fs_guard::{Access, FileKind};
use patch_grammar::{Patch, Section};

use crate::files::Files;

/// Returns whether a file is at a path that may be read.
pub(crate) fn is_file(files: &Files, path: &str) -> bool {
    let Ok(path) = files.check(path, Access::Read) else { return false };
    matches!(files.metadata(&path), Ok(Some(seen)) if seen.kind == FileKind::File)
}

/// Returns whether a section is one of a git diff.
pub(crate) fn is_of_git(patch: &Patch, section: &Section<'_>) -> bool {
    patch.bytes(section.span.clone()).starts_with(b"diff --git ")
}

/// Returns whether a patch is a git diff.
#[must_use]
pub fn is_git_diff(patch: &Patch) -> bool {
    patch.sections().first().is_some_and(|section| is_of_git(patch, section))
}

/// Returns whether a section names a path.
pub(crate) fn names(section: &Section<'_>, path: &str) -> bool {
    section.paths().any(|named| plain(&named.text) == plain(path))
}

/// Removes the `./` that a patch may put before a path.
pub(crate) fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// The sections by the paths they name.
pub(crate) struct Named<'p>(Vec<(&'p str, usize)>);

impl<'p> Named<'p> {
    pub(crate) fn of(sections: impl ExactSizeIterator<Item = (usize, &'p Section<'p>)>) -> Self {
        let mut named = Vec::with_capacity(sections.len());
        for (index, section) in sections {
            named.extend(section.paths().map(|path| (plain(&path.text), index)));
        }
        // The sections of a path stay in order.
        named.sort_by_key(|(path, _)| *path);
        Self(named)
    }

    /// Returns the sections with a path.
    pub(crate) fn sections(&self, path: &str) -> impl Iterator<Item = usize> + Clone {
        let first = self.0.partition_point(|(named, _)| *named < path);
        let all = self.0[first..].iter().take_while(move |(named, _)| *named == path);
        all.map(|(_, section)| *section)
    }
}
