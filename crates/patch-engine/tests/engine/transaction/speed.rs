//! How long a commit takes; run with `--release --ignored --nocapture`.

use std::fs;
use std::time::Instant;

use fs_guard::Root;
use fs_guard::fault::{Fault, arm, disarm};
use patch_engine::commit::{self, CommitOptions, Durability, Workspace};
use workspace_trash::{FileState, Header, Journal, LockedStore, Record, Retention};

use super::support::*;

#[test]
#[ignore = "a measurement"]
fn commits_by_number_of_files() {
    for durability in [Durability::Process, Durability::Full] {
        for count in [1, 10, 1000, 10_000] {
            let text = "x".repeat(4096);
            let names: Vec<String> = (0..count).map(|n| format!("d{}/f{n}", n % 20)).collect();
            let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &*text)).collect();
            let tree = Tree::on_disk(&files);
            std::thread::sleep(std::time::Duration::from_millis(200));
            let mut times = Vec::new();
            for round in 0..5 {
                let new = format!("{round}{text}");
                let steps: Vec<Step<'_>> = names.iter().map(|name| Update(name, &new)).collect();
                let workspace = tree.open();
                let start = Instant::now();
                let locked = lock(&workspace);
                let locking = start.elapsed();
                let plan = plan(&workspace, &steps);
                let start = Instant::now();
                let options = CommitOptions { durability, ..CommitOptions::default() };
                locked.commit(&plan, &options, &mut (), &mut ()).unwrap();
                times.push(start.elapsed() + locking);
                drop(locked);
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            times.sort();
            eprintln!("{durability:?} {count}: {times:?}");
        }
    }
}

/// System calls of the guard for one small edit in a workspace that has had one, from the lock to
/// the end; those that close or sync what was opened are not among them. A number that grows is a
/// cost for every patch. (Without `openat2`, as under qemu, it is another number.)
#[test]
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), ignore = "another number there")]
fn a_small_edit_takes_few_system_calls() {
    let tree = Tree::new(&[("src/main.rs", "one\ntwo\n")]);
    tree.commit(&[Update("src/main.rs", "1\n2\n")]).unwrap();
    // What was changed a moment ago is read again.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let workspace = tree.open();
    fs_guard::fault::arm(fs_guard::fault::Fault::Nothing, 0, true);
    let locked = lock(&workspace);
    let plan = plan(&workspace, &[Update("src/main.rs", "1\n3\n")]);
    locked.commit(&plan, &CommitOptions::default(), &mut (), &mut ()).unwrap();
    drop(locked);
    let mut calls = fs_guard::fault::disarm();
    calls.retain(|call| !matches!(*call, "fsync" | "fdatasync" | "syncfs"));
    assert!(calls.len() <= 47, "{} calls: {calls:?}", calls.len());
}

