//! Open directories, and names in them.

use std::sync::Arc;

use crate::cancel::Cancellation;
use crate::digest::Sha256;
use crate::error::{At as _, Error, NO_MODES, OPENED};
use crate::kept::KeptDirs;
use crate::metadata::{FileKind, FileTime, Metadata};
use crate::read::{OpenFile, read_whole};
use crate::sys::{self, Fd, NameIn, Open, Rename, code};

/// An open directory; a clone is the same handle.
///
/// [`Root::state_dir`](crate::Root::state_dir) and its relatives return the program's own
/// directories; a [`Spot`] from [`Dirs`](crate::Dirs) has its directory.
#[derive(Debug, Clone)]
pub struct Dir {
    pub(crate) handle: Arc<Fd>,
    path: Arc<str>,
    /// Whether subdirectories may be open to other users; see
    /// [`Policy`](crate::Policy::accept_open_private_dir).
    accept_open: bool,
    /// The subdirectories opened before, if they are kept open.
    kept: Option<Arc<KeptDirs>>,
}

impl Dir {
    pub(crate) fn new(handle: Fd, path: &str) -> Self {
        Self::shared(Arc::new(handle), path)
    }

    pub(crate) fn shared(handle: Arc<Fd>, path: &str) -> Self {
        Self { handle, path: path.into(), accept_open: false, kept: None }
    }

    /// Keeps subdirectories open once they are opened.
    pub(crate) fn keeping(self, kept: Arc<KeptDirs>) -> Self {
        Self { kept: Some(kept), ..self }
    }

    pub(crate) fn accepting_open(self, yes: bool) -> Self {
        Self { accept_open: yes, ..self }
    }

