//! What the program prints, as data: `tests/cmd` has commands and their output; `TRYCMD=overwrite`
//! renews it, to be read in the diff. And what is generated from the definitions of the arguments.

use std::fs;
use std::path::Path;

use crate::program::{on_terminal, place, run, run_other};

const PROGRAM: &str = env!("CARGO_BIN_EXE_apply-patch");

#[test]
fn commands_print_what_their_files_say() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cmd");
    let cases = trycmd::TestCases::new();
    cases.register_bin("apply-patch", Path::new(env!("CARGO_BIN_EXE_apply-patch")));
    for name in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        cases.env(name, home.path().to_str().expect("a plain name"));
    }
    cases.case(folder.join("*.trycmd"));
    cases.run();
}

#[test]
fn the_help_fits_one_screen() {
    let dir = crate::program::place(&[]);
    let mut terminal =
        on_terminal(dir.path(), "stty cols 80; $it --help | cat", &[("COLUMNS", "80")]);
    let help = terminal.exp_string("exit 0\r\n").expect("it ends");
    assert!(help.lines().count() <= 45, "{help}");
    for line in help.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for wanted in [
        "[OPTIONS] [FILE]",
        "[OPTIONS] <COMMAND>",
        "-n, --dry-run",
        "-i, --interactive",
        "--from <FORM>",
    ] {
        assert!(help.contains(wanted), "{wanted}: {help}");
    }
}

/// The names of all commands, as the help lists them.
pub(crate) fn commands(home: &Path) -> Vec<String> {
    let help = run("apply-patch", home, home, &["--help"], b"").stdout;
    let listed = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    let mut names: Vec<_> =
        listed.filter_map(|line| Some(line.trim().split_once("  ")?.0.to_owned())).collect();
    let more = help
        .split("More commands: ")
        .nth(1)
        .and_then(|rest| rest.split('.').next())
        .expect("a list");
    names.extend(more.split([',', ' ', '\n']).filter(|name| !name.is_empty()).map(str::to_owned));
    assert!(names.len() > 20, "{names:?}");
    names
}

#[test]
fn help_is_a_command_and_a_flag() {
    let home = tempfile::tempdir().expect("a folder");
    let run = |args: &[&str]| run("apply-patch", home.path(), home.path(), args, b"");
    let same = |one: &[&str], other: &[&str]| {
        let (one, other) = (run(one), run(other));
        assert_eq!(one.code, 0, "{one:?}");
        assert_eq!(&one.stdout, &other.stdout, "{one:?}");
        assert!(one.stdout.contains("Usage: apply-patch"), "{one:?}");
    };
    same(&["help"], &["--help"]);
    same(&["help"], &["-h"]);
    same(&["help", "trash", "purge"], &["trash", "purge", "-h"]);
    for name in commands(home.path()) {
        same(&["help", &name], &[&name, "--help"]);
        same(&["help", &name], &[&name, "-h"]);
    }
}

#[test]
fn manual_pages_know_every_command() {
    let home = tempfile::tempdir().expect("a folder");
    let names = commands(home.path());
    let page = run("apply-patch", home.path(), home.path(), &["man"], b"");
    assert!(page.stdout.contains(".TH apply-patch 1"), "{page:?}");
    assert!(page.code == 0, "{page:?}");
    let pages = home.path().join("pages");
    fs::create_dir(&pages).expect("a folder");
    let written = run("apply-patch", home.path(), home.path(), &["man", "--dir", "pages"], b"");
    assert_eq!(written.code, 0, "{written:?}");
    for name in names {
        let page = fs::read_to_string(pages.join(format!("apply-patch-{name}.1")))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains(".SH NAME"), "{name}: the usage is that of the help: {page}");
        assert!(!page.contains("[\\fB\\-"), "{name}: the usage is that of the help: {page}");
        let headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        let global = headings
            .iter()
            .position(|heading| *heading == "\"GLOBAL OPTIONS\"")
            .expect("global options");
        let below = ["SUBCOMMANDS", "EXTRA", "VERSION"];
        assert!(
            headings[global + 1..].iter().all(|heading| below.contains(heading)),
            "{name}: {headings:?}"
        );
    }
    let nowhere = run("apply-patch", home.path(), home.path(), &["man", "--dir", "no/such"], b"");
    assert_eq!(nowhere.code, 5, "{nowhere:?}");
    assert!(nowhere.stderr.contains("cannot write the manual pages to no/such"), "{nowhere:?}");
}

