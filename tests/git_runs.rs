//! Several patches that become commits together: what comes of them is what comes of each alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use patch_engine::commit::Durability;
use patch_engine::{Event, Host, Options, Patch, Profile};
use patch_git::{GitReport, GitRequest, GitSession};
use patch_session::SessionSettings;
use patch_session::ToolError;
use patch_session::audit::Audit;
use serde_json::{Value, json};

use crate::git::{Bench, git, logged, traced};
use testutils::share::whole;

/// The repository that each case starts from; its branches have logs.
fn bench() -> Bench {
    let files = [("a", "one\ntwo\nthree\n"), ("b", "b\n"), ("d/c", "c\n")];
    let bench = Bench::new(&files);
    for (name, value) in
        [("user.name", "A"), ("user.email", "a@example.com"), ("core.logAllRefUpdates", "always")]
    {
        git(&bench.bare(), &["config", name, value]);
    }
    git(&bench.bare(), &["tag", "v1"]);
    git(&bench.bare(), &["branch", "other"]);
    bench
}

fn update(path: &str, from: &str, to: &str) -> String {
    format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{from}\n+{to}\n*** End Patch\n")
}

fn add(path: &str) -> String {
    format!("*** Begin Patch\n*** Add File: {path}\n+{path}\n*** End Patch\n")
}

/// A patch and where it goes.
struct Case {
    patch: String,
    onto: String,
    branch: Option<&'static str>,
    carry: bool,
}

fn case(patch: String, onto: &str, branch: Option<&'static str>, carry: bool) -> Case {
    Case { patch, onto: onto.into(), branch, carry }
}

impl Case {
    fn parsed(&self) -> (Patch, GitRequest) {
        let request = GitRequest {
            onto: self.onto.clone(),
            branch: self.branch.map(Into::into),
            carry: self.carry,
            ..GitRequest::default()
        };
        let patch = patch_engine::parse(&self.patch, &options().parse).expect("a patch");
        (patch, request)
    }
}

fn options() -> Options {
    Options::new(Profile::Codex)
}

fn open(bare: &Path) -> GitSession {
    let settings =
        SessionSettings { durability: Durability::Process, ..SessionSettings::default() };
    let audit = Audit::new("cli".parse().expect("a name"), None);
    GitSession::open(bare, patch_engine::policy(), audit, settings).expect("a repository")
}

/// What became of a patch: the tree and the branch, or the kind of the error and its reason.
fn outcome(result: &Result<GitReport, ToolError>) -> Value {
    match result {
        Ok(report) => {
            let made = report.commit.is_some();
            json!({ "tree": report.tree.to_string(), "branch": report.branch, "made": made })
        }
        Err(error) => {
            json!({ "error": error.kind.as_str(), "reason": error.details["reason"] })
        }
    }
}

/// The trees of all commits that each branch has: between branches git orders them by time.
fn history(bare: &Path) -> String {
    let branches = git(bare, &["for-each-ref", "--format=%(refname)", "refs/heads"]);
    let of = |branch| {
        let log = git(bare, &["log", "--topo-order", "--format=%T %s", branch]);
        format!("{branch}\n{log}")
    };
    branches.lines().map(of).collect()
}

/// How often `main` has moved.
fn moves(bare: &Path) -> usize {
    git(bare, &["reflog", "show", "--format=%H", "main"]).lines().count()
}

/// How many lines of the log have each phase, and whether they are fine.
fn phases(bench: &Bench) -> Vec<(String, Option<bool>)> {
    let lines = logged(bench).into_iter();
    let mut phases: Vec<_> = lines
        .map(|line| (line["phase"].as_str().unwrap_or_default().to_owned(), line["ok"].as_bool()))
        .collect();
    phases.sort();
    phases
}

