//! An open repository.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::commit::{CommitObject, Role, Signature};
use crate::database::Objects;
use crate::error::Result;
use crate::files::FileInProgress;
use crate::id::{Id, ObjectKind};
use crate::layout::Layout;
use crate::settings::GitSettings;
use crate::tree::TreeObject;

/// The most memory of trees read before; beyond the limit they are read again.
const TREES: usize = 24 << 20;

/// How a repository is opened.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Reads the configuration of the system and the user too, and git's variables of the
    /// environment.
    ///
    /// Otherwise only the repository's own configuration counts.
    pub user_configuration: bool,
    /// No object of more bytes is read.
    pub max_object_size: u64,
    /// Syncs all writes to the disk, to survive a power cut. Without this, writes survive a kill
    /// only.
    pub durable: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { user_configuration: true, max_object_size: 1 << 30, durable: true }
    }
}

/// An open repository; clones share the objects read and the objects to be written, until
/// [`isolated`](Self::isolated).
///
/// Any number of threads may use it.
#[derive(Clone)]
pub struct Repository(Arc<SharedRepository>);

struct SharedRepository {
    common: Arc<CommonDir>,
    objects: Objects,
    /// The trees among what is to be written.
    new_trees: Mutex<HashMap<Id, Arc<TreeObject>>>,
}

struct CommonDir {
    layout: Layout,
    settings: GitSettings,
    writing: FileInProgress,
    user: bool,
    trees: Mutex<Trees>,
}

#[derive(Default)]
struct Trees {
    by_id: HashMap<Id, Arc<TreeObject>>,
    size: usize,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Repository").field(&self.0.common.layout.git_dir).finish()
    }
}

impl Repository {
    /// Opens the repository with this git directory.
    ///
    /// The git directory is a bare repository, the `.git` of a work tree (a directory, or the file
    /// of a linked work tree or a submodule), or a directory with such a `.git`. No directory above
    /// is searched.
    ///
    /// # Errors
    ///
    /// [`NotARepository`](crate::Error::NotARepository);
    /// [`Unsupported`](crate::Error::Unsupported), as with SHA-256 or the reftable format;
    /// [`Configuration`](crate::Error::Configuration); [`Io`](crate::Error::Io).
    pub fn open(git_dir: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let layout = Layout::find(git_dir.as_ref())?;
        let settings = GitSettings::read(&layout, options.user_configuration)?;
        let writing = FileInProgress { shared: settings.shared, durable: options.durable };
        let objects = Objects::open(
            layout.common_dir.join("objects"),
            options.max_object_size,
            writing,
            settings.compression,
        )?;
        let user = options.user_configuration;
        let common =
            Arc::new(CommonDir { layout, settings, writing, user, trees: Mutex::default() });
        Ok(Self(Arc::new(SharedRepository { common, objects, new_trees: Mutex::default() })))
    }

