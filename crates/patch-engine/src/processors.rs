//! How much of the work can be done at the same time.

use std::sync::LazyLock;
use std::thread;

/// Returns how many threads can run at the same time.
pub(crate) fn processors() -> usize {
    // The standard library reads half a dozen files for each answer.
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    *PROCESSORS
}
