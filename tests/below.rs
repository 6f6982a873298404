//! Patches that a person applies in a directory below the top of a work tree, without `-C`.

use std::fs;

use crate::program::{place, run};

/// What the file at each place is then.
const A: &str = "a\n";
const B: &str = "b\n";

fn update(path: &str) -> String {
    format!("*** Update File: {path}\n@@\n-a\n+b\n")
}

fn add(path: &str) -> String {
    format!("*** Add File: {path}\n+b\n")
}

fn envelope(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

fn diff(path: &str) -> String {
    format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n")
}

fn git(path: &str) -> String {
    format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n")
}

fn git_new(path: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n\
         @@ -0,0 +1 @@\n+b\n"
    )
}

#[test]
fn paths_begin_here_or_at_the_top() {
    let both = |one: &str, other: &str| envelope(&(update(one) + &update(other)));
    let block = "pkg/only\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    let refused = Err(());
    for (patch, wanted) in [
        // A git diff begins at the top, whatever is here.
        (git("same"), Ok("same")),
        (git("pkg/only"), Ok("pkg/only")),
        (git("only"), refused),
        (git_new("new"), Ok("new")),
        (git_new("pkg/new"), Ok("pkg/new")),
        // Everything else: here, where all of it is here.
        (envelope(&update("same")), Ok("pkg/same")),
        (envelope(&update("only")), Ok("pkg/only")),
        (diff("same"), Ok("pkg/same")),
        // At the top, where nothing of it is here and all of it there.
        (envelope(&update("top")), Ok("top")),
        (envelope(&update("pkg/only")), Ok("pkg/only")),
        (envelope(&(update("pkg/only") + &add("pkg/new"))), Ok("pkg/new")),
        (diff("pkg/only"), Ok("pkg/only")),
        (block.to_owned(), Ok("pkg/only")),
        // What the patch makes itself need not be there.
        (envelope(&(add("new") + "*** Update File: new\n@@\n-b\n+b\n+c\n")), Ok("pkg/new")),
        // Mixed, or nowhere.
        (both("only", "top"), refused),
        (both("pkg/only", "none"), refused),
        // New files alone: here, unless their directory is at the top only.
        (envelope(&add("new")), Ok("pkg/new")),
        (envelope(&add("README")), Ok("pkg/README")),
        (envelope(&add("pkg/new")), Ok("pkg/new")),
        (envelope(&add("sub/new")), Ok("pkg/sub/new")),
        (envelope(&(add("lib/new") + &add("new"))), refused),
    ] {
        for preview in [true, false] {
            let dir = place(&[
                ("w/same", A),
                ("w/top", A),
                ("w/README", A),
                ("w/lib/x", A),
                ("w/sub/x", A),
                ("w/pkg/same", A),
                ("w/pkg/only", A),
                ("w/pkg/sub/x", A),
            ]);
            let top = dir.path().join("w");
            fs::create_dir(top.join(".git")).expect("a git directory");
            let flag: &[&str] = if preview { &["-n"] } else { &[] };
            let run = run("apply-patch", &top.join("pkg"), dir.path(), flag, patch.as_bytes());
            assert_eq!(run.code == 0, wanted.is_ok(), "{patch}: {run:?}");
            let Ok(path) = wanted else { continue };
            if preview {
                continue;
            }
            let found = fs::read_to_string(top.join(path)).unwrap_or_default();
            assert!(found.starts_with(B), "{patch}: {found}: {run:?}");
            // It is the one change.
            let untouched =
                ["same", "top", "pkg/same", "pkg/only"].iter().filter(|it| **it != path);
            for other in
                untouched.filter(|it| !patch.contains(&format!("pkg/{it}")) || !it.contains('/'))
            {
                if patch.contains("pkg/only") && *other == "pkg/only" {
                    continue;
                }
                assert_eq!(
                    fs::read_to_string(top.join(other)).expect("a file"),
                    A,
                    "{patch}: {other}"
                );
            }
            // The history is the project's, from here too.
            let undone =
                crate::program::run("apply-patch", &top.join("pkg"), dir.path(), &["undo"], b"");
            assert_eq!(undone.code, 0, "{patch}: {undone:?}");
        }
    }
}

#[test]
fn what_was_meant_is_said() {
    let dir = place(&[("w/top", A), ("w/pkg/only", A)]);
    let top = dir.path().join("w");
    fs::create_dir(top.join(".git")).expect("a git directory");
    let at = |args: &[&str], patch: &str| {
        run("apply-patch", &top.join("pkg"), dir.path(), args, patch.as_bytes())
    };
    let said = at(&["-n"], &envelope(&update("top"))).stderr;
    assert!(said.contains("note: the paths begin at the top of the work tree, .."), "{said}");
    // A git diff that was made relative to this directory.
    let refused = at(&[], &git("only"));
    assert!(refused.stderr.contains("use `-C .`"), "{refused:?}");
    assert_eq!(at(&["-n", "-C", "."], &git("only")).code, 0);
    // Whoever names the root is believed.
    assert_eq!(at(&["-n", "-C", "."], &envelope(&update("top"))).code, 1);
    assert_eq!(at(&["-n", "-C", ".."], &envelope(&update("top"))).code, 0);
    // So are other commands that look.
    for command in [&["check"][..], &["explain"], &["convert", "--to", "git"]] {
        assert_eq!(at(command, &envelope(&update("top"))).code, 0, "{command:?}");
    }
}
