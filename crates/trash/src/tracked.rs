//! Whether git tracks a directory: read from its index.

/// Tells whether a path in the index starts with `prefix`.
///
/// An index that cannot be read counts as tracking everything.
pub(crate) fn tracks(index: &[u8], prefix: &str) -> bool {
    tracks_or_none(index, prefix.as_bytes()).unwrap_or(true)
}

fn tracks_or_none(index: &[u8], prefix: &[u8]) -> Option<bool> {
    let version = match index.get(..8)? {
        [b'D', b'I', b'R', b'C', version @ ..] => u32::from_be_bytes(version.try_into().ok()?),
        _ => return None,
    };
    match version {
        2 | 3 => Some(contains(index, prefix)),
        // Names are stored without what they share with the one before; whatever the prefix
        // shares with its neighbours, its end is spelt out once.
        4 => Some(prefix.iter().enumerate().any(|(at, _)| at < prefix.len() - 1 && tail_starts(index, &prefix[at..]))),
        _ => None,
    }
}

/// In version 4 a name's rest starts after a length and ends in NUL; a rest may begin anywhere in the prefix.
fn tail_starts(index: &[u8], tail: &[u8]) -> bool {
    tail.len() >= 6 && contains(index, tail)
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_prefix() {
        let mut index = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
        index.extend_from_slice(&[0; 62]);
        index.extend_from_slice(b".my-notes/lock\0");
        assert!(tracks(&index, ".my-notes/"));
        assert!(!tracks(b"DIRC\0\0\0\x02\0\0\0\x01 src/my-notes/x", ".my-notes/"));
        assert!(tracks(b"DIRC\0\0\0\x04\0\0\0\x01 \x02y-notes/lock\0", ".my-notes/"));
        assert!(tracks(b"no index", ".my-notes/"));
    }
}
