//! The files of commits in a git repository: trees to plan patches over, and versions of files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_guard::{FileKind, Policy, Sha256};
use git_object_tree::{EntryKind, Id, OpenOptions, Repository, Resolved, Snapshot};
use patch_engine::remedy::{ForPerson, Setting};
use patch_engine::{Entry, ErrorKind, Files, Remedy, Tree, submodule_line};
use serde_json::json;

use patch_session::answer::error::{FailureClass, ToolError};

/// The files of a commit.
#[derive(Debug, Clone)]
pub struct CommitTree {
    snapshot: Snapshot,
    commit: Id,
    /// The directory of the files, with a slash at its end; empty for all files.
    beneath: String,
}

impl CommitTree {
    /// Returns the object directories of the repository.
    #[must_use]
    pub fn object_dirs(&self) -> Vec<PathBuf> {
        self.snapshot.repository().object_dirs()
    }

    /// Makes the tree of a resolved commit.
    #[must_use]
    pub fn new(repository: &Repository, Resolved { commit, tree }: Resolved) -> Self {
        Self { snapshot: repository.snapshot(tree), commit, beneath: String::new() }
    }

    /// Returns the id of the commit.
    #[must_use]
    pub fn commit(&self) -> Id {
        self.commit
    }

    /// Returns the id of the commit's tree.
    #[must_use]
    pub fn tree(&self) -> Id {
        self.snapshot.tree()
    }

    /// Lists the paths of all files and links in git's order; paths that are not UTF-8 are left
    /// out.
    ///
    /// # Errors
    ///
    /// If an object is missing or damaged.
    pub fn paths(&self) -> Result<Vec<String>, ToolError> {
        let mut paths = Vec::new();
        let visited = self.snapshot.walk(&mut |path: &[u8], entry: git_object_tree::TreeEntry| {
            let path =
                std::str::from_utf8(path).ok().and_then(|path| path.strip_prefix(&self.beneath));
            paths.extend(path.filter(|_| entry.kind != EntryKind::Submodule).map(str::to_owned));
        });
        visited.map_err(told)?;
        Ok(paths)
    }

    fn size(&self, id: Id) -> io::Result<u64> {
        self.snapshot.size(id).map_err(io::Error::other)
    }

    /// Returns the path in the commit.
    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.beneath).trim_end_matches('/').to_owned()
    }

    /// Puts the files under a policy, to plan patches over them.
    #[must_use]
    pub fn files(self, policy: impl Into<Arc<Policy>>) -> Files {
        Files::of_tree(Arc::new(self), policy)
    }
}

fn file_kind(kind: EntryKind) -> FileKind {
    match kind {
        EntryKind::File | EntryKind::Executable => FileKind::File,
        EntryKind::Symlink => FileKind::Symlink,
        EntryKind::Directory => FileKind::Directory,
        EntryKind::Submodule => FileKind::Submodule,
    }
}

impl Tree for CommitTree {
    fn entry(&self, path: &str) -> io::Result<Option<Entry>> {
        let Some(found) = self.snapshot.entry(self.at(path)).map_err(io::Error::other)? else {
            return Ok(None);
        };
        Ok(Some(match found.kind {
            EntryKind::File => Entry::file(self.size(found.id)?, false),
            EntryKind::Executable => Entry::file(self.size(found.id)?, true),
            EntryKind::Symlink => Entry::link(self.size(found.id)?),
            EntryKind::Directory => Entry::directory(),
            EntryKind::Submodule => Entry { kind: FileKind::Submodule, ..Entry::directory() },
        }))
    }

    fn read(&self, path: &str) -> io::Result<Arc<Vec<u8>>> {
        let found = self
            .snapshot
            .entry(self.at(path))
            .map_err(io::Error::other)?
            .ok_or(io::ErrorKind::NotFound)?;
        if found.kind == EntryKind::Submodule {
            return Ok(Arc::new(submodule_line(&found.id.to_string())));
        }
        let bytes = self.snapshot.bytes(found.id, u64::MAX).map_err(io::Error::other)?;
        Ok(Arc::new(bytes.to_vec()))
    }

    fn list(&self, dir: &str) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        let found = self
            .snapshot
            .list(self.at(dir))
            .map_err(io::Error::other)?
            .ok_or(io::ErrorKind::NotFound)?;
        Ok(found.into_iter().map(|(name, entry)| (name, file_kind(entry.kind))).collect())
    }

    fn has_submodules(&self) -> bool {
        true
    }

    fn id(&self) -> Option<String> {
        Some(self.commit.to_string())
    }
}

