//! Bytes, compressed.

use zlib_rs::{DeflateConfig, InflateConfig, ReturnCode};

/// So few bytes stay as they are: a compressor begins with 380 kB of memory.
const FEW: usize = 256;

fn are_few(length: u64) -> bool {
    (1..=FEW as u64).contains(&length)
}

/// Compresses bytes: their length, then a zlib stream, or the bytes themselves where they are few.
#[must_use]
pub fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
    if are_few(bytes.len() as u64) {
        return Some([&(bytes.len() as u64).to_le_bytes(), bytes].concat());
    }
    let mut packed = vec![0; 8 + zlib_rs::compress_bound(bytes.len())];
    packed[..8].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    let (stream, code) =
        zlib_rs::compress_slice(&mut packed[8..], bytes, DeflateConfig::best_speed());
    let length = 8 + stream.len();
    packed.truncate(length);
    (code == ReturnCode::Ok).then_some(packed)
}

/// Decompresses the bytes from [`packed`]; `None` for other bytes, or for a text longer than
/// `limit`.
#[must_use]
pub fn unpacked(packed: &[u8], limit: u64) -> Option<Vec<u8>> {
    let (length, stream) = packed.split_at_checked(8)?;
    let length = u64::from_le_bytes(length.try_into().ok()?);
    if are_few(length) {
        return (stream.len() as u64 == length && length <= limit).then(|| stream.to_vec());
    }
    let mut bytes = vec![0; usize::try_from(length).ok().filter(|_| length <= limit)?];
    let (whole, code) = zlib_rs::decompress_slice(&mut bytes, stream, InflateConfig::default());
    let whole = code == ReturnCode::Ok && whole.len() as u64 == length;
    whole.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again_and_nothing_else_does() {
        let noise: Vec<u8> =
            (0..70_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for bytes in
            [&b""[..], b"a", &noise[..FEW], &noise[..FEW + 1], &b"ab\n".repeat(50_000), &noise]
        {
            let packed = packed(bytes).unwrap();
            assert_eq!(unpacked(&packed, 1 << 20).as_deref(), Some(bytes));
            assert_eq!(unpacked(&packed, bytes.len() as u64).as_deref(), Some(bytes));
            assert!(bytes.is_empty() || unpacked(&packed, bytes.len() as u64 - 1).is_none());
            for cut in [0, 7, 8, packed.len() / 2, packed.len() - 1] {
                assert_eq!(unpacked(&packed[..cut], 1 << 20), None, "{cut} of {}", packed.len());
            }
        }
        // A length beyond all memory.
        assert_eq!(unpacked(&[0xff; 30], u64::MAX - 1), None);
    }
}
