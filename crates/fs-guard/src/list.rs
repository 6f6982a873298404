//! Lists directories.

use crate::error::{At as _, Error};
use crate::metadata::Metadata;
use crate::rel_path::RelPath;
use crate::root::Root;
use crate::rules;
use crate::sys::{self, Open, code};

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DirEntry {
    /// The name as bytes: it need not be UTF-8, nor a name that the guard would accept.
    pub name: Vec<u8>,
    /// Its kind.
    pub metadata: Metadata,
}

impl Root {
    /// Lists a directory (`None`: the root), in no particular order; links are listed, not
    /// followed.
    ///
    /// Entries that vanish meanwhile are left out.
    pub fn read_dir(&self, path: Option<&RelPath>) -> Result<Vec<DirEntry>, Error> {
        let shown = path.map_or(".", RelPath::as_str);
        let opened;
        let mut dir: &sys::Fd = &self.handle;
        if let Some(path) = path {
            opened = self
                .open_beneath(path, Open::Directory)?
                .ok_or_else(|| Error::NotFound { path: shown.into() })?;
            let seen = sys::stat(&opened).at("look at", shown)?;
            self.check_not_git(path, Some(&seen))?;
            dir = &opened;
        }
        let mut entries = Vec::new();
        for name in sys::list(dir).at("list", shown)? {
            match sys::stat_at_bytes(dir, &name) {
                Ok(metadata) => entries.push(DirEntry { name, metadata }),
                Err(error) if error.raw_os_error() == Some(code::NOENT) => {}
                Err(error) => return Err(error).at("look at", shown),
            }
        }
        Ok(entries)
    }

    /// Finds an existing entry, at the path or at a directory on the way, with a name different
    /// only by case or Unicode normalisation. `moved` is a file soon to be gone. If the names
    /// differ only by case, `moved` is in the way on Windows alone: there both names are one.
    pub fn collision(
        &self,
        path: &RelPath,
        moved: Option<&RelPath>,
    ) -> Result<Option<String>, Error> {
        let other = moved.filter(|moved| {
            !cfg!(windows) || moved.as_str().to_lowercase() != path.as_str().to_lowercase()
        });
        rules::collision(self, path, other)
    }

    /// Returns the directories to be created for the path, outermost first.
    pub fn parents_missing(&self, path: &RelPath) -> Result<Vec<RelPath>, Error> {
        rules::parents_missing(self, path)
    }
}
