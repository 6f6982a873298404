//! How few system calls a small edit takes. A number that grows is a cost for every run.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs;
use std::time::Duration;

use crate::program::{run, run_other};
use testutils::temp::temp;

/// The calls of the program for one edit of a small file, from where its own begin to the end. What
/// the loader and Rust's runtime call before, and what only debug builds call, does not count.
const MOST: usize = 100;

#[test]
fn a_small_edit_takes_few_system_calls() {
    let (dir, home) = (temp(), temp());
    let (dir, home) = (dir.path(), home.path());
    fs::create_dir(dir.join(".git")).expect("made");
    fs::write(dir.join("a.txt"), "one\ntwo\nthree\n").expect("written");
    let patch = |old: &str, new: &str| {
        format!(
            "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-{old}\n+{new}\n*** End Patch\n"
        )
    };
    let first = run("apply-patch", dir, home, &["apply"], patch("two", "2").as_bytes());
    assert_eq!(first.code, 0, "{first:?}");
    // What was changed a moment ago is read again.
    std::thread::sleep(Duration::from_millis(100));
    // A file is read in one call.
    fs::write(home.join("patch"), patch("2", "two")).expect("written");
    let list = home.join("calls");
    let script = "exec strace -o \"$1\" \"$2\" --durability process < \"$3\"";
    let args = [
        "-c".into(),
        script.into(),
        "sh".into(),
        list.clone(),
        env!("CARGO_BIN_EXE_apply-patch").into(),
        home.join("patch"),
    ];
    let traced = run_other("sh", dir, home, &args, b"");
    let calls = fs::read_to_string(&list).unwrap_or_default();
    if !calls.contains("exit_group") {
        testutils::skip!("strace is missing or not allowed: {}", traced.stderr);
        return;
    }
    assert_eq!(traced.code, 0, "{traced:?}");
    assert_eq!(fs::read_to_string(dir.join("a.txt")).expect("there"), "one\ntwo\nthree\n");
    let own = calls.lines().skip_while(|call| !call.contains("RLIMIT_FSIZE"));
    let own = own.filter(|call| !call.contains("F_GETFD") && !call.starts_with("+++"));
    let own: Vec<&str> = own.collect();
    assert!(own.len() > 50, "they begin somewhere else: {calls}");
    assert!(own.len() <= MOST, "{} calls: {own:#?}", own.len());
}
