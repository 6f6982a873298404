//! Where a project is: which directories are one only if they are named, whose rules hold, and
//! whose history is used.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::program::{Run, place};
use crate::run::output;

const ADD: &str = "*** Begin Patch\n*** Add File: new\n+new\n*** End Patch\n";

/// The program in a directory, with these variables and no others, by this name.
fn run(name: &str, dir: &Path, variables: &[(&str, &Path)], args: &[&str], input: &str) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_apply-patch"));
    command.arg0(name).args(args).current_dir(dir).env_clear().envs(variables.iter().copied());
    output(command, input.as_bytes()).into()
}

fn update(path: &str, old: &str, new: &str) -> String {
    format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n")
}

#[test]
fn the_home_directory_is_a_root_only_if_it_is_named() {
    let dir = place(&[("home/.profile", "old\n"), ("home/f", "f\n"), ("home/p/g", "g\n")]);
    let home = dir.path().join("home");
    symlink(&home, dir.path().join("link")).expect("a link");
    let (state, link) = (dir.path().join("state"), dir.path().join("link"));
    let slash = format!("{}/", home.display());
    let patch = update("f", "f", "F");
    for git in [false, true] {
        if git {
            fs::create_dir(home.join(".git")).expect("a folder");
        }
        for (cwd, named) in [
            (&home, &home),
            (&home, &link),
            (&link, &home),
            (&home, &Path::new(&slash).to_path_buf()),
        ] {
            let variables = [("HOME", named.as_path()), ("XDG_STATE_HOME", &state)];
            for (program, args, code) in [
                ("apply-patch", &["--json"][..], 3),
                ("apply-patch", &["apply", "--json"], 3),
                ("apply-patch", &["check", "--json"], 3),
                ("apply-patch", &["-n", "--json"], 3),
                ("apply-patch", &["log", "--json"], 3),
                ("apply-patch", &["undo", "--json"], 3),
                ("apply-patch", &["status", "--json"], 3),
                ("apply-patch", &["recover", "--json"], 3),
                ("apply-patch", &["tool", "read_file", "--args", "{\"path\":\"f\"}"], 3),
                ("apply_patch", &[], 1),
            ] {
                let refused = run(program, cwd, &variables, args, &patch);
                assert_eq!(refused.code, code, "{program} {args:?}: {refused:?}");
                let said = format!("{}{}", refused.stdout, refused.stderr);
                assert!(said.contains("is your home directory"), "{program} {args:?}: {refused:?}");
                assert!(said.contains("-C ."), "{program} {args:?}: {refused:?}");
                if program == "apply-patch" {
                    let json = refused.json().expect("JSON");
                    assert_eq!(json["error"]["details"]["reason"], "no_project", "{json}");
                }
            }
            assert_eq!(fs::read_to_string(home.join("f")).expect("there"), "f\n");
            assert!(!home.join(".apply-patch").exists());
        }
    }
    let variables = [("HOME", home.as_path()), ("XDG_STATE_HOME", &state)];
    // A directory in it is a project like any other, with a state of its own, though the home is a
    // work tree.
    assert_eq!(
        run("apply-patch", &home.join("p"), &variables, &[], &update("g", "g", "G")).code,
        0
    );
    assert!(home.join("p/.apply-patch").exists());
    assert!(!home.join(".apply-patch").exists());
    // Named, it is one too; what a login reads has to be approved even so.
    assert_eq!(run("apply-patch", &home, &variables, &["-C", "."], &patch).code, 0);
    assert_eq!(
        run("apply-patch", &home, &variables, &["--root=."], &update(".profile", "old", "x")).code,
        3
    );
    assert_eq!(run("apply-patch", dir.path(), &variables, &["-C", "home", "undo"], "").code, 0);
    // From below neither its state nor its history is seen.
    fs::create_dir(home.join("q")).expect("a folder");
    assert_eq!(run("apply-patch", &home.join("q"), &variables, &["undo"], "").code, 1);
}

