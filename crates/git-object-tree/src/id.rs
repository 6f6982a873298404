//! Names and kinds of objects.

use std::fmt;
use std::str::FromStr;

/// The name of an object: the SHA-1 of its kind, its size and its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; Id::LEN]);

/// A text that is not an object's name: 40 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an object id has 40 hexadecimal digits")]
pub struct BadObjectId;

/// As it is displayed: `unwrap` and `main` print this.
impl fmt::Debug for BadObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

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
        gix_hash::ObjectId::from_hex(hex).ok().map(|id| Self::from_gix(&id))
    }

    /// Returns its digits.
    pub(crate) fn to_hex(self) -> Hex {
        let mut hex = [0; 2 * Self::LEN];
        let _ = self.to_gix().hex_to_buf(&mut hex);
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
    type Err = BadObjectId;

    fn from_str(text: &str) -> Result<Self, BadObjectId> {
        Self::from_hex(text.as_bytes()).ok_or(BadObjectId)
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
        f.write_str(match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
            Self::Tag => "tag",
        })
    }
}
