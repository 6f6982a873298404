//! `apply-patch uninstall`: everything that the program keeps goes, and nothing else.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fs_guard::Root;
use serde_json::{Value, json};
use tempfile::TempDir;
use testutils::share::whole;
use testutils::tree::beneath;

use crate::program::{Run, on_terminal, place, run};

const USER: (&str, &str) = ("config/apply-patch/config.toml", "state = \"user\"\n");

/// Runs the program in `w`.
fn at(dir: &TempDir, args: &[&str], input: &str) -> Run {
    at_in(dir, "w", args, input)
}

fn at_in(dir: &TempDir, project: &str, args: &[&str], input: &str) -> Run {
    run("apply-patch", &dir.path().join(project), dir.path(), args, input.as_bytes())
}

/// Changes `a` from one text to another.
fn apply(dir: &TempDir, project: &str, from: &str, to: &str) {
    let patch = format!("*** Begin Patch\n*** Update File: a\n@@\n-{from}\n+{to}\n*** End Patch\n");
    let run = at_in(dir, project, &[], &patch);
    assert_eq!(run.code, 0, "{run:?}");
}

/// A project in which everything was done that leaves something in the state.
fn used(files: &[(&str, &str)]) -> TempDir {
    let dir = place(&[&[("w/a", "1\n"), ("w/b", "b\n")], files].concat());
    apply(&dir, "w", "1", "2");
    apply(&dir, "w", "2", "3");
    assert_eq!(at(&dir, &["undo"], "").code, 0);
    let tool = |name: &str, args: &Value| {
        at(&dir, &["tool", name, "--session", "s", "--args", &args.to_string()], "")
    };
    assert_eq!(tool("read_file", &json!({ "path": "b" })).code, 0);
    // A refused patch is kept, so that it can be amended.
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-2\n+9\n*** Update File: b\n@@\n-none\n\
                 +c\n\
                 *** End Patch\n";
    assert_eq!(at(&dir, &[], patch).code, 1);
    assert_eq!(tool("create_file", &json!({ "path": "c", "content": "c\n" })).code, 0);
    let listed = at(&dir, &["review", "--json"], "");
    let listed: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    let hunk = listed["data"]["files"][0]["hunks"][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(at(&dir, &["review", "--note", &format!("{hunk}=why?")], "").code, 0);
    dir
}

/// The paths of all files and links below a directory, and what they have.
fn all(dir: &Path) -> Vec<(PathBuf, String)> {
    let read = |path: PathBuf| (path.clone(), fs::read_to_string(path).unwrap_or_default());
    let mut found: Vec<_> = beneath(dir).map(|(path, _)| read(dir.join(path))).collect();
    found.sort();
    found
}

fn state(dir: &TempDir) -> PathBuf {
    dir.path().join("w/.apply-patch")
}

fn folders_of_user(dir: &TempDir) -> Vec<PathBuf> {
    let folder = fs::read_dir(dir.path().join("state/apply-patch/workspaces"));
    let mut paths: Vec<_> =
        folder.into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn make_private(path: &Path) {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).expect("a directory");
}

#[test]
fn the_whole_state_goes_and_the_files_stay() {
    for config in [&[][..], &[USER]] {
        let dir = used(config);
        let in_tree = config.is_empty();
        let state = if in_tree { state(&dir) } else { folders_of_user(&dir).remove(0) };
        for name in ["trash", "audit", "sessions", "snapshots", "refused", "reviews", "index"] {
            assert!(state.join(name).exists(), "the test has no {name}");
        }
        let before = all(dir.path());
        let dry = at(&dir, &["uninstall", "-n"], "");
        assert_eq!(dry.code, 0, "{dry:?}");
        let wanted = format!(
            "would remove {} (4 transactions that can no longer be undone then, ",
            state.display()
        );
        assert!(dry.stdout.starts_with(&wanted), "{dry:?}");
        assert_eq!(all(dir.path()), before, "-n changes nothing");

        let mtime = |dir: &TempDir| {
            fs::metadata(dir.path().join("w")).and_then(|seen| seen.modified()).expect("a time")
        };
        let seen = mtime(&dir);
        let done = at(&dir, &["uninstall"], "");
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(done.stdout, dry.stdout.replace("would remove", "removed"), "{done:?}");
        assert!(!state.exists(), "{:?}", all(&state));
        let others: Vec<_> =
            before.into_iter().filter(|(path, _)| !path.starts_with(&state)).collect();
        assert_eq!(all(dir.path()), others);
        assert_eq!(mtime(&dir), seen);

        let status = at(&dir, &["status"], "");
        assert!(status.stdout.contains("nothing was applied here yet"), "{status:?}");
        let again = at(&dir, &["uninstall"], "");
        assert_eq!(again.stdout, "there is nothing to remove\n", "{again:?}");
        // It can be used again.
        apply(&dir, "w", "2", "4");
        assert_eq!(at(&dir, &["log"], "").stdout.lines().count(), 1);
        assert_eq!(at(&dir, &["undo"], "").code, 0);
    }
}

/// What a transaction leaves is a file of its own, if it is too long for the journal.
#[test]
fn what_a_large_change_left_goes_too() {
    let dir = place(&[]);
    let line = |nth: u64| format!("+{:x}\n", nth.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let lines: String = (1..300).map(line).collect();
    let patch = format!("*** Begin Patch\n*** Add File: large\n{lines}*** End Patch\n");
    assert_eq!(at(&dir, &[], &patch).code, 0);
    assert!(all(&state(&dir)).iter().any(|(path, _)| path.ends_with("left")));
    let run = at(&dir, &["uninstall", "--force"], "");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!state(&dir).exists(), "{run:?}");
}

#[test]
fn the_log_of_a_repository_goes_by_its_git_directory() {
    let dir = place(&[("w/a", "1\n")]);
    let git = "git init -q . && git config user.name a && git config user.email a@b && git add a \
               && git commit -qm 1";
    let made = Command::new("sh").args(["-c", git]).current_dir(dir.path().join("w")).status();
    if !made.is_ok_and(|made| made.success()) {
        testutils::skip!("git is not here");
        return;
    }
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End Patch\n";
    let args = ["git", "--onto", "HEAD", "--branch", "b"];
    let run = at(&dir, &args, patch);
    assert_eq!(run.code, 0, "{run:?}");
    let log = dir.path().join("w/.git/.apply-patch");
    assert!(log.is_dir());
    let run = at(&dir, &["-C", ".git", "uninstall"], "");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!log.exists());
}

