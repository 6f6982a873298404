//! Reading regular files, whole or as a stream.

use std::thread;

use crate::digest::{Hasher, Sha256};
use crate::error::{At as _, Error};
use crate::metadata::{FileKind, Metadata};
use crate::rel_path::RelPath;
use crate::root::Root;
use crate::sys::{self, Fd, Open, code};

impl Root {
    /// Reads a regular file of at most `limit` bytes.
    ///
    /// The metadata is the opened file's, from before the first byte was read: a change during or
    /// after the reading shows in a later comparison.
    pub fn read(&self, path: &RelPath, limit: u64) -> Result<(Vec<u8>, Metadata), Error> {
        let (file, seen) = self.open_file(path)?;
        let bytes = read_whole(&file.handle, seen.size, limit, path.as_str())?;
        Ok((bytes, seen))
    }

    /// Opens a regular file for reading.
    pub fn open_file(&self, path: &RelPath) -> Result<(OpenFile, Metadata), Error> {
        let handle = match self.open_beneath(path, Open::Read) {
            Ok(Some(handle)) => handle,
            Ok(None) => return Err(Error::NotFound { path: path.as_str().into() }),
            Err(error) if error.is_code(code::NXIO) => {
                return Err(Error::NotAFile { path: path.as_str().into(), kind: FileKind::Other });
            }
            Err(error) => return Err(error),
        };
        let file = OpenFile { handle, path: path.as_str().into() };
        let mut seen = file.metadata()?;
        if seen.kind != FileKind::File {
            return Err(Error::NotAFile { path: path.as_str().into(), kind: seen.kind });
        }
        self.check_not_git(path, Some(&seen))?;
        seen.has_xattrs = sys::has_xattrs(&file.handle);
        Ok((file, seen))
    }
}

/// A regular file open for reading.
#[derive(Debug)]
pub struct OpenFile {
    pub(crate) handle: Fd,
    pub(crate) path: Box<str>,
}

impl OpenFile {
    /// Reads on into `buffer`; 0 at the end.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        sys::read_some(&self.handle, buffer).at("read", &self.path)
    }

    /// Reads at an offset, wherever [`OpenFile::read`] stands.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, Error> {
        sys::read_at(&self.handle, buffer, offset).at("read", &self.path)
    }

    /// Hashes what is left of the file, without holding it in memory.
    pub fn hash(&mut self) -> Result<Sha256, Error> {
        let mut hasher = Hasher::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match self.read(&mut buffer)? {
                0 => return Ok(hasher.finish()),
                length => hasher.update(&buffer[..length]),
            }
        }
    }

    /// Looks at the open file.
    pub fn metadata(&self) -> Result<Metadata, Error> {
        sys::stat(&self.handle).at("look at", &self.path)
    }
}

impl std::io::Read for OpenFile {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        sys::read_some(&self.handle, buffer)
    }
}

/// Half of what reading a large file costs is the memory that it is read into, page by page: two threads share that.
const SIZE_WORTH_A_THREAD: u64 = 4 << 20;

/// Reads a file of exactly `size` bytes, both halves at once; `None` when it has not that size or anything else fails.
fn read_halves(file: &Fd, size: u64) -> Option<Vec<u8>> {
    let size = usize::try_from(size).ok()?;
    // What memory there is not is found out here.
    Vec::<u8>::new().try_reserve_exact(size).ok()?;
    let mut bytes = vec![0; size];
    let fill = |part: &mut [u8], from: usize| {
        let mut done = 0;
        while done < part.len() {
            match sys::read_at(file, &mut part[done..], (from + done) as u64) {
                Ok(0) | Err(_) => return None,
                Ok(length) => done += length,
            }
        }
        Some(())
    };
    let middle = size / 2;
    let (first, second) = bytes.split_at_mut(middle);
    thread::scope(|scope| {
        let second = thread::Builder::new().spawn_scoped(scope, || fill(second, middle)).ok()?;
        let first = fill(first, 0);
        second.join().ok()?.and(first)
    })?;
    let grown = sys::read_at(file, &mut [0], size as u64).ok()? > 0;
    (!grown).then_some(bytes)
}

/// Reads to the end, of a file that is thought to have `size` bytes.
pub(crate) fn read_whole(file: &Fd, size: u64, limit: u64, path: &str) -> Result<Vec<u8>, Error> {
    let too_large = |size| Error::TooLarge { path: path.into(), size, limit };
    if size > limit {
        return Err(too_large(size));
    }
    if size >= SIZE_WORTH_A_THREAD
        && let Some(bytes) = read_halves(file, size)
    {
        return Ok(bytes);
    }
    // One more than the size, so that the end is seen without growing.
    let room = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(room).map_err(|_| too_large(size))?;
    loop {
        let length = sys::read_append(file, &mut bytes).at("read", path)?;
        // All that it is thought to have, and less than was asked for: that was the end.
        if length == 0 || (length as u64 == size && length < bytes.capacity()) {
            return Ok(bytes);
        }
        if bytes.len() as u64 > limit {
            return Err(too_large(bytes.len() as u64));
        }
        if bytes.len() == bytes.capacity() {
            bytes.try_reserve(bytes.len().max(1 << 16)).map_err(|_| too_large(bytes.len() as u64))?;
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test makes files behind the guard's back")]
mod tests {
    use super::*;
    use crate::{Access, Policy};

    #[test]
    fn a_large_file_is_read_whole_whatever_its_size_was_thought_to_be() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path(), Policy::default()).unwrap();
        let path = root.check("f", Access::Read).unwrap();
        let large = SIZE_WORTH_A_THREAD as usize;
        for size in [large - 1, large, large + 1, 2 * large + 4097] {
            let wanted: Vec<u8> = (0..size).map(|at| (at ^ (at >> 9)) as u8).collect();
            std::fs::write(dir.path().join("f"), &wanted).unwrap();
            let (bytes, seen) = root.read(&path, u64::MAX).unwrap();
            assert!(bytes == wanted && seen.size == size as u64, "{size}");
            // It grew or shrank since it was looked at.
            for thought in [size - 1, size - 4096, size + 1, size + 4096, 3 * size] {
                let (file, _) = root.open_file(&path).unwrap();
                let bytes = read_whole(&file.handle, thought as u64, u64::MAX, "f").unwrap();
                assert!(bytes == wanted, "{size} bytes, thought to be {thought}");
            }
            let verdict = root.read(&path, size as u64 - 1);
            assert!(matches!(verdict, Err(Error::TooLarge { .. })), "{size}");
        }
    }
}
