//! Windows, by its native calls: each name is opened, renamed and removed in the open directory that it is in.
//!
//! The points where tests let a call fail have the names of the calls of Linux that do the same.
#![allow(clippy::disallowed_types, reason = "the handle of an open file, with the calls that Rust's library has")]

mod layout;
mod look;
pub(super) mod nt;
mod security;
mod status;

use std::fs::{File, FileTimes, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::windows::fs::{FileExt as _, OpenOptionsExt as _};
use std::os::windows::io::AsRawHandle as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use windows_sys::Wdk::Storage::FileSystem as wdk;
use windows_sys::Win32::Storage::FileSystem as win;

use self::look::Opened;
use self::nt::Create;
pub(crate) use self::status::code;
use super::fault::{self, Side};
use super::modes::{Open, Rename};
use crate::metadata::{FileKind, FileTime, Metadata};

/// An open file or directory.
pub(crate) type Fd = File;

/// The attribute that stands for a file's access list and its marks (hidden and the like).
pub(crate) const ACL: &[u8] = b"access list";
/// The attribute of a directory that stands for the access list of new files in it.
pub(crate) const DEFAULT_ACL: &[u8] = b"access list of new files";
/// The attribute that stands for the marks that are kept.
const MARKS: &[u8] = b"marks";
/// These are kept: hidden, system, to be archived, not to be indexed.
const KEPT_MARKS: u32 = win::FILE_ATTRIBUTE_HIDDEN
    | win::FILE_ATTRIBUTE_SYSTEM
    | win::FILE_ATTRIBUTE_ARCHIVE
    | win::FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;

/// To look at a file and at its access list.
const SEE: u32 = win::FILE_READ_ATTRIBUTES | win::READ_CONTROL;

fn read<T>(name: &'static str, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    fault::point(name, Side::Read).and_then(|()| make())
}

fn write<T>(name: &'static str, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    fault::point(name, Side::Write).and_then(|()| make())
}

fn error<T>(code: i32) -> io::Result<T> {
    Err(io::Error::from_raw_os_error(code))
}

/// A name in UTF-16; `None` for one that Windows would read as something else than the name of a file: a path, the stream of a
/// file, a device, the same name without its end.
fn wide(name: &str) -> Option<Vec<u16>> {
    let is_path = name.contains(['\\', '/']) || name.chars().any(char::is_control);
    (!is_path && crate::names::check_windows(name).is_ok()).then(|| name.encode_utf16().collect())
}

/// A way to open, by what is asked for.
fn opening(access: u32, options: u32) -> Create<'static> {
    Create { access, disposition: wdk::FILE_OPEN, options, attributes: 0, security: None }
}

/// Opens a directory once more, to go through its names.
fn again(dir: &Fd) -> Result<Fd, nt::Status> {
    nt::create(dir, &[], opening(win::FILE_LIST_DIRECTORY, wdk::FILE_DIRECTORY_FILE))
}

impl Open {
    fn side(self) -> Side {
        match self {
            Self::Read | Self::Sync | Self::Directory | Self::Step | Self::Look => Side::Read,
            Self::CreateNew(_) | Self::Append(_) | Self::ReadWrite(_) => Side::Write,
        }
    }

