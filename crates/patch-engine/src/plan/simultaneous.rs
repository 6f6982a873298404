//! The sections of a git diff do not depend on their order: each reads the files as they were
//! before the diff.
//!
//! Changes are made one after the other all the same. It matters only where a file goes away and
//! another one comes to its path, or to one above or below it. There the files are taken away
//! first, and put in their new places afterwards.
//!
//! Several diffs in one text, as `git format-patch --stdout` writes them, follow one another. A
//! section that cannot belong to the diff of the sections before it begins a new one.

use std::collections::HashSet;

use patch_grammar::{Section, SectionOperation};

use super::paths::plain;

/// A section of a patch, with its index.
pub(super) type Indexed<'p> = (usize, &'p Section<'p>);

/// Returns whether the order matters: a file goes away, and another one takes its path, becomes a
/// directory above it, or was a file where it needs a directory.
pub(super) fn order_matters(sections: &[Indexed<'_>]) -> bool {
    let gone: HashSet<&str> = sections.iter().filter_map(|(_, section)| taken(section)).collect();
    if gone.is_empty() {
        return false;
    }
    let above_gone: HashSet<&str> = gone.iter().flat_map(|path| above(path)).collect();
    sections.iter().filter_map(|(_, section)| made(section)).any(|path| {
        gone.contains(path)
            || above_gone.contains(path)
            || above(path).any(|above| gone.contains(above))
    })
}

/// Returns how many of the first sections are of one diff. `exists` tells whether a file is at a
/// path before them.
pub(super) fn of_one_diff(sections: &[Indexed<'_>], mut exists: impl FnMut(&str) -> bool) -> usize {
    let (mut read, mut written) = (HashSet::new(), HashSet::new());
    for (count, (_, section)) in sections.iter().enumerate() {
        let (source, target) = (source(section), target(section));
        let is_copy = matches!(section.operation, SectionOperation::Copy { .. });
        let follows = source.is_some_and(|path| {
            (!is_copy && read.contains(path)) || (written.contains(path) && !exists(path))
        });
        if follows || target.is_some_and(|path| written.contains(path)) {
            return count;
        }
        read.extend(source.filter(|_| !is_copy));
        written.extend(target);
    }
    sections.len()
}

/// Returns the path of the file that a section takes away.
pub(super) fn taken<'s>(section: &'s Section<'_>) -> Option<&'s str> {
    match &section.operation {
        SectionOperation::Delete(_) | SectionOperation::Update { move_to: Some(_), .. } => {
            Some(plain(&section.path.text))
        }
        _ => None,
    }
}

/// Returns the path where a section makes a file.
fn made<'s>(section: &'s Section<'_>) -> Option<&'s str> {
    match &section.operation {
        SectionOperation::Add(_) => Some(plain(&section.path.text)),
        _ => section.destination().map(|to| plain(&to.text)),
    }
}

/// Returns the path of the file that a section reads.
fn source<'s>(section: &'s Section<'_>) -> Option<&'s str> {
    let adds = matches!(section.operation, SectionOperation::Add(_));
    (!adds).then(|| plain(&section.path.text))
}

/// Returns the path of the file that a section leaves.
fn target<'s>(section: &'s Section<'_>) -> Option<&'s str> {
    match &section.operation {
        SectionOperation::Delete(_) => None,
        SectionOperation::Update { move_to: None, .. } => Some(plain(&section.path.text)),
        _ => made(section),
    }
}

/// Iterates over the directories above a path.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(slash, _)| &path[..slash])
}
