//! Diffs as git means them: their sections are simultaneous, and directories go with their last
//! file.

use std::path::Path;

use crate::program::{place, run};
use testutils::tree::{Kind, look, outside_state};

/// The files, links and directories of the workspace, each with its text: `-> target` of a link,
/// `/` of a directory without any entry.
fn listed(root: &Path) -> Vec<(String, String)> {
    let tree = look(root, false);
    let shown: Vec<String> = outside_state(root).map(|(path, _)| path).collect();
    let entries = tree.iter().filter(|(path, _)| shown.contains(path));
    let mut all: Vec<_> = entries
        .filter_map(|(path, entry)| match &entry.kind {
            Kind::File(bytes) => Some((path.clone(), String::from_utf8_lossy(bytes).into_owned())),
            Kind::Link(target) => Some((path.clone(), format!("-> {target}"))),
            Kind::Directory if shown.iter().any(|other| other.starts_with(&format!("{path}/"))) => {
                None
            }
            Kind::Directory => Some((path.clone(), "/".to_owned())),
            Kind::Special => panic!("{path}"),
        })
        .collect();
    all.sort();
    all
}

/// A section of a git diff that renames a file and changes nothing in it.
fn rename(from: &str, to: &str) -> String {
    format!(
        "diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n"
    )
}

/// A section that makes a file of one line.
fn add(path: &str, line: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n\
         @@ -0,0 +1 @@\n+{line}\n"
    )
}

/// A section that deletes a file of one line.
fn delete(path: &str, line: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n\
         @@ -1 +0,0 @@\n-{line}\n"
    )
}

/// A section that changes the one line of a file.
fn change(path: &str, old: &str, new: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"
    )
}

type Files = &'static [(&'static str, &'static str)];

/// What is there before, the sections, and what is there after.
fn simultaneous() -> Vec<(&'static str, Files, String, Files)> {
    const A_B: Files = &[("a", "1\n"), ("b", "2\n")];
    vec![
        ("a swap", A_B, rename("a", "b") + &rename("b", "a"), &[("a", "2\n"), ("b", "1\n")]),
        (
            "a circle of three",
            &[("a", "1\n"), ("b", "2\n"), ("c", "3\n")],
            rename("a", "b") + &rename("b", "c") + &rename("c", "a"),
            &[("a", "3\n"), ("b", "1\n"), ("c", "2\n")],
        ),
        ("a chain", A_B, rename("a", "b") + &rename("b", "c"), &[("b", "1\n"), ("c", "2\n")]),
        (
            "a new file where one moved away",
            &[("a", "1\n")],
            add("a", "new") + &rename("a", "b"),
            &[("a", "new\n"), ("b", "1\n")],
        ),
        (
            "a rename with a change, over a deleted file",
            A_B,
            "diff --git a/a b/b\nsimilarity index 50%\nrename from a\nrename to b\n\
             --- a/a\n+++ b/b\n@@ -1 +1 @@\n-1\n+one\n"
                .to_owned()
                + &delete("b", "2"),
            &[("b", "one\n")],
        ),
        (
            "a directory becomes a file",
            &[("d/one", "1\n"), ("d/e/two", "2\n"), ("k", "k\n")],
            add("d", "file") + &delete("d/e/two", "2") + &delete("d/one", "1"),
            &[("d", "file\n"), ("k", "k\n")],
        ),
        (
            "a file becomes a directory",
            &[("d", "file\n")],
            add("d/e/one", "1") + &delete("d", "file"),
            &[("d/e/one", "1\n")],
        ),
        (
            "a file moves below its own name",
            &[("foo", "1\n")],
            rename("foo", "foo/baz"),
            &[("foo/baz", "1\n")],
        ),
        ("and back", &[("foo/baz", "1\n")], rename("foo/baz", "foo"), &[("foo", "1\n")]),
        (
            "directories go with their last file",
            &[("a/b/c/x", "x\n"), ("a/b/y", "y\n"), ("k", "k\n")],
            delete("a/b/c/x", "x") + &delete("a/b/y", "y"),
            &[("k", "k\n")],
        ),
        (
            "and stay with another",
            &[("a/b/x", "x\n"), ("a/y", "y\n")],
            rename("a/b/x", "n/x"),
            &[("a/y", "y\n"), ("n/x", "x\n")],
        ),
        (
            "a directory is used again",
            &[("a/x", "x\n")],
            delete("a/x", "x") + &add("a/y", "y"),
            &[("a/y", "y\n")],
        ),
        (
            "two diffs in a row: a file is renamed twice",
            &[("a", "1\n")],
            rename("a", "b") + &rename("b", "c"),
            &[("c", "1\n")],
        ),
        (
            "two diffs in a row: a file is changed, swapped, and changed again",
            A_B,
            change("a", "1", "one")
                + &rename("a", "b")
                + &rename("b", "a")
                + &change("b", "one", "1"),
            &[("a", "2\n"), ("b", "1\n")],
        ),
    ]
}