#[test]
fn patches_that_are_committed_together_make_what_each_alone_makes() {
    let first = |bench: &Bench| git(&bench.bare(), &["rev-parse", "main"]).trim().to_owned();
    type Cases = fn(&str) -> Vec<Case>;
    let tables: &[(&str, Cases, Option<usize>)] = &[
        (
            "one after the other on a branch",
            |_| {
                vec![
                    case(update("a", "one", "1"), "main", None, false),
                    case(update("a", "two", "2"), "main", None, false),
                    case(add("d/new"), "main", None, false),
                    case(update("d/new", "d/new", "newer"), "main", None, false),
                    case(
                        "*** Begin Patch\n*** Delete File: d/new\n*** End Patch\n".into(),
                        "main",
                        None,
                        false,
                    ),
                ]
            },
            Some(1),
        ),
        (
            "some fail, and one changes nothing",
            |_| {
                vec![
                    case(update("a", "one", "1"), "main", None, false),
                    case(update("a", "one", "1"), "main", None, false),
                    case(update("b", "b", "b"), "main", None, false),
                    case(add("a"), "main", None, false),
                    case(update("a", "two", "2"), "main", None, false),
                    case(update("none", "1", "2"), "nowhere", None, false),
                    case(update("a", "three", "3"), "main", None, false),
                ]
            },
            Some(1),
        ),
        (
            "onto the same commit",
            |first| {
                vec![
                    case(update("a", "one", "1"), first, Some("main"), true),
                    case(update("a", "three", "3"), first, Some("main"), true),
                    // The line is another one by now.
                    case(update("a", "one", "uno"), first, Some("main"), true),
                    case(update("b", "b", "B"), first, Some("main"), false),
                    case(update("b", "b", "B"), first, None, false),
                ]
            },
            Some(1),
        ),
        (
            "branches of their own",
            |_| {
                vec![
                    case(update("a", "one", "1"), "main", Some("fix-1"), false),
                    case(update("a", "one", "uno"), "main", Some("fix-2"), false),
                    case(update("b", "b", "B"), "fix-1", None, false),
                    case(update("b", "b", "B"), "v1", Some("fix-1"), false),
                    case(update("b", "b", "B"), "v1", Some("fix-1"), true),
                    case(update("b", "b", "B"), "v1", Some("fix-3"), true),
                    case(update("b", "b", "BB"), "other", None, false),
                ]
            },
            Some(0),
        ),
        (
            "by other names of a branch that moves",
            |_| {
                vec![
                    case(update("a", "one", "1"), "main", None, false),
                    case(update("a", "two", "2"), "HEAD", Some("main"), false),
                    case(update("a", "three", "3"), "refs/heads/main", Some("main"), false),
                    case(update("b", "b", "B"), "main~1", Some("old"), false),
                    case(update("b", "b", "B"), "@", Some("main"), false),
                    case(update("d/c", "c", "C"), "heads/main", Some("refs/heads/main"), false),
                ]
            },
            None,
        ),
    ];
    for (what, cases, moved) in tables {
        let [alone, together] = [bench(), bench()];
        // Their commits were made at two times, so that they have two names.
        let parsed =
            |bench: &Bench| -> Vec<_> { cases(&first(bench)).iter().map(Case::parsed).collect() };
        let session = open(&alone.bare());
        let each = |(patch, request): &(Patch, GitRequest)| {
            outcome(&session.apply("git", patch, &options(), request, &mut ()))
        };
        let wanted: Vec<Value> = parsed(&alone).iter().map(each).collect();
        let session = open(&together.bare());
        let results = session.apply_all("git", &parsed(&together), &options(), &mut ());
        let got: Vec<Value> = results.iter().map(outcome).collect();
        assert_eq!(got, wanted, "{what}");
        assert_eq!(history(&together.bare()), history(&alone.bare()), "{what}");
        assert_eq!(phases(&together), phases(&alone), "{what}");
        together.is_sound();
        if let Some(moved) = moved {
            assert_eq!(moves(&together.bare()), *moved, "{what}");
        }
        for result in results.iter().flatten() {
            let Some(commit) = &result.commit else { continue };
            git(&together.bare(), &["cat-file", "-e", &commit.to_string()]);
        }
    }
}

/// Moves `main` when something is logged and nothing is published.
struct Overtaking {
    bare: PathBuf,
    /// What has the tree of the new commit.
    tree: &'static str,
    moved: bool,
    told: Vec<&'static str>,
}

fn overtaking(bench: &Bench, tree: &'static str) -> Overtaking {
    Overtaking { bare: bench.bare(), tree, moved: false, told: Vec::new() }
}

impl Host for Overtaking {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Staged(_) if !std::mem::replace(&mut self.moved, true) => {
                let tree = format!("{}^{{tree}}", self.tree);
                let new = git(&self.bare, &["commit-tree", &tree, "-p", "main", "-m", "x"]);
                git(&self.bare, &["update-ref", "refs/heads/main", new.trim()]);
            }
            Event::Committed(_) => self.told.push("committed"),
            Event::Failed { .. } => self.told.push("failed"),
            _ => {}
        }
    }
}

#[test]
fn a_branch_that_others_move_meanwhile_keeps_their_commit() {
    let bench = bench();
    let first = git(&bench.bare(), &["rev-parse", "main"]).trim().to_owned();
    let cases = [
        case(update("a", "one", "1"), "main", None, false),
        // It was made for a commit that the branch is not at any more.
        case(update("a", "two", "2"), &first, Some("main"), false),
        case(update("a", "three", "3"), &first, Some("main"), true),
        case(update("b", "b", "B"), "main", Some("new"), false),
    ];
    let parsed: Vec<_> = cases.iter().map(Case::parsed).collect();
    let mut host = overtaking(&bench, "other");
    let results = open(&bench.bare()).apply_all("git", &parsed, &options(), &mut host);
    let landed: Vec<bool> = results.iter().map(Result::is_ok).collect();
    assert_eq!(landed, [true, false, true, true], "{results:?}");
    assert_eq!(outcome(&results[1])["reason"], "branch_moved");
    let messages = git(&bench.bare(), &["log", "--format=%s", "main"]);
    assert_eq!(messages, "Update a\nUpdate a\nx\nfirst\n");
    assert_eq!(git(&bench.bare(), &["show", "main:a"]), "1\ntwo\n3\n");
    assert_eq!(host.told, ["committed"; 3]);
    bench.is_sound();
    // Each intent has one outcome: the first attempts failed.
    let lines = logged(&bench);
    let of = |phase: &str| lines.iter().filter(|line| line["phase"] == phase).count();
    assert_eq!(of("intent"), of("outcome"), "{lines:#?}");
    let fine = lines.iter().filter(|line| line["phase"] == "outcome" && line["ok"] == true);
    assert_eq!(fine.count(), 3, "{lines:#?}");
}

