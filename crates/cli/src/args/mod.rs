//! The arguments that several commands share; those of one command are in its file.

mod choice;
pub(crate) mod fit;
mod input;
mod reporting;
mod rules;
mod statistics;
mod writing;

pub(crate) use choice::choice;
pub(crate) use fit::Fit;
pub(crate) use input::{From, InputArgs, Inputs};
#[cfg(feature = "tools")]
pub(crate) use reporting::EventsArg;
pub(crate) use reporting::{Detail, DiffFormat, Reporting};
pub(crate) use rules::{Rules, allowing};
pub(crate) use statistics::Statistics;
pub(crate) use writing::{Caution, Checks, Formatting, Parts, Waiting, Writing};