/// Opens a commit of the git repository around a directory. The paths of the tree are relative to
/// the directory.
///
/// # Errors
///
/// If there is no repository around the directory, or no such commit.
pub fn enclosing(dir: &Path, revision: &str) -> Result<CommitTree, ToolError> {
    let dir = fs_guard::real_path(dir)?;
    let options = OpenOptions::default();
    let nearest =
        dir.ancestors().find_map(|top| match Repository::open(top.join(".git"), &options) {
            Err(git_object_tree::Error::NotARepository { .. }) => None,
            // A repository that cannot be used ends the search, too.
            opened => Some((top, opened)),
        });
    let (top, opened) = nearest.unwrap_or_else(|| (&dir, Repository::open(&dir, &options)));
    let repository = opened.map_err(told)?;
    let found = repository.resolve(revision).map_err(told)?;
    let beneath = dir.strip_prefix(top).ok().and_then(Path::to_str).unwrap_or_default();
    let beneath = if beneath.is_empty() { String::new() } else { format!("{beneath}/") };
    Ok(CommitTree { beneath, ..CommitTree::new(&repository, found) })
}

/// Looks for the version of a file with a hash in the newest commits of the git repository around a
/// directory. The object ids of git are other hashes, so the versions are read one by one.
#[must_use]
pub fn committed(dir: &Path, path: &str, sha256: Sha256, max_size: u64) -> Option<Vec<u8>> {
    /// The most commits to look at, along the first parents of `HEAD`.
    const COMMITS: usize = 64;
    let mut tree = enclosing(dir, "HEAD").ok()?;
    let repository = tree.snapshot.repository().clone();
    let mut newer = None;
    for _ in 0..COMMITS {
        let found = tree.snapshot.entry(tree.at(path)).ok()?;
        let found =
            found.filter(|found| file_kind(found.kind) == FileKind::File).map(|found| found.id);
        if let Some(blob) = found.filter(|_| found != newer)
            && let Ok(bytes) = repository.blob(blob, max_size)
            && Sha256::of(&bytes) == sha256
        {
            return Some(bytes.to_vec());
        }
        newer = found;
        let commit = *repository.commit(tree.commit).ok()?.parents.first()?;
        let resolved = Resolved { commit, tree: repository.commit(commit).ok()?.tree };
        tree = CommitTree { beneath: tree.beneath, ..CommitTree::new(&repository, resolved) };
    }
    None
}

/// Converts an error of git's objects, with what to do.
pub(crate) fn told(error: git_object_tree::Error) -> ToolError {
    let (class, kind) = match error.kind() {
        git_object_tree::ErrorKind::NotFound => (FailureClass::DoesNotApply, ErrorKind::NotFound),
        git_object_tree::ErrorKind::InvalidInput => (FailureClass::Usage, ErrorKind::CommandFailed),
        git_object_tree::ErrorKind::Conflict => {
            (FailureClass::DoesNotApply, ErrorKind::AlreadyExists)
        }
        git_object_tree::ErrorKind::Moved => (FailureClass::Stale, ErrorKind::StaleFile),
        git_object_tree::ErrorKind::CheckedOut
        | git_object_tree::ErrorKind::NoIdentity
        | git_object_tree::ErrorKind::Unsupported => {
            (FailureClass::Refused, ErrorKind::PermissionDenied)
        }
        git_object_tree::ErrorKind::TooLarge => (FailureClass::Failed, ErrorKind::FileTooLarge),
        git_object_tree::ErrorKind::Locked => (FailureClass::Failed, ErrorKind::Timeout),
        _ => (FailureClass::Failed, ErrorKind::CommandFailed),
    };
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(source) = cause {
        message += &format!(": {source}");
        cause = source.source();
    }
    let remedies = match error {
        git_object_tree::Error::CheckedOut { .. } => vec![
            Remedy::Set(Setting::NewBranch),
            Remedy::Ask(ForPerson::Allow(Setting::AllowCheckedOut)),
        ],
        git_object_tree::Error::NoIdentity { .. } => {
            vec![Remedy::Ask(ForPerson::NameIdentity)]
        }
        _ => Vec::new(),
    };
    ToolError::new(class, kind, message)
        .details(json!({ "reason": error.kind().as_str() }))
        .remedies(remedies)
}
