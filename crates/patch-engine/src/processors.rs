//! How much of the work can be done at the same time.

use std::sync::LazyLock;
use std::thread;

/// Returns how many threads can run at the same time. A browser gets no code for a second one.
pub(crate) fn processors() -> usize {
    if cfg!(target_family = "wasm") {
        return 1;
    }
    // The standard library reads half a dozen files for each answer.
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    *PROCESSORS
}
