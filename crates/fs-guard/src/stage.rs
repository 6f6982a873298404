//! Files that have their bytes but not yet their name.

use std::io::IoSlice;

use crate::digest::{Hasher, Sha256};
use crate::dir::Spot;
use crate::dirs::Dirs;
use crate::error::{At as _, Error};
use crate::metadata::{FileKind, Metadata};
use crate::read::OpenFile;
use crate::rel_path::RelPath;
use crate::sys::{self, Fd, Open, Rename, code};

impl Spot {
    /// Creates a file here, where nothing may be, to be written and then published at another
    /// place.
    ///
    /// `mode` is masked by the umask, like the mode of any new file.
    pub fn create(&self, mode: u32) -> Result<NewFile, Error> {
        match sys::open_at(&self.dir.handle, &self.name, Open::CreateNew(mode & 0o777)) {
            Ok(handle) => Ok(NewFile {
                spot: self.clone(),
                handle,
                requested: mode & 0o777,
                acl: None,
                last: None,
                gid: None,
            }),
            Err(error) if error.raw_os_error() == Some(code::EXIST) => {
                Err(Error::AlreadyExists { path: self.path() })
            }
            Err(error) => Err(error).at("create", self.path()),
        }
    }

    /// Creates a symbolic link here, to be published at another place.
    pub fn create_link(&self, target: &[u8]) -> Result<StagedFile, Error> {
        sys::symlink(target, &self.dir.handle, &self.name).at("create the link", self.path())?;
        self.staged()
    }

    /// Takes over a file staged here by an earlier process.
    pub fn staged(&self) -> Result<StagedFile, Error> {
        let seen = self.metadata()?.ok_or_else(|| Error::NotFound { path: self.path() })?;
        Ok(StagedFile::new(self.clone(), seen, None))
    }
}

/// A file being written.
#[derive(Debug)]
pub struct NewFile {
    spot: Spot,
    handle: Fd,
    /// The mode given at the creation, before the umask.
    requested: u32,
    acl: Option<Vec<u8>>,
    /// The value of [`sys::SET_LAST`].
    last: Option<Vec<u8>>,
    gid: Option<u32>,
}

impl NewFile {
    /// Writes bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write_pieces(&mut [IoSlice::new(bytes)])
    }

    /// Writes several pieces in order.
    pub fn write_pieces(&mut self, pieces: &mut [IoSlice<'_>]) -> Result<(), Error> {
        sys::write_all(&self.handle, pieces).at("write", self.spot.path())
    }

    /// Copies the rest of a file and returns the hash of the copied bytes.
    pub fn copy(&mut self, from: &mut OpenFile, size: u64) -> Result<Sha256, Error> {
        let mut hasher = Hasher::new();
        let mut buffer = vec![0; usize::try_from(size).unwrap_or(usize::MAX).clamp(1, 1 << 17)];
        loop {
            let length = from.read(&mut buffer)?;
            if length == 0 {
                return Ok(hasher.finish());
            }
            hasher.update(&buffer[..length]);
            self.write(&buffer[..length])?;
        }
    }

    /// Gives the file what a new file at `path` would inherit: the group of a set-group-id
    /// directory, and the default ACL.
    pub fn inherit(&mut self, dirs: &Dirs<'_>, path: &RelPath) -> Result<(), Error> {
        let (parent, acl) = dirs.inheritance(path)?;
        self.gid = (parent.mode & 0o2000 != 0).then_some(parent.gid);
        if sys::SET_LAST.is_some() {
            self.last = acl
        } else {
            self.acl = acl
        }
        Ok(())
    }

    /// Copies extended attributes, ACLs included. (Set-id bits and capabilities are dropped.)
    pub fn copy_xattrs(&mut self, from: &OpenFile) -> Result<(), Error> {
        for name in sys::xattr_names(&from.handle).at("read the attributes of", &*from.path)? {
            let Some(must) = sys::keeps(&name) else { continue };
            let Some(value) =
                sys::xattr(&from.handle, &name).at("read the attributes of", &*from.path)?
            else {
                continue;
            };
            if sys::SET_LAST == Some(&*name) {
                self.last = Some(value);
            } else {
                self.set_xattr(&name, &value, must)?;
            }
        }
        Ok(())
    }

    fn set_xattr(&self, name: &[u8], value: &[u8], must: bool) -> Result<(), Error> {
        match sys::set_xattr(&self.handle, name, value) {
            Err(error)
                if !must || matches!(error.raw_os_error(), Some(code::OPNOTSUPP | code::PERM)) =>
            {
                Ok(())
            }
            result => result.at("set the attributes of", self.spot.path()),
        }
    }

    /// Sets owner and mode (`None`: the mode of a new file) and finishes the file.
    ///
    /// The owner is kept as far as the system allows. With `keep_open` the handle stays open for a
    /// later sync.
    pub fn finish(
        self,
        mode: Option<u32>,
        owner_of: Option<&Metadata>,
        keep_open: bool,
    ) -> Result<StagedFile, Error> {
        let mut seen = self.look()?;
        let mut changed = false;
        let owner = owner_of.map(|of| (of.uid, of.gid)).or(self.gid.map(|gid| (seen.uid, gid)));
        if let Some((uid, gid)) = owner
            && (uid, gid) != (seen.uid, seen.gid)
        {
            // Only root may give files away; members of a group may give files to the group.
            if sys::set_owner(&self.handle, Some(uid), Some(gid)).is_err() && gid != seen.gid {
                let _ = sys::set_owner(&self.handle, None, Some(gid));
            }
            changed = true;
        }
        let mut mode = mode;
        if let Some(acl) = &self.acl
            && sys::set_xattr(&self.handle, sys::ACL, acl).is_ok()
        {
            // A default ACL replaces the umask.
            mode = Some(mode.unwrap_or(self.look()?.mode & self.requested));
            changed = true;
        }
        if let Some(mode) = mode
            && (changed || mode & 0o777 != seen.mode)
        {
            sys::set_mode(&self.handle, mode & 0o777).at("set the mode of", self.spot.path())?;
            changed = true;
        }
        if let Some(name) = sys::SET_LAST
            && let Some(value) = &self.last
        {
            self.set_xattr(name, value, true)?;
            changed = true;
        }
        if changed {
            seen = self.look()?;
        }
        let Self { spot, handle, .. } = self;
        Ok(StagedFile::new(spot, seen, keep_open.then_some(handle)))
    }

    fn look(&self) -> Result<Metadata, Error> {
        sys::stat(&self.handle).at("look at", self.spot.path())
    }

    /// Finishes one of the program's own files, with mode and owner as they are: nobody looks at
    /// them.
    #[must_use]
    pub fn finish_own(self, keep_open: bool) -> StagedFile {
        let Self { spot, handle, .. } = self;
        StagedFile { spot, metadata: None, size: Some(0), handle: keep_open.then_some(handle) }
    }
}

