//! Plans the sections of a patch that fit, where others do not.

use std::collections::{BTreeSet, HashMap, HashSet};

use patch_grammar::{Patch, Section};

use crate::plan::kind::ErrorKind;
use crate::plan::options::Options;
use crate::plan::paths::plain;
use crate::plan::planner::plan_without;
use crate::plan::reject::{Problem, Reject, Rejects};
use crate::plan::relative::relative;
use crate::plan::{Plan, PlanNote};
use crate::text::files::Files;

/// Plans the sections of a patch that fit: all hunks of a section, or none. A section is left out
/// if it does not apply, or if it names a path that a section that is left out names. Also returns
/// why some do not apply.
///
/// # Errors
///
/// Why the patch does not apply: where nothing would be changed, and where the guard or the policy
/// refuses a section, the system fails, or a reject is about no section. These are not left out.
pub(crate) fn plan_fitting(
    files: &Files,
    patch: &Patch,
    options: &Options,
) -> Result<(Plan, Option<Rejects>), Rejects> {
    let patch = &*relative(files, patch);
    let mut options = options.clone();
    let mut left_out = BTreeSet::new();
    let mut why: Option<Rejects> = None;
    loop {
        let rejects = match (plan_without(files, patch, &options, &left_out), why) {
            (Ok(plan), None) => return Ok((plan, None)),
            (Ok(plan), Some(why)) if plan.is_empty() => return Err(why),
            (Ok(mut plan), Some(why)) => {
                plan.notes.extend(notes(patch, &left_out));
                return Ok((plan, Some(why)));
            }
            (Err(more), None) => more,
            (Err(more), Some(why)) => why.and(more),
        };
        let Some(more) = sections_of(patch, &rejects) else { return Err(rejects) };
        let known = left_out.len();
        left_out.extend(with_those_of_the_same_paths(patch, more));
        if left_out.len() == known || left_out.len() == patch.sections().len() {
            return Err(rejects);
        }
        let paths = paths_of(patch, &left_out);
        options.expected.retain(|path, _| !paths.contains(plain(path)));
        why = Some(rejects);
    }
}

/// Plans the sections before the first that does not apply. Also returns why that does not.
///
/// # Errors
///
/// Why the first section does not apply, or none does.
pub(crate) fn plan_before_first(
    files: &Files,
    patch: &Patch,
    options: &Options,
) -> Result<(Plan, Option<Rejects>), Rejects> {
    let patch = &*relative(files, patch);
    let rejects = match plan_without(files, patch, options, &BTreeSet::new()) {
        Ok(plan) => return Ok((plan, None)),
        Err(rejects) => rejects,
    };
    let of_section = |reject: &Reject| reject.section.map(|section| patch.place_in_text(section));
    match rejects.iter().map(of_section).min().flatten() {
        None | Some(0) => Err(rejects),
        Some(first) => {
            let rest = (first..patch.sections().len()).collect();
            let plan = plan_without(files, patch, options, &rest)?;
            Ok((plan, Some(rejects.only(patch.place_in_text(first)))))
        }
    }
}

fn notes(patch: &Patch, left_out: &BTreeSet<usize>) -> Vec<PlanNote> {
    let paths: BTreeSet<_> =
        left_out.iter().map(|&index| &*patch.sections()[index].path.text).collect();
    paths.into_iter().map(|path| PlanNote::LeftOut { path: path.to_owned() }).collect()
}

/// Returns the sections that the rejects are about; `None` if they are reasons to refuse all.
fn sections_of(patch: &Patch, rejects: &Rejects) -> Option<Vec<usize>> {
    let naming = |path: &str| {
        let names = |section: &Section<'_>| section.paths().any(|own| plain(&own.text) == path);
        let all = patch.sections().iter().enumerate();
        all.filter(|(_, section)| names(section)).map(|(index, _)| index).collect::<Vec<_>>()
    };
    let mut sections = Vec::new();
    for reject in rejects.iter() {
        if refuses_all(reject) {
            return None;
        }
        let own = match reject.section {
            Some(section) => vec![patch.place_in_text(section)],
            None => naming(plain(&reject.path)),
        };
        if own.is_empty() {
            return None;
        }
        sections.extend(own);
        // Which of two that are in each other's way is meant is not for us to say.
        match &reject.problem {
            Problem::ReplacesUsed { other } => sections.push(patch.place_in_text(*other)),
            Problem::Collides { with: path } | Problem::ParentIsFile { file: path } => {
                sections.extend(naming(plain(path)));
            }
            _ => {}
        }
    }
    Some(sections)
}

/// Returns whether a reject is one for which nothing of the patch is applied.
fn refuses_all(reject: &Reject) -> bool {
    match &reject.problem {
        Problem::Guard(_) => !matches!(
            reject.kind(),
            ErrorKind::NotFound | ErrorKind::AlreadyExists | ErrorKind::FileTooLarge
        ),
        _ => reject.kind() == ErrorKind::PermissionDenied,
    }
}

/// Adds the sections that name a path which one of these names, and those that name theirs.
fn with_those_of_the_same_paths(patch: &Patch, sections: Vec<usize>) -> BTreeSet<usize> {
    let mut naming: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, section) in patch.sections().iter().enumerate() {
        for path in section.paths() {
            naming.entry(plain(&path.text)).or_default().push(index);
        }
    }
    let (mut all, mut next) = (BTreeSet::new(), sections);
    while let Some(index) = next.pop() {
        if all.insert(index) {
            let paths = patch.sections()[index].paths();
            next.extend(paths.filter_map(|path| naming.remove(plain(&path.text))).flatten());
        }
    }
    all
}

fn paths_of<'p>(patch: &'p Patch, sections: &BTreeSet<usize>) -> HashSet<&'p str> {
    let paths = sections.iter().flat_map(|&index| patch.sections()[index].paths());
    paths.map(|path| plain(&path.text)).collect()
}
