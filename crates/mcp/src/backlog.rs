//! Limits the work under way: calls without an answer, and answers not yet read by the client.
//! Beyond the limit, no more requests are read.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;

/// The most bytes under way before the next request has to wait; one message may exceed the limit.
const MAX_BYTES: usize = 4 << 20;

/// The cost of a message besides its bytes.
const OVERHEAD: usize = 4 << 10;

/// The messages under way on one connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backlog {
    inner: Arc<BacklogQueue>,
}

#[derive(Debug, Default)]
struct BacklogQueue {
    state: Mutex<BacklogState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct BacklogState {
    bytes: usize,
    /// The number of questions without the client's answer.
    questions: usize,
    /// The ids of the requests.
    ids: HashSet<RequestId>,
    /// The client has gone, so waiting ends.
    closed: bool,
}

impl BacklogState {
    fn is_full(&self) -> bool {
        self.bytes >= MAX_BYTES && !self.closed
    }
}

impl BacklogQueue {
    fn change(&self, how: impl FnOnce(&mut BacklogState)) {
        how(&mut self.state());
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, BacklogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backlog {
    /// Counts a message, even beyond the limit.
    pub(crate) fn hold(&self, bytes: usize) -> HeldMessage {
        let bytes = bytes.saturating_add(OVERHEAD);
        self.inner.change(|state| state.bytes = state.bytes.saturating_add(bytes));
        HeldMessage { inner: self.inner.clone(), bytes, questions: 0, id: None }
    }

    /// Counts a request as soon as there is room. `None` when the client has to answer a question
    /// first: the answer may come after this request, so the stream must be read on.
    pub(crate) fn admit(&self, bytes: usize) -> Option<HeldMessage> {
        let state = self
            .inner
            .changed
            .wait_while(self.inner.state(), |state| state.is_full() && state.questions == 0);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let room = !state.is_full();
        drop(state);
        room.then(|| self.hold(bytes))
    }

    /// Counts a question to the client until the value is dropped.
    pub(crate) fn question(&self) -> HeldMessage {
        self.inner.change(|state| state.questions += 1);
        HeldMessage { inner: self.inner.clone(), bytes: 0, questions: 1, id: None }
    }

    /// Returns how many bytes are under way.
    pub(crate) fn bytes(&self) -> usize {
        self.inner.state().bytes
    }

    /// Ends all waiting.
    pub(crate) fn close(&self) {
        self.inner.change(|state| state.closed = true);
    }
}

/// A message under way, or an open question, until dropped.
#[derive(Debug)]
pub(crate) struct HeldMessage {
    inner: Arc<BacklogQueue>,
    bytes: usize,
    questions: usize,
    id: Option<RequestId>,
}

impl HeldMessage {
    /// Notes the id of a request; `false` if another request under way has the same: one answer
    /// would have to do for both.
    pub(crate) fn is_the_only(&mut self, id: &RequestId) -> bool {
        let is_new = self.inner.state().ids.insert(id.clone());
        self.id = is_new.then(|| id.clone());
        is_new
    }
}

impl Drop for HeldMessage {
    fn drop(&mut self) {
        self.inner.change(|state| {
            state.bytes = state.bytes.saturating_sub(self.bytes);
            state.questions -= self.questions;
            self.id.take().map(|id| state.ids.remove(&id));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_waits_for_room_unless_the_client_has_to_answer() {
        let backlog = Backlog::default();
        let large = backlog.admit(MAX_BYTES).expect("there is room");
        let question = backlog.question();
        assert!(backlog.admit(1).is_none(), "its answer has to be read");
        drop(question);
        let waiting = std::thread::spawn({
            let backlog = backlog.clone();
            move || backlog.admit(1)
        });
        drop(large);
        assert!(waiting.join().unwrap().is_some());
        let _large = backlog.hold(MAX_BYTES);
        backlog.close();
        assert!(backlog.admit(1).is_some(), "there is no waiting for a client that has gone");
    }
}
