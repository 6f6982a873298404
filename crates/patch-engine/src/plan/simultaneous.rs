//! The sections of a git diff do not depend on their order: each reads the files as they were
//! before the diff.
//!
//! Changes are made one after the other all the same. It matters only where a file goes away and
//! another one comes to its path, or to one above or below it. There the files are taken away
//! first, and put in their new places afterwards.
//!
//! Several diffs in one text, as `git format-patch --stdout` writes them, follow one another. The
//! line that begins a mail or a commit begins a new one, and so does a section that cannot belong
//! to the diff of the sections before it.

use std::collections::HashSet;
use std::ops::Range;

use patch_grammar::diff::parts_diffs;
use patch_grammar::{Patch, Section, SectionOperation};

use super::Map;
use super::paths::{is_git_diff, plain};

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

/// Numbers the diffs of a text, and returns for each section of which one it is.
pub(super) fn diffs(patch: &Patch) -> Vec<usize> {
    let mut number = 0;
    let mut last: Option<Range<usize>> = None;
    let of = |section: &Section<'_>| {
        let span = section.span.clone();
        // In reverse, the last section of the text is the first one.
        let between = last.as_ref().map(|last| {
            if last.end <= span.start { last.end..span.start } else { span.end..last.start }
        });
        let between = between.filter(|it| it.start < it.end);
        number += usize::from(between.is_some_and(|it| parts_diffs(patch.bytes(it))));
        last = Some(span);
        number
    };
    patch.sections().iter().map(of).collect()
}

/// Returns whether a section copies a file, and is not of the first diff: the file is meant as the
/// diffs before that leave it.
pub(super) fn copies_later(sections: &[Indexed<'_>], diffs: &[usize]) -> bool {
    let first = of_one_diff(sections, |_| true);
    let is_copy =
        |section: &Section<'_>| matches!(section.operation, SectionOperation::Copy { .. });
    sections
        .iter()
        .enumerate()
        .any(|(nth, (index, section))| is_copy(section) && (nth >= first || diffs[*index] > 0))
}

/// The steps by path.
type Steps<'s> = Map<&'s str, Vec<usize>>;

/// Returns the sections of a patch, each by itself, in their order. Sections of a git diff that
/// cannot be told apart stand together: a swap, or a copy of what another one changes.
pub(crate) fn steps(patch: &Patch) -> Vec<Vec<usize>> {
    let sections = patch.sections();
    if !is_git_diff(patch) {
        return (0..sections.len()).map(|index| vec![index]).collect();
    }
    let diffs = diffs(patch);
    let indexed: Vec<Indexed<'_>> = sections.iter().enumerate().collect();
    let mut steps: Vec<Vec<usize>> = Vec::with_capacity(sections.len());
    let mut ends = 0;
    // The steps of the diff at hand that name a path, and those that name one below it.
    let (mut naming, mut beneath) = (Steps::default(), Steps::default());
    for (index, section) in sections.iter().enumerate() {
        if index == ends || diffs[index] != diffs[index - 1] {
            (naming, beneath) = (Steps::default(), Steps::default());
            let of_diff = |(other, _): &&Indexed<'_>| diffs[*other] == diffs[index];
            let diff = indexed[index..].iter().take_while(of_diff).count();
            ends = index + of_one_diff(&indexed[index..index + diff], |_| true);
        }
        let paths = || section.paths().map(|path| plain(&path.text));
        let named = paths()
            .flat_map(|path| above(path).chain([path]))
            .filter_map(|path| naming.get(path))
            .chain(paths().filter_map(|path| beneath.get(path)));
        let mut joined: Vec<usize> = named
            .flatten()
            .copied()
            .filter(|&step| steps[step].iter().any(|&other| depend(&sections[other], section)))
            .collect();
        joined.sort_unstable();
        joined.dedup();
        let step = joined.first().copied().unwrap_or(steps.len());
        if step == steps.len() {
            steps.push(Vec::new());
        }
        for &other in joined.iter().skip(1) {
            let moved = std::mem::take(&mut steps[other]);
            for path in moved.iter().flat_map(|&index| sections[index].paths()) {
                naming.entry(plain(&path.text)).or_default().push(step);
                above(plain(&path.text)).for_each(|dir| beneath.entry(dir).or_default().push(step));
            }
            steps[step].extend(moved);
        }
        steps[step].push(index);
        steps[step].sort_unstable();
        for path in paths() {
            naming.entry(path).or_default().push(step);
            above(path).for_each(|dir| beneath.entry(dir).or_default().push(step));
        }
    }
    steps.retain(|step| !step.is_empty());
    steps
}

/// Returns the sections of a patch in an order in which they do one after the other what those of a
/// git diff do at one time.
///
/// # Errors
///
/// The path of a section that no order puts right: files swap their names, or a file comes to the
/// place of a directory, which only goes with the last file in it where all is done at one time.
pub fn in_sequence(patch: &Patch) -> Result<Vec<usize>, &str> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let sections = patch.sections();
    let mut order = Vec::with_capacity(sections.len());
    let mut states = vec![State::New; sections.len()];
    for step in steps(patch) {
        let name = |index: usize| plain(&sections[index].path.text);
        let (mut taking, mut making) = (Map::default(), Map::default());
        for &index in &step {
            taking.extend(taken(&sections[index]).map(|path| (path, index)));
            making.extend(made(&sections[index]).map(|path| (path, index)));
        }
        if let Some(index) =
            taking.keys().flat_map(|path| above(path)).find_map(|dir| making.get(dir))
        {
            return Err(name(*index));
        }
        // What comes to a path comes after what goes from there.
        let mut rest: Vec<usize> = step.into_iter().rev().collect();
        while let Some(&index) = rest.last() {
            if states[index] != State::New {
                if std::mem::replace(&mut states[index], State::Done) == State::Open {
                    order.push(index);
                }
                rest.pop();
                continue;
            }
            states[index] = State::Open;
            let ways =
                made(&sections[index]).into_iter().flat_map(|path| above(path).chain([path]));
            for &first in ways.filter_map(|path| taking.get(path)).filter(|it| **it != index) {
                match states[first] {
                    State::New => rest.push(first),
                    State::Open => return Err(name(first)),
                    State::Done => {}
                }
            }
        }
    }
    Ok(order)
}

/// Returns whether two paths are one, or one leads to the other.
fn meet(path: &str, with: &str) -> bool {
    path == with || above(path).any(|above| above == with) || above(with).any(|above| above == path)
}

/// Returns whether two sections of one diff have to be planned together.
fn depend(one: &Section<'_>, other: &Section<'_>) -> bool {
    let replaces = |gone: &Section<'_>, new: &Section<'_>| {
        taken(gone).zip(made(new)).is_some_and(|(gone, new)| meet(gone, new))
    };
    let copies = |copy: &Section<'_>, change: &Section<'_>| {
        matches!(copy.operation, SectionOperation::Copy { .. })
            && [taken(change), target(change)].contains(&source(copy))
    };
    replaces(one, other) || replaces(other, one) || copies(one, other) || copies(other, one)
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
