//! Helpers for the tests of several crates.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "tests look at files from outside, and say what they skip"
)]

pub mod fragments;
pub mod holds;
pub mod home;
pub mod modules;
#[cfg(feature = "order")]
pub mod order;
pub mod posix;
pub mod share;
pub mod signals;
pub mod skip;
pub mod stop;
pub mod takers;
pub mod temp;
pub mod tools;
pub mod tree;
#[cfg(feature = "write")]
pub mod write;
