//! The diff of a turn, against git: `git apply` of it on the tree of before gives the tree of
//! after.

use std::cell::Cell;

use patch_engine::commit::{CommitOptions, Durability, KeyPlace, Workspace};
use patch_engine::{ApplyOptions, Failed, HistoryDiffs, Options, Profile, TurnDiff, parse};
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::sample::Index;
use tempfile::TempDir;

use testutils::holds::holds;
use testutils::takers::{self, Snapshot, files, write};

struct Turn {
    dir: TempDir,
    workspace: Workspace,
    before: Snapshot,
    diff: TurnDiff,
}

impl Turn {
    fn new(before: &[(&str, u32, &str)]) -> Self {
        let dir = TempDir::new().unwrap();
        let before = before
            .iter()
            .map(|(name, mode, text)| ((*name).to_owned(), (*mode, text.as_bytes().to_vec())));
        let before: Snapshot = before.collect();
        write(dir.path(), &before);
        let workspace = Workspace::open(dir.path(), patch_engine::policy())
            .unwrap()
            .with_key_place(KeyPlace::Nowhere);
        Self { dir, workspace, before, diff: TurnDiff::new() }
    }

    fn commit_options() -> CommitOptions {
        CommitOptions { durability: Durability::None, ..CommitOptions::default() }
    }

    /// How many transactions it was.
    fn apply(&mut self, body: &str) -> Result<usize, Failed> {
        let mut settings = ApplyOptions::new(Options::new(Profile::Codex));
        settings.commit = Self::commit_options();
        let text = format!("*** Begin Patch\n{body}*** End Patch\n");
        let patch = parse(&text, &settings.options.parse).unwrap();
        let reports = self.workspace.apply(&patch, &settings, &mut ())?;
        reports.iter().for_each(|report| self.diff.applied(report));
        Ok(reports.iter().filter(|report| report.transaction.is_some()).count())
    }

    fn undo(&mut self) {
        let workspace = &self.workspace;
        let plan = &mut |_: &_| workspace.plan_undo_last();
        let report = workspace.execute(&Self::commit_options(), &mut (), &mut (), plan);
        self.diff.applied(&report.unwrap());
    }

    fn text(&self) -> String {
        String::from_utf8(self.diff.diff()).unwrap()
    }

    /// Lets others apply the diff to the tree of before, and compares.
    fn check(&self, trail: &str) {
        let (diff, now) = (self.diff.diff(), files(self.dir.path()));
        if now == self.before {
            assert_eq!(String::from_utf8_lossy(&diff), "", "{trail}");
        }
        takers::check(&diff, &self.before, &now).unwrap_or_else(|error| panic!("{trail}\n{error}"));
    }
}

