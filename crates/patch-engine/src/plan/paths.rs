//! The paths that sections name.

use patch_grammar::Section;

/// Returns whether a section names a path.
pub(crate) fn names(section: &Section<'_>, path: &str) -> bool {
    section.paths().any(|named| plain(&named.text) == plain(path))
}

/// Removes the `./` that a patch may put before a path.
pub(crate) fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}
