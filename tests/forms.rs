//! The same change in other forms: the instructions' examples, diffs, the built-in operations of
//! the Responses API, and texts of extreme sizes.

use std::path::Path;

use file_tools::specs::EXAMPLES;
use serde_json::{Value, json};

use crate::program::{Run, run, run_other};
use testutils::share::whole;
use testutils::tree::outside_state;

fn write(dir: &Path, path: &str, content: &[u8]) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
    std::fs::write(path, content).expect("a file");
}

fn read(dir: &Path, path: &str) -> Option<String> {
    std::fs::read(dir.join(path)).ok().map(|bytes| String::from_utf8(bytes).expect("UTF-8"))
}

/// A workspace with these files, and a home beside it.
fn workspace(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(dir.path().join("w")).expect("a folder");
    for (path, content) in files {
        write(&dir.path().join("w"), path, content.as_bytes());
    }
    dir
}

fn call(dir: &tempfile::TempDir, args: &[&str], input: &[u8]) -> Run {
    run("apply-patch", &dir.path().join("w"), dir.path(), args, input)
}

/// A text of another form than the one that is named is read when the advice is obeyed.
#[test]
fn a_text_of_another_form_is_read_as_advised() {
    let texts = [
        ("envelope", "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** End Patch\n"),
        ("unified", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+y\n"),
        ("blocks", "a.txt\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"),
        (
            "openai",
            r#"[{"type":"apply_patch_call","call_id":"1","operation":{"type":"update_file","path":"a.txt","diff":"@@\n-x\n+y\n"}}]"#,
        ),
    ];
    for (form, _) in texts {
        for (own, text) in texts {
            let dir = workspace(&[("a.txt", "x\n")]);
            let named = call(&dir, &["--json", "--from", form], text.as_bytes());
            if form != own {
                assert_eq!(named.code, 1, "{form} {own}: {named:?}");
                let hints = &named.json().expect("JSON")["error"]["hints"];
                assert_eq!(hints[0]["flag"], "--from auto", "{form} {own}: {hints}");
                assert_eq!(call(&dir, &["--from", "auto"], text.as_bytes()).code, 0, "{own}");
            }
            assert_eq!(
                read(&dir.path().join("w"), "a.txt").as_deref(),
                Some("y\n"),
                "{form} {own}"
            );
        }
    }
}

/// A name as `git status` prints it is the file's, at every place of a patch that names one.
#[test]
fn a_name_in_the_quoting_of_git_is_read_as_git_reads_it() {
    let update =
        "*** Begin Patch\n*** Update File: \"caf\\303\\251.py\"\n@@\n-x\n+y\n*** End Patch\n";
    let block = "\"caf\\303\\251.py\"\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n";
    let moved = update.replace("@@", "*** Move to: \"\\303\\251/b.py\"\n@@");
    let added = "*** Begin Patch\n*** Add File: \"n\\303\\251.py\"\n+y\n*** Delete File: \
                 \"caf\\303\\251.py\"\n*** End Patch\n";
    for (patch, name) in [
        (update, "caf\u{e9}.py"),
        (block, "caf\u{e9}.py"),
        (&moved, "\u{e9}/b.py"),
        (added, "n\u{e9}.py"),
    ] {
        let dir = workspace(&[("caf\u{e9}.py", "x\n"), ("\u{e9}/a", "a\n")]);
        let run = call(&dir, &[], patch.as_bytes());
        assert_eq!(run.code, 0, "{patch}: {run:?}");
        assert_eq!(read(&dir.path().join("w"), name).as_deref(), Some("y\n"), "{patch}");
        if patch.starts_with("***") {
            assert!(run.stderr.contains("note: normalised line 2: read `"), "{run:?}");
        }
    }
    // Without its quotes, and in the call of a tool, it is what is meant.
    let dir = workspace(&[("caf\u{e9}.py", "x\n")]);
    let run = call(&dir, &[], update.replace('"', "").as_bytes());
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.stderr.contains("did you mean caf\u{e9}.py?"), "{run:?}");
    for path in ["caf\\303\\251.py", "\"caf\\303\\251.py\""] {
        let args = json!({ "path": path }).to_string();
        let answer = call(&dir, &["tool", "read_file", "--args", &args], b"");
        let answer = answer.json().expect("JSON");
        assert_eq!(answer["error"]["details"]["didYouMean"], "caf\u{e9}.py", "{answer}");
    }
    // No file with such a name is there, and none is made up.
    let run = call(&dir, &[], update.replace('"', "").replace("251", "250").as_bytes());
    assert!(!run.stderr.contains("did you mean"), "{run:?}");
}

