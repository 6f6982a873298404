//! Values that have names on the command line and in the settings; most are of types of other
//! crates.

use clap::ColorChoice;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use file_tools::input::InputForm;
use fs_guard::{HardLinks, NamePolicy};
use patch_engine::commit::approval::ApprovalPolicy;
use patch_engine::commit::{Durability, StatePlace};
use patch_engine::{Ambiguous, Pass, Profile};

/// A value of which there are a few, each with a name.
pub(crate) trait Choice: Copy + PartialEq + Send + Sync + 'static {
    /// The names and their values, in the order of the help.
    const ALL: &'static [(&'static str, Self)];
    /// Whether each value is stricter than those after it.
    const STRICTEST_FIRST: bool;

    /// Returns the value of a name.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(one, _)| *one == name).map(|(_, value)| *value)
    }

    /// Returns the place of the value in the order of the help.
    fn rank(self) -> usize {
        Self::ALL
            .iter()
            .position(|(_, value)| *value == self)
            .expect("every value that is used has a name")
    }

    /// Returns the name of the value.
    fn name(self) -> &'static str {
        Self::ALL[self.rank()].0
    }
}

/// Implements [`Choice`] by lists of names and values.
macro_rules! choices {
    ($strictest_first:literal: $($type:ty { $($name:literal = $value:ident),* })*) => {$(
        impl Choice for $type {
            const ALL: &'static [(&'static str, Self)] = &[$(($name, Self::$value)),*];
            const STRICTEST_FIRST: bool = $strictest_first;
        }
    )*};
}

pub(crate) use choices;

choices! { true:
    Profile { "strict" = Strict, "codex" = Codex }
    Durability { "full" = Full, "process" = Process, "none" = None }
    ApprovalPolicy { "ask" = Always, "auto" = OnRequest, "never" = Never }
    Pass { "none" = Exact, "trailing" = Trailing, "blanks" = Blanks, "unicode" = Unicode }
    Ambiguous { "reject" = Reject, "first" = First }
    NamePolicy { "portable" = Portable, "native" = Native }
    HardLinks { "refuse" = Refuse, "break" = Break }
}

choices! { false:
    ColorChoice { "auto" = Auto, "always" = Always, "never" = Never }
    StatePlace { "project" = Project, "user" = User }
    InputForm { "envelope" = Envelope, "unified" = Unified, "openai" = Openai, "auto" = Auto }
}

/// Reads a value by its name; clap lists the names.
pub(crate) fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::ALL.iter().map(|(name, _)| *name))
        .map(|name| T::named(&name).expect("clap took one of the names"))
}

/// Reads one of `all` by its name; clap lists the names.
pub(crate) fn one_of<T, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name)).map(move |text| {
        all.into_iter().find(|&one| name(one) == text).expect("clap took one of the names")
    })
}
