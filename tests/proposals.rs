//! `propose`, `proposals`, `show`, `approve` and `decline`: changes that wait for a person, in
//! another process.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::program::{self, Run, clean, on_terminal, place};

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-five\n+FIVE\n*** End Patch\n";

/// Ten lines.
const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

fn files() -> tempfile::TempDir {
    place(&[("w/a", LINES), ("w/b", "b\n"), ("w/sub/c", "c\n")])
}

fn run(dir: &Path, args: &[&str], input: &str) -> Run {
    program::run("apply-patch", &dir.join("w"), dir, args, input.as_bytes())
}

fn json(dir: &Path, args: &[&str], input: &str) -> (i32, Value) {
    let run = run(dir, &[&["--json"], args].concat(), input);
    let answer = run.json().unwrap_or_else(|error| panic!("{args:?}: {error}"));
    (run.code, answer)
}

/// Proposes a text, and returns the id.
fn proposed(dir: &Path, args: &[&str], text: &str) -> String {
    let (code, answer) = json(dir, &[&["propose"], args].concat(), text);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(answer["data"]["state"], "proposed", "{answer}");
    answer["data"]["proposalId"].as_str().expect("an id").to_owned()
}

fn state(dir: &Path, id: &str) -> Value {
    let (_, answer) = json(dir, &["proposals"], "");
    let data = &answer["data"];
    if data["notVerified"].as_array().expect("a list").contains(&id.into()) {
        return json!({ "state": "not_verified" });
    }
    let all = data["proposals"].as_array().expect("a list").clone();
    all.into_iter().find(|one| one["proposalId"] == id).unwrap_or(Value::Null)
}

fn read(dir: &Path, path: &str) -> Option<String> {
    fs::read_to_string(dir.join("w").join(path)).ok()
}

fn write(dir: &Path, path: &str, text: &str) {
    fs::write(dir.join("w").join(path), text).expect("written");
}

fn stored(dir: &Path, id: &str) -> std::path::PathBuf {
    dir.join("w/.apply-patch/proposals").join(id)
}

/// The phases in the audit logs.
fn phases(dir: &Path) -> Vec<String> {
    let log = fs::read_to_string(dir.join("w/.apply-patch/audit/cli.jsonl")).expect("a log");
    let phase = |line: &str| -> String {
        let line: Value = serde_json::from_str(line).expect("JSON");
        line["phase"].as_str().expect("a word").to_owned()
    };
    log.lines().map(phase).collect()
}

#[test]
fn a_proposal_is_committed_by_another_process() {
    let dir = files();
    let shown = run(dir.path(), &["propose", "--why", "louder"], PATCH);
    assert_eq!(shown.code, 0, "{shown:?}");
    let id = shown.stdout.split(' ').next().expect("an id").to_owned();
    assert!(shown.stdout.contains(": M a: louder\n"), "{shown:?}");
    assert!(shown.stdout.contains("-five\n+FIVE\n"), "{shown:?}");
    assert_eq!(read(dir.path(), "a").as_deref(), Some(LINES));
    let listed = run(dir.path(), &["proposals"], "");
    assert!(listed.stdout.starts_with(&id), "{listed:?}");
    assert_eq!(json(dir.path(), &["status"], "").1["data"]["waitingProposals"], 1);
    let status = run(dir.path(), &["status"], "");
    assert!(status.stdout.contains("1 proposal; `apply-patch proposals` lists all"), "{status:?}");
    // Any unambiguous beginning names it, with `p-` or without.
    let seen = run(dir.path(), &["show", &id[..6]], "");
    assert_eq!(seen.stdout, shown.stdout);
    let tried = run(dir.path(), &["approve", "-n", &id], "");
    assert_eq!((tried.code, &tried.stdout), (0, &shown.stdout));
    assert_eq!(read(dir.path(), "a").as_deref(), Some(LINES));
    let approved = run(dir.path(), &["approve", &id[2..6]], "");
    assert_eq!(approved.code, 0, "{approved:?}");
    assert_eq!(approved.stdout, "M a\n");
    assert_eq!(read(dir.path(), "a"), Some(LINES.replace("five", "FIVE")));
    let after = state(dir.path(), &id);
    assert_eq!(after["state"], "approved");
    let transaction = after["transactionIds"][0].as_str().expect("an id").to_owned();
    let (_, log) = json(dir.path(), &["log"], "");
    assert_eq!(log["data"]["transactions"][0]["id"], *transaction, "{log}");
    // Again it does nothing.
    let (code, again) = json(dir.path(), &["approve", &id], "");
    assert_eq!((code, &again["data"]["alreadyDone"]), (0, &Value::Bool(true)), "{again}");
    assert_eq!(run(dir.path(), &["undo"], "").code, 0);
    let (code, _) = json(dir.path(), &["approve", &id], "");
    assert_eq!(code, 0);
    assert_eq!(read(dir.path(), "a").as_deref(), Some(LINES), "it was approved once");
    let wanted = ["proposed", "intent", "outcome", "approved", "intent", "outcome"];
    assert_eq!(phases(dir.path()), wanted);
    assert_eq!(run(dir.path(), &["log", "--verify"], "").code, 0);
}

