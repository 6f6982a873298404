#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod events;
pub mod specs;
pub mod tools;

pub use tools::call::{ADDED_BY_CLIENTS, Arguments, Data, MAX_RESULT, Reply, Tools};
pub use tools::catalogue::{Annotations, ToolInfo, brief_catalogue, catalogue, schemas};
pub use tools::editor::{EditorCommand, EditorReply};
pub use tools::file_tool::{About, FileTool};