#[test]
fn a_patch_that_is_cut_off_in_its_first_line_is_cut_off() {
    for patch in
        ["*** Begin Patch", "*** Begin Patch\n", "So:\n```\n*** Begin Patch", "***Begin Patch"]
    {
        let dir = workspace(&[("a.txt", "x\n")]);
        let said = "the patch was cut off: it ends without `*** End Patch`";
        let link = run("apply_patch", &dir.path().join("w"), dir.path(), &[patch], b"");
        for run in [call(&dir, &[], patch.as_bytes()), link] {
            assert_eq!(run.code, 1, "{patch}: {run:?}");
            assert!(run.stderr.contains(said), "{patch}: {run:?}");
            assert!(!run.stderr.contains("second"), "{patch}: {run:?}");
        }
        let args = json!({ "patch": patch }).to_string();
        let answer = call(&dir, &["tool", "apply_patch", "--args", &args], b"");
        let answer = answer.json().expect("JSON");
        assert_eq!(answer["error"]["details"]["reason"], "no_end", "{answer}");
    }
}

#[test]
fn the_examples_of_the_instructions_give_what_they_say_under_every_profile() {
    for example in EXAMPLES {
        for profile in ["strict", "codex"] {
            let files: Vec<_> =
                example.before.iter().map(|file| (file.path, file.content)).collect();
            let dir = workspace(&files);
            // Parents are created only on request in `strict`.
            let run =
                call(&dir, &["--profile", profile, "--create-parents"], example.patch.as_bytes());
            assert_eq!(run.code, 0, "{}: {profile}: {run:?}", example.title);
            for file in example.before.iter().chain(example.after) {
                let wanted = example
                    .after
                    .iter()
                    .find(|after| after.path == file.path)
                    .map(|after| after.content);
                let found = read(&dir.path().join("w"), file.path);
                assert_eq!(found.as_deref(), wanted, "{}: {profile}: {}", example.title, file.path);
            }
        }
    }
    assert!(EXAMPLES.len() >= 3, "the instructions show something");
}

const FILES: &[(&str, &str)] = &[
    ("src/a.py", "def f():\n    x = 1\n    y = 2\n"),
    ("old.txt", "1\n2\n3\n"),
    ("gone.txt", "g\n"),
];

const PATCH: &str = "*** Begin Patch\n*** Update File: src/a.py\n@@ def f():\n     x = 1\n\
                     -    y = 2\n+    y = 3\n*** Add File: new.txt\n+one\n+two\n\
                     *** Delete File: gone.txt\n*** Update File: old.txt\n*** Move to: moved.txt\n\
                     @@\n 1\n-2\n 3\n*** End Patch\n";

/// All files of the workspace but the program's own.
fn tree(dir: &tempfile::TempDir) -> Vec<(String, String)> {
    let root = dir.path().join("w");
    let mut files: Vec<_> = outside_state(&root)
        .filter(|(_, entry)| !entry.path().is_dir())
        .map(|(name, _)| (name.clone(), read(&root, &name).expect("a file")))
        .collect();
    files.sort();
    files
}

#[test]
fn a_patch_and_its_diff_make_the_same_change() {
    let direct = workspace(FILES);
    assert_eq!(call(&direct, &[], PATCH.as_bytes()).code, 0);

    let dir = workspace(FILES);
    let git = call(&dir, &["convert", "--to", "git"], PATCH.as_bytes());
    assert_eq!(git.code, 0, "{git:?}");
    assert!(git.stdout.contains("rename from old.txt\nrename to moved.txt\n"), "{}", git.stdout);
    let envelope =
        call(&dir, &["convert", "--from", "unified", "--to", "envelope"], git.stdout.as_bytes());
    assert_eq!(envelope.code, 0, "{envelope:?}");
    let applied = call(&dir, &[], envelope.stdout.as_bytes());
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(tree(&dir), tree(&direct));

    let dir = workspace(FILES);
    let applied = call(&dir, &["apply", "--from", "unified"], git.stdout.as_bytes());
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(tree(&dir), tree(&direct));
}

