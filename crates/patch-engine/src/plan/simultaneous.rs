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

use patch_grammar::diff::are_parted;
use patch_grammar::{Patch, Section, SectionOperation};

use super::Map;
use super::paths::{is_git_diff, plain};

/// A section of a patch, with its index.
pub(crate) type Indexed<'p> = (usize, &'p Section<'p>);

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

/// Numbers the diffs of a text, and returns the number for each section.
pub(super) fn diffs(patch: &Patch) -> Vec<usize> {
    let sections = patch.sections();
    let mut number = 0;
    let mut diffs = Vec::with_capacity(sections.len());
    for (index, section) in sections.iter().enumerate() {
        let last = index.checked_sub(1).map(|last| &sections[last]);
        number += usize::from(last.is_some_and(|last| are_parted(patch, last, section)));
        diffs.push(number);
    }
    diffs
}

/// Returns whether a section copies a file, and is not of the first diff: the file is meant as the
/// diffs before that leave it.
pub(super) fn copies_later(sections: &[Indexed<'_>], diffs: &[usize]) -> bool {
    let last = sections.iter().rposition(|(_, section)| copied(section).is_some());
    last.is_some_and(|last| last >= of_one_diff(sections, diffs, |_| true))
}

/// Returns the sections of a patch, each by itself, in their order. Sections of a git diff that
/// cannot be told apart stand together: a swap, or a copy of what another one changes.
pub(crate) fn steps(patch: &Patch) -> Vec<Vec<usize>> {
    let sections = patch.sections();
    if !is_git_diff(patch) {
        return (0..sections.len()).map(|index| vec![index]).collect();
    }
    let diffs = diffs(patch);
    let indexed: Vec<Indexed<'_>> = sections.iter().enumerate().collect();
    let mut steps = Vec::with_capacity(sections.len());
    let mut rest = &indexed[..];
    while !rest.is_empty() {
        let (diff, more) = rest.split_at(of_one_diff(rest, &diffs, |_| true));
        steps.extend(together(diff));
        rest = more;
    }
    steps
}

/// Returns the sections of one diff, grouped where they have to be planned together: a file comes
/// to a place left by another one, or is a copy of a file changed by another section.
fn together(diff: &[Indexed<'_>]) -> Vec<Vec<usize>> {
    let taking = by_path(diff, taken);
    let making = by_path(diff, made);
    let leaving = by_path(diff, target);
    // Each leads to one before, the first of a step to itself.
    let mut first: Vec<usize> = (0..diff.len()).collect();
    for (nth, (_, section)) in diff.iter().enumerate() {
        let left = made(section).into_iter().flat_map(|to| above(to).chain([to]));
        let left = left.filter_map(|path| taking.get(path));
        let entered = taken(section).into_iter().flat_map(above);
        let entered = entered.filter_map(|path| making.get(path));
        let source = copied(section).into_iter();
        let changed = source.flat_map(|path| [taking.get(path), leaving.get(path)]).flatten();
        for &other in left.chain(entered).chain(changed) {
            let one = first_of(&mut first, nth);
            let other = first_of(&mut first, other);
            first[one.max(other)] = one.min(other);
        }
    }
    let mut steps: Vec<Vec<usize>> = vec![Vec::new(); diff.len()];
    for (nth, (index, _)) in diff.iter().enumerate() {
        steps[first_of(&mut first, nth)].push(*index);
    }
    steps.retain(|step| !step.is_empty());
    steps
}

/// Returns the places of the sections in a diff by one of their paths.
fn by_path<'s>(
    diff: &[Indexed<'s>],
    path: fn(&'s Section<'_>) -> Option<&'s str>,
) -> Map<&'s str, usize> {
    let named = diff.iter().enumerate();
    named.filter_map(|(nth, (_, section))| Some((path(section)?, nth))).collect()
}

/// Follows the links to the first section of a step, and shortens the way.
fn first_of(first: &mut [usize], mut nth: usize) -> usize {
    while first[nth] != nth {
        first[nth] = first[first[nth]];
        nth = first[nth];
    }
    nth
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
        let mut taking = Map::default();
        let mut making = Map::default();
        for &index in &step {
            taking.extend(taken(&sections[index]).map(|path| (path, index)));
            making.extend(made(&sections[index]).map(|path| (path, index)));
        }
        if let Some(index) =
            taking.keys().flat_map(|path| above(path)).find_map(|dir| making.get(dir))
        {
            return Err(plain(&sections[*index].path.text));
        }
        // A file comes to a path after another one went from there.
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
                    State::Open => return Err(plain(&sections[first].path.text)),
                    State::Done => {}
                }
            }
        }
    }
    Ok(order)
}

