//! A small workspace for the targets that need files, and what must never change around it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use patch_engine::commit::{KeyPlace, Workspace};
use tempfile::TempDir;

/// What no output and no file of the workspace may ever have.
pub const SECRET: &str = "CANARY-7f3a91";

/// Everything beneath a directory: kind, permissions, and bytes or link text.
pub type Tree = BTreeMap<PathBuf, (char, u32, Vec<u8>)>;

/// Paths that lead somewhere in the workspace, and out of it.
pub const PATHS: &[&str] = &[
    "a.txt",
    "d/b.txt",
    "d/e/c",
    "bin",
    "empty",
    "link",
    "out",
    "out/secret",
    "dlink",
    "dlink/b.txt",
    "hard1",
    "hard2",
    "locked",
    "new",
    "d/new",
    "nd/x",
    "nd/y/z",
    "A.TXT",
    "D/b.txt",
    "a.txt/x",
    "d",
    "../outside/secret",
    "d/../../outside/secret",
    "/etc/passwd",
    ".git/config",
    ".GIT/HEAD",
    "d/.git/hooks/x",
    ".env",
    ".apply-patch/lock",
    ".apply-patch/trash",
    ".vscode/tasks.json",
    "con",
    "loop/x",
    "..foo",
    "a..b",
    ".gitignore",
    "caf\u{e9}",
    "cafe\u{301}",
    "HEAD",
    "refs/x",
    "objects/x",
    "",
];

/// Lines that the files of the workspace have, and some that they do not.
pub const LINES: &[&str] = &[
    "one",
    "two",
    "three",
    "x",
    "y",
    "",
    "  indented",
    "indented",
    "tab\t",
    "no newline",
    "\u{201c}quoted\u{201d}",
    "zz",
];

/// A workspace in memory, beside a directory that nothing may reach.
pub struct Bench {
    around: TempDir,
    outside: Tree,
    before: Option<Tree>,
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

impl Bench {
    pub fn new() -> Self {
        let around = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a directory");
        let outside = around.path().join("outside");
        fs::create_dir_all(outside.join("dir")).expect("new");
        fs::write(outside.join("secret"), SECRET).expect("new");
        let outside = look(&outside);
        Self { around, outside, before: None }
    }

    pub fn root(&self) -> PathBuf {
        self.around.path().join("ws")
    }

    /// The workspace as it is at the start of every run; it is only made anew after a change.
    pub fn fresh(&mut self) -> Tree {
        if let Some(before) = &self.before {
            return before.clone();
        }
        let root = self.root();
        let _ = fs::remove_dir_all(&root);
        for dir in ["d/e", ".git", "refs"] {
            fs::create_dir_all(root.join(dir)).expect("new");
        }
        for (path, bytes) in [
            ("a.txt", &b"one\ntwo\nthree\n"[..]),
            ("d/b.txt", b"x\r\ny\r\nx\r\n"),
            ("d/e/c", b"  indented\ntab\t\nno newline"),
            ("bin", b"one\0two\n"),
            ("empty", b""),
            ("hard1", b"one\n"),
            ("locked", b"one\n"),
            (".git/HEAD", b"ref: refs/heads/main\n"),
            (".env", b"one\n"),
        ] {
            fs::write(root.join(path), bytes).expect("new");
        }
        fs::hard_link(root.join("hard1"), root.join("hard2")).expect("new");
        for (link, target) in [
            ("link", "a.txt"),
            ("out", "../outside"),
            ("dlink", "d"),
            ("loop", "loop"),
            ("dangling", "../outside/new"),
        ] {
            symlink(target, root.join(link)).expect("new");
        }
        fs::set_permissions(
            root.join("locked"),
            std::os::unix::fs::PermissionsExt::from_mode(0o444),
        )
        .expect("ours");
        let tree = look(&root);
        self.before = Some(tree.clone());
        tree
    }

    pub fn open(&self) -> Workspace {
        let workspace = Workspace::open(&self.root(), patch_engine::policy()).expect("a directory");
        workspace.with_key_place(KeyPlace::Directory(self.key_dir()))
    }

    /// The directory of the key that journals are signed with.
    pub fn key_dir(&self) -> PathBuf {
        self.around.path().join("home/apply-patch")
    }

    /// Fails when something outside changed.
    pub fn check_outside(&self) {
        assert!(
            look(&self.around.path().join("outside")) == self.outside,
            "something outside changed"
        );
        for entry in fs::read_dir(self.around.path()).expect("ours") {
            let name = entry.expect("an entry").file_name();
            assert!(
                ["ws", "outside", "home"].iter().any(|known| name == *known),
                "{name:?} appeared beside the workspace"
            );
        }
    }

    /// Makes the workspace anew for the next run.
    pub fn changed(&mut self) {
        self.before = None;
    }
}

/// Looks at everything but the state directory of `dir`.
pub fn look(dir: &Path) -> Tree {
    let mut tree = Tree::new();
    walk(dir, Path::new(""), &mut tree);
    tree
}

fn walk(dir: &Path, prefix: &Path, tree: &mut Tree) {
    for entry in fs::read_dir(dir).expect("a directory") {
        let entry = entry.expect("an entry");
        if prefix == Path::new("") && entry.file_name() == ".apply-patch" {
            continue;
        }
        let path = prefix.join(entry.file_name());
        let seen = entry.metadata().expect("an entry");
        let mode = seen.mode() & 0o7777;
        if seen.is_dir() {
            tree.insert(path.clone(), ('d', mode, Vec::new()));
            walk(&entry.path(), &path, tree);
        } else if seen.is_symlink() {
            let target =
                fs::read_link(entry.path()).expect("a link").into_os_string().into_encoded_bytes();
            tree.insert(path, ('l', 0, target));
        } else {
            let bytes = fs::read(entry.path()).expect("a file");
            let leaked = !dir.ends_with("outside")
                && bytes.windows(SECRET.len()).any(|at| at == SECRET.as_bytes());
            assert!(!leaked, "{} has the secret", path.display());
            tree.insert(path, ('f', mode, bytes));
        }
    }
}
