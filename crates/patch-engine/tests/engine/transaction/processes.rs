//! Other processes, at the same time.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::support::*;
use testutils::share::whole;
use testutils::stop::Stop;

/// Threads with a workspace each exclude one another as processes do: locks belong to open files.
#[cfg_attr(
    windows,
    ignore = "a file that is updated is missing for a moment there (docs/safety.md)"
)]
#[test]
fn no_edit_is_lost_and_no_reader_sees_a_torn_or_missing_file() {
    let tree = Tree::new(&[("a", "0"), ("b", "0")]);
    let stop = AtomicBool::new(false);
    let done = AtomicUsize::new(0);
    let end = Instant::now() + Duration::from_millis(if whole() { 2000 } else { 800 });
    std::thread::scope(|scope| {
        let _stopping = Stop(&stop);
        for _ in 0..4 {
            scope.spawn(|| {
                while Instant::now() < end {
                    let workspace = tree.open();
                    let locked = lock(&workspace);
                    let next = (tree.read("a").parse::<usize>().unwrap() + 1).to_string();
                    let plan = plan(&workspace, &[Update("a", &next), Update("b", &next)]);
                    commit(&locked, &plan).unwrap();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let text = fs::read_to_string(tree.path("a")).expect("never missing");
                text.parse::<usize>().expect("never torn");
            }
        });
        while Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let done = done.load(Ordering::Relaxed).to_string();
    assert_eq!(tree.read("a"), done.clone());
    assert_eq!(tree.read("b"), done);
}

/// An editor that saves in place and by rename while patches are applied to the same file: whatever
/// it saved last is there, or is the file a later patch was made for, or is in the trash.
#[test]
fn a_busy_editor_loses_no_save() {
    let tree = Tree::new(&[("f", "editor 0")]);
    let stop = AtomicBool::new(false);
    let saves = std::thread::scope(|scope| {
        let stopping = Stop(&stop);
        let editor = scope.spawn(|| {
            let mut saves = 0_usize;
            while !stop.load(Ordering::Relaxed) {
                saves += 1;
                let draft = tree.path("f.draft");
                fs::write(&draft, format!("editor {saves}")).unwrap();
                // On Windows nobody replaces a file that someone else has open.
                while let Err(error) = fs::rename(&draft, tree.path("f")) {
                    if !cfg!(windows) {
                        panic!("{error}");
                    }
                    std::thread::yield_now();
                }
            }
            saves
        });
        let end = Instant::now() + Duration::from_millis(if whole() { 2000 } else { 800 });
        let (mut applied, mut stale) = (0, 0);
        while Instant::now() < end {
            let workspace = tree.open();
            let locked = lock(&workspace);
            let path = workspace.root().check("f", fs_guard::Access::Update).unwrap();
            let Ok((old, _)) = workspace.root().read(&path, 99) else { continue };
            let text = format!("patched {applied}");
            let Ok(plan) = std::panic::catch_unwind(|| plan(&workspace, &[Update("f", &text)]))
            else {
                continue;
            };
            let planned_for = plan.transitions()[0].before().unwrap();
            let _ = old;
            match commit(&locked, &plan) {
                Ok(done) => {
                    applied += 1;
                    // What was displaced is what the plan was made for, to the byte.
                    let kept = fs::read(tree.path(done.trashed[0].as_ref().unwrap())).unwrap();
                    assert_eq!(fs_guard::Sha256::of(&kept), planned_for);
                }
                Err(error) => {
                    let in_use = cfg!(windows) && error.kind() == patch_engine::ErrorKind::Unknown;
                    assert!(
                        in_use || error.kind() == patch_engine::ErrorKind::StaleFile,
                        "{error}"
                    );
                    stale += 1;
                }
            }
        }
        drop(stopping);
        let saves = editor.join().unwrap();
        eprintln!("{saves} saves, {applied} applied, {stale} stale");
        saves
    });
    let last = tree.read("f");
    assert!(
        last.starts_with("patched") || last == format!("editor {saves}"),
        "{last} after {saves}"
    );
}