    /// Returns its path beneath the root, for messages.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns whether both are one handle, or clones of one.
    #[must_use]
    pub fn is_same_handle(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.handle, &other.handle)
    }

    /// Returns a name in this directory.
    ///
    /// # Panics
    ///
    /// Panics if `name` is not a single component: names come from the program, not from outside.
    #[must_use]
    pub fn spot(&self, name: &str) -> Spot {
        assert!(!matches!(name, "" | "." | ".."), "BUG: {name:?} is not a name");
        assert!(!name.contains(['/', '\0']), "BUG: {name:?} is not a name");
        Spot { dir: self.clone(), name: name.into() }
    }

    /// Returns the metadata of the directory itself.
    pub fn metadata(&self) -> Result<Metadata, Error> {
        sys::stat(&self.handle).at("look at", &*self.path)
    }

    /// Lists the names inside, sorted; names that are not UTF-8 are left out.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        Ok(sorted(sys::list(&self.handle).at("list", &*self.path)?))
    }

    /// Opens a subdirectory of this program. `None` if nothing is there.
    pub fn open_dir(&self, name: &str) -> Result<Option<Self>, Error> {
        Ok(self.open_dir_seen(name)?.map(|(dir, _)| dir))
    }

    /// Opens a subdirectory like [`open_dir`](Self::open_dir), and also returns its present
    /// metadata.
    pub fn open_dir_seen(&self, name: &str) -> Result<Option<(Self, Metadata)>, Error> {
        Ok(self.open_or_find(name)?.map(|(dir, seen, _)| (dir, seen)))
    }

    /// Opens a subdirectory of this program, and lists its names, sorted. No other thread of this
    /// process may list the same directory meanwhile: the caller has a lock.
    pub fn open_and_list(&self, name: &str) -> Result<Option<(Self, Vec<String>)>, Error> {
        let Some((dir, _, fresh)) = self.open_or_find(name)? else { return Ok(None) };
        let names = sorted(sys::list_own(&dir.handle, fresh).at("list", &*dir.path)?);
        Ok(Some((dir, names)))
    }

    /// Also returns its metadata, and whether the directory was opened just now.
    fn open_or_find(&self, name: &str) -> Result<Option<(Self, Metadata, bool)>, Error> {
        let spot = self.spot(name);
        let path = spot.path();
        // A look takes a third of the time of opening the directory again.
        if let Some(kept) = &self.kept
            && let Some((handle, seen)) = kept.take(name)
            && let Ok(now) = sys::stat_at(&self.handle, name)
            && now.same_inode(&seen)
        {
            let dir = Self::shared(Arc::clone(&handle), &path).accepting_open(self.accept_open);
            dir.require_own(&now)?;
            kept.put(name, handle, now.clone());
            return Ok(Some((dir, now, false)));
        }
        match sys::open_at(&self.handle, name, Open::Directory) {
            Ok(handle) => {
                let handle = Arc::new(handle);
                let dir = Self::shared(Arc::clone(&handle), &path).accepting_open(self.accept_open);
                let seen = dir.metadata()?;
                dir.require_own(&seen)?;
                // On Windows an open directory keeps its name after its removal.
                if let Some(kept) = self.kept.as_ref().filter(|_| cfg!(unix)) {
                    kept.put(name, handle, seen.clone());
                }
                Ok(Some((dir, seen, true)))
            }
            Err(error) => match error.raw_os_error() {
                Some(code::NOENT) => Ok(None),
                Some(code::LOOP | code::NOTDIR) => {
                    Err(Error::UntrustedState { path, problem: "it is not a directory" })
                }
                _ => Err(error).at("open", path),
            },
        }
    }

    /// Creates a subdirectory for this user alone.
    pub fn create_dir(&self, name: &str) -> Result<Self, Error> {
        let path = self.spot(name).path();
        match sys::make_dir(&self.handle, name, 0o700) {
            Err(error) if error.raw_os_error() == Some(code::EXIST) => {
                Err(Error::AlreadyExists { path })
            }
            result => {
                result.at("create", &path)?;
                self.open_new_dir(name, &path).inspect_err(|_| {
                    let _ = sys::remove_dir(&self.handle, name);
                })
            }
        }
    }

    fn open_new_dir(&self, name: &str, path: &str) -> Result<Self, Error> {
        let handle = sys::open_at(&self.handle, name, Open::Directory).at("open", path)?;
        let dir = Self::new(handle, path).accepting_open(self.accept_open);
        let mut seen = dir.metadata()?;
        // The umask may have removed even the owner's bits.
        if seen.mode & 0o777 != 0o700 {
            let set = sys::set_mode(&dir.handle, 0o700).at("set the mode of", path);
            seen = dir.metadata()?;
            if seen.mode & 0o777 != 0o700 && !self.accept_open {
                return Err(Error::UntrustedState { path: path.into(), problem: NO_MODES });
            }
            // A file system without modes cannot set them either.
            set.or_else(|error| if self.accept_open { Ok(()) } else { Err(error) })?;
        }
        dir.require_own(&seen)?;
        Ok(dir)
    }

    /// Opens a subdirectory, and creates it if it is missing.
    pub fn open_or_create_dir(&self, name: &str) -> Result<Self, Error> {
        if let Some(dir) = self.open_dir(name)? {
            return Ok(dir);
        }
        match self.create_dir(name) {
            Err(Error::AlreadyExists { path }) => {
                self.open_dir(name)?.ok_or(Error::Changed { path })
            }
            result => result,
        }
    }

    /// Sets its modification time, to restore an earlier one.
    pub fn set_mtime(&self, mtime: FileTime) -> Result<(), Error> {
        sys::set_mtime(&self.handle, mtime).at("set the time of", &*self.path)
    }

    /// Syncs its list of names.
    pub fn sync(&self) -> Result<(), Error> {
        sys::sync(&self.handle).at("sync", &*self.path)
    }

    /// Removes a subdirectory and everything beneath; links are removed, not followed.
    ///
    /// Only for the program's own directories.
    pub fn remove_tree(&self, name: &str) -> Result<(), Error> {
        match self.open_or_find(name)? {
            Some((dir, _, fresh)) => self.remove_open(name, &dir, fresh),
            None => Ok(()),
        }
    }

    /// Removes a subdirectory that was just opened and is listed by nobody else.
    pub fn remove_opened(&self, name: &str, dir: &Self) -> Result<(), Error> {
        self.remove_open(name, dir, true)
    }

    fn remove_open(&self, name: &str, dir: &Self, fresh: bool) -> Result<(), Error> {
        for entry in sorted(sys::list_own(&dir.handle, fresh).at("list", dir.path())?) {
            let spot = dir.spot(&entry);
            // POSIX lets root remove a directory as if it were a file. Linux does not.
            let is_dir = !cfg!(target_os = "linux")
                && spot.metadata()?.is_some_and(|seen| seen.kind == FileKind::Directory);
            match if is_dir { dir.remove_tree(&entry) } else { spot.remove() } {
                Err(error) if error.is_code(code::ISDIR) => dir.remove_tree(&entry)?,
                result => result?,
            }
        }
        sys::remove_emptied_dir(&self.handle, name).at("remove", dir.path())
    }

    /// Removes the program's own files from a subdirectory and from everything beneath. `is_own` is
    /// asked about each path; the paths begin with `name`. Returns the paths left behind; the
    /// directories above them stay too. Links are removed, not followed.
    pub fn remove_own(
        &self,
        name: &str,
        is_own: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<String>, Error> {
        let mut left = Vec::new();
        if let Some((dir, _, fresh)) = self.open_or_find(name)? {
            self.remove_own_of(&dir, fresh, name, is_own, &mut left)?;
        }
        left.sort_unstable();
        Ok(left)
    }

    /// Does the same in an open directory; `path` ends with its name.
    fn remove_own_of(
        &self,
        dir: &Self,
        fresh: bool,
        path: &str,
        is_own: &dyn Fn(&str) -> bool,
        left: &mut Vec<String>,
    ) -> Result<(), Error> {
        let before = left.len();
        for entry in sys::list_own(&dir.handle, fresh).at("list", dir.path())? {
            let inner = format!("{path}/{}", String::from_utf8_lossy(&entry));
            let name = String::from_utf8(entry).ok().filter(|_| is_own(&inner));
            let Some(name) = name else {
                left.push(inner);
                continue;
            };
            let spot = dir.spot(&name);
            if spot.metadata()?.is_some_and(|seen| seen.kind == FileKind::Directory) {
                if let Some((beneath, _, fresh)) = dir.open_or_find(&name)? {
                    dir.remove_own_of(&beneath, fresh, &inner, is_own, left)?;
                }
            } else {
                spot.remove()?;
            }
        }
        if left.len() == before {
            let name = path.rsplit('/').next().unwrap_or(path);
            sys::remove_emptied_dir(&self.handle, name).at("remove", dir.path())?;
        }
        Ok(())
    }

    /// Removes an empty subdirectory. Returns `false` if it has entries or does not exist.
    pub fn remove_dir(&self, name: &str) -> Result<bool, Error> {
        match sys::remove_dir(&self.handle, name) {
            Ok(()) => Ok(true),
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(code::NOENT | code::NOTEMPTY | code::EXIST | code::NOTDIR)
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error).at("remove", self.spot(name).path()),
        }
    }

    /// Fails unless the directory belongs to this user and is closed to others (or the policy
    /// accepts an open one).
    pub(crate) fn require_own(&self, seen: &Metadata) -> Result<(), Error> {
        if seen.uid != sys::user() {
            return Err(Error::others(&self.path, seen.uid));
        }
        if seen.mode & 0o777 != 0o700 && !self.accept_open {
            return Err(Error::UntrustedState { path: self.path.to_string(), problem: OPENED });
        }
        Ok(())
    }
}

