//! Replays the history of this repository: every commit is written as a patch, in both dialects,
//! applied to its parent, and compared with the commit byte for byte. Without
//! `APPLY_PATCH_LONG_TESTS` each eightieth one is.
//!
//! `cargo run --release -p apply-patch --example replay -- DIR…` does the same with other
//! histories.

mod bare;
mod history;
mod merges;
mod outcome;
mod reindented;
mod stale;

use std::path::Path;

use patch_engine::Profile;
use testutils::write::Style;

use merges::Counts;
use outcome::{Outcome, Tally};
use testutils::share::{every, whole};
use testutils::temp::temp;

#[test]
fn every_commit_of_this_repository_applies_or_is_refused() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !repository.join(".git").exists() {
        testutils::skip!("this is not a git repository");
        return;
    }
    let dir = temp();
    for dialect in [Profile::Strict, Profile::Codex] {
        let style = Style::new(dialect);
        let (mut tally, mut diffs) = (Tally::default(), Tally::default());
        let read = history::read(&repository, &is_tried, &mut |commit| {
            let outcome = outcome::on_disk(&commit, &style, dir.path());
            let memory = outcome::in_memory(&commit, &style);
            assert!(
                outcome != Outcome::Right || memory == Outcome::Right,
                "{}: right on disk, {memory:?} in memory",
                commit.name
            );
            tally.count(&commit.name, &outcome);
            // The same as git tells it.
            let diff = history::diff(&repository, &commit).expect("git runs");
            if let Some(diff) = diff.filter(|diff| !diff.is_empty()) {
                diffs.count(
                    &commit.name,
                    &outcome::diff_on_disk(&commit, &diff, dialect, dir.path()),
                );
            }
        });
        if let Err(error) = read {
            testutils::skip!("{error}");
            return;
        }
        eprintln!("{dialect}: {tally}; from git: {diffs}");
        for tally in [tally, diffs] {
            assert!(tally.wrong.is_empty(), "{tally:#?}");
            assert!(tally.partial.is_empty(), "{tally:#?}");
        }
    }
}

/// Of how many commits one is tried.
const OF_COMMITS: usize = 80;

fn is_tried(commit: usize) -> bool {
    // The first has all files that there were.
    commit % every(OF_COMMITS) == every(OF_COMMITS) - 1
}

/// What one side of a merge changed is a patch, what the other side has is the file, and what both
/// began with is the base.
#[test]
fn what_is_carried_is_what_people_or_git_made_of_it() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !repository.join(".git").exists() {
        testutils::skip!("this is not a git repository");
        return;
    }
    let dir = temp();
    let mut ways = merges::WAYS.map(|_| Counts::default());
    let read = history::merges(&repository, &mut |file| {
        for (counts, fared) in ways.iter_mut().zip(merges::fared(&file, dir.path())) {
            counts.count(&file.name, fared);
        }
    });
    if let Err(error) = read {
        testutils::skip!("{error}");
        return;
    }
    for (way, counts) in merges::WAYS.iter().zip(&ways) {
        eprintln!("{way}: {counts}");
    }
    for carried in &ways[..2] {
        assert!(carried.wrong.is_empty(), "{carried:#?}");
    }
}

/// A formatter changes what was read before the patch comes: the patch is applied as its lines say,
/// or is in conflict.
#[test]
fn what_a_formatter_made_stale_is_carried_or_in_conflict() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !repository.join(".git").exists() {
        testutils::skip!("this is not a git repository");
        return;
    }
    let dir = temp();
    for (nth, how) in stale::Formatter::ALL.into_iter().enumerate() {
        let mut ways = stale::WAYS.map(|_| Counts::default());
        // A few for each formatter, unless all shall be tried.
        let is_tried = |commit: usize| whole() || commit % 432 == nth * 4 + 3;
        let read = history::read(&repository, &is_tried, &mut |commit| {
            for (path, before, after) in commit.updates() {
                for (counts, fared) in ways
                    .iter_mut()
                    .zip(stale::fared(before, after, how, dir.path()).into_iter().flatten())
                {
                    counts.count(&format!("{} {path}", commit.name), fared);
                }
            }
        });
        if let Err(error) = read {
            testutils::skip!("{error}");
            return;
        }
        eprintln!("{how:?}");
        for (way, counts) in stale::WAYS.iter().zip(&ways) {
            eprintln!("  {way}: {counts}");
        }
        for carried in &ways[..2] {
            assert!(carried.wrong.is_empty(), "{how:?}: {carried:#?}");
        }
        assert!(ways[0].right > 0, "{how:?}");
    }
}

/// A file is written with another unit of indentation: each hunk makes of it what it made of the
/// file as it was, or is refused.
#[test]
fn what_is_patched_in_another_unit_is_the_same_or_refused() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !repository.join(".git").exists() {
        testutils::skip!("this is not a git repository");
        return;
    }
    let mut counts = reindented::Counts::default();
    let read = history::read(&repository, &is_tried, &mut |commit| {
        for (path, before, after) in commit.updates() {
            let name = format!("{} {path}", commit.name);
            reindented::count(&name, before, after, 3, &mut counts);
        }
    });
    if let Err(error) = read {
        testutils::skip!("{error}");
        return;
    }
    eprintln!("in another unit: {counts}");
    assert!(counts.wrong.is_empty(), "{counts:#?}");
    assert!(counts.equal > counts.refused, "{counts}");
}

/// Without a checkout: git's diff of each commit, over the tree of its parent, gives the very tree
/// of the commit.
#[test]
fn commits_are_made_again_in_the_object_database() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !repository.join(".git").exists() {
        testutils::skip!("this is not a git repository");
        return;
    }
    let dir = temp();
    let bare::Replayed { tally, fsck, .. } =
        match bare::replay(&repository, every(OF_COMMITS), dir.path()) {
            Ok(replayed) => replayed,
            Err(error) => return testutils::skip!("{error}"),
        };
    eprintln!("in the object database: {tally}");
    assert!(tally.wrong.is_empty(), "{tally:#?}");
    assert!(tally.refused.is_empty(), "{tally:#?}");
    assert_eq!(fsck, "");
}
