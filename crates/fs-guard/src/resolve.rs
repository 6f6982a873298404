//! From a checked path to an open file, through no link and no mount point.
//!
//! Where the kernel can resolve a whole path beneath the root's handle, it does (`openat2`);
//! elsewhere each component is opened in its parent without following links. No decision is made by
//! comparing paths. After a failed resolution the path is checked again, only to word the error.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use crate::error::{At as _, Error, Rule};
use crate::metadata::{FileKind, Metadata};
use crate::policy::{Access, HardLinks};
use crate::rel_path::RelPath;
use crate::root::Root;
use crate::rules::{self, Learnt, Look, NameStep, Real};
use crate::sys::{self, Fd, Open, code};

/// Whether the system can open a file only for a look: with any permissions, and also a link
/// itself. Elsewhere the look is by the name in the open parent.
const LOOKS_BY_HANDLE: bool = cfg!(any(target_os = "linux", not(unix)));

impl Root {
    /// Returns the metadata of what is at the path itself, never following a link.
    ///
    /// `None` if nothing is there, or a directory on the way is missing or is a file. A link or a
    /// mount point on the way is an error; a link at the end is returned as such.
    pub fn metadata(&self, path: &RelPath) -> Result<Option<Metadata>, Error> {
        let seen = if LOOKS_BY_HANDLE {
            let file = self.open_beneath(path, Open::Look)?;
            file.map(|file| sys::stat(&file).at("look at", path)).transpose()?
        } else {
            self.look_by_name(path)?
        };
        self.check_not_git(path, seen.as_ref())?;
        Ok(seen)
    }

    /// Does the same as opening with [`Open::Look`] and reading the metadata, where there is no
    /// such way of opening.
    fn look_by_name(&self, path: &RelPath) -> Result<Option<Metadata>, Error> {
        let (parent, name) = path.split();
        let opened;
        let mut dir: &Fd = &self.handle;
        if let Some(parent) = parent {
            opened = match self.open_raw(parent, Open::Step) {
                Ok(opened) => opened,
                Err(error) => {
                    return match error.raw_os_error() {
                        Some(code::NOENT) => Ok(None),
                        // `blame` returns the obstacle and opens nothing. If there is none, someone
                        // changed the path meanwhile.
                        Some(code::LOOP | code::XDEV | code::NOTDIR) => {
                            self.explain(path, Open::Look).map(|_| None)
                        }
                        _ => Err(error).at("open", path),
                    };
                }
            };
            dir = &opened;
        }
        let seen = match sys::stat_at(dir, name) {
            Ok(seen) => seen,
            Err(error) if error.raw_os_error() == Some(code::NOENT) => return Ok(None),
            Err(error) => return Err(error).at("look at", path),
        };
        if self.is_mount(dir, name, &seen) {
            return Err(Error::Mount { path: path.as_str().into(), mount: path.as_str().into() });
        }
        Ok(Some(seen))
    }

    /// Returns whether something else is mounted at `name` in `dir`.
    fn is_mount(&self, dir: &Fd, name: &str, seen: &Metadata) -> bool {
        let root = *self.mount.get_or_init(|| sys::mount_id(&self.handle, None));
        sys::mount_id(dir, Some(name)) != root || (root.is_none() && seen.dev != self.metadata.dev)
    }

    /// Returns the metadata of the entry at the path, after applying the rules for `access`.
    pub fn inspect(&self, path: &RelPath, access: Access) -> Result<Option<Metadata>, Error> {
        rules::inspect(self, path, access)
    }

    /// Applies the rules for links, special files, hard links, devices and permissions to metadata
    /// from a path.
    pub fn check_pre_image(
        &self,
        path: &RelPath,
        seen: &Metadata,
        access: Access,
    ) -> Result<(), Error> {
        if rules::check_kind(path, seen, access, || self.explain_link(path))? {
            return Ok(());
        }
        if seen.nlink > 1 && self.policy().hard_links == HardLinks::Refuse {
            return Err(Error::HardLinked { path: path.to_string(), links: seen.nlink });
        }
        if seen.dev != self.metadata.dev && !self.on_the_roots_device(path)? {
            return Err(Error::OtherDevice { path: path.to_string() });
        }
        if !self.is_writable(path, seen)? {
            return Err(Error::ReadOnly { path: path.to_string() });
        }
        Ok(())
    }

    /// Returns the text of the symbolic link at the path.
    pub fn read_link(&self, path: &RelPath) -> Result<Vec<u8>, Error> {
        let (parent, name) = path.split();
        let opened;
        let mut dir: &Fd = &self.handle;
        if let Some(parent) = parent {
            opened = self
                .open_beneath(&RelPath::new_unchecked(parent), Open::Step)?
                .ok_or_else(|| Error::NotFound { path: path.to_string() })?;
            dir = &opened;
        }
        sys::read_link(dir, name).at("read the link", path)
    }

