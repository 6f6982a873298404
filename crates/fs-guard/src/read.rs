//! Reads regular files, whole or as a stream.

use crate::cancel::Cancellation;
use crate::digest::{Hasher, Sha256};
use crate::error::{At as _, Error};
use crate::metadata::{FileKind, Metadata};
use crate::policy::Access;
use crate::rel_path::RelPath;
use crate::root::Root;
use crate::sys::{self, Fd, Open, code};

/// The metadata of the entry at a path, and the bytes of a file that was read.
pub type Inspected = (Metadata, Option<Vec<u8>>);

impl Root {
    /// Reads a regular file of at most `limit` bytes.
    ///
    /// The metadata comes from the opened file, before the first byte is read: a change during or
    /// after reading shows in a later comparison.
    pub fn read(&self, path: &RelPath, limit: u64) -> Result<(Vec<u8>, Metadata), Error> {
        let (file, seen) = self.open_file(path)?;
        let bytes = read_whole(&file.handle, seen.size, limit, path.as_str())?;
        Ok((bytes, seen))
    }

    /// Returns the metadata of the entry at the path, after applying the rules for `access` like
    /// [`inspect`](Self::inspect). Also reads a `wanted` regular file of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// Those of `inspect` and [`read`](Self::read).
    pub fn inspect_and_read(
        &self,
        path: &RelPath,
        access: Access,
        wanted: impl Fn(&Metadata) -> bool,
        limit: u64,
    ) -> Result<Option<Inspected>, Error> {
        // Only a regular file is opened at once: the writer of a FIFO would notice. This look may
        // follow links; it only tells which way is shorter.
        if sys::stat_at(&self.handle, path.as_str())
            .is_ok_and(|seen| seen.kind == FileKind::File && wanted(&seen))
            && let Ok((file, seen)) = self.open_file(path)
        {
            self.check_pre_image(path, &seen, access)?;
            let bytes = read_whole(&file.handle, seen.size, limit, path.as_str())?;
            return Ok(Some((seen, Some(bytes))));
        }
        let Some(seen) = self.inspect(path, access)? else { return Ok(None) };
        if seen.kind != FileKind::File || !wanted(&seen) {
            return Ok(Some((seen, None)));
        }
        self.read(path, limit).map(|(bytes, seen)| Some((seen, Some(bytes))))
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
        let (file, mut seen) = OpenFile::regular(handle, path.as_str())?;
        seen.has_xattrs = sys::has_xattrs(&file.handle);
        self.check_not_git(path, Some(&seen))?;
        Ok((file, seen))
    }
}

/// A regular file open for reading.
#[derive(Debug)]
pub struct OpenFile {
    pub(crate) handle: Fd,
    pub(crate) path: Box<str>,
    /// The length in bytes at the time of opening.
    size: u64,
}

impl OpenFile {
    /// Fails unless the opened file is a regular one.
    pub(crate) fn regular(handle: Fd, path: &str) -> Result<(Self, Metadata), Error> {
        let seen = sys::stat(&handle).at("look at", path)?;
        if seen.kind != FileKind::File {
            return Err(Error::NotAFile { path: path.into(), kind: seen.kind });
        }
        Ok((Self { handle, path: path.into(), size: seen.size }, seen))
    }

    /// Reads more bytes into `buffer`. Returns 0 at the end.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        sys::read_some(&self.handle, buffer).at("read", &self.path)
    }

    /// Reads at an offset, independent of where [`OpenFile::read`] is.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, Error> {
        sys::read_at(&self.handle, buffer, offset).at("read", &self.path)
    }

    /// Hashes the rest of the file in pieces.
    pub fn hash(&mut self, cancellation: &Cancellation) -> Result<Sha256, Error> {
        let mut hasher = Hasher::new();
        let mut buffer = vec![0; 1 << 16];
        let mut read = 0;
        loop {
            cancellation.check()?;
            let length = self.read(&mut buffer)?;
            hasher.update(&buffer[..length]);
            read += length as u64;
            // All of the expected size, and less than was asked for: this is the end.
            if length == 0 || (read == self.size && length < buffer.len()) {
                return Ok(hasher.finish());
            }
        }
    }

    /// Returns the metadata of the open file.
    pub fn metadata(&self) -> Result<Metadata, Error> {
        sys::stat(&self.handle).at("look at", &self.path)
    }
}

impl std::io::Read for OpenFile {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        sys::read_some(&self.handle, buffer)
    }
}

fn too_large(path: &str, size: u64, limit: u64) -> Error {
    Error::TooLarge { path: path.into(), size, limit }
}

/// Reads a file to the end. Its size is expected to be `size` bytes.
pub(crate) fn read_whole(file: &Fd, size: u64, limit: u64, path: &str) -> Result<Vec<u8>, Error> {
    if size > limit {
        return Err(too_large(path, size, limit));
    }
    // One byte more than the size, to see the end without growing the buffer.
    let room = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(room).map_err(|_| too_large(path, size, limit))?;
    loop {
        let length = sys::read_append(file, &mut bytes).at("read", path)?;
        // All of the expected size, and the buffer had room for more: this is the end.
        if length == 0 || length as u64 == size {
            return Ok(bytes);
        }
        if bytes.len() as u64 > limit {
            return Err(too_large(path, bytes.len() as u64, limit));
        }
        if bytes.len() == bytes.capacity() {
            bytes
                .try_reserve(bytes.len().max(1 << 16))
                .map_err(|_| too_large(path, bytes.len() as u64, limit))?;
        }
    }
}
