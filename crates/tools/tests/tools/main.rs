//! The file tools, called as an agent calls them: by name, with JSON, and looked at by their
//! answers and the disk.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at files behind the guard's back"
)]
#![allow(clippy::print_stderr, reason = "a test that skips says so")]

mod arguments;
mod audit;
mod carrying;
mod catalogue;
mod each_tool;
mod editor;
mod encodings;
mod events;
mod finding;
mod guard;
mod hints;
mod normalised;
mod paging;
mod patching;
mod printed;
mod purge;
mod reach;
mod reader;
mod reading;
mod searching;
mod shown;
mod stale;
mod strict;
mod support;
mod tag_laws;
mod tags;
mod trash;
mod turns;
mod undo;
mod writing;
