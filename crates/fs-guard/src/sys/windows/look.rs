//! The properties of an open file: its kind, numbers and times, and its name in the file system.

use std::fs::File;
use std::io;

use windows_sys::Wdk::Storage::FileSystem as wdk;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_REPARSE_POINT,
    FILE_LIST_DIRECTORY,
};

use super::call::error;
use super::layout::{bytes, name_bytes, text_at, u32_at, u64_at};
use super::{nt, security, status};
use crate::metadata::{FileKind, FileTime, Metadata, now};

/// The bit in the tag of a reparse point that stands for another file or directory: links,
/// junctions, mount points.
const STANDS_FOR_ANOTHER: u32 = 0x2000_0000;
/// 1601 to 1970.
const SECONDS_BEFORE: i64 = 11_644_473_600;

/// The kind of an opened name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenedHandle {
    /// The named entry.
    Named,
    /// A link or another reparse point: itself, or (in Wine) its target.
    Link,
}

/// How often to open a name whose file has another name by the time of the check, if each time the
/// file is another one.
const ATTEMPTS: u32 = 100;

fn query(file: &File, class: i32, length: usize) -> Result<Vec<u8>, nt::Status> {
    let mut words = vec![0; length.div_ceil(8)];
    let length = nt::information(file, class, &mut words)?;
    Ok(bytes(&words, length.min(words.len() * 8)))
}

