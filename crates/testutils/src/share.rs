//! How much of the long tests is run.

/// Whether the long tests run whole.
pub fn whole() -> bool {
    std::env::var_os("APPLY_PATCH_LONG_TESTS").is_some()
}

/// How many of `all` cases are tried: a thirtieth, unless the long tests run whole.
pub fn share(all: u32) -> u32 {
    if whole() { all } else { all / 30 }
}

/// Of cases that follow one another, which are tried: each `nth`, unless the long tests run whole.
pub fn every(nth: usize) -> usize {
    if whole() { 1 } else { nth }
}

/// Of the cases that follow one another, which ones are tried: all, but in Wine, where each takes
/// some hundred times as long.
pub fn stride() -> usize {
    if cfg!(windows) && !whole() { 13 } else { 1 }
}
