//! The threads that calls run on, because they may wait for disks and locks.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::{Semaphore, oneshot};

/// How many calls run at once.
const AT_ONCE: u32 = 8;

/// The threads of the calls. (tokio's pool would do, but panics when the system gives no thread.)
#[derive(Debug, Clone)]
pub(crate) struct Workers {
    free: Arc<Semaphore>,
    queue: Arc<Queue>,
}

/// The calls that wait for a thread, and the threads that wait for a call.
#[derive(Debug, Default)]
struct Queue {
    jobs: Mutex<Jobs>,
    arrived: Condvar,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    /// How many threads wait, or will do so next, less the threads with a call left for them.
    idle: usize,
}

/// A call. It gets the queue that its thread goes back to, and says when it does.
type Job = Box<dyn FnOnce(Option<&Queue>) + Send>;

impl std::fmt::Debug for Jobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jobs").field("idle", &self.idle).finish_non_exhaustive()
    }
}

impl Queue {
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the calls left for this thread. The thread ends with the process.
    fn work(&self) {
        let mut jobs = self.jobs();
        loop {
            if let Some(job) = jobs.waiting.pop_front() {
                drop(jobs);
                job(Some(self));
                jobs = self.jobs();
            } else {
                jobs = self.arrived.wait(jobs).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl Workers {
    pub(crate) fn new() -> Self {
        Self { free: Arc::new(Semaphore::new(AT_ONCE as usize)), queue: Arc::default() }
    }

    /// Runs `work` on another thread, or on this one if the system gives none. `None` after a
    /// panic.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = self.free.clone().acquire_owned().await.expect("it is never closed");
        let (done, ran) = oneshot::channel();
        self.start(Box::new(move |queue| {
            let result = work();
            // Before the answer: the next call finds this thread then.
            queue.into_iter().for_each(|queue| queue.jobs().idle += 1);
            // The receiver is gone when the caller stopped waiting.
            let _ = done.send(result);
            drop(permit);
        }));
        ran.await.ok()
    }

    /// Leaves a job for a thread that waits, or for a new one.
    fn start(&self, job: Job) {
        let mut jobs = self.queue.jobs();
        jobs.waiting.push_back(job);
        if jobs.idle > 0 {
            jobs.idle -= 1;
            drop(jobs);
            return self.queue.arrived.notify_one();
        }
        drop(jobs);
        let queue = self.queue.clone();
        if thread::Builder::new().name("mcp-call".into()).spawn(move || queue.work()).is_err() {
            // Another thread may have taken the job meanwhile.
            let job = self.queue.jobs().waiting.pop_front();
            job.into_iter().for_each(|job| job(None));
        }
    }

    /// Waits until no call is at work.
    pub(crate) async fn finished(&self) {
        drop(self.free.acquire_many(AT_ONCE).await);
    }
}
