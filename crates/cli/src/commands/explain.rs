//! `apply-patch explain`: what each hunk does, where it goes and why, in plain words.

use std::collections::HashMap;

use apply_patch_api::engine::{Order, Patch, Plan, PlanNote};
use apply_patch_api::grammar::{Section, SectionOperation, Submodule};
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
            let words = render::placement(section, placed, order);
            lines.push(format!("  {words}{}", carried.map_or("", String::as_str)));
        }
    }
    for directory in plan.create_dirs() {
        lines.push(format!("The directory {directory} is created on the way."));
    }
    let how = if atomic { "All of this is one" } else { "Each section is a" };
    lines.push(format!("{how} transaction: {}.", render::summary(plan)));
    lines
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
