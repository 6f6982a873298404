//! The files that a plan is made for: a directory, or another tree.

pub(crate) mod conventions;
pub(crate) mod encodings;
pub(crate) mod hash;

use std::sync::Arc;

use fs_guard::{
    Access, Cancellation, Error, FileKind, GuardedTree, Hasher, Metadata, Policy, RelPath, Root,
    Sha256, Tree,
};
use patch_text::cancel::Cancel;

use hash::{LazyHash, PIECE};

/// The metadata at a path, and the bytes of a file where they were read.
pub(crate) type Unhashed = (Metadata, Option<Arc<Vec<u8>>>);

/// The files that a plan is made for, with the rules for them. A clone has the same files.
///
/// The rules, and the errors, are the same for all. A plan for a directory is committed by a
/// [`Workspace`](crate::commit::Workspace); what becomes of a plan for a tree is the owner's
/// business ([`Images::changed`](crate::Images::changed)).
#[derive(Debug, Clone)]
pub struct Files {
    inner: Inner,
    /// The directory that has the state with the displaced files, where it is another one.
    home: Option<Arc<Root>>,
    cancellation: Cancellation,
    /// The files are hashed when that is asked for.
    hashed_late: bool,
}

#[derive(Debug, Clone)]
enum Inner {
    Directory(Arc<Root>),
    Tree(Arc<GuardedTree>),
}

/// Calls the same method of either kind of files.
macro_rules! either {
    ($self:ident, $files:ident => $answer:expr) => {
        match &$self.inner {
            Inner::Directory($files) => $answer,
            Inner::Tree($files) => $answer,
        }
    };
}

impl From<&Arc<Root>> for Files {
    fn from(root: &Arc<Root>) -> Self {
        Self::new(Inner::Directory(Arc::clone(root)))
    }
}

impl From<&Self> for Files {
    fn from(files: &Self) -> Self {
        files.clone()
    }
}

/// Who plans for these files is given up with them.
impl Cancel for Files {
    fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }
}

impl Files {
    /// Makes the files of a tree, with the rules for them. They remember what they read, so they
    /// are meant for one plan.
    #[must_use]
    pub fn of_tree(tree: Arc<dyn Tree>, policy: impl Into<Arc<Policy>>) -> Self {
        Self::new(Inner::Tree(Arc::new(GuardedTree::new(tree, policy))))
    }

    fn new(inner: Inner) -> Self {
        Self { inner, home: None, cancellation: Cancellation::default(), hashed_late: false }
    }

    /// Names the directory that has the state with the displaced files.
    pub(crate) fn with_home(self, home: &Arc<Root>) -> Self {
        Self { home: Some(Arc::clone(home)), ..self }
    }

    /// Returns the directory that has the state with the displaced files.
    pub(crate) fn home(&self) -> Option<&Arc<Root>> {
        self.home.as_ref().or(self.directory())
    }

    /// Lets what reads these files be given up: planning then fails with [`Error::Cancelled`].
    #[must_use]
    pub fn cancelled_by(self, cancellation: Cancellation) -> Self {
        Self { cancellation, ..self }
    }

    /// Lets a tree's files be hashed when a hash is asked for, and not while they are planned: for
    /// callers that want the new files and no more.
    #[must_use]
    pub fn hashed_late(self) -> Self {
        Self { hashed_late: self.directory().is_none(), ..self }
    }

    /// Returns whether files are hashed when that is asked for.
    pub(crate) fn are_hashed_late(&self) -> bool {
        self.hashed_late
    }

    /// Returns what gives planning up.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Hashes a file that was read, at once or when the hash is asked for.
    pub(crate) fn hash_of(&self, bytes: &Arc<Vec<u8>>) -> Result<LazyHash, Error> {
        if self.hashed_late {
            return Ok(LazyHash::later(bytes));
        }
        self.hash_bytes(bytes).map(LazyHash::from)
    }

    /// Hashes bytes that were read.
    pub(crate) fn hash_bytes(&self, bytes: &[u8]) -> Result<Sha256, Error> {
        let mut hasher = Hasher::new();
        for piece in bytes.chunks(PIECE) {
            self.cancellation.check()?;
            hasher.update(piece);
        }
        Ok(hasher.finish())
    }

    /// The directory; `None` for a tree.
    #[must_use]
    pub fn directory(&self) -> Option<&Arc<Root>> {
        match &self.inner {
            Inner::Directory(root) => Some(root),
            Inner::Tree(_) => None,
        }
    }

    /// Returns the identifier of a tree's contents, if it has one.
    pub(crate) fn tree_id(&self) -> Option<String> {
        match &self.inner {
            Inner::Directory(_) => None,
            Inner::Tree(tree) => tree.tree().id(),
        }
    }

