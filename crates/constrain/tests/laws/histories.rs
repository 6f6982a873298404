//! The hunks of real commits: those whose old lines stand once in their file are of the language.
//!
//! `APPLY_PATCH_LONG_TESTS=1 APPLY_PATCH_HISTORIES=DIR:DIR` names git directories.

use std::process::Command;

use patch_constrain::{Binder, Operations};
use patch_engine::Profile;
use testutils::write::{Style, write_hunks};

use super::{accepts, bytes, refusal};

fn git(directory: &str, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("git").arg("--git-dir").arg(directory).args(arguments).output();
    output.expect("git runs").stdout
}

/// The old lines of a hunk.
fn old_lines(hunk: &str) -> Vec<&str> {
    hunk.lines()
        .skip(1)
        .filter(|line| line.starts_with([' ', '-']))
        .map(|line| &line[1..])
        .collect()
}

fn is_unique(file: &str, hunk: &str) -> bool {
    let (lines, old): (Vec<&str>, _) = (file.lines().collect(), old_lines(hunk));
    !old.is_empty() && lines.windows(old.len()).filter(|other| **other == *old).count() == 1
}

/// What became of the hunks.
#[derive(Debug, Default)]
struct Counts {
    taken: usize,
    several: usize,
    elsewhere: usize,
}

/// The hunks of one change of a file.
fn check(before: &str, after: &str, counts: &mut Counts) {
    let style = Style::new(Profile::Codex);
    let Ok(hunks) = write_hunks(before.as_bytes(), after.as_bytes(), &style) else { return };
    let Ok(bound) = Binder::new(Operations::default()).file("f", before).bind() else { return };
    let (bound, vocabulary) = (std::sync::Arc::new(bound), bytes());
    // No line of a hunk begins with `@`.
    let starts = hunks.match_indices("@@").map(|(at, _)| at);
    let mut starts: Vec<usize> =
        starts.filter(|&at| at == 0 || hunks.as_bytes()[at - 1] == b'\n').collect();
    starts.push(hunks.len());
    let all = starts.windows(2).map(|pair| &hunks[pair[0]..pair[1]]);
    let (unique, several): (Vec<&str>, Vec<&str>) = all.partition(|hunk| is_unique(before, hunk));
    counts.several += several.len();
    let patch = format!("*** Begin Patch\n*** Update File: f\n{}*** End Patch\n", unique.concat());
    if unique.is_empty() || refusal(&[("f", before)], &patch).is_some() {
        counts.elsewhere += unique.len();
        return;
    }
    assert!(accepts(&bound, &vocabulary, &patch), "{patch}");
    counts.taken += unique.len();
}

#[test]
fn hunks_of_a_change_are_of_the_language() {
    let mut counts = Counts::default();
    check("a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nD\ne\nf\ng\n", &mut counts);
    assert!(counts.taken > 0 && counts.elsewhere == 0, "{counts:?}");
}

#[test]
#[ignore = "wants git directories of others: APPLY_PATCH_HISTORIES"]
fn hunks_of_real_commits_are_of_the_language() {
    let directories = std::env::var("APPLY_PATCH_HISTORIES").expect("git directories");
    let mut counts = Counts::default();
    for directory in directories.split(':') {
        let log = [
            "log",
            "--no-merges",
            "-n",
            "700",
            "--diff-filter=M",
            "--raw",
            "--no-renames",
            "--no-abbrev",
            "--format=",
        ];
        for line in String::from_utf8_lossy(&git(directory, &log)).lines() {
            let fields: Vec<&str> = line.split([' ', '\t']).collect();
            let [":100644", "100644", old, new, ..] = fields[..] else { continue };
            let blob = |id: &str| String::from_utf8(git(directory, &["cat-file", "blob", id])).ok();
            if let (Some(before), Some(after)) = (blob(old), blob(new)) {
                check(&before, &after, &mut counts);
            }
        }
    }
    assert!(counts.taken > 1_000, "{counts:?}");
    assert!(counts.elsewhere * 100 < counts.taken, "{counts:?}");
}
