//! UTF-8, one byte at a time.

/// The number of states.
pub(crate) const STATES: usize = 8;

/// The missing bytes of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Utf8 {
    /// Nothing: the text may end here.
    #[default]
    Whole,
    /// One byte.
    One,
    /// Two bytes.
    Two,
    /// Three bytes.
    Three,
    /// Two bytes after `E0`, which must not be an overlong form.
    AfterE0,
    /// Two bytes after `ED`, which must not be a surrogate.
    AfterEd,
    /// Three bytes after `F0`, which must not be an overlong form.
    AfterF0,
    /// Three bytes after `F4`, which must stay below U+110000.
    AfterF4,
}

impl Utf8 {
    /// All states, by their numbers.
    pub(crate) const ALL: [Self; STATES] = [
        Self::Whole,
        Self::One,
        Self::Two,
        Self::Three,
        Self::AfterE0,
        Self::AfterEd,
        Self::AfterF0,
        Self::AfterF4,
    ];

    /// The number of missing bytes.
    pub(crate) fn missing(self) -> u32 {
        match self {
            Self::Whole => 0,
            Self::One => 1,
            Self::Two | Self::AfterE0 | Self::AfterEd => 2,
            Self::Three | Self::AfterF0 | Self::AfterF4 => 3,
        }
    }

    /// Takes one byte; `None` if the text would not be UTF-8.
    pub(crate) fn step(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Whole, 0..=0x7f) | (Self::One, 0x80..=0xbf) => Some(Self::Whole),
            (Self::Whole, 0xc2..=0xdf)
            | (Self::Two, 0x80..=0xbf)
            | (Self::AfterE0, 0xa0..=0xbf)
            | (Self::AfterEd, 0x80..=0x9f) => Some(Self::One),
            (Self::Whole, 0xe0) => Some(Self::AfterE0),
            (Self::Whole, 0xed) => Some(Self::AfterEd),
            (Self::Whole, 0xe1..=0xef)
            | (Self::Three, 0x80..=0xbf)
            | (Self::AfterF0, 0x90..=0xbf)
            | (Self::AfterF4, 0x80..=0x8f) => Some(Self::Two),
            (Self::Whole, 0xf0) => Some(Self::AfterF0),
            (Self::Whole, 0xf1..=0xf3) => Some(Self::Three),
            (Self::Whole, 0xf4) => Some(Self::AfterF4),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: [u8; 11] = [0, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf];
    const LEADS: [u8; 11] = [0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5];

    #[test]
    fn takes_what_the_standard_library_takes() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let bytes: [u8; 4] = std::array::from_fn(|_| {
                let from = if random.bool() { EDGES } else { LEADS };
                from[random.usize(..from.len())]
            });
            let end = bytes.iter().try_fold(Utf8::Whole, |state, &byte| state.step(byte));
            let whole = end == Some(Utf8::Whole);
            assert_eq!(whole, std::str::from_utf8(&bytes).is_ok(), "{bytes:x?}");
        }
    }
}
