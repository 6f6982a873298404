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
    #[error(transparent)]
    Several(DetectError),
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

impl NotReceived {
    /// Returns the reason behind the kind of the error.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::Several(_) => Reason::SeveralPatches,
            Self::NoSuchPart { .. } | Self::MixedParts => Reason::NoSuchPart,
            Self::Nothing | Self::OtherForm(_) | Self::Wrapped { .. } | Self::Parse { .. } => {
                Reason::Unreadable
            }
        }
    }

    /// Returns what can be done about it.
    #[must_use]
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Several(_) | Self::MixedParts | Self::NoSuchPart { .. } => {
                vec![Remedy::SendOne, Remedy::Set(Setting::Part(1))]
            }
            Self::OtherForm(_) => vec![Remedy::Set(Setting::AnyForm)],
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