/// Returns the names in UTF-8, sorted.
fn sorted(entries: Vec<Vec<u8>>) -> Vec<String> {
    let mut names: Vec<String> =
        entries.into_iter().filter_map(|name| String::from_utf8(name).ok()).collect();
    names.sort_unstable();
    names
}

/// A name in an open directory: the place of a past, present or future file.
#[derive(Debug, Clone)]
pub struct Spot {
    pub(crate) dir: Dir,
    pub(crate) name: Box<str>,
}

/// The suffix of a staged file's name during a replacement on systems that cannot swap names.
const ASIDE: &str = ".x";

impl Spot {
    /// The longest name of a staged file, in bytes: 255, the limit of file systems, less the suffix
    /// used for a moment on systems that cannot swap names.
    pub const LONGEST_STAGED_NAME: usize = 255 - ASIDE.len();

    /// Returns its path beneath the root, for messages.
    #[must_use]
    pub fn path(&self) -> String {
        match &*self.dir.path {
            "" => self.name.to_string(),
            dir => format!("{dir}/{}", self.name),
        }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the directory.
    #[must_use]
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    pub(crate) fn at(&self) -> NameIn<'_, &Fd> {
        NameIn { dir: &self.dir.handle, name: &self.name }
    }

    /// Returns the metadata of what is there, never following a link. `None` if nothing is there.
    pub fn metadata(&self) -> Result<Option<Metadata>, Error> {
        match sys::stat_at(&self.dir.handle, &self.name) {
            Ok(seen) => Ok(Some(seen)),
            Err(error) if error.raw_os_error() == Some(code::NOENT) => Ok(None),
            Err(error) => Err(error).at("look at", self.path()),
        }
    }

