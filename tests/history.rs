//! The history as people read it: from every directory of a project, by names that can be typed, in
//! the width of a terminal.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Run, clean, on_terminal, place, run};

/// A work tree of git with two directories.
fn project() -> TempDir {
    let dir = place(&[
        ("w/top", "t\n"),
        ("w/src/a.py", "a\n"),
        ("w/src/b.py", "b\n"),
        ("w/doc/c", "c\n"),
    ]);
    fs::create_dir(dir.path().join("w/.git")).expect("a git directory");
    dir
}

/// Runs the program in a directory of the project.
fn at(dir: &TempDir, below: &str, args: &[&str], input: &str) -> Run {
    run("apply-patch", &dir.path().join("w").join(below), dir.path(), args, input.as_bytes())
}

fn patch(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

fn apply(dir: &TempDir, below: &str, body: &str) -> String {
    let run = at(dir, below, &["--json", "--profile", "codex"], &patch(body));
    let answer = run.json().expect("JSON");
    answer["data"]["transactionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn read(dir: &TempDir, path: &str) -> String {
    fs::read_to_string(dir.path().join("w").join(path)).unwrap_or_else(|_| "none".into())
}

const A: &str = "*** Update File: a.py\n@@\n-a\n+A\n";
const BOTH: &str = "*** Update File: src/a.py\n@@\n-a\n+A\n*** Update File: doc/c\n@@\n-c\n+C\n";

#[test]
fn one_history_is_seen_from_every_directory_with_paths_from_there() {
    let dir = project();
    let id = apply(&dir, "src", A);
    assert!(!dir.path().join("w/src/.apply-patch").exists());
    assert!(dir.path().join("w/.apply-patch").is_dir());
    for (below, path) in [("", "src/a.py"), ("src", "a.py"), ("doc", "../src/a.py")] {
        let log = at(&dir, below, &["log"], "");
        let wanted = format!("{}    just now  1 file: {path}  (apply)\n", &id[23..]);
        assert_eq!(log.stdout, wanted, "{below}");
        assert_eq!(log.stderr, String::new(), "{below}");
        let shown = at(&dir, below, &["show", "last"], "");
        assert!(shown.stdout.contains(&format!("\nM {path}\n")), "{shown:?}");
        let status = at(&dir, below, &["status", "--json"], "").json().expect("JSON");
        assert_eq!(status["data"]["last"]["files"][0]["path"], path, "{status}");
        assert_eq!(
            status["data"]["state"],
            dir.path().join("w/.apply-patch").display().to_string()
        );
    }
    // What was done elsewhere in the project is undone and redone from here, and named as it is
    // seen from here.
    apply(&dir, "", BOTH.replace("a.py\n@@\n-a\n+A\n", "b.py\n@@\n-b\n+B\n").as_str());
    for (command, text, seen) in
        [("undo", "c\n", "M b.py\nM ../doc/c\n"), ("redo", "C\n", "M b.py\nM ../doc/c\n")]
    {
        let run = at(&dir, "src", &[command, "-n"], "");
        assert!(run.stderr.contains("the paths in the diff are relative to "), "{run:?}");
        let run = at(&dir, "src", &[command], "");
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(&*run.stdout, seen, "{run:?}");
        assert_eq!(read(&dir, "doc/c"), text, "{run:?}");
    }
    for command in ["undo", "redo"] {
        let quiet = at(&dir, "src", &[command, "-q"], "");
        assert_eq!(quiet.code, 0, "{command}");
        assert_eq!(quiet.stdout + &quiet.stderr, String::new(), "{command}");
    }
    let undone = at(&dir, "src", &["undo", "--json"], "").json().expect("JSON");
    let paths: Vec<_> = undone["data"]["changedFiles"]
        .as_array()
        .expect("files")
        .iter()
        .map(|file| &file["path"])
        .collect();
    assert_eq!(paths, ["b.py", "../doc/c"]);
    // A tool's root bounds what it undoes.
    let id = apply(&dir, "", BOTH.replace("-a\n+A", "-A\n+AA").as_str());
    let call = format!("{{\"transactionId\": {id:?}}}");
    let refused = at(&dir, "src", &["tool", "undo", "--args", &call], "").json().expect("JSON");
    let error = &refused["error"];
    assert_eq!(&error["kind"], &"outside_workspace", "{refused}");
    assert_eq!(&error["details"]["reason"], &"elsewhere", "{refused}");
    assert_eq!(read(&dir, "src/a.py"), "AA\n");
}

#[test]
fn a_log_is_shown_as_it_is_asked_for() {
    let dir = project();
    let first = apply(&dir, "", &format!("{BOTH}*** Add File: new\n+1\n+2\n"));
    let second = apply(&dir, "", "*** Delete File: top\n");
    let (first, second) = (&first[23..], &second[23..]);
    let log = |below: &str, args: &[&str]| {
        let run = at(&dir, below, &[&["log"], args].concat(), "");
        assert_eq!(run.code, 0, "{args:?}");
        assert_eq!(run.stderr, "", "{args:?}");
        run.stdout
    };
    assert_eq!(
        log("", &["--oneline"]),
        format!("{second} 1 file: top  (apply)\n{first} 3 files: src/a.py, +2 more  (apply)\n")
    );
    assert_eq!(
        log("", &["--stat", "--oneline"]),
        format!(
            "{second} 1 file: top  (apply)\n  D top | +0 -1\n  1 deleted, 0 lines inserted, 1 \
             deleted\n{first} 3 files: src/a.py, +2 more  (apply)\n  M doc/c | +1 -1\n  A new | +2 \
             -0\n  M src/a.py | +1 -1\n  1 created, 2 updated, 4 lines inserted, 2 deleted\n"
        )
    );
    let below = log("src", &["--stat", "-n", "1", "--oneline", "a.py"]);
    assert!(below.contains("\n  M ../doc/c | +1 -1\n"), "{below}");
    let answer = at(&dir, "", &["log", "--stat", "--json"], "").json().expect("JSON");
    let last = &answer["data"]["transactions"][0];
    assert_eq!(last["statistics"][0]["path"], "top", "{answer}");
    assert_eq!(last["statistics"][0]["deleted"], 1, "{answer}");
    for (since, count) in [("today", 2), ("yesterday", 2), ("2 hours ago", 2), ("2099-01-01", 0)] {
        // At midnight, what was done just now can be of yesterday.
        let found = log("", &["--oneline", "--since", since]).lines().count();
        assert!(found == count || since == "today", "{since}: {found}");
    }
    let wrong = at(&dir, "", &["log", "--since", "tomorrow"], "");
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.stderr.contains("is not a time; one looks like"), "{wrong:?}");
    // Colours are switched as elsewhere; what is undone is dimmed.
    assert!(!log("", &[]).contains('\u{1b}'));
    let colours = log("", &["--color", "always", "--oneline"]);
    assert!(colours.starts_with(&format!("\u{1b}[33m{second}\u{1b}[0m 1 file")), "{colours:?}");
    assert_eq!(at(&dir, "", &["undo"], "").code, 0);
    let colours = log("", &["--color", "always", "--oneline"]);
    assert!(
        colours.contains(&format!("\u{1b}[33m{second}\u{1b}[0m\u{1b}[2m 1 file")),
        "{colours:?}"
    );
    // Of all that was done since yesterday, nothing is left.
    assert_eq!(at(&dir, "", &["undo", "--since", "yesterday"], "").code, 0);
    assert_eq!(read(&dir, "src/a.py"), "a\n");
    assert_eq!(read(&dir, "new"), "none");
}

/// A program gets times in UTC, whatever the clock on the wall shows.
#[test]
fn times_are_local_for_people_and_utc_for_programs() {
    let dir = project();
    apply(&dir, "src", A);
    let show = |args: &[&str]| {
        let mut command = clean(env!("CARGO_BIN_EXE_apply-patch"));
        command.args(["show", "last"]).args(args).current_dir(dir.path().join("w"));
        command.env("XDG_STATE_HOME", dir.path().join("state"));
        // As POSIX writes a zone that is 5 h 30 min ahead: no file is looked up.
        let output = command.env("HOME", dir.path()).env("TZ", "XST-5:30").output().expect("run");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let shown = show(&[]);
    let words: Vec<_> = shown.lines().next().expect("a line").split(' ').collect();
    assert_eq!(words[3], "+0530", "{shown}");
    let answer: Value = serde_json::from_str(&show(&["--json"])).expect("JSON");
    let time = answer["data"]["timestamp"].as_str().expect("a time");
    assert!(time.ends_with('Z'), "{time}");
    assert!(answer["output"].as_str().expect("a line").contains(time), "{answer}");
    // The same time.
    let minutes = |hours: &str| {
        let mut parts = hours.split(':').map(|part| part.parse::<u32>().expect("a number"));
        parts.next().expect("hours") * 60 + parts.next().expect("minutes")
    };
    assert_eq!(minutes(words[2]), (minutes(&time[11..16]) + 330) % 1440, "{time}: {shown}");
}

#[test]
fn a_transaction_has_many_names() {
    let dir = project();
    let (first, second) = (apply(&dir, "src", A), apply(&dir, "", "*** Add File: new\n+n\n"));
    for (name, wanted) in [
        ("last", Ok(&second)),
        ("@1", Ok(&second)),
        ("@2", Ok(&first)),
        (&first, Ok(&first)),
        (&first[23..], Ok(&first)),
        (&second[20..], Ok(&second)),
        (&first[..22], Ok(&first)),
        ("@3", Err("there is no transaction @3: there are 2")),
        ("@0", Err("there is no transaction \"@0\"")),
        (&first[..4], Err("is the beginning or the end of 2 transactions")),
        ("zzzz", Err("there is no transaction \"zzzz\"")),
        // Few characters are those of any transaction.
        ("1", Err("\"1\" names no transaction: write \"@1\" to count back")),
        ("12", Err("write \"@12\" to count back")),
        ("0", Err("four characters at least")),
        (&first[28..], Err("four characters at least")),
        ("zz", Err("four characters at least, or \"@N\"")),
        ("", Err("four characters at least, or \"@N\"")),
    ] {
        let shown = at(&dir, "", &["show", name, "--json"], "");
        let answer = shown.json().expect("JSON");
        match wanted {
            Ok(id) => assert_eq!(answer["data"]["id"], **id, "{name}: {answer}"),
            Err(message) => {
                assert_eq!(shown.code, 1, "{name}");
                assert_eq!(&answer["error"]["details"]["reason"], &"no_transaction", "{name}");
                assert!(
                    answer["error"]["message"].as_str().is_some_and(|text| text.contains(message)),
                    "{answer}"
                );
            }
        }
    }
    for line in ["undo 2", "redo 2", "undo --since 2", "trash show 2/0", "trash restore 2/0"] {
        let args: Vec<&str> = line.split(' ').collect();
        let refused = at(&dir, "", &args, "");
        assert_ne!(refused.code, 0, "{line}: {refused:?}");
        assert!(refused.stderr.contains("write \"@2\""), "{line}: {refused:?}");
    }
    assert_eq!(at(&dir, "", &["undo", "@2"], "").code, 0);
    assert_eq!(read(&dir, "src/a.py"), "a\n");
    assert_eq!(read(&dir, "new"), "n\n");
    let kept = at(&dir, "", &["trash", "show", &format!("{}/0", &first[23..])], "");
    assert_eq!(kept.stdout, "a\n");
}

#[test]
fn a_path_alone_means_its_last_change() {
    let dir = project();
    apply(&dir, "", BOTH);
    apply(&dir, "", "*** Update File: doc/c\n@@\n-C\n+CC\n");
    apply(&dir, "", "*** Add File: new\n+n\n");
    let undone = at(&dir, "src", &["undo", "--", "a.py"], "");
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(read(&dir, "src/a.py"), "a\n", "{undone:?}");
    assert_eq!(read(&dir, "doc/c"), "CC\n", "{undone:?}");
    // A file that moved to another directory comes back from there.
    apply(&dir, "", "*** Update File: src/b.py\n*** Move to: doc/b.py\n@@\n-b\n+B\n");
    let undone = at(&dir, "doc", &["undo", "--", "b.py"], "");
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(read(&dir, "src/b.py"), "b\n", "{undone:?}");
    assert_eq!(read(&dir, "doc/b.py"), "none", "{undone:?}");
    for text in ["C\n", "c\n"] {
        let undone = at(&dir, "src", &["undo", "--", "../doc/c"], "");
        assert_eq!(undone.code, 0, "{undone:?}");
        assert_eq!(read(&dir, "doc/c"), text, "{undone:?}");
    }
    let nothing = at(&dir, "", &["undo", "--", "doc/c"], "");
    assert_eq!(nothing.code, 2, "{nothing:?}");
    assert_eq!(read(&dir, "new"), "n\n", "{nothing:?}");
    assert!(
        nothing.stderr.contains("no transaction that is not undone changed doc/c"),
        "{nothing:?}"
    );
    let nothing = at(&dir, "", &["undo", "--", "doc/a c"], "");
    assert!(nothing.stderr.contains("`apply-patch log -- 'doc/a c'`"), "{nothing:?}");
}

#[test]
fn what_was_taken_back_in_part_is_not_taken_back_again() {
    let dir = project();
    let id = apply(&dir, "", BOTH);
    assert_eq!(at(&dir, "", &["undo", &id, "--", "doc/c"], "").code, 0);
    fs::write(dir.path().join("w/doc/c"), "mine\n").expect("written");
    let undone = at(&dir, "", &["undo"], "");
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(&*undone.stdout, "M src/a.py\n", "{undone:?}");
    assert_eq!(read(&dir, "src/a.py"), "a\n");
    assert_eq!(read(&dir, "doc/c"), "mine\n");
    // All of it is undone now.
    let nothing = at(&dir, "", &["undo"], "");
    assert!(nothing.code == 1, "{nothing:?}");
    assert!(nothing.stderr.contains("there is no transaction to undo"), "{nothing:?}");
}

#[test]
fn what_the_top_of_a_project_forbids_is_forbidden_in_its_directories() {
    let dir = project();
    let toml =
        "forbidden = [\"src/b.py\", \"doc/**\"]\nguarded = [\"src/a*\"]\nallow-delete = false\n";
    fs::write(dir.path().join("w/.apply-patch.toml"), toml).expect("written");
    fs::write(dir.path().join("w/src/z.py"), "z\n").expect("written");
    fs::write(dir.path().join("w/src/.apply-patch.toml"), "forbidden = [\"own\"]\n")
        .expect("written");
    for (below, body, reason) in [
        ("src", "*** Update File: b.py\n@@\n-b\n+B\n", "forbidden"),
        ("src", "*** Add File: own\n+o\n", "forbidden"),
        ("src", A, "guarded"),
        ("doc", "*** Update File: c\n@@\n-c\n+C\n", "forbidden"),
        ("doc", "*** Add File: new\n+n\n", "forbidden"),
        ("src", "*** Delete File: z.py\n", "delete_not_allowed"),
    ] {
        let refused =
            at(&dir, below, &["--json", "--approve", "never"], &patch(body)).json().expect("JSON");
        assert_eq!(refused["error"]["details"]["reason"], reason, "{below} {body}: {refused}");
    }
    // Its patterns are relative to it, and not to the directory.
    assert_eq!(at(&dir, "", &[], &patch("*** Add File: b.py\n+b\n")).code, 0);
    fs::create_dir(dir.path().join("w/src/src")).expect("a folder");
    assert_eq!(at(&dir, "src", &[], &patch("*** Add File: src/b.py\n+b\n")).code, 0);
}

/// Displaced files lie at the top.
#[test]
fn a_preview_finds_displaced_files_from_every_directory() {
    let dir = project();
    apply(&dir, "src", A);
    for (command, diff) in [("undo", "-A\n+a\n"), ("redo", "-a\n+A\n")] {
        let preview = at(&dir, "src", &[command, "-n"], "");
        assert_eq!(preview.code, 0, "{preview:?}");
        assert!(preview.stdout.contains(diff), "{preview:?}");
        assert_eq!(at(&dir, "src", &[command], "").code, 0);
    }
}

/// What it says of the files must not be what someone wrote into the trash.
#[test]
fn a_displaced_file_that_was_changed_is_not_shown() {
    let dir = project();
    let id = apply(&dir, "", "*** Update File: top\n@@\n-t\n+T\n");
    let slot = format!(".apply-patch/trash/{id}/0");
    let changed = format!("apply-patch: {slot} was changed ");
    let doctor = "a person has to look at the state directory with `apply-patch doctor`\n";
    fs::write(dir.path().join("w").join(&slot), "x\n").expect("written");
    let shown = at(&dir, "", &["show", "last"], "");
    assert_eq!(at(&dir, "", &["show"], "").stdout, shown.stdout, "git shows the last one, too");
    assert!(shown.stdout.contains("Binary files a/top and b/top differ"), "{shown:?}");
    for args in [&["undo", "-n"][..], &["trash", "show", "last/0"]] {
        let refused = at(&dir, "", args, "");
        assert_eq!(refused.code, 4, "{refused:?}");
        assert!(refused.stderr.starts_with(&changed), "{refused:?}");
        assert!(refused.stderr.ends_with(doctor), "{refused:?}");
    }
    let refused = at(&dir, "", &["undo"], "");
    assert!(refused.stderr.starts_with(&format!("{changed}since it was displaced")), "{refused:?}");
    fs::remove_file(dir.path().join("w").join(&slot)).expect("removed");
    let refused = at(&dir, "", &["undo"], "");
    assert!(refused.stderr.contains(doctor), "{refused:?}");
}

/// A wrong name is not an answer that all is well.
#[test]
fn what_is_not_there_is_said_and_is_no_failure_of_the_system() {
    let dir = project();
    let id = apply(&dir, "src", "*** Update File: a.py\n@@\n-a\n+A\n*** Add File: new\n+n\n");
    for (args, wanted) in [
        (&["trash", "show", "last/1"][..], format!("transaction {id} keeps no file 1")),
        (&["trash", "restore", "last/1"], format!("transaction {id} keeps no file 1")),
        (&["show", "20200101-000000-000000-00000000"], "no transaction 20200101".into()),
        (&["show", "@0"], "there is no transaction \"@0\"".into()),
        (&["log", "--verify", "--session", "other"], "there is no audit log of".into()),
    ] {
        let run = at(&dir, "", args, "");
        assert_eq!(run.code, 1, "{args:?}: {run:?}");
        assert!(run.stderr.contains(&wanted), "{args:?}: {run:?}");
    }
    let absolute = dir.path().join("w/src/new").display().to_string();
    for path in ["new", &absolute] {
        let log = at(&dir, "src", &["log", "--oneline", path], "");
        assert_eq!(log.stdout.lines().count(), 1, "{log:?}");
    }
    // A link is shown as what it is.
    std::os::unix::fs::symlink("a.py", dir.path().join("w/src/link")).expect("a link");
    apply(&dir, "src", "*** Delete File: link\n");
    assert_eq!(at(&dir, "", &["trash", "show", "last/0"], "").stdout, "a.py");
}

#[test]
fn an_undo_of_several_says_that_a_file_was_edited_in_between() {
    let dir = project();
    let first = apply(&dir, "", "*** Update File: top\n@@\n-t\n+T\n");
    fs::write(dir.path().join("w/top"), "edited\n").expect("written");
    apply(&dir, "", "*** Update File: top\n@@\n-edited\n+TT\n");
    let refused = at(&dir, "", &["undo", "--since", &first], "");
    let wanted = format!("not as transaction {} left it: top (edited in between)", &first[23..]);
    assert!(refused.stderr.contains(&wanted), "{refused:?}");
    assert!(!refused.stderr.contains("first run"), "it would not help: {refused:?}");
}

#[test]
fn an_undo_below_a_later_change_says_which_one_and_what_to_do() {
    let dir = project();
    let first = apply(&dir, "", "*** Update File: top\n@@\n-t\n+T\n");
    let second = apply(&dir, "", "*** Update File: top\n@@\n-T\n+TT\n");
    let refused = at(&dir, "", &["undo", "@2"], "");
    let wanted = format!(
        "apply-patch: not as transaction {} left it: top (transaction {} changed it)\n\
         first run `apply-patch undo {1}`; or see `apply-patch show {0}`\n",
        &first[23..],
        &second[23..]
    );
    assert_eq!(refused.code, 4);
    assert_eq!(refused.stderr, wanted);
    let json = at(&dir, "", &["undo", "@2", "--json"], "").json().expect("JSON");
    let command = json["error"]["hints"][0]["command"].as_str().expect("a command").to_owned();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(at(&dir, "", &words, "").code, 0, "{command}");
    assert_eq!(at(&dir, "", &["undo", &first], "").code, 0);
    assert_eq!(read(&dir, "top"), "t\n");
}

#[test]
fn an_undo_that_passes_over_a_change_here_goes_on_elsewhere() {
    let dir = project();
    let older = apply(&dir, "doc", "*** Update File: c\n@@\n-c\n+C\n");
    let newer = apply(&dir, "src", A);
    // What is not gone is not passed over.
    fs::write(dir.path().join("w/src/a.py"), "edited\n").expect("written");
    let status = at(&dir, "src", &["status"], "").stdout;
    assert!(status.contains("a.py (edited since)"), "{status}");
    let refused = at(&dir, "src", &["undo"], "");
    assert_eq!(refused.code, 4, "{refused:?}");
    assert_eq!(read(&dir, "doc/c"), "C\n");
    fs::write(dir.path().join("w/src/a.py"), "a\n").expect("written");
    let status = at(&dir, "src", &["status"], "").stdout;
    assert!(status.contains(&format!("would undo {}", &older[23..])), "{status}");
    let undone = at(&dir, "src", &["undo"], "");
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(read(&dir, "doc/c"), "c\n");
    assert_eq!(read(&dir, "src/a.py"), "a\n");
    assert!(undone.stderr.contains(&newer[23..]), "{undone:?}");
}

#[test]
fn a_confined_process_reaches_the_state_above_its_root() {
    let dir = project();
    let run = at(&dir, "src", &["--sandbox"], &patch(A));
    if run.stderr.contains("Landlock") {
        testutils::skip!("the kernel has no Landlock");
        return;
    }
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(read(&dir, "src/a.py"), "A\n", "{run:?}");
    assert_eq!(at(&dir, "doc", &["undo"], "").code, 0);
    let outside =
        at(&dir, "src", &["--sandbox"], &patch("*** Update File: ../doc/c\n@@\n-c\n+C\n"));
    assert_eq!(outside.code, 3, "the root alone bounds what a patch may touch: {outside:?}");
}

#[test]
fn a_state_directory_above_that_is_not_trusted_is_named() {
    let dir = project();
    fs::DirBuilder::new().mode(0o755).create(dir.path().join("w/.apply-patch")).expect("a folder");
    let refused = at(&dir, "src", &[], &patch(A));
    assert_eq!(refused.code, 3, "{refused:?}");
    assert_eq!(read(&dir, "src/a.py"), "a\n", "{refused:?}");
    assert!(
        refused.stderr.contains("../.apply-patch is not trusted: its mode is not 0700"),
        "{refused:?}"
    );
}

#[test]
fn each_file_of_a_swap_and_of_a_chain_is_named() {
    let rename = |from: &str, to: &str| {
        format!(
            "diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n"
        )
    };
    let (there, back) = (rename("src/a.py", "src/b.py"), rename("src/b.py", "src/a.py"));
    let on = rename("src/b.py", "src/c.py");
    for (diff, wanted) in [
        (there.clone() + &back, ["src/a.py -> src/b.py", "src/b.py -> src/a.py"]),
        (there + &on, ["src/a.py -> src/b.py", "src/b.py -> src/c.py"]),
    ] {
        let dir = project();
        assert_eq!(at(&dir, "", &[], &diff).code, 0, "{diff}");
        let log = at(&dir, "", &["log", "--json"], "").json().expect("JSON");
        let files = log["data"]["transactions"][0]["files"].as_array().expect("files");
        let text = |file: &Value, key: &str| file[key].as_str().unwrap_or_default().to_owned();
        let mut named: Vec<String> = files
            .iter()
            .map(|file| format!("{} -> {}", text(file, "path"), text(file, "toPath")))
            .collect();
        named.sort();
        assert_eq!(named, wanted, "{log}");
        let log = at(&dir, "", &["log"], "");
        assert!(log.stdout.contains("  2 files: src/"), "{log:?}");
    }
}

/// A `chmod -R` opens it, and it has the only copy of what was deleted.
#[test]
fn a_state_directory_whose_mode_was_changed_is_used_again_as_the_message_says() {
    let dir = project();
    apply(&dir, "", "*** Delete File: src/b.py\n");
    let open = ["-R", "go+rx", ".apply-patch"];
    assert!(clean("chmod").args(open).current_dir(dir.path().join("w")).status().is_ok());
    let (mut undone, mut obeyed) = (at(&dir, "", &["undo"], ""), Vec::new());
    while let Some((path, said)) = undone.stderr.split_once(" is not trusted: ") {
        assert!(said.starts_with("its mode is not 0700; `chmod 700` it"), "{undone:?}");
        let path = path.rsplit(' ').next().expect("a path").to_owned();
        assert!(!obeyed.contains(&path), "it does not help: {undone:?}");
        let mode = fs::Permissions::from_mode(0o700);
        fs::set_permissions(dir.path().join("w").join(&path), mode).expect("a mode");
        obeyed.push(path);
        undone = at(&dir, "", &["undo"], "");
    }
    assert!(!obeyed.is_empty());
    assert_eq!(undone.code, 0, "{obeyed:?}: {undone:?}");
    assert_eq!(read(&dir, "src/b.py"), "b\n");
}

#[test]
fn a_file_that_moved_and_changed_is_one_file() {
    let dir = project();
    apply(&dir, "src", "*** Update File: a.py\n*** Move to: z.py\n@@\n-a\n+A\n");
    let log = at(&dir, "", &["log"], "");
    assert!(log.stdout.contains("  1 file: src/a.py -> src/z.py  (apply)\n"), "{log:?}");
    let shown = at(&dir, "", &["show", "last", "--json"], "").json().expect("JSON");
    let file = &shown["data"]["files"][0];
    assert_eq!(&file["operation"], &"move", "{shown}");
    assert_eq!(&file["toPath"], &"src/z.py", "{shown}");
    let diff = "rename from src/a.py\nrename to src/z.py\n--- a/src/a.py\n+++ b/src/z.py\n";
    let shown = at(&dir, "", &["show", "last"], "");
    assert!(shown.stdout.contains(diff), "{shown:?}");
    // So it is when it is undone.
    let back = "rename from src/z.py\nrename to src/a.py\n--- a/src/z.py\n+++ b/src/a.py\n";
    let undone = at(&dir, "", &["undo", "-n"], "");
    assert!(undone.stdout.contains(back), "{undone:?}");
    // Either name brings it back whole.
    assert_eq!(at(&dir, "", &["undo", "--", "src/z.py"], "").code, 0);
    assert_eq!(read(&dir, "src/a.py"), "a\n");
    assert_eq!(read(&dir, "src/z.py"), "none");
}

#[test]
fn the_log_is_filtered_by_path_time_and_number() {
    let dir = project();
    apply(&dir, "src", A);
    apply(&dir, "", "*** Update File: doc/c\n@@\n-c\n+C\n");
    apply(&dir, "", "*** Add File: doc/new/deep\n+n\n");
    for (below, args, wanted) in [
        ("", &["log"][..], 3),
        ("", &["log", "src"], 1),
        ("", &["log", "doc", "src"], 3),
        ("", &["log", "doc/"], 2),
        ("", &["log", "doc/new"], 1),
        ("", &["log", "./doc/c"], 1),
        ("", &["log", "do"], 0),
        ("src", &["log", "."], 1),
        ("src", &["log", "../doc"], 2),
        ("", &["log", "-n", "1", "doc"], 1),
        ("", &["log", "--since", "1h"], 3),
        ("", &["log", "--since", "2001-01-01"], 3),
        ("", &["log", "--since", "9999-01-01"], 0),
    ] {
        let log = at(&dir, below, args, "");
        assert_eq!(log.code, 0, "{args:?}: {log:?}");
        assert_eq!(log.stdout.lines().count(), wanted, "{args:?}: {log:?}");
        let json = at(&dir, below, &[args, &["--json"]].concat(), "").json().expect("JSON");
        assert_eq!(
            json["data"]["transactions"].as_array().map(Vec::len),
            Some(wanted),
            "{args:?}: {json}"
        );
    }
    let diffs = at(&dir, "src", &["log", "-p", "."], "");
    assert!(diffs.stdout.contains("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+A\n"), "{diffs:?}");
    assert_eq!(at(&dir, "", &["log", "--since", "yesterdayish"], "").code, 2);
}

#[test]
fn a_line_of_the_log_fits_the_terminal() {
    let dir = project();
    let name = "a-name-that-is-long-enough-for-a-narrow-terminal.txt";
    apply(&dir, "", &format!("*** Add File: {name}\n+n\n"));
    for (columns, whole) in [(40, false), (80, false), (120, true)] {
        let mut terminal = on_terminal(
            dir.path(),
            &format!("stty cols {columns} rows 24; $it --no-pager log"),
            &[("NO_COLOR", "1")],
        );
        let all = terminal.exp_string("exit 0\r\n").expect("it ends");
        let line =
            all.lines().find(|line| line.contains("1 file:")).unwrap_or_else(|| panic!("{all}"));
        // The terminal gives bytes, of which the last character has three.
        let room = if whole { columns } else { columns + 2 };
        assert!(line.chars().count() <= room, "{columns}: {line}");
        assert_eq!(line.contains("(apply)"), whole, "{columns}: {line}");
    }
}

#[test]
fn refusals_are_counted_by_reason_profile_and_agent() {
    let dir = project();
    apply(&dir, "src", A);
    for _ in 0..2 {
        assert_eq!(at(&dir, "src", &[], &patch(A)).code, 0, "it is done");
        assert_eq!(
            at(&dir, "src", &["--profile", "codex"], &patch(&A.replace("-a", "-x"))).code,
            1
        );
    }
    assert_eq!(at(&dir, "src", &[], &patch("*** Delete File: none\n")).code, 1);
    let stats = at(&dir, "", &["log", "--stats", "--json"], "").json().expect("JSON");
    let data = &stats["data"];
    assert_eq!(data["transactions"], 1, "{stats}");
    assert_eq!(data["failed"], 3, "{stats}");
    assert_eq!(
        data["byReason"],
        serde_json::json!({ "context_not_found": 2, "already_applied": 1 }),
        "{stats}"
    );
    assert_eq!(data["byProfile"], serde_json::json!({ "codex": 2, "standard": 1 }), "{stats}");
    assert_eq!(
        data["byAgent"]["-"],
        serde_json::json!({ "transactions": 1, "failed": 3 }),
        "{stats}"
    );
    assert_eq!(data["byDay"].as_object().map(serde_json::Map::len), Some(1));
    let text = at(&dir, "", &["log", "--stats"], "").stdout;
    assert!(text.starts_with("1 transaction committed, 3 calls refused, since 20"), "{text}");
    assert!(text.contains("\ncontext_not_found                2\n"), "{text}");
    let none = at(&dir, "", &["log", "--stats", "--since", "9999-01-01"], "");
    assert_eq!(none.stdout, "the audit logs have nothing\n");
    // What was written about them is as it was written.
    assert_eq!(at(&dir, "", &["log", "--verify"], "").code, 0);
}

#[test]
fn status_says_what_there_is() {
    let dir = project();
    let none = at(&dir, "src", &["status"], "");
    assert!(none.code == 0, "{none:?}");
    assert!(none.stdout.contains("none: nothing was applied here yet"), "{none:?}");
    assert!(!dir.path().join("w/.apply-patch").exists(), "to look leaves nothing");
    let id = apply(&dir, "src", A);
    let status = at(&dir, "src", &["status"], "");
    for wanted in [
        "unfinished   nothing",
        &format!("`apply-patch undo` would undo {}", &id[23..]),
        "`git clean -fdx` removes it",
    ] {
        assert!(status.stdout.contains(wanted), "{wanted}: {status:?}");
    }
    assert_eq!(at(&dir, "", &["undo"], "").code, 0);
    let json = at(&dir, "", &["status", "--json"], "").json().expect("JSON");
    let data = &json["data"];
    assert_eq!(data["unfinished"], false, "{json}");
    assert_eq!(data["transactions"], 2, "{json}");
    assert_eq!(&data["last"]["tool"], &"undo", "{json}");
    assert_eq!(&data["undoable"], &Value::Null, "{json}");
    assert!(data["size"]["trash"].as_u64().is_some_and(|bytes| bytes > 0), "{json}");
    // A folder of a transaction that was cut off.
    let pending = dir.path().join("w/.apply-patch/pending").join(&id);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&pending).expect("a folder");
    let status = at(&dir, "", &["status"], "");
    assert!(status.stdout.contains("one transaction is unfinished"), "{status:?}");
    assert!(pending.is_dir(), "to look recovers nothing");
}

#[test]
fn the_users_state_survives_git_clean() {
    let dir = place(&[("w/a", "a\n"), ("config/apply-patch/config.toml", "state = \"user\"\n")]);
    let git = |args: &[&str]| {
        let done = clean("git").args(args).current_dir(dir.path().join("w")).output();
        done.is_ok_and(|done| done.status.success())
    };
    if !git(&["init", "-q"]) {
        testutils::skip!("git is not here");
        return;
    }
    apply(&dir, "", "*** Update File: a\n@@\n-a\n+A\n");
    assert!(git(&["add", "a"]));
    assert!(git(&["clean", "-q", "-fdx"]));
    assert!(!dir.path().join("w/.apply-patch").exists());
    assert!(dir.path().join("state/apply-patch/workspaces").is_dir());
    let status = at(&dir, "", &["status"], "");
    assert!(!status.stdout.contains("git clean"), "{status:?}");
    assert_eq!(at(&dir, "", &["undo"], "").code, 0);
    assert_eq!(read(&dir, "a"), "a\n");
    let doctor = at(&dir, "", &["doctor"], "");
    assert!(doctor.stdout.contains("state/apply-patch/workspaces/w-"), "{doctor:?}");
    // A file of the workspace cannot choose that, nor how much is kept.
    for key in ["state = \"project\"", "trash-keep = \"0B\""] {
        fs::write(dir.path().join("w/.apply-patch.toml"), key).expect("written");
        let refused =
            at(&dir, "", &["apply"], "*** Begin Patch\n*** Add File: n\n+n\n*** End Patch\n");
        assert!(refused.code == 2, "{refused:?}");
        assert!(refused.stderr.contains("loosens"), "{refused:?}");
        let warned = at(&dir, "", &["log"], "");
        assert!(warned.code == 0, "{warned:?}");
        assert!(warned.stderr.contains("loosens"), "{warned:?}");
    }
}

/// It began with the whole id and the names of all files in one line; the page had them as its title.
#[test]
fn a_transaction_is_shown_by_who_made_it_and_how_much() {
    let dir = project();
    let patch = "*** Begin Patch\n*** Add File: n\n+1\n+2\n*** Delete File: top\n*** Update File: \
                 src/a.py\n@@\n-a\n+b\n*** Update File: src/b.py\n*** Move to: m\n*** End Patch\n";
    let args = serde_json::json!({ "patch": patch }).to_string();
    let args =
        ["tool", "apply_patch", "--session", "s-0123456789abcdef", "--agent", "x", "--args", &args];
    let done = at(&dir, "", &args, "");
    assert_eq!(done.code, 0, "{done:?}");
    let shown = at(&dir, "", &["show", "last"], "").stdout;
    let mut lines = shown.lines();
    let (id, rest) = lines.next().and_then(|line| line.split_once(' ')).expect("a line");
    assert_eq!(id.len(), 8, "{shown}");
    assert!(rest.ends_with("  (apply_patch, x, s-01234567)"), "{shown}");
    let totals = "1 created, 1 updated, 1 moved, 1 deleted, 3 lines inserted, 2 deleted";
    assert_eq!(lines.next(), Some(totals), "{shown}");
    let files: Vec<&str> = lines.take(4).collect();
    assert_eq!(files, ["A n", "M src/a.py", "D top", "R src/b.py -> m"], "{shown}");
    let page = at(&dir, "", &["show", "last", "--format", "html"], "").stdout;
    assert!(page.contains(&format!("<h1>{id} {rest}</h1>")), "{page}");
    assert!(page.contains("<p>4 files, 3 lines inserted, 2 deleted</p>"), "{page}");
    for letter in ["A", "M", "R", "D"] {
        assert!(page.contains(&format!(">{letter}</abbr>")), "{letter} in {page}");
    }
    let coloured = at(&dir, "", &["show", "last", "--color", "always"], "").stdout;
    assert!(coloured.contains("\u{1b}[32mA\u{1b}[0m n\n"), "{coloured}");
    assert!(coloured.contains("\u{1b}[31mD\u{1b}[0m top\n"), "{coloured}");
}

/// Who did what: by sessions, which are named by the beginning that is shown.
#[test]
fn the_log_shows_sessions_and_can_be_that_of_one() {
    let dir = project();
    apply(&dir, "", "*** Add File: own\n+x\n");
    for (path, session) in [
        ("a", "s-0123456789abcdef"),
        ("b", "s-0123456789abcdef"),
        ("c", "s-fedcba9876543210"),
        ("d", "work"),
        ("e", "workshop"),
    ] {
        let args = format!(r#"{{"path":"{path}","content":""}}"#);
        let run = at(&dir, "", &["tool", "create_file", "--session", session, "--args", &args], "");
        assert_eq!(run.code, 0, "{run:?}");
    }
    let log = at(&dir, "", &["log", "--oneline"], "").stdout;
    let shown: Vec<&str> = log.lines().map(|line| &line[line.find(' ').unwrap_or(0)..]).collect();
    assert_eq!(
        shown,
        [
            " 1 file: e  (create_file, workshop)",
            " 1 file: d  (create_file, work)",
            " 1 file: c  (create_file, s-fedcba98)",
            " 1 file: b  (create_file, s-01234567)",
            " 1 file: a  (create_file, s-01234567)",
            " 1 file: own  (apply)",
        ]
    );
    for (name, wanted) in
        [("s-01234567", "b a"), ("s-f", "c"), ("work", "d"), ("worksh", "e"), ("cli", "own")]
    {
        let log = at(&dir, "", &["log", "--oneline", "--session", name], "").stdout;
        let files = log.split(" file: ").skip(1).filter_map(|rest| rest.split(' ').next());
        assert_eq!(files.collect::<Vec<_>>().join(" "), wanted, "{name}");
    }
    for (name, code, said) in [
        ("none", 1, "there is no session \"none\" in the log"),
        ("s-", 2, "several sessions begin with \"s-\": s-0123456789abcdef, s-fedcba9876543210"),
    ] {
        let refused = at(&dir, "", &["log", "--session", name], "");
        assert_eq!(refused.code, code, "{refused:?}");
        assert!(refused.stderr.contains(said), "{refused:?}");
    }
    // What is shown works elsewhere, too.
    let undone = at(&dir, "", &["undo", "--session", "s-01234567"], "");
    assert_eq!(undone.code, 0, "{undone:?}");
    assert!(!dir.path().join("w/a").exists() && dir.path().join("w/c").exists());
}

/// What a session did, while an editor and another session changed the same file.
#[test]
fn several_transactions_are_shown_as_one_without_what_others_did() {
    let numbers: String = (1..=20).map(|line| format!("{line}\n")).collect();
    let dir = place(&[("w/f", &numbers), ("w/g", "g\n")]);
    let change = |session: &str, path: &str, from: &str, to: &str| {
        let patch = patch(&format!("*** Update File: {path}\n@@\n-{from}\n+{to}\n"));
        let args = serde_json::json!({ "patch": patch }).to_string();
        let tool = ["tool", "apply_patch", "--session", session, "--args", &args];
        let run = at(&dir, "", &tool, "").json().expect("JSON");
        run["data"]["transactionId"].as_str().unwrap_or_else(|| panic!("{run}")).to_owned()
    };
    let first = change("ours", "f", "1", "one");
    change("theirs", "f", "8", "eight");
    fs::write(dir.path().join("w/f"), read(&dir, "f").replace("14\n", "14\nnew\n"))
        .expect("written");
    let last = change("ours", "f", "20", "twenty");
    change("ours", "g", "g", "h");
    at(&dir, "", &["undo"], "");
    let both = "@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -18,4 +18,4 @@ new\n 17\n 18\n 19\n-20\n\
                +twenty\n";
    let range = format!("{first}..{last}");
    let bounds = format!("{}..@3", &first[23..]);
    let with_theirs = "@@ -1,11 +1,11 @@\n-1\n+one\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+eight\n 9\n 10\n \
                       11\n@@ -18,4 +18,4 @@ new\n 17\n 18\n 19\n-20\n+twenty\n";
    for (args, hunks) in [
        (&["--session", "ours"][..], both),
        (&["--since", &first], with_theirs),
        (&["--since", "1h"], with_theirs),
        (&[&range], with_theirs),
        (&[&bounds], with_theirs),
        (&["--session", "theirs"], "@@ -5,7 +5,7 @@ one\n 5\n 6\n 7\n-8\n+eight\n 9\n 10\n 11\n"),
    ] {
        let shown = at(&dir, "", &[&["show"], args].concat(), "");
        assert_eq!(shown.code, 0, "{args:?}: {shown:?}");
        let found = shown.stdout.find("@@").map_or("", |at| &shown.stdout[at..]);
        assert_eq!(found, hunks, "{args:?}: {}", shown.stdout);
        let json = at(&dir, "", &[&["show", "--json"], args].concat(), "").json().expect("JSON");
        assert!(json["data"]["diff"].as_str().expect("a diff").ends_with(hunks), "{json}");
        let page = at(&dir, "", &[&["show", "--format", "html"], args].concat(), "").stdout;
        assert!(page.contains("<html") && page.contains(">f<"), "{args:?}: {page}");
        assert_eq!(
            page.contains("also changed in between"),
            json["data"]["changedBetween"].is_array()
        );
    }
    let shown = at(&dir, "", &["show", "--session", "ours"], "");
    let note = "note: f was also changed in between by session theirs (apply_patch, ";
    assert!(shown.stdout.contains(note), "{shown:?}");
    assert!(shown.stdout.contains("; that is not in this diff\n"), "{shown:?}");
    for (args, said) in [
        (&["@1..@3"][..], "give the older first"),
        (&["--session", "nobody"], "there is no session \"nobody\""),
        (&["--turn", "t"], "there is no turn \"t\""),
        (&["--since", "1h", "@1"], "cannot be used with"),
    ] {
        let refused = at(&dir, "", &[&["show"], args].concat(), "");
        assert!(refused.code != 0 && refused.stderr.contains(said), "{args:?}: {refused:?}");
    }
    // The same transactions are undone as one by these names.
    let undone = at(&dir, "", &["undo", &format!("{last}..{last}")], "");
    assert_eq!(undone.code, 0, "{undone:?}");
    assert!(read(&dir, "f").ends_with("\n20\n"));
}

/// A work tree within a directory that is none: its history ends at its top.
#[test]
fn changes_of_the_directory_around_a_work_tree_are_named() {
    let dir = place(&[("w/web/a", "a\n"), ("w/api/b", "b\n")]);
    fs::create_dir(dir.path().join("w/web/.git")).expect("a git directory");
    fs::create_dir(dir.path().join("w/api/.git")).expect("a git directory");
    apply(&dir, "", "*** Update File: web/a\n@@\n-a\n+A\n");
    let said = "the history of .. has 1 transaction that changed files here: use `-C ..`";
    for command in ["log", "undo"] {
        let here = at(&dir, "web", &[command], "");
        assert!(here.stderr.contains(said), "{command}: {here:?}");
        let beside = at(&dir, "api", &[command], "");
        assert!(!beside.stderr.contains("the history of"), "{command}: {beside:?}");
    }
    let error = at(&dir, "web", &["undo", "--json"], "").json().expect("JSON")["error"].take();
    assert_eq!(error["hints"][0]["flag"], "-C ..", "{error}");
    assert_eq!(at(&dir, "web", &["-C", "..", "undo"], "").code, 0);
    assert_eq!(read(&dir, "web/a"), "a\n");
}

#[test]
fn log_begins_at_times_of_day_and_days() {
    let dir = project();
    apply(&dir, "", "*** Add File: own\n+x\n");
    for since in ["yesterday 9am", "last tuesday", "2d"] {
        let run = at(&dir, "", &["log", "--since", since], "");
        assert_eq!((run.code, run.stdout.lines().count()), (0, 1), "{since}: {run:?}");
    }
    for args in [["log", "--since", "soon"], ["undo", "--since", "soon"]] {
        let run = at(&dir, "", &args, "");
        assert!(run.stderr.contains("9am, 10:30, today, yesterday 9am, tuesday, last tuesday"));
    }
}

/// Logs were kept for ever; what is left of them still verifies, and says what is gone.
#[test]
fn a_purge_takes_the_lines_of_the_audit_log_too() {
    let dir = project();
    for n in 0..4 {
        apply(&dir, "", &format!("*** Add File: n{n}\n+{n}\n"));
    }
    let run = |args: &[&str]| {
        let run = at(&dir, "", args, "");
        assert_eq!(run.code, 0, "{run:?}");
        run.stdout
    };
    let purge = ["trash", "purge", "--keep", "1 transactions", "--force", "--json"];
    let said: Value = serde_json::from_str(&run(&purge)).unwrap();
    assert_eq!(said["data"]["logLines"], 6, "{said}");
    let verified = run(&["log", "--verify"]);
    assert!(verified.starts_with("cli: 3 lines, signed, as they were written; the 6 before them "));
    assert!(verified.contains(" were purged on 20"), "{verified}");
    assert_eq!(run(&["log", "--state"]).lines().count(), 1);
    assert!(run(&["log", "-p"]).contains("+3"));
    run(&["undo"]);
    assert!(run(&["log", "--verify"]).starts_with("cli: 5 lines"));
}

#[test]
fn what_is_kept_is_up_to_a_setting_and_purge() {
    let dir = project();
    let count = |dir: &TempDir| at(dir, "", &["log"], "").stdout.lines().count();
    for n in 0..4 {
        apply(&dir, "", &format!("*** Add File: n{n}\n+{n}\n"));
        apply(&dir, "", &format!("*** Delete File: n{n}\n"));
    }
    for (args, said, left) in [
        (&[][..], "there is nothing to remove\n", 8),
        (&["--keep", "1h"], "there is nothing to remove\n", 8),
        (&["--keep", "3B", "-n"], "6 transactions with 6 B would be removed\n", 8),
        (&["--keep", "3 transactions", "-n"], "5 transactions with 4 B would be removed\n", 8),
        (&["--keep", "3B", "--force"], "6 transactions with 6 B removed\n", 2),
        (&["--keep", "0s", "-f"], "2 transactions with 2 B removed\n", 0),
        (&["--keep", "0 transactions"], "there is nothing to remove\n", 0),
    ] {
        let run = at(&dir, "", &[&["trash", "purge"], args].concat(), "");
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        assert_eq!(&*run.stdout, said, "{args:?}: {run:?}");
        assert_eq!(count(&dir), left, "{args:?}: {run:?}");
    }
    assert_eq!(at(&dir, "", &["trash", "purge", "--keep", "many"], "").code, 2);
    // A person is shown what would go, and asked. Where nobody can be asked, nothing goes.
    apply(&dir, "", "*** Add File: z\n+z\n");
    apply(&dir, "", "*** Delete File: z\n");
    for bare in ["1", "0", "30", "1.5", "30d,1"] {
        let refused = at(&dir, "", &["trash", "purge", "--force", "--keep", bare], "");
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains("has no unit: write "), "{refused:?}");
    }
    for args in [&["--keep", "0s"][..], &["--keep", "0s", "--json"]] {
        let refused = at(&dir, "", &[&["trash", "purge"], args].concat(), "");
        assert_eq!(refused.code, 3, "{refused:?}");
        let said = format!("{}{}", refused.stdout, refused.stderr);
        assert!(said.contains("nobody can be asked: use `--force`"), "{said}");
    }
    assert_eq!(count(&dir), 2);
    for (answer, exit, left) in [("n", 3, 2), ("", 3, 2), ("y", 0, 0)] {
        let mut terminal = on_terminal(dir.path(), "$it trash purge --keep 0s", &[]);
        let shown = terminal
            .exp_string("Remove 2 transactions with 2 B for good? [y/N] ")
            .expect("a question");
        assert!(shown.contains("1 file: z  (apply)"), "{shown}");
        terminal.send_line(answer).expect("sent");
        terminal.exp_string(&format!("exit {exit}\r\n")).expect("it ends");
        assert_eq!(count(&dir), left, "{answer:?}");
    }
    // The setting does so with each change, now and then.
    let dir =
        place(&[("w/a", "a\n"), ("config/apply-patch/config.toml", "trash-keep = \"1h, 3B\"\n")]);
    for n in 0..17 {
        apply(&dir, "", &format!("*** Add File: n{n}\n+{n}\n"));
        apply(&dir, "", &format!("*** Delete File: n{n}\n"));
    }
    assert!(count(&dir) < 20, "{}", count(&dir));
}

#[test]
fn a_file_that_is_there_from_another_directory_is_named_with_the_flag_that_finds_it() {
    let dir = project();
    for (below, path, wanted) in [
        ("src", "src/a.py", Some("..")),
        ("src", "doc/c", Some("..")),
        ("", "a.py", None),
        ("src", "none", None),
    ] {
        let text = patch(&format!("*** Delete File: {path}\n"));
        let json = at(&dir, below, &["--json", "-C", "."], &text).json().expect("JSON");
        let flag = json["error"]["hints"][0]["flag"].as_str();
        assert_eq!(flag, wanted.map(|up| format!("-C {up}")).as_deref(), "{json}");
        let refused = at(&dir, below, &["-C", "."], &text);
        assert_eq!(refused.stderr.contains("use `-C "), wanted.is_some(), "{refused:?}");
        assert_eq!(refused.code, 1);
        // The advice is obeyed.
        if let Some(up) = wanted {
            assert_eq!(at(&dir, below, &["-n", "-C", up], &text).code, 0);
        }
    }
    // A file that would be added says nothing where another has to be there.
    for (body, wanted) in [
        ("*** Delete File: src/a.py\n*** Add File: src/new.py\n+n\n", true),
        ("*** Delete File: src/a.py\n*** Add File: none/new.py\n+n\n", true),
        ("*** Add File: src/new.py\n+n\n", false),
    ] {
        let refused = at(&dir, "src", &["-C", "."], &patch(body));
        assert_eq!(refused.stderr.contains("use `-C ..`"), wanted, "{body}: {refused:?}");
    }
    let outside = at(
        &dir,
        "src",
        &["--json", "-C", "."],
        &patch("*** Delete File: src/a.py\n*** Delete File: nowhere\n"),
    );
    assert!(!outside.stdout.contains("-C .."), "only where all of them are: {outside:?}");
}

/// A file that is not what was expected: who changed it last is told, to people and programs.
#[test]
fn who_changed_a_file_last_is_told_with_what_was_expected() {
    let dir = project();
    apply(&dir, "src", A);
    let expected = format!("a.py={}", "0".repeat(64));
    let stale = |flags: &[&str]| {
        let args = [&["--profile", "codex", "--expect", &expected], flags].concat();
        at(&dir, "src", &args, &patch("*** Update File: a.py\n@@\n-A\n+x\n"))
    };
    for flags in [&[][..], &["-n"], &["--check"]] {
        let run = stale(flags);
        assert_eq!(run.code, 4, "{run:?}");
        assert!(run.stderr.contains("a.py: last changed by this session (apply, 2"), "{run:?}");
        let answer = stale(&[flags, &["--json"]].concat()).json().expect("JSON");
        assert_eq!(answer["error"]["details"]["changedBy"]["tool"], "apply", "{answer}");
    }
    fs::write(dir.path().join("w/src/a.py"), "A\nB\n").expect("an edit");
    let run = stale(&[]);
    assert!(run.stderr.contains("a.py: last changed by an editor or another"), "{run:?}");
    let answer = stale(&["--json"]).json().expect("JSON");
    assert_eq!(answer["error"]["details"]["changedBy"]["byApplyPatch"], false, "{answer}");
}
