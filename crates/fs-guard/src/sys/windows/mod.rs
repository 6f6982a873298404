//! Windows, by its native calls: each name is opened, renamed and removed in its open directory.
//!
//! The points where tests let a call fail are named after the same calls of Linux.
#![allow(
    clippy::disallowed_types,
    reason = "the handle of an open file, with the calls that Rust's library has"
)]

mod call;
mod kept;
mod layout;
mod look;
pub(super) mod nt;
mod place;
mod security;
mod status;

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::windows::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use windows_sys::Wdk::Storage::FileSystem as wdk;
use windows_sys::Win32::Foundation::STATUS_ACCESS_DENIED;
use windows_sys::Win32::Storage::FileSystem as win;

use self::call::{SEE, error, read, wide, write};
pub(crate) use self::kept::*;
use self::look::OpenedHandle;
use self::nt::{Create, opening};
use self::place::named;
pub(crate) use self::place::{
    link, list, list_own, make_dir, read_link, remove_dir, remove_emptied_dir, rename, symlink,
    unlink,
};
pub(crate) use self::status::code;
use super::fault::{self, FaultSide};
use super::modes::{NameIn, Open};
use crate::metadata::{FileKind, Metadata};

/// An open file or directory.
pub(crate) type Fd = File;

impl Open {
    fn side(self) -> FaultSide {
        match self {
            Self::Read | Self::Sync | Self::Directory | Self::Step | Self::Look => FaultSide::Read,
            Self::CreateNew(_) | Self::Append(_) | Self::ReadWrite(_) | Self::Overwrite => {
                FaultSide::Write
            }
        }
    }

    /// Opens a name in a directory, or with no name the directory.
    fn open(self, dir: &Fd, name: &[u16]) -> Result<File, nt::Status> {
        let mut result = Err(STATUS_ACCESS_DENIED);
        for way in self.ways() {
            result = status::patiently(|| nt::create(dir, name, way));
            if result.as_ref().err() != Some(&STATUS_ACCESS_DENIED) {
                break;
            }
        }
        result
    }

    /// The ways to try, the next where the one before is denied.
    fn ways(self) -> Vec<Create<'static>> {
        let dir = wdk::FILE_DIRECTORY_FILE;
        let list = win::FILE_LIST_DIRECTORY | win::FILE_TRAVERSE | SEE;
        let new = |access, disposition, mode: u32| {
            let security = if mode & 0o077 == 0 { security::private(false) } else { None };
            vec![Create {
                access: access | SEE,
                disposition,
                options: wdk::FILE_NON_DIRECTORY_FILE,
                attributes: win::FILE_ATTRIBUTE_NORMAL,
                security,
            }]
        };
        match self {
            Self::Read => vec![opening(win::FILE_GENERIC_READ, 0)],
            // A read-only file was synced before it was made read-only.
            Self::Sync => {
                vec![opening(win::FILE_WRITE_DATA | SEE, 0), opening(win::FILE_GENERIC_READ, 0)]
            }
            // For a sync, a directory has to be open for new names; to get its times back, for
            // attributes.
            Self::Directory => {
                vec![
                    opening(list | win::FILE_ADD_FILE | win::FILE_WRITE_ATTRIBUTES, dir),
                    opening(list, dir),
                ]
            }
            Self::Step => vec![opening(win::FILE_TRAVERSE | SEE, dir)],
            Self::Look => vec![opening(SEE, 0), opening(win::FILE_READ_ATTRIBUTES, 0)],
            Self::CreateNew(mode) => {
                new(win::FILE_GENERIC_WRITE | win::WRITE_DAC, wdk::FILE_CREATE, mode)
            }
            // With this right alone, each write goes to the end.
            // Only who may read it, or write it anywhere, can lock it.
            Self::Append(mode) => {
                new(win::FILE_APPEND_DATA | win::FILE_READ_DATA, wdk::FILE_OPEN_IF, mode)
            }
            Self::ReadWrite(mode) => {
                new(win::FILE_GENERIC_READ | win::FILE_GENERIC_WRITE, wdk::FILE_OPEN_IF, mode)
            }
            Self::Overwrite => {
                vec![opening(win::FILE_READ_DATA | win::FILE_WRITE_DATA | SEE, 0)]
            }
        }
    }
}