/// Returns how many of the first sections are of one diff. `exists` tells whether a file is at a
/// path before them.
pub(super) fn of_one_diff(
    sections: &[Indexed<'_>],
    diffs: &[usize],
    mut exists: impl FnMut(&str) -> bool,
) -> usize {
    let mut read = HashSet::new();
    let mut written = HashSet::new();
    for (count, (index, section)) in sections.iter().enumerate() {
        let source = source(section);
        let target = target(section);
        let is_copy = copied(section).is_some();
        let follows = source.is_some_and(|path| {
            (!is_copy && read.contains(path)) || (written.contains(path) && !exists(path))
        });
        let is_parted = diffs[*index] != diffs[sections[0].0];
        if is_parted || follows || target.is_some_and(|path| written.contains(path)) {
            return count;
        }
        read.extend(source.filter(|_| !is_copy));
        written.extend(target);
    }
    sections.len()
}

/// Returns the path of the source of a copy.
pub(super) fn copied<'s>(section: &'s Section<'_>) -> Option<&'s str> {
    let copies = matches!(section.operation, SectionOperation::Copy { .. });
    copies.then(|| plain(&section.path.text))
}

/// Returns the path of a file taken away by a section.
pub(super) fn taken<'s>(section: &'s Section<'_>) -> Option<&'s str> {
    match &section.operation {
        SectionOperation::Delete(_) | SectionOperation::Update { move_to: Some(_), .. } => {
            Some(plain(&section.path.text))
        }
        _ => None,
    }
}

/// Returns the path where a section makes a file.
pub(crate) fn made<'s>(section: &'s Section<'_>) -> Option<&'s str> {
    match &section.operation {
        SectionOperation::Add(_) => Some(plain(&section.path.text)),
        _ => section.destination().map(|to| plain(&to.text)),
    }
}

/// Returns the path of the file read by a section.
fn source<'s>(section: &'s Section<'_>) -> Option<&'s str> {
    let adds = matches!(section.operation, SectionOperation::Add(_));
    (!adds).then(|| plain(&section.path.text))
}

/// Returns the path of the file left by a section.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    const PATHS: [&str; 7] = ["a", "b", "c", "d", "d/x", "d/y", "d/x/z"];

    /// Writes the section of a git diff: the kind of change, from one path to another.
    fn section(kind: usize, from: &str, to: &str) -> String {
        match kind {
            0 => moved("rename", from, to),
            1 => moved("copy", from, to),
            2 => format!(
                "diff --git a/{from} b/{from}\n--- a/{from}\n+++ b/{from}\n@@ -1 +1 @@\n-x\n+y\n"
            ),
            3 => format!(
                "diff --git a/{from} b/{from}\ndeleted file mode 100644\n\
                 --- a/{from}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
            ),
            _ => format!(
                "diff --git a/{from} b/{from}\nnew file mode 100644\n\
                 --- /dev/null\n+++ b/{from}\n@@ -0,0 +1 @@\n+x\n"
            ),
        }
    }

    fn moved(word: &str, from: &str, to: &str) -> String {
        format!("diff --git a/{from} b/{to}\n{word} from {from}\n{word} to {to}\n")
    }

    /// Whether two sections have to be planned together, by what each of them says.
    fn depend(one: &Section<'_>, other: &Section<'_>) -> bool {
        replaces(one, other) || replaces(other, one) || copies(one, other) || copies(other, one)
    }

    /// Whether one section makes way for another.
    fn replaces(gone: &Section<'_>, new: &Section<'_>) -> bool {
        taken(gone).zip(made(new)).is_some_and(|(gone, new)| {
            gone == new || above(new).any(|dir| dir == gone) || above(gone).any(|dir| dir == new)
        })
    }

    /// Whether one section copies a file that another one changes.
    fn copies(copy: &Section<'_>, change: &Section<'_>) -> bool {
        copied(copy).is_some_and(|path| [taken(change), target(change)].contains(&Some(path)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn sections_stand_together_if_they_depend_on_each_other(
            all in prop::collection::vec((0..5_usize, select(&PATHS[..]), select(&PATHS[..])), 1..8)
        ) {
            let text: String =
                all.into_iter().map(|(kind, from, to)| section(kind, from, to)).collect();
            let patch = patch_grammar::diff::parse(text, &Default::default()).expect("a git diff");
            let indexed: Vec<Indexed<'_>> = patch.sections().iter().enumerate().collect();
            let diffs = diffs(&patch);
            let diff = &indexed[..of_one_diff(&indexed, &diffs, |_| true)];
            let mut expected: Vec<Vec<usize>> = Vec::new();
            for (index, section) in diff {
                let (joined, apart): (Vec<_>, Vec<_>) = expected.into_iter().partition(|step| {
                    step.iter().any(|&other| depend(section, &patch.sections()[other]))
                });
                let mut step = joined.concat();
                step.push(*index);
                step.sort_unstable();
                expected = apart;
                expected.push(step);
            }
            expected.sort();
            prop_assert_eq!(together(diff), expected);
        }
    }
}
