//! Plans patches against files and commits them, all or nothing.
//!
//! Each stage is a type. A [`Patch`] is text that parses. [`plan()`] reads the files and returns a
//! [`Plan`], a list of path [transitions](Transition) that can be inspected, shown and approved. A
//! [transaction](commit) commits exactly that plan, or nothing of it, and can undo it.
//!
//! [`edit`](fn@edit) applies hunks to one file in memory.
#![forbid(unsafe_code)]

pub mod carry;
pub mod commit;
mod locate;
mod plan;
pub mod remedy;
mod show;
mod text;

pub use commit::apply::{ApplyOptions, Atomicity, Failed};
pub use commit::buffers::{FileEdit, HostFile, HostTree, Position, TextEdit};
pub use commit::committer::{Committer, NotCommitted, commit_to};
pub use commit::error::gravest;
pub use commit::host::{CommitLog, Event, Host, intend};
pub use commit::memory::{Changed, MemoryTree, apply_in_memory};
pub use commit::report::Report;
pub use fs_guard::{Cancellation, Entry, FileKind, RelPath, Sha256, Tree};
pub use locate::edit::{Edit, edit};
pub use locate::{
    Advice, Ambiguous, Candidate, Difference, Edge, HunkReject, LineNumber, Mangled, Nearest, Note,
    Order, Pass, Placed, Reindented, RejectReason, Rules, Shown,
};
pub use patch_grammar::{ParseError, ParseErrorKind, Patch, decode, parse};
pub use plan::binary::BinaryProblem;
pub use plan::builder::{Loaded, MAX_DELETED, PlanBuilder};
pub use plan::hunk_result::{HunkOutcome, HunkResult};
pub use plan::images::{ChangedFile, Content, Images};
pub use plan::kind::ErrorKind;
pub use plan::options::{
    AddNewline, Expected, FinalNewline, MAX_FILE_SIZE, MAX_MEMORY, MAX_PATCH_SIZE, Options,
    Profile, Snapshots,
};
pub use plan::planner::plan;
pub use plan::policy::{DEFAULT_FORBIDDEN, DEFAULT_GUARDED, STATE_DIR, key_place, policy};
pub use plan::reject::{Irreversible, Problem, Reject, Rejects, line_words};
pub use plan::relative::relative;
pub use plan::reverse::reverse;
pub use plan::whitespace::WhitespaceErrors;
pub use plan::{Change, ChangeKind, Plan, PlanNote, Transition};
pub use remedy::Remedy;
pub use show::diff::{changed_lines, line_counts};
pub use show::turn_diff::TurnDiff;
pub use text::charset::Charset;
pub use text::encoding::{Encodings, FileText};
pub use text::files::Files;
pub use text::lines::is_binary;
pub use text::splices::{Splice, Splices};
pub use text::whitespace::{Whitespace, WhitespaceRule, WhitespaceRules, WhitespaceRulesError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
