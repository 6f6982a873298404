//! The command line `apply-patch`: arguments in, rendering out, nothing else.
#![forbid(unsafe_code)]
// This is the one crate that prints.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod approve;
mod args;
mod audit;
mod commands;
mod config;
mod detect;
mod drop_in;
mod events;
mod exit;
mod expect;
mod failure;
mod input;
mod interactive;
mod interrupt;
mod json;
mod live;
mod progress;
mod render;

use std::process::ExitCode;

/// The allocator of musl asks the kernel for nearly every block. This one needs no start-up and keeps little for itself:
/// with mimalloc the smallest run took 10 MB and a large one 40 % more memory, at the same speed.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    if drop_in::is_called(&args) {
        return drop_in::run(&args).into();
    }
    commands::run(args).into()
}