#[cfg_attr(windows, ignore = "Wine has no links that a program can make")]
#[test]
fn renames_modes_and_links_are_shown() {
    for (name, before, patches, wanted) in [
        (
            "two updates are one",
            &[("a", 0, "1\n2\n")][..],
            &["*** Update File: a\n@@\n-1\n+one\n", "*** Update File: a\n@@\n-2\n+two\n"][..],
            "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n-2\n+one\n+two\n",
        ),
        ("added and deleted", &[], &["*** Add File: a\n+1\n", "*** Delete File: a\n"], ""),
        (
            "added, updated, moved",
            &[],
            &["*** Add File: a\n+1\n", "*** Update File: a\n*** Move to: b\n@@\n-1\n+2\n"],
            "diff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+2\n",
        ),
        (
            "an empty file",
            &[],
            &["*** Add File: a\n"],
            "diff --git a/a b/a\nnew file mode 100644\n",
        ),
        (
            "a program moves twice",
            &[("run", 0o100, "x\n")],
            &["*** Move File: run -> go\n", "*** Move File: go -> bin/go\n"],
            "diff --git a/run b/bin/go\nsimilarity index 100%\nrename from run\nrename to bin/go\n",
        ),
        (
            "a chain: what is in the way moves on",
            &[("a", 0, "A\n"), ("b", 0, "B\n")],
            &["*** Move File: b -> c\n*** Move File: a -> b\n"],
            "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n\
             diff --git a/b b/c\nsimilarity index 100%\nrename from b\nrename to c\n",
        ),
        (
            "there and back",
            &[("a", 0, "A\n")],
            &["*** Move File: a -> b\n", "*** Move File: b -> a\n"],
            "",
        ),
        (
            "a file moves over another",
            &[("a", 0, "A\n"), ("b", 0, "B\n")],
            &["*** Move File: a -> b\n"],
            "diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n\
             -B\n\
             diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n",
        ),
        (
            "a new file where one moved away",
            &[("a", 0, "A\n")],
            &["*** Move File: a -> b\n", "*** Add File: a\n+new\n"],
            "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n\
             +new\n\
             diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n",
        ),
        (
            "deleted and made anew",
            &[("a", 0o100, "A\n")],
            &["*** Delete File: a\n", "*** Add File: a\n+B\n"],
            "diff --git a/a b/a\nold mode 100755\nnew mode 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n\
             -A\n+B\n",
        ),
        (
            "a link goes",
            &[("l", 0o120_000, "a")],
            &["*** Delete File: l\n"],
            "diff --git a/l b/l\ndeleted file mode 120000\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n\
             -a\n\
             \\ No newline at end of file\n",
        ),
        (
            "a file takes the place of a link",
            &[("l", 0o120_000, "a")],
            &["*** Delete File: l\n", "*** Add File: l\n+a\n"],
            "diff --git a/l b/l\ndeleted file mode 120000\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n\
             -a\n\
             \\ No newline at end of file\n\
             diff --git a/l b/l\nnew file mode 100644\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+a\n",
        ),
    ] {
        let mut turn = Turn::new(before);
        for patch in patches {
            turn.apply(patch).unwrap_or_else(|failed| panic!("{name}: {failed}"));
        }
        assert_eq!(turn.text(), wanted, "{name}");
        turn.check(name);
    }
}

#[test]
fn a_failed_patch_ends_nothing_and_an_undone_turn_is_empty() {
    let mut turn = Turn::new(&[("a", 0, "A\n"), ("b", 0o100, "B\n")]);
    assert!(turn.apply("*** Update File: a\n*** Move to: c\n@@\n-A\n+C\n").is_ok());
    assert!(turn.apply("*** Update File: b\n@@\n-nothing like it\n+x\n").is_err());
    assert!(turn.apply("*** Delete File: b\n").is_ok());
    turn.check("after a failure");
    assert!(turn.text().contains("rename from a\nrename to c\n"), "{}", turn.text());
    turn.undo();
    turn.undo();
    assert_eq!(turn.text(), "");
}

#[test]
fn a_binary_file_is_named() {
    let mut turn = Turn::new(&[("a.bin", 0, "\0\n"), ("b.bin", 0, "\0\n")]);
    assert!(turn.apply("*** Delete File: a.bin\n*** Move File: b.bin -> c.bin\n").is_ok());
    assert_eq!(
        turn.text(),
        "diff --git a/a.bin b/a.bin\ndeleted file mode 100644\nBinary files a/a.bin and /dev/null \
         differ\n\
         diff --git a/b.bin b/c.bin\nsimilarity index 100%\nrename from b.bin\nrename to c.bin\n"
    );
}

const NAMES: [&str; 8] = ["a", "b", "d/c", "d/e", "two words", "d/\"quoted\" \u{e9}", "x/y/z", "f"];

/// What a section does: of what kind it is, to which file, where that goes, a number for new text,
/// how many lines.
type Section = (u8, Index, Index, u32, usize);

