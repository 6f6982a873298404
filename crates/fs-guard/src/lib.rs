#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(windows, target_os = "macos")), forbid(unsafe_code))]

mod abilities;
mod append;
mod cancel;
#[cfg(feature = "editorconfig")]
mod convention_globs;
mod debug;
mod digest;
mod dir;
mod dirs;
mod enclosing;
mod error;
mod fold;
mod globs;
mod kept;
mod kind;
mod list;
mod lock;
mod metadata;
mod named;
mod names;
mod policy;
mod read;
mod rel_path;
mod resolve;
mod root;
mod rules;
mod sandbox;
mod secret;
mod stage;
mod state;
mod sync;
mod sys;
mod target;
mod tree;
mod users;

#[cfg(feature = "fault-injection")]
pub use sys::{fault, record};

pub use abilities::Abilities;
pub use append::AppendFile;
pub use cancel::Cancellation;
#[cfg(feature = "editorconfig")]
pub use convention_globs::ConventionGlob;
pub use digest::{Hasher, ParseSha256Error, Sha256};
pub use dir::{Dir, Spot};
pub use dirs::Dirs;
pub use enclosing::{Common, Enclosing, WORK_TREES};
pub use error::{Error, NoRoot, Rule, quoted, shortened, visible, without_middle};
pub use fold::{fold, normalisations};
pub use globs::{GlobError, GlobSet, Globs, MAX_GLOB, MAX_GLOBS, bounded};
pub use kind::ErrorKind;
pub use list::DirEntry;
pub use lock::{LockFile, Wait};
pub use metadata::{Entry, FileKind, FileTime, Metadata};
pub use named::{read_config, real_path, started_at};
pub use names::{NamePolicy, Spelling, is_invisible};
pub use policy::{Access, HardLinks, Policy};
pub use read::{Inspected, OpenFile};
pub use rel_path::RelPath;
pub use root::Root;
pub use secret::{FoundSecret, existing_secret, find_secret, random, remove_secret, secret};
pub use stage::{DisplacedFile, NewFile, NotPublished, StagedFile};
pub use sync::{SECTOR, SectorFile, SyncGroup};
pub use sys::{Confined, can_confine};
pub use target::Target;
pub use tree::{GuardedTree, Tree};
pub use users::{Account, home, keeps_out, listed_home};
