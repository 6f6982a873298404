#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod answer;
mod choices;
mod file;
mod found;
mod hunk;
mod kept;
mod notes;
mod plan;
mod review;

pub use answer::ReviewData;
pub use choices::{Choice, Choices};
pub use file::ReviewFile;
pub use hunk::{HunkKind, HunkState, ReviewHunk};
pub use kept::{Decision, Kept, Note};
pub use notes::notes_text;
pub use review::Review;
