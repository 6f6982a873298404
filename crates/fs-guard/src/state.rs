//! The private directory, in the root or elsewhere, which no checked path reaches.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a state that is elsewhere has a path of its own"
)]

use std::path::Path;
use std::sync::{Arc, PoisonError};

use crate::dir::{Dir, Spot};
use crate::error::{At as _, Error};
use crate::kept::KnownState;
use crate::metadata::{FileKind, FileTime, Metadata};
use crate::rel_path::RelPath;
use crate::root::Root;
use crate::rules::Look;
use crate::sys::{self, Open};
use crate::users::{Account, ROOT};

impl Root {
    /// Opens the private directory; `None` if there is none.
    ///
    /// It is trusted only if it is a directory (neither a link nor a mount point), belongs to this
    /// user, and is closed to others, unless the policy accepts an open one. While a
    /// [lock](Self::hold_state) inside is held, no check is repeated.
    pub fn state_dir(&self) -> Result<Option<Dir>, Error> {
        let mut known = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = known.as_ref().filter(|known| known.locked) {
            return Ok(Some(self.as_state(held)));
        }
        // Checking that the directory still exists takes a third of the time of opening it again.
        let still_there = known.take().and_then(|known| {
            let now = sys::stat_at(&self.handle, &self.policy().private_dir).ok()?;
            now.same_inode(&known.seen).then_some(KnownState { seen: now, ..known })
        });
        let found = match still_there {
            Some(found) => found,
            None => match self.open_state()? {
                Some(opened) => KnownState::new(opened),
                None => return Ok(None),
            },
        };
        let dir = self.as_state(&found);
        dir.require_own(&found.seen).map_err(|error| self.whose(error, &found.seen))?;
        // On Windows an open directory keeps its name after its removal.
        *known = Some(found).filter(|_| cfg!(unix) && self.private_dir.is_none());
        Ok(Some(dir))
    }

    fn as_state(&self, KnownState { handle, kept, .. }: &KnownState) -> Dir {
        let path = self.private_dir_shown.clone().unwrap_or_else(|| self.state_path());
        Dir::shared(Arc::clone(handle), &path)
            .accepting_open(self.policy().accept_open_private_dir)
            .keeping(Arc::clone(kept))
    }

