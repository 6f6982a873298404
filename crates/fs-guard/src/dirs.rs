//! The directories of one operation, each opened once.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::dir::{Dir, Spot};
use crate::error::{At as _, Error};
use crate::metadata::{FileKind, FileTime, Metadata};
use crate::rel_path::RelPath;
use crate::root::Root;
use crate::sys::{self, Open, code};
use crate::target::Target;

/// The most directories kept open, if the limit on open files allows as many.
const KEPT: usize = 256;
/// The directories that are kept open whatever the limit.
const FEW: usize = 8;

/// Open directories of the workspace, for one operation on many files.
#[derive(Debug)]
pub struct Dirs<'r> {
    root: &'r Root,
    open: RefCell<HashMap<Box<str>, Rc<Parent>>>,
    /// How many directories are kept open.
    most: OnceCell<usize>,
    first_seen: RefCell<BTreeMap<Box<str>, Metadata>>,
    /// Directories found missing, and not created here since.
    missing: RefCell<HashSet<Box<str>>>,
    /// The paths of symbolic links made or removed by the operation.
    links: HashSet<Box<str>>,
}

#[derive(Debug)]
pub(crate) struct Parent {
    pub(crate) dir: Dir,
    pub(crate) seen: Metadata,
    writable: OnceCell<()>,
    default_acl: OnceCell<Option<Vec<u8>>>,
}

/// Returns how many directories may be open at most.
fn most_kept() -> usize {
    sys::open_files_limit().map_or(KEPT, |limit| (limit / 4).clamp(FEW, KEPT))
}

impl<'r> Dirs<'r> {
    /// Creates an empty set.
    #[must_use]
    pub fn new(root: &'r Root) -> Self {
        Self {
            root,
            open: RefCell::default(),
            most: OnceCell::new(),
            first_seen: RefCell::default(),
            missing: RefCell::default(),
            links: HashSet::new(),
        }
    }

