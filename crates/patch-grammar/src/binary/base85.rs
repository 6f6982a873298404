//! Git's base 85: each line has a letter for the number of its bytes, and five characters for each
//! four of them.

/// The digits, in order.
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// The value of each byte; `NONE` for other bytes.
const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut value = 0;
    while value < DIGITS.len() {
        values[DIGITS[value] as usize] = value as u8;
        value += 1;
    }
    values
};

const NONE: u8 = u8::MAX;

/// The most bytes of a line.
#[cfg(feature = "binary-diffs")]
const WIDTH: usize = 52;

/// Decodes a line without its terminator, and appends the bytes. Returns `None` if the line is not
/// one of base 85; some of its bytes may have been appended then.
pub(crate) fn decode_line(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (&letter, digits) = line.split_first()?;
    let length = match letter {
        b'A'..=b'Z' => letter - b'A' + 1,
        b'a'..=b'z' => letter - b'a' + 27,
        _ => return None,
    };
    let mut left = usize::from(length);
    let (groups, rest) = digits.as_chunks::<5>();
    if !rest.is_empty() || groups.len() != left.div_ceil(4) {
        return None;
    }
    for group in groups {
        let mut number = 0_u64;
        for &digit in group {
            let value = VALUES[usize::from(digit)];
            if value == NONE {
                return None;
            }
            number = number * 85 + u64::from(value);
        }
        let bytes = u32::try_from(number).ok()?.to_be_bytes();
        let (taken, unused) = bytes.split_at(left.min(4));
        // The bits beyond the last byte are zero, so no two texts stand for the same bytes.
        if unused.iter().any(|&byte| byte != 0) {
            return None;
        }
        out.extend_from_slice(taken);
        left -= taken.len();
    }
    Some(())
}

/// Decodes lines that were checked before.
pub(crate) fn decode(lines: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(lines.len() / 5 * 4);
    for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        decode_line(line.strip_suffix(b"\r").unwrap_or(line), &mut out)?;
    }
    Some(out)
}

/// Appends lines for these bytes.
#[cfg(feature = "binary-diffs")]
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for line in bytes.chunks(WIDTH) {
        let length = line.len() as u8;
        out.push(if length <= 26 { b'A' + length - 1 } else { b'a' + length - 27 });
        for group in line.chunks(4) {
            let mut padded = [0; 4];
            padded[..group.len()].copy_from_slice(group);
            let mut number = u32::from_be_bytes(padded);
            let mut digits = [0; 5];
            for digit in digits.iter_mut().rev() {
                *digit = DIGITS[(number % 85) as usize];
                number /= 85;
            }
            out.extend_from_slice(&digits);
        }
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let bytes: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for length in 0..bytes.len() {
            let mut lines = Vec::new();
            encode(&bytes[..length], &mut lines);
            assert_eq!(decode(&lines).as_deref(), Some(&bytes[..length]), "{length}");
        }
    }

    #[test]
    fn only_whole_lines_of_digits_are_decoded() {
        for (line, bytes) in [
            (&b"A00000"[..], Some(&[0][..])),
            (b"D|NsC0", Some(&[255, 255, 255, 255])),
            (b"HcmV?d00001", Some(&[0x78, 1, 3, 0, 0, 0, 0, 1])),
            // Fewer digits, or more, than the letter says.
            (b"D0000", None),
            (b"D0000000000", None),
            (b"E00000", None),
            (b"z00000", None),
            (b"", None),
            // Not a letter; not a digit; more than four bytes can be.
            (b"000000", None),
            (b"D0000,", None),
            (b"D0000 ", None),
            (b"D|NsC1", None),
            (b"D~~~~~", None),
            // A byte that the letter leaves out.
            (b"A00001", None),
        ] {
            let mut out = Vec::new();
            let found = decode_line(line, &mut out).map(|()| &out[..]);
            assert_eq!(found, bytes, "{}", String::from_utf8_lossy(line));
        }
    }
}
