//! Files beneath one open directory handle, and no others.
#![doc = ""]

mod error;
mod kind;
mod names;
mod fold;
mod globs;
mod policy;
mod rel_path;
mod metadata;
mod digest;
mod root;
mod resolve;
mod read;
mod list;
mod input;
mod dir;
mod dirs;
mod state;
mod stage;
mod sync;
mod append;
mod lock;
mod secret;
mod sys;

#[cfg(feature = "fault-injection")]
pub use sys::fault;

pub use append::AppendFile;
pub use digest::{Hasher, ParseSha256Error, Sha256};
pub use dir::{Dir, Spot};
pub use dirs::Dirs;
pub use error::{Error, Rule};
pub use fold::fold;
pub use globs::{GlobError, Globs};
pub use input::{read_config, read_input};
pub use kind::ErrorKind;
pub use list::DirEntry;
pub use lock::LockFile;
pub use metadata::{FileKind, FileTime, Metadata};
pub use names::{NamePolicy, Spelling};
pub use policy::{Access, DEFAULT_FORBIDDEN, DEFAULT_GUARDED, HardLinks, Policy};
pub use read::OpenFile;
pub use rel_path::RelPath;
pub use root::Root;
pub use secret::{random, secret};
pub use stage::{DisplacedFile, NewFile, NotPublished, StagedFile};
pub use state::STATE_DIR;
pub use sync::SyncGroup;
