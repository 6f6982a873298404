#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// Hidden modules are for the crates of the repository: the parts of answers, and how they are made.

#[doc(hidden)]
pub mod answer;
pub mod audit;
pub mod input;
#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod line_tags;
mod local_time;
mod operation;
#[doc(hidden)]
pub mod session;
pub mod settings;
mod syntax;
#[doc(hidden)]
pub mod text;
mod tool;

pub use answer::arguments::most_alike;
pub use answer::changed_by::ChangedBy;
pub use answer::error::{FailureClass, Kept, ToolError, journal_problem};
pub use answer::fit::MAX_RESULT;
pub use answer::hints::{Caller, Hint, Language};
pub use answer::reason::Reason;
#[doc(hidden)]
pub use answer::{changes, envelope, hints, shown, statistics};
pub use audit::session_name::{BadName, SessionName, TurnName};
#[doc(hidden)]
pub use input::{ops, received};
pub use json::unique as unique_json;
pub use local_time::format_local_time;
pub use patch_engine::ErrorKind;
pub use session::net::{ChangedBetween, NetChanges, NetDiff};
pub use session::span::{Named, Span, SpanNames};
pub use session::store_size::{DECISIONS, REVIEWS, StoreSize, remove_state, size_in, store_size};
pub use session::turn::{OpenTurn, TurnSummary, open_turns};
pub use session::{Session, SessionSettings, Versions};
#[doc(hidden)]
pub use session::{bounds, history, proposing, refused, text_form};
pub use tool::Tool;
