//! The terminal that a person sits at, whatever standard input and output are.

use std::io::{self, IoSlice, Read, Write};

use crate::error::{At as _, Error};
use crate::sys;

/// The controlling terminal of this process, for a question and its answer.
#[derive(Debug)]
pub struct Terminal {
    handle: sys::Fd,
}

impl Terminal {
    /// Opens it.
    ///
    /// # Errors
    ///
    /// When this process has none, as a daemon or a job of an agent.
    pub fn open() -> Result<Self, Error> {
        Ok(Self { handle: sys::open_terminal().at("open", "/dev/tty")? })
    }
}

impl Read for Terminal {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        sys::read_some(&self.handle, buffer)
    }
}

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        sys::write_all(&self.handle, &mut [IoSlice::new(bytes)])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