#[test]
fn what_it_did_not_make_stays_and_no_link_is_followed() {
    let dir = used(&[("elsewhere/x", "x\n")]);
    let elsewhere = dir.path().join("elsewhere");
    fs::write(state(&dir).join("notes"), "mine\n").expect("written");
    symlink(&elsewhere, state(&dir).join("trash/link")).expect("a link");
    symlink(&elsewhere, state(&dir).join("mine")).expect("a link");
    let done = at(&dir, &["uninstall"], "");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stderr.contains("did not make: mine, notes, trash/link"), "{done:?}");
    assert!(elsewhere.join("x").exists());
    assert_eq!(fs::read_to_string(state(&dir).join("notes")).expect("kept"), "mine\n");
    assert_eq!(names(&state(&dir).join("trash")), ["link"]);
    assert_eq!(at(&dir, &["log"], "").stdout, "");
}

/// The names in a directory.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("an entry").file_name().into_string().expect("UTF-8")
    };
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

/// What somebody else put into the state stays where it is, however deep, and so do the directories
/// above it; all that the program made goes. The next removal finds nothing else, and once it is
/// taken away, all goes.
#[test]
fn what_it_did_not_make_stays_at_any_depth() {
    let dir = used(&[]);
    let state = state(&dir);
    let id = names(&state.join("trash")).remove(0);
    let mut folders = vec![String::new(), format!("trash/{id}"), "refused/cli".into()];
    // What lies beside unfinished transactions stops the removal before it begins.
    let is_folder = |name: &String| state.join(name).is_dir() && name != "pending";
    folders.extend(names(&state).into_iter().filter(is_folder));
    let mut mine = Vec::new();
    for folder in &folders {
        for name in ["my notes", "journal.txt", "0.orig"] {
            mine.push(format!("{folder}/{name}").trim_start_matches('/').to_owned());
        }
        make_private(&state.join(folder).join("mine/journal"));
        mine.push(format!("{folder}/mine/journal/0").trim_start_matches('/').to_owned());
    }
    mine.iter().for_each(|path| fs::write(state.join(path), path).expect("written"));
    let done = at(&dir, &["uninstall", "--force"], "");
    assert_eq!(done.code, 0, "{done:?}");
    for path in &mine {
        assert_eq!(fs::read_to_string(state.join(path)).expect(path), *path);
        let named = path.replace("mine/journal/0", "mine");
        assert!(done.stderr.contains(&named), "{named}: {done:?}");
    }
    let paths = all(&state).into_iter().map(|(path, _)| path);
    let left: Vec<_> = paths.filter(|path| !path.is_dir()).collect();
    let mut wanted: Vec<_> = mine.iter().map(|path| state.join(path)).collect();
    wanted.extend([state.join("lock"), state.join(".gitignore")]);
    wanted.sort();
    assert_eq!(left, wanted);
    assert_eq!(at(&dir, &["log"], "").stdout, "");
    // Nothing else is there to be removed, and nothing of it is by the next removal.
    assert_eq!(at(&dir, &["uninstall", "--force"], "").code, 0);
    for path in &mine {
        assert_eq!(fs::read_to_string(state.join(path)).expect(path), *path);
    }
    // The program works with what stays, and all goes when that is taken away.
    let patch = "*** Begin Patch\n*** Add File: h\n+h\n*** End Patch\n";
    assert_eq!(at(&dir, &[], patch).code, 0);
    for folder in &folders {
        let folder = state.join(folder);
        for name in ["my notes", "journal.txt", "0.orig"] {
            fs::remove_file(folder.join(name)).expect("there");
        }
        fs::remove_dir_all(folder.join("mine")).expect("there");
    }
    let done = at(&dir, &["uninstall", "--force"], "");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!state.exists(), "{done:?}");
}