#[test]
fn every_form_is_proposed_and_means_what_was_shown() {
    let envelope = |body: &str| format!("*** Begin Patch\n{body}*** End Patch\n");
    let diff = "--- a/a\n+++ b/a\n@@ -4,3 +4,3 @@\n four\n-five\n+FIVE\n six\n";
    let reverse = "--- a/a\n+++ b/a\n@@ -4,3 +4,3 @@\n four\n-FIVE\n+five\n six\n";
    let blocks = "a\n<<<<<<< SEARCH\nfive\n=======\nFIVE\n>>>>>>> REPLACE\n";
    let edit = r#"{"file_path": "a", "old_string": "fiv", "new_string": "FIV"}"#;
    let second = PATCH.replace("+FIVE", "+5");
    let several = format!("{PATCH}or\n{second}");
    let below = "--- a/c\n+++ b/c\n@@ -1 +1 @@\n-c\n+C\n".to_owned();
    let wide = "--- a/sub/c\n+++ b/sub/c\n@@ -1 +1 @@\n-c\n+C\n";
    let whole = LINES.replace("five", "FIVE");
    for (args, text, path, wanted) in [
        (&[][..], PATCH.to_owned(), "a", Some(whole.clone())),
        (&[], PATCH.replace('\n', "\r\n"), "a", Some(whole.clone())),
        (&[], diff.to_owned(), "a", Some(whole.clone())),
        (&["-R"], reverse.to_owned(), "a", Some(whole.clone())),
        (&[], blocks.to_owned(), "a", Some(whole.clone())),
        (&[], edit.to_owned(), "a", Some(LINES.replace("five", "FIVe"))),
        (&["--part", "2"], several, "a", Some(LINES.replace("five", "5"))),
        (&["--fuzz", "trailing"], PATCH.replace("-five", "-five  "), "a", Some(whole.clone())),
        (&["--profile", "codex"], envelope("*** Add File: b\n+B\n"), "b", Some("B\n".into())),
        (&["--overwrite"], envelope("*** Add File: b\n+B\n"), "b", Some("B\n".into())),
        (&[], envelope("*** Delete File: b\n"), "b", None),
        (&[], envelope("*** Move File: b -> d/e\n"), "d/e", Some("b\n".into())),
        (&[], envelope("*** Add File: d/e\n+e\n"), "d/e", Some("e\n".into())),
        (&["--include", "a"], format!("{wide}{diff}"), "a", Some(whole.clone())),
        (&["--directory", "sub"], below, "sub/c", Some("C\n".into())),
        (&["--format-with", "tr a-z A-Z"], PATCH.to_owned(), "a", Some(LINES.to_uppercase())),
        (
            &["--environment", "x"],
            PATCH.replace("Patch\n*** Up", "Patch\n*** Environment ID: x\n*** Up"),
            "a",
            Some(whole.clone()),
        ),
    ] {
        let dir = files();
        let id = proposed(dir.path(), args, &text);
        let before = read(dir.path(), path);
        let run = run(dir.path(), &["approve", &id], "");
        assert_eq!(run.code, 0, "{args:?} {text}: {run:?}");
        assert_eq!(read(dir.path(), path), wanted, "{args:?} {text}");
        assert_ne!(before, wanted, "{args:?} {text}");
    }
}

