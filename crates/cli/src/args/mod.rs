//! The arguments that several commands share, as they are written; those of one command are in its file.

mod global;
mod input;
mod reporting;
mod rules;
mod writing;

pub(crate) use global::{GlobalArgs, When};
pub(crate) use input::{From, InputArgs, InputForm};
pub(crate) use reporting::{Detail, DiffFormat, Events, Reporting};
pub(crate) use rules::{Ambiguous, Fuzz, HardLinks, Names, Profile, Rules, charset};
pub(crate) use writing::{Approve, Durability, Writing, seconds};

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Reads one of `all`, values of a type of another crate, by its name; clap lists the names.
pub(crate) fn one_of<T, const N: usize>(all: [T; N], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name))
        .map(move |text| all.into_iter().find(|&one| name(one) == text).expect("clap took one of the names"))
}
