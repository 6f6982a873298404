//! Owners and access lists, as far as the guard asks: does the file belong to this user, and may
//! others read or write it?
//!
//! A security descriptor in one piece is a head with places (owner, group, list), and the list has
//! entries: who, and what may be done. See "Security Descriptor Definition" in Microsoft's
//! [MS-DTYP], sections 2.4.2 to 2.4.6.

use std::fs::File;
use std::sync::OnceLock;

use windows_sys::Win32::Security as win;

use super::layout::{bytes, u16_at, u32_at, u64_at, words};
use super::nt;

/// How this module numbers this user, and files without an owner.
pub(super) const ME: u32 = 1;

/// All rights to a file.
const ALL: u32 = 0x001F_01FF;
/// To read its bytes, or a directory's names; also as a part of a general right.
const READS: u32 = 0x1 | 0x8000_0000 | 0x1000_0000;
/// To change its bytes, a directory's names, its list or its owner; also as a part of a general
/// right.
const WRITES: u32 = 0x2 | 0x4 | 0x40 | 0x0004_0000 | 0x0008_0000 | 0x4000_0000 | 0x1000_0000;

const ALLOWS: u8 = 0;
const ALLOWS_IF: u8 = 9;

const FOR_FILES: u8 = 0x01;
const FOR_DIRECTORIES: u8 = 0x02;
const PASSED_ON_ONLY: u8 = 0x08;
const INHERITED: u8 = 0x10;

const PRESENT: u16 = 0x0004;
const AUTO_INHERITED: u16 = 0x0400;
const PROTECTED: u16 = 0x1000;
const IN_ONE_PIECE: u16 = 0x8000;

/// The local system, the administrators, and the owner or creator of a file. They can read
/// everything anyway.
const SYSTEM: &[u8] = &[1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0];
const ADMINISTRATORS: &[u8] = &[1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0];
const CREATOR: &[u8] = &[1, 1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0];
const CREATOR_GROUP: &[u8] = &[1, 1, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0];
const OWNER_RIGHTS: &[u8] = &[1, 1, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0];

/// This user, and the owner of new files of this process, if someone else (the administrators).
fn me() -> &'static [Vec<u8>] {
    static ME: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    ME.get_or_init(|| [win::TokenUser, win::TokenOwner].into_iter().filter_map(identity).collect())
}

fn identity(class: win::TOKEN_INFORMATION_CLASS) -> Option<Vec<u8>> {
    let (words, address) = nt::token(class).ok()?;
    let bytes = bytes(&words, words.len() * 8);
    // It begins with a pointer into itself.
    let place = usize::try_from(u64_at(&bytes, 0)?).ok()?.checked_sub(address)?;
    sid_at(&bytes, place).map(<[u8]>::to_vec)
}

/// The identity that begins at a place.
fn sid_at(bytes: &[u8], place: usize) -> Option<&[u8]> {
    let rest = bytes.get(place..)?;
    rest.get(..8 + 4 * usize::from(*rest.get(1)?))
}

/// An entry of an access list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AclEntry {
    kind: u8,
    flags: u8,
    rights: u32,
    who: Vec<u8>,
}

/// The entries of a descriptor's list; `None` without a list: then everybody may do everything.
fn entries(descriptor: &[u8]) -> Option<Vec<AclEntry>> {
    let list = usize::try_from(u32_at(descriptor, 16)?).ok()?;
    if u16_at(descriptor, 2)? & PRESENT == 0 || list == 0 {
        return None;
    }
    let mut at = list + 8;
    let mut entries = Vec::new();
    for _ in 0..u16_at(descriptor, list + 4)? {
        let head = descriptor.get(at..at + 8)?;
        let who = sid_at(descriptor, at + 8).unwrap_or_default().to_vec();
        entries.push(AclEntry {
            kind: head[0],
            flags: head[1],
            rights: u32_at(descriptor, at + 4)?,
            who,
        });
        at += usize::from(u16_at(descriptor, at + 2)?.max(8));
    }
    Some(entries)
}

