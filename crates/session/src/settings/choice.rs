//! Settings with a few named values, the names written once for all sources.

use fs_guard::{HardLinks, NamePolicy};
use patch_engine::commit::approval::ApprovalPolicy;
use patch_engine::commit::{Durability, StatePlace};
use patch_engine::{Ambiguous, Pass, Profile, Syntax, Whitespace};
use patch_grammar::Dialect;
use patch_grammar::export::Format;

/// A setting with a few named values.
pub trait Choice: Copy + PartialEq + Send + Sync + 'static {
    /// The names and their values, in the order of the help.
    const NAMES: &'static [(&'static str, Self)];
    /// Whether each value is stricter than the next.
    const STRICTEST_FIRST: bool = false;

    /// Returns the value of a name.
    #[must_use]
    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(one, _)| *one == name).map(|(_, value)| *value)
    }

    /// Returns the place of the value in the order of the help.
    #[must_use]
    fn rank(self) -> usize {
        Self::NAMES
            .iter()
            .position(|(_, value)| *value == self)
            .expect("every value that is used has a name")
    }

    /// Returns the name of the value.
    #[must_use]
    fn name(self) -> &'static str {
        Self::NAMES[self.rank()].0
    }

    /// Returns a name for each value.
    #[must_use]
    fn first_names() -> Vec<&'static str> {
        let names = Self::NAMES.iter().enumerate();
        names.filter(|(nth, (_, value))| value.rank() == *nth).map(|(_, (name, _))| *name).collect()
    }

    /// Lists the names, for messages.
    #[must_use]
    fn wanted() -> String {
        let names: Vec<_> = Self::NAMES.iter().map(|(name, _)| *name).collect();
        format!("one of {}", names.join(", "))
    }
}

/// Implements [`Choice`] by lists of names and values. The trait must be in scope.
#[macro_export]
#[doc(hidden)]
macro_rules! choices {
    ($strictest_first:literal: $($type:ty { $($name:literal = $value:ident),* $(,)? })*) => {$(
        impl Choice for $type {
            const NAMES: &'static [(&'static str, Self)] = &[$(($name, Self::$value)),*];
            const STRICTEST_FIRST: bool = $strictest_first;
        }
    )*};
}

/// Implements [`Choice`] for enums with names of their own. The trait must be in scope.
#[macro_export]
#[doc(hidden)]
macro_rules! named_choices {
    ($strictest_first:literal: $($type:ty),* $(,)?) => {$(
        impl Choice for $type {
            const NAMES: &'static [(&'static str, Self)] = &{
                let mut names = [("", Self::ALL[0]); Self::ALL.len()];
                let mut nth = 0;
                while nth < names.len() {
                    names[nth] = (Self::ALL[nth].as_str(), Self::ALL[nth]);
                    nth += 1;
                }
                names
            };
            const STRICTEST_FIRST: bool = $strictest_first;
        }
    )*};
}

pub(crate) use named_choices;

named_choices! { true: Profile, Durability, ApprovalPolicy, Pass, Ambiguous, Syntax }

choices! { true:
    Whitespace {
        "error" = Error, "error-all" = Error, "fix" = Fix, "strip" = Fix, "warn" = Warn,
        "nowarn" = Nowarn,
    }
    NamePolicy { "portable" = Portable, "native" = Native }
    HardLinks { "refuse" = Refuse, "break" = Break }
}

named_choices! { false: Color, Dialect, Format }

choices! { false:
    StatePlace { "project" = Project, "user" = User }
}

patch_grammar::named! {
    /// When output has colours.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Color {
        /// Colours on a terminal with colours only.
        #[default]
        Auto = "auto",
        /// Always.
        Always = "always",
        /// Never.
        Never = "never",
    }
}