#[test]
fn links_and_binary_files_are_proposed() {
    let dir = files();
    std::os::unix::fs::symlink("a", dir.path().join("w/link")).expect("a link");
    let diff = "diff --git a/link b/link\nindex 2e65efe..ddb0c0c 120000\n--- a/link\n+++ b/link\n\
                @@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
    let (code, answer) = json(dir.path(), &["propose"], diff);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(answer["data"]["reasons"][1], "link becomes a symbolic link", "{answer}");
    let id = answer["data"]["proposalId"].as_str().expect("an id");
    let target = || fs::read_link(dir.path().join("w/link")).expect("a link");
    assert_eq!(target(), Path::new("a"));
    assert_eq!(run(dir.path(), &["approve", id], "").code, 0);
    assert_eq!(target(), Path::new("b"));
    fs::write(dir.path().join("w/bin"), b"a\0b").expect("written");
    let delete = "*** Begin Patch\n*** Delete File: bin\n*** End Patch\n";
    let id = proposed(dir.path(), &[], delete);
    assert_eq!(run(dir.path(), &["approve", &id], "").code, 0);
    assert_eq!(run(dir.path(), &["undo"], "").code, 0);
    assert_eq!(fs::read(dir.path().join("w/bin")).expect("a file"), b"a\0b");
}

#[test]
fn the_charset_of_a_file_is_kept_with_the_patch() {
    for text in [
        "*** Begin Patch\n*** Update File: l\n@@\n-caf\u{e9}\n+n\u{e9}\n*** End Patch\n",
        r#"{"file_path": "l", "old_string": "caf", "new_string": "n"}"#,
    ] {
        let dir = files();
        let path = dir.path().join("w/l");
        fs::write(&path, b"caf\xe9\n").expect("written");
        let id = proposed(dir.path(), &["--encoding", "l=windows-1252"], text);
        let approved = run(dir.path(), &["approve", &id], "");
        assert_eq!(approved.code, 0, "{text}: {approved:?}");
        assert_eq!(fs::read(&path).expect("a file"), b"n\xe9\n", "{text}");
    }
}

#[test]
fn the_settings_of_who_approves_do_not_change_the_patch() {
    let edit = r#"{"file_path": "a", "old_string": "fiv", "new_string": "FIV"}"#;
    for text in [PATCH, edit] {
        let dir = files();
        let id = proposed(dir.path(), &[], text);
        fs::create_dir_all(dir.path().join("config/apply-patch")).expect("a directory");
        let config = dir.path().join("config/apply-patch/config.toml");
        fs::write(config, "profile = \"codex\"\noverwrite = true\n").expect("written");
        assert_eq!(run(dir.path(), &["approve", &id], "").code, 0, "{text}");
    }
    let dir = files();
    let id = proposed(dir.path(), &["--profile", "codex"], PATCH);
    write(dir.path(), ".apply-patch.toml", "profile = \"strict\"\n");
    let (code, answer) = json(dir.path(), &["approve", &id], "");
    assert_eq!((code, read(dir.path(), "a").as_deref()), (3, Some(LINES)), "{answer}");
}

#[test]
fn the_line_ends_of_the_files_stay() {
    let dir = files();
    write(dir.path(), "a", &LINES.replace('\n', "\r\n"));
    let id = proposed(dir.path(), &[], PATCH);
    assert_eq!(run(dir.path(), &["approve", &id], "").code, 0);
    let wanted = LINES.replace("five", "FIVE").replace('\n', "\r\n");
    assert_eq!(read(dir.path(), "a"), Some(wanted));
}

#[test]
fn a_file_that_changed_is_carried_and_shown_before_it_is_committed() {
    let dir = files();
    let id = proposed(dir.path(), &[], PATCH);
    // Another file does not matter.
    write(dir.path(), "b", "other\n");
    assert_eq!(json(dir.path(), &["show", &id], "").1["data"]["differs"], false);
    let now = format!("zero\n{LINES}");
    write(dir.path(), "a", &now);
    let (code, answer) = json(dir.path(), &["approve", &id], "");
    assert_eq!(code, 4, "{answer}");
    assert_eq!(answer["error"]["details"]["reason"], "plan_differs");
    assert_eq!(read(dir.path(), "a").as_deref(), Some(&*now), "nobody has seen this result");
    let digest = answer["error"]["details"]["digest"].as_str().expect("a digest").to_owned();
    let shown = run(dir.path(), &["approve", &id], "");
    assert_eq!(shown.code, 4, "{shown:?}");
    assert!(shown.stdout.contains("-five\n+FIVE\n"), "{shown:?}");
    let command = format!("approve {id} --digest {digest}");
    assert!(shown.stderr.contains(&command), "{shown:?}");
    let shown = run(dir.path(), &["show", &id], "");
    assert!(shown.stderr.contains(&command), "{shown:?}");
    let args: Vec<&str> = command.split(' ').collect();
    // It changes once more: the digest is not that of this result.
    let later = format!("nought\n{now}");
    write(dir.path(), "a", &later);
    assert_eq!(run(dir.path(), &args, "").code, 4);
    write(dir.path(), "a", &now);
    assert_eq!(run(dir.path(), &args, "").code, 0);
    assert_eq!(read(dir.path(), "a"), Some(now.replace("five", "FIVE")));
}

