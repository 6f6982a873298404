//! Absolute paths of a patch that lead beneath the root.

use std::borrow::Cow;
use std::path::Path;

use patch_grammar::{Patch, Section, Spanned};

use crate::text::files::Files;

/// Returns the patch with paths relative to the root of a directory, where it has absolute ones
/// that are beneath it; a note says so for each. Other paths are left for the guard to refuse.
#[must_use]
pub fn relative<'p>(files: &Files, patch: &'p Patch) -> Cow<'p, Patch> {
    let Some(root) = files.directory() else { return Cow::Borrowed(patch) };
    let is_absolute = |path: &Spanned<'_>| Path::new(&*path.text).is_absolute();
    if !patch.sections().iter().flat_map(Section::paths).any(is_absolute) {
        return Cow::Borrowed(patch);
    }
    let mut notes = Vec::new();
    let mut changed = patch.map_sections(|sections| {
        let mut sections = sections.to_vec();
        for path in sections.iter_mut().flat_map(Section::paths_mut) {
            let Some(rest) = root.relative(&path.text) else { continue };
            let line = path.line;
            notes.push(format!("the absolute path in line {line} was taken as {rest:?}"));
            path.text = rest.into();
        }
        sections
    });
    changed.notes.extend(notes);
    Cow::Owned(changed)
}