/// Opens a directory by an ordinary path, following links: the user named it.
pub(crate) fn open_root(path: &Path) -> io::Result<Fd> {
    let open = |access| {
        let mut options = OpenOptions::new();
        options.access_mode(access).share_mode(7).custom_flags(win::FILE_FLAG_BACKUP_SEMANTICS);
        status::open_patiently(|| options.open(path))
    };
    let list = win::FILE_GENERIC_READ | win::FILE_TRAVERSE;
    let dir =
        read("open", || match open(list | win::FILE_ADD_FILE | win::FILE_WRITE_ATTRIBUTES) {
            Err(error) if error.raw_os_error() == Some(code::ACCES) => open(list),
            result => result,
        })?;
    if look::attributes(&dir)?.0 & win::FILE_ATTRIBUTE_DIRECTORY == 0 {
        error(code::NOTDIR)
    } else {
        Ok(dir)
    }
}

/// Opens a configuration file.
pub(crate) fn open_config(path: &Path) -> io::Result<Fd> {
    let mut options = OpenOptions::new();
    options
        .access_mode(win::FILE_GENERIC_READ)
        .share_mode(7)
        .custom_flags(win::FILE_FLAG_BACKUP_SEMANTICS);
    read("open", || status::open_patiently(|| options.open(path)))
}

/// Opens `name`, one component, in `dir`; a link is never followed.
pub(crate) fn open_at(dir: &Fd, name: &str, how: Open) -> io::Result<Fd> {
    fault::point("openat", how.side())?;
    let is_new = matches!(how, Open::CreateNew(_));
    let wide = match (name, wide(name)) {
        (".", _) => Vec::new(),
        (_, Some(wide)) => wide,
        (_, None) => {
            return error(if how.side() == FaultSide::Write {
                status::INVALID_NAME
            } else {
                code::NOENT
            });
        }
    };
    if is_new || wide.is_empty() {
        return how.open(dir, &wide).map_err(status::from);
    }
    let (file, opened) = look::open_exactly(dir, &wide, || how.open(dir, &wide))?;
    match opened {
        OpenedHandle::Named => Ok(file),
        OpenedHandle::Link
            if how == Open::Look && look::metadata(&file)?.kind != FileKind::Directory =>
        {
            Ok(file)
        }
        OpenedHandle::Link => error(code::LOOP),
    }
}

/// Opens `path` beneath `dir` in one go; Windows cannot do that over no link.
pub(crate) fn open_beneath(_: &Fd, _: &str, _: Open) -> Option<io::Result<Fd>> {
    None
}

/// Looks at the directory that an ordinary path leads to.
pub(crate) fn stat_path(path: &Path) -> io::Result<Metadata> {
    stat(&open_root(path)?)
}

/// Looks at an open file.
pub(crate) fn stat(fd: &Fd) -> io::Result<Metadata> {
    read("fstat", || look::metadata(fd))
}

/// Looks at `name` in `dir`; a link is never followed.
pub(crate) fn stat_at(dir: &Fd, name: &str) -> io::Result<Metadata> {
    fault::point("fstatat", FaultSide::Read)?;
    let Some(wide) = wide(name) else { return error(code::NOENT) };
    let (file, opened) = look::open_exactly(dir, &wide, || Open::Look.open(dir, &wide))?;
    match opened {
        OpenedHandle::Named => look::metadata(&file),
        OpenedHandle::Link => {
            let seen = look::metadata(&file)?;
            let is_other = seen.kind == FileKind::Other;
            Ok(if is_other {
                seen
            } else {
                Metadata { kind: FileKind::Symlink, mode: 0o777, size: 0, ..seen }
            })
        }
    }
}

/// Looks whether the file system finds anything by a name, whatever its own name is.
pub(crate) fn look_for(dir: &Fd, name: &str) -> io::Result<()> {
    fault::point("fstatat", FaultSide::Read)?;
    let Some(wide) = wide(name) else { return error(code::NOENT) };
    match status::patiently(|| nt::create(dir, &wide, opening(win::FILE_READ_ATTRIBUTES, 0))) {
        // Only what is there can be denied.
        Ok(_) | Err(windows_sys::Win32::Foundation::STATUS_ACCESS_DENIED) => Ok(()),
        Err(status) => Err(status::from(status)),
    }
}

/// Does the same as [`stat_at`], for a name in any encoding.
pub(crate) fn stat_at_bytes(dir: &Fd, name: &[u8]) -> io::Result<Metadata> {
    std::str::from_utf8(name).map_or_else(|_| error(code::NOENT), |name| stat_at(dir, name))
}

/// Stands for when the file was made: on NTFS the number of a file (`Metadata::ino`) is never used
/// again.
#[expect(clippy::unnecessary_wraps, reason = "other systems do not always know")]
pub(crate) fn birth(_: &Fd) -> Option<crate::metadata::FileTime> {
    Some((0, 0))
}

/// Identifies a mount; here the number of the volume does (`Metadata::dev`).
pub(crate) fn mount_id(_: &Fd, _: Option<&str>) -> Option<u64> {
    None
}