/// A file or link with its bytes, mode and attributes, waiting for its name.
#[derive(Debug)]
pub struct StagedFile {
    pub(crate) spot: Spot,
    /// The metadata, unless they were taken, or the file is one of the program's own.
    pub(crate) metadata: Option<Box<Metadata>>,
    /// How many bytes are to be synced, as far as that is known; `None` for a link, which is a part
    /// of its directory.
    pub(crate) size: Option<u64>,
    pub(crate) handle: Option<Fd>,
}

impl StagedFile {
    fn new(spot: Spot, seen: Metadata, handle: Option<Fd>) -> Self {
        let size = (seen.kind == FileKind::File).then_some(seen.size);
        Self { spot, metadata: Some(Box::new(seen)), size, handle }
    }

    /// Returns the metadata of the staged file; `None` for one of the program's
    /// [own](NewFile::finish_own), or if they were [taken](Self::take_metadata).
    #[must_use]
    pub fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_deref()
    }

    /// Takes the metadata, which are larger than all the rest.
    pub fn take_metadata(&mut self) -> Option<Box<Metadata>> {
        self.metadata.take()
    }

    /// Returns the present place of the file.
    #[must_use]
    pub fn spot(&self) -> &Spot {
        &self.spot
    }

    /// Gives the file its name, which must not exist.
    pub fn publish_new(self, place: &Spot) -> Result<(), Box<NotPublished>> {
        match self.spot.rename_new(place) {
            Ok(()) => Ok(()),
            Err(error) => Err(Box::new(NotPublished { file: self, error })),
        }
    }

    /// Gives the file its name in place of another file. Only for the program's own files.
    pub fn replace(self, place: &Spot) -> Result<(), Box<NotPublished>> {
        match sys::rename(self.spot.at(), place.at(), Rename::Replace) {
            Ok(()) => Ok(()),
            Err(source) => {
                let error = Error::Io { operation: "replace", path: place.path(), source };
                Err(Box::new(NotPublished { file: self, error }))
            }
        }
    }

    /// Swaps the file with the one at `place`. Returns the displaced file, now here.
    ///
    /// The caller must check that the displaced file is the one that was meant.
    pub fn exchange(self, place: &Spot) -> Result<DisplacedFile, Box<NotPublished>> {
        match self.spot.exchange_raw(place) {
            Ok(()) => Ok(DisplacedFile { spot: self.spot }),
            Err(source) => {
                Err(Box::new(NotPublished { file: self, error: not_exchanged(place, source) }))
            }
        }
    }
}

fn not_exchanged(place: &Spot, source: std::io::Error) -> Error {
    match source.raw_os_error() {
        Some(code::NOENT | code::EXIST) => Error::Changed { path: place.path() },
        _ => Error::Io { operation: "replace", path: place.path(), source },
    }
}

/// A file that could not be published, still at its staging place.
#[derive(thiserror::Error)]
#[error("{error}")]
pub struct NotPublished {
    /// The file.
    pub file: StagedFile,
    /// The reason.
    #[source]
    pub error: Error,
}

crate::debug::debug_is_display!(NotPublished);

/// A file moved away from its place.
#[derive(Debug)]
pub struct DisplacedFile {
    spot: Spot,
}

impl DisplacedFile {
    /// Moves a file away from its place to `slot`, where nothing may be.
    pub fn take(place: &Spot, slot: &Spot) -> Result<Self, Error> {
        match place.rename_aside_raw(slot).map_err(|source| place.not_renamed(slot, source)) {
            Ok(()) => Ok(Self { spot: slot.clone() }),
            Err(Error::NotFound { path }) => Err(Error::Changed { path }),
            Err(error) => Err(error),
        }
    }

    /// Returns the present place of the file.
    #[must_use]
    pub fn spot(&self) -> &Spot {
        &self.spot
    }

    /// Moves the file to a place where nothing may be.
    pub fn put_back(self, place: &Spot) -> Result<(), Error> {
        self.spot.rename_new(place)
    }

    /// Swaps the file with the one at `place`. The other file is kept here instead.
    pub fn swap_back(self, place: &Spot) -> Result<Self, Error> {
        match self.spot.exchange_raw(place) {
            Ok(()) => Ok(self),
            Err(source) => Err(not_exchanged(place, source)),
        }
    }

    /// Takes over a file displaced by an earlier process.
    #[must_use]
    pub fn at(slot: &Spot) -> Self {
        Self { spot: slot.clone() }
    }
}
