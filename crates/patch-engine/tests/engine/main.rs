//! The engine, from outside: where hunks go, what is planned, asked, committed, recovered and
//! undone. One binary, a module for each.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "tests look at files from outside"
)]

mod applied;
mod approval;
mod backslashes;
mod binary;
mod bytes;
mod capability;
mod carry;
mod committer;
mod cut;
mod diffs;
mod fitting;
mod for_author;
mod functions;
mod memory;
mod normalised;
mod placement;
mod prefetch;
mod refused;
mod reverse;
mod snapshots;
mod transaction;
mod turn_diff;
mod twice;
mod unchanged;
mod unidiff_zero;
mod verbs;
mod whitespace;
mod written;

/// Files beside this one, and in the folder beneath, are modules.
#[test]
fn no_file_is_forgotten() {
    for list in ["main.rs", "transaction/mod.rs"] {
        let path = format!("{}/tests/engine/{list}", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(testutils::modules::forgotten(path), [""; 0], "{list}");
    }
}