/// Reads into `buffer` from where the last read ended.
pub(crate) fn read_some(mut fd: &Fd, buffer: &mut [u8]) -> io::Result<usize> {
    read("read", || fd.read(buffer))
}

/// Appends what fits to `bytes` without making room; returns how much.
pub(crate) fn read_append(fd: &Fd, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let room = bytes.capacity() - bytes.len();
    read("read", || fd.take(room as u64).read_to_end(bytes))
}

/// Reads at `offset`; the next read goes on where the last one ended.
pub(crate) fn read_at(mut fd: &Fd, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    read("pread", || {
        let at = fd.stream_position()?;
        let length = fd.seek_read(buffer, offset);
        fd.seek(SeekFrom::Start(at))?;
        length
    })
}

/// Writes all of `pieces`, one after the other; small ones together.
pub(crate) fn write_all(mut fd: &Fd, pieces: &mut [io::IoSlice<'_>]) -> io::Result<()> {
    /// Fewer bytes than this are collected before they are written.
    const SOME: usize = 1 << 17;
    let mut some = Vec::new();
    for piece in pieces.iter() {
        if some.is_empty() && (piece.len() >= SOME || pieces.len() == 1) {
            write("write", || fd.write_all(piece))?;
            continue;
        }
        some.extend_from_slice(piece);
        if some.len() >= SOME {
            write("writev", || fd.write_all(&some))?;
            some.clear();
        }
    }
    if some.is_empty() { Ok(()) } else { write("writev", || fd.write_all(&some)) }
}

/// Overwrites a file's first bytes, in one call.
pub(crate) fn write_at_start(fd: &Fd, bytes: &[u8]) -> io::Result<()> {
    match write("pwrite", || fd.seek_write(bytes, 0))? {
        written if written == bytes.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Makes one file durable. For a directory the sync is an attempt: not every file system can, and
/// not for everybody.
pub(crate) fn sync(fd: &Fd) -> io::Result<()> {
    write("fsync", || match fd.sync_all() {
        Err(_) if matches!(look::attributes(fd), Ok((attributes, _)) if attributes & (win::FILE_ATTRIBUTE_DIRECTORY | win::FILE_ATTRIBUTE_READONLY) != 0) => {
            Ok(())
        }
        result => result,
    })
}

/// There is no such call here.
pub(crate) fn sync_file_system(_: &Fd) -> Option<io::Result<()>> {
    None
}

/// Windows does not say.
pub(crate) fn dirty_bytes() -> Option<u64> {
    None
}

/// Tells whether entries of the open directory may be created and renamed by this process.
pub(crate) fn may_write(dir: &Fd) -> io::Result<()> {
    let access = win::FILE_ADD_FILE | win::FILE_ADD_SUBDIRECTORY;
    read("faccessat", || {
        nt::create(dir, &[], opening(access, wdk::FILE_DIRECTORY_FILE)).map_err(status::from)
    })
    .map(drop)
}

/// Tells whether the file may be written by this process.
pub(crate) fn may_write_file(dir: &Fd, name: &str) -> io::Result<()> {
    read("faccessat", || {
        named(NameIn { dir, name }, win::FILE_WRITE_DATA | win::FILE_READ_ATTRIBUTES, 0)
    })
    .map(drop)
}

/// There is no limit to speak of.
pub(crate) fn open_files_limit() -> Option<usize> {
    None
}

/// Returns the number of this user's files.
pub(crate) fn user() -> u32 {
    security::ME
}

pub(crate) fn look_up_user() -> u32 {
    security::ME
}

/// Locks a file for this handle; `false` while another handle has the lock.
///
/// Others cannot read locked bytes here. So the locked byte does not exist: it is far behind those
/// that say who holds the lock.
pub(crate) fn try_lock(fd: &Fd) -> io::Result<bool> {
    nt::try_lock(fd, LOCKED)
}

/// Releases the lock of a handle.
pub(crate) fn unlock(fd: &Fd) -> io::Result<()> {
    nt::unlock(fd, LOCKED)
}

/// The locked byte.
const LOCKED: u64 = 1 << 62;

/// Tells whether a process of this number exists.
pub(crate) fn process_exists(pid: u32) -> bool {
    match nt::process_runs(pid) {
        Ok(runs) => runs,
        Err(error) => error.raw_os_error() == Some(code::ACCES),
    }
}

/// Fills `bytes` with random ones.
pub(crate) fn random(bytes: &mut [u8]) -> io::Result<()> {
    read("getrandom", || nt::random(bytes).map_err(status::from))
}

/// Returns when the machine started; not known here.
pub(crate) fn started_at() -> Option<crate::metadata::FileTime> {
    None
}