#[test]
fn an_unfinished_transaction_is_recovered_first() {
    let dir = used(&[]);
    let id = fs::read_dir(state(&dir).join("trash")).expect("a folder").next().expect("one");
    let id = id.expect("an entry").file_name();
    make_private(&state(&dir).join("pending").join(id));
    let before = all(dir.path());
    for flags in [&["-n"][..], &[], &["--force"]] {
        let refused = at(&dir, &[&["uninstall"], flags].concat(), "");
        assert_eq!(refused.code, 3, "{refused:?}");
        assert!(refused.stderr.contains("`apply-patch recover`"), "{refused:?}");
        assert_eq!(all(dir.path()), before);
    }
    // The advice is obeyed.
    assert_eq!(at(&dir, &["recover"], "").code, 0);
    assert_eq!(at(&dir, &["uninstall"], "").code, 0);
    assert!(!state(&dir).exists());
}

#[test]
fn the_check_of_a_change_cannot_remove_its_state() {
    let dir = used(&[]);
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-2\n+5\n*** End Patch\n";
    let command = format!("{} uninstall --force > said 2>&1", env!("CARGO_BIN_EXE_apply-patch"));
    let run = at(&dir, &["apply", "--verify", &command], patch);
    assert_eq!(run.code, 8, "{run:?}");
    assert_eq!(at(&dir, &["log"], "").stdout.lines().count(), 4);
}

#[test]
fn another_process_is_waited_for() {
    let dir = used(&[]);
    let root = Root::open(&dir.path().join("w"), patch_engine::policy()).expect("the project");
    let lock = root.state_dir().expect("trusted").expect("a state").spot("lock");
    let held = lock.lock(Duration::ZERO).expect("free");
    let before = all(dir.path());
    let run = at(&dir, &["uninstall", "--lock-timeout", "0"], "");
    assert_eq!(run.code, 5, "{run:?}");
    assert_eq!(all(dir.path()), before);
    drop(held);
    assert_eq!(at(&dir, &["uninstall"], "").code, 0);
    assert!(!state(&dir).exists());
}

/// What is removed, in the order in which it is.
const ORDER: [&str; 11] = [
    "below",
    "trash",
    "pending",
    "index",
    "from",
    "searched",
    "sessions",
    "snapshots",
    "refused",
    "reviews",
    "audit",
];

