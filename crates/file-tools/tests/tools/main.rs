//! The file tools, called as an agent calls them: by name, with JSON, and looked at by their answers and the disk.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests look at files behind the guard's back")]
#![allow(clippy::print_stderr, reason = "a test that skips says so")]

mod audit;
mod carrying;
mod catalogue;
mod editor;
mod encodings;
mod events;
mod finding;
mod guard;
mod hints;
#[path = "../../../../tests/holds.rs"]
mod holds;
#[path = "../../../../tests/order.rs"]
mod order;
mod paging;
mod patching;
#[path = "../../../../tests/posix.rs"]
mod posix;
mod reach;
mod reading;
mod searching;
#[path = "../../../../tests/share.rs"]
mod share;
mod shown;
mod stale;
mod strict;
mod support;
#[path = "../../../../tests/temp.rs"]
mod temp;
mod trash;
#[path = "../../../../tests/tree.rs"]
mod tree;
mod undo;
mod writing;
