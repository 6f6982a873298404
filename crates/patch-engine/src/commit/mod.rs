//! Commits plans, all or nothing, and undoes them.
//!
//! 1. *Stage*: every new file is written to the transaction's folder in the state directory, with
//!    its final mode and attributes. Nothing in the workspace has changed.
//! 2. *Journal*: the list of changes is written beside the staged files. One sync makes both
//!    durable: this is the commit point. Before it recovery discards the folder; after it recovery
//!    finishes the work.
//! 3. *Publish*: a new file gets its name, where nothing may exist; a changed file is swapped with
//!    its new version in one step, and the displaced file is checked. If it is not the file that
//!    the plan was made for, everything is rolled back, and the other writer's bytes are where that
//!    writer put them. Deletes come last. A second sync makes this durable.
//! 4. *Verify*, if the caller wants a check: until it has passed, recovery rolls everything back.
//!    The journal says so.
//! 5. *Finish*: the folder, which now holds the displaced files, moves into the trash. Undo reads
//!    it there.
//!
//! The folder alone tells what was published: a slot holds the new file before, and the displaced
//! one after.
//!
//! Of changes that are not synced yet, this requires only that the second change of a name is not
//! kept without the first, and that nothing is kept in a new directory that is lost. (Where names
//! cannot be swapped, all changes of names have to keep their order.) A file that moved between two
//! directories of which only the new one was synced may be in both, as on btrfs; recovery removes
//! the old name. After a power cut during the recovery of a killed commit, that commit's intents may
//! be missing in the audit log.

pub(crate) mod apart;
pub(crate) mod apply;
pub mod approval;
mod below;
pub(crate) mod buffers;
pub(crate) mod committer;
mod create_ahead;
pub(crate) mod error;
mod held;
mod history;
mod home;
pub(crate) mod host;
pub(crate) mod kept;
pub(crate) mod left;
pub(crate) mod memory;
mod options;
mod protocol;
mod publish;
mod reach;
mod recover;
pub(crate) mod recovered;
mod replay;
pub(crate) mod report;
mod rollback;
mod siblings;
mod slot;
mod stage;
mod state;
mod undo;
mod way;
mod workspace;

pub use error::{Author, CommitError, Doubt, Drift, Error, Way};
pub use history::{LogEntry, Unverified, standing};
pub use home::{StatePlace, directories_above};
pub use options::{CommitOptions, Durability, LOCK_TIMEOUT, Verify};
pub use protocol::Committed;
pub use reach::Reach;
pub use recovered::{Outcome, Recovered};
pub use state::{CHECKED, State, user_state_folders, user_states};
pub use undo::UndoOptions;
pub use workspace::{Locked, Workspace};
pub use workspace_trash::{JournalProblem, KeyPlace, Prefix, Removal, TransactionId};
