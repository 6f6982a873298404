//! What a grammar for some files lets through applies to these files.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "how much was tried")]

mod history;
mod law;
mod sentences;

/// Files beside this one are modules.
#[test]
fn no_file_is_forgotten() {
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fit/main.rs");
    assert_eq!(testutils::modules::forgotten(list), [""; 0]);
}
