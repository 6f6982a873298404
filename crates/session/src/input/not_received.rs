//! Why no patch is received.

use patch_engine::Remedy;
use patch_engine::remedy::Setting;
use patch_grammar::detect::DetectError;
use patch_grammar::{ParseError, Text};

use crate::answer::reason::Reason;

/// Why no patch was received.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotReceived {
    /// Nothing looks like a patch.
    #[error(
        "there is no patch in it: wanted `*** Begin Patch`, a unified or git diff, or items of \
         the Responses API"
    )]
    Nothing,
    /// Several things do, and none was chosen.
    #[error("{parts}")]
    Several {
        /// Each of them.
        parts: DetectError,
        /// Whether they may be taken as one: no two of them change the same line.
        all: bool,
    },
    /// There is no such part.
    #[error("there is no part {wanted}: it has {there}")]
    NoSuchPart {
        /// The part that was asked for, from 1.
        wanted: usize,
        /// How many there are.
        there: usize,
    },
    /// Parts of different forms cannot be one patch.
    #[error("these are patches of several forms, and cannot be taken as one")]
    MixedParts,
    /// It has another form than the one that was named.
    #[error("{0}, and another form was named")]
    OtherForm(&'static str),
    /// It is taken to the letter, and is no envelope.
    #[error("{0}, and profile `strict` takes a patch in the envelope alone")]
    NotAnEnvelope(&'static str),
    /// It is wrapped in something that cannot be taken off without loss or guessing.
    #[error("{wrapper}; {advice}")]
    Wrapped {
        /// What is around the patch.
        wrapper: String,
        /// What to send instead.
        advice: String,
    },
    /// Something in the text keeps it from being read.
    #[error("{error}")]
    Parse {
        /// The text, without what was taken off.
        text: Text,
        /// What it is.
        error: Box<ParseError>,
    },
}

/// How many parts of a text are offered.
const PARTS: usize = 4;

impl NotReceived {
    /// Returns the reason behind the kind of the error.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::Several { .. } => Reason::SeveralPatches,
            Self::NoSuchPart { .. } | Self::MixedParts => Reason::NoSuchPart,
            Self::Nothing
            | Self::OtherForm(_)
            | Self::NotAnEnvelope(_)
            | Self::Wrapped { .. }
            | Self::Parse { .. } => Reason::Unreadable,
        }
    }

    /// Returns what can be done about it.
    #[must_use]
    pub fn remedies(&self) -> Vec<Remedy> {
        // None before the others: the first may be a draft of the second.
        let each = |there| (1..=there).take(PARTS).map(|nth| Remedy::Set(Setting::Part(nth)));
        match self {
            Self::Several { parts, all } => {
                let all = all.then_some(Remedy::Set(Setting::AllParts));
                let ways = std::iter::once(Remedy::SendOne).chain(all);
                let there = match parts {
                    DetectError::Several(parts) => parts.len(),
                    DetectError::Nothing => 0,
                };
                ways.chain(each(there)).collect()
            }
            Self::MixedParts => vec![Remedy::SendOne, Remedy::Set(Setting::Part(1))],
            Self::NoSuchPart { there, .. } => each(*there).collect(),
            Self::OtherForm(_) => vec![Remedy::Set(Setting::AnyForm)],
            Self::NotAnEnvelope(_) => vec![Remedy::Set(Setting::Standard), Remedy::SendEnvelope],
            Self::Nothing | Self::Wrapped { .. } => vec![Remedy::SendOne],
            Self::Parse { error, .. } => Remedy::of_parse(error),
        }
    }

    pub(super) fn parse(text: &[u8], error: ParseError) -> Self {
        Self::Parse { text: text.into(), error: Box::new(error) }
    }
}

pub(super) fn wrapped<T>(
    wrapper: impl Into<String>,
    advice: impl Into<String>,
) -> Result<T, NotReceived> {
    Err(NotReceived::Wrapped { wrapper: wrapper.into(), advice: advice.into() })
}
