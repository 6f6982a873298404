//! Repositories from outside, beside the `git` command: what is read, written and moved in each
//! kind of repository. One binary, a module for each.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "tests look at files from outside"
)]

mod branches;
#[cfg(unix)]
mod hostile;
mod killed;
mod shapes;
mod support;
mod trees;
