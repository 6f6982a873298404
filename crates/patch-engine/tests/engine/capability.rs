//! A plan is leave to do one thing in one workspace, as long as its files are what they were.

use std::fs;
use std::path::Path;
use std::time::Duration;
use testutils::posix::symlink;

use patch_engine::commit::{CommitError, CommitOptions, Committed, KeyPlace, Workspace};
use patch_engine::{ErrorKind, Options, Plan, PlanBuilder};
use tempfile::TempDir;

fn open(dir: &Path, policy: fs_guard::Policy) -> Workspace {
    Workspace::open(dir, policy).unwrap().with_key_place(KeyPlace::Nowhere)
}

fn files() -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    fs::write(dir.path().join("d/a"), "A\n").unwrap();
    dir
}

fn planned(workspace: &Workspace) -> Plan {
    let options = Options::default();
    let mut builder = PlanBuilder::new(workspace.root(), &options);
    builder.rename("d/a", "d/b").unwrap();
    builder.create("d/c", b"C\n".to_vec()).unwrap();
    builder.finish().unwrap()
}

fn commit(workspace: &Workspace, plan: &Plan) -> Result<Committed, CommitError> {
    workspace.lock(Duration::from_secs(10)).unwrap().commit(
        plan,
        &CommitOptions::default(),
        &mut (),
        &mut (),
    )
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_plan_is_for_the_workspace_that_it_was_made_for() {
    let (one, other) = (files(), files());
    let plan = planned(&open(one.path(), patch_engine::policy()));
    // Another directory with the same files, and the same directory under other rules.
    let strict = fs_guard::Policy {
        forbidden: fs_guard::Globs::new(["d/c"]).unwrap(),
        ..patch_engine::policy()
    };
    for workspace in [open(other.path(), patch_engine::policy()), open(one.path(), strict)] {
        let error = commit(&workspace, &plan).unwrap_err();
        assert!(matches!(error, CommitError::OtherWorkspace), "{error}");
    }
    assert_eq!(names(&one.path().join("d")), vec!["a"]);
    assert_eq!(names(&other.path().join("d")), vec!["a"]);
}

#[cfg_attr(windows, ignore = "Wine has no links that a program can make")]
#[test]
fn a_path_that_leads_elsewhere_since_is_not_committed() {
    type Change = fn(&Path);
    let changes: [(&str, Change, ErrorKind); 4] = [
        (
            "a second name",
            |dir| fs::hard_link(dir.join("d/a"), dir.join("hard")).unwrap(),
            ErrorKind::StaleFile,
        ),
        (
            "a link in its place",
            |dir| {
                fs::rename(dir.join("d/a"), dir.join("real")).unwrap();
                symlink("../real", dir.join("d/a")).unwrap();
            },
            ErrorKind::StaleFile,
        ),
        (
            "a link in the way",
            |dir| {
                fs::rename(dir.join("d"), dir.join("real")).unwrap();
                symlink("real", dir.join("d")).unwrap();
            },
            ErrorKind::PermissionDenied,
        ),
        (
            "something in the way",
            |dir| fs::write(dir.join("d/c"), "theirs\n").unwrap(),
            ErrorKind::StaleFile,
        ),
    ];
    for (what, change, kind) in changes {
        let dir = files();
        let workspace = open(dir.path(), patch_engine::policy());
        let plan = planned(&workspace);
        change(dir.path());
        let before = names(&dir.path().join("d"));
        workspace.root().forget();
        let error = commit(&workspace, &plan).unwrap_err();
        assert_eq!(error.kind(), kind, "{what}: {error}");
        assert_eq!(names(&dir.path().join("d")), before, "{what}");
        assert!(error.is_rolled_back(), "{what}");
    }
}

#[test]
fn a_plan_is_committed_once() {
    let dir = files();
    let workspace = open(dir.path(), patch_engine::policy());
    let plan = planned(&workspace);
    commit(&workspace, &plan).unwrap();
    let error = commit(&workspace, &plan).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleFile, "{error}");
    assert_eq!(names(&dir.path().join("d")), ["b", "c"]);
}