#[test]
fn git_takes_the_diff_of_a_dry_run() {
    let dir = workspace(FILES);
    let diff = call(&dir, &["-n"], PATCH.as_bytes());
    assert_eq!(diff.code, 0, "{diff:?}");
    let root = dir.path().join("w");
    let git =
        |args: &[&str]| std::process::Command::new("git").args(args).current_dir(&root).output();
    if git(&["init", "-q"]).is_err() {
        testutils::skip!("there is no git");
        return;
    }
    write(dir.path(), "d.patch", diff.stdout.as_bytes());
    let applied = git(&["apply", "../d.patch"]).expect("git runs");
    assert!(applied.status.success(), "{applied:?}");
    std::fs::remove_dir_all(root.join(".git")).expect("made above");
    let direct = workspace(FILES);
    assert_eq!(call(&direct, &[], PATCH.as_bytes()).code, 0);
    assert_eq!(tree(&dir), tree(&direct));
}

#[test]
fn what_a_form_cannot_say_is_an_error() {
    let dir = workspace(FILES);
    let unified = &["convert", "--to", "unified", "--allow", "n"][..];
    for (args, input, said) in [
        (&["convert", "--from", "unified", "--to", "envelope"][..], "hello\n", "not a unified"),
        (&["convert", "--from", "openai", "--to", "envelope"], "[]", "there is no"),
        (
            unified,
            "*** Begin Patch\n*** Move File: old.txt -> x.txt\n*** End Patch\n",
            "cannot express",
        ),
        // With an edit too: `--- a/old.txt`, `+++ b/x.txt` would change the file where it is.
        (
            unified,
            "*** Begin Patch\n*** Move File: old.txt -> x.txt\n@@\n-2\n+two\n*** End Patch\n",
            "cannot express",
        ),
        (
            unified,
            "diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n",
            "cannot express",
        ),
        (
            unified,
            "diff --git a/old.txt b/old.txt\nold mode 100644\nnew mode 100755\n\
             --- a/old.txt\n+++ b/old.txt\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n",
            "cannot express",
        ),
        (
            unified,
            "diff --git a/n b/n\nnew file mode 120000\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n\
             +old.txt\n\\ No newline at end of file\n",
            "cannot express",
        ),
    ] {
        let run = call(&dir, args, input.as_bytes());
        assert!(run.code == 1 || run.code == 5, "{args:?}: {run:?}");
        assert_eq!(run.stdout, "", "{args:?}");
        assert!(!run.stderr.is_empty(), "{args:?}: {run:?}");
        assert!(run.stderr.contains(said), "{args:?}: {run:?}");
    }
}

/// For git they are two things: it takes no diff in which the one becomes the other.
#[test]
fn a_file_that_becomes_a_link_is_shown_to_go_and_to_come() {
    let dir = workspace(FILES);
    std::os::unix::fs::symlink("old.txt", dir.path().join("w/link")).expect("a link");
    write(&dir.path().join("w"), "one", b"1\n");
    let end = "\n\\ No newline at end of file\n";
    let diff = format!(
        "diff --git a/link b/link\ndeleted file mode 120000\n--- a/link\n+++ /dev/null\n\
         @@ -1 +0,0 @@\n-old.txt{end}\
         diff --git a/link b/link\nnew file mode 100644\n--- /dev/null\n+++ b/link\n\
         @@ -0,0 +1 @@\n+1\n\
         diff --git a/one b/one\ndeleted file mode 100644\n--- a/one\n+++ /dev/null\n\
         @@ -1 +0,0 @@\n-1\n\
         diff --git a/one b/one\nnew file mode 120000\n--- /dev/null\n+++ b/one\n\
         @@ -0,0 +1 @@\n+old.txt{end}"
    );
    let allowed = ["--allow", "link", "--allow", "one"];
    let dry = call(&dir, &[&["-n"][..], &allowed].concat(), diff.as_bytes());
    assert_eq!(dry.stdout, diff, "{dry:?}");
    let again = call(&dir, &allowed, dry.stdout.as_bytes());
    assert_eq!(again.code, 0, "{again:?}");
    let shown = call(&dir, &["show", "last"], b"");
    assert!(shown.stdout.contains("\nnew file mode 120000\n"), "{shown:?}");
}

