//! Looks at what the new files of a plan contain, before it is shown: whether they still parse, and
//! whether they get conflict markers, or lines that stand for lines that are left out.
//!
//! The parsers are not in this crate: the caller gives them (`Options::formats`).

use std::collections::HashSet;

use fs_guard::RelPath;

use crate::plan::image::Image;
use crate::plan::options::Options;
use crate::plan::reject::{Problem, Reject, Rejects};
use crate::plan::syntax::{Syntax, SyntaxFault};
use crate::plan::{Plan, PlanNote, conflict_markers, placeholders};

/// Adds notes about what the new files of a plan contain. Files at the paths `but` are not looked
/// at.
///
/// # Errors
///
/// The files that do not parse any more, where that is refused; those that get a placeholder; or a
/// file that has changed since it was read.
pub(crate) fn check(
    plan: &mut Plan,
    options: &Options,
    but: &HashSet<RelPath>,
) -> Result<(), Rejects> {
    // An undo brings back files that were there before.
    if plan.undo_of().is_some() {
        return Ok(());
    }
    let mut notes = Vec::new();
    let mut rejects = Vec::new();
    for (index, transition) in plan.transitions.iter().enumerate() {
        // Not by `plan.changes()`, which would hash every file.
        let path = &transition.path;
        let was = plan.former_path(index);
        let Some(after) = &transition.after else { continue };
        let before = plan.made_of(index);
        if before.is_some_and(|before| after.has_bytes_of(before))
            || but.contains(path)
            || but.contains(was)
        {
            continue;
        }
        Rejects::if_cancelled(plan.files.cancellation())?;
        let looked_at = conflict_markers::added(plan, index)
            .and_then(|conflict| Ok((conflict, fault(plan, options, index)?)));
        let (conflict, fault) =
            looked_at.map_err(|error| Reject::of(path.as_str(), Problem::Guard(error)))?;
        notes.extend(conflict);
        if !options.allow_placeholders {
            let placeholder = placeholders::added(plan, index)
                .map_err(|error| Reject::of(path.as_str(), Problem::Guard(error)))?;
            if let Some(found) = placeholder {
                rejects.push(Reject::of(path.as_str(), Problem::Placeholder(Box::new(found))));
                continue;
            }
        }
        let Some(fault) = fault else { continue };
        let is_new = before.is_none();
        if options.syntax == Syntax::Refuse && !is_new {
            rejects.push(Reject::of(path.as_str(), Problem::Syntax(Box::new(fault))));
        } else {
            notes.push(PlanNote::Syntax { path: path.to_string(), fault, is_new });
        }
    }
    plan.notes.append(&mut notes);
    match Rejects::new(rejects) {
        Some(rejects) => Err(rejects),
        None => Ok(()),
    }
}

/// Returns why the new file of a transition does not parse.
fn fault(
    plan: &Plan,
    options: &Options,
    index: usize,
) -> Result<Option<SyntaxFault>, fs_guard::Error> {
    let Some(formats) = options.formats.as_ref().filter(|_| options.syntax != Syntax::Off) else {
        return Ok(None);
    };
    let transition = &plan.transitions[index];
    let Some(after) = transition.after.as_ref().filter(|after| !after.link) else {
        return Ok(None);
    };
    let path = &transition.path;
    // A file that comes back from the trash is as it was.
    if matches!(after.image, Image::Stored(..)) || !formats.parses(path, after.size) {
        return Ok(None);
    }
    let images = plan.images();
    let new = images.after(transition)?;
    // Most files parse, and then the old ones are not looked at.
    let Some(fault) = formats.fault(path, None, &new) else { return Ok(None) };
    let Some(before) = plan.made_of(index) else { return Ok(Some(fault)) };
    if !formats.parses(path, before.metadata.size) {
        return Ok(None);
    }
    let old = images.before(plan.former_path(index))?;
    Ok(formats.fault(path, Some(&old), &new))
}
