//! The calls of Windows missing from Rust's library, each behind a safe signature.
//!
//! This is the only file of this crate with unsafe code, and there is none on other platforms:
//! files beneath a handle cannot be opened, renamed or removed without these calls. They take and
//! give slices; other modules read the bytes.
#![allow(unsafe_code, reason = "system calls, with nothing but the call in each block")]

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::ptr;

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem as wdk;
use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, HANDLE, NTSTATUS, OBJ_CASE_INSENSITIVE,
    RtlNtStatusToDosError, STATUS_BUFFER_TOO_SMALL, STATUS_NAME_TOO_LONG, UNICODE_STRING,
    WAIT_TIMEOUT,
};
use windows_sys::Win32::Security::Cryptography::{
    BCRYPT_USE_SYSTEM_PREFERRED_RNG, BCryptGenRandom,
};
use windows_sys::Win32::Security::{GetTokenInformation, TOKEN_INFORMATION_CLASS, TOKEN_QUERY};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, LOCKFILE_EXCLUSIVE_LOCK,
    LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, SYNCHRONIZE, UnlockFileEx,
};
use windows_sys::Win32::System::IO::{DeviceIoControl, IO_STATUS_BLOCK, OVERLAPPED};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, OpenProcess, OpenProcessToken, PROCESS_SYNCHRONIZE, WaitForSingleObject,
};

/// A code of the native calls; negative when one failed.
pub(super) type Status = NTSTATUS;

/// How [`create`] opens or creates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Create<'s> {
    /// The requested rights, beside waiting.
    pub(super) access: u32,
    /// Whether the file has to exist, may exist, or may not.
    pub(super) disposition: u32,
    /// `FILE_DIRECTORY_FILE` and the like; a reparse point is always opened itself.
    pub(super) options: u32,
    /// The attributes of what is created.
    pub(super) attributes: u32,
    /// The security descriptor of what is created; `None`: what its directory passes on.
    pub(super) security: Option<&'s [u64]>,
}

/// A way to open a file that exists, with the requested rights.
pub(super) fn opening(access: u32, options: u32) -> Create<'static> {
    Create { access, disposition: wdk::FILE_OPEN, options, attributes: 0, security: None }
}

/// Opens or creates `name` in the open directory; no name is the directory itself. Everybody may go
/// on to read, write, rename and remove the file.
pub(super) fn create(dir: &File, name: &[u16], how: Create<'_>) -> Result<File, Status> {
    let length = u16::try_from(name.len() * 2).map_err(|_| STATUS_NAME_TOO_LONG)?;
    let name =
        UNICODE_STRING { Length: length, MaximumLength: length, Buffer: name.as_ptr().cast_mut() };
    let object = OBJECT_ATTRIBUTES {
        Length: u32::try_from(size_of::<OBJECT_ATTRIBUTES>()).expect("it is small"),
        RootDirectory: dir.as_raw_handle(),
        ObjectName: &raw const name,
        Attributes: OBJ_CASE_INSENSITIVE,
        SecurityDescriptor: how.security.map_or(ptr::null(), |bytes| bytes.as_ptr().cast()),
        SecurityQualityOfService: ptr::null(),
    };
    let mut handle: HANDLE = ptr::null_mut();
    let mut done = IO_STATUS_BLOCK::default();
    let options = how.options | wdk::FILE_SYNCHRONOUS_IO_NONALERT | wdk::FILE_OPEN_REPARSE_POINT;
    // SAFETY: all pointers are to locals, or to slices that outlive the call; the name is only
    // read. The security descriptor is in a single piece (`security::descriptor`), and the system
    // checks it while copying.
    let status = unsafe {
        wdk::NtCreateFile(
            &raw mut handle,
            how.access | SYNCHRONIZE,
            &raw const object,
            &raw mut done,
            ptr::null(),
            how.attributes,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            how.disposition,
            options,
            ptr::null(),
            0,
        )
    };
    if status < 0 {
        return Err(status);
    }
    // SAFETY: the call succeeded, so the handle is open, and nobody else has it.
    Ok(File::from(unsafe { OwnedHandle::from_raw_handle(handle) }))
}

