//! What the guard allows.

use crate::error::{Error, Rule};
use crate::fold::fold;
use crate::globs::Globs;
use crate::names::{self, NamePolicy, Spelling, Verdict};
use crate::rel_path::RelPath;

/// What is meant to be done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Its bytes are read and shown.
    Read,
    /// It appears.
    Create,
    /// Its bytes are replaced.
    Update,
    /// It goes away.
    Delete,
}

/// What becomes of a file with more than one hard link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HardLinks {
    /// It is refused.
    #[default]
    Refuse,
    /// The changed name becomes a file of its own; the other names keep the old bytes.
    Break,
}

/// The rules of a [`Root`](crate::Root), or of a [`GuardedTree`](crate::GuardedTree), beside those that no policy lifts.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The name, in the root, of a directory of the program's own that no checked path reaches: a dot, and then ASCII
    /// letters, digits, `-` and `_`.
    pub private_dir: Box<str>,
    /// Paths in any directory that are never touched, nor what lies beneath them, as `app/key`: for what the program keeps
    /// elsewhere, in the case that the root is the user's home.
    pub reserved: Vec<Box<str>>,
    /// Which names may be created.
    pub names: NamePolicy,
    /// Patterns of paths that are never touched.
    pub forbidden: Globs,
    /// Patterns of paths that have to be approved before they are changed.
    pub guarded: Globs,
    /// Patterns of guarded paths that are approved.
    pub allow: Globs,
    /// What becomes of a file with several names.
    pub hard_links: HardLinks,
    /// The directories outside of which nothing is touched, relative to the root; none: all of the root.
    ///
    /// Directories above them can be looked into, and show these only.
    pub within: Vec<RelPath>,
    /// The private directory may be one that others may enter: there are file systems that keep no modes.
    pub accept_open_private_dir: bool,
}

impl Policy {
    /// Forbids and guards nothing beyond the rules that no policy lifts.
    #[must_use]
    pub fn new(private_dir: &str) -> Self {
        Self {
            private_dir: private_dir.into(),
            reserved: Vec::new(),
            names: NamePolicy::default(),
            forbidden: Globs::default(),
            guarded: Globs::default(),
            allow: Globs::default(),
            hard_links: HardLinks::default(),
            within: Vec::new(),
            accept_open_private_dir: false,
        }
    }

    /// Checks the spelling of a path, its names, and the lists of forbidden and guarded paths.
    ///
    /// Files are not looked at, but where a name would not be created: `exists` answers whether a directory has it already.
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

    /// Checks a path that was checked before, when a record was written.
    pub(crate) fn check_recorded(&self, path: &str, authentic: bool) -> Result<RelPath, Error> {
        let checked = self.check_never_allowed(path)?;
        self.check_within(&checked, Access::Update)?;
        if !authentic {
            self.check_lists(&checked, Access::Update)?;
        }
        Ok(checked)
    }

    fn check_within(&self, path: &RelPath, access: Access) -> Result<(), Error> {
        // Directory by directory: `ab` does not lie in `a`.
        let beneath = |path: &RelPath, dir: &RelPath| path.ancestors().any(|above| above == *dir);
        let inside =
            |dir: &RelPath| path == dir || beneath(path, dir) || (access == Access::Read && beneath(dir, path));
        match self.within.is_empty() || self.within.iter().any(inside) {
            true => Ok(()),
            false => Err(Error::NotWithin { path: path.as_str().into() }),
        }
    }

    fn check_lists(&self, path: &RelPath, access: Access) -> Result<(), Error> {
        self.check_within(path, access)?;
        let key = fold(path.as_str());
        if let Some(glob) = self.forbidden.matches_folded(&key) {
            return Err(Error::Forbidden { path: path.as_str().into(), rule: Rule::Glob(glob.into()) });
        }
        if access != Access::Read
            && let Some(glob) = self.guarded.matches_folded(&key)
            && self.allow.matches_folded(&key).is_none()
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
            } else if names::is_private_name(name, &self.private_dir) {
                Rule::StateDirectory
            } else {
                continue;
            };
            return Err(Error::Forbidden { path: path.into(), rule });
        }
        for reserved in &self.reserved {
            // Every spelling of it has one of these names; the rest is spared the folding.
            let last = reserved.rsplit('/').next().unwrap_or(reserved);
            if rest.split('/').all(|name| name.is_ascii() && !name.eq_ignore_ascii_case(last)) {
                continue;
            }
            let folded = fold(rest);
            let ends = |end: usize| matches!(folded.as_bytes().get(end), None | Some(b'/'));
            let begins = |at: usize| at == 0 || folded[..at].ends_with('/');
            if folded.match_indices(&**reserved).any(|(at, found)| begins(at) && ends(at + found.len())) {
                return Err(Error::Forbidden { path: path.into(), rule: Rule::StateDirectory });
            }
        }
        if let Some(c) = names::invisible(rest) {
            return Err(Error::Spelling { path: path.into(), problem: Spelling::Invisible(c) });
        }
        Ok(RelPath::new_unchecked(rest))
    }
}

fn check_new_names(path: &RelPath, exists: impl Fn(&RelPath) -> Result<bool, Error>) -> Result<(), Error> {
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

/// A path that is given as bytes: it has to be UTF-8.
pub(crate) fn unicode(path: &[u8]) -> Result<&str, Error> {
    let refused =
        || Error::Spelling { path: String::from_utf8_lossy(path).into_owned(), problem: Spelling::NotUnicode };
    std::str::from_utf8(path).map_err(|_| refused())
}
