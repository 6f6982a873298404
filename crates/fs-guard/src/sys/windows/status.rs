//! The answers of the native calls, as errors known to the rest of the guard; and patience with
//! those that pass.

use std::io;
use std::thread::sleep;
use std::time::Duration;

use windows_sys::Win32::Foundation as win;

use super::nt::{self, Status};

/// The system error codes that are handled. Each stands for all that mean the same (`from`).
pub(crate) mod code {
    pub(crate) const NOENT: i32 = 2; // ERROR_FILE_NOT_FOUND
    pub(crate) const EXIST: i32 = 183; // ERROR_ALREADY_EXISTS
    pub(crate) const ACCES: i32 = 5; // ERROR_ACCESS_DENIED
    pub(crate) const PERM: i32 = 1314; // ERROR_PRIVILEGE_NOT_HELD
    pub(crate) const ROFS: i32 = 19; // ERROR_WRITE_PROTECT
    pub(crate) const LOOP: i32 = 1921; // ERROR_CANT_RESOLVE_FILENAME
    pub(crate) const XDEV: i32 = 17; // ERROR_NOT_SAME_DEVICE
    pub(crate) const NOTDIR: i32 = 267; // ERROR_DIRECTORY
    pub(crate) const ISDIR: i32 = 336; // ERROR_DIRECTORY_NOT_SUPPORTED
    pub(crate) const NXIO: i32 = 20; // ERROR_BAD_UNIT: no call here gives it
    pub(crate) const NOSYS: i32 = 120; // ERROR_CALL_NOT_IMPLEMENTED
    pub(crate) const INVAL: i32 = 87; // ERROR_INVALID_PARAMETER
    pub(crate) const OPNOTSUPP: i32 = 50; // ERROR_NOT_SUPPORTED
    pub(crate) const BADF: i32 = 6; // ERROR_INVALID_HANDLE
    pub(crate) const NOTEMPTY: i32 = 145; // ERROR_DIR_NOT_EMPTY
    pub(crate) const MLINK: i32 = 1142; // ERROR_TOO_MANY_LINKS
}

/// The name is not allowed on Windows, or means something else.
pub(super) const INVALID_NAME: i32 = 123; // ERROR_INVALID_NAME

/// The error of a native call.
pub(super) fn from(status: Status) -> io::Error {
    let code = match status {
        win::STATUS_OBJECT_NAME_NOT_FOUND
        | win::STATUS_OBJECT_PATH_NOT_FOUND
        | win::STATUS_NO_SUCH_FILE => code::NOENT,
        win::STATUS_OBJECT_NAME_COLLISION => code::EXIST,
        win::STATUS_NOT_A_DIRECTORY => code::NOTDIR,
        win::STATUS_FILE_IS_A_DIRECTORY => code::ISDIR,
        win::STATUS_DIRECTORY_NOT_EMPTY => code::NOTEMPTY,
        win::STATUS_NOT_SAME_DEVICE => code::XDEV,
        win::STATUS_DELETE_PENDING => win::ERROR_DELETE_PENDING.cast_signed(),
        status => nt::plain_code(status).cast_signed(),
    };
    io::Error::from_raw_os_error(code)
}

/// The error of a call of Rust's library, with the codes from above.
fn plain(error: io::Error) -> io::Error {
    match error.raw_os_error().map(i32::cast_unsigned) {
        Some(win::ERROR_PATH_NOT_FOUND | win::ERROR_BAD_NETPATH | win::ERROR_BAD_NET_NAME) => {
            io::Error::from_raw_os_error(code::NOENT)
        }
        Some(win::ERROR_FILE_EXISTS) => io::Error::from_raw_os_error(code::EXIST),
        _ => error,
    }
}

/// Returns whether an open file has lost its name.
pub(super) fn is_gone(status: Status) -> bool {
    matches!(status, win::STATUS_FILE_DELETED | win::STATUS_DELETE_PENDING)
        || from(status).raw_os_error() == Some(code::NOENT)
}

/// Tells whether a file system, or a Windows before version 10, does not know this way.
pub(super) fn is_unknown(status: Status) -> bool {
    matches!(
        status,
        win::STATUS_INVALID_INFO_CLASS
            | win::STATUS_NOT_IMPLEMENTED
            | win::STATUS_NOT_SUPPORTED
            | win::STATUS_INVALID_PARAMETER
            | win::STATUS_INVALID_DEVICE_REQUEST
    )
}

