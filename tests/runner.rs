//! The tests of the whole workspace: one binary, a module for each kind.
//!
//! Scenarios are data (`tests/scenarios`, see its README); conformance runs cases that were
//! observed on other appliers, where they are at hand; replay writes the commits of this repository
//! as patches and applies them; hostile has attacks, as data too (`tests/hostile`); races swap
//! directories meanwhile; unsafe_code looks into the manifests, imports into the sources; forms has
//! the instructions' examples, diffs, operations and extreme texts; docs runs what the
//! documentation shows, and pictures draws it; faults lets every system call go wrong; large has
//! files that leave no room in memory for others.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at files behind the guard's back"
)]
#![allow(clippy::print_stderr, reason = "a test that skips says so")]

mod advice;
mod again;
mod agent;
mod amend;
mod answers;
mod approve;
mod below;
mod calls;
mod commands;
mod completion;
mod config;
mod conformance;
mod contract;
mod dialects;
mod diffs;
mod docs;
mod edits;
mod faults;
mod files;
mod fit;
mod format_with;
mod forms;
mod git;
mod git_runs;
mod history;
mod hostile;
mod imports;
mod interactive;
mod keys;
mod large;
mod lost;
mod mails;
mod obeyed;
mod obeyed_tools;
mod overlooked;
mod pasted;
mod paths;
mod pictures;
mod places;
mod program;
mod proposals;
mod races;
mod replay;
mod review;
mod run;
mod sandbox;
mod scenarios;
mod serve;
mod shown;
mod signals;
mod slips;
mod statistics;
mod stream;
mod terminal;
mod tool;
mod trees;
mod turns;
mod undo;
mod unidiff_zero;
mod uninstall;
mod unsafe_code;
mod unseen;
mod verify;
mod whole_files;

/// Files of Rust beside this one are modules; the folders have data too.
#[test]
fn no_file_is_forgotten() {
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/runner.rs");
    let mut forgotten = testutils::modules::forgotten(list);
    forgotten.retain(|name| name.ends_with(".rs"));
    assert_eq!(forgotten, [""; 0]);
}
