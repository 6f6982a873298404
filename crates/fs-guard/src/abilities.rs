//! Probes what a file system can do.

use crate::dir::Dir;
use crate::error::{At as _, Error};
use crate::metadata::Metadata;
use crate::sys::{self, Fd, NameIn, Open, Rename};

/// The abilities of the kernel and the file system of a directory. Where something is missing, a slower
/// or weaker way is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Abilities {
    /// Two names can be swapped in one step (`RENAME_EXCHANGE`).
    pub exchange: bool,
    /// A rename can refuse to replace (`RENAME_NOREPLACE`).
    pub no_replace: bool,
    /// The kernel resolves paths beneath a directory (`openat2`).
    pub resolve_beneath: bool,
    /// A file keeps its inode number across a rename.
    pub stable_inodes: bool,
    /// Extended attributes of users can be set.
    pub xattrs: bool,
}

fn make(dir: &Dir, name: &str) -> Result<sys::Fd, Error> {
    sys::open_at(&dir.handle, name, Open::CreateNew(0o600)).at("create a file in", dir.path())
}

fn seen(dir: &Dir, name: &str) -> Result<Metadata, Error> {
    sys::stat_at(&dir.handle, name).at("look at a file in", dir.path())
}

fn rename_in(dir: &Fd, from: &str, to: &str, how: Rename) -> std::io::Result<()> {
    sys::rename(NameIn { dir, name: from }, NameIn { dir, name: to }, how)
}

impl Abilities {
    /// Probes everything in `scratch`, an empty directory of the caller. The caller removes the
    /// directory afterwards, with everything left in it.
    ///
    /// # Errors
    ///
    /// If no file can be created there.
    pub fn of(scratch: &Dir) -> Result<Self, Error> {
        let dir = &scratch.handle;
        let shown = scratch.path();
        let one = make(scratch, "one")?;
        let _two = make(scratch, "two")?;
        let one_before = seen(scratch, "one")?;
        let two_before = seen(scratch, "two")?;
        let exchange = rename_in(dir, "one", "two", Rename::Exchange).is_ok()
            && seen(scratch, "one")?.same_inode(&two_before)
            && seen(scratch, "two")?.same_inode(&one_before);
        let refused = rename_in(dir, "one", "two", Rename::NoReplace).is_err();
        let no_replace = refused && rename_in(dir, "one", "three", Rename::NoReplace).is_ok();
        let from = if no_replace { "three" } else { "two" };
        let to = "four";
        let still = seen(scratch, from)?;
        rename_in(dir, from, to, Rename::Replace).at("rename a file in", shown)?;
        Ok(Self {
            exchange,
            no_replace,
            resolve_beneath: sys::open_beneath(dir, to, Open::Read)
                .is_some_and(|opened| opened.is_ok()),
            stable_inodes: seen(scratch, to)?.same_inode(&still),
            xattrs: sys::set_xattr(&one, b"user.probe", b"1").is_ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::root::Root;

    #[test]
    fn an_ordinary_file_system_can_rename_and_keeps_inodes() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = Root::open(dir.path(), Policy::new(".private")).expect("a folder");
        let scratch = root.as_dir("").and_then(|dir| dir.create_dir("scratch")).expect("a folder");
        let found = Abilities::of(&scratch).expect("files can be made");
        assert!(found.stable_inodes, "{found:?}");
        assert!(Abilities::of(&scratch).is_err(), "it is not empty any more");
    }
}
