//! The diffs that outcome lines carry.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use patch_engine::commit::TransactionId;
use patch_engine::{Images, Plan, Transition};

use super::json;
use super::strings::Strings;
use crate::answer::changes::{MAX_DIFF, capped_text};

/// The size of a change above which its diff is left out.
const MAX_DIFFED: u64 = 1 << 20;

/// The size of all diffs of one call together.
pub(super) const MAX_DIFFS: usize = 4 << 20;

/// A thread costs about as much as the diffs of a few small changes.
const CHANGES_WORTH_A_THREAD: usize = 32;

/// The size of the files before a change from which on a thread is worth it: the header of a hunk
/// has the number of its line and the function above it.
const SIZE_WORTH_A_THREAD: u64 = 4 << 20;

/// The diffs of a plan's changes, made while the plan is committed if a thread is worth it.
#[derive(Debug)]
pub(super) struct Diffs {
    plan: Arc<Plan>,
    thread: Option<JoinHandle<Made>>,
}

#[derive(Debug)]
struct Made {
    fields: Strings,
    /// The length of all diffs together, without escapes.
    length: usize,
}

impl Diffs {
    pub(super) fn begin(plan: &Arc<Plan>) -> Self {
        let make = || {
            let plan = Arc::clone(plan);
            thread::Builder::new().spawn(move || Made::new(plan.images(), MAX_DIFFS)).ok()
        };
        let images = plan.images();
        // Files that would have to be read are being renamed while the plan is committed.
        let early = |change| images.is_in_memory(change) || images.compared(change) > MAX_DIFFED;
        let size: u64 = plan.transitions().iter().filter_map(Transition::size_before).sum();
        let worth_it = (plan.changes().len() >= CHANGES_WORTH_A_THREAD
            || size >= SIZE_WORTH_A_THREAD)
            && plan.changes().iter().all(early);
        Self { plan: Arc::clone(plan), thread: worth_it.then(make).flatten() }
    }

    /// Returns each diff as a field for its change's line, after transaction `id`. A diff that does
    /// not fit into the rest of `room` is left out: its field is empty.
    pub(super) fn finish(self, id: TransactionId, room: &mut usize) -> Strings {
        let made = self.thread.map(|thread| thread.join().expect("a diff does not panic"));
        let made = made.filter(|made| made.length <= *room);
        let made = made.unwrap_or_else(|| Made::new(self.plan.images_after(id), *room));
        *room -= made.length;
        made.fields
    }
}

impl Made {
    /// A diff that is left out takes no room from those after it.
    fn new(images: Images<'_>, room: usize) -> Self {
        let changes = images.plan().changes();
        let mut fields = Strings::default();
        let (mut diff, mut length) = (Vec::new(), 0);
        for change in changes {
            fields.push(|out| {
                let left = room - length;
                if images.compared(change) > MAX_DIFFED
                    || images.least_diff(change).min(MAX_DIFF) > left
                {
                    return;
                }
                diff.clear();
                // If the bytes are gone, the line has the hashes and no diff.
                if images.write_diff(change, &mut diff).is_err() {
                    return;
                }
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

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at files behind the guard's back")]
mod tests {
    use patch_engine::commit::{CommitOptions, Durability, KeyPlace, StatePlace, Workspace};
    use patch_engine::{ApplyOptions, Options};

    use super::*;

    /// Deletes files of these sizes; only so many bytes of them are kept in memory.
    fn deleted(sizes: &[usize], max_memory: u64) -> (tempfile::TempDir, Arc<Plan>, TransactionId) {
        let dir = tempfile::tempdir().unwrap();
        let mut text = String::from("*** Begin Patch\n");
        for (n, &size) in sizes.iter().enumerate() {
            std::fs::write(
                dir.path().join(format!("f{n}")),
                "a line\n".repeat(size.div_ceil(7)).split_at(size).0,
            )
            .unwrap();
            text += &format!("*** Delete File: f{n}\n");
        }
        text += "*** End Patch\n";
        let (policy, key) = (patch_engine::policy(), KeyPlace::Nowhere);
        let workspace =
            Workspace::open_keyed(dir.path(), policy, StatePlace::default(), key).unwrap();
        let options = Options { max_memory, ..Options::default() };
        let patch = patch_engine::parse(&text, &options.parse).unwrap();
        let commit = CommitOptions { durability: Durability::Process, ..CommitOptions::default() };
        let settings = ApplyOptions { commit, ..ApplyOptions::new(options.clone()) };
        let report = workspace.apply(&patch, &settings, &mut ()).unwrap().remove(0);
        (dir, report.plan, report.transaction.unwrap())
    }

    /// Also if a plan has so many changes that their diffs are made while it is committed.
    #[test]
    fn files_that_are_not_in_memory_are_read_where_the_commit_left_them() {
        let (small, large) = (vec![10; 40], [vec![10; 39], vec![1 << 20]].concat());
        let few = vec![1 << 20; 4];
        for (sizes, max_memory, wanted) in [
            (&small, 0, 40),
            (&small, 1000, 40),
            (&large, 0, 40),
            (&large, 1000, 40),
            (&few, 0, 4),
            (&few, 1 << 30, 4),
        ] {
            let (_dir, plan, id) = deleted(sizes, max_memory);
            let mut room = MAX_DIFFS;
            let fields = Diffs::begin(&plan).finish(id, &mut room);
            let made = fields.iter().filter(|field| !field.is_empty()).count();
            assert_eq!(made, wanted, "{max_memory}");
        }
    }

    #[test]
    fn diffs_fit_into_what_is_left_also_when_they_were_made_before() {
        let (_dir, plan, id) = deleted(&[100; 40], 1 << 20);
        let all = Made::new(plan.images_after(id), MAX_DIFFS).length;
        for room in [MAX_DIFFS, all, all - 1, all / 2, 0] {
            let expected = Made::new(plan.images_after(id), room);
            let mut left = room;
            let fields = Diffs::begin(&plan).finish(id, &mut left);
            assert!(fields.iter().eq(expected.fields.iter()), "{room}");
            assert_eq!(left, room - expected.length);
        }
    }
}
