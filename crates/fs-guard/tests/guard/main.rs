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
mod staging;
mod support;
