#![doc = include_str!("../README.md")]
//!
//! # Unified and git diffs
//!
//! A diff is read into the same [`Patch`], and a plan is shown as one:
//!
//! ```
//! use std::sync::Arc;
//! use patch_engine::patch_grammar::diff::{self, DiffOptions};
//! use patch_engine::{Files, MemoryTree, Options, plan, policy};
//!
//! let tree: MemoryTree = [("a.txt", "old\n")].into_iter().collect();
//! let text = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n";
//! let patch = diff::parse(text, &DiffOptions::default())?;
//! let files = Files::of_tree(Arc::new(tree), policy());
//! let plan = plan(files, &patch, &Options::default())?;
//! let shown = String::from_utf8(plan.images().diffs()?)?;
//! assert!(shown.ends_with("@@ -1 +1 @@\n-old\n+new\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Files of your own
//!
//! Whatever answers three questions about a path is a [`Tree`]. The plan says what changes; to
//! write that down is up to the owner of the files:
//!
//! ```
//! use std::{io, sync::Arc};
//! use patch_engine::{Entry, FileKind, Files, Options, Tree, parse, plan, policy};
//!
//! #[derive(Debug)]
//! struct OneFile(Vec<u8>);
//!
//! impl Tree for OneFile {
//!     fn entry(&self, path: &str) -> io::Result<Option<Entry>> {
//!         let size = self.0.len() as u64;
//!         let entry = Entry { kind: FileKind::File, mode: 0o644, size };
//!         Ok((path == "a.txt").then_some(entry))
//!     }
//!
//!     fn read(&self, _: &str) -> io::Result<Arc<Vec<u8>>> {
//!         Ok(Arc::new(self.0.clone()))
//!     }
//!
//!     fn list(&self, _: &str) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
//!         Ok(vec![(b"a.txt".to_vec(), FileKind::File)])
//!     }
//! }
//!
//! let options = Options::default();
//! let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch\n";
//! let patch = parse(patch, &options.parse)?;
//! let files = Files::of_tree(Arc::new(OneFile(b"old\n".to_vec())), policy());
//! let plan = plan(files, &patch, &options)?;
//! for file in plan.images().changed()? {
//!     let bytes = file.after.map(|after| after.bytes);
//!     assert_eq!((file.path.as_str(), bytes.as_deref().map(|b| &b[..])), ("a.txt", Some(&b"new\n"[..])));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Approval
//!
//! A [`Host`] sees exactly the plan that will be committed:
//!
//! ```
//! use patch_engine::commit::{Error, Workspace, approval::{Decision, Request}};
//! use patch_engine::{ApplyOptions, Host, fs_guard, parse, policy};
//!
//! struct NoDeletes;
//!
//! impl Host for NoDeletes {
//!     fn approve(&mut self, request: &Request<'_>) -> Result<Decision, fs_guard::Error> {
//!         let deletes = request.plan.changes().iter().any(|change| change.after.is_none());
//!         Ok(if deletes { Decision::Decline } else { Decision::Approve })
//!     }
//! }
//!
//! # let dir = tempfile::tempdir()?;
//! # let dir = dir.path();
//! # std::fs::write(dir.join("a.txt"), "a")?;
//! let settings = ApplyOptions::default();
//! let patch = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n";
//! let patch = parse(patch, &settings.options.parse)?;
//! let failed = Workspace::open(dir, policy())?.apply(&patch, &settings, &mut NoDeletes);
//! assert!(matches!(failed.unwrap_err().error, Error::Declined));
//! assert!(dir.join("a.txt").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # In an async runtime
//!
//! Everything here blocks, and everything can be sent to another thread. A [`Cancellation`] that
//! the [host](Host::cancellation) returns gives the change up:
//!
//! ```
//! use std::path::PathBuf;
//! use patch_engine::{ApplyOptions, Report, commit::Workspace, parse, policy};
//!
//! type Failure = Box<dyn std::error::Error + Send + Sync>;
//!
//! async fn apply(dir: PathBuf, patch: String) -> Result<Vec<Report>, Failure> {
//!     tokio::task::spawn_blocking(move || {
//!         let settings = ApplyOptions::default();
//!         let patch = parse(patch, &settings.options.parse)?;
//!         Ok(Workspace::open(&dir, policy())?.apply(&patch, &settings, &mut ())?)
//!     })
//!     .await?
//! }
//! ```
#![forbid(unsafe_code)]

