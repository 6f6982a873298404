//! Unix, through rustix. What only Linux has is marked.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Timespec, Timestamps};

use super::fault::{self, FaultSide};
use super::modes::{NameIn, Open, Rename};
#[cfg(feature = "fault-injection")]
use super::record::{Act, RecordedName};
use crate::metadata::{FileKind, FileTime, Metadata, now};

/// An open file or directory.
pub(crate) type Fd = OwnedFd;

/// The system error codes that are handled.
pub(crate) mod code {
    use rustix::io::Errno;

    pub(crate) const NOENT: i32 = Errno::NOENT.raw_os_error();
    pub(crate) const EXIST: i32 = Errno::EXIST.raw_os_error();
    pub(crate) const ACCES: i32 = Errno::ACCESS.raw_os_error();
    pub(crate) const PERM: i32 = Errno::PERM.raw_os_error();
    pub(crate) const ROFS: i32 = Errno::ROFS.raw_os_error();
    pub(crate) const LOOP: i32 = Errno::LOOP.raw_os_error();
    pub(crate) const XDEV: i32 = Errno::XDEV.raw_os_error();
    pub(crate) const NOTDIR: i32 = Errno::NOTDIR.raw_os_error();
    pub(crate) const ISDIR: i32 = Errno::ISDIR.raw_os_error();
    pub(crate) const NXIO: i32 = Errno::NXIO.raw_os_error();
    pub(crate) const NOSYS: i32 = Errno::NOSYS.raw_os_error();
    pub(crate) const INVAL: i32 = Errno::INVAL.raw_os_error();
    pub(crate) const OPNOTSUPP: i32 = Errno::OPNOTSUPP.raw_os_error();
    pub(crate) const BADF: i32 = Errno::BADF.raw_os_error();
    #[cfg(target_os = "macos")]
    pub(crate) const NOTTY: i32 = Errno::NOTTY.raw_os_error();
    pub(crate) const NOTEMPTY: i32 = Errno::NOTEMPTY.raw_os_error();
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub(crate) const RANGE: i32 = Errno::RANGE.raw_os_error();
    pub(crate) const MLINK: i32 = Errno::MLINK.raw_os_error();
    #[cfg(target_os = "linux")]
    pub(crate) const NODATA: i32 = Errno::NODATA.raw_os_error();
    #[cfg(target_os = "macos")]
    pub(crate) const NODATA: i32 = Errno::NOATTR.raw_os_error();
}

/// A code returned by some systems instead of another one with the same meaning.
fn usual(error: rustix::io::Errno) -> rustix::io::Errno {
    #[cfg(target_os = "macos")]
    if error == rustix::io::Errno::NOTSUP {
        return rustix::io::Errno::OPNOTSUPP;
    }
    error
}

/// Makes a call, and repeats it after a signal.
fn call<T>(
    name: &'static str,
    side: FaultSide,
    mut make: impl FnMut() -> rustix::io::Result<T>,
) -> io::Result<T> {
    let mut patience = 100;
    loop {
        let result = fault::point(name, side).inspect_err(|_| wrote!(Act::Failed(name)));
        let result = result.and_then(|()| make().map_err(|error| usual(error).into()));
        match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted && patience > 0 => {
                patience -= 1
            }
            result => return result,
        }
    }
}

fn read<T>(name: &'static str, make: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    call(name, FaultSide::Read, make)
}

fn write<T>(name: &'static str, make: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    call(name, FaultSide::Write, make)
}

impl Open {
    fn flags(self) -> (OFlags, Mode, FaultSide) {
        // `openat2` takes no other flags together with PATH.
        let bare = OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let common = bare | OFlags::NOCTTY;
        let look = if cfg!(target_os = "linux") { PATH } else { OFlags::NONBLOCK };
        match self {
            Self::Read | Self::Sync => {
                (common | OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty(), FaultSide::Read)
            }
            Self::Directory => {
                (common | OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty(), FaultSide::Read)
            }
            Self::Step => (bare | look | OFlags::DIRECTORY, Mode::empty(), FaultSide::Read),
            Self::Look => (bare | look, Mode::empty(), FaultSide::Read),
            Self::CreateNew(mode) => (
                common | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
                mode_of(mode),
                FaultSide::Write,
            ),
            Self::Append(mode) => (
                common | OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | OFlags::NONBLOCK,
                mode_of(mode),
                FaultSide::Write,
            ),
            Self::ReadWrite(mode) => (
                common | OFlags::RDWR | OFlags::CREATE | OFlags::NONBLOCK,
                mode_of(mode),
                FaultSide::Write,
            ),
            Self::Overwrite => {
                (common | OFlags::RDWR | OFlags::NONBLOCK, Mode::empty(), FaultSide::Write)
            }
        }
    }
}

