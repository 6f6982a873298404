#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod branch;
mod commit;
mod database;
mod delta;
mod error;
mod files;
mod id;
mod layout;
mod names;
mod object;
mod pack;
mod refs;
mod repository;
mod revision;
mod settings;
mod snapshot;
mod tree;
mod unwritten;
mod write;

pub use branch::BranchMove;
pub use commit::{CommitObject, NewCommit, Role, Signature, Time};
pub use error::{Error, ErrorKind, Result};
pub use id::{BadObjectId, Id, ObjectKind};
pub use repository::{OpenOptions, Repository};
pub use revision::Resolved;
pub use snapshot::{Listed, Snapshot};
pub use tree::{EntryKind, TreeEntry};
pub use write::TreeChange;