    /// The ways to try, the next where the one before is denied.
    fn ways(self) -> Vec<Create<'static>> {
        let dir = wdk::FILE_DIRECTORY_FILE;
        let list = win::FILE_LIST_DIRECTORY | win::FILE_TRAVERSE | SEE;
        let new = |access, disposition, mode: u32| {
            let security = if mode & 0o077 == 0 { security::private(false) } else { None };
            let (options, attributes) = (wdk::FILE_NON_DIRECTORY_FILE, win::FILE_ATTRIBUTE_NORMAL);
            vec![Create { access: access | SEE, disposition, options, attributes, security }]
        };
        match self {
            Self::Read => vec![opening(win::FILE_GENERIC_READ, 0)],
            // A file that is read-only was synced when it was made so.
            Self::Sync => vec![opening(win::FILE_WRITE_DATA | SEE, 0), opening(win::FILE_GENERIC_READ, 0)],
            // To be synced, a directory has to be open for new names; to get its times back, for those.
            Self::Directory => {
                vec![opening(list | win::FILE_ADD_FILE | win::FILE_WRITE_ATTRIBUTES, dir), opening(list, dir)]
            }
            Self::Step => vec![opening(win::FILE_TRAVERSE | SEE, dir)],
            Self::Look => vec![opening(SEE, 0), opening(win::FILE_READ_ATTRIBUTES, 0)],
            Self::CreateNew(mode) => new(win::FILE_GENERIC_WRITE | win::WRITE_DAC, wdk::FILE_CREATE, mode),
            // With this right alone, each write goes to the end.
            Self::Append(mode) => new(win::FILE_APPEND_DATA, wdk::FILE_OPEN_IF, mode),
            Self::ReadWrite(mode) => new(win::FILE_GENERIC_READ | win::FILE_GENERIC_WRITE, wdk::FILE_OPEN_IF, mode),
        }
    }
}

/// Opens a directory by an ordinary path, following links: the user named it.
pub(crate) fn open_root(path: &Path) -> io::Result<Fd> {
    let open = |access| {
        let mut options = OpenOptions::new();
        options.access_mode(access).share_mode(7).custom_flags(win::FILE_FLAG_BACKUP_SEMANTICS);
        options.open(path).map_err(status::plain)
    };
    let list = win::FILE_GENERIC_READ | win::FILE_TRAVERSE;
    let dir = read("open", || match open(list | win::FILE_ADD_FILE | win::FILE_WRITE_ATTRIBUTES) {
        Err(error) if error.raw_os_error() == Some(code::ACCES) => open(list),
        result => result,
    })?;
    if look::attributes(&dir)?.0 & win::FILE_ATTRIBUTE_DIRECTORY == 0 { error(code::NOTDIR) } else { Ok(dir) }
}

/// Opens a configuration file.
pub(crate) fn open_config(path: &Path) -> io::Result<Fd> {
    let mut options = OpenOptions::new();
    options.access_mode(win::FILE_GENERIC_READ).share_mode(7).custom_flags(win::FILE_FLAG_BACKUP_SEMANTICS);
    read("open", || options.open(path).map_err(status::plain))
}

/// Opens `name`, one component, in `dir`; a link is never followed.
pub(crate) fn open_at(dir: &Fd, name: &str, how: Open) -> io::Result<Fd> {
    fault::point("openat", how.side())?;
    let is_new = matches!(how, Open::CreateNew(_));
    let wide = match (name, wide(name)) {
        (".", _) => Vec::new(),
        (_, Some(wide)) => wide,
        (_, None) => return error(if how.side() == Side::Write { status::INVALID_NAME } else { code::NOENT }),
    };
    let mut result = Err(windows_sys::Win32::Foundation::STATUS_ACCESS_DENIED);
    for way in how.ways() {
        result = status::patiently(|| nt::create(dir, &wide, way));
        if result.as_ref().err() != Some(&windows_sys::Win32::Foundation::STATUS_ACCESS_DENIED) {
            break;
        }
    }
    let file = result.map_err(status::from)?;
    if is_new || wide.is_empty() {
        return Ok(file);
    }
    match look::opened(dir, &wide, &file)? {
        Opened::Named => Ok(file),
        Opened::Link if how == Open::Look && look::metadata(&file)?.kind != FileKind::Directory => Ok(file),
        Opened::Link => error(code::LOOP),
        Opened::Other => error(code::NOENT),
    }
}

/// Opens `path` beneath `dir` in one go; Windows cannot do that over no link.
pub(crate) fn open_beneath(_: &Fd, _: &str, _: Open) -> Option<io::Result<Fd>> {
    None
}

/// Looks at an open file.
pub(crate) fn stat(fd: &Fd) -> io::Result<Metadata> {
    read("fstat", || look::metadata(fd))
}