#[cfg(target_os = "linux")]
const PATH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PATH: OFlags = OFlags::empty();

fn mode_of(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o7777) as _)
}

/// Opens a directory by an ordinary path, following links: the user named it.
pub(crate) fn open_root(path: &Path) -> io::Result<Fd> {
    let flags = OFlags::CLOEXEC | OFlags::DIRECTORY;
    match read("open", || fs::open(path, flags | OFlags::RDONLY, Mode::empty())) {
        Err(error) if error.raw_os_error() == Some(code::ACCES) => {
            read("open", || fs::open(path, flags | PATH, Mode::empty()))
        }
        result => result,
    }
}

/// Opens a configuration file. A FIFO does not block.
pub(crate) fn open_config(path: &Path) -> io::Result<Fd> {
    let flags = OFlags::CLOEXEC | OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK;
    read("open", || fs::open(path, flags, Mode::empty()))
}

/// Opens a file for reading by an ordinary path, unless the path ends in a link.
pub(crate) fn open_no_link(path: &Path) -> io::Result<Fd> {
    let (flags, mode, side) = Open::Read.flags();
    call("open", side, || fs::open(path, flags, mode).map_err(link_in_the_way))
}

/// Opens `name`, one component, in `dir`; a link is never followed.
///
/// `O_NOFOLLOW` is therefore enough on macOS too. Its `O_NOFOLLOW_ANY`, for paths of several
/// components, cannot be combined with it (`EINVAL`), and in a longer path `file/..namedfork/rsrc`
/// would name another stream of the file.
pub(crate) fn open_at(dir: &Fd, name: &str, how: Open) -> io::Result<Fd> {
    let (flags, mode, side) = how.flags();
    let file =
        call("openat", side, || fs::openat(dir, name, flags, mode).map_err(link_in_the_way))?;
    if side == FaultSide::Write {
        wrote!(Act::Create(named(dir, name), inode(&file).0, inode(&file).1));
    }
    Ok(file)
}

/// The code for a link in the way. FreeBSD has its own.
fn link_in_the_way(error: rustix::io::Errno) -> rustix::io::Errno {
    if cfg!(target_os = "freebsd") && error == rustix::io::Errno::MLINK {
        rustix::io::Errno::LOOP
    } else {
        error
    }
}

/// Opens `path` beneath `dir` in one call, through no link and no mount point.
///
/// `None` if the kernel cannot do that.
#[cfg(target_os = "linux")]
pub(crate) fn open_beneath(dir: &Fd, path: &str, how: Open) -> Option<io::Result<Fd>> {
    use rustix::fs::ResolveFlags as R;
    let resolve = R::BENEATH | R::NO_SYMLINKS | R::NO_MAGICLINKS | R::NO_XDEV;
    let (flags, mode, side) = how.flags();
    let mut patience = 128;
    loop {
        let result = call("openat2", side, || fs::openat2(dir, path, flags, mode, resolve));
        match &result {
            // A rename anywhere in the system raced with the resolution.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::AGAIN.raw_os_error()) => {
                if patience == 0 {
                    return None;
                }
                patience -= 1;
            }
            // The call does not exist, or a seccomp filter knows only older ones.
            Err(error) if matches!(error.raw_os_error(), Some(code::NOSYS | code::PERM)) => {
                return None;
            }
            _ => return Some(result),
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open_beneath(_: &Fd, _: &str, _: Open) -> Option<io::Result<Fd>> {
    None
}

/// Returns the metadata of an open file.
pub(crate) fn stat(fd: &Fd) -> io::Result<Metadata> {
    read("fstat", || fs::fstat(fd)).map(|stat| count_again(metadata(&stat), fd, ""))
}

/// Returns the metadata of what an ordinary path leads to, following links.
pub(crate) fn stat_path(path: &Path) -> io::Result<Metadata> {
    read("stat", || fs::stat(path)).map(|stat| metadata(&stat))
}

/// Returns the metadata of `name` in `dir`; a link is never followed.
pub(crate) fn stat_at(dir: &Fd, name: &str) -> io::Result<Metadata> {
    read("fstatat", || fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))
        .map(|stat| count_again(metadata(&stat), dir, name))
}

/// Returns whether anything in `dir` has this name.
#[cfg(not(target_os = "linux"))]
pub(crate) fn look_for(dir: &Fd, name: &str) -> io::Result<()> {
    stat_at(dir, name).map(drop)
}

/// Counts the names of a file that seems to have several again, bypassing the kernel's cache.
///
/// On some FUSE file systems the kernel caches the count for each name: a file with two names for a
/// moment, for instance during its publication by a link, seems to have two for another second.
#[cfg(target_os = "linux")]
fn count_again(seen: Metadata, dir: &Fd, name: &str) -> Metadata {
    if seen.kind != FileKind::File || seen.nlink < 2 {
        return seen;
    }
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
    match fs::statx(dir, name, flags, fs::StatxFlags::NLINK) {
        Ok(now) => {
            fault::counted_again();
            Metadata { nlink: now.stx_nlink.into(), ..seen }
        }
        // An older kernel.
        Err(_) => seen,
    }
}

#[cfg(not(target_os = "linux"))]
fn count_again(seen: Metadata, _: &Fd, _: &str) -> Metadata {
    seen
}

/// Does the same as [`stat_at`], for a name in any encoding.
pub(crate) fn stat_at_bytes(dir: &Fd, name: &[u8]) -> io::Result<Metadata> {
    read("fstatat", || fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)).map(|stat| metadata(&stat))
}

