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

/// A section about a link: `head` is what stands between its first line and its hunk.
fn link(path: &str, head: &str, lines: &[&str]) -> String {
    let names = match head {
        head if head.starts_with("new file") => {
            format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@")
        }
        head if head.starts_with("deleted") => {
            format!("--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@")
        }
        _ => format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@"),
    };
    let lines: String =
        lines.iter().map(|line| format!("{line}\n\\ No newline at end of file\n")).collect();
    format!("diff --git a/{path} b/{path}\n{head}\n{names}\n{lines}")
}

fn new_link(path: &str, target: &str) -> String {
    link(path, "new file mode 120000", &[&format!("+{target}")])
}

fn changed_link(path: &str, from: &str, to: &str) -> String {
    link(path, "index 1234567..89abcde 120000", &[&format!("-{from}"), &format!("+{to}")])
}

fn deleted_link(path: &str, target: &str) -> String {
    link(path, "deleted file mode 120000", &[&format!("-{target}")])
}

/// A workspace with files, and with links where the text is `-> target`.
fn with_links(files: Files) -> tempfile::TempDir {
    let dir = place(&[("home", "")]);
    for (path, text) in files {
        let at = dir.path().join("w").join(path);
        std::fs::create_dir_all(at.parent().expect("a folder")).expect("a folder");
        match text.strip_prefix("-> ") {
            Some(target) => testutils::posix::symlink(target, at).expect("a link"),
            None => std::fs::write(at, text).expect("a file"),
        }
    }
    dir
}

#[cfg(unix)]
#[test]
fn links_are_made_changed_and_deleted_where_they_are_approved() {
    let cases: Vec<(&str, Files, String, Files)> = vec![
        ("new", &[("x", "x\n")], new_link("l", "x"), &[("l", "-> x"), ("x", "x\n")]),
        ("dangling", &[], new_link("d/l", "../to/come"), &[("d/l", "-> ../to/come")]),
        (
            "a chain of two",
            &[],
            new_link("a", "b") + &new_link("b", "c"),
            &[("a", "-> b"), ("b", "-> c")],
        ),
        ("changed", &[("l", "-> x")], changed_link("l", "x", "y"), &[("l", "-> y")]),
        ("deleted", &[("l", "-> x"), ("k", "k\n")], deleted_link("l", "x"), &[("k", "k\n")]),
        (
            "a link becomes a file",
            &[("l", "-> x")],
            deleted_link("l", "x") + &add("l", "text"),
            &[("l", "text\n")],
        ),
        (
            "a file becomes a link",
            &[("l", "text\n")],
            delete("l", "text") + &new_link("l", "x"),
            &[("l", "-> x")],
        ),
        (
            "a directory becomes a link",
            &[("l/x", "x\n")],
            delete("l/x", "x") + &new_link("l", "m"),
            &[("l", "-> m")],
        ),
        (
            "a directory with another in it becomes a link",
            &[("l/d/x", "x\n")],
            delete("l/d/x", "x") + &new_link("l", "m"),
            &[("l", "-> m")],
        ),
        (
            "a link becomes a directory",
            &[("l", "-> x")],
            deleted_link("l", "x") + &add("l/y", "y"),
            &[("l/y", "y\n")],
        ),
        ("moved", &[("l", "-> x")], rename("l", "d/m"), &[("d/m", "-> x")]),
        (
            "copied",
            &[("l", "-> x")],
            rename("l", "m").replace("rename ", "copy "),
            &[("l", "-> x"), ("m", "-> x")],
        ),
        (
            "two that swap, and a file",
            &[("a", "-> x"), ("b", "-> y"), ("c", "c\n")],
            rename("a", "b") + &rename("b", "c") + &rename("c", "a"),
            &[("a", "c\n"), ("b", "-> x"), ("c", "-> y")],
        ),
        (
            "a link that was never approved goes",
            &[("l", "-> /etc/passwd")],
            deleted_link("l", "/etc/passwd") + &add("k", "k"),
            &[("k", "k\n")],
        ),
    ];
    for (name, before, diff, after) in cases {
        let dir = with_links(before);
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
        let shown = call(&["--allow", "**", "-n"], &diff);
        assert_eq!(shown.code, 0, "{name}, shown: {shown:?}");
        if !name.contains("never approved") && name != "deleted" && !name.starts_with("a link") {
            let refused = call(&["--json"], &diff);
            assert!(refused.stdout.contains("\"guarded\""), "{name}: {refused:?}");
        }
        assert_eq!(listed(&work), owned(before), "{name}, refused");
        let applied = call(&["--allow", "**"], &diff);
        assert_eq!(applied.code, 0, "{name}: {applied:?}");
        assert_eq!(listed(&work), owned(after), "{name}");
        for (command, wanted) in [("undo", before), ("redo", after)] {
            let shown = call(&[command, "-n"], "");
            assert_eq!(shown.code, 0, "{name}, {command}, shown: {shown:?}");
            let run = call(&[command], "");
            assert_eq!(run.code, 0, "{name}, {command}: {run:?}");
            assert_eq!(listed(&work), owned(wanted), "{name}, {command}");
        }
        if !name.contains("never approved") && name != "copied" {
            let back = call(&["-R", "--allow", "**"], &diff);
            assert_eq!(back.code, 0, "{name}, in reverse: {back:?}");
            assert_eq!(listed(&work), owned(before), "{name}, in reverse");
        }
    }
}

