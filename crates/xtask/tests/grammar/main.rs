//! The exported grammars, and the parser beside them. One binary, a module for each.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests read the repository, and tell what they counted"
)]

mod constrained;
mod equivalence;
mod export;
mod shape;
mod tight;

/// Files beside this one are modules.
#[test]
fn no_file_is_forgotten() {
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/grammar/main.rs");
    assert_eq!(testutils::modules::forgotten(list), [""; 0]);
}
