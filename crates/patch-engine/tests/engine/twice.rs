//! A patch that is applied to its own result changes nothing, and what is left out as applied
//! already gives what its author wanted, or the patch is refused.

use std::cell::Cell;

use patch_engine::{FinalNewline, Options, Patch, Profile, edit, parse};
use patch_grammar::diff::{self, DiffOptions};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use similar::{DiffOp, TextDiff};
use testutils::holds::holds;
use testutils::share::share;

/// A file, and changes of it: where, how many lines go, and what comes.
type Case = (Vec<&'static str>, Vec<(Index, usize, Vec<&'static str>)>);

const FLAT: [&str; 6] = ["a()", "b = 1", "if c:", "", "}", "end of it"];

const NESTED: [&str; 6] = ["a()", "    b = 1", "if c:", "", "}", "end of it"];

/// Files of few different lines, so that the same lines stand in many places.
fn case(most: usize, lines: [&'static str; 6]) -> impl Strategy<Value = Case> {
    let line = move || select(lines.to_vec());
    let change = (any::<Index>(), 0..3_usize, vec(line(), 0..4));
    (vec(line(), 1..most), vec(change, 1..4))
}

/// The file before and after.
fn texts((lines, changes): &Case) -> (Vec<String>, Vec<String>) {
    let before: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut after = before.clone();
    for (at, gone, new) in changes {
        let at = at.index(after.len() + 1);
        let end = (at + gone).min(after.len());
        after.splice(at..end, new.iter().map(|line| format!("{line}\n")));
    }
    (before, after)
}

/// The hunks of a diff, each with its header and its lines.
fn hunks(before: &[String], after: &[String], context: usize) -> Vec<(String, Vec<String>)> {
    let (before, after) = (before.concat(), after.concat());
    let diff = TextDiff::from_lines(&before, &after);
    let mut all = Vec::new();
    for hunk in diff.unified_diff().context_radius(context).iter_hunks() {
        let lines = hunk.iter_changes().map(|change| format!("{}{}", change.tag(), change.value()));
        all.push((format!("{}\n", hunk.header()), lines.collect()));
    }
    assert!(diff.ops().iter().any(|op| !matches!(op, DiffOp::Equal { .. })) != all.is_empty());
    all
}

/// The last line above a hunk that git would take for the opener of a function.
fn header_of<'l>(before: &'l [String], header: &str) -> Option<&'l String> {
    let first = header.strip_prefix("@@ -")?.split([',', ' ']).next()?.parse::<usize>().ok()?;
    let above = &before[..first.saturating_sub(1)];
    above.iter().rev().find(|line| line.starts_with(|first: char| first.is_ascii_alphabetic()))
}

/// What only removes lines leaves no trace where the text repeats.
fn removes(lines: &[String]) -> bool {
    !lines.iter().any(|line| line.starts_with('+'))
}

/// Shows some lines of context as lines that are removed and inserted again.
fn rewritten(lines: &[String], kept: &[bool]) -> String {
    let line = |(line, kept): (&String, &bool)| match line.strip_prefix(' ') {
        Some(text) if *kept => format!("-{text}+{text}"),
        _ => line.clone(),
    };
    lines.iter().zip(kept.iter().cycle()).map(line).collect()
}

fn apply(patch: &Patch, file: &str, profile: Profile, skip: bool) -> Option<String> {
    let mut options = Options::new(profile);
    options.placement.skip_applied = skip;
    let hunks = patch.sections()[0].hunks();
    let edit = edit(file.as_bytes(), hunks, &options.placement, FinalNewline::Keep).ok()?;
    Some(String::from_utf8(edit.apply(file.as_bytes())).expect("text"))
}

fn of_diff(hunks: &str) -> Patch {
    let text = format!("--- a/f\n+++ b/f\n{hunks}");
    diff::parse(text.as_bytes(), &DiffOptions::default())
        .unwrap_or_else(|why| panic!("{text}{why}"))
}

fn of_envelope(hunks: &str) -> Patch {
    let text = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n");
    parse(&text, &Options::new(Profile::Strict).parse).unwrap_or_else(|why| panic!("{text}{why}"))
}

#[test]
fn a_patch_is_not_applied_to_its_own_result() {
    let case = prop_oneof![case(16, FLAT), case(16, NESTED)];
    let case = (case, 1..4_usize, vec(any::<bool>(), 1..9), any::<bool>(), any::<bool>());
    let (applied, again) = (Cell::new(0), Cell::new(0));
    holds(share(40_000), &case, |(case, context, kept, numbered, codex)| {
        let (before, after) = texts(&case);
        let all = hunks(&before, &after, context);
        if all.is_empty() || all.iter().any(|(_, lines)| removes(lines)) {
            return;
        }
        let text: String = all
            .iter()
            .map(|(header, lines)| {
                let header = match header_of(&before, header) {
                    _ if numbered => header.clone(),
                    Some(line) if codex => format!("@@ {line}"),
                    _ => "@@\n".to_owned(),
                };
                header + &rewritten(lines, if numbered { &[false] } else { &kept })
            })
            .collect();
        let patch = if numbered { of_diff(&text) } else { of_envelope(&text) };
        let profile = if codex { Profile::Codex } else { Profile::Strict };
        let before = before.concat();
        let Some(once) = apply(&patch, &before, profile, false) else { return };
        applied.set(applied.get() + 1);
        for skip in [false, true] {
            if let Some(twice) = apply(&patch, &once, profile, skip) {
                assert_eq!(twice, once, "{before:?}, skip {skip}, {profile:?}\n{text}");
                again.set(again.get() + 1);
            }
        }
    });
    assert!(applied.get() > 0 && again.get() > 0);
}

#[test]
fn with_some_hunks_applied_the_others_give_the_whole_result_or_nothing() {
    let case = (case(24, FLAT), 1..4_usize, vec(any::<bool>(), 1..6), any::<bool>());
    let whole = Cell::new(0);
    holds(share(40_000), &case, |(case, context, done, codex)| {
        let (before, after) = texts(&case);
        let all = hunks(&before, &after, context);
        if all.is_empty() {
            return;
        }
        let profile = if codex { Profile::Codex } else { Profile::Strict };
        let text = |wanted: &dyn Fn(usize) -> bool| -> String {
            let some = all.iter().enumerate().filter(|(index, _)| wanted(*index));
            some.map(|(_, (header, lines))| header.clone() + &lines.concat()).collect()
        };
        let is_done = |index: usize| done[index % done.len()];
        if all.iter().enumerate().any(|(index, (_, lines))| is_done(index) && removes(lines)) {
            return;
        }
        let some = text(&is_done);
        let now = if some.is_empty() {
            Some(before.concat())
        } else {
            apply(&of_diff(&some), &before.concat(), profile, false)
        };
        let patch = of_diff(&text(&|_| true));
        // It has to be the file with exactly these hunks.
        let (Some(now), Some(_)) = (now, apply(&patch, &before.concat(), profile, false)) else {
            return;
        };
        if let Some(found) = apply(&patch, &now, profile, true) {
            assert_eq!(found, after.concat(), "{:?} {now:?}\n{}", before.concat(), text(&|_| true));
            whole.set(whole.get() + 1);
        }
    });
    assert!(whole.get() > 0);
}
