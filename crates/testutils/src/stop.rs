//! Threads and processes beside a test.

use std::sync::atomic::{AtomicBool, Ordering};

/// Raises the flag that ends another thread, whatever happens: a test that fails while it has such
/// a thread would wait for it otherwise.
pub struct Stop<'s>(pub &'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