#[test]
fn what_does_not_apply_any_more_says_why() {
    let delete = "*** Begin Patch\n*** Delete File: b\n*** End Patch\n";
    let add = "*** Begin Patch\n*** Add File: n\n+n\n*** End Patch\n";
    for (patch, path, now, reason) in [
        (PATCH, "a", LINES.replace("five", "other"), "conflict"),
        (delete, "b", "changed\n".to_owned(), "stale"),
        (add, "n", "there\n".to_owned(), "stale"),
    ] {
        let dir = files();
        let id = proposed(dir.path(), &[], patch);
        write(dir.path(), path, &now);
        for args in [&["approve", &id][..], &["show", &id], &["approve", "-n", &id]] {
            let (code, answer) = json(dir.path(), args, "");
            assert_eq!(code, 4, "{args:?}: {answer}");
            assert_eq!(answer["error"]["kind"], "stale_file", "{args:?}: {answer}");
            assert_eq!(answer["error"]["details"]["reason"], reason, "{args:?}: {answer}");
        }
        assert_eq!(read(dir.path(), path), Some(now));
        assert_eq!(state(dir.path(), &id)["state"], "proposed");
    }
    let dir = files();
    let id = proposed(dir.path(), &[], PATCH);
    write(dir.path(), "a", &LINES.replace("five", "other"));
    let (_, answer) = json(dir.path(), &["approve", &id], "");
    let details = &answer["error"]["details"];
    let texts = ["base", "current", "wanted"].map(|text| details[text]["text"].as_str());
    assert_eq!(texts.map(|text| text.is_some()), [true; 3], "{answer}");
}

#[test]
fn a_proposal_is_decided_once() {
    let dir = files();
    let id = proposed(dir.path(), &[], PATCH);
    let (code, answer) = json(dir.path(), &["decline", "-m", "not now", &id], "");
    assert_eq!((code, &answer["data"]["state"]), (0, &Value::from("withdrawn")), "{answer}");
    for args in [&["approve", &id][..], &["decline", &id]] {
        let (code, answer) = json(dir.path(), args, "");
        assert_eq!(code, 3, "{answer}");
        assert_eq!(answer["error"]["details"]["reason"], "decided", "{answer}");
        let message = answer["error"]["message"].as_str().expect("text");
        assert!(message.ends_with("is withdrawn already: not now"), "{message}");
    }
    assert_eq!(read(dir.path(), "a").as_deref(), Some(LINES));
    let shown = run(dir.path(), &["show", &id], "");
    assert!(shown.stdout.ends_with("withdrawn; nothing was changed: not now\n"), "{shown:?}");
    assert_eq!(phases(dir.path())[..2], ["proposed", "withdrawn"]);
}

#[test]
fn a_name_has_to_mean_one_proposal() {
    let dir = files();
    for (name, message) in [
        ("p-00000000", "there is no proposal \"p-00000000\""),
        ("p-", "there is no proposal \"p-\""),
        ("x", "there is no proposal \"x\""),
    ] {
        let (code, answer) = json(dir.path(), &["approve", name], "");
        assert_eq!((code, &answer["error"]["message"]), (1, &Value::from(message)), "{answer}");
        assert_eq!(answer["error"]["details"]["reason"], "no_such_proposal");
    }
    // Of seventeen at least two begin with the same digit.
    let mut ids = Vec::new();
    for text in 0..17 {
        ids.push(proposed(dir.path(), &[], &PATCH.replace("FIVE", &format!("{text}"))));
    }
    ids.sort();
    let twins = ids.windows(2).find(|pair| pair[0][..3] == pair[1][..3]).expect("two");
    let (code, answer) = json(dir.path(), &["approve", &twins[0][..3]], "");
    assert_eq!(code, 1, "{answer}");
    let message = answer["error"]["message"].as_str().expect("text");
    assert!(message.contains("is the beginning of"), "{message}");
}