    /// Resolves links beneath the root, for reading. Returns the real path.
    ///
    /// The rules for names and forbidden paths apply to the real path too, and the file is opened
    /// like any other, through no link.
    pub fn follow(&self, path: &RelPath) -> Result<RelPath, Error> {
        match self.real_path(path.as_str()) {
            Real::Inside { link: None, .. } => Ok(path.clone()),
            Real::Inside { path: real, .. } if real.is_empty() => {
                Err(Error::NotAFile { path: path.to_string(), kind: FileKind::Directory })
            }
            Real::Inside { path: real, .. } => self.check(&real, Access::Read),
            Real::Unknown(source) => {
                Err(Error::Io { operation: "follow", path: path.to_string(), source })
            }
            real @ (Real::Outside { .. } | Real::Endless { .. }) => Err(real.into_link_error(path)),
        }
    }

    /// Checks that a symbolic link to `target` may be made at the path, or an old link changed: the
    /// link is approved, and leads to a readable path beneath the root.
    pub fn check_link(&self, path: &RelPath, target: &[u8]) -> Result<(), Error> {
        let real = rules::check_link(self.policy(), path, target, |at| self.real_path(at))?;
        real.map_or(Ok(()), |real| self.check(&real, Access::Read).map(drop))
    }

    /// Opens `path`. `None` if nothing is there.
    pub(crate) fn open_beneath(&self, path: &RelPath, how: Open) -> Result<Option<Fd>, Error> {
        let text = path.as_str();
        let error = match self.open_raw(text, how) {
            Ok(file) => return Ok(Some(file)),
            Err(error) => error,
        };
        match error.raw_os_error() {
            Some(code::NOENT) => Ok(None),
            Some(code::LOOP | code::XDEV | code::NOTDIR) => self.explain(path, how),
            _ => Err(error).at("open", path),
        }
    }

    fn open_raw(&self, path: &str, how: Open) -> io::Result<Fd> {
        if !self.walk.load(Ordering::Relaxed)
            && let Some(result) = sys::open_beneath(&self.handle, path, how)
        {
            return result;
        }
        self.open_walking(path, how)
    }

    fn open_walking(&self, path: &str, how: Open) -> io::Result<Fd> {
        let mut at: Option<Fd> = None;
        let (parents, name) = match path.rsplit_once('/') {
            Some((parents, name)) => (Some(parents), name),
            None => (None, path),
        };
        for step in parents.into_iter().flat_map(|parents| parents.split('/')) {
            let next = sys::open_at(at.as_ref().unwrap_or(&self.handle), step, Open::Step)?;
            self.same_mount(&next)?;
            at = Some(next);
        }
        let file = sys::open_at(at.as_ref().unwrap_or(&self.handle), name, how)?;
        self.same_mount(&file)?;
        Ok(file)
    }

    /// Fails like the kernel does if `file` is on another mount than the root.
    fn same_mount(&self, file: &Fd) -> io::Result<()> {
        let root = *self.mount.get_or_init(|| sys::mount_id(&self.handle, None));
        let same = match (root, root.and_then(|_| sys::mount_id(file, None))) {
            (Some(root), Some(this)) => root == this,
            _ => sys::stat(file)?.dev == self.metadata.dev,
        };
        if same { Ok(()) } else { Err(io::Error::from_raw_os_error(code::XDEV)) }
    }

    /// Finds out why a path could not be resolved.
    fn explain(&self, path: &RelPath, how: Open) -> Result<Option<Fd>, Error> {
        let mut at: Option<Fd> = None;
        let mut end = 0;
        let whole = path.as_str();
        for name in path.components() {
            end += name.len();
            let last = end == whole.len();
            let dir = at.as_ref().unwrap_or(&self.handle);
            let seen = match sys::stat_at(dir, name) {
                Ok(seen) => seen,
                Err(error) if error.raw_os_error() == Some(code::NOENT) => return Ok(None),
                Err(error) => return Err(error).at("look at", &whole[..end]),
            };
            // In Wine the last component could not even be looked at.
            if seen.kind == FileKind::Symlink && (!(last && how == Open::Look) || cfg!(windows)) {
                return Err(self.explain_link(path));
            }
            if self.is_mount(dir, name, &seen) {
                return Err(Error::Mount { path: path.to_string(), mount: whole[..end].into() });
            }
            if last {
                if matches!(how, Open::Directory | Open::Step) && seen.kind != FileKind::Directory {
                    return Err(Error::NotADirectory {
                        path: path.to_string(),
                        component: path.to_string(),
                    });
                }
                break;
            }
            if seen.kind != FileKind::Directory {
                return Ok(None);
            }
            at = Some(match sys::open_at(dir, name, Open::Step) {
                Ok(next) => next,
                // It was swapped meanwhile.
                Err(_) => return Err(Error::Changed { path: path.to_string() }),
            });
            end += 1;
        }
        // Nothing is wrong now: someone swapped a component meanwhile.
        Err(Error::Changed { path: path.to_string() })
    }

