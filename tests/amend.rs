//! `--amend`: a part of a refused patch is sent again, and the rest is taken from there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{self, Run, clean, place};
use testutils::share::whole;

const THREE: &str = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+ONE\n*** Add File: new\n+n\n\
                     *** Update File: b\n@@\n-wrong\n+TWO\n*** End Patch\n";
const B: &str = "*** Begin Patch\n*** Update File: b\n@@\n-two\n+TWO\n*** End Patch\n";

/// A workspace in which something was changed before.
fn files() -> tempfile::TempDir {
    let dir = place(&[("w/a", "one\n"), ("w/b", "two\n"), ("w/c", "three\n")]);
    apply(dir.path(), &[], "*** Begin Patch\n*** Update File: c\n@@\n-three\n+3\n*** End Patch\n");
    dir
}

fn apply(dir: &Path, args: &[&str], patch: &str) -> Run {
    program::run("apply-patch", &dir.join("w"), dir, args, patch.as_bytes())
}

fn json(dir: &Path, args: &[&str], patch: &str) -> (i32, Value) {
    let run = apply(dir, &[&["--json"], args].concat(), patch);
    (run.code, run.json().expect("JSON"))
}

/// The names of the files, and their bytes, but for the state.
fn tree(dir: &Path) -> BTreeMap<String, String> {
    let entries =
        fs::read_dir(dir.join("w")).expect("the workspace").map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|entry| {
            (
                entry.file_name().into_string().expect("a name"),
                fs::read_to_string(entry.path()).expect("text"),
            )
        })
        .collect()
}

fn refused(dir: &Path, patch: &str) -> String {
    let (code, answer) = json(dir, &[], patch);
    assert_eq!(code, 1, "{answer}");
    answer["error"]["details"]["patchId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn kept(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir.join("w/.apply-patch/refused/cli")) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect()
}

/// `check` and `explain` are told what `apply` is told.
#[test]
fn what_is_amended_or_applied_in_part_can_be_looked_at() {
    let dir = files();
    let id = refused(dir.path(), THREE);
    for (args, patch, code, said) in [
        (&["check", "--amend", &id][..], B, 0, "it applies: 1 created, 2 updated"),
        (&["explain", "--amend", &id], B, 0, "Section 3 (patch line 8) changes b"),
        (&["check"], THREE, 1, ""),
        (&["check", "--partial"], THREE, 6, "it applies: 1 created, 1 updated"),
        (&["check", "--no-atomic"], THREE, 6, "it applies: 1 created, 1 updated"),
        (&["explain", "--partial"], THREE, 6, "Section 3 (patch line 8) is left out."),
        (&["check", "--format-with", "false"], B, 1, ""),
        (&["check", "--format-with", "cat"], B, 0, "it applies: 1 updated"),
    ] {
        let before = tree(dir.path());
        let run = apply(dir.path(), args, patch);
        assert_eq!(run.code, code, "{args:?}: {run:?}");
        assert!(run.stdout.contains(said), "{args:?}: {run:?}");
        assert_eq!(tree(dir.path()), before, "{args:?}");
        let answer = json(dir.path(), args, patch);
        assert_eq!((answer.0, &answer.1["ok"]), (code, &(code == 0).into()), "{args:?}");
    }
}

/// A later mail copies the file that an earlier one left, also when a part is sent again.
#[test]
fn mails_follow_one_another_in_what_is_amended() {
    let dir = files();
    let of = |nth: usize| {
        format!(
            "From 012345678901234567890123456789012345678{nth} Mon Sep 17 00:00:00 2001\n\
             From: A <a@example.com>\nSubject: [PATCH {nth}/2] x\n\n---\n a | 2 +-\n\n"
        )
    };
    let change = |name: &str, from: &str, to: &str| {
        format!(
            "diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-{from}\n+{to}\n"
        )
    };
    let copy = "diff --git a/a b/d\nsimilarity index 100%\ncopy from a\ncopy to d\n";
    let end = "-- \n2.47.3\n\n";
    let (first, second) = (change("a", "one", "1"), change("b", "wrong", "2"));
    let id = refused(dir.path(), &[&of(1), &first, end, &of(2), &second, copy, end].concat());
    let (code, answer) = json(dir.path(), &["--amend", &id], &change("b", "two", "2"));
    assert_eq!(code, 0, "{answer}");
    let wanted = [("a", "1\n"), ("b", "2\n"), ("c", "3\n"), ("d", "1\n")];
    assert_eq!(tree(dir.path()), wanted.map(|(name, text)| (name.into(), text.into())).into());
}

/// A person at a terminal corrects the patch that is there; what is kept is for who sends another.
#[test]
fn at_a_terminal_the_patch_that_is_kept_is_told_to_who_asks() {
    for (line, told) in
        [("$it ../p", false), ("$it -v ../p", true), ("$it ../p 2>&1 | cat; false", true)]
    {
        let dir = files();
        fs::write(dir.path().join("p"), THREE).expect("a file");
        let mut terminal = program::on_terminal(dir.path(), line, &[("NO_COLOR", "1")]);
        let shown = terminal.exp_string("exit 1\r\n").expect("it ends");
        // The lines are as wide as the terminal.
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("its old lines are not in the file"), "{line}: {shown}");
        assert!(shown.contains("nothing was changed"), "{line}: {shown}");
        assert_eq!(shown.contains("--amend"), told, "{line}: {shown}");
        assert_eq!(kept(dir.path()).len(), 1, "{line}");
    }
}

