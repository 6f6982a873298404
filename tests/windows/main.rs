//! The program on Windows: run there or under Wine, by `ci/windows`.
#![cfg(windows)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "tests look from outside"
)]

mod program;
#[path = "../run.rs"]
mod run;
#[path = "../scenarios.rs"]
mod scenarios;

use std::fs;
use std::path::Path;

use testutils::tree;

use crate::program::{Run, command, finish, run};

const PATCH: &str = "*** Begin Patch\n*** Update File: src/a.txt\n@@\n one\n-two\n+TWO\n\
                     *** Add File: new.txt\n+new\n*** Delete File: gone.txt\n*** End Patch\n";

/// A workspace and a home.
struct Place {
    dir: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            dir: tempfile::tempdir().expect("a folder"),
            home: tempfile::tempdir().expect("a folder"),
        };
        fs::create_dir(place.dir.path().join("src")).expect("a folder");
        place.write("src/a.txt", "one\ntwo\n");
        place.write("gone.txt", "gone\n");
        place
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.dir.path().join(path), text).expect("a file");
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.dir.path().join(path)).ok()
    }

    fn run(&self, args: &[&str], input: &str) -> Run {
        run("apply-patch", self.dir.path(), self.home.path(), args, input.as_bytes())
    }

    /// Everything but the state: what tells whether all or nothing is there.
    fn files(&self) -> [Option<String>; 3] {
        ["src/a.txt", "new.txt", "gone.txt"].map(|path| self.read(path))
    }

    fn old() -> [Option<String>; 3] {
        [Some("one\ntwo\n".into()), None, Some("gone\n".into())]
    }

    fn new_files() -> [Option<String>; 3] {
        [Some("one\nTWO\n".into()), Some("new\n".into()), None]
    }
}

#[track_caller]
fn succeeded(run: &Run) {
    assert_eq!(run.code, 0, "{run:#?}");
}

#[test]
fn a_name_that_differs_by_case_alone_is_refused_before_anything_changes() {
    let place = Place::new();
    for args in [&["-n"][..], &[]] {
        let patch = "*** Begin Patch\n*** Move File: gone.txt -> GONE.txt\n*** End Patch\n";
        let refused = place.run(args, patch);
        assert_eq!(refused.code, 1, "{refused:#?}");
        assert!(refused.stderr.contains("takes this name and gone.txt for one"), "{refused:#?}");
    }
    assert_eq!(place.files(), Place::old());
    // In two patches it works.
    for (from, to) in [("gone.txt", "other"), ("other", "GONE.txt")] {
        let patch = format!("*** Begin Patch\n*** Move File: {from} -> {to}\n*** End Patch\n");
        succeeded(&place.run(&[], &patch));
    }
    let names = fs::read_dir(place.dir.path()).expect("the folder");
    let mut names = names.map(|entry| entry.expect("an entry").file_name());
    assert!(names.any(|name| name == "GONE.txt"));
}

#[test]
fn a_patch_is_applied_logged_shown_and_taken_back() {
    let place = Place::new();
    let dry = place.run(&["-n"], PATCH);
    succeeded(&dry);
    assert!(dry.stdout.contains("-two\n+TWO\n"), "{dry:#?}");
    assert_eq!(place.files(), Place::old());
    let applied = place.run(&[], PATCH);
    succeeded(&applied);
    assert!(applied.stdout.contains("src/a.txt"), "{applied:#?}");
    assert_eq!(place.files(), Place::new_files());
    let log = place.run(&["--json", "log"], "").json().expect("JSON");
    assert!(log.to_string().contains("src/a.txt"), "{log:#}");
    let audit = place.run(&["log", "--verify"], "");
    succeeded(&audit);
    succeeded(&place.run(&["status"], ""));
    let doctor = place.run(&["--json", "doctor"], "").json().expect("JSON");
    assert_eq!(doctor["ok"], true, "{doctor:#}");
    succeeded(&place.run(&["undo"], ""));
    assert_eq!(place.files(), Place::old());
    succeeded(&place.run(&["redo"], ""));
    assert_eq!(place.files(), Place::new_files());
    let key = place.home.path().join("local").join("apply-patch").join("key");
    assert!(key.is_file(), "the key is in %LOCALAPPDATA%");
}