#[test]
fn a_branch_that_cannot_move_leaves_no_objects_behind() {
    let bench = bench();
    let work = bench.bare().with_file_name("work");
    let patches = [update("a", "one", "1"), update("a", "two", "2")];
    let cases = patches.map(|patch| case(patch, "main", None, false).parsed());
    let before = git(&work, &["count-objects", "-v"]);
    let results = open(&work).apply_all("git", &cases, &options(), &mut ());
    let reasons: Vec<_> = results.iter().map(|result| outcome(result)["reason"].clone()).collect();
    assert_eq!(reasons, ["checked_out"; 2], "it is checked out there");
    assert_eq!(git(&work, &["count-objects", "-v"]), before);
}

#[test]
fn what_failed_because_of_a_commit_that_was_lost_is_tried_again() {
    let bench = bench();
    let theirs = bench.run(&["--onto", "main", "--branch", "theirs"], &update("b", "b", "theirs"));
    assert_eq!(theirs.code, 0, "{theirs:?}");
    let ours =
        update("a", "one", "1").replace("*** End", "*** Update File: b\n@@\n-b\n+B\n*** End");
    let cases = [
        case(update("a", "none", "1"), "main", None, false),
        case(ours, "main", None, false),
        case(update("a", "one", "uno"), "main", None, false),
        case(update("a", "1", "1"), "main", None, false),
        case(update("a", "two", "2"), "main", None, false),
    ];
    let parsed: Vec<_> = cases.iter().map(Case::parsed).collect();
    let mut host = overtaking(&bench, "theirs");
    let results = open(&bench.bare()).apply_all("git", &parsed, &options(), &mut host);
    let landed: Vec<bool> = results.iter().map(Result::is_ok).collect();
    assert_eq!(landed, [false, false, true, false, true], "{results:?}");
    assert_eq!(git(&bench.bare(), &["show", "main:a"]), "uno\n2\nthree\n");
    assert_eq!(git(&bench.bare(), &["show", "main:b"]), "theirs\n");
    let failed = logged(&bench).into_iter().filter(|line| line["phase"] == "failed");
    assert_eq!(failed.count(), 3, "each is told once");
    bench.is_sound();
}

#[test]
fn the_next_run_says_what_became_of_patches_that_were_killed_together() {
    const COUNT: usize = 6;
    let line = |number: usize| {
        let patch = add(&format!("d/{number}"));
        json!({ "onto": "main", "patch": patch }).to_string() + "\n"
    };
    let lines: String = (0..COUNT).map(line).collect();
    let (mut landed, mut lost) = (0, 0);
    for call in ["write", "rename", "renameat2", "link", "linkat", "unlink", "fsync", "mkdir"] {
        for nth in (1..40).step_by(if whole() { 1 } else { 5 }) {
            let bench = bench();
            let inject = format!("inject={call}:signal=KILL:when={nth}");
            let trace = format!("trace={call}");
            let nowhere = Path::new("/dev/null");
            let Some(run) = traced(&bench, &["--batch"], nowhere, &[&trace, &inject], &lines)
            else {
                testutils::skip!("strace is missing or not allowed");
                return;
            };
            if run.code == 0 {
                break;
            }
            // git leaves its lock too, for a person to remove.
            let _ = fs::remove_file(bench.bare().join("refs/heads/main.lock"));
            bench.is_sound();
            let tip = git(&bench.bare(), &["rev-list", "main"]);
            let commits: BTreeSet<&str> = tip.lines().collect();
            let next = bench.run(&["--onto", "main"], &add("next"));
            assert_eq!(next.code, 0, "{next:?}");
            let lines = logged(&bench);
            let context = format!("killed at {call} {nth}: {lines:#?}");
            for intent in lines.iter().filter(|line| line["phase"] == "intent") {
                let mut answers = lines.iter().filter(|line| {
                    line["transactionId"] == intent["transactionId"] && line["phase"] != "intent"
                });
                let answer = answers.next().unwrap_or_else(|| panic!("no answer: {context}"));
                assert!(answers.next().is_none(), "two answers: {context}");
                if intent["path"] == "next" {
                    continue;
                }
                let has_it = commits.contains(intent["commit"].as_str().expect("a commit"));
                assert_eq!(answer["ok"], has_it, "{context}");
                *if has_it { &mut landed } else { &mut lost } += 1;
            }
            // What was answered is there.
            for answer in run.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()) {
                let answer: Value = answer;
                let commit = answer["data"]["commit"].as_str().expect("a commit");
                assert!(commits.contains(commit), "{context}");
            }
        }
    }
    assert!(landed > 0 && lost > 0, "{landed} landed, {lost} are lost");
}
