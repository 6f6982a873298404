//! The calls of macOS for access lists, with their unsafe code.
//!
//! The lists are no extended attributes there, and no safe crate has the calls by handle: `exacl`
//! takes paths, and `fcopyfile` leaves inherited entries out. The calls are in the C library
//! (`acl(3)`, `<sys/acl.h>`, `<sys/stat.h>`).

#![allow(unsafe_code, reason = "calls of the C library, with nothing but the call in each block")]

use std::ffi::{c_int, c_uint, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _};
use std::ptr;

use rustix::io::{Errno, Result};

use super::acl;

const ACL_TYPE_EXTENDED: c_uint = 0x100;
const FILESEC_ACL: c_uint = 5;
/// `_FILESEC_REMOVE_ACL`: a value in the place of a pointer.
const REMOVE: *const c_void = ptr::without_provenance(1);

unsafe extern "C" {
    fn acl_get_fd_np(fd: c_int, kind: c_uint) -> *mut c_void;
    fn acl_set_fd_np(fd: c_int, list: *mut c_void, kind: c_uint) -> c_int;
    fn acl_size(list: *mut c_void) -> isize;
    fn acl_copy_ext_native(buffer: *mut c_void, list: *mut c_void, size: isize) -> isize;
    fn acl_copy_int_native(buffer: *const c_void) -> *mut c_void;
    fn acl_free(list: *mut c_void) -> c_int;
    fn filesec_init() -> *mut c_void;
    fn filesec_set_property(security: *mut c_void, property: c_uint, value: *const c_void)
    -> c_int;
    fn filesec_free(security: *mut c_void);
    fn fchmodx_np(fd: c_int, security: *mut c_void) -> c_int;
}

fn last() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// A list of the C library, freed in the end.
struct List(*mut c_void);

impl List {
    fn new(list: *mut c_void) -> Result<Self> {
        if list.is_null() { Err(last()) } else { Ok(Self(list)) }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: the library allocated this list, and nobody else has it.
        unsafe { acl_free(self.0) };
    }
}

/// Settings of the C library for a file's security, freed in the end.
struct Security(*mut c_void);

impl Drop for Security {
    fn drop(&mut self) {
        // SAFETY: this came from `filesec_init`, and nobody else has it.
        unsafe { filesec_free(self.0) };
    }
}

/// Reads the access list of a file or directory; empty when there is none.
pub(super) fn list(fd: &impl AsFd) -> Result<Vec<u8>> {
    // SAFETY: the descriptor is open as long as the borrow.
    let found = unsafe { acl_get_fd_np(fd.as_fd().as_raw_fd(), ACL_TYPE_EXTENDED) };
    let list = match List::new(found) {
        Err(Errno::NOENT) => return Ok(Vec::new()),
        result => result?,
    };
    // SAFETY: the list is one of the library's, and not yet freed.
    let size = unsafe { acl_size(list.0) };
    let mut bytes = vec![0; usize::try_from(size).map_err(|_| last())?];
    // SAFETY: the buffer is writable for as many bytes as are said, and the list not yet freed.
    let length = unsafe { acl_copy_ext_native(bytes.as_mut_ptr().cast(), list.0, size) };
    bytes.truncate(usize::try_from(length).map_err(|_| last())?);
    if acl::is_whole(&bytes) { Ok(bytes) } else { Err(Errno::INVAL) }
}

/// Gives a file or directory an access list, or removes its list (an empty slice).
pub(super) fn set_list(fd: &impl AsFd, bytes: &[u8]) -> Result<()> {
    if bytes.is_empty() {
        return remove(fd);
    }
    if !acl::is_whole(bytes) {
        return Err(Errno::INVAL);
    }
    // The library reads the bytes as a structure of numbers of four bytes.
    let numbers: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|four| u32::from_ne_bytes([four[0], four[1], four[2], four[3]]))
        .collect();
    // SAFETY: the buffer is aligned, has as many entries as stated (`is_whole`), and is only read.
    let list = List::new(unsafe { acl_copy_int_native(numbers.as_ptr().cast()) })?;
    // SAFETY: the descriptor is open as long as the borrow, and the list not yet freed.
    let done = unsafe { acl_set_fd_np(fd.as_fd().as_raw_fd(), list.0, ACL_TYPE_EXTENDED) };
    if done == 0 { Ok(()) } else { Err(last()) }
}

fn remove(fd: &impl AsFd) -> Result<()> {
    // SAFETY: the call takes nothing.
    let security = Security(unsafe { filesec_init() });
    if security.0.is_null() {
        return Err(last());
    }
    // SAFETY: the settings are not yet freed; the library compares the value, and does not follow
    // it.
    if unsafe { filesec_set_property(security.0, FILESEC_ACL, REMOVE) } != 0 {
        return Err(last());
    }
    // SAFETY: the descriptor is open as long as the borrow, and the settings not yet freed.
    let done = unsafe { fchmodx_np(fd.as_fd().as_raw_fd(), security.0) };
    if done == 0 { Ok(()) } else { Err(last()) }
}