#[allow(
    clippy::unnecessary_cast,
    clippy::cast_sign_loss,
    clippy::useless_conversion,
    reason = "field types differ by platform"
)]
fn metadata(stat: &fs::Stat) -> Metadata {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Symlink => FileKind::Symlink,
        FileType::Directory => FileKind::Directory,
        _ => FileKind::Other,
    };
    let mtime = (stat.st_mtime as i64, stat.st_mtime_nsec as u32);
    let ctime = (stat.st_ctime as i64, stat.st_ctime_nsec as u32);
    Metadata {
        kind,
        size: stat.st_size as u64,
        mode: u32::from(stat.st_mode) & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        nlink: stat.st_nlink as u64 + fault::late_names(),
        dev: stat.st_dev as u64,
        ino: stat.st_ino as u64,
        mtime,
        ctime,
        racy: true,
        has_xattrs: None,
    }
    .observed_at(now())
}

/// Returns the second in which this machine started, by its present clock; `None` on systems that
/// do not say.
#[allow(clippy::unnecessary_wraps, reason = "not every platform tells")]
pub(crate) fn started_at() -> Option<FileTime> {
    #[cfg(target_os = "linux")]
    let uptime = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    #[cfg(not(target_os = "linux"))]
    let uptime = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let (now, _) = now();
    #[allow(clippy::unnecessary_cast, reason = "types differ by platform")]
    Some((now - uptime.tv_sec as i64, 0))
}

/// Returns when the inode was made, if the file system knows.
#[cfg(target_os = "linux")]
pub(crate) fn birth(fd: &Fd) -> Option<FileTime> {
    use rustix::fs::StatxFlags;
    let seen = fs::statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok()?;
    let known = seen.stx_mask & StatxFlags::BTIME.bits() != 0;
    known.then_some((seen.stx_btime.tv_sec, seen.stx_btime.tv_nsec)).filter(|&time| time != (0, 0))
}

/// Returns when the inode was made, if the file system knows.
#[cfg(target_os = "macos")]
#[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "below a billion")]
pub(crate) fn birth(fd: &Fd) -> Option<FileTime> {
    let seen = fs::fstat(fd).ok()?;
    Some((seen.st_birthtime, seen.st_birthtime_nsec as u32)).filter(|time| time.0 > 0)
}

/// Returns when the inode was made, if the file system knows.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn birth(_: &Fd) -> Option<FileTime> {
    None
}