#[test]
fn a_mode_is_shown_approved_logged_and_undone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = workspace(FILES);
    let file = dir.path().join("w/gone.txt");
    let mode = || std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("a mode");
    let diff = "diff --git a/gone.txt b/gone.txt\nold mode 100644\nnew mode 100755\n";
    let dry = call(&dir, &["-n", "--from", "unified"], diff.as_bytes());
    assert_eq!(dry.code, 0, "{dry:?}");
    assert_eq!(&*dry.stdout, diff, "{dry:?}");
    assert_eq!(mode(), 0o640, "{dry:?}");
    let applied = call(&dir, &["--from", "unified"], diff.as_bytes());
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(&*applied.stdout, "M gone.txt\n", "{applied:?}");
    assert_eq!(mode(), 0o750, "{applied:?}");
    let log = call(&dir, &["log", "-p"], b"");
    assert!(log.stdout.contains(diff), "{log:?}");
    let verified = call(&dir, &["log", "--verify"], b"");
    assert_eq!(verified.code, 0, "{verified:?}");
    let undone = call(&dir, &["undo"], b"");
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(mode(), 0o640, "{undone:?}");
    let redone = call(&dir, &["redo"], b"");
    assert_eq!(redone.code, 0, "{redone:?}");
    assert_eq!(mode(), 0o750, "{redone:?}");
}

#[test]
fn a_diff_becomes_an_envelope_or_says_why_not() {
    let head = "--- a/old.txt\n+++ b/old.txt\n";
    for (args, diff, code, wanted) in [
        (
            &["--to", "envelope"][..],
            format!("{head}@@ -1,2 +1,2 @@\n 1\r\n-2\r\n+3\n"),
            0,
            "*** Begin Patch\n*** Update File: old.txt\n@@\n 1\r\n-2\r\n+3\n*** End Patch\n",
        ),
        (
            &["--to", "openai"],
            format!("{head}@@ -1,2 +1,2 @@\n 1\n-2\n+3\n"),
            0,
            r#""diff":"@@\n 1\n-2\n+3\n""#,
        ),
        (
            &["--to", "envelope"],
            "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n".into(),
            1,
            "x: an envelope cannot express the mode of a file",
        ),
        (
            &["--to", "openai"],
            "diff --git a/x b/y\ncopy from x\ncopy to y\n".into(),
            1,
            "x: an envelope cannot express a copy",
        ),
        (
            &["--to", "envelope", "-p", "3"],
            format!("{head}@@ -1 +1 @@\n-1\n+2\n"),
            1,
            "a path with as many parts as are to be left out",
        ),
        (
            &["--to", "envelope"],
            format!("{head}@@ -1,9 +1,9 @@\n-1\n+2\n"),
            0,
            "the numbers of the hunk do not fit its lines",
        ),
        // The numbers are lost, and a change may be missing.
        (
            &["--to", "envelope"],
            format!("{head}@@ -1,9 +1 @@\n-1\n+2\n"),
            1,
            "the diff was cut off: its last hunk promises 9 old and 1 new lines, and has 1 and 1",
        ),
        (&["--to", "envelope", "--recount"], format!("{head}@@ -1,9 +1 @@\n-1\n+2\n"), 0, "+2"),
    ] {
        let dir = workspace(FILES);
        let run = call(&dir, &[&["convert", "--from", "unified"], args].concat(), diff.as_bytes());
        assert_eq!(run.code, code, "{diff}: {run:?}");
        assert!(format!("{}{}", run.stdout, run.stderr).contains(wanted), "{diff}: {run:?}");
    }
    let dir = workspace(FILES);
    let run = call(&dir, &["-p", "1"], PATCH.as_bytes());
    assert!(run.code == 2, "{run:?}");
    assert!(run.stderr.contains("`strip` is about the paths of a diff"), "{run:?}");
}