#[test]
fn lines_that_end_in_crlf_stay_so() {
    let place = Place::new();
    place.write("src/a.txt", "one\r\ntwo\r\n");
    let crlf = PATCH.replace('\n', "\r\n");
    succeeded(&place.run(&[], &crlf));
    assert_eq!(place.read("src/a.txt"), Some("one\r\nTWO\r\n".into()));
}

/// On the command line a path is the user's, with whatever separators; in a patch it is not.
#[test]
fn paths_of_the_command_line_may_have_backslashes() {
    let place = Place::new();
    place.write("p.txt", PATCH);
    let around = place.dir.path().parent().expect("a folder");
    let name = place.dir.path().file_name().expect("a name").to_str().expect("plain");
    for (root, patch) in [
        (format!(".\\{name}"), format!("{name}\\p.txt")),
        (format!("{name}\\src\\.."), format!(".\\{name}/p.txt")),
    ] {
        let run =
            run("apply-patch", around, place.home.path(), &["-C", &root, "--check", &patch], b"");
        succeeded(&run);
    }
    let verbatim = fs::canonicalize(place.dir.path()).expect("a path");
    let run = run(
        "apply-patch",
        around,
        place.home.path(),
        &["-C", verbatim.to_str().expect("plain")],
        PATCH.as_bytes(),
    );
    succeeded(&run);
    assert_eq!(place.files(), Place::new_files());
    // Those of a patch may, too, unless it is taken to the letter.
    let with_backslash = PATCH.replace("src/a.txt", "src\\a.txt");
    let fresh = Place::new();
    succeeded(&fresh.run(&[], &with_backslash));
    assert_eq!(fresh.files(), Place::new_files());
    let args = ["--json", "--profile", "strict"];
    let refused = place.run(&args, &with_backslash).json().expect("JSON");
    assert_eq!(refused["error"]["details"]["reason"], "backslash", "{refused:#}");
}

#[test]
fn the_tool_that_models_know_takes_standard_input_and_says_how_long_an_argument_may_be() {
    let place = Place::new();
    let call = |args: &[&str], input: &str| {
        run("apply_patch", place.dir.path(), place.home.path(), args, input.as_bytes())
    };
    let applied = call(&[], PATCH);
    succeeded(&applied);
    assert_eq!(
        applied.stdout,
        "Success. Updated the following files:\nA new.txt\nM src/a.txt\nD gone.txt\n"
    );
    let argument = call(&["*** Begin Patch\n*** Delete File: new.txt\n*** End Patch"], "");
    succeeded(&argument);
    assert_eq!(place.read("new.txt"), None);
    let none = call(&["a", "b"], "");
    assert!(none.stderr.contains("standard input"), "{none:#?}");
    assert!(none.stderr.contains("32767"), "{none:#?}");
    let long =
        format!("*** Begin Patch\n*** Add File: long.txt\n{}", "+a line that is cut\n".repeat(500));
    let cut = call(&[&long], "");
    assert!(cut.code != 0, "{cut:#?}");
    assert!(cut.stderr.contains("may have been cut"), "{cut:#?}");
    let short = call(&["*** Begin Patch\n*** Add File: x"], "");
    assert!(short.code != 0, "{short:#?}");
    assert!(!short.stderr.contains("may have been cut"), "{short:#?}");
}

