//! An agent around the patch tools, with a model that follows a script: it calls a shell and tools,
//! rightly and wrongly; patches are found in shell calls, approved or declined, applied, and
//! reported as events.
//!
//! ```text
//! cargo run -p apply-patch --example agent [-- DIR]
//! ```
//!
//! `DIR` is an empty directory to work in; a temporary one when left out. The transcript goes to
//! standard output; `docs/agents.md` walks through it.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "it shows what happens")]

mod session;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let temporary = tempfile::tempdir()?;
    let dir = std::env::args_os().nth(1).map_or_else(|| temporary.path().to_path_buf(), Into::into);
    print!("{}", session::run(&dir)?);
    Ok(())
}
