//! Random trees and random plans: undo gives the one tree, redo the other.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use testutils::posix::PermissionsExt as _;

use patch_engine::commit::{CommitOptions, Durability, Workspace};
use proptest::collection::vec;
use proptest::option;
use proptest::sample::select;

use super::support::*;
use testutils::holds::holds;
use testutils::share::stride;

const NAMES: [&str; 12] =
    ["a", "b", "d/a", "d/b", "d/e/a", "d/e/f", "g/h/i", "g/h/j", "g/k", "l", "m/n", "m/o/p"];

#[test]
fn undo_gives_the_tree_before_and_redo_the_tree_after() {
    let name = || select(&NAMES[..]);
    let modes = option::of(select(&[0o644, 0o600, 0o755, 0o640][..]));
    // What is done to a path, and where it goes if it moves.
    let rounds = vec(vec((name(), 0..4, name()), 1..=5), 3);
    let moved = Cell::new(0);
    holds(
        120 / u32::try_from(stride()).unwrap(),
        &(vec(modes, NAMES.len()), rounds),
        |(modes, rounds)| {
            let mut present = BTreeSet::new();
            let tree = Tree::new(&[]);
            for (name, mode) in NAMES.iter().zip(modes) {
                let Some(mode) = mode else { continue };
                tree.write(name, &format!("{name} at first"));
                fs::set_permissions(tree.path(name), fs::Permissions::from_mode(mode)).unwrap();
                present.insert(*name);
            }
            let mut before = vec![tree.snapshot()];
            for (round, acts) in rounds.iter().enumerate() {
                let text = format!("round {round}");
                let mut touched = BTreeSet::new();
                let mut steps = Vec::new();
                for &(name, act, to) in acts {
                    if !touched.insert(name) {
                        continue;
                    }
                    let here = present.contains(name);
                    match act {
                        0 if here => steps.push(Update(name, &text)),
                        1 if here => steps.push(Append(name, &text)),
                        2 if here => {
                            steps.push(Delete(name));
                            present.remove(name);
                        }
                        _ if here => {
                            if !present.contains(to) && touched.insert(to) {
                                steps.push(Move(name, to));
                                present.remove(name);
                                present.insert(to);
                                moved.set(moved.get() + 1);
                            }
                        }
                        _ => {
                            steps.push(Add(name, &text));
                            present.insert(name);
                        }
                    }
                }
                if !steps.is_empty() {
                    tree.commit(&steps).unwrap_or_else(|error| panic!("{error}"));
                    before.push(tree.snapshot());
                }
            }
            let step = |undo: bool| {
                let plan = |workspace: &Workspace| {
                    if undo { workspace.plan_undo_last() } else { workspace.plan_redo(None) }
                };
                execute(&tree.open(), plan).unwrap_or_else(|error| panic!("{error}"));
            };
            for expected in before.iter().rev().skip(1) {
                step(true);
                assert_eq!(&tree.snapshot(), expected);
            }
            for expected in before.iter().skip(1) {
                step(false);
                assert_eq!(&tree.snapshot(), expected);
            }
        },
    );
    assert!(moved.get() > 30 / stride(), "only {} moves", moved.get());
}

/// More directories than a process may have open files.
#[cfg_attr(windows, ignore = "thousands of directories take minutes in Wine")]
#[test]
fn thousands_of_directories_need_no_thousand_handles() {
    let names: Vec<String> = (0..1500).map(|n| format!("dir{n}/f")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "old")).collect();
    let tree = Tree::new(&files);
    tree.lawless();
    let workspace = tree.open();
    for durability in [Durability::Process, Durability::Full] {
        let steps: Vec<Step<'_>> = names.iter().map(|name| Append(name, ".")).collect();
        let locked = lock(&workspace);
        let plan = plan(&workspace, &steps);
        let options = CommitOptions { durability, ..CommitOptions::default() };
        locked.commit(&plan, &options, &mut (), &mut ()).unwrap();
    }
    assert!(names.iter().all(|name| tree.read(name) == "old.."));
}
