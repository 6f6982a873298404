//! `--directory`, `--include` and `--exclude`: where the files of a patch are, and which are taken.

use std::fs;
use std::process::Command;

use crate::program::{Run, place, run};
use testutils::tree::outside_state;

const DIFF: &str = "diff --git a/old b/sub/new
similarity index 50%
rename from old
rename to sub/new
--- a/old
+++ b/sub/new
@@ -1,2 +1,2 @@
 one
-two
+TWO
--- /dev/null
+++ b/sub/n.c
@@ -0,0 +1 @@
+1
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-1
";

const ENVELOPE: &str = "*** Begin Patch
*** Update File: old
*** Move to: sub/new
@@
 one
-two
+TWO
*** Add File: ./sub/n.c
+1
*** Delete File: gone
*** End Patch
";

/// The files that both are for, beneath `directory`.
fn files(directory: &str) -> tempfile::TempDir {
    let (old, gone) = (format!("w/{directory}old"), format!("w/{directory}gone"));
    place(&[("p.diff", DIFF), ("p", ENVELOPE), (&old, "one\ntwo\n"), (&gone, "1\n")])
}

fn call(dir: &tempfile::TempDir, args: &[&str]) -> Run {
    run("apply-patch", &dir.path().join("w"), dir.path(), args, b"")
}

/// The names of all files.
fn names(dir: &tempfile::TempDir) -> Vec<String> {
    let w = dir.path().join("w");
    let found = outside_state(&w);
    let files = found.filter(|(_, entry)| entry.file_type().is_file()).map(|(path, _)| path);
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}

#[test]
fn all_paths_go_beneath_the_directory() {
    for patch in ["../p.diff", "../p"] {
        for directory in
            ["dir/in", "dir/in/", "./dir/in", "dir//in", "dir/./in", "dir/../dir/in", "x/../dir/in"]
        {
            let dir = files("dir/in/");
            let run = call(&dir, &["--create-parents", "--directory", directory, patch]);
            assert_eq!(run.code, 0, "{directory}: {run:?}");
            assert_eq!(names(&dir), ["dir/in/sub/n.c", "dir/in/sub/new"], "{directory}");
            let undone = call(&dir, &["undo"]);
            assert_eq!(undone.code, 0, "{undone:?}");
            assert_eq!(names(&dir), ["dir/in/gone", "dir/in/old"], "{directory}");
        }
    }
}

