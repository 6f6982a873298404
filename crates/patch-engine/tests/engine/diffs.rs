//! The diffs of plans, where a change is more than its own file's lines.

use std::fs;

use patch_engine::transaction::Workspace;
use patch_engine::{Options, Plan, PlanBuilder, Profile, Splices, parse, plan};
use tempfile::TempDir;

use crate::takers::{self, Snapshot};
use crate::transaction::support::Random;

/// The plan of a patch in a workspace of these files.
fn planned(files: &[(&str, &str)], body: &str) -> (TempDir, Plan) {
    let dir = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
    let options = Options::new(Profile::Codex);
    let text = format!("*** Begin Patch\n{body}*** End Patch\n");
    let plan = plan(workspace.root(), &parse(&text, &options.parse).unwrap(), &options).unwrap();
    (dir, plan)
}

fn check(files: &[(&str, &str)], body: &str, changes: &[(&str, (usize, usize))], diff: &str) {
    let (_dir, plan) = planned(files, body);
    let images = plan.images();
    assert_eq!(String::from_utf8(images.diffs().unwrap()).unwrap(), diff, "{body}");
    let told: Vec<_> =
        plan.changes().iter().map(|change| (change.operation.as_str(), images.line_counts(change).unwrap())).collect();
    assert_eq!(told, changes, "{body}");
}

#[test]
fn a_file_that_another_one_moves_over_is_shown_to_go() {
    let files = [("a", "A\n"), ("b", "B\nb\n")];
    let body = "*** Move File: a -> b\n";
    let gone = "diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-B\n-b\n";
    let moved = "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n";
    check(&files, body, &[("move", (0, 2))], &format!("{gone}{moved}"));
    let (_dir, plan) = planned(&files, body);
    let [change] = plan.changes() else { panic!("{:?}", plan.changes()) };
    assert!(change.replaces.is_some() && plan.images().plain_diff(change).unwrap().is_none());
    // The same, as the patch says itself that it goes.
    check(&files, "*** Delete File: b\n*** Move File: a -> b\n", &[("move", (0, 2))], &format!("{gone}{moved}"));
    // One that moves away itself is not lost.
    let swap = "*** Move File: b -> c\n*** Move File: a -> b\n";
    let chain = "diff --git a/b b/c\nsimilarity index 100%\nrename from b\nrename to c\n";
    check(&files, swap, &[("move", (0, 0)), ("move", (0, 0))], &format!("{moved}{chain}"));
}

#[test]
fn a_file_like_the_one_that_moved_away_is_shown_to_appear() {
    check(
        &[("a", "A\n")],
        "*** Move File: a -> b\n*** Add File: a\n+A\n",
        &[("create", (1, 0)), ("move", (0, 0))],
        "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+A\n\
         diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n",
    );
}

/// Without lines after it a hunk is one of the end of the file, for git.
#[test]
fn what_is_inserted_before_lines_like_it_has_context_after_it() {
    check(
        &[("a", "1\n2\n3\n4\n5\n6\n7\n8\n")],
        "*** Update File: a\n@@\n 2\n+3\n+4\n+5\n+6\n 3\n",
        &[("update", (4, 0))],
        "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,6 +1,10 @@\n 1\n 2\n 3\n+4\n+5\n+6\n+3\n 4\n 5\n 6\n",
    );
}

/// Lines that repeat, so that a change can be told in several ways.
fn repetitive(random: &mut Random, most: usize) -> String {
    let mut text: String = (0..random.below(most)).map(|_| *random.pick(&["a\n", "b\n", "{\n", "\n"])).collect();
    if random.below(8) == 0 {
        text.pop();
    }
    text
}

#[test]
fn other_programs_take_the_hunks_of_files_whose_lines_repeat() {
    let options = Options { overwrite: true, ..Options::default() };
    for seed in 1..60 {
        let random = &mut Random::new(seed);
        let (mut before, mut after) = (Snapshot::new(), Snapshot::new());
        let dir = TempDir::new().unwrap();
        for nth in 0..40 {
            let text = repetitive(random, 40);
            fs::write(dir.path().join(format!("f{nth}")), &text).unwrap();
            before.insert(format!("f{nth}"), (0, text.into_bytes()));
        }
        let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
        let mut builder = PlanBuilder::new(workspace.root(), &options);
        for (nth, (name, (_, text))) in before.iter().enumerate() {
            let mut splices = Splices::new();
            let line = |random: &mut Random, from: usize| {
                let starts: Vec<_> = (0..text.len()).filter(|&at| at == 0 || text[at - 1] == b'\n').collect();
                let rest: Vec<_> = starts.into_iter().filter(|&at| at >= from).collect();
                if rest.is_empty() || random.below(10) == 0 { text.len().max(from) } else { *random.pick(&rest) }
            };
            for _ in 0..random.below(4) {
                let start = line(random, splices.end());
                if start == text.len() && !text.is_empty() && !text.ends_with(b"\n") {
                    break;
                }
                let end = if random.below(2) == 0 { start } else { line(random, start).min(start + 12).max(start) };
                let end = (start..=end).rev().find(|&at| at == 0 || at == text.len() || text[at - 1] == b'\n').unwrap();
                // Often what stands below, and something new.
                let below = &text[end..];
                let lines: Vec<_> = below.split_inclusive(|&byte| byte == b'\n').take(random.below(7)).collect();
                let mut new = lines.concat();
                new.extend_from_slice(repetitive(random, 4).as_bytes());
                if !new.is_empty() && !new.ends_with(b"\n") && end < text.len() {
                    new.push(b'\n');
                }
                splices.push(start..end, new);
            }
            let result = splices.apply(text);
            after.insert(name.clone(), (0, result.clone()));
            // Half of them as an edit, and half as a file that is written anew.
            match nth % 2 {
                0 => builder.update(name, splices).unwrap(),
                _ => builder.create(name, result).unwrap(),
            }
        }
        let diff = builder.finish().unwrap().images().diffs().unwrap();
        takers::check(&diff, &before, &after).unwrap_or_else(|error| panic!("{seed}: {error}"));
    }
}
