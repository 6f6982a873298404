//! The arguments that several commands share, as they are written; those of one command are in its file.

mod choice;
mod global;
mod input;
mod keep;
mod reporting;
mod rules;
mod writing;

pub(crate) use choice::one_of;
pub(crate) use global::{GlobalArgs, When};
pub(crate) use input::{From, InputArgs};
pub(crate) use keep::{keep, since};
pub(crate) use reporting::{Detail, DiffFormat, Events, Reporting};
pub(crate) use rules::{Ambiguous, Fuzz, HardLinks, Names, Profile, Rules, charset};
pub(crate) use writing::{Approve, Caution, Durability, Writing, seconds};
