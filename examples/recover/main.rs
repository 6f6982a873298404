//! A scripted agent whose patches are all wrong, and who recovers from each by its hints alone.
//!
//! ```text
//! cargo run -p apply-patch --example recover
//! ```

#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the example makes a workspace of its own, and prints"
)]

mod session;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    print!("{}", session::run(dir.path())?);
    Ok(())
}
