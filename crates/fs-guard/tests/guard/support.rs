//! Trees to attack.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use fs_guard::{Access, Error, Policy, RelPath, Root, Target};
use tempfile::TempDir;

/// A root with a directory beside it that must not be reached.
pub(crate) struct Tree {
    _dir: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) outside: PathBuf,
}

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = TempDir::new().unwrap();
        let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        let tree = Self { _dir: dir, root, outside };
        for (path, text) in files {
            let path = tree.root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        tree
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, path: &str) {
        symlink(target, self.root.join(path)).unwrap();
    }

    /// Opened in both ways: resolved by the kernel, and component by component.
    pub(crate) fn both(&self) -> [Root; 2] {
        [self.open(), self.open().walking(true)]
    }

    pub(crate) fn open(&self) -> Root {
        Root::open(&self.root, policy()).unwrap()
    }
}

pub(crate) fn target(root: &Root, path: &str) -> Target {
    root.target(path, Access::Update).unwrap()
}

pub(crate) fn path(root: &Root, path: &str) -> RelPath {
    root.check(path, Access::Read).unwrap()
}

/// `kind reason` of a refusal, or `fine`.
pub(crate) fn verdict<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => "fine".into(),
        Err(error) => format!("{} {}", error.kind(), error.reason()),
    }
}

/// Rules like those of a program that keeps notes.
pub(crate) fn policy() -> Policy {
    let globs = |patterns: &[&str]| fs_guard::Globs::new(patterns).unwrap();
    let mut policy = Policy::new(".kept");
    policy.reserved = vec!["keeper/key".into()];
    policy.forbidden = globs(&["**/.env*", "**/*.pem", "**/*.key", "**/id_rsa*", "**/secrets/**", "**/.npmrc"]);
    policy.guarded =
        globs(&["**/.github/workflows/**", "**/.vscode/**", "**/.envrc", "**/.cargo/config*", "**/.gitattributes"]);
    policy
}
