//! Values of types of other crates.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Reads one of `all`, values of a type of another crate, by its name; clap lists the names.
pub(crate) fn one_of<T, const N: usize>(all: [T; N], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name))
        .map(move |text| all.into_iter().find(|&one| name(one) == text).expect("clap took one of the names"))
}