/// In a git diff files move at one time, in an envelope one after the other.
#[test]
fn an_envelope_has_the_moves_of_a_diff_in_an_order_that_works() {
    let moves = |pairs: &[(&str, &str)]| {
        let one = |(from, to): &(&str, &str)| {
            format!(
                "diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\n\
                 rename to {to}\n"
            )
        };
        pairs.iter().map(one).collect::<String>()
    };
    let files = [("a", "a\n"), ("b", "b\n"), ("c", "c\n"), ("d/x", "x\n")];
    for (pairs, code) in [
        (&[("a", "b"), ("b", "e")][..], 0),
        (&[("a", "b"), ("b", "c"), ("c", "e")], 0),
        (&[("c", "e"), ("a", "b"), ("b", "c")], 0),
        (&[("a", "d"), ("d/x", "x")], 5),
        (&[("b", "a/b"), ("a", "e")], 0),
        (&[("a", "b"), ("b", "a")], 5),
        (&[("c", "e"), ("a", "b"), ("b", "d/y"), ("d/x", "a")], 0),
        (&[("a", "b"), ("b", "c"), ("c", "a")], 5),
    ] {
        let diff = moves(pairs);
        let dir = workspace(&files);
        let envelope = call(&dir, &["convert", "--to", "envelope"], diff.as_bytes());
        assert_eq!(envelope.code, code, "{pairs:?}: {envelope:?}");
        if code != 0 {
            assert!(envelope.stderr.contains("follow one another"), "{envelope:?}");
            continue;
        }
        let at_once = workspace(&files);
        for (dir, patch) in [(&dir, &envelope.stdout), (&at_once, &diff)] {
            let run = call(dir, &["apply", "--create-parents"], patch.as_bytes());
            assert_eq!(run.code, 0, "{pairs:?}: {patch}: {run:?}");
        }
        assert_eq!(tree(&dir), tree(&at_once), "{pairs:?}");
    }
}

fn item(call_id: &str, operation: Value) -> Value {
    json!({
        "type": "apply_patch_call", "id": "x", "call_id": call_id, "status": "completed",
        "operation": operation,
    })
}

fn outputs(run: &Run) -> Vec<(String, String, String)> {
    let value: Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let outputs = value.as_array().expect("a list").iter();
    outputs
        .map(|output| {
            assert_eq!(output["type"], "apply_patch_call_output");
            (text(&output["call_id"]), text(&output["status"]), text(&output["output"]))
        })
        .collect()
}

