//! How hunks were placed, in plain words.

use apply_patch_api::engine::{Note, Order, Pass, Placed, Plan};
use apply_patch_api::grammar::{Hunk, LineKind, Section};
use apply_patch_api::tools::changes::note_text;

use super::human::count;
use super::print::message;

/// Prints how each hunk was placed, on standard error: what `-v` adds to a change.
pub(crate) fn placements(plan: &Plan, order: Order) {
    let Some(patch) = plan.patch() else { return };
    for (index, section) in patch.sections().iter().enumerate() {
        for placed in plan.placed_in(index) {
            let words = placement(section, placed, order);
            message(&format!("{}: {}", section.path.text, words));
        }
    }
}

fn count_of(hunk: &Hunk<'_>, kind: LineKind) -> usize {
    hunk.lines.iter().filter(|line| line.kind == kind).count()
}

/// Says in a line what a hunk does, where it stands, and why there.
pub(crate) fn placement(section: &Section<'_>, placed: &Placed, order: Order) -> String {
    let hunk = &section.hunks()[placed.hunk];
    if placed.notes.contains(&Note::AlreadyApplied) {
        let last = placed.first_line + placed.line_count - 1;
        return format!(
            "Hunk {} (patch line {}) is applied already, and is left out: its new lines are at \
             lines {}-{last}.",
            section.place_in_text(placed.hunk) + 1,
            hunk.line,
            placed.first_line
        );
    }
    let deleted = count_of(hunk, LineKind::Delete);
    let inserted = count_of(hunk, LineKind::Insert);
    let context = count_of(hunk, LineKind::Context);
    let what = match (deleted, inserted) {
        (0, 0) => "changes nothing".to_owned(),
        (0, inserted) => format!("inserts {}", count(inserted, "line")),
        (deleted, 0) => format!("deletes {}", count(deleted, "line")),
        (deleted, inserted) => format!("replaces {} by {inserted}", count(deleted, "line")),
    };
    let last = placed.first_line + placed.line_count.max(1) - 1;
    let place = match placed.line_count {
        0 => format!("before line {}", placed.first_line),
        1 => format!("at line {last}"),
        _ => format!("at lines {}-{last}", placed.first_line),
    };
    let how = match placed.pass {
        Pass::Exact => "exactly",
        Pass::Trailing => "but for blanks at line ends",
        Pass::Blanks => "but for blanks at both ends of lines",
        Pass::Unicode => "but for blanks and typographic punctuation",
    };
    let headers: Vec<_> = hunk.headers.iter().map(|header| format!("`{}`", header.text)).collect();
    let why = if hunk.end_of_file {
        "it says that it ends the file".to_owned()
    } else if placed.line_count == 0 && placed.notes.contains(&Note::LineNumber) {
        "it has no old lines, so its line number says where it goes".to_owned()
    } else if placed.line_count == 0 && headers.is_empty() {
        "it has no old lines and names no place, so it goes to the end of the file".to_owned()
    } else if placed.line_count == 0 {
        format!("it goes after the line {}", headers.join(", in it "))
    } else if headers.is_empty() || order == Order::PostState {
        format!("its {} there {how}, and nowhere else", old_lines(deleted + context))
    } else {
        format!(
            "its {} there {how}, below {}",
            old_lines(deleted + context),
            headers.join(", in it ")
        )
    };
    let mut words = format!(
        "Hunk {} (patch line {}) {what} {place}: {why}.",
        section.place_in_text(placed.hunk) + 1,
        hunk.line
    );
    for note in &placed.notes {
        words += &format!(" It {}.", note_text(note));
    }
    words
}

fn old_lines(lines: usize) -> String {
    format!("{} {}", count(lines, "old line"), if lines == 1 { "stands" } else { "stand" })
}
