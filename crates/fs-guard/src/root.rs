//! The one directory whose files may be touched.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use crate::error::{At as _, Error};
use crate::metadata::{FileTime, Metadata};
use crate::names;
use crate::policy::{Access, Policy, unicode};
use crate::rel_path::RelPath;
use crate::rules::{Learnt, Look};
use crate::sys;

/// Refuses, on Windows, what is no name of a file there, whatever is meant to be done: `notes.txt:hidden` is another stream of
/// `notes.txt`, `NUL` a device, and `notes.txt.` is `notes.txt` for most programs.
fn check_here(path: RelPath) -> Result<RelPath, Error> {
    if cfg!(windows) {
        let refused = path.components().find_map(|name| names::check_windows(name).err());
        if let Some(problem) = refused {
            return Err(Error::Spelling { path: path.as_str().into(), problem });
        }
    }
    Ok(path)
}

/// An open directory and the rules for the files beneath it.
///
/// Files are reached through the handle alone and never over a symbolic link or a mount point; that
/// the directory is renamed meanwhile, or that its path is made to mean something else, changes nothing.
///
/// What was learnt about directories (which entries they have, that they are no git directories) is
/// remembered, so a `Root` is meant for one operation: open another one for the next.
#[derive(Debug)]
pub struct Root {
    pub(crate) handle: sys::Fd,
    path: PathBuf,
    policy: Policy,
    /// The private directory, where it is not in the root.
    pub(crate) private_dir: Option<PathBuf>,
    /// How messages name the private directory in the root: it may be looked at from below.
    pub(crate) private_dir_shown: Option<String>,
    /// What the root directory was when it was opened.
    pub(crate) metadata: Metadata,
    /// Who opened it.
    pub(crate) user: u32,
    /// The private directory as it was last opened.
    pub(crate) state: Mutex<Option<(Arc<sys::Fd>, Metadata)>>,
    /// Resolve component by component: the kernel has no better way, or a test wants it.
    pub(crate) walk: AtomicBool,
    pub(crate) mount: OnceLock<Option<u64>>,
    pub(crate) dot_git: OnceLock<Option<(u64, u64)>>,
    pub(crate) learnt: Mutex<Learnt>,
}

impl Root {
    /// Opens a directory.
    ///
    /// # Panics
    ///
    /// Panics when the policy's name for the private directory is none.
    pub fn open(dir: &Path, policy: Policy) -> Result<Self, Error> {
        let plain =
            |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        let name = &policy.private_dir;
        assert!(name.strip_prefix('.').is_some_and(plain), "BUG: {name:?} is no name for a private directory");
        let shown = dir.display().to_string();
        let handle = sys::open_root(dir).at("open", &shown)?;
        let metadata = sys::stat(&handle).at("look at", &shown)?;
        Ok(Self {
            handle,
            path: dir.to_path_buf(),
            policy,
            private_dir: None,
            private_dir_shown: None,
            metadata,
            user: sys::look_up_user(),
            state: Mutex::default(),
            walk: AtomicBool::new(false),
            mount: OnceLock::new(),
            dot_git: OnceLock::new(),
            learnt: Mutex::default(),
        })
    }

    /// Has other rules from now on.
    #[must_use]
    pub fn under(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// Resolves paths component by component, as on systems without a better way.
    #[must_use]
    pub fn walking(self, yes: bool) -> Self {
        self.walk.store(yes, std::sync::atomic::Ordering::Relaxed);
        self
    }

    /// Has the private directory elsewhere: `dir`, which is made when it is needed.
    #[must_use]
    pub fn with_private_dir(self, dir: PathBuf) -> Self {
        Self { private_dir: Some(dir), ..self }
    }

    /// Names the private directory by another path in messages: as it is seen from a directory beneath.
    #[must_use]
    pub fn showing_private_dir(self, path: String) -> Self {
        Self { private_dir_shown: Some(path), ..self }
    }

    /// Returns the rules.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the path the root was opened by; for messages, not for opening.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the device of its file system.
    #[must_use]
    pub fn device(&self) -> u64 {
        self.metadata.dev
    }

    /// Returns the modification time the root directory had when it was opened.
    #[must_use]
    pub fn mtime(&self) -> FileTime {
        self.metadata.mtime
    }

    /// Checks the spelling of a path, its names, and the lists of forbidden and guarded paths.
    ///
    /// What is at the path is not looked at. (The one exception: a directory that exists may have a
    /// name that would not be created.)
    pub fn check(&self, path: &str, access: Access) -> Result<RelPath, Error> {
        let checked = self.policy.check(path, access, |dir| Ok(self.metadata(dir)?.is_some()))?;
        check_here(checked)
    }

    /// Checks a path as bytes, which have to be UTF-8.
    pub fn check_bytes(&self, path: &[u8], access: Access) -> Result<RelPath, Error> {
        self.check(unicode(path)?, access)
    }

    /// Checks a path that a journal names.
    ///
    /// A journal that is known to be this program's own was written after all checks, under the
    /// policy of that time; only what nothing lifts is checked again.
    pub fn check_recorded(&self, path: &str, authentic: bool) -> Result<RelPath, Error> {
        check_here(self.policy.check_recorded(path, authentic)?)
    }

    /// Forgets what was learnt about directories, for the next operation with the same root.
    pub fn forget(&self) {
        *Look::learnt(self) = Learnt::default();
    }
}