#[test]
fn a_removal_that_was_cut_off_is_finished_by_the_next() {
    for moved in 0..=ORDER.len() {
        for half in [false, true] {
            let dir = used(&[]);
            let removed = state(&dir).join("removed");
            make_private(&removed);
            for name in &ORDER[..moved] {
                let _ = fs::rename(state(&dir).join(name), removed.join(name));
            }
            if half && removed.join("trash").exists() {
                let mut folders = fs::read_dir(removed.join("trash")).expect("a folder");
                let first = folders.next().expect("one").expect("an entry").path();
                fs::remove_dir_all(first).expect("removed");
            }
            // The history is whole or empty, and its undo does what it says.
            let history = at(&dir, &["log"], "").stdout.lines().count();
            let is_whole = moved <= 1;
            assert_eq!(history, if is_whole { 4 } else { 0 }, "{moved}");
            let done = at(&dir, &["uninstall"], "");
            assert_eq!(done.code, 0, "{moved}: {done:?}");
            assert!(!state(&dir).exists(), "{moved}: {:?}", all(&state(&dir)));
        }
    }
    // A change in between begins a new history.
    let dir = used(&[]);
    make_private(&state(&dir).join("removed"));
    fs::rename(state(&dir).join("trash"), state(&dir).join("removed/trash")).expect("moved");
    apply(&dir, "w", "2", "4");
    assert_eq!(at(&dir, &["log"], "").stdout.lines().count(), 1);
    assert_eq!(at(&dir, &["undo"], "").code, 0);
    assert_eq!(at(&dir, &["uninstall"], "").code, 0);
    assert!(!state(&dir).exists());
}

#[test]
fn all_that_the_user_has_goes_when_it_is_named() {
    let dir = used(&[USER, ("v/a", "1\n"), ("in-tree/a", "1\n")]);
    apply(&dir, "v", "1", "2");
    make_private(&dir.path().join("in-tree/.apply-patch"));
    apply(&dir, "in-tree", "1", "2");
    assert_eq!(folders_of_user(&dir).len(), 2);
    let mine = dir.path().join("state/apply-patch/workspaces/mine");
    fs::create_dir(&mine).expect("a folder");
    let config = dir.path().join(USER.0);
    let key = dir.path().join("state/apply-patch/key");
    let user = dir.path().join("state/apply-patch");

    for (args, lines) in [(&["--all"][..], 2), (&["--all", "--config", "--keys"], 4)] {
        let dry = at(&dir, &[&["uninstall", "-n"], args].concat(), "");
        assert_eq!(dry.stdout.lines().count(), lines, "{dry:?}");
        assert_eq!(folders_of_user(&dir).len(), 3);
    }
    let done = at(&dir, &["uninstall", "--all", "--json"], "");
    let json = done.json().expect("JSON");
    assert_eq!(json["data"]["states"].as_array().map(Vec::len), Some(2), "{json}");
    assert_eq!(folders_of_user(&dir), std::slice::from_ref(&mine));
    assert!(config.exists());
    assert!(key.exists());
    // The history of a project that keeps its own is there.
    assert_eq!(at_in(&dir, "in-tree", &["log"], "").stdout.lines().count(), 1);

    fs::remove_dir(mine).expect("removed");
    let done = at(&dir, &["uninstall", "--all", "--config", "--keys"], "");
    assert_eq!(
        done.stdout,
        format!("removed {}\nremoved {}\n", config.display(), key.display()),
        "{done:?}"
    );
    assert!(!user.exists());
    assert!(!config.parent().expect("a folder").exists());
    // What it signed is no longer known, and is undone when a person says so.
    let undo = at_in(&dir, "in-tree", &["undo"], "");
    assert_ne!(undo.code, 0, "{undo:?}");
    assert!(undo.stderr.contains("--trust"), "{undo:?}");
}

#[test]
fn an_unfinished_transaction_of_one_project_keeps_no_other() {
    let dir = used(&[USER, ("v/a", "1\n")]);
    let unfinished = folders_of_user(&dir).remove(0);
    make_private(&unfinished.join("pending/20200101-000000-000000-00000000"));
    apply(&dir, "v", "1", "2");
    let done = at(&dir, &["uninstall", "--all"], "");
    assert_eq!(done.code, 6, "{done:?}");
    let said = format!("{} stays: a transaction is unfinished", unfinished.display());
    assert!(done.stderr.contains(&said), "{done:?}");
    assert_eq!(folders_of_user(&dir), [unfinished]);
}

