#![doc = include_str!("../README.md")]
//!
//! ## The language
//!
//! The language is that of `*** Begin Patch` with these rules besides: the old lines of a hunk are
//! lines of the file, one below the other, that stand once in the file as it is and once in the
//! file as the hunks before leave it; the hunks of a file stand in its order and share no line;
//! each adds or removes something, and is not there already; a `@@` line is empty or has the text
//! of a line at or above the hunk, and if the hunk is outside its scope, then what it leaves does
//! not stand in there; each file has one section; and added lines are free. Such a patch applies
//! under the profiles `strict` and `codex` alike.
//!
//! No state is without a way to the end. A block begins only at a line from which some block stands
//! once, which a suffix array over the lines tells, and a hunk only above the last such line.
#![forbid(unsafe_code)]

mod bound;
mod error;
pub mod fit;
mod forced;
mod log;
mod mask;
mod matcher;
mod names;
mod state;
mod step;
mod suffixes;
mod text;
mod trie;
mod utf8;
mod vocabulary;
mod wide;

pub use bound::{Binder, Bound, Operations};
pub use error::{BindError, NotBound};
pub use matcher::{Matcher, NotAllowed, has};
pub use vocabulary::Vocabulary;
