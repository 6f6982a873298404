//! Trees, plans and what to compare them with.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testutils::posix::{MetadataExt as _, PermissionsExt as _};

use fs_guard::fault::{Fault, arm, busy, disarm};
use fs_guard::record::{Act, note, record, recorded};
#[cfg(unix)]
use patch_engine::CommitLog;
use patch_engine::commit::{
    self, CommitError, CommitOptions, Committed, Durability, KeyPlace, Locked, Outcome, Recovered,
    Workspace,
};
use patch_engine::{Options, Plan, PlanBuilder, Report, Splices};
use tempfile::TempDir;

use testutils::order::broken_laws;
pub(crate) use testutils::temp::temp;
use testutils::tree::outside_state;

/// A workspace in a temporary directory, with a key of its own.
///
/// What is written there is recorded; when the tree goes, the order of it has to follow the laws.
pub(crate) struct Tree {
    pub(crate) dir: TempDir,
    key: TempDir,
    lawless: AtomicBool,
}

thread_local! {
    /// How many trees this thread has, and what was written in them.
    static RECORDED: RefCell<(usize, Vec<Act>)> = const { RefCell::new((0, Vec::new())) };
}

/// What shall happen to one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'s> {
    Add(&'s str, &'s str),
    Update(&'s str, &'s str),
    Splice(&'s str, &'s str),
    Delete(&'s str),
    Move(&'s str, &'s str),
}

pub(crate) use Step::{Add, Delete, Move, Splice as Append, Update};

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self::with(temp());
        fs::set_permissions(tree.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    /// On the disk that temporary files are on.
    pub(crate) fn on_disk(files: &[(&str, &str)]) -> Self {
        let tree = Self::with(TempDir::new().unwrap());
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    fn with(dir: TempDir) -> Self {
        RECORDED.with_borrow_mut(|(trees, _)| {
            *trees += 1;
            if *trees == 1 {
                // Whatever else the machine does meanwhile, the same calls are made.
                busy(Some(false));
                record();
            }
        });
        Self { dir, key: temp(), lawless: AtomicBool::new(false) }
    }

    /// With the key, so that the first commit makes the same calls as the next.
    pub(crate) fn with_key(files: &[(&str, &str)]) -> Self {
        let tree = Self::new(files);
        fs_guard::secret(&tree.key_dir(), "key").unwrap();
        tree
    }

    /// For tests that commit without syncs: they promise no order.
    pub(crate) fn lawless(&self) {
        self.lawless.store(true, Ordering::Relaxed);
    }

    /// Takes what was written in this tree.
    pub(crate) fn recorded(&self) -> Vec<Act> {
        let new = recorded();
        record();
        RECORDED.with_borrow_mut(|(trees, all)| {
            all.extend(new);
            let here = |act: &Act| act.path().is_none_or(|path| self.owns(path));
            let mine = all.iter().filter(|act| here(act)).cloned().collect();
            all.retain(|act| *trees > 1 && act.path().is_none_or(|path| !self.owns(path)));
            mine
        })
    }

    fn owns(&self, path: &str) -> bool {
        Path::new(path).starts_with(self.dir.path()) || Path::new(path).starts_with(self.key.path())
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(fs::read(self.path(path)).unwrap()).unwrap()
    }

    pub(crate) fn key_place(&self) -> KeyPlace {
        KeyPlace::Directory(self.key_dir())
    }

    pub(crate) fn key_dir(&self) -> PathBuf {
        self.key.path().join("apply-patch")
    }

    pub(crate) fn open(&self) -> Workspace {
        open(self.dir.path(), self.key_place())
    }

    pub(crate) fn snapshot(&self) -> BTreeMap<String, String> {
        snapshot(self.dir.path())
    }

    pub(crate) fn commit(&self, steps: &[Step<'_>]) -> Result<Committed, CommitError> {
        let workspace = self.open();
        let locked = lock(&workspace);
        let plan = plan(&workspace, steps);
        commit(&locked, &plan)
    }

    /// Files below `.apply-patch/` that no finished transaction explains.
    pub(crate) fn pending(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(".apply-patch/pending")) else {
            return Vec::new();
        };
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let acts = self.recorded();
        RECORDED.with_borrow_mut(|(trees, _)| *trees -= 1);
        if !self.lawless.load(Ordering::Relaxed) && !std::thread::panicking() {
            let broken = broken_laws(&acts, self.dir.path());
            let told = || {
                acts.iter().map(|act| format!("{act:?}\n").chars().take(260).collect::<String>())
            };
            assert!(broken.is_empty(), "{broken:#?}\nin\n{}", told().collect::<String>());
        }
    }
}

pub(crate) fn open(dir: &Path, key: KeyPlace) -> Workspace {
    Workspace::open(dir, patch_engine::policy()).unwrap().with_key_place(key)
}

pub(crate) fn lock(workspace: &Workspace) -> Locked<'_> {
    workspace.lock(Duration::from_secs(20)).unwrap()
}