/// Identifies the mount of `name` in `dir` (`None`: of `dir` itself), if known.
#[cfg(target_os = "linux")]
pub(crate) fn mount_id(dir: &Fd, name: Option<&str>) -> Option<u64> {
    use rustix::fs::StatxFlags;
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH | AtFlags::NO_AUTOMOUNT;
    let seen = fs::statx(dir, name.unwrap_or(""), flags, StatxFlags::MNT_ID).ok()?;
    let known = seen.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    // qemu 7, in user mode, claims to know the mount but leaves it out.
    known.then_some(seen.stx_mnt_id).filter(|&id| id != 0)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn mount_id(_: &Fd, _: Option<&str>) -> Option<u64> {
    None
}

/// Reads into `buffer` from the current position.
pub(crate) fn read_some(fd: &Fd, buffer: &mut [u8]) -> io::Result<usize> {
    read("read", || rustix::io::read(fd, &mut *buffer))
}

/// Appends up to `limit` bytes to `bytes` without clearing memory first. Returns how many.
pub(crate) fn read_append(fd: &Fd, bytes: &mut Vec<u8>) -> io::Result<usize> {
    read("read", || rustix::io::read(fd, rustix::buffer::spare_capacity(bytes)))
}

/// Reads at `offset`.
pub(crate) fn read_at(fd: &Fd, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    read("pread", || rustix::io::pread(fd, &mut *buffer, offset))
}

/// Writes all of `pieces` in order.
pub(crate) fn write_all(fd: &Fd, pieces: &mut [io::IoSlice<'_>]) -> io::Result<()> {
    // Linux accepts 1024 at a time.
    let mut pieces = pieces;
    io::IoSlice::advance_slices(&mut pieces, 0);
    while !pieces.is_empty() {
        let some = &pieces[..pieces.len().min(1024)];
        let written = if let [one] = some {
            write("write", || rustix::io::write(fd, one))?
        } else {
            write("writev", || rustix::io::writev(fd, some))?
        };
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        wrote!(write_of(fd, some, written));
        io::IoSlice::advance_slices(&mut pieces, written);
    }
    Ok(())
}

/// Overwrites a file's first bytes, in one call.
pub(crate) fn write_at_start(fd: &Fd, bytes: &[u8]) -> io::Result<()> {
    if write("pwrite", || rustix::io::pwrite(fd, bytes, 0))? != bytes.len() {
        return Err(io::ErrorKind::WriteZero.into());
    }
    wrote!(Act::Write { ino: inode(fd).0, path: path_of(fd), bytes: bytes.into(), at_start: true });
    Ok(())
}

/// Sets permission bits.
pub(crate) fn set_mode(fd: &Fd, mode: u32) -> io::Result<()> {
    write("fchmod", || fs::fchmod(fd, mode_of(mode)))?;
    wrote!(Act::Mode(inode(fd).0, mode, path_of(fd)));
    Ok(())
}

/// Sets owner and group, if they are given.
pub(crate) fn set_owner(fd: &Fd, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
    // All ones mean "keep the owner" to the call, and never name one.
    let uid = uid.filter(|&uid| uid != u32::MAX).map(fs::Uid::from_raw);
    let gid = gid.filter(|&gid| gid != u32::MAX).map(fs::Gid::from_raw);
    write("fchown", || fs::fchown(fd, uid, gid))
}

/// Sets the modification time and leaves the access time.
pub(crate) fn set_mtime(fd: &Fd, (seconds, nanos): FileTime) -> io::Result<()> {
    let omit = Timespec { tv_sec: 0, tv_nsec: fs::UTIME_OMIT as _ };
    let times = Timestamps {
        last_access: omit,
        last_modification: Timespec { tv_sec: seconds as _, tv_nsec: nanos as _ },
    };
    write("futimens", || fs::futimens(fd, &times))
}

/// Returns whether a file has extended attributes, if known.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn has_xattrs(fd: &Fd) -> Option<bool> {
    if cfg!(target_os = "macos") {
        // Access lists are not attributes there, and a new file may have inherited one where the
        // old file has none.
        return Some(true);
    }
    read("flistxattr", || fs::flistxattr_query(fd)).ok().map(|length| length > 0)
}

const POSIX_ACL: &[u8] = b"system.posix_acl_access";
/// The kernel's own name for the list, forbidden to programs: [`xattr`] and the others make other
/// calls instead.
const APPLE_ACL: &[u8] = b"com.apple.system.Security";

/// The attributes with the access list of a file, and with a directory's list for new files.
pub(crate) const ACL: &[u8] = if cfg!(target_os = "macos") { APPLE_ACL } else { POSIX_ACL };
pub(crate) const DEFAULT_ACL: &[u8] = b"system.posix_acl_default";
/// The last attribute to set. On macOS a list may deny the file's owner to set the mode.
pub(crate) const SET_LAST: Option<&[u8]> = if cfg!(target_os = "macos") { Some(ACL) } else { None };

/// Returns whether an extended attribute is copied with the bytes, and whether it must be. (Set-id
/// bits and capabilities are not copied.)
pub(crate) fn keeps(name: &[u8]) -> Option<bool> {
    if cfg!(target_os = "macos") { keeps_on_macos(name) } else { keeps_on_linux(name) }
}

fn keeps_on_linux(name: &[u8]) -> Option<bool> {
    match name {
        POSIX_ACL => Some(true),
        b"security.selinux" => Some(false),
        _ => name.starts_with(b"user.").then_some(true),
    }
}

/// macOS has no prefix for users' attributes. The quarantine is one of Apple's and is kept: a patch
/// is no reason to trust a file.
fn keeps_on_macos(name: &[u8]) -> Option<bool> {
    match name {
        // The kernel records here which program created a file, and lets no program set this
        // attribute.
        b"com.apple.provenance" => None,
        APPLE_ACL | b"com.apple.quarantine" => Some(true),
        _ => Some(!name.starts_with(b"com.apple.")),
    }
}

/// Lists the names of a file's extended attributes.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn xattr_names(fd: &Fd) -> io::Result<Vec<Vec<u8>>> {
    let mut list = vec![0; 1 << 16];
    let length = match read("flistxattr", || fs::flistxattr(fd, &mut list[..])) {
        Ok(length) => length,
        Err(error) if matches!(error.raw_os_error(), Some(code::OPNOTSUPP | code::NOSYS)) => 0,
        Err(error) => return Err(error),
    };
    let names = list[..length].split(|&b| b == 0).filter(|name| !name.is_empty());
    #[cfg(target_os = "macos")]
    let names = names.chain([ACL]);
    Ok(names.map(<[u8]>::to_vec).collect())
}