/// Writes a section for the files that are there.
fn section((kind, file, other, fresh, count): &Section, there: &mut Snapshot) -> String {
    let free: Vec<&str> = NAMES.into_iter().filter(|name| !there.contains_key(*name)).collect();
    let name = there.keys().nth(file.index(there.len().max(1))).cloned();
    match (kind, name, free.first()) {
        (0, _, Some(_)) => {
            let path = *other.get(&free);
            let lines: Vec<String> = (0..*count).map(|line| format!("{line} {fresh}")).collect();
            there.insert(
                path.to_owned(),
                (0, lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()),
            );
            format!("*** Add File: {path}\n")
                + &lines.iter().map(|line| format!("+{line}\n")).collect::<String>()
        }
        (1, Some(path), _) => {
            there.remove(&path);
            format!("*** Delete File: {path}\n")
        }
        (kind, Some(path), Some(_)) if *kind < 4 => {
            let to = *other.get(&free);
            let file = there.remove(&path).unwrap();
            there.insert(to.to_owned(), file);
            format!("*** Move File: {path} -> {to}\n")
        }
        (_, Some(path), _) => {
            let (_, bytes) = there.get_mut(&path).unwrap();
            let text = String::from_utf8(bytes.clone()).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            if lines.is_empty() {
                return String::new();
            }
            let at = other.index(lines.len());
            let mut out = format!("*** Update File: {path}\n@@\n");
            let mut after = String::new();
            for (index, line) in lines.iter().enumerate() {
                if index == at {
                    out += &format!("-{line}\n+new {fresh}\n");
                    after += &format!("new {fresh}\n");
                } else {
                    out += &format!(" {line}\n");
                    after += &format!("{line}\n");
                }
            }
            *bytes = after.into_bytes();
            out
        }
        _ => String::new(),
    }
}

#[cfg_attr(windows, ignore = "it compares with git, which is not in Wine")]
#[test]
fn git_gives_the_same_tree_after_any_patches() {
    let (compared, renames) = (Cell::new(0), Cell::new(0));
    let section_kind = (0..6_u8, any::<Index>(), any::<Index>(), 0..1000_u32, 0..5_usize);
    // A patch, or the last one is undone.
    let acts = vec((weighted(0.2), vec(section_kind, 1..=3)), 6);
    holds(40, &acts, |acts| {
        let mut turn = Turn::new(&[
            ("a", 0, "1\n2\n3\n"),
            ("b", 0o100, "x\n"),
            ("d/c", 0, "no end"),
            ("two words", 0, "w\r\nv\r\n"),
        ]);
        let mut trail = String::new();
        let mut transactions = 0;
        for (undo, sections) in &acts {
            if *undo && transactions > 0 {
                turn.undo();
                transactions -= 1;
                trail += "undo\n";
            } else {
                let mut there = files(turn.dir.path());
                let patch: String = sections.iter().map(|act| section(act, &mut there)).collect();
                if patch.is_empty() {
                    continue;
                }
                trail += &patch;
                // A path that moves away and is needed again, say: refused, and nothing changed.
                transactions += turn.apply(&patch).unwrap_or(0);
            }
            turn.check(&trail);
            compared.set(compared.get() + usize::from(!turn.text().is_empty()));
            renames.set(renames.get() + turn.text().matches("rename from").count());
        }
    });
    let (compared, renames) = (compared.get(), renames.get());
    assert!(compared > 150, "few cases: {compared} diffs, {renames} renames");
    assert!(renames > 100, "few cases: {compared} diffs, {renames} renames");
}

