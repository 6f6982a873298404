//! A model of the history: whatever was done before, undo and redo do what they say, what they
//! advise comes to an end, and a plain undo is the one that is announced.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use patch_engine::commit::{CommitOptions, Error, LogEntry, TransactionId, UndoOptions, Workspace};
use patch_engine::remedy::{Setting, Step as Advised};
use patch_engine::{Plan, PlanNote, Remedy};
use testutils::share::{stride, whole};
use workspace_trash::Retention;

use super::support::*;

const NAMES: [&str; 4] = ["a", "b", "d/c", "d/e/f"];

type Files = BTreeMap<String, String>;

struct Model {
    tree: Tree,
    random: fastrand::Rng,
    /// The files that a checkout brings back.
    checked_out: Files,
    turn: Option<Turn>,
    /// How many turns were undone.
    turns: usize,
}

/// An open turn.
struct Turn {
    name: String,
    before: Files,
    transactions: usize,
    /// Nothing but its own changes happened since it began.
    alone: bool,
}

impl Model {
    fn files(&self) -> Files {
        let read = |name: &&str| {
            let text = fs::read_to_string(self.tree.path(name)).ok()?;
            Some(((*name).to_owned(), text))
        };
        NAMES.iter().filter_map(read).collect()
    }

    fn name(&mut self) -> &'static str {
        NAMES[self.random.usize(..NAMES.len())]
    }

    /// A short text, of few, so that equal files are frequent.
    fn text(&mut self) -> String {
        let lines = 1 + self.random.usize(..4);
        (0..lines).map(|_| format!("{}\n", self.random.usize(..3))).collect()
    }

    fn apply(&mut self) {
        let (name, text) = (self.name(), self.text());
        let other = self.name();
        let files = self.files();
        let mut steps = vec![match files.get(name) {
            Some(_) if self.random.usize(..4) == 0 => Delete(name),
            Some(_) if self.random.usize(..5) == 0 && !files.contains_key(other) => {
                Move(name, other)
            }
            Some(_) => Update(name, &text),
            None => Add(name, &text),
        }];
        let more = self.text();
        if other != name && self.random.usize(..3) == 0 && !matches!(steps[0], Move(..)) {
            steps.push(if files.contains_key(other) {
                Update(other, &more)
            } else {
                Add(other, &more)
            });
        }
        let workspace = self.tree.open();
        let plan = plan(&workspace, &steps);
        if !plan.is_empty() {
            let turn = self.turn.as_ref().map(|turn| turn.name.clone());
            commit_with(&lock(&workspace), &plan, &CommitOptions { turn, ..options() }).unwrap();
            self.turn.iter_mut().for_each(|turn| turn.transactions += 1);
        }
    }

    /// Begins a turn, or ends the open one: it is one diff, one undo and one redo.
    fn turn(&mut self) {
        let Some(turn) = self.turn.take() else {
            let name = format!("t-{}", self.random.u32(..));
            self.turn = Some(Turn { name, before: self.files(), transactions: 0, alone: true });
            return;
        };
        let after = self.files();
        if !turn.alone || after == turn.before {
            return;
        }
        let workspace = self.tree.open();
        let mut log = workspace.log().unwrap();
        log.retain(|entry| entry.journal.header.turn.as_ref() == Some(&turn.name));
        let changes = workspace.turn_diff(&log).unwrap().changes();
        let mut named: BTreeSet<_> = changes.iter().map(|change| change.path.clone()).collect();
        named.extend(changes.into_iter().filter_map(|change| change.to_path));
        let changed = |name: &&str| turn.before.get(*name) != after.get(*name);
        let wanted = NAMES.iter().filter(|name| changed(name)).map(|name| (*name).to_owned());
        assert_eq!(named, wanted.collect());
        let undone = self.undo(&Workspace::plan_undo_last).unwrap();
        let note = PlanNote::OfTurn { turn: turn.name, transactions: turn.transactions };
        assert!(undone.notes().contains(&note), "{:?}", undone.notes());
        assert_eq!(self.files(), turn.before);
        self.undo(&|workspace| workspace.plan_redo(None)).unwrap();
        assert_eq!(self.files(), after);
        self.turns += 1;
    }

    fn edit(&mut self) {
        let (name, text) = (self.name(), self.text());
        if self.random.usize(..2) == 0 {
            let _ = fs::remove_file(self.tree.path(name));
        } else {
            self.tree.write(name, &text);
        }
    }

    fn checkout(&mut self) {
        for name in NAMES {
            match self.checked_out.get(name) {
                Some(text) => self.tree.write(name, text),
                None => drop(fs::remove_file(self.tree.path(name))),
            }
        }
    }

    /// Undoes by `plan`, and checks that the plan is what is done.
    fn undo(&self, planner: &dyn Fn(&Workspace) -> Result<Plan, Error>) -> Result<Plan, Error> {
        let workspace = self.tree.open();
        let planned = planner(&workspace)?;
        assert!(!planned.is_empty());
        let before = self.files();
        let report = execute(&workspace, planner).unwrap();
        assert_eq!(report.plan.undo_of(), planned.undo_of());
        assert!(report.transaction.is_some());
        if !planned.changes().is_empty() {
            assert_ne!(self.files(), before, "a success that did nothing: {planned:?}");
        }
        Ok(planned)
    }

    /// Obeys what is advised, from a plain undo on, until nothing is: that takes at most as many
    /// undos as there are transactions.
    fn undo_all(&self) {
        let most = self.tree.open().log().unwrap().len();
        let (mut named, mut carry): (Option<TransactionId>, bool) = (None, false);
        let mut undone = 0;
        while undone <= most {
            let options = UndoOptions { carry, ..UndoOptions::default() };
            let done = self.undo(&|workspace| workspace.plan_undo_with(named, &[], &options));
            let Err(error) = done else {
                (named, carry, undone) = (None, false, undone + 1);
                continue;
            };
            let advised = |remedy| match remedy {
                Remedy::First(Advised::Undo(id)) => Some((Some(id), false)),
                Remedy::Set(Setting::Carry) if !carry => Some((named, true)),
                _ => None,
            };
            match error.remedies().into_iter().find_map(advised) {
                Some(next) => (named, carry) = next,
                None => return,
            }
        }
        panic!("undo runs in a circle: {:#?}", self.tree.open().log());
    }

    fn step(&mut self) {
        // Most of what happens in a turn is its own.
        let is_own = self.turn.is_some() && self.random.usize(..6) > 0;
        let step =
            if is_own { [0, 0, 20][self.random.usize(..3)] } else { self.random.usize(..25) };
        if let (Some(turn), 7..20 | 23..) = (&mut self.turn, step) {
            turn.alone = false;
        }
        match step {
            0..=6 => self.apply(),
            20..=22 => self.turn(),
            23.. => self.undo_old(),
            7..=8 => self.edit(),
            9 => self.checkout(),
            10 => self.checked_out = self.files(),
            11..=14 => {
                let before = self.files();
                let undone = self.undo(&Workspace::plan_undo_last);
                if undone.is_ok() && self.random.usize(..2) == 0 {
                    self.undo(&|workspace| workspace.plan_redo(None)).unwrap();
                    assert_eq!(self.files(), before, "redo brings back what was undone");
                }
            }
            15..=16 => {
                let _ = self.undo(&|workspace| workspace.plan_redo(None));
            }
            17 => {
                let workspace = self.tree.open();
                let ids: Vec<_> =
                    workspace.log().unwrap().iter().map(|entry| entry.journal.header.id).collect();
                if ids.is_empty() {
                    return;
                }
                let ids = &ids[..1 + self.random.usize(..ids.len().min(4))];
                let options =
                    UndoOptions { carry: self.random.usize(..2) == 0, ..UndoOptions::default() };
                let _ = self.undo(&|workspace| workspace.plan_undo_all(ids, &options));
            }
            18 if self.random.usize(..8) == 0 => self.undo_all(),
            _ => self.purge(),
        }
    }

    /// Undoes some transaction, or a part of it. Each is shown as it is listed, however old it is.
    fn undo_old(&mut self) {
        let workspace = self.tree.open();
        let log = workspace.log().unwrap();
        for entry in &log {
            assert_eq!(workspace.show(entry.journal.header.id).unwrap(), *entry);
        }
        // One may have made a directory, and nothing else.
        let with_files = log.iter().filter(|entry| !entry.journal.records.is_empty());
        let with_files: Vec<_> = with_files.collect();
        if with_files.is_empty() {
            return;
        }
        let LogEntry { journal, .. } = with_files[self.random.usize(..with_files.len())];
        let path = &journal.records[self.random.usize(..journal.records.len())].path;
        let path = workspace.root().check(path, fs_guard::Access::Read).unwrap();
        let paths = if self.random.bool() { vec![path] } else { Vec::new() };
        let options = UndoOptions { carry: self.random.bool(), ..UndoOptions::default() };
        let id = Some(journal.header.id);
        let _ = self.undo(&|workspace| workspace.plan_undo_with(id, &paths, &options));
    }

    fn purge(&mut self) {
        let keep_last = self.random.usize(..12);
        let workspace = self.tree.open();
        if workspace.log().unwrap().len() > 24 {
            let retention = Retention { keep_last, max_count: keep_last, ..Retention::default() };
            lock(&workspace).purge(&retention, false).unwrap();
        }
    }
}

/// 100 000 steps with `APPLY_PATCH_LONG_TESTS=1`.
#[test]
fn undo_and_redo_come_to_an_end_from_every_state() {
    let (seeds, steps) = if whole() { (250, 400) } else { (8_usize.div_ceil(stride()) as u64, 80) };
    let mut turns = 0;
    for seed in 0..seeds {
        let tree = Tree::new(&[("a", "0\n1\n"), ("d/c", "2\n")]);
        // What is written does not count here.
        tree.lawless();
        drop(fs_guard::record::recorded());
        let random = fastrand::Rng::with_seed(seed);
        let mut model = Model { tree, random, checked_out: Files::new(), turn: None, turns: 0 };
        model.checked_out = model.files();
        for _ in 0..steps {
            model.step();
        }
        model.undo_all();
        turns += model.turns;
    }
    assert!(turns > seeds as usize, "{turns}");
}