/// Names that Windows takes for something else: nothing is changed, whatever is meant to be done.
#[test]
fn names_that_mean_something_else_are_refused() {
    let place = Place::new();
    place.write("README.md", "r\n");
    let before = tree::look(place.dir.path(), true);
    for (name, reasons) in [
        ("notes.txt:hidden", &["not_portable"][..]),
        ("src/a.txt::$DATA", &["not_portable"]),
        ("src:$I30:$INDEX_ALLOCATION/x", &["not_portable"]),
        ("NUL", &["not_portable"]),
        ("src/con.txt", &["not_portable"]),
        ("COM1", &["not_portable"]),
        ("gone.txt.", &["not_portable"]),
        ("gone.txt ", &["not_portable"]),
        ("..\\x", &["absolute_path", "backslash"]),
        ("src/../../x", &["traversal"]),
        ("C:/x", &["absolute_path"]),
        ("C:x", &["absolute_path"]),
        ("//server/share/x", &["absolute_path"]),
        ("\\\\?\\C:\\x", &["absolute_path"]),
        (".git/config", &["git_directory"]),
        (".GIT/config", &["git_directory"]),
        ("GIT~1/config", &["git_directory"]),
        (".git::$INDEX_ALLOCATION/config", &["git_directory"]),
        (".apply-patch/x", &["state_directory"]),
        ("APPLY-~1/x", &["state_directory"]),
    ] {
        for section in [
            format!("*** Add File: {name}\n+x\n"),
            format!("*** Delete File: {name}\n"),
            format!("*** Update File: {name}\n@@\n-gone\n+back\n"),
        ] {
            // Blanks at the end are the language's.
            let section = if name.ends_with(' ') {
                section.replacen("gone.txt ", "gone.txt./x ", 1)
            } else {
                section
            };
            let run = place.run(&["--json"], &format!("*** Begin Patch\n{section}*** End Patch\n"));
            let answer = run.json().expect("JSON");
            let reason =
                answer["error"]["details"]["reason"].as_str().unwrap_or_default().to_owned();
            assert!(reasons.contains(&&*reason), "{section}: {answer:#}");
        }
    }
    // The same name in another case, and a short one, are not names of the file.
    for name in ["readme.MD", "README~1.MD"] {
        let delete = place.run(
            &["--json"],
            &format!("*** Begin Patch\n*** Delete File: {name}\n*** End Patch\n"),
        );
        assert_ne!(delete.code, 0, "{delete:#?}");
    }
    let add =
        place.run(&["--json"], "*** Begin Patch\n*** Add File: readme.md\n+x\n*** End Patch\n");
    assert_eq!(add.json().expect("JSON")["error"]["kind"], "already_exists");
    let after = tree::look(place.dir.path(), true);
    let difference = tree::difference(&before, &after);
    assert!(difference.is_empty(), "{difference}");
}

/// A file that another program has open and does not share: half a second, then exit code 5, and
/// nothing is changed.
#[test]
fn a_file_in_use_is_an_error_of_its_own() {
    use std::os::windows::fs::OpenOptionsExt as _;
    let place = Place::new();
    let held = fs::OpenOptions::new()
        .read(true)
        .share_mode(1)
        .open(place.dir.path().join("src/a.txt"))
        .expect("a file");
    let refused = place.run(&[], PATCH);
    assert_eq!(refused.code, 5, "{refused:#?}");
    assert_eq!(place.files(), Place::old());
    drop(held);
    succeeded(&place.run(&[], PATCH));
    assert_eq!(place.files(), Place::new_files());
}

