//! The directory whose files may be touched.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use crate::error::{At as _, Error, NoRoot};
use crate::kept::KnownState;
use crate::metadata::{FileTime, Metadata};
use crate::names;
use crate::policy::{Access, Policy, unicode};
use crate::rel_path::RelPath;
use crate::rules::{Learnt, Look};
use crate::sys;

/// On Windows, refuses what does not name a file there, whatever the access: `notes.txt:hidden` is
/// another stream of `notes.txt`, `NUL` is a device, and `notes.txt.` means `notes.txt` to most
/// programs.
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
/// Files are reached only through this handle, and never through a symbolic link or a mount point.
/// Renaming the directory meanwhile, or replacing its path, changes nothing.
///
/// A `Root` remembers facts about directories (their entries, and that they are not git
/// directories), so each root is meant for one operation: open another one for the next.
#[derive(Debug)]
pub struct Root {
    pub(crate) handle: Arc<sys::Fd>,
    path: PathBuf,
    policy: Policy,
    /// The private directory outside the root, if any.
    pub(crate) private_dir: Option<PathBuf>,
    /// A private directory inside the root as named in messages, perhaps relative to a directory
    /// below.
    pub(crate) private_dir_shown: Option<String>,
    /// The metadata of the root directory at the time of opening.
    pub(crate) metadata: Metadata,
    /// The user at the time of opening.
    pub(crate) user: u32,
    /// The private directory as last opened.
    pub(crate) state: Mutex<Option<KnownState>>,
    /// Resolve component by component, because the kernel offers nothing better or for a test.
    pub(crate) walk: AtomicBool,
    pub(crate) mount: OnceLock<Option<u64>>,
    pub(crate) dot_git: OnceLock<Option<(u64, u64)>>,
    pub(crate) is_work_tree: OnceLock<bool>,
    pub(crate) learnt: Mutex<Learnt>,
}

fn is_private_name(name: &str) -> bool {
    name.strip_prefix('.').is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    })
}

impl Root {
    /// Opens a directory.
    ///
    /// # Panics
    ///
    /// Panics if the policy's name for the private directory is not a single component.
    pub fn open(dir: &Path, policy: Policy) -> Result<Self, Error> {
        let name = &policy.private_dir;
        assert!(is_private_name(name), "BUG: {name:?} is not a name for a private directory");
        let shown = dir.display().to_string();
        let handle =
            sys::open_root(dir).map_err(|source| NoRoot::from_io(source, "open", &shown))?;
        let metadata = sys::stat(&handle).at("look at", &shown)?;
        // A removed working directory can still be opened; it has no name then, and nothing can be
        // made in it.
        if metadata.nlink == 0 {
            return Err(Error::NoRoot { path: shown, problem: NoRoot::Removed });
        }
        Ok(Self {
            handle: Arc::new(handle),
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
            is_work_tree: OnceLock::new(),
            learnt: Mutex::default(),
        })
    }

    /// Replaces the rules.
    #[must_use]
    pub fn under(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// Makes another root of the same open directory, under other rules.
    #[must_use]
    pub fn reopened(&self, policy: Policy) -> Self {
        Self {
            handle: Arc::clone(&self.handle),
            path: self.path.clone(),
            policy,
            private_dir: self.private_dir.clone(),
            private_dir_shown: self.private_dir_shown.clone(),
            metadata: self.metadata.clone(),
            user: self.user,
            state: Mutex::default(),
            walk: AtomicBool::new(self.walk.load(std::sync::atomic::Ordering::Relaxed)),
            mount: OnceLock::new(),
            dot_git: OnceLock::new(),
            is_work_tree: OnceLock::new(),
            learnt: Mutex::default(),
        }
    }

    /// Resolves paths component by component, as on systems that offer nothing better.
    #[must_use]
    pub fn walking(self, yes: bool) -> Self {
        self.walk.store(yes, std::sync::atomic::Ordering::Relaxed);
        self
    }

    /// Uses a private directory elsewhere: `dir`, created when needed.
    #[must_use]
    pub fn with_private_dir(self, dir: PathBuf) -> Self {
        Self { private_dir: Some(dir), ..self }
    }

    /// Shows another path for the private directory in messages, for instance one relative to a
    /// directory below.
    #[must_use]
    pub fn showing_private_dir(self, path: String) -> Self {
        Self { private_dir_shown: Some(path), ..self }
    }

    /// Returns the rules.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the path given for the root, for messages, not for opening.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the part of an absolute path beneath the root, and empty text for the root itself.
    /// The path may lead through the root's own path, or through links to it from elsewhere.
    /// [`check`](Self::check) decides whether the part may be touched, and files are opened beneath
    /// the open root in any case.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "only to compare paths; nothing is opened by it")]
    pub fn relative(&self, path: &str) -> Option<String> {
        /// No path of a file is longer.
        const LONGEST: usize = 4096;
        let path = Path::new(path);
        if !path.is_absolute() || path.as_os_str().len() > LONGEST {
            return None;
        }
        let own = std::path::absolute(&self.path).ok()?;
        let rest = path.strip_prefix(own).ok().or_else(|| self.below_real_path(path))?.to_str()?;
        Some(if cfg!(windows) { rest.replace('\\', "/") } else { rest.to_owned() })
    }

    /// Returns the part of a path below the root, after another spelling of the root.
    #[allow(clippy::disallowed_methods, reason = "only to compare paths; nothing is opened by it")]
    fn below_real_path<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let real = std::fs::canonicalize(&self.path).ok()?;
        let dirs: Vec<&Path> = path.ancestors().collect();
        let root = dirs
            .into_iter()
            .rev()
            .find(|dir| std::fs::canonicalize(dir).is_ok_and(|dir| dir == real))?;
        path.strip_prefix(root).ok()
    }

    /// Returns the device number of its file system.
    #[must_use]
    pub fn device(&self) -> u64 {
        self.metadata.dev
    }

    /// Returns the identity of this directory, different from every other one, also from a later
    /// one at the same path or with the same inode number: device, inode number and time of
    /// creation. `None` if the file system does not know this time.
    #[must_use]
    pub fn identity(&self) -> Option<String> {
        let (seconds, nanoseconds) = sys::birth(&self.handle)?;
        Some(format!("{}:{}:{seconds}.{nanoseconds:09}", self.metadata.dev, self.metadata.ino))
    }

    /// Returns the modification time of the root directory at the time of opening.
    #[must_use]
    pub fn mtime(&self) -> FileTime {
        self.metadata.mtime
    }

    /// Checks the spelling of a path, its names, and the lists of forbidden and guarded paths.
    ///
    /// Does not look at the file. (There is one exception: an existing directory may have a name
    /// that could not be created.)
    pub fn check(&self, path: &str, access: Access) -> Result<RelPath, Error> {
        let checked = self.policy.check(path, access, |dir| Ok(self.metadata(dir)?.is_some()))?;
        check_here(checked)
    }

    /// Checks a path given as bytes in UTF-8.
    pub fn check_bytes(&self, path: &[u8], access: Access) -> Result<RelPath, Error> {
        self.check(unicode(path)?, access)
    }

    /// Checks a path from a journal. The program's own journal was written after all checks under
    /// the policy of its time, so only the rules that no policy lifts are checked again.
    pub fn check_recorded(&self, path: &str, authentic: bool) -> Result<RelPath, Error> {
        check_here(self.policy.check_recorded(path, authentic)?)
    }

    /// Forgets all facts about directories, to use the same root for the next operation.
    pub fn forget(&self) {
        *Look::learnt(self) = Learnt::default();
    }
}
