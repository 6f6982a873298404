#![doc = include_str!("../README.md")]
//!
//! ## The language
//!
//! The language is the language of `*** Begin Patch` with these rules:
//!
//! - The old lines of a hunk are lines of the file, one below the other. They stand once in the
//!   file as it is, and once in the file as the hunks above leave it.
//! - The hunks of a file stand in the order of the file and share no line.
//! - Each hunk adds or removes something, and is not applied already.
//! - An `@@` line is empty, or has the text of a line at or above the hunk. If the hunk is outside
//!   the scope of that line, the lines that the hunk leaves do not stand in the scope. Of a line of
//!   more than 80 bytes it may have what git writes: the first 80, without blanks at their end, if
//!   that is not the text of another line.
//! - Each file has one section.
//! - Added lines are free.
//!
//! Such a patch applies under the profiles `strict` and `codex` alike.
//!
//! Some end can be reached from every state, also with few added lines or tokens left. A block
//! begins only at a line from which some block stands once, and a hunk only above the last such
//! line; a suffix array over the lines finds them.
#![forbid(unsafe_code)]

mod batch;
mod bound;
mod budget;
mod costs;
mod cut;
mod error;
pub mod fit;
mod forced;
mod log;
mod mask;
mod matcher;
mod names;
mod pack;
mod paths;
mod state;
mod step;
mod suffixes;
mod text;
mod trie;
mod utf8;
mod vocabulary;
mod wide;

pub use batch::allowed_batch;
pub use bound::{Binder, Bound, Operations};
pub use error::{BindError, NoSuchToken, NotAllowed, NotBound, TooFew, UnpackError};
pub use matcher::{Matcher, has};
pub use paths::PathProblem;
pub use vocabulary::Vocabulary;
