//! What is kept of old changes: their logs go with them, and nothing is kept twice.

use std::fs;
use std::time::Duration;

use fs_guard::fault::{Fault, arm, disarm};
use patch_engine::{Atomicity, Options};
use patch_session::audit::{Audit, MAX_LOG_SIZE, Status, Verified, state, verify};
use patch_session::{Session, SessionSettings};
use serde_json::{Value, json};
use workspace_trash::{Kept, Retention};

use crate::support::{Bench, session, settings, sha};
use testutils::share::{every, whole};

const WAIT: Duration = Duration::from_secs(10);

/// Keeps the last transactions.
fn last(count: usize) -> Retention {
    let all = Duration::from_secs(u64::MAX >> 8);
    Retention { keep_last: 0, max_count: count, max_age: all, max_bytes: u64::MAX }
}

fn purge(tools: &Session, retention: &Retention) -> u64 {
    let locked = tools.workspace().lock(WAIT).unwrap();
    let would = tools.purge(&locked, retention, true).unwrap();
    let done = tools.purge(&locked, retention, false).unwrap();
    assert_eq!(would, done, "what a dry run says");
    done.1
}

fn lines(bench: &Bench, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(bench.path(&format!(".apply-patch/audit/{file}"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn verified(bench: &Bench, name: &str) -> Verified {
    let found = verify(&bench.workspace(), Some(&session(name))).unwrap();
    let [found] = &found[..] else { panic!("{found:?}") };
    assert!(found.ok, "{found:?}");
    found.clone()
}

fn create(tools: &Session, path: &str) {
    crate::support::done(tools, "create_file", &json!({ "path": path, "content": "x\n" }));
}

fn fail(tools: &Session) {
    crate::support::fails(tools, "delete_file", &json!({ "path": "none" }), "not_found");
}

fn patch(tools: &Session, text: &str) {
    let options = Options::default();
    let patch = patch_engine::parse(text, &options.parse).unwrap();
    tools.apply("apply", &patch, options, Atomicity::Whole, &mut ()).unwrap();
}

#[test]
fn an_outcome_names_the_diff_that_its_transaction_keeps() {
    let long: String = (0..9000_u32).map(|n| format!("{}\n", n.wrapping_mul(2654435769))).collect();
    let bench = Bench::new(&[("f", b"1\n2\n3\n")]);
    for (nth, content) in ["1\ntwo\n3\n", &long].into_iter().enumerate() {
        let before = sha(&bench.read("f"));
        let args = json!({ "path": "f", "content": content, "expectedSha256": before });
        bench.done("write_file", &args);
        let found = lines(&bench, "test.jsonl");
        let [intent, outcome] = &found[2 * nth..] else { panic!("{found:?}") };
        assert!(intent.get("diffSha256").is_none(), "{intent}");
        assert!(outcome.get("diff").is_none(), "{outcome}");
        let id = outcome["transactionId"].as_str().unwrap();
        let folder = bench.path(&format!(".apply-patch/trash/{id}"));
        let workspace = bench.workspace();
        let store = workspace.store().unwrap().unwrap();
        let kept = store.journal(id.parse().unwrap()).unwrap().left;
        assert_eq!(outcome["diffSha256"], json!(kept.sha256().unwrap().to_string()));
        match fs::read(folder.join("left")) {
            Ok(bytes) => assert_eq!(outcome["diffSha256"], json!(sha(&bytes))),
            Err(_) => assert!(matches!(kept, Kept::Here(_)), "{kept:?}"),
        }
        assert_eq!(folder.join("left").exists(), nth == 1);
    }
    // What was displaced tells all of a deletion.
    bench.done("delete_file", &json!({ "path": "f" }));
    assert!(lines(&bench, "test.jsonl")[5].get("diffSha256").is_none());
}

/// Bytes of the state beside what was displaced and what the transactions keep of their diffs.
fn beside(bench: &Bench) -> u64 {
    fn size(path: &std::path::Path) -> u64 {
        let found = path.symlink_metadata().unwrap();
        if !found.is_dir() {
            let name = path.file_name().unwrap().to_string_lossy();
            let kept = name == "left" || name.parse::<u32>().is_ok();
            return if kept { 0 } else { found.len() };
        }
        fs::read_dir(path).unwrap().map(|entry| size(&entry.unwrap().path())).sum()
    }
    size(&bench.path(".apply-patch"))
}

/// Fourteen changes of 2 MB, in one file and in many: the log had their diffs again, and was longer
/// than the files.
#[test]
fn an_edit_costs_what_it_displaces_its_diff_and_little_beside() {
    let text = |round: u64, file: u64, lines: u64| -> String {
        let number =
            |line: u64| (round << 40 | file << 20 | line).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..lines).map(|line| format!("line {line} {:x}\n", number(line))).collect()
    };
    let (rounds, many, lines) = if whole() { (14, 200, 80_000) } else { (4, 100, 20_000) };
    for (files, lines_of_each, most) in [(1, lines, 2048), (many, lines / 200, 1024)] {
        let bench = Bench::new(&[]);
        for file in 0..files {
            bench.write(&format!("f{file:03}"), text(0, file, lines_of_each).as_bytes());
        }
        let settings = SessionSettings { max_snapshots: 0, ..settings() };
        let tools = Session::new(bench.workspace(), Audit::new(session("s"), None), settings);
        for round in 1..=rounds {
            let mut diff = String::new();
            for file in 0..files {
                let (old, new) =
                    (text(round - 1, file, lines_of_each), text(round, file, lines_of_each));
                diff += &format!(
                    "--- a/f{file:03}\n+++ b/f{file:03}\n@@ -1,{lines_of_each} +1,{lines_of_each} @@\n"
                );
                old.lines().for_each(|line| diff += &format!("-{line}\n"));
                new.lines().for_each(|line| diff += &format!("+{line}\n"));
            }
            let options = Options::default();
            let parsed =
                patch_grammar::diff::parse(&diff, &patch_grammar::diff::DiffOptions::default());
            tools.apply("apply", &parsed.unwrap(), options, Atomicity::Whole, &mut ()).unwrap();
        }
        let each = beside(&bench) / (rounds * files);
        assert!(each <= most, "{files} files: {each} bytes for each");
        verified(&bench, "s");
    }
}

#[test]
fn lines_go_with_their_transactions() {
    let bench = Bench::new(&[]);
    let other = bench.resume("other");
    fail(bench.tools());
    for number in 0..4 {
        create(bench.tools(), &format!("f{number}"));
        create(&other, &format!("g{number}"));
        fail(&other);
    }
    // g2, f3 and g3 are left of the eight.
    assert_eq!(purge(&other, &last(3)), 7 + 6);
    let [anew, rest @ ..] = &lines(&bench, "test.jsonl")[..] else { panic!() };
    assert_eq!((&anew["phase"], &anew["purged"]["seq"]), (&json!("purged"), &json!(7)));
    assert_eq!((rest.len(), &rest[0]["path"], &rest[0]["seq"]), (2, &json!("f3"), &json!(8)));
    assert_eq!(rest[0]["prevHash"], anew["purged"]["hash"]);
    let found = verified(&bench, "test");
    assert_eq!((found.lines, found.purged.unwrap().lines), (3, 7));
    let known: Vec<_> = state(&bench.workspace()).unwrap();
    assert!(known.iter().all(|one| one.status == Status::Same), "{known:?}");
    let known: Vec<&str> = known.iter().map(|one| &*one.path).collect();
    assert_eq!(known, ["f3", "g2", "g3"]);
    // It goes on, also in a process that wrote to it before.
    create(bench.tools(), "more");
    create(&other, "more too");
    verified(&bench, "test");
    verified(&bench, "other");
    // Nothing but the line that says so is left, and next time that goes, too.
    purge(&other, &last(0));
    let left = lines(&bench, "other.jsonl");
    assert!(left.len() == 1 && left[0]["phase"] == "purged", "{left:?}");
    verified(&bench, "other");
    purge(&other, &last(0));
    let left = fs::read_dir(bench.path(".apply-patch/audit")).unwrap().count();
    assert_eq!(left, 0);
    create(&other, "anew");
    assert_eq!(verified(&bench, "other").lines, 2);
}

/// What does not verify is for a person to look at.
#[test]
fn a_log_that_was_changed_is_not_purged() {
    let bench = Bench::new(&[]);
    for number in 0..3 {
        create(bench.tools(), &format!("f{number}"));
    }
    let log = bench.path(".apply-patch/audit/test.jsonl");
    let changed = fs::read_to_string(&log).unwrap().replacen("f1", "fx", 1);
    fs::write(&log, &changed).unwrap();
    let other = bench.resume("other");
    let locked = other.workspace().lock(WAIT).unwrap();
    assert_eq!(other.purge(&locked, &last(0), false).unwrap().1, 0);
    assert_eq!(fs::read_to_string(&log).unwrap(), changed);
}

/// Whatever interrupts a purge, the logs verify, have all that is kept, and take the next lines.
#[test]
fn a_purge_of_logs_can_be_interrupted_anywhere() {
    for (max_size, keep) in
        [(MAX_LOG_SIZE, 2), (MAX_LOG_SIZE, 0), (900, 2), (900, 0), (2500, 3), (2500, 1)]
    {
        for again in [false, true] {
            let mut finished = false;
            for at in (1..).step_by(every(3)) {
                let bench = Bench::new(&[]);
                let audit = Audit { max_size, ..Audit::new(session("s"), None) };
                let tools = Session::new(bench.workspace(), audit, settings());
                for number in 0..5 {
                    create(&tools, &format!("f{number}"));
                }
                if again {
                    purge(&tools, &last(keep));
                }
                let by = bench.resume("by");
                let locked = by.workspace().lock(WAIT).unwrap();
                arm(Fault::Crash, at, false);
                finished = by.purge(&locked, &last(keep), false).is_ok();
                let call = disarm().pop();
                drop(locked);
                let what = format!("{max_size} {keep} {again}: call {at}, {call:?}");
                let all = verify(&bench.workspace(), None).unwrap();
                assert!(all.iter().all(|one| one.ok), "{what}: {all:?}");
                let kept = state(&bench.workspace()).unwrap();
                let kept = kept.iter().filter(|one| one.path.starts_with('f')).count();
                assert!(kept >= keep, "{what}: {kept}");
                create(&tools, "next");
                let all = verify(&bench.workspace(), None).unwrap();
                assert!(all.iter().all(|one| one.ok), "{what}, and the next line: {all:?}");
                purge(&by, &last(0));
                let all = verify(&bench.workspace(), None).unwrap();
                assert!(all.iter().all(|one| one.ok), "{what}, and purged: {all:?}");
                if finished {
                    break;
                }
            }
            assert!(finished);
        }
    }
}

/// Sessions that write while others purge.
#[test]
fn sessions_write_while_others_purge() {
    let bench = Bench::new(&[]);
    create(bench.tools(), "made");
    let dir = &bench;
    let removed = std::sync::atomic::AtomicU64::new(0);
    let counted = &removed;
    std::thread::scope(|scope| {
        for name in ["a", "b", "b", "c"] {
            scope.spawn(move || {
                let tools = dir.resume(name);
                for number in 0..25 {
                    let unique = std::thread::current().id();
                    create(&tools, &format!("{name}-{unique:?}-{number}").replace(['(', ')'], ""));
                    fail(&tools);
                }
            });
        }
        scope.spawn(move || {
            let tools = dir.resume("by");
            for round in 0..40 {
                let locked = tools.workspace().lock(WAIT).unwrap();
                let (_, lines) = tools.purge(&locked, &last(round % 4), false).unwrap();
                counted.fetch_add(lines, std::sync::atomic::Ordering::Relaxed);
                drop(locked);
                std::thread::sleep(Duration::from_millis(3));
            }
        });
    });
    let all = verify(&bench.workspace(), None).unwrap();
    assert!(all.iter().all(|one| one.ok), "{all:?}");
    assert!(removed.into_inner() > 0);
}

/// `trash-keep` is for both.
#[test]
fn logs_are_kept_as_long_as_the_transactions() {
    let bench = Bench::new(&[]);
    let retention = Retention { keep_last: 1, ..last(8) };
    let tools = bench.with(SessionSettings { retention, ..settings() });
    for number in 0..70 {
        patch(&tools, &format!("*** Begin Patch\n*** Add File: f{number}\n+x\n*** End Patch\n"));
    }
    let kept = fs::read_dir(bench.path(".apply-patch/trash")).unwrap().count();
    let intents =
        lines(&bench, "other.jsonl").iter().filter(|line| line["phase"] == "intent").count();
    assert!(kept <= 24 && intents <= kept + 16, "{kept} transactions, {intents} in the log");
    assert!(verified(&bench, "other").purged.unwrap().lines > 40);
}
