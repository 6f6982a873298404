//! What a directory holds, and which names in it could be taken for another.

use crate::error::{At as _, Error};
use crate::fold::fold;
use crate::metadata::{FileKind, Metadata};
use crate::rel_path::RelPath;
use crate::root::{Listing, Root};
use crate::sys::{self, Open, code};

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq)]
pub struct DirEntry {
    /// Its name, as bytes: it need not be UTF-8, nor a name the guard would accept.
    pub name: Vec<u8>,
    /// What it is.
    pub metadata: Metadata,
}

impl Root {
    /// Lists a directory (`None`: the root), in no order; links are listed, not followed.
    ///
    /// Entries that vanish meanwhile are left out.
    pub fn read_dir(&self, path: Option<&RelPath>) -> Result<Vec<DirEntry>, Error> {
        let shown = path.map_or(".", RelPath::as_str);
        let opened;
        let mut dir = &self.handle;
        if let Some(path) = path {
            let missing = || Error::NotFound { path: shown.into() };
            opened = self.open_beneath(path, Open::Directory)?.ok_or_else(missing)?;
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

    /// Finds an existing entry, at the path or at a directory on the way, that differs from it only
    /// by case or Unicode normalisation.
    pub fn collision(&self, path: &RelPath) -> Result<Option<String>, Error> {
        let mut start = 0;
        for name in path.components() {
            let parent = path.as_str()[..start].trim_end_matches('/');
            self.learn_listing(parent)?;
            let learnt = self.learnt();
            let Some(listing) = learnt.listings.get(parent) else { return Ok(None) };
            if !listing.names.contains(name) {
                let existing = listing.folded.get(&*fold(name));
                return Ok(existing.map(|existing| match parent {
                    "" => existing.to_string(),
                    parent => format!("{parent}/{existing}"),
                }));
            }
            start += name.len() + 1;
        }
        Ok(None)
    }

    fn learn_listing(&self, dir: &str) -> Result<(), Error> {
        if self.learnt().listings.contains_key(dir) {
            return Ok(());
        }
        let opened;
        let handle = if dir.is_empty() {
            &self.handle
        } else {
            match self.open_beneath(&RelPath::new_unchecked(dir), Open::Directory) {
                Ok(Some(handle)) => opened = handle,
                Ok(None) | Err(Error::NotADirectory { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
            &opened
        };
        let mut listing = Listing::default();
        for name in sys::list(handle).at("list", if dir.is_empty() { "." } else { dir })? {
            // What is not UTF-8 cannot be what a path of ours folds to.
            let Ok(name) = String::from_utf8(name) else { continue };
            listing.folded.insert(fold(&name).into(), name.as_str().into());
            listing.names.insert(name.into());
        }
        self.learnt().listings.insert(dir.into(), listing);
        Ok(())
    }

    /// Returns the directories that would have to be made for the path to exist, outermost first.
    pub fn parents_missing(&self, path: &RelPath) -> Result<Vec<RelPath>, Error> {
        self.check_not_git(path, None)?;
        let mut missing = Vec::new();
        let mut dirs: Vec<RelPath> = path.ancestors().collect();
        while let Some(dir) = dirs.pop() {
            match self.metadata(&dir)? {
                Some(seen) if seen.kind == FileKind::Directory => break,
                Some(seen) if seen.kind == FileKind::Symlink => {
                    self.check_pre_image(&dir, &seen, crate::policy::Access::Read)?;
                }
                Some(_) => {
                    let component = dir.as_str().into();
                    return Err(Error::NotADirectory { path: path.as_str().into(), component });
                }
                None => missing.push(dir),
            }
        }
        missing.reverse();
        Ok(missing)
    }
}
