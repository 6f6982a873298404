//! The part of the long tests to run.

/// Whether the long tests run whole.
pub fn whole() -> bool {
    std::env::var_os("APPLY_PATCH_LONG_TESTS").is_some()
}

/// Returns the number of random cases to try: a thirtieth of `all`, unless the long tests run whole.
pub fn share(all: u32) -> u32 {
    if whole() { all } else { all / 30 }
}

/// Returns the step between the cases of a series: `nth`, unless the long tests run whole.
pub fn every(nth: usize) -> usize {
    if whole() { 1 } else { nth }
}

/// Returns the step between the cases of a series: one, except in Wine, where a case takes some
/// hundred times as long.
pub fn stride() -> usize {
    if cfg!(windows) && !whole() { 13 } else { 1 }
}