    /// Returns the error for a path with a link inside.
    fn explain_link(&self, path: &RelPath) -> Error {
        self.real_path(path.as_str()).into_link_error(path)
    }

    /// Finds where a path with links leads.
    fn real_path(&self, path: &str) -> Real {
        let look = |path: &str| {
            let opened;
            let (parent, name) =
                path.rsplit_once('/').map_or((None, path), |(parent, name)| (Some(parent), name));
            let mut dir: &Fd = &self.handle;
            if let Some(parent) = parent {
                // It was a directory a moment ago.
                let Ok(handle) = self.open_raw(parent, Open::Step) else {
                    return Ok(NameStep::End);
                };
                opened = handle;
                dir = &opened;
            }
            match sys::stat_at(dir, name) {
                Ok(seen) if seen.kind == FileKind::Symlink => {
                    sys::read_link(dir, name).map(NameStep::Link)
                }
                Ok(seen) if seen.kind == FileKind::Directory => Ok(NameStep::Directory),
                Ok(_) => Ok(NameStep::End),
                Err(error) if matches!(error.raw_os_error(), Some(code::NOENT | code::NOTDIR)) => {
                    Ok(NameStep::End)
                }
                Err(error) => Err(error),
            }
        };
        rules::real_path(path, look, |text| self.strip_root(text))
    }

    /// Returns the part of an absolute link text beneath the root's own real path.
    #[allow(
        clippy::disallowed_methods,
        reason = "only to find where a link leads; nothing is opened by it"
    )]
    fn strip_root(&self, text: &str) -> Option<String> {
        let root = std::fs::canonicalize(self.path()).ok()?;
        // On Windows, link texts have the kernel's form of a path, here with other separators:
        // `/??/C:/dir`.
        #[cfg(windows)]
        let root = root.to_str()?.replace('\\', "/").replacen("//?/", "/??/", 1);
        let rest = std::path::Path::new(text).strip_prefix(root).ok()?;
        rest.to_str().map(str::to_owned)
    }

    /// Some file systems (overlays) report other device numbers for files than for directories.
    fn on_the_roots_device(&self, path: &RelPath) -> Result<bool, Error> {
        let Some(parent) = path.parent() else { return Ok(true) };
        Ok(self.metadata(&parent)?.is_some_and(|parent| parent.dev == self.metadata.dev))
    }

    fn is_writable(&self, path: &RelPath, seen: &Metadata) -> Result<bool, Error> {
        if seen.mode & 0o222 == 0 {
            return Ok(false);
        }
        if seen.uid == self.user {
            return Ok(seen.mode & 0o200 != 0);
        }
        let (parent, name) = path.split();
        let result = match parent {
            None => sys::may_write_file(&self.handle, name),
            Some(parent) => match self.open_beneath(&RelPath::new_unchecked(parent), Open::Step)? {
                Some(parent) => sys::may_write_file(&parent, name),
                None => return Err(Error::Changed { path: path.as_str().into() }),
            },
        };
        match result {
            Ok(()) => Ok(true),
            Err(error)
                if matches!(error.raw_os_error(), Some(code::ACCES | code::PERM | code::ROFS)) =>
            {
                Ok(false)
            }
            Err(error) => Err(error).at("look at", path),
        }
    }

    /// Refuses paths in git's directories, whatever their names.
    pub(crate) fn check_not_git(
        &self,
        path: &RelPath,
        seen: Option<&Metadata>,
    ) -> Result<(), Error> {
        if let Some(seen) = seen
            && Some((seen.dev, seen.ino)) == self.dot_git()?
        {
            return Err(Error::Forbidden { path: path.to_string(), rule: Rule::GitDirectory });
        }
        // The path may name the directory itself.
        rules::check_not_git(self, path, seen.is_some_and(|seen| seen.kind == FileKind::Directory))
    }

    /// Returns the inode of the root's `.git`.
    pub(crate) fn dot_git(&self) -> Result<Option<(u64, u64)>, Error> {
        if let Some(known) = self.dot_git.get() {
            return Ok(*known);
        }
        let found = match sys::stat_at(&self.handle, ".git") {
            Ok(seen) => Some((seen.dev, seen.ino)),
            Err(error) if is_nothing(&error) => None,
            Err(error) => return Err(error).at("look at", ".git"),
        };
        Ok(*self.dot_git.get_or_init(|| found))
    }

    /// Refuses new files that would make a directory a bare git repository.
    pub fn check_no_new_repository<'p>(
        &self,
        appearing: impl IntoIterator<Item = &'p RelPath>,
    ) -> Result<(), Error> {
        rules::check_no_new_repository(self, appearing)
    }
}

