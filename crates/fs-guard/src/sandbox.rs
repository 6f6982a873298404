//! A second barrier behind the guard: the kernel denies what this program does not need.

use std::path::Path;

use crate::error::{At as _, Error};
use crate::root::Root;
use crate::sys::{self, Confined};

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
