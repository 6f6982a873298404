#![doc = include_str!("../README.md")]
// The command line: arguments in, rendering out, nothing else.
#![forbid(unsafe_code)]
// This is the only crate allowed to print.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod approve;
mod args;
mod below;
mod client_file;
mod clients;
mod clipboard;
mod commands;
mod completion;
mod drop_in;
mod elsewhere;
#[cfg(feature = "tools")]
mod events;
#[cfg(not(feature = "tools"))]
#[path = "no_events.rs"]
mod events;
mod exit;
mod expect;
mod failure;
mod form;
mod global;
mod host;
mod input;
mod interactive;
mod interrupt;
mod json;
mod live;
mod outside;
mod platform;
mod progress;
mod render;
mod settings;
mod source;

/// The allocator of musl asks the kernel for nearly every block, and one lock for all threads
/// (dlmalloc) takes a fifth of the time of a patch of many files. `.cargo/config.toml` keeps this
/// one from starting with a page of two megabytes.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The memory functions of musl are slow.
#[cfg(all(target_env = "musl", target_arch = "x86_64"))]
use musl_memory as _;

fn main() {
    platform::outlive_size_limit();
    let args: Vec<_> = std::env::args_os().collect();
    let exit = if let Some(shell) = std::env::var_os(completion::VARIABLE) {
        commands::complete(&shell, &args)
    } else if drop_in::is_called(&args) {
        // That tool has no other code for a failure.
        match render::end(drop_in::run(&args)) {
            exit::Exit::Failed => exit::Exit::DoesNotApply,
            exit => exit,
        }
    } else {
        commands::run(args)
    };
    render::end(exit).now()
}
