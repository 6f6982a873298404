//! Diffs that are cut off within their last hunk, and whole ones with wrong numbers.

use std::collections::BTreeMap;
use std::sync::Arc;

use patch_engine::patch_grammar::diff::{self, DiffOptions, may_be_cut_off};
use patch_engine::{
    Files as PlanFiles, MemoryTree, Options, PlanBuilder, Profile, RejectReason, Splices, plan,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use testutils::holds::holds;
use testutils::share::share;

type Files = BTreeMap<&'static str, String>;

fn tree(files: &Files) -> MemoryTree {
    files.iter().map(|(path, text)| (*path, text.as_bytes())).collect()
}

fn planned_on(tree: &MemoryTree) -> PlanFiles {
    PlanFiles::of_tree(Arc::new(tree.clone()), patch_engine::policy())
}

fn after(tree: &MemoryTree) -> Files {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let paths = ["f", "g"];
    paths.iter().filter_map(|path| Some((*path, text(tree.get(path)?)))).collect()
}

/// What becomes of files by a diff; `Err` is the word of why it is refused.
fn applied(files: &Files, diff: &str, how: &DiffOptions) -> Result<Files, &'static str> {
    let patch = diff::parse(diff, how).map_err(|error| error.kind.as_str())?;
    let mut tree = tree(files);
    let plan = plan(planned_on(&tree), &patch, &Options::default());
    let plan = plan.map_err(|rejects| rejects[0].reason())?;
    tree.commit(&plan).unwrap();
    Ok(after(&tree))
}

