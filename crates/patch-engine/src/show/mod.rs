//! Plans shown to people and programs.

pub(crate) mod diff;
#[cfg(feature = "serde")]
mod serialize;
pub(crate) mod turn_diff;