#[test]
fn what_was_altered_is_never_approved() {
    let dir = files();
    type Alter = fn(Vec<u8>) -> Vec<u8>;
    let alter: [(&str, Alter); 5] = [
        ("a line of the patch", |bytes| {
            String::from_utf8(bytes).expect("text").replace("+FIVE", "+EVIL").into()
        }),
        ("no signature", |bytes| {
            let text = String::from_utf8(bytes).expect("text");
            let (body, _) = text.rsplit_once("mac ").expect("a signature");
            format!("{body}mac -\n").into()
        }),
        ("nothing", |_| Vec::new()),
        ("something else", |_| b"mac \n".to_vec()),
        ("one byte more", |bytes| [&bytes[..], b"\n"].concat()),
    ];
    for (what, alter) in alter {
        let id = proposed(dir.path(), &[], PATCH);
        let file = stored(dir.path(), &id);
        let bytes = fs::read(&file).expect("a file");
        fs::write(&file, alter(bytes)).expect("written");
        assert_eq!(state(dir.path(), &id)["state"], "not_verified", "{what}");
        let listed = run(dir.path(), &["proposals"], "");
        assert!(listed.stdout.contains(&format!("{id} not verified")), "{what}: {listed:?}");
        for args in [&["approve", &id][..], &["show", &id], &["approve", "-n", &id]] {
            let (code, answer) = json(dir.path(), args, "");
            assert_eq!(code, 3, "{what}: {answer}");
            let advice = answer["error"]["suggestedNextAction"].as_str().expect("advice");
            assert!(advice.contains(&format!("apply-patch decline {id}")), "{advice}");
        }
        assert_eq!(run(dir.path(), &["decline", &id], "").code, 0);
        assert!(!file.exists(), "{what}");
    }
    // The file of one is not that of another.
    let id = proposed(dir.path(), &[], PATCH);
    let copy = "p-000000000000";
    fs::copy(stored(dir.path(), &id), stored(dir.path(), copy)).expect("a copy");
    assert_eq!(state(dir.path(), copy)["state"], "not_verified");
    assert_eq!(read(dir.path(), "a").as_deref(), Some(LINES));
    // With another key nothing is this user's.
    let other = tempfile::tempdir().expect("a directory");
    let work = dir.path().join("w");
    let run = program::run("apply-patch", &work, other.path(), &["approve", &id], b"");
    assert_eq!(run.code, 3, "{run:?}");
}

#[test]
fn without_a_place_for_a_key_nothing_is_proposed() {
    let dir = files();
    let mut command = clean(env!("CARGO_BIN_EXE_apply-patch"));
    command.args(["--json", "propose"]).current_dir(dir.path().join("w"));
    command.env("HOME", "relative").env("XDG_STATE_HOME", "relative");
    let run = Run::from(crate::run::output(command, PATCH.as_bytes()));
    assert_eq!(run.code, 3, "{run:?}");
    assert_eq!(run.json().expect("JSON")["error"]["details"]["reason"], "not_proposable");
}

#[test]
fn guarded_files_are_approved_and_forbidden_ones_are_not_proposed() {
    let add = |path: &str| format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
    let dir = files();
    assert_eq!(run(dir.path(), &[], &add(".envrc")).code, 3, "it is guarded");
    let (code, answer) = json(dir.path(), &["propose"], &add(".envrc"));
    assert_eq!(code, 0, "{answer}");
    let reason = answer["data"]["reasons"][0].as_str().expect("a reason");
    assert!(reason.starts_with(".envrc is guarded by"), "{reason}");
    let id = answer["data"]["proposalId"].as_str().expect("an id");
    assert_eq!(run(dir.path(), &["approve", id], "").code, 0);
    assert_eq!(read(dir.path(), ".envrc").as_deref(), Some("x\n"));
    for path in [".env", ".git/config", "../out"] {
        let (code, answer) = json(dir.path(), &["propose"], &add(path));
        assert_eq!(code, 3, "{path}: {answer}");
    }
    // What is forbidden since is not committed.
    let id = proposed(dir.path(), &[], &add("later"));
    write(dir.path(), ".apply-patch.toml", "forbidden = [\"later\"]\n");
    let (code, answer) = json(dir.path(), &["approve", &id], "");
    assert_eq!(code, 3, "{answer}");
    assert_eq!(read(dir.path(), "later"), None);
}

