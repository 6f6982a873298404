//! Transactions: all or nothing, also when they fail or are cut off; and back.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "tests look at files from outside"
)]

mod basics;
mod crowd;
mod faults;
mod forged;
mod killed;
mod laws;
mod power;
mod processes;
mod space;
mod speed;
mod support;
mod undo;
