//! Platforms without an implementation (browsers): everything compiles, every call fails.
//!
//! A new platform needs these calls: opening beneath a handle without following links, renames from
//! handle to handle, and the identity of files.
#![allow(clippy::disallowed_types, reason = "a handle type that every platform has")]
#![allow(clippy::unnecessary_wraps, reason = "the other platforms fail or not")]

use std::io;
use std::path::Path;

use super::modes::{NameIn, Open, Rename};
use crate::metadata::{FileTime, Metadata};

/// An open file or directory.
pub(crate) type Fd = std::fs::File;

pub(crate) fn started_at() -> Option<FileTime> {
    None
}

/// The system error codes that are handled; none of these ever occurs.
pub(crate) mod code {
    pub(crate) const NOENT: i32 = -1;
    pub(crate) const EXIST: i32 = -2;
    pub(crate) const ACCES: i32 = -3;
    pub(crate) const PERM: i32 = -4;
    pub(crate) const ROFS: i32 = -5;
    pub(crate) const LOOP: i32 = -6;
    pub(crate) const XDEV: i32 = -7;
    pub(crate) const NOTDIR: i32 = -8;
    pub(crate) const ISDIR: i32 = -9;
    pub(crate) const NXIO: i32 = -10;
    pub(crate) const NOSYS: i32 = -11;
    pub(crate) const INVAL: i32 = -12;
    pub(crate) const OPNOTSUPP: i32 = -13;
    pub(crate) const BADF: i32 = -14;
    pub(crate) const NOTEMPTY: i32 = -15;
    pub(crate) const MLINK: i32 = -16;
}

pub(crate) const ACL: &[u8] = b"";
pub(crate) const DEFAULT_ACL: &[u8] = b"";
pub(crate) const SET_LAST: Option<&[u8]> = None;

fn unsupported<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this platform is not supported yet"))
}

macro_rules! missing {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        $(pub(crate) fn $name($(_: $argument),*) -> io::Result<$result> { unsupported() })*
    };
}

missing! {
    open_root(&Path) -> Fd;
    open_config(&Path) -> Fd;
    stat_path(&Path) -> Metadata;
    list_own(&Fd, bool) -> Vec<Vec<u8>>;
    open_at(&Fd, &str, Open) -> Fd;
    stat(&Fd) -> Metadata;
    stat_at(&Fd, &str) -> Metadata;
    stat_at_bytes(&Fd, &[u8]) -> Metadata;
    look_for(&Fd, &str) -> ();
    read_some(&Fd, &mut [u8]) -> usize;
    read_append(&Fd, &mut Vec<u8>) -> usize;
    read_at(&Fd, &mut [u8], u64) -> usize;
    write_all(&Fd, &mut [io::IoSlice<'_>]) -> ();
    write_at_start(&Fd, &[u8]) -> ();
    set_mode(&Fd, u32) -> ();
    set_owner(&Fd, Option<u32>, Option<u32>) -> ();
    set_mtime(&Fd, FileTime) -> ();
    xattr_names(&Fd) -> Vec<Vec<u8>>;
    xattr(&Fd, &[u8]) -> Option<Vec<u8>>;
    set_xattr(&Fd, &[u8], &[u8]) -> ();
    remove_xattr(&Fd, &[u8]) -> ();
    rename(NameIn<'_, &Fd>, NameIn<'_, &Fd>, Rename) -> ();
    link(NameIn<'_, &Fd>, NameIn<'_, &Fd>) -> ();
    symlink(&[u8], &Fd, &str) -> ();
    read_link(&Fd, &str) -> Vec<u8>;
    unlink(&Fd, &str) -> ();
    make_dir(&Fd, &str, u32) -> ();
    remove_dir(&Fd, &str) -> ();
    remove_emptied_dir(&Fd, &str) -> ();
    list(&Fd) -> Vec<Vec<u8>>;
    sync(&Fd) -> ();
    may_write(&Fd) -> ();
    may_write_file(&Fd, &str) -> ();
    random(&mut [u8]) -> ();
    try_lock(&Fd) -> bool;
    unlock(&Fd) -> ();
}

pub(crate) fn keeps(_: &[u8]) -> Option<bool> {
    None
}

pub(crate) fn open_beneath(_: &Fd, _: &str, _: Open) -> Option<io::Result<Fd>> {
    None
}

pub(crate) fn birth(_: &Fd) -> Option<FileTime> {
    None
}

pub(crate) fn mount_id(_: &Fd, _: Option<&str>) -> Option<u64> {
    None
}

pub(crate) fn has_xattrs(_: &Fd) -> Option<bool> {
    Some(false)
}

pub(crate) fn sync_file_system(_: &Fd) -> Option<io::Result<()>> {
    None
}

pub(crate) fn dirty_bytes() -> Option<u64> {
    None
}

pub(crate) fn open_files_limit() -> Option<usize> {
    None
}

pub(crate) fn user() -> u32 {
    0
}

pub(crate) fn look_up_user() -> u32 {
    0
}

pub(crate) fn process_exists(_: u32) -> bool {
    true
}