/// Looks at `name` in `dir`; a link is never followed.
pub(crate) fn stat_at(dir: &Fd, name: &str) -> io::Result<Metadata> {
    fault::point("fstatat", Side::Read)?;
    let Some(wide) = wide(name) else { return error(code::NOENT) };
    let open = |access| status::patiently(|| nt::create(dir, &wide, opening(access, 0)));
    let file = open(SEE).or_else(|_| open(win::FILE_READ_ATTRIBUTES)).map_err(status::from)?;
    match look::opened(dir, &wide, &file)? {
        Opened::Named => look::metadata(&file),
        Opened::Other => error(code::NOENT),
        Opened::Link => {
            let seen = look::metadata(&file)?;
            let is_other = seen.kind == FileKind::Other;
            Ok(if is_other { seen } else { Metadata { kind: FileKind::Symlink, mode: 0o777, size: 0, ..seen } })
        }
    }
}

/// Tells whether the file system finds anything by a name, whatever its own name is.
pub(crate) fn is_there(dir: &Fd, name: &str) -> bool {
    wide(name).is_some_and(|wide| nt::create(dir, &wide, opening(win::FILE_READ_ATTRIBUTES, 0)).is_ok())
}

/// As [`stat_at`], for a name that need not be UTF-8.
pub(crate) fn stat_at_bytes(dir: &Fd, name: &[u8]) -> io::Result<Metadata> {
    std::str::from_utf8(name).map_or_else(|_| error(code::NOENT), |name| stat_at(dir, name))
}

/// Returns the time of day.
pub(crate) fn now() -> FileTime {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (now.as_secs().cast_signed(), now.subsec_nanos())
}

/// Identifies a mount; the number of its volume does that here (`Metadata::dev`).
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

/// Overwrites a file's first bytes.
pub(crate) fn write_at_start(fd: &Fd, bytes: &[u8]) -> io::Result<()> {
    write("pwrite", || fd.seek_write(bytes, 0)).map(drop)
}

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

fn set_attributes(fd: &Fd, attributes: u32) -> io::Result<()> {
    // The times stay (0), and no attribute at all is said by a name of its own.
    let attributes = if attributes == 0 { win::FILE_ATTRIBUTE_NORMAL } else { attributes };
    nt::set_information(fd, wdk::FileBasicInformation, &[0, 0, 0, 0, attributes.into()], 40).map_err(status::from)
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

/// Tells whether an attribute comes along when a file is replaced, and whether it has to.
pub(crate) fn keeps(_: &[u8]) -> Option<bool> {
    Some(true)
}

/// Reads one of them; `None` when the file does not have it.
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
            if seen & KEPT_MARKS == marks { Ok(()) } else { set_attributes(fd, seen & !KEPT_MARKS | marks) }
        }
        ACL => security::set_list(fd, value).map_err(status::from),
        _ => error(code::OPNOTSUPP),
    })
}

/// A directory that is made for this user alone has nothing that would have to be removed.
pub(crate) fn remove_xattr(_: &Fd, _: &[u8]) -> io::Result<()> {
    Ok(())
}

/// Renames; `Unsupported` for an exchange, which Windows does not have.
pub(crate) fn rename(from: (&Fd, &str), to: (&Fd, &str), how: Rename) -> io::Result<()> {
    #[cfg(feature = "fault-injection")]
    if fault::crosses_device() && is_private(from.0)? != is_private(to.0)? {
        return error(code::XDEV);
    }
    if how == Rename::Exchange || fault::lacks(how) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    fault::point(if how == Rename::Replace { "renameat" } else { "renameat2" }, Side::Write)?;
    let file = named(from, win::DELETE | win::FILE_READ_ATTRIBUTES, 0)?;
    let Some(name) = wide(to.1) else { return error(status::INVALID_NAME) };
    let given = |flags: u32| {
        let mut given = u64::from(flags).to_le_bytes().to_vec();
        given.extend((to.0.as_raw_handle().addr() as u64).to_le_bytes());
        given.extend(u32::try_from(name.len() * 2).unwrap_or(u32::MAX).to_le_bytes());
        given.extend(name.iter().flat_map(|unit| unit.to_le_bytes()));
        // The structure has room for a name of two units.
        given.resize(given.len().max(24), 0);
        given
    };
    let set = |class, flags| {
        let given = given(flags);
        nt::set_information(&file, class, &layout::words(&given), given.len())
    };
    let result = if how == Rename::Replace {
        // With these semantics a reader of the file that is replaced goes on reading it.
        let flags = wdk::FILE_RENAME_REPLACE_IF_EXISTS
            | wdk::FILE_RENAME_POSIX_SEMANTICS
            | wdk::FILE_RENAME_IGNORE_READONLY_ATTRIBUTE;
        match status::patiently(|| set(wdk::FileRenameInformationEx, flags)) {
            Err(status) if status::is_unknown(status) => status::more_patiently(|| set(wdk::FileRenameInformation, 1)),
            result => result,
        }
    } else {
        status::patiently(|| set(wdk::FileRenameInformation, 0))
    };
    result.map_err(status::from)
}

