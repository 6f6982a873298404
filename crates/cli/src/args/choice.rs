//! Reads a value from a short list of choices.

use apply_patch_api::tools::settings::Choice;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Reads a value by its name; clap lists the names.
pub(crate) fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::NAMES.iter().map(|(name, _)| *name))
        .map(|name| T::named(&name).expect("clap took one of the names"))
}