pub(crate) fn options() -> CommitOptions {
    CommitOptions { durability: Durability::Full, ..CommitOptions::default() }
}

/// Carries out what `plan` gives, on the road of every change.
pub(crate) fn execute(
    workspace: &Workspace,
    plan: impl FnOnce(&Workspace) -> Result<Plan, commit::Error>,
) -> Result<Report, commit::Error> {
    let mut plan = Some(plan);
    let mut once = |_: &_| (plan.take().expect("planned once"))(workspace);
    let report = workspace.execute(&options(), &mut (), &mut (), &mut once);
    if report.is_ok() {
        note("acknowledged", workspace.root().path());
    }
    report
}

pub(crate) fn commit(locked: &Locked<'_>, plan: &Plan) -> Result<Committed, CommitError> {
    commit_with(locked, plan, &options())
}

pub(crate) fn commit_with(
    locked: &Locked<'_>,
    plan: &Plan,
    options: &CommitOptions,
) -> Result<Committed, CommitError> {
    acknowledged(locked, locked.commit(plan, options, &mut (), &mut ()))
}

#[cfg(unix)]
pub(crate) fn commit_logged(
    locked: &Locked<'_>,
    plan: &Plan,
    log: &mut dyn CommitLog,
) -> Result<Committed, CommitError> {
    acknowledged(locked, locked.commit(plan, &options(), log, &mut ()))
}

/// Commits as far as the `at`-th rename (from 1), where everything stops.
pub(crate) fn cut_off(tree: &Tree, steps: &[Step<'_>], at: usize) {
    let workspace = tree.open();
    let locked = lock(&workspace);
    let plan = plan(&workspace, steps);
    arm(Fault::CrashAt("renameat2"), at, false);
    // All of it may have happened but the last move, to the trash.
    let _ = commit(&locked, &plan);
    disarm();
    drop(locked);
    assert_eq!(tree.pending().len(), 1);
}

/// Recovers the one transaction that was cut off.
pub(crate) fn recover(tree: &Tree) -> Outcome {
    recovered(tree).outcome
}

/// The same, with what others did.
pub(crate) fn recovered(tree: &Tree) -> Recovered {
    let workspace = tree.open();
    let locked = lock(&workspace);
    assert!(tree.pending().is_empty());
    locked.recovered()[0].clone()
}

/// Notes in the recording that the caller of a commit has heard that it happened.
fn acknowledged(
    locked: &Locked<'_>,
    committed: Result<Committed, CommitError>,
) -> Result<Committed, CommitError> {
    if committed.is_ok() {
        note("acknowledged", locked.root().path());
    }
    committed
}

/// The rules of the plans that are made here: whatever is there gives way.
pub(crate) fn lenient() -> Options {
    Options { create_parents: true, overwrite: true, ..Options::default() }
}

pub(crate) fn plan(workspace: &Workspace, steps: &[Step<'_>]) -> Plan {
    let options = lenient();
    let mut builder = PlanBuilder::new(workspace.root(), &options);
    for step in steps {
        let edit = |builder: &mut PlanBuilder<'_>, path: &str, text: &str, whole: bool| {
            let length = builder.load(path).unwrap().unwrap().bytes.len();
            let mut splices = Splices::new();
            splices.push(if whole { 0 } else { length }..length, text.into());
            builder.update(path, splices)
        };
        match *step {
            Add(path, text) => builder.create(path, text.into()),
            Update(path, text) => edit(&mut builder, path, text, true),
            Append(path, text) => edit(&mut builder, path, text, false),
            Delete(path) => builder.remove(path),
            Move(from, to) => builder.rename(from, to),
        }
        .unwrap();
    }
    builder.finish().unwrap()
}

/// Everything but the state: kind, mode and bytes by path.
pub(crate) fn snapshot(root: &Path) -> BTreeMap<String, String> {
    let described = |path: &Path| {
        let seen = fs::symlink_metadata(path).unwrap();
        let mode = seen.permissions().mode() & 0o7777;
        if seen.is_dir() {
            format!("dir {mode:o}")
        } else if seen.is_symlink() {
            format!("link {:?}", fs::read_link(path).unwrap())
        } else {
            let bytes = fs::read(path).unwrap();
            format!("file {mode:o} {} {:?}", seen.nlink(), String::from_utf8_lossy(&bytes))
        }
    };
    outside_state(root).map(|(name, entry)| (name, described(entry.path()))).collect()
}

#[cfg(unix)]
/// Runs a program; whether it succeeded.
pub(crate) fn run(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}
