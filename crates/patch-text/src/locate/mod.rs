//! Finds the one place in a file where each hunk goes, or says why there is none.
//!
//! Nothing here guesses: all fitting places are known before one is taken. There are two rules:
//! [`Order::PostState`] wants one place for each hunk in the file as the hunks before leave it
//! (profile `strict`); [`Order::File`] wants one way to place all hunks in file order (profile
//! `codex`). Similarity appears only in the words of a refusal.

mod applied;
pub mod cut;
mod done;
mod draft;
pub mod edit;
pub mod edit_rules;
pub mod edit_text;
mod find;
mod fixed;
mod headers;
pub mod hints;
mod hunk_lines;
mod indent;
pub(crate) mod interner;
mod kept;
pub mod mangled;
mod matches;
mod names;
mod needle;
mod ordered;
pub(crate) mod pass;
mod placed;
mod post_state;
mod prefilter;
mod refuse;
mod reject;
mod rules;
mod scope;
mod search;
#[cfg(feature = "serde")]
mod serialize;
mod stated;
pub mod text_edit;
mod unchanged;
mod unseen;
mod written;

use patch_grammar::Hunk;

pub(crate) use draft::{Draft, Inserted};
pub use mangled::Mangled;
pub use pass::Pass;
pub(crate) use placed::Located;
pub use placed::{Note, Placed, Reindented};
pub use reject::Room;
pub use reject::{
    Advice, Candidate, Difference, Edge, EndMark, HunkReject, LineNumber, NamedLine, Nearest,
    RejectReason, Shown, line_words,
};
pub use rules::{Ambiguous, Order, Rules};
pub use unseen::{Unseen, UnseenKind};

use crate::text::lines::Lines;
use find::Blocks;
use needle::{Fixed, Needle};

/// Places `hunks` in the file `lines`, except the `done` ones, which are applied already.
///
/// Time is linear in file and patch, but for what [`post_state`] and [`headers`] say of their
/// limits.
///
/// # Errors
///
/// One entry for each hunk with no place, or with more than one; no entries after a cancellation.
pub(crate) fn locate<'f, 'p>(
    lines: &'f Lines<'f>,
    hunks: &'p [Hunk<'p>],
    done: &[Placed],
    rules: &Rules,
) -> Result<Located<'f, 'p>, Vec<HunkReject>> {
    let mut needles: Vec<Needle<'p>> = hunks
        .iter()
        .enumerate()
        .take_while(|_| !lines.is_cancelled())
        .map(|(index, hunk)| Needle::new(index, hunk, lines, rules))
        .collect();
    if lines.is_cancelled() {
        return Err(Vec::new());
    }
    let mut applied = done::find(lines, &mut needles, done, rules);
    needles.iter_mut().for_each(|needle| loosen(lines, needle));
    // Line numbers are counted in the pre-image, whatever the rule.
    let counted = rules.unidiff_zero && needles.iter().any(|needle| needle.inserts_below.is_some());
    let mut located = match rules.order {
        Order::File if !counted => ordered::locate(lines, &needles, rules),
        Order::File | Order::PostState => post_state::locate(lines, &needles, rules),
    };
    if let Ok(located) = &mut located {
        for placed in &mut located.placed {
            let not_at = needles[placed.hunk].not_at;
            placed.notes.extend(not_at.map(|edge| match edge {
                Fixed::Start => Note::NotAtStart,
                Fixed::End | Fixed::Whole => Note::NotAtEnd,
            }));
            placed.notes.extend(offset(needles[placed.hunk].hunk, placed));
        }
        applied.extend(located.placed.iter().filter_map(|placed| {
            let needle = &needles[placed.hunk];
            let lines = applied::again(lines, needle, placed)?;
            Some(needle.reject(RejectReason::AlreadyApplied { lines }))
        }));
        if !done.is_empty() {
            let effort = refuse::Effort::new(lines);
            applied.extend(
                located
                    .placed
                    .iter()
                    .filter_map(|placed| unsure(lines, &needles[placed.hunk], placed, &effort)),
            );
        }
    }
    if applied.is_empty() || lines.is_cancelled() {
        return located;
    }
    let mut rejects = located.err().unwrap_or_default();
    rejects.append(&mut applied);
    rejects.sort_by_key(|reject| reject.hunk);
    Err(rejects)
}

/// Returns the stated line of a diff's hunk and its line in the file, if they differ.
fn offset(hunk: &Hunk<'_>, placed: &Placed) -> Option<Note> {
    let start = hunk.old_start.filter(|_| hunk.endings.is_of_diff())? as usize;
    // A hunk without old lines states the line above.
    let stated = if placed.line_count == 0 { start + 1 } else { start };
    let line = placed.first_line;
    (stated != line).then_some(Note::Offset { stated, line })
}

/// Frees a hunk from the end of the file that its missing context seems to mean, if its old lines
/// are not there but stand exactly in another place.
fn loosen(lines: &Lines<'_>, needle: &mut Needle<'_>) {
    if needle.by_context
        && needle.done.is_none()
        && !is_at_fixed(lines, needle)
        && is_anywhere(lines, needle)
    {
        needle.not_at = needle.fixed.take();
    }
}

/// Returns whether the old lines of a hunk stand at the end of the file that the hunk names.
fn is_at_fixed(lines: &Lines<'_>, needle: &Needle<'_>) -> bool {
    needle.variants().any(|dropped| {
        let at = needle.fixed_mark(lines, dropped);
        at.is_some_and(|at| needle.fits(lines, at, dropped, Pass::Exact))
    })
}

/// Returns whether the old lines of a hunk stand exactly in some place of the file.
fn is_anywhere(lines: &Lines<'_>, needle: &Needle<'_>) -> bool {
    let blocks = Blocks::new(lines, vec![needle.old_without(0)], &[Pass::Exact]);
    blocks.next(Pass::Exact, 0, 0).is_some()
}

/// Rejects a hunk beside hunks that are applied already if its new lines stand elsewhere: it may be
/// applied too, and its old lines may be others that look the same.
fn unsure(
    lines: &Lines<'_>,
    needle: &Needle<'_>,
    placed: &Placed,
    effort: &refuse::Effort,
) -> Option<HunkReject> {
    let start = placed.first_line - 1;
    if placed.line_count == 0
        || needle.expected == Some(start)
        || !applied::every_change_shows(needle.lines(needle.separators))
    {
        return None;
    }
    let there = applied::places_of(lines, &applied::new_texts(lines, needle));
    let mut starts = vec![start as u32, *there.first()?];
    starts.sort_unstable();
    let candidates =
        refuse::candidates(lines, &starts, false, placed.line_count, Order::PostState, effort);
    let reason = RejectReason::MultipleMatches { candidates, more: false, out_of_order: false };
    Some(needle.reject(reason))
}
