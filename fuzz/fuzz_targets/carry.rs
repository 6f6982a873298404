//! Small files, an edit, and what became of the base: what is carried is what a slow reading of the
//! rule gives.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use patch_engine::carry::carry;
use patch_engine::{Edit, Splices};

#[path = "../../crates/patch-text/src/carry/slowly.rs"]
mod slowly;

use slowly::{Replaced, lines};

#[derive(Debug, Arbitrary)]
struct Input {
    base: Vec<u8>,
    /// Where the current file differs from the base: how many lines stay, how many go, and what
    /// comes.
    later: Vec<(u8, u8, Vec<u8>)>,
    /// The same of the edit.
    changes: Vec<(u8, u8, Vec<u8>)>,
    ends: (bool, bool),
}

/// Lines of four kinds.
fn text(kinds: &[u8]) -> Vec<u8> {
    kinds.iter().take(30).flat_map(|kind| [b'a' + kind % 4, b'\n']).collect()
}

/// Lines that are replaced, with at least one between two of them.
fn replaced(base: &[u8], changes: &[(u8, u8, Vec<u8>)]) -> Vec<Replaced> {
    let len = lines(base).len();
    let mut at = 0;
    let mut replaced = Vec::new();
    for (stay, gone, new) in changes.iter().take(8) {
        let start = at + usize::from(stay % 8);
        let end = (start + usize::from(gone % 4)).min(len);
        let behind_open_end = start == len && len > 0 && !base.ends_with(b"\n");
        if start <= len && !behind_open_end && (start < end || !new.is_empty()) {
            replaced.push(Replaced { lines: start..end, new: text(new) });
            at = end + 1;
        }
    }
    replaced
}

fn edit_of(base: &[u8], changes: &[Replaced]) -> Edit {
    let old = lines(base);
    let byte = |line: usize| old[..line].iter().map(|line| line.len()).sum();
    let mut splices = Splices::new();
    for change in changes {
        splices.push(byte(change.lines.start)..byte(change.lines.end), change.new.clone());
    }
    Edit {
        sources: (0..changes.len()).map(|change| vec![change]).collect(),
        splices,
        ..Edit::default()
    }
}

fuzz_target!(|input: Input| {
    let mut base = text(&input.base);
    if !input.ends.0 {
        base.pop();
    }
    let mut current = edit_of(&base, &replaced(&base, &input.later)).splices.apply(&base);
    if !input.ends.1 && current.ends_with(b"\n") {
        current.pop();
    }
    let changes = replaced(&base, &input.changes);
    let result = carry(&base, &current, &edit_of(&base, &changes));
    let found = result.ok().map(|carried| carried.splices.apply(&current));
    assert_eq!(found, slowly::carried(&base, &current, &changes));
});
