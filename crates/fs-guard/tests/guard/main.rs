//! The guard against what a repository, a patch or another process may do.
#![cfg(any(unix, windows))]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "tests look at files from outside"
)]

#[cfg(target_os = "linux")]
mod durable;
#[cfg(target_os = "linux")]
mod faults;
mod files;
// Wine does not tell where a link leads, nor that a link to a file is one: what is to be said of
// links there is in `windows`.
#[cfg(unix)]
mod links;
#[cfg(target_os = "linux")]
mod modes;
mod names;
#[cfg(unix)]
mod races;
#[cfg(target_os = "linux")]
mod sandbox;
mod staging;
mod support;
mod tree;
#[cfg(windows)]
mod windows;
