//! Creates new files ahead of the writing thread.
//!
//! The kernel takes about as long to create a small file as to write it, and does both at the same
//! time if two threads ask. Both threads create in one directory only one after the other, so one
//! of them creates all. Errors are dropped here: the writing thread then creates the file itself,
//! in its turn, and reports them.

use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::vec;

use fs_guard::{NewFile, Spot};

use crate::plan::Plan;
use crate::processors::processors;

/// A thread costs as much as a few dozen small files.
const FILES_WORTH_A_THREAD: usize = 128;

/// How many files are passed on together: to wake a thread costs as much as to create one.
const FILES_AT_ONCE: usize = 16;

/// How many times as many files wait to be written. They are open meanwhile.
const WAITING: usize = 2;

impl Plan {
    /// Returns whether a commit to a directory keeps two threads busy until it is
    /// [intended](crate::CommitLog::intend).
    #[must_use]
    pub fn is_staged_by_two_threads(&self) -> bool {
        let new = self.transitions().iter().filter(|transition| transition.after.is_some());
        let is_worth_it = new.count() >= FILES_WORTH_A_THREAD && processors() > 1;
        is_worth_it && self.files().directory().is_some()
    }
}

/// A file to be created.
pub(super) struct ToCreate {
    /// The index of its transition.
    pub(super) index: usize,
    pub(super) spot: Spot,
    pub(super) mode: u32,
}

/// The files created ahead, in the order of their use.
#[derive(Default)]
pub(super) struct CreatedAhead {
    files: Option<Receiver<Vec<(usize, NewFile)>>>,
    next: vec::IntoIter<(usize, NewFile)>,
}

impl CreatedAhead {
    /// Returns the file of a transition, if created.
    pub(super) fn take(&mut self, index: usize) -> Option<NewFile> {
        if self.next.as_slice().is_empty() {
            self.next = self.files.as_ref()?.recv().ok()?.into_iter();
        }
        let (next, _) = self.next.as_slice().first()?;
        if *next != index {
            return None;
        }
        self.next.next().map(|(_, new)| new)
    }
}

/// Calls `write` while a thread creates files ahead.
pub(super) fn create_ahead<T>(
    files: impl Iterator<Item = ToCreate> + Send,
    write: impl FnOnce(&mut CreatedAhead) -> T,
) -> T {
    let (sender, receiver) = sync_channel(WAITING);
    thread::scope(|scope| {
        // Without this thread there is only less help.
        let thread = thread::Builder::new().spawn_scoped(scope, || create(files, sender));
        let files = thread.is_ok().then_some(receiver);
        write(&mut CreatedAhead { files, ..CreatedAhead::default() })
    })
}

/// Creates files, and sends some at a time.
fn create(files: impl Iterator<Item = ToCreate>, sender: SyncSender<Vec<(usize, NewFile)>>) {
    let mut created = Vec::new();
    for ToCreate { index, spot, mode } in files {
        let Ok(new) = spot.create(mode) else { break };
        created.push((index, new));
        // Fails if nothing more is written.
        if created.len() == FILES_AT_ONCE && sender.send(mem::take(&mut created)).is_err() {
            return;
        }
    }
    let _ = sender.send(created);
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at files behind the guard's back")]
mod tests {
    use super::*;
    use crate::commit::{KeyPlace, StatePlace, Workspace};

    /// Creates 200 files, of which number `there` exists, and takes those that `wants` says.
    fn taken(there: usize, wants: impl Fn(usize) -> bool) -> Vec<usize> {
        let dir = tempfile::tempdir().unwrap();
        let place = StatePlace::default();
        let workspace =
            Workspace::open_keyed(dir.path(), crate::policy(), place, KeyPlace::Nowhere).unwrap();
        let state = workspace.create_state_dir().unwrap();
        std::fs::write(dir.path().join(format!(".apply-patch/{there}")), "").unwrap();
        let files = (0..200).filter(|index| index % 3 != 0).map(|index| ToCreate {
            index,
            spot: state.spot(&index.to_string()),
            mode: 0o600,
        });
        create_ahead(files, |created| {
            (0..200).filter(|&index| wants(index) && created.take(index).is_some()).collect()
        })
    }

    #[test]
    fn files_are_taken_in_order_up_to_the_first_that_cannot_be_created() {
        for there in [1, 14, 16, 50, 199, 1000] {
            let before: Vec<usize> = (0..there.min(200)).filter(|index| index % 3 != 0).collect();
            assert_eq!(taken(there, |_| true), before, "{there}");
        }
    }

    #[test]
    fn the_thread_ends_when_no_more_files_are_taken() {
        for wanted in [0, 1, 30] {
            assert_eq!(
                taken(1000, |index| index < wanted).len(),
                (0..wanted).filter(|index| index % 3 != 0).count()
            );
        }
    }
}
