//! Where the parts of a repository are.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files;

/// More bytes than any path has that a repository names.
pub(crate) const LINE: u64 = 16 << 10;

/// The two directories of a repository; they differ in a linked work tree.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The files of one work tree: `HEAD`, its log.
    pub(crate) git_dir: PathBuf,
    /// The files that all work trees share: objects, branches, configuration.
    pub(crate) common_dir: PathBuf,
}

impl Layout {
    /// Finds the directories from a git directory, a `.git` file, or a directory with either under
    /// the name `.git`.
    pub(crate) fn find(path: &Path) -> Result<Self> {
        let missing = |problem| Error::NotARepository { path: path.to_owned(), problem };
        let mut git_dir = path.to_owned();
        // A work tree may well have a file `HEAD`, or a directory `objects`.
        if path.join(".git").exists()
            && !(path.join("HEAD").exists() && path.join("objects").is_dir())
        {
            git_dir.push(".git");
        }
        if git_dir.is_file() {
            let line = files::read(&git_dir, LINE)?.unwrap_or_default();
            let target = line
                .strip_prefix(b"gitdir: ")
                .ok_or_else(|| missing("it is a file without `gitdir: `"))?;
            let target = to_path(target).ok_or_else(|| missing("the path in it cannot be read"))?;
            git_dir = git_dir.parent().unwrap_or(Path::new("")).join(target);
        }
        // The answers of later look-ups must not change with the current directory.
        let git_dir = std::path::absolute(&git_dir).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => missing("the working directory was removed"),
            _ => files::failed("find", &git_dir)(source),
        })?;
        let common_dir = match files::read(&git_dir.join("commondir"), LINE)? {
            None => git_dir.clone(),
            Some(line) => {
                let common = git_dir
                    .join(to_path(&line).ok_or_else(|| missing("its `commondir` cannot be read"))?);
                // Its last component shows whether the directory is a work tree's.
                files::canonical(&common).ok_or_else(|| missing("its `commondir` leads nowhere"))?
            }
        };
        if !git_dir.is_dir() {
            return Err(missing("there is no such directory"));
        }
        if files::read_link(&git_dir.join("HEAD")).is_none() && !git_dir.join("HEAD").is_file() {
            return Err(missing("it has no `HEAD`"));
        }
        if !common_dir.join("objects").is_dir() {
            return Err(missing("it has no directory `objects`"));
        }
        if !common_dir.join("refs").is_dir() {
            return Err(missing("it has no directory `refs`"));
        }
        Ok(Self { git_dir, common_dir })
    }

    /// Returns where a ref is a file: most are shared, a few belong to the work tree.
    pub(crate) fn ref_path(&self, name: &str) -> PathBuf {
        self.ref_base(name).join(name)
    }

    /// Returns the directory that the path of a ref, or of its log in `logs`, starts from.
    pub(crate) fn ref_base(&self, name: &str) -> &Path {
        let own = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"]
            .iter()
            .any(|own| name.starts_with(own));
        if own || !name.starts_with("refs/") { &self.git_dir } else { &self.common_dir }
    }
}

/// Reads a line that is a path.
pub(crate) fn to_path(line: &[u8]) -> Option<PathBuf> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() || line.contains(&0) {
        return None;
    }
    files::path_of_bytes(line)
}