    /// Sets the paths of symbolic links made or removed by the operation: nothing is beneath a
    /// link.
    #[must_use]
    pub fn with_links<'p>(mut self, links: impl IntoIterator<Item = &'p str>) -> Self {
        self.links.extend(links.into_iter().map(Box::from));
        self
    }

    /// Returns whether a directory is, or is beneath, one of these links.
    fn has_link(&self, dir: &str) -> bool {
        let ends = dir.match_indices('/').map(|(slash, _)| slash).chain([dir.len()]);
        !self.links.is_empty() && ends.into_iter().any(|end| self.links.contains(&dir[..end]))
    }

    /// Returns the root.
    #[must_use]
    pub fn root(&self) -> &'r Root {
        self.root
    }

    /// Returns the place of a path, in its directory. The directory is opened through no link.
    ///
    /// Fails with `NotFound` if the directory is missing.
    pub fn place(&self, path: &Target) -> Result<Spot, Error> {
        let (parent, name) = path.split();
        let parent = self.parent(parent.unwrap_or(""), path)?;
        Ok(parent.dir.spot(name))
    }

    /// Fails if this process cannot change entries of the path's directory.
    pub fn check_writable(&self, path: &RelPath) -> Result<(), Error> {
        let parent = self.parent(path.split().0.unwrap_or(""), path)?;
        if parent.writable.get().is_none() {
            let shown = if parent.dir.path().is_empty() { "." } else { parent.dir.path() };
            sys::may_write(&parent.dir.handle).at("write in", shown)?;
            let _ = parent.writable.set(());
        }
        Ok(())
    }

    /// Returns what a new file in the path's directory inherits.
    pub(crate) fn inheritance(&self, path: &RelPath) -> Result<(Metadata, Option<Vec<u8>>), Error> {
        let parent = self.parent(path.split().0.unwrap_or(""), path)?;
        let acl = parent
            .default_acl
            .get_or_init(|| sys::xattr(&parent.dir.handle, sys::DEFAULT_ACL).ok().flatten());
        Ok((parent.seen.clone(), acl.clone()))
    }

    /// Remembers a missing directory.
    fn not_found(&self, dir: &str) -> Error {
        self.missing.borrow_mut().insert(dir.into());
        Error::NotFound { path: dir.into() }
    }

    fn parent(&self, dir: &str, path: &RelPath) -> Result<Rc<Parent>, Error> {
        if let Some(parent) = self.open.borrow().get(dir) {
            return Ok(Rc::clone(parent));
        }
        if self.missing.borrow().contains(dir) {
            return Err(Error::NotFound { path: dir.into() });
        }
        let handle = if dir.is_empty() && cfg!(unix) {
            Arc::clone(&self.root.handle)
        } else if dir.is_empty() {
            Arc::new(sys::open_at(&self.root.handle, ".", Open::Directory).at("open", ".")?)
        } else {
            let rel = RelPath::new_unchecked(dir);
            let opened = match self.root.open_beneath(&rel, Open::Directory) {
                // Some directories may be written but not listed. They cannot be synced.
                Err(error) if error.is_code(code::ACCES) => {
                    self.root.open_beneath(&rel, Open::Step)?
                }
                // A file is in the way, and may be about to go.
                Err(Error::NotADirectory { .. }) => return Err(self.not_found(dir)),
                Err(Error::Symlink { .. } | Error::LeadsOut { .. }) if self.has_link(dir) => {
                    return Err(self.not_found(dir));
                }
                result => result?,
            };
            Arc::new(opened.ok_or_else(|| self.not_found(dir))?)
        };
        let seen = sys::stat(&handle).at("look at", dir)?;
        self.root.check_not_git(path, None)?;
        if Some((seen.dev, seen.ino)) == self.root.dot_git()? {
            let rule = crate::error::Rule::GitDirectory;
            return Err(Error::Forbidden { path: path.as_str().into(), rule });
        }
        self.first_seen.borrow_mut().entry(dir.into()).or_insert_with(|| seen.clone());
        let parent = Rc::new(Parent {
            dir: Dir::shared(handle, dir),
            seen,
            writable: OnceCell::new(),
            default_acl: OnceCell::new(),
        });
        let mut open = self.open.borrow_mut();
        if open.len() >= FEW && open.len() >= *self.most.get_or_init(most_kept) {
            open.clear();
        }
        open.insert(dir.into(), Rc::clone(&parent));
        Ok(parent)
    }

    /// Creates a directory. Returns `false` if there is one already.
    pub fn create_dir(&self, path: &Target, mode: Option<u32>) -> Result<bool, Error> {
        let spot = self.place(path)?;
        self.missing.borrow_mut().remove(path.as_str());
        match sys::make_dir(&spot.dir.handle, &spot.name, 0o777) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(code::EXIST) => {
                return match spot.metadata()? {
                    Some(seen) if seen.kind == FileKind::Directory => Ok(false),
                    _ => Err(Error::AlreadyExists { path: path.as_str().into() }),
                };
            }
            Err(error) => return Err(error).at("create", path.path()),
        }
        if let Some(mode) = mode {
            self.set_mode(path, mode)?;
        }
        Ok(true)
    }

    /// Creates a directory, or sets the mode of a directory that an earlier process created without
    /// it.
    pub fn resume_dir(&self, path: &Target, mode: Option<u32>) -> Result<(), Error> {
        if !self.create_dir(path, mode)?
            && let Some(mode) = mode
            && self.place(path)?.metadata()?.is_some_and(|seen| seen.mode & 0o777 != mode & 0o777)
        {
            self.set_mode(path, mode)?;
        }
        Ok(())
    }

    fn set_mode(&self, path: &Target, mode: u32) -> Result<(), Error> {
        let spot = self.place(path)?;
        let dir =
            sys::open_at(&spot.dir.handle, &spot.name, Open::Directory).at("open", path.path())?;
        sys::set_mode(&dir, mode & 0o777).at("set the mode of", path.path())?;
        // Opened for a later sync: the mode was set here, and the directory may stay empty.
        self.parent(path.as_str(), &RelPath::new_unchecked(&format!("{}/x", path.path())))?;
        Ok(())
    }

    /// Removes an empty directory. Returns `false` if it has entries or does not exist.
    pub fn remove_dir(&self, path: &Target) -> Result<bool, Error> {
        let spot = match self.place(path) {
            Ok(spot) => spot,
            Err(Error::NotFound { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        self.open.borrow_mut().remove(path.as_str());
        let removed = spot.dir.remove_dir(&spot.name)?;
        // A directory that stays is synced with the others: names in it may have changed.
        if removed || spot.metadata()?.is_none_or(|seen| seen.kind != FileKind::Directory) {
            self.first_seen.borrow_mut().remove(path.as_str());
        }
        Ok(removed)
    }

    /// Returns how many directories were opened.
    #[must_use]
    pub fn count(&self) -> usize {
        self.first_seen.borrow().len()
    }

    /// Syncs every opened directory, one after the other.
    pub(crate) fn sync_each(&self) -> Result<(), Error> {
        for (path, _) in self.first_mtimes() {
            match self.dir(&path)?.sync() {
                // A directory that may not be listed cannot be synced.
                Err(error) if error.is_code(code::BADF) => {}
                result => result?,
            }
        }
        Ok(())
    }

    /// Fails if one of the directories is not at its path any more.
    pub fn check_still_there(&self) -> Result<(), Error> {
        for (path, seen) in self.first_seen.borrow().iter().filter(|(path, _)| !path.is_empty()) {
            let is_there = if path.contains('/') {
                self.root
                    .metadata(&RelPath::new_unchecked(path))?
                    .is_some_and(|now| now.same_inode(seen))
            } else {
                // The path was opened through no link.
                match sys::stat_at(&self.root.handle, path) {
                    Ok(now) => now.same_inode(seen),
                    Err(error) if error.raw_os_error() == Some(code::NOENT) => false,
                    Err(error) => return Err(error).at("look at", &**path),
                }
            };
            if !is_there {
                return Err(Error::Changed { path: path.to_string() });
            }
        }
        Ok(())
    }

    /// Returns the directories with their modification times before the operation, as first seen.
    fn first_mtimes(&self) -> Vec<(Box<str>, FileTime)> {
        self.first_seen.borrow().iter().map(|(path, seen)| (path.clone(), seen.mtime)).collect()
    }

    fn dir(&self, path: &str) -> Result<Dir, Error> {
        let child = if path.is_empty() { "x".to_owned() } else { format!("{path}/x") };
        Ok(self.parent(path, &RelPath::new_unchecked(&child))?.dir.clone())
    }

    /// Restores the modification times of the directories as far as possible. This is for after a
    /// roll-back, when nothing in them has changed.
    pub fn restore_times(&self) {
        for (path, mtime) in self.first_mtimes() {
            let _ = self.dir(&path).and_then(|dir| dir.set_mtime(mtime));
        }
    }
}
