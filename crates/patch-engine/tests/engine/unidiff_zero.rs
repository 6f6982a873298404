//! Diffs without context, as `diff -U0` writes them: refused, unless their line numbers may decide.

use std::cell::Cell;

use patch_engine::{FinalNewline, Options, Profile, edit};
use patch_grammar::diff::{self, DiffOptions};
use proptest::collection::vec;
use proptest::prelude::*;
use testutils::holds::holds;
use testutils::share::share;

/// What the hunks make of a file, or the reason of the first reject.
fn applied(
    profile: Profile,
    unidiff_zero: bool,
    file: &str,
    hunks: &str,
) -> Result<String, &'static str> {
    let text = format!("--- a/f\n+++ b/f\n{hunks}");
    let patch = diff::parse(text, &DiffOptions::default()).expect("a diff");
    let mut rules = Options::new(profile).placement;
    rules.unidiff_zero = unidiff_zero;
    let edit = edit(file.as_bytes(), patch.sections()[0].hunks(), &rules, FinalNewline::Keep);
    let edit = edit.map_err(|rejects| rejects[0].reason.as_str())?;
    Ok(String::from_utf8(edit.apply(file.as_bytes())).expect("UTF-8"))
}

#[test]
fn hunks_without_context_need_the_flag() {
    for (file, hunks, without, with) in [
        // At the beginning, in between, at the end.
        ("a\nb\n", "@@ -0,0 +1 @@\n+x\n", Err("no_anchor"), Ok("x\na\nb\n")),
        ("a\nb\n", "@@ -1,0 +2 @@\n+x\n", Err("no_anchor"), Ok("a\nx\nb\n")),
        ("a\nb\n", "@@ -2,0 +3 @@\n+x\n", Err("no_anchor"), Ok("a\nb\nx\n")),
        ("a\nb", "@@ -1,0 +2 @@\n+x\n", Err("no_anchor"), Ok("a\nx\nb")),
        ("\u{feff}a\n", "@@ -0,0 +1 @@\n+x\n", Err("no_anchor"), Ok("\u{feff}x\na\n")),
        ("", "@@ -0,0 +1 @@\n+x\n", Ok("x\n"), Ok("x\n")),
        // The file has fewer lines.
        ("a\nb\n", "@@ -3,0 +4 @@\n+x\n", Err("no_anchor"), Err("no_anchor")),
        // Lines that go are there, and without the flag they are all of the file.
        ("a\nb\n", "@@ -1 +1 @@\n-a\n+x\n", Err("context_not_found"), Ok("x\nb\n")),
        ("a\nb\n", "@@ -2 +2 @@\n-b\n+x\n", Err("context_not_found"), Ok("a\nx\n")),
        ("a\n", "@@ -1 +1 @@\n-a\n+x\n", Ok("x\n"), Ok("x\n")),
        ("a\nb\n", "@@ -1,2 +0,0 @@\n-a\n-b\n", Ok(""), Ok("")),
        ("a\nb\nc\n", "@@ -2 +1,0 @@\n-b\n", Err("context_not_found"), Ok("a\nc\n")),
        ("a\nb\n", "@@ -1 +1 @@\n-c\n+x\n", Err("context_not_found"), Err("context_not_found")),
        // Of several places the stated one is meant, and none if it is not one.
        ("a\nb\na\n", "@@ -1 +0,0 @@\n-a\n", Err("context_not_found"), Ok("b\na\n")),
        ("a\nb\na\n", "@@ -2 +1,0 @@\n-a\n", Err("context_not_found"), Err("multiple_matches")),
        // With the hunk above two lines further down, the insertion is, too.
        (
            "0\n0\na\nb\nc\n",
            "@@ -1 +1 @@\n-a\n+x\n@@ -2,0 +3 @@\n+y\n",
            Err("context_not_found"),
            Ok("0\n0\nx\nb\ny\nc\n"),
        ),
        // The hunks around it are at other distances: the file has changed between them.
        (
            "a\nb\nnew\nc\nd\n",
            "@@ -1 +1 @@\n-a\n+x\n@@ -2,0 +3 @@\n+y\n@@ -4 +5 @@\n-d\n+z\n",
            Err("context_not_found"),
            Err("no_anchor"),
        ),
        (
            "new\na\nb\n",
            "@@ -0,0 +1 @@\n+y\n@@ -2 +3 @@\n-b\n+z\n",
            Err("no_anchor"),
            Err("no_anchor"),
        ),
        // Numbers that do not fit the lines are worth nothing.
        ("a\nb\n", "@@ -1,0 +2,7 @@\n+x\n", Err("no_anchor"), Err("no_anchor")),
        // With context the flag changes nothing but the rule about the ends.
        (
            "a\nb\nc\na\nb\n",
            "@@ -1,2 +1,3 @@\n a\n b\n+x\n",
            Ok("a\nb\nc\na\nb\nx\n"),
            Ok("a\nb\nx\nc\na\nb\n"),
        ),
    ] {
        for profile in [Profile::Strict, Profile::Codex] {
            for (unidiff_zero, wanted) in [(false, without), (true, with)] {
                let found = applied(profile, unidiff_zero, file, hunks);
                let wanted = wanted.map(str::to_owned);
                assert_eq!(found, wanted, "{profile} {unidiff_zero} {file:?}\n{hunks}");
            }
        }
    }
}

