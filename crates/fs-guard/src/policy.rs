//! The policy: what the guard allows.

use crate::error::{Error, Rule};
use crate::fold::fold;
use crate::globs::Globs;
use crate::names::{self, NamePolicy, Spelling, Verdict};
use crate::rel_path::RelPath;

/// The purpose of an access to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// To read its bytes.
    Read,
    /// To create the file.
    Create,
    /// To replace its bytes.
    Update,
    /// To remove the file.
    Delete,
}

/// The treatment of a file with more than one hard link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HardLinks {
    /// Refuse the file.
    #[default]
    Refuse,
    /// Give the changed name a file of its own; the other names keep the old bytes.
    Break,
}

/// The configurable rules of a [`Root`](crate::Root) or a [`GuardedTree`](crate::GuardedTree),
/// beside the rules that no policy lifts.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The name of the program's private directory in the root, which no checked path reaches: a
    /// dot, followed by ASCII letters, digits, `-` and `_`.
    pub private_dir: Box<str>,
    /// Paths, such as `app/key`, that are never touched in any directory, with everything beneath
    /// them: the program's files elsewhere, in case the root is the user's home.
    pub reserved: Vec<Box<str>>,
    /// Which names may be created.
    pub names: NamePolicy,
    /// Patterns of paths that are never touched.
    pub forbidden: Globs,
    /// Patterns of paths whose change needs approval.
    pub guarded: Globs,
    /// Patterns of approved guarded paths and symbolic links.
    pub allow: Globs,
    /// Whether symbolic links are made or changed only where they are approved.
    pub guard_links: bool,
    /// The treatment of files with several names.
    pub hard_links: HardLinks,
    /// The directories outside of which nothing is touched, relative to the root. Empty: the whole
    /// root.
    ///
    /// The directories above them can be listed, but show only these.
    pub within: Vec<RelPath>,
    /// Whether the private directory may be accessible to others. Some file systems keep no modes.
    pub accept_open_private_dir: bool,
}

impl Policy {
    /// Returns a policy without forbidden or guarded patterns, so with only the rules that no
    /// policy lifts.
    #[must_use]
    pub fn new(private_dir: &str) -> Self {
        Self {
            private_dir: private_dir.into(),
            reserved: Vec::new(),
            names: NamePolicy::default(),
            forbidden: Globs::default(),
            guarded: Globs::default(),
            allow: Globs::default(),
            guard_links: true,
            hard_links: HardLinks::default(),
            within: Vec::new(),
            accept_open_private_dir: false,
        }
    }

    /// Checks the spelling of a path, its names, and the lists of forbidden and guarded paths.
    ///
    /// Does not look at files, except for a name that could not be created: `exists` tells whether
    /// there is a directory of this name.
    pub(crate) fn check(
        &self,
        path: &str,
        access: Access,
        exists: impl Fn(&RelPath) -> Result<bool, Error>,
    ) -> Result<RelPath, Error> {
        let checked = self.check_never_allowed(path)?;
        if access == Access::Create && self.names == NamePolicy::Portable {
            check_new_names(&checked, exists)?;
        }
        self.check_lists(&checked, access)?;
        Ok(checked)
    }

    /// Checks a path again that was recorded after a check.
    pub(crate) fn check_recorded(&self, path: &str, authentic: bool) -> Result<RelPath, Error> {
        let checked = self.check_never_allowed(path)?;
        self.check_within(&checked, Access::Update)?;
        if !authentic {
            self.check_lists(&checked, Access::Update)?;
        }
        Ok(checked)
    }

    fn check_within(&self, path: &RelPath, access: Access) -> Result<(), Error> {
        let is_inside = self.within.is_empty()
            || self.within.iter().any(|dir| {
                path == dir
                    || is_beneath(path, dir)
                    || (access == Access::Read && is_beneath(dir, path))
            });
        if is_inside { Ok(()) } else { Err(Error::NotWithin { path: path.as_str().into() }) }
    }

    fn check_lists(&self, path: &RelPath, access: Access) -> Result<(), Error> {
        self.check_within(path, access)?;
        let key = fold(path.as_str());
        if let Some(glob) = self.forbidden.matches_folded(&key) {
            return Err(Error::Forbidden {
                path: path.as_str().into(),
                rule: Rule::Glob(glob.into()),
            });
        }
        if access != Access::Read
            && let Some(glob) = self.guarded.matches_folded(&key)
            && !self.allow.includes(path.as_str())
        {
            return Err(Error::Guarded { path: path.as_str().into(), glob: glob.into() });
        }
        Ok(())
    }

    /// Returns whether a symbolic link may be made at a path, or changed.
    pub(crate) fn lets_link(&self, path: &RelPath) -> bool {
        !self.guard_links || self.allow.includes(path.as_str())
    }

    /// Checks the rules that no policy lifts.
    fn check_never_allowed(&self, path: &str) -> Result<RelPath, Error> {
        let rest = match names::check_spelling(path) {
            Verdict::Fine(rest) => rest,
            Verdict::Climbs => return Err(Error::Traversal { path: path.into() }),
            Verdict::Refused(problem) => {
                return Err(Error::Spelling { path: path.into(), problem });
            }
        };
        for name in rest.split('/') {
            // Other names need not be folded.
            if !names::may_be_special(name) {
                continue;
            }
            let rule = if names::is_dot_git(name) {
                Rule::GitDirectory
            } else if names::is_private_name(name, &self.private_dir) {
                Rule::StateDirectory
            } else if let Some(dir) = names::version_control(name) {
                Rule::VersionControl(dir)
            } else {
                continue;
            };
            return Err(Error::Forbidden { path: path.into(), rule });
        }
        for reserved in &self.reserved {
            // Every spelling of a reserved path contains one of these names; other paths need not
            // be folded.
            let last = reserved.rsplit('/').next().unwrap_or(reserved);
            if rest.split('/').all(|name| name.is_ascii() && !name.eq_ignore_ascii_case(last)) {
                continue;
            }
            let folded = fold(rest);
            let is_reserved = folded.match_indices(&**reserved).any(|(at, found)| {
                let end = folded.as_bytes().get(at + found.len());
                (at == 0 || folded[..at].ends_with('/')) && matches!(end, None | Some(b'/'))
            });
            if is_reserved {
                return Err(Error::Forbidden { path: path.into(), rule: Rule::StateDirectory });
            }
        }
        if let Some(c) = names::invisible(rest) {
            return Err(Error::Spelling { path: path.into(), problem: Spelling::Invisible(c) });
        }
        Ok(RelPath::new_unchecked(rest))
    }
}

/// Returns whether a path is beneath a directory, by component: `ab` is not beneath `a`.
fn is_beneath(path: &RelPath, dir: &RelPath) -> bool {
    path.ancestors().any(|above| above == *dir)
}

fn check_new_names(
    path: &RelPath,
    exists: impl Fn(&RelPath) -> Result<bool, Error>,
) -> Result<(), Error> {
    let mut end = 0;
    for name in path.components() {
        end += name.len();
        if let Err(problem) = names::check_portable(name) {
            let whole = path.as_str();
            let is_there = end < whole.len() && exists(&RelPath::new_unchecked(&whole[..end]))?;
            if !is_there {
                return Err(Error::Spelling { path: whole.into(), problem });
            }
        }
        end += 1;
    }
    Ok(())
}

/// A path given as bytes in UTF-8.
pub(crate) fn unicode(path: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(path).map_err(|_| Error::Spelling {
        path: String::from_utf8_lossy(path).into_owned(),
        problem: Spelling::NotUnicode,
    })
}