#[test]
fn what_cannot_be_proposed_leaves_nothing() {
    let dir = files();
    let wrong = PATCH.replace("-five", "-5");
    for (args, text, code) in [
        (&["propose"][..], wrong.as_str(), 1),
        (&["propose"], "no patch", 1),
        (&["propose", "--expect", &format!("a={}", "0".repeat(64))], PATCH, 4),
    ] {
        let (found, answer) = json(dir.path(), args, text);
        assert_eq!(found, code, "{answer}");
        assert!(!dir.path().join("w/.apply-patch/proposals").exists(), "{args:?}");
    }
    assert_eq!(run(dir.path(), &[], PATCH).code, 0);
    let (code, answer) = json(dir.path(), &["propose"], PATCH);
    assert_eq!(code, 1, "{answer}");
    assert_eq!(answer["error"]["details"]["reason"], "no_change", "{answer}");
    let huge: String = (0..17 << 10).map(|_| format!("+{}\n", "x".repeat(1023))).collect();
    let huge = format!("*** Begin Patch\n*** Add File: n\n{huge}*** End Patch\n");
    let (code, answer) = json(dir.path(), &["propose"], &huge);
    assert_eq!((code, &answer["error"]["kind"]), (5, &Value::from("file_too_large")), "{answer}");
}

#[test]
fn only_so_many_wait() {
    let dir = files();
    fs::create_dir_all(dir.path().join("config/apply-patch")).expect("a directory");
    let config = dir.path().join("config/apply-patch/config.toml");
    fs::write(config, "proposal-keep = \"2 proposals\"\n").expect("written");
    let first = proposed(dir.path(), &[], PATCH);
    proposed(dir.path(), &[], PATCH);
    let (code, answer) = json(dir.path(), &["propose"], PATCH);
    assert_eq!(code, 5, "{answer}");
    assert_eq!(answer["error"]["details"]["reason"], "not_proposable", "{answer}");
    assert_eq!(run(dir.path(), &["decline", &first], "").code, 0);
    proposed(dir.path(), &[], PATCH);
}

#[test]
fn a_proposal_expires_and_says_so() {
    let dir = files();
    let id = proposed(dir.path(), &[], PATCH);
    let with = |keep: &str, args: &[&str], input: &str| {
        let mut command = clean(env!("CARGO_BIN_EXE_apply-patch"));
        command.args(args).current_dir(dir.path().join("w")).env("HOME", dir.path());
        command.env("XDG_STATE_HOME", dir.path().join("state"));
        command.env("APPLY_PATCH_PROPOSAL_KEEP", keep);
        Run::from(crate::run::output(command, input.as_bytes()))
    };
    let start = SystemTime::now();
    while with("1s", &["proposals", "--json"], "").json().expect("JSON")["data"]["proposals"][0]["state"]
        != "expired"
    {
        assert!(start.elapsed().expect("a time") < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(200));
    }
    let run = with("1s", &["--json", "approve", &id], "");
    assert_eq!(run.code, 3, "{run:?}");
    assert_eq!(run.json().expect("JSON")["error"]["details"]["state"], "expired");
    let run = with("1s", &["propose"], PATCH);
    assert!(run.stderr.contains(&format!("{id} has expired")), "{run:?}");
    let kept = fs::read_to_string(stored(dir.path(), &id)).expect("it is kept");
    assert!(!kept.contains("Begin Patch"), "{kept}");
    assert!(phases(dir.path()).contains(&"expired".to_owned()));
    assert_eq!(state(dir.path(), &id)["state"], "expired");
    assert_eq!(read(dir.path(), "a").as_deref(), Some(LINES));
}

