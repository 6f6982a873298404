//! A repository that the `git` command made.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use git_object_tree::{
    BranchMove, EntryKind, Error, Id, NewCommit, OpenOptions, Repository, Signature, Time,
};
use tempfile::TempDir;

/// The files of a commit.
pub(crate) type Files = BTreeMap<String, (EntryKind, Vec<u8>)>;

/// Returns whether there is a `git` to compare with, and says so if not.
pub(crate) fn git_is_there() -> bool {
    let there =
        Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        testutils::skip!("there is no git");
    }
    there
}

pub(crate) fn command(dir: &Path) -> Command {
    let mut command = Command::new("git");
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_"))
    {
        command.env_remove(name);
    }
    command
        .current_dir(dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("HOME", dir)
        .env("GIT_AUTHOR_NAME", "A U Thor")
        .env("GIT_AUTHOR_EMAIL", "a@example.com")
        .env("GIT_AUTHOR_DATE", "1700000000 +0130")
        .env("GIT_COMMITTER_NAME", "C Mitter")
        .env("GIT_COMMITTER_EMAIL", "c@example.com")
        .env("GIT_COMMITTER_DATE", "1700000001 -0800");
    command
}

/// Runs git and returns what it prints; it must succeed.
pub(crate) fn git_in(dir: &Path, args: &[&str], input: &[u8]) -> String {
    let (success, text) = try_git(dir, args, input);
    assert!(success, "git {args:?}: {text}");
    text.trim_end().to_owned()
}

pub(crate) fn try_git(dir: &Path, args: &[&str], input: &[u8]) -> (bool, String) {
    let mut child = command(dir)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    });
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

pub(crate) struct Fixture {
    pub(crate) dir: TempDir,
    /// Where git is run.
    pub(crate) at: PathBuf,
}

impl Fixture {
    /// An empty repository.
    pub(crate) fn new(args: &[&str]) -> Self {
        let dir = testutils::temp::temp();
        let at = dir.path().join("repo");
        let init = [&["init", "-q", "-b", "main"], args, &["repo"]].concat();
        git_in(dir.path(), &init, b"");
        Self { dir, at }
    }

    pub(crate) fn bare() -> Self {
        Self::new(&["--bare"])
    }

    /// A bare repository with one commit on `main`.
    pub(crate) fn with(files: &Files) -> Self {
        let fixture = Self::bare();
        fixture.import("main", files);
        fixture
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git_in(&self.at, args, b"")
    }

    /// Makes a commit with these files, and nothing else, on a branch.
    pub(crate) fn import(&self, branch: &str, files: &Files) {
        let mut stream = Vec::new();
        let head = format!(
            "commit refs/heads/{branch}\ncommitter C Mitter <c@example.com> 1700000000 +0000\n\
             data 6\nstart\n\ndeleteall\n"
        );
        stream.extend_from_slice(head.as_bytes());
        for (path, (kind, bytes)) in files {
            let quoted = path.bytes().fold(String::new(), |mut text, byte| {
                write!(text, "\\{byte:03o}").unwrap();
                text
            });
            stream
                .extend_from_slice(format!("M {:o} inline \"{quoted}\"\n", kind.mode()).as_bytes());
            stream.extend_from_slice(format!("data {}\n", bytes.len()).as_bytes());
            stream.extend_from_slice(bytes);
            stream.push(b'\n');
        }
        git_in(&self.at, &["fast-import", "--quiet", "--force"], &stream);
    }

    pub(crate) fn open(&self) -> Repository {
        open(&self.at)
    }

    pub(crate) fn fsck(&self) {
        fsck(&self.at);
    }
}

pub(crate) fn fsck(at: &Path) {
    let (success, text) =
        try_git(at, &["fsck", "--strict", "--full", "--no-dangling", "--no-progress"], b"");
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with("notice: ")).collect();
    assert!(success, "{text:?}");
    assert!(text.is_empty(), "{text:?}");
}

pub(crate) fn open(at: &Path) -> Repository {
    try_open(at).unwrap()
}

pub(crate) fn try_open(at: &Path) -> Result<Repository, Error> {
    Repository::open(at, &OpenOptions { user_configuration: false, ..OpenOptions::default() })
}

pub(crate) fn me() -> Signature {
    Signature {
        name: "C Mitter".into(),
        email: "c@example.com".into(),
        time: Time { seconds: 1_700_000_001, offset_minutes: -480 },
    }
}

pub(crate) fn commit(repository: &Repository, tree: Id, parents: &[Id], message: &str) -> Id {
    let me = me();
    repository
        .write_commit(&NewCommit { tree, parents, author: &me, committer: &me, message })
        .unwrap()
}

pub(crate) fn go(
    repository: &Repository,
    branch: &str,
    from: Option<Id>,
    to: Id,
) -> Result<(), Error> {
    let by = me();
    repository.move_branch(&BranchMove {
        branch,
        from,
        to,
        by: &by,
        message: "a test",
        allow_checked_out: false,
    })
}

pub(crate) fn files(of: &[(&str, &str)]) -> Files {
    of.iter()
        .map(|(path, text)| ((*path).to_owned(), (EntryKind::File, text.as_bytes().to_vec())))
        .collect()
}

/// All files of a tree, read by this crate.
pub(crate) fn read(repository: &Repository, tree: Id) -> Files {
    let snapshot = repository.snapshot(tree);
    let mut found = Vec::new();
    snapshot
        .walk(&mut |path, entry| found.push((String::from_utf8(path.to_vec()).unwrap(), entry)))
        .unwrap();
    found
        .into_iter()
        .map(|(path, entry)| {
            assert_eq!(snapshot.entry(&path).unwrap(), Some(entry), "{path}");
            let bytes = match entry.kind {
                EntryKind::Submodule => Vec::new(),
                _ => snapshot.bytes(entry.id, u64::MAX).unwrap().to_vec(),
            };
            (path, (entry.kind, bytes))
        })
        .collect()
}