    /// Checks a path, whatever is there.
    ///
    /// # Errors
    ///
    /// Those of [`Root::check`].
    pub fn check(&self, path: &str, access: Access) -> Result<RelPath, Error> {
        either!(self, files => files.check(path, access))
    }

    pub(crate) fn check_bytes(&self, path: &[u8], access: Access) -> Result<RelPath, Error> {
        either!(self, files => files.check_bytes(path, access))
    }

    pub(crate) fn metadata(&self, path: &RelPath) -> Result<Option<Metadata>, Error> {
        self.cancellation.check()?;
        either!(self, files => files.metadata(path))
    }

    /// Looks at what is at a path, applies the rules for `access`, and reads a regular file that is
    /// `wanted`.
    pub(crate) fn inspect_and_read(
        &self,
        path: &RelPath,
        access: Access,
        wanted: impl Fn(&Metadata) -> bool,
        limit: u64,
    ) -> Result<Option<Unhashed>, Error> {
        self.cancellation.check()?;
        match &self.inner {
            Inner::Directory(root) => {
                let found = root.inspect_and_read(path, access, wanted, limit)?;
                Ok(found.map(|(seen, bytes)| (seen, bytes.map(Arc::new))))
            }
            Inner::Tree(tree) => {
                let Some(seen) = tree.inspect(path, access)? else { return Ok(None) };
                if seen.kind != FileKind::File || !wanted(&seen) {
                    return Ok(Some((seen, None)));
                }
                tree.read_seen(path, seen, limit).map(|(bytes, seen)| Some((seen, Some(bytes))))
            }
        }
    }

    pub(crate) fn check_pre_image(
        &self,
        path: &RelPath,
        seen: &Metadata,
        access: Access,
    ) -> Result<(), Error> {
        either!(self, files => files.check_pre_image(path, seen, access))
    }

    /// Returns whether these are the files of a tree that has submodules.
    pub(crate) fn has_submodules(&self) -> bool {
        match &self.inner {
            Inner::Directory(_) => false,
            Inner::Tree(tree) => tree.tree().has_submodules(),
        }
    }

    pub(crate) fn check_link(&self, path: &RelPath, target: &[u8]) -> Result<(), Error> {
        either!(self, files => files.check_link(path, target))
    }

    /// Reads a regular file of at most `limit` bytes.
    pub(crate) fn read(
        &self,
        path: &RelPath,
        limit: u64,
    ) -> Result<(Arc<Vec<u8>>, Metadata), Error> {
        self.cancellation.check()?;
        match &self.inner {
            Inner::Directory(root) => {
                root.read(path, limit).map(|(bytes, seen)| (Arc::new(bytes), seen))
            }
            Inner::Tree(tree) => tree.read(path, limit),
        }
    }

    /// Hashes a regular file, which need not be in memory for it.
    pub(crate) fn hash(&self, path: &RelPath) -> Result<(Sha256, Metadata), Error> {
        self.cancellation.check()?;
        match &self.inner {
            Inner::Directory(root) => {
                let (mut file, seen) = root.open_file(path)?;
                Ok((file.hash(&self.cancellation)?, seen))
            }
            Inner::Tree(tree) => {
                let (bytes, seen) = tree.read(path, u64::MAX)?;
                Ok((self.hash_bytes(&bytes)?, seen))
            }
        }
    }

    /// Returns the target of a symbolic link.
    pub(crate) fn read_link(&self, path: &RelPath) -> Result<Arc<Vec<u8>>, Error> {
        match &self.inner {
            Inner::Directory(root) => root.read_link(path).map(Arc::new),
            Inner::Tree(tree) => tree.read_link(path),
        }
    }

    /// Lists the names in a directory, in no order, with their kinds.
    pub(crate) fn read_dir(
        &self,
        path: Option<&RelPath>,
    ) -> Result<Vec<(Vec<u8>, FileKind)>, Error> {
        self.cancellation.check()?;
        match &self.inner {
            Inner::Directory(root) => {
                let entries = root.read_dir(path)?;
                Ok(entries.into_iter().map(|entry| (entry.name, entry.metadata.kind)).collect())
            }
            Inner::Tree(tree) => tree.read_dir(path),
        }
    }

    pub(crate) fn collision(
        &self,
        path: &RelPath,
        moved: Option<&RelPath>,
    ) -> Result<Option<String>, Error> {
        either!(self, files => files.collision(path, moved))
    }

    pub(crate) fn parents_missing(&self, path: &RelPath) -> Result<Vec<RelPath>, Error> {
        either!(self, files => files.parents_missing(path))
    }

    pub(crate) fn check_no_new_repository<'p>(
        &self,
        appearing: impl IntoIterator<Item = &'p RelPath>,
    ) -> Result<(), Error> {
        either!(self, files => files.check_no_new_repository(appearing))
    }
}
