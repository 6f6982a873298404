//! The properties of a file to keep beside its bytes: its write permission, its access list, its
//! marks, its time.

use std::fs::FileTimes;
use std::io;
use std::time::{Duration, SystemTime};

use windows_sys::Wdk::Storage::FileSystem as wdk;
use windows_sys::Win32::Storage::FileSystem as win;

use super::call::{error, read, write};
use super::status::{self, code};
use super::{layout, look, nt, security};
use crate::metadata::FileTime;

type Fd = std::fs::File;

/// The attribute for a file's access list and its marks (hidden and the like).
pub(crate) const ACL: &[u8] = b"access list";
/// The attribute of a directory for the access list of new files inside.
pub(crate) const DEFAULT_ACL: &[u8] = b"access list of new files";
/// None has to be set after all else.
pub(crate) const SET_LAST: Option<&[u8]> = None;
/// The attribute for the marks to keep.
const MARKS: &[u8] = b"marks";
/// These are kept: hidden, system, to be archived, not to be indexed.
const KEPT_MARKS: u32 = win::FILE_ATTRIBUTE_HIDDEN
    | win::FILE_ATTRIBUTE_SYSTEM
    | win::FILE_ATTRIBUTE_ARCHIVE
    | win::FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;

/// Sets the one permission bit that Windows has: whether a file may be written at all.
pub(crate) fn set_mode(fd: &Fd, mode: u32) -> io::Result<()> {
    write("fchmod", || {
        let (attributes, _) = look::attributes(fd)?;
        let is_file = attributes & win::FILE_ATTRIBUTE_DIRECTORY == 0;
        let locked = is_file && mode & 0o222 == 0;
        if !is_file || locked == (attributes & win::FILE_ATTRIBUTE_READONLY != 0) {
            return Ok(());
        }
        if locked {
            // It cannot be opened to be synced any more.
            fd.sync_all()?;
        }
        let others = attributes & !win::FILE_ATTRIBUTE_READONLY;
        set_attributes(fd, if locked { others | win::FILE_ATTRIBUTE_READONLY } else { others })
    })
}

/// Sets the attributes of an open file, and leaves its times.
pub(super) fn set_attributes(fd: &Fd, attributes: u32) -> io::Result<()> {
    // The times stay (0), and no attribute at all is said by a name of its own.
    let attributes = if attributes == 0 { win::FILE_ATTRIBUTE_NORMAL } else { attributes };
    nt::set_information(fd, wdk::FileBasicInformation, &[0, 0, 0, 0, attributes.into()], 40)
        .map_err(status::from)
}

/// Owners are numbers of this module, and are not set.
pub(crate) fn set_owner(_: &Fd, _: Option<u32>, _: Option<u32>) -> io::Result<()> {
    error(code::OPNOTSUPP)
}

/// Sets the modification time, and leaves the other.
pub(crate) fn set_mtime(fd: &Fd, (seconds, nanos): FileTime) -> io::Result<()> {
    let since = Duration::new(seconds.unsigned_abs(), 0);
    let epoch = SystemTime::UNIX_EPOCH;
    let time = if seconds < 0 { epoch.checked_sub(since) } else { epoch.checked_add(since) };
    let time = time.and_then(|time| time.checked_add(Duration::new(0, nanos)));
    let Some(time) = time else { return error(code::INVAL) };
    write("futimens", || fd.set_times(FileTimes::new().set_modified(time)))
}

/// Every file has an access list.
pub(crate) fn has_xattrs(_: &Fd) -> Option<bool> {
    Some(true)
}

/// Lists what is kept of a file beside its bytes.
pub(crate) fn xattr_names(_: &Fd) -> io::Result<Vec<Vec<u8>>> {
    Ok(vec![ACL.to_vec(), MARKS.to_vec()])
}

/// Returns whether an attribute comes along when a file is replaced, and whether it has to.
pub(crate) fn keeps(_: &[u8]) -> Option<bool> {
    Some(true)
}

/// Reads one attribute; `None` for a missing one.
pub(crate) fn xattr(fd: &Fd, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
    read("fgetxattr", || {
        Ok(match name {
            MARKS => Some((look::attributes(fd)?.0 & KEPT_MARKS).to_le_bytes().to_vec()),
            ACL => security::list(fd),
            DEFAULT_ACL => security::passed_on(fd),
            _ => None,
        })
    })
}

/// Sets one of them.
pub(crate) fn set_xattr(fd: &Fd, name: &[u8], value: &[u8]) -> io::Result<()> {
    write("fsetxattr", || match name {
        MARKS => {
            let marks = layout::u32_at(value, 0).unwrap_or_default() & KEPT_MARKS;
            let seen = look::attributes(fd)?.0;
            if seen & KEPT_MARKS == marks {
                Ok(())
            } else {
                set_attributes(fd, seen & !KEPT_MARKS | marks)
            }
        }
        ACL => security::set_list(fd, value).map_err(status::from),
        _ => error(code::OPNOTSUPP),
    })
}

/// A directory made for this user alone has no entries to remove.
pub(crate) fn remove_xattr(_: &Fd, _: &[u8]) -> io::Result<()> {
    Ok(())
}
