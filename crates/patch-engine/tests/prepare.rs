//! Files are read and edited on several threads, ahead of their turn; the plan is the same as in turn.
#![allow(clippy::disallowed_methods, reason = "tests look from outside")]

use std::fs;

use patch_engine::transaction::Workspace;
use patch_engine::{Expected, Options, Plan, Profile, Reject};

/// Plans a patch against files that each hold their own name and a number.
fn plan(files: usize, patch: &str, change: impl FnOnce(&mut Options)) -> Result<Plan, Vec<Reject>> {
    let dir = tempfile::tempdir().unwrap();
    for index in 0..files {
        fs::write(dir.path().join(format!("f{index}")), format!("file {index}\nend\n")).unwrap();
    }
    let workspace = Workspace::open(dir.path(), fs_guard::Policy::default()).unwrap();
    let mut options = Options::new(Profile::Strict);
    change(&mut options);
    let patch = patch_engine::parse(patch, &options.parse).unwrap();
    patch_engine::plan(workspace.root(), &patch, &options)
}

fn update(path: &str, old: &str, new: &str) -> String {
    format!("*** Update File: {path}\n@@\n-{old}\n+{new}\n")
}

fn envelope(sections: impl Iterator<Item = String>) -> String {
    format!("*** Begin Patch\n{}*** End Patch\n", sections.collect::<String>())
}

#[test]
fn more_sections_than_a_window_give_every_file_its_own_change() {
    let patch = envelope((0..700).map(|index| match index % 7 {
        3 => format!("*** Delete File: f{index}\n"),
        5 => format!("*** Update File: f{index}\n*** Move to: g{index}\n@@\n-file {index}\n+moved {index}\n"),
        _ => update(&format!("f{index}"), &format!("file {index}"), &format!("changed {index}")),
    }));
    let plan = plan(700, &patch, |_| {}).unwrap();
    assert_eq!(plan.changes.len(), 700);
    let diffs = String::from_utf8(plan.diffs()).unwrap();
    for index in 0..700 {
        let new = match index % 7 {
            3 => continue,
            5 => "moved",
            _ => "changed",
        };
        assert!(diffs.contains(&format!("-file {index}\n+{new} {index}\n end\n")), "{index}");
    }
}

#[test]
fn a_path_under_two_spellings_is_changed_in_turn() {
    let both = [update("f1", "file 1", "once"), update("./f1", "once", "twice")];
    let others = (10..40).map(|index| update(&format!("f{index}"), "end", "END"));
    let plan = plan(40, &envelope(both.into_iter().chain(others)), |_| {}).unwrap();
    let diff = String::from_utf8(plan.diff(&plan.changes[0])).unwrap();
    assert!(diff.ends_with("@@ -1,2 +1,2 @@\n-file 1\n+twice\n end\n"), "{diff}");
}

#[test]
fn rejects_come_in_the_order_of_the_patch() {
    let patch = envelope((0..40).map(|index| {
        let old = if index % 2 == 0 { "end" } else { "none of it" };
        update(&format!("f{index}"), old, "x")
    }));
    let rejects = plan(40, &patch, |_| {}).unwrap_err();
    let paths: Vec<_> = rejects.iter().map(|reject| reject.path.clone()).collect();
    assert_eq!(paths, (0..40).filter(|index| index % 2 == 1).map(|index| format!("f{index}")).collect::<Vec<_>>());
}

#[test]
fn what_is_expected_of_a_file_is_checked_all_the_same() {
    let patch = envelope((0..40).map(|index| update(&format!("f{index}"), "end", "x")));
    let rejects = plan(40, &patch, |options| {
        options.expected.insert("f7".into(), Expected::Absent);
    });
    assert_eq!(rejects.unwrap_err()[0].path, "f7");
}
