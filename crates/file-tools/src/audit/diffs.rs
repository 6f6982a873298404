//! The diffs that outcome lines carry.

use std::thread;

use patch_engine::transition::Content;
use patch_engine::{Change, Plan};

use super::json;
use super::strings::Strings;
use crate::changes::{MAX_DIFF, capped_text};

/// Diffs of larger changes are left out.
const MAX_DIFFED: u64 = 1 << 20;

/// The diffs of so many changes are made before it is looked how much they leave of what may be written.
const CHANGES_AT_ONCE: usize = 256;

/// A thread costs about as much as the diffs of a few small changes.
const CHANGES_WORTH_A_THREAD: usize = 32;

/// Makes the diffs of a plan's changes, each as a field of its line. A diff that does not fit into what is left
/// of `budget` is left out: its field is empty, or missing at the end.
pub(super) fn diffs(plan: &Plan, budget: &mut usize) -> Vec<Strings> {
    let mut all = Vec::new();
    for changes in plan.changes.chunks(CHANGES_AT_ONCE) {
        let room = *budget;
        if room == 0 {
            break;
        }
        // Where little fits, little is made.
        if changes.len() < CHANGES_WORTH_A_THREAD || room < MAX_DIFF {
            all.push(Made::new(plan, changes, room).within(budget));
            continue;
        }
        let (left, right) = changes.split_at(changes.len() / 2);
        let other = || Made::new(plan, right, room);
        thread::scope(|scope| {
            let thread = thread::Builder::new().spawn_scoped(scope, other);
            all.push(Made::new(plan, left, room).within(budget));
            let right = thread.map_or_else(|_| other(), |thread| thread.join().expect("a diff does not panic"));
            all.push(right.within(budget));
        });
    }
    all
}

/// The diffs of some changes: each of them fits, but maybe not all.
struct Made {
    fields: Strings,
    /// How long each diff is, without escapes.
    lengths: Vec<usize>,
}

impl Made {
    fn new(plan: &Plan, changes: &[Change], room: usize) -> Self {
        let expected = |change| (512 + size(plan, change)).min(MAX_DIFF as u64) as usize;
        let expected = changes.iter().map(expected).sum::<usize>().min(room);
        let fields = Strings::with_capacity(changes.len(), expected + expected / 8);
        let mut made = Self { fields, lengths: Vec::with_capacity(changes.len()) };
        let mut diff = Vec::new();
        for change in changes {
            let mut length = 0;
            made.fields.push(|out| {
                if size(plan, change) > MAX_DIFFED || plan.least_diff(change).min(MAX_DIFF) > room {
                    return;
                }
                diff.clear();
                plan.write_diff(change, &mut diff);
                let text = capped_text(&diff);
                if text.len() <= room {
                    length = text.len();
                    json::field(out, "diff", &text);
                }
            });
            made.lengths.push(length);
        }
        made
    }

    /// Leaves out what does not fit; that leaves room for those after it.
    fn within(self, budget: &mut usize) -> Strings {
        let all: usize = self.lengths.iter().sum();
        if all <= *budget {
            *budget -= all;
            return self.fields;
        }
        let mut kept = Strings::default();
        for (field, length) in self.fields.iter().zip(self.lengths) {
            kept.push(|out| {
                if length <= *budget {
                    *budget -= length;
                    out.extend_from_slice(field);
                }
            });
        }
        kept
    }
}

/// About how much is compared for the diff of a change.
fn size(plan: &Plan, change: &Change) -> u64 {
    let transition = &plan.transitions[change.transition];
    let before = transition.before.as_ref().map_or(0, |before| before.metadata.size);
    match &transition.after {
        Some(after) => match &after.content {
            Content::Spliced { splices, .. } | Content::SplicedFrom { splices, .. } => {
                splices.iter().map(|splice| (splice.end - splice.start + splice.text.len()) as u64).sum()
            }
            Content::CopyOf(_) => 0,
            _ => after.size + before,
        },
        None => before,
    }
}