#[test]
fn an_answer_in_json_has_as_much_of_the_diff_as_is_asked_for() {
    let (dir, home) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    fs::write(dir.path().join("f"), "a\n").expect("a file");
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n+c\n*** End Patch\n";
    let diff = |args: &[&str]| {
        let run = run("apply-patch", dir.path(), home.path(), args, patch.as_bytes());
        let answer = run.json().unwrap_or_else(|error| panic!("{args:?}: {error}"));
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        answer["data"]["changedFiles"][0]["diff"].as_str().map(ToOwned::to_owned)
    };
    let forth = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a\n+b\n+c\n";
    assert_eq!(diff(&["apply", "--json", "-n"]).as_deref(), Some(forth));
    assert_eq!(diff(&["apply", "--json", "-n", "--diff", "none"]), None);
    assert_eq!(diff(&["apply", "--json", "--check", "--diff", "stat"]).as_deref(), Some("+2 -1"));
    assert_eq!(diff(&["apply", "--json", "--diff", "full"]).as_deref(), Some(forth));
    assert_eq!(diff(&["undo", "--json"]), None);
    assert_eq!(diff(&["redo", "--json", "--diff", "full"]).as_deref(), Some(forth));
    assert_eq!(diff(&["undo", "--json", "-n", "--diff", "stat"]).as_deref(), Some("+1 -2"));
    assert_eq!(diff(&["undo", "--json", "--diff", "stat"]).as_deref(), Some("+1 -2"));
    assert_eq!(diff(&["apply", "--json"]), None);
    // What a person reads has its own flags.
    for args in [&["apply", "--diff", "full"][..], &["undo", "--diff", "stat"]] {
        assert_eq!(
            run("apply-patch", dir.path(), home.path(), args, patch.as_bytes()).code,
            2,
            "{args:?}"
        );
    }
}

#[test]
fn a_root_that_is_no_directory_is_named_plainly() {
    let dir = place(&[("w/a", "one\n"), ("file", "")]);
    let (home, w) = (dir.path(), dir.path().join("w"));
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** End Patch\n";
    let check = |dir: &Path, args: &[&str], wanted: &str| {
        let removed = dir == home.join("removed");
        let args = if removed {
            // The directory of a process can be removed beneath it.

            [
                &[
                    "-c",
                    "mkdir ../removed && cd ../removed && rmdir ../removed && exec \"$0\" \"$@\"",
                    PROGRAM,
                ],
                args,
            ]
            .concat()
        } else {
            [&["-c", "exec \"$0\" \"$@\"", PROGRAM], args].concat()
        };
        let run = run_other("sh", &w, home, &args, patch.as_bytes());
        let said = run.stdout + &run.stderr;
        assert!(said.contains(wanted), "{args:?}: {said}");
        assert!(!said.contains("disk, rights and mounts"), "{args:?}: {said}");
        assert_ne!(run.code, 0, "{args:?}: {said}");
    };
    let commands: [&[&str]; 11] = [
        &["apply"],
        &["apply", "--json"],
        &["check"],
        &["explain"],
        &["log"],
        &["status"],
        &["undo"],
        &["recover"],
        &["doctor"],
        &["tool", "list_directory", "--args", "{}"],
        &["git", "--onto", "main"],
    ];
    for command in commands {
        check(&home.join("removed"), command, "was removed");
        check(&w, &[&["-C", "/no/such"], command].concat(), "no such directory");
        if command[0] != "git" {
            check(&w, &[&["-C", "../file"], command].concat(), "not a directory");
        }
    }
    check(
        &w,
        &["tool", "list_directory", "--root", "/no/such", "--args", "{}"],
        "no such directory",
    );
    check(&w, &["apply", "--base", "/no/such"], "no such directory");
    check(&w, &["apply", "--base", "../file"], "not a directory");
    check(&w, &["git", "--git-dir", "/no/such", "--onto", "main"], "no such directory");
    assert_eq!(std::fs::read_to_string(w.join("a")).expect("a file"), "one\n");
}

#[test]
fn a_limit_of_the_size_of_files_is_an_error_and_nothing_is_left_half_way() {
    let line = "a line that is written, and that is long enough\n";
    let dir = place(&[("w/a", "one\n"), ("w/large", &line.repeat(400))]);
    let (home, w) = (dir.path(), dir.path().join("w"));
    let add = format!(
        "*** Begin Patch\n*** Add File: b\n+two\n*** Add File: c\n{}*** End Patch\n",
        format!("+{line}").repeat(2000)
    );
    let update = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** End Patch\n".to_owned();
    // First the staged files are too long, then the journal, the log and the answer.
    for (blocks, patch, args) in [
        (16, &add, &["apply"][..]),
        (16, &add, &["apply", "--json"]),
        (1, &add, &["apply"]),
        (0, &update, &["apply"]),
        (0, &update, &["apply", "--durability", "none"]),
    ] {
        let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let run = run_other(
            "sh",
            &w,
            home,
            &[&["-c", &script, PROGRAM], args].concat(),
            patch.as_bytes(),
        );
        assert_eq!(run.code, 5, "{blocks} {args:?}: {run:?}");
        let said = run.stdout + &run.stderr;
        assert!(said.contains("File too large"), "{blocks} {args:?}: {said}");
        assert_eq!(std::fs::read_to_string(w.join("a")).expect("a file"), "one\n");
        assert!(!w.join("b").exists(), "{blocks} {args:?}: {said}");
        assert!(!w.join("c").exists(), "{blocks} {args:?}: {said}");
    }
    let run = run_other(PROGRAM, &w, home, &["apply"], update.as_bytes());
    assert_eq!(run.code, 0, "the next one works: {run:?}");
}
