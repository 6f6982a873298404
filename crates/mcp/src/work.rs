//! The threads that calls run on, because they may wait for disks and locks.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::{Semaphore, oneshot};

/// How many calls run at once.
const AT_ONCE: u32 = 8;

/// The threads of the calls. (Those of tokio's pool would do, but it panics where the system gives
/// no thread.)
#[derive(Debug, Clone)]
pub(crate) struct Workers {
    free: Arc<Semaphore>,
}

impl Workers {
    pub(crate) fn new() -> Self {
        Self { free: Arc::new(Semaphore::new(AT_ONCE as usize)) }
    }

    /// Runs `work` on another thread, or on this one if the system gives none. `None` if it
    /// panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = self.free.clone().acquire_owned().await.expect("it is never closed");
        let (done, ran) = oneshot::channel();
        let job = move || {
            // The receiver is gone when the caller stopped waiting.
            let _ = done.send(work());
            drop(permit);
        };
        // If a thread cannot be started, its closure is dropped, and this thread needs the job.
        let shared = Arc::new(Mutex::new(Some(job)));
        let take = |shared: &Mutex<Option<_>>| {
            shared.lock().unwrap_or_else(PoisonError::into_inner).take()
        };
        let theirs = shared.clone();
        let started = thread::Builder::new().name("mcp-call".into()).spawn(move || {
            if let Some(job) = take(&theirs) {
                job();
            }
        });
        if started.is_err()
            && let Some(job) = take(&shared)
        {
            job();
        }
        ran.await.ok()
    }

    /// Waits until no call is at work.
    pub(crate) async fn finished(&self) {
        drop(self.free.acquire_many(AT_ONCE).await);
    }
}