/// Opens what has exactly this name, to rename or to remove it.
fn named((dir, name): (&Fd, &str), access: u32, options: u32) -> io::Result<Fd> {
    let Some(wide) = wide(name) else { return error(code::NOENT) };
    let file = status::patiently(|| nt::create(dir, &wide, opening(access, options))).map_err(status::from)?;
    match look::opened(dir, &wide, &file)? {
        Opened::Other => error(code::NOENT),
        // What Wine opened is what the link leads to.
        Opened::Link if look::attributes(&file)?.0 & win::FILE_ATTRIBUTE_REPARSE_POINT == 0 => error(code::LOOP),
        _ => Ok(file),
    }
}

#[cfg(feature = "fault-injection")]
fn is_private(dir: &Fd) -> io::Result<bool> {
    Ok(look::metadata(dir)?.mode & 0o077 == 0)
}

/// Second names are not used: a file that came in between would be replaced by the rename that follows. So an exchange takes the
/// old file aside, by a rename that replaces nothing, and gives the new one its name in the same way.
pub(crate) fn link(_: (&Fd, &str), _: (&Fd, &str)) -> io::Result<()> {
    error(code::OPNOTSUPP)
}

/// Symbolic links are not made here: Windows asks for a privilege, and whether they lead to a file or a directory.
pub(crate) fn symlink(_: &[u8], _: &Fd, _: &str) -> io::Result<()> {
    error(code::OPNOTSUPP)
}

/// Reads where a link or a junction leads, with `/` between the parts.
pub(crate) fn read_link(dir: &Fd, name: &str) -> io::Result<Vec<u8>> {
    /// The tag of a symbolic link; of a junction.
    const LINK: u32 = 0xA000_000C;
    const JUNCTION: u32 = 0xA000_0003;
    read("readlinkat", || {
        let Some(wide) = wide(name) else { return error(code::NOENT) };
        let open = || nt::create(dir, &wide, opening(win::FILE_READ_ATTRIBUTES, 0));
        let file = status::patiently(open).map_err(status::from)?;
        let mut words = vec![0; 2048];
        let length = nt::control(&file, windows_sys::Win32::System::Ioctl::FSCTL_GET_REPARSE_POINT, &mut words)?;
        let seen = layout::bytes(&words, length);
        let texts = match layout::u32_at(&seen, 0) {
            Some(LINK) => 20,
            Some(JUNCTION) => 16,
            _ => return error(code::OPNOTSUPP),
        };
        let place = |at| layout::u16_at(&seen, at).map(usize::from);
        let text = place(8).zip(place(10)).and_then(|(from, length)| layout::text_at(&seen, texts + from, length));
        let text = text.ok_or(io::ErrorKind::InvalidData)?;
        Ok(layout::name_bytes(&text).iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect())
    })
}

/// Takes a file's name away.
pub(crate) fn unlink(dir: &Fd, name: &str) -> io::Result<()> {
    write("unlinkat", || {
        let file = named((dir, name), win::DELETE | win::FILE_READ_ATTRIBUTES | win::FILE_WRITE_ATTRIBUTES, 0)?;
        let (attributes, tag) = look::attributes(&file)?;
        if attributes & win::FILE_ATTRIBUTE_DIRECTORY != 0 && tag == 0 {
            return error(code::ISDIR);
        }
        dispose(&file, attributes)
    })
}

