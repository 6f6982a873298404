//! The lock of a workspace, for one writer at a time.

use std::time::{Duration, Instant};

use crate::append::{AppendFile, require_own_file};
use crate::cancel::Cancellation;
use crate::dir::Spot;
use crate::error::{At as _, Error};
use crate::sys::{self, Fd, Open};

/// A held lock. It is released when this is dropped, and when the process ends in any way.
#[derive(Debug)]
pub struct LockFile {
    /// Kept open to hold the lock.
    _file: Fd,
    spot: Spot,
}

/// How long a lock is waited for.
#[derive(Debug, Clone)]
pub struct Wait {
    /// At most so long.
    pub timeout: Duration,
    /// A cancellation that ends the wait earlier, with [`Error::Cancelled`].
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
        patiently(&wait.into(), || self.holder(), || self.try_lock())
    }

    /// Opens a log here like [`append`](Self::append) and locks the file, waiting at most
    /// `timeout`. [`AppendFile::unlock`] and closing the file release the lock.
    ///
    /// Whoever gives the name to another file has to hold the lock. The number of the log's names
    /// is checked not here, but by [`AppendFile::require_own`].
    pub fn append_locked(&self, timeout: Duration) -> Result<AppendFile, Error> {
        patiently(
            &timeout.into(),
            || None,
            || {
                let file = self.open_log()?;
                if !sys::try_lock(&file.handle).at("lock", self.path())? {
                    return Ok(None);
                }
                // Others may have written, or given the name to another file.
                let now = self.metadata()?.filter(|now| now.same_inode(&file.opened));
                Ok(now.map(|opened| AppendFile { opened, ..file }))
            },
        )
    }

    fn try_lock(&self) -> Result<Option<LockFile>, Error> {
        let file = self.open_own(Open::ReadWrite(0o600))?;
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
        Ok(Some(LockFile { _file: file, spot: self.clone() }))
    }

    fn holder(&self) -> Option<String> {
        let (bytes, _) = self.read(64).ok()?;
        let pid: u32 = std::str::from_utf8(&bytes).ok()?.trim().parse().ok()?;
        let alive = if sys::process_exists(pid) { "" } else { " (which is gone)" };
        Some(format!("process {pid}{alive}"))
    }
}

/// Makes attempts until one succeeds.
fn patiently<T>(
    Wait { timeout, cancellation }: &Wait,
    holder: impl Fn() -> Option<String>,
    mut attempt: impl FnMut() -> Result<Option<T>, Error>,
) -> Result<T, Error> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(done) = attempt()? {
            return Ok(done);
        }
        let waited = start.elapsed();
        if waited >= *timeout {
            return Err(Error::Locked { holder: holder(), waited });
        }
        cancellation.check()?;
        std::thread::sleep(pause.min(*timeout - waited));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

impl AppendFile {
    /// Releases the lock of a [locked](Spot::append_locked) log, and keeps the log open.
    ///
    /// # Errors
    ///
    /// If the system does not release the lock. Closing the file does.
    pub fn unlock(&self) -> Result<(), Error> {
        sys::unlock(&self.handle).at("unlock", &self.path)
    }

    /// Locks the log again, waiting at most `timeout`. Opens the log anew if its name is another
    /// file's by now. Returns whether the file is still the same.
    ///
    /// # Errors
    ///
    /// Those of [`Spot::append_locked`].
    pub fn lock_again(mut self, spot: &Spot, timeout: Duration) -> Result<(Self, bool), Error> {
        if sys::try_lock(&self.handle).at("lock", &self.path)?
            && let Some(now) = spot.metadata()?
            && now.same_inode(&self.opened)
        {
            self.opened = now;
            return Ok((self, true));
        }
        // Its name may have come back meanwhile: this handle must not be in the way. It may not
        // have the lock.
        let _ = self.unlock();
        let Self { opened: before, handle, .. } = self;
        // While the old file is open no other file gets its inode. On Windows an open file would
        // keep its name, too.
        let open = cfg!(unix).then_some(handle);
        let file = spot.append_locked(timeout)?;
        let is_same = file.opened.same_inode(&before);
        drop(open);
        Ok((file, is_same))
    }
}

impl LockFile {
    /// Removes the lock file and releases the lock. Waiting processes create a new one.
    pub fn remove(self) -> Result<(), Error> {
        self.spot.remove()
    }
}
