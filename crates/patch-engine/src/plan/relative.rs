//! Absolute paths of a patch that lead beneath the root.

use std::borrow::Cow;
use std::convert::Infallible;

use patch_grammar::{Patch, SectionOperation};

use crate::text::files::Files;

/// Returns the patch with paths relative to the root of a directory, where it has absolute ones
/// that are beneath it; a note says so for each. Other paths are left for the guard to refuse.
#[must_use]
pub fn relative<'p>(files: &Files, patch: &'p Patch) -> Cow<'p, Patch> {
    let Some(root) = files.directory() else { return Cow::Borrowed(patch) };
    let mut notes = Vec::new();
    let mut of_root = |text: &mut Cow<'_, str>, line: u32| {
        let Some(rest) = root.relative(text) else { return };
        notes.push(format!("the absolute path in line {line} was taken as {rest:?}"));
        *text = rest.into();
    };
    let any = patch.sections().iter().any(|section| {
        let paths = [Some(&section.path), section.destination()];
        paths.into_iter().flatten().any(|path| std::path::Path::new(&*path.text).is_absolute())
    });
    if !any {
        return Cow::Borrowed(patch);
    }
    let changed = patch.with_sections(|_, sections| {
        let mut sections = sections.to_vec();
        for section in &mut sections {
            of_root(&mut section.path.text, section.path.line);
            match &mut section.operation {
                SectionOperation::Update { move_to: Some(to), .. }
                | SectionOperation::Copy { to, .. } => of_root(&mut to.text, to.line),
                _ => {}
            }
        }
        Ok::<_, Infallible>(sections)
    });
    let Ok(mut changed) = changed;
    changed.notes.extend(notes);
    Cow::Owned(changed)
}