/// Makes a descriptor in one piece.
fn descriptor(control: u16, owner: Option<&[u8]>, entries: &[AclEntry]) -> Vec<u64> {
    let short =
        |number: usize| u16::try_from(number).expect("a list has at most 64 KiB").to_le_bytes();
    let mut list = Vec::new();
    for AclEntry { kind, flags, rights, who } in entries {
        list.extend([*kind, *flags]);
        list.extend(short(8 + who.len()));
        list.extend(rights.to_le_bytes());
        list.extend(who);
    }
    let owner = owner.unwrap_or_default();
    let mut all = vec![1, 0];
    all.extend((control | PRESENT | IN_ONE_PIECE).to_le_bytes());
    let places = [
        if owner.is_empty() { 0 } else { 20 },
        0,
        0,
        20 + u32::try_from(owner.len()).expect("an identity"),
    ];
    places.iter().for_each(|place: &u32| all.extend(place.to_le_bytes()));
    all.extend(owner);
    all.extend([2, 0]);
    all.extend(short(8 + list.len()));
    all.extend(short(entries.len()));
    all.extend([0, 0]);
    all.extend(list);
    words(&all)
}

/// The descriptor of an entry for this user alone (and the system, and administrators), with
/// nothing from the directory above.
pub(super) fn private(is_dir: bool) -> Option<&'static [u64]> {
    static PRIVATE: OnceLock<Option<[Vec<u64>; 2]>> = OnceLock::new();
    let make = |flags| {
        let user = me().first()?;
        let entry = |who: &[u8]| AclEntry { kind: ALLOWS, flags, rights: ALL, who: who.to_vec() };
        Some(descriptor(
            PROTECTED,
            Some(user),
            &[entry(user), entry(SYSTEM), entry(ADMINISTRATORS)],
        ))
    };
    let both = PRIVATE.get_or_init(|| Some([make(0)?, make(FOR_FILES | FOR_DIRECTORIES)?]));
    both.as_ref().map(|both| &*both[usize::from(is_dir)])
}

/// The owner of an open file, and the rights of others, as bits of a mode (`0o066` at most).
///
/// If the file system knows neither, the file is this user's, and open to everybody.
pub(super) fn owner_and_others(file: &File) -> (u32, u32) {
    let parts = win::OWNER_SECURITY_INFORMATION | win::DACL_SECURITY_INFORMATION;
    match nt::security(file, parts) {
        Ok(words) => judge(&bytes(&words, words.len() * 8)),
        Err(windows_sys::Win32::Foundation::STATUS_ACCESS_DENIED) => (u32::MAX, 0),
        Err(_) => (ME, 0o066),
    }
}

fn judge(descriptor: &[u8]) -> (u32, u32) {
    let owner = u32_at(descriptor, 4).filter(|&place| place != 0);
    let owner = owner.and_then(|place| sid_at(descriptor, place as usize));
    let uid = match owner {
        None => ME,
        Some(owner) if me().iter().any(|mine| mine == owner) => ME,
        // Any other number: two other users get different ones, most of the time.
        Some(owner) => {
            2 + owner.iter().fold(0_u32, |all, byte| all.wrapping_mul(31) + u32::from(*byte))
                % 0x7FFF_FFFF
        }
    };
    let Some(entries) = entries(descriptor) else { return (uid, 0o066) };
    let known = |who: &[u8]| {
        [SYSTEM, ADMINISTRATORS, CREATOR, OWNER_RIGHTS].contains(&who)
            || Some(who) == owner
            || me().iter().any(|mine| mine == who)
    };
    let others = entries.iter().filter(|entry| {
        matches!(entry.kind, ALLOWS | ALLOWS_IF)
            && entry.flags & PASSED_ON_ONLY == 0
            && !known(&entry.who)
    });
    let rights = others.fold(0, |all, entry| all | entry.rights);
    let reads = if rights & READS == 0 { 0 } else { 0o044 };
    let writes = if rights & WRITES == 0 { 0 } else { 0o022 };
    (uid, reads | writes)
}

/// Reads the access list of an open file; `None` where there are none.
pub(super) fn list(file: &File) -> Option<Vec<u8>> {
    let words = nt::security(file, win::DACL_SECURITY_INFORMATION).ok()?;
    Some(bytes(&words, words.len() * 8))
}