/// Returns whether an error means that nothing is there, or nothing within reach of this process or
/// a checked path.
fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(code::NOENT | code::NOTDIR | code::ACCES | code::LOOP | code::XDEV)
    )
}

impl Look for Root {
    fn learnt(&self) -> MutexGuard<'_, Learnt> {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn metadata(&self, path: &RelPath) -> Result<Option<Metadata>, Error> {
        self.metadata(path)
    }

    fn has(&self, path: &str) -> Result<bool, Error> {
        #[cfg(target_os = "linux")]
        let found = self.open_raw(path, Open::Look).map(drop);
        #[cfg(not(target_os = "linux"))]
        let found = match path.rsplit_once('/') {
            None => sys::look_for(&self.handle, path),
            Some((parent, name)) => {
                self.open_raw(parent, Open::Step).and_then(|parent| sys::look_for(&parent, name))
            }
        };
        match found {
            Ok(()) => Ok(true),
            Err(error) if is_nothing(&error) => Ok(false),
            Err(error) => Err(error).at("look at", path),
        }
    }

    fn names(&self, dir: &str) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let opened;
        let handle = if dir.is_empty() {
            &self.handle
        } else {
            match self.open_beneath(&RelPath::new_unchecked(dir), Open::Directory) {
                Ok(Some(handle)) => opened = handle,
                Ok(None) | Err(Error::NotADirectory { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
            &opened
        };
        sys::list(handle).at("list", if dir.is_empty() { "." } else { dir }).map(Some)
    }

    fn check_pre_image(
        &self,
        path: &RelPath,
        seen: &Metadata,
        access: Access,
    ) -> Result<(), Error> {
        self.check_pre_image(path, seen, access)
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::disallowed_methods, reason = "tests put files there behind the guard's back")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::policy::Policy;

    #[test]
    fn by_its_name_a_file_looks_as_by_a_handle() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = dir.path();
        fs::create_dir(at.join("folder")).expect("made");
        fs::write(at.join("folder/file"), "text").expect("written");
        symlink("folder/file", at.join("link")).expect("linked");
        symlink("folder", at.join("way")).expect("linked");
        symlink("nowhere", at.join("dangling")).expect("linked");
        let root = Root::open(at, Policy::new(".private")).expect("a folder");
        let mut seen = 0;
        for path in [
            "folder",
            "folder/file",
            "folder/nothing",
            "folder/file/deeper",
            "folder/file/deeper/still",
            "nothing/deeper",
            "link",
            "link/deeper",
            "way/file",
            "way/nothing",
            "dangling",
            "dangling/deeper",
        ] {
            let path = RelPath::new_unchecked(path);
            let by_handle = root.metadata(&path).map_err(|error| error.to_string());
            seen += usize::from(matches!(by_handle, Ok(Some(_))));
            assert_eq!(
                root.look_by_name(&path).map_err(|error| error.to_string()),
                by_handle,
                "{path:?}"
            );
        }
        assert_eq!(seen, 4, "two links, a folder and a file");
        #[cfg(feature = "fault-injection")]
        {
            use crate::sys::fault::{Fault, arm, disarm};
            let path = RelPath::new_unchecked("folder/file");
            for k in 1.. {
                arm(Fault::Once(5), k, true);
                let seen = root.look_by_name(&path);
                if disarm().len() < k {
                    break;
                }
                assert!(seen.is_err_and(|error| error.is_code(5)), "call {k} failed");
            }
        }
    }

    #[test]
    fn by_its_name_a_mount_is_refused_as_by_a_handle() {
        let root = Root::open("/".as_ref(), Policy::new(".private")).expect("a folder");
        for path in ["proc", "proc/self"] {
            let path = RelPath::new_unchecked(path);
            let by_handle = root.metadata(&path).map_err(|error| error.to_string());
            assert!(by_handle.is_err(), "{by_handle:?}");
            assert_eq!(
                root.look_by_name(&path).map_err(|error| error.to_string()),
                by_handle,
                "{path:?}"
            );
        }
    }
}
