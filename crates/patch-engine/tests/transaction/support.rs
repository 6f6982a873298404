//! Trees, plans and what to compare them with.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use fs_guard::{Access, RelPath, Sha256};
use patch_engine::transaction::{self, CommitError, CommitOptions, Committed, Durability, KeyPlace, Locked, Workspace};
use patch_engine::transition::{Content, PostImage, PreImage, Splice, Transition};
use patch_engine::{ApplyError, Plan, Report};
use tempfile::TempDir;

/// A small generator (xorshift), so that a failure can be repeated from its seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// A workspace in a temporary directory, with a key of its own.
pub(crate) struct Tree {
    pub(crate) dir: TempDir,
    key: TempDir,
}

/// What shall happen to one path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step<'s> {
    Add(&'s str, &'s str),
    Update(&'s str, &'s str),
    Splice(&'s str, &'s str),
    Delete(&'s str),
    Move(&'s str, &'s str),
}

pub(crate) use Step::{Add, Delete, Move, Splice as Append, Update};

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self { dir: temp(), key: temp() };
        fs::set_permissions(tree.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    /// On the disk that temporary files are on.
    pub(crate) fn on_disk(files: &[(&str, &str)]) -> Self {
        let tree = Self { dir: TempDir::new().unwrap(), key: temp() };
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(fs::read(self.path(path)).unwrap()).unwrap()
    }

    pub(crate) fn key_place(&self) -> KeyPlace {
        KeyPlace::Directory(self.key_dir())
    }

    pub(crate) fn key_dir(&self) -> PathBuf {
        self.key.path().join("apply-patch")
    }

    pub(crate) fn open(&self) -> Workspace {
        open(self.dir.path(), self.key_place())
    }

    /// Everything outside the state directory: kind, mode and bytes by path.
    pub(crate) fn snapshot(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        collect(self.dir.path(), self.dir.path(), &mut all);
        all
    }

    pub(crate) fn commit(&self, steps: &[Step<'_>]) -> Result<Committed, CommitError> {
        let workspace = self.open();
        let locked = lock(&workspace);
        let plan = plan(&workspace, steps);
        commit(&locked, &plan)
    }

    /// Files below `.apply-patch/` that no finished transaction explains.
    pub(crate) fn pending(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(".apply-patch/pending")) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// In memory where that is possible: thousands of trees are made, and a new key is synced.
fn temp() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir()
        && let Ok(dir) = TempDir::new_in(memory)
    {
        return dir;
    }
    TempDir::new().unwrap()
}

pub(crate) fn open(dir: &Path, key: KeyPlace) -> Workspace {
    Workspace::open(dir, patch_engine::policy()).unwrap().with_key_place(key)
}

pub(crate) fn lock(workspace: &Workspace) -> Locked<'_> {
    workspace.lock(Duration::from_secs(20)).unwrap()
}

pub(crate) fn options() -> CommitOptions {
    CommitOptions { durability: Durability::Process, ..CommitOptions::default() }
}

/// Carries out what `plan` gives, on the road of every change.
pub(crate) fn carry_out(
    workspace: &Workspace,
    plan: impl FnOnce(&Workspace) -> Result<Plan, transaction::Error>,
) -> Result<Report, ApplyError> {
    let mut plan = Some(plan);
    let mut once = |_: &fs_guard::Root| Ok((plan.take().expect("planned once"))(workspace)?);
    patch_engine::carry_out(workspace, Duration::from_secs(10), &options(), &mut once, &mut (), &mut Vec::new())
}

pub(crate) struct Planned {
    pub(crate) transitions: Vec<Transition>,
    pub(crate) dirs: Vec<RelPath>,
}

pub(crate) fn commit(locked: &Locked<'_>, plan: &Planned) -> Result<Committed, CommitError> {
    locked.commit(&plan.transitions, &plan.dirs, &options(), &mut ())
}

pub(crate) fn plan(workspace: &Workspace, steps: &[Step<'_>]) -> Planned {
    let root = workspace.root();
    let mut planned = Planned { transitions: Vec::new(), dirs: Vec::new() };
    let pre = |path: &RelPath| {
        let seen = root.metadata(path).unwrap().unwrap();
        if seen.kind == fs_guard::FileKind::Symlink {
            let text = root.read_link(path).unwrap();
            return (PreImage { metadata: seen, sha256: Sha256::of(&text) }, text);
        }
        let (bytes, metadata) = root.read(path, 1 << 30).unwrap();
        (PreImage { metadata, sha256: Sha256::of(&bytes) }, bytes)
    };
    let bytes = |text: &str| PostImage {
        content: Content::Bytes(Arc::new(text.as_bytes().to_vec())),
        sha256: Sha256::of(text.as_bytes()),
        size: text.len() as u64,
        mode: None,
        attributes_of: None,
    };
    let mut add = |path: RelPath, after| {
        for dir in root.parents_missing(&path).unwrap() {
            if !planned.dirs.contains(&dir) {
                planned.dirs.push(dir);
            }
        }
        let before = root.metadata(&path).unwrap().map(|_| pre(&path).0);
        planned.transitions.push(Transition { path, before, after });
    };
    for step in steps {
        match *step {
            Add(path, text) => add(root.check(path, Access::Create).unwrap(), Some(bytes(text))),
            Update(path, text) => {
                let path = root.check(path, Access::Update).unwrap();
                let mode = Some(pre(&path).0.metadata.kept_mode());
                let after = PostImage { mode, attributes_of: Some(path.clone()), ..bytes(text) };
                add(path, Some(after));
            }
            Append(path, text) => {
                let path = root.check(path, Access::Update).unwrap();
                let (image, old) = pre(&path);
                let whole = [&old[..], text.as_bytes()].concat();
                let splice = Splice { start: old.len(), end: old.len(), text: text.as_bytes().to_vec() };
                let after = PostImage {
                    content: Content::Spliced { source: Arc::new(old.to_vec()), splices: vec![splice] },
                    sha256: Sha256::of(&whole),
                    size: whole.len() as u64,
                    mode: Some(image.metadata.kept_mode()),
                    attributes_of: Some(path.clone()),
                };
                add(path, Some(after));
            }
            Delete(path) => add(root.check(path, Access::Delete).unwrap(), None),
            Move(from, to) => {
                let from = root.check(from, Access::Delete).unwrap();
                let to = root.check(to, Access::Create).unwrap();
                let (image, _) = pre(&from);
                let after = PostImage {
                    content: Content::CopyOf(from.clone()),
                    sha256: image.sha256,
                    size: image.metadata.size,
                    mode: Some(image.metadata.kept_mode()),
                    attributes_of: Some(from.clone()),
                };
                add(to, Some(after));
                add(from, None);
            }
        }
    }
    planned
}

pub(crate) fn collect(root: &Path, dir: &Path, all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if name == ".apply-patch" {
            continue;
        }
        let seen = fs::symlink_metadata(&path).unwrap();
        let mode = seen.permissions().mode() & 0o7777;
        if seen.is_dir() {
            all.insert(name, format!("dir {mode:o}"));
            collect(root, &path, all);
        } else if seen.is_symlink() {
            all.insert(name, format!("link {:?}", fs::read_link(&path).unwrap()));
        } else {
            let bytes = fs::read(&path).unwrap();
            all.insert(name, format!("file {mode:o} {} {:?}", seen.nlink(), String::from_utf8_lossy(&bytes)));
        }
    }
}

/// Runs a program; whether it succeeded.
pub(crate) fn run(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}
