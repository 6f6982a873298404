//! `apply-patch explain`: what each hunk does, where it goes and why, in plain words.

use std::collections::HashMap;

use apply_patch_api::engine::{Note, Order, Pass, Patch, Placed, Plan, PlanNote};
use apply_patch_api::grammar::{Hunk, LineKind, Section, SectionOperation, Submodule};
use apply_patch_api::tools::changes::{HunkAnswer, carried_text};
use serde_json::json;

use super::apply;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::global::Global;
use crate::render::count;
use crate::{json, render};

pub(crate) fn explain(global: &Global, args: &apply::CheckArgs) -> Result<Exit, Failure> {
    apply::looked(global, args, |options, patch, plan| {
        print(global, patch, plan, options.placement.order, !args.parts.no_atomic);
        Ok(())
    })
}

/// Prints what a plan does with each hunk.
pub(super) fn print(global: &Global, patch: &Patch, plan: &Plan, order: Order, atomic: bool) {
    let lines = words(patch, plan, order, atomic);
    if global.json {
        let output = format!("it applies: {}", render::summary(plan));
        json::done(output, json!({ "explanation": lines, "hunks": HunkAnswer::of_plan(plan) }));
    } else {
        lines.iter().for_each(|line| render::paragraph(line));
    }
}

fn words(patch: &Patch, plan: &Plan, order: Order, atomic: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let carried = carried_words(plan);
    for (index, section) in patch.sections().iter().enumerate() {
        let place = patch.place_in_text(index);
        if plan.left_out().contains(&index) {
            let nth = place + 1;
            lines.push(format!("Section {nth} (patch line {}) is left out.", section.line()));
            continue;
        }
        lines.push(section_words(place, section));
        for placed in plan.placed_in(index) {
            let carried = carried.get(&(&*section.path.text, section.place_in_text(placed.hunk)));
            lines.push(hunk_words(section, placed, order) + carried.map_or("", String::as_str));
        }
    }
    for directory in plan.create_dirs() {
        lines.push(format!("The directory {directory} is created on the way."));
    }
    let how = if atomic { "All of this is one" } else { "Each section is a" };
    lines.push(format!("{how} transaction: {}.", render::summary(plan)));
    lines
}

fn old_lines(lines: usize) -> String {
    format!("{} {}", count(lines, "old line"), if lines == 1 { "stands" } else { "stand" })
}

/// How hunks located in the base came to their places, by path and hunk.
fn carried_words(plan: &Plan) -> HashMap<(&str, usize), String> {
    let carried = plan.notes().iter().filter_map(|note| match note {
        PlanNote::Carried { path, hunk, from, to, already_there } => Some((
            (path.as_str(), *hunk),
            format!(" It {}.", carried_text(from, to, *already_there)),
        )),
        _ => None,
    });
    carried.collect()
}

fn submodule_words(path: &str, submodule: Submodule<'_>) -> String {
    match (submodule.old, submodule.new) {
        (None, Some(new)) => format!("adds the submodule {path} at {new}"),
        (Some(old), None) => format!("deletes the submodule {path}, which is at {old}"),
        (old, new) => {
            let [old, new] = [old, new].map(|id| id.unwrap_or("no commit"));
            format!("changes the submodule {path} from {old} to {new}")
        }
    }
}

fn section_words(index: usize, section: &Section<'_>) -> String {
    let path = &section.path.text;
    let what = match &section.operation {
        _ if let Some(submodule) = section.submodule => submodule_words(path, submodule),
        operation if section.binary.is_some() => binary_words(path, operation),
        SectionOperation::Add(added) => {
            format!("creates {path} with {}", count(added.lines().count(), "line"))
        }
        SectionOperation::Delete(_) => format!("deletes {path}; the trash keeps it"),
        SectionOperation::Update { move_to: Some(to), hunks } if hunks.is_empty() => {
            format!("moves {path} to {}", to.text)
        }
        SectionOperation::Update { move_to: Some(to), hunks } => {
            format!("changes {path} in {} and moves it to {}", count(hunks.len(), "hunk"), to.text)
        }
        SectionOperation::Update { move_to: None, hunks } => {
            format!("changes {path} in {}", count(hunks.len(), "hunk"))
        }
        SectionOperation::Copy { to, hunks } if hunks.is_empty() => {
            format!("copies {path} to {}", to.text)
        }
        SectionOperation::Copy { to, hunks } => {
            format!("copies {path} to {}, changed in {}", to.text, count(hunks.len(), "hunk"))
        }
    };
    format!("Section {} (patch line {}) {what}.", index + 1, section.line())
}

/// Says what becomes of a binary file.
fn binary_words(path: &str, operation: &SectionOperation<'_>) -> String {
    match operation {
        SectionOperation::Add(_) => format!("creates the binary file {path}"),
        SectionOperation::Delete(_) => {
            format!("deletes the binary file {path}; the trash keeps it")
        }
        SectionOperation::Update { move_to: Some(to), .. } => {
            format!("changes the bytes of {path} and moves it to {}", to.text)
        }
        SectionOperation::Update { move_to: None, .. } => format!("changes the bytes of {path}"),
        SectionOperation::Copy { to, .. } => {
            format!("copies {path} to {}, with other bytes", to.text)
        }
    }
}

fn count_of(hunk: &Hunk<'_>, kind: LineKind) -> usize {
    hunk.lines.iter().filter(|line| line.kind == kind).count()
}

fn hunk_words(section: &Section<'_>, placed: &Placed, order: Order) -> String {
    let hunk = &section.hunks()[placed.hunk];
    if placed.notes.contains(&Note::AlreadyApplied) {
        let last = placed.first_line + placed.line_count - 1;
        return format!(
            "  Hunk {} (patch line {}) is applied already, and is left out: its new lines are at \
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
        "  Hunk {} (patch line {}) {what} {place}: {why}.",
        section.place_in_text(placed.hunk) + 1,
        hunk.line
    );
    for note in &placed.notes {
        words += &format!(" It {}.", render::note_text(note));
    }
    words
}
