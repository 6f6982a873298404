//! A disk in user space that writes down what is done to it.
//!
//! ```text
//! logged-disk IMAGE FOLDER LOG
//! ```
//!
//! Mounts a file system on FOLDER that has one file, `disk`: the bytes of IMAGE, which is changed
//! in place. A loop device over it is a disk. Everything that changes it is appended to LOG, in the
//! order in which it came: a write as an offset, a length (both little-endian, 64 bits) and the
//! bytes; a flush as an offset of all ones and no length. What was written before a flush is
//! durable after it; of what came since, a power cut may keep any part.
//!
//! Ends when FOLDER is unmounted.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, Generation, INodeNo,
    LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyWrite,
    Request, TimeOrNow, WriteFlags,
};

const DISK: INodeNo = INodeNo(2);
const FOREVER: Duration = Duration::from_secs(3600);

/// The mark of a flush.
const FLUSH: u64 = u64::MAX;

struct Disk {
    image: File,
    size: u64,
    log: Mutex<File>,
}

impl Disk {
    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let (kind, size, perm) = match inode {
            DISK => (FileType::RegularFile, self.size, 0o600),
            _ => (FileType::Directory, 0, 0o700),
        };
        FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }

    fn append(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let record =
            [&offset.to_le_bytes()[..], &(bytes.len() as u64).to_le_bytes(), bytes].concat();
        self.log.lock().map_err(|_| io::ErrorKind::Other)?.write_all(&record)
    }
}

impl Filesystem for Disk {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match name.to_str() {
            Some("disk") => reply.entry(&FOREVER, &self.attributes(DISK), Generation(0)),
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOREVER, &self.attributes(inode));
    }

    /// Times and modes are taken and forgotten; the size stays.
    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match size {
            Some(size) if size != self.size => reply.error(Errno::EPERM),
            _ => reply.attr(&FOREVER, &self.attributes(inode)),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let len = u64::from(size).min(self.size.saturating_sub(offset));
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        match self.image.read_exact_at(&mut bytes, offset) {
            Ok(()) => reply.data(&bytes),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        bytes: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if offset.saturating_add(bytes.len() as u64) > self.size {
            return reply.error(Errno::ENOSPC);
        }
        match self.image.write_all_at(bytes, offset).and_then(|()| self.append(offset, bytes)) {
            Ok(()) => reply.written(bytes.len() as u32),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match self.append(FLUSH, &[]) {
            Ok(()) => reply.ok(),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    /// Discarded blocks keep what was in them.
    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: u64,
        _: u64,
        _: i32,
        reply: ReplyEmpty,
    ) {
        reply.error(Errno::EOPNOTSUPP);
    }
}

fn main() -> io::Result<()> {
    let mut args = std::env::args_os().skip(1);
    let (Some(image), Some(folder), Some(log), None) =
        (args.next(), args.next(), args.next(), args.next())
    else {
        return Err(io::Error::other("usage: logged-disk IMAGE FOLDER LOG"));
    };
    let image = OpenOptions::new().read(true).write(true).open(image)?;
    let size = image.metadata()?.len();
    let log = Mutex::new(OpenOptions::new().create_new(true).append(true).open(log)?);
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("logged-disk".into())];
    fuser::mount2(Disk { image, size, log }, folder, &config)
}
