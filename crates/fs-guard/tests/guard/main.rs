//! The guard against what a repository, a patch or another process may do.
#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "tests look at files from outside"
)]

mod files;
mod links;
mod names;
mod races;
#[cfg(target_os = "linux")]
mod sandbox;
mod staging;
#[path = "../../../../tests/stop.rs"]
mod stop;
mod support;