/// How often a call is repeated while others are in its way, and the length of all pauses together:
/// 1, 2, 4 … 256 ms, half a second. Indexers and virus scanners hold a new file for some
/// milliseconds.
const ATTEMPTS: u32 = 10;

/// Repeats a call while another program has the file open without sharing, or during its removal.
pub(super) fn patiently<T>(make: impl FnMut() -> Result<T, Status>) -> Result<T, Status> {
    retry(make, |&status| {
        matches!(
            status,
            win::STATUS_SHARING_VIOLATION
                | win::STATUS_DELETE_PENDING
                | win::STATUS_FILE_LOCK_CONFLICT
        )
    })
}

/// Does the same as `patiently`, and also repeats a denied call while another program has the
/// replaced file open.
pub(super) fn more_patiently<T>(make: impl FnMut() -> Result<T, Status>) -> Result<T, Status> {
    retry(make, |&status| {
        matches!(
            status,
            win::STATUS_SHARING_VIOLATION
                | win::STATUS_DELETE_PENDING
                | win::STATUS_FILE_LOCK_CONFLICT
                | win::STATUS_ACCESS_DENIED
                | win::STATUS_CANNOT_DELETE
        )
    })
}

/// Opens a path again while another program has it open without sharing, for example during the
/// creation of the directory.
pub(super) fn open_patiently<T>(mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    retry(|| open().map_err(plain), is_passing)
}

fn is_passing(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(i32::cast_unsigned);
    matches!(
        code,
        Some(win::ERROR_SHARING_VIOLATION | win::ERROR_LOCK_VIOLATION | win::ERROR_DELETE_PENDING)
    )
}

/// Repeats a call, after a pause, while its error is one that passes.
pub(super) fn retry<T, E>(
    mut make: impl FnMut() -> Result<T, E>,
    passes: impl Fn(&E) -> bool,
) -> Result<T, E> {
    for attempt in 1..ATTEMPTS {
        match make() {
            Err(error) if passes(&error) => sleep(Duration::from_millis(1 << (attempt - 1))),
            result => return result,
        }
    }
    make()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_hold_is_tried_again_and_then_is_an_error() {
        for (status, attempts) in [
            (win::STATUS_SHARING_VIOLATION, ATTEMPTS),
            (win::STATUS_DELETE_PENDING, ATTEMPTS),
            (win::STATUS_ACCESS_DENIED, 1),
        ] {
            let mut made = 0;
            let result = patiently(|| {
                made += 1;
                Err::<(), _>(status)
            });
            assert_eq!(result, Err(status));
            assert_eq!(made, attempts);
        }
        for (code, attempts) in [(32, ATTEMPTS), (code::NOENT, 1), (code::ACCES, 1)] {
            let mut made = 0;
            let result = open_patiently(|| {
                made += 1;
                Err::<(), _>(io::Error::from_raw_os_error(code))
            });
            assert_eq!(result.unwrap_err().raw_os_error(), Some(code));
            assert_eq!(made, attempts);
        }
        let mut left = 3;
        let result = more_patiently(|| {
            left -= 1;
            if left == 0 { Ok(()) } else { Err(win::STATUS_ACCESS_DENIED) }
        });
        assert_eq!(result, Ok(()));
    }

    #[test]
    fn errors_that_mean_the_same_have_one_code() {
        for (status, code) in [
            (win::STATUS_OBJECT_PATH_NOT_FOUND, code::NOENT),
            (win::STATUS_NO_SUCH_FILE, code::NOENT),
            (win::STATUS_OBJECT_NAME_COLLISION, code::EXIST),
            (win::STATUS_ACCESS_DENIED, code::ACCES),
            (win::STATUS_SHARING_VIOLATION, 32),
            (win::STATUS_DISK_FULL, 112),
        ] {
            assert_eq!(from(status).raw_os_error(), Some(code));
        }
        assert_eq!(from(win::STATUS_NOT_SAME_DEVICE).kind(), io::ErrorKind::CrossesDevices);
    }
}