#[test]
fn one_file_is_sent_again_and_not_three() {
    let dir = files();
    let told = apply(dir.path(), &[], THREE);
    let id = refused(dir.path(), THREE);
    assert!(told.code == 1, "{told:?}");
    let said = format!("send only b again, corrected, with `--amend {id}`");
    assert!(told.stderr.contains(&said), "{told:?}");
    assert!(json(dir.path(), &[], THREE).1.to_string().contains(&said));
    let path = dir.path().join("w/.apply-patch/refused/cli").join(&id);
    assert_eq!(fs::metadata(&path).expect("it is kept").permissions().mode() & 0o777, 0o600);
    // What would be done is seen before.
    let shown = apply(dir.path(), &["-n", "--amend", &id], B);
    assert!(shown.code == 0, "{shown:?}");
    assert!(shown.stdout.contains("+ONE"), "{shown:?}");
    assert!(shown.stdout.contains("+TWO"), "{shown:?}");
    assert!(shown.stderr.contains(&format!("amended {id}: 2 of its sections kept")), "{shown:?}");
    let (code, answer) = json(dir.path(), &["--amend", &id], B);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(answer["data"]["changedFiles"].as_array().map(Vec::len), Some(3), "{answer}");
    let wanted = [("a", "ONE\n"), ("b", "TWO\n"), ("c", "3\n"), ("new", "n\n")];
    assert_eq!(
        tree(dir.path()),
        wanted.map(|(name, text)| (name.to_owned(), text.to_owned())).into()
    );
    // It is one transaction.
    let (code, _) = json(dir.path(), &["undo"], "");
    assert_eq!(code, 0);
    assert_eq!(fs::read_to_string(dir.path().join("w/a")).expect("the file"), "one\n");
}

#[test]
fn an_amendment_that_is_refused_can_be_amended() {
    let dir = files();
    let id = refused(dir.path(), THREE);
    let before = tree(dir.path());
    let (code, answer) = json(dir.path(), &["--amend", &id], &B.replace("-two", "-wrong again"));
    let again = answer["error"]["details"]["patchId"].as_str().expect("another name").to_owned();
    assert!(code == 1, "{answer}");
    assert!(again != id, "{answer}");
    assert!(tree(dir.path()) == before, "{answer}");
    let (code, answer) = json(dir.path(), &["--amend", &again], B);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(tree(dir.path())["b"].as_str(), "TWO\n", "{answer}");
}

#[test]
fn diffs_amend_diffs_and_patches_patches() {
    let dir = files();
    let one = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+ONE\n";
    let two =
        |old: &str| format!("diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-{old}\n+TWO\n");
    let id = refused(dir.path(), &format!("{one}{}", two("wrong")));
    let (code, answer) = json(dir.path(), &["--amend", &id], B);
    assert!(code == 1, "{answer}");
    assert!(
        answer["error"]["message"].as_str().is_some_and(|text| text.contains("another form")),
        "{answer}"
    );
    let (code, answer) = json(dir.path(), &["--amend", &id], &two("two"));
    assert_eq!(code, 0, "{answer}");
    assert_eq!(&*tree(dir.path())["a"], "ONE\n", "{answer}");
    assert_eq!(&*tree(dir.path())["b"], "TWO\n", "{answer}");
}

