//! The lock that admits one writer to a workspace at a time.

use std::time::{Duration, Instant};

use crate::append::require_own_file;
use crate::cancel::Cancellation;
use crate::dir::Spot;
use crate::error::{At as _, Error};
use crate::sys::{self, Fd, Open};

/// A held lock. It is released when this is dropped, and when the process ends in any way.
#[derive(Debug)]
pub struct LockFile {
    /// Kept open to hold the lock.
    file: Fd,
    spot: Spot,
}

/// A lock that was [released](LockFile::release), to be taken again.
#[derive(Debug)]
pub struct ReleasedLock {
    file: Fd,
    spot: Spot,
}

/// How long a lock is waited for.
#[derive(Debug, Clone)]
pub struct Wait {
    /// At most so long.
    pub timeout: Duration,
    /// What ends it earlier, with [`Error::Cancelled`].
    pub cancellation: Cancellation,
}

impl From<Duration> for Wait {
    fn from(timeout: Duration) -> Self {
        Self { timeout, cancellation: Cancellation::NEVER }
    }
}

impl Spot {
    /// Takes the lock file here, waiting if necessary, and creates it if it is missing.
    pub fn lock(&self, wait: impl Into<Wait>) -> Result<LockFile, Error> {
        let Wait { timeout, cancellation } = wait.into();
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(lock) = self.try_lock()? {
                return Ok(lock);
            }
            let waited = start.elapsed();
            if waited >= timeout {
                return Err(Error::Locked { holder: self.holder(), waited });
            }
            cancellation.check()?;
            std::thread::sleep(pause.min(timeout - waited));
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    fn try_lock(&self) -> Result<Option<LockFile>, Error> {
        let handle = self.open_own(Open::ReadWrite(0o600))?;
        self.try_lock_open(handle)
    }

    /// Takes the lock on a file that was opened here.
    fn try_lock_open(&self, file: Fd) -> Result<Option<LockFile>, Error> {
        if !sys::try_lock(&file).at("lock", self.path())? {
            return Ok(None);
        }
        // The previous holder may have removed the file, and another process created a new one.
        let seen = sys::stat(&file).at("look at", self.path())?;
        match self.metadata()? {
            Some(now) if now.same_inode(&seen) => require_own_file(&now, &self.path())?,
            _ => return Ok(None),
        }
        // This text is for people only: on a full disk the lock holds all the same. It has always
        // the same length, because truncating a file first costs a millisecond on ext4.
        let _ = sys::write_at_start(&file, format!("{:<10}\n", std::process::id()).as_bytes());
        Ok(Some(LockFile { file, spot: self.clone() }))
    }

    fn holder(&self) -> Option<String> {
        let (bytes, _) = self.read(64).ok()?;
        let pid: u32 = std::str::from_utf8(&bytes).ok()?.trim().parse().ok()?;
        let alive = if sys::process_exists(pid) { "" } else { " (which is gone)" };
        Some(format!("process {pid}{alive}"))
    }
}

impl LockFile {
    /// Releases the lock and keeps the file open.
    ///
    /// # Errors
    ///
    /// If the system does not release it. Then the file is closed, which releases it.
    pub fn release(self) -> Result<ReleasedLock, Error> {
        let Self { file, spot } = self;
        sys::unlock(&file).at("unlock", spot.path())?;
        Ok(ReleasedLock { file, spot })
    }

    /// Removes the lock file and releases the lock. Whoever waits for it creates a new one.
    pub fn remove(self) -> Result<(), Error> {
        self.spot.remove()
    }
}

impl ReleasedLock {
    /// Takes the lock again, waiting at most `timeout`.
    ///
    /// # Errors
    ///
    /// Those of [`Spot::lock`].
    pub fn lock(self, timeout: Duration) -> Result<LockFile, Error> {
        match self.spot.try_lock_open(self.file)? {
            Some(lock) => Ok(lock),
            None => self.spot.lock(timeout),
        }
    }
}
