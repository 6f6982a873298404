//! Where the hunks of a patch go.

use std::collections::HashMap;
use std::ops::Range;

use apply_patch_api::engine::{Plan, Rejects};
use apply_patch_api::grammar::{Hunk, LineKind, Patch, Section, SectionOperation};

use super::hunk_text::{HunkPlace, without_end};

/// How many lines of the file stand around a hunk without context of its own.
const AROUND: usize = 3;

/// The place of each hunk, by section and hunk, or the reason for none.
pub(super) type Places = HashMap<(usize, usize), Result<HunkPlace, String>>;

/// Finds the places of hunks. If the whole patch does not fit, each file is planned alone, without
/// its unfit hunks.
pub(super) fn places(patch: &Patch, plan: &dyn Fn(&Patch) -> Result<Plan, Rejects>) -> Places {
    let mut places = Places::new();
    if let Ok(plan) = plan(patch) {
        for index in 0..patch.sections().len() {
            let kept: Vec<_> = (0..patch.sections()[index].hunks().len()).collect();
            placed(&mut places, patch, index, &kept, &plan, index);
        }
        // Of a file with several sections, the later ones see other lines.
        for ((index, _), place) in &mut places {
            let path = &patch.sections()[*index].path.text;
            let same = patch.sections().iter().filter(|section| section.path.text == *path);
            if same.count() > 1
                && let Ok(place) = place
            {
                place.around = Default::default();
            }
        }
        return places;
    }
    for (index, section) in patch.sections().iter().enumerate() {
        let mut kept: Vec<_> = (0..section.hunks().len()).collect();
        while !kept.is_empty() {
            let alone = patch.map_sections(|all| vec![with_hunks(&all[index], &kept)]);
            let rejects = match plan(&alone) {
                Ok(plan) => {
                    placed(&mut places, patch, index, &kept, &plan, 0);
                    break;
                }
                Err(rejects) => rejects,
            };
            let bad: Vec<_> = rejects
                .iter()
                .filter_map(|reject| Some((reject.hunk?, reject.problem.to_string())))
                .collect();
            if bad.is_empty() {
                let why = rejects
                    .iter()
                    .map(|reject| reject.problem.to_string())
                    .next()
                    .unwrap_or_default();
                places.extend(kept.iter().map(|&hunk| ((index, hunk), Err(why.clone()))));
                break;
            }
            places.extend(bad.iter().map(|(hunk, why)| ((index, kept[*hunk]), Err(why.clone()))));
            let mut nth = 0..;
            kept.retain(|_| {
                nth.next().is_some_and(|nth| !bad.iter().any(|(hunk, _)| *hunk == nth))
            });
        }
    }
    places
}

/// The section with some of its hunks.
fn with_hunks<'p>(section: &Section<'p>, kept: &[usize]) -> Section<'p> {
    let mut section = section.clone();
    match &mut section.operation {
        SectionOperation::Update { hunks, .. }
        | SectionOperation::Copy { hunks, .. }
        | SectionOperation::Delete(Some(hunks)) => {
            *hunks = kept.iter().map(|&hunk| hunks[hunk].clone()).collect();
        }
        SectionOperation::Add(_) | SectionOperation::Delete(None) => {}
    }
    section
}

/// Adds the places of the kept hunks of a section, number `in_plan` of the plan.
fn placed(
    places: &mut Places,
    patch: &Patch,
    index: usize,
    kept: &[usize],
    plan: &Plan,
    in_plan: usize,
) {
    let section = &patch.sections()[index];
    let mut changes = plan.changes().iter();
    let change = changes.find(|change| change.path.as_str() == section.path.text);
    let file = change.and_then(|change| plan.images().old_bytes(change).ok());
    // A file of another charset than UTF-8 has no lines here.
    let file = file.filter(|bytes| !bytes.contains(&0));
    let lines: Vec<&[u8]> = file
        .as_deref()
        .map(|bytes| bytes.split_inclusive(|&byte| byte == b'\n').collect())
        .unwrap_or_default();
    let mut all: Vec<_> = plan.placed_in(in_plan).collect();
    all.sort_by_key(|placed| placed.first_line);
    let mut shift = 0;
    for placed in all {
        let nth = kept[placed.hunk];
        let hunk = &section.hunks()[nth];
        let deleted = count_of(hunk, LineKind::Delete);
        let new = placed.first_line.saturating_add_signed(shift);
        let first = placed.first_line.saturating_sub(1);
        let end = first + count_of(hunk, LineKind::Context) + deleted;
        let around = [
            context(&lines, first.saturating_sub(AROUND)..first),
            context(&lines, end..end + AROUND),
        ];
        places.insert((index, nth), Ok(HunkPlace { old: placed.first_line, new, around }));
        shift += count_of(hunk, LineKind::Insert) as isize - deleted as isize;
    }
}

fn count_of(hunk: &Hunk<'_>, kind: LineKind) -> usize {
    hunk.lines.iter().filter(|line| line.kind == kind).count()
}

/// Lines of a file as the context of a hunk, as far as the file has them.
fn context(lines: &[&[u8]], range: Range<usize>) -> Vec<Vec<u8>> {
    let range = range.start.min(lines.len())..range.end.min(lines.len());
    lines[range].iter().map(|line| [b" ", without_end(line), b"\n"].concat()).collect()
}
