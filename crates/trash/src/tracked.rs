//! Whether git tracks a directory: read from its index.

/// Returns whether a path in the index starts with `prefix`.
///
/// An unreadable index counts as tracking everything.
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
        // The hashes have one of these lengths. With the other length the index cannot be parsed,
        // or has no such name.
        4 => match [20, 32].map(|hash| names(index, prefix, hash)) {
            [None, None] => None,
            found => Some(found.contains(&Some(true))),
        },
        _ => None,
    }
}

/// Index version 4 stores a name without the beginning common to the name before, perhaps most of
/// the prefix, so names have to be put together. `None` if the index cannot be parsed with hashes
/// of this length.
fn names(index: &[u8], prefix: &[u8], hash: usize) -> Option<bool> {
    let count = u32::from_be_bytes(index.get(8..12)?.try_into().ok()?);
    let mut rest = &index[12..];
    let mut name = Vec::new();
    for _ in 0..count {
        let flags = *rest.get(40 + hash)?;
        // Some entries have more flags.
        rest = rest.get(42 + hash + if flags & 0x40 == 0 { 0 } else { 2 }..)?;
        let mut dropped: usize = 0;
        loop {
            let (&byte, after) = rest.split_first()?;
            rest = after;
            dropped = dropped.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                break;
            }
            dropped += 1;
        }
        name.truncate(name.len().checked_sub(dropped)?);
        let end = rest.iter().position(|&byte| byte == 0)?;
        name.extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        if contains(&name, prefix) {
            return Some(true);
        }
    }
    Some(false)
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
        assert!(tracks(b"no index", ".my-notes/"));
    }
    /// The common beginning of a name and the one before is not repeated in the index, even for
    /// most of the prefix.
    #[test]
    fn finds_the_prefix_where_names_are_shortened() {
        let long = format!("{}/.my-notes/lock", "d".repeat(300));
        for (names, tracked) in [
            (&[][..], false),
            (&["a", "src/my-notes/x", ".my-notes"], false),
            (&[".my-notes-", ".my-notes0"], false),
            (&[".my-notes/lock"], true),
            (&[".my-notes-", ".my-notes/lock"], true),
            (&["a", "sub/.my-notet", "sub/.my-notes/x", "z"], true),
            (&[&long[..200], &long, "z"], true),
            (&[&format!(".my-notes{}", "-".repeat(200)), ".my-notes/lock"], true),
            (&[&long[..302], "z", "zz"], false),
        ] {
            for (hash, flags) in [(20, 0), (32, 0), (20, 0x40), (32, 0x40)] {
                let mut index = b"DIRC\0\0\0\x04".to_vec();
                index.extend((names.len() as u32).to_be_bytes());
                let mut last = "";
                for name in names {
                    index.extend(vec![b'.'; 40 + hash]);
                    index.extend([flags, 9]);
                    index.extend(vec![0; usize::from(flags) / 32]);
                    let shared = name
                        .bytes()
                        .zip(last.bytes())
                        .take_while(|(one, other)| one == other)
                        .count();
                    match last.len() - shared {
                        dropped @ 0..128 => index.push(dropped as u8),
                        dropped => index.extend([
                            0x80 | ((dropped - 128) >> 7) as u8,
                            (dropped - 128) as u8 & 0x7f,
                        ]),
                    }
                    index.extend(name[shared..].bytes());
                    index.push(0);
                    last = name;
                }
                assert_eq!(tracks(&index, ".my-notes/"), tracked, "{names:?} {hash} {flags}");
                // The index ends within a name, so parsing fails.
                index.pop();
                assert!(
                    tracks(&index, ".my-notes/") || names.is_empty(),
                    "{names:?} {hash} {flags}"
                );
            }
        }
    }
}