/// Reads one extended attribute; `None` for a missing one.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn xattr(fd: &Fd, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
    #[cfg(target_os = "macos")]
    if name == ACL || name == DEFAULT_ACL {
        return match read("fgetxattr", || super::macos::list(fd)) {
            Ok(list) if name == DEFAULT_ACL => Ok(Some(super::acl::passed_on(&list))),
            Err(error) if matches!(error.raw_os_error(), Some(code::OPNOTSUPP | code::NOSYS)) => {
                Ok(None)
            }
            result => result.map(Some),
        };
    }
    // On Linux no attribute is longer. On macOS a resource fork is an attribute, as long as a file.
    let mut value = vec![0; 1 << 16];
    loop {
        match read("fgetxattr", || fs::fgetxattr(fd, name, &mut value[..])) {
            Ok(length) => {
                value.truncate(length);
                return Ok(Some(value));
            }
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(code::NODATA | code::OPNOTSUPP | code::NOSYS)
                ) =>
            {
                return Ok(None);
            }
            Err(error)
                if cfg!(target_os = "macos") && error.raw_os_error() == Some(code::RANGE) =>
            {
                let length = read("fgetxattr", || fs::fgetxattr_query(fd, name))?;
                if length <= value.len() {
                    return Err(error);
                }
                value.resize(length, 0);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Sets one extended attribute.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn set_xattr(fd: &Fd, name: &[u8], value: &[u8]) -> io::Result<()> {
    #[cfg(target_os = "macos")]
    if name == ACL {
        if super::acl::denies_deletion(value) {
            // The new file could neither be moved to its place nor away again.
            return Err(io::Error::from_raw_os_error(code::ACCES));
        }
        return set_list(fd, value);
    }
    write("fsetxattr", || fs::fsetxattr(fd, name, value, fs::XattrFlags::empty()))
}

#[cfg(target_os = "macos")]
fn set_list(fd: &Fd, list: &[u8]) -> io::Result<()> {
    write("fsetxattr", || match super::macos::list(fd)? {
        seen if super::acl::is_same(&seen, list) => Ok(()),
        _ => super::macos::set_list(fd, list),
    })
}

/// Removes one extended attribute.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn remove_xattr(fd: &Fd, name: &[u8]) -> io::Result<()> {
    #[cfg(target_os = "macos")]
    if name == DEFAULT_ACL {
        // A directory has one list, for itself and for new files inside.
        return set_list(fd, &[]);
    }
    write("fremovexattr", || fs::fremovexattr(fd, name))
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod no_xattrs {
    use super::{Fd, io};

    pub(crate) fn has_xattrs(_: &Fd) -> Option<bool> {
        Some(false)
    }
    pub(crate) fn xattr_names(_: &Fd) -> io::Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }
    pub(crate) fn xattr(_: &Fd, _: &[u8]) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }
    pub(crate) fn set_xattr(_: &Fd, _: &[u8], _: &[u8]) -> io::Result<()> {
        Ok(())
    }
    pub(crate) fn remove_xattr(_: &Fd, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) use no_xattrs::*;

/// Renames. Returns `Unsupported` if the file system or the kernel lacks the requested way.
pub(crate) fn rename(from: NameIn<'_, &Fd>, to: NameIn<'_, &Fd>, how: Rename) -> io::Result<()> {
    #[cfg(feature = "fault-injection")]
    if fault::crosses_device() && between_state_and_files(from.dir, to.dir) {
        return Err(io::Error::from_raw_os_error(code::XDEV));
    }
    if how == Rename::Replace {
        write("renameat", || fs::renameat(from.dir, from.name, to.dir, to.name))?;
    } else {
        rename_with(from, to, how)?;
    }
    wrote!(match how {
        Rename::Exchange => Act::Exchange(named(from.dir, from.name), named(to.dir, to.name)),
        Rename::NoReplace | Rename::Replace =>
            Act::Rename(named(from.dir, from.name), named(to.dir, to.name)),
    });
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_with(from: NameIn<'_, &Fd>, to: NameIn<'_, &Fd>, how: Rename) -> io::Result<()> {
    let flags = match how {
        Rename::Exchange => fs::RenameFlags::EXCHANGE,
        _ => fs::RenameFlags::NOREPLACE,
    };
    let result = if fault::lacks(how) {
        Err(io::Error::from_raw_os_error(code::INVAL))
    } else {
        write("renameat2", || fs::renameat_with(from.dir, from.name, to.dir, to.name, flags))
    };
    result.map_err(|error| match error.raw_os_error() {
        Some(code::INVAL | code::NOSYS | code::OPNOTSUPP) => io::ErrorKind::Unsupported.into(),
        _ => error,
    })
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_with(_: NameIn<'_, &Fd>, _: NameIn<'_, &Fd>, _: Rename) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Only the state directory and its contents are private; no test creates other private
/// directories.
#[cfg(feature = "fault-injection")]
fn between_state_and_files(one: &Fd, other: &Fd) -> bool {
    is_private(one) != is_private(other)
}

#[cfg(feature = "fault-injection")]
fn is_private(dir: &Fd) -> bool {
    fs::fstat(dir).is_ok_and(|stat| stat.st_mode & 0o777 == 0o700 && stat.st_uid == user())
}

/// Returns the inode and the mode of an open file, for the recording.
#[cfg(feature = "fault-injection")]
fn inode(fd: &Fd) -> (u64, u32) {
    inode_at(fd, "")
}

#[cfg(feature = "fault-injection")]
#[allow(
    clippy::unnecessary_cast,
    clippy::useless_conversion,
    reason = "field types differ by platform"
)]
fn inode_at(dir: &Fd, name: &str) -> (u64, u32) {
    let stat = if name.is_empty() {
        fs::fstat(dir)
    } else {
        fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
    };
    stat.map_or((0, 0), |stat| (stat.st_ino as u64, u32::from(stat.st_mode) & 0o7777))
}

#[cfg(feature = "fault-injection")]
fn path_of(fd: &Fd) -> String {
    use std::os::fd::AsRawFd as _;
    let link = fs::readlink(format!("/proc/self/fd/{}", fd.as_raw_fd()), Vec::new());
    link.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(feature = "fault-injection")]
fn named(dir: &Fd, name: &str) -> RecordedName {
    RecordedName { dir: inode(dir).0, path: path_of(dir), name: name.into() }
}

#[cfg(feature = "fault-injection")]
fn write_of(fd: &Fd, pieces: &[io::IoSlice<'_>], written: usize) -> Act {
    let mut bytes = pieces.iter().flat_map(|piece| piece.iter().copied()).collect::<Vec<u8>>();
    bytes.truncate(written);
    Act::Write { ino: inode(fd).0, path: path_of(fd), bytes, at_start: false }
}

/// Gives a file a second name.
pub(crate) fn link(from: NameIn<'_, &Fd>, to: NameIn<'_, &Fd>) -> io::Result<()> {
    write("linkat", || fs::linkat(from.dir, from.name, to.dir, to.name, AtFlags::empty()))?;
    wrote!(Act::Link(named(from.dir, from.name), named(to.dir, to.name)));
    fault::linked();
    Ok(())
}

/// Creates a symbolic link.
pub(crate) fn symlink(target: &[u8], dir: &Fd, name: &str) -> io::Result<()> {
    write("symlinkat", || fs::symlinkat(target, dir, name))?;
    wrote!(Act::Symlink(named(dir, name), inode_at(dir, name).0, target.into()));
    Ok(())
}

/// Reads the text of a symbolic link.
pub(crate) fn read_link(dir: &Fd, name: &str) -> io::Result<Vec<u8>> {
    read("readlinkat", || fs::readlinkat(dir, name, Vec::new())).map(std::ffi::CString::into_bytes)
}

/// Removes a file's name.
pub(crate) fn unlink(dir: &Fd, name: &str) -> io::Result<()> {
    write("unlinkat", || fs::unlinkat(dir, name, AtFlags::empty()))?;
    wrote!(Act::Remove(named(dir, name), None));
    Ok(())
}

/// Creates a directory.
pub(crate) fn make_dir(dir: &Fd, name: &str, mode: u32) -> io::Result<()> {
    write("mkdirat", || fs::mkdirat(dir, name, mode_of(mode)))?;
    wrote!(Act::MakeDir(named(dir, name), inode_at(dir, name).0, inode_at(dir, name).1));
    Ok(())
}

/// Removes an empty directory.
pub(crate) fn remove_dir(dir: &Fd, name: &str) -> io::Result<()> {
    #[cfg(feature = "fault-injection")]
    let (inode, _) = inode_at(dir, name);
    write("unlinkat", || fs::unlinkat(dir, name, AtFlags::REMOVEDIR))?;
    wrote!(Act::Remove(named(dir, name), Some(inode)));
    Ok(())
}

/// Removes a directory whose files were just removed. Here their names are gone at once, even if a
/// file is open.
pub(crate) use remove_dir as remove_emptied_dir;

/// Lists the names in a directory; they need not be UTF-8.
pub(crate) fn list(dir: &Fd) -> io::Result<Vec<Vec<u8>>> {
    let open = read("openat", || {
        fs::openat(dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    })?;
    let mut names = Vec::new();
    for entry in fs::Dir::new(open).map_err(io::Error::from)? {
        add_name(&mut names, entry.map_err(io::Error::from)?.file_name());
    }
    Ok(names)
}

/// Does the same through the handle itself, listed by nobody else meanwhile. A `fresh` handle was
/// not listed before.
#[cfg(target_os = "linux")]
pub(crate) fn list_own(dir: &Fd, fresh: bool) -> io::Result<Vec<Vec<u8>>> {
    if !fresh {
        read("lseek", || fs::seek(dir, fs::SeekFrom::Start(0)))?;
    }
    let mut buffer = Vec::with_capacity(1 << 13);
    let mut entries = fs::RawDir::new(dir, buffer.spare_capacity_mut());
    let mut names = Vec::new();
    fault::point("getdents", FaultSide::Read)?;
    while let Some(entry) = entries.next() {
        add_name(&mut names, entry?.file_name());
    }
    Ok(names)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn list_own(dir: &Fd, _: bool) -> io::Result<Vec<Vec<u8>>> {
    list(dir)
}

fn add_name(names: &mut Vec<Vec<u8>>, name: &std::ffi::CStr) {
    let name = name.to_bytes();
    if name != b"." && name != b".." {
        names.push(name.to_vec());
    }
}

/// Syncs one file, or one directory's list of names.
///
/// On macOS `fsync` leaves the bytes in the cache of the drive, which loses them when the power
/// fails; `F_FULLFSYNC` flushes the cache. Some file systems there, mostly network ones, do not
/// support this call.
pub(crate) fn sync(fd: &Fd) -> io::Result<()> {
    #[cfg(target_os = "macos")]
    match write("fcntl", || fs::fcntl_fullfsync(fd)) {
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(code::OPNOTSUPP | code::INVAL | code::NOTTY)
            ) =>
        {
            write("fsync", || fs::fsync(fd))?;
        }
        result => result?,
    }
    #[cfg(not(target_os = "macos"))]
    write("fsync", || fs::fsync(fd))?;
    wrote!(Act::Sync(inode(fd).0, path_of(fd)));
    Ok(())
}

/// Syncs everything written so far to the whole file system; `None` where such a sync is not
/// reliable.
#[cfg(target_os = "linux")]
pub(crate) fn sync_file_system(fd: &Fd) -> Option<io::Result<()>> {
    // Measured on ext2/3/4, xfs, btrfs, tmpfs and overlayfs. On FUSE syncfs does nothing.
    const KNOWN: [u64; 5] = [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630];
    let seen = fs::fstatfs(fd).ok()?;
    #[allow(
        clippy::cast_sign_loss,
        clippy::unnecessary_cast,
        reason = "the type differs by platform"
    )]
    let magic = seen.f_type as u64 & 0xFFFF_FFFF;
    if !KNOWN.contains(&magic) {
        return None;
    }
    Some(write("syncfs", || fs::syncfs(fd)).inspect(|()| wrote!(Act::SyncAll)))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn sync_file_system(_: &Fd) -> Option<io::Result<()>> {
    None
}

/// Returns how many bytes wait for the disk in the whole system, if known.
#[cfg(target_os = "linux")]
pub(crate) fn dirty_bytes() -> Option<u64> {
    #[cfg(feature = "fault-injection")]
    if let Some(busy) = fault::is_busy() {
        return Some(if busy { u64::MAX } else { 0 });
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = fs::open("/proc/meminfo", flags, Mode::empty()).ok()?;
    let mut text = [0; 4096];
    let length = rustix::io::read(&file, &mut text).ok()?;
    let text = std::str::from_utf8(&text[..length]).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Dirty:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn dirty_bytes() -> Option<u64> {
    None
}

/// Returns whether this process may create and rename entries in the open directory.
pub(crate) fn may_write(dir: &Fd) -> io::Result<()> {
    let access = fs::Access::WRITE_OK | fs::Access::EXEC_OK;
    read("faccessat", || fs::accessat(dir, ".", access, AtFlags::EACCESS))
}

/// Returns whether this process may write the file.
pub(crate) fn may_write_file(dir: &Fd, name: &str) -> io::Result<()> {
    read("faccessat", || fs::accessat(dir, name, fs::Access::WRITE_OK, AtFlags::EACCESS))
}

/// Returns how many files this process may have open, if there is a limit.
pub(crate) fn open_files_limit() -> Option<usize> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

/// Returns the effective user as of the last [look-up](look_up_user).
pub(crate) fn user() -> u32 {
    match USER.load(Ordering::Relaxed) {
        NOT_LOOKED_UP => look_up_user(),
        user => user,
    }
}

/// Asks the system for the effective user.
pub(crate) fn look_up_user() -> u32 {
    let user = rustix::process::geteuid().as_raw();
    USER.store(user, Ordering::Relaxed);
    user
}

static USER: AtomicU32 = AtomicU32::new(NOT_LOOKED_UP);
/// No user has this number: for chown(2) it means "leave the owner".
const NOT_LOOKED_UP: u32 = u32::MAX;

/// Locks a file for this handle. Returns `false` if another handle has the lock.
pub(crate) fn try_lock(fd: &Fd) -> io::Result<bool> {
    match fs::flock(fd, fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Releases the lock of a handle.
pub(crate) fn unlock(fd: &Fd) -> io::Result<()> {
    Ok(fs::flock(fd, fs::FlockOperation::Unlock)?)
}

/// Returns whether a process with this number exists.
pub(crate) fn process_exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| {
        matches!(rustix::process::test_kill_process(pid), Ok(()) | Err(rustix::io::Errno::PERM))
    })
}

/// Fills `bytes` with random bytes.
pub(crate) fn random(bytes: &mut [u8]) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let mut filled = 0;
        while filled < bytes.len() {
            let flags = rustix::rand::GetRandomFlags::empty();
            filled += read("getrandom", || rustix::rand::getrandom(&mut bytes[filled..], flags))?;
        }
        Ok(())
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let file = fs::open("/dev/urandom", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut filled = 0;
        while filled < bytes.len() {
            filled += rustix::io::read(&file, &mut bytes[filled..])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_users_go_with_the_bytes_and_those_of_the_system_do_not() {
        for (name, linux, macos) in [
            ("user.note", Some(true), Some(true)),
            ("system.posix_acl_access", Some(true), Some(true)),
            ("security.selinux", Some(false), Some(true)),
            ("security.capability", None, Some(true)),
            ("trusted.overlay.opaque", None, Some(true)),
            ("org.example.note", None, Some(true)),
            ("com.apple.quarantine", None, Some(true)),
            ("com.apple.system.Security", None, Some(true)),
            ("com.apple.ResourceFork", None, Some(false)),
            ("com.apple.metadata:kMDItemWhereFroms", None, Some(false)),
            ("com.apple.provenance", None, None),
        ] {
            assert_eq!(keeps_on_linux(name.as_bytes()), linux, "{name}");
            assert_eq!(keeps_on_macos(name.as_bytes()), macos, "{name}");
        }
    }
}