/// A step of a history: a patch of the turn that is looked at, a patch of someone else, a file that
/// an editor wrote, or an undo of the last transaction.
enum Did {
    Ours(&'static str),
    Theirs(&'static str),
    Wrote(&'static str, &'static str),
    Deleted(&'static str),
    Undid,
}

/// The net diff of our transactions among others, and the changes between them: the path, and
/// whether it is left out.
fn net(before: &[(&str, u32, &str)], steps: &[Did]) -> (String, Vec<(String, bool)>) {
    let mut turn = Turn::new(before);
    let mut ours = Vec::new();
    for step in steps {
        match step {
            Did::Ours(body) => {
                turn.apply(body).expect("it applies");
                ours.push(turn.workspace.log().expect("a log")[0].journal.header.id);
            }
            Did::Theirs(body) => {
                turn.apply(body).expect("it applies");
            }
            Did::Wrote(path, text) => std::fs::write(turn.dir.path().join(path), text).unwrap(),
            Did::Deleted(path) => std::fs::remove_file(turn.dir.path().join(path)).unwrap(),
            Did::Undid => turn.undo(),
        }
    }
    let mut log = turn.workspace.log().expect("a log");
    log.retain(|entry| ours.contains(&entry.journal.header.id));
    let store = turn.workspace.store().expect("a store");
    let diff = HistoryDiffs::new(&turn.workspace, store.as_ref()).net(&log).expect("a diff");
    let between = diff.between().iter().map(|one| (one.path.clone(), one.left_out)).collect();
    (String::from_utf8(diff.diff()).expect("UTF-8"), between)
}

#[test]
fn a_net_diff_leaves_out_the_changes_of_others() {
    const ONE: Did = Did::Ours("*** Update File: a\n@@\n-1\n+one\n");
    const FIVE: Did = Did::Ours("*** Update File: a\n@@\n-5\n+five\n");
    const THEIRS: Did = Did::Theirs("*** Update File: a\n@@\n-3\n+three\n");
    let file = [("a", 0, "1\n2\n3\n4\n5\n")];
    let both = "@@ -1,5 +1,5 @@\n-1\n+one\n 2\n three\n 4\n-5\n+five\n";
    let left_out = vec![("a".to_owned(), true)];
    let mixed = vec![("a".to_owned(), false)];
    for (name, steps, wanted, between) in [
        ("another patch", &[ONE, THEIRS, FIVE][..], both, left_out.clone()),
        (
            "an editor",
            &[ONE, Did::Wrote("a", "one\n2\nthree\n4\n5\n"), FIVE],
            both,
            left_out.clone(),
        ),
        ("others alone are not in it", &[THEIRS, ONE, FIVE], both, vec![]),
        (
            "others took our change back",
            &[ONE, Did::Wrote("a", "1\n2\n3\n4\n5\n"), FIVE],
            "@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five\n",
            left_out.clone(),
        ),
        (
            "others changed the same line",
            &[ONE, Did::Wrote("a", "ONE\n2\n3\n4\n5\n"), FIVE],
            "@@ -1,5 +1,5 @@\n-1\n+ONE\n 2\n 3\n 4\n-5\n+five\n",
            mixed.clone(),
        ),
        (
            "ours is undone",
            &[ONE, FIVE, Did::Undid],
            "@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n",
            vec![],
        ),
        (
            "a new file of ours that others removed",
            &[
                Did::Ours("*** Add File: n\n+n\n"),
                Did::Deleted("n"),
                Did::Ours("*** Add File: n\n+m\n"),
            ],
            "@@ -0,0 +1 @@\n+m\n",
            vec![("n".to_owned(), true)],
        ),
        (
            "a new file of ours that others changed",
            &[
                Did::Ours("*** Add File: n\n+1\n"),
                Did::Wrote("n", "1\n2\n"),
                Did::Ours("*** Update File: n\n@@\n-1\n+one\n"),
            ],
            "@@ -0,0 +1,2 @@\n+one\n+2\n",
            vec![("n".to_owned(), false)],
        ),
        (
            "a file that we deleted and others made again",
            &[
                Did::Ours("*** Delete File: a\n"),
                Did::Wrote("a", "new\n"),
                Did::Ours("*** Update File: a\n@@\n-new\n+old\n"),
            ],
            "@@ -1,5 +1 @@\n-1\n-2\n-3\n-4\n-5\n+old\n",
            mixed.clone(),
        ),
    ] {
        let (diff, found) = net(&file, steps);
        let hunks = diff.find("@@").map_or("", |at| &diff[at..]);
        assert_eq!(hunks, wanted, "{name}: {diff}");
        assert_eq!(found, between, "{name}");
    }
}
