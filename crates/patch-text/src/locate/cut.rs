//! Finds out whether a diff was cut off within its last hunk.
//!
//! A hunk with fewer lines than its numbers promise was cut off, or its author counted wrong, as
//! models do in every second hunk. To tell these apart, the numbers are taken at their word. A
//! program shows as many lines of context below a change as above, except at the end of the file,
//! so most wrong numbers are impossible. A diff that can only have lost context is accepted: no
//! change is lost.

use patch_grammar::{Hunk, LastLine, LineKind, Shortfall};

use super::hunk_lines::is_context;
use super::placed::Placed;
use super::reject::{HunkReject, RejectReason};
use crate::git_id::is_blob;
use crate::text::encoding::FileText;
use crate::text::splices::Splices;

/// How many lines of context programs show, unless they are told otherwise.
const USUAL_CONTEXT: usize = 3;

/// Returns the reject of the hunk where the diff was cut off, if it was. The hunks of the file have
/// these places in the text, and make these changes.
pub(crate) fn off(
    text: &FileText<'_>,
    hunks: &[Hunk<'_>],
    placed: &[Placed],
    splices: &Splices,
) -> Option<HunkReject> {
    let (index, hunk, shortfall) = hunks
        .iter()
        .enumerate()
        .find_map(|(index, hunk)| Some((index, hunk, hunk.shortfall.as_deref()?)))?;
    let place = placed.iter().find(|placed| placed.hunk == index)?;
    let is_cut = if shortfall.missing == (0, 0) {
        lost_its_end(text, shortfall, splices)
    } else {
        let others = hunks.iter().enumerate().filter(|(other, _)| *other != index);
        lost_a_change(text, hunk, shortfall, place, others.map(|(_, hunk)| hunk))
    };
    is_cut.then_some(HunkReject {
        hunk: index,
        patch_line: hunk.line,
        reason: RejectReason::CutOff { promised: shortfall.promised, missing: shortfall.missing },
    })
}

/// Returns whether a diff ends within the last line of a new file with these bytes.
pub fn is_within_last_line(file: &[u8], last: LastLine<'_>) -> bool {
    ends_otherwise(file, last.id, last.unterminated)
}

/// Returns whether a hunk with all its lines was cut off within the last one, or before the note
/// about a missing line feed. Only the ids of both files tell.
fn lost_its_end(text: &FileText<'_>, shortfall: &Shortfall<'_>, splices: &Splices) -> bool {
    let Some((old, new)) = shortfall.ids.filter(|_| text.encoding().is_none()) else {
        return false;
    };
    is_blob(old, text.bytes()) == Some(true)
        && ends_otherwise(&splices.apply(text.bytes()), new, shortfall.unterminated)
}

/// Returns whether a file does not have the expected id, and may have it with another end.
fn ends_otherwise(file: &[u8], id: &str, unterminated: bool) -> bool {
    is_blob(id, file) == Some(false)
        && (unterminated
            || file.strip_suffix(b"\n").is_some_and(|bare| is_blob(id, bare) == Some(true)))
}

/// Returns whether a change may be missing at the end of a hunk that lacks lines.
fn lost_a_change<'h>(
    text: &FileText<'_>,
    hunk: &Hunk<'_>,
    shortfall: &Shortfall<'_>,
    place: &Placed,
    others: impl Iterator<Item = &'h Hunk<'h>>,
) -> bool {
    let (old, new) = shortfall.missing;
    // A program ends the last line, and its author may not. Half of an inserted line is a change.
    let ends_in_insertion = hunk.lines.last().is_some_and(|line| line.kind == LineKind::Insert);
    if shortfall.unterminated && ends_in_insertion {
        return true;
    }
    let lines = text.bytes().split_inclusive(|&byte| byte == b'\n').count();
    let last = place.first_line - 1 + place.line_count;
    let Some(below) = (lines as u64).checked_sub(last as u64 + old) else {
        // The numbers promise more lines than the file has.
        return false;
    };
    let at_end = below == 0;
    let above = context_above(hunk);
    // At the beginning of a file there may be fewer lines above a change than below it.
    let usual = if place.first_line > 1 {
        above
    } else {
        let others = others.map(|other| context_above(other).max(context_below(other)));
        others.max().unwrap_or(USUAL_CONTEXT).max(above)
    };
    let usual = usual as u64;
    let shown = context_below(hunk) as u64;
    // With all context there, another change would have to have its own.
    let all_shown = shown >= usual && !at_end;
    if old != new {
        return !(all_shown && old.min(new) < usual);
    }
    if all_shown && old <= usual {
        return false;
    }
    // Models show more context than a program would, and count wrong.
    let context_alone = shown + old <= usual && !at_end;
    let by_program = !context_alone || above <= USUAL_CONTEXT;
    let is_stated = by_program && shortfall.starts.0 == place.first_line as u64;
    shortfall.others_are_right || is_stated || is_old_file(text, shortfall)
}

/// Returns whether the diff states the id of this file as the old one.
fn is_old_file(text: &FileText<'_>, shortfall: &Shortfall<'_>) -> bool {
    let (old, _) = shortfall.ids.unwrap_or_default();
    text.encoding().is_none() && is_blob(old, text.bytes()) == Some(true)
}

/// Counts the lines of context above the first change of a hunk.
fn context_above(hunk: &Hunk<'_>) -> usize {
    hunk.lines.iter().take_while(|line| is_context(line)).count()
}

/// Counts the lines of context below the last change of a hunk.
fn context_below(hunk: &Hunk<'_>) -> usize {
    hunk.lines.iter().rev().take_while(|line| is_context(line)).count()
}
