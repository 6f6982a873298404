//! Trees to attack.

use std::fs;
#[cfg(unix)]
pub(crate) use std::os::unix::fs::symlink;
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
        testutils::temp::usual_modes();
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

/// Makes a link as Wine's host has it: what makes one in Wine 8 does nothing. On Windows itself it
/// is a link of Windows.
///
/// Programs in Wine see a link as the directory that it leads to, and so does what removes the
/// temporary directory in the end: no link leads out of that.
#[cfg(windows)]
pub(crate) fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> std::io::Result<()> {
    let Some(prefix) = std::env::var_os("WINEPREFIX") else {
        let to = link.as_ref().parent().expect("it is in a directory").join(&target);
        let is_dir = fs::metadata(to).is_ok_and(|to| to.is_dir());
        let make = if is_dir {
            std::os::windows::fs::symlink_dir
        } else {
            std::os::windows::fs::symlink_file
        };
        return make(target.as_ref(), link.as_ref());
    };
    let inside = |path: &Path| {
        path.starts_with(std::env::temp_dir()) || (path.is_relative() && !path.starts_with(".."))
    };
    assert!(inside(target.as_ref()), "{}", target.as_ref().display());
    assert!(inside(link.as_ref()), "{}", target.as_ref().display());
    let host = |path: &Path| {
        let text = path.to_str().expect("a plain path").replace('\\', "/");
        match text.split_once(':') {
            Some((drive, rest)) => {
                format!("{}/dosdevices/{}:{rest}", prefix.display(), drive.to_lowercase())
            }
            None => text,
        }
    };
    // The host's program is started, and cannot be waited for.
    let (to, at) = (host(target.as_ref()), host(link.as_ref()));
    let _ = std::process::Command::new("Z:\\bin\\ln").args(["-sn", &to, &at]).spawn();
    for _ in 0..500 {
        if fs::read_dir(link.as_ref().parent().unwrap())?
            .any(|entry| entry.unwrap().path() == link.as_ref())
        {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("{} is not there", link.as_ref().display());
}

/// A directory with a secret, as one was made long ago.
#[cfg(target_os = "linux")]
pub(crate) fn keys(tree: &Tree) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tree.outside.join("keys");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("key"), [7; 32]).unwrap();
    fs::set_permissions(dir.join("key"), fs::Permissions::from_mode(0o600)).unwrap();
    dir
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
    policy.forbidden =
        globs(&["**/.env*", "**/*.pem", "**/*.key", "**/id_rsa*", "**/secrets/**", "**/.npmrc"]);
    policy.guarded = globs(&[
        "**/.github/workflows/**",
        "**/.vscode/**",
        "**/.envrc",
        "**/.cargo/config*",
        "**/.gitattributes",
    ]);
    policy
}
