#![doc = include_str!("../README.md")]

mod error;
#[cfg(feature = "workspace")]
mod git;
#[cfg(feature = "workspace")]
mod host;
mod memory;
mod options;
mod plan;
mod stream;
mod text;
#[cfg(feature = "workspace")]
mod verify;
#[cfg(feature = "workspace")]
mod workspace;
#[cfg(feature = "workspace")]
mod workspace_options;

pub use file_tools::changes::DiffDetail;
pub use file_tools::input::InputForm;
pub use file_tools::{Hint, ToolError};
pub use patch_engine::commit::approval::Decision;
pub use patch_engine::{
    ChangedFile, Content, ErrorKind, FileEdit, FileKind, HostFile, HostTree, MemoryTree, Position,
    TextEdit,
};

#[cfg(feature = "workspace")]
pub use git::GitTree;
#[cfg(feature = "workspace")]
pub use host::{Host, Proposal};
pub use memory::{HostPlan, apply_diff, apply_in_memory, plan_over};
pub use options::{PatchOptions, ReadOptions, SpecOptions};
pub use plan::Plan;
pub use stream::Stream;
pub use text::{Converted, Specs, convert, grammar, parse, prompt, tool_specs};
#[cfg(feature = "workspace")]
pub use verify::{VerifyCommand, shell};
#[cfg(feature = "workspace")]
pub use workspace::Workspace;
#[cfg(feature = "workspace")]
pub use workspace_options::{GitOptions, UndoOptions, WorkspaceOptions};