#[test]
fn the_top_and_directories_of_all_are_roots_only_if_they_are_named() {
    let dir = place(&[("tmp/f", "f\n"), ("tmp/p/g", "g\n")]);
    let (home, tmp) = (dir.path().join("home"), dir.path().join("tmp"));
    let variables = [("HOME", home.as_path())];
    let top = run("apply-patch", Path::new("/"), &variables, &["--check", "--json"], ADD);
    assert!(top.code == 3, "{top:?}");
    assert!(top.stdout.contains("the top of the file system"), "{top:?}");
    fs::set_permissions(&tmp, fs::Permissions::from_mode(0o1777)).expect("ours");
    let shared = run("apply-patch", &tmp, &variables, &[], ADD);
    assert!(shared.code == 3, "{shared:?}");
    assert!(shared.stderr.contains("others may create files"), "{shared:?}");
    assert_eq!(run("apply-patch", &tmp.join("p"), &variables, &[], ADD).code, 0);
    assert!(tmp.join("p/.apply-patch").exists());
    assert_eq!(run("apply-patch", &tmp, &variables, &["-C", "."], ADD).code, 0);
    assert_eq!(
        run("apply-patch", &tmp.join("p"), &variables, &["log", "--json"], "")
            .stdout
            .matches("shortId")
            .count(),
        1
    );
    // To say how things stand is not to work there.
    let doctor = run("apply-patch", &tmp, &variables, &["doctor"], "");
    assert!(doctor.stdout.contains("only if it is named"), "{doctor:?}");
}

#[test]
fn without_a_variable_the_home_is_what_the_system_says() {
    let uid = fs::metadata("/proc/self").map(|seen| std::os::unix::fs::MetadataExt::uid(&seen));
    let list = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = uid
        .ok()
        .and_then(|uid| list.lines().find(|line| line.split(':').nth(2) == Some(&uid.to_string())));
    let Some(home) =
        line.and_then(|line| line.split(':').nth(5)).filter(|home| Path::new(home).is_dir())
    else {
        testutils::skip!("the system does not list this user");
        return;
    };
    let wrong = Path::new("/nonexistent");
    for variables in [&[][..], &[("HOME", wrong)]] {
        let refused = run("apply-patch", Path::new(home), variables, &["--check"], ADD);
        assert!(refused.code == 3, "{variables:?} {refused:?}");
        assert!(refused.stderr.contains("only if it is named"), "{variables:?} {refused:?}");
    }
}

#[test]
fn the_rules_of_every_directory_up_to_the_top_hold_wherever_the_state_is() {
    const KEYS: &str = "forbidden = [\"**/keys.txt\"]\n";
    for vcs in [".git", ".hg", ".jj"] {
        for (state, user) in [("", false), ("a/b", false), ("a", false), ("", true)] {
            for rules in ["", "a", "a/b"] {
                let dir = place(&[("w/a/b/keys.txt", "k\n"), ("w/a/b/other", "o\n")]);
                let (top, home) = (dir.path().join("w"), dir.path().join("home"));
                let choice = if user { "user" } else { "project" };
                let variables =
                    [("HOME", home.as_path()), ("APPLY_PATCH_STATE", Path::new(choice))];
                fs::create_dir(&home).expect("a folder");
                if !state.is_empty() {
                    assert_eq!(run("apply-patch", &top.join(state), &variables, &[], ADD).code, 0);
                }
                fs::create_dir(top.join(vcs)).expect("a folder");
                fs::write(top.join(rules).join(".apply-patch.toml"), KEYS).expect("written");
                let below = top.join("a/b");
                let case = format!("{vcs} {state:?} {user} {rules:?}");
                let refused = run(
                    "apply-patch",
                    &below,
                    &variables,
                    &["--json"],
                    &update("keys.txt", "k", "K"),
                );
                assert!(refused.code == 3, "{case}: {refused:?}");
                assert!(refused.stdout.contains("forbidden"), "{case}: {refused:?}");
                let read = ["tool", "read_file", "--args", "{\"path\":\"keys.txt\"}"];
                let refused = run("apply-patch", &below, &variables, &read, "");
                assert!(refused.code == 3, "{case}: {refused:?}");
                assert!(refused.stdout.contains("forbidden"), "{case}: {refused:?}");
                let refused =
                    run("apply_patch", &below, &variables, &[], &update("keys.txt", "k", "K"));
                assert_eq!(refused.code, 1, "{case}: {refused:?}");
                assert_eq!(
                    run("apply-patch", &below, &variables, &[], &update("other", "o", "O")).code,
                    0,
                    "{case}"
                );
            }
        }
    }
}

#[test]
fn rules_hold_below_names_that_no_patch_may_have() {
    let dir = place(&[]);
    let home = dir.path().join("home");
    for name in ["~x/y", "a\\b", "new\nline", "sub/.git-not"] {
        let below = dir.path().join("w").join(name);
        fs::create_dir_all(&below).expect("a folder");
        fs::write(below.join("keys.txt"), "k\n").expect("written");
        fs::create_dir_all(dir.path().join("w/.git")).expect("a folder");
        fs::write(dir.path().join("w/.apply-patch.toml"), "forbidden = [\"**/keys.txt\"]\n")
            .expect("written");
        let refused =
            run("apply-patch", &below, &[("HOME", &home)], &[], &update("keys.txt", "k", "K"));
        assert_eq!(refused.code, 3, "{name:?}: {refused:?}");
    }
}

