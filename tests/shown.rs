//! What was done is shown whatever became of the files since.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{Run, place, run};

fn at(dir: &Path, args: &[&str], input: &str) -> Run {
    run("apply-patch", &dir.join("w"), dir, args, input.as_bytes())
}

fn data(dir: &Path, args: &[&str], input: &str) -> Value {
    let run = at(dir, args, input);
    assert_eq!(run.code, 0, "{run:?}");
    run.json().expect("JSON")["data"].take()
}

/// Applies a patch or an undo, and gives its id with the diff that the preview had.
fn done(dir: &Path, args: &[&str], input: &str) -> (String, String) {
    let preview = data(dir, &[args, &["-n", "--json", "--diff", "full"]].concat(), input);
    let files = preview["changedFiles"].as_array().expect("files");
    let diff: String = files.iter().filter_map(|file| file["diff"].as_str()).collect();
    let answer = data(dir, &[args, &["--json"]].concat(), input);
    (answer["transactionId"].as_str().expect("an id").to_owned(), diff)
}

fn shown(dir: &Path, id: &str) -> String {
    data(dir, &["show", id, "--json"], "")["diff"].as_str().expect("a diff").to_owned()
}

/// The files of a diff: deletions are shown first.
fn files(diff: &str) -> Vec<&str> {
    let mut files: Vec<_> = diff.split("diff --git ").collect();
    files.sort_unstable();
    files
}

/// Everything that a transaction can do to a file: shown as before, when all files are others, are
/// gone, and were undone and redone.
#[test]
fn what_was_done_is_shown_when_the_files_are_others() {
    let numbers: String = (0..3000).map(|n| format!("line {n}\n")).collect();
    let noise: String = (0..4000_u32)
        .map(|n| format!("{:08x}\n", n.wrapping_mul(2_654_435_761).rotate_left(n % 31)))
        .collect();
    let added: String = noise.lines().map(|line| format!("+{line}\n")).collect();
    let patches = [
        "*** Update File: a\n@@\n-two\n+TWO\n".to_owned(),
        "*** Update File: long\n@@\n-line 3\n+LINE\n@@\n-line 2990\n+LINE\n".into(),
        format!("*** Add File: new\n{added}"),
        "*** Delete File: gone\n".into(),
        "*** Update File: from\n*** Move to: to\n@@\n-2\n+II\n".into(),
        "*** Update File: pure\n*** Move to: d/pure\n".into(),
        "*** Update File: a\n@@\n-TWO\n+two again\n*** Add File: e\n".into(),
    ];
    let dir = place(&[
        ("w/a", "one\ntwo\n"),
        ("w/long", &numbers),
        ("w/gone", "g\n"),
        ("w/from", "1\n2\n3\n"),
        ("w/pure", "p\n"),
    ]);
    let dir = dir.path();
    let mut all = Vec::new();
    for body in &patches {
        let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
        all.push(done(dir, &["apply", "--create-parents"], &patch));
    }
    all.push(done(dir, &["undo"], ""));
    all.push(done(dir, &["redo"], ""));
    let check = |when: &str| {
        for (nth, (id, preview)) in all.iter().enumerate() {
            let shown = shown(dir, id);
            assert_eq!(files(&shown), files(preview), "{when}: transaction {nth}");
            assert!(!shown.contains("Binary files"), "{when}: {shown}");
        }
    };
    check("as they are");
    for name in ["a", "long", "new", "to", "d/pure", "e"] {
        fs::write(dir.join("w").join(name), "by hand\n").expect("written");
    }
    check("edited");
    for name in ["a", "long", "new", "to", "d/pure", "e"] {
        fs::remove_file(dir.join("w").join(name)).expect("it is there");
    }
    check("gone");
    let log = at(dir, &["log", "-p"], "").stdout;
    assert!(log.contains("+LINE\n") && !log.contains("Binary files"), "{log}");
    let stat = at(dir, &["log", "--stat"], "").stdout;
    assert!(stat.contains("M long") && stat.contains("+2 -2"), "{stat}");
}

/// What was not written by the transaction is not shown as what it did.
#[test]
fn what_was_kept_is_checked() {
    let dir = place(&[("w/a", "one\ntwo\n")]);
    let dir = dir.path();
    let lines: String = (0..2000_u64)
        .map(|n| format!("+{:016x}\n", n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    let patch = format!("*** Begin Patch\n*** Add File: new\n{lines}*** End Patch\n");
    let (id, preview) = done(dir, &["apply"], &patch);
    fs::remove_file(dir.join("w/new")).expect("it is there");
    assert_eq!(shown(dir, &id), preview);
    let kept = dir.join("w/.apply-patch/trash").join(&id).join("left");
    let whole = fs::read(&kept).expect("too much for the journal");
    for (at, with) in [(0, 0xff), (7, 0x7f), (20, 0x55), (whole.len() / 2, 0x55)] {
        let mut other = whole.clone();
        other[at] ^= with;
        fs::write(&kept, other).expect("written");
        assert!(shown(dir, &id).contains("Binary files"), "byte {at}");
    }
    fs::write(&kept, whole).expect("written");
    assert_eq!(shown(dir, &id), preview);
}
