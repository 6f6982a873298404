//! Transactions: all or nothing, also when they fail or are cut off; and back.

mod basics;
mod crowd;
mod faults;
mod forged;
mod killed;
mod laws;
mod meanwhile;
mod power;
mod processes;
mod project;
mod reorder;
mod space;
mod speed;
pub(crate) mod support;
mod undo;
mod verified;