#[test]
fn what_is_not_kept_is_said_and_nothing_is_done() {
    let dir = files();
    let id = refused(dir.path(), THREE);
    let before = tree(dir.path());
    for wrong in ["p-0123456789ab", "../../lock", "p-", "last"] {
        let (code, answer) = json(dir.path(), &["--amend", wrong], B);
        assert_eq!(code, 1, "{answer}");
        assert_eq!(&answer["error"]["details"]["reason"], &"not_kept", "{answer}");
    }
    // Another text under its name is not it.
    let path = dir.path().join("w/.apply-patch/refused/cli").join(&id);
    fs::write(&path, format!("envelope\n{}", THREE.replace("+n", "+other"))).expect("a file");
    let (code, answer) = json(dir.path(), &["--amend", &id], B);
    assert_eq!(code, 1, "{answer}");
    assert_eq!(&answer["error"]["details"]["reason"], &"not_kept", "{answer}");
    assert_eq!(tree(dir.path()), before);
}

#[test]
fn only_what_can_be_amended_is_kept_and_not_for_ever() {
    // Where nothing was ever changed, there is no trace.
    let fresh = place(&[("w/a", "one\n"), ("w/b", "two\n")]);
    let (_, answer) = json(fresh.path(), &[], THREE);
    assert!(answer["error"]["details"]["patchId"].is_null(), "{answer}");
    assert!(!fresh.path().join("w/.apply-patch").exists(), "{answer}");
    let dir = files();
    // Of one section there is nothing to keep; a preview writes nothing.
    json(dir.path(), &[], &B.replace("-two", "-wrong"));
    json(dir.path(), &["-n"], THREE);
    assert_eq!(kept(dir.path()), [""; 0]);
    for n in 0..20 {
        refused(dir.path(), &THREE.replace("+TWO", &format!("+{n}")));
    }
    let last = refused(dir.path(), THREE);
    assert!(kept(dir.path()).len() == 16, "{:?}", kept(dir.path()));
    assert!(kept(dir.path()).contains(&last), "{:?}", kept(dir.path()));
    // A command that did not accept the change refuses it too.
    let good = THREE.replace("-wrong", "-two");
    let (code, answer) = json(dir.path(), &["--verify", "false"], &good);
    assert!(code == 8, "{answer}");
    assert!(answer["error"]["details"]["patchId"].is_string(), "{answer}");
}

/// Killed at any call while a patch is kept: it is there whole, or not at all, and nothing else is
/// touched. Killed while it is amended: all of it, or nothing.
#[test]
fn a_kill_leaves_the_old_or_the_new() {
    let dir = files();
    let before = tree(dir.path());
    let id = refused(dir.path(), THREE);
    let copy = |what: &str,
                patch: &str,
                args: &[&str],
                call: &str,
                at: usize|
     -> Option<tempfile::TempDir> {
        let dir = files();
        if what == "amend" {
            assert_eq!(refused(dir.path(), THREE), id);
        }
        fs::write(dir.path().join("p"), patch).expect("a file");
        let output = clean("strace")
            .args(["-f", "-q", "-o", "/dev/null", "-e", &format!("trace={call}")])
            .args(["-e", &format!("inject={call}:signal=KILL:when={at}")])
            .args([env!("CARGO_BIN_EXE_apply-patch"), "../p"])
            .args(args)
            .current_dir(dir.path().join("w"))
            .env("HOME", dir.path())
            .env("XDG_STATE_HOME", dir.path().join("state"))
            .output()
            .ok()?;
        (!String::from_utf8_lossy(&output.stderr).starts_with("strace:")).then_some(dir)
    };
    let (mut kept_whole, mut ends) = ([0, 0], [0, 0]);
    for call in ["write", "renameat2", "mkdirat", "unlinkat", "fsync", "fchmod", "pwrite64"] {
        for at in (1..=4).step_by(if whole() { 1 } else { 2 }) {
            let Some(dir) = copy("keep", THREE, &[], call, at) else {
                testutils::skip!("strace is missing or not allowed");
                return;
            };
            let what = format!("killed at {call} {at}");
            assert_eq!(tree(dir.path()), before, "{what}");
            let (code, answer) = json(dir.path(), &["--amend", &id], B);
            assert!(
                code == 0 || answer["error"]["details"]["reason"] == "not_kept",
                "{what}: {answer}"
            );
            kept_whole[usize::from(code == 0)] += 1;
            let Some(dir) = copy("amend", B, &["--amend", &id], call, at) else { return };
            let (code, answer) = json(dir.path(), &["log"], "");
            let now = tree(dir.path());
            let new = now.contains_key("new");
            assert!(code == 0, "{what}: {now:?}, {answer}");
            assert!(
                (now == before || new && now["a"] == "ONE\n" && now["b"] == "TWO\n"),
                "{what}: {now:?}, {answer}"
            );
            ends[usize::from(new)] += 1;
        }
    }
    assert!(kept_whole[0] > 0, "{kept_whole:?}, {ends:?}");
    assert!(kept_whole[1] > 0, "{kept_whole:?}, {ends:?}");
    assert!(ends[0] > 0, "{kept_whole:?}, {ends:?}");
    assert!(ends[1] > 0, "{kept_whole:?}, {ends:?}");
}

