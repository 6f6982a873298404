#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod answer;
pub mod audit;
pub mod events;
#[cfg(feature = "git")]
pub mod git;
pub mod input;
mod json;
mod session;
pub mod settings;
pub mod specs;
mod syntax;
pub mod tools;

pub use answer::changed_by::ChangedBy;
pub use answer::error::{FailureClass, Kept, ToolError, journal_problem};
pub use answer::hints::{Caller, Hint, Language};
pub use answer::reason::Reason;
pub use answer::{changes, envelope, hints, shown, statistics};
pub use input::{ops, received};
pub use json::unique as unique_json;
pub use patch_engine::ErrorKind;
pub use session::session_name::{BadName, SessionName, TurnName};
pub use session::span::{Named, Span};
pub use session::store_size::{StoreSize, remove_state, size_in, store_size};
pub use session::turn::{OpenTurn, TurnSummary, open_turns};
pub use session::{Session, SessionSettings};
pub use session::{bounds, history, refused};
pub use tools::arguments::most_alike;
pub use tools::call::{ADDED_BY_CLIENTS, Arguments, Data, MAX_RESULT, Reply};
pub use tools::catalogue::{Annotations, ToolInfo, brief_catalogue, catalogue};
pub use tools::editor::{EditorCommand, EditorReply};
pub use tools::file_tool::{About, FileTool};
pub use tools::tool::Tool;
