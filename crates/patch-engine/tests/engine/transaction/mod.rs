//! Transactions: all or nothing, also when they fail or are cut off; and back.

mod basics;
mod below;
mod cancelled;
// It kills other processes by signals, and looks at how they ended.
#[cfg(unix)]
mod crowd;
mod faults;
// What is planted are links and directories that others may enter, by their modes.
#[cfg(unix)]
mod forged;
mod killed;
mod laws;
mod meanwhile;
mod model;
mod parts;
// It mounts file systems.
#[cfg(unix)]
mod power;
mod processes;
// State directories are made by their modes, and owners are changed.
#[cfg(unix)]
mod project;
// They are about what Unix systems write, recorded call by call, and about file systems that are
// mounted.
#[cfg(unix)]
mod reorder;
#[cfg(unix)]
mod space;
mod speed;
pub(crate) mod support;
mod told;
mod twins;
mod undo;
mod verified;
