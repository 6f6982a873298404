#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod error;
mod escape;
mod fingerprint;
mod id;
mod index;
mod indexing;
mod journal;
mod key;
mod locked;
mod packed;
mod pending;
mod prefix;
mod removal;
mod retention;
mod signer;
mod store;
mod take_over;
mod time;
mod tracked;

pub use error::{Error, JournalProblem};
pub use fingerprint::Fingerprint;
pub use id::{ParseIdError, TransactionId};
pub use index::{NewestFirst, OldestFirst, Totals};
pub use journal::{Carried, FileState, Header, Journal, Kept, Operation, Record};
pub use key::{KeyPlace, Keys, OwnKey};
pub use locked::LockedStore;
pub use packed::{packed, unpacked};
pub use pending::{LeftWriter, Pending, Unfinished};
pub use prefix::Prefix;
pub use removal::Removal;
pub use retention::{Purged, Retention};
pub use signer::Signer;
pub use store::{Store, TrashEntry, parse_stored_path, slot_in, stored_path};
pub use time::format_time;