fn dispose(file: &Fd, attributes: u32) -> io::Result<()> {
    // With these semantics the name is gone at once, also while someone has the file open.
    let flags = wdk::FILE_DISPOSITION_DELETE
        | wdk::FILE_DISPOSITION_POSIX_SEMANTICS
        | wdk::FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE;
    match nt::set_information(file, wdk::FileDispositionInformationEx, &[flags.into()], 4) {
        Err(status) if status::is_unknown(status) => {}
        result => return result.map_err(status::from),
    }
    if attributes & win::FILE_ATTRIBUTE_READONLY != 0 {
        set_attributes(file, attributes & !win::FILE_ATTRIBUTE_READONLY)?;
    }
    nt::set_information(file, wdk::FileDispositionInformation, &[1], 1).map_err(status::from)
}

/// Creates a directory.
pub(crate) fn make_dir(dir: &Fd, name: &str, mode: u32) -> io::Result<()> {
    write("mkdirat", || {
        let Some(wide) = wide(name) else { return error(status::INVALID_NAME) };
        let how = Create {
            disposition: wdk::FILE_CREATE,
            attributes: win::FILE_ATTRIBUTE_NORMAL,
            security: if mode & 0o077 == 0 { security::private(true) } else { None },
            ..opening(SEE, wdk::FILE_DIRECTORY_FILE)
        };
        status::patiently(|| nt::create(dir, &wide, how)).map(drop).map_err(status::from)
    })
}

/// Removes an empty directory.
pub(crate) fn remove_dir(dir: &Fd, name: &str) -> io::Result<()> {
    write("unlinkat", || {
        let file = named((dir, name), win::DELETE | win::FILE_READ_ATTRIBUTES, wdk::FILE_DIRECTORY_FILE)?;
        match look::attributes(&file)? {
            (_, 0) => dispose(&file, 0),
            _ => error(code::NOTDIR),
        }
    })
}

/// Lists the names in a directory; they need not be Unicode.
pub(crate) fn list(dir: &Fd) -> io::Result<Vec<Vec<u8>>> {
    read("openat", || look::names(dir))
}

/// Makes one file durable. Of a directory that is tried: not every file system does it, and not for everybody.
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

/// Nobody tells.
pub(crate) fn dirty_bytes() -> Option<u64> {
    None
}

/// Tells whether entries of the open directory may be created and renamed by this process.
pub(crate) fn may_write(dir: &Fd) -> io::Result<()> {
    let access = win::FILE_ADD_FILE | win::FILE_ADD_SUBDIRECTORY;
    read("faccessat", || nt::create(dir, &[], opening(access, wdk::FILE_DIRECTORY_FILE)).map_err(status::from))
        .map(drop)
}

/// Tells whether the file may be written by this process.
pub(crate) fn may_write_file(dir: &Fd, name: &str) -> io::Result<()> {
    read("faccessat", || named((dir, name), win::FILE_WRITE_DATA | win::FILE_READ_ATTRIBUTES, 0)).map(drop)
}

/// There is no limit to speak of.
pub(crate) fn open_files_limit() -> Option<usize> {
    None
}

/// Returns the number that files of this user have.
pub(crate) fn user() -> u32 {
    security::ME
}

pub(crate) fn look_up_user() -> u32 {
    security::ME
}

/// Locks a file for this handle; `false` when another one has it.
///
/// Locked bytes cannot be read by others here. So it is one that is not there, far behind those that say who holds the lock.
pub(crate) fn try_lock(fd: &Fd) -> io::Result<bool> {
    nt::try_lock(fd, LOCKED)
}

/// Lets the lock go that a handle has.
pub(crate) fn unlock(fd: &Fd) -> io::Result<()> {
    nt::unlock(fd, LOCKED)
}

/// The byte that is locked.
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
