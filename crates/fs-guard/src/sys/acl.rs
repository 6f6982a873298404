//! Access lists of macOS, as bytes: the list of a new file from its directory, and entries that
//! would make a file impossible to move.
//!
//! The format is that of `acl_copy_ext_native`, a `kauth_filesec` of `<sys/kauth.h>` in the
//! machine's byte order: a magic number, two identities that are not used here, the number of
//! entries, flags; then for each entry an identity, its flags and its rights. An empty slice means:
//! no list.

const MAGIC: u32 = 0x012C_C16D;
const COUNT_AT: usize = 36;
const HEAD: usize = 44;
const ENTRY: usize = 24;

const KIND: u32 = 0xF;
const DENY: u32 = 2;
const INHERITED: u32 = 1 << 4;
const FOR_FILES: u32 = 1 << 5;
/// For files, for directories, for one level only, not for the directory itself.
const INHERITANCE: u32 = FOR_FILES | 1 << 6 | 1 << 7 | 1 << 8;
const DELETE: u32 = 1 << 4;

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Tells whether the bytes are one whole list.
pub(super) fn is_whole(list: &[u8]) -> bool {
    let entries = list.len().saturating_sub(HEAD) / ENTRY;
    list.len() == HEAD + entries * ENTRY
        && number(list, 0) == Some(MAGIC)
        && number(list, COUNT_AT).map(|count| count as usize) == Some(entries)
}

/// The entries with their flags and their rights; none of what is not a list.
fn entries(list: &[u8]) -> impl Iterator<Item = (&[u8], u32, u32)> {
    let entries = if is_whole(list) { &list[HEAD..] } else { &[] };
    entries.chunks_exact(ENTRY).map(|entry| {
        (entry, number(entry, 16).unwrap_or_default(), number(entry, 20).unwrap_or_default())
    })
}

/// Tells whether two lists have the same entries and flags.
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.get(COUNT_AT..) == other.get(COUNT_AT..)
}

/// The list of a new file in a directory with this list.
pub(super) fn passed_on(list: &[u8]) -> Vec<u8> {
    let mut new = vec![0; HEAD];
    let mut count = 0_u32;
    for (entry, flags, _) in entries(list).filter(|(_, flags, _)| flags & FOR_FILES != 0) {
        new.extend_from_slice(&entry[..16]);
        new.extend_from_slice(&(flags & !INHERITANCE | INHERITED).to_ne_bytes());
        new.extend_from_slice(&entry[20..]);
        count += 1;
    }
    if count == 0 {
        return Vec::new();
    }
    new[..4].copy_from_slice(&MAGIC.to_ne_bytes());
    new[COUNT_AT..COUNT_AT + 4].copy_from_slice(&count.to_ne_bytes());
    new
}

/// Returns whether the list denies anyone to delete the file, and so to rename it.
pub(super) fn denies_deletion(list: &[u8]) -> bool {
    entries(list).any(|(_, flags, rights)| flags & KIND == DENY && rights & DELETE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOW: u32 = 1;
    const READ: u32 = 1 << 1;

    fn list(entries: &[(u8, u32, u32)]) -> Vec<u8> {
        let mut list = MAGIC.to_ne_bytes().to_vec();
        list.resize(COUNT_AT, 0);
        list.extend_from_slice(&u32::try_from(entries.len()).expect("few entries").to_ne_bytes());
        list.resize(HEAD, 0);
        for (who, flags, rights) in entries {
            list.extend_from_slice(&[*who; 16]);
            list.extend_from_slice(&flags.to_ne_bytes());
            list.extend_from_slice(&rights.to_ne_bytes());
        }
        list
    }

    #[test]
    fn a_new_file_gets_what_is_for_files() {
        let all = ALLOW | INHERITANCE;
        for (name, of_directory, of_file) in [
            ("none", &[][..], &[][..]),
            ("for the directory only", &[(1, ALLOW, READ)], &[]),
            ("for directories", &[(1, ALLOW | 1 << 6, READ)], &[]),
            ("for files", &[(1, ALLOW | FOR_FILES, READ)], &[(1, ALLOW | INHERITED, READ)]),
            ("for all, one level", &[(1, all, READ)], &[(1, ALLOW | INHERITED, READ)]),
            ("inherited itself", &[(1, all | INHERITED, READ)], &[(1, ALLOW | INHERITED, READ)]),
            (
                "in their order",
                &[(3, DENY | FOR_FILES, READ), (2, ALLOW, READ), (1, ALLOW | FOR_FILES, DELETE)],
                &[(3, DENY | INHERITED, READ), (1, ALLOW | INHERITED, DELETE)],
            ),
        ] {
            let expected = if of_file.is_empty() { Vec::new() } else { list(of_file) };
            assert_eq!(passed_on(&list(of_directory)), expected, "{name}");
        }
    }

    #[test]
    fn a_denied_deletion_is_seen() {
        for (entries, denied) in [
            (&[][..], false),
            (&[(1, ALLOW, DELETE)], false),
            (&[(1, DENY, READ)], false),
            (&[(1, DENY | INHERITED, DELETE | READ)], true),
            (&[(1, ALLOW, READ), (2, DENY, DELETE)], true),
        ] {
            assert_eq!(denies_deletion(&list(entries)), denied, "{entries:?}");
        }
    }

    #[test]
    fn what_is_no_list_has_no_entries() {
        let whole = list(&[(1, DENY | FOR_FILES, DELETE)]);
        assert!(is_whole(&whole));
        assert!(is_whole(&list(&[])));
        let mut longer = whole.clone();
        longer.push(0);
        let mut more = whole.clone();
        more[COUNT_AT] ^= 2;
        let mut other = whole.clone();
        other[0] ^= 1;
        for bytes in [
            &[][..],
            &whole[..HEAD - 1],
            &whole[..HEAD],
            &whole[..whole.len() - 1],
            &longer,
            &more,
            &other,
        ] {
            assert!(!is_whole(bytes), "{bytes:?}");
            assert!(!denies_deletion(bytes), "{bytes:?}");
            assert!(passed_on(bytes).is_empty(), "{bytes:?}");
        }
    }

    #[test]
    fn lists_are_compared_without_the_identities_of_the_head() {
        let one = list(&[(1, ALLOW, READ)]);
        let mut named = one.clone();
        named[4] = 7;
        for (name, other, same) in [
            ("itself", one.clone(), true),
            ("an owner in the head", named, true),
            ("another right", list(&[(1, ALLOW, DELETE)]), false),
            ("no entries", list(&[]), false),
            ("no list", Vec::new(), false),
        ] {
            assert_eq!(is_same(&one, &other), same, "{name}");
        }
        assert!(is_same(&[], &[]));
    }
}
