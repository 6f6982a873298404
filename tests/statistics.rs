//! `--stat`, `--numstat` and `--summary`: of a diff alone, of a plan, and of what was applied.

use std::fs;

use crate::program::{place, printed, run};

/// A diff of files that are not there; one has a name that the guard refuses.
const DIFF: &str = "diff --git a/d/e/old.txt b/d/f/new.txt
old mode 100644
new mode 100755
similarity index 90%
rename from d/e/old.txt
rename to d/f/new.txt
--- a/d/e/old.txt
+++ b/d/f/new.txt
@@ -1,2 +1,3 @@
 a
-b
+c
+d
diff --git a/x b/y
similarity index 100%
copy from x
copy to y
diff --git a/m b/m
old mode 100755
new mode 100644
diff --git a/r b/r
dissimilarity index 95%
--- a/r
+++ b/r
@@ -1 +1 @@
-a
+b
diff --git \"a/t\\tab\" \"b/t\\tab\"
new file mode 100755
--- /dev/null
+++ \"b/t\\tab\"
@@ -0,0 +1 @@
+1
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1,2 +0,0 @@
-1
-2
--- /dev/null
+++ b/plain
@@ -0,0 +1 @@
+1
";

/// The same of binary files, without their bytes.
const BINARY: &str = "diff --git a/bin b/bin
index 8352675..6ed5d51 100644
Binary files a/bin and b/bin differ
diff --git a/gone b/gone
deleted file mode 100644
index 8352675..0000000
Binary files a/gone and /dev/null differ
diff --git a/new b/new
new file mode 100755
index 0000000..8352675
Binary files /dev/null and b/new differ
diff --git a/unseen b/unseen
deleted file mode 100644
index 422c2b7..0000000
";

const ENVELOPE: &str = "*** Begin Patch
*** Update File: a
@@
-one
+two
*** Add File: b
+1
*** Delete File: gone
*** End Patch
";

const STAT: &str = "\
R d/e/old.txt -> d/f/new.txt | +2 -1
C x -> y | +0 -0
M m | +0 -0
M r | +1 -1
A t\tab | +1 -0
D gone | +0 -2
A plain | +1 -0
2 created, 2 updated, 1 copied, 1 moved, 1 deleted, 5 lines inserted, 4 deleted
";

const NUMSTAT: &str = "\
2\t1\td/f/new.txt
0\t0\ty
0\t0\tm
1\t1\tr
1\t0\t\"t\\tab\"
0\t2\tgone
1\t0\tplain
";

const SUMMARY: &str = " rename d/{e/old.txt => f/new.txt} (90%)
 mode change 100644 => 100755
 copy x => y (100%)
 mode change 100755 => 100644 m
 rewrite r (95%)
 create mode 100755 t\tab
 delete mode 100644 gone
 create plain
";

#[test]
fn a_diff_alone_needs_no_files() {
    let dir = place(&[("d.diff", DIFF)]);
    let w = dir.path().join("w");
    let without_copy = DIFF.replace("diff --git a/x b/y\nsimilarity index 100%\n", "");
    let without_copy = without_copy.replace("copy from x\ncopy to y\n", "");
    fs::write(dir.path().join("r.diff"), without_copy).expect("a file");
    for (args, file, wanted) in [
        ("-n --stat", "d.diff", STAT),
        ("--check --stat", "d.diff", STAT),
        ("-n --numstat", "d.diff", NUMSTAT),
        ("--check --numstat --from unified", "d.diff", NUMSTAT),
        ("-n --numstat -z", "d.diff", &NUMSTAT.replace("\"t\\tab\"", "t\tab").replace('\n', "\0")),
        ("-n --summary", "d.diff", SUMMARY),
        ("-n --summary --numstat", "d.diff", &format!("{NUMSTAT}{SUMMARY}")),
        (
            "-n -R --numstat",
            "r.diff",
            "0\t1\tplain\n2\t0\tgone\n0\t1\t\"t\\tab\"\n1\t1\tr\n0\t0\tm\n1\t2\td/e/old.txt\n",
        ),
        (
            "-n -R --summary",
            "r.diff",
            " delete plain\n create mode 100644 gone\n delete mode 100755 t\tab\n \
             rewrite r (95%)\n mode change 100644 => 100755 m\n \
             rename d/{f/new.txt => e/old.txt} (90%)\n mode change 100755 => 100644\n",
        ),
    ] {
        let file = format!("../{file}");
        let args: Vec<_> =
            std::iter::once("apply").chain(args.split(' ')).chain([&*file]).collect();
        let run = run("apply-patch", &w, dir.path(), &args, b"");
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        assert_eq!(run.stdout, wanted, "{args:?}");
    }
    assert_eq!(fs::read_dir(&w).expect("a folder").count(), 0, "nothing is written");
}

