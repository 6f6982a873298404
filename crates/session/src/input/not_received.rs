//! The error of a text without a patch, or without exactly one.

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
    /// Several parts look like a patch, and none was chosen.
    #[error("{parts}{}", below_message(.single))]
    Several {
        /// The parts.
        parts: DetectError,
        /// Whether the parts may be taken as one patch: no two change the same line.
        all: bool,
        /// The parts that may be meant alone, from 1. Of a mail that is the one below its message,
        /// and none of a series.
        single: Vec<usize>,
    },
    /// There is no such part.
    #[error("there is no part {wanted}: it has {there}")]
    NoSuchPart {
        /// The requested part, from 1.
        wanted: usize,
        /// The number of parts.
        there: usize,
    },
    /// Parts of different forms cannot be one patch.
    #[error("these are patches of several forms, and cannot be taken as one")]
    MixedParts,
    /// The text has another form than the named one.
    #[error("{0}, and another form was named")]
    OtherForm(&'static str),
    /// The text is taken to the letter, and is not an envelope.
    #[error("{0}, and profile `strict` takes a patch in the envelope alone")]
    NotAnEnvelope(&'static str),
    /// The patch is in a wrapper that cannot be removed without loss or guessing.
    #[error("{wrapper}; {advice}")]
    Wrapped {
        /// The wrapper.
        wrapper: String,
        /// The advice on how to send the patch.
        advice: String,
    },
    /// The text does not parse.
    #[error("{error}")]
    Parse {
        /// The text, without its wrapper.
        text: Text,
        /// The error of the parser.
        error: Box<ParseError>,
    },
}

/// The most parts of a text to offer.
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

    /// Returns the remedies.
    #[must_use]
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Several { all, single, .. } => {
                let all = all.then_some(Remedy::Set(Setting::AllParts));
                let ways = std::iter::once(Remedy::SendOne).chain(all);
                ways.chain(each_part(single.iter().copied())).collect()
            }
            Self::MixedParts => vec![Remedy::SendOne, Remedy::Set(Setting::Part(1))],
            Self::NoSuchPart { there, .. } => each_part(1..=*there).collect(),
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

/// Offers the first of the parts. None is preferred: the first may be a draft of the second.
fn each_part(parts: impl Iterator<Item = usize>) -> impl Iterator<Item = Remedy> {
    parts.take(PARTS).map(|nth| Remedy::Set(Setting::Part(nth)))
}

/// Says which part is the patch of a mail, and not shown in its message.
fn below_message(single: &[usize]) -> String {
    match single {
        [nth] => format!("; part {nth} stands below the `---` of the mail"),
        _ => String::new(),
    }
}

pub(super) fn wrapped<T>(
    wrapper: impl Into<String>,
    advice: impl Into<String>,
) -> Result<T, NotReceived> {
    Err(NotReceived::Wrapped { wrapper: wrapper.into(), advice: advice.into() })
}
