//! The same patch once more: it is not applied again while its files are as it left them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{self, place};

/// It fits as well after it was applied.
const INSERT: &str =
    "*** Begin Patch\n*** Update File: a\n@@\n one\n+more\n*** Delete File: gone\n*** End Patch\n";

fn files() -> tempfile::TempDir {
    place(&[("w/a", "one\ntwo\n"), ("w/gone", "g\n")])
}

fn apply(dir: &Path, args: &[&str], patch: &str) -> (i32, Value) {
    let run = program::run(
        "apply-patch",
        &dir.join("w"),
        dir,
        &[&["--json"], args].concat(),
        patch.as_bytes(),
    );
    (run.code, run.json().expect("JSON"))
}

fn text(dir: &Path) -> String {
    fs::read_to_string(dir.join("w/a")).expect("the file")
}

#[test]
fn a_patch_that_was_applied_is_not_applied_again() {
    let dir = files();
    let (_, first) = apply(dir.path(), &[], INSERT);
    let id = &first["data"]["transactionId"];
    for _ in 0..2 {
        let (code, again) = apply(dir.path(), &[], INSERT);
        let data = &again["data"];
        assert_eq!(code, 0, "{again}");
        assert_eq!(&data["transactionId"], id, "{again}");
        assert_eq!(data["alreadyDone"], true, "{again}");
        assert_eq!(&data["changedFiles"], &json!([]));
        assert_eq!(&*text(dir.path()), "one\nmore\ntwo\n");
    }
    let run =
        program::run("apply_patch", &dir.path().join("w"), dir.path(), &[""; 0], INSERT.as_bytes());
    assert_eq!(run.code, 0, "{run:#?}");
    assert!(run.stderr.contains("has done this already"), "{run:#?}");
    // What is shown is what would happen.
    for args in [&["-n"][..], &["--check"], &["check"], &["explain"], &["-n", "--stat"]] {
        let (code, shown) = apply(dir.path(), args, INSERT);
        assert_eq!(code, 0, "{args:?}: {shown}");
        assert_eq!(shown["data"]["alreadyDone"], true, "{args:?}: {shown}");
    }
    let call = json!({ "patch": INSERT, "dryRun": true }).to_string();
    let (code, shown) = apply(dir.path(), &["tool", "apply_patch", "--args", "-"], &call);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(shown["data"]["alreadyDone"], true, "{shown}");
    let told = program::run(
        "apply-patch",
        &dir.path().join("w"),
        dir.path(),
        &[] as &[&str],
        INSERT.as_bytes(),
    );
    let wanted =
        format!("transaction {} has done this already", &id.as_str().expect("an id")[23..]);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.is_empty(), "{told:?}");
    assert!(told.stderr.contains(&wanted), "{told:?}");
    let log = program::run("apply-patch", &dir.path().join("w"), dir.path(), &["log"], b"");
    assert_eq!(log.stdout.lines().count(), 1, "{log:?}");
    // One more file, or another patch, is no hindrance.
    apply(dir.path(), &[], "*** Begin Patch\n*** Add File: b\n+b\n*** End Patch\n");
    assert_eq!(apply(dir.path(), &[], INSERT).1["data"]["alreadyDone"], true);
}

#[test]
fn what_is_not_as_it_was_left_is_patched_anew() {
    let dir = files();
    apply(dir.path(), &[], INSERT);
    for (path, now) in [("a", Some("one\ntwo\n")), ("gone", Some("g\n")), ("a", None)] {
        let dir = files();
        apply(dir.path(), &[], INSERT);
        match now {
            Some(now) => fs::write(dir.path().join("w").join(path), now).expect("a file"),
            None => fs::remove_file(dir.path().join("w").join(path)).expect("it is there"),
        }
        let (_, again) = apply(dir.path(), &[], INSERT);
        assert!(again["data"]["alreadyDone"].is_null(), "{path} {now:?}: {again}");
    }
    // Undone, it is applied.
    apply(dir.path(), &["undo"], "");
    let (code, again) = apply(dir.path(), &[], INSERT);
    assert_eq!(code, 0, "{again}");
    assert_eq!(&again["data"]["alreadyDone"], &Value::Null, "{again}");
    assert_eq!(&*text(dir.path()), "one\nmore\ntwo\n", "{again}");
}

#[test]
fn the_same_text_can_be_another_patch() {
    let dir = files();
    let body = "*** Begin Patch\n*** Update File: a\n@@\n-two\n+2\n*** End Patch\n";
    apply(dir.path(), &[], body);
    // Backwards.
    let (code, answer) = apply(dir.path(), &["-R"], body);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(&answer["data"]["alreadyDone"], &Value::Null, "{answer}");
    assert_eq!(&*text(dir.path()), "one\ntwo\n", "{answer}");
    // Below another directory.
    fs::create_dir_all(dir.path().join("w/x/y")).expect("a folder");
    for path in ["a", "x/a", "x/y/a"] {
        fs::write(dir.path().join("w").join(path), "two\n").expect("a file");
    }
    let diff = "--- x/y/a\n+++ x/y/a\n@@ -1 +1 @@\n-two\n+2\n";
    for (strip, path) in [("-p2", "a"), ("-p1", "y/a"), ("-p0", "x/y/a")] {
        let (code, answer) = apply(dir.path(), &[strip], diff);
        let wanted = if path == "y/a" { 1 } else { 0 };
        assert_eq!(code, wanted, "{path}: {answer}");
        assert_eq!(&answer["data"]["alreadyDone"], &Value::Null, "{path}: {answer}");
    }
    // What the caller expects counts: what was there before, or is now.
    let hash = |text: &str| fs_guard::Sha256::of(text.as_bytes()).to_string();
    let again = |expected: &str| {
        apply(dir.path(), &["-p0", "--expect", &format!("x/y/a={expected}")], diff)
    };
    for expected in [hash("two\n"), hash("2\n")] {
        assert_eq!(again(&expected).1["data"]["alreadyDone"], true);
    }
    assert_eq!(again(&hash("else\n")).0, 4);
    assert_eq!(again("").0, 4);
    // A check that was not made before is made now; and none where the same was.
    let (code, answer) = apply(dir.path(), &["-p0", "--verify", "false"], diff);
    assert!(code != 0, "{answer}");
}

/// Who writes a line into the index has not written a journal.
#[test]
fn a_forged_note_claims_nothing() {
    let dir = files();
    apply(dir.path(), &[], INSERT);
    let index = |dir: &Path| dir.join("w/.apply-patch/index");
    let hash = |line: &str| {
        let mut fields = line.lines().last().expect("a line").split(' ');
        fields.find(|field| field.len() == 64).expect("the hash of a text").to_owned()
    };
    let line = fs::read_to_string(index(dir.path())).expect("the index");
    let other = "*** Begin Patch\n*** Update File: a\n@@\n-two\n+2\n*** End Patch\n";
    // The hash of another patch, taken from where it is applied.
    let twin = files();
    apply(twin.path(), &[], other);
    let of_other = hash(&fs::read_to_string(index(twin.path())).expect("the index"));
    let forged = line.replace(&hash(&line), &of_other);
    fs::write(index(dir.path()), &forged).expect("the index");
    let (code, answer) = apply(dir.path(), &[], other);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(&answer["data"]["alreadyDone"], &Value::Null, "{answer}");
    assert_eq!(&*text(dir.path()), "one\nmore\n2\n", "{answer}");
}
