//! Threads and processes beside a test.

use std::sync::atomic::{AtomicBool, Ordering};

/// Raises a flag when dropped, to end another thread. A failing test would wait for its thread
/// otherwise.
pub struct Stop<'s>(pub &'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
