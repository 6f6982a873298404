//! From a plan to files, all or nothing; and back.
//!
//! 1. *Stage*: every new file is written, with its final mode and attributes, in the transaction's
//!    folder in the state directory. Nothing in the workspace has changed.
//! 2. *Journal*: what is about to happen, beside the staged files. One sync makes both durable: the
//!    commit point. Before it recovery discards the folder, after it recovery finishes the work.
//! 3. *Publish*: new files get their names where nothing is; a changed file is swapped with its new
//!    version in one step, and what came out is looked at: when it is not the file the plan was made
//!    for, everything is rolled back, and the other writer's bytes are where that writer put them.
//!    Deletes come last. A second sync makes it durable.
//! 4. *Verify*, where that is wanted: the journal says so, and until it is done, recovery puts everything back.
//! 5. *Finish*: the folder, which by now holds the displaced files, moves into the trash. Undo reads
//!    it there.
//!
//! What was published is always read from the folder: a slot holds the new file before, the
//! displaced one after.

mod commit;
pub(crate) mod error;
mod history;
mod home;
mod options;
mod publish;
mod recover;
pub(crate) mod recovered;
mod replay;
mod rollback;
mod siblings;
mod slot;
mod stage;
mod undo;
mod workspace;

pub use commit::Committed;
pub use error::{CommitError, Doubt, Drift, Error};
pub use history::{LogEntry, Unverified};
pub use home::StatePlace;
pub use options::{CheckEnd, CommitOptions, Durability, NotVerified, Verify};
pub use recovered::{Outcome, Recovered};
pub use undo::{Left, UndoOptions};
pub use workspace::{Locked, Workspace};
pub use workspace_trash::{JournalProblem, KeyPlace, TransactionId};
