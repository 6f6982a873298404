//! How much of the long tests is run; every crate's tests include this.
#![allow(dead_code, reason = "each program that includes this uses a part of it")]

/// Whether the long tests run whole.
pub(crate) fn whole() -> bool {
    std::env::var_os("APPLY_PATCH_LONG_TESTS").is_some()
}

/// How many of `all` cases are tried: a tenth, unless the long tests run whole.
pub(crate) fn share(all: u32) -> u32 {
    if whole() { all } else { all / 10 }
}