#[test]
fn a_project_has_no_history_of_another_above_it() {
    for vcs in [".git", ".hg", ".jj"] {
        let dir = place(&[("w/A/f", "a\n"), ("w/B/s/f", "b\n")]);
        let (above, home) = (dir.path().join("w"), dir.path().join("home"));
        let variables = [("HOME", home.as_path())];
        assert_eq!(run("apply-patch", &above, &variables, &[], ADD).code, 0);
        for project in ["A", "B"] {
            fs::create_dir(above.join(project).join(vcs)).expect("a folder");
        }
        assert_eq!(
            run("apply-patch", &above.join("A"), &variables, &[], &update("f", "a", "A")).code,
            0
        );
        let undone = run("apply-patch", &above.join("B/s"), &variables, &["undo"], "");
        assert!(undone.code == 1, "{vcs}: {undone:?}");
        assert!(undone.stderr.contains("no transaction"), "{vcs}: {undone:?}");
        assert_eq!(fs::read_to_string(above.join("A/f")).expect("there"), "A\n");
        assert!(above.join("A/.apply-patch").exists());
    }
}

#[test]
fn a_directory_made_anew_does_not_get_the_users_state_of_the_former() {
    let dir = place(&[("w/f", "1\n")]);
    let (w, home) = (dir.path().join("w"), dir.path().join("home"));
    let variables = [("HOME", home.as_path()), ("APPLY_PATCH_STATE", Path::new("user"))];
    assert_eq!(run("apply-patch", &w, &variables, &[], &update("f", "1", "2")).code, 0);
    let status = run("apply-patch", &w, &variables, &["status"], "");
    assert!(!status.stdout.contains("former"), "{status:?}");
    fs::remove_dir_all(&w).expect("ours");
    fs::create_dir(&w).expect("a folder");
    fs::write(w.join("f"), "2\n").expect("written");
    assert_eq!(run("apply-patch", &w, &variables, &["undo"], "").code, 1);
    assert_eq!(fs::read_to_string(w.join("f")).expect("there"), "2\n");
    for command in ["status", "doctor"] {
        let said = run("apply-patch", &w, &variables, &[command], "");
        assert!(said.stdout.contains("former"), "{said:?}");
        assert!(said.stdout.contains("workspaces/w-"), "{said:?}");
        let json =
            run("apply-patch", &w, &variables, &[command, "--json"], "").json().expect("JSON");
        assert_eq!(json["data"]["formerStates"].as_array().map(Vec::len), Some(1), "{json}");
    }
}

/// A user who is not this one.
const OTHER: u32 = 12345;

/// A directory `w` that belongs to the other user, with the homes of both, and the program, which
/// the other might not reach where it was built; `None` where directories cannot be given away.
fn of_another() -> Option<tempfile::TempDir> {
    let dir = place(&[("w/f", "1\n"), ("home/x", ""), ("theirs/x", "")]);
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    for path in ["w", "w/f", "theirs"] {
        if std::os::unix::fs::chown(dir.path().join(path), Some(OTHER), Some(OTHER)).is_err() {
            testutils::skip!("only root can give a directory away");
            return None;
        }
    }
    fs::copy(env!("CARGO_BIN_EXE_apply-patch"), dir.path().join("program")).expect("copied");
    Some(dir)
}

/// The program in `w`, as root or as the other user.
fn run_as(dir: &Path, root: bool, variables: &[(&str, &str)], args: &[&str], input: &str) -> Run {
    let mut command = Command::new(dir.join("program"));
    command
        .args(args)
        .current_dir(dir.join("w"))
        .env_clear()
        .env("HOME", dir.join(if root { "home" } else { "theirs" }));
    command.envs(variables.iter().copied());
    if !root {
        command.uid(OTHER).gid(OTHER);
    }
    output(command, input.as_bytes()).into()
}

