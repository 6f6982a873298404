//! The arguments that several commands share, as they are written; those of one command are in its file.

mod global;
mod input;
mod reporting;
mod rules;
mod writing;

pub(crate) use global::{GlobalArgs, When};
pub(crate) use input::{Input, InputForm};
pub(crate) use reporting::{DiffFormat, Events, Reporting};
pub(crate) use rules::{Ambiguous, Fuzz, Guard, HardLinks, Names, Profile, Rules};
pub(crate) use writing::{Approve, Durability, Writing, seconds};
