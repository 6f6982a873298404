//! The key that journals are signed with.

use std::path::PathBuf;

use fs_guard::{Error, FoundSecret};

/// Where the key is kept: never in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// `key` in the directory of this name in `$XDG_STATE_HOME`, else in `~/.local/state`.
    User(&'static str),
    /// `key` in this directory.
    Directory(PathBuf),
    /// Nowhere: journals are not signed.
    Nowhere,
}

impl KeyPlace {
    /// Reads the key, which is made at the first use; `None` when there is no place for one.
    pub(crate) fn key(&self) -> Result<Option<[u8; 32]>, Error> {
        match self.directory() {
            Some(dir) => fs_guard::secret(&dir, "key"),
            None => Ok(None),
        }
    }

    /// The directory of the key, once it is there; the key is made for that. `None` when there is no place for one.
    ///
    /// A process that is about to be confined needs it.
    pub fn prepare(&self) -> Result<Option<PathBuf>, Error> {
        Ok(self.key()?.and_then(|_| self.directory()))
    }

    /// Looks for the key, and makes none: its directory, and whether the key is there. `None` when there is no place for one.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be used.
    pub fn find(&self) -> Result<Option<(PathBuf, bool)>, Error> {
        let Some(dir) = self.directory() else { return Ok(None) };
        Ok(match fs_guard::find_secret(&dir, "key")? {
            FoundSecret::There => Some((dir, true)),
            FoundSecret::ToBeMade => Some((dir, false)),
            FoundSecret::NoPlace => None,
        })
    }

    fn directory(&self) -> Option<PathBuf> {
        match self {
            Self::Directory(dir) => Some(dir.clone()),
            Self::Nowhere => None,
            Self::User(name) => {
                let absolute =
                    |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
                let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
                Some(state.join(name))
            }
        }
    }
}