    /// Opens one of the program's own files, which may be created. A link or a special file is
    /// refused.
    pub(crate) fn open_own(&self, how: Open) -> Result<Fd, Error> {
        sys::open_at(&self.dir.handle, &self.name, how).map_err(|source| {
            match source.raw_os_error() {
                Some(code::LOOP | code::ISDIR | code::NXIO) => {
                    Error::UntrustedState { path: self.path(), problem: "it is not a file" }
                }
                _ => Error::Io { operation: "open", path: self.path(), source },
            }
        })
    }

    /// Opens the regular file here.
    pub fn open(&self) -> Result<(OpenFile, Metadata), Error> {
        let path = self.path();
        match sys::open_at(&self.dir.handle, &self.name, Open::Read) {
            Ok(handle) => OpenFile::regular(handle, &path),
            Err(source) => Err(match source.raw_os_error() {
                Some(code::NOENT) => Error::NotFound { path },
                Some(code::LOOP) => Error::NotAFile { path, kind: FileKind::Symlink },
                Some(code::NXIO) => Error::NotAFile { path, kind: FileKind::Other },
                _ => Error::Io { operation: "open", path, source },
            }),
        }
    }

    /// Reads the regular file here.
    pub fn read(&self, limit: u64) -> Result<(Vec<u8>, Metadata), Error> {
        let (file, seen) = self.open()?;
        let bytes = read_whole(&file.handle, seen.size, limit, &file.path)?;
        Ok((bytes, seen))
    }

    /// Returns the text of the symbolic link here.
    pub fn read_link(&self) -> Result<Vec<u8>, Error> {
        sys::read_link(&self.dir.handle, &self.name).at("read the link", self.path())
    }

    /// Hashes what is there: a file's bytes or a link's text. `None` for anything else.
    pub fn hash(&self) -> Result<Option<Sha256>, Error> {
        match self.metadata()? {
            Some(seen) => self.hash_of(seen.kind),
            None => Ok(None),
        }
    }

    fn hash_of(&self, kind: FileKind) -> Result<Option<Sha256>, Error> {
        match kind {
            FileKind::File => self.open()?.0.hash(&Cancellation::NEVER).map(Some),
            FileKind::Symlink => Ok(Some(Sha256::of(&self.read_link()?))),
            FileKind::Directory | FileKind::Submodule | FileKind::Other => Ok(None),
        }
    }

    /// Returns whether the file here has these bytes, mode and owner.
    ///
    /// With `trust_times`, the bytes of the same inode are not read again, provided its times would
    /// show a change. A rename since does not count as a change.
    pub fn holds(
        &self,
        seen: &Metadata,
        digest: &Sha256,
        trust_times: bool,
    ) -> Result<bool, Error> {
        match self.metadata()? {
            Some(now) => self.holds_now(&now, seen, digest, trust_times),
            None => Ok(false),
        }
    }

    /// Does the same with the metadata `now`.
    pub fn holds_now(
        &self,
        now: &Metadata,
        seen: &Metadata,
        digest: &Sha256,
        trust_times: bool,
    ) -> Result<bool, Error> {
        let is_same = now.kind == seen.kind
            && now.size == seen.size
            && (now.mode, now.uid, now.gid, now.nlink)
                == (seen.mode, seen.uid, seen.gid, seen.nlink);
        if !is_same {
            return Ok(false);
        }
        if trust_times && seen.times_are_telling() && now.same_bytes_as(seen) {
            return Ok(true);
        }
        Ok(self.hash_of(now.kind)?.as_ref() == Some(digest))
    }

    /// Removes the name for good. Only for the program's own files.
    pub fn remove(&self) -> Result<(), Error> {
        match sys::unlink(&self.dir.handle, &self.name) {
            Err(error) if error.raw_os_error() == Some(code::NOENT) => Ok(()),
            result => result.at("remove", self.path()),
        }
    }

    /// Renames to a name not yet taken.
    pub fn rename_new(&self, to: &Self) -> Result<(), Error> {
        self.rename_new_raw(to).map_err(|source| self.not_renamed(to, source))
    }

    /// Renames one of the program's own files over another one.
    pub fn rename_over(&self, to: &Self) -> Result<(), Error> {
        sys::rename(self.at(), to.at(), Rename::Replace)
            .map_err(|source| self.not_renamed(to, source))
    }

    pub(crate) fn not_renamed(&self, to: &Self, source: std::io::Error) -> Error {
        match source.raw_os_error() {
            Some(code::EXIST) => Error::AlreadyExists { path: to.path() },
            Some(code::NOENT) => {
                // Otherwise the target directory is gone.
                let is_gone = matches!(self.metadata(), Ok(None));
                let path = if is_gone { self.path() } else { to.dir.path().to_owned() };
                Error::NotFound { path }
            }
            _ => Error::Io { operation: "rename", path: self.path(), source },
        }
    }

