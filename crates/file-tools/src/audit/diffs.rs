//! The diffs that outcome lines carry.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use patch_engine::transition::Content;
use patch_engine::{Change, Plan};

use super::json;
use super::strings::Strings;
use crate::changes::{MAX_DIFF, capped_text};

/// Diffs of larger changes are left out.
const MAX_DIFFED: u64 = 1 << 20;

/// All diffs of one call together.
pub(super) const MAX_DIFFS: usize = 4 << 20;

/// A thread costs about as much as the diffs of a few small changes.
const CHANGES_WORTH_A_THREAD: usize = 32;

/// The diffs of a plan's changes: made while it is committed, where that is worth a thread.
#[derive(Debug)]
pub(super) struct Diffs {
    plan: Arc<Plan>,
    thread: Option<JoinHandle<Made>>,
}

#[derive(Debug)]
struct Made {
    fields: Strings,
    /// How long the diffs are together, without escapes.
    length: usize,
}

impl Diffs {
    pub(super) fn begin(plan: &Arc<Plan>) -> Self {
        let make = || {
            let plan = Arc::clone(plan);
            thread::Builder::new().spawn(move || Made::new(&plan, MAX_DIFFS)).ok()
        };
        let thread = if plan.changes.len() < CHANGES_WORTH_A_THREAD { None } else { make() };
        Self { plan: Arc::clone(plan), thread }
    }

    /// Each as a field of its change's line. A diff that does not fit into what is left of `room` is left out: its
    /// field is empty.
    pub(super) fn finish(self, room: &mut usize) -> Strings {
        let made = self.thread.map(|thread| thread.join().expect("a diff does not panic"));
        let made = made.filter(|made| made.length <= *room).unwrap_or_else(|| Made::new(&self.plan, *room));
        *room -= made.length;
        made.fields
    }
}

impl Made {
    /// What is left out leaves room for those after it.
    fn new(plan: &Plan, room: usize) -> Self {
        let expected = |change| (512 + size(plan, change)).min(MAX_DIFF as u64) as usize;
        let expected = plan.changes.iter().map(expected).sum::<usize>().min(room);
        let mut fields = Strings::with_capacity(plan.changes.len(), expected + expected / 8);
        let (mut diff, mut length) = (Vec::new(), 0);
        for change in &plan.changes {
            fields.push(|out| {
                let left = room - length;
                if size(plan, change) > MAX_DIFFED || plan.least_diff(change).min(MAX_DIFF) > left {
                    return;
                }
                diff.clear();
                plan.write_diff(change, &mut diff);
                let text = capped_text(&diff);
                if text.len() <= left {
                    length += text.len();
                    json::field(out, "diff", &text);
                }
            });
        }
        Self { fields, length }
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