    /// Returns the git directory.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        &self.0.common.layout.git_dir
    }

    /// Returns the git directory shared by all work trees of the repository.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.0.common.layout.common_dir
    }

    /// Returns the directories with objects: its own, and its alternates'.
    #[must_use]
    pub fn object_dirs(&self) -> Vec<PathBuf> {
        let own = self.common_dir().join("objects");
        let others = gix_odb::alternate::resolve(own.clone(), self.common_dir());
        std::iter::once(own).chain(others.unwrap_or_default()).collect()
    }

    /// Returns whether there is no main work tree.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.0.common.settings.bare
    }

    /// Reads the tree and the parents of a commit.
    ///
    /// # Errors
    ///
    /// [`MissingObject`](crate::Error::MissingObject), [`WrongKind`](crate::Error::WrongKind),
    /// [`CorruptObject`](crate::Error::CorruptObject), [`TooLarge`](crate::Error::TooLarge),
    /// [`Io`](crate::Error::Io).
    pub fn commit(&self, id: Id) -> Result<CommitObject> {
        CommitObject::parse(id, &self.0.objects.read(id, ObjectKind::Commit, u64::MAX)?)
    }

    /// Reads a blob of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// Those of [`commit`](Self::commit).
    pub fn blob(&self, id: Id, limit: u64) -> Result<Arc<[u8]>> {
        self.0.objects.read(id, ObjectKind::Blob, limit)
    }

    /// Returns the kind and the size of an object; none for a missing one.
    ///
    /// # Errors
    ///
    /// [`CorruptObject`](crate::Error::CorruptObject), [`Io`](crate::Error::Io).
    pub fn header(&self, id: Id) -> Result<Option<(ObjectKind, u64)>> {
        self.0.objects.header(id, ObjectKind::Blob)
    }

    /// Returns the author or the committer of a commit, at the present time: from the environment
    /// (`GIT_AUTHOR_NAME` and the like) and the configuration (`author.name`, `user.name`), in
    /// git's order.
    ///
    /// # Errors
    ///
    /// [`NoIdentity`](crate::Error::NoIdentity): nothing is guessed from the name of the user or
    /// the machine; [`InvalidIdentity`](crate::Error::InvalidIdentity) for a time that cannot be
    /// read.
    pub fn signature(&self, role: Role) -> Result<Signature> {
        role.signature(&self.0.common.settings, self.0.common.user)
    }

    /// Writes the objects in memory: a few as a file each, many as one pack. When this returns, all
    /// are [durable](OpenOptions::durable).
    ///
    /// [`move_branch`](Self::move_branch) does this before it moves anything. One call for several
    /// commits is cheaper than one for each.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::Error::Io); [`CorruptObject`](crate::Error::CorruptObject) if an object exists
    /// with other bytes. Unwritten objects are still in memory.
    pub fn flush(&self) -> Result<()> {
        self.0.objects.flush()?;
        self.new_trees().clear();
        Ok(())
    }

    /// Returns the same repository with nothing in memory: its new objects stay apart, and are
    /// forgotten at its end.
    ///
    /// Trees from the disk are shared. A plan that may come to nothing is made in an isolated
    /// repository, and dropped.
    #[must_use]
    pub fn isolated(&self) -> Self {
        Self(Arc::new(SharedRepository {
            common: self.0.common.clone(),
            objects: self.0.objects.isolated(),
            new_trees: Mutex::default(),
        }))
    }

    /// Returns how many objects are in memory to be written, and how many bytes they have together.
    #[must_use]
    pub fn unwritten(&self) -> (usize, usize) {
        self.0.objects.unwritten()
    }

    /// Forgets all pending objects but the first `count`: objects made after
    /// [`unwritten`](Self::unwritten) returned this number come to nothing.
    pub fn forget_after(&self, count: usize) {
        self.0.objects.truncate(count);
        self.new_trees().clear();
    }

    fn trees(&self) -> MutexGuard<'_, Trees> {
        self.0.common.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn new_trees(&self) -> MutexGuard<'_, HashMap<Id, Arc<TreeObject>>> {
        self.0.new_trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.0.common.layout
    }

    pub(crate) fn settings(&self) -> &GitSettings {
        &self.0.common.settings
    }

    pub(crate) fn writing(&self) -> FileInProgress {
        self.0.common.writing
    }

    pub(crate) fn objects(&self) -> &Objects {
        &self.0.objects
    }

    /// Reads a tree, once.
    pub(crate) fn tree(&self, id: Id) -> Result<Arc<TreeObject>> {
        if let Some(tree) = self.trees().by_id.get(&id) {
            return Ok(tree.clone());
        }
        if let Some(tree) = self.new_trees().get(&id) {
            return Ok(tree.clone());
        }
        // An object in memory may never get to the disk, and no other tree must have it then.
        if let Some(object) = self.0.objects.in_memory(id) {
            let tree = Arc::new(TreeObject::parse(id, object.expect(id, ObjectKind::Tree)?)?);
            self.new_trees().insert(id, tree.clone());
            return Ok(tree);
        }
        let object = self.0.objects.read_disk(id, ObjectKind::Tree, u64::MAX)?;
        let tree = Arc::new(TreeObject::parse(id, object.expect(id, ObjectKind::Tree)?)?);
        let mut trees = self.trees();
        if trees.size + tree.size() > TREES {
            *trees = Trees::default();
        }
        if trees.by_id.insert(id, tree.clone()).is_none() {
            trees.size += tree.size();
        }
        Ok(tree)
    }
}