/// The process is ended at a call, from the first to the last; the next command finishes or
/// reverts.
#[test]
fn killed_at_any_call_all_or_nothing_is_there() {
    let list = tempfile::tempdir().expect("a folder");
    let list = list.path().join("calls");
    let attempt = |place: &Place, fault: &str| {
        let mut command = command("apply-patch", place.dir.path(), place.home.path());
        command.env("FS_GUARD_FAULT", fault).env("FS_GUARD_CALLS", &list);
        finish(command, PATCH.as_bytes()).code
    };
    let whole = Place::new();
    assert_eq!(attempt(&whole, "none 0 0"), 0);
    assert_eq!(whole.files(), Place::new_files());
    let calls = fs::read_to_string(&list).expect("the calls");
    let points: Vec<_> = calls.lines().zip(1..).filter(|(call, _)| call.ends_with(" w")).collect();
    assert!(points.len() > 30, "{calls}");
    // In Wine each takes a tenth of a second; the renames are those that matter most.
    let chosen = points
        .iter()
        .enumerate()
        .filter(|(index, (call, _))| index % 3 == 0 || call.starts_with("renameat"));
    let (mut old, mut new, mut missed) = (0, 0, 0);
    for (_, (call, at)) in chosen {
        let place = Place::new();
        let _ = fs::remove_file(&list);
        let code = attempt(&place, &format!("kill {at} 0"));
        // Files are read again while they are young, so a slow run may make fewer calls than the
        // first one.
        let ended = fs::read_to_string(&list).expect("the calls").lines().count() < *at;
        assert_eq!(code, if ended { 0 } else { 137 }, "{call} {at}");
        missed += usize::from(ended);
        succeeded(&place.run(&["recover"], ""));
        let now = place.files();
        assert!(now == Place::new_files() || now == Place::old() && !ended, "{call} {at}: {now:?}");
        *if now == Place::old() { &mut old } else { &mut new } += 1;
        let pending =
            fs::read_dir(place.dir.path().join(".apply-patch/pending")).map_or(0, Iterator::count);
        assert_eq!(pending, 0, "{call} {at}");
        // And the next one works.
        if now == Place::old() {
            succeeded(&place.run(&[], PATCH));
            assert_eq!(place.files(), Place::new_files(), "{call} {at}");
        }
    }
    assert!(old > 3, "{old} reverted, {new} finished, {missed} of them missed");
    assert!(new > 3 + missed, "{old} reverted, {new} finished, {missed} of them missed");
    assert!(missed < 10, "{old} reverted, {new} finished, {missed} of them missed");
}

/// The command of `--verify` is one of `cmd`, with its quotes.
#[test]
fn a_change_that_a_command_refuses_is_taken_back() {
    let place = Place::new();
    let refused = place.run(&["--verify", "if exist \"new.txt\" exit 3"], PATCH);
    assert_eq!(refused.code, 8, "{refused:#?}");
    assert_eq!(place.files(), Place::old());
    succeeded(&place.run(&["--verify", "if not exist \"new.txt\" exit 3"], PATCH));
    assert_eq!(place.files(), Place::new_files());
}

/// One history for a project, from every directory of it.
#[test]
fn a_directory_of_a_project_has_the_state_of_the_project() {
    let place = Place::new();
    fs::create_dir(place.dir.path().join(".git")).expect("a folder");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n*** End Patch\n";
    succeeded(&place.run(&["-C", "src"], patch));
    assert!(place.dir.path().join(".apply-patch").is_dir());
    assert!(!place.dir.path().join("src/.apply-patch").exists());
    let log = place.run(&["-C", "src", "--json", "log"], "").json().expect("JSON");
    assert!(log.to_string().contains("a.txt"), "{log:#}");
    succeeded(&place.run(&["undo"], ""));
    assert_eq!(place.files(), Place::old());
}

#[test]
fn the_server_applies_a_patch() {
    let place = Place::new();
    let call = serde_json::json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "apply_patch", "arguments": {"patch": PATCH}}});
    let hello = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {
        "name": "test", "version": "1",
    }}});
    let ready = serde_json::json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let served =
        place.run(&["serve", "--mcp", "--root", "."], &format!("{hello}\n{ready}\n{call}\n"));
    let answer = served.stdout.lines().find(|line| line.contains("\"id\":2")).unwrap_or_default();
    assert!(answer.contains("1 created, 1 updated, 1 deleted"), "{served:#?}");
    assert_eq!(place.files(), Place::new_files());
}

/// The example of the README.
#[test]
fn the_example_of_the_readme_works() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let place = Place::new();
    let target = place.dir.path().join("todo");
    tree::copy(&examples.join("todo"), &target);
    let patch = fs::read(examples.join("todo.patch")).expect("the patch");
    let args = ["-C", "todo", "--stat"];
    let run = run("apply-patch", place.dir.path(), place.home.path(), &args, &patch);
    succeeded(&run);
    assert!(run.stdout.contains("R README.txt -> README.md"), "{run:#?}");
    assert!(target.join("README.md").is_file());
    assert!(!target.join("README.txt").exists());
}
