//! The diffs of plans, where a change is more than its own file's lines.

use std::fs;

use patch_engine::commit::Workspace;
use patch_engine::{Options, Plan, PlanBuilder, Profile, Splices, parse, plan};
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::{Index, select};
use tempfile::TempDir;

use testutils::holds::holds;
use testutils::share::share;
use testutils::takers::{self, Snapshot};

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
    let told: Vec<_> = plan
        .changes()
        .iter()
        .map(|change| (change.operation.as_str(), images.line_counts(change).unwrap()))
        .collect();
    assert_eq!(told, changes, "{body}");
}

#[test]
fn a_file_that_another_one_moves_over_is_shown_to_go() {
    let files = [("a", "A\n"), ("b", "B\nb\n")];
    let body = "*** Move File: a -> b\n";
    let gone = "diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n\
                @@ -1,2 +0,0 @@\n-B\n-b\n";
    let moved = "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n";
    check(&files, body, &[("move", (0, 2))], &format!("{gone}{moved}"));
    let (_dir, plan) = planned(&files, body);
    let [change] = plan.changes() else { panic!("{:?}", plan.changes()) };
    assert!(change.replaces.is_some());
    assert!(plan.images().plain_diff(change).unwrap().is_none());
    // The same, as the patch says itself that it goes.
    check(
        &files,
        "*** Delete File: b\n*** Move File: a -> b\n",
        &[("move", (0, 2))],
        &format!("{gone}{moved}"),
    );
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

#[test]
fn an_empty_last_line_of_a_new_file_is_a_line() {
    check(
        &[],
        "*** Add File: a\n+A\n+\n",
        &[("create", (2, 0))],
        "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+A\n\
         +\n",
    );
}

/// Without lines after it a hunk is one of the end of the file, for git.
#[test]
fn what_is_inserted_before_lines_like_it_has_context_after_it() {
    check(
        &[("a", "1\n2\n3\n4\n5\n6\n7\n8\n")],
        "*** Update File: a\n@@\n 2\n+3\n+4\n+5\n+6\n 3\n",
        &[("update", (4, 0))],
        "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,6 +1,10 @@\n 1\n 2\n 3\n+4\n+5\n+6\n+3\n 4\n\
         \x205\n 6\n",
    );
}

/// A file of lines that repeat, whether it lacks its last line feed, and edits: where each begins
/// among the lines that are left, how many lines it replaces, how many of the lines below it
/// inserts before them, and what else.
type Case = (Vec<&'static str>, bool, Vec<(Index, usize, usize, Vec<&'static str>)>);

fn case() -> impl Strategy<Value = Case> {
    let lines = |most| vec(select(&["a\n", "b\n", "{\n", "\n"][..]), 0..most);
    let edit = (any::<Index>(), 0..6_usize, 0..7_usize, lines(4));
    (lines(40), weighted(0.125), vec(edit, 0..4))
}

/// The lines of a file, and what the edits replace.
fn file((lines, open, edits): &Case) -> (Vec<u8>, Splices) {
    let mut text = lines.concat().into_bytes();
    if *open {
        text.pop();
    }
    let mut splices = Splices::new();
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let offset = |line: usize| lines[..line].iter().map(|line| line.len()).sum::<usize>();
    let mut first = 0;
    for (start, replaced, repeated, new) in edits {
        let start = first + start.index(lines.len() - first + 1);
        let end = (start + replaced).min(lines.len());
        // After a last line without a line feed nothing can be inserted as a line.
        if start == lines.len() && !lines.is_empty() && !text.ends_with(b"\n") {
            break;
        }
        let mut inserted =
            lines[end..].iter().take(*repeated).copied().collect::<Vec<_>>().concat();
        if !inserted.is_empty() && !inserted.ends_with(b"\n") {
            inserted.push(b'\n');
        }
        inserted.extend_from_slice(new.concat().as_bytes());
        splices.push(offset(start)..offset(end), inserted);
        first = end;
    }
    (text, splices)
}

#[cfg_attr(windows, ignore = "git and patch are asked, which are not in Wine")]
#[test]
fn other_programs_take_the_hunks_of_files_whose_lines_repeat() {
    let options = Options { overwrite: true, ..Options::default() };
    holds(share(300), &vec(case(), 40), |cases| {
        let (mut before, mut after) = (Snapshot::new(), Snapshot::new());
        let dir = TempDir::new().unwrap();
        let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
        let files: Vec<_> = cases.iter().map(file).collect();
        for (nth, (text, _)) in files.iter().enumerate() {
            fs::write(dir.path().join(format!("f{nth}")), text).unwrap();
            before.insert(format!("f{nth}"), (0, text.clone()));
        }
        let mut builder = PlanBuilder::new(workspace.root(), &options);
        for (nth, (text, splices)) in files.into_iter().enumerate() {
            let (name, result) = (format!("f{nth}"), splices.apply(&text));
            after.insert(name.clone(), (0, result.clone()));
            // Half of them as an edit, and half as a file that is written anew.
            match nth % 2 {
                0 => builder.update(&name, splices).unwrap(),
                _ => builder.create(&name, result).unwrap(),
            }
        }
        let diff = builder.finish().unwrap().images().diffs().unwrap();
        takers::check(&diff, &before, &after).unwrap_or_else(|error| panic!("{error}"));
    });
}
