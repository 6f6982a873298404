#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod cancel;
pub mod carry;
pub mod diff;
#[doc(hidden)]
pub mod git_id;
#[doc(hidden)]
pub mod locate;
#[doc(hidden)]
pub mod text;

pub use patch_grammar;

pub use locate::edit::{Edit, edit};
pub use locate::edit_rules::FinalNewline;
pub use locate::{
    Advice, Ambiguous, Candidate, Difference, Edge, EndMark, HunkReject, LineNumber, Mangled,
    Nearest, Note, Order, Pass, Placed, Reindented, RejectReason, Rules, Shown,
};
pub use text::charset::Charset;
pub use text::encoding::FileText;
pub use text::splices::{Splice, Splices};
pub use text::whitespace::{Whitespace, WhitespaceRule, WhitespaceRules, WhitespaceRulesError};