/// The access list passed on by an open directory to a new file; `None` when nothing is passed on.
pub(super) fn passed_on(dir: &File) -> Option<Vec<u8>> {
    let entries = entries(&list(dir)?)?;
    let for_files = entries.into_iter().filter(|entry| {
        entry.flags & FOR_FILES != 0
            && matches!(entry.kind, 0 | 1 | ALLOWS_IF | 10)
            && entry.who != CREATOR_GROUP
    });
    let passed: Vec<AclEntry> = for_files
        .map(|entry| AclEntry {
            flags: INHERITED,
            rights: plain_rights(entry.rights),
            who: match me().first() {
                Some(user) if entry.who == CREATOR => user.clone(),
                _ => entry.who,
            },
            ..entry
        })
        .collect();
    if passed.is_empty() {
        return None;
    }
    let words = descriptor(AUTO_INHERITED, None, &passed);
    Some(bytes(&words, words.len() * 8))
}

/// General rights as rights to a file.
fn plain_rights(rights: u32) -> u32 {
    let general = [
        (0x1000_0000, ALL),
        (0x8000_0000, 0x0012_0089),
        (0x4000_0000, 0x0012_0116),
        (0x2000_0000, 0x0012_00A0),
    ];
    let of = general.iter().filter(|(bit, _)| rights & bit != 0);
    of.fold(rights & 0x0FFF_FFFF, |all, (_, plain)| all | plain)
}

/// Gives an open file an access list, read or made here.
pub(super) fn set_list(file: &File, list: &[u8]) -> Result<(), nt::Status> {
    let protected = u16_at(list, 2).is_some_and(|control| control & PROTECTED != 0);
    let how = if protected {
        win::PROTECTED_DACL_SECURITY_INFORMATION
    } else {
        win::UNPROTECTED_DACL_SECURITY_INFORMATION
    };
    nt::set_security(file, win::DACL_SECURITY_INFORMATION | how, &words(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYBODY: &[u8] = &[1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];

    fn of(owner: Option<&[u8]>, entries: &[(u8, u8, u32, &[u8])]) -> Vec<u8> {
        let entry = |&(kind, flags, rights, who): &(u8, u8, u32, &[u8])| AclEntry {
            kind,
            flags,
            rights,
            who: who.to_vec(),
        };
        let words = descriptor(0, owner, &entries.iter().map(entry).collect::<Vec<_>>());
        bytes(&words, words.len() * 8)
    }

    #[test]
    fn others_are_all_but_the_user_the_system_and_administrators() {
        let user = &*me()[0];
        for (entries, bits) in [
            (
                &[
                    (ALLOWS, 0, ALL, user),
                    (ALLOWS, 0, ALL, SYSTEM),
                    (ALLOWS, 0, ALL, ADMINISTRATORS),
                ][..],
                0,
            ),
            (&[(ALLOWS, 0, 0x0012_0089, EVERYBODY)], 0o044),
            (&[(ALLOWS, 0, 0x0012_0116, EVERYBODY)], 0o022),
            (&[(ALLOWS, 0, 0x1000_0000, EVERYBODY)], 0o066),
            (&[(ALLOWS_IF, 0, 0x8000_0000, EVERYBODY)], 0o044),
            (&[(ALLOWS, 0, 0x0008_0000, EVERYBODY)], 0o022),
            (&[(ALLOWS, PASSED_ON_ONLY, ALL, EVERYBODY)], 0),
            (&[(1, 0, ALL, EVERYBODY)], 0),
            (&[(ALLOWS, PASSED_ON_ONLY | FOR_FILES, ALL, CREATOR)], 0),
        ] {
            assert_eq!(judge(&of(Some(user), entries)), (ME, bits), "{entries:?}");
        }
        assert_ne!(judge(&of(Some(EVERYBODY), &[])).0, ME);
        let mut without = of(Some(user), &[]);
        without[2] &= !4;
        assert_eq!(judge(&without), (ME, 0o066), "no list at all lets everybody do everything");
    }

    #[test]
    fn a_list_that_is_cut_off_is_open_to_everybody() {
        let whole = of(Some(&me()[0]), &[(ALLOWS, 0, ALL, SYSTEM), (ALLOWS, 0, ALL, EVERYBODY)]);
        let end = whole.len() - 16;
        assert_eq!(judge(&whole[..end]).1, 0o066);
        assert_eq!(judge(&[]), (ME, 0o066));
    }

    #[test]
    fn general_rights_become_those_of_a_file() {
        assert_eq!(plain_rights(0x1000_0000), ALL);
        assert_eq!(plain_rights(0x8000_0000 | 0x2), 0x0012_008B);
        assert_eq!(plain_rights(0x0012_0089), 0x0012_0089);
    }
}