/// Reads facts about an open file; returns their length in bytes.
pub(super) fn information(file: &File, class: i32, into: &mut [u64]) -> Result<usize, Status> {
    let mut done = IO_STATUS_BLOCK::default();
    // SAFETY: the buffer is writable for as many bytes as are said, and aligned for every
    // structure.
    let status = unsafe {
        let (start, length) = (into.as_mut_ptr().cast::<c_void>(), byte_length(into));
        wdk::NtQueryInformationFile(file.as_raw_handle(), &raw mut done, start, length, class)
    };
    if status < 0 { Err(status) } else { Ok(done.Information) }
}

/// Changes something of an open file: `length` bytes of `from` say what.
pub(super) fn set_information(
    file: &File,
    class: i32,
    from: &[u64],
    length: usize,
) -> Result<(), Status> {
    assert!(length <= from.len() * 8, "BUG: less than is said");
    let mut done = IO_STATUS_BLOCK::default();
    // SAFETY: the buffer is readable for as many bytes as are said, and aligned for every
    // structure.
    let status = unsafe {
        let (start, length) = (from.as_ptr().cast::<c_void>(), u32::try_from(length).unwrap_or(0));
        wdk::NtSetInformationFile(file.as_raw_handle(), &raw mut done, start, length, class)
    };
    if status < 0 { Err(status) } else { Ok(()) }
}

/// Reads facts about the volume of an open file.
pub(super) fn volume_information(
    file: &File,
    class: i32,
    into: &mut [u64],
) -> Result<usize, Status> {
    let mut done = IO_STATUS_BLOCK::default();
    // SAFETY: the buffer is writable for as many bytes as are said, and aligned for every
    // structure.
    let status = unsafe {
        let (start, length) = (into.as_mut_ptr().cast::<c_void>(), byte_length(into));
        wdk::NtQueryVolumeInformationFile(file.as_raw_handle(), &raw mut done, start, length, class)
    };
    if status < 0 { Err(status) } else { Ok(done.Information) }
}

/// Reads the next entries of a directory, or the one of this name; returns how many bytes they
/// take.
pub(super) fn entries(
    dir: &File,
    class: i32,
    name: Option<&[u16]>,
    into: &mut [u64],
) -> Result<usize, Status> {
    let wanted = name.unwrap_or_default();
    let length = u16::try_from(wanted.len() * 2).map_err(|_| STATUS_NAME_TOO_LONG)?;
    let wanted = UNICODE_STRING {
        Length: length,
        MaximumLength: length,
        Buffer: wanted.as_ptr().cast_mut(),
    };
    let mut done = IO_STATUS_BLOCK::default();
    // SAFETY: the buffer is writable for as many bytes as are said, and aligned for every
    // structure; the name is only read. The handle waits for each call (`create`), so nothing is
    // written after it.
    let status = unsafe {
        wdk::NtQueryDirectoryFile(
            dir.as_raw_handle(),
            ptr::null_mut(),
            None,
            ptr::null(),
            &raw mut done,
            into.as_mut_ptr().cast(),
            byte_length(into),
            class,
            name.is_some(),
            if name.is_some() { &raw const wanted } else { ptr::null() },
            name.is_some(),
        )
    };
    if status < 0 { Err(status) } else { Ok(done.Information) }
}

/// Reads parts of the security descriptor of an open file, in one piece.
pub(super) fn security(file: &File, parts: u32) -> Result<Vec<u64>, Status> {
    let mut into = vec![0_u64; 64];
    loop {
        let mut needed = 0;
        // SAFETY: the buffer is writable for as many bytes as are said, and aligned.
        let status = unsafe {
            let (start, length) = (into.as_mut_ptr().cast::<c_void>(), byte_length(&into));
            wdk::NtQuerySecurityObject(file.as_raw_handle(), parts, start, length, &raw mut needed)
        };
        match status {
            STATUS_BUFFER_TOO_SMALL if needed > byte_length(&into) => {
                into = vec![0; (needed as usize).div_ceil(8)]
            }
            status if status < 0 => return Err(status),
            _ => return Ok(into),
        }
    }
}

/// Sets parts of the security descriptor of an open file.
pub(super) fn set_security(file: &File, parts: u32, descriptor: &[u64]) -> Result<(), Status> {
    // SAFETY: the descriptor is one in a single piece, as the system gave it or
    // `security::descriptor` made it; it is only read, and checked by the system as it copies it.
    let status = unsafe {
        wdk::NtSetSecurityObject(file.as_raw_handle(), parts, descriptor.as_ptr().cast_mut().cast())
    };
    if status < 0 { Err(status) } else { Ok(()) }
}