fn of(files: &[(&'static str, &str)]) -> Files {
    files.iter().map(|(path, text)| (*path, (*text).to_owned())).collect()
}

const NINE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

#[test]
fn a_hunk_that_lacks_lines_is_cut_off_or_counted_wrong() {
    let cut = "cut_off";
    for (body, expected) in [
        // A change is missing: the two sides lack different numbers of lines.
        ("@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+V\n-6\n", cut),
        ("@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+V\n 6\n", cut),
        // One may be missing below the context that is there, with context of its own.
        ("@@ -1,9 +1,9 @@\n 1\n-2\n+V\n 3\n 4\n 5\n", cut),
        ("@@ -1,9 +1,9 @@\n 1\n-2\n+V\n 3\n", cut),
        // At the end of the file a change has less context below it.
        ("@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+V\n 6\n 7\n 8\n", cut),
        // Context alone is missing, and perhaps another hunk: the hunk stands where it says.
        ("@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+V\n 6\n", cut),
        // It does not stand there: nothing says that the numbers are right.
        ("@@ -1,7 +1,7 @@\n 2\n 3\n 4\n-5\n+V\n 6\n", "taken"),
        // All context is there, and these numbers leave no room for another change.
        ("@@ -2,8 +2,6 @@\n 2\n-3\n+V\n 4\n 5\n 6\n", cut),
        ("@@ -2,5 +2,7 @@\n 2\n 3\n 4\n-5\n+V\n 6\n 7\n 8\n", "taken"),
        ("@@ -1,6 +1,7 @@\n 1\n-2\n+V\n 3\n 4\n 5\n", "taken"),
        // The file has fewer lines, or one side has more than the numbers promise.
        ("@@ -2,10 +2,9 @@\n 2\n 3\n 4\n-5\n+V\n 6\n", "taken"),
        ("@@ -2,4 +2,9 @@\n 2\n 3\n 4\n-5\n+V\n 6\n", "taken"),
        // Half a line.
        ("@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+V", cut),
        // No change at all, or half of what follows.
        ("@@ -2,7 +2,7 @@\n 2\n 3\n", cut),
        ("@@ -2,3 +2,3 @@\n 2\n-3\n+V\n 4\n@", cut),
        ("@@ -9 +9 @@\n-9\n+V\n\\", cut),
        ("@@ -2,3 +2,3 @@\n 2\n-3\n+V\n 4\n@@", "empty_hunk"),
        // What follows shows that the hunk is whole.
        ("@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+V\n-6\n-- \n2.39\n", "taken"),
        ("@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+V\n-6\n@@ -8,2 +7,2 @@\n 8\n-9\n+X\n", "taken"),
        ("@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+V\n-6\n\n\n", cut),
        // Joined texts do not end one another.
        (
            "@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+V\n-6\n# HG changeset patch\n--- a/f\n+++ b/f\n\
             @@ -8,2 +7,2 @@\n 8\n-9\n+X\n",
            cut,
        ),
        // Without numbers.
        ("@@\n 2\n 3\n 4\n-5\n+V\n-6\n", "taken"),
    ] {
        let diff = format!("--- a/f\n+++ b/f\n{body}");
        let files = of(&[("f", NINE)]);
        let how = DiffOptions::default();
        let found = applied(&files, &diff, &how).map_or_else(|word| word, |_| "taken");
        assert_eq!(found, expected, "{body}");
        // Whoever says that it is whole is believed, but for half lines.
        let half = diff.ends_with('@') || diff.ends_with('\\') || !body.contains('V');
        for how in [DiffOptions { recount: true, ..how }, DiffOptions { ended: true, ..how }] {
            let found = applied(&files, &diff, &how);
            assert!(half || found.is_ok(), "{body}: {found:?}");
        }
    }
}

#[test]
fn a_new_file_that_lacks_lines_is_cut_off() {
    for (text, expected) in [
        ("--- /dev/null\n+++ b/g\n@@ -0,0 +1,3 @@\n+1\n+2\n", "cut_off"),
        ("--- g\n+++ g\n@@ -0,0 +1,3 @@\n+1\n+2\n", "cut_off"),
        ("--- /dev/null\n+++ b/g\n@@ -0,0 +1,2 @@\n+1\n+2\n+3\n", "taken"),
        ("--- /dev/null\n+++ b/g\n@@ -0,0 +1,2 @@\n+1\n+2", "taken"),
        ("--- /dev/null\n+++ b/g\n@@\n+1\n+2\n", "taken"),
    ] {
        let found = applied(&Files::new(), text, &DiffOptions::default());
        assert_eq!(found.map_or_else(|word| word, |_| "taken"), expected, "{text}");
    }
}

/// `git hash-object` of `hello\n` is ce01362, of `hello` b6fc4c6.
#[test]
fn ids_tell_whether_the_last_line_is_whole() {
    let hello = of(&[("f", "hello\n")]);
    let edit = |ids: &str, end: &str| {
        format!(
            "diff --git a/f b/f\nindex {ids} 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-hello\n{end}"
        )
    };
    let new = |ids: &str, end: &str| {
        format!(
            "diff --git a/g b/g\nnew file mode 100644\nindex 0000000..{ids}\n--- /dev/null\n\
             +++ b/g\n@@ -0,0 +1 @@\n{end}"
        )
    };
    let none = "\\ No newline at end of file\n";
    for (diff, expected) in [
        (edit("ce01362..ce01362", "+hello\n"), "taken"),
        // The note is missing.
        (edit("ce01362..b6fc4c6", &format!("+hello\n{none}")), "taken"),
        (edit("ce01362..b6fc4c6", "+hello\n"), "cut_off"),
        // The line is not whole.
        (edit("ce01362..ce01362", "+hel"), "cut_off"),
        (edit("ce01362..ce01362", "+hello"), "taken"),
        // Somebody has edited the diff, or made up the ids.
        (edit("ce01362..1234567", "+hel\n"), "taken"),
        (edit("1234567..89abcde", "+hel"), "taken"),
        (new("ce01362", "+hello\n"), "taken"),
        (new("ce01362", "+hello"), "taken"),
        (new("ce01362", "+hel"), "cut_off"),
        (new("ce01362", "+hel\n"), "taken"),
        (new("b6fc4c6", "+hello\n"), "cut_off"),
        (new("b6fc4c6", &format!("+hello\n{none}")), "taken"),
    ] {
        let found = applied(&hello, &diff, &DiffOptions::default());
        assert_eq!(found.map_or_else(|word| word, |_| "taken"), expected, "{diff}");
    }
}

/// A diff that a program made, cut at any byte within a hunk of its last file, is refused or gives
/// what the whole gives.
#[test]
fn what_is_cut_off_is_refused_or_the_same() {
    let line = || (0..12usize).prop_map(|nth| format!("line {nth}\n"));
    let file = || vec(line(), 4..40);
    let edits = || vec((any::<Index>(), 0..3usize, vec(line(), 0..3)), 1..4);
    let strategy = (file(), edits(), file(), edits(), 0..4u8);
    holds(share(400), &strategy, |(f, edit_f, g, edit_g, kind)| {
        let edited = |lines: &[String], edits: Vec<(Index, usize, Vec<String>)>| {
            let mut lines = lines.to_vec();
            for (at, removed, added) in edits {
                let at = at.index(lines.len() + 1);
                let end = (at + removed).min(lines.len());
                lines.splice(at..end, added);
            }
            lines.concat()
        };
        let mut before = of(&[("f", &f.concat()), ("g", &g.concat())]);
        let mut wanted = of(&[("f", &edited(&f, edit_f)), ("g", &edited(&g, edit_g))]);
        match kind {
            0 => drop(before.remove("g")),
            1 => drop(wanted.remove("g")),
            _ => {}
        }
        let files = tree(&before);
        let options = Options::new(Profile::Strict);
        let mut builder = PlanBuilder::new(planned_on(&files), &options);
        for path in ["f", "g"] {
            match (before.get(path), wanted.get(path)) {
                (Some(old), Some(new)) => {
                    let mut splices = Splices::new();
                    splices.push(0..old.len(), new.clone().into_bytes());
                    builder.update(path, splices).unwrap();
                }
                (None, Some(new)) => builder.create(path, new.clone().into_bytes()).unwrap(),
                _ => builder.remove(path).unwrap(),
            }
        }
        let diff = String::from_utf8(builder.finish().unwrap().images().diffs().unwrap()).unwrap();
        let last = diff.rfind("diff --git ").unwrap_or(0);
        let Some(first) = diff[last..].find("\n@@ ").map(|at| last + at + 2) else { return };
        let whole = applied(&before, &diff, &DiffOptions::default());
        assert!(whole.is_ok() || wanted == before, "{whole:?}\n{diff}");
        for at in first..diff.len() {
            // A cut between two hunks cannot be seen, nor, without ids, one within an inserted line
            // that is the last.
            let (part, rest) = diff.split_at(at);
            let between = rest.starts_with("@@ ") || rest.starts_with("\n@@ ");
            let last = part.rfind('\n').map_or("", |end| &diff[end + 1..]);
            let inserted = last.starts_with('+') && last.lines().count() == 1;
            if between || inserted {
                continue;
            }
            if let Ok(found) = applied(&before, part, &DiffOptions::default()) {
                assert_eq!(Ok(found), whole, "{at}:\n{part}\n{diff}");
            }
        }
    });
}

#[test]
fn without_files_a_diff_that_seems_cut_off_is_told() {
    for (body, expected) in [
        ("@@ -2,8 +2,8 @@\n 2\n-5\n+V\n-6\n", true),
        ("@@ -2,8 +2,8 @@\n 2\n-5\n+V\n 6\n", false),
        ("@@ -1 +1 @@\n-0\n+1\n@@ -2,8 +2,8 @@\n 2\n-5\n+V\n 6\n", true),
        ("@@ -2,3 +2,3 @@\n 2\n-5\n+V\n 6\n", false),
    ] {
        let text = format!("--- a/f\n+++ b/f\n{body}");
        let patch = diff::parse(&text, &DiffOptions::default()).unwrap();
        let error = may_be_cut_off(&patch);
        assert_eq!(error.is_some(), expected, "{body}");
        assert!(error.is_none_or(|error| error.kind.as_str() == "cut_off"));
    }
}

#[test]
fn a_reversed_diff_is_cut_off_too() {
    let text = "--- a/f\n+++ b/f\n@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-V\n+5\n+6\n";
    let patch = diff::parse(text, &DiffOptions::default()).unwrap();
    let patch = patch_engine::reverse(&patch, &Options::default()).unwrap();
    let files = tree(&of(&[("f", NINE)]));
    let rejects = plan(planned_on(&files), &patch, &Options::default()).unwrap_err();
    let reason = rejects[0].hunk_reason();
    assert_eq!(reason, Some(&RejectReason::CutOff { promised: (8, 8), missing: (3, 4) }));
}
