//! The bytes of binary files, which a git diff has in place of hunks: `GIT binary patch`.
//!
//! A part has the bytes of a file (`literal`), or the steps from the other file (`delta`):
//! compressed by zlib, and written in git's base 85. The parser checks each part as far as possible
//! without the file, and keeps none of its bytes: they are decoded again on demand. Without the
//! feature `binary-diffs` every part is refused, and the error names the feature.

mod base85;
mod delta;

#[cfg(feature = "binary-diffs")]
use zlib_rs::{Inflate, InflateFlush, Status};

pub(crate) use base85::decode_line;

/// Where a NUL byte makes a file binary: in so many bytes at its start. (git looks at 8000.)
pub const FIRST_BYTES: usize = 8 << 10;

/// Returns whether a file is binary: it has a NUL byte in its [first bytes](FIRST_BYTES).
#[must_use]
pub fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(FIRST_BYTES)]).is_some()
}

/// The most bytes of a file made by a part, and of a delta.
pub const MAX_FILE: u64 = 256 << 20;

/// How many bytes all parts of a patch may make together.
pub const MAX_PATCH: u64 = 512 << 20;

/// The most bytes of text for each byte of a zlib stream.
#[cfg(feature = "binary-diffs")]
const MOST_COMPRESSED: u64 = 1032;

/// The bytes of a file in a git diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct Binary<'p> {
    /// The part that makes the new file of the old one.
    pub forward: BinaryPart<'p>,
    /// The part that makes the old file of the new one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub reverse: Option<BinaryPart<'p>>,
    /// The id of the old file in git, perhaps abbreviated; zeros for no file.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub old_id: Option<&'p str>,
    /// The same of the new file.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub new_id: Option<&'p str>,
}

impl Binary<'_> {
    /// Returns the reverse patch, if both parts are there.
    #[must_use]
    pub fn reversed(&self) -> Option<Self> {
        Some(Self {
            forward: self.reverse?,
            reverse: Some(self.forward),
            old_id: self.new_id,
            new_id: self.old_id,
        })
    }
}

/// One direction of a binary change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct BinaryPart<'p> {
    /// The meaning of its bytes.
    pub kind: BinaryKind,
    /// The size in bytes after decompression.
    pub size: u64,
    /// The size in bytes of the resulting file.
    pub file_size: u64,
    /// The 1-based line of the patch where the part begins.
    pub line: u32,
    /// Its lines of base 85.
    #[cfg_attr(feature = "serde", serde(skip))]
    base85: &'p [u8],
}

/// The meaning of the bytes of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum BinaryKind {
    /// The file.
    Literal,
    /// Steps from the other file.
    Delta,
}

impl BinaryKind {
    /// Reads the first line of a part: its kind and its size.
    pub(crate) fn of_line(line: &[u8]) -> Option<(Self, u64)> {
        let (kind, size) = match line {
            [b'l', ..] => (Self::Literal, line.strip_prefix(b"literal ")?),
            _ => (Self::Delta, line.strip_prefix(b"delta ")?),
        };
        let digits = !size.is_empty() && size.iter().all(u8::is_ascii_digit);
        let size = std::str::from_utf8(size).ok().filter(|_| digits)?;
        // A number too long to parse is too large.
        Some((kind, size.parse().unwrap_or(u64::MAX)))
    }
}

/// A fault of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinaryDamage {
    /// It is too large, or all parts together are.
    TooLarge,
    /// Not a zlib stream of the stated size.
    Compression,
    /// It is not a delta.
    Delta,
    /// This program was built without what decompresses the bytes.
    NotBuilt,
}

/// Returns how many bytes are left after a file of this size.
fn without(left: u64, size: u64) -> Result<u64, BinaryDamage> {
    left.checked_sub(size).filter(|_| size <= MAX_FILE).ok_or(BinaryDamage::TooLarge)
}

impl<'p> BinaryPart<'p> {
    /// Checks everything except the source file. `left` is how many bytes the parts of the patch
    /// may still make.
    pub(crate) fn checked(
        kind: BinaryKind,
        size: u64,
        base85: &'p [u8],
        line: u32,
        left: &mut u64,
    ) -> Result<Self, BinaryDamage> {
        if !cfg!(feature = "binary-diffs") {
            return Err(BinaryDamage::NotBuilt);
        }
        *left = without(*left, size)?;
        let mut part = Self { kind, size, file_size: size, line, base85 };
        let bytes = part.bytes().ok_or(BinaryDamage::Compression)?;
        if kind == BinaryKind::Delta {
            part.file_size = delta::checked(&bytes).ok_or(BinaryDamage::Delta)?.result;
            *left = without(*left, part.file_size)?;
        }
        Ok(part)
    }

    /// Returns the file made from `other`; `None` if the part is for a file of another size.
    #[must_use]
    pub fn apply(&self, other: &[u8]) -> Option<Vec<u8>> {
        let bytes = self.bytes()?;
        match self.kind {
            BinaryKind::Literal => Some(bytes),
            BinaryKind::Delta => delta::apply(&bytes, other),
        }
    }

    /// Decodes and decompresses the part.
    fn bytes(&self) -> Option<Vec<u8>> {
        decompressed(&base85::decode(self.base85)?, self.size)
    }
}

/// No part gets as far as this.
#[cfg(not(feature = "binary-diffs"))]
fn decompressed(_: &[u8], _: u64) -> Option<Vec<u8>> {
    None
}

/// Decompresses a zlib stream of exactly `size` bytes, with nothing behind it.
#[cfg(feature = "binary-diffs")]
fn decompressed(stream: &[u8], size: u64) -> Option<Vec<u8>> {
    if size / MOST_COMPRESSED > stream.len() as u64 {
        return None;
    }
    let size = usize::try_from(size).ok()?;
    // With room for one byte more than there should be.
    let mut out = vec![0; size + 1];
    let mut inflate = Inflate::new(true, 15);
    let status = inflate.decompress(stream, &mut out, InflateFlush::Finish).ok()?;
    let whole = status == Status::StreamEnd
        && inflate.total_out() == size as u64
        && inflate.total_in() == stream.len() as u64;
    out.truncate(size);
    whole.then_some(out)
}

/// Writes `GIT binary patch` with the bytes of both files, for both directions.
#[cfg(feature = "binary-diffs")]
pub fn write(out: &mut Vec<u8>, old: &[u8], new: &[u8]) {
    out.extend_from_slice(b"GIT binary patch\n");
    for file in [new, old] {
        out.extend_from_slice(format!("literal {}\n", file.len()).as_bytes());
        let mut stream = vec![0; zlib_rs::compress_bound(file.len())];
        let config = zlib_rs::DeflateConfig::default();
        let (stream, _) = zlib_rs::compress_slice(&mut stream, file, config);
        base85::encode(stream, out);
        out.push(b'\n');
    }
}
