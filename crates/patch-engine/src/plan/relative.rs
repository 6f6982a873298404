//! The paths of a patch as paths beneath the root: absolute ones, those of a git diff that begin at
//! the top of the work tree, and the one of two names that is there.

use std::borrow::Cow;
use std::path::Path;

use fs_guard::quoted;
use patch_grammar::{Patch, Section, SectionOperation};

use crate::files::Files;
use crate::plan::backslashes::{self, Backslashes};
use crate::plan::paths::{is_file, is_of_git};

/// Returns the patch with paths relative to the root, with a note for each that changed:
///
/// * of two names that a plain diff has for one file, the one that is there;
/// * absolute ones that are beneath the root of a directory, unless the patch is taken to the
///   letter;
/// * those with backslashes, as Windows writes them, unless the patch is taken to the letter: with
///   slashes, where nothing has the name with backslashes, and the other is that of a file that is
///   there, or of a new one;
/// * those of a git diff, which begin at the top of the work tree, where the root is a directory
///   in it.
///
/// Other paths are left for the guard to refuse.
#[must_use]
pub fn relative<'p>(files: &Files, patch: &'p Patch) -> Cow<'p, Patch> {
    if patch.relative {
        return Cow::Borrowed(patch);
    }
    let top = top_prefix(files, patch);
    let mut paths = patch.sections().iter().flat_map(Section::paths);
    let any_absolute =
        !patch.to_the_letter && paths.any(|path| Path::new(&*path.text).is_absolute());
    let two_names = patch.sections().iter().any(|section| section.old_name.is_some());
    let backslashes = !patch.to_the_letter && backslashes::are_in(patch);
    let absolute = any_absolute && files.directory().is_some();
    if top.is_none() && !two_names && !backslashes && !absolute {
        return Cow::Borrowed(patch);
    }
    let mut notes = Vec::new();
    let mut reader = Backslashes::default();
    let mut changed = patch.map_sections(|sections| {
        let mut sections = sections.to_vec();
        for section in &mut sections {
            let is_git = is_of_git(patch, section);
            notes.extend(choose_name(files, section, is_git));
            if backslashes {
                notes.extend(reader.read(files, patch, section));
            }
            for path in section.paths_mut() {
                if !patch.to_the_letter
                    && let Some(root) = files.directory()
                    && let Some(rest) = root.relative(&path.text)
                {
                    let line = path.line;
                    notes.push(format!(
                        "the absolute path in line {line} was taken as {}",
                        quoted(&rest)
                    ));
                    path.text = rest.into();
                } else if let Some(top) = &top
                    && let Some(rest) = path.text.strip_prefix(&**top)
                {
                    path.text = rest.to_owned().into();
                }
            }
        }
        sections
    });
    if let Some(top) = top {
        notes.push(format!(
            "the paths of the git diff begin at the top of the work tree: {} was left out",
            quoted(&top)
        ));
    }
    changed.relative = true;
    changed.notes.extend(notes);
    Cow::Owned(changed)
}

/// Takes the other name of a file where that is the one that is there, and says so. If both are, or
/// none is, one that goes on after the other is that of a copy beside it. A git diff has no such
/// names: of two files that are there it may mean either, and both names stay.
fn choose_name(files: &Files, section: &mut Section<'_>, is_git: bool) -> Option<String> {
    let other = section.old_name.as_ref()?;
    if is_git && is_file(files, &section.path.text) && is_file(files, &other.text) {
        return None;
    }
    let other = section.old_name.take()?;
    let longer = section.path.text.starts_with(&*other.text);
    let takes = match (is_file(files, &other.text), is_file(files, &section.path.text)) {
        (true, false) => true,
        (false, true) => false,
        _ => longer,
    };
    takes.then(|| {
        let path = std::mem::replace(&mut section.path, other);
        format!(
            "line {}: of {} and {}, the first was taken for the file",
            path.line,
            quoted(&section.path.text),
            quoted(&path.text)
        )
    })
}

/// Returns the path from the top of the work tree to the root, with a slash at its end, if that is
/// where the paths of a git diff begin: no file of it is there otherwise.
fn top_prefix(files: &Files, patch: &Patch) -> Option<String> {
    let root = files.directory()?;
    let mut sections = patch.sections().iter();
    let first = sections.next().filter(|section| is_of_git(patch, section))?;
    if !first.path.text.contains('/') || root.is_work_tree() {
        return None;
    }
    let mut read = patch
        .sections()
        .iter()
        .filter(|section| !matches!(section.operation, SectionOperation::Add(_)));
    if read.any(|section| is_file(files, &section.path.text)) {
        return None;
    }
    let top = root.enclosing(root.policy()).find(|above| above.root.is_work_tree())?;
    let prefix = format!("{}/", top.way.filter(|_| top.root.has_git())?);
    first.path.text.starts_with(&prefix).then_some(prefix)
}
