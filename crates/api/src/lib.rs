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
pub use host::{Callbacks, Proposal};
pub use memory::{HostPlan, apply_diff, apply_in_memory, plan_over};
pub use options::{PatchOptions, ReadOptions, SpecRequest};
pub use plan::PlannedPatch;
pub use stream::JsonStream;
pub use text::{ConvertedText, Specs, convert, grammar, parse, prompt, tool_specs};
#[cfg(feature = "workspace")]
pub use verify::{VerifyCommand, shell};
#[cfg(feature = "workspace")]
pub use workspace::OpenWorkspace;
#[cfg(feature = "workspace")]
pub use workspace_options::{GitOptions, UndoRequest, WorkspaceOptions};
