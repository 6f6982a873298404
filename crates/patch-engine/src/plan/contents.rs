//! Looks at what the new files of a plan contain, before it is shown: whether they still parse, and
//! whether they get conflict markers.

use std::collections::HashSet;

use fs_guard::RelPath;

use crate::plan::conflict_markers;
use crate::plan::image::Image;
use crate::plan::options::Options;
use crate::plan::reject::{Problem, Reject, Rejects};
use crate::plan::syntax::{Syntax, SyntaxFault};
use crate::plan::{Change, Plan, PlanNote};

/// Adds notes about what the new files of a plan contain. Files at the paths `but` are not looked
/// at.
///
/// # Errors
///
/// The files that do not parse any more, where that is refused; or a file that has changed since it
/// was read.
pub(crate) fn check(
    plan: &mut Plan,
    options: &Options,
    but: &HashSet<RelPath>,
) -> Result<(), Rejects> {
    // What is undone was there before.
    if plan.undo_of().is_some() {
        return Ok(());
    }
    let (mut notes, mut rejects) = (Vec::new(), Vec::new());
    for change in plan.changes() {
        let path = change.last_path();
        if change.after.is_none()
            || change.after == change.before
            || but.contains(path)
            || but.contains(&change.path)
        {
            continue;
        }
        let of_file = |error| Rejects::from(Reject::of(path.as_str(), Problem::Guard(error)));
        Rejects::if_cancelled(plan.files.cancellation())?;
        notes.extend(conflict_markers::added(plan, change).map_err(of_file)?);
        let Some(fault) = fault(plan, options, change).map_err(of_file)? else { continue };
        let is_new = change.before.is_none();
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

/// Returns why the new file of a change does not parse.
fn fault(
    plan: &Plan,
    options: &Options,
    change: &Change,
) -> Result<Option<SyntaxFault>, fs_guard::Error> {
    let Some(formats) = options.formats.as_ref().filter(|_| options.syntax != Syntax::Off) else {
        return Ok(None);
    };
    let transition = plan.transition_of(change);
    let Some(after) = transition.after.as_ref().filter(|after| !after.link) else {
        return Ok(None);
    };
    let path = change.last_path();
    // What comes back from the trash is as it was.
    if matches!(after.image, Image::Stored(..)) || !formats.parses(path, after.size) {
        return Ok(None);
    }
    let images = plan.images();
    let new = images.new_bytes(change)?;
    // Most files parse, and then the old ones are not looked at.
    let Some(fault) = formats.fault(path, None, &new) else { return Ok(None) };
    if change.before.is_none() {
        return Ok(Some(fault));
    }
    let was = plan.pre_image(&change.path).map_or(0, |(_, before)| before.metadata.size);
    if !formats.parses(path, was) {
        return Ok(None);
    }
    Ok(formats.fault(path, Some(&images.old_bytes(change)?), &new))
}
