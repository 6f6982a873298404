//! The laws of a review, over random histories: reverting nothing changes nothing; reverting all
//! equals undo, where undo is possible; reverting some leaves every byte that belongs to none of
//! them.

#![allow(clippy::disallowed_methods, reason = "tests look at files behind the guard's back")]
#![allow(clippy::print_stderr, reason = "a test that counts says what")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use patch_engine::commit::{Durability, Error, Workspace};
use patch_engine::{Cancellation, Files, Options, Plan, PlanBuilder};
use patch_review::{Choices, HunkKind, HunkState, Review};
use patch_session::audit::{Audit, Operation};
use patch_session::{Session, SessionName, SessionSettings, Span};
use proptest::prelude::*;

/// A step of a history.
#[derive(Debug, Clone)]
enum Step {
    /// Lines of a file become others.
    Edit {
        file: usize,
        line: usize,
        count: usize,
        text: Vec<u8>,
    },
    Create {
        file: usize,
    },
    Delete {
        file: usize,
    },
    Move {
        from: usize,
        to: usize,
    },
    /// The last transaction of the agent is undone.
    Undo,
}

/// Who does a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Agent,
    Other,
    /// Somebody who edits files by hand.
    Hand,
}

const FILES: [&str; 4] = ["a.txt", "b.txt", "new/c.txt", "new/deep/d.txt"];

fn step() -> impl Strategy<Value = (Who, Step)> {
    let who = prop_oneof![3 => Just(Who::Agent), 1 => Just(Who::Other), 1 => Just(Who::Hand)];
    let file = 0..FILES.len();
    let text = proptest::collection::vec(0_u8..12, 0..3);
    let edit = (file.clone(), 0_usize..14, 0_usize..3, text)
        .prop_map(|(file, line, count, text)| Step::Edit { file, line, count, text });
    let step = prop_oneof![
        8 => edit,
        1 => file.clone().prop_map(|file| Step::Create { file }),
        1 => file.clone().prop_map(|file| Step::Delete { file }),
        1 => (file.clone(), file).prop_map(|(from, to)| Step::Move { from, to }),
        1 => Just(Step::Undo),
    ];
    (who, step)
}

fn session(dir: &Path, name: &str) -> Session {
    let workspace = Workspace::open(dir, patch_engine::policy()).expect("a workspace");
    let name = name.parse::<SessionName>().expect("a name");
    let settings = SessionSettings { durability: Durability::None, ..SessionSettings::default() };
    Session::new(workspace.for_a_person(), Audit::new(name, None), settings)
}

/// Returns the lines of a file after an edit; `None` where nothing changes.
fn edited(old: &str, line: usize, count: usize, text: &[u8]) -> Option<String> {
    let mut lines: Vec<&str> = old.split_inclusive('\n').collect();
    let at = line.min(lines.len());
    let end = (at + count).min(lines.len());
    let new: Vec<String> = text.iter().map(|word| format!("w{word}\n")).collect();
    lines.splice(at..end, new.iter().map(String::as_str));
    let new = lines.concat();
    (new != old).then_some(new)
}

/// Does a step as a transaction; a step that does not fit is left out.
fn act(session: &Session, step: &Step) {
    let mut plan = |files: &Files| {
        let options = Options { create_parents: true, ..Options::default() };
        if matches!(step, Step::Undo) {
            let newest = session.workspace().newest(1)?;
            let own = newest.iter().find(|entry| {
                entry.journal.header.session.as_deref() == Some(session.name().as_str())
            });
            let id = own.map(|entry| entry.journal.header.id);
            let id = id.ok_or(Error::Declined)?;
            return session.plan_undo(Some(id), &[], false, false, &Cancellation::NEVER);
        }
        let mut builder = PlanBuilder::new(files.clone(), &options);
        match step {
            Step::Edit { file, line, count, text } => {
                let path = FILES[*file];
                if let Some(loaded) = builder.load(path).map_err(patch_engine::Rejects::from)? {
                    let old = String::from_utf8_lossy(&loaded.bytes).into_owned();
                    if let Some(new) = edited(&old, *line, *count, text) {
                        let mut splices = patch_engine::Splices::new();
                        splices.push(0..old.len(), new.into_bytes());
                        builder.update(path, splices).map_err(patch_engine::Rejects::from)?;
                    }
                }
            }
            Step::Create { file } => builder
                .create(FILES[*file], b"n1\nn2\nn3\n".to_vec())
                .map_err(patch_engine::Rejects::from)?,
            Step::Delete { file } => {
                builder.remove(FILES[*file]).map_err(patch_engine::Rejects::from)?;
            }
            Step::Move { from, to } => {
                builder.rename(FILES[*from], FILES[*to]).map_err(patch_engine::Rejects::from)?;
            }
            Step::Undo => {}
        }
        Ok::<_, Error>(builder.finish()?)
    };
    let _ = session.execute("apply_patch", Operation::Write, &mut (), &mut plan);
}

