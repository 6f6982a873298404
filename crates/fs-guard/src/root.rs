//! The one directory whose files may be touched.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, OnceLock};

use crate::error::{At as _, Error, Rule};
use crate::fold::fold;
use crate::metadata::{FileTime, Metadata};
use crate::names::{self, NamePolicy, Verdict};
use crate::policy::{Access, Policy};
use crate::rel_path::RelPath;
use crate::sys;

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
    /// What the root directory was when it was opened.
    pub(crate) metadata: Metadata,
    /// Who opened it.
    pub(crate) user: u32,
    /// Resolve component by component: the kernel has no better way, or a test wants it.
    pub(crate) walk: AtomicBool,
    pub(crate) mount: OnceLock<Option<u64>>,
    pub(crate) dot_git: OnceLock<Option<(u64, u64)>>,
    learnt: Mutex<Learnt>,
}

/// What was learnt about directories, by their paths (the root's is empty).
#[derive(Debug, Default)]
pub(crate) struct Learnt {
    pub(crate) not_git: HashSet<Box<str>>,
    pub(crate) listings: HashMap<Box<str>, Listing>,
}

/// The names in a directory, and the same by their folded spelling.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) names: HashSet<Box<str>>,
    pub(crate) folded: HashMap<Box<str>, Box<str>>,
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
            metadata,
            user: sys::user(),
            walk: AtomicBool::new(false),
            mount: OnceLock::new(),
            dot_git: OnceLock::new(),
            learnt: Mutex::default(),
        })
    }

    /// Resolves paths component by component, as on systems without a better way.
    #[must_use]
    pub fn walking(self, yes: bool) -> Self {
        self.walk.store(yes, std::sync::atomic::Ordering::Relaxed);
        self
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
        let checked = self.check_never_allowed(path)?;
        if access == Access::Create && self.policy.names == NamePolicy::Portable {
            self.check_new_names(&checked)?;
        }
        self.check_lists(&checked, access)?;
        Ok(checked)
    }

    /// Checks a path as bytes, which have to be UTF-8.
    pub fn check_bytes(&self, path: &[u8], access: Access) -> Result<RelPath, Error> {
        match std::str::from_utf8(path) {
            Ok(path) => self.check(path, access),
            Err(_) => Err(Error::Spelling {
                path: String::from_utf8_lossy(path).into_owned(),
                problem: names::Spelling::NotUnicode,
            }),
        }
    }

    /// Checks a path that a journal names.
    ///
    /// A journal that is known to be this program's own was written after all checks, under the
    /// policy of that time; only what nothing lifts is checked again.
    pub fn check_recorded(&self, path: &str, authentic: bool) -> Result<RelPath, Error> {
        let checked = self.check_never_allowed(path)?;
        self.check_within(&checked, Access::Update)?;
        if !authentic {
            self.check_lists(&checked, Access::Update)?;
        }
        Ok(checked)
    }

    fn check_new_names(&self, path: &RelPath) -> Result<(), Error> {
        let mut end = 0;
        for name in path.components() {
            end += name.len();
            if let Err(problem) = names::check_portable(name) {
                let whole = path.as_str();
                let exists = end < whole.len() && self.metadata(&RelPath::new_unchecked(&whole[..end]))?.is_some();
                if !exists {
                    return Err(Error::Spelling { path: whole.into(), problem });
                }
            }
            end += 1;
        }
        Ok(())
    }

    fn check_within(&self, path: &RelPath, access: Access) -> Result<(), Error> {
        let within = &self.policy.within;
        // Directory by directory: `ab` does not lie in `a`.
        let beneath = |path: &RelPath, dir: &RelPath| path.ancestors().any(|above| above == *dir);
        let inside =
            |dir: &RelPath| path == dir || beneath(path, dir) || (access == Access::Read && beneath(dir, path));
        match within.is_empty() || within.iter().any(inside) {
            true => Ok(()),
            false => Err(Error::NotWithin { path: path.as_str().into() }),
        }
    }

    fn check_lists(&self, path: &RelPath, access: Access) -> Result<(), Error> {
        self.check_within(path, access)?;
        let key = fold(path.as_str());
        if let Some(glob) = self.policy.forbidden.matches_folded(&key) {
            return Err(Error::Forbidden { path: path.as_str().into(), rule: Rule::Glob(glob.into()) });
        }
        if access != Access::Read
            && let Some(glob) = self.policy.guarded.matches_folded(&key)
            && self.policy.allow.matches_folded(&key).is_none()
        {
            return Err(Error::Guarded { path: path.as_str().into(), glob: glob.into() });
        }
        Ok(())
    }

    /// Checks what no policy lifts.
    fn check_never_allowed(&self, path: &str) -> Result<RelPath, Error> {
        let rest = match names::check_spelling(path) {
            Verdict::Fine(rest) => rest,
            Verdict::Climbs => return Err(Error::Traversal { path: path.into() }),
            Verdict::Refused(problem) => return Err(Error::Spelling { path: path.into(), problem }),
        };
        for name in rest.split('/') {
            // Every spelling of either has one of these; the rest is spared the folding.
            if name.is_ascii() && !name.starts_with('.') && !name.contains('~') {
                continue;
            }
            let rule = if names::is_dot_git(name) {
                Rule::GitDirectory
            } else if names::is_private_name(name, &self.policy.private_dir) {
                Rule::StateDirectory
            } else {
                continue;
            };
            return Err(Error::Forbidden { path: path.into(), rule });
        }
        let name = rest.rsplit('/').next().unwrap_or(rest);
        for reserved in &self.policy.reserved {
            // Every spelling of it ends in one of these; the rest is spared the folding.
            if name.is_ascii() && !reserved.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(name)) {
                continue;
            }
            let folded = fold(rest);
            if folded.strip_suffix(&**reserved).is_some_and(|above| above.is_empty() || above.ends_with('/')) {
                return Err(Error::Forbidden { path: path.into(), rule: Rule::StateDirectory });
            }
        }
        if let Some(c) = names::invisible(rest) {
            return Err(Error::Spelling { path: path.into(), problem: names::Spelling::Invisible(c) });
        }
        Ok(RelPath::new_unchecked(rest))
    }

    /// Forgets what was learnt about directories, for the next operation with the same root.
    pub fn forget(&self) {
        *self.learnt() = Learnt::default();
    }

    pub(crate) fn learnt(&self) -> MutexGuard<'_, Learnt> {
        self.learnt.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
