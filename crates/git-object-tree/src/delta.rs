//! The difference between two objects, as git's packs state it.

/// The most bytes of one copy. Readers of version 2 take more, older ones do not.
const COPIED: usize = 0xffff;

/// The most bytes of one insertion: their number is the instruction.
const INSERTED: usize = 0x7f;

/// Makes the instructions that turn `old` into `new`: what is the same at both ends is copied, and
/// what is between them inserted. `None` if more than half of `new` is inserted.
pub(crate) fn delta(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    let start = same_start(old, new);
    let end = same_end(&old[start..], &new[start..]);
    let inserted = &new[start..new.len() - end];
    if inserted.len() > new.len() / 2 {
        return None;
    }
    let mut out = Vec::with_capacity(inserted.len() + inserted.len() / INSERTED + 32);
    push_size(&mut out, old.len());
    push_size(&mut out, new.len());
    push_copy(&mut out, 0, start)?;
    for piece in inserted.chunks(INSERTED) {
        out.push(piece.len() as u8);
        out.extend_from_slice(piece);
    }
    push_copy(&mut out, old.len() - end, end)?;
    Some(out)
}

/// How many bytes are compared at once.
const COMPARED: usize = 64;

/// Returns how many bytes are the same from the start.
fn same_start(old: &[u8], new: &[u8]) -> usize {
    let pieces = old.chunks_exact(COMPARED).zip(new.chunks_exact(COMPARED));
    let at = pieces.take_while(|(one, other)| one == other).count() * COMPARED;
    at + old[at..].iter().zip(&new[at..]).take_while(|(one, other)| one == other).count()
}

/// Returns how many bytes are the same up to the end.
fn same_end(old: &[u8], new: &[u8]) -> usize {
    let pieces = old.rchunks_exact(COMPARED).zip(new.rchunks_exact(COMPARED));
    let at = pieces.take_while(|(one, other)| one == other).count() * COMPARED;
    let old = &old[..old.len() - at];
    let new = &new[..new.len() - at];
    at + old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count()
}

/// Seven bits in each byte, the lowest first; the highest bit means: more follow.
pub(crate) fn push_size(out: &mut Vec<u8>, mut size: usize) {
    while size > 0x7f {
        out.push((size & 0x7f) as u8 | 0x80);
        size >>= 7;
    }
    out.push(size as u8);
}

/// A copy states the nonzero bytes of its place and its size, and lists them in its first byte.
/// `None` if the place is beyond 4 GiB.
fn push_copy(out: &mut Vec<u8>, mut at: usize, mut size: usize) -> Option<()> {
    while size > 0 {
        let count = size.min(COPIED);
        let place = u32::try_from(at).ok()?.to_le_bytes();
        let stated = place.into_iter().chain(count.to_le_bytes().into_iter().take(2));
        let instruction = out.len();
        out.push(0x80);
        for (nth, byte) in stated.enumerate().filter(|(_, byte)| *byte != 0) {
            out[instruction] |= 1 << nth;
            out.push(byte);
        }
        at += count;
        size -= count;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use proptest::prelude::*;

    use super::delta;

    /// Reads a size of seven bits a byte.
    fn size(rest: &mut impl Iterator<Item = u8>) -> usize {
        let mut size = 0;
        let mut shift = 0;
        loop {
            let byte = rest.next().expect("a size");
            size |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return size;
            }
        }
    }

    /// Reads the bytes of a number, listed by the bits of an instruction.
    fn number(rest: &mut impl Iterator<Item = u8>, instruction: u8, bits: Range<u32>) -> usize {
        let first = bits.start;
        bits.filter(|bit| instruction >> bit & 1 == 1).fold(0_usize, |number, bit| {
            number | usize::from(rest.next().expect("a byte")) << (8 * (bit - first))
        })
    }

    /// Applies a delta by git's description of the format.
    fn applied(old: &[u8], delta: &[u8]) -> Vec<u8> {
        let mut rest = delta.iter().copied();
        assert_eq!(size(&mut rest), old.len());
        let wanted = size(&mut rest);
        let mut new = Vec::new();
        while let Some(instruction) = rest.next() {
            if instruction & 0x80 == 0 {
                assert_ne!(instruction, 0, "that is reserved");
                new.extend(rest.by_ref().take(instruction.into()));
                continue;
            }
            let at = number(&mut rest, instruction, 0..4);
            let size = number(&mut rest, instruction, 4..7);
            new.extend_from_slice(&old[at..at + if size == 0 { 0x10000 } else { size }]);
        }
        assert_eq!(new.len(), wanted);
        new
    }

    const LONG: usize = 200_000;

    /// Returns a long text with one other byte.
    fn changed(at: usize) -> Vec<u8> {
        let mut text = vec![b'x'; LONG];
        text[at] = b'y';
        text
    }

    #[test]
    fn a_delta_makes_the_new_text_of_the_old() {
        let long = vec![b'x'; LONG];
        for (old, new) in [
            (&b"one two three"[..], &b"one 2 three"[..]),
            (b"", b""),
            (b"gone", b""),
            (b"aaaa", b"aaa"),
            (b"aaa", b"aaaa"),
            (&long, &changed(0)),
            (&long, &changed(100_000)),
            (&long, &changed(199_999)),
            (&long, &long[..70_000]),
        ] {
            let delta = delta(old, new).expect("most of it is the same");
            assert_eq!(applied(old, &delta), new);
        }
        assert_eq!(delta(b"", b"all of it is new"), None);
    }

    proptest! {
        #[test]
        fn a_delta_of_random_texts_too(old in "[ab]{0,300}", new in "[ab]{0,300}") {
            if let Some(delta) = delta(old.as_bytes(), new.as_bytes()) {
                prop_assert_eq!(applied(old.as_bytes(), &delta), new.as_bytes());
            }
        }
    }
}
