#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod advice;
mod arguments;
pub mod audit;
mod call;
mod catalogue;
pub mod changes;
mod editor;
pub mod envelope;
mod error;
pub mod events;
mod fit;
mod ledger;
pub mod ops;
mod page;
pub mod received;
mod session;
mod session_name;
pub mod shown;
pub mod specs;
mod text;
pub mod tools;
mod walk;

pub use advice::{advice, guard_advice};
pub use call::{Arguments, Data, Reply, Tool};
pub use catalogue::{Annotations, ToolInfo, catalogue};
pub use editor::{EditorCommand, EditorReply};
pub use error::{FailureClass, ToolError};
pub use patch_engine::ErrorKind;
pub use session::{Session, SessionSettings};
pub use session_name::{BadSessionName, SessionName};