/// Changes of a file: how many lines stay, how many of the next go, and how many come.
type Changes = Vec<(usize, usize, usize)>;

/// The hunks of changes, as `diff -U0` writes them, and the file afterwards.
fn diffed(before: &[String], changes: &Changes) -> (String, Vec<String>) {
    let (mut hunks, mut after, mut from) = (String::new(), Vec::new(), 0);
    for (nth, &(stay, gone, new)) in changes.iter().enumerate() {
        let start = from + stay;
        let end = start + gone;
        if end > before.len() || (gone, new) == (0, 0) {
            break;
        }
        after.extend_from_slice(&before[from..start]);
        // Of a side without lines the line above is stated.
        let line = |start: usize, count: usize| start + usize::from(count > 0);
        let (old, now) = (line(start, gone), line(after.len(), new));
        hunks += &format!("@@ -{old},{gone} +{now},{new} @@\n");
        before[start..end].iter().for_each(|gone| hunks += &format!("-{gone}"));
        let new: Vec<_> = (0..new).map(|line| format!("new {nth} {line}\n")).collect();
        new.iter().for_each(|new| hunks += &format!("+{new}"));
        after.extend(new);
        from = end;
    }
    after.extend_from_slice(&before[from..]);
    (hunks, after)
}

fn changes() -> impl Strategy<Value = Changes> {
    vec((1..4_usize, 0..3_usize, 0..3_usize), 1..5).prop_map(|mut changes| {
        // Between two there is a line.
        changes[0].0 -= 1;
        changes
    })
}

#[test]
fn with_the_flag_every_change_goes_where_it_was_made() {
    let applied_without = Cell::new(0);
    let lines = vec(0..4_u8, 1..16);
    holds(share(4000), &(lines, changes()), |(lines, changes)| {
        let before: Vec<_> = lines.iter().map(|line| format!("{line}\n")).collect();
        let (hunks, after) = diffed(&before, &changes);
        if hunks.is_empty() {
            return;
        }
        for profile in [Profile::Strict, Profile::Codex] {
            let found = applied(profile, true, &before.concat(), &hunks);
            if profile == Profile::Strict || found.is_ok() {
                assert_eq!(found, Ok(after.concat()), "{profile} {before:?}\n{hunks}");
            }
            // Without it, as well or not at all.
            if let Ok(found) = applied(profile, false, &before.concat(), &hunks) {
                assert_eq!(found, after.concat(), "{profile} {before:?}\n{hunks}");
                applied_without.set(applied_without.get() + 1);
            }
        }
    });
    assert!(applied_without.get() > 0, "some are all of the file");
}

#[test]
fn in_a_file_that_has_changed_a_change_is_right_or_refused() {
    let (right, refused) = (Cell::new(0), Cell::new(0));
    // Lines of others come in one place, and some go.
    let others = (0..16_usize, 1..4_usize, vec(0..16_usize, 0..2));
    holds(share(4000), &(2..16_usize, changes(), others), |(count, changes, others)| {
        let before: Vec<_> = (0..count).map(|line| format!("line {line}\n")).collect();
        // An insertion has a change of lines on both sides.
        let changes: Changes = changes
            .into_iter()
            .flat_map(|(stay, gone, new)| [(1, 1, 1), (stay.max(1), gone, new), (1, 1, 0)])
            .collect();
        let (hunks, after) = diffed(&before, &changes);
        let (place, new, mut gone) = others;
        let place = place.min(before.len());
        // One that goes and lines that come at other places could make up for each other.
        gone.retain(|&line| line == place && line < before.len());
        let others: Vec<_> = (0..new).map(|line| format!("other {line}\n")).collect();
        let mut now = before.clone();
        now.splice(place..place + gone.len().min(1), others.clone());
        if hunks.is_empty() || !hunks.ends_with('\n') || !ends_in_a_deletion(&hunks) {
            return;
        }
        for profile in [Profile::Strict, Profile::Codex] {
            match applied(profile, true, &now.concat(), &hunks) {
                Ok(found) => {
                    // All of the change is there, and all of the others', in their order.
                    let found: Vec<_> = found.split_inclusive('\n').map(str::to_owned).collect();
                    let (theirs, ours): (Vec<_>, Vec<_>) =
                        found.iter().cloned().partition(|line| line.starts_with("other"));
                    assert_eq!(theirs, others, "{profile} {now:?}\n{hunks}");
                    let mut wanted = after.clone();
                    gone.iter().take(1).for_each(|&line| wanted.retain(|it| *it != before[line]));
                    assert_eq!(ours, wanted, "{profile} {now:?}\n{hunks}");
                    right.set(right.get() + 1);
                }
                Err(_) => refused.set(refused.get() + 1),
            }
        }
    });
    assert!(right.get() > share(200) as usize, "{} were right", right.get());
    assert!(refused.get() > share(20) as usize, "{} were refused", refused.get());
}

/// Whether the last hunk deletes lines, so that every insertion has hunks that do on both sides.
fn ends_in_a_deletion(hunks: &str) -> bool {
    let last = hunks.rfind("@@ -").expect("a hunk");
    hunks[last..].lines().any(|line| line.starts_with('-'))
}
