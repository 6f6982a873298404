//! Files are read and edited on several threads, ahead of their turn, and not all of them stay in
//! memory; what comes out is the same as in turn.

use std::fs;
use std::path::Path;

use patch_engine::commit::Workspace;
use patch_engine::commit::approval::{Decision, Request};
use patch_engine::{ApplyOptions, Expected, Host, MAX_MEMORY, Options, Plan, Profile, Rejects};

/// Plans a patch against files that each hold their own name and a number.
fn plan(files: usize, patch: &str, change: impl FnOnce(&mut Options)) -> Result<Plan, Rejects> {
    let dir = tempfile::tempdir().unwrap();
    for index in 0..files {
        fs::write(dir.path().join(format!("f{index}")), format!("file {index}\nend\n")).unwrap();
    }
    let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
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
fn more_sections_than_are_prepared_ahead_give_every_file_its_own_change() {
    let patch = envelope((0..700).map(|index| match index % 7 {
        3 => format!("*** Delete File: f{index}\n"),
        5 => format!(
            "*** Update File: f{index}\n*** Move to: g{index}\n@@\n-file {index}\n+moved {index}\n"
        ),
        _ => update(&format!("f{index}"), &format!("file {index}"), &format!("changed {index}")),
    }));
    let plan = plan(700, &patch, |_| {}).unwrap();
    assert_eq!(plan.changes().len(), 700);
    let diffs = String::from_utf8(plan.images().diffs().unwrap()).unwrap();
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
fn more_bytes_than_are_read_ahead_are_read_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let padding = "padding\n".repeat(3 << 17);
    let patch = envelope((0..16).map(|index| {
        fs::write(dir.path().join(format!("f{index}")), format!("file {index}\n{padding}"))
            .unwrap();
        update(&format!("f{index}"), &format!("file {index}"), &format!("changed {index}"))
    }));
    let workspace = Workspace::open(dir.path(), patch_engine::policy()).unwrap();
    let options = Options::new(Profile::Codex);
    let patch = patch_engine::parse(&patch, &options.parse).unwrap();
    let plan = patch_engine::plan(workspace.root(), &patch, &options).unwrap();
    let paths: Vec<_> = plan.changes().iter().map(|change| change.path.to_string()).collect();
    assert_eq!(paths, (0..16).map(|index| format!("f{index}")).collect::<Vec<_>>());
    for (index, change) in plan.changes().iter().enumerate() {
        let diff = String::from_utf8(plan.images().diff(change).unwrap()).unwrap();
        assert!(diff.contains(&format!("-file {index}\n+changed {index}\n")), "{diff}");
    }
}

#[test]
fn a_path_under_two_spellings_is_changed_in_turn() {
    let both = [update("f1", "file 1", "once"), update("./f1", "once", "twice")];
    let others = (10..40).map(|index| update(&format!("f{index}"), "end", "END"));
    let plan = plan(40, &envelope(both.into_iter().chain(others)), |_| {}).unwrap();
    let diff = String::from_utf8(plan.images().diff(&plan.changes()[0]).unwrap()).unwrap();
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
    assert_eq!(
        paths,
        (0..40).filter(|index| index % 2 == 1).map(|index| format!("f{index}")).collect::<Vec<_>>()
    );
}

#[test]
fn what_is_expected_of_a_file_is_checked_all_the_same() {
    let patch = envelope((0..40).map(|index| update(&format!("f{index}"), "end", "x")));
    let rejects = plan(40, &patch, |options| {
        options.expected.insert("f7".into(), Expected::Absent);
    });
    assert_eq!(rejects.unwrap_err()[0].path, "f7");
}

/// A file that is longer than a buffer, and hunks all over it.
fn long_file() -> (String, String) {
    let line = |index: usize| format!("line {index} of a file that is copied in pieces\n");
    let file: String = (0..20_000).map(line).collect();
    let mut patch = "*** Begin Patch\n*** Update File: long\n".to_owned();
    patch += &format!("@@\n-{}-{}", line(0), line(1));
    for index in (97..19_990).step_by(97) {
        let new = match index % 3 {
            0 => String::new(),
            1 => format!("+changed {index}\n"),
            _ => format!("+changed {index}\n").repeat(40),
        };
        patch += &format!("@@\n-{}{new}", line(index));
    }
    patch += "@@\n+the end\n*** End of File\n";
    patch += "*** Update File: small\n*** Move to: moved\n@@\n-a\n+b\n*** Delete File: gone\n\
              *** Update File: moved\n@@\n b\n+c\n";
    (file, patch + "*** End Patch\n")
}

/// Looks at the diff of a plan, and does something meanwhile.
struct Look<F> {
    meanwhile: F,
    diff: Vec<u8>,
    lean: bool,
}

impl<F: Fn()> Host for Look<F> {
    fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
        let images = request.plan.images();
        self.diff = images.diffs()?;
        let reread = !request.plan.changes().iter().all(|change| images.is_in_memory(change));
        assert_eq!(reread, self.lean, "whether files are read again");
        (self.meanwhile)();
        Ok(Decision::Approve)
    }
}

fn apply(
    dir: &Path,
    patch: &str,
    max_memory: u64,
    meanwhile: impl Fn(),
) -> Result<String, patch_engine::commit::Error> {
    let workspace = Workspace::open(dir, patch_engine::policy()).unwrap();
    let mut settings = ApplyOptions::new(Options::new(Profile::Strict));
    settings.options.max_memory = max_memory;
    let patch = patch_engine::parse(patch, &settings.options.parse).unwrap();
    let mut look = Look { meanwhile, diff: Vec::new(), lean: max_memory < 10_000 };
    workspace.apply(&patch, &settings, &mut look).map_err(|failed| failed.error)?;
    Ok(String::from_utf8(look.diff).unwrap())
}

#[test]
fn files_that_are_read_again_come_out_the_same() {
    let (file, patch) = long_file();
    let mut results = Vec::new();
    for max_memory in [MAX_MEMORY, 5_000, 0] {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("long", &file[..]), ("small", "a\n"), ("gone", "x\n")] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let diff = apply(dir.path(), &patch, max_memory, || {}).unwrap();
        assert!(!dir.path().join("gone").exists());
        assert!(!dir.path().join("small").exists());
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(read("moved"), "b\nc\n");
        results.push((diff, read("long")));
    }
    assert!(results[0].1.ends_with("the end\n"));
    assert!(results[0].1.starts_with("line 2 "));
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn a_file_that_changes_before_it_is_read_again_is_stale() {
    let dir = tempfile::tempdir().unwrap();
    let (file, patch) = long_file();
    for (name, text) in [("long", &file[..]), ("small", "a\n"), ("gone", "x\n")] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    fs::create_dir(dir.path().join("d")).unwrap();
    let meanwhile =
        || fs::write(dir.path().join("long"), file.replace("line 5 ", "LINE 5 ")).unwrap();
    // The first commit of a workspace would plan once more, and find another file that fits as
    // well.
    let first = "*** Begin Patch\n*** Add File: d/x\n+x\n*** End Patch\n";
    apply(dir.path(), first, MAX_MEMORY, || {}).unwrap();
    let failed = apply(dir.path(), &patch, 0, meanwhile).unwrap_err();
    assert_eq!(failed.kind(), patch_engine::ErrorKind::StaleFile, "{failed}");
    assert_eq!(fs::read_to_string(dir.path().join("small")).unwrap(), "a\n");
}
