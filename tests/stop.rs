//! What runs beside a test; the tests of the crates include this too.

use std::sync::atomic::{AtomicBool, Ordering};

/// Raises the flag that ends another thread, whatever happens: a test that fails while it has such a thread would
/// wait for it otherwise.
pub(crate) struct Stop<'s>(pub(crate) &'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
