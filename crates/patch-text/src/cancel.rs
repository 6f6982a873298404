//! Giving work up.

use std::fmt;

/// Tells whether the work is given up. It is asked every few milliseconds; a result of work that
/// was given up is not complete. `()` never gives up.
pub trait Cancel: fmt::Debug + Sync {
    /// Returns whether the work is given up.
    fn is_cancelled(&self) -> bool;
}

impl Cancel for () {
    fn is_cancelled(&self) -> bool {
        false
    }
}
