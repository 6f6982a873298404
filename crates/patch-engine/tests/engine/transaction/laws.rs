//! Random trees and random plans: undo gives the one tree, redo the other.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use patch_engine::transaction::{CommitOptions, Durability, Workspace};

use super::support::*;

const NAMES: [&str; 12] = ["a", "b", "d/a", "d/b", "d/e/a", "d/e/f", "g/h/i", "g/h/j", "g/k", "l", "m/n", "m/o/p"];

#[test]
fn undo_gives_the_tree_before_and_redo_the_tree_after() {
    for seed in 1..=120_u64 {
        let mut random = Random::new(seed);
        let mut present = BTreeSet::new();
        let tree = Tree::new(&[]);
        for name in NAMES {
            if random.below(2) == 0 {
                tree.write(name, &format!("{name} at first"));
                let mode = *random.pick(&[0o644, 0o600, 0o755, 0o640]);
                fs::set_permissions(tree.path(name), fs::Permissions::from_mode(mode)).unwrap();
                present.insert(name);
            }
        }
        let mut before = vec![tree.snapshot()];
        for round in 0..3 {
            let text = format!("round {round}");
            let mut touched = BTreeSet::new();
            let mut steps = Vec::new();
            for _ in 0..=random.below(5) {
                let name = *random.pick(&NAMES);
                if !touched.insert(name) {
                    continue;
                }
                let here = present.contains(name);
                match random.below(4) {
                    0 if here => steps.push(Update(name, &text)),
                    1 if here => steps.push(Append(name, &text)),
                    2 if here => {
                        steps.push(Delete(name));
                        present.remove(name);
                    }
                    _ if here => {
                        let to = *random.pick(&NAMES);
                        if !present.contains(to) && touched.insert(to) {
                            steps.push(Move(name, to));
                            present.remove(name);
                            present.insert(to);
                        }
                    }
                    _ => {
                        steps.push(Add(name, &text));
                        present.insert(name);
                    }
                }
            }
            if !steps.is_empty() {
                tree.commit(&steps).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                before.push(tree.snapshot());
            }
        }
        let step = |undo: bool| {
            let plan = |workspace: &Workspace| match undo {
                true => workspace.plan_undo_last(),
                false => workspace.plan_redo(None),
            };
            execute(&tree.open(), plan).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        };
        for expected in before.iter().rev().skip(1) {
            step(true);
            assert_eq!(&tree.snapshot(), expected, "seed {seed}");
        }
        for expected in before.iter().skip(1) {
            step(false);
            assert_eq!(&tree.snapshot(), expected, "seed {seed}");
        }
    }
}

/// More directories than a process may have open files.
#[test]
fn thousands_of_directories_need_no_thousand_handles() {
    let names: Vec<String> = (0..1500).map(|n| format!("dir{n}/f")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "old")).collect();
    let tree = Tree::new(&files);
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