#[test]
fn root_keeps_nobody_out_of_their_own_directory() {
    let Some(dir) = of_another() else { return };
    let w = dir.path().join("w");
    let theirs = dir.path().join("theirs");
    let theirs = theirs.to_str().expect("UTF-8");
    // With a home of its own, and with that of the other, as `sudo -E` does.
    for (n, variables) in [&[][..], &[("HOME", theirs)]].into_iter().enumerate() {
        let (old, new) = (format!("{}", 2 * n + 1), format!("{}", 2 * n + 2));
        let first = run_as(dir.path(), true, variables, &[], &update("f", &old, &new));
        assert_eq!(first.code, 0, "{first:?}");
        assert!(first.stderr.contains("belongs to user 12345"), "{first:?}");
        assert!(!w.join(".apply-patch").exists(), "root made a state in the directory of another");
        assert!(
            fs::read_dir(theirs).expect("there").count() <= 2,
            "root made a folder in the home of another"
        );
        let second =
            run_as(dir.path(), false, &[], &[], &update("f", &new, &format!("{}", 2 * n + 3)));
        assert_eq!(second.code, 0, "{second:?}");
        assert_eq!(run_as(dir.path(), false, &[], &["log"], "").code, 0);
        fs::remove_dir_all(w.join(".apply-patch")).expect("made above");
    }
    // Root finds what it did.
    let undone = run_as(dir.path(), true, &[], &["log", "--json"], "");
    assert!(undone.stdout.contains("shortId"), "{undone:?}");
}

/// A preview promises nothing that is refused then.
#[test]
fn where_nothing_can_be_written_a_preview_is_refused_too() {
    let Some(dir) = of_another() else { return };
    let w = dir.path().join("w");
    let mode = |mode| fs::set_permissions(&w, fs::Permissions::from_mode(mode)).expect("ours");
    let (patch, back) = (update("f", "1", "2"), update("f", "2", "1"));
    let refused = |args: &[&str], input: &str, wanted: &str| {
        for preview in [&[][..], &["-n"]] {
            let run = run_as(dir.path(), false, &[], &[args, preview].concat(), input);
            assert_eq!(run.code, 5, "{args:?} {preview:?} {run:?}");
            assert!(run.stderr.contains(wanted), "{args:?} {preview:?} {run:?}");
        }
    };
    mode(0o555);
    refused(&["apply"], &patch, "cannot create .apply-patch");
    mode(0o755);
    assert_eq!(run_as(dir.path(), false, &[], &[], &patch).code, 0);
    mode(0o555);
    refused(&["apply"], &back, "cannot write in .: ");
    refused(&["undo"], "", "cannot write in .: ");
    mode(0o755);
}

#[test]
fn a_state_of_another_user_says_whose_it_is_and_what_to_do() {
    let Some(dir) = of_another() else { return };
    let state = dir.path().join("w/.apply-patch");
    fs::create_dir(&state).expect("a folder");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).expect("ours");
    let chown = format!("sudo chown -R 12345 {}", state.display());
    let patch = update("f", "1", "2");
    for (args, code) in [
        (&["apply"][..], 3),
        (&["apply", "-n"], 3),
        (&["log"], 3),
        (&["undo"], 3),
        (&["status"], 3),
        (&["recover"], 3),
        (&["trash", "list"], 3),
        (&["doctor"], 5),
    ] {
        let refused = run_as(dir.path(), false, &[], args, &patch);
        let said = format!("{}{}", refused.stdout, refused.stderr);
        assert_eq!(refused.code, code, "{args:?} {refused:?}");
        for wanted in ["belongs to root", "user 12345", &chown, "state = \"user\""] {
            assert!(said.contains(wanted), "{args:?} {wanted}: {refused:?}");
        }
        if args != ["doctor"] {
            let json = run_as(dir.path(), false, &[], &[args, &["--json"]].concat(), &patch)
                .json()
                .expect("JSON");
            assert_eq!(json["error"]["details"]["reason"], "untrusted_state", "{json}");
        }
    }
    // A model gets no command that it cannot run.
    let patch_argument = serde_json::json!({ "patch": patch }).to_string();
    for (tool, arguments) in
        [("create_file", "{\"path\":\"n\",\"content\":\"\"}"), ("apply_patch", &*patch_argument)]
    {
        let refused = run_as(dir.path(), false, &[], &["tool", tool, "--args", arguments], "");
        assert_eq!(refused.code, 3, "{refused:?}");
        let error = &refused.json().expect("JSON")["error"];
        assert!(
            error["message"].as_str().is_some_and(|said| said.contains("belongs to root")),
            "{error}"
        );
        assert!(
            error["suggestedNextAction"].as_str().is_some_and(|said| !said.contains("chown")),
            "{error}"
        );
    }
    assert_eq!(run_as(dir.path(), false, &[("APPLY_PATCH_STATE", "user")], &[], &patch).code, 0);
    // And the other way round.
    std::os::unix::fs::chown(&state, Some(OTHER), Some(OTHER)).expect("root");
    let refused = run_as(dir.path(), true, &[], &["log"], "");
    assert!(refused.code == 3, "{refused:?}");
    assert!(refused.stderr.contains("belongs to user 12345"), "{refused:?}");
    assert!(refused.stderr.contains("without sudo"), "{refused:?}");
    assert!(!refused.stderr.contains("chown"), "{refused:?}");
}