/// Reads a fact about the user of this process. The original address comes along, because the fact
/// has pointers into itself.
pub(super) fn token(class: TOKEN_INFORMATION_CLASS) -> io::Result<(Vec<u64>, usize)> {
    let mut token: HANDLE = ptr::null_mut();
    // SAFETY: the pointer is to a local; the handle of the process needs no closing.
    if unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the handle is open, and nobody else has it.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    let mut into = vec![0_u64; 64];
    let mut needed = 0;
    // SAFETY: the buffer is writable for as many bytes as are said, and aligned.
    let read = unsafe {
        let (start, length) = (into.as_mut_ptr().cast::<c_void>(), byte_length(&into));
        GetTokenInformation(token.as_raw_handle(), class, start, length, &raw mut needed)
    };
    if read == 0 {
        return Err(io::Error::last_os_error());
    }
    let address = into.as_ptr().addr();
    Ok((into, address))
}

/// Asks the file system something of an open file; returns how many bytes the answer has.
pub(super) fn control(file: &File, code: u32, into: &mut [u64]) -> io::Result<usize> {
    let mut length = 0;
    // SAFETY: the buffer is writable for as many bytes as are said; the handle waits for each call
    // (`create`).
    let done = unsafe {
        let (start, room) = (into.as_mut_ptr().cast::<c_void>(), byte_length(into));
        let handle = file.as_raw_handle();
        DeviceIoControl(handle, code, ptr::null(), 0, start, room, &raw mut length, ptr::null_mut())
    };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(length as usize) }
}

/// A place in a file, as the calls that lock take it.
fn byte_at(at: u64) -> OVERLAPPED {
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous.Offset = (at & 0xFFFF_FFFF) as u32;
    place.Anonymous.Anonymous.OffsetHigh = (at >> 32) as u32;
    place
}

/// Locks one byte of an open file, perhaps beyond its end, for this handle alone; `false` while
/// another handle has the lock.
pub(super) fn try_lock(file: &File, at: u64) -> io::Result<bool> {
    let mut place = byte_at(at);
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the pointer is to a local, and the call does not go on after it returned: the handle
    // waits for each call.
    if unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut place) } != 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error().map(i32::cast_unsigned) {
        Some(ERROR_LOCK_VIOLATION | ERROR_IO_PENDING) => Ok(false),
        _ => Err(error),
    }
}

/// Lets go what [`try_lock`] took.
pub(super) fn unlock(file: &File, at: u64) -> io::Result<()> {
    let mut place = byte_at(at);
    // SAFETY: the pointer is to a local, and the call does not go on after it returned: the handle
    // waits for each call.
    match unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &raw mut place) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Fills `bytes` with random ones.
pub(super) fn random(bytes: &mut [u8]) -> Result<(), Status> {
    let length = u32::try_from(bytes.len()).expect("a few bytes are asked for");
    // SAFETY: the buffer is writable for as many bytes as are said.
    let status = unsafe {
        BCryptGenRandom(
            ptr::null_mut(),
            bytes.as_mut_ptr(),
            length,
            BCRYPT_USE_SYSTEM_PREFERRED_RNG,
        )
    };
    if status < 0 { Err(status) } else { Ok(()) }
}

/// Tells whether a process of this number runs, as far as this user may know.
pub(super) fn process_runs(pid: u32) -> io::Result<bool> {
    // SAFETY: the call takes no pointers.
    let handle = unsafe { OpenProcess(PROCESS_SYNCHRONIZE, 0, pid) };
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is open, and closed once, here. It is signalled when the process has
    // ended.
    unsafe {
        let state = WaitForSingleObject(handle, 0);
        CloseHandle(handle);
        Ok(state == WAIT_TIMEOUT)
    }
}

/// Ends this process at once, like a kill by the task manager: nothing more runs.
#[cfg(feature = "fault-injection")]
pub(crate) fn kill_this_process() {
    // SAFETY: the handle of the process needs no closing; the call does not return.
    unsafe { windows_sys::Win32::System::Threading::TerminateProcess(GetCurrentProcess(), 137) };
}

/// Returns the code known to Rust's library and Windows' own messages.
pub(super) fn plain_code(status: Status) -> u32 {
    // SAFETY: the call takes a number and gives one.
    unsafe { RtlNtStatusToDosError(status) }
}

fn byte_length(buffer: &[u64]) -> u32 {
    u32::try_from(buffer.len() * 8).expect("buffers are small")
}
