#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[macro_use]
pub mod tools;

pub(crate) mod call;
pub(crate) mod catalogue;
pub mod events;
pub mod specs;
pub mod vendor;

pub use call::{ADDED_BY_CLIENTS, Arguments, Data, Reply, Tools};
pub use catalogue::{Annotations, ToolInfo, brief_catalogue, catalogue, schemas};
pub use tools::file_tool::{About, FileTool};
pub use vendor::editor::{EditorCommand, EditorReply};