#[test]
fn git_prints_the_same() {
    let dir = place(&[("w/d.diff", DIFF), ("w/b.diff", BINARY)]);
    let w = dir.path().join("w");
    for args in [
        &["--numstat", "d.diff"][..],
        &["--numstat", "-z", "d.diff"],
        &["--summary", "d.diff"],
        &["-p1", "--summary", "d.diff"],
        &["--numstat", "b.diff"],
        &["--summary", "b.diff"],
    ] {
        let ours = printed(&w, dir.path(), &[&["apply", "-n"], args].concat(), b"");
        let mut git = std::process::Command::new("git");
        git.arg("apply").args(args).current_dir(&w);
        git.env("GIT_CEILING_DIRECTORIES", dir.path());
        let theirs = git.output().expect("git runs").stdout;
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        assert_eq!(text(ours), text(theirs), "{args:?}");
    }
    let stat = printed(&w, dir.path(), &["apply", "-n", "--stat", "b.diff"], b"");
    assert_eq!(
        String::from_utf8_lossy(&stat),
        "M bin | Bin\nD gone | Bin\nA new | Bin\nD unseen | +0 -0\n1 created, 1 updated, 2 \
         deleted, 0 lines inserted, 0 deleted\n"
    );
}

#[test]
fn programs_get_the_statistics_as_data() {
    let dir = place(&[("d.diff", DIFF), ("w/a", "one\n"), ("w/gone", "1\n2\n"), ("p", ENVELOPE)]);
    let w = dir.path().join("w");
    let call = |args: &str| {
        let args: Vec<_> = args.split(' ').collect();
        let run = run("apply-patch", &w, dir.path(), &args, b"");
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        run.json().expect("one object")["data"].clone()
    };
    let data = call("apply --json --check --summary ../d.diff");
    assert_eq!(
        data["statistics"][0],
        serde_json::json!({
            "operation": "move", "path": "d/e/old.txt", "toPath": "d/f/new.txt", "inserted": 2,
            "deleted": 1, "oldMode": "100644", "newMode": "100755", "similarity": 90,
        })
    );
    assert_eq!(data["statistics"].as_array().map(Vec::len), Some(7));
    let planned = call("apply --json -n --numstat ../p");
    let applied = call("apply --json --stat ../p");
    assert_eq!(planned["statistics"], applied["statistics"]);
    assert_eq!(
        applied["statistics"][2],
        serde_json::json!({
            "operation": "delete", "path": "gone", "inserted": 0, "deleted": 2, "oldMode": "100644",
        })
    );
    assert_eq!(applied["changedFiles"].as_array().map(Vec::len), Some(3));
}

#[test]
fn what_is_planned_or_applied_is_counted() {
    let wanted = "1\t1\ta\n1\t0\tb\n0\t2\tgone\n create mode 100644 b\n delete mode 100644 gone\n";
    for (args, applies) in [("-n", false), ("--check", false), ("-q", true)] {
        let dir = place(&[("w/a", "one\n"), ("w/gone", "1\n2\n"), ("p", ENVELOPE)]);
        let w = dir.path().join("w");
        let args = ["apply", args, "--numstat", "--summary", "../p"];
        let run = run("apply-patch", &w, dir.path(), &args, b"");
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        assert_eq!(run.stdout, wanted, "{args:?}");
        assert_eq!(w.join("b").exists(), applies, "{args:?}");
    }
}

#[test]
fn an_envelope_needs_its_files() {
    let dir = place(&[("p", ENVELOPE)]);
    let args = ["apply", "-n", "--numstat", "../p"];
    let run = run("apply-patch", &dir.path().join("w"), dir.path(), &args, b"");
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(run.stdout, "");
}
