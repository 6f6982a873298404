//! System calls, one function each, with the same functions on every platform.
//!
//! Every call passes [`fault::point`], where tests can make the k-th one fail.

#[cfg(feature = "fault-injection")]
pub mod fault;
#[cfg(not(feature = "fault-injection"))]
pub(crate) mod fault;

/// Reports to the recording, if there is one, what was done.
#[cfg(all(unix, feature = "fault-injection"))]
macro_rules! wrote {
    ($act:expr) => {
        $crate::sys::record::wrote(|| $act)
    };
}
#[cfg(all(unix, not(feature = "fault-injection")))]
macro_rules! wrote {
    ($act:expr) => {
        ()
    };
}

#[cfg(feature = "fault-injection")]
pub mod record;
#[cfg(not(feature = "fault-injection"))]
pub(crate) mod record;

mod confine;
pub(crate) use confine::confine;
pub use confine::{Confined, can_confine};

mod modes;
pub(crate) use modes::{NameIn, Open, Rename};

#[cfg(any(target_os = "macos", test))]
mod acl;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;

#[cfg(not(any(unix, windows)))]
mod unsupported;
#[cfg(not(any(unix, windows)))]
pub(crate) use unsupported::*;
