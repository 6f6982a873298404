//! A second barrier behind the guard: the kernel denies what this program does not need.

use std::path::Path;

use crate::error::{At as _, Error};
use crate::root::Root;
use crate::sys::{self, Confined};

impl Root {
    /// Confines the calling thread, and everything started from there, for good. Files can then be
    /// read and written only beneath this root and the directories `also`, and read beneath `read`;
    /// no program can be started and no TCP connection made.
    ///
    /// Open files stay open. Otherwise only the terminal can be opened, and `/proc/meminfo` read.
    /// (The kind, size and times of any path stay visible: Landlock does not restrict such looks.)
    ///
    /// # Errors
    ///
    /// If the system has no Landlock, this crate is without its feature `sandbox`, or one of `also`
    /// does not exist. Nothing is confined then.
    pub fn confine(&self, also: &[&Path], read: &[&Path]) -> Result<Confined, Error> {
        sys::confine(
            &self.handle,
            also,
            &["/dev/tty"],
            &[read, &["/proc/meminfo".as_ref()]].concat(),
        )
        .at("confine this process to", self.path().display().to_string())
    }
}