fn number(bytes: &[u8], place: usize) -> io::Result<u64> {
    u64_at(bytes, place).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn small(bytes: &[u8], place: usize) -> io::Result<u32> {
    u32_at(bytes, place).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The attributes of an open file, and the tag of a reparse point (0: none).
pub(super) fn attributes(file: &File) -> io::Result<(u32, u32)> {
    let seen = query(file, wdk::FileAttributeTagInformation, 8).map_err(status::from)?;
    let attributes = small(&seen, 0)?;
    Ok((
        attributes,
        if attributes & FILE_ATTRIBUTE_REPARSE_POINT == 0 { 0 } else { small(&seen, 4)? },
    ))
}

/// Looks at an open file.
pub(super) fn metadata(file: &File) -> io::Result<Metadata> {
    let basic = query(file, wdk::FileBasicInformation, 40).map_err(status::from)?;
    let standard = query(file, wdk::FileStandardInformation, 24).map_err(status::from)?;
    let (attributes, tag) = attributes(file)?;
    let kind = match tag {
        0 if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 => FileKind::Directory,
        0 => FileKind::File,
        tag if tag & STANDS_FOR_ANOTHER != 0 => FileKind::Symlink,
        // Without a tag (in Wine) the entry is a mount point.
        _ if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 => FileKind::Symlink,
        _ => FileKind::Other,
    };
    let (uid, others) = security::owner_and_others(file);
    let mode = match kind {
        FileKind::Directory => 0o700 | others | others >> 2 & 0o011,
        FileKind::File if attributes & FILE_ATTRIBUTE_READONLY != 0 => 0o400 | others & 0o044,
        FileKind::File => 0o600 | others,
        FileKind::Symlink | FileKind::Submodule | FileKind::Other => 0o777,
    };
    Ok(Metadata {
        kind,
        size: if kind == FileKind::File { number(&standard, 8)? } else { 0 },
        mode,
        uid,
        gid: 0,
        nlink: small(&standard, 16)?.into(),
        dev: volume(file)?.into(),
        ino: inode(file)?,
        mtime: time(number(&basic, 16)?),
        ctime: time(number(&basic, 24)?),
        racy: true,
        has_xattrs: None,
    }
    .observed_at(now()))
}

/// The number of an open file, unique on its volume while the file is open.
fn inode(file: &File) -> io::Result<u64> {
    number(&query(file, wdk::FileInternalInformation, 8).map_err(status::from)?, 0)
}

/// The serial number of the volume; 0 without one.
fn volume(file: &File) -> io::Result<u32> {
    let mut words = [0; 80];
    match nt::volume_information(file, wdk::FileFsVolumeInformation, &mut words) {
        Ok(length) => small(&bytes(&words, length), 8),
        Err(status) if status::is_unknown(status) => Ok(0),
        Err(status) => Err(status::from(status)),
    }
}

/// A time of Windows: since 1601, in steps of 100 ns.
fn time(stamp: u64) -> FileTime {
    let stamp = stamp.cast_signed();
    let nanos = stamp.rem_euclid(10_000_000) * 100;
    (stamp.div_euclid(10_000_000) - SECONDS_BEFORE, u32::try_from(nanos).unwrap_or_default())
}

/// Opens the entry with exactly this name in the directory.
///
/// The file system is asked for the name: it takes `readme` and `READ~1.MD` for `README.md`, and
/// here every file has one name, as elsewhere. A file renamed or replaced after the opening has
/// another name, too, so the name is opened again. If the second try finds the same file, there is
/// no such entry: the first file stays open, so that no other gets its number.
pub(super) fn open_exactly(
    dir: &File,
    name: &[u16],
    open: impl Fn() -> Result<File, nt::Status>,
) -> io::Result<(File, OpenedHandle)> {
    let mut renamed: Option<File> = None;
    for _ in 0..ATTEMPTS {
        let file = open().map_err(status::from)?;
        if let Some(opened) = opened(dir, name, &file)? {
            return Ok((file, opened));
        }
        if let Some(renamed) = &renamed
            && inode(renamed)? == inode(&file)?
        {
            break;
        }
        renamed = Some(file);
    }
    error(status::code::NOENT)
}

/// Returns the kind of an open file with exactly this name; `None` for a file with another name, or
/// none.
fn opened(dir: &File, name: &[u16], file: &File) -> io::Result<Option<OpenedHandle>> {
    if attributes(file)?.0 & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
        return Ok(Some(OpenedHandle::Link));
    }
    match own_name(file, wdk::FileNormalizedNameInformation) {
        Ok(own) => return Ok((own == name).then_some(OpenedHandle::Named)),
        Err(status) if status::is_unknown(status) => {}
        Err(status) if status::is_gone(status) => return Ok(None),
        Err(status) => return Err(status::from(status)),
    }
    // A file system without normalized names (or Wine): by the name at the opening, and by the name
    // in the directory.
    let same = own_name(file, wdk::FileNameInformation).is_ok_and(|own| own == name);
    Ok(match entry(dir, name)? {
        Some((_, attributes)) if attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 => {
            Some(OpenedHandle::Link)
        }
        Some((own, _)) if own == name && same => Some(OpenedHandle::Named),
        _ => None,
    })
}

/// The last part of the path of an open file.
fn own_name(file: &File, class: i32) -> Result<Vec<u16>, nt::Status> {
    let seen = query(file, class, 4 + 2 * 32768)?;
    let path =
        u32_at(&seen, 0).and_then(|length| text_at(&seen, 4, length as usize)).unwrap_or_default();
    Ok(path.rsplit(|&unit| unit == u16::from(b'\\')).next().unwrap_or_default().to_vec())
}

/// The name and the attributes of a directory's entry, found by the file system under a name.
fn entry(dir: &File, name: &[u16]) -> io::Result<Option<(Vec<u16>, u32)>> {
    let dir = again(dir).map_err(status::from)?;
    let mut words = [0; 128];
    let Ok(length) = nt::entries(&dir, wdk::FileIdBothDirectoryInformation, Some(name), &mut words)
    else {
        return Ok(None);
    };
    let seen = bytes(&words, length.min(words.len() * 8));
    let own = text_at(&seen, 104, small(&seen, 60)? as usize);
    Ok(Some((own.ok_or(io::ErrorKind::InvalidData)?, small(&seen, 56)?)))
}

/// Opens a directory once more, to go through its names.
fn again(dir: &File) -> Result<File, nt::Status> {
    nt::create(dir, &[], nt::opening(FILE_LIST_DIRECTORY, wdk::FILE_DIRECTORY_FILE))
}

/// Lists the names in a directory.
pub(super) fn names(dir: &File) -> io::Result<Vec<Vec<u8>>> {
    let dir = again(dir).map_err(status::from)?;
    let mut words = vec![0; 8192];
    let mut names = Vec::new();
    loop {
        let length = match nt::entries(&dir, wdk::FileNamesInformation, None, &mut words) {
            Ok(length) => length,
            Err(windows_sys::Win32::Foundation::STATUS_NO_MORE_FILES) => return Ok(names),
            Err(status) => return Err(status::from(status)),
        };
        let seen = bytes(&words, length.min(words.len() * 8));
        let mut at = 0;
        loop {
            let name = text_at(&seen, at + 12, small(&seen, at + 8)? as usize)
                .ok_or(io::ErrorKind::InvalidData)?;
            if name != [u16::from(b'.')] && name != [u16::from(b'.'); 2] {
                names.push(name_bytes(&name));
            }
            match small(&seen, at)? {
                0 => break,
                next => at += next as usize,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_1970() {
        assert_eq!(time(116_444_736_000_000_000), (0, 0));
        assert_eq!(time(116_444_736_000_000_001), (0, 100));
        assert_eq!(time(116_444_735_999_999_999), (-1, 999_999_900));
    }
}
