//! The arguments that several commands share, as they are written; those of one command are in its
//! file.

mod choice;
mod input;
mod keep;
mod reporting;
mod rules;
mod writing;

pub(crate) use choice::{Choice, choice, choices, one_of};
pub(crate) use input::{From, InputArgs};
pub(crate) use keep::{keep, since};
pub(crate) use reporting::{Detail, DiffFormat, Events, Reporting};
pub(crate) use rules::{Rules, charset};
pub(crate) use writing::{Caution, Writing, seconds};