    /// Renames to a name not yet taken; in two steps where the system cannot do it in one.
    pub(crate) fn rename_new_raw(&self, to: &Self) -> std::io::Result<()> {
        match sys::rename(self.at(), to.at(), Rename::NoReplace) {
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {}
            result => return result,
        }
        match sys::link(self.at(), to.at()) {
            Ok(()) => return sys::unlink(&self.dir.handle, &self.name),
            Err(error) if lacks_links(&error) => {}
            // An earlier process got as far as the link.
            Err(error) if error.raw_os_error() == Some(code::EXIST) && self.is_also(to) => {
                return sys::unlink(&self.dir.handle, &self.name);
            }
            Err(error) => return Err(error),
        }
        self.rename_where_nothing_is(to)
    }

    /// Renames to one of the program's own names, not yet taken, always in one step.
    pub(crate) fn rename_aside_raw(&self, to: &Self) -> std::io::Result<()> {
        match sys::rename(self.at(), to.at(), Rename::NoReplace) {
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
                self.rename_where_nothing_is(to)
            }
            result => result,
        }
    }

    /// Renames after a look at the target. A file created in between is replaced.
    fn rename_where_nothing_is(&self, to: &Self) -> std::io::Result<()> {
        match sys::stat_at(&to.dir.handle, &to.name) {
            Err(error) if error.raw_os_error() == Some(code::NOENT) => {
                sys::rename(self.at(), to.at(), Rename::Replace)
            }
            Ok(_) => Err(std::io::Error::from_raw_os_error(code::EXIST)),
            Err(error) => Err(error),
        }
    }

    /// Returns whether both are names of one file.
    ///
    /// Some file systems (sshfs) give every name an inode number of its own, so a file of the same
    /// kind, mode, modification time and bytes counts as the same one.
    #[must_use]
    pub fn is_also(&self, other: &Self) -> bool {
        let one = self.metadata();
        let another = other.metadata();
        let Ok(Some(one)) = one else { return false };
        let Ok(Some(another)) = another else { return false };
        let is_alike = one.kind == another.kind
            && (one.mode, one.size, one.mtime) == (another.mode, another.size, another.mtime);
        one.same_inode(&another)
            || is_alike
                && matches!((self.hash(), other.hash()), (Ok(Some(one)), Ok(Some(other))) if one == other)
    }

    /// Swaps the file here with the file there. Both must exist.
    ///
    /// On systems that cannot swap names, the file there first gets a second name (`<name>.x`,
    /// here), so that it survives the replacement; see [`Spot::settle_exchange`].
    pub(crate) fn exchange_raw(&self, there: &Self) -> std::io::Result<()> {
        match sys::rename(self.at(), there.at(), Rename::Exchange) {
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {}
            result => return result,
        }
        let aside = self.aside();
        match sys::link(there.at(), aside.at()) {
            Err(error) if lacks_links(&error) => {
                // The name is missing for a moment; recovery restores it. A file that someone else
                // saves there in that moment stays.
                there.rename_aside_raw(&aside)?;
                if let Err(error) = self.rename_aside_raw(there) {
                    let _ = aside.rename_new_raw(there);
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
            Ok(()) => {
                if let Err(error) = sys::rename(self.at(), there.at(), Rename::Replace) {
                    let _ = sys::unlink(&aside.dir.handle, &aside.name);
                    return Err(error);
                }
            }
        }
        sys::rename(aside.at(), self.at(), Rename::Replace)
    }

    /// Brings an interrupted exchange to one of its two ends.
    pub fn settle_exchange(&self, there: &Self) -> Result<(), Error> {
        let aside = self.aside();
        if aside.metadata()?.is_none() {
            return Ok(());
        }
        let settled = if self.metadata()?.is_none() {
            // This file is in its place already; only the last step is missing.
            sys::rename(aside.at(), self.at(), Rename::Replace)
        } else if there.metadata()?.is_none() {
            aside.rename_new_raw(there)
        } else {
            // The kept file still has its old name, or someone has replaced the file there.
            sys::unlink(&aside.dir.handle, &aside.name)
        };
        settled.at("settle", self.path())
    }

    fn aside(&self) -> Self {
        Self { dir: self.dir.clone(), name: format!("{}{ASIDE}", self.name).into() }
    }
}

fn lacks_links(error: &std::io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(code::PERM | code::OPNOTSUPP | code::NOSYS | code::INVAL | code::MLINK)
    )
}
