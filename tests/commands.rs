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
    // What whoever runs the tests has set is not what the files show.
    for (name, value) in [("PROFILE", "standard"), ("ALLOW_DELETE", "true"), ("COLOR", "auto")] {
        cases.env(format!("APPLY_PATCH_{name}"), value);
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
    assert!(help.lines().count() <= 50, "{help}");
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
    let run = |args: &[&str]| run("apply-patch", home.path(), home.path(), args, b"");
    let page = run(&["man"]);
    assert_eq!(page.code, 0, "{page:?}");
    // The directory is made.
    let written = run(&["man", "--dir", "share/man/man1"]);
    assert_eq!(written.code, 0, "{written:?}");
    let pages = home.path().join("share/man/man1");
    assert_eq!(fs::read_to_string(pages.join("apply-patch.1")).expect("a page"), &*page.stdout);
    for name in names.iter().map(|name| format!("-{name}")).chain([String::new()]) {
        let page = fs::read_to_string(pages.join(format!("apply-patch{name}.1")))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains(&format!(".TH apply-patch{name} 1")), "{name}: {page}");
        assert!(!page.contains("[\\fB\\-"), "{name}: the usage is that of the help: {page}");
        assert!(page.contains("\n.SS \"Global options\"\n"), "{name}: {page}");
        let sections: Vec<_> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        // Some commands only print a text, some have no example, and few have commands.
        let optional = ["COMMANDS", "EXAMPLES", "ENVIRONMENT", "FILES"];
        let usual = "NAME SYNOPSIS DESCRIPTION OPTIONS COMMANDS EXAMPLES EXIT_STATUS ENVIRONMENT \
                     FILES SEE_ALSO";
        let usual = usual.split(' ').map(|section| section.replace('_', " "));
        let expected: Vec<_> = usual
            .filter(|section| !optional.contains(&&**section) || sections.contains(&&**section))
            .collect();
        let found: Vec<_> = sections.iter().map(|section| section.trim_matches('"')).collect();
        assert_eq!(found, expected, "{name}");
        let is_text = ["-prompt", "-intercept", "-completions", "-man", "-help"].contains(&&*name);
        assert_eq!(found.contains(&"FILES"), !is_text, "{name}");
        // The examples of the help, line for line.
        let help = run(&["help", if name.is_empty() { "apply" } else { &name[1..] }]).stdout;
        let examples = help.split("Examples:\n").nth(1).unwrap_or_default();
        let examples = examples.split("\n\n").next().unwrap_or_default().lines();
        let examples: Vec<_> = examples.map(|line| line.trim_start().to_owned()).collect();
        let typeset = page.split("\n.nf\n").nth(1).and_then(|rest| rest.split("\n.fi\n").next());
        let typeset: Vec<_> = typeset.unwrap_or_default().lines().map(plain).collect();
        assert_eq!(typeset, examples, "{name}");
    }
    for (name, wanted) in [
        ("", "\\fBAPPLY_PATCH_TRASH_KEEP\\fR\n"),
        ("-apply", "\\fB8\\fR\nThe command of"),
        ("-undo", "\\fBAPPLY_PATCH_DURABILITY\\fR\n"),
        ("-intercept", "\"EXIT STATUS\"\n0 a patch"),
        ("-trash", "\n.SH COMMANDS\n"),
        ("-trash-purge", "\\fBapply\\-patch\\-trash\\fR(1)"),
        ("-serve", "\\fBapply\\-patch\\-mcp\\-config\\fR(1)"),
    ] {
        let page = fs::read_to_string(pages.join(format!("apply-patch{name}.1"))).expect("a page");
        assert!(page.contains(wanted), "{name}: {wanted}: {page}");
    }
    fs::write(home.path().join("file"), "").expect("a file");
    let nowhere = run(&["man", "--dir", "file/pages"]);
    assert_eq!(nowhere.code, 5, "{nowhere:?}");
    assert!(nowhere.stderr.contains("cannot write the manual pages to file/pages"), "{nowhere:?}");
}

/// A line of a manual page, as it is read.
fn plain(line: &str) -> String {
    ["(ti ~", "(ha ^", "(ga `", "*(Aq '", "- -", "\\ \\"]
        .iter()
        .filter_map(|pair| pair.split_once(' '))
        .fold(line.to_owned(), |line, (from, to)| line.replace(&format!("\\{from}"), to))
}

/// What groff says about the pages, where it is installed.
#[cfg(unix)]
#[test]
fn manual_pages_are_typeset_without_a_warning() {
    let home = tempfile::tempdir().expect("a folder");
    if std::process::Command::new("groff").arg("--version").output().is_err() {
        testutils::skip!("groff is not installed");
        return;
    }
    let written = run("apply-patch", home.path(), home.path(), &["man", "--dir", "pages"], b"");
    assert_eq!(written.code, 0, "{written:?}");
    let pages = fs::read_dir(home.path().join("pages")).expect("a folder");
    let mut typeset = std::process::Command::new("groff");
    typeset.args(["-man", "-ww", "-Tutf8"]);
    typeset.args(pages.map(|page| page.expect("a page").path()));
    let typeset = typeset.output().expect("groff runs");
    assert_eq!(String::from_utf8_lossy(&typeset.stderr), "");
    let read = String::from_utf8_lossy(&typeset.stdout);
    assert!(read.contains("~/.local/share/man/man1"), "signs stay as they are: {read}");
}

#[test]
fn the_short_help_has_the_flags_that_the_readme_shows() {
    let home = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut checked = Vec::new();
    for page in ["README.md", "docs/quick-start.md"] {
        let text = fs::read_to_string(root.join(page)).expect("a page");
        let blocks = text.split("```console\n").skip(1);
        let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines());
        for line in lines.filter_map(|line| line.strip_prefix("$ ")) {
            let line = line.split(" #").next().unwrap_or_default();
            let Some((_, line)) = line.rsplit_once("apply-patch ") else { continue };
            let line = line.rsplit(" -- ").next().unwrap_or_default();
            let words: Vec<_> = line.split(' ').filter(|word| !word.is_empty()).collect();
            let named = words.iter().find(|word| !word.starts_with('-')).copied();
            let known = commands(home.path()).into_iter().find(|name| Some(&**name) == named);
            let mut args: Vec<_> = known.as_deref().into_iter().collect();
            args.push("-h");
            let help = run("apply-patch", home.path(), home.path(), &args, b"").stdout;
            for flag in words.iter().filter(|word| word.starts_with('-') && word.len() > 1) {
                let listed = help
                    .lines()
                    .any(|line| line.trim_start().split([' ', ',']).any(|word| word == *flag));
                assert!(listed, "{page}: `{line}`: {flag} is not in the help: {help}");
                checked.push((*flag).to_owned());
            }
        }
    }
    assert!(checked.len() >= 4, "{checked:?}");
    let help = run("apply-patch", home.path(), home.path(), &["-h"], b"").stdout;
    for flag in ["--check", "--stat", "-R, --reverse", "--profile <PROFILE>"] {
        assert!(help.contains(flag), "{flag}: {help}");
    }
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