#[test]
fn a_directory_outside_of_the_root_is_refused() {
    for directory in ["..", "../w", "dir/../..", "/tmp", "/"] {
        let dir = files("");
        let run = call(&dir, &["--directory", directory, "../p.diff"]);
        assert_eq!(run.code, 2, "{directory}: {run:?}");
        assert_eq!(names(&dir), ["gone", "old"], "{directory}");
    }
    // A path of the patch itself, too.
    let dir = files("");
    let text = "*** Begin Patch\n*** Add File: ../n\n+1\n*** End Patch\n";
    fs::write(dir.path().join("p"), text).expect("a file");
    let run = call(&dir, &["--create-parents", "--directory", "dir", "../p"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert_eq!(names(&dir), ["gone", "old"]);
}

#[test]
fn only_the_files_that_are_wanted_change() {
    let all = ["sub/n.c", "sub/new"];
    for (args, wanted) in [
        (&["--include=*"][..], &all[..]),
        (&["--include=*.c"], &["gone", "old", "sub/n.c"]),
        (&["--include=sub/*"], &["gone", "sub/n.c", "sub/new"]),
        (&["--include", "n.c"], &["gone", "old"]),
        // A moved file counts by its new path.
        (&["--include=old"], &["gone", "old"]),
        (&["--exclude=old"], &all),
        (&["--exclude=sub/new"], &["old", "sub/n.c"]),
        (&["--exclude=gone", "--exclude=sub/n*"], &["gone", "old"]),
        (&["--exclude=gone", "--include=*"], &["gone", "sub/n.c", "sub/new"]),
        (&["--include=*", "--exclude=gone"], &all),
        (&["--exclude=other", "--include=another"], &["gone", "old"]),
    ] {
        for patch in ["../p.diff", "../p"] {
            let dir = files("");
            let run = call(&dir, &[args, &["--create-parents", patch]].concat());
            assert_eq!(run.code, 0, "{args:?}: {run:?}");
            assert_eq!(names(&dir), wanted, "{args:?} {patch}");
        }
    }
}

#[test]
fn git_takes_the_same_files() {
    for args in [
        "--include=*.c",
        "--include=sub/*",
        "--include=old",
        "--exclude=old",
        "--exclude=sub/new",
        "--exclude=gone --include=*",
        "--include=* --exclude=gone",
        "--exclude=other --include=another",
        "--exclude=*",
        "-R --include=old",
        "-R --exclude=old",
        "--directory=dir --include=sub/*",
        "--directory=dir --include=dir/sub/*",
        "-p2 --include=n.c",
        "--include=sub/[!a-m]*",
        "--include=sub?n.c",
        "--include=SUB/*",
    ] {
        let dir = files("");
        let w = dir.path().join("w");
        let diff = if args.contains("-p2") {
            DIFF[DIFF.find("--- /dev").expect("a plain file")
                ..DIFF.find("diff --git a/gone").expect("a file")]
                .to_owned()
        } else {
            DIFF.to_owned()
        };
        fs::write(w.join("d.diff"), diff).expect("a file");
        let mut git = Command::new("git");
        git.args(["apply", "--numstat"]).args(args.split(' ')).arg("d.diff").current_dir(&w);
        git.env("GIT_CEILING_DIRECTORIES", dir.path());
        let theirs = git.output().expect("git runs");
        assert!(theirs.status.success(), "{args}: {theirs:?}");
        let ours: Vec<_> =
            ["apply", "-n", "--numstat"].into_iter().chain(args.split(' ')).collect();
        let ours = call(&dir, &[&ours[..], &["d.diff"]].concat());
        assert_eq!(ours.code, 0, "{args}: {ours:?}");
        assert_eq!(ours.stdout, String::from_utf8_lossy(&theirs.stdout), "{args}");
    }
}

#[test]
fn what_is_left_out_is_told() {
    let left_out = "left out, as their paths are excluded: sub/new, gone";
    for (args, patch) in [("apply", "../p.diff"), ("check", "../p"), ("explain", "../p.diff")] {
        let dir = files("");
        let args = [args, "--exclude=gone", "--include=*.c", "--create-parents", patch];
        let run = call(&dir, &args);
        assert_eq!(run.code, 0, "{run:?}");
        if args[0] != "explain" {
            assert!(run.stderr.contains(&format!("note: {left_out}\n")), "{run:?}");
        }
        assert!(!run.stdout.contains("gone"), "{run:?}");
    }
    let dir = files("");
    let run = call(&dir, &["--json", "--create-parents", "--include=*.c", "../p.diff"]);
    let data = run.json().expect("one object")["data"].clone();
    assert_eq!(data["notes"], serde_json::json!([left_out]));
    assert_eq!(data["changedFiles"].as_array().map(Vec::len), Some(1));
}

#[test]
fn where_nothing_is_left_nothing_is_done() {
    for args in [&["apply"][..], &["apply", "-n"], &["apply", "--check"], &["check"], &["explain"]]
    {
        let dir = files("");
        let run = call(&dir, &[args, &["--exclude=*", "../p.diff"]].concat());
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        assert_eq!(names(&dir), ["gone", "old"], "{args:?}");
        assert!(!dir.path().join("w/.apply-patch").exists(), "{args:?}: {run:?}");
    }
}

#[test]
fn a_broken_pattern_is_a_usage_error() {
    let dir = files("");
    let run = call(&dir, &["--include=[a", "../p.diff"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("`include`: \"[a\" is not a glob"), "{run:?}");
}

#[test]
fn the_rest_of_a_patch_is_another_patch() {
    let dir = files("");
    let first = call(&dir, &["--include=gone", "../p.diff"]);
    assert_eq!(first.code, 0, "{first:?}");
    let again = call(&dir, &["--include=gone", "../p.diff"]);
    assert!(again.stderr.contains("has done this already"), "{again:?}");
    let rest = call(&dir, &["--exclude=gone", "../p.diff"]);
    assert_eq!(rest.code, 0, "{rest:?}");
    assert_eq!(names(&dir), ["sub/n.c", "sub/new"]);
}

#[test]
fn a_kept_patch_is_amended_for_the_same_paths_only() {
    let dir = files("dir/");
    let wrong = DIFF.replace("-two", "-2");
    fs::write(dir.path().join("p.diff"), wrong).expect("a file");
    // Where there is a state, a refused patch is kept.
    let first = "*** Begin Patch\n*** Add File: dir/first\n+1\n*** End Patch\n";
    fs::write(dir.path().join("first"), first).expect("a file");
    assert_eq!(call(&dir, &["../first"]).code, 0);
    let rules = ["--directory=dir", "--exclude=dir/sub/n.c"];
    let refused = call(&dir, &[&["--json"], &rules[..], &["../p.diff"]].concat());
    assert_eq!(refused.code, 1, "{refused:?}");
    let answer = refused.json().expect("one object");
    let id = answer["error"]["details"]["patchId"].as_str().expect("it is kept").to_owned();
    let part = &DIFF[..DIFF.find("--- /dev").expect("another file")];
    fs::write(dir.path().join("part.diff"), part).expect("a file");
    let elsewhere = call(&dir, &["--amend", &id, "../part.diff"]);
    assert_eq!(elsewhere.code, 1, "{elsewhere:?}");
    assert!(elsewhere.stderr.contains("give the same `directory`"), "{elsewhere:?}");
    let run = call(&dir, &[&["--amend", &id], &rules[..], &["../part.diff"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(names(&dir), ["dir/first", "dir/sub/new"]);
}

#[test]
fn other_forms_and_commands_know_them() {
    let dir = files("dir/");
    let rules = ["--directory=dir", "--exclude=dir/gone"];
    let converted =
        call(&dir, &[&["convert", "--to", "envelope"], &rules[..], &["../p.diff"]].concat());
    assert_eq!(converted.code, 0, "{converted:?}");
    assert_eq!(
        converted.stdout,
        "*** Begin Patch\n*** Update File: dir/old\n*** Move to: dir/sub/new\n@@\n one\n-two\n\
         +TWO\n*** Add File: dir/sub/n.c\n+1\n*** End Patch\n"
    );
    let converted = call(&dir, &["convert", "--to", "envelope", "--include=gone", "../p"]);
    assert_eq!(converted.stdout, "*** Begin Patch\n*** Delete File: gone\n*** End Patch\n");
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        let done = git.args(args).current_dir(dir.path().join("w")).output().expect("git runs");
        assert!(done.status.success(), "{args:?}: {done:?}");
        String::from_utf8(done.stdout).expect("UTF-8")
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.name", "a"]);
    git(&["config", "user.email", "a@example.com"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "files"]);
    let made = call(
        &dir,
        &[&["git", "--onto", "main", "--branch", "made"], &rules[..], &["../p.diff"]].concat(),
    );
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(
        git(&["ls-tree", "-r", "--name-only", "made"]),
        "dir/gone\ndir/sub/n.c\ndir/sub/new\n"
    );
}