/// A model sends one file again, and not three.
#[test]
fn a_tool_amends_what_it_was_refused() {
    let call = |dir: &Path, session: &str, arguments: Value| {
        let args = ["--json", "tool", "apply_patch", "--session", session, "--args", "-"];
        let run = program::run(
            "apply-patch",
            &dir.join("w"),
            dir,
            &args,
            arguments.to_string().as_bytes(),
        );
        (run.code, run.json().expect("JSON"))
    };
    let dir = files();
    let before = tree(dir.path());
    let (code, answer) = call(dir.path(), "one", json!({ "patch": THREE }));
    let id = answer["error"]["details"]["patchId"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
        .to_owned();
    assert_eq!(code, 1, "{answer}");
    assert_eq!(tree(dir.path()), before.clone(), "{answer}");
    let next = answer["error"]["suggestedNextAction"].as_str().expect("a sentence");
    let said =
        format!("; to keep the other sections, send only b again, corrected, with amend {id}");
    assert!(next.ends_with(&said), "{next}");
    // It is another session's, or a diff's, or no name at all.
    for (session, id) in [("two", &*id), ("one", "p-0123456789ab"), ("one", "../cli")] {
        let (code, answer) = call(dir.path(), session, json!({ "patch": B, "amend": id }));
        assert_eq!(code, 1, "{answer}");
        assert_eq!(&answer["error"]["details"]["reason"], &"not_kept", "{answer}");
        assert_eq!(tree(dir.path()), before);
    }
    // What is only looked at is not kept, and neither is what was done in part.
    for more in
        [json!({ "patch": THREE, "dryRun": true }), json!({ "patch": THREE, "atomic": false })]
    {
        let dir = files();
        let (_, answer) = call(dir.path(), "one", more);
        assert!(answer["ok"] == false, "{answer}");
        assert!(answer["error"]["details"]["patchId"].is_null(), "{answer}");
    }
    let (_, shown) = call(dir.path(), "one", json!({ "patch": B, "amend": id, "dryRun": true }));
    let (code, done) = call(dir.path(), "one", json!({ "patch": B, "amend": id }));
    for answer in [&shown, &done] {
        assert_eq!(answer["data"]["changedFiles"].as_array().map(Vec::len), Some(3), "{answer}");
    }
    let wanted = [("a", "ONE\n"), ("b", "TWO\n"), ("c", "3\n"), ("new", "n\n")];
    assert_eq!(code, 0);
    assert_eq!(
        tree(dir.path()),
        wanted.map(|(name, text)| (name.to_owned(), text.to_owned())).into()
    );
}

/// The sentence names the sections that are wrong: by their paths, whatever path of them was
/// refused, and only where others are worth keeping.
#[test]
fn only_what_helps_is_said_of_amending() {
    let dir = files();
    let absolute = dir.path().join("w/b").to_str().expect("text").to_owned();
    let update = |path: &str, old: &str| format!("*** Update File: {path}\n@@\n-{old}\n+x\n");
    let (good, bad) = (update("a", "one"), update("b", "wrong"));
    for (sections, wanted) in [
        (format!("{good}{bad}"), Some("send only b again")),
        (format!("{good}{}", update("./b", "wrong")), Some("send only b again")),
        (format!("{good}{}", update(&absolute, "wrong")), Some("send only b again")),
        (format!("{good}*** Move File: b -> a/x\n"), Some("send only b again")),
        (format!("{good}{bad}{}", update("c", "wrong")), Some("send only b, c again")),
        (format!("{bad}{}", update("c", "wrong")), None),
    ] {
        let patch = format!("*** Begin Patch\n{sections}*** End Patch\n");
        let (code, answer) = json(dir.path(), &[], &patch);
        assert_eq!(code, 1, "{patch}{answer}");
        let next = answer["error"]["suggestedNextAction"].to_string();
        match wanted {
            Some(wanted) => assert!(next.contains(wanted), "{patch}{next}"),
            None => assert!(!next.contains("amend"), "{patch}{next}"),
        }
    }
    // The kept section had an absolute path, and the new one has not.
    let patch = format!("*** Begin Patch\n{good}{}*** End Patch\n", update(&absolute, "wrong"));
    let id = refused(dir.path(), &patch);
    let (code, answer) = json(dir.path(), &["--amend", &id], B);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(tree(dir.path())["b"], "TWO\n");
}