#[test]
fn sections_of_a_git_diff_are_simultaneous_and_undo_brings_all_back() {
    for (name, before, diff, after) in simultaneous() {
        let files: Vec<_> =
            before.iter().map(|(path, text)| (format!("w/{path}"), *text)).collect();
        let files: Vec<_> = files.iter().map(|(path, text)| (&**path, *text)).collect();
        let dir = place(&files);
        let work = dir.path().join("w");
        let call = |args: &[&str], input: &str| {
            run("apply-patch", &work, dir.path(), args, input.as_bytes())
        };
        let owned = |files: Files| -> Vec<(String, String)> {
            let owned = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
            let mut owned: Vec<_> = owned.collect();
            owned.sort();
            owned
        };
        let shown = call(&["-n"], &diff);
        assert_eq!(shown.code, 0, "{name}, shown: {shown:?}");
        assert_eq!(listed(&work), owned(before), "{name}, shown");
        let applied = call(&[], &diff);
        assert_eq!(applied.code, 0, "{name}: {applied:?}");
        assert_eq!(listed(&work), owned(after), "{name}");
        for (command, wanted) in [("undo", before), ("redo", after)] {
            let run = call(&[command], "");
            assert_eq!(run.code, 0, "{name}, {command}: {run:?}");
            assert_eq!(listed(&work), owned(wanted), "{name}, {command}");
        }
        let back = call(&["-R"], &diff);
        // Backwards, two diffs in a row could be one.
        if !name.starts_with("two diffs") {
            assert_eq!(back.code, 0, "{name}, in reverse: {back:?}");
            assert_eq!(listed(&work), owned(before), "{name}, in reverse");
        }
    }
}

#[test]
fn a_directory_with_a_file_that_the_diff_does_not_name_is_no_file() {
    let dir = place(&[("w/d/one", "1\n"), ("w/d/other", "2\n")]);
    let work = dir.path().join("w");
    let diff = delete("d/one", "1") + &add("d", "file");
    let run = run("apply-patch", &work, dir.path(), &["--json"], diff.as_bytes());
    assert_ne!(run.code, 0, "{run:?}");
    assert_eq!(listed(&work).len(), 2, "{run:?}");
}

#[test]
fn a_plain_diff_removes_emptied_directories_and_an_envelope_does_not() {
    let plain = "--- d/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    let envelope = "*** Begin Patch\n*** Delete File: d/x\n*** End Patch\n";
    for (patch, left) in [(plain, false), (envelope, true)] {
        let dir = place(&[("w/d/x", "x\n")]);
        let work = dir.path().join("w");
        let run = run("apply-patch", &work, dir.path(), &[] as &[&str], patch.as_bytes());
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(work.join("d").exists(), left, "{patch}");
    }
}

/// `named` counts a path once, however it is spelt.
#[test]
fn a_file_that_another_section_changes_is_not_replaced_however_it_is_spelt() {
    for other in ["y", "./y"] {
        let dir = place(&[("w/x", "x\n"), ("w/y", "y\n")]);
        let work = dir.path().join("w");
        let patch = format!(
            "*** Begin Patch\n*** Move File: x -> y\n*** Update File: {other}\n@@\n-y\n+z\n\
             *** End Patch\n"
        );
        let args = ["--overwrite", "--json"];
        let run = run("apply-patch", &work, dir.path(), &args, patch.as_bytes());
        assert!(run.stdout.contains("already_exists"), "{other}: {run:?}");
        assert_eq!(listed(&work).len(), 2, "{other}");
    }
}