#[test]
fn two_approvals_at_once_commit_once() {
    for _ in 0..5 {
        let dir = files();
        // Applied twice it would be there twice.
        let patch =
            "*** Begin Patch\n*** Update File: a\n@@\n+more\n*** End of File\n*** End Patch\n";
        let id = proposed(dir.path(), &[], patch);
        let start = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_apply-patch"));
            command.args(["--json", "approve", &id]).current_dir(dir.path().join("w"));
            command.env("HOME", dir.path()).env("XDG_STATE_HOME", dir.path().join("state"));
            command.stdout(std::process::Stdio::piped()).spawn().expect("it starts")
        };
        let runs = [start(), start(), start()].map(|run| run.wait_with_output().expect("it ends"));
        for run in runs {
            assert_eq!(run.status.code(), Some(0), "{run:?}");
        }
        assert_eq!(read(dir.path(), "a"), Some(format!("{LINES}more\n")));
        assert_eq!(state(dir.path(), &id)["transactionIds"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn an_approval_that_is_killed_is_committed_once_or_not_at_all() {
    for call in 1.. {
        let dir = files();
        let id = proposed(dir.path(), &[], PATCH);
        let mut command = clean(env!("CARGO_BIN_EXE_apply-patch"));
        command.args(["approve", &id]).current_dir(dir.path().join("w")).env("HOME", dir.path());
        command.env("XDG_STATE_HOME", dir.path().join("state"));
        command.env("FS_GUARD_FAULT", format!("kill {call} 0"));
        let killed = crate::run::output(command, b"");
        if killed.status.code().is_some() {
            assert!(call > 50, "{killed:?}");
            return;
        }
        let before = state(dir.path(), &id);
        let (code, answer) = json(dir.path(), &["approve", &id], "");
        assert_eq!(code, 0, "killed at call {call}: {before} {answer}");
        assert_eq!(read(dir.path(), "a"), Some(LINES.replace("five", "FIVE")), "{call}");
        let after = state(dir.path(), &id);
        assert_eq!(after["state"], "approved", "killed at call {call}");
        assert_eq!(after["transactionIds"].as_array().map(Vec::len), Some(1), "{call}: {after}");
        let (_, log) = json(dir.path(), &["log"], "");
        assert_eq!(log["data"]["transactions"].as_array().map(Vec::len), Some(1), "{call}: {log}");
    }
}

#[test]
fn a_proposal_is_approved_from_anywhere_in_the_project() {
    let dir = files();
    fs::create_dir(dir.path().join("w/.git")).expect("a directory");
    let patch = "*** Begin Patch\n*** Update File: c\n@@\n-c\n+C\n*** End Patch\n";
    let id = proposed(dir.path(), &["-C", "sub"], patch);
    let listed = run(dir.path(), &["proposals"], "");
    assert!(listed.stdout.contains(": M sub/c"), "{listed:?}");
    assert_eq!(json(dir.path(), &["show", &id], "").0, 0);
    let approved = run(dir.path(), &["approve", &id], "");
    assert_eq!(approved.code, 0, "{approved:?}");
    assert_eq!(read(dir.path(), "sub/c").as_deref(), Some("C\n"));
    let id = proposed(dir.path(), &[], PATCH);
    assert_eq!(run(dir.path(), &["-C", "sub", "approve", &id], "").code, 0);
    assert_eq!(read(dir.path(), "a"), Some(LINES.replace("five", "FIVE")));
}

#[test]
fn the_transaction_is_of_the_turn_that_proposed() {
    let dir = files();
    let mut command = clean(env!("CARGO_BIN_EXE_apply-patch"));
    command.args(["propose", "--json"]).current_dir(dir.path().join("w"));
    command.env("HOME", dir.path()).env("XDG_STATE_HOME", dir.path().join("state"));
    command.env("APPLY_PATCH_TURN", "evening");
    let run_of_turn = Run::from(crate::run::output(command, PATCH.as_bytes()));
    let answer = run_of_turn.json().expect("JSON");
    assert_eq!(answer["data"]["turnId"], "evening", "{answer}");
    let id = answer["data"]["proposalId"].as_str().expect("an id");
    assert_eq!(run(dir.path(), &["approve", id], "").code, 0);
    assert_eq!(run(dir.path(), &["show", "--turn", "evening"], "").code, 0);
    let (_, status) = json(dir.path(), &["status"], "");
    assert!(status["data"]["openTurns"].as_array().is_none_or(Vec::is_empty), "{status}");
    assert_eq!(run(dir.path(), &["undo", "--turn", "evening"], "").code, 0);
    assert_eq!(read(dir.path(), "a").as_deref(), Some(LINES));
}

#[test]
fn at_a_terminal_a_result_that_differs_is_asked_about() {
    for (answer, exit, applied) in [("y", 0, true), ("n", 3, false)] {
        let dir = files();
        let id = proposed(dir.path(), &[], PATCH);
        let now = format!("zero\n{LINES}");
        write(dir.path(), "a", &now);
        let line = format!("$it --no-pager approve {id}");
        let mut terminal = on_terminal(dir.path(), &line, &[]);
        terminal.exp_string("+FIVE").expect("the diff");
        terminal.exp_string("Commit this? [y/N] ").expect("the question");
        assert_eq!(read(dir.path(), "a").as_deref(), Some(&*now));
        terminal.send_line(answer).expect("sent");
        terminal.exp_string(&format!("exit {exit}\r\n")).expect("the exit");
        let is_applied = read(dir.path(), "a").is_some_and(|text| text.contains("FIVE"));
        assert_eq!(is_applied, applied);
    }
}

#[test]
fn of_some_hunks_the_others_stay_proposed() {
    let dir = files();
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-two\n+TWO\n@@\n-nine\n+NINE\n*** Add \
                 File: n\n+n\n*** End Patch\n";
    let id = proposed(dir.path(), &[], patch);
    let line = format!("$it --no-pager approve -i {id}");
    let mut terminal = on_terminal(dir.path(), &line, &[]);
    for answer in ["y", "n", "n"] {
        terminal.exp_string("? [y,n,").expect("a question");
        terminal.send_line(answer).expect("sent");
    }
    terminal.exp_string("exit 0\r\n").expect("the exit");
    assert_eq!(read(dir.path(), "a"), Some(LINES.replace("two", "TWO")));
    assert_eq!(read(dir.path(), "n"), None);
    let rest = state(dir.path(), &id);
    assert_eq!(rest["state"], "proposed", "{rest}");
    assert_eq!(rest["transactionIds"].as_array().map(Vec::len), Some(1), "{rest}");
    // The rest can be approved in parts, too; `review` asks the same.
    let line = format!("$it --no-pager review {id}");
    let mut terminal = on_terminal(dir.path(), &line, &[]);
    for _ in ["nine", "n"] {
        terminal.exp_string("? [y,n,").expect("a question");
        terminal.send_line("n").expect("sent");
    }
    terminal.exp_string("exit 3\r\n").expect("the exit");
    let shown = run(dir.path(), &["review", &id], "").stdout;
    assert!(shown.contains("+NINE"), "{shown}");
    let mixed = run(dir.path(), &["review", &id, "--revert", "all"], "");
    assert!(mixed.code == 2 && mixed.stderr.contains("is a proposal"), "{mixed:?}");
    // The rest is a patch for the files behind the part, also where they change once more.
    write(dir.path(), "a", &format!("zero\n{}", LINES.replace("two", "TWO")));
    let (_, shown) = json(dir.path(), &["show", &id], "");
    let digest = shown["data"]["digestNow"].as_str().expect("a digest").to_owned();
    let approved = run(dir.path(), &["approve", &id, "--digest", &digest], "");
    assert_eq!(approved.code, 0, "{approved:?}");
    let wanted = format!("zero\n{}", LINES.replace("two", "TWO").replace("nine", "NINE"));
    assert_eq!(read(dir.path(), "a"), Some(wanted));
    assert_eq!(read(dir.path(), "n").as_deref(), Some("n\n"));
    let done = state(dir.path(), &id);
    assert_eq!(done["transactionIds"].as_array().map(Vec::len), Some(2), "{done}");
}

#[test]
fn a_part_is_approved_without_a_terminal() {
    let dir = files();
    let hunk = |old: &str| format!("@@\n-{old}\n+{}\n", old.to_uppercase());
    let patch =
        |hunks: &str| format!("*** Begin Patch\n*** Update File: a\n{hunks}*** End Patch\n");
    let id = proposed(dir.path(), &[], &patch(&(hunk("two") + &hunk("nine"))));
    let part = patch(&hunk("nine"));
    let other = "*** Begin Patch\n*** Add File: other\n+x\n*** End Patch\n";
    for (args, sent, code, said) in [
        (&["--only", "-", "-n"][..], &*part, 0, "+NINE"),
        (&["--only", "-"], other, 2, "does not change other"),
        (&["--only", "-", "-i"], &part, 2, "cannot be used with"),
        (&["--only", "-", "--digest", &"0".repeat(64)], &part, 4, "nothing was changed"),
    ] {
        let done = run(dir.path(), &[&["approve", &*id], args].concat(), sent);
        assert!(done.code == code, "{args:?}: {done:?}");
        assert!(format!("{}{}", done.stdout, done.stderr).contains(said), "{args:?}: {done:?}");
        assert_eq!(read(dir.path(), "a").as_deref(), Some(LINES), "{args:?}");
    }
    let (_, planned) = json(dir.path(), &["approve", &id, "--only", "-", "-n"], &part);
    let digest = planned["data"]["digestNow"].as_str().expect("a digest").to_owned();
    let done = run(dir.path(), &["approve", &id, "--only", "-", "--digest", &digest], &part);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(read(dir.path(), "a"), Some(LINES.replace("nine", "NINE")));
    assert_eq!(state(dir.path(), &id)["state"], "proposed");
    let rest = run(dir.path(), &["show", &id], "").stdout;
    assert!(rest.contains("+TWO") && !rest.contains("+NINE"), "{rest}");
}
