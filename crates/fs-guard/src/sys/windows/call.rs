//! The beginning of every call: the point where tests let calls fail, and the name in UTF-16.

use std::io;

use windows_sys::Win32::Storage::FileSystem as win;

use crate::sys::fault::{self, FaultSide};

/// To look at a file and at its access list.
pub(super) const SEE: u32 = win::FILE_READ_ATTRIBUTES | win::READ_CONTROL;

/// Makes a call that changes nothing, past the point where tests let calls fail.
pub(super) fn read<T>(name: &'static str, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    fault::point(name, FaultSide::Read).and_then(|()| make())
}

/// Makes a call that changes something.
pub(super) fn write<T>(name: &'static str, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    fault::point(name, FaultSide::Write).and_then(|()| make())
}

/// An error by its code.
pub(super) fn error<T>(code: i32) -> io::Result<T> {
    Err(io::Error::from_raw_os_error(code))
}

/// A name in UTF-16; `None` for a name that Windows would read as something else: a path, the
/// stream of a file, a device, the same name without its end.
pub(super) fn wide(name: &str) -> Option<Vec<u16>> {
    let is_path = name.contains(['\\', '/']) || name.chars().any(char::is_control);
    (!is_path && crate::names::check_windows(name).is_ok()).then(|| name.encode_utf16().collect())
}