/// The refusal of a change that is there already names the flag; it helps for links too.
#[cfg(unix)]
#[test]
fn a_link_that_leads_there_already_is_left_out_where_that_is_asked_for() {
    let before: Files = &[("k", "k\n"), ("l", "-> x")];
    let diff = changed_link("l", "y", "x") + &change("k", "k", "K");
    for (args, code) in [(&["--allow", "l"][..], 1), (&["--allow", "l", "--skip-applied"], 0)] {
        let dir = with_links(before);
        let work = dir.path().join("w");
        let run = run("apply-patch", &work, dir.path(), args, diff.as_bytes());
        assert_eq!(run.code, code, "{run:?}");
        let k = if code == 0 { "K\n" } else { "k\n" };
        let wanted = [("k", k), ("l", "-> x")].map(|(path, text)| (path.into(), text.into()));
        assert_eq!(listed(&work), wanted, "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_that_lead_where_no_patch_may_go_are_refused() {
    let before: Files = &[
        ("x", "x\n"),
        ("l", "-> x"),
        ("out", "-> .."),
        ("in/f", "f\n"),
        (".env", "secret\n"),
        ("file", "text\n"),
    ];
    for (name, diff, reason) in [
        ("absolute", new_link("n", "/etc/passwd"), "link_target"),
        ("absolute, inside", new_link("n", "/"), "link_target"),
        ("out", new_link("n", "../x"), "symlink"),
        ("out of a directory", new_link("in/n", "../../x"), "symlink"),
        ("out through a link", new_link("n", "out/x"), "symlink"),
        ("up after a name", new_link("n", "in/../x"), "link_target"),
        ("empty", new_link("n", ""), "link_target"),
        ("a secret", new_link("n", ".env"), "forbidden"),
        ("git's directory", new_link("n", ".git/hooks"), "git_directory"),
        ("our directory", new_link("n", ".apply-patch/audit"), "state_directory"),
        ("changed to the outside", changed_link("l", "x", "../x"), "symlink"),
        ("another one", changed_link("l", "y", "in/f"), "other_link"),
        ("done already", changed_link("l", "y", "x"), "already_applied"),
        ("another one is deleted", deleted_link("l", "y"), "other_link"),
        ("a file is deleted as a link", deleted_link("file", "text"), "other_link"),
        ("a file is changed as a link", changed_link("file", "text", "x"), "other_link"),
        ("no link is there", changed_link("none", "x", "y"), "not_found"),
        ("a link is deleted as a file", delete("l", "x"), "symlink"),
        ("something is there", new_link("x", "file"), "exists"),
        ("a file below the new link", new_link("n", "in") + &add("n/g", "g"), "not_a_directory"),
        (
            "the link becomes a file in place",
            "diff --git a/l b/l\nold mode 120000\nnew mode 100644\n".to_owned(),
            "symlink",
        ),
    ] {
        let dir = with_links(before);
        let work = dir.path().join("w");
        let was = listed(&work);
        let args = ["--allow", "**", "--json"];
        let run = run("apply-patch", &work, dir.path(), &args, diff.as_bytes());
        assert_ne!(run.code, 0, "{name}: {run:?}");
        assert!(run.stdout.contains(&format!("\"{reason}\"")), "{name}: {run:?}");
        assert_eq!(listed(&work), was, "{name}");
    }
}

/// Applies a diff in a directory of the workspace, and returns what was said.
fn applied(
    files: Files,
    at: &str,
    args: &[&str],
    diff: &str,
) -> (tempfile::TempDir, crate::run::Run) {
    let dir = with_links(files);
    let work = dir.path().join("w").join(at);
    let run = run("apply-patch", &work, dir.path(), args, diff.as_bytes());
    (dir, run)
}

#[test]
fn of_two_names_the_one_that_is_there_is_meant() {
    for (files, names, changed) in [
        (&["f"][..], ("f", "f.new"), "f"),
        (&["f", "f.new"], ("f", "f.new"), "f"),
        (&["f.new"], ("f", "f.new"), "f.new"),
        (&["f", "f.orig"], ("f.orig", "f"), "f"),
        (&["f.orig"], ("f.orig", "f"), "f.orig"),
        (&["old.py"], ("old.py", "new.py"), "old.py"),
        (&["old.py", "new.py"], ("old.py", "new.py"), "new.py"),
        (&["d/x"], ("d/x", "e/x"), "d/x"),
    ] {
        let files: Vec<_> = files.iter().map(|file| (format!("w/{file}"), "1\n")).collect();
        let files: Vec<_> = files.iter().map(|(file, text)| (&**file, *text)).collect();
        let dir = place(&files);
        let work = dir.path().join("w");
        let diff = format!("--- {}\n+++ {}\n@@ -1 +1 @@\n-1\n+2\n", names.0, names.1);
        let run = run("apply-patch", &work, dir.path(), &[] as &[&str], diff.as_bytes());
        assert_eq!(run.code, 0, "{names:?}: {run:?}");
        let now: Vec<_> = listed(&work).into_iter().filter(|(_, text)| text == "2\n").collect();
        assert_eq!(now, [(changed.to_owned(), "2\n".to_owned())], "{names:?}");
    }
    // None is there: the diff makes the file.
    let diff = "--- f\n+++ f.new\n@@ -0,0 +1 @@\n+1\n";
    let (dir, run) = applied(&[], "", &[], diff);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(listed(&dir.path().join("w")), [("f".to_owned(), "1\n".to_owned())]);
}

/// Subversion and CVS say it behind the names, and GNU patch takes the epoch for it. A file of which
/// lines would be left is not deleted, and one that the diff only empties stays.
#[test]
fn a_deleted_file_is_told_by_what_stands_behind_its_name() {
    const SVN: &str =
        "Index: f\n===================================================================\n";
    const CVS: &str = "Index: f\n===================================================================\n\
                       RCS file: /cvs/f,v\nretrieving revision 1.1\ndiff -u -r1.1 f\n";
    const HUNK: &str = "@@ -1,2 +0,0 @@\n-1\n-2\n";
    let stamp = "1 Jan 2001 00:00:00 -0000\t1.1";
    let gone: &[(String, String)] = &[];
    let kept = |text: &str| vec![("f".to_owned(), text.to_owned())];
    for (head, file, code, now) in [
        (format!("{SVN}--- f\t(revision 3)\n+++ f\t(nonexistent)\n"), "1\n2\n", 0, gone.to_vec()),
        (format!("{SVN}--- f  (revision 3)\n+++ f  (nonexistent)\n"), "1\n2\n", 0, gone.to_vec()),
        (
            format!("{CVS}--- f\t{stamp}\n+++ /dev/null\t1 Jan 1970 00:00:00 -0000\n"),
            "1\n2\n",
            0,
            gone.to_vec(),
        ),
        (
            format!("{CVS}--- f\t{stamp}\n+++ f\t1 Jan 1970 00:00:00 -0000\n"),
            "1\n2\n",
            0,
            gone.to_vec(),
        ),
        (format!("{SVN}--- f\t(revision 3)\n+++ f\t(working copy)\n"), "1\n2\n", 0, kept("")),
        (format!("--- f\t{stamp}\n+++ f\t1970-01-01 00:00:01 +0000\n"), "1\n2\n", 0, kept("")),
        (
            format!("{SVN}--- f\t(revision 3)\n+++ f\t(nonexistent)\n"),
            "1\n2\n3\n",
            1,
            kept("1\n2\n3\n"),
        ),
    ] {
        let diff = format!("{head}{HUNK}");
        let dir = place(&[("w/f", file)]);
        let work = dir.path().join("w");
        let done = run("apply-patch", &work, dir.path(), &[] as &[&str], diff.as_bytes());
        assert_eq!(done.code, code, "{diff}: {done:?}");
        assert_eq!(listed(&work), now, "{diff}");
        if code == 0 {
            let undo = run("apply-patch", &work, dir.path(), &["undo"], b"");
            assert_eq!(undo.code, 0, "{diff}: {undo:?}");
            assert_eq!(listed(&work), kept(file), "{diff}");
        }
    }
    // A new file of CVS.
    let head = format!("{CVS}--- /dev/null\t1 Jan 1970 00:00:00 -0000\n+++ f\t{stamp}\n");
    for head in [head, format!("{CVS}--- f\t1 Jan 1970 00:00:00 -0000\n+++ f\t{stamp}\n")] {
        let (dir, run) = applied(&[], "", &[], &format!("{head}@@ -0,0 +1 @@\n+1\n"));
        assert_eq!(run.code, 0, "{head}: {run:?}");
        assert_eq!(listed(&dir.path().join("w")), kept("1\n"), "{head}");
    }
}

#[test]
fn in_a_subdirectory_the_paths_of_a_git_diff_begin_at_the_top_of_the_work_tree() {
    const BEFORE: Files = &[(".git/config", ""), ("sub/f", "1\n"), ("f", "1\n")];
    let git = |path: &str| change(path, "1", "2");
    let plain = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-1\n+2\n");
    for (diff, changed) in [
        (git("sub/f"), Some("sub/f")),
        (git("f"), Some("f")),
        (git("sub/f") + &add("sub/new", "2"), Some("sub/f")),
        // Other diffs begin where their files are.
        (plain("sub/f"), Some("sub/f")),
        (plain("f"), Some("sub/f")),
        (plain("sub/f") + &plain("f"), None),
    ] {
        let (dir, run) = applied(BEFORE, "sub", &[], &diff);
        assert_eq!(run.code == 0, changed.is_some(), "{diff}: {run:?}");
        let text = |path| std::fs::read_to_string(dir.path().join("w").join(path)).expect("a file");
        for path in ["f", "sub/f"] {
            let wanted = if changed == Some(path) { "2\n" } else { "1\n" };
            assert_eq!(text(path), wanted, "{diff}: {path}");
        }
    }
    // The names are those of the work tree even where all files are new, and once only.
    let (dir, run) = applied(BEFORE, "sub", &[], &add("sub/sub/new", "2"));
    assert_eq!(run.code, 0, "{run:?}");
    assert!(dir.path().join("w/sub/sub/new").exists(), "{run:?}");
}

#[test]
fn carriage_returns_of_a_diff_that_was_stored_with_them_say_nothing() {
    let diff = "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+C\n c\n";
    let gone = "--- a/f\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n";
    for file_ends in ["\n", "\r\n"] {
        for diff_ends in ["\n", "\r\n"] {
            for (diff, after) in [(diff, Some("a\nB\nC\nc\n")), (gone, None)] {
                let ends = |text: &str, end: &str| text.replace('\n', end);
                let dir = place(&[("w/f", &ends("a\nb\nc\n", file_ends))]);
                let work = dir.path().join("w");
                let input = ends(diff, diff_ends);
                let run = run("apply-patch", &work, dir.path(), &["apply"], input.as_bytes());
                assert_eq!(run.code, 0, "{file_ends:?} {diff_ends:?}: {run:?}");
                let now = std::fs::read_to_string(work.join("f")).ok();
                let wanted = after.map(|after| ends(after, file_ends));
                assert_eq!(now, wanted, "{file_ends:?} {diff_ends:?}");
            }
        }
    }
}

#[test]
fn where_all_files_have_parts_too_many_the_number_is_named() {
    const BEFORE: Files = &[("d/x", "1\n"), ("y", "1\n")];
    let plain = |path: &str| format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-1\n+2\n");
    for (diff, args, number) in [
        (plain("p/q/d/x") + &plain("p/q/y"), &[][..], Some(2)),
        (change("p/d/x", "1", "2") + &change("p/y", "1", "2"), &[], Some(2)),
        (plain("p/q/d/x") + &plain("p/q/y"), &["-p", "1"], Some(2)),
        // Not by the same number, and not all.
        (plain("p/q/d/x") + &plain("q/y"), &[], None),
        (plain("p/q/d/x") + &plain("p/q/z"), &[], None),
    ] {
        let (_, run) = applied(BEFORE, "", args, &diff);
        assert_ne!(run.code, 0, "{diff}: {run:?}");
        let hint = number.map(|number| format!("`--strip {number}`"));
        assert_eq!(
            run.stderr.contains("--strip"),
            hint.is_some(),
            "{diff} {args:?}: {}",
            run.stderr
        );
        let Some(hint) = hint else { continue };
        assert!(run.stderr.contains(&hint), "{diff} {args:?}: {}", run.stderr);
        let number = number.expect("there is one").to_string();
        let (_, run) = applied(BEFORE, "", &["-p", &number], &diff);
        assert_eq!(run.code, 0, "{diff}: {run:?}");
    }
}

/// A picture, a link and a mode in one diff: applied, undone, redone, and on a branch, where git
/// itself makes the same tree.
#[cfg(unix)]
#[test]
fn a_picture_a_link_and_a_mode_are_applied_undone_and_committed_as_git_does() {
    let dir = place(&[("w/run.sh", "true\n"), ("w/old.txt", "old\n")]);
    let work = dir.path().join("w");
    let git = |args: &[&str]| {
        let run = crate::program::run_other("git", &work, dir.path(), args, b"");
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        run.stdout.trim_end().to_owned()
    };
    std::fs::write(work.join("p.png"), [0x89, b'P', b'N', b'G', 0, 1, 2, 3]).expect("a file");
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.name", "A"]);
    git(&["config", "user.email", "a@example.com"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "one"]);
    std::fs::write(work.join("p.png"), [0x89, b'P', b'N', b'G', 0, 3, 2, 1, 0]).expect("a file");
    std::fs::remove_file(work.join("old.txt")).expect("a file");
    std::os::unix::fs::symlink("run.sh", work.join("link")).expect("a link");
    testutils::tree::set_mode(&work.join("run.sh"), 0o755);
    git(&["add", "."]);
    let wanted = git(&["write-tree"]);
    let diff = git(&["diff", "--cached", "--binary"]) + "\n";
    git(&["reset", "-q", "--hard"]);
    let before = look(&work, false);
    let call = |args: &[&str], input: &str| {
        let run = run("apply-patch", &work, dir.path(), args, input.as_bytes());
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
    };
    let tree = || {
        git(&["add", "-A"]);
        let tree = git(&["write-tree"]);
        git(&["reset", "-q"]);
        tree
    };
    let old = tree();
    call(&["--allow", "link"], &diff);
    assert_eq!(tree(), wanted);
    call(&["undo"], "");
    assert_eq!(tree(), old);
    for (path, entry) in before.iter().filter(|(path, _)| !path.starts_with(".git")) {
        assert_eq!(look(&work, false).get(path), Some(entry), "{path}");
    }
    call(&["redo"], "");
    assert_eq!(tree(), wanted);
    call(&["-R", "--allow", "link"], &diff);
    assert_eq!(tree(), old);
    let args = ["git", "--onto", "main", "--branch", "new", "-m", "two", "--allow", "link"];
    call(&args, &diff);
    assert_eq!(git(&["rev-parse", "new^{tree}"]), wanted);
}

/// A directory has no commit of a submodule to change: the hint leaves it out, and so does a
/// pattern. What only reads the diff takes it.
#[test]
fn a_submodule_is_left_out_of_a_directory() {
    let id = |digit: &str| digit.repeat(40);
    let header = |lines: &str| format!("diff --git a/m [1]/x b/m [1]/x\n{lines}");
    let bump = header(&format!(
        "index 1111111..2222222 160000\n--- a/m [1]/x\n+++ b/m [1]/x\n@@ -1 +1 @@\n\
         -Subproject commit {}\n+Subproject commit {}\n",
        id("1"),
        id("2")
    ));
    let new = header(&format!(
        "new file mode 160000\nindex 0000000..2222222\n--- /dev/null\n+++ b/m [1]/x\n\
         @@ -0,0 +1 @@\n+Subproject commit {}\n",
        id("2")
    ));
    let deleted = header(&format!(
        "deleted file mode 160000\nindex 1111111..0000000\n--- a/m [1]/x\n+++ /dev/null\n\
         @@ -1 +0,0 @@\n-Subproject commit {}\n",
        id("1")
    ));
    let moved =
        "diff --git a/m [1]/x b/m2\nsimilarity index 100%\nrename from m [1]/x\nrename to m2\n";
    let log = "Submodule m [1]/x 1111111..2222222:\n  > a title\n  > diff --git a/y b/y\n";
    let counted = |counts: &str, summary: &str| (counts.to_owned(), summary.to_owned());
    for (submodule, (counts, summary)) in [
        (&bump[..], counted("1\t1", "")),
        (log, counted("1\t1", "")),
        (&new, counted("1\t0", " create mode 160000 m [1]/x\n")),
        (&deleted, counted("0\t1", " delete mode 160000 m [1]/x\n")),
    ] {
        for diff in
            [change("f", "a", "b") + submodule, submodule.to_owned() + &change("f", "a", "b")]
        {
            let dir = place(&[("w/f", "a\n"), ("w/m [1]/x/inside", "it is checked out\n")]);
            let (root, home) = (dir.path().join("w"), dir.path());
            let call = |args: &[&str]| run("apply-patch", &root, home, args, diff.as_bytes());
            let refused = call(&[]);
            assert_eq!(refused.code, 1, "{diff}: {refused:?}");
            let hint = "use `--exclude 'm [[]1[]]/x'`";
            assert!(refused.stderr.contains(hint), "{diff}: {refused:?}");
            assert_eq!(std::fs::read_to_string(root.join("f")).expect("f"), "a\n");
            assert_eq!(call(&["-n", "--numstat"]).stdout.lines().count(), 2, "{diff}");
            let numstat = call(&["-n", "--numstat"]).stdout;
            assert!(numstat.contains(&format!("{counts}\tm [1]/x\n")), "{diff}: {numstat}");
            assert_eq!(call(&["-n", "--summary"]).stdout, summary, "{diff}");
            assert_eq!(call(&["-n", "--stat"]).code, 0, "{diff}");
            for args in [&["--exclude", "m [[]1[]]/x"][..], &["-R", "--include", "f"]] {
                let taken = call(args);
                assert_eq!(taken.code, 0, "{diff}: {taken:?}");
                let said = "left out, as their paths are excluded: m [1]/x";
                assert!(taken.stderr.contains(said), "{diff}: {taken:?}");
            }
            assert_eq!(std::fs::read_to_string(root.join("f")).expect("f"), "a\n");
        }
    }
    let dir = place(&[("w/f", "a\n"), ("w/m [1]/x/inside", "it is checked out\n")]);
    let diff = change("f", "a", "b") + moved;
    let call = |args: &[&str]| {
        run("apply-patch", &dir.path().join("w"), dir.path(), args, diff.as_bytes())
    };
    let refused = call(&[]);
    assert!(refused.stderr.contains("use `--exclude m2`"), "{refused:?}");
    assert_eq!(call(&["--exclude", "m2"]).code, 0);
}

/// As git has it, the attributes of all directories from the top of the work tree down to the file
/// hold, whatever the root is; the last one that names the file decides.
#[test]
fn whitespace_attributes_above_the_root_hold() {
    let patch = "--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-a\n+b \n";
    let warned = "it adds whitespace errors in 1 line (patch line 5: blank-at-eol)";
    for (top, middle, own, is_git, is_error) in [
        ("", "", "", true, true),
        ("*.txt -whitespace\n", "", "", true, false),
        ("/w/d/f.txt -whitespace\n", "", "", true, false),
        ("/f.txt -whitespace\n", "", "", true, true),
        ("", "d/*.txt -whitespace\n", "", true, false),
        ("*.txt -whitespace\n", "f.txt whitespace=trailing-space\n", "", true, true),
        ("*.txt -whitespace\n", "", "*.txt !whitespace\n", true, true),
        ("*.txt -whitespace\n", "", "", false, true),
    ] {
        let dir = place(&[
            ("t/.gitattributes", top),
            ("t/w/.gitattributes", middle),
            ("t/w/d/.gitattributes", own),
            ("t/w/d/f.txt", "a\n"),
        ]);
        if is_git {
            crate::git::git(&dir.path().join("t"), &["init", "-q"]);
        }
        let root = dir.path().join("t/w/d");
        for args in [&["-n", "--whitespace=error"][..], &["-n", "--whitespace=error", "-C", "."]] {
            let run = run("apply-patch", &root, dir.path(), args, patch.as_bytes());
            assert_eq!(run.code, i32::from(is_error), "{top}{middle}{own}: {run:?}");
            assert_eq!(run.stderr.contains(warned), is_error, "{top}{middle}{own}: {run:?}");
        }
    }
}

#[test]
fn every_output_says_that_a_hunk_is_not_in_its_stated_line() {
    let diff = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n c\n-d\n+D\n";
    let said = "hunk 1 is at line 3, 2 lines below its stated line 1";
    let tool = serde_json::json!({ "patch": diff }).to_string();
    let home = place(&[]);
    for args in [
        &["-n"][..],
        &["check"],
        &["explain"],
        &["check", "--json"],
        &[],
        &["-v"],
        &["--json"],
        &["--events", "jsonl"],
        &["tool", "apply_patch", "--args", &tool],
    ] {
        let dir = place(&[("f", "a\nb\nc\nd\n")]);
        let run = run("apply-patch", dir.path(), home.path(), args, diff.as_bytes());
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        let all = format!("{}{}", run.stdout, run.stderr).replace("\n             ", " ");
        let said = if args == ["explain"] { said.trim_start_matches("hunk 1 ") } else { said };
        assert!(all.contains(said), "{args:?}: {run:?}");
    }
}

#[test]
fn verbose_says_how_each_hunk_was_placed() {
    let diff = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -3,2 +3,2 @@\n c\n-d\n+D\n";
    let wanted = "apply-patch: f: Hunk 1 (patch line 3) replaces 1 line by 1 at lines 1-3: its 3 \
                  old lines stand there exactly, and nowhere else.\n\
                  apply-patch: f: Hunk 2 (patch line 8) replaces 1 line by 1 at lines 3-4: its 2 \
                  old lines stand there exactly, and nowhere else.\n";
    let home = place(&[]);
    for args in [&["-v"][..], &["-n", "-v"], &["check", "-v"]] {
        let dir = place(&[("f", "a\nb\nc\nd\n")]);
        let run = run("apply-patch", dir.path(), home.path(), args, diff.as_bytes());
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        assert!(run.stderr.contains(wanted), "{args:?}: {}", run.stderr);
    }
}
