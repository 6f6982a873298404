//! The agent of `examples/agent.py` and `examples/agent.mjs`, in Rust: a model that follows a
//! script calls tools in a turn, a check and a person look at each change, and in the end the
//! person undoes all of it.
//!
//! ```text
//! cargo run -p apply-patch --example turn
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "it shows what happens")]

mod session;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    print!("{}", session::run(dir.path())?);
    Ok(())
}