#[test]
fn operations_are_one_transaction_and_each_call_is_answered() {
    let dir = workspace(FILES);
    let items = json!([
        item("c1", json!({
            "type": "update_file", "path": "src/a.py",
            "diff": "@@ def f():\n     x = 1\n-    y = 2\n+    y = 3\n",
        })),
        { "type": "message" },
        item("c2", json!({ "type": "create_file", "path": "n.txt", "diff": "+one\n+two" })),
        item("c3", json!({ "type": "delete_file", "path": "gone.txt" })),
    ]);
    let run = call(&dir, &["ops"], items.to_string().as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    let answers = outputs(&run);
    assert!(answers.iter().all(|(_, status, _)| status == "completed"), "{answers:?}");
    assert_eq!(answers.iter().map(|(id, ..)| id.as_str()).collect::<Vec<_>>(), ["c1", "c2", "c3"]);
    // That API's own applier joins the lines of a new file and ends it without a line feed.
    assert_eq!(read(&dir.path().join("w"), "n.txt").as_deref(), Some("one\ntwo"));
    let undone = call(&dir, &["undo"], b"");
    assert_eq!(undone.code, 0, "one undo is enough: {undone:?}");
    assert_eq!(tree(&dir), tree(&workspace(FILES)));
}

#[test]
fn one_bad_operation_keeps_all_from_happening() {
    let good = item("good", json!({ "type": "delete_file", "path": "gone.txt" }));
    for (bad, words) in [
        (
            json!({ "type": "update_file", "path": "src/a.py", "diff": "@@\n-nope\n" }),
            "old lines are not in the file",
        ),
        (
            json!({ "type": "create_file", "path": "old.txt2", "diff": "no plus" }),
            "must begin with `+`",
        ),
        (
            json!({
                "type": "update_file", "path": "src/a.py",
                "diff": "@@\n-    x = 1\n*** Delete File: old.txt",
            }),
            "its own file",
        ),
        // Two stacked headers must both be there, even if the place is the only one.
        (
            json!({
                "type": "update_file", "path": "src/a.py",
                "diff": "@@ class A\n@@ def f():\n-    x = 1\n",
            }),
            "names no line",
        ),
        (json!({ "type": "delete_file", "path": "../x" }), "climbs out"),
    ] {
        let dir = workspace(FILES);
        let items = json!([good.clone(), item("bad", bad.clone())]);
        let run = call(&dir, &["ops"], items.to_string().as_bytes());
        assert!(run.code != 0, "{bad}");
        let answers = outputs(&run);
        assert!(answers.iter().all(|(_, status, _)| status == "failed"), "{bad}: {answers:?}");
        assert!(answers[1].2.contains(words), "{bad}: {answers:?}");
        assert!(answers[0].2.contains("another operation"), "{bad}: {answers:?}");
        assert_eq!(tree(&dir), tree(&workspace(FILES)), "{bad}");
    }
}

#[test]
fn a_patch_that_became_operations_ends_a_file_as_it_did() {
    let patch = b"*** Begin Patch\n*** Update File: a\n@@\n-y\n+z\n*** End Patch\n";
    for (before, wanted) in [("x\ny", "x\nz"), ("x\ny\n", "x\nz\n")] {
        for forms in [&["ops"][..], &["apply"]] {
            let dir = workspace(&[("a", before)]);
            let items = call(&dir, &["convert", "--to", "openai"], patch);
            let run = call(&dir, forms, items.stdout.as_bytes());
            assert_eq!(run.code, 0, "{run:?}");
            assert_eq!(read(&dir.path().join("w"), "a").as_deref(), Some(wanted), "{forms:?}");
        }
    }
}

#[test]
fn a_single_header_that_is_not_there_does_not_keep_an_operation_from_its_only_place() {
    let dir = workspace(FILES);
    let items = json!([item(
        "c",
        json!({
            "type": "update_file", "path": "src/a.py",
            "diff": "@@ class A\n-    x = 1\n+    x = 2\n",
        })
    )]);
    let run = call(&dir, &["ops"], items.to_string().as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn texts_of_extreme_sizes_end_in_a_clear_answer() {
    let megabyte = "x".repeat(1 << 20);
    let lines = if whole() { 1 << 20 } else { 1 << 15 };
    let sections = |count: usize| "*** Add File: f\n+x\n".repeat(count);
    for (text, code, words) in [
        (String::new(), 1, "the patch is empty"),
        ("\n".repeat(lines), 1, "the patch is empty"),
        (megabyte.clone(), 1, "there is no patch in the text"),
        (format!("*** Begin Patch\n*** Add File: f\n+{megabyte}\n*** End Patch\n"), 0, ""),
        (
            format!("*** Begin Patch\n*** Add File: f\n{megabyte}\n*** End Patch\n"),
            1,
            "must begin with `+`",
        ),
        (
            format!("*** Begin Patch\n{}*** End Patch\n", sections(10_001)),
            1,
            "more than 10000 file operations",
        ),
        (
            format!("*** Begin Patch\n{}*** End Patch\n", sections(10_000)),
            1,
            "this would replace a file that section 1 of the patch",
        ),
        (format!("*** Begin Patch\n*** Add File: f\n{}", "+x\n".repeat(lines)), 1, "ends without"),
    ] {
        let dir = workspace(&[]);
        let run = call(&dir, &["--durability", "none"], text.as_bytes());
        assert_eq!(
            run.code,
            code,
            "{}…: {}",
            &text[..text.len().min(60)],
            &run.stderr[..run.stderr.len().min(300)]
        );
        assert!(
            run.stderr.contains(words),
            "{}…: {}",
            &text[..text.len().min(60)],
            &run.stderr[..run.stderr.len().min(300)]
        );
        assert!(run.stderr.len() < 3 << 20, "an error is not as long as its cause");
        assert_eq!(tree(&dir).len(), usize::from(code == 0));
    }
    let dir = workspace(&[]);
    let run = call(&dir, &["--json"], &vec![b' '; (64 << 20) + 1]);
    assert_eq!(run.code, 5);
    assert_eq!(run.json().expect("JSON")["error"]["kind"].clone(), json!("file_too_large"));
}

#[test]
fn standard_input_that_is_a_file_is_read_from_where_it_stands() {
    let text = "no patch\n*** Begin Patch\n*** Add File: a\n+1\n*** End Patch\n";
    for (line, code, words) in [
        (r#"{ read -r first; "$0"; } < ../text"#, 0, ""),
        (r#"ln -s "$0" ../apply_patch; { read -r first; ../apply_patch; } < ../text"#, 0, ""),
        (r#""$0" --from envelope < ../text"#, 1, "other text before"),
        (r#""$0" < ../text"#, 0, "left out line 1"),
        (r#"truncate -s 65M ../text; "$0" < ../text"#, 5, "longer than 64 MiB"),
        (r#""$0" < .."#, 5, "cannot read standard input"),
    ] {
        let dir = workspace(&[]);
        write(dir.path(), "text", text.as_bytes());
        let args = ["-c", line, env!("CARGO_BIN_EXE_apply-patch")];
        let run = run_other("sh", &dir.path().join("w"), dir.path(), &args, b"");
        assert!(run.code == code, "{line}: {run:?}");
        assert!(run.stderr.contains(words), "{line}: {run:?}");
        assert_eq!(
            read(&dir.path().join("w"), "a"),
            (code == 0).then(|| "1\n".to_owned()),
            "{line}"
        );
    }
}

#[test]
fn grammars_specs_and_instructions_are_printed() {
    let dir = workspace(&[]);
    for format in ["pest", "lark", "gbnf", "ebnf", "regex"] {
        for dialect in ["whole", "codex", "tight"] {
            let run = call(&dir, &["grammar", "--format", format, "--dialect", dialect], b"");
            assert_eq!(run.code, 0, "{run:?}");
            assert!(run.stdout.contains("Begin Patch"), "{format} {dialect}");
        }
    }
    let tight = call(&dir, &["grammar", "--tight"], b"");
    assert_eq!(tight.stdout, call(&dir, &["grammar", "--dialect", "tight"], b"").stdout);
    for provider in file_tools::specs::Provider::ALL {
        let run = call(&dir, &["tool-spec", "--provider", provider.as_str()], b"");
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str::<Value>(&run.stdout)
            .unwrap_or_else(|error| panic!("{provider:?}: {error}"));
    }
    let prompt = call(&dir, &["prompt"], b"");
    assert!(prompt.code == 0);
    assert!(prompt.stdout.contains("*** Begin Patch"));
}

/// What is left out or overlooked is said of a conversion as of a change.
#[test]
fn a_conversion_says_what_was_not_taken_as_it_stands() {
    let dir = workspace(FILES);
    let two = "*** Begin Patch\n*** Update File: old.txt\n@@\n-1 \n+one\n*** Add File: b\n+b\n\
               *** End Patch\n";
    for (args, input, noted) in [
        (&["--to", "envelope", "--include", "b"][..], two, "are excluded: old.txt"),
        (&["--to", "git", "--include", "b"], two, "are excluded: old.txt"),
        (&["--to", "git", "--fuzz", "trailing"], two, "was matched with fuzz `trailing`"),
        (&["--to", "openai"], &format!("Here it is:\n{two}"), "left out line 1"),
        (
            &["--to", "envelope", "--from", "openai"],
            "{\"type\":\"delete_file\",\"path\":\"old.txt\"}",
            "took operations without their call items",
        ),
    ] {
        let run = call(&dir, &[&["convert"], args].concat(), input.as_bytes());
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        assert!(run.stderr.contains(noted), "{args:?}: {run:?}");
        let answer = call(&dir, &[&["convert", "--json"], args].concat(), input.as_bytes());
        let data = &answer.json().expect("one object")["data"];
        assert!(data["notes"].to_string().contains(noted), "{args:?}: {data}");
        match data["text"].as_str() {
            Some(text) => assert_eq!(text, run.stdout, "{args:?}"),
            None => assert_eq!(data["items"].to_string(), run.stdout.trim_end(), "{args:?}"),
        }
    }
}
