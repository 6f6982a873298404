//! The audit log.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use fs_guard::fault::{Fault, arm, busy, disarm, lack};
use fs_guard::record::{Act, note, record, recorded};
use fs_guard::{Cancellation, Root};
use patch_engine::commit::{Durability, TransactionId, Verify, Workspace};
use patch_engine::{Atomicity, CommandFailure, Host, Options, Plan, Profile};
use patch_session::audit::{
    Audit, Count, Event, MAX_LOG_SIZE, Operation, Phase, Status, Torn, state, stats, verify,
};
use patch_session::{Session, SessionSettings};
use serde_json::{Value, json};
use workspace_trash::Retention;

use crate::support::{Bench, session, settings, sha};
use testutils::order::broken_laws;
use testutils::share::whole;

fn lines(bench: &Bench, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(bench.path(&format!(".apply-patch/audit/{file}"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn event(number: usize) -> Event {
    let time = "2026-11-21T01:42:33.000000Z".to_owned();
    Event {
        agent_name: Some("agent".into()),
        path: format!("src/{number}.rs"),
        before_sha256: Some(sha(b"a")),
        after_sha256: Some(sha(b"b")),
        ok: Some(true),
        ..Event::new(time, "test", "write_file", Phase::Outcome, Operation::Write)
    }
}

#[test]
fn the_notes_of_a_patch_stand_in_its_first_intent() {
    let bench = Bench::new(&[("f", b"x\n"), ("g", b"x\n")]);
    let patch = "*** Begin Patch ***\n*** Update File: f\n@@\n-x\n+y\n*** Delete File: g\n\
                 *** End Patch";
    bench.done("apply_patch", &json!({ "patch": patch }));
    let lines = lines(&bench, "test.jsonl");
    let noted: Vec<_> = lines.iter().filter(|line| line.get("notes").is_some()).collect();
    let [line] = noted[..] else { panic!("{lines:#?}") };
    assert_eq!(line["phase"], "intent");
    assert_eq!(line["path"], "f");
    let note = line["notes"][0].as_str().expect("a note");
    assert!(note.starts_with("normalised line 1: "), "{note}");
}

#[test]
fn intents_come_before_and_outcomes_after() {
    let bench = Bench::new(&[("f", b"x\n")]);
    bench.done(
        "edit_file",
        &json!({
            "path": "f", "expectedSha256": sha(b"x\n"),
            "edits": [{ "oldText": "x", "newText": "y" }],
        }),
    );
    bench.fails("write_file", &json!({ "path": "f" }), "command_failed");
    bench.fails("delete_file", &json!({ "path": "none" }), "not_found");
    bench.done(
        "move_file",
        &json!({ "fromPath": "f", "toPath": "g", "expectedSha256": sha(b"y\n") }),
    );
    let found = lines(&bench, "test.jsonl");
    let brief: Vec<_> = found
        .iter()
        .map(|line| {
            let text = |key: &str| line[key].as_str().unwrap_or("-").to_owned();
            format!("{} {} {} {}", text("phase"), text("toolName"), text("operation"), text("path"))
        })
        .collect();
    assert_eq!(
        brief,
        [
            "intent edit_file edit f",
            "outcome edit_file edit f",
            "failed write_file write ",
            "failed delete_file delete none",
            "intent move_file move f",
            "outcome move_file move f"
        ]
    );
    let outcome = &found[1];
    assert_eq!(&outcome["ok"], &json!(true));
    assert_eq!(&outcome["agentName"], &json!("agent"));
    assert_eq!(&outcome["sessionId"], &json!("test"));
    assert_eq!(&found[0]["beforeSha256"], &json!(sha(b"x\n")));
    assert_eq!(&found[0]["afterSha256"], &json!(sha(b"y\n")));
    assert!(
        found.iter().all(|line| line["ok"] == false || line["errorKind"].is_null()),
        "what went well has no error"
    );
    assert!(outcome["transactionId"].is_string());
    assert_eq!(&found[3]["ok"], &json!(false));
    assert_eq!(&found[3]["errorKind"], &json!("not_found"));
    assert_eq!(found[5]["toPath"], "g");
    for (number, line) in found.iter().enumerate() {
        assert_eq!(line["seq"], number + 1);
        let before = number
            .checked_sub(1)
            .map_or(json!("0".repeat(64)), |before| found[before]["hash"].clone());
        assert_eq!(line["prevHash"], before);
    }
    let verified = verify(&bench.workspace(), None).unwrap();
    assert!(verified.len() == 1, "{verified:?}");
    assert!(verified[0].ok, "{verified:?}");
    assert!(verified[0].signed, "{verified:?}");
    assert!(verified[0].lines == 6, "{verified:?}");
}

/// What a patch writes is written without `serde`, and events are read with it.
#[test]
fn lines_of_patches_are_events_to_the_byte() {
    let bench = Bench::new(&[
        ("old \"1\"", b"\"\tx\\\n\x1b[0m\n"),
        ("bin", b"\0"),
        ("m", b"1\n2\n"),
        ("gone", b""),
    ]);
    let audit = Audit::new(session("s"), Some("an \"agent\"\n\u{7f}\u{1}é".into()));
    let apply = |text: &str, atomic: bool| {
        let options = Options::default();
        let patch = patch_engine::parse(text, &options.parse).unwrap();
        let session = Session::new(bench.workspace(), audit.clone(), settings());
        let applied = session.apply("ap\\ply", &patch, options, atomicity(atomic), &mut ());
        assert_eq!(applied.is_ok(), atomic, "{applied:?}");
    };
    let text = "*** Begin Patch\n*** Add File: ü\n+a\u{2028}\u{c}\n*** Update File: old \"1\"\n@@\n\
                -\"\tx\\\n+y\n\
                *** Delete File: bin\n*** Delete File: gone\n*** Update File: m\n*** Move to: n\n\
                @@\n-1\n+3\n";
    apply(&format!("{text}*** End Patch\n"), true);
    apply(
        "*** Begin Patch\n*** Add File: z\n+z\n*** Delete File: \"none\"\n*** End Patch\n",
        false,
    );
    let log = fs::read_to_string(bench.path(".apply-patch/audit/s.jsonl")).unwrap();
    let mut phases = String::new();
    for line in log.lines() {
        let event: Event = serde_json::from_str(line).unwrap();
        let text = serde_json::to_string(&event).unwrap();
        let (own, _) = line.rsplit_once(",\"seq\":").unwrap();
        assert_eq!(own, text.strip_suffix('}').unwrap());
        phases.push_str(&format!("{:?} {:?}\n", event.phase, event.operation));
    }
    let each = ["Create", "Patch", "Move", "Delete", "Delete"];
    let intents = each.map(|operation| format!("Intent {operation}\n")).concat();
    let rest = "Outcome Patch\nIntent Create\nOutcome Create\nFailed Patch\n";
    assert_eq!(phases, intents + rest);
}

#[test]
fn the_log_tells_what_files_should_be() {
    let bench = Bench::new(&[("a", b"a"), ("b", b"b"), ("c", b"c"), ("d", b"d")]);
    for (path, text) in [("a", "a"), ("b", "b")] {
        bench.done(
            "write_file",
            &json!({ "path": path, "content": "new", "expectedSha256": sha(text.as_bytes()) }),
        );
    }
    bench.done("delete_file", &json!({ "path": "c" }));
    bench
        .done("move_file", &json!({ "fromPath": "d", "toPath": "e", "expectedSha256": sha(b"d") }));
    bench.write("b", b"someone else");
    fs::remove_file(bench.path("e")).unwrap();
    bench.write("c", b"anew");
    let found: Vec<_> =
        state(&bench.workspace()).unwrap().into_iter().map(|one| (one.path, one.status)).collect();
    let expected = [
        ("a", Status::Same),
        ("b", Status::Changed),
        ("c", Status::Unexpected),
        ("d", Status::Same),
        ("e", Status::Missing),
    ];
    assert_eq!(found, expected.map(|(path, status)| (path.to_owned(), status)));
}

/// Ten thousand operations on files: forty patches of 250 new files each.
#[test]
fn a_log_of_thousands_of_operations_verifies_and_with_a_byte_changed_it_does_not() {
    let rounds: u32 = if whole() { 40 } else { 4 };
    let bench = Bench::new(&[]);
    let workspace = bench.workspace();
    let audit = Audit {
        max_size: u64::from(rounds) << 15,
        ..Audit::new(session("big"), Some("agent".into()))
    };
    let session = Session::new(bench.workspace(), audit, settings());
    let options = Options::new(Profile::Codex);
    for round in 0..rounds {
        let mut text = String::from("*** Begin Patch\n");
        for file in 0..250 {
            text += &format!("*** Add File: d{round}/f{file}\n+{round} {file}\n");
        }
        text += "*** End Patch\n";
        let patch = patch_engine::parse(&text, &options.parse).unwrap();
        session.apply("apply", &patch, options.clone(), Atomicity::Whole, &mut ()).unwrap();
    }
    let verified = verify(&workspace, None).unwrap();
    assert!(verified[0].ok, "{verified:?}");
    assert!(verified[0].lines == 251 * u64::from(rounds), "{verified:?}");
    assert!(state(&workspace).unwrap().iter().all(|one| one.status == Status::Same));
    let folder = bench.path(".apply-patch/audit");
    assert!(folder.join("big.1.jsonl").exists(), "it was continued");
    assert!(folder.join("big.2.jsonl").exists(), "it was continued");
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with("jsonl"))
        .collect();
    names.sort();
    // Bytes all over the files; the small logs below try every byte of every field.
    for (nth, name) in names.iter().enumerate() {
        let path = folder.join(name);
        let whole = fs::read(&path).unwrap();
        for sample in 0..6 {
            let at = (whole.len() / 6 * sample + 7919 * (nth + 1)) % whole.len();
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, &changed).unwrap();
            let verified = verify(&workspace, None).unwrap();
            let bad = verified[0].first_bad.as_ref().expect("the change is noticed");
            let line = 1 + whole[..at].iter().filter(|&&byte| byte == b'\n').count() as u64;
            assert!(bad.file.ends_with(name.as_str()), "{name} at {at}");
            assert_eq!(bad.line, line, "{name} at {at}");
        }
        fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn every_byte_counts() {
    let bench = Bench::new(&[]);
    let workspace = bench.workspace();
    let audit = Audit::new(session("small"), None);
    let torn = Event {
        to_path: Some("t".into()),
        error_kind: Some("unknown".into()),
        transaction_id: Some("i".into()),
        ..event(1)
    };
    audit.append(&workspace, &[event(0), torn, event(2)], false).unwrap();
    for file in ["small.jsonl", "small.head"] {
        let path = bench.path(&format!(".apply-patch/audit/{file}"));
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            for with in [1, 32] {
                let mut changed = whole.clone();
                changed[at] ^= with;
                fs::write(&path, &changed).unwrap();
                let verified = verify(&workspace, None).unwrap();
                assert!(!verified[0].ok, "{file}: byte {at} {:?}", char::from(whole[at]));
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    assert!(verify(&workspace, None).unwrap()[0].ok);
}

#[test]
fn lines_cannot_be_left_out_moved_or_cut_off() {
    let bench = Bench::new(&[]);
    let workspace = bench.workspace();
    let audit = Audit::new(session("s"), None);
    audit.append(&workspace, &[event(0), event(1), event(2), event(3)], false).unwrap();
    let path = bench.path(".apply-patch/audit/s.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let all: Vec<_> = whole.split_inclusive('\n').collect();
    for (kept, bad) in [
        (&[0, 1, 2][..], 4),
        (&[0, 1, 3], 3),
        (&[1, 2, 3], 1),
        (&[0, 2, 1, 3], 2),
        (&[0, 1, 1, 2, 3], 3),
        (&[], 1),
    ] {
        fs::write(&path, kept.iter().map(|&line| all[line]).collect::<String>()).unwrap();
        let verified = verify(&workspace, None).unwrap();
        assert_eq!(verified[0].first_bad.as_ref().map(|bad| bad.line), Some(bad), "{kept:?}");
    }
    fs::remove_file(&path).unwrap();
    assert!(!verify(&workspace, None).unwrap()[0].ok, "the head is still there");
    // A log that was forged without the key: another workspace has another one.
    let other = Bench::new(&[]);
    audit.append(&other.workspace(), &[event(0), event(1), event(2), event(3)], false).unwrap();
    fs::copy(other.path(".apply-patch/audit/s.jsonl"), &path).unwrap();
    assert!(
        verify(&workspace, None).unwrap()[0].first_bad.as_ref().unwrap().problem.contains("signed")
    );
}

#[test]
fn a_line_that_a_crash_cut_off_is_told_by_the_next() {
    let bench = Bench::new(&[]);
    let workspace = bench.workspace();
    let audit = Audit::new(session("s"), None);
    audit.append(&workspace, &[event(0)], false).unwrap();
    audit.append(&workspace, &[event(1)], false).unwrap();
    let path = bench.path(".apply-patch/audit/s.jsonl");
    let head = bench.path(".apply-patch/audit/s.head");
    let (whole, old_head) = (fs::read(&path).unwrap(), fs::read(&head).unwrap());
    // The process ended in the middle of a line.
    fs::write(&path, [&whole[..], b"{\"timestamp\":\"2026"].concat()).unwrap();
    audit.append(&workspace, &[event(2)], false).unwrap();
    let verified = verify(&workspace, None).unwrap();
    assert!(verified[0].ok, "{verified:?}");
    assert!(verified[0].torn_lines == 1, "{verified:?}");
    assert!(verified[0].lines == 3, "{verified:?}");
    // What was cut off counts too: of the same length it was not the same.
    let with_torn = fs::read(&path).unwrap();
    let mut changed = with_torn.clone();
    changed[whole.len() + 2] ^= 1;
    fs::write(&path, changed).unwrap();
    let bad = verify(&workspace, None).unwrap().remove(0).first_bad;
    assert_eq!(bad.map(|bad| bad.line), Some(3));
    fs::write(&path, with_torn).unwrap();
    // It ended between a line and its head.
    fs::write(&head, old_head).unwrap();
    audit.append(&workspace, &[event(3)], false).unwrap();
    let verified = verify(&workspace, None).unwrap();
    assert!(verified[0].ok, "{verified:?}");
    assert!(verified[0].lines == 4, "{verified:?}");
}

/// Ends the process, as far as the disk is concerned, at each call of `append` in a log that
/// `prepare` made: the log is good as it was left, takes the next lines, and is good then.
fn cut_off_everywhere(max_size: u64, prepare: impl Fn(&Bench, &Audit)) {
    let audit = Audit { max_size, ..Audit::new(session("s"), None) };
    for at in 1.. {
        let bench = Bench::new(&[]);
        file_tools_state(&bench);
        prepare(&bench, &audit);
        arm(Fault::Crash, at, false);
        let done = audit.append(&bench.workspace(), &[event(7), event(8)], true).is_ok();
        let call = disarm().pop();
        let lines = |what: &str| {
            let verified = verify(&bench.workspace(), Some(&session("s"))).unwrap();
            assert!(
                verified.iter().all(|one| one.ok),
                "cut off at call {at} ({call:?}), {what}: {verified:?}"
            );
            verified.first().map_or(0, |one| one.lines)
        };
        let left = lines("as it was left");
        let next = audit.append(&bench.workspace(), &[event(9)], true);
        assert!(next.is_ok(), "cut off at call {at} ({call:?}): {next:?}");
        assert_eq!(lines("after the next line"), left + 1, "cut off at call {at} ({call:?})");
        if done {
            assert!(at > 3, "{at}");
            return;
        }
    }
}

#[test]
fn a_log_that_was_cut_off_anywhere_is_good_and_goes_on() {
    for (exchange, no_replace) in [(false, false), (true, false), (true, true)] {
        lack(exchange, no_replace);
        cut_off_everywhere(MAX_LOG_SIZE, |bench, audit| {
            audit.append(&bench.workspace(), &[event(0)], false).unwrap();
        });
        cut_off_everywhere(500, |bench, audit| {
            audit.append(&bench.workspace(), &[event(0)], false).unwrap()
        });
    }
    lack(false, false);
    // Before the first line, and where the log is continued in another file, once and twice.
    cut_off_everywhere(MAX_LOG_SIZE, |_, _| {});
    cut_off_everywhere(500, |bench, audit| {
        audit.append(&bench.workspace(), &[event(0)], false).unwrap()
    });
    cut_off_everywhere(500, |bench, audit| {
        audit.append(&bench.workspace(), &[event(0)], false).unwrap();
        audit.append(&bench.workspace(), &[event(1)], true).unwrap();
        assert!(bench.exists(".apply-patch/audit/s.1.jsonl"));
    });
}

/// Intents are on the disk before the first file changes, lines before the head that counts them;
/// whether files are synced each or together, and where the log is continued in another file.
#[test]
fn what_is_logged_is_durable_in_time() {
    for (others_write, max_size) in [(false, MAX_LOG_SIZE), (true, MAX_LOG_SIZE), (false, 900)] {
        busy(Some(others_write));
        let bench = Bench::new(&[("f", b"x\n"), ("g", b"g\n")]);
        let audit = Audit { max_size, ..Audit::new(session("s"), None) };
        let settings = SessionSettings { durability: Durability::Full, ..settings() };
        let tools = Session::new(bench.workspace(), audit, settings);
        record();
        let mut calls = 0;
        let mut done = |tool: &str, args: &Value| {
            crate::support::done(&tools, tool, args);
            note("acknowledged", bench.dir.path());
            calls += 1;
        };
        let edits = json!([{ "oldText": "x", "newText": "y" }]);
        done("edit_file", &json!({ "path": "f", "expectedSha256": sha(b"x\n"), "edits": edits }));
        crate::support::fails(&tools, "delete_file", &json!({ "path": "none" }), "not_found");
        let many: String = (0..9).map(|n| format!("*** Add File: new-{n}\n+{n}\n")).collect();
        let patch = format!("*** Begin Patch\n{many}*** Delete File: g\n*** End Patch\n");
        done("apply_patch", &json!({ "patch": patch }));
        done(
            "move_file",
            &json!({ "fromPath": "f", "toPath": "h", "expectedSha256": sha(b"y\n") }),
        );
        let acts = recorded();
        let lines = |act: &&Act| matches!(act, Act::Write { path, .. } if path.contains("/audit/s") && path.ends_with(".jsonl"));
        assert!(acts.iter().filter(lines).count() >= 2 * calls, "intents and outcomes are written");
        let broken = broken_laws(&acts, bench.dir.path());
        assert!(broken.is_empty(), "{others_write} {max_size}: {broken:#?}");
        busy(None);
    }
}

/// A log of four events that is continued in other files.
fn continued_log() -> (Bench, patch_engine::commit::Workspace, Audit) {
    let bench = Bench::new(&[]);
    file_tools_state(&bench);
    let workspace = bench.workspace();
    let audit = Audit { max_size: 500, ..Audit::new(session("s"), None) };
    for number in 0..4 {
        audit.append(&workspace, &[event(number)], false).unwrap();
    }
    (bench, workspace, audit)
}

#[test]
fn a_log_without_its_head_goes_on_where_it_ended() {
    for without in ["missing", "empty"] {
        let (bench, workspace, audit) = continued_log();
        assert!(bench.exists(".apply-patch/audit/s.2.jsonl"), "it was continued");
        let head = bench.path(".apply-patch/audit/s.head");
        match without {
            "missing" => fs::remove_file(&head).unwrap(),
            _ => fs::write(&head, "").unwrap(),
        }
        let verified = || verify(&workspace, Some(&session("s"))).unwrap().remove(0);
        assert!(!verified().ok, "{without}");
        for number in 4..6 {
            audit.append(&workspace, &[event(number)], false).unwrap();
            // It goes on, and what was done to it stays seen: lines may have gone with the head.
            let found = verified();
            assert!(!found.ok, "{without}: {found:?}");
            assert!(found.lines == number as u64 + 1, "{without}: {found:?}");
            assert!(
                found.first_bad.unwrap().problem.contains("where the log ends was"),
                "{without}"
            );
        }
    }
}

/// The newest file and the head went together, and nothing showed it once the log went on.
#[test]
fn the_end_of_a_log_cannot_be_cut_off_with_its_head() {
    let (bench, workspace, audit) = continued_log();
    for name in ["s.head", "s.jsonl"] {
        fs::remove_file(bench.path(".apply-patch/audit").join(name)).unwrap();
    }
    for number in 4..6 {
        assert!(!verify(&workspace, None).unwrap()[0].ok);
        audit.append(&workspace, &[event(number)], false).unwrap();
    }
    assert!(!verify(&workspace, None).unwrap()[0].ok);
}

#[test]
fn a_log_that_another_process_writes_is_waited_for_as_long_as_is_wanted() {
    let bench = Bench::new(&[]);
    let workspace = bench.workspace();
    let audit = Audit::new(session("s"), None).with_lock_timeout(std::time::Duration::ZERO);
    audit.append(&workspace, &[event(0)], false).unwrap();
    let folder = workspace.root().state_dir().unwrap().unwrap().open_dir("audit").unwrap().unwrap();
    let held = folder.spot("s.jsonl").append_locked(std::time::Duration::ZERO).unwrap();
    let error = audit.append(&workspace, &[event(1)], false).unwrap_err();
    assert!(matches!(error, fs_guard::Error::Locked { .. }), "{error}");
    drop(held);
    audit.append(&workspace, &[event(1)], false).unwrap();
}

#[test]
fn nothing_is_applied_when_the_log_cannot_be_written() {
    let bench = Bench::new(&[("f", b"x")]);
    bench.done("delete_file", &json!({ "path": "f" }));
    bench.write("f", b"x");
    let log = bench.path(".apply-patch/audit/test.jsonl");
    for spoil in [0, 1] {
        fs::remove_file(&log).unwrap();
        match spoil {
            0 => std::os::unix::fs::symlink("/dev/null", &log).unwrap(),
            _ => fs::write(&log, b"")
                .and_then(|()| fs::hard_link(&log, bench.path("second name")))
                .unwrap(),
        }
        let text = "*** Begin Patch\n*** Update File: f\n@@\n-x\n+y\n*** End Patch\n";
        for (tool, args) in [
            ("delete_file", json!({ "path": "f" })),
            ("create_file", json!({ "path": "n", "content": "" })),
            ("apply_patch", json!({ "patch": text })),
        ] {
            let error = bench.fails(tool, &args, "command_failed");
            assert!(error["message"].as_str().unwrap().contains("audit log"), "{error}");
        }
        assert_eq!(bench.read("f"), b"x".to_vec());
        assert!(!bench.exists("n"));
    }
}

#[test]
fn names_do_not_break_lines() {
    let bench = Bench::new(&[]);
    let name = "a\u{2028}\"},{\"ok\":true";
    let workspace = bench.workspace();
    let audit = Audit::new(session("s"), Some("agent\n{\"seq\":1}".into()));
    audit
        .append(&workspace, &[Event { path: format!("{name}\n\r\u{1b}[2J"), ..event(0) }], false)
        .unwrap();
    let text = fs::read_to_string(bench.path(".apply-patch/audit/s.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 1);
    assert!(!text.contains('\u{1b}'));
    assert!(verify(&workspace, None).unwrap()[0].ok);
    // Through a tool: a path like that is refused, and its refusal is one line.
    bench.fails("create_file", &json!({ "path": "a\n{}", "content": "" }), "command_failed");
    assert_eq!(lines(&bench, "test.jsonl").len(), 1);
}

#[test]
fn writers_take_turns() {
    let bench = Bench::new(&[]);
    file_tools_state(&bench);
    let (dir, audit) = (&bench, Audit::new(session("s"), None));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let audit = &audit;
            scope.spawn(move || {
                let workspace = dir.workspace();
                for number in 0..50 {
                    audit.append(&workspace, &[event(number)], false).unwrap();
                }
            });
        }
    });
    let verified = verify(&bench.workspace(), Some(&session("s"))).unwrap();
    assert!(verified[0].ok, "{verified:?}");
    assert!(verified[0].lines == 400, "{verified:?}");
    assert!(verified[0].torn_lines == 0, "{verified:?}");
}

/// Makes the state directory.
fn file_tools_state(bench: &Bench) {
    bench.done("create_file", &json!({ "path": "made", "content": "" }));
}

#[test]
fn a_call_that_stops_half_way_is_told_as_both() {
    let bench = Bench::new(&[("a", b"x\n")]);
    let text =
        "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Delete File: none\n*** End Patch\n";
    bench.fails("apply_patch", &json!({ "patch": text, "atomic": false }), "not_found");
    let found: Vec<_> = lines(&bench, "test.jsonl")
        .iter()
        .map(|line| (line["phase"].clone(), line["path"].clone()))
        .collect();
    let expected = [("intent", "a"), ("outcome", "a"), ("failed", "none")];
    assert_eq!(found, expected.map(|(phase, path)| (json!(phase), json!(path))));
}

#[test]
fn an_interrupted_transaction_is_told_when_it_is_seen_to() {
    /// Ends the process, as far as the workspace is concerned, after the first file.
    struct Crash;
    impl patch_engine::Host for Crash {
        fn event(&mut self, event: &patch_engine::Event<'_>) {
            if matches!(event, patch_engine::Event::Published(_)) {
                panic!("cut off");
            }
        }
    }
    let bench = Bench::new(&[]);
    let workspace = bench.workspace();
    let audit = Audit::new(session("first"), None);
    let text = "*** Begin Patch\n*** Add File: a\n+x\n*** Add File: b\n+x\n*** End Patch\n";
    let options = Options::default();
    let patch = patch_engine::parse(text, &options.parse).unwrap();
    let session = Session::new(bench.workspace(), audit, settings());
    let cut = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        session.apply("apply", &patch, options.clone(), Atomicity::Whole, &mut Crash)
    }));
    assert!(cut.is_err());
    assert!(bench.exists("a"));
    assert!(!bench.exists("b"));
    bench.done("create_file", &json!({ "path": "c", "content": "" }));
    assert_eq!(bench.read("b"), b"x\n", "it was finished first");
    let told = lines(&bench, "first.jsonl");
    let recovered = told.last().expect("where the intent is");
    assert_eq!(
        [
            &recovered["phase"],
            &recovered["ok"],
            &recovered["recovered"],
            &recovered["transactionId"]
        ],
        [&json!("recovered"), &json!(true), &json!("finished"), &told[0]["transactionId"]]
    );
    assert!(lines(&bench, "test.jsonl").iter().all(|line| line["phase"] != "recovered"));
    assert!(
        verify(&workspace, None).unwrap().iter().all(|one| one.ok && one.unanswered.is_empty())
    );
    assert!(state(&workspace).unwrap().iter().all(|one| one.status == Status::Same));
}

/// A process that was killed after its commit, and before it could write that down, left an intent
/// without an answer for good.
#[test]
fn every_intent_gets_an_answer() {
    use fs_guard::fault::{Fault, arm, disarm};
    let options = Options::default();
    let text = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End Patch\n";
    let patch = patch_engine::parse(text, &options.parse).unwrap();
    let phases = |bench: &Bench, log: &str, id: &Value| -> Vec<Value> {
        let of = lines(bench, log).into_iter().filter(|line| line["transactionId"] == *id);
        of.map(|line| json!([line["phase"], line["ok"], line["recovered"]])).collect()
    };
    let (mut reverted, mut finished) = (0, 0);
    for at in 1.. {
        let bench = Bench::new(&[("a", b"1\n")]);
        bench.done("create_file", &json!({ "path": "b", "content": "" }));
        let killed =
            Session::new(bench.workspace(), Audit::new(session("killed"), None), settings());
        arm(Fault::Crash, at, false);
        let _ = killed.apply("apply", &patch, options.clone(), Atomicity::Whole, &mut ());
        let calls = disarm();
        let intents: Vec<_> = if bench.exists(".apply-patch/audit/killed.jsonl") {
            lines(&bench, "killed.jsonl")
                .into_iter()
                .filter(|line| line["phase"] == "intent")
                .collect()
        } else {
            Vec::new()
        };
        let what = format!("stopped at call {at} ({:?})", calls.last());
        let all = verify(&bench.workspace(), None).unwrap();
        let unanswered: Vec<_> = all.iter().flat_map(|one| one.unanswered.clone()).collect();
        // Whatever comes next: a commit of the same session, or recovery by another one.
        if at % 2 == 0 {
            let next =
                Session::new(bench.workspace(), Audit::new(session("killed"), None), settings());
            let text = "*** Begin Patch\n*** Add File: c\n*** End Patch\n";
            let patch = patch_engine::parse(text, &options.parse).unwrap();
            next.apply("apply", &patch, options.clone(), Atomicity::Whole, &mut ()).unwrap();
        } else {
            let workspace = bench.workspace();
            let locked = workspace.lock(std::time::Duration::ZERO).unwrap();
            bench.resume("other").recovered(locked.recovered()).unwrap();
        }
        for intent in &intents {
            let id = &intent["transactionId"];
            let committed = bench.path(".apply-patch/trash").join(id.as_str().unwrap()).exists();
            let found = phases(&bench, "killed.jsonl", id);
            let outcome = json!(["outcome", committed, null]);
            let recovered =
                json!(["recovered", committed, if committed { "finished" } else { "reverted" }]);
            assert!(
                found[1..].iter().all(|line| *line == outcome || *line == recovered),
                "{what}: {found:?}"
            );
            assert!(found.len() > 1, "{what}: no answer: {found:?}");
            if found[1] == recovered {
                assert_eq!(unanswered, [id.as_str().unwrap()], "{what}");
                *if committed { &mut finished } else { &mut reverted } += 1;
            }
        }
        let all = verify(&bench.workspace(), None).unwrap();
        assert!(all.iter().all(|one| one.ok && one.unanswered.is_empty()), "{what}: {all:?}");
        if calls.len() < at {
            break;
        }
    }
    assert!(reverted > 1, "{reverted} reverted, {finished} finished");
    assert!(finished > 2, "{reverted} reverted, {finished} finished");
}

/// Does something when an event is told, once.
struct At<'a>(fn(&patch_engine::Event<'_>) -> bool, Option<Box<dyn FnOnce() + 'a>>);

impl<'a> At<'a> {
    fn new(when: fn(&patch_engine::Event<'_>) -> bool, act: impl FnOnce() + 'a) -> Self {
        Self(when, Some(Box::new(act)))
    }

    /// In the middle of a commit: its intents are written, and its outcomes are not.
    fn first_published(act: impl FnOnce() + 'a) -> Self {
        Self::new(|event| matches!(event, patch_engine::Event::Published(0)), act)
    }
}

impl Host for At<'_> {
    fn event(&mut self, event: &patch_engine::Event<'_>) {
        if (self.0)(event)
            && let Some(act) = self.1.take()
        {
            act();
        }
    }
}

fn atomicity(atomic: bool) -> Atomicity {
    if atomic { Atomicity::Whole } else { Atomicity::EachSection }
}

fn apply(session: &Session, text: &str, atomic: bool, host: &mut dyn Host) -> bool {
    let options = Options::default();
    let text = format!("*** Begin Patch\n{text}*** End Patch\n");
    let patch = patch_engine::parse(&text, &options.parse).unwrap();
    session.apply("apply", &patch, options, atomicity(atomic), host).is_ok()
}

/// Phase, path, and whether it went well, of each line.
fn brief(bench: &Bench, file: &str) -> Vec<String> {
    let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let of = |line: &Value| {
        let (phase, path, kind) =
            (text(line, "phase"), text(line, "path"), text(line, "errorKind"));
        format!("{phase} {path} {} {kind}", line["ok"]).trim_end().to_owned()
    };
    lines(bench, file).iter().map(of).collect()
}

/// What is in the signed head of a log: its fields, and the length of the log's newest file.
fn head(bench: &Bench, log: &str) -> (Vec<(String, String)>, u64) {
    let folder = bench.path(".apply-patch/audit");
    let text = fs::read_to_string(folder.join(format!("{log}.head"))).unwrap();
    let field = |line: &str| {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        (key.to_owned(), value.to_owned())
    };
    let length = folder.join(format!("{log}.jsonl")).metadata().unwrap().len();
    (
        text.lines()
            .map(field)
            .filter(|(key, _)| !["mac", "hash", "inode"].contains(&&**key))
            .collect(),
        length,
    )
}

#[test]
fn small_events_are_one_write_that_only_a_durable_log_syncs() {
    let bench = Bench::new(&[]);
    file_tools_state(&bench);
    let workspace = bench.workspace();
    let audit = Audit::new(session("s"), None);
    for (durable, round) in [(false, 1), (false, 2), (true, 3)] {
        record();
        audit.append(&workspace, &[event(0), event(1), event(2)], durable).unwrap();
        let acts = recorded();
        let writes =
            |act: &&Act| matches!(act, Act::Write { path, .. } if path.ends_with("audit/s.jsonl"));
        assert_eq!(acts.iter().filter(writes).count(), 1, "{round}: {acts:?}");
        let syncs = acts.iter().any(|act| matches!(act, Act::Sync(..) | Act::SyncAll));
        assert_eq!(syncs, durable, "{round}: {acts:?}");
    }
}

#[test]
fn only_the_log_itself_says_that_a_line_was_cut_off() {
    let bench = Bench::new(&[]);
    let torn = Some(Torn { bytes: 1, sha256: sha(b"x") });
    Audit::new(session("s"), None)
        .append(&bench.workspace(), &[Event { torn, ..event(0) }], false)
        .unwrap();
    assert!(lines(&bench, "s.jsonl")[0]["torn"].is_null());
}

#[test]
fn the_head_tells_how_far_the_log_goes_and_what_has_no_answer() {
    let bench = Bench::new(&[]);
    let workspace = bench.workspace();
    let audit = Audit { max_size: 1200, ..Audit::new(session("s"), None) };
    let id = "20261121-014233-123456-9f3ac1d2";
    let of = |phase| Event { phase, transaction_id: Some(id.into()), ..event(0) };
    let rounds = [
        (Phase::Failed, 0, ""),
        (Phase::Intent, 0, id),
        (Phase::Failed, 1, id),
        (Phase::Outcome, 1, ""),
    ];
    for (nth, (phase, older, open)) in rounds.into_iter().enumerate() {
        audit.append(&workspace, &[of(phase)], false).unwrap();
        let (fields, length) = head(&bench, "s");
        let expected = [
            ("session", "s".to_owned()),
            ("seq", (nth + 1).to_string()),
            ("length", length.to_string()),
            ("older", older.to_string()),
            ("open", open.to_owned()),
        ];
        assert_eq!(fields, expected.map(|(key, value)| (key.to_owned(), value)), "{phase:?}");
    }
}

/// Another process of the session writes, or continues the log in another file, which may get as
/// long as the one before. It waits for a short commit that runs no commands.
#[test]
fn a_log_that_grows_during_a_commit_has_its_lines_in_one_order() {
    let failed = |path: &str| Event {
        agent_name: None,
        phase: Phase::Failed,
        path: path.into(),
        before_sha256: None,
        after_sha256: None,
        ok: None,
        ..event(0)
    };
    let shortest = {
        let bench = Bench::new(&[]);
        Audit::new(session("s"), None).append(&bench.workspace(), &[failed("")], false).unwrap();
        head(&bench, "s").1
    };
    for (max_size, as_long) in [(MAX_LOG_SIZE, false), (1, false), (1, true)] {
        let bench = Bench::new(&[]);
        let audit = Audit { max_size, ..Audit::new(session("s"), None) };
        let tools = Session::new(bench.workspace(), audit.clone(), settings());
        let log = bench.path(".apply-patch/audit/s.jsonl");
        let mut other = At::first_published(|| {
            let length = log.metadata().unwrap().len();
            let path = if as_long {
                // The number of its line has a digit more.
                "p".repeat(usize::try_from(length - shortest - 1).unwrap())
            } else {
                "p".into()
            };
            audit.append(&bench.workspace(), &[failed(&path)], false).unwrap();
            assert_eq!(log.metadata().unwrap().len() == length, as_long);
        });
        let many: String = (0..40).map(|n| format!("*** Add File: f{n}\n+f\n")).collect();
        assert!(apply(&tools, &many, true, &mut other));
        let verified = verify(&bench.workspace(), None).unwrap();
        let found = &verified[0];
        assert!(found.ok, "{max_size} {as_long}: {verified:?}");
        assert!(found.lines == 42, "{max_size} {as_long}: {verified:?}");
        assert!(found.unanswered.is_empty(), "{max_size} {as_long}: {verified:?}");
    }
}

#[test]
fn the_log_is_locked_during_a_short_commit_that_runs_no_commands() {
    #[derive(Debug)]
    struct Passes;
    impl Verify for Passes {
        fn verify(
            &self,
            _root: &Root,
            _plan: &Plan,
            _state: &str,
            _cancellation: &Cancellation,
        ) -> Result<(), CommandFailure> {
            Ok(())
        }
    }
    let pass: Arc<dyn Verify> = Arc::new(Passes);
    for (files, verify, waits) in [(1, None, true), (40, None, false), (1, Some(pass), false)] {
        let bench = Bench::new(&[]);
        let audit = Audit::new(session("s"), None);
        let settings = SessionSettings { verify, ..settings() };
        let tools = Session::new(bench.workspace(), audit.clone(), settings);
        let other = audit.with_lock_timeout(Duration::ZERO);
        let write = || other.append(&bench.workspace(), &[event(0)], false);
        let mut meanwhile = None;
        let text: String = (0..files).map(|n| format!("*** Add File: f{n}\n+f\n")).collect();
        assert!(apply(&tools, &text, true, &mut At::first_published(|| meanwhile = Some(write()))));
        assert_eq!(meanwhile.unwrap().is_err(), waits, "{files}");
        write().unwrap();
    }
}

#[test]
fn each_transaction_of_a_call_is_answered_before_the_next_one_begins() {
    let bench = Bench::new(&[]);
    let tools = bench.resume("s");
    assert!(apply(&tools, "*** Add File: a\n+a\n*** Add File: b\n+b\n", false, &mut ()));
    assert_eq!(
        brief(&bench, "s.jsonl"),
        ["intent a null", "outcome a true", "intent b null", "outcome b true"]
    );
}

const BOTH: &str = "*** Update File: a\n@@\n-a\n+1\n*** Update File: b\n@@\n-b\n+1\n";

#[test]
fn a_commit_that_is_rolled_back_is_told_once() {
    let bench = Bench::new(&[("a", b"a\n"), ("b", b"b\n")]);
    bench.done("create_file", &json!({ "path": "made", "content": "" }));
    let tools = bench.resume("s");
    assert!(!apply(&tools, BOTH, true, &mut At::first_published(|| bench.write("b", b"saved\n"))));
    assert_eq!(bench.read("a"), b"a\n");
    let expected = ["intent a null", "intent b null", "outcome  false stale_file"];
    assert_eq!(brief(&bench, "s.jsonl"), expected);
}

/// What became of it is not known when the call ends: it stays listed until recovery has seen to
/// it.
#[test]
fn a_commit_that_could_not_be_rolled_back_is_answered_once_by_what_comes_next() {
    for recovery in [false, true] {
        let bench = Bench::new(&[("a", b"a\n"), ("b", b"b\n")]);
        bench.done("create_file", &json!({ "path": "made", "content": "" }));
        let save = || ["a", "b"].iter().for_each(|path| bench.write(path, b"saved\n"));
        assert!(!apply(&bench.resume("s"), BOTH, true, &mut At::first_published(save)));
        assert_eq!(bench.read("a"), b"saved\n");
        let mut expected = vec!["intent a null", "intent b null", "failed b false stale_file"];
        assert_eq!(brief(&bench, "s.jsonl"), expected);
        let unanswered =
            || verify(&bench.workspace(), Some(&session("s"))).unwrap().remove(0).unanswered;
        assert_eq!(unanswered().len(), 1);
        expected.push("recovered  false");
        for next in ["next-1", "next-2"] {
            if recovery {
                bench.resume("other").recovered(&[]).unwrap()
            } else {
                assert!(apply(
                    &bench.resume("s"),
                    &format!("*** Add File: {next}\n"),
                    true,
                    &mut ()
                ))
            }
            let mut found = brief(&bench, "s.jsonl");
            found.retain(|line| !line.contains(" next-"));
            assert_eq!(found, expected, "{recovery} {next}");
            assert!(unanswered().is_empty(), "{recovery} {next}");
        }
    }
}

/// An intent without an answer is of a commit that did not happen, unless it can have been purged.
#[test]
fn what_is_not_known_any_more_is_not_made_up() {
    let (all, usual) = (usize::MAX, Retention::default());
    let purge = |keep_last| Retention { keep_last, max_count: 0, ..usual };
    let short = Retention { keep_last: 1, ..usual };
    // Whether it happened, commits before and after, what is purged, what sessions keep; what is
    // said of it.
    for (happened, before, after, kept, settled, said) in [
        (true, 0, 0, all, usual, "finished"),
        (true, 1, 25, all, usual, "finished"),
        (true, 0, 19, 20, usual, "finished"),
        (true, 0, 20, 20, usual, ""),
        (true, 1, 21, 20, usual, ""),
        (true, 0, 3, 2, short, ""),
        (false, 0, 0, all, usual, "reverted"),
        (false, 0, 19, all, usual, "reverted"),
        (false, 0, 20, all, usual, ""),
        (false, 1, 20, all, usual, "reverted"),
        (false, 1, 2, all, short, "reverted"),
        (false, 0, 1, all, short, ""),
    ] {
        let bench = Bench::new(&[]);
        let workspace = bench.workspace();
        let mut made = 0;
        let mut commit = || {
            made += 1;
            let done =
                bench.done("create_file", &json!({ "path": made.to_string(), "content": "" }));
            done["transactionId"].as_str().unwrap().to_owned()
        };
        (0..before).for_each(|_| drop(commit()));
        let id = if happened {
            commit()
        } else {
            TransactionId::new(std::time::SystemTime::now(), None).to_string()
        };
        let intent =
            Event { phase: Phase::Intent, transaction_id: Some(id.clone()), ok: None, ..event(0) };
        Audit::new(session("killed"), None).append(&workspace, &[intent], false).unwrap();
        (0..after).for_each(|_| drop(commit()));
        if kept != all {
            let locked = workspace.lock(std::time::Duration::ZERO).unwrap();
            locked.purge(&purge(kept), false).unwrap();
        }
        bench.with(SessionSettings { retention: settled, ..settings() }).recovered(&[]).unwrap();
        let found = lines(&bench, "killed.jsonl");
        let answer = found.get(1).map_or("", |line| line["recovered"].as_str().unwrap());
        assert_eq!(answer, said, "{happened} {before} {after} {kept}");
        let unanswered = verify(&workspace, Some(&session("killed"))).unwrap().remove(0).unanswered;
        assert_eq!(unanswered, if said.is_empty() { vec![id] } else { Vec::new() });
    }
}

#[test]
fn paths_of_a_directory_below_are_those_of_the_project() {
    let bench = Bench::new(&[("sub/f", b"f")]);
    bench.done("create_file", &json!({ "path": "top", "content": "" }));
    let below = Workspace::open(&bench.path("sub"), patch_engine::policy()).unwrap();
    let below = below.with_key_place(bench.workspace().key_place().clone());
    let tools = Session::new(below, Audit::new(session("below"), None), settings());
    let outside = bench.path("made").to_str().unwrap().to_owned();
    crate::support::done(&tools, "delete_file", &json!({ "path": "f" }));
    for (tool, args) in [
        ("delete_file", json!({ "path": "none" })),
        ("write_file", json!({ "path": "f" })),
        ("create_file", json!({ "path": outside, "content": "" })),
    ] {
        assert_eq!(crate::support::call(&tools, tool, &args)["ok"], false, "{tool}");
    }
    let found: Vec<_> =
        lines(&bench, "below.jsonl").iter().map(|line| line["path"].clone()).collect();
    assert_eq!(
        found,
        [json!("sub/f"), json!("sub/f"), json!("sub/none"), json!(""), json!(outside)]
    );
}

#[test]
fn a_directory_that_goes_is_logged_where_nothing_else_changes() {
    let bench = Bench::new(&[]);
    fs::create_dir_all(bench.path("d/e")).unwrap();
    bench.done("delete_file", &json!({ "path": "d", "recursive": true }));
    assert_eq!(brief(&bench, "test.jsonl"), ["intent d null", "outcome d true"]);
}

#[cfg(unix)]
#[test]
fn what_is_in_the_place_of_a_logged_file_is_told() {
    let bench = Bench::new(&[]);
    for path in ["dir", "file", "link", "pipe"] {
        bench.done("create_file", &json!({ "path": path, "content": "target" }));
        fs::remove_file(bench.path(path)).unwrap();
    }
    fs::create_dir(bench.path("dir")).unwrap();
    bench.write("file", b"other");
    std::os::unix::fs::symlink("target", bench.path("link")).unwrap();
    let found = state(&bench.workspace()).unwrap();
    let found: Vec<_> =
        found.iter().map(|one| (&*one.path, one.status, one.actual_sha256.clone())).collect();
    let expected = [
        ("dir", Status::Missing, String::new()),
        ("file", Status::Changed, sha(b"other")),
        ("link", Status::Same, sha(b"target")),
        ("pipe", Status::Missing, String::new()),
    ];
    assert_eq!(found, expected);
}

#[test]
fn calls_and_transactions_are_counted() {
    let bench = Bench::new(&[]);
    let workspace = bench.workspace();
    let at = |day: u32| format!("2026-11-{day:02}T01:42:33.000000Z");
    let id = |nth: u32| format!("2026112{nth}-014233-123456-9f3ac1d2");
    let of = |day, phase, ok, id: Option<String>| Event {
        timestamp: at(day),
        phase,
        ok,
        transaction_id: id,
        ..event(0)
    };
    let failed = |day, agent: Option<&str>, reason: Option<&str>, profile: Option<&str>| Event {
        agent_name: agent.map(Into::into),
        error_kind: Some("stale_file".into()),
        reason: reason.map(Into::into),
        profile: profile.map(Into::into),
        ..of(day, Phase::Failed, Some(false), None)
    };
    let events = [
        of(9, Phase::Failed, Some(false), None),
        // Two files of one transaction, and one that was rolled back.
        of(12, Phase::Intent, None, Some(id(1))),
        of(12, Phase::Outcome, Some(true), Some(id(1))),
        of(12, Phase::Outcome, Some(true), Some(id(1))),
        of(12, Phase::Outcome, Some(false), Some(id(2))),
        of(13, Phase::Recovered, Some(true), Some(id(3))),
        failed(11, None, Some("unread"), None),
        failed(12, None, None, Some("codex")),
        failed(12, Some("agent"), Some("unread"), Some("codex")),
    ];
    Audit::new(session("s"), None).append(&workspace, &events, false).unwrap();
    let since = std::time::UNIX_EPOCH + std::time::Duration::from_secs(20_767 * 24 * 3600);
    assert!(workspace_trash::format_time(since).starts_with("2026-11-10T00:00"));
    let found = stats(&workspace, since).unwrap();
    assert_eq!(found.since, at(11));
    assert_eq!(found.transactions, 2);
    assert_eq!(found.failed, 3);
    let counts = |counts: &[(&str, usize)]| {
        counts.iter().map(|&(key, count)| (key.to_owned(), count)).collect()
    };
    assert_eq!(found.by_reason, counts(&[("stale_file", 1), ("unread", 2)]));
    assert_eq!(found.by_profile, counts(&[("codex", 2)]));
    let both = |all: &[(&str, usize, usize)]| {
        let one = |&(key, transactions, failed): &(&str, _, _)| {
            (key.to_owned(), Count { transactions, failed })
        };
        all.iter().map(one).collect()
    };
    assert_eq!(found.by_agent, both(&[("-", 0, 2), ("agent", 2, 1)]));
    assert_eq!(
        found.by_day,
        both(&[("2026-11-11", 0, 1), ("2026-11-12", 1, 2), ("2026-11-13", 1, 0)])
    );
}

#[test]
fn a_refused_patch_is_logged_with_its_profile() {
    let bench = Bench::new(&[]);
    let text = "*** Begin Patch\n*** Delete File: none\n*** End Patch\n";
    for profile in ["strict", "codex"] {
        bench.fails("apply_patch", &json!({ "patch": text, "profile": profile }), "not_found");
        let found = lines(&bench, "test.jsonl").pop().unwrap();
        assert_eq!(&found["phase"], &json!("failed"));
        assert_eq!(&found["profile"], &json!(profile));
    }
}

#[test]
fn only_logs_and_their_heads_count_as_sessions() {
    let bench = Bench::new(&[]);
    file_tools_state(&bench);
    let folder = bench.path(".apply-patch/audit");
    // A log that nothing was written to yet is good without a head.
    for name in ["empty.jsonl", "notes.txt", "no name.jsonl", "no name.head", "draft.head.new"] {
        fs::write(folder.join(name), "").unwrap();
    }
    let found = verify(&bench.workspace(), None).unwrap();
    let found: Vec<_> = found.iter().map(|one| (&*one.session, one.ok, one.lines)).collect();
    assert_eq!(found, [("empty", true, 0), ("test", true, 2)]);
}

/// What a log says of a failure does not need that the state directory is found again.
#[cfg(unix)]
#[test]
fn a_commit_that_failed_half_way_is_told_though_others_may_enter_the_state_by_now() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new(&[("a", b"a\n"), ("b", b"b\n")]);
    bench.done("create_file", &json!({ "path": "made", "content": "" }));
    let state = bench.path(".apply-patch");
    let save = || {
        ["a", "b"].iter().for_each(|path| bench.write(path, b"saved\n"));
        fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    };
    assert!(!apply(&bench.resume("s"), BOTH, true, &mut At::first_published(save)));
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(lines(&bench, "s.jsonl").pop().unwrap()["phase"], "failed");
}