/// A refused undo reads each journal once, however many files have changed since.
#[test]
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), ignore = "another number there")]
fn who_changed_a_file_is_looked_up_for_all_of_them_together() {
    let names: Vec<String> = (0..40).map(|nth| format!("f{nth:02}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "old\n")).collect();
    let tree = Tree::new(&files);
    let steps: Vec<Step<'_>> = names.iter().map(|name| Update(name, "new\n")).collect();
    let done = tree.commit(&steps).unwrap();
    let workspace = tree.open();
    let calls = [20, 40].map(|drifted| {
        names[..drifted].iter().for_each(|name| tree.write(name, "edited\n"));
        arm(Fault::Nothing, 0, true);
        let error = workspace.plan_undo(done.id, &[]).unwrap_err();
        let calls = disarm().len();
        assert!(matches!(error, commit::Error::Drifted { drifts, .. } if drifts.len() == drifted));
        calls
    });
    // Twelve for the old file, to see whether the change can be carried; a journal takes more.
    assert!(calls[1] - calls[0] <= 20 * 13, "{calls:?}");
}

/// Adds transactions to the history, each of which deleted a file.
fn lengthen(tree: &Tree, count: usize) {
    let root = Root::open(&tree.path(""), patch_engine::policy()).unwrap();
    let store = LockedStore::lock(&root, tree.key_place(), std::time::Duration::ZERO).unwrap();
    for nth in 0..count {
        let pending = store.begin().unwrap();
        let mut file = pending.slot(0).create(0o600).unwrap();
        file.write(b"old\n").unwrap();
        let file = file.finish(None, None, false).unwrap();
        let before = FileState::of(file.metadata().unwrap(), fs_guard::Sha256::of(b"old\n"));
        let (path, before) = (format!("old/{nth}"), Some(before));
        let record = Record { slot: 0, path, before, after: None, sibling: None };
        let journal = Journal::new(Header::new(pending.id()), vec![record]);
        pending.write_journal(&journal).unwrap();
        pending.finish().unwrap();
    }
}

/// The history was listed by each commit, and read as a whole by each look at the newest of it.
#[test]
#[cfg_attr(windows, ignore = "the folder is listed there")]
fn a_long_history_costs_nothing() {
    let tree = Tree::with_key(&[("a", "one\n"), ("b", "one\n"), ("c", "0\n"), ("d", "0\n")]);
    let retention = Retention { max_count: usize::MAX, ..Retention::default() };
    let unlimited = CommitOptions { retention, ..options() };
    let change = |workspace: &Workspace, path: &str, text: &str| {
        let plan = plan(workspace, &[Update(path, text)]);
        commit_with(&lock(workspace), &plan, &unlimited).unwrap().id
    };
    let oldest = change(&tree.open(), "c", "1\n");
    change(&tree.open(), "c", "2\n");
    let as_left = change(&tree.open(), "d", "1\n");
    let (mut counts, mut old) = (Vec::new(), Vec::new());
    for more in [48, 100, 1900] {
        lengthen(&tree, more);
        change(&tree.open(), "b", &format!("{more}\n"));
        let newest = change(&tree.open(), "a", &format!("{more}\n"));
        // What was changed a moment ago is read again.
        std::thread::sleep(std::time::Duration::from_millis(100));
        let calls = |what: &dyn Fn(&Workspace)| {
            let workspace = tree.open().for_a_person();
            arm(Fault::Nothing, 0, true);
            what(&workspace);
            disarm().len()
        };
        let last = |workspace: &Workspace| workspace.plan_undo_last().unwrap().undo_of();
        counts.push([
            calls(&|workspace| assert_eq!(last(workspace), Some(newest))),
            calls(&|workspace| assert_eq!(workspace.show(newest).unwrap().undone_by, None)),
            calls(&|workspace| {
                let mut left = 5;
                let (entries, _) = workspace
                    .history_while(|_| {
                        left -= 1;
                        left > 0
                    })
                    .unwrap();
                assert_eq!(entries.len(), 5);
            }),
            calls(&|workspace| {
                let path = workspace.root().check("b", fs_guard::Access::Read).unwrap();
                assert!(workspace.last_change_of(&[path]).unwrap().is_some());
            }),
            calls(&|workspace| assert!(workspace.count().unwrap().0 >= 10)),
            calls(&|workspace| {
                let entry = workspace.show(newest).unwrap();
                assert!(!workspace.turn_diff(&[entry]).unwrap().diff().is_empty());
            }),
            calls(&|workspace| {
                change(workspace, "a", &format!("again {more}\n"));
            }),
        ]);
        old.push([
            calls(&|workspace| assert_eq!(workspace.show(oldest).unwrap().undone_by, None)),
            calls(&|workspace| {
                assert_eq!(workspace.plan_undo(as_left, &[]).unwrap().undo_of(), Some(as_left));
            }),
            calls(&|workspace| {
                let diff = workspace.turn_diff(&[workspace.show(oldest).unwrap()]).unwrap();
                assert!(String::from_utf8_lossy(&diff.diff()).contains("+1"));
            }),
        ]);
    }
    assert_eq!(counts[0], counts[1]);
    assert_eq!(counts[0], counts[2]);
    // More lines of the index are read, and no more journals.
    let most = old[0].map(|count| count + 16);
    assert!(
        old.iter().flatten().zip(most.iter().cycle()).all(|(one, most)| one <= most),
        "{old:?}"
    );
}

/// One commit of `COUNT` files with `DURABILITY`, for a tracer to count its calls. The second
/// commit of its tree: the first one makes the state directory.
#[test]
#[ignore = "a measurement; run under a tracer"]
fn one_commit() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let Some(count) = number("COUNT") else { return };
    let durability = match std::env::var("DURABILITY").as_deref() {
        Ok("full") => Durability::Full,
        _ => Durability::Process,
    };
    let text = "x".repeat(4096);
    let names: Vec<String> = (0..count).map(|n| format!("d{}/f{n}", n % 20)).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &*text)).collect();
    let tree = Tree::on_disk(&files);
    tree.commit(&[Add("first", "1")]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    let new = format!("y{text}");
    let steps: Vec<Step<'_>> = names.iter().map(|name| Update(name, &new)).collect();
    let workspace = tree.open();
    let locked = lock(&workspace);
    let plan = plan(&workspace, &steps);
    let options = CommitOptions { durability, ..CommitOptions::default() };
    // What a tracer looks for.
    let _ = fs::metadata("/begin");
    if std::env::var_os("PLAN_ONLY").is_some() {
        return;
    }
    let committed = locked.commit(&plan, &options, &mut (), &mut ());
    let _ = fs::metadata("/end");
    committed.unwrap();
}