#[test]
fn a_state_in_the_users_place_stays_in_use_without_the_setting() {
    let dir = used(&[USER]);
    let users = folders_of_user(&dir).remove(0);
    fs::remove_file(dir.path().join(USER.0)).expect("removed");
    let status = at(&dir, &["status"], "");
    assert!(status.stdout.contains(users.to_str().expect("a path")), "{status:?}");
    assert!(status.stdout.contains("it was there already"), "{status:?}");
    assert_eq!(at(&dir, &["log"], "").stdout.lines().count(), 4);
    apply(&dir, "w", "2", "4");
    assert!(!state(&dir).exists());
    assert_eq!(at(&dir, &["undo"], "").code, 0);

    // One in the tree goes first. Both are named, and both removed.
    make_private(&state(&dir));
    apply(&dir, "w", "2", "4");
    let status = at(&dir, &["status"], "");
    let (used, unused) = (state(&dir).display().to_string(), users.display().to_string());
    let row = |name: &str, path: &str| {
        status.stdout.lines().any(|line| line.starts_with(name) && line.contains(path))
    };
    assert!(row("state ", &used), "{status:?}");
    assert!(row("not used ", &unused), "{status:?}");
    let json = at(&dir, &["status", "--json"], "").json().expect("JSON");
    assert_eq!(json["data"]["unusedState"], json!(unused));
    let done = at(&dir, &["uninstall"], "");
    assert_eq!(done.stdout.lines().count(), 2, "{done:?}");
    assert!(!state(&dir).exists());
    assert!(folders_of_user(&dir).is_empty());
}

#[test]
fn it_asks_at_a_terminal() {
    let dir = used(&[]);
    for (flags, answer, exit, is_left) in
        [("", "n", 3, true), ("", "", 3, true), ("", "y", 0, false), ("--force", "", 0, false)]
    {
        let mut terminal = on_terminal(dir.path(), &format!("$it uninstall {flags}"), &[]);
        if flags.is_empty() {
            let shown = terminal.exp_string("Remove this for good? [y/N] ").expect("a question");
            assert!(shown.contains("4 transactions that can no longer be undone"), "{shown}");
            terminal.send_line(answer).expect("sent");
        }
        terminal.exp_string(&format!("exit {exit}\r\n")).expect("it ends");
        assert_eq!(state(&dir).exists(), is_left, "{flags} {answer}");
    }
}

/// A kill at each removal of a name, until one removal goes through: the next one finishes it.
#[test]
fn a_kill_at_any_removal_leaves_what_the_next_removes() {
    for config in [&[][..], &[USER]] {
        let mut kills = 0;
        let step = if whole() { 1 } else { 5 };
        loop {
            let dir = used(config);
            let before = (fs::read(dir.path().join("w/a")), fs::read(dir.path().join("w/b")));
            let output = Command::new("strace")
                .args(["-f", "-q", "-o", "/dev/null", "-e", "trace=unlinkat"])
                .args(["-e", &format!("inject=unlinkat:signal=KILL:when={}", kills + 1)])
                .args([env!("CARGO_BIN_EXE_apply-patch"), "uninstall"])
                .current_dir(dir.path().join("w"))
                .env("HOME", dir.path())
                .env("XDG_STATE_HOME", dir.path().join("state"))
                .env("XDG_CONFIG_HOME", dir.path().join("config"))
                .output();
            let Some(output) = output.ok().filter(|it| !it.stderr.starts_with(b"strace:")) else {
                testutils::skip!("strace is missing or not allowed");
                return;
            };
            if output.status.success() {
                break;
            }
            kills += step;
            let status = at(&dir, &["status", "--json"], "");
            assert!(matches!(status.code, 0 | 3), "after {kills}: {status:?}");
            let again = at(&dir, &["uninstall"], "");
            assert_eq!(again.code, 0, "after {kills}: {again:?}");
            assert!(!state(&dir).exists(), "after {kills}");
            assert!(folders_of_user(&dir).is_empty(), "after {kills}");
            let after = (fs::read(dir.path().join("w/a")), fs::read(dir.path().join("w/b")));
            assert_eq!(before.0.expect("a"), after.0.expect("a"), "after {kills}");
            assert_eq!(before.1.expect("b"), after.1.expect("b"), "after {kills}");
        }
        assert!(kills > 10, "{kills} removals");
    }
}