/// Does a step by hand.
fn by_hand(dir: &Path, step: &Step) {
    if let Step::Edit { file, line, count, text } = step {
        let path = dir.join(FILES[*file]);
        let Ok(old) = fs::read_to_string(&path) else { return };
        if let Some(new) = edited(&old, *line, *count, text) {
            fs::write(path, new).expect("the file is written");
        }
    }
}

/// Reads all files and directories beneath one, without the state.
fn tree(dir: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(below) = dirs.pop() {
        for entry in fs::read_dir(below).expect("a directory") {
            let path = entry.expect("an entry").path();
            let name =
                path.strip_prefix(dir).expect("beneath").to_string_lossy().replace('\\', "/");
            if name.starts_with(".apply-patch") {
                continue;
            }
            let is_dir = path.is_dir();
            found.insert(name, (!is_dir).then(|| fs::read(&path).expect("a file")));
            if is_dir {
                dirs.push(path);
            }
        }
    }
    found
}

fn begin(dir: &Path) {
    let text: String = (0..12).map(|n| format!("line {n}\n")).collect();
    fs::write(dir.join("a.txt"), &text).expect("a file");
    fs::write(dir.join("b.txt"), text.replace("line", "b")).expect("a file");
}

fn run(history: &[(Who, Step)], pick: u64) -> Result<Counts, TestCaseError> {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    begin(dir);
    let (agent, other) = (session(dir, "agent"), session(dir, "other"));
    for (who, step) in history {
        match who {
            Who::Agent => act(&agent, step),
            Who::Other => act(&other, step),
            Who::Hand => by_hand(dir, step),
        }
    }
    let mut counts = Counts::default();
    let span = Span::Session("agent".into());
    let entries = span.entries(agent.workspace()).expect("a history");
    let review = Review::new(&agent, &entries).expect("a review");
    let before = tree(dir);
    let root = agent.workspace().root();

    // Nothing.
    let plan = review.plan(root, &Choices::default()).expect("a plan of nothing");
    prop_assert!(plan.is_empty());
    prop_assert_eq!(&tree(dir), &before);

    // Ids are unique.
    let mut ids: Vec<&str> = review.hunks().map(|hunk| &*hunk.id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    prop_assert_eq!(ids.len(), count);
    counts.hunks = count;

    // Some: what lies outside the chosen hunks stays, byte for byte.
    let standing: Vec<_> = review.standing().collect();
    let some: Vec<&str> = standing
        .iter()
        .enumerate()
        .filter(|(nth, _)| pick >> (nth % 64) & 1 == 1)
        .map(|(_, hunk)| &*hunk.id)
        .collect();
    for file in &review.files {
        let lines = file.hunks.iter().filter(|hunk| hunk.kind == HunkKind::Lines);
        let ids: Vec<&str> = lines.map(|hunk| &*hunk.id).filter(|id| some.contains(id)).collect();
        if ids.is_empty() {
            continue;
        }
        let plan = review.plan(root, &Choices::revert(ids.iter().copied())).expect("a plan");
        prop_assert_eq!(plan.changes().len(), 1);
        let change = &plan.changes()[0];
        let name = change.path.to_string();
        let old = before[&name].clone().expect("a file");
        let new = plan.images().new_bytes(change).expect("its bytes");
        let mut rest = &new[..];
        let mut at = 0;
        for hunk in file.hunks.iter().filter(|hunk| ids.contains(&&*hunk.id)) {
            let kept = &old[at..hunk.at.start];
            prop_assert!(rest.starts_with(kept), "before {}", hunk.id);
            rest = &rest[kept.len()..];
            at = hunk.at.end;
            // What the hunk's own diff shows as the old lines.
            let shown: Vec<u8> = shown(&hunk.diff, b'-');
            prop_assert!(rest.starts_with(&shown), "{}", String::from_utf8_lossy(&hunk.diff));
            rest = &rest[shown.len()..];
        }
        prop_assert_eq!(rest, &old[at..]);
        counts.sets += 1;
    }

    // All, where undo is possible.
    let all = Choices::revert(standing.iter().map(|hunk| &*hunk.id));
    let reverted = review.plan(root, &all);
    let undo = agent.plan_undo_span(&span, true, &Cancellation::NEVER);
    if undo.is_ok() {
        let is_whole = review
            .hunks()
            .all(|hunk| matches!(hunk.state, HunkState::Standing | HunkState::Reverted));
        if is_whole {
            let person = session(dir, "person");
            let plan = reverted.map_err(|error| TestCaseError::fail(error.to_string()))?;
            let has_changes = !plan.transitions().is_empty();
            commit(&person, |files| review.plan(files, &all));
            let by_review = tree(dir);
            if has_changes {
                commit(&person, |_| {
                    person.plan_undo(None, &[], false, false, &Cancellation::NEVER)
                });
                prop_assert_eq!(&tree(dir), &before);
            }
            commit(&agent, |_| agent.plan_undo_span(&span, true, &Cancellation::NEVER));
            let mut by_undo = tree(dir);
            // Without a hunk, a review leaves the directories alone.
            if standing.is_empty() {
                by_undo.extend(
                    by_review
                        .iter()
                        .filter(|(_, file)| file.is_none())
                        .map(|(dir, _)| (dir.clone(), None)),
                );
            }
            // An undo brings a deleted file back as it was before all; a review with what others
            // changed in it before it was deleted.
            if !review.net.changed_between.is_empty() {
                for hunk in standing.iter().filter(|hunk| hunk.kind == HunkKind::Delete) {
                    let file = review.files.iter().find(|file| file.hunks.contains(hunk));
                    let path = &file.expect("its file").path;
                    by_undo.insert(path.clone(), by_review[path].clone());
                }
            }
            prop_assert_eq!(by_review, by_undo);
            counts.undone += 1;
        } else {
            counts.partly += 1;
        }
    }
    Ok(counts)
}

/// Carries out a plan.
fn commit(session: &Session, mut plan: impl FnMut(&Files) -> Result<Plan, Error>) {
    session.execute("review", Operation::Write, &mut (), &mut plan).expect("a commit");
}

/// Returns the lines of one side of a hunk.
fn shown(diff: &[u8], sign: u8) -> Vec<u8> {
    let lines = diff.split_inclusive(|&byte| byte == b'\n').skip(1);
    let mut out = Vec::new();
    let mut ours = false;
    for line in lines {
        if line[0] == b'\\' {
            if ours {
                out.pop();
            }
            continue;
        }
        ours = line[0] == b' ' || line[0] == sign;
        if ours {
            out.extend_from_slice(&line[1..]);
        }
    }
    out
}

#[derive(Debug, Default)]
struct Counts {
    hunks: usize,
    sets: usize,
    undone: usize,
    partly: usize,
}

#[test]
fn a_review_reverts_what_was_chosen_and_nothing_else() {
    let cases = std::env::var("REVIEW_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(96);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let total = std::cell::RefCell::new(Counts::default());
    let histories = (proptest::collection::vec(step(), 1..10), any::<u64>());
    let result = runner.run(&histories, |(history, pick)| {
        let counts = run(&history, pick)?;
        let mut total = total.borrow_mut();
        total.hunks += counts.hunks;
        total.sets += counts.sets;
        total.undone += counts.undone;
        total.partly += counts.partly;
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let total = total.into_inner();
    eprintln!("{total:?}");
    assert!(total.hunks > 50 && total.sets > 20 && total.undone > 20, "{total:?}");
}
