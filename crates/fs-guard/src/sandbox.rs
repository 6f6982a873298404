//! A second wall behind the guard: the kernel takes away what this program does not need.

use std::fmt;
use std::path::Path;

use crate::error::{At as _, Error};
use crate::root::Root;
use crate::sys;

/// How far the kernel confines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confined {
    /// The version of Landlock that the kernel has.
    pub version: i32,
    /// Whether it knows everything that was asked for. Otherwise it lacks truncation (before version 3), network
    /// (4), devices (5), or signals and abstract sockets (6); what it knows is enforced.
    pub complete: bool,
}

impl fmt::Display for Confined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.complete { "complete" } else { "in part: the kernel does not know all that was asked for" };
        write!(f, "confined by Landlock, version {}, {how}", self.version)
    }
}

impl Root {
    /// Confines the calling thread, and all that it starts, for good: files can be read and written beneath this root
    /// and the directories `also`, and nowhere else; no program can be started, and no TCP connection made.
    ///
    /// Files that are open already stay so. Beside them only the terminal can be opened, and `/proc/meminfo` read.
    /// (What is *at* a path - its kind, size, times - can be looked at everywhere: Landlock does not restrict it.)
    ///
    /// # Errors
    ///
    /// When the system has no Landlock, or one of `also` is not there. Nothing is confined then.
    pub fn confine(&self, also: &[&Path]) -> Result<Confined, Error> {
        sys::confine(&self.handle, also, &["/dev/tty"], &["/proc/meminfo"])
            .at("confine this process to", self.path().display().to_string())
    }
}
