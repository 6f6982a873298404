//! Plans patches against files and commits them, all or nothing.
//!
//! Each stage is a type. A [`Patch`] is text that parses. [`plan()`] reads the files and
//! returns a [`Plan`], a list of path [transitions](Transition) that can be inspected, shown and approved. A
//! [`transaction`] commits exactly that plan, or nothing of it, and can undo it.
//!
//! [`edit`](fn@edit) applies hunks to one file in memory.
#![forbid(unsafe_code)]

mod apply;
pub mod approval;
mod base;
mod buffers;
pub mod carry;
mod charset;
mod conventions;
mod diff;
mod edit;
mod encoding;
mod files;
#[cfg(test)]
#[path = "../../../tests/holds.rs"]
mod holds;
mod host;
mod kind;
mod lines;
mod locate;
mod memory;
mod near;
mod options;
mod plan;
mod planner;
mod policy;
mod prefetch;
mod reject;
mod report;
mod reverse;
#[cfg(feature = "serde")]
mod serialize;
#[cfg(test)]
#[path = "../../../tests/share.rs"]
mod share;
mod splices;
mod texts;
pub mod transaction;
mod turn_diff;
pub mod write;

pub use apply::{ApplyError, Failed, Settings, gravest};
pub use buffers::{FileEdit, HostFile, HostTree, Position, TextEdit};
pub use diff::line_counts;
pub use edit::{Edit, edit};
pub use encoding::{EncodingError, Encodings, FileText};
pub use files::Files;
pub use fs_guard::{Entry, FileKind, RelPath, Sha256, Tree};
pub use host::{CommitLog, Event, Host};
pub use kind::ErrorKind;
pub use lines::is_binary;
pub use locate::{
    Advice, Ambiguous, Candidate, Difference, HunkReject, Nearest, Note, Order, Pass, Placed, RejectReason, Rules,
    Shown,
};
pub use memory::{Changed, InMemoryError, MemoryTree, apply_in_memory};
pub use options::{
    AddNewline, Expected, FinalNewline, MAX_FILE_SIZE, MAX_MEMORY, MAX_PATCH_SIZE, Options, Profile, Snapshots,
    UnknownProfile,
};
pub use patch_grammar::{ParseError, ParseErrorKind, Patch, decode, parse};
pub use plan::builder::{Loaded, MAX_DELETED, PlanBuilder};
pub use plan::images::{ChangedFile, Content, Images};
pub use plan::{Change, ChangeKind, Plan, PlanNote, Transition};
pub use planner::plan;
pub use policy::{DEFAULT_FORBIDDEN, DEFAULT_GUARDED, STATE_DIR, key_place, policy};
pub use reject::{Irreversible, Problem, Reject, Rejects, line_words};
pub use report::Report;
pub use reverse::reverse;
pub use splices::{Splice, Splices};
pub use turn_diff::TurnDiff;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
