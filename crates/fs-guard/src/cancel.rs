//! Gives up long work on request.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;

/// Whether work is to be given up. Long work polls this value: for each file, and for each megabyte
/// of a large one.
///
/// All clones have the same answer. A yes is final, and nobody is asked any more. By default
/// nothing is ever given up.
#[derive(Clone, Default)]
pub struct Cancellation(Option<Arc<Asked>>);

struct Asked {
    ask: Box<dyn Fn() -> bool + Send + Sync>,
    cancelled: AtomicBool,
}

impl Cancellation {
    /// Nothing is ever given up.
    pub const NEVER: Self = Self(None);

    /// Makes a cancellation that asks `ask`, often and from any thread.
    #[must_use]
    pub fn new(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Asked { ask: Box::new(ask), cancelled: AtomicBool::new(false) })))
    }

    /// Returns whether the work is to be given up.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let Some(asked) = &self.0 else { return false };
        if asked.cancelled.load(Ordering::Relaxed) {
            return true;
        }
        let cancelled = (asked.ask)();
        if cancelled {
            asked.cancelled.store(true, Ordering::Relaxed);
        }
        cancelled
    }

    /// Fails if the work is to be given up.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`].
    pub fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancellation").finish_non_exhaustive()
    }
}
