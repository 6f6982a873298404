//! Reading and making what the calls take and give: numbers and texts at fixed places.

/// Bytes in words, as the calls want them aligned.
pub(super) fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(word).collect()
}

/// Up to eight bytes in a word.
fn word(bytes: &[u8]) -> u64 {
    let mut whole = [0; 8];
    whole[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(whole)
}

/// The first bytes of some words.
pub(super) fn bytes(words: &[u64], length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        words.iter().take(length.div_ceil(8)).flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(length);
    bytes
}

/// Some bytes from a place on; none where there are not as many.
fn at<const N: usize>(bytes: &[u8], place: usize) -> Option<[u8; N]> {
    bytes.get(place..place.checked_add(N)?)?.try_into().ok()
}

pub(super) fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    at(bytes, place).map(u16::from_le_bytes)
}

pub(super) fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    at(bytes, place).map(u32::from_le_bytes)
}

pub(super) fn u64_at(bytes: &[u8], place: usize) -> Option<u64> {
    at(bytes, place).map(u64::from_le_bytes)
}

/// A text of `length` bytes in UTF-16.
pub(super) fn text_at(bytes: &[u8], place: usize, length: usize) -> Option<Vec<u16>> {
    let text = bytes.get(place..place.checked_add(length)?)?;
    Some(text.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect())
}

/// A name as other platforms have it: UTF-8. A name that is not Unicode becomes invalid UTF-8, so
/// that it is no name of ours.
pub(super) fn name_bytes(name: &[u16]) -> Vec<u8> {
    match String::from_utf16(name) {
        Ok(name) => name.into_bytes(),
        Err(_) => [String::from_utf16_lossy(name).as_bytes(), &[0xFF]].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_bytes_are_the_same() {
        for length in [0, 1, 7, 8, 9, 17] {
            let text: Vec<u8> = (1..=length).collect();
            assert_eq!(bytes(&words(&text), text.len()), text);
        }
    }

    #[test]
    fn what_is_cut_off_is_not_read() {
        let bytes = [1, 0, 2, 0, 3, 0];
        assert_eq!(u16_at(&bytes, 4), Some(3));
        assert_eq!(u16_at(&bytes, 5), None);
        assert_eq!(u32_at(&bytes, 0), Some(0x2_0001));
        assert_eq!(u64_at(&bytes, 0), None);
        assert_eq!(u32_at(&bytes, usize::MAX), None);
        assert_eq!(text_at(&bytes, 2, 4), Some(vec![2, 3]));
        assert_eq!(text_at(&bytes, 4, 4), None);
    }

    #[test]
    fn half_of_a_pair_is_no_name_of_ours() {
        assert_eq!(name_bytes(&[0x61, 0xE9]), "aé".as_bytes());
        assert!(String::from_utf8(name_bytes(&[0x61, 0xD800])).is_err());
    }
}
