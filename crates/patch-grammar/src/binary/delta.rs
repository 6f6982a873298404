//! Git's deltas: what makes one file of another, by copies of its bytes and new ones.

/// How many bytes a copy has that states no length.
const DEFAULT_LENGTH: usize = 0x10000;

/// The sizes at the beginning of a delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) source: u64,
    pub(crate) result: u64,
}

/// One step of a delta.
enum DeltaStep<'d> {
    Copy { start: usize, length: usize },
    Insert(&'d [u8]),
}

/// Returns the sizes of a delta, if its steps stay within the source and make the stated size.
pub(crate) fn checked(delta: &[u8]) -> Option<Sizes> {
    let (sizes, mut steps) = sizes(delta)?;
    let mut made = 0_u64;
    while !steps.is_empty() {
        let length = match step(&mut steps)? {
            DeltaStep::Copy { start, length } => {
                if (start + length) as u64 > sizes.source {
                    return None;
                }
                length
            }
            DeltaStep::Insert(bytes) => bytes.len(),
        };
        made = made.checked_add(length as u64)?;
    }
    (made == sizes.result).then_some(sizes)
}

/// Applies a checked delta. Returns `None` for a source of another size.
pub(crate) fn apply(delta: &[u8], source: &[u8]) -> Option<Vec<u8>> {
    let (sizes, mut steps) = sizes(delta)?;
    if sizes.source != source.len() as u64 {
        return None;
    }
    let mut out = Vec::with_capacity(usize::try_from(sizes.result).ok()?);
    while !steps.is_empty() {
        match step(&mut steps)? {
            DeltaStep::Copy { start, length } => {
                out.extend_from_slice(source.get(start..start + length)?);
            }
            DeltaStep::Insert(bytes) => out.extend_from_slice(bytes),
        }
    }
    Some(out)
}

fn sizes(delta: &[u8]) -> Option<(Sizes, &[u8])> {
    let (source, rest) = number(delta)?;
    let (result, rest) = number(rest)?;
    Some((Sizes { source, result }, rest))
}

/// Reads a number: seven bits a byte, the lowest first; each but the last byte has its high bit
/// set.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

/// Takes the next step. The bits of a copy say which bytes of its place and length follow.
fn step<'d>(rest: &mut &'d [u8]) -> Option<DeltaStep<'d>> {
    let bits = *rest.split_off_first()?;
    if bits & 0x80 == 0 {
        // There is no step 0.
        return if bits == 0 {
            None
        } else {
            rest.split_off(..usize::from(bits)).map(DeltaStep::Insert)
        };
    }
    let start = stated(rest, bits & 0xf, 4)?;
    let length = stated(rest, bits >> 4, 3)?;
    Some(DeltaStep::Copy { start, length: if length == 0 { DEFAULT_LENGTH } else { length } })
}

/// Reads a number of so many bytes; the bits say which bytes are there, from the lowest.
fn stated(rest: &mut &[u8], bits: u8, count: u32) -> Option<usize> {
    let mut value = 0;
    for index in 0..count {
        if bits & (1 << index) != 0 {
            value |= usize::from(*rest.split_off_first()?) << (8 * index);
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_copies_and_inserts() {
        for (delta, wanted) in [
            (&[6, 3, 0x91, 1, 3][..], &b"bcd"[..]),
            (&[6, 6, 0x90, 3, 3, b'x', b'y', b'z'], b"abcxyz"),
            (&[6, 0], b""),
            (&[6, 1, 0x91, 5, 1], b"f"),
            // A long form of a number.
            (&[0x86, 0, 1, 0x91, 5, 1], b"f"),
        ] {
            assert_eq!(checked(delta).map(|sizes| sizes.result), Some(wanted.len() as u64));
            assert_eq!(apply(delta, b"abcdef").as_deref(), Some(wanted), "{delta:?}");
            assert_eq!(apply(delta, b"abcde"), None, "{delta:?}");
        }
        let source = vec![7; DEFAULT_LENGTH];
        let all = [0x80, 0x80, 4, 0x80, 0x80, 4, 0x80];
        assert_eq!(checked(&all).map(|sizes| sizes.result), Some(DEFAULT_LENGTH as u64));
        assert_eq!(apply(&all, &source), Some(source));
    }

    #[test]
    fn a_damaged_delta_is_none() {
        for delta in [
            &[][..],
            &[6],
            &[0x86],
            // Sizes without an end.
            &[0xff; 12],
            // Less, or more, than stated.
            &[6, 3, 0x91, 1, 2],
            &[6, 3, 0x91, 1, 4],
            &[6, 3],
            // Beyond the source.
            &[6, 3, 0x91, 4, 3],
            &[6, 3, 0x91, 0xff, 3],
            &[6, 3, 0x8f, 0xff, 0xff, 0xff, 0xff],
            // Missing bytes.
            &[6, 3, 0x91, 1],
            &[6, 3, 3, b'x', b'y'],
            // Step 0.
            &[6, 0, 0],
        ] {
            assert_eq!(checked(delta), None, "{delta:?}");
        }
    }
}
