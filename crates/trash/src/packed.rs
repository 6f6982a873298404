//! Bytes, compressed: blocks, each with the length of its bytes and the length of what is stored for
//! them, as 32 bits, little-endian. What compression does not make smaller is stored as it is.

use std::fmt;

use lz4_flex::block::{
    CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size,
};

/// So few bytes are not compressed.
const FEW: usize = 256;

/// The most bytes of a block. For blocks of this size and less the compressor's table has 16 bits
/// for a place, and fits into the processor's first cache.
const BLOCK: usize = u16::MAX as usize - 1;

const HEADER: usize = 8;

/// Compresses bytes as they come.
#[derive(Default)]
pub(crate) struct Packer {
    /// The bytes of the block that is not full yet.
    block: Vec<u8>,
    table: CompressTable,
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packer").field("block", &self.block.len()).finish_non_exhaustive()
    }
}

impl Packer {
    /// Takes bytes, and appends the blocks that they fill to `out`.
    pub(crate) fn push(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while self.block.len() + bytes.len() > BLOCK {
            let (now, later) = bytes.split_at(BLOCK - self.block.len());
            self.block.extend_from_slice(now);
            self.end_block(out);
            bytes = later;
        }
        self.block.extend_from_slice(bytes);
    }

    /// Appends the bytes that do not fill a block to `out`.
    pub(crate) fn end_block(&mut self, out: &mut Vec<u8>) {
        let header = out.len();
        out.resize(header + HEADER, 0);
        let stored = match self.block.len() {
            0 => return out.truncate(header),
            1..=FEW => None,
            length => {
                out.resize(header + HEADER + get_maximum_output_size(length), 0);
                let to = &mut out[header + HEADER..];
                let stored = compress_into_with_table(&self.block, to, &mut self.table);
                stored.ok().filter(|&stored| stored < length)
            }
        };
        out.truncate(header + HEADER + stored.unwrap_or_default());
        if stored.is_none() {
            out.extend_from_slice(&self.block);
        }
        let stored = out.len() - header - HEADER;
        let lengths = [self.block.len(), stored].map(|length| (length as u32).to_le_bytes());
        out[header..header + HEADER].copy_from_slice(lengths.as_flattened());
        self.block.clear();
    }
}

/// Compresses bytes; nothing for none.
#[must_use]
pub fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut packer = Packer::default();
    packer.push(bytes, &mut out);
    packer.end_block(&mut out);
    out
}

/// Decompresses the bytes from [`packed`]; `None` for other bytes, or for a text longer than
/// `limit`.
#[must_use]
pub fn unpacked(mut packed: &[u8], limit: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while !packed.is_empty() {
        let (lengths, rest) = packed.split_first_chunk::<HEADER>()?;
        let mut lengths = lengths.as_chunks::<4>().0.iter().map(|it| u32::from_le_bytes(*it));
        let length = usize::try_from(lengths.next()?).ok()?;
        let (stored, rest) = rest.split_at_checked(usize::try_from(lengths.next()?).ok()?)?;
        packed = rest;
        let before = bytes.len();
        let after = before.checked_add(length)?;
        if !(1..=BLOCK).contains(&length) || after as u64 > limit {
            return None;
        }
        if stored.len() == length {
            bytes.extend_from_slice(stored);
            continue;
        }
        bytes.resize(after, 0);
        decompress_into(stored, &mut bytes[before..]).ok().filter(|&found| found == length)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(length: u32) -> Vec<u8> {
        (0..length).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
    }

    #[test]
    fn what_is_packed_comes_out_again_and_nothing_else_does() {
        let noise = noise(70_000);
        for bytes in [
            &b""[..],
            b"a",
            &noise[..FEW],
            &noise[..=FEW],
            &b"ab\n".repeat(100),
            &b"ab\n".repeat(50_000),
            &noise[..BLOCK],
            &noise,
        ] {
            let packed = packed(bytes);
            assert_eq!(unpacked(&packed, 1 << 20).as_deref(), Some(bytes));
            assert_eq!(unpacked(&packed, bytes.len() as u64).as_deref(), Some(bytes));
            if bytes.is_empty() {
                assert!(packed.is_empty());
                continue;
            }
            assert_eq!(unpacked(&packed, bytes.len() as u64 - 1), None);
            for cut in [1, 7, 8, packed.len() / 2, packed.len() - 1] {
                assert_eq!(unpacked(&packed[..cut], 1 << 20), None, "{cut} of {}", packed.len());
            }
        }
        // A cut between two blocks is not seen: whoever keeps bytes keeps their hash.
        let first = packed(&noise[..BLOCK]).len();
        assert_eq!(unpacked(&packed(&noise)[..first], 1 << 20).as_deref(), Some(&noise[..BLOCK]));
        for wrong in
            [&[0xff; 30][..], &[0; 8], &[1, 0, 0, 0, 0, 0, 0, 0], &[9, 0, 0, 0, 1, 0, 0, 0, 0]]
        {
            assert_eq!(unpacked(wrong, u64::MAX), None, "{wrong:?}");
        }
    }

    #[test]
    fn bytes_may_come_in_any_pieces() {
        let bytes = [noise(70_000), b"ab\n".repeat(70_000)].concat();
        for size in [1, 100, BLOCK - 1, BLOCK, BLOCK + 1, bytes.len()] {
            let mut out = Vec::new();
            let mut packer = Packer::default();
            bytes.chunks(size).for_each(|piece| packer.push(piece, &mut out));
            packer.end_block(&mut out);
            assert_eq!(out, packed(&bytes), "{size}");
        }
        assert!(packed(&bytes).len() < 100_000);
    }
}
