//! Names and kinds of objects.

use std::fmt;
use std::str::FromStr;

/// The name of an object: the SHA-1 of its kind, its size and its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; Id::LEN]);

/// A text that is not an object's name: 40 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an object id has 40 hexadecimal digits")]
pub struct ParseIdError;

impl Id {
    /// How many bytes a name has.
    pub const LEN: usize = 20;

    /// Returns the name with these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Returns its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(crate) fn from_hex(hex: &[u8]) -> Option<Self> {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let mut bytes = [0; Self::LEN];
        if hex.len() != 2 * Self::LEN {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bytes))
    }

    /// Returns its digits.
    pub(crate) fn to_hex(self) -> Hex {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; 2 * Self::LEN];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 0xf)];
        }
        Hex(hex)
    }

    pub(crate) fn to_gix(self) -> gix_hash::ObjectId {
        gix_hash::ObjectId::Sha1(self.0)
    }

    pub(crate) fn from_gix(id: &gix_hash::oid) -> Self {
        Self::from_slice(id.as_bytes()).expect("only the SHA-1 of the library is compiled in")
    }
}

/// The digits of a name.
pub(crate) struct Hex([u8; 2 * Id::LEN]);

impl Hex {
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("they are digits")
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_hex().as_str())
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}

impl FromStr for Id {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        Self::from_hex(text.as_bytes()).ok_or(ParseIdError)
    }
}

/// The four kinds of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// The bytes of a file.
    Blob,
    /// A directory.
    Tree,
    /// A commit.
    Commit,
    /// An annotated tag.
    Tag,
}

impl ObjectKind {
    /// Returns the word that git has for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
            Self::Tag => "tag",
        }
    }

    pub(crate) fn from_gix(kind: gix_object::Kind) -> Self {
        match kind {
            gix_object::Kind::Blob => Self::Blob,
            gix_object::Kind::Tree => Self::Tree,
            gix_object::Kind::Commit => Self::Commit,
            gix_object::Kind::Tag => Self::Tag,
        }
    }

    pub(crate) fn to_gix(self) -> gix_object::Kind {
        match self {
            Self::Blob => gix_object::Kind::Blob,
            Self::Tree => gix_object::Kind::Tree,
            Self::Commit => gix_object::Kind::Commit,
            Self::Tag => gix_object::Kind::Tag,
        }
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
