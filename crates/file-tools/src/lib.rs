#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod arguments;
pub mod audit;
mod call;
mod catalogue;
pub mod changes;
#[cfg(feature = "git")]
mod commit_tree;
mod editor;
pub mod envelope;
mod error;
pub mod events;
mod fit;
#[cfg(feature = "git")]
pub mod git;
pub mod hints;
pub mod history;
pub mod input;
mod ledger;
mod left;
pub mod ops;
mod page;
mod reason;
pub mod received;
pub mod refused;
mod session;
mod session_name;
pub mod shown;
mod snapshots;
pub mod specs;
mod store_size;
mod text;
mod tool;
pub mod tools;
mod walk;

pub use call::{ADDED_BY_CLIENTS, Arguments, Data, MAX_RESULT, Reply};
pub use catalogue::{Annotations, ToolInfo, brief_catalogue, catalogue};
pub use editor::{EditorCommand, EditorReply};
pub use error::{FailureClass, ToolError, journal_problem};
pub use hints::{ArgumentChange, Caller, Hint};
pub use patch_engine::ErrorKind;
pub use reason::Reason;
pub use session::{MAX_SNAPSHOTS, Session, SessionSettings};
pub use session_name::{BadSessionName, SessionName};
pub use store_size::{StoreSize, store_size};
pub use tool::Tool;
