//! An audit log that was written as it should be, and then changed: any change of a byte, a line or
//! the end is found. Any bytes in its place are read or refused.
#![no_main]

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;

use apply_patch_fuzz::Bench;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use patch_session::audit::{Audit, Event, Operation, Phase, stats, verify};
use serde_json::json;

#[derive(Debug, Arbitrary)]
enum Input {
    Bytes { log: Vec<u8>, head: Option<Vec<u8>> },
    Changed { lines: Vec<Line>, change: Change, in_head: bool },
}

#[derive(Debug, Arbitrary)]
struct Line {
    phase: u8,
    path: String,
    ok: Option<bool>,
    reason: Option<String>,
}

#[derive(Debug, Arbitrary)]
enum Change {
    Nothing,
    Byte(u16, u8),
    Insert(u16, u8),
    Remove(u16),
    Cut(u16),
    DropLine(u8),
    SwapLines(u8),
    RepeatLine(u8),
    Gone,
}

impl Line {
    fn event(&self) -> Event {
        let phase = [Phase::Intent, Phase::Outcome, Phase::Failed, Phase::Recovered]
            [usize::from(self.phase % 4)];
        let intends =
            matches!(phase, Phase::Intent).then(|| "20261121-014233-123456-9f3ac1d2".to_owned());
        let event = json!({
            "timestamp": "2026-11-21T01:42:33.000000Z",
            "sessionId": "fuzz",
            "toolName": "tool",
            "phase": phase,
            "operation": Operation::Patch,
            "path": self.path,
            "reason": self.reason,
            "ok": self.ok,
            "transactionId": intends,
        });
        serde_json::from_value(event).expect("an event")
    }
}

/// The changed text; `None` when the file goes away.
fn changed(text: &[u8], change: &Change) -> Option<Vec<u8>> {
    let at = |at: u16| usize::from(at) % text.len().max(1);
    let mut bytes = text.to_vec();
    let mut lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let nth = |nth: u8| usize::from(nth) % lines.len().max(1);
    match *change {
        Change::Nothing => {}
        Change::Byte(place, byte) => bytes[at(place)] = byte,
        Change::Insert(place, byte) => bytes.insert(at(place), byte),
        Change::Remove(place) => drop(bytes.remove(at(place))),
        Change::Cut(place) => bytes.truncate(at(place)),
        Change::DropLine(line) => {
            let line = nth(line);
            lines.remove(line);
            bytes = lines.concat();
        }
        Change::SwapLines(line) => {
            let (line, next) = (nth(line), (nth(line) + 1) % lines.len());
            lines.swap(line, next);
            bytes = lines.concat();
        }
        Change::RepeatLine(line) => {
            let line = nth(line);
            lines.insert(line, lines[line]);
            bytes = lines.concat();
        }
        Change::Gone => return None,
    }
    Some(bytes)
}

thread_local! {
    static BENCH: RefCell<Bench> = RefCell::default();
}

fuzz_target!(|input: Input| {
    BENCH.with_borrow_mut(|bench| {
        bench.fresh();
        let workspace = bench.open();
        let folder = bench.root().join(".apply-patch/audit");
        match &input {
            Input::Bytes { log, head } => {
                fs::DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(&folder)
                    .expect("a folder");
                fs::write(folder.join("fuzz.jsonl"), log).expect("written");
                head.iter()
                    .for_each(|head| fs::write(folder.join("fuzz.head"), head).expect("written"));
                if let Ok(found) = verify(&workspace, None) {
                    // Nothing at all is what there was before the first line.
                    let nothing = log.is_empty() && head.is_none();
                    assert!(
                        nothing || found.iter().all(|one| !one.ok),
                        "what nobody signed verifies: {found:?}"
                    );
                }
            }
            Input::Changed { lines, change, in_head } => {
                workspace.make_state(std::time::Duration::ZERO).expect("a state directory");
                let events: Vec<Event> = lines.iter().take(8).map(Line::event).collect();
                let audit = Audit::new("fuzz".parse().expect("a name"), None);
                if events.is_empty() || audit.append(&workspace, &events, false).is_err() {
                    bench.changed();
                    return;
                }
                let is_ok = || {
                    verify(&workspace, None)
                        .is_ok_and(|found| !found.is_empty() && found.iter().all(|one| one.ok))
                };
                assert!(is_ok(), "it verifies as it was written");
                let file = folder.join(if *in_head { "fuzz.head" } else { "fuzz.jsonl" });
                let text = fs::read(&file).expect("it was written");
                let new = changed(&text, change);
                let same = new.as_ref() == Some(&text);
                match new {
                    Some(new) => fs::write(&file, new).expect("written"),
                    None => fs::remove_file(&file).expect("it is there"),
                }
                assert_eq!(is_ok(), same, "{change:?} in {}", file.display());
            }
        }
        // To count is no promise, and no panic.
        let _ = stats(&workspace, std::time::UNIX_EPOCH);
        bench.check_outside();
        bench.changed();
    });
});