pub mod commit;
mod files;
mod plan;
mod policy;
mod processors;
pub mod remedy;
mod show;

pub use {fs_guard, patch_grammar, patch_text, workspace_trash};

pub use commit::apply::{ApplyOptions, Atomicity, Failed};
pub use commit::buffers::{FileEdit, HostFile, HostTree, Position, TextEdit};
pub use commit::committer::{Committer, NotCommitted, approved, commit_to};
pub use commit::error::gravest;
pub use commit::host::{CommitLog, Event, GitCommit, Host, intend};
pub use commit::memory::{Changed, MemoryTree, apply_in_memory};
pub use commit::report::Report;
pub use files::Files;
pub use files::encodings::Encodings;
pub use fs_guard::{Cancellation, Entry, FileKind, RelPath, Sha256, Tree};
pub use patch_grammar::binary::is_binary;
pub use patch_grammar::{ParseError, ParseErrorKind, Patch, decode, parse};
pub use patch_text::carry;
pub use patch_text::diff::changed_ranges;
pub use patch_text::locate::edit::{Edit, edit};
pub use patch_text::locate::edit_rules::FinalNewline;
#[doc(hidden)]
pub use patch_text::locate::text_edit::nearest_text;
pub use patch_text::locate::{
    Advice, Ambiguous, Candidate, Difference, Edge, HunkReject, LineNumber, Mangled, NamedLine,
    Nearest, Note, Order, Pass, Placed, Reindented, RejectReason, Rules, Shown, Unseen, UnseenKind,
    line_words,
};
pub use patch_text::text::charset::Charset;
pub use patch_text::text::encoding::FileText;
#[doc(hidden)]
pub use patch_text::text::lf_text::{LfText, MoreText, TextPlaces};
pub use patch_text::text::splices::{Splice, Splices};
pub use patch_text::text::whitespace::{
    Whitespace, WhitespaceRule, WhitespaceRules, WhitespaceRulesError,
};
pub use plan::binary::BinaryProblem;
pub use plan::builder::{MAX_DELETED, PlanBuilder};
pub use plan::formatter::{CommandEnd, CommandFailure, Formatted, Formatter};
pub use plan::hunk_result::{HunkOutcome, HunkResult};
pub use plan::images::{ChangedFile, Content, Images};
pub use plan::kind::ErrorKind;
pub use plan::options::{
    AddNewline, Expected, MAX_FILE_SIZE, MAX_MEMORY, MAX_PATCH_SIZE, Options, Profile, Snapshots,
};
pub use plan::overlay::Loaded;
pub use plan::paths::is_git_diff;
pub use plan::placeholders::Placeholder;
pub use plan::planner::plan;
pub use plan::reject::{Irreversible, NewFile, Problem, ProblemName, Reject, Rejects};
pub use plan::relative::relative;
pub use plan::reverse::reverse;
pub use plan::section_done::SectionDone;
pub use plan::simultaneous::in_sequence;
pub use plan::submodules::{
    MODE as SUBMODULE_MODE, SubmoduleProblem, commit_of as submodule_commit,
    line_of as submodule_line,
};
pub use plan::syntax::{Formats, Syntax, SyntaxFault};
pub use plan::version::FileVersion;
pub use plan::whitespace::WhitespaceErrors;
pub use plan::{Change, ChangeKind, Plan, PlanNote, Transition};
pub use policy::{DEFAULT_FORBIDDEN, DEFAULT_GUARDED, STATE_DIR, key_place, policy};
#[doc(hidden)]
pub use remedy::Remedy;
pub use show::diff::line_counts;
pub use show::turn_diff::{ChangeBetween, HistoryDiffs, TurnChange, TurnDiff};