    /// Returns whether the private directory was there at the last look.
    #[must_use]
    pub fn knows_state(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Opens the private directory to take a lock in it, and creates it if it is missing, like
    /// [`create_state_dir`](Self::create_state_dir). A known directory is not checked: under the
    /// lock, [`hold_state`](Self::hold_state) checks.
    pub fn state_dir_to_lock(&self) -> Result<(Dir, Option<FileTime>), Error> {
        let known = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match known {
            Some(known) => Ok((self.as_state(&known), None)),
            None => self.create_state_dir(),
        }
    }

    /// Checks the private directory under a lock held in `dir`. Returns whether `dir` is still the
    /// private directory: another process may have removed or moved it.
    ///
    /// If so, no check is repeated until [`release_state`](Self::release_state): a removal would
    /// need the lock.
    ///
    /// # Errors
    ///
    /// If the directory is not trusted any more.
    pub fn hold_state(&self, dir: &Dir) -> Result<bool, Error> {
        let Some(now) = self.state_dir()? else { return Ok(false) };
        let is_same = now.is_same_handle(dir) || now.metadata()?.same_inode(&dir.metadata()?);
        let mut known = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter_mut().for_each(|known| known.locked = is_same);
        Ok(is_same)
    }

    /// Ends what [`hold_state`](Self::hold_state) began.
    pub fn release_state(&self) {
        let mut known = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter_mut().for_each(|known| known.locked = false);
    }

    /// Returns the owner of this directory, if a private directory inside would keep this owner
    /// out: there is none yet, and this process runs as root.
    #[must_use]
    pub fn would_keep_out(&self) -> Option<Account> {
        let owner = self.metadata.uid;
        let runs_as_root = cfg!(unix) && self.user == ROOT && owner != ROOT;
        let keeps_out =
            runs_as_root && sys::stat_at(&self.handle, &self.policy().private_dir).is_err();
        keeps_out.then(|| Account::of(owner))
    }

    fn open_state(&self) -> Result<Option<(Arc<sys::Fd>, Metadata)>, Error> {
        if let Some(dir) = &self.private_dir {
            return match sys::open_root(dir) {
                Ok(handle) => self.looked_at(handle).map(Some),
                Err(error) if error.raw_os_error() == Some(sys::code::NOENT) => Ok(None),
                Err(error) => {
                    let error =
                        Error::Io { operation: "open", path: self.state_path(), source: error };
                    Err(match seen_in_parent(dir) {
                        Some(seen) => self.whose(error, &seen),
                        None => error,
                    })
                }
            };
        }
        let name = &*self.policy().private_dir;
        let shown = self.private_dir_shown.as_deref().unwrap_or(name);
        // Unlike an ordinary open, this crosses no mount point either.
        let path = RelPath::new_unchecked(name);
        match self.open_beneath(&path, Open::Directory) {
            Ok(Some(handle)) => self.looked_at(handle).map(Some),
            Ok(None) => Ok(None),
            Err(error @ Error::Io { .. }) => match sys::stat_at(&self.handle, name) {
                Ok(seen) => Err(self.whose(error, &seen)),
                Err(_) => Err(error),
            },
            Err(_) => {
                let is_other = sys::stat_at(&self.handle, name)
                    .is_ok_and(|seen| seen.kind != FileKind::Directory);
                let problem = if is_other {
                    "it is not a directory"
                } else {
                    "it is not a directory of this file system"
                };
                Err(Error::UntrustedState { path: shown.into(), problem })
            }
        }
    }

    /// Returns the error of opening the private directory, or the other user who owns the
    /// directory.
    fn whose(&self, error: Error, seen: &Metadata) -> Error {
        if seen.uid == sys::user() || seen.kind != FileKind::Directory {
            return error;
        }
        // A person may have to name the directory elsewhere.
        let root =
            crate::named::real_path(self.path()).unwrap_or_else(|_| self.path().to_path_buf());
        Error::others(&root.join(self.state_path()).display().to_string(), seen.uid)
    }

    fn looked_at(&self, handle: sys::Fd) -> Result<(Arc<sys::Fd>, Metadata), Error> {
        let seen = sys::stat(&handle).at("look at", self.state_path())?;
        Ok((Arc::new(handle), seen))
    }

    /// Returns the path of the private directory: relative to the root, or absolute for one
    /// elsewhere.
    #[must_use]
    pub fn state_path(&self) -> String {
        self.private_dir
            .as_ref()
            .map_or_else(|| self.policy().private_dir.to_string(), |dir| dir.display().to_string())
    }

    /// Fails if the private directory is not trusted, or is missing and cannot be created in the
    /// root.
    pub fn check_state_dir(&self) -> Result<(), Error> {
        if self.state_dir()?.is_none() && self.private_dir.is_none() {
            sys::may_write(&self.handle).at("create", self.state_path())?;
        }
        Ok(())
    }

    /// Opens the parent of the private directory, for a sync.
    pub fn state_parent(&self) -> Result<Dir, Error> {
        let Some(dir) = &self.private_dir else {
            // Uses the handle that is open: a process that is confined to a directory of the
            // project cannot open another one.
            return Ok(Dir::shared(Arc::clone(&self.handle), ""));
        };
        let parent = dir.parent().unwrap_or(dir);
        let shown = parent.display().to_string();
        Ok(Dir::new(sys::open_root(parent).at("open", &shown)?, &shown))
    }

    /// Opens the private directory, and creates it if it is missing. If it was created, also
    /// returns the root directory's modification time from before, for [`Root::remove_state_dir`].
    pub fn create_state_dir(&self) -> Result<(Dir, Option<FileTime>), Error> {
        if let Some(dir) = self.state_dir()? {
            return Ok((dir, None));
        }
        if let Some(dir) = &self.private_dir {
            create_private(dir).at("create", self.state_path())?;
            let made =
                self.state_dir()?.ok_or_else(|| Error::Changed { path: self.state_path() })?;
            return Ok((made, Some(self.mtime())));
        }
        let root = self.as_dir("")?.accepting_open(self.policy().accept_open_private_dir);
        let before = root.metadata()?.mtime;
        match root.create_dir(&self.policy().private_dir) {
            Ok(dir) => {
                // A default ACL of the root must not let others in.
                let _ = sys::remove_xattr(&dir.handle, sys::DEFAULT_ACL);
                Ok((dir, Some(before)))
            }
            Err(Error::AlreadyExists { path }) => {
                Ok((self.state_dir()?.ok_or(Error::Changed { path })?, None))
            }
            Err(error) => Err(error),
        }
    }

    /// Moves the private directory, with everything inside, to a free name in another one; in one
    /// step, and with a sync.
    pub fn move_state_dir(&self, to: &Spot) -> Result<(), Error> {
        let from = self.as_dir("")?.spot(&self.policy().private_dir);
        from.rename_aside_raw(to).map_err(|error| from.not_renamed(to, error))?;
        to.dir().sync()?;
        from.dir().sync()
    }

    /// Returns whether a directory in this one has an entry with the name of the private directory.
    pub fn has_private_dir(&self, dir: &RelPath) -> Result<bool, Error> {
        Look::has(self, &format!("{dir}/{}", self.policy().private_dir))
    }

    /// Removes an empty private directory, and restores the modification time of the root
    /// directory.
    pub fn remove_state_dir(&self, mtime: FileTime) -> Result<bool, Error> {
        if let Some(dir) = &self.private_dir {
            return Ok(std::fs::remove_dir(dir).is_ok());
        }
        let root = self.as_dir("")?;
        let removed = root.remove_dir(&self.policy().private_dir)?;
        if removed {
            let _ = root.set_mtime(mtime);
        }
        Ok(removed)
    }

    /// Reads the indexes of the git repositories around the root, innermost first, to find out
    /// whether something is tracked there.
    ///
    /// An index that is not a readable file, or has more than `limit` bytes, is returned empty (a
    /// real index never is). The call never blocks, not even for a FIFO of the same name.
    #[must_use]
    pub fn git_indexes(&self, limit: u64) -> Vec<Vec<u8>> {
        let mut indexes = Vec::new();
        let mut at = self.path().to_path_buf();
        let mut below = None;
        while let Ok(seen) = sys::open_root(&at).and_then(|dir| sys::stat(&dir)) {
            // The parent of the topmost directory is the same directory.
            if below.is_some_and(|below| seen.same_inode(&below)) {
                break;
            }
            indexes.extend(git_index(&at.join(".git"), limit));
            below = Some(seen);
            // By the system's own name: the path may end in a link.
            at.push("..");
        }
        indexes
    }

    /// Returns the root's own handle as a directory, for a sync.
    pub fn as_dir(&self, path: &str) -> Result<Dir, Error> {
        let handle = sys::open_at(&self.handle, ".", Open::Directory).at("open", ".")?;
        Ok(Dir::new(handle, path))
    }
}

/// Returns the metadata of a directory that cannot be opened itself.
fn seen_in_parent(dir: &Path) -> Option<Metadata> {
    let parent = sys::open_root(dir.parent()?).ok()?;
    sys::stat_at(&parent, dir.file_name()?.to_str()?).ok()
}

/// Creates a directory for this user alone, with its parents.
pub(crate) fn create_private(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let there = dir
        .ancestors()
        .skip(1)
        .take_while(|above| std::fs::symlink_metadata(above).is_err())
        .count();
    builder.create(dir)?;
    for above in dir.ancestors().skip(1).take(there + 1) {
        // A directory without permission to list cannot be synced.
        let _ = sys::open_root(above).and_then(|above| sys::sync(&above));
    }
    Ok(())
}

/// Reads the index in a git directory; an unreadable one is empty.
fn read_index(git: &Path, limit: u64) -> Option<Vec<u8>> {
    crate::named::read_config(&git.join("index"), limit).unwrap_or_else(|_| Some(Vec::new()))
}

/// Reads the index of the repository at `git`, or of the one named there.
fn git_index(git: &Path, limit: u64) -> Option<Vec<u8>> {
    match sys::open_root(git) {
        Ok(_) => read_index(git, limit),
        Err(error) if error.raw_os_error() == Some(sys::code::NOENT) => None,
        // A work tree beside its repository: `.git` is a file with the path.
        Err(_) => {
            let text = crate::named::read_config(git, 4096).ok().flatten();
            let dir = text
                .as_deref()
                .and_then(|text| std::str::from_utf8(text).ok()?.strip_prefix("gitdir:"));
            match dir {
                Some(dir) => read_index(&git.parent()?.join(dir.trim()), limit),
                None => Some(Vec::new()),
            }
        }
    }
}
